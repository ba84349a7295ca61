"""Lessons of one greedy example per step, with a kernel that reaches many points.

A step changes most of these points little, so few of them can have the largest |f - y| after it. The pool is cut into
*tiles*: of a grid, or cells of scattered points. Every tile has bounds of the largest f - y and y - f in it. A step
changes the bounds of the tiles that it reaches, and *waits* for the tiles; a tile takes the steps that wait for it when
its bound is the largest of all, and when as many steps wait as there is room for. So the example chosen is the same as
if every tile took every step at once, and so are the values: every tile takes its steps in their order.

The sum of squares after each step is known when all tiles have taken it. So the rules that end a lesson are asked after
the steps were chosen, and the steps behind the end are taken back.
"""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import compiled, part
from nimt.engines.codes import BEST, BEST_AT, CARRY, ERROR, GOING, GROUP, SCALE, TILE, TOTAL
from nimt.engines.compiled_steps import cell_steps, tile_steps
from nimt.engines.compiled_steps.bits import bits_of
from nimt.engines.compiled_steps.discrepancy import SMALLEST_SQUARE, change_sum, measure_from_square, sum_of_squares
from nimt.engines.compiled_steps.loss_slopes import slope
from nimt.engines.compiled_steps.stopping import over, stillness


@part
def catch_up(tile, tiles, cells, bounds, room, forbidden, f, y, until):
    """Take the steps that wait for a tile, up to the `until`th of them; its bounds are then exact."""
    if room.begun[tile] == 0:
        for s in range(tile * TILE, (tile + 1) * TILE):
            room.before[s] = f[s]
    high, low = 0.0, 0.0
    if tiles is not None:  # numba leaves a branch out where None is given
        high, low = tile_steps.take_in(tile, tiles, room, forbidden, f, y, until)
    if cells is not None:
        high, low = cell_steps.take_in(tile, cells, room, forbidden, f, y, until)
    for k in range(room.begun[tile], until):
        room.change[room.waiting[tile * room.moves.size + k]] += room.parts[k]
    room.begun[tile] = until
    bounds.over[tile], bounds.under[tile] = high, low
    bounds.largest[tile] = (high if high > low else low) + 0.0  # -0 would be lower than any score


@part
def renew_group(g, bounds):
    """The largest bound of a group of tiles, as bits: that of a tile without candidates is negative."""
    bits = bounds.bits
    top = bits[g * GROUP]
    for tile in range(g * GROUP, min(g * GROUP + GROUP, bits.size)):
        top = bits[tile] if bits[tile] > top else top
    bounds.group_bits[g] = top


@part
def slot_with(top, tile, order, n, forbidden, f, y):
    """The first slot of a tile whose score is `top`; the slots of a tile are in the order of the pool."""
    for slot in range(tile * TILE, tile * TILE + TILE):
        if bits_of(abs(f[slot] - y[slot])) == top and order[slot] < n and (forbidden is None or forbidden[slot] == 0):
            return slot
    return np.int64(-1)


@part
def best_slot(tiles, cells, bounds, room, order, n, forbidden, f, y):
    """The slot with the largest score of all, of equal ones that with the lowest index in the pool."""
    bits, group_bits, reached, begun = bounds.bits, bounds.group_bits, room.reached, room.begun
    while True:
        top = group_bits[0]
        for g in range(group_bits.size):
            top = group_bits[g] if group_bits[g] > top else top
        best = np.int64(-1)
        late = False
        for g in range(group_bits.size):
            if group_bits[g] != top:
                continue
            for tile in range(g * GROUP, min(g * GROUP + GROUP, bits.size)):
                if bits[tile] != top:
                    continue
                if begun[tile] < reached[tile]:
                    catch_up(tile, tiles, cells, bounds, room, forbidden, f, y, reached[tile])
                    late = True
                elif not late:
                    slot = slot_with(top, tile, order, n, forbidden, f, y)
                    if best < 0 or (slot >= 0 and order[slot] < order[best]):
                        best = slot
            if late:
                renew_group(g, bounds)
        if not late:
            return best


@part
def finish(tiles, cells, bounds, room, forbidden, f, y):
    """Let all tiles take what waits for them."""
    for tile in range(room.reached.size):
        if room.begun[tile] < room.reached[tile]:
            catch_up(tile, tiles, cells, bounds, room, forbidden, f, y, room.reached[tile])


@part
def take_back(kept, tiles, cells, bounds, room, forbidden, f, y):
    """Undo all steps that waited since the last time but the first `kept`."""
    reached, waiting, most = room.reached, room.waiting, room.moves.size
    for tile in range(reached.size):
        if reached[tile] == 0:
            continue
        until = np.int64(0)
        while until < reached[tile] and waiting[tile * most + until] < kept:
            until += 1
        if until == reached[tile]:
            continue
        for s in range(tile * TILE, (tile + 1) * TILE):
            f[s] = room.before[s]
        room.begun[tile] = 0
        catch_up(tile, tiles, cells, bounds, room, forbidden, f, y, until)


@compiled
def find_bounds(tiles, cells, bounds, room, forbidden, f, y):
    """Find the exact bounds of all tiles; no step waits."""
    room.reached[:] = 0
    for tile in range(room.reached.size):
        room.begun[tile] = 0
        catch_up(tile, tiles, cells, bounds, room, forbidden, f, y, np.int64(0))
    for g in range(bounds.group_bits.size):
        renew_group(g, bounds)


@compiled
def by_waiting(
    tiles, cells, bounds, room, order, n, at, m, forbidden, height, values, loss, loss_delta, sums, rules, batch
):  # fmt: skip
    """Teach one greedy example per step; returns the steps taken and the outcome.

    Either `tiles` of a grid or `cells` of scattered points are given, the other is None.
    """
    rates, other_label, watch, out_index, out_label, out_m, out_move = batch
    f, y, other, c, shown = values
    moves, change = room.moves, room.change
    groups = bounds.group_bits.size
    marks = np.zeros(groups, dtype=np.bool_)
    slots, sizes = np.empty(moves.size, dtype=np.int64), np.empty(moves.size)
    total, carry, error = sums[TOTAL], sums[CARRY], sums[ERROR]
    best, best_at = watch[BEST], watch[BEST_AT]
    state = GOING
    taken = 0
    most = moves.size
    while taken < rates.size:
        state, best, best_at = over(at + taken, m, rules, best, best_at)
        if state != GOING:
            break

        # the teacher, and what the learner will add
        steps = 0
        change[:] = 0.0
        while steps < min(most, rates.size - taken):
            t = taken + steps
            slot = best_slot(tiles, cells, bounds, room, order, n, forbidden, f, y)
            if slot < 0:  # only in values that are not numbers: the lesson has ended before
                break
            label = y[slot]
            if other_label[t]:
                label = other[slot]
            g = slope(loss, (loss_delta, 0.0), f[slot], label)
            sizes[steps] = abs(g) * height
            state = stillness(sizes[steps], m if steps == 0 else 1.0, rules)
            if state != GOING:  # after other steps: asked again, with the discrepancy after them
                break
            out_index[t, 0], out_label[t, 0] = order[slot], label
            moves[steps] = -rates[t] * g
            slots[steps] = slot
            if tiles is not None:
                tile_steps.let_wait(steps, np.int64(order[slot]), tiles, bounds, room, marks)
            if cells is not None:
                cell_steps.let_wait(steps, slot, cells, bounds, room, marks)
            for g in range(groups):
                if marks[g]:
                    marks[g] = False
                    renew_group(g, bounds)
            steps += 1
        if steps == 0:
            break
        state = GOING

        # the learner, and the discrepancy after each step
        finish(tiles, cells, bounds, room, forbidden, f, y)
        kept = 0
        sure = True
        while kept < steps and sure:
            if kept > 0:
                state, best, best_at = over(at + taken + kept, m, rules, best, best_at)
                if state != GOING:
                    break
            if change[kept] != 0.0 or sizes[kept] > 0.0:
                total, carry, error, sure = change_sum(change[kept], total, carry, error, rules)
                sure = sure and total + carry > SMALLEST_SQUARE  # else it is measured from f after this step
                if sure:
                    m = measure_from_square(rules[SCALE], total + carry, f, y)
            out_m[taken + kept] = m
            kept += 1
        if kept < steps:
            take_back(kept, tiles, cells, bounds, room, forbidden, f, y)
        if not sure:
            total, carry, error = sum_of_squares(f, y), 0.0, 0.0
            m = measure_from_square(rules[SCALE], total, f, y)
            out_m[taken + kept - 1] = m
        room.reached[:] = 0
        room.begun[:] = 0
        for g in range(groups):
            renew_group(g, bounds)
        for j in range(kept):
            c[slots[j]] += moves[j]
            shown[slots[j]] = True
            if taken + j < out_move.shape[0]:
                out_move[taken + j, 0] = moves[j]
        taken += kept
        most = min(2 * most, moves.size) if sure else 1  # where every step needs an exact sum, none is taken back
        if state != GOING:
            break
    sums[TOTAL], sums[CARRY], sums[ERROR] = total, carry, error
    watch[BEST], watch[BEST_AT] = best, best_at
    return taken, state
