"""What each teacher shows: counts and shares, limited pools, other labels, white-box scores."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nimt
from nimt.teachers.teacher import largest
from problems import scattered, small_lesson

GREEDY, RANDOM = nimt.GreedyTeacher, nimt.RandomTeacher
every_teacher = pytest.mark.parametrize("kind", [GREEDY, RANDOM], ids=["greedy", "random"])


@every_teacher
@pytest.mark.parametrize(
    ("k", "shown"),
    [
        (1, 1),
        (1.0, 12),
        (12, 12),
        (0.5, 6),
        (0.99, 11),
        (1e-9, 1),
        (np.int64(1), 1),
        (np.uint8(3), 3),
        (np.float64(1.0), 12),
        (np.float32(0.5), 6),
        (Fraction(1, 4), 3),
    ],
)
def test_k_is_a_count_or_a_share(kind, k, shown):
    assert small_lesson(kind(k=k), max_iterations=2).indices.shape == (2, shown)


@every_teacher
@pytest.mark.parametrize("k", [True, False, np.True_, "1", None, 1j, [1], np.array([1, 2])])
def test_k_is_a_number(kind, k):
    with pytest.raises(nimt.InvalidInput, match=r"k must be a count >= 1 or a share in \(0, 1\], got"):
        kind(k=k)


@every_teacher
def test_a_share_is_of_what_the_teacher_may_show(kind):
    assert small_lesson(kind(k=0.5, pool=[1, 3, 5, 7, 9]), max_iterations=2).indices.shape == (2, 2)
    assert small_lesson(kind(k=1.0, pool=np.arange(12) < 4), max_iterations=2).indices.shape == (2, 4)
    with pytest.raises(nimt.InvalidInput, match=r"from 1 to 3 .* got 4"):
        small_lesson(kind(k=4, pool=[0, 1, 2]))


def reference_largest(scores, k):
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    return sorted(order[:k])


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, np.inf]), min_size=1, max_size=12), st.data())
def test_the_largest_scores_with_ties_to_the_lowest_index(scores, data):
    k = data.draw(st.integers(1, len(scores)))
    np.testing.assert_array_equal(largest(np.array(scores), k), reference_largest(scores, k))


def test_a_score_that_is_nan_counts_as_largest():
    scores = np.array([1.0, np.nan, 3.0, 2.0])
    np.testing.assert_array_equal(largest(scores, 1), [1])
    np.testing.assert_array_equal(largest(scores, 2), [1, 2])
    scores = np.array([np.inf, np.inf, np.nan, -np.inf, np.nan, -0.0, 0.0])  # above infinity, however many are shown
    for k, shown in enumerate([[2], [2, 4], [0, 2, 4], [0, 1, 2, 4], [0, 1, 2, 4, 5], [0, 1, 2, 4, 5, 6]], 1):
        np.testing.assert_array_equal(largest(scores, k), shown)


@every_teacher
@pytest.mark.parametrize(
    "pool", [[8, 1, 4, 4], np.isin(np.arange(12), [1, 4, 8]), np.array([1, 4, 8], np.uint8), (1, 4, 8)]
)
def test_points_outside_the_teachers_pool_are_never_shown(kind, pool):
    lesson = small_lesson(kind(k=2, pool=pool), max_iterations=60)
    assert set(lesson.indices.ravel()) <= {1, 4, 8}
    assert lesson.picks[[1, 4, 8]].sum() == 120
    _, target, _ = scattered()
    np.testing.assert_array_equal(lesson.labels, target[lesson.indices])


@every_teacher
def test_a_share_of_the_pool_is_drawn_once_from_the_seed(kind):
    def allowed(seed):
        return set(small_lesson(kind(k=3, pool=0.5), max_iterations=80, seed=seed).indices.ravel())

    assert len(allowed(0)) <= 6
    assert allowed(0) == allowed(0)
    assert len({frozenset(allowed(seed)) for seed in range(5)}) > 1


def test_the_share_drawn_is_the_same_for_every_teacher():
    whole = [small_lesson(kind(k=1.0, pool=0.5), max_iterations=60, seed=4).picks > 0 for kind in (GREEDY, RANDOM)]
    np.testing.assert_array_equal(*whole)
    assert whole[0].sum() == 6


def test_a_mask_may_have_the_shape_of_the_grid_and_no_other():
    grid = nimt.Grid(np.arange(2.0), np.arange(3.0))
    mask = np.array([[False, True, False], [False, False, True]])
    learner = nimt.KernelLearner(nimt.rbf(1.0))
    lesson = nimt.teach(learner, GREEDY(k=1.0, pool=mask), grid, np.arange(6.0), max_iterations=1, tol=None)
    np.testing.assert_array_equal(lesson.indices, [[1, 5]])
    with pytest.raises(nimt.InvalidInput, match=r"mask of shape \(3, 2\).*\(6,\) or \(2, 3\)"):
        nimt.teach(learner, GREEDY(pool=mask.T), grid, np.arange(6.0), max_iterations=1, tol=None)


@every_teacher
def test_the_discrepancy_is_still_over_all_points(kind):
    _, target, _ = scattered()
    lesson = small_lesson(kind(pool=[0, 1]), max_iterations=5, snapshots=[5])
    assert lesson.discrepancy[5] == pytest.approx(np.linalg.norm(lesson.snapshots[5] - target) / 12, rel=1e-14)


@every_teacher
def test_with_a_probability_the_whole_pack_is_labelled_by_the_other_target(kind):
    _, target, other = scattered()
    lesson = small_lesson(kind(k=3, labels=nimt.teachers.AlternativeLabels(other, probability=0.3)), max_iterations=400)
    swapped = (lesson.labels == other[lesson.indices]).all(axis=1)
    true = (lesson.labels == target[lesson.indices]).all(axis=1)
    np.testing.assert_array_equal(swapped, ~true)
    assert 0.2 < swapped.mean() < 0.4


def test_the_labels_have_a_stream_of_their_own():
    _, _, other = scattered()
    plain = small_lesson(RANDOM(), seed=5)
    swapped = small_lesson(RANDOM(labels=nimt.teachers.AlternativeLabels(other)), seed=5)
    np.testing.assert_array_equal(plain.indices, swapped.indices)


def test_the_default_probability_is_the_papers():
    assert nimt.teachers.AlternativeLabels(0.0).probability == 0.2


def test_another_target_may_be_callable():
    points, _, _ = scattered()
    lesson = small_lesson(
        GREEDY(labels=nimt.teachers.AlternativeLabels(lambda x: x[:, :1] + x[:, 1:], probability=1.0))
    )
    np.testing.assert_array_equal(lesson.labels, points.sum(axis=1)[lesson.indices])


def test_uniform_draws_are_uniform():
    lesson = small_lesson(RANDOM(k=1.0), max_iterations=500)
    expected = lesson.picks.sum() / 12
    assert ((lesson.picks - expected) ** 2 / expected).sum() < 31.3  # chi-square, 11 degrees of freedom, p = 0.001


def test_weighted_draws_follow_their_weights_and_never_show_a_zero():
    weights = np.array([0.0, 0.0, 1, 2, 3, 4, 0, 5, 6, 7, 8, 0])
    for replace, k in ((True, 12), (False, 1)):
        lesson = small_lesson(RANDOM(k=k, replace=replace, weights=weights), max_iterations=500)
        assert lesson.picks[weights == 0].sum() == 0
        possible = weights > 0
        expected = weights[possible] / weights.sum() * lesson.picks.sum()
        assert ((lesson.picks[possible] - expected) ** 2 / expected).sum() < 24.3  # 7 degrees, p = 0.001


def test_weights_need_a_factor_only():
    weights = np.arange(1.0, 13.0)
    one, other = (small_lesson(RANDOM(k=4, weights=weights * factor)) for factor in (1.0, 1024.0))
    np.testing.assert_array_equal(one.indices, other.indices)


def test_without_replacement_a_pack_has_no_point_twice():
    lesson = small_lesson(RANDOM(k=11, replace=False), max_iterations=50)
    for pack in lesson.indices:
        assert len(set(pack)) == 11
    np.testing.assert_array_equal(
        np.sort(small_lesson(RANDOM(k=12, replace=False)).indices), np.tile(np.arange(12), (25, 1))
    )


def test_with_replacement_a_pack_may_show_a_point_twice_and_counts_it_twice():
    lesson = small_lesson(RANDOM(k=12), max_iterations=1)
    assert lesson.picks.max() > 1
    assert lesson.picks.sum() == 12


def test_seeds():
    assert (small_lesson(RANDOM(), seed=1).indices == small_lesson(RANDOM(), seed=1).indices).all()
    assert (small_lesson(RANDOM(), seed=1).indices != small_lesson(RANDOM(), seed=2).indices).any()
    drawn = small_lesson(RANDOM(), seed=None)
    again = small_lesson(RANDOM(), seed=drawn.settings["seed"])
    np.testing.assert_array_equal(drawn.indices, again.indices)


@pytest.mark.long
def test_the_gradient_score_chooses_differently_where_the_diagonal_varies():
    points = np.array([[0.1], [3.0]])
    target = np.array([1.0, 0.8])
    kernel = nimt.linear(0.0)
    learner = nimt.KernelLearner(kernel, learning_rate=0.01)
    lessons = [
        nimt.teach(learner, teacher, points, target, max_iterations=1, tol=None)
        for teacher in (GREEDY(), GREEDY(score="gradient", loss="square", kernel=kernel))
    ]
    assert lessons[0].indices[0, 0] == 0
    assert lessons[1].indices[0, 0] == 1


@pytest.mark.long
def test_the_gradient_score_agrees_where_the_diagonal_is_constant():
    white = small_lesson(GREEDY(k=2, score="gradient", loss="square", kernel=nimt.rbf(0.7)))
    np.testing.assert_array_equal(white.indices, small_lesson(GREEDY(k=2)).indices)


def test_the_gradient_score_sees_a_loss_that_has_gone_flat():
    points, target = np.array([[0.0], [5.0]]), np.array([2.0, 0.1])
    learner = nimt.KernelLearner(nimt.rbf(1.0), loss="hinge", initial=np.array([9.0, 0.0]))
    teacher = GREEDY(score="gradient", loss="hinge", kernel=nimt.rbf(1.0))
    assert (
        nimt.teach(learner, GREEDY(), points, target, max_iterations=1, tol=None).outcome is nimt.lesson.Outcome.AT_REST
    )
    assert nimt.teach(learner, teacher, points, target, max_iterations=1, tol=None).indices[0, 0] == 1


def test_a_teacher_reports_its_scores():
    points, target, _ = scattered()
    walk = nimt.steps(
        nimt.KernelLearner(nimt.rbf(0.7)), GREEDY(), points, target, max_iterations=1, tol=None, engine="reference"
    )
    _, selection, _ = next(walk)
    np.testing.assert_array_equal(selection.scores, np.abs(target))


@every_teacher
def test_a_teacher_is_frozen(kind):
    with pytest.raises(dataclasses.FrozenInstanceError):
        kind().k = 3


@dataclasses.dataclass(frozen=True, eq=False)
class Weighing(nimt.Teacher):
    """A teacher of one's own whose field `weights` means something else."""

    weights: tuple = (1.0, 2.0)

    def select(self, view):
        return view.show(np.argmax(self.weights[0] * view.target - self.weights[1] * view.predictions))


class Handmade(nimt.Teacher):
    """A teacher of one's own that is no dataclass."""

    def __init__(self, start, labels):
        super().__init__(labels=labels)
        object.__setattr__(self, "start", start)

    def select(self, view):
        return view.show((self.start + view.step) % len(view))


def test_a_teacher_of_ones_own_has_all_options():
    _, _, other = scattered()
    lesson = small_lesson(Weighing(pool=[2, 3], labels=nimt.teachers.AlternativeLabels(other, 1.0)), max_iterations=20)
    assert set(lesson.indices.ravel()) <= {2, 3}
    np.testing.assert_array_equal(lesson.labels, other[lesson.indices])
    handmade = small_lesson(Handmade(5, nimt.teachers.AlternativeLabels(other, 1.0)), max_iterations=2)
    np.testing.assert_array_equal(handmade.indices, [[5], [6]])
