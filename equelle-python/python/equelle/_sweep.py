"""Runs for each combination of values of parameters."""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np


def sweep(program, processes: int | None, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """See Program.sweep."""
    swept = {key: list(value) for key, value in parameters.items() if _is_swept(program, key, value)}
    if not swept:
        raise TypeError("a sweep needs a parameter with several values: a list for one that is one number")
    fixed = {key: value for key, value in parameters.items() if key not in swept}
    cores = os.cpu_count() or 1
    at_a_time = max(1, processes if processes is not None else cores)
    if "threads" not in parameters:
        fixed["threads"] = max(1, cores // at_a_time)
    cases = [dict(zip(swept, values)) for values in itertools.product(*swept.values())]

    def row(case: dict[str, Any]) -> dict[str, Any]:
        results = program.run(**fixed, **case)
        return {**case, **{tag: series[-1] for tag, series in results.items() if isinstance(series[-1], (float, bool))}}

    with ThreadPoolExecutor(min(at_a_time, len(cases))) as pool:
        return list(pool.map(row, cases))


def _is_swept(program, key: str, value: Any) -> bool:
    """True if a parameter takes one number, and several are given."""
    if isinstance(value, str) or np.ndim(value) != 1 or key in ("dx", "dy", "dz"):
        return False
    return key not in program.inputs or program.inputs[key].kind == "scalar"
