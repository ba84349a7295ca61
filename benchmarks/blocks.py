"""Print what lessons by blocks cost: `python -m benchmarks.blocks` (about two minutes on an idle machine).

Examples to the tolerance against one greedy lesson, two workers against one, how the cost grows with the points, and
the costs on paper of 10^9 and 10^10 points, by a model that is compared with what was measured. `--largest 8192` grows
up to 8192 x 8192, kept in a folder with the memory that `--memory` allows.
"""

from __future__ import annotations

import argparse
import heapq
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import nimt
from nimt.blocks import running
from nimt.blocks.block_task import make_partition
from nimt.blocks.cost_model import Costs, measure_costs, predict
from nimt.blocks.local_workers import Call, LocalWorkers
from nimt.blocks.orders import Report

KERNEL = nimt.rbf(width=0.5)
RATE, TOL = 0.25, 0.1
SIDE = 1024  # of the blocks whose growth is measured


def picture(side: int) -> np.ndarray:
    """Return a picture of any size: many cats, each with noise of its own."""
    cat = nimt.datasets.cat().values
    times = -(-side // len(cat))
    noise = np.random.default_rng(side).normal(scale=0.05, size=(side, side))
    return np.tile(cat, (times, times))[:side, :side] + noise


def teach(y: Any, blocks: Any, tol: float = TOL) -> tuple[Any, float, float]:
    """Return the lesson, its seconds, and the seconds of processor of all its threads."""
    grid = None if isinstance(y, str) else nimt.Grid.like(y)
    began = time.process_time()
    learner = nimt.KernelLearner(KERNEL, learning_rate=RATE)
    options: dict[str, Any] = {"tol": tol, "measure": "rms", "record": "picks"}
    lesson = nimt.teach_blocks(learner, nimt.GreedyTeacher(), grid, y, blocks, **options)
    return lesson, lesson.elapsed, time.process_time() - began


def print_examples() -> None:
    """Print how many more examples blocks need than one greedy lesson."""
    print("\nexamples to the tolerance, over those of GFT-1 (turns)")
    cat = nimt.datasets.cat().values
    astronaut = nimt.datasets.astronaut().values.mean(axis=2)
    waves = np.add.outer(np.sin(np.arange(128) / 9.0), np.cos(np.arange(128) / 13.0))
    cases = (
        ("cat", cat, 4, 0.5, 0.01, "5%"), ("cat", cat, 4, 0.5, 0.25, "5%"),
        ("astronaut", astronaut, 4, 0.5, 0.25, "5%"),
        ("cat", cat, 2, 1.0, 0.25, "30%"), ("waves", waves, 2, 2.0, 0.25, "5%"),
    )  # fmt: skip
    for name, y, count, width, rate, tol in cases:
        grid, taught = nimt.Grid.like(y), nimt.KernelLearner(nimt.rbf(width=width), learning_rate=rate)
        options: dict[str, Any] = {"tol": tol, "measure": "rms", "record": "picks", "max_iterations": 10**8}
        whole = nimt.teach(taught, nimt.GreedyTeacher(), grid, y, engine="grid", **options)
        cells = [f"{name}, width {width}, rate {rate}, {count} x {count} blocks: {len(whole):,}"]
        for share in (0.5, 0.8, 0.95):
            blocks = nimt.Blocks((count, count), share=share)
            lesson = nimt.teach_blocks(taught, nimt.GreedyTeacher(), grid, y, blocks, **(options | {"tol": whole.tol}))
            cells.append(f"share {share}: {len(lesson) / len(whole):.4f} ({lesson.turns})")
        print("; ".join(cells), flush=True)


class TimedWorkers(LocalWorkers):
    """Threads, with the seconds of processor of every turn of every block, round by round."""

    rounds: list[list[float]]

    def advance(self, calls: Sequence[Call]) -> list[Report]:
        def work(call: Call) -> tuple[Report, float]:
            began = time.thread_time()
            report = self.holder.advance(call.block, call.orders, save=call.save)
            return report, time.thread_time() - began

        answers = list(self.pool.map(work, calls))
        self.rounds.append([seconds for _, seconds in answers])
        return [report for report, _ in answers]


def share_out(times: list[float], workers: int) -> float:
    """Return when the last of these calls is done, if each goes to the first worker that is free."""
    free = [0.0] * workers
    for seconds in times:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)


def print_workers(side: int = 2048, count: int = 8, times: int = 3) -> None:
    """Print the seconds of one worker and of two, by turns; and those of a machine that nobody else uses."""
    y = picture(side)
    running.LocalWorkers = TimedWorkers  # type: ignore[misc]
    seconds: dict[int, list[float]] = {1: [], 2: []}
    alone: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(times):
        for workers in seconds:
            TimedWorkers.rounds = []
            lesson, wall, used = teach(y, nimt.Blocks((count, count), workers=workers))
            seconds[workers].append(wall)
            work = sum(map(sum, TimedWorkers.rounds))
            alone[workers].append(used - work + sum(share_out(each, workers) for each in TimedWorkers.rounds))
    running.LocalWorkers = LocalWorkers  # type: ignore[misc]
    load = os.getloadavg()[0]
    print(f"\n{side} x {side}, {count} x {count} blocks, {len(lesson):,} examples, by turns, smallest of {times}:")
    for name, found in (("by the clock", seconds), ("by the processor", alone)):
        one, two = min(found[1]), min(found[2])
        print(f"{name}: one worker {one:.2f} s, two {two:.2f} s: {one / two:.2f} times as fast")
    print(f"by the processor: turns as they were shared out, each as long as it used a core; load {load:.1f}")


def print_growth(smallest: int, largest: int, tol: float, costs: Costs, memory: float | None, scratch: Path) -> None:
    """Print seconds of processor by the number of points, beside those of the model."""
    print("\npoints, examples, turns, seconds, of processor, per million points, by the model, largest memory")
    side = smallest
    while side <= largest:
        path = scratch / f"picture-{side}.npy"
        write_picture(path, side)
        counts = (max(2, side // SIDE),) * 2
        how: dict[str, Any] = {"workers": 2}
        if memory is not None:
            how |= {"folder": scratch / f"run-{side}", "memory": int(memory * 1e9)}
        lesson, seconds, used = teach(str(path), nimt.Blocks(counts, **how), tol)
        cut = make_partition(nimt.Grid(*(np.arange(side, dtype=float),) * 2), counts, KERNEL)
        expected = predict(
            costs, points=side**2, blocks=len(cut), colours=4, workers=1, reach=max(cut.reach), examples=len(lesson),
            turns=lesson.turns,
        ).seconds - 4 * lesson.turns * costs.round  # fmt: skip
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"{side} x {side}, {len(lesson):,}, {lesson.turns}, {seconds:.1f}, {used:.1f}, {used / side**2 * 1e6:.2f}, "
            f"{expected:.1f}, {peak:.2f} GB",
            flush=True,
        )
        del lesson
        side *= 2


def write_picture(path: Path, side: int) -> None:
    """Write a picture strip by strip, so that no more than a strip is in memory."""
    file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(side, side))
    cat = nimt.datasets.cat().values
    across = np.tile(cat, (1, -(-side // cat.shape[1])))[:, :side]
    rng = np.random.default_rng(side)
    for row in range(0, side, len(cat)):
        high = min(side, row + len(cat))
        file[row:high] = across[: high - row] + rng.normal(scale=0.05, size=(high - row, side))
    file.flush()


def print_paper(costs: Costs, examples: float = 2.3, turns: int = 5) -> None:
    """Print what very many points would take."""
    print(f"\non paper: {costs}")
    print(
        f"{examples} examples per point, {turns} turns, blocks of at most 2048 x 2048, a kernel that reaches 3 points"
    )
    print("points, workers, blocks, busy workers, hours, GB sent per turn, GB of blocks in each worker")
    for points in (1e9, 1e10):
        for workers in (8, 64, 512):
            blocks = max(round(points / 2048**2), 8 * workers)  # two of each colour for every worker
            found = predict(
                costs, points=points, blocks=blocks, colours=4, workers=workers, reach=3, examples=examples * points,
                turns=turns,
            )  # fmt: skip
            print(
                f"{points:.0e}, {workers}, {blocks}, {found.busy}, {found.seconds / 3600:.3f}, {found.sent / 1e9:.2f}, "
                f"{found.memory / 1e9:.2f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smallest", type=int, default=512, help="the side of the smallest picture")
    parser.add_argument("--largest", type=int, default=1024, help="the side of the largest picture")
    parser.add_argument("--tol", type=float, default=TOL, help="of the growth")
    parser.add_argument("--memory", type=float, help="gigabytes for blocks; others wait in a folder")
    parser.add_argument("--only", choices=("examples", "workers", "growth", "paper"))
    asked = parser.parse_args()
    if asked.only in (None, "examples"):
        print_examples()
    if asked.only in (None, "workers"):
        print_workers()
    if asked.only in (None, "growth", "paper"):
        costs = measure_costs(KERNEL, RATE)
        print(f"\ncosts of one core: {costs}")
        if asked.only != "paper":
            with tempfile.TemporaryDirectory() as scratch:
                print_growth(asked.smallest, asked.largest, asked.tol, costs, asked.memory, Path(scratch))
        print_paper(costs)


if __name__ == "__main__":
    main()
