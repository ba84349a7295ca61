"""A task is a value that is checked once, a session is what changes."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import nimt
from nimt.lesson.identity import identity
from nimt.task.options import Keep
from nimt.task.task import Task

GRID = nimt.Grid(np.linspace(-2, 2, 40))
POINTS = np.random.default_rng(3).uniform(-2, 2, size=(40, 2))


def a_task(engine="auto", teacher=None, pool=GRID, outputs=1, **options):
    points = nimt.Points(pool).points if isinstance(pool, np.ndarray) else pool.points
    target = np.sin(points.sum(axis=1))
    if outputs == 2:
        target = np.column_stack([target, np.cos(points.sum(axis=1))])
    learner = nimt.KernelLearner(nimt.rbf(0.4), learning_rate=0.2)
    options = {"max_iterations": 30, "tol": None, "engine": engine} | options
    return Task.of(learner, teacher or nimt.GreedyTeacher(), pool, target, **options)


TEACHERS = {
    "one": (nimt.GreedyTeacher(), 1),
    "packs": (nimt.GreedyTeacher(k=3), 1),
    "whole": (nimt.GreedyTeacher(k=1.0), 1),
    "drawn": (nimt.RandomTeacher(k=2), 1),
    "two outputs": (nimt.GreedyTeacher(k=2), 2),
    "per output": (nimt.teachers.PerOutput(nimt.GreedyTeacher(k=2)), 2),
    "schedule": (nimt.GreedyTeacher(k=nimt.schedules.steps(5, 2, over=20, stages=2)), 1),
}


@pytest.mark.long
@pytest.mark.parametrize("engine", ["reference", "grid", "neighbours", "streamed"])
@pytest.mark.parametrize("teacher", TEACHERS)
@pytest.mark.sampled(3)
def test_the_coefficients_of_a_chunk_are_what_its_examples_added(teacher, engine):
    chosen, outputs = TEACHERS[teacher]
    task = a_task(engine, chosen, GRID if engine in ("grid", "reference") else POINTS, outputs)
    session = task.keeping(Keep(coefficients=True)).begin(quiet=True)
    f = np.array(session.values)
    gram = task.learner.kernel(task.pool.points)
    while session.outcome is None:
        chunk = session.advance(7)
        assert chunk.coefficients.shape == chunk.labels.shape
        for indices, added in zip(chunk.indices, chunk.coefficients, strict=True):
            shown = indices >= 0
            assert np.isfinite(added[shown]).all()
            if teacher == "per output":
                for place, (index, one) in enumerate(zip(indices, added, strict=True)):
                    f[:, place // 2] += one * gram[:, index]
            else:
                f += gram[:, indices[shown]] @ added[shown]
        np.testing.assert_allclose(session.values, f, rtol=0, atol=1e-12)


def test_chunks_have_no_coefficients_unless_they_are_asked_for():
    assert a_task().keeping(Keep()).begin().advance(3).coefficients is None


def test_a_task_can_begin_twice_and_its_learner_stays_as_it_was():
    task = a_task()
    first, second = task.begin().run(), task.begin().run()
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_array_equal(first.final, second.final)
    assert not hasattr(task.learner, "centers_")


def test_a_task_chooses_its_engine_once(monkeypatch):
    from nimt.engines import choice as choosing

    calls = []
    choose = choosing.choose
    monkeypatch.setattr(choosing, "choose", lambda task: calls.append(task) or choose(task))
    task = a_task()
    assert task.plan.engine == "grid"
    task.keeping(Keep(record="picks")).begin().run()
    assert len(calls) == 1


def test_the_id_of_a_task_is_that_of_its_lesson():
    from nimt.lesson.identity import identity

    task = a_task()
    assert task.id == a_task().id == identity(task.begin().run().settings)
    assert task.id != a_task(seed=1).id


@pytest.mark.parametrize("call", [nimt.steps, nimt.plan])
def test_a_misspelt_option_is_refused_by_the_function_that_was_called(call):
    with pytest.raises(TypeError, match=rf"^{call.__name__}\(\) got an unexpected keyword argument 'tool'$"):
        call(nimt.KernelLearner(nimt.rbf(1.0)), nimt.GreedyTeacher(), [0.0, 1.0], [1.0, 2.0], max_iterations=3, tool=1)


def test_a_lesson_is_described_as_its_learner_was_when_it_began():
    x = nimt.Grid(np.linspace(-2, 4, 50))
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.1)
    task = Task.of(learner, nimt.GreedyTeacher(), x, np.sin, max_iterations=9)
    lesson = task.begin().run()
    assert not isinstance(vars(lesson)["settings"], dict)  # nobody has asked yet
    learner.set_params(learning_rate=0.4, kernel__width=2.0)
    learner.partial_fit([[0.0]], [1.0])
    expected = Task.of(
        nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.1), nimt.GreedyTeacher(), x, np.sin, max_iterations=9
    ).settings
    copied = copy.deepcopy(lesson)
    assert identity(vars(copied)["settings"]) == identity(expected)  # a copy holds the description itself
    assert identity(lesson.settings) == identity(expected)
    assert lesson.settings["learner"] == expected["learner"]
    assert lesson.settings is lesson.settings


class OwnMeasure(nimt.measures.Measure):
    name = "largest"

    def of(self, pupil, target):
        return float(np.abs(pupil.values - target).max())


@pytest.mark.parametrize("changes", ["kernel", "teacher", "target", "rate", "measure"])
def test_what_may_change_is_described_before_the_first_step(changes):
    learner = nimt.KernelLearner(
        nimt.rbf(0.5) + nimt.rbf(1.0) if changes == "kernel" else nimt.rbf(0.5),
        learning_rate=(lambda step: 0.1) if changes == "rate" else 0.1,
    )
    teacher = nimt.GreedyTeacher(pool=[0, 1, 2]) if changes == "teacher" else nimt.GreedyTeacher()
    target = (lambda x: x[:, 0]) if changes == "target" else np.arange(5.0)
    measure = OwnMeasure() if changes == "measure" else "paper"
    session = Task.of(learner, teacher, np.arange(5.0), target, measure=measure, max_iterations=3).begin()
    assert "settings" in vars(session.task)


GROWING = nimt.schedules.PackSchedule("linear", 1, 9)
SLOW_TEACHERS = {
    "packs drawn by odds": (nimt.teachers.SoftTeacher(k=3), "SoftTeacher chooses by its own"),
    "diverse packs that grow": (
        nimt.GreedyTeacher(k=GROWING, diverse=True, kernel=nimt.rbf(0.3)), "follows the schedule of this GreedyTeacher",
    ),
    "packs that grow between looks": (
        nimt.GreedyTeacher(k=GROWING, look=nimt.schedules.LookSchedule("every", 5)), "follows the schedule",
    ),
    "odds for each output": (nimt.teachers.PerOutput(nimt.teachers.SoftTeacher()), "by odds for each output"),
    "made labels for each output": (
        nimt.teachers.PerOutput(nimt.SynthesisTeacher(label_range="target")), "responses for each output",
    ),
}  # fmt: skip


@pytest.mark.parametrize("teacher", SLOW_TEACHERS)
def test_every_teacher_that_no_compiled_engine_covers_says_so(teacher):
    given, reason = SLOW_TEACHERS[teacher]
    y = np.random.default_rng(0).normal(size=(50, 2) if "output" in teacher else 50)
    lesson = (nimt.KernelLearner(nimt.rbf(0.3)), given, nimt.Grid(np.arange(50.0)), y)
    with pytest.warns(nimt.errors.SlowLessonWarning, match=rf"may take about \d+ s in the plain loop, .*{reason}"):
        nimt.steps(*lesson, max_iterations=1_000_000, tol=None)


def test_a_long_lesson_in_the_plain_loop_says_so_and_why():
    y = np.random.default_rng(0).normal(size=50)
    long = (nimt.KernelLearner(nimt.rbf(0.3)), nimt.teachers.SoftTeacher(k=3), nimt.Grid(np.arange(50.0)), y)
    with pytest.warns(
        nimt.errors.SlowLessonWarning, match=r"1,000,000 steps may take about \d+ s in the plain loop, bec"
    ):
        nimt.steps(*long, max_iterations=1_000_000, tol=None)
    nimt.steps(*long, max_iterations=10_000, tol=None)
    nimt.steps(*long, max_iterations=1_000_000, tol=None, engine="reference")
