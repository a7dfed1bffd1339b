#!/usr/bin/env python3
"""Compares measures of meshes by Gmsh with those of Gmsh itself.

usage: compare.py MESH_MEASURES FOLDER

MESH_MEASURES is the executable of `cargo build -p equelle-runtime --example mesh_measures`; meshes
are written into FOLDER. Needs the package `gmsh` of PyPI.
"""

import subprocess
import sys
from pathlib import Path

import gmsh

# Volumes and areas are sums of some thousand numbers at most.
TOLERANCE = 1e-12


def box(x=1.0, y=0.75, z=0.5, extrude=False, layers=4, recombine=False):
    """A box extruded from a rectangle in layers, or meshed freely."""
    geo = gmsh.model.occ
    base = geo.addRectangle(0, 0, 0, x, y)
    if extrude:
        geo.extrude([(2, base)], 0.25, 0.125, z, numElements=[layers], recombine=recombine)
    else:
        geo.extrude([(2, base)], 0.25, 0.125, z)
    geo.synchronize()


def tetrahedra():
    box()
    size(0.2)


def prisms():
    box(extrude=True, recombine=True)
    size(0.2)


def hexahedra():
    box(extrude=True, recombine=True)
    gmsh.option.setNumber("Mesh.RecombineAll", 1)
    gmsh.option.setNumber("Mesh.RecombinationAlgorithm", 2)
    size(0.2)


def bent_hexahedra():
    hexahedra()
    gmsh.model.mesh.generate(3)
    for _, volume in gmsh.model.getEntities(3):
        # Those inside alone: the sides stay plane.
        tags, places, _ = gmsh.model.mesh.getNodes(3, volume)
        for tag, (a, b, c) in zip(tags.tolist(), places.reshape(-1, 3).tolist()):
            shift = [0.01 * (7 * tag % 3 - 1), 0.01 * (5 * tag % 3 - 1), 0.02 * (tag % 3 - 1)]
            gmsh.model.mesh.setNode(tag, [a + shift[0], b + shift[1], c + shift[2]], [])


def pyramids():
    """A cube cut into boxes, each into six pyramids; two sides of the cube are surfaces."""
    n = 3
    volume, bottom, top = gmsh.model.addDiscreteEntity(3), gmsh.model.addDiscreteEntity(2), gmsh.model.addDiscreteEntity(2)
    corner = lambda i, j, k: 1 + i + (n + 1) * (j + (n + 1) * k)
    places = [x / n for k in range(n + 1) for j in range(n + 1) for i in range(n + 1) for x in (i, j, k)]
    cells, low, high = [], [], []
    for k in range(n):
        for j in range(n):
            for i in range(n):
                places += [(i + 0.4) / n, (j + 0.55) / n, (k + 0.5) / n]
                tip = len(places) // 3
                a, b, c, d = (corner(i + x, j + y, k) for x, y in [(0, 0), (1, 0), (1, 1), (0, 1)])
                e, f, g, h = (corner(i + x, j + y, k + 1) for x, y in [(0, 0), (1, 0), (1, 1), (0, 1)])
                sides = [(a, b, c, d), (e, h, g, f), (a, e, f, b), (b, f, g, c), (c, g, h, d), (d, h, e, a)]
                cells += [node for side in sides for node in side + (tip,)]
                low += [a, b, c, d] if k == 0 else []
                high += [e, f, g, h] if k == n - 1 else []
    gmsh.model.mesh.addNodes(3, volume, list(range(1, len(places) // 3 + 1)), places)
    gmsh.model.mesh.addElementsByType(volume, 7, [], cells)
    gmsh.model.mesh.addElementsByType(bottom, 3, [], low)
    gmsh.model.mesh.addElementsByType(top, 3, [], high)


def triangles():
    plate()


def quadrangles():
    plate()
    gmsh.option.setNumber("Mesh.RecombineAll", 1)


def plate():
    geo = gmsh.model.occ
    outer, hole = geo.addRectangle(0, 0, 0, 2, 1), geo.addDisk(0.7, 0.5, 0, 0.2, 0.2)
    geo.cut([(2, outer)], [(2, hole)])
    geo.synchronize()
    size(0.1)


def size(value):
    gmsh.option.setNumber("Mesh.MeshSizeMin", value)
    gmsh.option.setNumber("Mesh.MeshSizeMax", value)


def groups(dim):
    """All cells twice, and each second side; sides overlap."""
    cells = [tag for _, tag in gmsh.model.getEntities(dim)]
    gmsh.model.addPhysicalGroup(dim, cells, 1, "all cells")
    gmsh.model.addPhysicalGroup(dim, cells[:1], 2)
    sides = [tag for _, tag in gmsh.model.getEntities(dim - 1)]
    for number, tag in enumerate(sides):
        gmsh.model.addPhysicalGroup(dim - 1, [tag], 10 + number, f"side {tag}")
    gmsh.model.addPhysicalGroup(dim - 1, sides[::2], 5, "some sides")


def measures(dim, entities=None):
    """Of all elements of a dimension, or those of some entities, by their tags."""
    found = {}
    for entity in entities if entities is not None else [tag for _, tag in gmsh.model.getEntities(dim)]:
        for tags in gmsh.model.mesh.getElements(dim, entity)[1]:
            found.update(zip(tags.tolist(), gmsh.model.mesh.getElementQualities(tags, "volume").tolist()))
    return found


def lengths(entities):
    total = 0.0
    for entity in entities:
        _, _, nodes = gmsh.model.mesh.getElements(1, entity)
        for ends in nodes[0].reshape(-1, 2):
            a, b = (gmsh.model.mesh.getNode(end)[0] for end in ends)
            total += sum((x - y) ** 2 for x, y in zip(a, b)) ** 0.5
    return total


def near(what, found, expected):
    scale = max(abs(expected), 1e-300)
    if not abs(found - expected) <= TOLERANCE * scale:
        sys.exit(f"{what}: {found!r}, Gmsh has {expected!r}: {abs(found - expected) / scale:.1e} apart")


def compare(name, dim, program, folder):
    expected = list(measures(dim).values())
    kinds = gmsh.model.mesh.getElementTypes(dim).tolist()
    files = 0
    for version in (2.2, 4.1):
        for binary in (0, 1):
            gmsh.option.setNumber("Mesh.MshFileVersion", version)
            gmsh.option.setNumber("Mesh.Binary", binary)
            path = folder / f"{name}-{version}-{'binary' if binary else 'text'}.msh"
            gmsh.write(str(path))
            run = subprocess.run([program, str(path), "volumes"], capture_output=True, text=True, check=False)
            if run.returncode != 0:
                sys.exit(f"{path}: {run.stderr}")
            lines = run.stdout.splitlines()
            volumes = [float(line) for line in lines if " " not in line]
            if len(volumes) != len(expected):
                sys.exit(f"{path}: {len(volumes)} cells, Gmsh has {len(expected)}")
            for cell, (found, wanted) in enumerate(zip(volumes, expected)):
                near(f"{path}: volume of cell {cell}", found, wanted)
            sets = {}
            for line in lines:
                words = line.split(" ", 3)
                if len(words) == 4:
                    sets[(words[0], words[3])] = float(words[2])
            wanted = {}
            for of, group in gmsh.model.getPhysicalGroups():
                if of < dim - 1:
                    continue
                title = gmsh.model.getPhysicalName(of, group) or f"physical_{group}"
                entities = gmsh.model.getEntitiesForPhysicalGroup(of, group)
                size_of = lengths(entities) if of == 1 else sum(measures(of, entities).values())
                wanted[("cell" if of == dim else "face", title)] = size_of
            if sets.keys() != wanted.keys():
                sys.exit(f"{path}: sets {sorted(sets)}, Gmsh has {sorted(wanted)}")
            for key, value in wanted.items():
                near(f"{path}: {key}", sets[key], value)
            files += 1
    print(f"{name}: {len(expected)} cells of types {kinds}, {len(wanted)} sets, {files} files")
    return kinds


def periodic_plate():
    plate()
    sides = {gmsh.model.occ.getCenterOfMass(1, tag)[0]: tag for _, tag in gmsh.model.getEntities(1)}
    gmsh.model.mesh.setPeriodic(1, [sides[max(sides)]], [sides[min(sides)]], [1, 0, 0, 2, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])


def periodic_box():
    """Two pairs of sides of a box, whose edges have two masters."""
    gmsh.model.occ.addBox(0, 0, 0, 1, 0.75, 0.5)
    gmsh.model.occ.synchronize()
    size(0.2)
    for axis, length in ((0, 1.0), (2, 0.5)):
        sides = {gmsh.model.occ.getCenterOfMass(2, tag)[axis]: tag for _, tag in gmsh.model.getEntities(2)}
        move = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
        move[4 * axis + 3] = length
        gmsh.model.mesh.setPeriodic(2, [sides[max(sides)]], [sides[min(sides)]], move)


def cells_of_sides(dim):
    """The cell behind each side of a cell, by the nodes of the side."""
    found = {}
    for entity in [tag for _, tag in gmsh.model.getEntities(dim)]:
        for kind, tags, nodes in zip(*gmsh.model.mesh.getElements(dim, entity)):
            n = len(nodes) // len(tags)
            for cell in nodes.reshape(-1, n).tolist():
                number = found.setdefault("cells", 0)
                found["cells"] += 1
                sides = [cell[:k] + cell[k + 1 :] for k in range(n)] if n == dim + 1 else [(cell[k], cell[(k + 1) % n]) for k in range(n)]
                for side in sides:
                    found.setdefault(frozenset(side), []).append(number)
    return found


def compare_joined(name, dim, program, folder):
    """Cells that meet over periodic sides, by the nodes that Gmsh's interface gives."""
    cells = cells_of_sides(dim)
    wanted = set()
    for _, entity in gmsh.model.getEntities(dim - 1):
        master, own, masters, _ = gmsh.model.mesh.getPeriodicNodes(dim - 1, entity)
        if master == entity:
            continue
        copies = dict(zip(own.tolist(), masters.tolist()))
        for _, tags, nodes in zip(*gmsh.model.mesh.getElements(dim - 1, entity)):
            for side in nodes.reshape(len(tags), -1).tolist():
                pair = [cells[frozenset(side)], cells[frozenset(copies[node] for node in side)]]
                wanted.add(frozenset(cell for [cell] in pair))
    for version in (2.2, 4.1):
        for binary in (0, 1):
            gmsh.option.setNumber("Mesh.MshFileVersion", version)
            gmsh.option.setNumber("Mesh.Binary", binary)
            path = folder / f"{name}-{version}-{'binary' if binary else 'text'}.msh"
            gmsh.write(str(path))
            run = subprocess.run([program, str(path), "joined"], capture_output=True, text=True, check=False)
            if run.returncode != 0:
                sys.exit(f"{path}: {run.stderr}")
            words = [line.split() for line in run.stdout.splitlines()]
            found = {frozenset(map(int, line[1:])) for line in words if line[0] == "joined"}
            if found != wanted or not wanted:
                sys.exit(f"{path}: {len(found)} pairs of cells, Gmsh has {len(wanted)}; {len(found ^ wanted)} differ")
    print(f"{name}: {len(wanted)} pairs of cells meet over joined sides")


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    kinds = set()
    for make, dim in [(triangles, 2), (quadrangles, 2), (tetrahedra, 3), (prisms, 3), (hexahedra, 3), (bent_hexahedra, 3), (pyramids, 3)]:
        gmsh.clear()
        gmsh.option.restoreDefaults()
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.model.add(make.__name__)
        make()
        groups(dim)
        if make not in (bent_hexahedra, pyramids):
            gmsh.model.mesh.generate(dim)
        kinds.update(compare(make.__name__, dim, program, folder))
    for make, dim in [(periodic_plate, 2), (periodic_box, 3)]:
        gmsh.clear()
        gmsh.option.restoreDefaults()
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.model.add(make.__name__)
        make()
        gmsh.model.mesh.generate(dim)
        compare_joined(make.__name__, dim, program, folder)
    missing = {2, 3, 4, 5, 6, 7} - kinds
    if missing:
        sys.exit(f"no mesh had elements of the types {missing}")


main()
