"""Compilation and runs."""

from __future__ import annotations

import functools
import json
import os
import warnings as _warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _compiled, _convert, _cuda, _equelle
from ._grid import Grid
from ._results import Results

_GRID_KEYS = {"grid_dim", "grid_filename", "nx", "ny", "nz", "dx", "dy", "dz", "lx", "ly", "lz"}
_PARAMETER_FILE = "param_file"


class EquelleWarning(UserWarning):
    """A warning of the compiler or of a run."""


class Input:
    """An input of a program."""

    def __init__(self, entry: dict[str, Any]):
        self.name: str = entry["name"]
        #: Its type in Equelle, such as ``Collection Of Scalar On AllCells()``.
        self.type: str = entry["type"]
        #: The unit in which numbers are given; None if it has none.
        self.unit: str | None = entry["unit"]["text"] if entry["unit"] else None
        #: The default as the program has it; None if the input must be given.
        self.default: str | None = entry["default"]
        #: Line of the program.
        self.line: int = entry["line"]
        #: Other parameters that give it: key, value and meaning.
        self.forms: list[dict[str, str]] = entry["forms"]

    @property
    def kind(self) -> str:
        """scalar, scalars, vectors, bools, domain, sequence or table."""
        return _convert.kind_of(self.type)

    def __repr__(self) -> str:
        unit = f", in {self.unit}" if self.unit else ""
        default = f", default {self.default}" if self.default is not None else ""
        return f"<Input {self.name}: {self.type}{unit}{default}>"


class Output:
    """An output of a program."""

    def __init__(self, entry: dict[str, Any]):
        self.name: str = entry["name"]
        self.type: str = entry["type"]
        unit = entry.get("unit")
        #: The unit by which the program divides it; None if it does not.
        self.unit: str | None = _plain_unit(unit.get("written", unit.get("si"))) if unit else None
        #: True if a loop puts it out.
        self.per_step: bool = entry["per_step"]

    def __repr__(self) -> str:
        return f"<Output {self.name}: {self.type}>"


def compile(
    program: str | os.PathLike,
    *,
    name: str | None = None,
    backend: str = "auto",
    nondimensional: bool = False,
    audit: bool = False,
    fast_math: bool = False,
    precision: str = "f64",
) -> Program:
    """Compiles a program: the path of a file ``*.equelle``, or a text.

    ``backend`` is "serial" (this machine's cores), "cuda" (an NVIDIA GPU), "auto" (cores), or
    "compiled": cores, by a program that cargo builds at the first run, two to five times as fast.
    ``nondimensional`` switches the check of physical dimensions off, ``audit`` adds balances of
    conserved quantities to the outputs, ``fast_math`` shares reciprocals, on a GPU or compiled,
    ``precision`` "f32" keeps collections in single precision.

    Raises CompileError, whose text is what a terminal would show.
    """
    text = os.fspath(program)
    is_path = isinstance(program, os.PathLike) or ("\n" not in text and text.endswith(".equelle"))
    if precision not in ("f64", "f32"):
        raise ValueError(f"precision is 'f64' or 'f32', not {precision!r}")
    if backend == "cuda":
        _cuda.load_packages()
    options = dict(
        backend="serial" if backend in ("auto", "compiled") else backend,
        nondimensional=nondimensional,
        audit=audit,
        fast=fast_math,
        single=precision == "f32",
    )
    if is_path:
        inner = _equelle.compile(None, text, **options)
    else:
        inner = _equelle.compile(text, None if name is None else f"{name}.equelle", **options)
    if inner.warnings:
        _warnings.warn(inner.warnings.rstrip(), EquelleWarning, stacklevel=2)
    return Program(inner, is_built=backend == "compiled")


class Program:
    """A compiled program. Runs of it may go on at the same time in several threads."""

    def __init__(self, inner: _equelle.Program, is_built: bool = False):
        self._inner = inner
        self._is_built = is_built
        self._manifest = json.loads(inner.manifest)
        listed = json.loads(inner.parameters)
        #: Inputs in the order of the program, by name.
        self.inputs: dict[str, Input] = {entry["name"]: Input(entry) for entry in listed["inputs"]}
        #: Outputs in the order of the program, by tag.
        self.outputs: dict[str, Output] = {entry["name"]: Output(entry) for entry in self._manifest["outputs"]}
        self._units = {name: output.unit for name, output in self.outputs.items()}

    @property
    def name(self) -> str:
        """Name of the program."""
        return self._inner.name

    @property
    def text(self) -> str:
        """Text of the program."""
        return self._inner.text

    @property
    def manifest(self) -> dict[str, Any]:
        """Inputs and outputs, as the compiler's ``manifest.json``."""
        return self._manifest

    def __repr__(self) -> str:
        return f"<Program {self.name}: inputs {', '.join(self.inputs) or 'none'}; outputs {', '.join(self.outputs) or 'none'}>"

    def _repr_html_(self) -> str:
        from html import escape

        cell = "<td>{}</td>"
        rows = []
        for item in self.inputs.values():
            columns = [f"<code>{escape(item.name)}</code>", escape(item.type), escape(item.unit or ""), escape(item.default or "")]
            rows.append("<tr>" + "".join(cell.format(column) for column in columns) + "</tr>")
        head = "<tr><th>input</th><th>type</th><th>unit</th><th>default</th></tr>"
        return f"<b>{escape(self.name)}</b><table>{head}{''.join(rows)}</table>"

    def _given(self, parameters: dict[str, Any]) -> list[tuple[str, Any]]:
        given = []
        if (file := parameters.pop(_PARAMETER_FILE, None)) is not None:
            # First: what is given by name replaces what the file gives.
            given.append((_PARAMETER_FILE, os.fspath(file)))
        for key, value in parameters.items():
            if value is None:
                continue
            is_known, near = self._inner.knows(key)
            if not is_known:
                meant = f"; did you mean {near!r}?" if near else ""
                raise TypeError(f"{self.name} has no parameter {key!r}{meant}")
            item = self.inputs.get(key)
            given.append((key, _convert.argument(key, item.kind if item else None, value)))
        return given

    def _checked(self, grid: Grid | None, parameters: dict[str, Any]) -> tuple[list[tuple[str, Any]], Callable[[], Grid]]:
        """The arguments of a run for the library, and a function that gives its grid."""
        given = self._given(parameters)
        if grid is None:
            # Made again if somebody asks for it, which few do.
            own = [(key, value) for key, value in given if isinstance(value, str)]
            return given, lambda: Grid(self._inner.grid(own))
        if clash := [key for key, _ in given if key in _GRID_KEYS and key not in self.inputs]:
            raise TypeError(f"{', '.join(clash)} beside a grid")
        return given, lambda: grid

    def run(self, grid: Grid | None = None, *, progress: bool | Callable | None = None, **parameters: Any) -> Results:
        """Runs the program, and returns what it put out.

        The grid is given as a Grid, or by the parameters nx, ny, nz, lx, dx, grid_filename and so
        on. Inputs are given by their names: numbers, texts with a unit such as ``"10 [Bar]"``,
        arrays with a value for each element in the order of the grid's file (on a Cartesian grid
        also ``[nz, ny, nx]``), indices or truth values for domains, lists for sequences, mappings
        or DataFrames for tables. Every other parameter of the command line goes too, such as
        threads=4, u_initial_expression="Sin(x)" or abs_res_tol=1e-9; param_file="case.param" reads
        a file of parameters, which arguments replace.

        ``progress=True`` shows a bar (with tqdm if it is there); a function is called with the step
        and the number of steps, or None if that is not known.

        Raises RunError if the run fails, KeyboardInterrupt on Ctrl-C, TypeError for parameters that
        the program does not have.
        """
        given, grid_of_run = self._checked(grid, parameters)
        if self._is_built:
            if grid is not None and grid._parameters is None:
                raise TypeError("a program that cargo has built takes a grid from a file or by parameters")
            wait = functools.partial(_compiled.run, self, grid, given)
        else:
            inner = None if grid is None else grid._inner
            wait = _equelle.Execution.start(self._inner, given, inner, False).wait
        if progress is True:
            from ._progress import bar

            with bar(self.name) as show:
                outcome = wait(show)
        else:
            outcome = wait(progress or None)
        return self._results(outcome, grid_of_run)

    def _results(self, outcome: tuple, grid: Callable[[], Grid], before: list[tuple] | None = None) -> Results:
        outputs, newton, warned, summary, error = outcome
        results = Results(self, (before or []) + outputs, newton, warned, summary, grid)
        for warning in warned:
            _warnings.warn(warning, EquelleWarning, stacklevel=3)
        if error is not None:
            #: Results until the failure.
            error.results = results
            raise error
        return results

    def steps(self, grid: Grid | None = None, **parameters: Any) -> Steps:
        """A run that the caller follows: an iterator over the rounds of its loops.

        ``for step in program.steps(...)`` gives a Step after each round, which reads and changes
        the mutable variables of the program. The run waits meanwhile. Leaving the loop ends the
        run; after its end ``.results`` has what it put out.
        """
        if self._is_built:
            raise TypeError("a program that cargo has built is not followed: compile it for another back-end")
        given, grid_of_run = self._checked(grid, parameters)
        inner = None if grid is None else grid._inner
        return Steps(self, _equelle.Execution.start(self._inner, given, inner, True), grid_of_run)

    def sweep(self, processes: int | None = None, **parameters: Any) -> list[dict[str, Any]]:
        """Runs the program for each combination of values, and returns a table.

        A parameter that is one number and is given a list or an array takes each of its values. A
        row of the table has these values, and the last value of each output that is one number.
        ``pandas.DataFrame(program.sweep(...))`` is a frame. ``processes`` runs go on at a time, in
        threads of this process; each run then has its share of the cores.
        """
        from ._sweep import sweep

        return sweep(self, processes, parameters)


class Step:
    """A run after a round of its loop."""

    def __init__(self, steps: Steps, step: int, time: float, outputs: list[tuple]):
        self._steps = steps
        #: Number of the round, from 1.
        self.step = step
        #: Time of the run, in SI units.
        self.time = time
        #: Outputs since the round before, by tag: the last value of each.
        self.outputs = {tag: _plain(value) for tag, _, _, value in outputs}

    def __getitem__(self, key: str | tuple) -> Any:
        """A copy of a mutable variable; an array cannot be written, assign another one instead.

        ``step["u", 2:5, 3]`` is a copy of a box of cells of a Cartesian grid, the last axis first as
        in NumPy.
        """
        if isinstance(key, str):
            return _plain(self._execution().read(key, None))
        cells = self._box(key)
        values = np.asarray(self._execution().read(key[0], cells.ranges))
        return values.reshape((*cells.shape, *values.shape[1:]))

    def __setitem__(self, key: str | tuple, value: Any) -> None:
        """Gives a mutable variable another value of its type and size, or its values in a box of cells."""
        if isinstance(key, str):
            self._execution().write(key, None, _convert.state(key, value))
            return
        cells = self._box(key)
        self._execution().write(key[0], cells.ranges, cells.state(key[0], value))

    def _box(self, key: tuple) -> _convert.CellBox:
        if not key or not isinstance(key[0], str):
            raise TypeError("a name comes first: step['u', 2:5]")
        return _convert.CellBox(key[0], key[1:], self._execution().cells())

    def _execution(self) -> _equelle.Execution:
        if self._steps._current is not self:
            raise RuntimeError("the run has gone on: a step is read and changed before the next one")
        return self._steps._execution

    def variables(self) -> list[str]:
        """Names of the mutable variables."""
        return self._execution().variables()

    def reduce(self, name: str, how: str) -> float:
        """The "sum", "max", "min" or "prod" of a collection, where the run has it."""
        return self._execution().reduce(name, how)

    def __repr__(self) -> str:
        return f"<Step {self.step}, time {self.time:g}>"


class Steps(Iterator):
    """Rounds of a run, which waits between them."""

    def __init__(self, program: Program, execution: _equelle.Execution, grid: Callable[[], Grid]):
        self._program = program
        self._execution = execution
        self._outputs: list[tuple] = []
        self._current: Step | None = None
        self._is_first = True
        self._is_over = False
        self._grid = grid
        #: Results of the run; None until it is over.
        self.results: Results | None = None

    def __next__(self) -> Step:
        if self._is_over:
            raise StopIteration
        is_first, self._is_first, self._current = self._is_first, False, None
        try:
            over_round, outcome = self._execution.advance(is_first)
        except BaseException:
            self._is_over = True
            raise
        if over_round is None:
            self._is_over = True
            self.results = self._program._results(outcome, self._grid, self._outputs)
            raise StopIteration
        step, time, outputs = over_round
        self._outputs += outputs
        self._current = Step(self, step, time, outputs)
        return self._current

    def close(self) -> None:
        """Ends the run. What it put out so far is in ``results``."""
        if not self._is_over:
            self._is_over, self._current = True, None
            self._execution.stop()
            self.results = Results(self._program, self._outputs, [], [], None, self._grid)

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _plain_unit(text: str) -> str:
    """`Kelvin` for `1 [Kelvin]`."""
    return text[3:-1] if text.startswith("1 [") and text.endswith("]") else text


def _plain(value: Any) -> Any:
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    return np.asarray(value, dtype=bool) if isinstance(value, list) else value
