"""Random teaching in epochs: every point once before any point is shown again."""

import numpy as np
import pytest

import nimt
from nimt import testing

X = nimt.Grid(np.linspace(-2, 2, 30))
LEARNER = nimt.KernelLearner(nimt.rbf(0.4), learning_rate=0.1)


def teach(steps, seed=3, **options):
    teacher = nimt.RandomTeacher(order="epoch", **options)
    return nimt.teach(LEARNER, teacher, X, np.sin, max_iterations=steps, tol=None, seed=seed)


@pytest.mark.parametrize("k", [1, 7, 0.5, 29, nimt.schedules.steps(2, 9, stages=3)])
def test_an_epoch_shows_every_point_once_and_no_pack_a_point_twice(k):
    lesson = teach(100, k=k)
    packs = [row[row >= 0] for row in lesson.indices]
    assert all(len(set(pack)) == len(pack) for pack in packs)
    shown = np.concatenate(packs)
    epochs = shown[: len(shown) // 30 * 30].reshape(-1, 30)
    assert len(epochs) >= 3
    np.testing.assert_array_equal(np.sort(epochs, axis=1), np.tile(np.arange(30), (len(epochs), 1)))
    assert len(np.unique(epochs, axis=0)) == len(epochs)  # a new shuffle each time


def test_the_order_comes_from_the_seed():
    assert np.array_equal(teach(60, k=7).indices, teach(60, k=7).indices)
    assert not np.array_equal(teach(60, k=7).indices, teach(60, k=7, seed=4).indices)


def test_an_epoch_of_a_limited_pool_is_of_its_points():
    mine = np.arange(4, 16)
    assert np.array_equal(np.sort(teach(12, pool=mine).indices[:, 0]), mine)


def test_each_output_has_epochs_of_its_own():
    teacher = nimt.teachers.PerOutput(nimt.RandomTeacher(k=5, order="epoch"))
    target = np.column_stack([np.sin(X.points[:, 0]), np.cos(X.points[:, 0])])
    shown = nimt.teach(LEARNER, teacher, X, target, max_iterations=6, tol=None).indices.reshape(6, 2, 5)
    for output in range(2):
        assert np.array_equal(np.sort(shown[:, output].ravel()), np.arange(30))


@pytest.mark.parametrize("k", [1, 5])
def test_a_teacher_in_epochs_keeps_the_contract(k):
    testing.check_teacher(nimt.RandomTeacher(k=k, order="epoch"))


def test_what_epochs_cannot_do_is_said():
    with pytest.raises(nimt.InvalidInput, match="'step' or 'epoch', got 'shuffled'"):
        nimt.RandomTeacher(order="shuffled")
    with pytest.raises(nimt.InvalidInput, match="leave weights= out"):
        nimt.RandomTeacher(order="epoch", weights=np.ones(30))
    teacher = nimt.RandomTeacher(order="epoch")
    with pytest.raises(nimt.InvalidInput, match="no compiled engine can choose by epochs"):
        nimt.teach(LEARNER, teacher, X, np.sin, max_iterations=3, engine="grid")
    with pytest.raises(nimt.InvalidInput, match="no forecast for a RandomTeacher with order='epoch'"):
        nimt.forecast(LEARNER, teacher, X, np.sin, tol=1e-2)
