"""The figure of the theory: its table in numbers, and that the ink shows it."""

import numpy as np
import pytest

import nimt
from nimt import theory
from nimt.plots.bounds import bounds_table, draw_bounds

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def lessons():
    x = np.linspace(-1, 1, 9)
    learner = nimt.KernelLearner(nimt.rbf(0.3), learning_rate=0.1)
    teachers = {"RFT": nimt.RandomTeacher(), "GFT": nimt.GreedyTeacher()}
    return {
        name: nimt.teach(learner, one, nimt.Grid(x), np.cos(2 * x), max_iterations=300, tol=None)
        for name, one in teachers.items()
    }


def test_the_table_is_the_bounds_at_fewer_steps(lessons):
    table, whole = bounds_table(lessons["GFT"], rows=20), theory.bounds(lessons["GFT"]).to_table()
    assert table["step"][0] == 1 and table["step"][-1] == 300 and len(table["step"]) <= 20
    assert (np.diff(table["step"]) > 0).all()
    for name, column in whole.items():
        np.testing.assert_array_equal(table[name], column[table["step"] - 1], err_msg=name)


def test_the_ratio_between_two_rows_is_the_mean_of_what_lies_between(lessons):
    table, ratio = bounds_table(lessons["RFT"], rows=20), theory.greedy_ratio(lessons["RFT"])
    start = 0
    for stop, value in zip(table["step"], table["ratio"], strict=True):
        assert value == pytest.approx(ratio[start:stop].mean(), rel=1e-12)
        start = stop


def test_the_ink_is_the_table(lessons):
    tables = {name: bounds_table(lesson, rows=30) for name, lesson in lessons.items()}
    figure = draw_bounds({"nine points": tables, "again": tables})
    panels = np.reshape(figure.axes, (3, 2))
    drawn = {line.get_label(): line for line in panels[0, 0].get_lines()}
    np.testing.assert_array_equal(drawn["GFT: largest S"].get_ydata(), tables["GFT"]["smallest_largest"])
    np.testing.assert_array_equal(drawn["RFT bound, L(f0) a sum"].get_ydata(), tables["RFT"]["random_sum"])
    np.testing.assert_array_equal(drawn["GFT bound, L(f0) a mean"].get_ydata(), tables["GFT"]["greedy_mean"])
    np.testing.assert_array_equal(drawn["bound by distance in H"].get_ydata(), tables["RFT"]["by_distance"])
    np.testing.assert_array_equal(panels[1, 0].get_lines()[1].get_ydata(), tables["GFT"]["ratio"])
    np.testing.assert_array_equal(panels[2, 1].get_lines()[0].get_ydata(), tables["RFT"]["psi"])
    figure.draw_without_rendering()


def test_a_loss_without_bounds_is_drawn_without_them():
    learner = nimt.KernelLearner(nimt.rbf(0.3), loss="absolute", learning_rate=0.1)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 1.0], [1.0, -1.0], max_iterations=8, tol=None)
    labels = [line.get_label() for line in draw_bounds({"two": {"GFT": bounds_table(lesson)}}).axes[0].get_lines()]
    assert labels == ["GFT: largest S"]


def test_what_cannot_be_drawn_is_refused():
    learner = nimt.KernelLearner(nimt.rbf(0.3))
    with pytest.raises(nimt.InvalidInput, match="no steps"):
        bounds_table(nimt.teach(learner, nimt.GreedyTeacher(), [0.0], [1.0], max_iterations=0, tol=None))
    with pytest.raises(nimt.InvalidInput, match="at least one problem"):
        draw_bounds({"nothing": {}})
