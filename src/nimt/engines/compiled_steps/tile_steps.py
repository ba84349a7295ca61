"""Steps that wait for the tiles of a grid: how a tile takes them, and which tiles a step reaches."""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import part, take_in_tile
from nimt.engines.codes import FAN, GROUP, TILE


@part
def take_in(tile, tiles, room, forbidden, f, y, until):
    """Take the steps that wait for a tile, up to the `until`th of them; return its largest f - y and y - f."""
    begin, most = room.begun[tile], room.moves.size
    first = tile * TILE
    own = room.waiting[tile * most : (tile + 1) * most]
    where = (tiles.window, tiles.places[tile], tiles.row_places)
    if tiles.whole[tile]:
        return take_in_tile(
            f, y, first, *where, None, forbidden, own, begin, until, room.moves, room.centres, room.parts
        )  # fmt: skip
    sizes = tiles.widths[tile * FAN : (tile + 1) * FAN]
    return take_in_tile(
        f, y, first, *where, sizes, forbidden, own, begin, until, room.moves, room.centres, room.parts
    )  # fmt: skip


@part
def let_wait(step, index, tiles, bounds, room, marks):
    """Let a step wait for the tiles that it reaches, change their bounds, and mark their groups."""
    strides, sides, counts, ends, here = tiles.strides, tiles.sides, tiles.counts, tiles.ends, room.here
    reached, waiting, most = room.reached, room.waiting, room.moves.size
    size = abs(room.moves[step])
    grows, shrinks = (bounds.over, bounds.under) if room.moves[step] > 0.0 else (bounds.under, bounds.over)
    d = sides.size
    rest, within, centre = index, np.int64(0), np.int64(0)
    lines = np.int64(1)
    for i in range(d):
        x = rest // strides[i]
        rest -= x * strides[i]
        centre += x * tiles.steps[i]
        here[i] = x // sides[i]
        within = within * sides[i] + x % sides[i]
    for i in range(d - 1):
        lines *= 2 * ends[i] + 1
    room.centres[step] = centre
    end, across = ends[d - 1], counts[d - 1]
    width = 2 * end + 1
    lo, hi = max(here[d - 1] - end, 0), min(here[d - 1] + end + 1, across)
    for line in range(lines):
        inside = True
        first = np.int64(0)
        for i in range(d - 1):
            x = here[i] + tiles.around[line, i]
            if x < 0 or x >= counts[i]:
                inside = False
                break
            first = first * counts[i] + x
        if not inside:
            continue
        table = (within * lines + line) * width + (lo - here[d - 1] + end)
        length = hi - lo
        high, low = tiles.high[table : table + length], tiles.low[table : table + length]
        first = first * across + lo
        grown, shrunk = grows[first : first + length], shrinks[first : first + length]
        top = bounds.largest[first : first + length]
        for k in range(length):
            grown[k] += size * high[k]
            shrunk[k] -= size * low[k]
            top[k] = (grown[k] if grown[k] > shrunk[k] else shrunk[k]) + 0.0
        for k in range(length):
            if high[k] != 0.0 or low[k] != 0.0:
                tile = first + k
                waiting[tile * most + reached[tile]] = step
                reached[tile] += 1
        for g in range(first // GROUP, (first + length - 1) // GROUP + 1):
            marks[g] = True
