"""Files for ParaView."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def to_vtu(results, folder) -> list[Path]:
    """See Results.to_vtu."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    grid = results.grid
    on_cells = {
        tag: series
        for tag, series in results.items()
        if isinstance(series[0], np.ndarray) and series[0].shape[0] == grid.n_cells
    }
    if not on_cells:
        raise ValueError("the run put out no collection on all cells")
    moments = sorted({(int(step), float(time)) for series in on_cells.values() for step, time in zip(series.steps, series.times)})
    paths, entries = [], []
    for number, (step, time) in enumerate(moments):
        fields = []
        for tag, series in on_cells.items():
            for at in np.flatnonzero((series.steps == step) & (series.times == time))[-1:]:
                name = f"{tag} [{series.unit}]" if series.unit else tag
                fields.append((name, np.ascontiguousarray(series[int(at)], dtype=np.float64)))
        path = folder / f"{results.program.name}-{number:05}.vtu"
        grid._inner.write_vtu(path, step, time, fields)
        paths.append(path)
        entries.append(f'    <DataSet timestep="{time!r}" file="{path.name}"/>')
    collection = folder / f"{results.program.name}.pvd"
    text = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n  <Collection>\n'
    collection.write_text(text + "\n".join(entries) + "\n  </Collection>\n</VTKFile>\n")
    return [*paths, collection]
