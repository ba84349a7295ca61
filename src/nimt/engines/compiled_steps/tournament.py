"""The tournament that finds the largest score.

Leaves are tiles; a node is the best of FAN children, which lie side by side in memory, so that a match reads one line
of cache. node_bits holds the winning score of each node and node_tile its tile, level after level from the leaves up;
every level is padded to a multiple of FAN with scores that never win; several copies have a tree each, with spare
leaves. Ties go to the lowest index in the pool.
"""

from __future__ import annotations

from nimt.engines._numba.chosen import compiled, part
from nimt.engines.codes import FAN, NO_SCORE, TILE
from nimt.engines.compiled_steps.outputs import number_of


@part
def play_off(first, node_bits, node_tile, best_slot, order):
    """The best of the FAN nodes from `first` on: its score and its tile."""
    top = node_bits[first]
    tile = node_tile[first]
    for q in range(1, FAN):
        bits = node_bits[first + q]
        if bits > top:
            top = bits
            tile = node_tile[first + q]
        elif bits == top and top != NO_SCORE and order[best_slot[node_tile[first + q]]] < order[best_slot[tile]]:
            tile = node_tile[first + q]
    return top, tile


@part
def spare_leaves(slots, levels, copies):
    """How many leaves of a copy have no tile: with several copies each has a tree of its own, filled to the end."""
    return (levels[1] - slots // TILE) // number_of(copies) if len(copies) > 1 else 0


@compiled
def build_tournament(bits, best_slot, order, levels, node_bits, node_tile, copies):
    node_bits[:] = NO_SCORE
    tiles = bits.size // TILE
    spare = spare_leaves(bits.size, levels, copies)
    for tile in range(tiles):
        slot = tile * TILE
        top = bits[slot]
        for s in range(tile * TILE, tile * TILE + TILE):
            if bits[s] > top:
                top = bits[s]
                slot = s
        leaf = tile + tile // (tiles // number_of(copies)) * spare
        best_slot[leaf] = slot
        node_bits[leaf] = top
        node_tile[leaf] = leaf
    for level in range(1, levels.size - 1):
        for node in range((levels[level] - levels[level - 1]) // FAN):
            top, tile = play_off(levels[level - 1] + FAN * node, node_bits, node_tile, best_slot, order)
            node_bits[levels[level] + node] = top
            node_tile[levels[level] + node] = tile
