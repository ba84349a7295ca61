"""A lesson by blocks as plain loops over one array of all points, written from its description."""

from __future__ import annotations

import itertools
import math

import numpy as np

SMALLEST = 1e-17  # of K(0): what a kernel adds below it is left out
NEAREST = 0.98


def cut_axis(length: int, count: int) -> list[tuple[int, int]]:
    return [(i * length // count, (i + 1) * length // count) for i in range(count)]


def teach_by_loops(y, points, owners, colours, kernel, rate, *, tol, share, cut, parts=None):
    """Return the indices shown, in order, and f; `owners` are the points of each block, M is the root mean square.

    `parts` are the points of each part of each block; by default a block is one part.
    """
    parts = parts or [[own] for own in owners]
    f = np.zeros(len(y))
    height = float(kernel(points[:1], points[:1])[0, 0])
    shown: list[int] = []

    def error(i: int) -> float:
        return abs(f[i] - y[i])

    def best(some: list[int]) -> int:
        return max(some, key=lambda i: (error(i), -i))

    def push(some: list[int]) -> float:
        return 2.0 * error(best(some)) * height

    def square() -> float:
        return math.fsum((f - y) ** 2)

    goal = tol * tol * len(y)
    tops = [push(own) for own in owners]
    while square() >= goal:
        level = max(share, min(NEAREST, math.sqrt(goal / square()))) * max(tops)
        for colour in colours:
            before = square()
            if before < goal:
                break
            for block in colour:
                start = square()  # blocks of one colour do not touch, so that it does not matter who is first
                for part in parts[block]:
                    while push(part) > level and start - square() <= before - goal:
                        i = best(part)
                        move = -rate * 2.0 * (f[i] - y[i])
                        column = kernel(points, points[i : i + 1])[:, 0]
                        f += move * np.where(np.abs(column) >= cut * height, column, 0.0)
                        shown.append(i)
                tops[block] = push(owners[block])
    return shown, f


def blocks_of_grid(shape, counts):
    """Return the points of each block, and the blocks of each colour."""
    numbers = np.arange(math.prod(shape)).reshape(shape)
    spans = [cut_axis(length, count) for length, count in zip(shape, counts, strict=True)]
    places = list(itertools.product(*(range(count) for count in counts)))
    owners = [
        numbers[tuple(slice(*spans[axis][part]) for axis, part in enumerate(place))].ravel().tolist()
        for place in places
    ]
    parities = sorted({tuple(part % 2 for part in place) for place in places})
    colours = [[b for b, place in enumerate(places) if tuple(p % 2 for p in place) == parity] for parity in parities]
    return owners, colours


TILE = {1: (64,), 2: (8, 8), 3: (2, 4, 8)}  # cells that lie together, by the dimension of the grid


def parts_of_grid(shape, counts, *, reach, tiles):
    """Return the points of each part of each block: what it owns of so many tiles of what it holds, in their order."""
    numbers = np.arange(math.prod(shape)).reshape(shape)
    sides = TILE[len(shape)]
    parts = []
    for place in itertools.product(*(range(count) for count in counts)):
        own = [cut_axis(length, count)[part] for length, count, part in zip(shape, counts, place, strict=True)]
        held = [
            (max(0, low - reach), min(length, high + reach)) for (low, high), length in zip(own, shape, strict=True)
        ]
        across = [-(-(high - low) // side) for (low, high), side in zip(held, sides, strict=True)]
        found: dict[int, list[int]] = {}
        for cell in itertools.product(*(range(low, high) for low, high in own)):
            tile = 0
            for x, (low, _), side, count in zip(cell, held, sides, across, strict=True):
                tile = tile * count + (x - low) // side
            found.setdefault(tile // tiles, []).append(int(numbers[cell]))
        parts.append([found[part] for part in sorted(found)])
    return parts
