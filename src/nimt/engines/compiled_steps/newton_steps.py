"""A centre of a sparse Newton basis: what `NewtonBasis.fit` does in NumPy with sparse columns, to the last bit."""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import compiled, inlined, part


@compiled
def add_center(index, window, columns, cut, ridge, power_squared, values, label, row, coefficient):
    """Add a centre; returns how many entries were read for it, or -1, with nothing changed, if there is no room.

    `row` (m + 1,) begins as zeros and gets the columns at the centre and the pivot; `values` and `label` are (n, q) and
    (q,), and `coefficient` (q,) is written. The sums are in the order of the columns, as in NumPy.
    """
    starts, members, entries, before, latest, scratch = columns
    size = row.size - 1
    used = columns_at(index, columns, row)
    pivot = np.sqrt(power_squared[index] + ridge)
    low, high = index, index
    touched = 0
    for j in used:
        for e in range(starts[j], starts[j + 1]):
            s = members[e]
            scratch[s] += entries[e] * row[j]
            low, high = min(low, s), max(high, s)
        touched += starts[j + 1] - starts[j]
    for s in range(low, high + 1):
        scratch[s] = 0.0 - scratch[s]
    low, high = add_section(index, window, scratch, low, high)
    found = 0
    for s in range(low, high + 1):
        scratch[s] /= pivot
        found += abs(scratch[s]) > cut
    end = starts[size]
    if end + found > members.size:
        scratch[low : high + 1] = 0.0
        return -1
    row[size] = pivot
    for o in range(label.size):
        coefficient[o] = (label[o] - values[index, o]) / pivot
    for s in range(low, high + 1):
        value = scratch[s]
        scratch[s] = 0.0
        if abs(value) > cut:
            members[end], entries[end], before[end] = s, value, latest[s]
            latest[s] = end
            end += 1
            power_squared[s] = max(power_squared[s] - value * value, 0.0)
            for o in range(label.size):
                values[s, o] += value * coefficient[o]
    if ridge == 0.0:
        power_squared[index] = 0.0
    starts[size + 1] = end
    return touched


@inlined
def columns_at(index, columns, row):
    """Write the columns at a point into `row` and return which are not zero, ascending; a chain is the other way."""
    starts, _, entries, before, latest, _ = columns
    count = 0
    entry = latest[index]
    while entry >= 0:
        count += 1
        entry = before[entry]
    found = np.empty(count, dtype=np.int64)
    entry = latest[index]
    while entry >= 0:
        count -= 1
        found[count] = np.searchsorted(starts[: row.size], entry, side="right") - 1
        row[found[count]] = entries[entry]
        entry = before[entry]
    return found


@part
def add_section(index, window, scratch, low, high):
    """Add K(., x) at the cells of the window that are on the grid; returns the range that is not zero."""
    offsets, places, weights, shape, strides = window
    for c in range(places.size):
        inside = True
        rest = index
        for i in range(shape.size):
            x = rest // strides[i]
            rest -= x * strides[i]
            inside = inside and 0 <= x + offsets[c, i] < shape[i]
        if inside:
            s = index + places[c]
            scratch[s] += weights[c]
            low, high = min(low, s), max(high, s)
    return low, high
