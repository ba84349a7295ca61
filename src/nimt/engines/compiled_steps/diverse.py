"""Diverse packs: `teachers.greedy.diverse_pack`.

Points are chosen one by one, each as if the errors at those before were corrected. They are in the order of the pool,
and every block of TILE points keeps its largest error, which is searched again only where it fell.
"""

from __future__ import annotations

import numpy as np

from nimt.engines.caching import part
from nimt.engines.compiled_steps.codes import TILE

TAKEN = -2.0  # the size of an error at a point that was chosen; -1 at a point that may not be


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
def diverse_into(diverse, f, y, score, out):
    """Write the points of a diverse pack, ascending."""
    on_grid, grid, lists, height, sizes, tops, reach, offsets, near, near_weight = diverse
    left, size, bits = sizes
    top_size, top_bits, top_slot = tops
    shape, strides, _, _, _, here, lead, first, start, window = grid
    begin, members, weights = lists
    d = shape.size
    for s in range(f.size):
        left[s] = f[s] - y[s]
        size[s] = -1.0 if score[s] < 0.0 else abs(left[s])
    for block in range(top_size.size):
        search_block(block, bits, top_bits, top_slot)
    for _ in range(out.size):
        top = top_bits[0]
        for block in range(top_bits.size):
            top = max(top, top_bits[block])
        best = np.uint64(0)
        while top_bits[best] != top:
            best += np.uint64(1)
        index = top_slot[best]
        coefficient = left[index] / height
        size[index] = TAKEN

        # the points that it corrects, counted from `origin`
        low, origin = np.uint64(0), np.int64(0)
        if on_grid:
            last = index
            inside = True
            for i in range(d - 1):
                here[i] = last // strides[i]
                last -= here[i] * strides[i]
                inside = inside and reach[i] <= here[i] < shape[i] - reach[i]
            if inside and reach[d - 1] <= last < shape[d - 1] - reach[d - 1]:
                cells, cell_weights, high, origin = offsets, window, np.uint64(offsets.size), index
            else:
                cells, cell_weights, high = near, near_weight, np.uint64(0)
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
                            near[high] = base + x
                            near_weight[high] = window[np.uint64(offset + x)]
                            high += np.uint64(1)
        else:
            cells, cell_weights = members, weights
            low, high = np.uint64(begin[index]), np.uint64(begin[index + 1])

        for p in range(low, high):
            s = np.uint64(origin + cells[p])
            left[s] -= coefficient * cell_weights[p]
            if size[s] < 0.0:
                continue
            now = abs(left[s])
            size[s] = now
            block = s // np.uint64(TILE)
            if now >= top_size[block]:
                if now > top_size[block] or np.int64(s) < top_slot[block]:
                    top_size[block] = now
                    top_slot[block] = s
            elif np.int64(s) == top_slot[block]:
                search_block(block, bits, top_bits, top_slot)
        search_block(best, bits, top_bits, top_slot)
    s = j = np.uint64(0)
    while j < np.uint64(out.size):
        out[j] = s
        j += np.uint64(size[s] == TAKEN)
        s += np.uint64(1)
