"""Long-lived processes, forks, and the command."""

import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest

import equelle
from conftest import HEAT, ROOT


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory of a process as Linux tells it")
def test_a_thousand_runs_leak_nothing(heat, step):
    for _ in range(100):
        heat.run(nx=100, u_initial=step, timesteps=[1e-5] * 2)
    before = resident()
    for _ in range(1000):
        heat.run(nx=100, u_initial=step, timesteps=[1e-5] * 2)
    assert resident() - before < 1_000_000


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory of a process as Linux tells it")
def test_scipy_drives_runs_without_a_leak(heat, step):
    optimize = pytest.importorskip("scipy.optimize")
    measured = heat.run(nx=100, u_initial=step, timesteps=[0.1] * 20, k=0.7)["u"][-1]

    def misfit(parameters):
        return ((heat.run(nx=100, u_initial=step, timesteps=[0.1] * 20, k=parameters[0])["u"][-1] - measured) ** 2).sum()

    def fitted(evaluations):
        return optimize.minimize(misfit, [0.3], method="Nelder-Mead", options=dict(maxfev=evaluations, xatol=0, fatol=0))

    fitted(50)
    before = resident()
    fit = fitted(200)
    assert fit.nfev >= 100 and abs(fit.x[0] - 0.7) < 1e-6
    assert resident() - before < 1_000_000


def in_process(_):
    heat = equelle.compile(HEAT)
    return heat.run(nx=50, u_initial=np.arange(50.0), timesteps=[1e-3] * 3, threads=1)["u"][-1].tolist()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(method, heat):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    here = heat.run(nx=50, u_initial=np.arange(50.0), timesteps=[1e-3] * 3)["u"][-1].tolist()
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(in_process, range(4)) == [here] * 4


def command(*words, **options):
    return subprocess.run([sys.executable, "-m", "equelle", *words], capture_output=True, text=True, **options)


def test_the_command(tmp_path):
    (tmp_path / "heat.equelle").write_text(HEAT)
    assert command("--version").stdout.startswith("equellec ")
    done = command("check", "heat.equelle", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    words = ["heat.equelle", "nx=5", "u_initial_expression=x", "timesteps=2*0.01", "--interpret"]
    done = command("run", *words, cwd=tmp_path)
    assert done.returncode == 0 and "sum = " in done.stdout, done.stderr
    (tmp_path / "bad.equelle").write_text("u = v\n")
    assert command("check", "bad.equelle", cwd=tmp_path).returncode == 1
    done = command("sweep", "heat.equelle", "nx=5", "u_initial=1", "timesteps=0.01", "k=1,2", "--interpret", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.count("\n") == 3, done.stderr


def test_a_sweep_is_a_table(heat):
    rows = heat.sweep(processes=2, nx=50, lx=1.0, u_initial=np.arange(50.0), timesteps=[1e-5] * 3, k=[1, 2, 5])
    assert [row["k"] for row in rows] == [1, 2, 5]
    np.testing.assert_allclose([row["sum"] for row in rows], np.arange(50.0).sum(), rtol=1e-12)
    with pytest.raises(TypeError, match="several values"):
        heat.sweep(nx=5, u_initial=1.0, timesteps=[1.0])


EXAMPLES = sorted((ROOT / "examples").glob("*/*.equelle"))


def test_examples_have_the_bits_of_the_command(tmp_path):
    """Each example through Python and by the command: the same files, to the bit."""
    compared = 0
    for program in EXAMPLES:
        param = next(iter(sorted(program.parent.glob("*.param"))), None)
        if param is None:
            continue
        files = []
        for way in ("command", "python"):
            folder = tmp_path / f"{program.stem}-{way}"
            if way == "command":
                done = command("run", str(program), str(param), "--interpret", "--quiet", "output_to_file=true", f"output_dir={folder}")
                assert done.returncode == 0, done.stderr
            else:
                equelle.compile(program).run(param_file=param, output_to_file=True, output_dir=folder)
            files.append({path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith(".json")})
        assert files[0] == files[1], program
        compared += 1
    assert compared >= 10
