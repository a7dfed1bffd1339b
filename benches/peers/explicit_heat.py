"""Steps of explicit heat in a cube beside Devito: processor time of a step, in turn, on one thread.

Needs devito and a C compiler (pip install devito). Arguments: a simulator of `benches/heat.equelle`, and cells along a side,
separated by commas (128,256). Doubles. Devito with its own flags, which include -ffast-math, and ours strict. Of the simulator
the difference of runs with many steps and with few counts, so that its start does not.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.update(OMP_NUM_THREADS="1", DEVITO_LANGUAGE="C", DEVITO_LOGGING="ERROR")
import numpy
from devito import Eq, Grid, Operator, TimeFunction, solve

TURNS, FEW, MANY = 9, 2, 22


def of_devito(n):
    grid = Grid(shape=(n, n, n), extent=(1.0, 1.0, 1.0), dtype=numpy.float64)
    u = TimeFunction(name="u", grid=grid, time_order=1, space_order=2)
    u.data[:] = 300.0
    operator = Operator([Eq(u.forward, solve(Eq(u.dt, 0.3 * u.laplace), u.forward))])
    dt = 0.1 / n**2

    def steps(count):
        start = time.process_time()
        operator.apply(time_M=count - 1, dt=dt)
        return time.process_time() - start

    steps(1)
    return steps


def of_simulator(program, n):
    def steps(count):
        with tempfile.TemporaryDirectory() as folder:
            words = [f"nx={n}", f"ny={n}", f"nz={n}", f"dx={1.0 / n!r}", f"dy={1.0 / n!r}", f"dz={1.0 / n!r}", "grid_dim=3",
                     f"timesteps={count}*{0.1 / n**2!r}", "u_initial=300", "dirichlet_boundary_set=x-", "dirichlet_val=400",
                     "threads=1", "output_format=npy", f"output_dir={folder}"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([program, "--quiet", *words], check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return steps


def main():
    program, sizes = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "128,256"
    for n in map(int, sizes.split(",")):
        forms = {"equellec": of_simulator(program, n), "Devito": of_devito(n)}
        times = {name: [] for name in forms}
        for _ in range(TURNS):
            for name, steps in forms.items():
                few = steps(FEW)
                times[name].append((steps(MANY) - few) / (MANY - FEW) * 1e3)
        medians = {name: statistics.median(each) for name, each in times.items()}
        for name, each in times.items():
            print(f"{n}^3, {name}: {medians[name]:.2f} ms a step ({min(each):.2f} to {max(each):.2f}), "
                  f"{medians[name] / medians['Devito']:.2f} times Devito", flush=True)


if __name__ == "__main__":
    main()
