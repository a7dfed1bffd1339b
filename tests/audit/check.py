#!/usr/bin/env python3
"""Compares the audits of runs with sums that NumPy makes of their outputs.

usage: check.py EQUELLEC FOLDER

Runs examples in FOLDER, interpreted: the mass of shallow water, the water of two phases between
wells on a deck, and water and oil of two phases with an injector and a producer. Needs `numpy`.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

# Two sums of some thousand numbers in different orders, of the content.
TOLERANCE = 1e-12
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DAY = 86400.0


class Run:
    """An audited run, and what it wrote."""

    def __init__(self, equellec, folder, name, *words):
        self.folder, self.name = folder / name, name
        example = EXAMPLES / name
        command = [equellec, "--message-format", "json", "run", "--interpret", example / f"{name}.equelle", example / "case.param"]
        command += ["audit=yes", "output_format=npy,csv", f"output_dir={self.folder}", *words]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        lines = [line for line in done.stderr.splitlines() if line.startswith("{")]
        events = [event for event in map(json.loads, lines) if event["event"] == "audit"]
        # The last event of a step is that at its end.
        self.audits = {}
        for event in events:
            self.audits.setdefault(event["quantity"], {})[event["step"]] = event

    def fields(self, tag):
        """A collection after each step, the first one before all."""
        return [np.load(file) for file in sorted(self.folder.glob(f"{tag}-*.npy"))]

    def column(self, name):
        """A number of each step from the first one on."""
        with open(self.folder / f"{self.name}.csv", newline="", encoding="utf-8") as file:
            return np.array([float(row[name]) for row in csv.DictReader(file) if row[name]])

    def agrees(self, quantity, sums, scale):
        """Numbers of the event after the last step are these."""
        steps = self.audits[quantity]
        event = steps[max(steps)]
        for key, value in sums.items():
            apart = abs(event[key] - value)
            print(f"{self.name}: {quantity}: {key} {event[key]!r}, NumPy {float(value)!r}: {apart / scale:.1e} of the content")
            if not apart <= TOLERANCE * scale:
                sys.exit(f"{self.name}: {quantity}: {key} differs by {apart}")


def shallow_water(equellec, folder):
    """A basin with walls: nothing comes in, and the mass stays."""
    run = Run(equellec, folder, "shallow_water", "timesteps=20*0.05")
    # Cells of 1 m: a volume of 1.
    levels = run.fields("q1")
    bottom = run.fields("bottom")[0]
    masses = [np.sum(level - bottom) for level in levels]
    assert len(levels) == 21 and np.max(np.abs(levels[-1] - levels[0])) > 0.1
    sums = {"content": np.sum(levels[-1]), "change": masses[-1] - masses[0], "boundary": 0.0, "sources": 0.0, "rest": 0.0}
    run.agrees("q_0", sums, masses[0])


def wells(equellec, folder):
    """Water on a deck: what is in the pores, injected and produced."""
    run = Run(equellec, folder, "two_phase_wells")
    # Another run puts out the volumes of the pores.
    program = folder / "pores.equelle"
    program.write_text('Output("pores", InputCollectionOfScalar("poro", AllCells()) * |AllCells()| / 1 [Meter^3])\n', encoding="utf-8")
    words = ["grid_filename=" + str(EXAMPLES.parent / "grids/field.grdecl"), "poro_property=PORO", "output_format=npy", f"output_dir={folder}"]
    subprocess.run([equellec, "run", "--interpret", "--quiet", program, *words], check=True)
    pores = np.load(next(folder.glob("pores-*.npy")))
    saturations = run.fields("saturation")
    dt = np.diff(np.concatenate([[0.0], run.column("time")[1:]]))
    injected, produced = [np.sum(dt / DAY * run.column(name)) for name in ("injection rate", "water rate")]
    content = np.sum(pores * saturations[-1])
    assert injected > 0 and produced > 0 and len(dt) == 20
    change = content - np.sum(pores * saturations[0])
    run.agrees("s0", {"content": content, "change": change, "boundary": 0.0, "sources": injected - produced}, content)


def both_phases(equellec, folder):
    """Balances of water and of oil, between an injector and a producer at a rate of 1e-4 m3/s."""
    dt, steps, rate = 2e5, 5, 1e-4
    run = Run(equellec, folder, "two_phase_conservation", f"timesteps={steps}*{dt}")
    pores = 0.2 * 100.0
    saturations = run.fields("saturation")
    # The share of water in what leaves the last cell, at the end of each step.
    s = np.array([field[11] for field in saturations[1:]])
    water, oil = s / 0.0005, (1 - s) / 0.005
    water_sources = np.sum(dt * rate * (1 - water / (water + oil)))
    oil_sources = -np.sum(dt * rate * oil / (water + oil))
    content = np.sum(pores * saturations[-1])
    change = content - np.sum(pores * saturations[0])
    assert np.max(s) > 0.1
    run.agrees("s0 in water_balance", {"content": content, "change": change, "sources": water_sources}, content)
    run.agrees("s0 in oil_balance", {"content": -content, "change": -change, "sources": oil_sources}, content)


def main():
    equellec, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for case in (shallow_water, wells, both_phases):
        case(equellec, folder.resolve())


if __name__ == "__main__":
    main()
