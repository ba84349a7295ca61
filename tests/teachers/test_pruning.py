"""Epochs without a part of the examples that are learned already."""

import itertools

import numpy as np
import pytest

import nimt
from nimt import testing
from nimt.teachers import PruningTeacher
from nimt.teachers.pruning import plan_epoch

X = np.linspace(-2, 2, 20)
LEARNER = nimt.KernelLearner(nimt.rbf(0.4), learning_rate=0.1)


class Listed:
    """A stream of random numbers that makes one given choice."""

    def __init__(self, choice):
        self.chosen = choice

    def choice(self, below, size, replace):
        assert size == len(self.chosen) and not replace
        return below[list(self.chosen)]

    def permutation(self, values):
        return values


def test_the_gradient_of_an_epoch_is_not_biased_whatever_the_share():
    losses = np.array([0.1, 5.0, 0.2, np.nan, 0.3, 0.0, 7.0, 0.4, 0.5])  # six are below the mean
    gradients = np.random.default_rng(0).normal(size=(9, 4))
    for share in (0.0, 0.25, 0.5, 0.9):
        sums = []
        for choice in itertools.combinations(range(6), int(share * 6)):  # every draw there is
            order, weights = plan_epoch(losses, share, Listed(choice))
            assert len(order) == 9 - len(choice) and {1, 3, 6} <= set(order)
            assert np.isclose(weights.sum(), 9)
            assert np.allclose(weights[np.isin(order, [1, 3, 6])], 1)
            sums.append(weights @ gradients[order])
        np.testing.assert_allclose(np.mean(sums, axis=0), gradients.sum(axis=0), rtol=0, atol=1e-12)
        assert share < 0.1 or np.ptp(sums, axis=0).min() > 0


def test_equal_losses_and_one_small_loss_leave_nothing_out():
    rng = np.random.default_rng(0)
    assert len(plan_epoch(np.ones(5), 0.9, rng)[0]) == 5
    assert len(plan_epoch(np.full(5, np.nan), 0.9, rng)[0]) == 5
    order, weights = plan_epoch(np.array([0.0, 1.0, 1.0]), 0.99999, rng)
    assert len(order) == 3 and weights.tolist() == [1, 1, 1]


def test_a_lesson_is_that_of_a_plain_loop():
    lesson = nimt.teach(LEARNER, PruningTeacher(k=4, share=0.5), X, X**3, max_iterations=40, tol=None, seed=1)
    gram = np.exp(-((X[:, None] - X) ** 2) / 0.4**2)
    f = np.zeros(20)
    for pack, weights in zip(lesson.indices, lesson.weights, strict=True):
        f = f - 0.1 / 4 * gram[:, pack] @ (weights * 2 * (f - X**3)[pack])
    np.testing.assert_allclose(lesson.final, f, rtol=0, atol=1e-12)
    assert np.array_equal(np.sort(lesson.indices[:5].ravel()), np.arange(20))
    assert set(np.unique(lesson.weights[:5])) == {1.0}
    assert lesson.weights[5:35].max() > 1.4


def test_the_end_of_a_lesson_is_whole_again():
    lesson = nimt.teach(LEARNER, PruningTeacher(k=20, until=0.5), X, X**3, max_iterations=20, tol=None)
    assert (lesson.weights[1:10] > 1).any(axis=1).all()
    assert (lesson.weights[12:] == 1).all()
    assert np.ptp(np.bincount(lesson.indices[12:].ravel(), minlength=20)) <= 2  # epochs begin and end within packs


def test_two_outputs_and_another_loss():
    target = np.column_stack([np.sin(X), X**2])
    lesson = nimt.teach(LEARNER, PruningTeacher(k=5, loss="huber"), X, target, max_iterations=30, tol=None)
    assert lesson.weights.max() > 1.4


def test_the_contract_is_kept_and_a_lesson_resumes(tmp_path):
    testing.check_teacher(PruningTeacher(k=5, over=9))
    teacher = PruningTeacher(k=6, over=40)
    nimt.teach(LEARNER, teacher, X, X**3, max_iterations=17, tol=None, checkpoint=tmp_path / "half.ckpt")
    resumed = nimt.resume(tmp_path / "half.ckpt", max_iterations=40)
    at_once = nimt.teach(LEARNER, teacher, X, X**3, max_iterations=40, tol=None)
    assert np.array_equal(resumed.final, at_once.final)
    assert np.array_equal(resumed.weights, at_once.weights)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"share": 1.0}, "share must be a number from 0 to below 1"),
        ({"until": -0.1}, "until must be a number from 0 to 1"),
        ({"over": 0}, "over must be"),
        ({"loss": "none"}, "loss"),
        ({"k": 0}, "k must be"),
    ],
)
def test_bad_input_is_refused(options, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        PruningTeacher(**options)
