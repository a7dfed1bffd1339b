"""Ten steps of implicit heat on a square beside FiPy: processor time of each, in turn, on one thread.

Needs fipy with scipy (pip install fipy). Arguments: the built simulator of `examples/heat_implicit_2d`, and cells along a side
(500). Backward Euler, the temperature given on one side; FiPy with its conjugate gradients and Jacobi, and with its default
solver. Of FiPy the steps alone count, of the simulator everything from its start. Results are compared.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", FIPY_SOLVERS="scipy")
import numpy
import fipy

TURNS, STEPS, K, CV = 3, 10, 2.85, 2.17e6


def of_fipy(n, dt, solver):
    mesh = fipy.Grid2D(nx=n, ny=n, dx=1.0 / n, dy=1.0 / n)
    u = fipy.CellVariable(mesh=mesh, value=300.0)
    u.constrain(400.0, mesh.facesLeft)
    equation = fipy.TransientTerm(coeff=CV) == fipy.DiffusionTerm(coeff=K)
    start = time.process_time()
    for _ in range(STEPS):
        equation.solve(var=u, dt=dt, solver=solver)
    return time.process_time() - start, numpy.array(u.value)


def of_simulator(program, n, dt):
    with tempfile.TemporaryDirectory() as folder:
        words = [f"nx={n}", f"ny={n}", f"dx={1.0 / n!r}", f"dy={1.0 / n!r}", f"timesteps={STEPS}*{dt!r}", "u_initial=300",
                 "dir_boundary_set=x-", "dir_val=400", "threads=1", "output_format=npy", f"output_dir={folder}"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, "--quiet", *words, *sys.argv[3:]], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        last = max((name for name in os.listdir(folder) if name.startswith("u") and name.endswith(".npy")), key=len_and_name)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, numpy.load(os.path.join(folder, last))


def len_and_name(name):
    return len(name), name


def main():
    program, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500
    dt = 3600.0
    solvers = {"FiPy, CG and Jacobi": lambda: fipy.LinearCGSolver(tolerance=1e-8, iterations=2000, precon=fipy.JacobiPreconditioner()),
               "FiPy, default solver": lambda: None}
    times, results = {"equellec": []}, {}
    for _ in range(TURNS):
        seconds, results["equellec"] = of_simulator(program, n, dt)
        times["equellec"].append(seconds)
        for name, solver in solvers.items():
            seconds, results[name] = of_fipy(n, dt, solver())
            times.setdefault(name, []).append(seconds)
    ours = statistics.median(times["equellec"])
    for name, seconds in times.items():
        difference = numpy.abs(results[name] - results["equellec"]).max()
        median = statistics.median(seconds)
        print(f"{name}: {median:.3f} s ({min(seconds):.3f} to {max(seconds):.3f}), {median / ours:.2f} times ours; differs by {difference:.1e} K")


if __name__ == "__main__":
    main()
