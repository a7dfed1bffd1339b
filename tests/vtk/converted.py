#!/usr/bin/env python3
"""Reads with VTK and meshio what `equellec grid convert` has written, and has it read what VTK
writes in its legacy format.

usage: converted.py EQUELLEC FOLDER

Numbers are compared bit for bit: with those of the deck and between both readers. Needs the packages `vtk`, `meshio` and `numpy` of PyPI.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import vtk
from meshio.vtu._vtu import VtuReader
from vtk.util.numpy_support import vtk_to_numpy

# Measures are sums of some thousand terms.
TOLERANCE = 1e-10
POLYHEDRON = 42
MADE = {
    "deck": ["deck", "--cells", "10,6,5", "--size", "1000,600,50", "--throw", "8"],
    "tetrahedra": ["tetrahedra", "--cells", "4,3,5", "--perturb", "0.2"],
    "box": ["box", "--cells", "4,3,5", "--perturb", "0.2", "--grade", "3"],
    "triangles": ["triangles", "--cells", "6,5", "--perturb", "0.2"],
}


def equellec(*words):
    return subprocess.run([EQUELLEC, *words], cwd=FOLDER, check=True, capture_output=True, text=True).stdout


def same_bits(found, expected, what):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, f"{what}: {found.shape} instead of {expected.shape}"
    assert found.tobytes() == expected.astype(found.dtype).tobytes(), what


def by_vtk(path):
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def arrays_of(grid):
    data = grid.GetCellData()
    return {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())}


def deck_array(path, name):
    lines = path.read_text().split("\n")
    start = lines.index(name)
    words = []
    for line in lines[start + 1:]:
        words += line.split()
        if words and words[-1] == "/":
            return np.array([float(word) for word in words[:-1]])
    raise ValueError(name)


def check(name, made):
    source = "deck.grdecl" if name == "deck" else f"{name}.grid"
    equellec("grid", "make", made[0], source, *made[1:])
    equellec("grid", "convert", source, f"{name}.vtu")
    grid = by_vtk(FOLDER / f"{name}.vtu")
    points = vtk_to_numpy(grid.GetPoints().GetData())
    mesh = VtuReader(FOLDER / f"{name}.vtu")
    same_bits(mesh.points, points, f"{name}: points")
    types = np.array([grid.GetCellType(i) for i in range(grid.GetNumberOfCells())])
    assert sum(len(block.data) for block in mesh.cells) == len(types), name
    info = json.loads(equellec("--message-format", "json", "grid", "info", source))
    assert info["cells"] == len(types), name
    total = measure(grid, name)
    assert abs(total / info["volumes"]["total"] - 1) < TOLERANCE, f"{name}: {total}"
    if name == "deck":
        check_deck(grid, mesh, types)
    check_legacy(name, grid)


def measure(grid, name):
    """The sum over all cells, by the faces that VTK has; its own volumes are of convex cells."""
    if name == "triangles":
        sizes = vtk.vtkCellSizeFilter()
        sizes.SetInputData(grid)
        sizes.Update()
        return vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Area")).sum()
    total = 0.0
    for number in range(grid.GetNumberOfCells()):
        cell = grid.GetCell(number)
        centre = np.array([cell.GetPoints().GetPoint(i) for i in range(cell.GetNumberOfPoints())]).mean(axis=0)
        for at in range(cell.GetNumberOfFaces()):
            points = cell.GetFace(at).GetPoints()
            places = np.array([points.GetPoint(i) for i in range(points.GetNumberOfPoints())]) - centre
            mean = places.mean(axis=0)
            around = zip(places, np.roll(places, -1, axis=0))
            total += sum(mean @ np.cross(a - mean, b - mean) for a, b in around) / 6
    return total


def check_deck(grid, mesh, types):
    assert (types == POLYHEDRON).all()
    arrays = arrays_of(grid)
    i, j, k = (arrays[axis].astype(int) - 1 for axis in "IJK")
    cell = i + 10 * (j + 6 * k)
    for name in ("PORO", "PERMX"):
        same_bits(arrays[name], deck_array(FOLDER / "deck.grdecl", name)[cell], name)
    # meshio has the cells in the order of their numbers of points.
    sizes = np.array([grid.GetCell(i).GetNumberOfPoints() for i in range(len(types))])
    order = np.argsort(sizes, kind="stable")
    for name, expected in arrays.items():
        found = np.empty_like(expected)
        found[order] = np.concatenate(mesh.cell_data[name])
        same_bits(found, expected, f"meshio: {name}")
    faces = arrays_of(by_vtk(FOLDER / "deck-faces.vtu"))
    assert faces["set:MIDDLE"].sum() > 0


def check_legacy(name, grid):
    """What VTK writes in its legacy format is the same grid, bit for bit in binary."""
    for version in (42, 51):
        for binary in (True, False):
            writer = vtk.vtkUnstructuredGridWriter()
            writer.SetFileVersion(version)
            writer.SetFileTypeToBinary() if binary else writer.SetFileTypeToASCII()
            writer.SetInputData(grid)
            writer.SetFileName(str(FOLDER / "legacy.vtk"))
            assert writer.Write() == 1
            equellec("grid", "convert", "legacy.vtk", "legacy.vtu")
            back = by_vtk(FOLDER / "legacy.vtu")
            what = f"{name}, version {version}, {'binary' if binary else 'text'}"
            assert back.GetNumberOfCells() == grid.GetNumberOfCells(), what
            points = [vtk_to_numpy(of.GetPoints().GetData()) for of in (back, grid)]
            if binary:
                same_bits(*points, f"{what}: points")
                for array, expected in arrays_of(grid).items():
                    same_bits(arrays_of(back)[array], expected, f"{what}: {array}")
            else:
                # VTK writes some ten digits.
                assert np.allclose(*points, rtol=1e-9, atol=1e-9), what


if __name__ == "__main__":
    EQUELLEC, FOLDER = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    FOLDER.mkdir(parents=True, exist_ok=True)
    for grid_name, options in MADE.items():
        check(grid_name, options)
    print(f"{len(MADE)} converted grids read back by VTK {vtk.vtkVersion().GetVTKVersion()} and meshio")
