"""Draws by odds: `teachers.soft.one_by_odds`.

The odds of every slot are kept, and their sums over the nodes of the tournament. A sum is always computed anew from
what it sums, so that it depends on the scores alone, not on how they came about. Here slots are in the order of the
pool, as in the reference loop.
"""

from __future__ import annotations

import math

import numpy as np

from nimt.engines._numba.chosen import compiled, part
from nimt.engines.codes import FAN, TILE
from nimt.engines.compiled_steps.scoring import is_barred


@part
def scale_above(top, constants):
    root_1, root_2, root_3, cold, smallest, largest, temperature = constants
    if temperature < cold or not smallest < top < largest:
        return top
    fraction, exponent = math.frexp(top)
    if fraction <= root_2:
        return math.ldexp(root_1 if fraction <= root_1 else root_2, exponent)
    return math.ldexp(root_3 if fraction <= root_3 else 1.0, exponent)


@part
def odds_at(score, scale, temperature):
    if is_barred(score):
        return 0.0
    if scale == 0.0:
        return 1.0
    power = (score / scale - 1.0) / temperature
    return np.exp(power) if power > -746.0 else 0.0  # below, exp is 0


@part
def sum_of_tile(odds, tile):
    s0 = s1 = s2 = s3 = 0.0
    for s in range(tile * TILE, tile * TILE + TILE, 4):
        s0 += odds[s]
        s1 += odds[s + 1]
        s2 += odds[s + 2]
        s3 += odds[s + 3]
    return (s0 + s1) + (s2 + s3)


@part
def sum_of_children(node_sum, child):
    total = 0.0
    for v in range(FAN):
        total += node_sum[child + v]
    return total


@compiled
def renew_all_odds(drawing, score, top, levels):
    constants, _, scale, odds, node_sum = drawing
    scale[0] = scale_above(top, constants)
    for s in range(odds.size):
        odds[s] = odds_at(score[s], scale[0], constants[6])
    node_sum[:] = 0.0
    for tile in range(odds.size // TILE):
        node_sum[tile] = sum_of_tile(odds, tile)
    for level in range(1, levels.size - 1):
        for node in range((levels[level] - levels[level - 1]) // FAN):
            node_sum[levels[level] + node] = sum_of_children(node_sum, levels[level - 1] + FAN * node)


@part
def renew_sums(drawing, touched, count, levels):
    """Sum up again what the touched tiles are part of."""
    _, _, _, odds, node_sum = drawing
    for j in range(count):
        node_sum[touched[j]] = sum_of_tile(odds, touched[j])
    span = 1
    for level in range(1, levels.size - 1):
        span *= FAN
        before = -1
        for j in range(count):
            node = touched[j] // span
            if node != before:
                node_sum[levels[level] + node] = sum_of_children(node_sum, levels[level - 1] + FAN * node)
            before = node


@part
def walk_to(u, first, count, sums):
    """Which of `count` numbers from `first` on contains u when they are laid end to end, and how far into it u is."""
    found, left = 0, 0.0
    for v in range(count):
        part = sums[first + v]
        if part > 0.0:
            found, left = v, u
            if u < part:
                break
            u -= part
    return found, left


@part
def draw_by_odds(drawing, score, best, levels):
    """Draw a slot; `best` is the one with the largest score."""
    constants, rng, scale, odds, node_sum = drawing
    temperature = constants[6]
    top = score[best]
    if not np.isfinite(top):  # a norm of several outputs may overflow
        return best
    if scale_above(top, constants) != scale[0]:
        renew_all_odds(drawing, score, top, levels)
    root = levels.size - 2
    while True:
        u = rng.random() * node_sum[levels[root]]
        node = 0
        for level in range(root, 0, -1):
            step, u = walk_to(u, levels[level - 1] + FAN * node, FAN, node_sum)
            node = FAN * node + step
        step, u = walk_to(u, node * TILE, TILE, odds)
        slot = node * TILE + step
        share = (score[slot] / top - 1.0) * (1.0 - top / scale[0]) / temperature if top > 0.0 else 0.0
        if rng.random() < np.exp(share):
            return slot
