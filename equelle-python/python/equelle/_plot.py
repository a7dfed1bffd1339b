"""Pictures with matplotlib, and datasets of xarray."""

from __future__ import annotations

import numpy as np


def plot(results, tag: str, index: int, ax, **options):
    """See Results.plot."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install matplotlib") from None
    series = results[tag]
    values = np.asarray(series[index])
    if ax is None:
        _, ax = plt.subplots()
    label = f"{tag} [{series.unit}]" if series.unit else tag
    if values.ndim == 0:
        ax.plot(series.times, np.asarray(series), **options)
        ax.set_xlabel("time [s]")
        ax.set_ylabel(label)
        return ax
    if values.ndim == 2:
        values = np.linalg.norm(values, axis=1)
    if values.shape != (results.grid.n_cells,):
        raise ValueError(f"{tag!r} is not on all cells")
    centroids = results.grid.centroids
    if results.grid.dim == 1:
        ax.plot(centroids[:, 0], values, **options)
        ax.set_xlabel("x [m]")
        ax.set_ylabel(label)
    elif results.grid.dim == 2:
        shape = results.grid.shape
        if shape is not None:
            x, y = centroids[:, 0].reshape(shape)[0], centroids[:, 1].reshape(shape)[:, 0]
            drawn = ax.pcolormesh(x, y, values.reshape(shape), shading="nearest", **options)
        else:
            drawn = _polygons(results.grid, values, ax, options)
        ax.set_aspect("equal")
        ax.set_xlabel("x [m]")
        ax.set_ylabel("y [m]")
        ax.figure.colorbar(drawn, ax=ax, label=label)
    else:
        raise ValueError("a field in 3D is written by to_vtu and drawn by ParaView or pyvista")
    ax.set_title(f"time {series.times[index]:g}")
    return ax


def _polygons(grid, values, ax, options):
    """Cells of a grid in 2D in the colours of their values."""
    from matplotlib.collections import PolyCollection

    cells = grid._inner.polygons()
    if cells is None:
        # A grid without points has centroids alone.
        return ax.scatter(grid.centroids[:, 0], grid.centroids[:, 1], c=values, **options)
    points = np.asarray(cells[0])
    limits = {key: options.pop(key) for key in ("vmin", "vmax") if key in options}
    drawn = PolyCollection([points[corners] for corners in cells[1]], array=values, **options)
    drawn.set_clim(limits.get("vmin", values.min()), limits.get("vmax", values.max()))
    ax.add_collection(drawn)
    ax.autoscale()
    return drawn


def to_xarray(results):
    """See Results.to_xarray."""
    try:
        import xarray
    except ImportError:
        raise ImportError("datasets need xarray: pip install xarray") from None
    grid, variables, coordinates = results.grid, {}, {}
    axes = ("z", "y", "x")[-grid.dim:] if grid.shape is not None else ("cell",)
    if grid.shape is not None:
        for axis, name in enumerate(reversed(axes)):
            positions = grid.centroids[:, axis].reshape(grid.shape)
            coordinates[name] = np.moveaxis(positions, grid.dim - 1 - axis, 0).reshape(grid.shape[grid.dim - 1 - axis], -1)[:, 0]
    else:
        for axis, name in enumerate("xyz"[: grid.dim]):
            coordinates[f"{name}_of_cell"] = ("cell", grid.centroids[:, axis])
    for tag, series in results.items():
        first = np.asarray(series[0])
        if first.dtype.kind not in "fb":
            continue
        time = f"time_of_{tag}" if not np.array_equal(series.times, results.times) else "time"
        coordinates[time] = series.times
        if first.ndim == 0:
            variables[tag] = ((time,), np.asarray(series))
        elif first.shape[0] == grid.n_cells:
            components = () if first.ndim == 1 else ("component",)
            shape = grid.shape if grid.shape is not None else (grid.n_cells,)
            values = np.stack([np.asarray(value).reshape(*shape, *first.shape[1:]) for value in series])
            variables[tag] = ((time, *axes, *components), values)
        else:
            variables[tag] = ((time, f"element_of_{tag}", *(("component",) if first.ndim == 2 else ())), np.asarray(series))
        if series.unit:
            variables[tag] = (*variables[tag], {"units": series.unit})
    return xarray.Dataset(variables, coordinates, {"program": results.program.name})
