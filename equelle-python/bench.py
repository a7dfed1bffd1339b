"""Times of the Python package, beside NumPy and FiPy.

    python bench.py [import compile overhead heat fipy memory]

Each line is a median; ratios are of the same run.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import equelle

HEAT = """# dimensions: ignore
u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar("u", AllCells())
For dt In InputSequenceOfScalar("timesteps") {
    u = u + dt * Divergence(Gradient(u))
}
Output("u", u)
"""

FIPY = """# dimensions: ignore
u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar("u", AllCells())
left = InputDomainSubsetOf("left", BoundaryFaces())
For dt In InputSequenceOfScalar("timesteps") {
    residual(v) = {
        outside = (OutwardSign(left) * 0.6 * (100 - (v On InnerCell(left)))) Extend AllFaces()
        -> v - u - dt * Divergence(((0.3 * Gradient(v)) Extend AllFaces()) + outside)
    }
    u = NewtonSolve(residual, u)
}
Output("u", u)
"""


def timed(function, repeats=5):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


def imports():
    def measured(text):
        return timed(lambda: subprocess.run([sys.executable, "-c", text], check=True))[0]

    with_numpy, alone = measured("import numpy, equelle"), measured("import numpy")
    print(f"import: {1e3 * (with_numpy - alone):.0f} ms beside NumPy's {1e3 * alone:.0f} ms")


def compiles():
    for path in sorted((Path(__file__).resolve().parents[1] / "examples").glob("*/*.equelle")):
        seconds, _ = timed(lambda: equelle.compile(path))
        print(f"compile {path.stem}: {1e3 * seconds:.1f} ms")


def overhead():
    program = equelle.compile(HEAT)
    u = np.arange(100.0)
    seconds, result = timed(lambda: program.run(nx=100, u=u, timesteps=[1e-3] * 2), 200)
    print(f"a second run: {1e3 * seconds:.2f} ms, of which {1e3 * result.summary['seconds']:.2f} ms in the run itself")


def heat():
    n, steps = 256, 10
    u = np.random.default_rng(0).uniform(size=(n, n, n))

    def by_numpy():
        v = u.copy()
        for _ in range(steps):
            change = np.zeros_like(v)
            for axis in range(3):
                flux = np.diff(v, axis=axis)
                low, high = [slice(None)] * 3, [slice(None)] * 3
                low[axis], high[axis] = slice(None, -1), slice(1, None)
                change[tuple(low)] += flux
                change[tuple(high)] -= flux
            v += 0.1 * change
        return v

    program = equelle.compile(HEAT)
    run = lambda threads: program.run(grid_dim=3, nx=n, ny=n, nz=n, u=u, timesteps=[0.1] * steps, threads=threads)
    numpy_seconds, expected = timed(by_numpy, 1)
    for threads in (1, 2):
        seconds, result = timed(lambda: run(threads), 3)
        assert np.allclose(result.field("u"), expected, atol=1e-12)
        print(f"heat 256^3, {steps} steps, {threads} threads: {seconds:.2f} s; NumPy {numpy_seconds:.2f} s, {numpy_seconds / seconds:.1f} times")


def fipy():
    import os

    os.environ["FIPY_SOLVERS"] = "scipy"
    import fipy
    from fipy.solvers import LinearPCGSolver

    n = 500
    start = time.perf_counter()
    mesh = fipy.Grid2D(nx=n, ny=n, dx=1.0, dy=1.0)
    u = fipy.CellVariable(mesh=mesh, value=500.0, hasOld=True)
    u.constrain(100.0, mesh.facesLeft)
    equation = fipy.TransientTerm() == fipy.DiffusionTerm(coeff=0.3)
    solver = LinearPCGSolver(tolerance=1e-8, iterations=2000)
    for _ in range(10):
        u.updateOld()
        equation.solve(var=u, dt=0.5, solver=solver)
    fipy_seconds = time.perf_counter() - start
    program = equelle.compile(FIPY)
    grid = equelle.Grid.cartesian(n, n)
    left = np.flatnonzero(((grid.face_cells < 0).any(axis=1)) & (grid.face_centroids[:, 0] == 0))
    given = dict(nx=n, ny=n, u=500.0, left=left, timesteps=[0.5] * 10)
    for threads in (1, 2):
        seconds, result = timed(lambda: program.run(**given, threads=threads), 3)
        difference = np.abs(result["u"][-1] - u.value).max()
        print(
            f"ten implicit steps 500^2, {threads} threads: {seconds:.2f} s; FiPy {fipy.__version__}, LinearPCGSolver of SciPy, "
            f"1e-8: {fipy_seconds:.2f} s, {fipy_seconds / seconds:.1f} times; largest difference {difference:.1e}"
        )


def memory():
    """Peak memory of a run with 10^7 values in and out, beside the command's with a file."""
    n = 10_000_000
    text = f"""
import numpy, equelle, resource
u = numpy.random.default_rng(0).uniform(size={n})
p = equelle.compile({HEAT!r})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
r = p.run(grid_dim=1, nx={n}, u=u, timesteps=[0.1])
del u
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, before)
"""
    peak, before = map(int, subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True).stdout.split())
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "heat.equelle").write_text(HEAT)
        np.save(Path(folder, "u.npy"), np.random.default_rng(0).uniform(size=n))
        words = ["run", "heat.equelle", "--interpret", "grid_dim=1", f"nx={n}", "u_filename=u.npy", "timesteps=0.1", "output_format=npy"]
        subprocess.run([sys.executable, "-m", "equelle", *words], cwd=folder, check=True, capture_output=True)
    command = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"memory of 10^7 cells: {peak / 1e3:.0f} MB above {before / 1e3:.0f} MB before; the command {command / 1e3:.0f} MB at its peak")


if __name__ == "__main__":
    known = {"import": imports, "compile": compiles, "overhead": overhead, "heat": heat, "fipy": fipy, "memory": memory}
    for name in sys.argv[1:] or known:
        known[name]()
