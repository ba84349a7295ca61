"""Where a point of a grid and the runs of a window around it lie among the slots.

A grid is taken as lines along its last axis. A point is a place in its line and the line's coordinates on the other
axes, `here`. A window is a list of runs of neighbouring points, each on one line.
"""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import inlined


@inlined
def slot_of(index, here, strides, tables, places, across):
    """Find a point of the pool: its slot and its place in its line, whose coordinates are written to `here`."""
    last = index
    slot = np.uint64(0)
    for i in range(here.size):
        here[i] = last // strides[i]
        last -= here[i] * strides[i]
        slot += tables[np.uint64(places[i] + here[i])]
    return slot + across[np.uint64(last)], last


@inlined
def line_of(run, here, lead, shape, strides, tables, places):
    """Find the line of a run: whether it is on the grid, the slots before it, and the index of its first point."""
    inside = True
    base = np.uint64(0)
    line = np.int64(0)
    for i in range(here.size):
        x = here[i] + lead[run, i]
        if x < 0 or x >= shape[i]:
            inside = False
            break
        base += tables[np.uint64(places[i] + x)]
        line += x * strides[i]
    return inside, base, line
