"""Compiled code by numba's public functions alone: one array entry after another, kept nowhere."""

from __future__ import annotations

import numba
import numpy as np

from nimt.engines.codes import CELL, EUCLIDEAN, FAN, GAUSSIAN, LANES, MANHATTAN, MATERN_1, MATERN_3, MATERN_5

compiled = numba.njit(nogil=True)
part = compiled
inlined = numba.njit(nogil=True, inline="always")
rule = inlined


@inlined
def bits_of(number):
    return np.float64(number).view(np.int64)


@part
def step_in_row(f, y, at, window, offset, width, moves, change, forbidden, slot, outputs, norm):
    """`vectors.step_in_row`, lane by lane."""
    q, by = len(outputs), len(norm)
    top, which = np.int64(-(2**63)), np.int64(0)
    for lane in range(LANES):
        w = window[offset + lane]
        reached = w != 0.0 and lane < width
        size = 0.0
        for o in range(q):
            s = at + o * LANES + lane
            before = f[s] - y[s]
            if reached:
                f[s] += moves[o] * w
            after = f[s] - y[s]
            if reached:
                change[lane] += (after - before) * (after + before)
            if q == 1:
                size = abs(after)
            elif by == EUCLIDEAN:
                size += after * after
            elif by == MANHATTAN:
                size += abs(after)
            elif abs(after) > size:
                size = abs(after)
        bits = bits_of(np.sqrt(size) if q > 1 and by == EUCLIDEAN else size)
        if forbidden is not None:
            bits |= forbidden[slot + lane]
        if bits > top:
            top, which = bits, np.int64(0)
        if bits == top:
            which |= np.int64(1) << np.int64(lane)
    return top, which


@part
def match(node_bits, first):
    """`vectors.match`, node by node."""
    top, which = node_bits[first], np.int64(0)
    for v in range(FAN):
        top = max(top, node_bits[first + v])
    for v in range(FAN):
        if node_bits[first + v] == top:
            which |= np.int64(1) << np.int64(v)
    return top, which


@part
def first_in(which):
    """The lowest bit that is set."""
    place = np.int64(0)
    while not (which >> place) & 1:
        place += 1
    return place


@inlined
def fetch(array, index):
    """Nothing: there is no public way to fetch from memory beforehand."""


@inlined
def call_at(address, f, y):
    """Nothing is called by its address: a loss of the user has no number here (`CompiledLoss.compiled_twin`)."""
    return np.nan


@inlined
def call_score_at(address, f, y, kappa):
    """Nothing, either (`OwnScore.is_compiled`)."""
    return np.nan


@part
def kernel_at(square, form, numbers):
    """K at a squared distance, by the number of its formula."""
    r = np.sqrt(square)
    if form == GAUSSIAN:
        return 2.0**-square
    if form == MATERN_1:
        return np.exp(-r)
    if form == MATERN_3:
        return (1.0 + np.sqrt(3.0) * r) * np.exp(-np.sqrt(3.0) * r)
    if form == MATERN_5:
        return (1.0 + np.sqrt(5.0) * r + 5.0 * square / 3.0) * np.exp(-np.sqrt(5.0) * r)
    r *= numbers[0]
    return max(1.0 - r, 0.0) ** numbers[1] * (1.0 + r * (numbers[2] + r * numbers[3]))


@part
def fill_squares(points, at, stride, centres, first, d, result, to, count):
    """`radial_rows.fill_squares`, point by point."""
    least = np.inf
    for s in range(count):
        square = 0.0
        for i in range(d):
            square += (points[at + i * stride + s] - centres[first + i]) ** 2
        result[to + s] = square
        least = min(least, square)
    return least


@part
def apply_formula(form, numbers, least, values, at, count):
    """`radial_rows.apply_formula`, value by value."""
    for s in range(at, at + count):
        values[s] = kernel_at(values[s], form, numbers)


@part
def measure_gaps(boxes, at, stride, centre, near, far, to):
    """`cell_rows.measure_gaps`, lane by lane."""
    for lane in range(LANES):
        nearest, farthest = 0.0, 0.0
        for i in range(centre.size):
            below = boxes[at + 2 * i * stride + lane] - centre[i]
            above = centre[i] - boxes[at + (2 * i + 1) * stride + lane]
            nearest += max(below, above, 0.0) ** 2
            farthest += max(-below, -above) ** 2
        near[to + lane] = nearest
        if far is not None:
            far[to + lane] = farthest


@part
def step_in_cell(f, y, cell, weights, moves, change, forbidden, outputs, norm):
    """`cell_rows.step_in_cell`, row by row."""
    top = np.int64(-(2**63))
    q = len(outputs)
    for row in range(CELL // LANES):
        at = cell * CELL + row * LANES
        bits, _ = step_in_row(
            f, y, at * q, weights, row * LANES, LANES, moves, change, forbidden, at, outputs, norm
        )  # fmt: skip
        top = max(top, bits)
    return top


@part
def add_to_cell(f, y, first, columns, places, factors, begin, end, squares):
    """`cell_rows.add_to_cell`, slot by slot."""
    for k in range(begin, end):
        squares[k] = 0.0
        for s in range(CELL):
            f[first + s] += factors[k] * columns[places[k] + s]
            squares[k] += (f[first + s] - y[first + s]) ** 2


@part
def find_ends(f, y, first, forbidden):
    """`cell_rows.find_ends`, slot by slot."""
    high, low, total = -np.inf, -np.inf, 0.0
    for s in range(first, first + CELL):
        total += (f[s] - y[s]) ** 2
        if forbidden is None or forbidden[s] == 0:
            high, low = max(high, f[s] - y[s]), max(low, y[s] - f[s])
    return high, low, total


@part
def take_in_tile(
    f, y, first, window, place, row_places, widths, forbidden, waiting, begin, end, moves, centres, parts
):  # fmt: skip
    """`tile_rows.take_in_tile`, row by row and lane by lane."""
    for k in range(begin, end):
        parts[k] = 0.0
    high, low = -np.inf, -np.inf
    for row in range(FAN):
        for lane in range(LANES):
            slot = first + row * LANES + lane
            inside = widths is None or lane < widths[row]
            square = (f[slot] - y[slot]) ** 2
            for k in range(begin, end):
                j = waiting[k]
                if inside:
                    f[slot] += moves[j] * window[place - centres[j] + row_places[row] + lane]
                now = (f[slot] - y[slot]) ** 2
                parts[k] += now - square
                square = now
            if inside and (forbidden is None or forbidden[slot] == 0):
                high, low = max(high, f[slot] - y[slot]), max(low, y[slot] - f[slot])
    return high, low
