"""The published figures, from the functions that the command runs."""

from pathlib import Path

import numpy as np
import pytest

from nimt.paper.experiment import PaperLesson, PaperSetting, compare_values, frames
from nimt.paper.experiments import boundary, cheetah, digits, gmm, kernel_width, linear_kernel, lines, planes, spaces
from nimt.paper.methods import ALTERNATIVE, GREEDY, POOL, WHOLE, teacher_of
from nimt.paper.picture_problems import CHECKPOINTS
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.random import RandomTeacher

FULL = PaperSetting()


def to_digits(value, digits):
    return float(f"{value:.{digits}g}")


def published_rows(table):
    return [row for taught in table for row in taught.table() if row["published"] is not None]


def test_methods_are_the_teachers_of_the_paper():
    assert teacher_of("GFT-1").pack_size(784) == 1
    assert teacher_of("GFT-0.05").pack_size(8464) == 423
    assert teacher_of(WHOLE).pack_size(784) == 784
    random = teacher_of("RFT-0.05")
    assert isinstance(random, RandomTeacher)
    assert random.replace
    pool = teacher_of(POOL)
    assert isinstance(pool, GreedyTeacher)
    assert (pool.k, pool.pool) == (1, 0.8)
    other = np.ones(4)
    labels = teacher_of(ALTERNATIVE, other).labels
    assert labels.other_target is other
    assert labels.probability == 0.2


def test_a_shortened_setting_moves_the_panels_closer():
    assert PaperSetting(iterations=100).scale_steps((0, 500, 1000)) == (0, 50, 100)
    assert PaperSetting(iterations=5000).scale_steps((0, 500, 1000)) == (0, 500, 1000)
    assert PaperSetting(iterations=1).scale_steps((0, 1, 2, 1000)) == (0, 1)
    assert PaperSetting(iterations=7).scale_steps(()) == ()
    assert PaperSetting(iterations=7).budget(60_000) == 7
    assert FULL.budget(60_000) == 60_000


def test_a_comparison_without_a_published_figure_has_no_ratio():
    assert compare_values(2.0, None) == {"measured": 2.0, "published": None, "ratio": None}
    assert compare_values(None, 2.0)["ratio"] is None
    assert compare_values(1e-15, 0.0)["ratio"] is None
    assert compare_values(3, 4)["ratio"] == 0.75


def test_a_table_holds_the_steps_that_were_reached():
    lesson = gmm.run(PaperSetting(iterations=200))[GREEDY]
    taught = PaperLesson(name="short", lesson=lesson, checkpoints=(0, 200, 300), published={150: 0.5, 450: 0.1})
    assert [row["step"] for row in taught.table()] == [0, 150, 200]
    row = taught.table()[1]
    assert row["measured"] == lesson.discrepancy[150]
    assert row["ratio"] == lesson.discrepancy[150] / 0.5
    summary = taught.summary()
    assert summary["steps"] == 200
    assert summary["itd"]["measured"] is None
    assert summary["itd"]["tolerance"] == 1e-4


def test_frames_end_with_the_end():
    lesson = gmm.run(FULL)[GREEDY]
    assert list(frames(lesson)) == [0, 150, 450, 1000, 3056]
    np.testing.assert_array_equal(frames(lesson)[3056], lesson.final)


def test_the_mixture_is_the_published_one():
    found = gmm.run(FULL)
    assert found[GREEDY].itd == gmm.PUBLISHED_ITD == 3056
    rows = published_rows(gmm.lessons(found))
    assert len(rows) == 6
    for row in rows:
        assert to_digits(row["measured"], 9) == row["published"], row["step"]
    for quantity in gmm.quantities(found):
        assert quantity.measured == quantity.published
    # one example a step is the fastest, random packs and the whole the slowest
    itd = {name: lesson.itd for name, lesson in found.items()}
    assert itd[GREEDY] < itd["GFT-0.05"] < itd["GFT-0.5"] < itd["RFT-0.05"]
    assert abs(itd["RFT-0.05"] / itd[WHOLE] - 1) < 0.05


@pytest.mark.long
def test_the_boundary_is_the_published_one_and_the_classification_is_right():
    found = boundary.run(FULL)
    assert found.published.itd == boundary.PUBLISHED_ITD == 4188
    rows = published_rows(boundary.lessons(found))
    assert len(rows) == 4
    for row in rows:
        assert to_digits(row["measured"], 9) == row["published"], row["step"]
    by_name = {quantity.name: quantity for quantity in boundary.quantities(found)}
    lowest = by_name["lowest M without the stop rule"]
    assert to_digits(lowest.measured, 2) == lowest.published
    # f* is no fixed point: the lesson comes to rest further off than it had been
    assert found.endless.discrepancy[-1] > 5 * lowest.measured
    assert set(np.unique(found.classes.target)) == {-1.0, 1.0}
    shares = boundary.accuracies(found)
    assert shares[0] < 0.5
    assert shares[len(found.classes)] > 0.998
    assert by_name[f"accuracy on {boundary.UNSEEN:,} points never shown, at the end"].measured > 0.99


def test_accuracy_counts_signs():
    assert boundary.accuracy(np.array([0.2, -3.0, 0.1, 0.0]), np.array([1.0, -1.0, -1.0, 1.0])) == 0.5


def test_the_lines_are_the_published_ones():
    found = lines.run(PaperSetting(iterations=5000))
    rows = published_rows(lines.lessons(found))
    assert len(rows) == 6
    for row in rows:
        assert to_digits(row["measured"], 9) == row["published"], row["step"]


def test_a_line_never_reaches_the_tolerance_of_the_text():
    lesson = lines.run(FULL)["y = x + 1"]
    assert lesson.itd is None
    # 6.51e-4 on every engine of ours; published as 6.6e-4
    assert lesson.discrepancy[200_000] == pytest.approx(6.6e-4, rel=0.02)


def test_the_planes_are_the_published_ones():
    found = planes.run(FULL)
    rows = published_rows(planes.lessons(found))
    assert len(rows) == 2
    for row in rows:
        assert row["measured"] == pytest.approx(row["published"], rel=2e-5)
    for name, lesson in found.items():
        assert lesson.itd == pytest.approx(planes.PUBLISHED_ITD[name], abs=5)  # ties hang on rounding


@pytest.mark.long
def test_the_linear_kernel_is_the_parametric_learner():
    found = linear_kernel.run(FULL)
    for group in found.values():
        assert linear_kernel.largest_difference(group) < 1e-12
        for name in (linear_kernel.LINEAR, linear_kernel.PARAMETRIC):
            np.testing.assert_array_equal(group[name].indices, group[linear_kernel.RBF].indices)
            assert group[name].discrepancy[-1] < 1e-9
        # and the RBF learner is another one
        rbf, linear = (group[name].snapshots for name in (linear_kernel.RBF, linear_kernel.LINEAR))
        assert max(np.abs(rbf[step] - linear[step]).max() for step in rbf) > 0.1


def test_the_path_of_weights_is_that_of_the_learner():
    found = spaces.run(FULL)
    assert found.path.shape == (spaces.PATH_STEPS + 1, 3)
    np.testing.assert_allclose(found.path[0], spaces.WEIGHTS_START, atol=1e-12)
    np.testing.assert_allclose(found.path[-1], found.parametric.learner.current_weights(), atol=1e-12)
    np.testing.assert_allclose(found.path[-1], spaces.WEIGHTS_GOAL, atol=1e-6)
    assert found.nonparametric.discrepancy[-1] < 0.02 * found.nonparametric.discrepancy[0]


@pytest.mark.slow
def test_the_published_curves_have_the_width_that_was_used():
    found = kernel_width.run(FULL, kernel_width.pictures(None))
    assert found.mixture[0.5].itd == 3056
    assert found.mixture[2.0].itd == pytest.approx(kernel_width.STATED_ITD, rel=1e-3)
    known = digits.read_published()[GREEDY]
    used = max(abs(found.digit[0.5].discrepancy[step] / value - 1) for step, value in known.items())
    stated = max(abs(found.digit[2.0].discrepancy[step] / value - 1) for step, value in known.items())
    assert used < 2e-3
    assert stated > 5


@pytest.fixture(scope="module")
def digit_lessons():
    return digits.PARTS.run(FULL, digits.pictures(None))


@pytest.mark.slow
class TestDigits:
    @pytest.mark.parametrize("method", [GREEDY, WHOLE])
    def test_the_curve_is_published_to_four_digits(self, digit_lessons, method):
        measured = [round(100 * digit_lessons.lessons[method].discrepancy[step], 4) for step in CHECKPOINTS]
        assert measured == list(digits.PUBLISHED_PERCENT[method])

    def test_random_packs_follow_the_whole(self, digit_lessons):
        curve = 100 * digit_lessons.lessons["RFT-0.05"].discrepancy[list(CHECKPOINTS)]
        np.testing.assert_allclose(curve, digits.PUBLISHED_PERCENT[WHOLE], rtol=0.01)

    def test_the_order_of_the_methods(self, digit_lessons):
        assert_order(digit_lessons.lessons, range(5000, 60_001, 1000))

    def test_a_limited_pool_gets_stuck_and_the_letter_too(self, digit_lessons):
        for method, level in digits.SETTLES_NEAR.items():
            curve = digit_lessons.lessons[method].discrepancy
            assert curve[1000] < digit_lessons.lessons[WHOLE].discrepancy[1000]
            assert curve[60_000] > 3 * digit_lessons.lessons[GREEDY].discrepancy[60_000]
            assert curve[60_000] == pytest.approx(level, rel=0.25)  # read from a figure; another pool, another O
        assert digit_lessons.lessons[POOL].discrepancy[60_000] > 0.99 * digit_lessons.lessons[POOL].discrepancy[50_000]

    def test_the_digits_are_as_far_apart_as_published(self, digit_lessons):
        (quantity,) = digits.quantities(digit_lessons)
        assert to_digits(quantity.measured, 6) == quantity.published


def assert_order(lessons, steps):
    """GFT-1 <= GFT-0.05 < GFT-0.5 < RFT-0.05, and RFT-0.05 is about the whole."""
    for step in steps:
        m = {name: lesson.discrepancy[step] for name, lesson in lessons.items()}
        assert m[GREEDY] <= m["GFT-0.05"] < m["GFT-0.5"] < m["RFT-0.05"], step
        assert m["RFT-0.05"] == pytest.approx(m[WHOLE], rel=0.01), step


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "low", "high"),
    [
        (GREEDY, 0.717e-2, 0.719e-2),
        (WHOLE, 0.93455e-2, 0.93465e-2),
        ("RFT-0.05", 0.925e-2, 0.944e-2),
        ("GFT-0.05", 0.719e-2, 0.721e-2),
    ],
)
def test_the_cheetah_ends_where_it_was_published(published_cheetah, method, low, high):
    lesson = cheetah.teach(FULL, (published_cheetah,), method)
    assert low <= lesson.discrepancy[60_000] <= high


@pytest.mark.slow
def test_the_order_of_the_methods_on_the_cheetah(published_cheetah):
    found = cheetah.PARTS.run(PaperSetting(iterations=6000), (published_cheetah,))
    assert_order(found.lessons, (5000, 6000))
    assert found.lessons[POOL].discrepancy[1000] < found.lessons[WHOLE].discrepancy[1000]
    assert found.lessons[POOL].discrepancy[6000] > found.lessons[GREEDY].discrepancy[6000]


def test_published_figures_stand_beside_the_published_picture_only():
    stand_in = cheetah.PARTS.run(PaperSetting(iterations=3), cheetah.pictures(Path(__file__).parent))
    assert not stand_in.pictures[0].original
    assert all(not taught.published for taught in cheetah.lessons(stand_in))
    assert any("--data" in note for note in cheetah.notes(stand_in))
