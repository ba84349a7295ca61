"""Pools: grids and scattered points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nimt
from nimt.pools.pool import Points, Pool, as_pool, same_points


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


class Circle(Pool):
    view = "curve"

    def __init__(self, n):
        self.angle = np.arange(n) * 360 / n

    @property
    def points(self):
        return np.column_stack([np.cos(np.radians(self.angle)), np.sin(np.radians(self.angle))])

    def describe(self):
        return {"n": len(self.angle)}

    def coordinates(self, indices):
        return {"angle": self.angle[indices]}


def test_a_kind_of_pool_is_one_class():
    circle, rows = Circle(8), Points(Circle(8).points)
    assert as_pool(circle) is circle
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.3)
    lesson, plain = (
        nimt.teach(learner, nimt.GreedyTeacher(), pool, lambda x: x[:, 1], max_iterations=20, engine="reference")
        for pool in (circle, rows)
    )
    np.testing.assert_array_equal(lesson.indices, plain.indices)
    np.testing.assert_array_equal(lesson.examples()["angle"], 45.0 * lesson.indices[:, 0])
    assert set(plain.examples()) >= {"x_1", "x_2"}


@pytest.mark.parametrize(
    ("pool", "view"),
    [
        (Points([0.0, 1.0]), "curve"),
        (Points([[0.0, 1.0]]), "points"),
        (Points([[0.0, 1.0, 2.0]]), "agreement"),
        (nimt.Grid([0.0, 0.5]), "curve"),
        (nimt.Grid([0.0, 0.5], [0.0, 1.0]), "map"),
        (nimt.Grid.like(np.zeros((2, 3))), "picture"),
        (nimt.Grid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0]), "agreement"),
    ],
)
def test_a_pool_says_how_functions_on_it_are_drawn(pool, view):
    assert pool.view == view


def test_a_pool_names_the_operators_of_a_kernel():
    grid, rows = nimt.Grid([0.0, 1.0]), Points([0.0, 1.0])
    assert grid.operators(nimt.rbf(1.0)) == ("grid", "neighbours", "streamed", "dense")
    assert rows.operators(nimt.rbf(1.0)) == ("neighbours", "streamed", "dense")
    assert grid.operators(nimt.linear()) == rows.operators(nimt.linear()) == ("streamed", "dense")
