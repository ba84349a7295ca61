"""A kernel's window and a grid in tiles: where a tile reads the window, and how much a step can change in it."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.engines.codes import LANES, TILE
from nimt.operators.grid import GridOperator, tile_sides

Whole = NDArray[np.int64]

ROUNDED = 1e-10  # what bounds leave for rounding, of the kernel


class Tiles(NamedTuple):
    """The tiles of a grid and the window that is laid over them, for compiled code.

    Attributes
    ----------
    shape, strides : array (d,) of int
        Of the grid.
    sides, counts : array (d,) of int
        The cells of a tile along each axis, and the tiles.
    window : array (cells of the box,)
        K over a box around the centre, zero beyond the kernel's reach.
    steps : array (d,) of int
        How far apart neighbours of the box are in `window`.
    places : array (tiles,) of int
        Where each tile reads the window of an example at cell 0; `row_places` (FAN,) is added for its rows.
    widths : array (tiles FAN,) of int
        How many cells of each row are on the grid; `whole` (tiles,) says of which tiles all are.
    ends : array (d,) of int
        How many tiles the window reaches along each axis; `around` (lines, d - 1) has the offsets of lines of tiles.
    high, low : array
        The largest and the smallest K of a tile, by the place of the example in its own tile and by the tile's offset
        from that one.
    """

    shape: Whole
    strides: Whole
    sides: Whole
    counts: Whole
    window: Array
    steps: Whole
    places: Whole
    row_places: Whole
    widths: Whole
    whole: NDArray[np.bool_]
    ends: Whole
    around: Whole
    high: Array
    low: Array


class TileBounds(NamedTuple):
    """What the errors of each tile do not exceed, and for each group of tiles the largest of them.

    Attributes
    ----------
    over, under, largest : array (tiles,)
        Of f - y, of y - f, and the larger of both; `bits` are those of `largest`.
    group_bits : array (groups,) of int
    """

    over: Array
    under: Array
    largest: Array
    bits: Whole
    group_bits: Whole


class Waiting(NamedTuple):
    """The steps that wait for tiles.

    Attributes
    ----------
    reached, begun : array (tiles,) of int
        How many steps reached a tile since all were taken, and how many of these it took.
    waiting : array (tiles WAITING,) of int
        Which.
    parts : array (WAITING,)
        What each step that a tile took at last added to the sum of squares in it.
    change : array (WAITING,)
        What each step added in all tiles that took it.
    moves, centres : array (WAITING,)
        What each step adds, and where its centre is in the window.
    before : array (slots,)
        f before these steps.
    here : array (d,) of int
        Room to compute in.
    """

    reached: Whole
    begun: Whole
    waiting: NDArray[np.uint8]
    parts: Array
    change: Array
    moves: Array
    centres: Whole
    before: Array
    here: Whole


def count_bytes(operator: GridOperator) -> int:
    """Return the bytes that steps that wait need, and of the window as a box with its largest and smallest values."""
    sides = tile_sides(operator.grid.shape, TILE, LANES)
    box = np.prod([2 * (reach + side) + 1 for reach, side in zip(operator.reach, sides, strict=True)])
    return 24 * int(box) + 10 * len(operator.grid)


def lay_out_window(operator: GridOperator) -> Tiles:
    """Return the tiles of an operator's grid, and its window over them."""
    shape = operator.grid.shape
    sides = tile_sides(shape, TILE, LANES)
    counts = [-(-length // side) for length, side in zip(shape, sides, strict=True)]
    margin = [reach + side for reach, side in zip(operator.reach, sides, strict=True)]
    box = _box_of(operator, margin)
    steps = np.array(box.strides) // box.itemsize
    within = np.stack(np.unravel_index(np.arange(0, TILE, LANES), sides), axis=1)
    corners = np.stack(np.unravel_index(np.arange(np.prod(counts)), counts), axis=1) * sides
    cells = corners[:, np.newaxis] + within
    on_grid = np.all(cells[:, :, :-1] < shape[:-1], axis=2)
    widths = np.where(on_grid, np.clip(shape[-1] - cells[:, :, -1], 0, LANES), 0)
    ends = [-(-side // size) for side, size in zip(margin, sides, strict=True)]
    high, low = (_by_tiles(box, sides, margin, ends, choose) for choose in (np.maximum, np.minimum))
    lines = list(product(*(range(-end, end + 1) for end in ends[:-1])))
    strides = np.append(np.cumprod(shape[:0:-1])[::-1], 1)
    of_grid = (np.array(shape, dtype=np.int64), strides.astype(np.int64), np.array(sides), np.array(counts))
    reading = (box.reshape(-1), steps, (corners + margin) @ steps, within @ steps)
    whole = np.all(widths == LANES, axis=1)
    around = np.array(lines, dtype=np.int64).reshape(len(lines), -1)
    limits = (high + ROUNDED * np.abs(high), low - ROUNDED * np.abs(low))
    return Tiles(*of_grid, *reading, widths.reshape(-1).astype(np.int64), whole, np.array(ends), around, *limits)


def _box_of(operator: GridOperator, margin: list[int]) -> Array:
    """Return the window in a box with so many offsets on each side of every axis."""
    box = np.zeros([2 * side + 1 for side in margin])
    for run in range(len(operator.first)):
        row = tuple(operator.lead[run] + margin[:-1])
        begin, end = operator.start[run], operator.start[run + 1]
        first = margin[-1] + operator.first[run]
        box[row][first : first + end - begin] = operator.weights[begin:end]
    return box


def _by_tiles(box: Array, sides: tuple[int, ...], margin: list[int], ends: list[int], choose: np.ufunc) -> Array:
    """Return the extreme of the box over a tile, by where the centre is in its tile and by the offset of tiles."""
    for axis, (side, edge, end) in enumerate(zip(sides, margin, ends, strict=True)):
        before, behind = side * (end + 1) - edge, side * (end + 2) - edge
        widths = [(0, 0)] * box.ndim
        widths[axis] = (before, behind)
        box = np.pad(box, widths)
        shift = 1
        while shift < side:  # the extreme of twice as many cells
            ahead = np.take(box, np.minimum(np.arange(box.shape[axis]) + shift, box.shape[axis] - 1), axis)
            box = choose(box, ahead)
            shift *= 2
        box = np.take(box, np.arange(1, 1 + side * (2 * end + 1)), axis)  # from side (-end) - (side - 1) on
    split = box.reshape([size for side, end in zip(sides, ends, strict=True) for size in (2 * end + 1, side)])
    axes = [*range(1, split.ndim, 2), *range(0, split.ndim, 2)]
    turned = split.transpose(axes)[tuple(slice(None, None, -1) for _ in sides)]  # by the place itself
    return np.ascontiguousarray(turned).reshape(-1)
