"""Lessons of one greedy example per step, on a grid.

A *row* is a line of cache: LANES slots along the last axis of the grid. A step computes with whole rows, in vector
registers. Lanes that the window does not reach keep their values, but take part in the largest score of the row: so it
is known without a scan, and no score is stored. The rows are the leaves of a tournament; every node has its winning
score, as bits, and the index of its winner in the pool.

f[(row * q + output) * LANES + lane], and so y, c and the other labels; with one output that is f[slot].
"""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import compiled, fetch, first_in, inlined, match, part, step_in_row
from nimt.engines.codes import (
    BEST,
    BEST_AT,
    CARRY,
    ERROR,
    FAN,
    GOING,
    LANES,
    STATIONARY,
    STILL,
    TOTAL,
    WARNED,
)
from nimt.engines.compiled_steps.bits import number_with
from nimt.engines.compiled_steps.discrepancy import measure_after
from nimt.engines.compiled_steps.grid_lines import line_of, slot_of
from nimt.engines.compiled_steps.labels import make_labels
from nimt.engines.compiled_steps.showing import keep_coefficients, show_example
from nimt.engines.compiled_steps.stopping import over, stillness


@part
def winner_of(node_bits, node_index, first):
    """The largest score of FAN nodes, and the lowest index that has it."""
    top, which = match(node_bits, first)
    index = node_index[np.uint64(first + first_in(which))]
    which &= which - 1
    while which != 0 and top >= 0:
        other = node_index[np.uint64(first + first_in(which))]
        index = other if other < index else index
        which &= which - 1
    return top, index


@inlined
def is_still(bits, height, rules):
    """Whether the best of a node is at rest by the rule of `stillness`, for the square loss; or there is none."""
    largest = 2.0 * number_with(bits) * height
    return bits < 0 or largest * largest <= rules[STILL]


@compiled
def by_rows(
    grid, margin, ahead, at, m, making, forbidden, height, values, loss, loss_delta, outputs, norm, levels, nodes,
    node_bits, node_index, touched, moves, change, sums, rules, batch,
):  # fmt: skip
    """Teach one greedy example per step on a grid; returns the steps taken and the outcome.

    The window has `margin` zeros around each of its runs, so that a whole row of it can be read anywhere. `ahead` is
    the level of the tournament in which the second best is looked for, None where all arrays are in the cache.
    `nodes` are the first and the end of some nodes of the tournament: a step shows the best of the first of them that
    is not still; of the root alone, the best of all points.
    """
    shape, strides, tables, places, across, here, lead, first, start, window = grid
    rates, _, watch, out_index, out_label, out_m, _ = batch
    f, y, _, c, shown = values
    q = len(outputs)
    runs = first.size
    length = shape[-1]
    root, end = nodes
    state = GOING
    taken = 0
    numbers = (rules[0], rules[1], rules[2], rules[3], rules[4], rules[5], rules[6])  # an array would be read again
    total, carry, error = sums[TOTAL], sums[CARRY], sums[ERROR]
    best, best_at = watch[BEST], watch[BEST_AT]
    for t in range(rates.size):
        step = at + t
        state, best, best_at = over(step, m, numbers, best, best_at)
        if state != GOING:
            break

        # the teacher
        while root + 1 < end and is_still(node_bits[np.uint64(root)], height, numbers):
            root += 1
        if node_bits[np.uint64(root)] < 0:  # nothing below the last node may be shown
            state = STATIONARY
            break
        index = np.int64(node_index[root])
        slot, last = slot_of(index, here, strides, tables, places, across)
        if making is not None:
            out_index[t, 0] = slot
            make_labels(making, out_index[t], f, y, step, out_label[t])
        out_index[t, 0] = index
        own = slot // np.uint64(LANES) * np.uint64(LANES * q) + slot % np.uint64(LANES)
        largest = show_example(
            t, 0, own, LANES, rates[t], making is not None, loss, (loss_delta, 0.0), height, 0.0, values, batch, moves,
            outputs,
        )  # fmt: skip
        state = stillness(largest, m, numbers)
        if state != GOING:
            break

        # the learner
        keep_coefficients(t, own, LANES, values, batch, moves, outputs)
        shown[slot] = True
        for lane in range(LANES):
            change[lane] = 0.0
        kept = 0
        for r in range(runs):
            inside, base, line = line_of(r, here, lead, shape, strides, tables, places)
            if not inside:
                continue
            lo = last + first[r]
            offset = start[r] + (2 * r + 1) * margin - lo
            hi = lo + start[r + 1] - start[r]
            for x in range(lo // LANES * LANES if lo > 0 else 0, hi if hi < length else length, LANES):
                piece = np.int64(base + across[np.uint64(x)])
                row = piece // LANES
                top, which = step_in_row(
                    f, y, row * (LANES * q), window, offset + x, length - x, moves, change, forbidden, piece,
                    outputs, norm,
                )  # fmt: skip
                node_bits[np.uint64(row)] = top
                node_index[np.uint64(row)] = line + x + first_in(which)
                tile = row // FAN
                j = kept - 1
                while j >= 0 and touched[j] != tile:
                    j -= 1
                if j < 0:
                    touched[kept] = tile
                    kept += 1

        added = 0.0
        for lane in range(LANES):
            added += change[lane]
        m, total, carry, error = measure_after(added, largest, m, total, carry, error, numbers, f, y)
        out_m[t] = m
        taken = t + 1

        # the tournament: repeat the matches of nodes that changed
        for level in range(1, levels.size - 1):
            down, up = levels[level - 1], levels[level]
            so_far = kept
            kept = 0
            before = np.int64(-1)
            for j in range(so_far):
                node = touched[j] if level == 1 else touched[j] // FAN
                if node == before:
                    continue
                before = node
                top, index = winner_of(node_bits, node_index, down + FAN * node)
                if node_bits[up + node] != top or node_index[up + node] != index:
                    node_bits[up + node] = top
                    node_index[up + node] = index
                    touched[kept] = node
                    kept += 1
        if making is not None and making[1][WARNED] == 1.0:  # only Python can warn: return to it after this step
            break
        if ahead is None:
            continue

        # memory: the second best is probably shown after the next step, and what it needs is fetched during that step
        second = np.int64(-1)
        node = levels[ahead]
        for v in range(node, levels[ahead + 1]):
            bits = node_bits[np.uint64(v)]
            second = max(second, bits if bits < node_bits[root] else np.int64(-1))
        if second < 0:
            continue
        while node_bits[np.uint64(node)] != second:
            node += 1
        slot, last = slot_of(np.int64(node_index[np.uint64(node)]), here, strides, tables, places, across)
        for o in range(q):
            fetch(c, (np.int64(slot) // LANES * q + o) * LANES)
        fetch(shown, np.int64(slot))
        before = np.int64(-1)
        for r in range(runs):
            inside, base, line = line_of(r, here, lead, shape, strides, tables, places)
            if not inside:
                continue
            lo = last + first[r]
            hi = lo + start[r + 1] - start[r]
            for x in range(lo // LANES * LANES if lo > 0 else 0, hi if hi < length else length, LANES):
                row = np.int64(base + across[np.uint64(x)]) // LANES
                for o in range(q):
                    fetch(f, (row * q + o) * LANES)
                    fetch(y, (row * q + o) * LANES)
                tile = row // FAN
                if tile != before:
                    before = tile
                    fetch(node_bits, row)
                    fetch(node_index, row)
                    fetch(node_bits, levels[1] + tile)
                    fetch(node_index, levels[1] + tile)
    sums[TOTAL], sums[CARRY], sums[ERROR] = total, carry, error
    watch[BEST], watch[BEST_AT] = best, best_at
    return taken, state
