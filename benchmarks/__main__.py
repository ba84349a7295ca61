"""Print one table of ratios against baselines on the same work, each row measured in one run: `make bench`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import norm

import nimt
from benchmarks import baselines
from benchmarks.memory import peak_of_a_large_picture
from benchmarks.together import longest_gap, outputs, two_threads

RATE = 0.01


def timed(function, repeat=1):
    """Return the shortest time of some runs and the last result: other programs may slow single runs down."""
    best, result = np.inf, None
    for _ in range(repeat):
        began = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - began)
    return best, result


def picture(side, seed=0):
    """A smooth picture with some noise, so that greedy teaching has no ties to break."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 3, side)
    return np.sin(3 * x[:, None]) * np.cos(2 * x[None, :]) + 0.3 * rng.normal(size=(side, side))


def ours(pool, target, teacher, steps, width, rate=RATE, repeat=3, **options):
    def run():
        learner = nimt.KernelLearner(nimt.rbf(width=width), learning_rate=rate)
        return nimt.teach(learner, teacher, pool, target, max_iterations=steps, **options)

    run()  # compiles, once
    return timed(run, repeat)


def apart(lesson, curve):
    """Return the largest relative difference of two curves."""
    return float(np.max(np.abs(lesson.discrepancy[: len(curve)] - curve) / curve))


class Bench:
    def __init__(self, console, quick):
        self.console, self.quick, self.rows = console, quick, []
        self.costs, self.dense = {}, {}  # microseconds per step by points in the pool

    def row(self, work, goal, against, theirs, mine, lesson=None, curve=None, steps=None, reached=None, note=""):
        entry = {"work": work, "goal": goal, "against": against, "baseline_s": theirs, "nimt_s": mine, "note": note}
        if theirs is not None and mine:
            entry["ratio"] = theirs / mine
        if steps:
            entry["us_per_step"] = 1e6 * mine / steps
        if curve is not None:
            entry["difference"] = apart(lesson, curve)
        if lesson is not None:
            entry["engine"] = lesson.engine
        entry["reached"] = reached if reached is not None else None
        self.rows.append(entry)
        self.console.print(
            f"  {work}: " + (f"{entry['ratio']:.0f} x {against}" if "ratio" in entry else note), style="dim"
        )


def on_pictures(bench):
    for side, goal in ((28, 8), (92, 25)):
        image = picture(side)
        grid, steps = nimt.Grid.like(image), 60_000
        gram = nimt.rbf(0.5)(grid.points)
        theirs, curve = timed(lambda g=gram, i=image, s=steps: baselines.dense_single(g, i.ravel(), s, RATE))
        bench.dense[image.size] = 1e6 * theirs / steps
        mine, lesson = ours(grid, image, nimt.GreedyTeacher(), steps, 0.5)
        bench.row(f"GFT-1, {side}x{side}, width 0.5, 60,000 steps", f">= {goal}x", "(a)", theirs, mine, lesson, curve,
                  steps, theirs / mine >= goal)  # fmt: skip
        if side == 92:
            against_torch(bench, grid, image, mine, lesson, steps)
    gram_wide = nimt.rbf(2.0)(grid.points)
    steps = 20_000
    theirs, curve = timed(lambda: baselines.dense_single(gram_wide, image.ravel(), steps, RATE))
    mine, lesson = ours(grid, image, nimt.GreedyTeacher(), steps, 2.0)
    bench.row(
        "GFT-1, 92x92, width 2, 20,000 steps", ">= 4x", "(a)", theirs, mine, lesson, curve, steps, theirs / mine >= 4
    )
    packs(bench, grid, image, gram)


def against_torch(bench, grid, image, mine, lesson, steps):
    if bench.quick:
        return
    try:
        import torch  # noqa: F401
    except ImportError:
        bench.row("GFT-1, 92x92, width 0.5, 60,000 steps", ">= 500x", "(b)", None, mine, note="torch is not installed")
        return
    theirs, curve = timed(lambda: baselines.torch_rows(grid.points, image.ravel(), steps, RATE, 0.5))
    bench.row("GFT-1, 92x92, width 0.5, 60,000 steps", ">= 500x", "(b)", theirs, mine, lesson, curve, steps,
              theirs / mine >= 500)  # fmt: skip


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
        bench.row(f"{name}, 92x92, {steps:,} steps", f">= {goal}x", "(a)", theirs, mine, lesson, curve, steps,
                  theirs / mine >= goal)  # fmt: skip


def mixture(bench):
    x = nimt.Grid(np.arange(-14, 14, 0.1))
    points = x.points[:, 0]
    target = norm.pdf(points, -2, 1) / 3 + 2 * norm.pdf(points, 2, 1) / 3
    gram = nimt.rbf(0.5)(x.points)
    steps = 20_000
    theirs, curve = timed(lambda: baselines.dense_single(gram, target, steps, RATE), 3)
    mine, lesson = ours(x, target, nimt.GreedyTeacher(), steps, 0.5, repeat=5)
    bench.row("1-D mixture, n = 280, width 0.5, 20,000 steps (curves to 2,000)", ">= 5x", "(a)", theirs, mine, lesson,
              None, steps, theirs / mine >= 5)  # fmt: skip
    bench.rows[-1]["difference"] = float(np.max(np.abs(lesson.discrepancy[:2000] - curve[:2000]) / curve[:2000]))


def growth(bench):
    costs = {}
    for side in (28, 92, 256, 512, 1024) if bench.quick else (28, 92, 256, 512, 1024, 2048):
        image = picture(side)
        steps = max(100_000, image.size // 4)
        _, lesson = ours(nimt.Grid.like(image), image, nimt.GreedyTeacher(), steps, 0.5, record="picks", repeat=2)
        costs[side] = 1e6 * lesson.elapsed / len(lesson)
    first, last = costs[28], costs[max(costs)]
    note = ", ".join(f"{side}: {cost:.2f} us" for side, cost in costs.items())
    bench.row(f"GFT-1, cost per step from 28x28 to {max(costs)}x{max(costs)}", "<= 4x", "28x28", None, None,
              reached=last / first <= 4, note=f"{last / first:.1f}x ({note})")  # fmt: skip
    bench.costs = {side**2: cost for side, cost in costs.items()}
    if not bench.quick:
        peak = peak_of_a_large_picture(2048, 1_000_000)
        bench.row("GFT-1, 2048x2048, peak memory above the arrays given", "<= 400 MB", "", None, None,
                  reached=peak <= 400, note=f"{peak:.0f} MB")  # fmt: skip


def scattered(bench):
    rng = np.random.default_rng(0)
    n, steps = (20_000, 50_000) if bench.quick else (100_000, 200_000)
    points = rng.random((n, 3)) * (n / 50 * 4.18879 * 1.0) ** (1 / 3)  # about 50 within distance 1
    width = 1 / np.sqrt(-np.log(1e-16))  # where the kernel falls below rounding
    target = np.sin(points[:, 0]) + 0.1 * rng.normal(size=n)
    mine, lesson = ours(points, target, nimt.GreedyTeacher(), steps, width, repeat=1, record="picks")
    near = nimt.plan(nimt.KernelLearner(nimt.rbf(width)), nimt.GreedyTeacher(), points, target).window
    per_step = 1e6 * lesson.elapsed / steps
    note = f"{per_step:.2f} us, after {mine - lesson.elapsed:.1f} s to set up; (a) needs {8e-9 * n * n:.0f} GB"
    bench.row(f"scattered, n = {n:,} in 3-D, {near} in reach, {steps:,} steps", "<= 10 us per step", "", None,
              mine, lesson, steps=steps, reached=per_step <= 10,
              note=note)  # fmt: skip
    n, steps = 20_000, 2_000 if bench.quick else 20_000
    points = rng.normal(size=(n, 8))
    target = np.sin(points @ rng.normal(size=8))
    theirs, curve = timed(lambda: baselines.columns_each_step(points, target, steps, 0.1, 3.0))
    mine, lesson = ours(points, target, nimt.GreedyTeacher(), steps, 3.0, rate=0.1, repeat=1)
    bench.row(f"scattered, n = 20,000 in 8-D, long-ranged, {steps:,} steps", ">= 3x", "columns each step", theirs, mine,
              lesson, curve, steps, theirs / mine >= 3)  # fmt: skip


def together(bench):
    image = picture(92)
    steps = 200_000 if bench.quick else 1_000_000
    in_turn, at_once = two_threads(image, steps)
    bench.row(f"two lessons in two threads, 92x92, {steps:,} steps each", ">= 1.8x", "one after the other", in_turn,
              at_once, reached=in_turn / at_once >= 1.8)  # fmt: skip
    gap = longest_gap(image, steps)
    bench.row("longest gap of an event loop beside a lesson in a thread", "<= 20 ms", "", None, None,
              reached=gap <= 20, note=f"{gap:.1f} ms")  # fmt: skip
    one, three = outputs(image, steps // 2)
    bench.row(f"GFT-1 with 3 outputs, 92x92, {steps // 2:,} steps", "<= 1.5x", "1 output", None, None,
              reached=three / one <= 1.5, note=f"{three / one:.2f}x the time")  # fmt: skip


def table_of(rows):
    table = Table(title="nimt against baselines (ratios of whole teach calls, best of a few runs)")
    for column in ("work", "to reach", "measured", "against", "us per step", "curves differ by", "engine", ""):
        table.add_column(column)
    for row in rows:
        measured = f"{row['ratio']:.1f}x" if "ratio" in row else row["note"]
        table.add_row(
            row["work"], row["goal"], measured, row["against"],
            f"{row['us_per_step']:.2f}" if "us_per_step" in row else "",
            f"{row['difference']:.0e}" if "difference" in row else "",
            row.get("engine", ""),
            {True: "reached", False: "NOT reached", None: ""}[row["reached"]],
        )  # fmt: skip
    return table


def markdown_of(rows):
    """Return the table as a page would show it."""
    lines = ["| work | to reach | measured | against | curves differ by |", "|---|---|---|---|---|"]
    for row in rows:
        measured = f"{row['ratio']:.0f}x" if "ratio" in row else row["note"]
        apart_by = f"{row['difference']:.0e}" if "difference" in row else ""
        lines.append(f"| {row['work']} | {row['goal']} | {measured} | {row['against']} | {apart_by} |")
    return "\n".join(lines) + "\n"


def draw(costs, dense, path):
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


def machine():
    model = ""
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")
    return {"python": platform.python_version(), "numpy": np.__version__, "cpu": model, "nimt": nimt.__version__}


PARTS = {
    "pictures": on_pictures,
    "mixture": mixture,
    "growth": growth,
    "scattered": scattered,
    "together": together,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="where the JSON and the figure go")
    parser.add_argument("--quick", action="store_true", help="smaller, without torch: about a minute")
    parser.add_argument(
        "--only", choices=("pictures", "mixture", "growth", "scattered", "together"), help="one part of the table"
    )
    options = parser.parse_args()
    console = Console(width=170)
    bench = Bench(console, options.quick)
    for name, part in PARTS.items():
        if options.only in (None, name):
            console.print(f"[bold]{name}[/]")
            part(bench)
    console.print(table_of(bench.rows))
    console.print(
        "(a) dense NumPy on a Gram matrix made beforehand (not counted); (b) a torch loop that builds each kernel row"
    )
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "bench.json").write_text(json.dumps({"machine": machine(), "rows": bench.rows}, indent=1))
    (options.out / "bench.md").write_text(markdown_of(bench.rows))
    if bench.costs:
        draw(bench.costs, bench.dense, options.out / "cost-per-step.png")
    console.print(f"written to {options.out}")


if __name__ == "__main__":
    sys.exit(main())
