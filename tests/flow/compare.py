"""Compares decks as Equelle reads them with OPM Flow's initialisation.

    python3 tests/flow/compare.py DECK_CONNECTIONS FOLDER [--decks N] [--seed S]

DECK_CONNECTIONS is the example of the runtime of that name. Random decks have tilted and displaced
columns, gaps, small overlaps, layers that pinch out, cells without pore volume, multipliers, and
connections without geometry.
Pore volumes, connections and transmissibilities agree to 1e-5 (Flow writes them in single
precision). Two kinds of differences are counted apart: connections over an empty gap that Flow leaves
out in some columns and not in others, and layers that together are thicker than NOGAP allows, which
the published table of pinch-outs closes and Flow does not. Needs the packages opm, opm-simulators, resfo and numpy.
"""

import argparse
import os
import random
import subprocess
import sys

import numpy as np

DARCY = 0.00852702  # cP rm3 / (day bar) of a transmissibility in mD m
UNIT = 1e-3 / (86400 * 1e5)  # cubic metres in cP rm3 / (day bar)
TOLERANCE = 1e-5
KNOWN = {"gap": 0, "sum": 0}

DECK = """RUNSPEC
TITLE
compare
DIMENS
{n[0]} {n[1]} {n[2]} /
OIL
WATER
METRIC
EQLDIMS
/
TABDIMS
/
REGDIMS
4 1 0 4 /
GRIDOPTS
YES 4 /
FAULTDIM
100 /
START
1 'JAN' 2020 /
UNIFOUT
GRID
INIT
{grid}
EDIT
{edit}
PROPS
PVTW
200 1.0 1e-5 0.5 0 /
PVDO
100 1.0 1.0
300 0.99 1.0 /
DENSITY
800 1000 1 /
ROCK
200 1e-5 /
SWOF
0.2 0 1 0
1 1 0 0 /
SOLUTION
EQUIL
1000 200 5000 0 0 0 /
SUMMARY
SCHEDULE
TSTEP
1 /
END
"""


def array(name, values):
    return name + "\n" + "\n".join(f"{value:.9g}" for value in np.ravel(values)) + " /\n"


class Deck:
    """A random deck: text, corners and arrays. Arrays are [k, j, i]."""

    def __init__(self, seed):
        rng = random.Random(seed)
        # Flow misses some connections where a deck has several gaps.
        has_gaps = rng.random() < 0.4
        self.n = nx, ny, nz = [1, 1, rng.randint(3, 7)] if has_gaps else [rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 5)]
        shape = (nz, ny, nx)
        width = [10.0 * rng.randint(1, 4), 10.0 * rng.randint(1, 4)]
        self.coord = np.array([[i * width[0], j * width[1], 900.0, i * width[0], j * width[1], 1100.0]
                               for j in range(ny + 1) for i in range(nx + 1)])
        self.depth = np.zeros((nz, ny, nx, 2, 4))
        # Flow measures gaps against the largest one from the highest to the lowest corner, and takes
        # layers without thickness for closed where layers resist.
        pinch = [rng.choice(["1*", "0.3", "1.5"]), rng.choice(["GAP", "GAP", "NOGAP"]), rng.choice(["1*", "1*", "1.3"]),
                 rng.choice(["TOPBOT", "TOPBOT", "ALL"]), rng.choice(["TOP", "ALL"])][: rng.randint(0, 5)]
        has_pinch = rng.random() < 0.7
        has_limit, resists = has_pinch and "1.3" in pinch[2:3], has_pinch and "ALL" in pinch[3:4]
        tilt = [0.0, 0.0] if has_limit else [rng.choice([0.0, 0.02, -0.05]), rng.choice([0.0, 0.03])]
        gap_layer = rng.randint(1, 2)
        flat = has_limit or rng.random() < 0.5
        for j in range(ny):
            for i in range(nx):
                throw = 0.0 if has_gaps else rng.choice([0.0, 0.0, 1.0, 2.5, -3.0])
                slope = [0.0, 0.0] if flat else [rng.choice([0.0, 0.01, -0.02]), 0.0]

                def plane(depth, slope):
                    return [depth + throw + sum((tilt[axis] + slope[axis]) * width[axis] * at[axis] for axis in (0, 1))
                            for at in ((i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1))]

                depth = 1000.0
                for k in range(nz):
                    if k > 0:
                        depth += rng.choice([0.5, 2.0, 0.1, -1e-6]) if has_gaps and k == gap_layer else 0.0
                    top = depth
                    depth += rng.choice([0.2 if resists else 0.0, 0.2, 0.4, 1.0, 2.0, 2.0, 3.0])
                    self.depth[k, j, i] = [plane(top, slope), plane(depth, slope)]
        some = lambda choices: np.array([rng.choice(choices) for _ in range(nx * ny * nz)], dtype=float).reshape(shape)
        self.poro, self.ntg = some([0.1, 0.2, 0.3, 0.05, 0.0]), some([1.0, 0.8])
        self.perm = [some([1.0, 10.0, 100.0, 250.0]) for _ in range(3)]
        self.actnum = some([1, 1, 1, 1, 1, 1, 0]).astype(int)
        grid = array("COORD", self.coord) + array("ZCORN", self.zcorn())
        for name, values in (("PORO", self.poro), ("NTG", self.ntg), ("ACTNUM", self.actnum)):
            grid += array(name, values)
        for name, values in zip(("PERMX", "PERMY", "PERMZ"), self.perm):
            grid += array(name, values)
        if rng.random() < 0.7:
            grid += f"MINPV\n{rng.choice([1.3, 21.7, 61.7])} /\n"
        if has_pinch:
            grid += "PINCH\n" + " ".join(pinch) + " /\n"
        for name in ("MULTX", "MULTX-", "MULTY", "MULTZ", "MULTZ-", "MULTPV"):
            if rng.random() < 0.2:
                grid += array(name, some([1.0, 1.0, 0.5, 0.0 if name != "MULTPV" else 2.0]))
        edit = ""
        if rng.random() < 0.3:
            axis = rng.randint(0, 2)
            ends = [[1, n] for n in self.n]
            ends[axis] = [rng.randint(1, self.n[axis])] * 2
            box = " ".join(str(end) for pair in ends for end in pair)
            grid += f"FAULTS\nF {box} {'XYZ'[axis]} /\n/\nMULTFLT\nF 0.3 /\n/\nMULTFLT\nF 0.1 /\n/\n"
            if rng.random() < 0.5:
                edit += "MULTFLT\nF 2 /\n/\n"
        if rng.random() < 0.2:
            edit += array("MULTX", some([1.0, 3.0]))
        if rng.random() < 0.3:
            grid += array("MULTNUM", np.resize([1, 2, 3, 3, 2, 1, 2], shape)) + array("FLUXNUM", some([1, 2]))
            grid += "MULTREGT\n"
            for _ in range(rng.randint(1, 3)):
                # Flow's rules for directions and several sets differ between kinds of connections.
                pair = rng.choice(["1 2", "2 3", "1 3", "1* 1*", "1 1*", "2 2"])
                grid += f"{pair} {rng.choice([0.1, 0.5])} /\n"
            grid += "/\n"
        # Connections of any cells. Flow multiplies all that two cells have by MULTREGT again where
        # both geometry and NNC connect them, lists a pair that is given twice with both values
        # twice, and leaves values of NNC as they are where EDITNNCR replaces them.
        some_cell = lambda: tuple(rng.randint(1, n) for n in self.n)
        far = 2 if "MULTREGT" in grid else 0
        pairs = {tuple(sorted((some_cell(), some_cell()))) for _ in range(4)}
        pairs = sorted(pair for pair in pairs if pair[0] != pair[1] and sum(abs(pair[0][a] - pair[1][a]) for a in (0, 1)) >= far)
        words = lambda pair: " ".join(str(at) for cell in pair for at in cell)
        if pairs and rng.random() < 0.4 and "1*" not in grid.split("MULTREGT")[-1]:
            grid += "NNC\n" + "".join(f"{words(pair)} {rng.choice([0.02, 0.3, 4.0])} /\n" for pair in pairs) + "/\n"
            if rng.random() < 0.5:
                edit += f"EDITNNC\n{words(rng.choice(pairs))} {rng.choice([0.5, 3.0])} /\n/\n"
        self.text = DECK.format(n=self.n, grid=grid, edit=edit)

    def zcorn(self):
        nz, ny, nx = self.depth.shape[:3]
        out = np.zeros((2 * nz, 2 * ny, 2 * nx))
        for end in (0, 1):
            for corner in range(4):
                out[end::2, corner >> 1 :: 2, corner & 1 :: 2] = self.depth[:, :, :, end, corner]
        return out

    def corners(self, cell):
        """Corners of a cell with I, J, K from 1, [2, 4, 3]."""
        i, j, k = (int(at) - 1 for at in cell)
        pillars = [(j + (c >> 1)) * (self.n[0] + 1) + i + (c & 1) for c in range(4)]
        return np.array([[[*self.coord[pillar][:2], self.depth[k, j, i, end, c]] for c, pillar in enumerate(pillars)] for end in (0, 1)])

    def half(self, cell, area, axis, is_high):
        """Flow's half of a transmissibility: permeability, area vector, and way to the centre of the cell's side."""
        corners = self.corners(cell).reshape(2, 2, 2, 3)  # end along K, J, I
        side = np.take(corners, int(is_high), axis=2 - axis).reshape(4, 3).mean(axis=0)
        way = side - corners.reshape(8, 3).mean(axis=0)
        i, j, k = (int(at) - 1 for at in cell)
        ntg = self.ntg[k, j, i] if axis < 2 else 1.0
        return self.perm[axis][k, j, i] * ntg * abs(area @ way) / (way @ way)


def flow(path):
    """Pore volumes and transmissibilities of OPM Flow by cells from 1."""
    import resfo

    init, egrid = path.replace(".DATA", ".INIT"), path.replace(".DATA", ".EGRID")
    for old in (init, egrid):
        if os.path.exists(old):
            os.remove(old)
    code = f"from opm.simulators import BlackOilSimulator as S; S({path!r}).step_init()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=os.path.dirname(path))
    if not os.path.exists(init):
        return None, (done.stdout + done.stderr)[-400:]
    read = lambda name: {key.strip(): np.array(values) for key, values in resfo.read(name)}
    return (read(init), read(egrid)), None


def compare(deck, path, program):
    """Differences between both readers, as texts; None where Flow refuses the deck."""
    with open(path, "w") as out:
        out.write(deck.text)
    found, fault = flow(path)
    own = subprocess.run([program, path], capture_output=True, text=True)
    if found is None:
        # Without cells Flow refuses a deck, and of some with layers to bridge it fails an assertion.
        return None if own.returncode != 0 or "Assertion" in fault or "active" in fault.lower() else ["Flow: " + fault]
    if own.returncode != 0:
        return ["Equelle: " + own.stderr.strip()]
    init, egrid = found
    nx, ny, _ = deck.n
    number = lambda cell: int(cell[0]) + nx * (int(cell[1]) - 1 + ny * (int(cell[2]) - 1))
    place = lambda at: ((at - 1) % nx + 1, (at - 1) // nx % ny + 1, (at - 1) // (nx * ny) + 1)
    volumes, own_trans, over_gaps = {}, {}, set()
    for line in own.stdout.splitlines():
        kind, *words = line.split()
        values = [float(word) for word in words]
        if kind == "cell":
            volumes[number(values)] = values[3]
            continue
        cells, multiplier, area, given = (values[:3], values[3:6]), values[6], np.array(values[7:10]), values[16]
        if given >= 0:
            pair = tuple(sorted(number(cell) for cell in cells))
            own_trans[pair] = own_trans.get(pair, 0.0) + multiplier * given / UNIT
            continue
        axis = int(np.argmax([abs(cells[1][a] - cells[0][a]) for a in (0, 1)])) if cells[0][:2] != cells[1][:2] else 2
        low, high = sorted(cells, key=lambda cell: cell[axis])
        halves = [deck.half(low, area, axis, True), deck.half(high, area, axis, False)]
        trans = DARCY * multiplier / (1 / halves[0] + 1 / halves[1]) if min(halves) > 0 else 0.0
        pair = tuple(sorted((number(low), number(high))))
        own_trans[pair] = own_trans.get(pair, 0.0) + trans
        if axis == 2 and not np.array_equal(values[10:13], values[13:16]):
            over_gaps.add(pair)
    faults = []
    active = [at + 1 for at, volume in enumerate(init["PORV"]) if volume > 0]
    if sorted(volumes) != active:
        return [f"cells {sorted(volumes)}, Flow has {active}"]
    pore = lambda cell: (int(cell[2]) - 1, int(cell[1]) - 1, int(cell[0]) - 1)
    multiplier = np.ones(deck.poro.shape)
    if "MULTPV" in deck.text:
        words = deck.text.split("MULTPV\n")[1].split("/")[0].split()
        multiplier = np.array([float(word) for word in words]).reshape(deck.poro.shape)
    for at, volume in volumes.items():
        at_cell = pore(place(at))
        own_porv = volume * deck.poro[at_cell] * deck.ntg[at_cell] * multiplier[at_cell]
        if abs(own_porv - init["PORV"][at - 1]) > TOLERANCE * own_porv:
            faults.append(f"PORV of {place(at)}: {own_porv}, Flow {init['PORV'][at - 1]}")
    trans = {}
    following = {}
    for name, step in (("TRANX", 1), ("TRANY", nx), ("TRANZ", nx * ny)):
        for at, value in zip(active, init[name]):
            if value != 0.0:
                other = at + step
                if name == "TRANZ":
                    # Across layers that are left out.
                    while other not in volumes and other <= nx * ny * deck.n[2]:
                        other += step
                trans[(at, other)] = trans.get((at, other), 0.0) + float(value)
    of_neighbours = set(trans)
    for a, b, value in zip(egrid.get("NNC1", []), egrid.get("NNC2", []), init.get("TRANNNC", [])):
        pair = tuple(sorted((int(a), int(b))))
        # Flow also lists connections of cells that are not active, and those across layers that are
        # left out, which are in TRANZ.
        if pair[0] in volumes and pair[1] in volumes and pair not in of_neighbours:
            trans[pair] = trans.get(pair, 0.0) + float(value)
    largest = max(list(trans.values()) + [1e-30])
    for pair in sorted(set(trans) | set(own_trans)):
        own_value, value = own_trans.get(pair, 0.0), trans.get(pair, 0.0)
        if abs(own_value - value) > TOLERANCE * max(own_value, value) and max(own_value, value) > 1e-7 * largest:
            if value == 0.0 and pair in over_gaps:
                KNOWN["gap"] += 1
                continue
            if own_value == 0.0 and "NOGAP" in deck.text:
                KNOWN["sum"] += 1
                continue
            faults.append(f"transmissibility {place(pair[0])} {place(pair[1])}: {own_value}, Flow {value}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--decks", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    n_equal = n_refused = 0
    bad = []
    for seed in range(arguments.seed, arguments.seed + arguments.decks):
        path = os.path.abspath(os.path.join(arguments.folder, f"D{seed}.DATA"))
        faults = compare(Deck(seed), path, os.path.abspath(arguments.program))
        if faults is None:
            n_refused += 1
        elif faults:
            bad.append(seed)
            print(f"{path}:")
            for fault in faults[:6]:
                print(f"  {fault}")
        else:
            n_equal += 1
    print(f"Flow leaves out {KNOWN['gap']} connections over gaps, and has {KNOWN['sum']} through layers too thick for NOGAP")
    print(f"{n_equal} decks agree, {n_refused} that Flow does not read, {len(bad)} differ: {bad}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
