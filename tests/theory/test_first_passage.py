"""Forecasts of a random teacher: an ITD is the *first* step below the tolerance, so a dip of M ends a lesson."""

from __future__ import annotations

import numpy as np
import pytest

import nimt
from nimt.theory import first_passage, forecasting
from random_lessons import GRID, LESSONS, NOISY, QUICK, RandomLesson

pytestmark = pytest.mark.long


def hold_against_lessons(lesson, seeds):
    """Compare a forecast with lessons; return how many of them are in its interval."""
    found = lesson.forecast(seed=1000)
    low, high = found.interval
    taught = lesson.teach(seeds, longest=4 * high)
    assert np.isfinite(taught).all()
    middle, spread = float(np.median(taught)), float(np.std(np.log(taught)))
    given = first_passage.MOST_LESSONS if found.kind == "simulated" else np.inf
    # both medians vary: their deviation is 1.25 spread / sqrt(lessons); the moments are promised within 6 %
    apart = 3 * 1.25 * spread * np.sqrt(1 / seeds + 1 / given) + (0.01 if found.kind == "simulated" else 0.06)
    assert abs(np.log(found.itd / middle)) <= apart, f"{found.itd} forecast, {middle} taught"
    assert low <= found.itd <= high
    assert found.bounds[0] <= taught.min()
    return int(np.count_nonzero((taught >= low) & (taught <= high)))


@pytest.mark.parametrize("name", QUICK)
def test_a_forecast_is_where_lessons_first_pass_the_tolerance(name):
    assert hold_against_lessons(QUICK[name], seeds=20) >= 15


@pytest.mark.exhaustive
def test_the_intervals_of_the_whole_table_hold_what_they_say():
    inside = {name: hold_against_lessons(lesson, seeds=40) for name, lesson in LESSONS.items()}
    assert len(inside) >= 30
    assert min(inside.values()) >= 30, inside
    assert sum(inside.values()) / (40 * len(inside)) >= 0.92, inside


def test_the_jump_takes_131_thousand_steps_and_says_that_lessons_were_given():
    found = QUICK["a jump"].forecast()
    assert found.itd == pytest.approx(132_000, rel=0.03) and found.kind == "simulated"
    assert "24 lessons" in found.method and "Simulated" in str(found)
    assert found.curve.at(found.itd) > 0.104  # in the mean over the draws M is still above 0.1
    assert found.interval[0] > 120_000 and found.interval[1] < 145_000


def test_a_forecast_is_the_same_each_time_and_another_with_another_seed():
    lesson = QUICK["six points apart"]
    assert lesson.forecast().interval == lesson.forecast().interval
    assert lesson.forecast().interval != lesson.forecast(seed=5).interval


def test_the_lesson_that_is_forecast_is_not_among_those_given(monkeypatch):
    seeds = []
    taught = forecasting.LessonStart.teach_copy

    def noted(self, steps, **options):
        seeds.append(options["seed"])
        return taught(self, steps, **options)

    monkeypatch.setattr(forecasting.LessonStart, "teach_copy", noted)
    QUICK["six points apart"].forecast(seed=3)
    assert len(set(seeds)) == first_passage.MOST_LESSONS and 3 not in seeds


def test_a_lesson_with_a_drawn_pool_keeps_it_in_the_lessons_given():
    drawn = nimt.forecast(
        nimt.KernelLearner(nimt.rbf(0.05), learning_rate=0.3), nimt.RandomTeacher(pool=0.9), GRID, np.sin, tol=0.35,
        measure="rms", seed=4,
    )  # fmt: skip
    fixed = nimt.forecast(
        nimt.KernelLearner(nimt.rbf(0.05), learning_rate=0.3), nimt.RandomTeacher(pool=drawn.start.candidates), GRID,
        np.sin, tol=0.35, measure="rms", seed=4,
    )  # fmt: skip
    assert drawn.kind == "simulated" and drawn.interval == fixed.interval


def test_lessons_too_long_to_be_given_get_a_wide_interval_that_holds_them(monkeypatch):
    monkeypatch.setattr(forecasting, "DRAWS_SECONDS", 1e-3)
    for name in ("a jump", "a jump, rate 0.3", "noise, scattered, rate 0.4"):
        lesson = QUICK[name]
        found = lesson.forecast()
        low, high = found.interval
        taught = lesson.teach(10, longest=high)
        assert found.kind == "mean" and "too long to be simulated" in found.method
        assert low <= taught.min() and taught.max() <= high


def test_the_steps_given_stay_within_the_budget(monkeypatch):
    given = []
    taught = forecasting.LessonStart.teach_copy

    def noted(self, steps, **options):
        given.append(len(lesson := taught(self, steps, **options)))
        return lesson

    monkeypatch.setattr(forecasting.LessonStart, "teach_copy", noted)
    monkeypatch.setattr(forecasting, "DRAWS_SECONDS", 0.01)
    budget = 0.01 / (first_passage.STEP_SECONDS + first_passage.POINT_SECONDS * 121)
    RandomLesson(GRID, np.sign, 0.15, 0.1).forecast()
    assert sum(given) <= budget * (1 + 1 / first_passage.FEWEST_LESSONS) and len(given) >= first_passage.FEWEST_LESSONS
    given.clear()
    RandomLesson(GRID, np.sign, 0.1, 0.1).forecast()
    assert len(given) == first_passage.HOPELESS


def test_a_mean_that_rests_above_the_tolerance_does_not_say_that_no_lesson_gets_there():
    X, y = np.array([[0.0], [0.0], [1.0]]), [1.0, 1.2, 0.0]
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.2)
    tol = np.sqrt(0.02) / 3 * 1.01  # one per cent above what equal points leave
    found = nimt.forecast(learner, nimt.RandomTeacher(), X, y, tol=tol)
    taught = [
        nimt.teach(learner, nimt.RandomTeacher(), X, y, tol=tol, max_iterations=1000, seed=s).itd for s in range(40)
    ]
    assert None not in taught
    inside = np.count_nonzero((found.interval[0] <= np.array(taught)) & (np.array(taught) <= found.interval[1]))
    assert found.reachable and inside >= 34


def test_what_the_budget_does_not_reach_is_said_not_to_be_reached_so_far(monkeypatch):
    monkeypatch.setattr(forecasting, "DRAWS_SECONDS", 0.5)
    lesson = RandomLesson(GRID, NOISY, 0.07)
    found = lesson.forecast()
    assert found.itd is None and found.reachable
    assert "not reached in" in str(found) and found.interval[1] is None
    assert not np.isfinite(lesson.teach(3, min(found.interval[0], 300_000))).any()


def test_lessons_that_all_diverge_are_out_of_reach():
    X, y = np.linspace(-0.01, 0.01, 6), np.linspace(1.0, 1.01, 6)
    learner = nimt.KernelLearner(nimt.rbf(0.7), learning_rate=1.5)
    found = nimt.forecast(learner, nimt.RandomTeacher(k=2), X, y, tol=1e-3)
    assert not found.reachable and "diverged" in found.method


def test_a_budget_of_steps_that_half_of_the_lessons_need_is_an_open_interval():
    lesson = QUICK["a sine"]
    free = lesson.forecast()
    found = lesson.forecast(max_iterations=free.itd + 10)
    assert found.itd is not None and found.interval[1] is None
    assert lesson.forecast(max_iterations=free.interval[0] // 2).itd is None
