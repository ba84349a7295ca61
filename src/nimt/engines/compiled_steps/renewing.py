"""The arrays of a block in the layout of rows, and its scores after neighbours changed some of its values.

What `RowsEngine` computes once per lesson in NumPy is needed here at every turn, by several threads.
"""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import compiled, inlined
from nimt.engines.codes import FAN, LANES
from nimt.engines.compiled_steps.bits import bits_of


@inlined
def slots_before(line, strides, tables, places):
    """The slots before those of a line of the grid along its last axis."""
    rest = line * strides[-2] if strides.size > 1 else 0
    base = 0
    for axis in range(strides.size - 1):
        x = rest // strides[axis]
        rest -= x * strides[axis]
        base += np.int64(tables[places[axis] + x])
    return base


@compiled
def lay_out(grid, source, result):
    """Write the values of a pool into their slots; padding is left alone."""
    shape, strides, tables, places, across = grid
    length = shape[-1]
    for line in range(source.size // length):
        base = slots_before(line, strides, tables, places)
        for x in range(length):
            result[base + np.int64(across[x])] = source[line * length + x]


@compiled
def take_out(grid, source, result):
    """Write the values of slots into the order of the pool, the inverse of `lay_out`."""
    shape, strides, tables, places, across = grid
    length = shape[-1]
    for line in range(result.size // length):
        base = slots_before(line, strides, tables, places)
        for x in range(length):
            result[line * length + x] = source[base + np.int64(across[x])]


@compiled
def renew_rows(grid, points, f, y, forbidden, levels, node_bits, node_index):
    """Find the best of each row of LANES slots and of each node above it; returns the sum of squares."""
    shape, strides, tables, places, across = grid
    length = shape[-1]
    node_bits[:] = -1
    total = 0.0
    for line in range(points // length):
        base = slots_before(line, strides, tables, places)
        for x in range(0, length, LANES):
            first = base + np.int64(across[x])
            top = np.int64(-1)
            best = 0
            part = 0.0
            for lane in range(min(LANES, length - x)):
                r = f[first + lane] - y[first + lane]
                part += r * r
                bits = bits_of(abs(r)) | forbidden[first + lane]
                if bits > top:
                    top = bits
                    best = lane
            total += part
            node_bits[first // LANES] = top
            node_index[first // LANES] = line * length + x + best
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
