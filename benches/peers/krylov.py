"""Iterations of CG beside SciPy with Jacobi and PyAMG with multigrid, in turn with `krylov_rate` of equelle-runtime.

Needs numpy and scipy; with `amg` as second argument also pyamg (pip install numpy scipy pyamg). Arguments: the built example
(`cargo build --release -p equelle-runtime --features threads --example krylov_rate`, with `RUSTFLAGS=-Ctarget-cpu=native`),
`jacobi` or `amg`, and numbers of threads of the example, separated by commas. Both run in turn; the fastest of each counts.
"""
import os
import subprocess
import sys
import tempfile
import time

import numpy
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

TURNS = 4
ITERATIONS = 30


def laplacian(dimensions, n):
    e = numpy.ones(n)
    t, i = sparse.diags([-e[1:], 2 * e, -e[1:]], [-1, 0, 1]), sparse.identity(n)
    if dimensions == 2:
        a = sparse.kron(i, t) + sparse.kron(t, i)
    else:
        a = sparse.kron(sparse.kron(t, i), i) + sparse.kron(sparse.kron(i, t), i) + sparse.kron(sparse.kron(i, i), t)
    return (0.15 * a + sparse.identity(n**dimensions)).tocsr()


def tetrahedra(n):
    """Cells of cubes that are cut into six tetrahedra around a diagonal, numbered as by a mesher: cubes in random order of bricks."""
    rng = numpy.random.default_rng(1)
    cube = numpy.arange(n**3)
    # Six tetrahedra of a cube are the orders of axes; neighbours inside differ by an exchange of two axes that follow each other.
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    place = [cube % n, cube // n % n, cube // n**2]
    stride = [1, n, n * n]
    rows, columns = [], []
    for k, (a, b, c) in enumerate(orders):
        for other in (orders.index((b, a, c)), orders.index((a, c, b))):
            rows.append(6 * cube + k)
            columns.append(6 * cube + other)
        # The face at the far end of the first axis lies on the cube beyond it, whose last axis it is.
        inside = cube[place[a] + 1 < n]
        far = orders.index((b, c, a))
        rows += [6 * inside + k, 6 * (inside + stride[a]) + far]
        columns += [6 * (inside + stride[a]) + far, 6 * inside + k]
    rows, columns = numpy.concatenate(rows), numpy.concatenate(columns)
    brick = (place[0] // 8) + 1000 * (place[1] // 8) + 1000000 * (place[2] // 8)
    names = numpy.unique(brick)
    turn = dict(zip(names, rng.permutation(len(names))))
    order = numpy.lexsort((rng.random(6 * n**3), numpy.repeat([turn[b] for b in brick], 6)))
    number = numpy.empty_like(order)
    number[order] = numpy.arange(6 * n**3)
    a = sparse.coo_matrix((numpy.full(len(rows), -0.15), (number[rows], number[columns])), shape=(6 * n**3,) * 2).tocsr()
    return (a + sparse.diags(1.0 - numpy.asarray(a.sum(axis=1)).ravel())).tocsr()


def write(a, path):
    a.sort_indices()
    with open(path, "wb") as out:
        out.write(numpy.array([a.shape[0], a.nnz], dtype="<u8").tobytes())
        out.write(a.indptr.astype("<u8").tobytes())
        out.write(a.indices.astype("<u4").tobytes())
        out.write(a.data.astype("<f8").tobytes())


def scipy_iteration(a, b):
    inverse = 1.0 / a.diagonal()
    m = linalg.LinearOperator(a.shape, matvec=lambda v: inverse * v)
    times = []
    for count in (2, ITERATIONS + 2):
        started = time.perf_counter()
        linalg.cg(a, b, rtol=0.0, atol=0.0, M=m, maxiter=count)
        times.append(time.perf_counter() - started)
    return (times[1] - times[0]) / ITERATIONS, 0.0


def pyamg_iteration(a, b):
    from pyamg import smoothed_aggregation_solver

    smoother = ("chebyshev", {"degree": 2, "lower_bound": 0.25, "upper_bound": 1.1})
    started = time.perf_counter()
    levels = smoothed_aggregation_solver(a, presmoother=smoother, postsmoother=smoother, improve_candidates=None)
    set_up = time.perf_counter() - started
    residuals = []
    started = time.perf_counter()
    levels.solve(b, tol=1e-8, accel="cg", residuals=residuals, maxiter=100)
    return (time.perf_counter() - started) / (len(residuals) - 1), set_up


program, kind = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "jacobi"
threads = (sys.argv[3] if len(sys.argv) > 3 else "1").split(",")
peer = pyamg_iteration if kind == "amg" else scipy_iteration
systems = [("7 points, 100^3", laplacian(3, 100)), ("5 points, 500^2", laplacian(2, 500)), ("tetrahedra, 6 x 40^3", tetrahedra(40))]
print("| matrix | threads | peer ms | ms | ratio | copy ms | over copy | product ms | set-up peer, ms | set-up ms | inspection ms | solve ms |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "matrix")
    for name, a in systems:
        write(a, path)
        b = (numpy.arange(a.shape[0], dtype=numpy.int64) * 7919 % 1009) / 1009.0
        theirs, ours = [], {number: [] for number in threads}
        for _ in range(TURNS):
            theirs.append(peer(a, b))
            for number in threads:
                line = subprocess.run([program, path, kind, number], check=True, capture_output=True, text=True).stdout
                ours[number].append({key: float(value) for key, value in (word.split("=") for word in line.split())})
        iteration, set_up = (min(column) for column in zip(*theirs))
        for number in threads:
            least = {key: min(run[key] for run in ours[number]) for key in ours[number][0]}
            mine, copy = least["iteration"], least["copy"]
            print(
                f"| {name} | {number} | {1e3 * iteration:.2f} | {1e3 * mine:.2f} | {mine / iteration:.2f} | {1e3 * copy:.2f} | {mine / copy:.2f} "
                f"| {1e3 * least['product']:.2f} | {1e3 * set_up:.1f} | {1e3 * least['set_up']:.1f} | {1e3 * least['inspect']:.1f} "
                f"| {1e3 * least['again']:.1f} |",
                flush=True,
            )
