"""Programs that several tests run."""

import pathlib

import numpy as np
import pytest

import equelle

ROOT = pathlib.Path(__file__).resolve().parents[2]

HEAT = """# dimensions: ignore
u0 = InputCollectionOfScalar("u_initial", AllCells())
k = InputScalarWithDefault("k", 1)
u : Mutable Collection Of Scalar On AllCells() = u0
For dt In InputSequenceOfScalar("timesteps") {
    u = u + dt * k * Divergence(Gradient(u))
    Output("u", u)
    Output("sum", SumReduce(u))
}
"""

IMPLICIT = """# dimensions: ignore
k = InputScalarWithDefault("k", 1)
f = InputScalarWithDefault("f", 1)
u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar("u", AllCells())
For dt In InputSequenceOfScalar("timesteps") {
    residual(v) = {
        -> v - u - dt * k * Divergence(Gradient(v)) + dt * f * v * v
    }
    u = NewtonSolve(residual, u)
    Output("u", u)
}
"""


@pytest.fixture(scope="session")
def heat():
    return equelle.compile(HEAT, name="heat")


@pytest.fixture(scope="session")
def implicit():
    return equelle.compile(IMPLICIT, name="implicit")


@pytest.fixture
def step():
    """A step in the middle of 100 cells."""
    return 1.0 * (np.arange(100) < 50)
