"""Points that are held out: their error, during the lesson and at its end; kernels that reach no neighbour."""

import warnings

import numpy as np
import pytest

import nimt
from nimt.lesson.held_out import error_on

RNG = np.random.default_rng(0)
POINTS = RNG.uniform(-1, 1, size=(80, 2))
FRESH = RNG.uniform(-1, 1, size=(40, 2))


def hill(points):
    return np.exp(-np.sum(points**2, axis=1))


def taught(**options):
    options = {
        "max_iterations": 300,
        "tol": None,
        "snapshots": range(0, 301, 50),
        "holdout": (FRESH, hill(FRESH)),
    } | options
    learner = nimt.KernelLearner(nimt.rbf(0.8), learning_rate=0.3)
    return nimt.teach(learner, nimt.GreedyTeacher(), POINTS, hill, **options)


def test_the_error_is_that_of_the_learner_on_the_points_held_out():
    lesson = taught()
    off = lesson.learner.predict(FRESH) - hill(FRESH)
    found = lesson.held_out
    assert found.count == 40 and found.accuracy is None
    assert found.rms == pytest.approx(np.sqrt(np.mean(off**2)))
    assert found.r_squared == pytest.approx(1 - np.sum(off**2) / np.sum((hill(FRESH) - hill(FRESH).mean()) ** 2))
    assert found.r_squared > 0.95


def test_the_curve_holds_the_error_at_every_snapshot_and_the_end():
    lesson = taught(max_iterations=280, snapshots=range(0, 281, 50))
    assert list(lesson.held_out_curve) == [0, 50, 100, 150, 200, 250, 280]
    assert lesson.held_out_curve[280] == pytest.approx(lesson.held_out.rms)
    assert lesson.held_out_curve[0] == pytest.approx(np.sqrt(np.mean(hill(FRESH) ** 2)))
    shorter = taught(max_iterations=100, snapshots=[])
    assert shorter.held_out_curve[100] == lesson.held_out_curve[100]


def test_the_first_points_make_the_curve_and_the_others_the_report(tmp_path):
    lesson = taught(holdout=(FRESH, hill(FRESH), 15))
    lesson.save(tmp_path / "lesson")
    off = (lesson.learner.predict(FRESH) - hill(FRESH)) ** 2
    for one in (lesson, nimt.Lesson.load(tmp_path / "lesson")):
        assert one.held_out_curve[300] == pytest.approx(np.sqrt(off[:15].mean()))
        assert one.held_out.rms == pytest.approx(np.sqrt(off[15:].mean())) and one.held_out.count == 25
    with pytest.raises(nimt.InvalidInput, match="must leave points to measure on"):
        taught(holdout=(FRESH, hill(FRESH), 40))


def test_holding_out_changes_no_step():
    np.testing.assert_array_equal(taught().indices, taught(holdout=None).indices)
    assert taught(holdout=None).held_out is None and taught(holdout=None).held_out_curve == {}


def test_it_is_kept_in_files_and_goes_on_after_a_stop(tmp_path):
    whole = taught()
    whole.save(tmp_path / "lesson")
    loaded = nimt.Lesson.load(tmp_path / "lesson")
    assert loaded.held_out_curve == whole.held_out_curve and loaded.held_out == whole.held_out
    path = tmp_path / "checkpoint"
    taught(checkpoint=path, callback=lambda progress: progress.step >= 120)
    again = nimt.resume(path)
    kept = {step: again.held_out_curve[step] for step in whole.held_out_curve}
    assert kept == whole.held_out_curve


@pytest.mark.parametrize(
    ("values", "target", "accuracy"),
    [
        ([-0.2, 0.4, 3.0], [-1.0, -1.0, 1.0], 2 / 3),
        ([[0.9, 0.1], [0.6, 0.4]], [[1.0, 0.0], [0.0, 1.0]], 0.5),
        ([1.0, 2.0], [1.0, 2.5], None),
    ],
)
def test_classes_have_an_accuracy(values, target, accuracy):
    assert error_on(np.array(values), np.array(target)).accuracy == accuracy


def test_points_of_one_class_have_an_accuracy_where_two_are_taught():
    learner = nimt.KernelLearner(nimt.rbf(1.0), loss="logistic", learning_rate=1.0)
    x, labels = np.linspace(-2, 2, 9), np.array([-1.0] * 5 + [1.0] * 4)
    held = ([[-1.1], [1.1], [-1.9]], [-1.0, -1.0, -1.0])  # one is taught to be of the other class
    lesson = nimt.teach(learner, nimt.RandomTeacher(), x, labels, max_iterations=200, seed=0, holdout=held)
    assert lesson.held_out.accuracy == pytest.approx(2 / 3)
    split = nimt.teach(
        learner,
        nimt.RandomTeacher(),
        x,
        labels,
        max_iterations=200,
        seed=0,
        holdout=([[-1.1], [1.1], [1.9]], [-1.0, 1.0, -1.0], 2),
    )  # one class is left to report on
    assert split.held_out.accuracy == 0.0


def test_a_constant_target_has_no_share_that_is_explained():
    assert error_on(np.array([1.0, 2.0]), np.array([1.0, 1.0])).r_squared is None


@pytest.mark.parametrize(
    ("holdout", "words"),
    [
        (3, "pair"),
        ((FRESH,), "pair"),
        ((FRESH, np.zeros(3)), "target of holdout has shape"),
        ((FRESH[:, :1], np.zeros(40)), "points of dimension 1"),
        ((FRESH, np.zeros((40, 2))), "1 output"),
        ((FRESH, np.full(40, np.nan)), "finite"),
    ],
)
def test_what_does_not_fit_is_refused(holdout, words):
    with pytest.raises(nimt.InvalidInput, match=words):
        taught(holdout=holdout)


def test_a_kernel_that_reaches_no_neighbour_warns():
    points = np.random.default_rng(0).normal(size=(300, 6)) * [0.01, 0.1, 1, 10, 50, 100]
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate="auto")
    with pytest.warns(nimt.errors.NarrowKernelWarning, match="reaches almost no neighbour: at 48 of 48 points"):
        nimt.teach(learner, nimt.GreedyTeacher(), points, points[:, 0], max_iterations=1, tol=None)


@pytest.mark.parametrize("pool", [nimt.Grid.like(np.zeros((20, 20))), np.arange(0, 300.0, 10), POINTS])
def test_a_grid_few_points_and_a_wide_kernel_do_not(pool):
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate="auto")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nimt.teach(learner, nimt.GreedyTeacher(), pool, lambda x: x[:, 0], max_iterations=1, tol=None)
