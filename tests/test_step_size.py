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
        call(learner, teacher or nimt.GreedyTeacher(), POINTS, target, **{"max_iterations": 5} | options)
    return caught


@pytest.mark.parametrize("call", [nimt.teach, nimt.steps])
def test_it_names_the_bound_and_the_value(call):
    caught = warned(rate(0.6), call=call)
    assert len(caught) == 1
    assert caught[0].category is nimt.StepSizeWarning
    assert "the learning rate 0.6 is above the bound 1 / (L max K(x, x)) = 0.5" in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "learner",
    [
        rate(0.5),
        rate("auto"),
        rate("auto", nimt.linear()),
        rate(0.125, 4.0 * nimt.rbf(0.7)),
        rate(100.0, loss="hinge"),
        rate(100.0, loss="absolute"),
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
    (caught,) = warned(learner, target=np.sign(TARGET))
    assert bound in str(caught.message)


def test_above_twice_the_bound_it_says_that_the_lesson_will_diverge():
    (caught,) = warned(rate(1.1))
    assert "1.1 is above 1 = 2 / (L max K(x, x))" in str(caught.message)
    assert "the lesson will diverge" in str(caught.message)
    with pytest.warns(nimt.StepSizeWarning):
        assert small_lesson(learner=rate(1.1), max_iterations=10_000).outcome is nimt.Outcome.DIVERGED


@pytest.mark.parametrize(
    ("learner", "teacher"),
    [(rate(1.1), nimt.GreedyTeacher(k=2)), (rate(5.0, nimt.linear()), nimt.GreedyTeacher())],
    ids=["a pack", "a varying diagonal"],
)
def test_where_it_need_not_diverge_it_does_not_say_so(learner, teacher):
    (caught,) = warned(learner, teacher)
    assert "diverge" not in str(caught.message)
    assert "steps may overshoot" in str(caught.message)


def test_resuming_does_not_warn_again(tmp_path):
    warned(rate(0.6), checkpoint=tmp_path / "checkpoint")
    nimt.resume(tmp_path / "checkpoint")
