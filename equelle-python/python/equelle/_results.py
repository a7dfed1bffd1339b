"""Results of runs."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._grid import Grid
    from ._program import Program


class Series(Sequence):
    """The values of an output, one for each time it was put out.

    An element is a float, a bool, a str, a tuple (a Vector), or an array: ``[n]`` for a collection
    of Scalars, ``[n, dim]`` for one of Vectors, in the order of the elements in the grid's file.
    Arrays are the memory of the run, not copies, and cannot be written.
    """

    def __init__(self, tag: str, steps: list[int], times: list[float], values: list[Any], unit: str | None):
        self.tag = tag
        #: Round of the outermost loop of each value, from 1; 0 before the first.
        self.steps = np.asarray(steps)
        #: Time of the run at each value, in SI units.
        self.times = np.asarray(times)
        #: Unit by which the program divides the output; None if it has none.
        self.unit = unit
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Series(self.tag, list(self.steps[index]), list(self.times[index]), self._values[index], self.unit)
        return self._values[index]

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.asarray(self._values, dtype=dtype)

    def __repr__(self) -> str:
        unit = f", in {self.unit}" if self.unit else ""
        what = "nothing" if not self._values else _described(self._values[-1])
        return f"<Series {self.tag!r}: {len(self)} x {what}{unit}>"


class Results(Mapping):
    """Outputs of a run by tag: ``result["u"][-1]`` is the last value of ``u``."""

    def __init__(self, program: Program, outputs: list[tuple], newton: list[str], warnings: list[str], summary: str | None, grid: Callable[[], Grid]):
        self.program = program
        self._make_grid = grid
        #: Warnings of the run, as text.
        self.warnings = warnings
        #: Totals of the run: seconds, steps, cells, and solves; None if it did not reach its end.
        self.summary: dict[str, Any] | None = json.loads(summary) if summary else None
        self._newton = newton
        self._series: dict[str, Series] = {}
        gathered: dict[str, tuple[list, list, list]] = {}
        for tag, step, time, value in outputs:
            steps, times, values = gathered.setdefault(tag, ([], [], []))
            steps.append(step)
            times.append(time)
            values.append(_typed(value, program.outputs.get(tag)))
        units = program._units
        for tag, (steps, times, values) in gathered.items():
            self._series[tag] = Series(tag, steps, times, values, units.get(tag))

    @functools.cached_property
    def grid(self) -> Grid:
        """The grid of the run."""
        return self._make_grid()

    @property
    def newton(self) -> list[dict[str, Any]]:
        """Solves of Newton's method in order: line, step, outcome, iterations with their norms."""
        return [json.loads(solve) for solve in self._newton]

    @property
    def scalars(self) -> dict[str, np.ndarray]:
        """Outputs that are one number each time, by tag."""
        return {tag: np.asarray(series) for tag, series in self.items() if len(series) and isinstance(series[0], (float, bool))}

    @property
    def times(self) -> np.ndarray:
        """Times at which something was put out, ascending."""
        return np.unique(np.concatenate([series.times for series in self.values()])) if self._series else np.empty(0)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Cells along the axes of a Cartesian grid, the last axis first: ``r["u"][-1].reshape(r.shape)``."""
        return self.grid.shape

    def __getitem__(self, tag: str) -> Series:
        try:
            return self._series[tag]
        except KeyError:
            raise KeyError(f"the run put out no {tag!r}; there are {', '.join(self._series) or 'none'}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def __repr__(self) -> str:
        lines = [f"<Results of {self.program.name}{self._totals()}"]
        lines += [f"  {series!r}" for series in self.values()]
        return "\n".join(lines) + ">"

    def _totals(self) -> str:
        if self.summary is None:
            return ": not to its end"
        return f": {self.summary['cells']} cells, {self.summary['steps']} steps, {self.summary['seconds']:.3g} s"

    def _repr_html_(self) -> str:
        from html import escape

        row = "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td></tr>"
        rows = [
            row.format(escape(tag), len(series), escape(_described(series[-1]) if len(series) else ""), escape(series.unit or ""))
            for tag, series in self.items()
        ]
        head = "<tr><th>output</th><th>values</th><th>each</th><th>unit</th></tr>"
        return f"<b>{escape(self.program.name)}</b>{self._totals()}<table>{head}{''.join(rows)}</table>"

    def field(self, tag: str, index: int = -1) -> np.ndarray:
        """A value of a collection on all cells of a Cartesian grid with the axes of the grid, ``[nz, ny, nx]``."""
        values = np.asarray(self[tag][index])
        if self.shape is None or values.shape[:1] != (self.grid.n_cells,):
            raise ValueError(f"{tag!r} is not on all cells of a Cartesian grid")
        return values.reshape(*self.shape, *values.shape[1:])

    def plot(self, tag: str, index: int = -1, ax=None, **options):
        """Draws a value of a collection on cells with matplotlib; returns the axes."""
        from ._plot import plot

        return plot(self, tag, index, ax, **options)

    def to_xarray(self):
        """An ``xarray.Dataset``: collections on cells by time and axes of a Cartesian grid, else by time and cell."""
        from ._plot import to_xarray

        return to_xarray(self)

    def to_vtu(self, folder) -> list:
        """Writes collections on cells for ParaView, one file a time and ``NAME.pvd``; returns the paths."""
        from ._vtu import to_vtu

        return to_vtu(self, folder)


def _typed(value: Any, output) -> Any:
    """A row as an array; truth values and indices of entities, which runs put out as numbers, as such."""
    if not hasattr(value, "__array_interface__"):
        return value
    array = np.asarray(value)
    declared = output.type if output is not None else ""
    if declared.startswith("Collection Of Bool"):
        return array != 0
    return array.astype(np.int64) if declared.startswith(_ENTITIES) else array


_ENTITIES = tuple(f"Collection Of {kind}" for kind in ("Cell", "Face", "Edge", "Vertex"))


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    return {float: "number", bool: "truth value", str: "text", tuple: "Vector"}.get(type(value), type(value).__name__)
