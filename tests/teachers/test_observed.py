"""What a teacher sees through `Observed`, against a loop that keeps every function of the lesson."""

import numpy as np
import pytest

import nimt
from nimt.teachers.observed import Observed

X = np.linspace(-2, 2, 15)
TARGET = np.sin(2 * X)
LEARNER = nimt.KernelLearner(nimt.rbf(0.6), learning_rate=0.1, initial=0.2)
POINTS = np.array([0, 3, 4, 9])


def plain(steps, noise=0.0, delay=0, every=1, at=None, seed=0):
    K, f = nimt.rbf(0.6)(X[:, None]), np.full(15, 0.2)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    history, seen, shown = [], None, []
    for t in range(steps):
        history.append(f.copy())
        old = history[max(0, t - delay)]
        if t == 0:
            seen = old + (noise * rng.normal(size=15) if noise else 0)
        elif t % every == 0:
            places = list(range(15)) if at is None else [shown[-1]] if isinstance(at, str) else list(at)
            seen[places] = old[places] + (noise * rng.normal(size=len(places)) if noise else 0)
        i = int(np.argmax(np.abs(seen - TARGET)))
        shown.append(i)
        f = f - 0.1 * 2 * (f[i] - TARGET[i]) * K[:, i]
    return shown


@pytest.mark.parametrize(
    "options",
    [
        {}, {"noise": 0.3}, {"delay": 3}, {"every": 4}, {"at": "shown"}, {"at": POINTS},
        {"noise": 0.1, "delay": 2, "every": 3}, {"noise": 0.1, "at": POINTS, "delay": 1},
    ],
    ids=str,
)  # fmt: skip
def test_a_plain_loop_sees_the_same(options, tmp_path):
    teacher = Observed(nimt.GreedyTeacher(), **options)
    lesson = nimt.teach(LEARNER, teacher, X, TARGET, max_iterations=25, seed=4)
    assert lesson.indices.ravel().tolist() == plain(25, seed=4, **options)
    path = tmp_path / "half.npz"
    nimt.teach(LEARNER, teacher, X, TARGET, max_iterations=9, seed=4, checkpoint=path)
    resumed = nimt.resume(path, max_iterations=25)
    np.testing.assert_array_equal(resumed.final, lesson.final)
    assert resumed.settings["teacher"]["type"] == "Observed"


def test_when_it_looked_is_recorded():
    lesson = nimt.teach(LEARNER, Observed(nimt.GreedyTeacher(), every=4), X, TARGET, max_iterations=9)
    assert np.flatnonzero(lesson.looked).tolist() == [0, 4, 8]


def test_a_perfect_view_is_the_view():
    views = nimt.GreedyTeacher(), Observed(nimt.GreedyTeacher())
    lessons = [nimt.teach(LEARNER, one, X, TARGET, max_iterations=25) for one in views]
    assert lessons[0].indices.tolist() == lessons[1].indices.tolist()


def test_a_teacher_that_remembers_can_be_inside():
    plain = nimt.teach(LEARNER, nimt.SynthesisTeacher(), X, TARGET, max_iterations=20, engine="reference")
    seen = nimt.teach(LEARNER, Observed(nimt.SynthesisTeacher()), X, TARGET, max_iterations=20)
    np.testing.assert_array_equal(plain.labels, seen.labels)


def test_answers_come_as_they_are_observed():
    teacher = Observed(nimt.teachers.ExamTeacher(), noise=0.5)
    lesson = nimt.teach(LEARNER, teacher, X, TARGET, max_iterations=8)
    exact = nimt.teach(LEARNER, nimt.teachers.ExamTeacher(), X, TARGET, max_iterations=8)
    assert len(lesson.asked) == len(exact.asked) == 7
    assert not np.allclose(lesson.asked.answers, exact.asked.answers)
    assert lesson.access == "black box"


def test_several_outputs_and_a_pool():
    target = np.column_stack([TARGET, X])
    teacher = Observed(nimt.GreedyTeacher(pool=POINTS, k=2), delay=2, at=[3, 4])
    lesson = nimt.teach(LEARNER, teacher, X, target, max_iterations=6)
    assert set(lesson.indices.ravel().tolist()) <= set(POINTS.tolist())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"noise": -1}, "noise"), ({"delay": -1}, "delay"), ({"every": 0}, "every"), ({"at": "there"}, "'shown'"),
        ({"at": 3}, "'shown'"),
    ],
)  # fmt: skip
def test_bad_options(options, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        Observed(nimt.GreedyTeacher(), **options)


def test_two_schedules_of_looking_are_refused():
    with pytest.raises(nimt.InvalidInput, match="leave look= of the teacher out"):
        Observed(nimt.GreedyTeacher(look=nimt.schedules.every(2)), every=3)
