"""Simulators of partial differential equations on any grid, in the language Equelle.

    import equelle
    program = equelle.compile("heat.equelle")
    result = program.run(nx=100, k=0.3, u_initial=array, timesteps=[0.1] * 50)
    result["u"][-1]
"""

from ._equelle import CompileError, EquelleError, RunError
from ._equelle import version as _version
from ._grid import Grid
from ._program import EquelleWarning, Input, Output, Program, Step, Steps, compile
from ._results import Results, Series

__version__ = _version()
__all__ = [
    "CompileError",
    "EquelleError",
    "EquelleWarning",
    "Grid",
    "Input",
    "Output",
    "Program",
    "Results",
    "RunError",
    "Series",
    "Step",
    "Steps",
    "compile",
]
