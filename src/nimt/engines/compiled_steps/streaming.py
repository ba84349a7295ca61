"""What lessons need whose kernel reaches across the pool."""

from __future__ import annotations

from nimt.engines.caching import compiled


@compiled
def squared_distances(columns, index, result):
    """Write |x_s - x_index|^2 for every point; `columns` holds one row per coordinate."""
    result[:] = 0.0
    for i in range(columns.shape[0]):
        axis = columns[i]
        x = axis[index]
        for s in range(axis.size):
            r = axis[s] - x
            result[s] += r * r


@compiled
def add_scaled(scale, addition, f):
    for s in range(f.size):
        f[s] += scale * addition[s]
