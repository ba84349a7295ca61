"""A lesson by blocks as plain loops over one array of all points, written from its description."""

from __future__ import annotations

import itertools
import math

import numpy as np

SMALLEST = 1e-17  # of K(0): what a kernel adds below it is left out
NEAREST = 0.98


def cut_axis(length: int, count: int) -> list[tuple[int, int]]:
    return [(i * length // count, (i + 1) * length // count) for i in range(count)]


def teach_by_loops(y, points, owners, colours, kernel, rate, *, tol, share, cut):
    """Return the indices shown, in order, and f; `owners` are the points of each block, M is the root mean square."""
    f = np.zeros(len(y))
    height = float(kernel(points[:1], points[:1])[0, 0])
    shown: list[int] = []

    def error(i: int) -> float:
        return abs(f[i] - y[i])

    def best(block: int) -> int:
        return max(owners[block], key=lambda i: (error(i), -i))

    def push(block: int) -> float:
        return 2.0 * error(best(block)) * height

    def square() -> float:
        return math.fsum((f - y) ** 2)

    goal = tol * tol * len(y)
    tops = [push(block) for block in range(len(owners))]
    while square() >= goal:
        level = max(share, min(NEAREST, math.sqrt(goal / square()))) * max(tops)
        for colour in colours:
            before = square()
            if before < goal:
                break
            for block in colour:
                start = square()  # blocks of one colour do not touch, so that it does not matter who is first
                while push(block) > level and start - square() <= before - goal:
                    i = best(block)
                    move = -rate * 2.0 * (f[i] - y[i])
                    column = kernel(points, points[i : i + 1])[:, 0]
                    f += move * np.where(np.abs(column) >= cut * height, column, 0.0)
                    shown.append(i)
                tops[block] = push(block)
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
