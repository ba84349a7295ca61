"""The learner that projects: interpolation, ridge regression, refusal, continuation."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

import nimt
from oracles import gauss
from problems import MIXTURE, assert_same_lesson, scattered, small_lesson

KERNEL = nimt.rbf(0.5)


def orthogonal(**options):
    return nimt.learners.OrthogonalLearner(KERNEL, **options)


def on_mixture(teacher=None, **options):
    learner = orthogonal(initial=MIXTURE.initial)
    return nimt.teach(learner, teacher or nimt.GreedyTeacher(), MIXTURE.pool, MIXTURE.target, **options)


def ridge(points, labels, where, alpha):
    model = KernelRidge(kernel="precomputed", alpha=alpha).fit(KERNEL(points), labels)
    return model.predict(KERNEL(where, points))


def test_thirty_examples_teach_the_mixture():
    lesson = on_mixture(tol=1e-4, max_iterations=100)
    assert lesson.itd == 30
    assert len(lesson.learner.centers_) == 30


def test_it_is_kernel_ridge_regression_on_the_centres():
    lesson = on_mixture(tol=1e-4, max_iterations=100)
    centers = lesson.learner.centers_
    np.testing.assert_array_equal(centers, MIXTURE.pool.points[lesson.indices[:, 0]])
    gap = (MIXTURE.target(centers) - MIXTURE.initial(centers)).ravel()
    expected = MIXTURE.initial(MIXTURE.pool.points).ravel() + ridge(centers, gap, MIXTURE.pool.points, 0.0)
    np.testing.assert_allclose(lesson.final, expected, atol=1e-8, rtol=0)
    np.testing.assert_allclose(lesson.learner.predict(MIXTURE.pool), expected, atol=1e-8, rtol=0)


@pytest.mark.parametrize("alpha", [1e-3, 0.5])
def test_regularisation_with_points_shown_again(alpha):
    points, target, _ = scattered()
    lesson = small_lesson(nimt.RandomTeacher(k=2), orthogonal(regularisation=alpha), max_iterations=12)
    rows = lesson.indices.ravel()
    assert len(set(rows)) < len(rows)
    expected = ridge(points[rows], target[rows], points, alpha)
    np.testing.assert_allclose(lesson.final, expected, atol=1e-8, rtol=0)
    np.testing.assert_allclose(lesson.learner.predict(points), expected, atol=1e-8, rtol=0)
    assert lesson.learner.refused_ == 0


def plain_newton(points, labels, shown, width):
    """Interpolate by solving the whole system anew after every example, in plain loops."""
    kernel = gauss(width)
    centers, values, history = [], [], []
    for i in shown:
        centers.append(i)
        values.append(labels[i])
        size = len(centers)
        rows = [[kernel(points[a], points[b]) for b in centers] + [y] for a, y in zip(centers, values, strict=True)]
        for p in range(size):
            for q in range(p + 1, size):
                factor = rows[q][p] / rows[p][p]
                rows[q] = [u - factor * v for u, v in zip(rows[q], rows[p], strict=True)]
        solution = [0.0] * size
        for p in reversed(range(size)):
            rest = sum(rows[p][q] * solution[q] for q in range(p + 1, size))
            solution[p] = (rows[p][size] - rest) / rows[p][p]
        history.append([sum(c * kernel(points[a], x) for a, c in zip(centers, solution, strict=True)) for x in points])
    return history


def test_every_step_is_the_interpolant():
    points, target, _ = scattered()
    lesson = small_lesson(learner=orthogonal(), max_iterations=8, snapshots=range(9))
    history = plain_newton(points.tolist(), target.tolist(), lesson.indices[:, 0].tolist(), 0.5)
    for step, values in enumerate(history, start=1):
        np.testing.assert_allclose(lesson.snapshots[step], values, atol=1e-10, rtol=0)


def test_by_hand_and_in_a_lesson_it_learns_the_same():
    points, target, _ = scattered()
    lesson = small_lesson(nimt.RandomTeacher(k=3), orthogonal(), max_iterations=6, seed=3)
    learner = orthogonal()
    for rows in lesson.indices:
        learner.partial_fit(points[rows], target[rows])
    elsewhere = np.random.default_rng(2).uniform(-1, 1, (50, 2))
    np.testing.assert_allclose(learner.predict(elsewhere), lesson.learner.predict(elsewhere), atol=1e-11, rtol=0)
    assert learner.refused_ == lesson.learner.refused_ > 0
    assert learner.steps_ == lesson.learner.steps_ == 6
    np.testing.assert_allclose(learner.rkhs_norm(), np.linalg.norm(learner.newton_), rtol=1e-10)


def test_it_goes_on_with_new_points():
    points, target, _ = scattered(n=20)
    first = nimt.teach(orthogonal(), nimt.GreedyTeacher(), points[:10], target[:10], max_iterations=10, tol=None)
    both = nimt.teach(first.learner, nimt.GreedyTeacher(), points, target, max_iterations=10, tol=1e-9)
    np.testing.assert_allclose(both.learner.predict(points), target, atol=1e-7)
    assert len(both.learner.centers_) == 20


def test_a_centre_it_has_is_refused():
    learner = orthogonal().partial_fit([[0.0]], [1.0])
    before = learner.predict([[0.0], [0.2]])
    learner.partial_fit([[0.0], [1e-9]], [5.0, 7.0])
    np.testing.assert_array_equal(learner.predict([[0.0], [0.2]]), before)
    assert (learner.refused_, len(learner.centers_)) == (2, 1)


def test_the_lesson_ends_when_nothing_in_the_pool_is_new():
    teacher = nimt.teachers.InterpolationTeacher("P", kernel=KERNEL)
    learner = orthogonal(initial=MIXTURE.initial, power_tolerance=0.1)
    lesson = nimt.teach(learner, teacher, MIXTURE.pool, MIXTURE.target, max_iterations=280, tol=None)
    assert lesson.outcome is nimt.lesson.Outcome.STATIONARY
    assert 20 < len(lesson) < 100
    rows = lesson.learner.basis_at(MIXTURE.pool.points)
    assert np.max(1 - np.sum(rows**2, axis=1)) <= 0.1**2 * (1 + 1e-9)
    random = nimt.teach(learner, nimt.RandomTeacher(), MIXTURE.pool, MIXTURE.target, max_iterations=5000, tol=None)
    assert random.outcome is nimt.lesson.Outcome.STATIONARY


@pytest.mark.long
@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("regularisation", [0.0, 0.1])
def test_resuming_changes_nothing(regularisation, tmp_path):
    points, target, initial = scattered()
    start = orthogonal(regularisation=regularisation, initial=initial)
    for learner in (start, nimt.teach(start, nimt.RandomTeacher(), points, target, max_iterations=3, tol=None).learner):
        options = {"learner": learner, "teacher": nimt.RandomTeacher(k=2), "max_iterations": 8, "tol": None}
        whole = small_lesson(**options)
        for at in (1, 3):
            small_lesson(
                **options, callback=lambda p, at=at: p.step >= at, checkpoint=tmp_path / "c", on_existing="replace"
            )
            resumed = nimt.resume(tmp_path / "c")
            assert_same_lesson(resumed, whole)
            np.testing.assert_array_equal(resumed.learner.factor_, whole.learner.factor_)


def test_a_saved_learner_predicts_the_same(tmp_path):
    lesson = on_mixture(max_iterations=12)
    lesson.save(tmp_path / "lesson.npz")
    loaded = nimt.Lesson.load(tmp_path / "lesson.npz").learner
    np.testing.assert_array_equal(loaded.predict(MIXTURE.pool), lesson.learner.predict(MIXTURE.pool))
    assert loaded.get_params().keys() == lesson.learner.get_params().keys()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"regularisation": -1.0}, "regularisation must be"),
        ({"power_tolerance": 0.0}, "power_tolerance must be"),
        ({"power_tolerance": 1.0}, "power_tolerance must be below 1"),
        ({"initial": np.nan}, "initial has nan"),
    ],
)
def test_what_it_refuses(options, message):
    with pytest.raises(nimt.InvalidInput, match=message):
        orthogonal(**options)


def test_it_refuses_points_of_another_dimension():
    with pytest.raises(nimt.InvalidInput, match="taught in 1 dimensions"):
        orthogonal().partial_fit([[0.0]], [1.0]).partial_fit([[0.0, 1.0]], [1.0])


@pytest.mark.filterwarnings("ignore")  # pyMOR's own
@pytest.mark.parametrize(("rule", "criterion"), [("f", "f"), ("P", "p"), ("f*P", "fp")])
def test_pymor_finds_the_same_interpolant(rule, criterion):
    # seconds to import, for these tests only
    VKOGARegressor = pytest.importorskip("pymor.algorithms.ml.vkoga.regressor").VKOGARegressor

    points = MIXTURE.pool.points
    gap = MIXTURE.target(points) - MIXTURE.initial(points)
    theirs = VKOGARegressor(kernel=KERNEL, criterion=criterion, max_centers=20, tol=0.0, reg=0.0)
    theirs.fit(points, gap)
    ours = on_mixture(nimt.teachers.InterpolationTeacher(rule, kernel=KERNEL), max_iterations=20)
    np.testing.assert_allclose(theirs.predict(points).ravel(), ours.final - ours.initial, atol=1e-8, rtol=0)
