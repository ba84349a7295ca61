"""Diverse packs: `teachers.greedy.diverse_pack`.

Points are chosen one by one, each as if the errors at those before were corrected. They are in the order of the pool.
Errors above a *floor*, somewhat below the smallest that was chosen at the step before, are kept in lists by size, so
that the largest is in the highest list that is not empty. A correction that makes an error larger puts its point into
another list at once; one that makes it smaller does so when the point's turn comes. Where a list is long, because many
errors are nearly equal, the rest is chosen from blocks of TILE points, which keep their largest error.
"""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import part
from nimt.engines.codes import TILE
from nimt.engines.compiled_steps.bits import bits_of, number_with

LISTS = 1024
SIZE = np.int64(2**63 - 1)  # all bits of a number but its sign
LONG = 64  # points of a list that is searched as a whole for every choice
LARGE = 1e200  # errors above it could overflow when they are corrected
ONE = np.uint64(1)
BITS = np.uint64(
    0x03F79D71B4CB0A89
)  # of any 6 of its bits in sequence no two are equal: so a product tells a bit's place
BIT = np.zeros(64, dtype=np.int64)
for place in range(64):
    BIT[((int(BITS) << place) & (2**64 - 1)) >> 58] = place
FREE, TAKEN, NEVER = -1, -2, -3  # in `before`, of a point that is in no list; NEVER where it may not be shown
HEAD = -10  # in `before`, of the first point of list b: HEAD - b


@part
def diverse_into(diverse, guess, f, y, score, out):
    """Write the points of a diverse pack, ascending; guess[0] is the smallest error of the pack before, as bits."""
    (left, _, _), (_, before, _, marks) = diverse[4], diverse[6]
    left_bits, may_not = left.view(np.int64), score.view(np.int64)
    top = np.int64(-1)  # as bits, in a loop without branches: maxima of floats would not be vectorised
    for s in range(f.size):
        left[s] = f[s] - y[s]
        top = max(top, (left_bits[s] & SIZE) | (may_not[s] >> 63))
        before[s] = NEVER if may_not[s] < 0 else FREE
    marks[:] = 0
    chosen = choose_from_lists(diverse, guess, number_with(top), out.size)
    if chosen < out.size:
        choose_from_blocks(diverse, out.size - chosen)
    j = 0
    for block in range(marks.size):
        word = marks[block]
        while word:
            lowest = word & (~word + ONE)
            out[j] = block * TILE + BIT[(lowest * BITS) >> np.uint64(58)]
            word ^= lowest
            j += 1


@part
def take(s, before, marks):
    """Mark a point as chosen."""
    before[s] = TAKEN
    marks[s // TILE] |= ONE << np.uint64(s % TILE)


@part
def find_near_edge(diverse, index):
    """Write the cells that an example at `index` corrects, and their weights, where the window crosses an edge."""
    grid, near, near_weight = diverse[1], diverse[9], diverse[10]
    shape, strides, _, _, _, here, lead, first, start, window = grid
    d = shape.size
    last = index
    for i in range(d - 1):
        here[i] = last // strides[i]
        last -= here[i] * strides[i]
    found = 0
    for r in range(first.size):
        base = 0
        inside = True
        for i in range(d - 1):
            x = here[i] + lead[r, i]
            inside = inside and 0 <= x < shape[i]
            base += x * strides[i]
        offset = start[r] - (last + first[r])
        if inside:
            for x in range(max(last + first[r], 0), min(start[r + 1] - offset, shape[d - 1])):
                near[found] = base + x
                near_weight[found] = window[np.uint64(offset + x)]
                found += 1
    return found


@part
def list_of(size, floor, scale):
    """The list of an error above the floor: a larger error is never in a lower list."""
    return min(np.int64((size - floor) * scale), LISTS - 1)


@part
def put_into(b, s, links):
    after, before, heads, _ = links
    follower = heads[b]
    after[s] = follower
    if follower >= 0:
        before[follower] = s
    before[s] = HEAD - b
    heads[b] = s


@part
def take_out(s, links):
    after, before, heads, _ = links
    leader, follower = before[s], after[s]
    if leader <= HEAD:
        heads[HEAD - leader] = follower
    else:
        after[leader] = follower
    if follower >= 0:
        before[follower] = leader


@part
def fill_lists(floor, ceiling, scale, left, links):
    """Put the free points between two sizes into lists."""
    before = links[1]
    for s in range(left.size):
        size = abs(left[s])
        if floor < size <= ceiling and before[s] == FREE:
            put_into(list_of(size, floor, scale), s, links)


@part
def correct_lists(cells, weights, low, high, origin, by, left, links):
    """Correct the errors at cells[low:high], counted from `origin`; returns the highest list to look at."""
    coefficient, floor, scale, b = by
    before = links[1]
    for p in range(np.uint64(low), np.uint64(high)):
        s = np.uint64(origin + cells[p])
        was = abs(left[s])
        left[s] -= coefficient * weights[p]
        size = abs(left[s])
        if size > was and size > floor and before[s] != TAKEN and before[s] != NEVER:
            if before[s] != FREE:
                take_out(s, links)
            its = list_of(size, floor, scale)
            put_into(its, s, links)
            b = max(b, its)
    return b


@part
def choose_from_lists(diverse, guess, top, count):
    """Choose `count` points, or fewer where a list is long; returns how many. `top` is the largest error."""
    on_grid, grid, (begin, members, weights), height, (left, _, _), _, links, inner = diverse[:8]
    window, (offsets, near, near_weight) = grid[9], diverse[8:]
    after, before, heads, marks = links
    if not 0.0 < top < LARGE:
        return 0
    heads[:] = -1
    floor = number_with(guess[0]) * (1.0 - 1.0 / 32.0)
    floor = floor if floor < top else 0.0
    scale = LISTS / (top - floor)
    fill_lists(floor, np.inf, scale, left, links)
    b = LISTS - 1
    smallest = top
    for chosen in range(count):
        best, best_size = -1, -1.0
        while best < 0:
            while b >= 0 and heads[b] < 0:
                b -= 1
            if b < 0:
                if floor == 0.0:
                    return chosen  # all others are zero
                ceiling, floor, b = floor, 0.0, LISTS - 1
                scale = LISTS / ceiling
                fill_lists(floor, ceiling, scale, left, links)
                continue
            s, length = heads[b], 0
            while s >= 0:
                follower = after[s]
                size = abs(left[s])
                its = list_of(size, floor, scale) if size > floor else -1
                if its != b:
                    take_out(s, links)
                    before[s] = FREE
                    if its >= 0:
                        put_into(its, s, links)
                else:
                    length += 1
                    if size > best_size or (size == best_size and s < best):
                        best, best_size = s, size
                s = follower
            if length > LONG:
                return chosen
        take_out(best, links)
        take(best, before, marks)
        smallest = min(smallest, best_size)
        by = left[best] / height, floor, scale, b
        if inner[best]:
            b = correct_lists(offsets, window, 0, offsets.size, best, by, left, links)
        elif on_grid:
            b = correct_lists(near, near_weight, 0, find_near_edge(diverse, np.int64(best)), 0, by, left, links)
        else:
            b = correct_lists(members, weights, begin[best], begin[best + 1], 0, by, left, links)
    guess[0] = bits_of(smallest)
    return count


@part
def search_block(block, bits, top_bits, top_slot):
    s = np.uint64(block) * np.uint64(TILE)
    top = bits[s]
    for v in range(TILE):
        top = max(top, bits[s + np.uint64(v)])
    while bits[s] != top:
        s += np.uint64(1)
    top_bits[block], top_slot[block] = top, s


@part
def correct_blocks(cells, weights, low, high, origin, coefficient, sizes, tops):
    """Correct the errors at cells[low:high], counted from `origin`."""
    left, size, bits = sizes
    top_bits, top_slot = tops
    for p in range(np.uint64(low), np.uint64(high)):
        s = np.uint64(origin + cells[p])
        left[s] -= coefficient * weights[p]
        if size[s] < 0.0:
            continue
        size[s] = abs(left[s])
        now = bits[s]  # as bits, so that NaN is the largest
        block = s // np.uint64(TILE)
        if now >= top_bits[block]:
            if now > top_bits[block] or np.int64(s) < top_slot[block]:
                top_bits[block] = now
                top_slot[block] = s
        elif np.int64(s) == top_slot[block]:
            search_block(block, bits, top_bits, top_slot)


@part
def choose_from_blocks(diverse, count):
    """Choose `count` points of those that are not taken yet; a block is searched again only where its largest fell."""
    on_grid, grid, (begin, members, weights), height, sizes, tops, (_, before, _, marks), inner = diverse[:8]
    window, (offsets, near, near_weight) = grid[9], diverse[8:]
    left, size, bits = sizes
    top_bits, top_slot = tops
    for s in range(left.size):
        size[s] = -1.0 if before[s] == TAKEN or before[s] == NEVER else abs(left[s])
    for block in range(top_bits.size):
        search_block(block, bits, top_bits, top_slot)
    for _ in range(count):
        top = top_bits[0]
        for block in range(top_bits.size):
            top = max(top, top_bits[block])
        best = np.uint64(0)
        while top_bits[best] != top:
            best += np.uint64(1)
        index = top_slot[best]
        coefficient = left[index] / height
        size[index] = -1.0
        take(index, before, marks)
        if inner[index]:
            correct_blocks(offsets, window, 0, offsets.size, index, coefficient, sizes, tops)
        elif on_grid:
            correct_blocks(near, near_weight, 0, find_near_edge(diverse, index), 0, coefficient, sizes, tops)
        else:
            correct_blocks(members, weights, begin[index], begin[index + 1], 0, coefficient, sizes, tops)
        search_block(best, bits, top_bits, top_slot)
