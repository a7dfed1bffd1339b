"""Grids."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _convert, _equelle


class Grid:
    """A grid of 1, 2 or 3 dimensions, which several runs may share.

    Elements have the numbers of the grid's file; those of a Cartesian grid go along x first.
    """

    def __init__(self, inner: _equelle.Grid, parameters: list[tuple[str, str]] | None = None):
        self._inner = inner
        # That describe it to other processes; None for a grid from arrays.
        self._parameters = parameters

    @classmethod
    def cartesian(cls, *cells: int, lengths=None, spacing=None) -> Grid:
        """A Cartesian grid of ``cells`` along x, y and z.

        ``lengths`` of the whole grid or the ``spacing`` of cells are in metres, one number or one
        for each axis; by default cells have the width 1. The spacing along an axis may be an array
        with the width of each cell.
        """
        if not 1 <= len(cells) <= 3:
            raise ValueError("a grid has 1, 2 or 3 axes")
        if lengths is not None and spacing is not None:
            raise TypeError("a grid has lengths or a spacing")
        given: list[tuple[str, str]] = [("grid_dim", str(len(cells)))]
        for axis, (name, count) in enumerate(zip("xyz", cells)):
            given.append((f"n{name}", str(count)))
            for key, values in ((f"l{name}", lengths), (f"d{name}", spacing)):
                if values is not None:
                    value = values if np.ndim(values) == 0 else values[axis]
                    given.append((key, _convert.argument(key, None, value)))
        return cls(_equelle.Grid.from_parameters(given), given)

    @classmethod
    def from_file(cls, path: str | os.PathLike, **parameters: Any) -> Grid:
        """The grid of a file: Gmsh ``.msh``, VTK ``.vtu``, ``.vtk``, Eclipse ``.DATA``, ``.GRDECL``, OPM.

        Keyword arguments are parameters of grids, such as ``grid_unit="feet"``.
        """
        given = [("grid_filename", os.fspath(path))]
        given += [(key, _convert.argument(key, None, value)) for key, value in parameters.items()]
        return cls(_equelle.Grid.from_parameters(given), given)

    @classmethod
    def from_arrays(cls, points, cells) -> Grid:
        """A grid of cells given by the numbers of their corners.

        ``points`` is ``[n_points, dim]`` in metres. ``cells`` is one array ``[n_cells, n_corners]``,
        or, as meshio has them, a list of pairs (name of the shape, array) or a mapping: "triangle",
        "quad", "tetra", "pyramid", "wedge", "hexahedron". Corners are in the order of VTK.
        """
        points = np.ascontiguousarray(_convert.numbers("points", points))
        if points.ndim != 2 or points.shape[1] not in (2, 3):
            raise ValueError(f"points needs the shape (n, 2) or (n, 3), and has {points.shape}")
        if isinstance(cells, Mapping):
            blocks = list(cells.items())
        elif isinstance(cells, (list, tuple)) and cells and hasattr(cells[0], "data") and hasattr(cells[0], "type"):
            blocks = [(block.type, block.data) for block in cells]
        elif isinstance(cells, (list, tuple)) and cells and isinstance(cells[0], tuple) and isinstance(cells[0][0], str):
            blocks = list(cells)
        else:
            array = np.asarray(cells)
            if array.ndim != 2:
                raise ValueError("cells needs the shape (n_cells, n_corners), or blocks of cells with the names of their shapes")
            names = {(2, 3): "triangle", (2, 4): "quad", (3, 4): "tetra", (3, 5): "pyramid", (3, 6): "wedge", (3, 8): "hexahedron"}
            shape = (points.shape[1], array.shape[1])
            if shape not in names:
                raise ValueError(f"no cell of {shape[0]} dimensions has {shape[1]} corners")
            blocks = [(names[shape], array)]
        # Meshes in a plane often have points of three components.
        flat = {"triangle", "quad", "polygon"}
        dim = points.shape[1]
        if dim == 3 and all(name in flat for name, _ in blocks):
            if np.ptp(points[:, 2]) != 0:
                raise ValueError("a grid of triangles and quads lies in the plane z = 0")
            points, dim = np.ascontiguousarray(points[:, :2]), 2
        checked = []
        for name, corners in blocks:
            corners = _convert.indices("cells", corners)
            if corners.ndim != 2:
                raise ValueError(f"cells of the shape {name!r} need an array (n_cells, n_corners), not {corners.shape}")
            checked.append((name, np.ascontiguousarray(corners)))
        return cls(_equelle.Grid.from_cells(dim, points, checked))

    def periodic(self, *sides: str) -> Grid:
        """The same grid with sides joined, pairs such as ``"x-:x+"`` or ``"west:east"``.

        Sides are those of the box around the grid, or named sets of faces; one is the other one
        moved. Two faces that meet become one between their cells.
        """
        text = ",".join(sides)
        parameters = None if self._parameters is None else [*self._parameters, ("grid_periodic", text)]
        return Grid(self._inner.periodic(text), parameters)

    @property
    def dim(self) -> int:
        """Axes of space."""
        return self._inner.dim

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self._inner.n_cells

    @property
    def n_faces(self) -> int:
        """Number of faces."""
        return self._inner.n_faces

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Cells along the axes of a Cartesian grid, the last axis first; None for other grids."""
        shape = self._inner.shape
        return None if shape is None else tuple(shape)

    @property
    def centroids(self) -> np.ndarray:
        """Centroids of cells, ``[n_cells, dim]``, in metres."""
        return np.asarray(self._inner.centroids("cells"))

    @property
    def volumes(self) -> np.ndarray:
        """Volumes of cells (areas in 2D, lengths in 1D), ``[n_cells]``."""
        return np.asarray(self._inner.measures("cells"))

    @property
    def face_centroids(self) -> np.ndarray:
        """Centroids of faces, ``[n_faces, dim]``, in metres."""
        return np.asarray(self._inner.centroids("faces"))

    @property
    def face_areas(self) -> np.ndarray:
        """Areas of faces (lengths in 2D, 1 in 1D), ``[n_faces]``."""
        return np.asarray(self._inner.measures("faces"))

    @property
    def face_normals(self) -> np.ndarray:
        """Unit normals of faces, from the first to the second cell, ``[n_faces, dim]``."""
        return np.asarray(self._inner.normals())

    @property
    def face_cells(self) -> np.ndarray:
        """First and second cell of each face, -1 outside, ``[n_faces, 2]``."""
        return np.asarray(self._inner.face_cells()).astype(np.int64)

    @property
    def boundary_faces(self) -> np.ndarray:
        """Faces with one cell, ascending."""
        return np.flatnonzero((self.face_cells < 0).any(axis=1))

    @property
    def sets(self) -> dict[str, np.ndarray]:
        """Named sets of the file: indices of cells or faces, ascending."""
        return {name: np.asarray(members, dtype=np.int64) for name, _, members in self._inner.sets()}

    def __repr__(self) -> str:
        if self.shape is not None:
            return "Grid(" + " x ".join(map(str, reversed(self.shape))) + " cells)"
        return f"Grid({self.n_cells} cells, {self.n_faces} faces, {self.dim}D)"
