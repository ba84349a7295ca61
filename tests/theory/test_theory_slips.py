"""The slips in the paper's mathematics that an implementer meets, each shown by numbers (see docs/theory.md)."""

import numpy as np
import pytest

import nimt
from nimt import theory
from problems import MIXTURE


@pytest.fixture(scope="module")
def mixture():
    return MIXTURE.teach(max_iterations=3056, tol=None)


@pytest.fixture(scope="module")
def picture():
    """A standardised picture of 20 x 20 pixels taught from black with the paper's kernel, 7 steps a pixel."""
    rows, columns = np.mgrid[0:20, 0:20]
    values = np.sin(rows / 2.5) * np.cos(columns / 3.5) + 0.4 * np.random.default_rng(0).normal(size=(20, 20))
    values = (values - values.mean()) / values.std(ddof=1)
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01)
    return nimt.teach(learner, nimt.GreedyTeacher(), nimt.Grid.like(values), values, max_iterations=2800, tol=None)


@pytest.fixture(scope="module")
def picture_bounds(picture):
    return theory.bounds(picture)


def test_slip_1_the_cross_term_has_a_factor_of_two():
    kernel, x = nimt.rbf(1.0), np.array([[0.0], [0.6]])
    gram, residual, eta = kernel(x), np.array([1.0, -0.5]), 0.1

    def square(values):
        return values @ np.linalg.solve(gram, values)

    slope = 2 * residual[0]
    after = square(residual - eta * slope * gram[0])
    norm, cross = slope**2 * gram[0, 0], slope * residual[0]
    assert after == pytest.approx(square(residual) + eta**2 * norm - 2 * eta * cross, rel=1e-13)
    assert after != pytest.approx(square(residual) + eta**2 * norm - eta * cross, rel=1e-2)


def test_slip_1_definition_and_algorithm_choose_differently_under_a_linear_kernel():
    x, target = np.array([0.0, 3.0]), np.array([1.0, 1.5])  # K(x, x) = 1 and 10
    learner = nimt.KernelLearner(nimt.linear(1.0), learning_rate=0.09)
    assert theory.steepest_example(learner, x, target).index == 0  # largest e^2 (1 - eta K): 0.91 against 0.225
    scores = np.abs(2 * target) * np.sqrt(nimt.linear(1.0).diag(x[:, np.newaxis]))
    assert np.argmax(scores) == 1  # largest |dL/df| sqrt(K): what the algorithm shows
    # and the last step of the proof, |G*| >= |G|, is false there
    assert scores[0] < scores[1]


def test_slip_1_with_the_label_free_the_theorem_is_false_even_for_a_constant_diagonal():
    learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.1)
    free = theory.steepest_example(learner, [0.0], [1.0], labels="free")
    residual, steepest = 0.0 - 1.0, 2 * (0.0 - free.label)
    beyond = 2 * (0.0 - 2 * free.label)  # a label twice as far
    assert (steepest - beyond) * residual < 0  # <G* - G, f - f*>_H


@pytest.mark.parametrize(("kappa", "rate", "holds"), [(1.0, 0.25, True), (1.8, 0.13, False), (2.0, 1e-4, False)])
def test_slip_2_sufficient_descent_needs_a_diagonal_of_one(kappa, rate, holds):
    """The change is -4 eta kappa (1 - eta kappa) e^2, the promise -2 eta kappa^2 e^2."""
    kernel = kappa * nimt.rbf(1.0)
    assert rate <= 1 / (2 * 2 * kappa)
    learner = nimt.KernelLearner(kernel, learning_rate=rate)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0], [1.0], max_iterations=3, tol=None)
    assert theory.check(lesson)["sufficient descent (RFT)"].violated is not holds
    e = 1.0 - 2 * rate * kappa
    assert lesson.final[0] == pytest.approx(1 - e**3)
    assert ((e**2 - 1) <= -rate / 2 * (2 * kappa) ** 2) is holds


@pytest.mark.long
def test_slip_3_with_a_maximum_or_a_mean_the_convergence_bound_is_violated_by_a_picture(picture, picture_bounds):
    """The cheetah's finding on a pool 21 times smaller: after 7 steps a pixel S* is still near 3."""
    found = picture_bounds
    assert found.rate_within
    assert found.smallest_largest[-1] > 2
    assert found.random["maximum"][-1] < 1 and found.random["mean"][-1] < 0.1
    assert found.smallest_largest[-1] < found.random["sum"][-1]
    checked = theory.check(picture)
    assert checked["convergence (RFT, maximum)"].violated and checked["convergence (RFT, mean)"].violated
    assert checked["convergence (GFT, mean)"].violated
    assert not checked["convergence (RFT, sum)"].violated
    assert checked.sound  # none of the violated statements had its assumptions


def test_slip_3_so_does_the_published_digit():
    eight, zero = nimt.datasets.first_eight().values, nimt.datasets.mean_zero().values
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01, initial=eight)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), nimt.Grid.like(zero), zero, max_iterations=300, tol=None)
    found = theory.bounds(lesson, distance=1.0)
    assert found.smallest_largest[234] > 2.3 > 2 * found.random["maximum"][234]
    assert found.smallest_largest[234] > 3 * found.greedy["mean"][234]
    assert (found.smallest_largest < found.random["sum"]).all()


@pytest.mark.long
def test_slip_3_with_a_sum_it_is_false_as_well_for_two_neighbours_that_must_part():
    """K(x, x') = 0.96: correcting one point spoils the other, while the sum of the losses is 2 whatever K is."""
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 0.1], [1.0, -1.0], max_iterations=1500, tol=None)
    found, checked = theory.bounds(lesson), theory.check(lesson)
    assert found.initial_loss["sum"] == 2.0 and found.rate_within
    assert found.smallest_largest[-1] > 3 * found.random["sum"][-1]
    assert checked["convergence (RFT, sum)"].held == 106 and checked["convergence (GFT, sum)"].violated
    # |f0 - f*|_H^2 = 2 / (1 - K) knows about it
    assert found.distance**2 == pytest.approx(2 / (1 - np.exp(-0.04)), rel=1e-9)
    assert checked["convergence by distance"].held == 1500


@pytest.mark.long
def test_slip_3_the_distance_in_the_kernels_space_is_the_right_potential(picture, picture_bounds):
    found = picture_bounds
    assert (found.smallest_shown <= found.by_distance).all()
    squares = theory.rkhs_distances(picture) ** 2
    taken = 0.01 * (1 - 0.01) * theory.discrepancies(picture).shown
    np.testing.assert_allclose(np.diff(squares), -taken, atol=1e-12 * squares[0])


@pytest.mark.long
def test_slip_3_even_a_mixture_violates_the_bound_with_a_mean(mixture):
    found = theory.check(mixture)
    assert found["convergence (RFT, mean)"].violated
    assert not found["convergence (RFT, maximum)"].violated and not found["convergence (RFT, sum)"].violated


@pytest.mark.long
def test_slip_4_the_bound_of_gft_is_the_weaker_one(mixture):
    found = theory.bounds(mixture, epsilon=0.02)
    assert (found.psi <= found.step).all() and found.psi[-1] < 0.5 * found.step[-1]
    for reading in ("maximum", "mean", "sum"):
        assert (found.greedy[reading] >= found.random[reading]).all()
    for one in found.predicted:
        assert one.greedy is None or one.greedy >= one.random
    # what the greedy lemma gives directly, 2 L / (eta t) for the largest S, is the useful statement
    np.testing.assert_array_equal(found.smallest_shown, found.smallest_largest)


@pytest.mark.filterwarnings("ignore::nimt.errors.NarrowKernelWarning")
def test_slip_4_psi_of_the_steps_is_not_enough_steps():
    """One point of a hundred is wrong, so gamma is 1/100 and every reading but the mean agrees on L(f0) = 1."""
    x, target = np.arange(100) * 99.0, np.eye(100)[7]
    learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.05)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), x, target, max_iterations=50, tol=None)
    found = theory.bounds(lesson, epsilon=1.0)
    for one in (found.predicted[0], found.predicted[2]):
        assert one.random == 40  # 2 L(f0) / (eta epsilon)
        assert one.greedy_as_claimed == pytest.approx(0.4)  # psi(40): less than one step
        assert one.greedy is None  # psi reaches 40 after 4,000 steps
    assert found.measured_largest == 7  # 4 * 0.9^(2 t) <= 1


@pytest.mark.long
def test_slip_5_the_greedy_ratio_does_not_tend_to_one(mixture):
    ratio = theory.greedy_ratio(mixture)
    assert ratio[0] < 0.15
    assert 0.5 < ratio[-500:].mean() < 0.7
    assert ratio.max() < 0.75


@pytest.mark.long
@pytest.mark.parametrize(("rate", "low", "high"), [(0.01, 0.95, 0.99), (0.2, 0.5, 0.8)])
def test_slip_5_where_points_do_not_touch_it_comes_to_rest_below_one(rate, low, high):
    """Greedy teaching keeps such errors within one factor 1 - 2 eta of each other, and no closer."""
    x, target = np.arange(20) * 99.0, np.random.default_rng(0).normal(size=20)
    learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=rate)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), x, target, max_iterations=int(50 / rate), tol=None)
    settled = theory.greedy_ratio(lesson)[-60:]
    assert low < settled.min() and settled.max() < high
    assert settled.min() >= (1 - 2 * rate) ** 2


@pytest.mark.parametrize("c", [1.0, 4.0])
def test_slip_6_a_linear_kernel_needs_the_bias_feature_sqrt_c(c):
    x = np.linspace(-1, 1, 7)[:, np.newaxis]
    target = 2 * x[:, 0] + 1
    options = {"teacher": nimt.GreedyTeacher(), "y": target, "max_iterations": 30, "tol": None}
    kernel = nimt.teach(nimt.KernelLearner(nimt.linear(c), learning_rate=0.05), X=x, **options)
    with_one = nimt.teach(nimt.LinearLearner([0.0, 0.0], learning_rate=0.05), X=x, **options)
    features = np.hstack([x, np.full_like(x, np.sqrt(c))])
    with_root = nimt.teach(nimt.LinearLearner([0.0, 0.0], learning_rate=0.05, intercept=False), X=features, **options)
    np.testing.assert_allclose(with_root.final, kernel.final, rtol=0, atol=1e-13)
    assert np.allclose(with_one.final, kernel.final, atol=1e-13) is (c == 1.0)
