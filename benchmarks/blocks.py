"""Print what lessons by blocks cost: `python -m benchmarks.blocks` (about three minutes on an idle machine).

Examples to the tolerance against one greedy lesson, two workers against one (threads, and processes of Dask), how time
and memory grow with the points, and on paper 10^9 and 10^10 points, by a model that is compared with what was measured.
`--only growth --largest 8192 --memory 2` grows up to 8192 x 8192 on two processes, with 2 GB for blocks in each.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil

import nimt
from nimt.blocks.block_task import make_partition
from nimt.blocks.cost_model import Costs, measure_costs, predict

KERNEL = nimt.rbf(width=0.5)
RATE, TOL = 0.25, 0.1
SIDE = 1024  # of the blocks whose growth is measured


def picture(side: int) -> np.ndarray:
    """Return a picture of any size: many cats, each with noise of its own."""
    cat = nimt.datasets.cat().values
    times = -(-side // len(cat))
    noise = np.random.default_rng(side).normal(scale=0.05, size=(side, side))
    return np.tile(cat, (times, times))[:side, :side] + noise


def write_picture(path: Path, side: int) -> None:
    """Write a picture strip by strip; no part of it stays in the memory of this process."""
    cat = nimt.datasets.cat().values
    across = np.tile(cat, (1, -(-side // cat.shape[1])))[:, :side]
    rng = np.random.default_rng(side)
    with open(path, "wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (side, side)}
        np.lib.format.write_array_header_1_0(file, header)
        for row in range(0, side, len(cat)):
            high = min(side, row + len(cat)) - row
            file.write((across[:high] + rng.normal(scale=0.05, size=(high, side))).astype("<f4").tobytes())


class Run(NamedTuple):
    """A lesson, its seconds from the call to the results, those of all processors, and those of other programs."""

    lesson: Any
    seconds: float
    used: float
    others: float


def teach(y: Any, blocks: Any, tol: float | None = TOL, **options: Any) -> Run:
    grid = None if isinstance(y, str) else nimt.Grid.like(y)
    learner = nimt.KernelLearner(KERNEL, learning_rate=RATE)
    options = {"tol": tol, "measure": "rms", "record": "picks"} | options
    began, used, busy = time.perf_counter(), processor(blocks), machine()
    lesson = nimt.blocks.teach_blocks(learner, nimt.GreedyTeacher(), grid, y, blocks, **options)
    seconds, used, busy = time.perf_counter() - began, processor(blocks) - used, machine() - busy
    return Run(lesson, seconds, used, max(0.0, busy - used))


def processor(blocks: Any) -> float:
    """Return the seconds of processor of this process, and of the workers of a cluster."""
    workers = {} if blocks.client is None else blocks.client.run(time.process_time)
    return time.process_time() + sum(workers.values())


def machine() -> float:
    """Return the seconds of processor of all that runs on this machine."""
    times = psutil.cpu_times()
    return float(times.user + times.system)


def peak() -> float:
    """Return the most memory that this process had, in gigabytes."""
    with contextlib.suppress(OSError), open("/proc/self/status", encoding="utf-8") as file:
        return next(float(line.split()[1]) / 1e6 for line in file if line.startswith("VmHWM"))
    return float(psutil.Process().memory_info().rss) / 1e9


@contextlib.contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """Hand out a client of so many processes of one thread, which have compiled what they need."""
    from distributed import Client, LocalCluster

    where = {"dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=workers, threads_per_worker=1, **where) as made, Client(made) as client:
        with tempfile.TemporaryDirectory() as scratch:
            teach(picture(128), nimt.Blocks((8, 8), client=client, folder=Path(scratch) / "run"))
        yield client


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
            lesson = nimt.blocks.teach_blocks(
                taught, nimt.GreedyTeacher(), grid, y, blocks, **(options | {"tol": whole.tol})
            )
            cells.append(f"share {share}: {len(lesson) / len(whole):.4f} ({lesson.turns})")
        print("; ".join(cells), flush=True)


def print_workers(scratch: Path, side: int = 2048, count: int = 8, times: int = 3) -> None:
    """Print the seconds of one worker and of two, by turns: threads, and processes of Dask."""
    path = scratch / "picture.npy"
    write_picture(path, side)
    runs: dict[str, list[Run]] = {}
    with cluster(1) as one, cluster(2) as two:
        for attempt in range(times):
            for workers, client in ((1, one), (2, two)):
                how = nimt.Blocks((count, count), workers=workers)
                runs.setdefault(f"threads {workers}", []).append(teach(str(path), how))
                folder = scratch / f"run-{attempt}-{workers}"
                how = nimt.Blocks((count, count), client=client, folder=folder)
                runs.setdefault(f"processes {workers}", []).append(teach(str(path), how))
    best = {name: min(found, key=lambda run: run.seconds) for name, found in runs.items()}
    shown = {len(run.lesson) for found in runs.values() for run in found}
    same = len({np.asarray(run.lesson.final).tobytes() for run in best.values()}) == 1
    print(f"\n{side} x {side}, {count} x {count} blocks, {shown.pop():,} examples, by turns, smallest of {times}")
    print(f"one lesson every time: {not shown and same}")
    for kind in ("threads", "processes"):
        alone, both = best[f"{kind} 1"], best[f"{kind} 2"]
        print(
            f"{kind}: one worker {alone.seconds:.2f} s, two {both.seconds:.2f} s: {alone.seconds / both.seconds:.2f} "
            f"times as fast; by other programs {alone.others:.1f} and {both.others:.1f} s of processor meanwhile"
        )


def measure_calls(client: Any, scratch: Path, turns: int = 12) -> tuple[float, float]:
    """Return the seconds of a cluster per colour, and per call, from lessons with next to nothing to teach."""
    found = []
    for count in (4, 16):
        y = np.random.default_rng(0).normal(size=(16 * count, 16 * count))
        took = []
        for attempt in range(3):
            folder = scratch / f"calls-{count}-{attempt}"
            how = nimt.Blocks((count, count), client=client, folder=folder, share=0.9)
            lesson = teach(y, how, None, callback=lambda now: now.turn > turns).lesson
            took.append(lesson.elapsed / lesson.turns)
        found.append((count * count, min(took)))
    (few, short), (many, long) = found
    call = (long - short) / (many - few)
    return max(0.0, short - few * call) / 4, call


def expect(costs: Costs, side: int, counts: tuple[int, int], lesson: Any, workers: int) -> float:
    cut = make_partition(nimt.Grid(*(np.arange(side, dtype=float),) * 2), counts, KERNEL)
    return predict(
        costs, points=side**2, blocks=len(cut), colours=4, workers=workers, reach=max(cut.reach),
        examples=len(lesson), turns=lesson.turns,
    ).seconds  # fmt: skip


def print_growth(
    client: Any, costs: Costs, scratch: Path, smallest: int, largest: int, tol: float, memory: float | None
) -> None:
    """Print time and memory by the number of points, beside the seconds of the model."""
    bound = "" if memory is None else f", at most {memory:g} GB of blocks in each"
    print(f"\ngrowth on two processes{bound}: points, examples, turns, M, seconds (by the model), of processor, per")
    print(
        "million points (with the processor of other programs meanwhile), most memory of the workers and of the client"
    )
    side = smallest
    while side <= largest:
        path = scratch / f"picture-{side}.npy"
        write_picture(path, side)
        counts = (max(4, side // SIDE),) * 2
        room = None if memory is None else int(memory * 1e9)
        how = nimt.Blocks(counts, client=client, folder=scratch / f"run-{side}", memory=room)
        run = teach(str(path), how, tol)
        lesson, workers = run.lesson, client.run(peak).values()
        print(
            f"{side} x {side}, {len(lesson):,}, {lesson.turns}, {lesson.discrepancy:.6f}, {run.seconds:.1f} "
            f"({expect(costs, side, counts, lesson, 2):.1f}), {run.used:.1f}, {run.used / side**2 * 1e6:.2f} "
            f"({run.others:.1f}), {' and '.join(f'{each:.2f}' for each in workers)} GB, {peak():.2f} GB",
            flush=True,
        )
        del lesson, run
        side *= 2


def print_paper(costs: Costs, examples: float = 2.3, turns: int = 8) -> None:
    """Print what very many points would take."""
    print(f"\non paper: {costs}")
    print(
        f"{examples} examples per point, {turns} turns, blocks of at most 2048 x 2048, a kernel that reaches 3 points"
    )
    print(
        "points, workers, blocks, busy workers, hours (of which for the client), GB sent per turn, GB of blocks in each"
    )
    for points in (1e9, 1e10):
        for workers in (8, 64, 512):
            blocks = max(round(points / 2048**2), 8 * workers)  # two of each colour for every worker
            found = predict(
                costs, points=points, blocks=blocks, colours=4, workers=workers, reach=3, examples=examples * points,
                turns=turns,
            )  # fmt: skip
            print(
                f"{points:.0e}, {workers}, {blocks}, {found.busy}, {found.seconds / 3600:.3f} "
                f"({found.of_client / 3600:.3f}), {found.sent / 1e9:.2f}, {found.memory / 1e9:.2f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smallest", type=int, default=512, help="the side of the smallest picture")
    parser.add_argument("--largest", type=int, default=1024, help="the side of the largest picture")
    parser.add_argument("--tol", type=float, default=TOL, help="of the growth")
    parser.add_argument("--memory", type=float, help="gigabytes for blocks in each worker; others wait in a folder")
    parser.add_argument("--only", choices=("examples", "workers", "growth", "paper"))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        if asked.only in (None, "examples"):
            print_examples()
        if asked.only in (None, "workers"):
            print_workers(scratch)
            print_workers(scratch, side=4096, times=1)  # blocks of 512 x 512, for which calls and files matter less
        if asked.only in (None, "growth", "paper"):
            with cluster(2) as client:
                round_, call = measure_calls(client, scratch)
                costs = dataclasses.replace(measure_costs(KERNEL, RATE), round=round_, call=call)
                print(f"\ncosts: {costs}", flush=True)
                if asked.only != "paper":
                    print_growth(client, costs, scratch, asked.smallest, asked.largest, asked.tol, asked.memory)
            print_paper(costs)


if __name__ == "__main__":
    main()
