"""A learning rate above its bound warns once, where the caller stands."""

import warnings

import numpy as np
import pytest

import nimt
from problems import scattered, small_lesson

POINTS, TARGET, _ = scattered()


def rate(value, kernel=None, **options):
    return nimt.KernelLearner(kernel or nimt.rbf(0.7), learning_rate=value, **options)


def warned(learner, teacher=None, call=nimt.teach, target=TARGET, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(learner, teacher or nimt.GreedyTeacher(), POINTS, target, **{"max_iterations": 5, "tol": None} | options)
    return caught


@pytest.mark.parametrize("call", [nimt.teach, nimt.steps])
def test_it_names_the_bound_and_the_value(call):
    caught = warned(rate(0.6), call=call)
    assert len(caught) == 1
    assert caught[0].category is nimt.errors.StepSizeWarning
    assert "the learning rate 0.6 is above the bound 1 / (L max K(x, x)) = 0.5" in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "learner",
    [
        rate(0.5),
        rate("auto"),
        rate("auto", nimt.linear()),
        rate(0.125, 4.0 * nimt.rbf(0.7)),
        rate(0.1, loss="hinge"),
        rate(0.1, loss="absolute"),
        nimt.LinearLearner([0.0, 0.0, 0.0], learning_rate="auto"),
    ],
)
def test_at_the_bound_or_without_one_it_is_silent(learner):
    assert warned(learner) == []


@pytest.mark.parametrize(
    ("learner", "bound"),
    [
        (rate(0.2, 4.0 * nimt.rbf(0.7)), "0.125"),
        (rate(5.0, loss="logistic"), "= 4:"),
        (rate(0.6, loss="huber"), "= 0.5:"),
        (rate(lambda step: 0.7), "= 0.5:"),
    ],
)
def test_the_bound_follows_the_loss_and_the_diagonal(learner, bound):
    (caught,) = (one for one in warned(learner, target=np.sign(TARGET)) if one.category is nimt.errors.StepSizeWarning)
    assert bound in str(caught.message)


def test_above_twice_the_bound_it_says_that_the_lesson_will_diverge():
    (caught,) = warned(rate(1.1))
    assert "1.1 is above 1, twice the bound 1 / (L max K(x, x))" in str(caught.message)
    assert "the lesson will diverge" in str(caught.message)
    with pytest.warns(nimt.errors.StepSizeWarning):
        assert small_lesson(learner=rate(1.1), max_iterations=10_000).outcome is nimt.lesson.Outcome.DIVERGED


@pytest.mark.parametrize(
    ("learner", "teacher"),
    [
        (rate(1.5, loss="huber"), nimt.GreedyTeacher()),
        (rate(9.0, loss="logistic"), nimt.GreedyTeacher()),
        pytest.param(rate(1.5), nimt.SynthesisTeacher(), marks=pytest.mark.long),
        (rate(lambda step: 1.5 / (1 + step) ** 0.5), nimt.GreedyTeacher()),
        (rate(5.0, nimt.linear()), nimt.GreedyTeacher()),
        (rate(1.5), nimt.GreedyTeacher(labels=nimt.teachers.AlternativeLabels(np.sign(TARGET)))),
    ],
    ids=["huber", "logistic", "made labels", "a schedule", "a varying diagonal", "other labels"],
)
def test_where_it_is_not_proved_it_only_may_diverge(learner, teacher):
    (caught, *_) = warned(learner, teacher, target=np.sign(TARGET))
    assert "the lesson may diverge" in str(caught.message)
    assert "will" not in str(caught.message)


def test_a_pack_of_different_points_is_averaged_and_may_go_faster():
    apart = nimt.rbf(1e-3)  # K is the identity on these points
    assert warned(rate(5.9, apart), nimt.GreedyTeacher(k=1.0)) == []
    (caught,) = warned(rate(6.1, apart), nimt.GreedyTeacher(k=1.0))
    assert "6.1 is above the bound" in str(caught.message)
    (caught,) = warned(rate(0.6, apart), nimt.RandomTeacher(k=12))  # one point might be drawn twelve times
    assert "0.6 is above the bound" in str(caught.message)


def test_auto_uses_the_pack():
    lesson = nimt.teach(
        rate("auto", nimt.rbf(1e-3)), nimt.GreedyTeacher(k=1.0), POINTS, TARGET, max_iterations=1, tol=None
    )
    assert lesson.learner.learning_rate_ == pytest.approx(6.0)
    np.testing.assert_allclose(lesson.final, TARGET, atol=1e-12)  # one step


def test_a_hinge_step_longer_than_the_way_is_told():
    (caught,) = warned(rate(100.0, loss="hinge"))
    assert "the lesson cannot end near the target" in str(caught.message)


def test_a_box_is_warned_of_too():
    with pytest.warns(nimt.errors.StepSizeWarning, match="will diverge"):
        nimt.teach(rate(1.1), nimt.GreedyTeacher(), nimt.Box([(0, 1)], points=9), np.sin, max_iterations=2, tol=None)


def test_resuming_does_not_warn_again(tmp_path):
    warned(rate(0.6), checkpoint=tmp_path / "checkpoint")
    nimt.resume(tmp_path / "checkpoint")
