"""Programs that cargo builds; left out where there is no cargo."""

import shutil

import numpy as np
import pytest

import equelle
from conftest import HEAT

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo")


def test_a_built_program_has_the_same_bits(heat, step):
    built = equelle.compile(HEAT, name="heat", backend="compiled")
    grid = equelle.Grid.cartesian(100, spacing=0.5)
    given = dict(u_initial=step, timesteps=[0.1] * 5, k=0.7)
    one, other = heat.run(grid, **given), built.run(grid, **given)
    assert all(np.array_equal(a, b) for a, b in zip(one["u"], other["u"])) and len(other["u"]) == 5
    assert np.array_equal(one.scalars["sum"], other.scalars["sum"]) and np.array_equal(one["sum"].times, other["sum"].times)
    assert other.summary["steps"] == 5
    with pytest.raises(equelle.RunError, match="expected") as caught:
        built.run(nx=99, **given)
    assert caught.value.kind == "data" and caught.value.lines
    with pytest.raises(TypeError, match="not followed"):
        built.steps(grid, **given)
    triangle = equelle.Grid.from_arrays([[0, 0], [1, 0], [0, 1.0]], [[0, 1, 2]])
    with pytest.raises(TypeError, match="by parameters"):
        built.run(triangle, u_initial=1.0, timesteps=[0.1])
