"""Snapshots after every step: the values at each, on every engine, and nothing else of the lesson changes."""

from __future__ import annotations

import numpy as np
import pytest

import nimt

pytestmark = pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")

GRID = nimt.Grid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 11))
WAVES = np.sin(4 * GRID.points[:, 0]) * np.cos(3 * GRID.points[:, 1])
TWO = np.stack([WAVES, WAVES**2], axis=1)
STEPS = 40
GREEDY = nimt.GreedyTeacher()

LESSONS = {
    "one example": (GREEDY, WAVES, "grid", {}),
    "two outputs": (GREEDY, TWO, "grid", {}),
    "outputs apart": (nimt.teachers.PerOutput(GREEDY), TWO, "grid", {}),
    "mixed": (nimt.teachers.Communicating(GREEDY, every=7), TWO, "grid", {}),
    "by a loss": (nimt.GreedyTeacher(score="loss", loss="square"), WAVES, "grid", {}),
    "packs": (nimt.GreedyTeacher(k=0.4), WAVES, "grid", {}),
    "the whole pool": (nimt.GreedyTeacher(k=1.0), WAVES, "grid", {}),
    "random, other labels": (
        nimt.RandomTeacher(k=2, labels=nimt.teachers.AlternativeLabels(-WAVES, 0.3)),
        WAVES,
        "grid",
        {},
    ),
    "drawn by its score": (nimt.teachers.SoftTeacher(), WAVES, "grid", {}),
    "made labels": (nimt.SynthesisTeacher(), WAVES, "grid", {}),
    "neighbours": (GREEDY, WAVES, "neighbours", {}),
    "streamed": (GREEDY, TWO, "streamed", {}),
    "plain loop": (GREEDY, WAVES, "reference", {}),
    "a rule ends it": (GREEDY, WAVES, "grid", {"tol": 0.045}),
}


@pytest.mark.long
@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.sampled(2)
def test_a_snapshot_after_every_step_is_what_a_walk_sees(name: str) -> None:
    teacher, target, engine, rules = LESSONS[name]
    learner = nimt.KernelLearner(nimt.rbf(0.2), learning_rate=0.3)
    given = (learner, teacher, GRID, target)
    rules = {"max_iterations": STEPS, "tol": None, "engine": engine, "seed": 4} | rules
    plain = nimt.teach(*given, **rules)
    lesson = nimt.teach(*given, snapshots=range(STEPS + 1), **rules)
    walk = nimt.steps(*given, **rules)
    seen = {0: walk.values} | {t: walk.values for t, _, _ in walk}
    assert lesson.outcome is plain.outcome
    assert (len(lesson) < STEPS) == (rules["tol"] is not None)
    assert list(lesson.snapshots) == list(range(len(plain) + 1))
    for step, values in lesson.snapshots.items():
        np.testing.assert_array_equal(values, seen[step], err_msg=f"step {step}")
    for column in ("discrepancy", "indices", "labels", "picks", "final"):
        np.testing.assert_array_equal(getattr(lesson, column), getattr(plain, column), err_msg=column)


def test_some_snapshots_are_taken_at_their_steps_in_one_call() -> None:
    learner = nimt.KernelLearner(nimt.rbf(0.2), learning_rate=0.3)
    asked = [0, 3, 20, 21, 39]
    walk = nimt.steps(learner, GREEDY, GRID, WAVES, max_iterations=STEPS, tol=None, snapshots=asked)
    chunk = walk.advance(STEPS)
    assert len(chunk.discrepancy) == STEPS, "a snapshot does not end a chunk"
    assert list(walk.lesson.snapshots) == asked
    every = nimt.teach(learner, GREEDY, GRID, WAVES, max_iterations=STEPS, tol=None, snapshots=range(STEPS + 1))
    for step in asked:
        np.testing.assert_array_equal(walk.lesson.snapshots[step], every.snapshots[step])
