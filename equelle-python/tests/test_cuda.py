"""Programs on a GPU; left out where there is none."""

import numpy as np
import pytest

import equelle
from conftest import HEAT, IMPLICIT


@pytest.fixture(scope="module")
def on_gpu():
    program = equelle.compile(HEAT, backend="cuda")
    try:
        program.run(nx=8, u_initial=1.0, timesteps=[1e-3])
    except equelle.RunError as error:
        if error.kind != "backend":
            raise
        pytest.skip(f"no GPU: {error.message}")
    return program


def test_heat_has_the_bits_of_the_cores(on_gpu, heat):
    u = np.random.default_rng(0).uniform(size=(64, 64))
    given = dict(nx=64, ny=64, u_initial=u, timesteps=[0.125] * 20)
    cores, gpu = heat.run(**given), on_gpu.run(**given)
    # Spacing and steps are powers of two.
    assert all(np.array_equal(one, other) for one, other in zip(cores["u"], gpu["u"]))
    assert np.array_equal(cores.scalars["sum"], gpu.scalars["sum"])
    assert gpu["u"].steps.tolist() == list(range(1, 21)) and np.array_equal(gpu["u"].times, cores["u"].times)


def test_newton_agrees(on_gpu, implicit):
    given = dict(nx=40, ny=30, u=np.random.default_rng(1).uniform(size=(30, 40)), timesteps=[0.5] * 4, rel_res_tol=1e-12)
    cores, gpu = implicit.run(**given), equelle.compile(IMPLICIT, backend="cuda").run(**given)
    np.testing.assert_allclose(gpu["u"][-1], cores["u"][-1], rtol=1e-10)
    assert len(gpu.newton) == 4


def test_steps_are_read_and_changed(on_gpu, heat, step):
    given = dict(nx=100, u_initial=step, timesteps=[0.125] * 6)
    found = {}
    for name, program in (("cores", heat), ("gpu", on_gpu)):
        rounds = program.steps(**given)
        seen = []
        for at in rounds:
            seen.append((at.step, at["u"], at.reduce("u", "max"), at.outputs.get("sum")))
            if at.step == 3:
                at["u"] = at["u"][::-1] * 0.5
        found[name] = (seen, rounds.results["u"])
    for (step_of_cores, u, largest, _), (step_of_gpu, v, other, _) in zip(found["cores"][0], found["gpu"][0]):
        assert step_of_cores == step_of_gpu and np.array_equal(u, v) and largest == other
    assert all(np.array_equal(one, other) for one, other in zip(found["cores"][1], found["gpu"][1]))


def test_a_thousand_runs_leak_little(on_gpu, step):
    for _ in range(50):
        on_gpu.run(nx=100, u_initial=step, timesteps=[1e-3] * 2)
