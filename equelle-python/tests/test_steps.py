"""Runs that Python follows."""

import signal
import threading
import time

import numpy as np
import pytest

import equelle


def test_steps_are_those_of_a_run(heat, step):
    given = dict(nx=100, u_initial=step, timesteps=[1e-5] * 5)
    rounds = heat.steps(**given)
    seen = [(at.step, at.time, at["u"], at.reduce("u", "sum"), at.outputs["sum"]) for at in rounds]
    whole = heat.run(**given)
    assert [entry[0] for entry in seen] == [1, 2, 3, 4, 5]
    for (_, when, u, total, put_out), row, time_of_row in zip(seen, whole["u"], whole["u"].times):
        assert np.array_equal(u, row) and when == time_of_row and total == put_out
    assert np.array_equal(rounds.results["u"][-1], whole["u"][-1]) and rounds.results.summary["steps"] == 5


def test_the_state_can_be_changed(heat, step):
    rounds = heat.steps(nx=100, u_initial=step, timesteps=[1e-5] * 4)
    for at in rounds:
        if at.step == 2:
            at["u"] = step[::-1].copy()
    changed = heat.run(nx=100, u_initial=step[::-1], timesteps=[1e-5] * 2)
    assert np.array_equal(rounds.results["u"][-1], changed["u"][-1])


def test_boxes_of_cells(heat):
    u = np.arange(60.0).reshape(6, 10)
    rounds = heat.steps(nx=10, ny=6, u_initial=u, timesteps=[0.0] * 2)
    at = next(rounds)
    assert np.array_equal(at["u", 2:5, 3], u[2:5, 3]) and np.array_equal(at["u", :, -2:], u[:, -2:])
    assert at["u", 1, 2] == u[1, 2] and at["u", 1, 2].shape == () and at["u", 4:2, :].shape == (0, 10)
    at["u", 1:3, 4:6] = [[1, 2], [3, 4]]
    at["u", 5, :] = -1
    at["u", 0, 0] = 7.5
    u[1:3, 4:6], u[5, :], u[0, 0] = [[1, 2], [3, 4]], -1, 7.5
    assert np.array_equal(at["u"].reshape(6, 10), u)
    for key, text in ((("u", 1), "2 axes"), (("u", 6, 0), "6 cells"), (("u", slice(0, 6, 2), 0), "steps")):
        with pytest.raises(IndexError, match=text):
            at[key]
    with pytest.raises(TypeError):
        at[1, 2]
    with pytest.raises(ValueError):
        at["u", 0, :] = np.zeros(9)
    with pytest.raises(equelle.EquelleError, match="no mutable variable `w`"):
        at["w", 0, 0]
    next(rounds)
    rounds.close()
    assert np.array_equal(rounds.results["u"][-1].reshape(6, 10), u)


def test_a_joined_grid_has_boxes(heat):
    u = np.arange(60.0).reshape(6, 10)
    with heat.steps(nx=10, ny=6, u_initial=u, timesteps=[0.0], grid_periodic="x-:x+") as rounds:
        assert np.array_equal(next(rounds)["u", 2:5, 3], u[2:5, 3])


def test_a_mesh_has_no_boxes(heat):
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    grid = equelle.Grid.from_arrays(points, [("triangle", np.array([[0, 1, 2], [1, 3, 2]]))])
    with heat.steps(grid, u_initial=[1.0, 2.0], timesteps=[0.0]) as rounds, pytest.raises(ValueError, match="Cartesian"):
        next(rounds)["u", 0]


def test_an_array_of_one_cell_is_an_array(heat):
    rounds = heat.steps(equelle.Grid.cartesian(1), u_initial=[1.0], timesteps=[1e-5] * 2)
    for at in rounds:
        at["u"] = np.array([2.0])
    assert rounds.results["u"][-1].tolist() == [2.0]


def test_what_does_not_fit_is_refused(heat, step):
    with heat.steps(nx=100, u_initial=step, timesteps=[1e-5] * 4) as rounds:
        at = next(rounds)
        assert at.variables() == ["u"]
        with pytest.raises(equelle.EquelleError, match="`u` has 100 elements, and 99 were given"):
            at["u"] = np.zeros(99)
        with pytest.raises(equelle.EquelleError, match="no mutable variable `v`"):
            at["v"]
        with pytest.raises(equelle.EquelleError, match="something else was given"):
            at["u"] = 1.0
        with pytest.raises(ValueError, match="no reduction"):
            at.reduce("u", "mean")
        following = next(rounds)
        with pytest.raises(RuntimeError, match="has gone on"):
            at["u"]
        assert following.step == 2
    assert rounds.results["u"][-1].shape == (100,)
    with pytest.raises(StopIteration):
        next(rounds)


def test_an_exception_in_the_loop_ends_the_run(heat, step):
    with pytest.raises(ZeroDivisionError):
        for at in heat.steps(nx=100, u_initial=step, timesteps=[1e-5] * 1000):
            1 / (at.step - 3)
    assert threading.active_count() < 20


def test_two_runs_at_once_in_threads(heat, step):
    expected = heat.run(nx=100, u_initial=step, timesteps=[1e-5] * 50)["u"][-1]
    found = [None] * 4

    def run(number):
        found[number] = heat.run(nx=100, u_initial=step, timesteps=[1e-5] * 50)["u"][-1]

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert all(np.array_equal(one, expected) for one in found)


def test_a_run_inside_a_loop_over_another(heat, step):
    for at in heat.steps(nx=100, u_initial=step, timesteps=[1e-5] * 2):
        inner = heat.run(nx=100, u_initial=at["u"], timesteps=[1e-5])
    assert inner["u"][-1].shape == (100,)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads")
def test_ctrl_c_ends_a_run(heat):
    main = threading.main_thread().ident
    # Where a shell has started the tests in the background, Python ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            heat.run(nx=300, ny=300, u_initial=1.0, timesteps=np.full(1_000_000, 1e-3))
        assert time.monotonic() - start < 20
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_go_on_during_a_run(heat):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    heat.run(nx=400, ny=400, u_initial=1.0, timesteps=[1e-3] * 30)
    stop.set()
    thread.join()
    assert len(ticks) > 5 and max(np.diff(ticks)) < 1


def test_progress_is_told_and_its_exception_ends_the_run(heat):
    seen = []
    heat.run(nx=300, ny=300, u_initial=1.0, timesteps=[1e-3] * 60, progress=lambda step, steps: seen.append((step, steps)))
    assert seen and all(steps in (None, 60) for _, steps in seen)

    def fails(step, steps):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        heat.run(nx=300, ny=300, u_initial=1.0, timesteps=[1e-3] * 100_000, progress=fails)
