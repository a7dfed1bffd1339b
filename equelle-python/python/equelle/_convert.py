"""From what Python has to what the library takes."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

# Kinds of input (`type` in the list of inputs) that are not one number.
_ARRAYS = {"scalars": "numbers", "vectors": "numbers", "bools": "truths", "domain": "indices", "sequence": "numbers", "table": "columns"}


def kind_of(declared: str) -> str:
    """The kind of an input from its type in Equelle."""
    if declared.startswith("Collection Of Scalar"):
        return "scalars"
    if declared.startswith("Collection Of Vector"):
        return "vectors"
    if declared.startswith("Collection Of Bool"):
        return "bools"
    if declared.startswith("Sequence"):
        return "sequence"
    if declared.startswith("Table"):
        return "table"
    if declared.startswith("a subset"):
        return "domain"
    return "scalar"


def text_of(value: Any) -> str | None:
    """The value of a parameter as text; None for arrays."""
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return text_of(value.item())
    return None


def numbers(name: str, value: Any) -> np.ndarray:
    """An array of float64 in the byte order of this machine."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} needs numbers, and an array of {array.dtype} was given")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        raise TypeError(f"{name} needs numbers of at most 64 bits, and an array of {array.dtype} was given")
    return array if array.dtype == np.float64 and array.dtype.isnative else array.astype(np.float64)


def truths(name: str, value: Any) -> np.ndarray:
    """An array of truth values as uint8."""
    array = np.asarray(value)
    if array.dtype.kind != "b":
        raise TypeError(f"{name} needs truth values, and an array of {array.dtype} was given")
    return array.view(np.uint8)


def indices(name: str, value: Any) -> np.ndarray:
    """An array of indices as int64; truth values of all elements are those where they are true."""
    array = np.asarray(value)
    if array.dtype.kind == "b" and array.ndim == 1:
        array = np.flatnonzero(array)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} needs indices, and an array of {array.dtype} was given")
    return array.astype(np.int64)


def columns(name: str, value: Any) -> list[tuple[str, np.ndarray]]:
    """Columns of a table: of a mapping, a pandas DataFrame or a structured array."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        items = [(column, value[column]) for column in value.dtype.names]
    elif isinstance(value, Mapping) or hasattr(value, "items"):
        items = [(str(column), values) for column, values in value.items()]
    else:
        raise TypeError(f"{name} needs a table: a mapping from names of columns to arrays")
    arrays = [(column, numbers(f"{name}[{column!r}]", values)) for column, values in items]
    lengths = {array.shape for _, array in arrays}
    if any(len(shape) != 1 for shape in lengths) or len(lengths) > 1:
        raise ValueError(f"the columns of {name} need one axis of the same length")
    return arrays


def argument(name: str, kind: str | None, value: Any) -> Any:
    """An argument of a run for the library; `kind` is that of the input, None for parameters."""
    text = text_of(value)
    if text is not None:
        return text
    match kind and _ARRAYS.get(kind):
        case "truths":
            return ("truths", truths(name, value))
        case "indices":
            return ("indices", indices(name, value))
        case "columns":
            return ("columns", columns(name, value))
        case "numbers":
            array = numbers(name, value)
            if kind == "vectors" and array.ndim == 1 and array.size <= 3:
                return ", ".join(repr(float(component)) for component in array)
            return ("numbers", array)
        case _:
            array = numbers(name, value)
            if kind == "scalar" and array.size != 1:
                raise TypeError(f"{name} is one number, and an array of shape {array.shape} was given")
            if array.ndim > 1:
                raise TypeError(f"{name} takes numbers along one axis, and an array of shape {array.shape} was given")
            return ", ".join(repr(float(number)) for number in array.ravel())


def state(name: str, value: Any) -> Any:
    """A value for a variable of a run."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, float, np.integer, np.floating)):
        return float(value)
    if isinstance(value, tuple):
        return tuple(float(component) for component in value)
    array = np.asarray(value)
    return truths(name, array) if array.dtype.kind == "b" else numbers(name, array)


class CellBox:
    """A box of cells of a Cartesian grid: indices and slices, the last axis first."""

    def __init__(self, name: str, key: tuple, cells: list[int] | None):
        if cells is None:
            raise ValueError(f"{name}: only a Cartesian grid has boxes of cells")
        if len(key) != len(cells):
            raise IndexError(f"{name}: {len(key)} indices were given, and the grid has {len(cells)} axes")
        #: Start and end along each axis, x first.
        self.ranges: list[tuple[int, int]] = []
        #: Lengths along the axes that have a slice, the last axis first.
        self.shape: tuple[int, ...] = ()
        for index, n in zip(key, reversed(cells)):
            if isinstance(index, slice):
                start, stop, step = index.indices(n)
                if step != 1:
                    raise IndexError(f"{name}: a box has no steps between its cells; read the whole and slice that")
                self.ranges.append((start, max(start, stop)))
                self.shape += (max(0, stop - start),)
            else:
                at = operator.index(index)
                if not -n <= at < n:
                    raise IndexError(f"{name}: there are {n} cells along the axis, and {at} was given")
                self.ranges.append((at % n, at % n + 1))
        self.ranges.reverse()

    def state(self, name: str, value: Any) -> Any:
        """Values for the cells of the box, as `state`; one value is that of all cells."""
        array = np.asarray(value)
        components = array.shape[-1:] if array.ndim > len(self.shape) or isinstance(value, tuple) else ()
        array = np.broadcast_to(array, self.shape + components).reshape(-1, *components)
        return state(name, array if array.dtype.kind == "b" else np.ascontiguousarray(array, dtype=float))
