"""Smoothed aggregation of PyAMG on the systems of `cargo xtask solvers`: the same matrices, right-hand sides, smoothers and tolerance.

Needs numpy, scipy and pyamg (pip install pyamg). Arguments: cells along an edge, separated by commas; by default 32,64.
"""
import sys
import time

import numpy
from pyamg import smoothed_aggregation_solver
from pyamg.gallery import poisson

SMOOTHERS = {
    # Damping 4/3 over the spectral radius of D^-1 A, one sweep.
    "jacobi 1": [("jacobi", {"omega": 4.0 / 3.0, "iterations": 1})] * 2,
    # Degree 2 on the upper part of the spectrum.
    "chebyshev 2": [("chebyshev", {"degree": 2, "lower_bound": 0.25, "upper_bound": 1.1})] * 2,
    # Forward before and backward after the coarse correction.
    "gauss_seidel 1": [("gauss_seidel", {"sweep": "forward"}), ("gauss_seidel", {"sweep": "backward"})],
}

sizes = [int(size) for size in (sys.argv[1] if len(sys.argv) > 1 else "32,64").split(",")]
print("| cells | smoother | levels | complexity | iterations | set-up s | solve s | residual |")
print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
for n in sizes:
    matrix = poisson((n, n, n), format="csr")
    b = (numpy.arange(n**3, dtype=numpy.int64) * 7919 % 1009) / 1009.0
    for name, (before, after) in SMOOTHERS.items():
        started = time.perf_counter()
        levels = smoothed_aggregation_solver(matrix, presmoother=before, postsmoother=after, improve_candidates=None)
        set_up = time.perf_counter() - started
        residuals = []
        started = time.perf_counter()
        x = levels.solve(b, tol=1e-8, accel="cg", residuals=residuals, maxiter=500)
        solve = time.perf_counter() - started
        residual = numpy.linalg.norm(b - matrix @ x) / numpy.linalg.norm(b)
        print(
            f"| {n}^3 | {name} | {len(levels.levels)} | {levels.operator_complexity():.2f} | {len(residuals) - 1} "
            f"| {set_up:.2f} | {solve:.2f} | {residual:.1e} |",
            flush=True,
        )
