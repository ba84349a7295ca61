"""Forge files: change what a checkpoint or a lesson holds, seal it again, and read it. Run as a program by the tests.

A forged file is refused with a sentence, or gives a lesson; it never ends in a traceback or a signal.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import nimt
from nimt.store import records

ENDLESS = 400  # steps that a forged checkpoint may go on for


def lessons(folder: Path) -> list[tuple[str, Path]]:
    """Write honest files of every engine, learner and teacher with a state of its own."""
    x = nimt.Grid(np.linspace(-2, 2, 17))
    points = np.random.default_rng(0).uniform(-2, 2, size=(15, 2))
    kernel = nimt.KernelLearner(nimt.rbf(0.4), learning_rate=0.2)
    cases = [
        (kernel, nimt.GreedyTeacher(), x, np.sin, {"engine": "grid"}),
        (kernel, nimt.GreedyTeacher(k=3), x, np.sin, {"engine": "grid", "snapshots": [3]}),
        (kernel, nimt.RandomTeacher(k=2), points, points[:, 0], {"engine": "neighbours"}),
        (kernel, nimt.GreedyTeacher(pool=0.5), points, points, {"engine": "streamed"}),
        (kernel, nimt.SynthesisTeacher(), x, np.sin, {"engine": "grid"}),
        (kernel, nimt.SynthesisTeacher(k=2), x, np.sin, {"engine": "reference"}),
        (kernel, nimt.SynthesisTeacher(k=2), points, points[:, 0], {"engine": "streamed"}),
        (nimt.learners.OrthogonalLearner(nimt.rbf(0.4)), nimt.GreedyTeacher(), points, points[:, 0], {}),
        (nimt.learners.OrthogonalLearner(nimt.rbf(0.04)), nimt.GreedyTeacher(), x, np.sin, {}),
        (nimt.LinearLearner([0.0, 0.0, 0.0]), nimt.teachers.SoftTeacher(), points, points[:, 0], {}),
    ]
    files = []
    for number, (learner, teacher, pool, y, options) in enumerate(cases):
        checkpoint = folder / f"{number}.checkpoint"
        lesson = nimt.teach(
            learner, teacher, pool, y, max_iterations=12, checkpoint=checkpoint, **{"tol": None} | options
        )
        lesson.save(folder / f"{number}.lesson")
        files += [("checkpoint", checkpoint), ("lesson", folder / f"{number}.lesson")]
    return files


def mutated(thing: object, rng: np.random.Generator) -> object:
    """Return something else in the place of a number, a text, a list or an array."""
    if isinstance(thing, np.ndarray):
        changes = [
            lambda: thing[:-1] if thing.ndim else thing,
            lambda: np.concatenate([thing, thing]) if thing.ndim else thing,
            lambda: thing.reshape(-1),
            lambda: thing[np.newaxis],
            lambda: thing.astype(np.float32),
            lambda: thing.astype(np.int64) - 5 if thing.dtype.kind in "fiub" and np.isfinite(thing).all() else thing,
            lambda: thing.astype(str),
            lambda: np.full_like(thing, 10**9) if thing.dtype.kind in "iu" and thing.dtype.itemsize > 2 else thing,
            lambda: thing * np.nan if thing.dtype.kind == "f" else thing,
            lambda: np.empty(0),
            lambda: None,
        ]
        return changes[rng.integers(len(changes))]()
    numbers = [-1, 0, 2**40, 2**80, 10**4000, 1e308, float("nan"), -0.5, True]
    others = [None, *numbers, "x", "", [], {}, [1, [2]], {"type": "Grid"}]
    return others[rng.integers(len(others))]


def places(thing: object, path: tuple = ()) -> list[tuple]:
    """Return the path of every value in a tree of dictionaries and lists."""
    if isinstance(thing, dict):
        return [path, *(place for key, part in thing.items() for place in places(part, (*path, key)))]
    if isinstance(thing, list):
        return [path, *(place for key, part in enumerate(thing) for place in places(part, (*path, key)))]
    return [path]


def with_change(thing: object, path: tuple, rng: np.random.Generator) -> object:
    """Return a copy of a tree with the value at a path changed, or left out."""
    if not path:
        return mutated(thing, rng)
    if isinstance(thing, dict):
        copy = dict(thing)
        if len(path) == 1 and rng.random() < 0.15:
            del copy[path[0]]
            return copy
    else:
        copy = list(thing)
    copy[path[0]] = with_change(thing[path[0]], path[1:], rng)
    return copy


def main(count: int, seed: int) -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        honest = [(kind, path, records.read(path, "lesson")) for kind, path in lessons(folder)]
        forged = folder / "forged"
        refused = 0
        for number in range(count):
            kind, path, content = honest[rng.integers(len(honest))]
            where = places(content)
            content = with_change(content, where[rng.integers(len(where))], rng)
            if not isinstance(content, dict):
                continue
            try:
                records.write(forged, "lesson", content)
            except (TypeError, ValueError):
                continue  # not even a forger could write it
            print(f"{number} {kind} {path.name}", file=sys.stderr)  # the last line names what killed the process
            try:
                if kind == "checkpoint" and number % 2:
                    nimt.resume(forged, callback=lambda progress: progress.step > ENDLESS, time_limit=2.0)
                else:
                    lesson = nimt.Lesson.load(forged)
                    repr(lesson), lesson.itd, lesson.to_table(), lesson.method, lesson.measure
            except (nimt.NimtError, MemoryError):
                refused += 1
        print(f"{count} forged files, {refused} refused, seed {seed}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
