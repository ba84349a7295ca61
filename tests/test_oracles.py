"""Every teacher, learner and loss against the plain loops of oracles.py."""

import numpy as np
import pytest

import nimt
import oracles
from problems import scattered

N, STEPS, SEED = 12, 15, 3
WEIGHTS = np.linspace(0.0, 2.0, N)
MASK = np.arange(N) % 3 != 0


def greedy(k, allowed=range(N)):
    return lambda dice, target: lambda f: oracles.furthest(f, target, allowed, k)


def uniform(k, allowed=tuple(range(N))):
    return lambda dice, target: lambda f: dice.uniform(allowed, k)


def weighted(k, allowed=tuple(range(N))):
    return lambda dice, target: lambda f: dice.weighted(allowed, WEIGHTS, k)


def shuffled(k):
    return lambda dice, target: lambda f: [int(i) for i in dice.selection.choice(N, size=k, replace=False)]


def drawn_pool(dice, target):
    allowed = sorted(int(i) for i in dice.pool.choice(N, size=6, replace=False))
    return lambda f: oracles.furthest(f, target, allowed, 2)


TEACHERS = {
    "greedy 1": (nimt.GreedyTeacher(), greedy(1)),
    "greedy 3": (nimt.GreedyTeacher(k=3), greedy(3)),
    "greedy half": (nimt.GreedyTeacher(k=0.5), greedy(6)),
    "whole": (nimt.GreedyTeacher(k=1.0), greedy(N)),
    "greedy mask": (nimt.GreedyTeacher(k=2, pool=MASK), greedy(2, [i for i in range(N) if MASK[i]])),
    "greedy drawn pool": (nimt.GreedyTeacher(k=2, pool=0.5), drawn_pool),
    "random 1": (nimt.RandomTeacher(), uniform(1)),
    "random 4": (nimt.RandomTeacher(k=4), uniform(4)),
    "random indices": (nimt.RandomTeacher(k=0.5, pool=[9, 2, 7, 4]), uniform(2, (2, 4, 7, 9))),
    "random weighted": (nimt.RandomTeacher(k=3, weights=WEIGHTS), weighted(3)),
    "random weighted pool": (nimt.RandomTeacher(k=2, weights=WEIGHTS, pool=[0, 5, 11]), weighted(2, (0, 5, 11))),
    "without replacement": (nimt.RandomTeacher(k=5, replace=False), shuffled(5)),
}


def schedule(step):
    return 0.15 / (1 + step) ** 0.5


RATES = {"constant": (0.1, lambda step: 0.1), "schedule": (schedule, schedule)}


def compare(learner, oracle, teacher, choose, points, target, **alternative):
    dice = oracles.Dice(SEED)
    shown, labels, discrepancy = oracles.teach(
        oracle, choose(dice, list(target)), list(target), STEPS, dice=dice, **alternative
    )
    for engine in ("reference", "auto"):
        lesson = nimt.teach(learner, teacher, points, target, max_iterations=STEPS, tol=None, seed=SEED, engine=engine)
        ran = len(lesson)
        assert ran == STEPS or lesson.outcome is nimt.lesson.Outcome.AT_REST
        np.testing.assert_array_equal(lesson.indices, shown[:ran])
        np.testing.assert_array_equal(lesson.labels, labels[:ran])
        np.testing.assert_allclose(lesson.discrepancy, discrepancy[: ran + 1], rtol=1e-12, atol=0)
        np.testing.assert_array_equal(discrepancy[ran:], discrepancy[ran])  # at rest no later step moves the learner
    return lesson


def labels_for(loss, target):
    return np.sign(target) if loss == "logistic" else target


@pytest.mark.long
@pytest.mark.parametrize("loss", oracles.SLOPES)
@pytest.mark.parametrize("name", TEACHERS)
@pytest.mark.sampled(4)
def test_a_kernel_learner(name, loss):
    teacher, choose = TEACHERS[name]
    points, target, initial = scattered(N)
    target = labels_for(loss, target)
    oracle = oracles.KernelOracle(points, initial, oracles.gauss(0.7), oracles.SLOPES[loss], lambda step: 0.1)
    learner = nimt.KernelLearner(nimt.rbf(0.7), loss=loss, learning_rate=0.1, initial=initial)
    compare(learner, oracle, teacher, choose, points, target)


@pytest.mark.parametrize("loss", oracles.SLOPES)
@pytest.mark.parametrize("name", TEACHERS)
@pytest.mark.parametrize("intercept", [True, False])
def test_a_linear_learner(name, loss, intercept):
    teacher, choose = TEACHERS[name]
    points, target, _ = scattered(N, dimension=2)
    target = labels_for(loss, target)
    weights = [0.3, -0.2, 0.5] if intercept else [0.3, -0.2]
    oracle = oracles.LinearOracle(points, weights, oracles.SLOPES[loss], lambda step: 0.1, intercept)
    learner = nimt.LinearLearner(weights, loss=loss, learning_rate=0.1, intercept=intercept)
    compare(learner, oracle, teacher, choose, points, target)


@pytest.mark.parametrize("rate", RATES)
def test_learning_rates(rate):
    given, plain = RATES[rate]
    points, target, initial = scattered(N)
    oracle = oracles.KernelOracle(points, initial, oracles.gauss(0.7), oracles.slope_square, plain)
    learner = nimt.KernelLearner(nimt.rbf(0.7), learning_rate=given, initial=initial)
    compare(learner, oracle, nimt.GreedyTeacher(), greedy(1), points, target)
    line = oracles.LinearOracle(points, [0.1, 0.2, 0.3], oracles.slope_square, plain, intercept=True)
    learner = nimt.LinearLearner([0.1, 0.2, 0.3], learning_rate=given)
    compare(learner, line, nimt.GreedyTeacher(), greedy(1), points, target)


def test_the_linear_kernel():
    points, target, initial = scattered(N)
    oracle = oracles.KernelOracle(points, initial, oracles.dot_plus(0.5), oracles.slope_square, lambda step: 0.1)
    learner = nimt.KernelLearner(nimt.linear(0.5), learning_rate=0.1, initial=initial)
    compare(learner, oracle, nimt.GreedyTeacher(k=2), greedy(2), points, target)


@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", ["greedy 3", "random 4", "greedy mask"])
def test_alternative_labels_choose_by_the_truth(name, probability):
    teacher, choose = TEACHERS[name]
    points, target, initial = scattered(N)
    other = -3 * initial
    options = {"k": teacher.k, "pool": teacher.pool, "labels": nimt.teachers.AlternativeLabels(other, probability)}
    oracle = oracles.KernelOracle(points, initial, oracles.gauss(0.7), oracles.slope_square, lambda step: 0.1)
    learner = nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.1, initial=initial)
    lesson = compare(
        learner, oracle, type(teacher)(**options), choose, points, target, other=list(other), probability=probability
    )
    swapped = (lesson.labels == other[lesson.indices]).all(axis=1)
    assert swapped.any() == (probability > 0)
    assert swapped.all() == (probability == 1)


def test_the_gradient_score():
    points, target, initial = scattered(N)
    kernel = oracles.dot_plus(0.1)

    def steepest(dice, target):
        def weigh(i, gap):
            return abs(2 * gap) * kernel(points[i], points[i]) ** 0.5

        return lambda f: oracles.furthest(f, target, range(N), 2, weigh)

    oracle = oracles.KernelOracle(points, initial, kernel, oracles.slope_square, lambda step: 0.1)
    learner = nimt.KernelLearner(nimt.linear(0.1), learning_rate=0.1, initial=initial)
    teacher = nimt.GreedyTeacher(k=2, score="gradient", loss="square", kernel=nimt.linear(0.1))
    compare(learner, oracle, teacher, steepest, points, target)


def test_the_first_step_below_the_tolerance_is_the_same():
    points, target, initial = scattered(N)
    oracle = oracles.KernelOracle(points, initial, oracles.gauss(0.7), oracles.slope_square, lambda step: 0.3)
    _, _, discrepancy = oracles.teach(oracle, greedy(1)(None, target), target, 60, tol=0.15)
    learner = nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.3, initial=initial)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, target, max_iterations=60, tol=0.15)
    assert lesson.itd == len(discrepancy) - 1 == len(lesson) > 0
