"""Runs of programs that cargo has built, in processes of their own."""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from . import _equelle


def run(program, grid, given: list[tuple[str, Any]], progress) -> tuple:
    """A run of a built program: what Execution.wait gives."""
    if own := [name for name, _ in given if name in ("output_dir", "output_to_file", "output_format")]:
        raise TypeError(f"a program that cargo has built keeps results in memory: {', '.join(own)} is for runs in this process")
    executable = program._inner.build()
    with tempfile.TemporaryDirectory(prefix="equelle-") as folder:
        words = [word for name, value in given for word in _words(Path(folder), name, value)]
        words += [f"{name}={value}" for name, value in (grid._parameters if grid is not None else [])]
        output = Path(folder, "output")
        own = ["output_to_file=true", "output_format=npy,csv", f"output_dir={output}"]
        command = [executable, "--quiet", "--message-format=json", *words, *own]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            try:
                events = [_event(line, progress) for line in process.stderr]
            except BaseException:
                process.terminate()
                raise
        return _gathered(program, output, [event for event in events if event])


def _words(folder: Path, name: str, value: Any) -> list[str]:
    """Parameters that give an argument; arrays go to files."""
    if isinstance(value, str):
        return [value] if name == "param_file" else [f"{name}={value}"]
    kind, array = value
    if kind == "columns":
        path = folder / f"{name}.csv"
        rows = np.column_stack([column for _, column in array])
        np.savetxt(path, rows, delimiter=",", fmt="%.17g", header=",".join(column for column, _ in array), comments="")
    elif kind == "indices":
        path = folder / f"{name}.txt"
        np.savetxt(path, array, fmt="%d")
    else:
        path = folder / f"{name}.npy"
        array = array.astype(bool) if kind == "truths" else array
        np.save(path, np.ascontiguousarray(array))
    return [f"{name}_filename={path}"]


def _event(line: str, progress) -> dict[str, Any]:
    event = json.loads(line)
    if progress and event["event"] == "step":
        progress(event["step"], event["steps"])
    return event if event["event"] in ("newton", "warning", "error", "summary", "end") else {}


def _values(program, row: dict[str, str]) -> list[tuple[str, Any]]:
    """Single values of a row of a table, by tag: its columns have units in their names, and components of Vectors."""
    values = []
    for tag, output in program.outputs.items():
        label = f"{tag} [{output.unit}]" if f"{tag} [{output.unit}]" in row else tag
        components = [row[f"{label}_{axis}"] for axis in "xyz" if row.get(f"{label}_{axis}")]
        if output.type == "Vector" and components:
            values.append((tag, tuple(map(float, components))))
        elif output.type in ("Scalar", "Bool") and row.get(label):
            values.append((tag, bool(float(row[label])) if output.type == "Bool" else float(row[label])))
    return values


def _gathered(program, output: Path, events: list[dict[str, Any]]) -> tuple:
    outputs: list[tuple] = []
    record = next(iter(output.glob("*.run.json")), None)
    files = json.loads(record.read_text())["files"] if record else []
    for file in files:
        if file["name"].endswith(".npy"):
            outputs.append((file["tag"], file["step"], file["time"], np.load(output / file["name"])))
    for table in output.glob("*.csv"):
        with open(table, newline="") as opened:
            for row in csv.DictReader(opened):
                step, time = int(row.pop("step")), float(row.pop("time"))
                outputs += [(tag, step, time, value) for tag, value in _values(program, row)]
    outputs.sort(key=lambda entry: entry[1])
    newton = [json.dumps(event) for event in events if event["event"] == "newton"]
    warnings = [event["message"] for event in events if event["event"] == "warning"]
    summary = next((json.dumps(event) for event in events if event["event"] == "summary"), None)
    end = next((event for event in events if event["event"] == "end"), None)
    if end is None:
        error: Exception | None = _equelle.RunError("the program ended without a result")
    elif end["state"] == "done":
        error = None
    elif end["state"] == "interrupted":
        raise KeyboardInterrupt(end["error"])
    else:
        hint = f"\nhint: {end['hint']}" if end.get("hint") else ""
        error = _equelle.RunError(f"{end['error']}{hint}")
        kinds = {2: "usage", 3: "simulation", 4: "data", 5: "io", 6: "backend"}
        error.kind, error.message = kinds.get(end["exit_code"], "simulation"), end["error"]
        error.lines, error.hint = end.get("lines") or [], end.get("hint")
    return outputs, newton, warnings, summary, error
