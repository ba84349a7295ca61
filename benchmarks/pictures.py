"""Greedy and random teaching on pictures and in one dimension, against dense NumPy and a torch loop."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

import nimt
from benchmarks import baselines, bounds
from benchmarks.results import RATE, ours, picture, timed
from benchmarks.together import busy, lesson_on


def on_pictures(bench):
    for side, goal in ((28, 8), (92, 25)):
        image = picture(side)
        grid, steps = nimt.Grid.like(image), 60_000
        gram = nimt.rbf(0.5)(grid.points)
        theirs, curve = timed(lambda g=gram, i=image, s=steps: baselines.dense_single(g, i.ravel(), s, RATE))
        bench.dense[image.size] = 1e6 * theirs / steps
        mine, lesson = ours(grid, image, nimt.GreedyTeacher(), steps, 0.5)
        against_baseline(bench, f"GFT-1, {side}x{side}, width 0.5, 60,000 steps", goal, theirs, mine, lesson, curve)
        if side == 92 and not bench.quick:
            against_torch(bench, grid, image, mine, lesson, steps)
    gram_wide = nimt.rbf(2.0)(grid.points)
    steps = 20_000
    theirs, curve = timed(lambda: baselines.dense_single(gram_wide, image.ravel(), steps, RATE))
    mine, lesson = ours(grid, image, nimt.GreedyTeacher(), steps, 2.0)
    against_baseline(bench, "GFT-1, 92x92, width 2, 20,000 steps", 4, theirs, mine, lesson, curve)
    packs(bench, grid, image, gram)


def against_baseline(bench, work, goal, theirs, mine, lesson, curve, against="(a)"):
    bench.row(work, f">= {goal}x", theirs / mine, lesson=lesson, curve=curve, seconds=mine, steps=len(lesson),
              against=against, bound=bounds.more(1e6 * mine / len(lesson), "what a step itself takes"))  # fmt: skip


def against_torch(bench, grid, image, mine, lesson, steps):
    if not baselines.has_torch():
        bench.console.print("  torch is not installed: no row against (b)", style="dim")
        return
    theirs, curve = timed(lambda: baselines.torch_rows(grid.points, image.ravel(), steps, RATE, 0.5))
    against_baseline(bench, "GFT-1, 92x92, width 0.5, 60,000 steps", 500, theirs, mine, lesson, curve, "(b)")


def packs(bench, grid, image, gram):
    n = image.size
    work = [
        ("GFT-0.05", nimt.GreedyTeacher(k=0.05), 423, 30, 300),
        ("GFT-0.5", nimt.GreedyTeacher(k=0.5), 4232, 80, 100),
        ("whole pool", nimt.GreedyTeacher(k=1.0), n, 100, 100),
        ("RFT-1", nimt.RandomTeacher(), 1, 25, 60_000),
        ("RFT-0.05", nimt.RandomTeacher(k=0.05), 423, 25, 300),
    ]
    for name, teacher, k, goal, steps in work:
        steps = steps // 4 if bench.quick else steps
        mine, lesson = ours(
            grid, image, teacher, steps, 0.5, record="all" if isinstance(teacher, nimt.RandomTeacher) else "picks"
        )
        drawn = lesson.indices if isinstance(teacher, nimt.RandomTeacher) else None
        if k == 1:
            theirs, curve = timed(lambda s=steps, d=drawn: baselines.dense_single(gram, image.ravel(), s, RATE, d))
        else:
            way = baselines.faster_way(gram, image.ravel(), RATE, k, drawn)
            theirs, curve = timed(
                lambda s=steps, d=drawn, w=way, k=k: baselines.dense_packs(gram, image.ravel(), s, RATE, k, w, d)
            )
        against_baseline(bench, f"{name}, 92x92, {steps:,} steps", goal, theirs, mine, lesson, curve)


def mixture(bench):
    x = nimt.Grid(np.arange(-14, 14, 0.1))
    points = x.points[:, 0]
    target = norm.pdf(points, -2, 1) / 3 + 2 * norm.pdf(points, 2, 1) / 3
    gram = nimt.rbf(0.5)(x.points)
    steps = 20_000
    theirs, curve = timed(lambda: baselines.dense_single(gram, target, steps, RATE), 3)
    mine, lesson = ours(x, target, nimt.GreedyTeacher(), steps, 0.5, repeat=5)
    work = "1-D mixture, n = 280, width 0.5, 20,000 steps (curves to 2,000)"
    against_baseline(bench, work, 5, theirs, mine, lesson, curve[:2000])


def growth(bench):
    """The cost per step against the points in the pool, alone and beside another lesson on the other core."""
    sides = (28, 92, 256, 512, 1024) if bench.quick else (28, 92, 256, 512, 1024, 2048)
    costs = grown(bench, sides, "")
    bench.costs = {side**2: cost for side, cost in costs.items()}
    with busy(picture(1024)):
        grown(bench, (sides[0], sides[-1]), ", the other core busy with 1024x1024")


def grown(bench, sides, where):
    """Add a row for the cost per step on the largest picture over that on the smallest, and return all costs."""
    costs = {}
    for side in sides:
        image = picture(side)
        steps = max(100_000, image.size // 4)
        lessons = [lesson_on(image, steps) for _ in range(4)]
        costs[side] = min(1e6 * lesson.elapsed / len(lesson) for lesson in lessons)
    loop = lesson_on(image, 20, engine="reference").discrepancy  # of the largest picture
    note = ", ".join(f"{side}: {cost:.2f} us" for side, cost in costs.items())
    bench.row(f"GFT-1, cost per step from {sides[0]}x{sides[0]} to {sides[-1]}x{sides[-1]}{where}", "<= 4x",
              costs[sides[-1]] / costs[sides[0]], against=f"{sides[0]}x{sides[0]}", note=note, lesson=lessons[-1],
              curve=loop, bound=bounds.memory(90e-6 * image.size))  # fmt: skip
    return costs


def draw(costs, dense, path):
    """Draw microseconds per step against the points in the pool."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    ax = figure.subplots()
    ax.loglog(*zip(*costs.items(), strict=True), "o-", color="#0072B2", label="nimt, GFT-1, width 0.5")
    if dense:
        ax.loglog(
            *zip(*dense.items(), strict=True), "s--", color="#D55E00", label="dense NumPy, Gram matrix precomputed"
        )
    ax.set(
        xlabel="points in the pool",
        ylabel="microseconds per step",
        title="The cost of a step hardly grows with the pool",
    )
    ax.set_ylim(0.1, 100)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    figure.savefig(path, dpi=140)
