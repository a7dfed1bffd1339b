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
    with pytest.raises(TypeError, match="output_dir"):
        built.run(grid, output_dir="out", **given)
    triangle = equelle.Grid.from_arrays([[0, 0], [1, 0], [0, 1.0]], [[0, 1, 2]])
    with pytest.raises(TypeError, match="by parameters"):
        built.run(triangle, u_initial=1.0, timesteps=[0.1])


def test_single_values_have_their_tags():
    text = """p = InputScalarWithDefault("p", 3) * 1 [Bar]
n : Mutable Scalar = 0
For dt In InputSequenceOfScalar("timesteps") * 1 [Second] {
    n = n + 1
    Output("p", n * p / (1 [Pascal]))
    Output("is large", n > 1)
    Output("where", n * Centroid(AllCells()))
}
Output("v", SumReduce(Centroid(AllCells())) / (1 [Meter]))
"""
    given = dict(nx=2, ny=1, timesteps=[0.5] * 2)
    one, other = (equelle.compile(text, name="values", backend=backend).run(**given) for backend in ("auto", "compiled"))
    assert set(one) == set(other)
    for tag in one:
        assert all(np.array_equal(a, b) for a, b in zip(one[tag], other[tag])) and len(one[tag]) == len(other[tag]), tag


def test_single_precision(step):
    single = equelle.compile(HEAT, name="heat", backend="compiled", precision="f32")
    row = single.run(nx=100, u_initial=step, timesteps=[0.1] * 5)["u"][-1]
    double = equelle.compile(HEAT).run(nx=100, u_initial=step, timesteps=[0.1] * 5)["u"][-1]
    assert np.array_equal(row, row.astype(np.float32)) and not np.array_equal(row, double)
    np.testing.assert_allclose(row, double, atol=1e-6)
    interpreted = equelle.compile(HEAT, precision="f32").run(nx=100, u_initial=step, timesteps=[0.1] * 5)["u"][-1]
    assert np.array_equal(row, interpreted)
