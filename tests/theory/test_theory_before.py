"""What the theory says before a lesson, and the repaired theorem along one: docs/theory.md, held to numbers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import ConstantKernel

import nimt
from nimt import theory
from problems import MIXTURE

pytestmark = pytest.mark.long

DISTANCE = 0.716545  # |f0 - f*|_H of the mixture, on the whole line


# the repaired theorem


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.02, 0.98), st.floats(0.1, 2.0), st.integers(2, 8))
def test_the_repaired_theorem_has_no_counterexample(seed, rate, width, n):
    rng = np.random.default_rng(seed)
    learner = nimt.KernelLearner(nimt.rbf(width), learning_rate=rate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nimt.errors.StepSizeWarning)
        lesson = nimt.teach(
            learner, nimt.GreedyTeacher(), rng.uniform(-1, 1, (n, 2)), rng.normal(size=n), max_iterations=60, tol=None
        )
    report = theory.check(lesson)
    for name in ("convergence by distance", "convergence by distance (GFT, mean)", "nearer in H"):
        assert not report[name].violated, report[name].sentence()
    psi = theory.repair_psi(lesson)
    assert np.all(psi >= np.arange(len(psi)) - 1e-9) and np.all(theory.psi(lesson) <= np.arange(len(psi)) + 1e-9)


def test_the_repaired_bound_by_hand():
    learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.25)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 99.0], [3.0, 4.0], max_iterations=3, tol=None)
    gamma = theory.greedy_ratio(lesson)
    found = theory.bounds(lesson)
    np.testing.assert_allclose(found.by_distance_mean, 25 / (0.25 * 0.75 * np.cumsum(1 / gamma)))
    assert found.to_table()["by_distance_mean"].shape == (3,)


@pytest.mark.slow
def test_psi_over_t_is_how_far_random_is_behind_on_the_digit():
    zero, eight = nimt.datasets.mean_zero().values, nimt.datasets.first_eight().values
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01, initial=eight)
    task = (nimt.Grid.like(zero), zero)
    greedy = nimt.teach(learner, nimt.GreedyTeacher(), *task, tol=2.36e-4, max_iterations=60_000)
    random = nimt.teach(learner, nimt.RandomTeacher(), *task, tol=2.36e-4, max_iterations=200_000, record="picks")
    assert theory.ratio_of_bounds(greedy) == pytest.approx(2.413, abs=2e-3)
    assert random.itd / greedy.itd == pytest.approx(2.41, abs=0.04)


def test_psi_over_t_of_the_mixture():
    assert theory.ratio_of_bounds(MIXTURE.teach(tol=1e-4, max_iterations=4000)) == pytest.approx(2.30, abs=0.01)


# GFT is coordinate descent


def test_greedy_teaching_is_coordinate_descent_with_the_largest_gradient():
    rng = np.random.default_rng(0)
    X, y, rate = rng.uniform(-1, 1, (9, 2)), rng.normal(size=9), 0.2
    lesson = nimt.teach(
        nimt.KernelLearner(nimt.rbf(0.6), learning_rate=rate), nimt.GreedyTeacher(), X, y, max_iterations=40, tol=None
    )
    K, r0, a = nimt.rbf(0.6)(X), -y, np.zeros(9)
    for t in range(40):
        gradient = K @ a + r0  # of a'Ka / 2 + a'r0
        chosen = int(np.argmax(np.abs(gradient)))
        assert chosen == lesson.indices[t, 0]
        a[chosen] -= 2 * rate * gradient[chosen]
    np.testing.assert_allclose(y + K @ a + r0, lesson.final, atol=1e-12)


# any convex loss, the largest loss shown


@dataclass(frozen=True, eq=False)
class LargestLoss(nimt.Teacher):
    """Shows the example of the largest loss, which it is told."""

    loss: object = None

    def select(self, view):
        return view.show([int(np.argmax(self.loss.value(view.predictions, view.target)))])


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([nimt.losses.Square(), nimt.losses.Huber(0.3), nimt.losses.Absolute(), nimt.losses.Hinge()]),
    st.floats(0.01, 0.4),
)
def test_the_bound_for_the_largest_loss_has_no_counterexample(seed, loss, rate):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (6, 2))
    kernel = nimt.rbf(0.5)
    y = np.sign(rng.normal(size=6)) if isinstance(loss, nimt.losses.Hinge) else rng.normal(size=6)
    if np.linalg.cond(kernel(X)) > 1e8:
        return
    learner = nimt.KernelLearner(kernel, loss=loss, learning_rate=rate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nimt.errors.StepSizeWarning)
        lesson = nimt.teach(learner, LargestLoss(loss=loss), X, y, max_iterations=80, tol=None)
    distance = np.sqrt(y @ np.linalg.solve(kernel(X), y))  # y itself has no loss, the hinge's included
    smooth = {"smoothness": 2.0} if np.isfinite(loss.smoothness) else {"lipschitz": 1.0}
    worst = [loss.value(moment.values, y).max() for moment in theory.replay(lesson).moments()]
    bound = theory.largest_loss_bound(distance, rate, np.arange(1, len(worst) + 1), **smooth)
    assert np.all(np.minimum.accumulate(worst) <= bound * (1 + 1e-9))


def test_the_bound_for_the_largest_loss_refuses_what_it_does_not_cover():
    for options, says in (
        ({}, "one of them"),
        ({"smoothness": 2.0, "lipschitz": 1.0}, "one of them"),
        ({"smoothness": 3.0}, "learning_rate < "),
        ({"lipschitz": -1.0}, "lipschitz"),
    ):
        with pytest.raises(nimt.InvalidInput, match=says):
            theory.largest_loss_bound(1.0, 0.5, 3, **options)
    with pytest.raises(nimt.InvalidInput, match="steps"):
        theory.largest_loss_bound(1.0, 0.5, 0, lipschitz=1.0)


# synthesis is a rate


def test_free_labels_are_a_learning_rate_of_one_half():
    free = MIXTURE.teach(nimt.SynthesisTeacher(radius=1e6), tol=1e-4, max_iterations=4000)
    half = nimt.teach(
        MIXTURE.learner(learning_rate=0.5),
        nimt.GreedyTeacher(),
        MIXTURE.pool,
        MIXTURE.target,
        tol=1e-4,
        max_iterations=4000,
    )
    assert half.itd == 126
    assert free.itd == pytest.approx(half.itd, abs=1)  # its first example carries the true label


# convexity, definitions and lemmas, Fisher's information, Eq. 1


class SineSquared:
    """A smooth loss with its minimum at y that is not convex."""

    smoothness = 2.0

    def value(self, f, y):
        return np.sin(f - y) ** 2

    def slope(self, f, y):
        return np.sin(2 * (f - y))


def test_nearer_in_h_asks_for_convexity():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (6, 1)), 3 * rng.normal(size=6)
    lesson = nimt.teach(
        nimt.KernelLearner(nimt.rbf(0.3), loss=SineSquared(), learning_rate=0.4),
        nimt.GreedyTeacher(),
        X,
        y,
        max_iterations=60,
        tol=None,
    )
    report = theory.check(lesson)
    assert report["nearer in H"].violated and not report["nearer in H"].assumed
    assert "not convex" in report["nearer in H"].sentence()
    assert report.sound


@pytest.mark.parametrize("loss", ["square", "huber", "logistic"])
def test_convex_losses_are_found_convex(loss):
    y = np.array([1.0, -1.0, 1.0])
    lesson = nimt.teach(
        nimt.KernelLearner(nimt.rbf(0.5), loss=loss, learning_rate=0.2),
        nimt.GreedyTeacher(),
        [0.0, 1.0, 3.0],
        y,
        max_iterations=20,
        tol=None,
    )
    found = {one.name: one.holds for one in theory.check(lesson)["nearer in H"].assumptions}
    assert found["convex loss"]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["square", "huber", "logistic"]))
def test_definitions_and_lemmas_hold_at_random_functions(seed, loss):
    rng = np.random.default_rng(seed)
    f, g = (nimt.KernelLearner(nimt.rbf(0.8), loss=loss, learning_rate=0.5) for _ in range(2))
    for one in (f, g):
        one.absorb(rng.uniform(-1, 1, (5, 2)), rng.normal(size=5), steps=1)
    found = theory.check_calculus(f, rng.uniform(-1, 1, 2), float(rng.choice([-1.0, 1.0])), g)
    assert found.evaluation < 1e-13 and found.evaluation_gradient < 1e-13
    assert np.all(found.remainder <= found.bound * (1 + 1e-3) + 1e-6)


def test_the_wrong_gradient_would_be_noticed():
    f, g = (nimt.KernelLearner(nimt.rbf(0.8)) for _ in range(2))
    f.absorb(np.zeros((1, 1)), np.ones(1), steps=1)
    g.absorb(np.ones((1, 1)), np.ones(1), steps=1)
    found = theory.check_calculus(f, [0.0], 3.0, g)
    slope, along = 2 * (1.0 - 3.0), float(g.predict([[0.0]])[0])
    wrong = abs((1 + 1e-4 * along - 3) ** 2 - 4 - 1e-4 * 1.01 * slope * along) / 1e-8
    assert wrong > 10 * found.bound >= 10 * found.remainder.min() * 0.99
    with pytest.raises(nimt.InvalidInput, match="started at 0"):
        theory.check_calculus(nimt.KernelLearner(nimt.rbf(0.8), initial=1.0), [0.0], 0.0, g)


def test_fisher_information_with_another_phi():
    coin = nimt.KernelLearner(ConstantKernel(1.0), loss="square", initial=0.0)
    X, y = [0.0, 0.0], [1.0, -3.0]  # gradients -2 and 6
    assert theory.fisher_information(coin, X, y) == pytest.approx((4 + 36) / 2)
    assert theory.fisher_information(coin, X, y, phi=lambda g: np.abs(g) ** (4 / 3)) == pytest.approx(
        (2 ** (4 / 3) + 6 ** (4 / 3)) / 2
    )
    with pytest.raises(nimt.InvalidInput, match="one number per point"):
        theory.fisher_information(coin, X, y, phi=lambda g: g[:1])


def test_the_best_length_of_a_forecast_is_that_of_the_lesson():
    task = (MIXTURE.learner(), nimt.GreedyTeacher(), MIXTURE.pool, MIXTURE.target)
    lesson, found = nimt.teach(*task, max_iterations=3056, tol=None), nimt.forecast(*task, tol=1e-4)
    for lam in (1e-7, 1e-6, 5e-6):
        price = lesson.objective(lam)
        assert price[min(theory.optimal_length(found, lam), 3056)] <= price.min() * 1.01
        assert theory.optimal_length(lesson, lam) == lesson.best_length(lam)
    for bad in (-1, np.nan, "1"):
        with pytest.raises(nimt.InvalidInput, match="lam must be"):
            theory.optimal_length(found, bad)
    with pytest.raises(nimt.InvalidInput, match="a lesson or a forecast"):
        theory.optimal_length("lesson", 0.1)


def test_a_replay_is_iterated_by_its_moments():
    again = theory.replay(MIXTURE.teach(max_iterations=3, tol=None))
    assert [moment.step for moment in again.moments()] == [0, 1, 2]
