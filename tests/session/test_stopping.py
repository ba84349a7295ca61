"""Each way a lesson can end, and the sentence it ends with."""

import dataclasses
import time
from types import SimpleNamespace

import numpy as np
import pytest

import nimt
from nimt.engines import reference_engine as reference
from nimt.engines._numba import caching
from nimt.engines._numba.compiling import seconds_compiling
from nimt.lesson import Outcome
from nimt.plain_numba import PLAIN_NUMBA
from nimt.session import session as running
from problems import scattered, small_lesson


def known():
    """Return a learner that already knows the target."""
    _, target, _ = scattered()
    return nimt.KernelLearner(nimt.rbf(0.7), initial=target)


def test_it_stops_at_the_first_step_below_the_tolerance():
    whole = small_lesson(max_iterations=200)
    tol = whole.discrepancy[60]
    lesson = small_lesson(max_iterations=200, tol=tol)
    first = next(t for t, m in enumerate(whole.discrepancy) if m < tol)
    assert lesson.itd == len(lesson) == first
    assert lesson.outcome is Outcome.CONVERGED
    np.testing.assert_array_equal(lesson.discrepancy, whole.discrepancy[: first + 1])


def test_a_discrepancy_equal_to_the_tolerance_is_not_below_it():
    start = small_lesson(max_iterations=0).discrepancy[0]
    assert small_lesson(max_iterations=0, tol=start).itd is None
    assert small_lesson(max_iterations=0, tol=np.nextafter(start, 1)).itd == 0


def test_a_learner_that_already_knows_needs_no_example():
    lesson = small_lesson(learner=known(), tol=1e-12)
    assert lesson.itd == 0
    assert len(lesson) == 0
    assert lesson.outcome is Outcome.CONVERGED
    assert lesson.indices.shape == (0, 1)
    assert lesson.picks.sum() == 0
    np.testing.assert_array_equal(lesson.final, lesson.initial)


def test_a_tolerance_met_by_the_last_step_counts():
    whole = small_lesson(max_iterations=200)
    t = next(t for t in range(60, 200) if whole.discrepancy[t] < whole.discrepancy[:t].min())
    tol = np.nextafter(whole.discrepancy[t], 1)
    lesson = small_lesson(max_iterations=t, tol=tol)
    assert (lesson.outcome, lesson.itd) == (Outcome.CONVERGED, t)
    assert small_lesson(max_iterations=t - 1, tol=tol).outcome is Outcome.BUDGET


@pytest.mark.parametrize("budget", [0, 1, 7])
def test_the_budget(budget):
    lesson = small_lesson(max_iterations=budget)
    assert len(lesson) == budget
    assert lesson.outcome is Outcome.BUDGET
    assert lesson.itd is None
    assert lesson.discrepancy.shape == (budget + 1,)


def test_a_zero_tolerance_is_never_met():
    assert small_lesson(learner=known(), tol=0, max_iterations=3).outcome is Outcome.BUDGET


@pytest.mark.parametrize("k", [1, 3])
def test_it_stops_before_an_example_that_no_longer_moves_the_learner(k):
    _, target, _ = scattered()
    whole = small_lesson(nimt.GreedyTeacher(k=k), max_iterations=80, snapshots=range(81))

    def largest_s(t):
        return max((2 * (whole.snapshots[t][i] - target[i])) ** 2 for i in whole.indices[t])

    limit = largest_s(40)
    lesson = small_lesson(nimt.GreedyTeacher(k=k), max_iterations=80, stop_when_stationary=limit)
    assert lesson.outcome is Outcome.STATIONARY
    assert len(lesson) == next(t for t in range(80) if largest_s(t) <= limit * (1 + 1e-12))


def test_stationarity_counts_the_diagonal():
    learner = nimt.KernelLearner(nimt.linear(0.0), learning_rate=1e-6)
    for limit, steps in ((2 * 3.0 * 4.0 - 0.01, 2), (2 * 3.0 * 4.0 + 0.01, 0)):
        lesson = nimt.teach(
            learner, nimt.GreedyTeacher(), [[2.0]], [3.0], max_iterations=2, tol=None, stop_when_stationary=limit**2
        )
        assert len(lesson) == steps


def test_patience_runs_out_when_nothing_improves():
    _, _, other = scattered()
    wrong = nimt.RandomTeacher(labels=nimt.teachers.AlternativeLabels(other, probability=1.0))
    whole = small_lesson(wrong, max_iterations=300)
    for patience in (1, 5, 20):
        lesson = small_lesson(wrong, max_iterations=300, patience=patience)
        best, best_at, expected = np.inf, 0, None
        for t, m in enumerate(whole.discrepancy):
            if m < best:
                best, best_at = m, t
            if t - best_at >= patience:
                expected = t
                break
        assert lesson.outcome is Outcome.STALLED
        assert len(lesson) == expected


def test_staying_the_same_is_no_improvement():
    learner = nimt.KernelLearner(nimt.rbf(1.0), loss="hinge", initial=5.0)  # y f >= 1: the hinge is flat
    lesson = nimt.teach(learner, nimt.RandomTeacher(), [[0.0]], [1.0], max_iterations=50, tol=None, patience=4)
    assert lesson.outcome is Outcome.STALLED
    assert len(lesson) == 4


@pytest.mark.parametrize("engine", ["reference", "grid", "neighbours", "streamed"])
def test_a_lesson_that_no_step_can_move_ends_and_says_so(engine):
    learner = nimt.KernelLearner(nimt.rbf(1.0), loss="hinge", initial=5.0)
    x = nimt.Grid([0.0, 9.0])
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), x, [1.0, 2.0], max_iterations=50, tol=None, engine=engine)
    assert lesson.outcome is Outcome.AT_REST
    assert len(lesson) == 0
    again = nimt.teach(learner, nimt.RandomTeacher(), x, [1.0, 2.0], max_iterations=50, tol=None, engine=engine)
    assert again.outcome is Outcome.BUDGET  # another draw might move it


class ByTurns(nimt.Teacher):
    """Shows one point after the other, and remembers nothing."""

    def select(self, view):
        return view.show([view.step % len(view)])


class First(ByTurns):
    """Says that it shows the same again."""

    changes_by_step = False

    def select(self, view):
        return view.show([0])


class Careless(First):
    """Inherits what was said of another choice of its own."""


class Watched(nimt.teachers.Observed):
    """Wraps another teacher and chooses by the step."""

    def select(self, view):
        return view.show([view.step % len(view)])


@pytest.mark.parametrize(
    ("teacher", "outcome"),
    [
        (ByTurns(), Outcome.BUDGET),
        (First(), Outcome.AT_REST),
        (Careless(), Outcome.AT_REST),
        (nimt.teachers.Observed(ByTurns()), Outcome.BUDGET),
        (Watched(nimt.GreedyTeacher()), Outcome.BUDGET),
    ],
)
def test_a_teacher_of_ones_own_may_choose_by_the_step_unless_it_says_not(teacher, outcome):
    start = np.array([5.0, 0.0])  # y f >= 1 at the first point, where the hinge is flat; not at the second
    learner = nimt.KernelLearner(nimt.rbf(1.0), loss="hinge", learning_rate=0.1, initial=start)
    lesson = nimt.teach(learner, teacher, nimt.Grid([0.0, 9.0]), [1.0, 1.0], max_iterations=6, tol=None)
    assert lesson.outcome is outcome
    assert lesson.final[1] == pytest.approx(0.3 if outcome is Outcome.BUDGET else 0.0)


def test_a_mixture_changes_by_step_where_one_of_its_teachers_does():
    own = dataclasses.make_dataclass("Own", [("k", int, 1)], bases=(ByTurns,), frozen=True, eq=False)
    for first, changes in ((nimt.GreedyTeacher(), False), (own(), True)):
        mixed = nimt.teachers.MixedTeacher([(first, 0.5), (nimt.teachers.UncertaintyTeacher(), 0.5)], k=2)
        assert mixed.changes_by_step is changes


@pytest.mark.long
def test_a_time_limit_counts_the_seconds_of_callbacks_too():
    began = time.perf_counter()
    lesson = small_lesson(max_iterations=10**9, time_limit=0.3, record="picks", callback=lambda p: time.sleep(0.1))
    assert lesson.outcome is Outcome.TIME
    assert 0.3 <= time.perf_counter() - began < 5
    assert len(lesson) > 0


COMPILES, ONE_STEP = 100.0, 1.0  # seconds by the clock below


@pytest.fixture
def compiling_clock(monkeypatch):
    """A clock on which the first chunk of a lesson is compiled for 100 seconds, and every step takes one."""
    now, compiled = [0.0], [0.0]
    advance = reference.ReferenceEngine.advance

    def timed(engine, steps, asked=()):
        if engine.step in begins:
            now[0] += COMPILES
            compiled[0] += COMPILES
        before = engine.step
        try:
            return advance(engine, min(steps, 1), asked)
        finally:
            now[0] += ONE_STEP * (engine.step - before)

    begins = {0}
    monkeypatch.setattr(reference.ReferenceEngine, "advance", timed)
    monkeypatch.setattr(running, "seconds_compiling", lambda: compiled[0])
    monkeypatch.setattr(running, "time", SimpleNamespace(perf_counter=lambda: now[0], sleep=time.sleep))
    return begins


LIMITED = {"max_iterations": 1000, "tol": None, "engine": "reference", "time_limit": 4.0}


@pytest.mark.usefixtures("compiling_clock")
def test_a_time_limit_does_not_count_the_seconds_of_compiling():
    lesson = small_lesson(**LIMITED)
    assert (lesson.outcome, len(lesson), lesson.elapsed, lesson.compiling) == (Outcome.TIME, 4, 4.0, COMPILES)


def test_a_time_limit_of_a_resumed_lesson_counts_from_now_and_without_compiling(compiling_clock, tmp_path):
    place = tmp_path / "checkpoint"
    small_lesson(**LIMITED, checkpoint=place)
    compiling_clock.add(4)  # the process that resumes compiles again
    lesson = nimt.resume(place, time_limit=3.0)
    assert (lesson.outcome, len(lesson), lesson.elapsed, lesson.compiling) == (Outcome.TIME, 7, 7.0, 2 * COMPILES)


@pytest.mark.usefixtures("compiling_clock")
def test_a_time_limit_in_compare_and_sweep_does_not_count_compiling_either():
    points, target, _ = scattered()
    learner = nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.2)
    compared = nimt.compare(learner, [nimt.GreedyTeacher()], points, target, **LIMITED)
    assert [len(lesson) for lesson in compared.lessons["GFT-1"]] == [4]
    found = nimt.sweep((points, target), learner, nimt.GreedyTeacher(), **LIMITED, n_jobs=1)
    assert [(entry.steps, entry.outcome) for entry in found.entries] == [(4, str(Outcome.TIME))]


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
def test_a_lesson_that_has_grown_a_millionfold_has_diverged():
    lesson = small_lesson(learner=nimt.KernelLearner(nimt.rbf(0.7), learning_rate=1.5), max_iterations=5000)
    assert lesson.outcome is Outcome.DIVERGED
    assert lesson.discrepancy[-1] > 1e6 * lesson.discrepancy[0]
    assert lesson.discrepancy[-2] <= 1e6 * lesson.discrepancy[0]


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("measure", ["paper", "rms", "rkhs"])
@pytest.mark.parametrize("k", [1, 4])
def test_what_is_not_finite_has_diverged_without_a_word_from_numpy(measure, k):
    learner = nimt.KernelLearner(nimt.rbf(0.3), learning_rate=1e308)
    lesson = small_lesson(nimt.GreedyTeacher(k=k), learner, measure=measure, max_iterations=50)
    assert lesson.outcome is Outcome.DIVERGED
    assert len(lesson) <= 2


def test_a_callback_can_stop(every_step):
    lesson = small_lesson(callback=lambda progress: progress.step == 7)
    assert lesson.outcome is Outcome.STOPPED
    assert len(lesson) == 7


def test_every_outcome_is_a_sentence():
    for outcome in Outcome:
        assert str(outcome) == outcome.value
        assert len(outcome.value.split()) >= 4
    assert Outcome.CONVERGED.value == "the discrepancy fell below the tolerance"
    assert Outcome.BUDGET.value == "the iteration budget ran out"
    assert Outcome.DIVERGED.value == "the learner is moving away: lower the learning rate"


def test_a_lesson_stepped_by_hand_is_unfinished_until_it_ends():
    points, target, _ = scattered()
    walk = nimt.steps(
        nimt.KernelLearner(nimt.rbf(0.7)), nimt.GreedyTeacher(), points, target, max_iterations=2, tol=None
    )
    assert walk.lesson.outcome is Outcome.UNFINISHED
    assert len(list(walk)) == 2
    assert walk.lesson.outcome is Outcome.BUDGET
    assert list(walk) == []


def one_more(number):
    return number + 1


@pytest.mark.skipif(PLAIN_NUMBA, reason="of numba's inner workings")
def test_loading_what_was_compiled_before_counts_as_compiling():
    caching.compiled(one_more)(1)  # keeps it on disk
    loads = caching.compiled(one_more)
    before = seconds_compiling()
    loads(1)
    first = seconds_compiling()
    loads(1)
    assert sum(loads.stats.cache_hits.values()) == 1
    assert first > before
    assert seconds_compiling() == first
