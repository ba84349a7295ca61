"""Where a learner starts, in a file: a number and a formula as what they are, a table between its points."""

import numpy as np
import pytest

import nimt
from nimt.lesson.descriptions import describe
from nimt.pools.interpolating import interpolate


def ramp(points):
    return 2.0 * points[:, 0] + 1.0


def kept(lesson, folder, **options):
    lesson.save(folder / "lesson.npz")
    return nimt.Lesson.load(folder / "lesson.npz", **options).learner


def taught(initial, pool=None):
    pool = nimt.Grid(np.linspace(-1, 1, 11)) if pool is None else pool
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, initial=initial)
    return nimt.teach(learner, nimt.GreedyTeacher(), pool, lambda x: np.cos(x[:, 0]), max_iterations=5, tol=None)


def by_hand(axes, table, point):
    """Multilinear interpolation as a sum over the corners of the cell."""
    total = np.zeros(table.shape[len(axes) :])
    cells, shares = [], []
    for axis, x in zip(axes, point, strict=True):
        cell = max(i for i in range(len(axis) - 1) if axis[i] <= x)
        cells.append(cell)
        shares.append((x - axis[cell]) / (axis[cell + 1] - axis[cell]))
    for corner in np.ndindex(*(2,) * len(axes)):
        weight = np.prod([share if up else 1 - share for share, up in zip(shares, corner, strict=True)])
        total += weight * table[tuple(np.add(cells, corner))]
    return total


@pytest.mark.parametrize("outputs", [(), (3,)])
def test_between_the_points_of_a_grid_values_are_multilinear(outputs):
    rng = np.random.default_rng(0)
    grid = nimt.Grid(np.linspace(0, 1, 4), np.linspace(-2, 2, 5))
    values = rng.normal(size=(20, *outputs))
    points = np.column_stack([rng.uniform(0, 1, 30), rng.uniform(-2, 2, 30)])
    expected = [by_hand(grid.axes, values.reshape(4, 5, *outputs), point) for point in points]
    np.testing.assert_allclose(interpolate(grid, values, points), expected, atol=1e-14)
    np.testing.assert_array_equal(interpolate(grid, values, grid.points), values)


def test_a_falling_axis_and_an_axis_of_one_point_are_interpolated_too():
    grid = nimt.Grid([3.0], [1.0, 0.0])
    assert interpolate(grid, np.array([10.0, 20.0]), np.array([[3.0, 0.25]])).tolist() == [17.5]
    assert interpolate(nimt.Grid([3.0]), np.array([7.0]), np.array([[3.0]])).tolist() == [7.0]


@pytest.mark.parametrize("point", [[1.2], [-1.0001]])
def test_a_point_outside_the_grid_is_refused(point):
    with pytest.raises(nimt.InvalidInput, match=r"from \[-1.0\] to \[1.0\].*lies outside"):
        interpolate(nimt.Grid([-1.0, 0.0, 1.0]), np.zeros(3), np.array([point]))


def test_rounding_at_the_edge_of_the_grid_is_no_outside():
    assert interpolate(nimt.Grid([0.0, 1.0]), np.array([0.0, 5.0]), np.array([[1.0 + 1e-15]])).tolist() == [5.0]


@pytest.mark.parametrize("initial", [0.25, nimt.datasets.NamedFormula("sine")], ids=["number", "formula"])
def test_a_number_and_a_formula_are_stored_as_such_and_known_anywhere(initial, tmp_path):
    lesson = taught(initial)
    assert describe(lesson.learner)["initial"] == describe(initial)
    learner = kept(lesson, tmp_path)
    assert learner.initial == initial
    far = np.array([[0.05], [700.0]])
    np.testing.assert_array_equal(learner.predict(far), lesson.learner.predict(far))


def test_a_table_start_on_a_grid_is_interpolated_after_loading(tmp_path):
    table = np.random.default_rng(1).normal(size=11)
    learner = kept(taught(table), tmp_path)
    between = np.array([[0.05]])
    expected = by_hand(learner.pool_.axes, table, between[0]) + learner.expansion(between)
    np.testing.assert_allclose(learner.predict(between), expected, atol=1e-15)
    with pytest.raises(nimt.InvalidInput, match=r"initial function.*lies outside"):
        learner.predict([[2.0]])


def test_a_table_start_on_scattered_points_is_refused_elsewhere_with_the_way_out(tmp_path):
    points = np.random.default_rng(0).uniform(-1, 1, size=(9, 2))
    learner = kept(taught(np.arange(9.0), points), tmp_path)
    with pytest.raises(nimt.InvalidInput, match=r"set_params\(initial="):
        learner.predict([[0.0, 0.0]])
    assert np.isfinite(learner.set_params(initial=0.0).predict([[0.0, 0.0]])).all()


def test_a_callable_start_is_allowed_or_handed_over_again(tmp_path):
    points = np.random.default_rng(0).uniform(-1, 1, size=(9, 2))
    lesson = taught(ramp, points)
    elsewhere = np.array([[0.3, 0.4]])
    expected = lesson.learner.predict(elsewhere)
    np.testing.assert_array_equal(kept(lesson, tmp_path, allow=[ramp]).predict(elsewhere), expected)
    again = kept(lesson, tmp_path).set_params(initial=ramp)
    np.testing.assert_array_equal(again.predict(elsewhere), expected)
    with pytest.raises(nimt.InvalidInput, match="unknown at"):
        kept(lesson, tmp_path).predict(elsewhere)


def test_a_callable_start_on_a_grid_is_interpolated_where_it_is_not_allowed(tmp_path):
    lesson = taught(ramp)  # linear, so that interpolating loses nothing
    np.testing.assert_allclose(kept(lesson, tmp_path).predict([[0.05]]), lesson.learner.predict([[0.05]]), atol=1e-14)


def test_an_unknown_formula_is_refused():
    with pytest.raises(nimt.InvalidInput, match="'cosine' is no formula with a name; there are gmm"):
        nimt.datasets.NamedFormula("cosine")


def test_learners_from_the_same_formula_differ_by_an_expansion():
    grid = nimt.Grid(np.linspace(-1, 1, 11))
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, initial=nimt.datasets.NamedFormula("sine"))
    goal = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, initial=nimt.datasets.NamedFormula("sine"))
    goal.partial_fit([[0.3]], [2.0])
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), grid, goal, max_iterations=3, tol=None, measure="rkhs")
    assert lesson.discrepancy[0] == pytest.approx(goal.rkhs_norm())
