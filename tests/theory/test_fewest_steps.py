"""The lower bound: against plain sums, against every order of examples, and against the bound of Cauchy alone."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import nimt
from nimt.theory.fewest_steps import Proof, _steps_at_a_rate, _steps_on_a_schedule
from nimt.theory.lesson_start import lesson_start
from nimt.theory.step_bounds import bounds_before
from problems import MIXTURE

STATES = 4_000  # that are followed at once


def count_plainly(proof, rates, radius):
    """Return the first T at which the sum of a proof, with the errors that are possible, is large enough."""
    for count in itertools.count(1):
        total, largest = 0.0, radius
        for step in range(count - 1, -1, -1):
            rate = rates(step)
            largest = largest / (1 - 2 * rate) if 2 * rate < 1 else math.inf
            error = min(1 / (4 * proof.weight * (1 - rate)), largest)
            total += 2 * rate * error - 4 * proof.weight * rate * (1 - rate) * error**2
        if total >= proof.worth * (1 - 1e-12):
            return count


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5, 0.8])
@pytest.mark.parametrize(
    ("worth", "weight", "radius"), [(1.1, 2.1, 0.03), (0.01, 2.1, 0.03), (0.7, 0.3, 5.0), (3.0, 0.08, 1e-4)]
)
def test_the_steps_of_a_proof_are_those_of_a_plain_sum(rate, worth, weight, radius):
    proof = Proof(worth, weight)
    assert _steps_at_a_rate(proof, rate, radius) == count_plainly(proof, lambda step: rate, radius)


@pytest.mark.parametrize("first", [0.2, 0.6])
def test_the_steps_on_a_schedule_are_those_of_a_plain_sum(first):
    def rates(step):
        return first / (1 + step) ** 0.3

    kernel = 2.0 * nimt.rbf(0.5)
    learner = nimt.KernelLearner(kernel, learning_rate=lambda step: rates(step) / 2.0)
    x = np.linspace(-1, 1, 12)
    start = lesson_start(learner, nimt.GreedyTeacher(), x, np.sin(3 * x), tol=1e-3)
    for proof in (Proof(1.1, 0.4), Proof(0.01, 2.1)):
        assert _steps_on_a_schedule(proof, start, 2.0) == count_plainly(proof, rates, start.radius)


def fewest_by_trying(gram, residual, radius, rates):
    """Return the fewest steps of all orders of single examples, pairs and the whole pool; None if there are more."""
    states, n = residual[np.newaxis], len(residual)
    packs = [[i] for i in range(n)] + [list(pair) for pair in itertools.combinations(range(n), 2)] + [list(range(n))]
    for step in itertools.count():
        if np.linalg.norm(states, axis=1).min() < radius:
            return step
        moved = [states - 2 * rates(step) / len(pack) * states[:, pack] @ gram[pack] for pack in packs]
        states = np.unique(np.concatenate(moved).round(12), axis=0)
        if len(states) > STATES:
            return None


def compare_with_all_orders(seeds):
    ratios = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 4))
        X, y = rng.uniform(-1, 1, (n, 1)), rng.normal(size=n)
        kernel = [nimt.rbf(rng.uniform(0.2, 2)), nimt.linear(0.3) + 0.5 * nimt.rbf(0.6), nimt.linear(1.0)][seed % 3]
        gram = np.asarray(kernel(X, X))
        first, power = rng.uniform(0.1, 0.9) / gram.diagonal().max(), 0.0 if seed % 2 else rng.uniform(0, 0.6)
        radius = float(np.linalg.norm(y)) * rng.uniform(0.05, 0.7)

        def rates(step, first=first, power=power):
            return first / (1 + step) ** power

        fewest = fewest_by_trying(gram, -y, radius, rates)
        if fewest is None:
            continue
        learner = nimt.KernelLearner(kernel, learning_rate=rates if power else first)
        start = lesson_start(learner, nimt.GreedyTeacher(), X, y, tol=radius / n)
        lower, _ = bounds_before(start, greedy=False)
        assert lower <= fewest, seed
        ratios.append(lower / fewest)
    return ratios


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
def test_no_order_of_examples_is_shorter_than_the_bound():
    ratios = compare_with_all_orders(range(24))
    assert len(ratios) >= 8 and np.mean(ratios) > 0.6


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
def test_no_order_of_examples_of_many_lessons_is_shorter_than_the_bound():
    assert len(compare_with_all_orders(range(24, 400))) > 100


def cauchy(gram, residual, radius, rate):
    """Return (1 - eta) L^2 / (eta D0), with L from below by a plain dual: the bound that does without what is left."""
    values, vectors = np.linalg.eigh(gram)
    inside = vectors.T @ residual
    square = float(inside**2 @ (1 / np.maximum(values, 1e-13 * values.max())))
    best = 0.0
    for share in np.geomspace(1e-6, 10, 60):
        dual = vectors @ (inside / (values + share * values.max()))
        size = abs(gram @ dual).max()
        best = max(best, (residual @ dual - radius * np.linalg.norm(dual)) / size)
    return (1 - rate) * best**2 / (rate * square)


@pytest.mark.long
def test_the_bound_of_the_mixture_grows_with_the_logarithm_of_the_tolerance():
    x = MIXTURE.pool.points
    learner = MIXTURE.learner()
    gram, residual = np.asarray(learner.kernel(x, x)), np.ravel(learner.initial(x) - MIXTURE.target(x))
    found = {}
    for tol in (1e-4, 1e-5):
        start = lesson_start(learner, nimt.GreedyTeacher(), MIXTURE.pool, MIXTURE.target, tol=tol)
        found[tol], _ = bounds_before(start, greedy=False)
        assert found[tol] > cauchy(gram, residual, start.radius, 0.01)
    assert found[1e-4] in (963, 964, 965) and found[1e-5] in (1088, 1089, 1090)


@pytest.mark.long
def test_noise_has_a_bound_next_to_what_is_found():
    draw = np.random.default_rng(1)
    rows = draw.uniform(-1, 1, (250, 2))
    noisy = np.sin(rows[:, 0]) * np.cos(rows[:, 1]) + 0.1 * draw.normal(size=250)
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01)
    start = lesson_start(learner, nimt.GreedyTeacher(), rows, noisy, tol=0.1107 / np.sqrt(250))
    lower, upper = bounds_before(start, greedy=True)
    assert 300 <= lower <= 325 and upper is None  # a plan of 325 steps is known
