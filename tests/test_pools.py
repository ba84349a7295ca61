"""Pools: grids and scattered points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nimt
from nimt.pools.base import Points, as_pool, same_points


def test_a_grid_lists_its_points_in_c_order():
    grid = nimt.Grid([0.0, 1.0], [5.0, 6.0, 7.0])
    by_hand = [[a, b] for a in (0.0, 1.0) for b in (5.0, 6.0, 7.0)]
    np.testing.assert_array_equal(grid.points, by_hand)
    assert grid.shape == (2, 3)
    assert len(grid) == 6
    assert grid.dimension == 2


@given(start=st.floats(-1e6, 1e6), step=st.floats(1e-3, 1e3), n=st.integers(1, 300))
def test_arange_and_linspace_are_uniform_within_rounding(start, step, n):
    for axis in (start + step * np.arange(n), np.linspace(start, start + step * n, n + 1), start - step * np.arange(n)):
        nimt.Grid(axis)


def test_a_grid_like_an_image_has_pixel_coordinates():
    image = np.arange(12.0).reshape(3, 4)
    grid = nimt.Grid.like(image)
    assert grid.shape == image.shape
    for (row, column), value in zip(grid.points.astype(int), image.ravel(), strict=True):
        assert image[row, column] == value


@pytest.mark.parametrize("pool", [nimt.Grid([0.0, 1.0, 2.0]), Points([0.0, 1.0, 2.0])])
def test_points_are_read_only_and_share_nothing_with_the_caller(pool):
    with pytest.raises(ValueError, match="read-only"):
        pool.points[0] = 9.0
    mine = np.array([0.0, 1.0, 2.0])
    own = type(pool)(mine)
    mine[0] = 7.0
    assert own.points[0, 0] == 0.0


def test_an_array_of_one_dimension_is_a_column():
    assert as_pool(np.zeros(3)).points.shape == (3, 1)
    assert as_pool([[1, 2], [3, 4]]).points.dtype == np.float64


def test_same_points_looks_at_points_not_at_types():
    grid = nimt.Grid([0.0, 1.0], [0.0, 1.0])
    assert same_points(grid, Points(grid.points))
    assert not same_points(grid, Points(grid.points[::-1]))
    assert not same_points(grid, nimt.Grid([0.0, 1.0, 2.0, 3.0]))


def target_2d(x):
    return x[:, 0] + 2 * x[:, 1]


@pytest.mark.parametrize("kind", ["flat", "column", "image", "callable", "callable column"])
def test_a_target_comes_in_many_shapes_and_means_the_same(kind):
    grid = nimt.Grid([0.0, 1.0, 2.0], [0.0, 1.0])
    values = target_2d(grid.points)
    given_as = {
        "flat": values,
        "column": values[:, np.newaxis],
        "image": values.reshape(3, 2),
        "callable": target_2d,
        "callable column": lambda x: target_2d(x)[:, np.newaxis],
    }[kind]
    for target, initial in ((given_as, 0.0), (0.0, given_as)):
        learner = nimt.KernelLearner(nimt.rbf(1.0), initial=initial)
        lesson = nimt.teach(learner, nimt.GreedyTeacher(), grid, target, max_iterations=0, tol=None)
        shown = lesson.target if initial is not given_as else lesson.initial
        np.testing.assert_array_equal(shown, values)
        assert lesson.discrepancy[0] == pytest.approx(np.linalg.norm(values) / 6, rel=1e-15)
