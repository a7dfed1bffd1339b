"""Grids from Python."""

import numpy as np
import pytest

import equelle


def test_cartesian():
    grid = equelle.Grid.cartesian(4, 3, lengths=(2.0, 1.5))
    assert (grid.dim, grid.n_cells, grid.n_faces, grid.shape) == (2, 12, 4 * 4 + 5 * 3, (3, 4))
    np.testing.assert_allclose(grid.volumes, 0.25)
    np.testing.assert_allclose(grid.centroids[5], [0.75, 0.75])
    assert len(grid.boundary_faces) == 14
    assert repr(grid) == "Grid(4 x 3 cells)"
    graded = equelle.Grid.cartesian(3, spacing=[[1.0, 2.0, 4.0]])
    np.testing.assert_allclose(graded.volumes, [1, 2, 4])
    with pytest.raises(equelle.EquelleError, match="at least 1"):
        equelle.Grid.cartesian(0)
    with pytest.raises(TypeError, match="lengths or a spacing"):
        equelle.Grid.cartesian(1, lengths=1.0, spacing=1.0)


def test_periodic():
    torus = equelle.Grid.cartesian(4, 3).periodic("x-:x+", "y-:y+")
    assert (torus.n_faces, len(torus.boundary_faces), torus.shape) == (24, 0, (3, 4))
    with pytest.raises(equelle.EquelleError, match="no side `west`"):
        torus.periodic("west:x+")
    # Half of what is in the first and the last cell crosses the joined sides.
    program = equelle.compile("u = InputCollectionOfScalar(\"u\", AllCells())\nOutput(\"v\", u + Divergence(Gradient(u)) / 2)\n")
    line = equelle.Grid.cartesian(4)
    for grid, expected in ((line, [2, 2, 0, 0]), (line.periodic("x-:x+"), [0, 2, 0, 2])):
        found = program.run(grid, u=np.array([4.0, 0, 0, 0]))["v"][-1]
        np.testing.assert_array_equal(found, expected)
    # Arrays and boxes have the axes of the grid that was joined.
    u = np.arange(12.0).reshape(3, 4)
    result = program.run(torus, u=u)
    across = sum(np.roll(u, by, axis) for axis in (0, 1) for by in (1, -1))
    np.testing.assert_array_equal(result.field("v"), u + (across - 4 * u) / 2)
    points = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1.0]])
    quads = equelle.Grid.from_arrays(points, [[0, 1, 4, 3], [1, 2, 5, 4]]).periodic("x-:x+")
    assert quads.n_faces == 6


def test_from_arrays():
    points = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    grid = equelle.Grid.from_arrays(points, [[0, 1, 2], [0, 2, 3]])
    assert (grid.n_cells, grid.n_faces) == (2, 5)
    np.testing.assert_allclose(grid.volumes, 0.5)
    np.testing.assert_allclose(np.linalg.norm(grid.face_normals, axis=1), 1)
    # The divergence theorem: areas times normals of each cell sum to zero.
    closed = np.zeros((2, 2))
    for (first, second), area, normal in zip(grid.face_cells, grid.face_areas, grid.face_normals):
        closed[first] += area * normal
        if second >= 0:
            closed[second] -= area * normal
    np.testing.assert_allclose(closed, 0, atol=1e-15)
    flat = equelle.Grid.from_arrays(np.c_[points, np.zeros(4)], [("triangle", [[0, 1, 2]]), ("triangle", [[0, 2, 3]])])
    assert (flat.dim, flat.n_cells) == (2, 2)
    tetra = equelle.Grid.from_arrays(np.vstack([np.zeros(3), np.eye(3)]), {"tetra": [[0, 1, 2, 3]]})
    np.testing.assert_allclose(tetra.volumes, 1 / 6)


@pytest.mark.parametrize(
    ("points", "cells", "text"),
    [
        ([[0, 0], [1, 0], [0, 1.0]], [[0, 1, 7]], "7"),
        ([[0, 0], [1, 0], [0, 1.0]], [[0, 1, 1]], "twice"),
        ([[0, 0], [1, 0], [0, np.inf]], [[0, 1, 2]], "finite"),
        ([[0, 0], [1, 0], [0, 1.0]], [[0, 1]], "corners"),
        ([[0, 0], [1, 0], [0, 1.0]], [("ball", [[0, 1, 2]])], "ball"),
        ([0, 1, 2.0], [[0, 1, 2]], "shape"),
        ([[0, 0], [1, 0], [0, 1.0]], [[0, 1, -1]], "-1|4294967295|no"),
    ],
)
def test_bad_arrays(points, cells, text):
    with pytest.raises((ValueError, TypeError), match=text):
        equelle.Grid.from_arrays(points, cells)


def test_a_grid_is_shared_by_runs(heat):
    grid = equelle.Grid.from_arrays(*square(12))
    centres = grid.centroids
    u = np.exp(-40 * ((centres - 0.5) ** 2).sum(axis=1))
    results = [heat.run(grid, u_initial=u, timesteps=[1e-4] * 5) for _ in range(2)]
    assert np.array_equal(results[0]["u"][-1], results[1]["u"][-1])
    # Nothing leaves the grid.
    np.testing.assert_allclose(results[0]["u"][-1] @ grid.volumes, u @ grid.volumes, rtol=1e-12)
    with pytest.raises(TypeError, match="beside a grid"):
        heat.run(grid, nx=3, u_initial=u, timesteps=[1])


def test_a_file_is_read(tmp_path, heat):
    grid = equelle.Grid.from_arrays(*square(5))
    inner = heat.run(grid, u_initial=1.0, timesteps=[1e-4])
    path, _ = inner.to_vtu(tmp_path)
    read = equelle.Grid.from_file(path)
    assert (read.n_cells, read.dim) == (grid.n_cells, 2)
    np.testing.assert_allclose(read.centroids, grid.centroids)
    with pytest.raises(equelle.EquelleError, match="cannot read"):
        equelle.Grid.from_file(tmp_path / "none.msh")


def square(n):
    """The unit square in triangles."""
    x = np.linspace(0, 1, n + 1)
    points = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    corner = np.arange(n)[:, None] * (n + 1) + np.arange(n)
    a, b, c, d = (np.ravel(corner + shift) for shift in (0, 1, n + 1, n + 2))
    return points, np.vstack([np.stack([a, b, d], axis=1), np.stack([a, d, c], axis=1)])
