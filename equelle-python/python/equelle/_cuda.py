"""Libraries of CUDA from the packages of NVIDIA."""

from __future__ import annotations

import ctypes
import importlib.util
from pathlib import Path

# In the order in which they need each other.
_LIBRARIES = ("nvJitLink", "nvrtc", "cublas", "cusparse", "cudss")
_loaded: list[ctypes.CDLL] = []


def load_packages() -> None:
    """Loads libraries that pip installed, so that the runtime finds them by their names.

    A library that is loaded is the one that its name means from then on, also where the system has another.
    """
    found = importlib.util.find_spec("nvidia")
    if _loaded or found is None or not found.submodule_search_locations:
        return
    folders = [Path(place) for place in found.submodule_search_locations]
    for name in _LIBRARIES:
        for path in sorted(path for folder in folders for path in folder.glob(f"*/lib/lib{name}.so.*")):
            try:
                _loaded.append(ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL))
                break
            except OSError:
                # Another version of the same library may load.
                continue
