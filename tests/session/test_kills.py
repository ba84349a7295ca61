"""Killed at random moments, with the checkpoints a user gets by default: every engine, teacher and learner goes on."""

from __future__ import annotations

import dataclasses
import math
import multiprocessing
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.neural_network import MLPRegressor

import nimt

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(sys.platform == "win32", reason="processes are forked"),
    pytest.mark.filterwarnings("ignore"),
]

GRID = nimt.Grid(np.linspace(-1, 1, 30), np.linspace(-1, 1, 30))
WAVES = np.sin(4 * GRID.points[:, 0]) * np.cos(3 * GRID.points[:, 1])
COLOURS = np.stack([WAVES, -WAVES, WAVES**2], axis=1)
CLASSES = nimt.classes.one_hot((GRID.points[:, 0] > 0.1).astype(int) + (WAVES > 0))
SCATTERED = nimt.Points(np.random.default_rng(3).uniform(-1, 1, size=(300, 2)))
HEIGHTS = np.sin(4 * SCATTERED.points[:, 0]) + SCATTERED.points[:, 1]
MANY = nimt.Points(np.random.default_rng(4).uniform(-1, 1, size=(4000, 2)))
HILLS = np.sin(9 * MANY.points[:, 0]) + np.cos(7 * MANY.points[:, 1])

PATIENCE = 100.0  # seconds until the first checkpoint, which is due after three
ON_GRID = {"engine": "grid"}
PICKS = {"engine": "grid", "record": "picks"}  # all indices of packs would take too much memory
GREEDY = nimt.GreedyTeacher()


@nimt.compiled(smoothness=1.0, convex=True)
def log_cosh(f: float, y: float) -> tuple[float, float]:
    """Return value and slope of a loss of the user's."""
    return abs(f - y) + math.log1p(math.exp(-2 * abs(f - y))) - math.log(2.0), math.tanh(f - y)


@dataclasses.dataclass
class Endless:
    """A lesson that is never over before it is killed, and what has to be passed again to resume it."""

    learner: Any
    teacher: Any
    pool: Any
    target: Any
    rules: dict[str, Any] = dataclasses.field(default_factory=dict)
    again: dict[str, Any] = dataclasses.field(default_factory=dict)


def kernel_learner(rate: float = 1e-4, kernel: Any = None, **options: Any) -> nimt.KernelLearner:
    return nimt.KernelLearner(nimt.rbf(0.1) if kernel is None else kernel, learning_rate=rate, **options)


def of_torch() -> Endless:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # a pool of threads does not survive a fork
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Dropout(0.1), torch.nn.Linear(16, 1))
    learner = nimt.torch.TorchLearner(module, lambda parameters: torch.optim.Adam(parameters, lr=1e-5), seed=2)
    return Endless(learner, nimt.GreedyTeacher(k=8), SCATTERED, HEIGHTS, again={"learner": learner})


PACKS = nimt.GreedyTeacher(k=nimt.schedules.cosine(1, 60, over=20_000), look=nimt.schedules.every(7))
GROWING = nimt.GreedyTeacher(k=nimt.schedules.cosine(1, 60, over=20_000))
KINDS: dict[str, Callable[[], Endless]] = {
    "grid, greedy": lambda: Endless(kernel_learner(1e-7), GREEDY, GRID, WAVES, ON_GRID),
    "grid, greedy packs": lambda: Endless(kernel_learner(1e-6), nimt.GreedyTeacher(k=0.1), GRID, WAVES, PICKS),
    "grid, random": lambda: Endless(kernel_learner(1e-7), nimt.RandomTeacher(pool=0.5), GRID, WAVES, ON_GRID),
    "grid, three outputs": lambda: Endless(kernel_learner(1e-7), GREEDY, GRID, COLOURS, ON_GRID),
    "examples of each output": lambda: Endless(
        kernel_learner(1e-7), nimt.teachers.PerOutput(GREEDY), GRID, COLOURS, ON_GRID
    ),
    "examples of each output, plain loop": lambda: Endless(
        kernel_learner(), nimt.teachers.PerOutput(nimt.RandomTeacher(k=2)), GRID, COLOURS, {"engine": "reference"}
    ),
    "communicating": lambda: Endless(
        kernel_learner(1e-7), nimt.teachers.Communicating(GREEDY, every=5000), GRID, COLOURS, ON_GRID
    ),
    "communicating, plain loop": lambda: Endless(
        kernel_learner(),
        nimt.teachers.Communicating(nimt.teachers.PerOutput(GREEDY), every=9),
        GRID,
        COLOURS,
        {"engine": "reference"},
    ),
    "packs and looks by a schedule": lambda: Endless(kernel_learner(), PACKS, GRID, WAVES),
    "packs by a schedule": lambda: Endless(kernel_learner(), GROWING, GRID, WAVES, ON_GRID),
    "classes": lambda: Endless(
        kernel_learner(1e-7, loss="crossentropy"), nimt.GreedyTeacher(score="loss", loss="crossentropy"), GRID, CLASSES
    ),
    "classes, by uncertainty": lambda: Endless(
        kernel_learner(loss="crossentropy"), nimt.teachers.UncertaintyTeacher(), GRID, CLASSES, {"measure": "accuracy"}
    ),
    "compiled loss of the user's": lambda: Endless(
        kernel_learner(1e-7, loss=log_cosh), GREEDY, GRID, WAVES, ON_GRID, {"allow": [log_cosh]}
    ),
    "grid, loss": lambda: Endless(
        kernel_learner(1e-7), nimt.GreedyTeacher(score="loss", loss="square"), GRID, WAVES, ON_GRID
    ),
    "synthesis": lambda: Endless(kernel_learner(1e-5), nimt.SynthesisTeacher(), GRID, WAVES),
    "soft": lambda: Endless(kernel_learner(1e-5), nimt.teachers.SoftTeacher(), GRID, WAVES),
    "mixed": lambda: Endless(
        kernel_learner(), nimt.teachers.MixedTeacher([(GREEDY, 0.5), (nimt.RandomTeacher(), 0.5)], k=4), GRID, WAVES
    ),
    "planned": lambda: Endless(kernel_learner(), nimt.teachers.PlannedTeacher(k=30), GRID, WAVES),
    "neighbours": lambda: Endless(
        kernel_learner(1e-7, nimt.Wendland(0.3, dimension=3)), GREEDY, SCATTERED, HEIGHTS, {"engine": "neighbours"}
    ),
    "streamed": lambda: Endless(
        kernel_learner(1e-6), nimt.RandomTeacher(k=2), SCATTERED, HEIGHTS, {"engine": "streamed"}
    ),
    "plain loop, other labels": lambda: Endless(
        kernel_learner(),
        nimt.GreedyTeacher(labels=nimt.teachers.AlternativeLabels(-WAVES, 0.3)),
        GRID,
        WAVES,
        {"engine": "reference"},
    ),
    "diverse packs": lambda: Endless(
        kernel_learner(), nimt.GreedyTeacher(k=4, diverse=True, kernel=nimt.rbf(0.1)), GRID, WAVES
    ),
    "orthogonal": lambda: Endless(nimt.learners.OrthogonalLearner(nimt.rbf(0.1)), nimt.RandomTeacher(), MANY, HILLS),
    "interpolation, as GreedyKernelRegressor": lambda: Endless(
        nimt.learners.OrthogonalLearner(nimt.rbf(0.1)),
        nimt.teachers.InterpolationTeacher("f/P", nimt.rbf(0.1)),
        MANY,
        HILLS,
    ),
    "linear": lambda: Endless(
        nimt.LinearLearner([0.0, 0.0, 0.0], learning_rate=1e-6), nimt.RandomTeacher(k=3), SCATTERED, HEIGHTS
    ),
    "box": lambda: Endless(
        kernel_learner(1e-3, nimt.rbf(0.3)), GREEDY, nimt.Box([(-1.0, 1.0)]), np.sin, again={"y": np.sin}
    ),
    "gradient descent of scikit-learn": lambda: Endless(
        SGDRegressor(random_state=1, eta0=1e-4), nimt.RandomTeacher(k=4), SCATTERED, HEIGHTS
    ),
    "classifier of scikit-learn": lambda: Endless(
        SGDClassifier(random_state=1), nimt.RandomTeacher(k=4), SCATTERED, np.sign(HEIGHTS)
    ),
    "network of scikit-learn": lambda: Endless(
        MLPRegressor(hidden_layer_sizes=(20,), random_state=1), nimt.GreedyTeacher(k=8), SCATTERED, HEIGHTS
    ),
    "network of PyTorch": of_torch,
}


def killed_after(seconds: float, call: Callable[[], object], there: Path | None = None) -> bool:
    """Run a call in a process of its own, and kill it so many seconds later; False if it ended well before that.

    Where a file is given that is to be there, the seconds count from then on: a busy machine may take its time.
    """
    child = multiprocessing.get_context("fork").Process(target=call)
    child.start()
    end = time.monotonic() + PATIENCE
    while there is not None and not there.exists() and child.exitcode is None and time.monotonic() < end:
        time.sleep(0.01)
    child.join(seconds)
    if child.exitcode is not None:
        assert child.exitcode == 0
        return False
    child.kill()
    child.join()
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_kills_at_random_moments_change_nothing(kind: str, tmp_path: Path) -> None:
    lesson = KINDS[kind]()
    given = (lesson.learner, lesson.teacher, lesson.pool, lesson.target)
    rules = {"max_iterations": 2 * 10**7, "tol": None, "seed": 5, "record": "all"} | lesson.rules
    place = tmp_path / "checkpoint.npz"
    rng = np.random.default_rng(sum(map(ord, kind)))
    begun = killed_after(rng.uniform(0.0, 1.0), lambda: nimt.teach(*given, checkpoint=place, **rules), place)
    assert begun, "it ended: this proves nothing"
    assert place.exists(), "killed before any checkpoint: this proves nothing"
    for _ in range(2):
        assert killed_after(rng.uniform(0.1, 1.5), lambda: nimt.resume(place, **lesson.again))
    resumed = nimt.resume(place, time_limit=0.1, **lesson.again)
    assert resumed.outcome is nimt.lesson.Outcome.TIME
    whole = nimt.teach(*given, **rules | {"max_iterations": len(resumed), "tol": None})
    assert len(resumed) == len(whole)
    for name in ("discrepancy", "indices", "labels", "picks", "final", "shown_points", "looked", "mix_steps", "mixes"):
        one, other = getattr(whole, name), getattr(resumed, name)
        if one is None or other is None:
            assert one is other, name
        else:
            np.testing.assert_array_equal(one, other, err_msg=name)


def test_a_sweep_that_is_killed_gives_every_lesson_once(tmp_path: Path) -> None:
    learners = {rate: kernel_learner(float(rate)) for rate in ("1e-3", "1e-2", "1e-1")}
    teachers = {"greedy": GREEDY, "random": nimt.RandomTeacher(), "mixed labels": nimt.SynthesisTeacher()}
    rules = {"max_iterations": 150_000, "tol": None, "seeds": 3, "record": "picks", "keep_lessons": True, "n_jobs": 2}
    rng = np.random.default_rng(8)

    def entries(folder: str) -> dict[tuple[str, str, int], dict[str, Any]]:
        found = nimt.sweep((GRID, WAVES), learners, teachers, out=tmp_path / folder, **rules)
        same = [dataclasses.replace(entry, seconds=0.0) for entry in found.entries]
        return {(entry.learner, entry.teacher, entry.seed): dataclasses.asdict(entry) for entry in same}

    kills = 0
    while kills < 5 and killed_after(rng.uniform(0.05, 0.6), lambda: entries("killed")):
        kills += 1
    assert kills >= 2, "it ended: this proves nothing"
    again = entries("killed")
    assert again == entries("whole")
    rows = (tmp_path / "killed" / "lessons.jsonl").read_text().splitlines()
    assert len({row for row in rows if row.endswith("}")}) == len(again)
    for entry in again.values():
        one, other = (nimt.Lesson.load(tmp_path / of / "lessons" / f"{entry['key']}.npz") for of in ("killed", "whole"))
        np.testing.assert_array_equal(one.discrepancy, other.discrepancy)
        np.testing.assert_array_equal(one.final, other.final)


def test_a_comparison_that_is_killed_goes_on(tmp_path: Path) -> None:
    teachers = {"greedy": GREEDY, "random": nimt.RandomTeacher(), "packs": nimt.GreedyTeacher(k=0.1)}
    learner = kernel_learner(1e-6)
    paced = nimt.teach(
        learner, teachers["packs"], GRID, WAVES, max_iterations=10**7, tol=None, time_limit=5.0, record="picks"
    )
    rng = np.random.default_rng(9)

    def compared(folder: Path | None) -> nimt.runs.Comparison:
        rules = {"max_iterations": len(paced), "tol": None, "seeds": 2, "record": "picks", "engine": "grid"}
        return nimt.compare(learner, teachers, GRID, WAVES, out=folder, **rules)

    folder = tmp_path / "lessons"
    assert killed_after(rng.uniform(0.1, 0.3), lambda: compared(folder))
    packs = folder / "under-way"  # of the last one, longer than the interval of checkpoints
    assert killed_after(rng.uniform(0.0, 0.5), lambda: compared(folder), packs), "it ended: this proves nothing"
    assert list(packs.glob("*.npz"))
    killed_after(rng.uniform(0.1, 0.5), lambda: compared(folder))
    resumed, whole = compared(folder), compared(None)
    assert list(resumed.lessons) == list(whole.lessons)
    for name, lessons in whole.lessons.items():
        for one, other in zip(lessons, resumed.lessons[name], strict=True):
            np.testing.assert_array_equal(one.discrepancy, other.discrepancy, err_msg=name)
            np.testing.assert_array_equal(one.final, other.final, err_msg=name)
            np.testing.assert_array_equal(one.picks, other.picks, err_msg=name)
