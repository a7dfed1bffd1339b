#!/usr/bin/env python3
"""Reads files of results with VTK, meshio and NumPy and compares them with the numbers written.

usage: check.py FOLDER

FOLDER is what `cargo run -p equelle-runtime --example vtk_files -- FOLDER` has written. Needs the
packages `vtk`, `meshio` and `numpy` of PyPI.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import meshio
import numpy as np
import vtk
from meshio.vtu._vtu import VtuReader
from vtk.util.numpy_support import vtk_to_numpy

# Volumes are sums of some ten terms.
TOLERANCE = 1e-12
KINDS = {"": "cell", "-faces": "face", "-edges": "edge"}
WHATS = ["number", "single", "vector", "bool", "entity", "some", "some bools"]
POLYHEDRON = 42


class Case:
    """A file, and the numbers that it must hold."""

    def __init__(self, folder, line):
        file, self.name, part, dim = line.rstrip("\n").split("\t")
        self.path, self.folder, self.part, self.dim = folder / file, folder, part, int(dim)

    def expected(self, noun, what):
        """The values on all entities: NaN or -1 where there is none."""
        path = self.folder / f"{self.name}.{noun}_{what.replace(' ', '_')}.npy"
        if not path.exists():
            return None
        values = np.load(path)
        if what.startswith("some"):
            n = len(np.load(self.folder / f"{self.name}.{noun}_measure.npy"))
            kind = np.int8 if what == "some bools" else np.float64
            every = np.full(n, -1 if what == "some bools" else np.nan, dtype=kind)
            every[[i for i in range(n) if i % 3 == 1]] = values
            return every
        if values.dtype == bool:
            return values.astype(np.int8)
        if values.ndim == 2 and values.shape[1] < 3:
            return np.hstack([values, np.zeros((len(values), 3 - values.shape[1]))])
        return values

    def nouns(self):
        """Which entities are cells of the file and which are points."""
        return KINDS[self.part], None if self.part else ("face" if self.dim == 1 else "vertex")

    def arrays(self):
        cells, points = self.nouns()
        for where, noun in (("cells", cells), ("points", points)):
            for what in WHATS if noun else []:
                expected = self.expected(noun, what)
                if expected is not None:
                    yield where, noun + " " + what + (" [Bar]" if what == "number" else ""), expected


def same_bits(found, expected, message):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype, f"{message}: {found.dtype}, not {expected.dtype}"
    assert found.shape == expected.shape, f"{message}: {found.shape}, not {expected.shape}"
    bits = np.dtype(f"u{found.dtype.itemsize}")
    assert (np.ascontiguousarray(found).view(bits) == np.ascontiguousarray(expected).view(bits)).all(), message


def near(found, expected, message):
    scale = np.abs(expected).max()
    apart = np.abs(np.asarray(found) - expected).max() / scale
    assert apart <= TOLERANCE, f"{message}: {apart} apart"


def check_vtk(case):
    reader = vtk.vtkXMLImageDataReader() if case.path.suffix == ".vti" else vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(case.path))
    reader.Update()
    assert reader.GetErrorCode() == 0, f"{case.path}: VTK's error {reader.GetErrorCode()}"
    grid = reader.GetOutput()
    for where, name, expected in case.arrays():
        data = grid.GetCellData() if where == "cells" else grid.GetPointData()
        found = data.GetArray(name)
        assert found is not None, f"{case.path}: no array `{name}`"
        same_bits(vtk_to_numpy(found), expected, f"{case.path}, VTK: {name}")
    n_arrays = grid.GetCellData().GetNumberOfArrays() + grid.GetPointData().GetNumberOfArrays()
    assert n_arrays == len(list(case.arrays())), f"{case.path}: {n_arrays} arrays"
    noun, points = case.nouns()
    measure = np.load(case.folder / f"{case.name}.{noun}_measure.npy")
    sizes = vtk.vtkCellSizeFilter()
    sizes.SetInputData(grid)
    sizes.Update()
    array = ["VertexCount", "Length", "Area", "Volume"][{"cell": case.dim, "face": case.dim - 1, "edge": 1}[noun]]
    types = np.array([grid.GetCellType(i) for i in range(grid.GetNumberOfCells())])
    # VTK cuts polyhedra into tetrahedra, which loses up to a percent; their sides are checked below.
    if not (types == POLYHEDRON).any():
        near(vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray(array)), measure, f"{case.path}: {array}")
    if points:
        places = np.array([grid.GetPoint(i) for i in range(grid.GetNumberOfPoints())])
        near(places, np.load(case.folder / f"{case.name}.{points}_centroid.npy"), f"{case.path}: points")
    if noun == "cell" and case.dim == 3:
        check_sides(case, grid)
    time = grid.GetFieldData().GetArray("TimeValue").GetValue(0)
    step = grid.GetFieldData().GetArray("step").GetValue(0)
    assert time == step * 0.1 and grid.GetFieldData().GetArray("mass").GetValue(0) == 0.1 + step, case.path


def check_sides(case, grid):
    """Corners of faces turn counter-clockwise seen from outside, in VTK's order for each shape."""
    for number in range(grid.GetNumberOfCells()):
        cell = grid.GetCell(number)
        if cell.GetCellType() == vtk.VTK_VOXEL:
            continue
        volume = 0.0
        for side in range(cell.GetNumberOfFaces()):
            points = cell.GetFace(side).GetPoints()
            places = np.array([points.GetPoint(i) for i in range(points.GetNumberOfPoints())])
            # Triangles around the mean, as sides that are not flat have them.
            mean = places.mean(axis=0)
            volume += sum(mean @ np.cross(a - mean, b - mean) for a, b in zip(places, np.roll(places, -1, axis=0))) / 6
        expected = np.load(case.folder / f"{case.name}.cell_measure.npy")[number]
        assert abs(volume - expected) <= TOLERANCE * max(expected, 1), f"{case.path}: cell {number} is inside out: {volume}, {expected}"


def check_meshio(case):
    # Reads all arrays. `meshio.read` makes a mesh of them, and fails (5.3) where polyhedra do not
    # stand in the order of their numbers of points.
    mesh = VtuReader(case.path)
    if not any(block.type.startswith("polyhedron") for block in mesh.cells):
        mesh = meshio.read(case.path)
    order = cell_order(case, sum(len(block.data) for block in mesh.cells))
    if case.dim == 3 and not case.part:
        volumes = np.load(case.folder / f"{case.name}.cell_measure.npy")
        near(np.array(list(meshio_volumes(mesh))), volumes[order], f"{case.path}, meshio: volumes")
    for where, name, expected in case.arrays():
        if where == "points":
            found = mesh.point_data[name]
        else:
            found = np.empty_like(expected)
            found[order] = np.concatenate(mesh.cell_data[name])
        same_bits(found, expected, f"{case.path}, meshio: {name}")
    assert float(mesh.field_data["TimeValue"][0]) == float(mesh.field_data["step"][0]) * 0.1, case.path


# Sides of meshio's cells, counter-clockwise seen from outside.
SIDES = {
    "tetra": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
    "hexahedron": [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]],
    "wedge": [[0, 2, 1], [3, 4, 5], [0, 1, 4, 3], [1, 2, 5, 4], [2, 0, 3, 5]],
    "pyramid": [[0, 3, 2, 1], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
}


def meshio_volumes(mesh):
    """Volumes of the cells in the order of their data, by the surface of each."""
    blocks = list(mesh.cells)
    if any(block.type.startswith("polyhedron") for block in blocks):
        # Blocks stand in the order of the file, their data by the number of points.
        blocks.sort(key=lambda block: int(block.type.removeprefix("polyhedron")))
    for block in blocks:
        for cell in block.data:
            sides = cell if block.type.startswith("polyhedron") else [np.asarray(cell)[side] for side in SIDES[block.type]]
            volume = 0.0
            for side in sides:
                places = mesh.points[np.asarray(side)]
                mean = places.mean(axis=0)
                volume += sum(mean @ np.cross(a - mean, b - mean) for a, b in zip(places, np.roll(places, -1, axis=0))) / 6
            yield volume


def cell_order(case, n_cells):
    """The cells of the file in the order in which meshio has them."""
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(case.path))
    reader.Update()
    grid = reader.GetOutput()
    types = np.array([grid.GetCellType(i) for i in range(n_cells)])
    sizes = np.array([grid.GetCell(i).GetNumberOfPoints() for i in range(n_cells)])
    if (types == POLYHEDRON).any():
        return np.argsort(sizes, kind="stable")
    # Runs of one type and size are blocks, in the order of the file.
    return np.arange(n_cells)


def check_collection(folder):
    sets = ElementTree.parse(folder / "all.pvd").getroot().find("Collection").findall("DataSet")
    for entry in sets:
        assert (folder / entry.get("file")).exists(), entry.attrib
    times = {entry.get("file"): float(entry.get("timestep")) for entry in sets}
    for case in cases(folder):
        if case.path.suffix == ".vtu":
            assert times[case.path.name] == float(VtuReader(case.path).field_data["TimeValue"][0]), case.path


def cases(folder):
    return [Case(folder, line) for line in open(folder / "list.txt", encoding="utf-8")]


def main():
    folder = Path(sys.argv[1])
    count = 0
    for case in cases(folder):
        check_vtk(case)
        # meshio has no reader of `.vti`.
        if case.path.suffix == ".vtu":
            check_meshio(case)
        count += 1
    check_collection(folder)
    print(f"{count} files of VTK {vtk.vtkVersion().GetVTKVersion()} read back bit for bit")


if __name__ == "__main__":
    main()
