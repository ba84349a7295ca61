"""What holds for every lesson, whatever the numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nimt
from kernels_under_test import KERNELS
from nimt.losses import LOSSES, as_loss
from nimt.operators import DenseOperator, dense, grid
from nimt.pools.pool import Grid, Points

seeds = st.integers(0, 2**32 - 1)
SMOOTH = ("square", "huber", "logistic")
packs = st.sampled_from([1, 3, 0.4, 1.0])


def drawn(seed, n=9):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (n, 2)), rng.normal(size=n), rng.normal(size=n), rng.permutation(n)


def run(points, target, initial, teacher, loss="square", rate=0.1, kernel=None, **options):
    learner = nimt.KernelLearner(kernel or nimt.rbf(0.8), loss=loss, learning_rate=rate, initial=initial)
    return nimt.teach(learner, teacher, points, target, **{"max_iterations": 15, "tol": None} | options)


@pytest.mark.long
@given(seed=seeds, k=packs, loss=st.sampled_from(["square", "hinge", "huber", "absolute"]), greedy=st.booleans())
def test_values_are_the_initial_function_plus_the_expansion(seed, k, loss, greedy):
    points, target, initial, _ = drawn(seed)
    teacher = (nimt.GreedyTeacher if greedy else nimt.RandomTeacher)(k=k)
    lesson = run(points, target, initial, teacher, loss)
    taught = lesson.learner
    expansion = taught.kernel(points, taught.centers_) @ taught.coefficients_
    np.testing.assert_allclose(lesson.final, initial + expansion, rtol=1e-12, atol=1e-12)
    assert len(taught.centers_) == np.count_nonzero(lesson.picks)
    assert len(np.unique(taught.centers_, axis=0)) == len(taught.centers_)


@pytest.mark.long
@given(seed=seeds, k=packs)
def test_permuting_the_pool_permutes_the_lesson(seed, k):
    points, target, initial, order = drawn(seed)
    straight = run(points, target, initial, nimt.GreedyTeacher(k=k))
    permuted = run(points[order], target[order], initial[order], nimt.GreedyTeacher(k=k))
    np.testing.assert_array_equal(np.sort(order[permuted.indices]), np.sort(straight.indices))
    np.testing.assert_array_equal(permuted.picks, straight.picks[order])
    np.testing.assert_allclose(permuted.discrepancy, straight.discrepancy, rtol=1e-12)


@pytest.mark.long
@given(seed=seeds, one=seeds, other=seeds, k=packs)
def test_greedy_ignores_the_rng(seed, one, other, k):
    points, target, initial, _ = drawn(seed)
    lessons = [run(points, target, initial, nimt.GreedyTeacher(k=k), seed=s) for s in (one, other)]
    np.testing.assert_array_equal(lessons[0].indices, lessons[1].indices)
    np.testing.assert_array_equal(lessons[0].discrepancy, lessons[1].discrepancy)


@given(
    seed=seeds, name=st.sampled_from(["square", "huber", "logistic"]), greedy=st.booleans(), share=st.floats(0.05, 1)
)
def test_the_loss_at_the_shown_example_never_rises_below_the_bound(seed, name, greedy, share):
    points, target, initial, _ = drawn(seed)
    if name == "logistic":
        target = np.sign(target)
    loss = as_loss(name)
    teacher = nimt.GreedyTeacher() if greedy else nimt.RandomTeacher()
    rate = share / loss.smoothness
    lesson = run(points, target, initial, teacher, name, rate, snapshots=range(16))
    for t, (i,) in enumerate(lesson.indices):
        before, after = (loss.value(lesson.snapshots[s][i], target[i]) for s in (t, t + 1))
        assert after <= before * (1 + 1e-12) + 1e-15


@given(seed=seeds)
def test_one_square_step_lowers_the_squared_distance_in_h_by_what_the_theory_says(seed):
    points, target, initial, _ = drawn(seed, n=6)
    eta = 0.2
    lesson = run(points, target, initial, nimt.GreedyTeacher(), rate=eta, kernel=nimt.rbf(0.3), measure="rkhs",
                 snapshots=range(16))  # fmt: skip
    for t, (i,) in enumerate(lesson.indices):
        drop = 4 * eta * (1 - eta) * (lesson.snapshots[t][i] - target[i]) ** 2
        assert lesson.discrepancy[t + 1] ** 2 == pytest.approx(lesson.discrepancy[t] ** 2 - drop, rel=1e-7, abs=1e-9)


@pytest.mark.long
@given(seed=seeds, k=packs, loss=st.sampled_from(sorted(set(LOSSES) - {"crossentropy"})))
def test_teaching_equals_showing_the_same_packs_by_hand(seed, k, loss):
    points, target, _, _ = drawn(seed)
    if loss == "logistic":
        target = np.sign(target)
    lesson = run(points, target, 0.3, nimt.RandomTeacher(k=k), loss)
    by_hand = nimt.KernelLearner(nimt.rbf(0.8), loss=loss, learning_rate=0.1, initial=0.3)
    for indices, labels in zip(lesson.indices, lesson.labels, strict=True):
        by_hand.partial_fit(points[indices], labels)
    np.testing.assert_allclose(by_hand.predict(points), lesson.final, rtol=1e-11, atol=1e-11)
    assert by_hand.steps_ == lesson.learner.steps_ == 15


@pytest.mark.long
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@given(seed=seeds, k=st.integers(1, 30))
def test_the_operator_is_the_gram_matrix_whether_kept_or_not(kernel, seed, k):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (9, 2))
    indices, coefficients = rng.integers(9, size=k), rng.normal(size=k)
    expected = np.ones(9)
    for i, c in zip(indices, coefficients, strict=True):
        for j in range(9):
            expected[j] += c * kernel(points[j : j + 1], points[i : i + 1])[0, 0]
    for limit in (2**30, 0):
        values = np.ones(9)
        DenseOperator(kernel, Points(points), gram_limit=limit).add(values, indices, coefficients)
        np.testing.assert_allclose(values, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("outputs", [(), (3,)], ids=["one output", "three"])
@pytest.mark.parametrize("shape", [(40,), (9, 8), (4, 5, 6)], ids=str)
def test_packs_added_through_the_window_are_those_of_the_gram_matrix_to_the_last_bit(shape, outputs, monkeypatch):
    rng, pool = np.random.default_rng(0), Grid.like(np.zeros(shape))
    indices, coefficients = rng.integers(len(pool), size=30), rng.normal(size=(30, *outputs))
    values = rng.normal(size=(len(pool), *outputs))
    by_gram, by_window = values.copy(), values.copy()
    DenseOperator(nimt.rbf(0.9), pool).add(by_gram, indices, coefficients)
    monkeypatch.setattr(dense, "LARGE_GRAM", 0)
    monkeypatch.setattr(dense, "ZEROS", 0)
    monkeypatch.setattr(grid, "ADDED_AT_ONCE", 200)  # a few points at once
    operator = DenseOperator(nimt.rbf(0.9), pool)
    operator.add(by_window, indices, coefficients)
    assert not operator.keeps_gram
    np.testing.assert_array_equal(by_window, by_gram)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_gram_matrix_is_the_same_in_blocks(kernel, monkeypatch):
    points = np.random.default_rng(0).uniform(-1, 1, (9, 2))
    monkeypatch.setattr(dense, "GRAM_BLOCK", 2 * 8 * 9)  # two rows at once, and one at the end
    np.testing.assert_allclose(DenseOperator(kernel, Points(points)).gram, kernel(points), rtol=1e-14, atol=1e-16)
