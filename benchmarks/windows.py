"""What one greedy step costs, by the number of cells in the kernel's window."""

from __future__ import annotations

import nimt
from benchmarks import bounds
from benchmarks.results import picture
from benchmarks.teachers import per_step
from nimt.operators.grid import GridOperator

NARROW = (0.1, 0.2, 0.35, 0.5)  # widths, whose windows have 1, 5, 13 and 29 cells


def windows(bench):
    for side, width, goal in ((28, 0.5, 0.3), (92, 0.5, 0.3), (92, 2.0, 2)):
        image = picture(side)
        widths = NARROW if width == NARROW[-1] else (width,)
        costs = [per_step(nimt.GreedyTeacher(), image, 20_000, repeat=30, width=w) for w in widths]
        _, loop = per_step(nimt.GreedyTeacher(), image, 500, engine="reference", repeat=1, width=width)
        note = ", ".join(f"{cells(w, image)} cells: {cost:.3f} us" for w, (cost, _) in zip(widths, costs, strict=True))
        cost, lesson = costs[-1]
        bench.row(f"GFT-1, {side}x{side}, width {width:g}, one step", f"<= {goal} us", cost, note=note, lesson=lesson,
                  curve=loop.discrepancy, bound=bounds.passes(cells(width, image)))  # fmt: skip


def cells(width, image):
    return GridOperator(nimt.rbf(width), nimt.Grid.like(image)).cells
