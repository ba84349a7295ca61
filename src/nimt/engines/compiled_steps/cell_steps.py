"""Lessons of one greedy example per step on scattered points that lie in cells, and steps that wait for cells.

A *cell* is CELL points close together, a *group* is CELL cells. Both have a box around them, so that a step finds the
cells within the kernel's reach, and computes with whole cells: K is evaluated where it is needed, and nothing of it is
kept. The largest score of a cell is known after a step in it, that of a group is the largest of its cells; which point
has it is looked for only where it decides.

f[(row * q + output) * LANES + lane], as in `row_steps`; a cell is CELL / LANES rows.
"""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import (
    add_to_cell,
    apply_formula,
    compiled,
    fetch,
    fill_squares,
    find_ends,
    measure_gaps,
    part,
    step_in_cell,
)
from nimt.engines.codes import BEST, BEST_AT, CARRY, CELL, ERROR, EUCLIDEAN, FEWER_TERMS, GOING, LANES, TOTAL, WARNED
from nimt.engines.compiled_steps.bits import bits_of
from nimt.engines.compiled_steps.discrepancy import measure_after
from nimt.engines.compiled_steps.labels import make_labels
from nimt.engines.compiled_steps.outputs import norm_of
from nimt.engines.compiled_steps.showing import keep_coefficients, show_example
from nimt.engines.compiled_steps.stopping import over, stillness

UNKNOWN = -1
AHEAD = 2  # cells that come from memory while one is computed with
ROUNDED = 1e-10  # what bounds leave for rounding, of the kernel


@part
def slot_with(top, cell, f, y, forbidden, outputs, norm):
    """The first slot of a cell whose score is `top`; slots of a cell are in the order of the pool."""
    q = len(outputs)
    for lane in range(CELL):
        slot = cell * CELL + lane
        first = slot // LANES * LANES * q + slot % LANES
        size = abs(f[first] - y[first])
        if q > 1:
            size = 0.0
            for o in range(q):
                size = norm_of(f[first + o * LANES] - y[first + o * LANES], size, len(norm))
            if len(norm) == EUCLIDEAN:
                size = np.sqrt(size)
        bits = bits_of(size)
        if forbidden is not None:
            bits |= forbidden[slot]
        if bits == top:
            return slot
    return cell * CELL


@part
def best_slot(order, tops, group_tops, winner, cells, f, y, forbidden, outputs, norm):
    """The slot with the largest score of all, of equal ones that with the lowest index in the pool."""
    top = group_tops[0]
    for g in range(group_tops.size):
        top = max(top, group_tops[g])
    best = np.int64(-1)
    for g in range(group_tops.size):
        if group_tops[g] != top:
            continue
        for cell in range(g * CELL, min(g * CELL + CELL, cells)):
            if tops[cell] != top:
                continue
            if winner[cell] == UNKNOWN:
                winner[cell] = slot_with(top, cell, f, y, forbidden, outputs, norm)
            if best < 0 or order[winner[cell]] < order[best]:
                best = np.int64(winner[cell])
    return best


@part
def take_in(cell, cells, room, forbidden, f, y, until):
    """Take the steps that wait for a cell, up to the `until`th of them; return its largest f - y and y - f.

    K is computed once for all of them that show the same point. All distances come first, then all values of K, then
    all steps: so the processor seldom has to guess what is next.
    """
    begin, most = room.begun[cell], room.moves.size
    first, d = cell * CELL, room.centre.size
    waiting, earliest, columns, parts = room.waiting, room.earliest, room.columns, room.parts
    if begin == 0:
        room.squares[cell] = find_ends(f, y, first, None)[2]
    square = room.squares[cell]
    for k in range(begin, until):
        room.column_of[earliest[waiting[cell * most + k]]] = UNKNOWN
    filled = np.int64(0)
    for k in range(begin, until):
        j = waiting[cell * most + k]
        shown = earliest[j]
        if room.column_of[shown] == UNKNOWN:
            room.column_of[shown] = filled
            room.least[filled] = fill_squares(
                cells.points, first * d, CELL, room.centres, j * d, d, columns, filled * CELL, CELL
            )
            filled += 1
        column = room.column_of[shown]
        room.places[k] = column * CELL
        room.factors[k] = room.moves[j] if room.least[column] <= cells.reach else 0.0
    sort_by_terms(room.least, filled, room.counts, room.sorted)
    for i in range(filled):
        column = room.sorted[i]
        apply_formula(cells.form, cells.numbers, room.least[column], columns, column * CELL, CELL)
    padding = max(0, first + CELL - room.pool_size)
    for column in range(filled if padding > 0 else 0):
        columns[(column + 1) * CELL - padding : (column + 1) * CELL] = 0.0
    add_to_cell(f, y, first, columns, room.places, room.factors, begin, until, parts)
    for k in range(begin, until):
        now = parts[k]
        parts[k] = now - square
        square = now
    room.squares[cell] = square
    high, low, _ = find_ends(f, y, first, forbidden)
    return high, low


@part
def sort_by_terms(least, size, counts, result):
    """Write the places of least[:size] to `result`, those first whose powers need most terms."""
    counts[:] = 0
    for i in range(size):
        counts[count_passed(least[i]) + 1] += 1
    for level in range(1, counts.size):
        counts[level] += counts[level - 1]
    for i in range(size):
        level = count_passed(least[i])
        result[counts[level]] = i
        counts[level] += 1


@part
def count_passed(square):
    """How many of FEWER_TERMS are not above a squared distance."""
    passed = np.int64(0)
    for limit in FEWER_TERMS:
        passed += square >= limit
    return passed


@part
def let_wait(step, slot, cells, bounds, room, marks):
    """Let a step wait for the cells that it reaches, change their bounds, and mark their groups."""
    reached, waiting, most = room.reached, room.waiting, room.moves.size
    near, high, low, centre = room.near, room.high, room.low, room.centre
    d, groups, count = centre.size, marks.size, reached.size
    padded = -(-groups // LANES) * LANES
    more, less = abs(room.moves[step]) * (1.0 + ROUNDED), abs(room.moves[step]) * (1.0 - ROUNDED)
    grows, shrinks = (bounds.over, bounds.under) if room.moves[step] > 0.0 else (bounds.under, bounds.over)
    for i in range(d):
        centre[i] = cells.points[(slot // CELL * d + i) * CELL + slot % CELL]
        room.centres[step * d + i] = centre[i]
    room.slots[step], room.earliest[step] = slot, step
    for j in range(step):
        if room.slots[j] == slot:
            room.earliest[step] = j
            break
    for row in range(0, groups, LANES):
        measure_gaps(cells.group_boxes, row, padded, centre, near, None, CELL)
        for g in range(row, min(row + LANES, groups)):
            if near[CELL + g - row] > cells.reach:
                continue
            for lane in range(0, CELL, LANES):
                measure_gaps(cells.boxes, g * 2 * d * CELL + lane, CELL, centre, near, low, lane)
            first, least = g * CELL, np.inf
            length = min(CELL, count - first)
            for k in range(CELL):
                high[k] = near[k]
                least = near[k] if near[k] < least else least
            apply_formula(cells.form, cells.numbers, least, high, 0, CELL)
            apply_formula(cells.form, cells.numbers, least, low, 0, CELL)
            grown, shrunk = grows[first : first + length], shrinks[first : first + length]
            top = bounds.largest[first : first + length]
            for k in range(length):
                grown[k] += more * high[k] + room.slack if near[k] <= cells.reach else 0.0
                shrunk[k] += room.slack - less * low[k] if near[k] <= cells.reach else 0.0
                top[k] = (grown[k] if grown[k] > shrunk[k] else shrunk[k]) + 0.0
            for k in range(length):
                if near[k] <= cells.reach:
                    waiting[(first + k) * most + reached[first + k]] = step
                    reached[first + k] += 1
            marks[g] = True


@part
def fetch_cell(cell, points, d, f, y, q):
    """Let the coordinates and the values of a cell come from memory."""
    for at in range(cell * d * CELL, (cell + 1) * d * CELL, LANES):
        fetch(points, at)
    for at in range(cell * q * CELL, (cell + 1) * q * CELL, LANES):
        fetch(f, at)
        fetch(y, at)


@compiled
def by_cells(
    where, order, n, at, m, making, forbidden, height, values, loss, loss_delta, outputs, norm, tops, group_tops,
    winner, room, sums, rules, batch,
):  # fmt: skip
    """Teach one greedy example per step among n points; returns the steps taken and the outcome.

    `where` holds the cells; `room` is to compute in, of which `gaps` is for a group and a row.
    """
    centre, weights, gaps, moves, change = room
    rates, _, watch, out_index, out_label, out_m, _ = batch
    f, y, _, _, shown = values
    q = len(outputs)
    points, reach = where.points, where.reach
    d = centre.size
    cells = order.size // CELL
    groups = group_tops.size
    padded = -(-groups // LANES) * LANES
    reached = np.empty(CELL + 1, dtype=np.int64)
    state = GOING
    taken = 0
    rule = (rules[0], rules[1], rules[2], rules[3], rules[4], rules[5], rules[6])  # an array would be read again
    total, carry, error = sums[TOTAL], sums[CARRY], sums[ERROR]
    best, best_at = watch[BEST], watch[BEST_AT]
    for t in range(rates.size):
        step = at + t
        state, best, best_at = over(step, m, rule, best, best_at)
        if state != GOING:
            break

        # the teacher
        slot = best_slot(order, tops, group_tops, winner, cells, f, y, forbidden, outputs, norm)
        if making is not None:
            out_index[t, 0] = slot
            make_labels(making, out_index[t], f, y, step, out_label[t])
        out_index[t, 0] = order[slot]
        own = np.uint64(slot // LANES * (LANES * q) + slot % LANES)
        largest = show_example(
            t, 0, own, LANES, rates[t], making is not None, loss, (loss_delta, 0.0), height, 0.0, values, batch, moves,
            outputs,
        )  # fmt: skip
        state = stillness(largest, m, rule)
        if state != GOING:
            break

        # the learner
        keep_coefficients(t, own, LANES, values, batch, moves, outputs)
        shown[slot] = True
        for i in range(d):
            centre[i] = points[(slot // CELL * d + i) * CELL + slot % CELL]
        for lane in range(LANES):
            change[lane] = 0.0
        for row in range(0, groups, LANES):
            measure_gaps(where.group_boxes, row, padded, centre, gaps, None, CELL)
            for g in range(row, min(row + LANES, groups)):
                if gaps[CELL + g - row] > reach:
                    continue
                for lane in range(0, CELL, LANES):
                    measure_gaps(where.boxes, g * 2 * d * CELL + lane, CELL, centre, gaps, None, lane)
                count = np.int64(0)
                for cell in range(g * CELL, min(g * CELL + CELL, cells)):
                    reached[count] = cell
                    count += gaps[cell - g * CELL] <= reach
                for k in range(min(AHEAD, count)):
                    fetch_cell(reached[k], points, d, f, y, q)
                for k in range(count):
                    cell = reached[k]
                    if k + AHEAD < count:
                        fetch_cell(reached[k + AHEAD], points, d, f, y, q)
                    least = fill_squares(points, cell * d * CELL, CELL, centre, 0, d, weights, 0, CELL)
                    if least > reach:
                        continue
                    apply_formula(where.form, where.numbers, least, weights, 0, CELL)
                    if cell == cells - 1:
                        for lane in range(n - cell * CELL, CELL):  # padding
                            weights[lane] = 0.0
                    tops[cell] = step_in_cell(f, y, cell, weights, moves, change, forbidden, outputs, norm)
                    winner[cell] = UNKNOWN
                top = tops[g * CELL]
                for cell in range(g * CELL, g * CELL + CELL):
                    top = max(top, tops[cell])
                group_tops[g] = top

        added = 0.0
        for lane in range(LANES):
            added += change[lane]
        m, total, carry, error = measure_after(added, largest, m, total, carry, error, rule, f, y)
        out_m[t] = m
        taken = t + 1
        if making is not None and making[1][WARNED] == 1.0:  # only Python can warn: return to it after this step
            break
    sums[TOTAL], sums[CARRY], sums[ERROR] = total, carry, error
    watch[BEST], watch[BEST_AT] = best, best_at
    return taken, state
