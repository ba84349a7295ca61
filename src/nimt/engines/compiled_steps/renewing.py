"""The scores of a block whose halo was changed by its neighbours, and how often its points were shown.

What `RowsEngine.find_scores` computes once per lesson in NumPy is needed here at every turn, by several threads.
"""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import compiled
from nimt.engines.codes import FAN, LANES
from nimt.engines.compiled_steps.bits import bits_of


@compiled
def renew_rows(f, y, forbidden, order, points, levels, node_bits, node_index):
    """Find the best of each row of LANES slots and of each node above it; returns the sum of squares."""
    node_bits[:] = -1
    total = 0.0
    for row in range(order.size // LANES):
        first = row * LANES
        top = np.int64(-1)
        lane = 0
        part = 0.0
        for x in range(LANES):
            r = f[first + x] - y[first + x]
            part += r * r
            bits = bits_of(abs(r)) | forbidden[first + x]
            if bits > top:
                top = bits
                lane = x
        total += part
        if order[first] < points:
            node_bits[row] = top
        node_index[row] = order[first + lane]
    for level in range(1, levels.size - 1):
        down, up = levels[level - 1], levels[level]
        for node in range((up - down) // FAN):
            first = down + node * FAN
            top = node_bits[first]
            index = node_index[first]
            for x in range(first + 1, first + FAN):
                if node_bits[x] > top or (node_bits[x] == top and node_index[x] < index):
                    top = node_bits[x]
                    index = node_index[x]
            node_bits[up + node] = top
            node_index[up + node] = index
    return total


@compiled
def count_shown(indices, picks):
    """Add one to the count of each point for every time it was shown."""
    for i in range(indices.size):
        picks[indices[i]] += 1
