"""Peak memory of each engine, each measured in a process of its own (Linux only)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import nimt
from benchmarks import bounds

PICTURE = 2048  # side of the large picture; 300 MB is 72 bytes per point


def on_a_picture(teacher, steps, **options):
    def given(side):
        image = np.random.default_rng(0).normal(size=(side, side))
        return nimt.Grid.like(image), image, 0.5, steps, teacher, options

    return given


def on_points(size, dimension, width, steps, engine):
    def given(side):
        rng = np.random.default_rng(0)
        points = rng.random((size if side == PICTURE else 50, dimension)) * 20.0
        return points, np.sin(points[:, 0]), width, steps, nimt.GreedyTeacher(), {"engine": engine}

    return given


CASES = {
    "grid: GFT-1, 2048x2048": on_a_picture(nimt.GreedyTeacher(), 1_000_000),
    "grid: synthesised labels, 2048x2048": on_a_picture(nimt.SynthesisTeacher(), 1_000_000),
    "grid: GFT-0.05, 2048x2048": on_a_picture(nimt.GreedyTeacher(k=0.05), 10, record="picks"),
    "grid: RFT-1, 2048x2048": on_a_picture(nimt.RandomTeacher(), 1_000_000),
    "neighbours: GFT-1, n = 100,000 in 3-D": on_points(100_000, 3, 0.1, 100_000, "neighbours"),
    "streamed: GFT-1, n = 20,000 in 8-D": on_points(20_000, 8, 3.0, 2_000, "streamed"),
    "reference: GFT-1, n = 8,000 in 3-D": on_points(8_000, 3, 3.0, 200, "reference"),
}


def peaks(bench):
    for name, given in CASES.items():
        if bench.quick and "2048" in name:
            continue
        pool, target, width, steps, teacher, options = given(PICTURE)
        learner = nimt.KernelLearner(nimt.rbf(width))
        planned = nimt.plan(learner, teacher, pool, target, max_iterations=steps, **options).bytes / 2**20
        allowed = 300 if "2048" in name else np.ceil(planned)
        bench.row(f"peak memory above the arrays given, {name}", f"<= {allowed:.0f} MB", peak_of(name),
                  note=f"planned: {planned:.0f} MB",
                  bound=bounds.more(8e-6 * np.size(target), "arrays: each of the pool takes", "MB"))  # fmt: skip


def peak_of(name):
    """Return the megabytes that a lesson needs at its peak above the arrays it is given."""
    here = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-m", "benchmarks.memory", name], capture_output=True, text=True, check=True,
                          cwd=here)  # fmt: skip
    return float(done.stdout)


def megabytes(name):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    raise LookupError(name)


def main(name):
    """Run one case and print its peak."""

    def teach(pool, target, width, steps, teacher, options):
        learner = nimt.KernelLearner(nimt.rbf(width=width), learning_rate=0.5)
        return nimt.teach(learner, teacher, pool, target, max_iterations=steps, **{"tol": None} | options)

    pool, target, width, _, teacher, options = CASES[name](9)
    teach(pool, target, width, 5, teacher, options)  # loads and compiles everything
    given = CASES[name](PICTURE)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = megabytes("VmRSS")
    lesson = teach(*given)
    print(megabytes("VmHWM") - before)
    assert len(lesson)  # it is alive until its peak was read


if __name__ == "__main__":
    main(sys.argv[1])
