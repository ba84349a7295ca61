"""Every quantity of nimt.theory on pools of two and three points, against numbers worked out by hand."""

import json
import math

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import ConstantKernel

import nimt
from nimt import theory

FAR = [0.0, 99.0]  # so far apart that K is the identity
LINE = np.array([0.0, 1.0, 2.0])  # under <x, x'> + 1 the diagonal is 1, 2, 5


def taught(learning_rate=0.25, steps=4, teacher=None, target=(3.0, 4.0), pool=FAR, **options):
    learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=learning_rate)
    return nimt.teach(
        learner, teacher or nimt.GreedyTeacher(), pool, target, max_iterations=steps, **{"tol": None} | options
    )


def on_a_line(learning_rate=0.1, **options):
    return nimt.KernelLearner(nimt.linear(1.0), learning_rate=learning_rate, **options)


@pytest.fixture(scope="module")
def four_steps():
    """|e| is (3, 4), (3, 2), (1.5, 2), (1.5, 1): each step halves what is shown, first 4, then 3, 2, 1.5."""
    return taught()


def test_discrepancy_is_the_square_of_slope_times_diagonal():
    # e = (-1, -2, 1), slopes (-2, -4, 2), K(x, x) = (1, 2, 5)
    np.testing.assert_allclose(theory.discrepancy_at(on_a_line(), LINE, [1.0, 2.0, -1.0]), [4.0, 64.0, 100.0])


def test_discrepancies_along_four_steps(four_steps):
    found = theory.discrepancies(four_steps)
    np.testing.assert_allclose(found.shown, [64.0, 36.0, 16.0, 9.0])
    np.testing.assert_allclose(found.largest, [64.0, 36.0, 16.0, 9.0])
    np.testing.assert_allclose(found.mean, [50.0, 26.0, 12.5, 6.5])


def test_greedy_ratio_and_its_sum(four_steps):
    ratio = [50 / 64, 26 / 36, 12.5 / 16, 6.5 / 9]
    np.testing.assert_allclose(theory.greedy_ratio(four_steps), ratio, rtol=1e-14)
    np.testing.assert_allclose(theory.psi(four_steps), np.concatenate([[0], np.cumsum(ratio)]), rtol=1e-14)


def test_a_sampled_greedy_ratio_is_one_of_its_two_values(four_steps):
    sampled = theory.greedy_ratio(four_steps, seed=3)
    possible = np.array([[36 / 64, 1], [1, 16 / 36], [9 / 16, 1], [1, 4 / 9]])
    assert np.isclose(sampled[:, np.newaxis], possible).any(axis=1).all()
    np.testing.assert_array_equal(sampled, theory.greedy_ratio(four_steps, seed=3))


@pytest.mark.long
def test_sampled_greedy_ratios_average_to_the_exact_one(four_steps):
    many = np.mean([theory.greedy_ratio(four_steps, seed=seed) for seed in range(400)], axis=0)
    np.testing.assert_allclose(many, theory.greedy_ratio(four_steps), atol=0.05)


def test_nothing_left_to_teach_counts_as_a_ratio_of_one():
    lesson = taught(learning_rate=0.5, steps=3)  # both points are met exactly after two steps
    np.testing.assert_allclose(theory.greedy_ratio(lesson), [50 / 64, 0.5, 1.0])


def test_fisher_information_is_the_mean_of_squared_gradients():
    target = [1.0, 2.0, -1.0]
    assert theory.fisher_information(on_a_line(), LINE, target) == pytest.approx(168 / 3)
    assert theory.fisher_information(on_a_line(), LINE, target, weights=[1, 1, 2]) == pytest.approx(268 / 4)
    # norms in H: slope^2 K(x, x) = 4, 32, 20
    assert theory.fisher_information(on_a_line(), LINE, target, gradient="norm") == pytest.approx(56 / 3)


class GaussianNoise:
    """-log of the normal density of y around f with variance 1/4, up to a constant."""

    smoothness = 4.0

    def value(self, f, y):
        return 2.0 * (y - f) ** 2

    def slope(self, f, y):
        return 4.0 * (f - y)


@pytest.mark.parametrize("log_odds", [-2.0, 0.0, 0.7])
def test_where_f_is_one_number_it_is_the_fisher_information_of_a_coin(log_odds):
    p = 1.0 / (1.0 + math.exp(-log_odds))
    coin = nimt.KernelLearner(ConstantKernel(1.0), loss="logistic", initial=log_odds)
    found = theory.fisher_information(coin, [0.0, 0.0], [1.0, -1.0], weights=[p, 1 - p])
    assert found == pytest.approx(p * (1 - p), rel=1e-14)


def test_where_f_is_one_number_it_is_the_fisher_information_of_a_mean():
    nodes, weights = np.polynomial.hermite_e.hermegauss(5)  # exact for the square of a normal variable
    mean = nimt.KernelLearner(ConstantKernel(1.0), loss=GaussianNoise(), initial=1.5)
    found = theory.fisher_information(mean, np.zeros(5), 1.5 + 0.5 * nodes, weights=weights)
    assert found == pytest.approx(4.0, rel=1e-12)  # 1 / variance


def test_under_a_linear_kernel_the_norm_gives_the_trace_of_the_fisher_matrix():
    points, labels, weights = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([1.0, -1.0]), np.array([0.3, -0.2])
    learner = nimt.KernelLearner(nimt.linear(0.0), loss="logistic", initial=lambda x: x @ weights)
    gradients = [-y / (1 + math.exp(y * (x @ weights))) * x for x, y in zip(points, labels, strict=True)]
    trace = np.trace(np.mean([np.outer(gradient, gradient) for gradient in gradients], axis=0))
    assert theory.fisher_information(learner, points, labels, gradient="norm") == pytest.approx(trace, rel=1e-14)


def test_bounds_by_hand(four_steps):
    found = theory.bounds(four_steps, epsilon=10.0)
    assert (found.smallest_rate, found.smoothness, found.kernel_bound) == (0.25, 2.0, 1.0)
    assert found.rate_limit == 0.25 and found.rate_within is True
    assert found.initial_loss == {"maximum": 16.0, "mean": 12.5, "sum": 25.0}
    t = np.arange(1, 5)
    np.testing.assert_allclose(found.random["maximum"], 2 * 16 / (0.25 * t))
    np.testing.assert_allclose(found.greedy["mean"], 2 * 12.5 / (0.25 * theory.psi(four_steps)[1:]))
    assert found.distance == pytest.approx(5.0)
    np.testing.assert_allclose(found.by_distance, 25 / (0.25 * 0.75 * t))
    np.testing.assert_allclose(found.smallest_shown, [64, 36, 16, 9])
    assert [one.random for one in found.predicted] == [13, 10, 20]  # 12.8, 10 and 20 rounded up
    assert found.predicted_by_distance == 14  # 25 / (10 * 3/16) = 13.3
    assert (found.measured_shown, found.measured_largest) == (3, 3)


def test_predicted_steps_of_gft_are_where_psi_reaches_what_rft_needs(four_steps):
    # 2 L(f0) / (eta epsilon) = 1.28, 1 and 2 for the three readings; psi is 0.78, 1.50, 2.28, 3.01
    found = theory.bounds(four_steps, epsilon=100.0).predicted
    assert [one.random for one in found] == [2, 1, 2]
    assert [one.greedy for one in found] == [2, 2, 3]
    np.testing.assert_allclose([one.greedy_as_claimed for one in found], [50 / 64, 50 / 64, 50 / 64 + 26 / 36])


def test_bounds_say_how_long_is_too_long(four_steps):
    found = theory.bounds(four_steps, epsilon=0.1)
    assert all(one.greedy is None and one.greedy_as_claimed is None for one in found.predicted)
    assert found.measured_shown is None
    assert "never" in found.sentences()[-1] and "more than this lesson has" in found.sentences()[-3]


@pytest.mark.parametrize("loss", ["hinge", "absolute"])
def test_a_loss_without_a_smoothness_constant_gets_a_sentence_and_no_number(loss):
    learner = nimt.KernelLearner(nimt.rbf(1.0), loss=loss, learning_rate=0.1)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), FAR, [1.0, -1.0], max_iterations=3, tol=None)
    found = theory.bounds(lesson, epsilon=0.1)
    assert found.random is None and found.greedy is None and found.rate_limit is None and found.rate_within is None
    assert found.predicted == ()
    assert "no finite smoothness constant" in found.sentences()[0]
    assert json.loads(found.to_json())["smoothness"] is None
    assert not any("RFT" in sentence for sentence in found.sentences())


def test_one_step_changes_the_distance_as_worked_out():
    # -4 eta (1 - eta K) e^2 at eta = 0.1 on the line
    found = theory.distance_change([-1.0, -2.0, 1.0], [1.0, 2.0, 5.0], 0.1)
    np.testing.assert_allclose(found, [-0.36, -1.28, -0.2])
    same = theory.distance_change([-1.0, -2.0, 1.0], [1.0, 2.0, 5.0], 0.1, slope=[-2.0, -4.0, 2.0])
    np.testing.assert_allclose(same, found, rtol=1e-14)


def test_best_and_diverging_rates():
    assert theory.best_learning_rate(nimt.rbf(0.5)) == 0.5
    assert theory.diverging_rate(nimt.rbf(0.5)) == 1.0
    assert theory.best_learning_rate(ConstantKernel(4.0) * nimt.rbf(0.5)) == 0.125
    np.testing.assert_allclose(theory.best_learning_rate(nimt.linear(1.0), LINE), [0.5, 0.25, 0.1])
    assert theory.diverging_rate(nimt.linear(0.0), [0.0])[0] == np.inf
    with pytest.raises(nimt.InvalidInput, match="depends on x: give the points as X"):
        theory.best_learning_rate(nimt.linear(1.0))


def test_at_the_best_rate_a_step_lands_on_the_label_and_above_the_diverging_rate_it_moves_away():
    rates = np.linspace(0.01, 1.2, 120)
    changes = np.array([theory.distance_change(1.0, 1.0, rate) for rate in rates])
    assert rates[np.argmin(changes)] == pytest.approx(0.5)
    assert (changes[rates < 0.999] < 0).all() and (changes[rates > 1.001] > 0).all()


def test_the_steepest_example_with_its_true_label():
    found = theory.steepest_example(on_a_line(), LINE, [1.0, 2.0, -1.0])
    assert (found.index, found.label) == (1, 2.0)
    assert found.change == pytest.approx(-1.28)
    assert found.value_after == pytest.approx(0.8)  # 0.1 * 4 * 2


def test_the_steepest_example_with_a_free_label_lands_on_the_target():
    # e^2 / K = 1, 2, 0.2; the label 0 - (-2) / (2 * 0.1 * 2) = 5
    found = theory.steepest_example(on_a_line(), LINE, [1.0, 2.0, -1.0], labels="free")
    assert found.index == 1
    assert found.label == pytest.approx(5.0)
    assert found.value_after == pytest.approx(2.0) == pytest.approx(found.target)
    assert found.change == pytest.approx(-2.0)
    assert "point 1 with the label 5" in found.sentences()[0] == str(found)
    assert json.loads(found.to_json())["index"] == 1 and found.to_table()["index"].tolist() == [1]


def test_no_label_beats_the_free_one():
    learner, target = on_a_line(initial=lambda x: np.cos(3 * x)), np.array([1.0, 2.0, -1.0])
    free = theory.steepest_example(learner, LINE, target, labels="free")
    tried = theory.steepest_example(learner, LINE, target, labels=np.linspace(-60, 60, 24001))
    assert tried.index == free.index
    assert tried.label == pytest.approx(free.label, abs=0.005)
    assert free.change <= tried.change == pytest.approx(free.change, rel=1e-6)


def test_the_best_of_two_labels_may_be_the_wrong_one():
    # f* = 0.2 has to be approached from 1: the label -1 pulls down, the label +1 pushes on up
    learner = nimt.KernelLearner(nimt.rbf(1.0), loss="logistic", learning_rate=0.5, initial=1.0)
    found = theory.steepest_example(learner, [0.0], [0.2], labels=[-1.0, 1.0])
    assert found.label == -1.0 and found.change < 0


def test_a_free_label_needs_the_square_loss():
    with pytest.raises(nimt.InvalidInput, match="square loss only"):
        theory.steepest_example(nimt.KernelLearner(nimt.rbf(1.0), loss="huber"), FAR, [1.0, 2.0], labels="free")


def test_rkhs_distance_of_two_points():
    # r = (1, 0), K = [[1, k], [k, 1]] with k = 1/e: r' K^-1 r = 1 / (1 - k^2)
    found = theory.rkhs_distance(nimt.KernelLearner(nimt.rbf(1.0)), [1.0, 0.0], [0.0, 1.0])
    assert found == pytest.approx(1 / math.sqrt(1 - math.exp(-2)), rel=1e-14)


def test_rkhs_distance_between_expansions_is_exact_however_close_the_centers():
    one = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.25).partial_fit([[0.0]], [1.0])  # 0.5 K(0, .)
    other = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.25).partial_fit([[1e-9]], [1.0])
    assert theory.rkhs_distance(one, nimt.KernelLearner(nimt.rbf(1.0)), FAR) == pytest.approx(0.5, rel=1e-15)
    assert theory.rkhs_distance(one, other) < 1e-7
    with pytest.raises(nimt.errors.IllConditioned, match="condition number"):
        theory.rkhs_distance(one, [0.0, 1.0], [0.0, 1e-9])


def test_rkhs_distances_along_a_lesson(four_steps):
    np.testing.assert_allclose(theory.rkhs_distances(four_steps) ** 2, [25, 13, 6.25, 3.25, 1.5625], rtol=1e-14)


def test_a_gaussian_of_the_kernels_own_width_has_the_norm_of_its_expansion():
    centers, weights = np.array([0.0, 0.3, -1.0]), np.array([1.0, -2.0, 0.5])
    gram = nimt.rbf(0.7)(centers[:, np.newaxis])
    exact = math.sqrt(weights @ gram @ weights)
    assert theory.gaussian_norm(0.7, weights, centers, [0.7] * 3) == pytest.approx(exact, rel=1e-14)


def test_a_wider_gaussian_has_the_norm_that_ever_finer_interpolants_approach_from_below():
    exact = theory.gaussian_norm(1.0, [1.0], [0.0], [1.5])
    kernel, norms = nimt.rbf(1.0), []
    for spacing in (1.0, 0.75, 0.5):
        x = np.arange(-6, 6.01, spacing)
        norms.append(theory.rkhs_distance(nimt.KernelLearner(kernel), np.exp(-((x / 1.5) ** 2)), x))
    assert norms == sorted(norms) and norms[-1] <= exact * (1 + 1e-9)
    assert norms[-1] == pytest.approx(exact, rel=1e-3)


def test_gaussian_norm_in_two_dimensions_is_a_product():
    flat = theory.gaussian_norm(1.0, [1.0], [[0.0]], [1.5])
    assert theory.gaussian_norm(1.0, [1.0], [[0.0, 0.0]], [1.5]) == pytest.approx(flat**2, rel=1e-14)
    with pytest.raises(nimt.InvalidInput, match=r"exceeds 0\.707"):
        theory.gaussian_norm(1.0, [1.0], [0.0], [0.7])
