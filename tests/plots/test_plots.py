"""Pictures: the numbers in the tables, then that the ink shows these numbers and touches nothing else."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

import nimt
from nimt import plots
from nimt.paper.figure_style import canvas
from nimt.plots import style as palette
from nimt.plots.scenes import scene_of
from nimt.pools.prepared_points import Column, Preparation, PreparedPoints
from nimt.reports.lesson_page import panels_figure

pytestmark = pytest.mark.long

X = np.array([2.0, 0.0, 1.0, 3.0, 5.0, 4.0])  # not in order, on purpose


def line(points):
    return points[:, 0] / 5


def lesson_on(pool, teacher=None, y=line, **options):
    learner = nimt.KernelLearner(nimt.rbf(width=1.0), learning_rate=0.1)
    return nimt.teach(
        learner, teacher or nimt.GreedyTeacher(), pool, y, **{"max_iterations": 12, "tol": None} | options
    )


@pytest.fixture(scope="module")
def lesson():
    return lesson_on(X, snapshots=[3, 7])


@pytest.fixture(scope="module")
def picture():
    image = np.arange(12.0).reshape(3, 4)
    return lesson_on(nimt.Grid.like(image), y=image, snapshots=[5])


def saved(figure, tmp_path):
    """Draw everything, as nothing is laid out before."""
    figure.savefig(tmp_path / "figure.png")
    return figure


# fonts


def figures_of(lesson, picture):
    """Return figures of every kind that is made here."""
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
    study = (np.arange(5.0), np.sin), learner, nimt.GreedyTeacher()
    both = nimt.compare(
        learner, [nimt.GreedyTeacher(), nimt.RandomTeacher()], X, line, max_iterations=5, tol=None, seeds=2
    )
    return {
        "curve": plots.curve(lesson),
        "panels": plots.panels(lesson),
        "picture": plots.panels(picture),
        "comparison": both.plot(),
        "forecast": plots.forecast(nimt.forecast(*study[1:], *study[0], tol=1e-2)),
        "sweep": nimt.sweep(*study, max_iterations=5, tol=None).plot(),
        "report": panels_figure(lesson_on(np.random.default_rng(0).normal(size=(9, 3)))),
        "experiment": canvas(3, 2),
    }


def test_the_fonts_of_every_pdf_are_truetype_and_settings_stay(lesson, picture, tmp_path):
    """Venues refuse Type 3 fonts, which matplotlib writes unless it is told otherwise."""
    before = dict(mpl.rcParams)
    for name, figure in figures_of(lesson, picture).items():
        figure.text(0.5, 0.5, "x$^t$")
        # EPS is written by the same settings, and takes seconds
        endings = {".pdf": b"/CIDFontType2"} | ({".eps": b"/FontType 42"} if name == "curve" else {})
        for ending, mark in endings.items():
            figure.savefig(tmp_path / (name + ending))
            content = (tmp_path / (name + ending)).read_bytes()
            assert mark in content, name
            assert b"/Type3" not in content and b"/FontType 3" not in content, name
    assert dict(mpl.rcParams) == before


def test_every_figure_is_made_in_one_place():
    """There its fonts are chosen; the frames of an animation are never written as a PDF."""
    home = Path(nimt.__file__).parent
    made = {path.relative_to(home).as_posix() for path in home.rglob("*.py") if "Figure(fig" in path.read_text("utf-8")}
    assert made == {"plots/figures.py", "plots/animation.py"}


# tables


def test_a_curve_is_the_discrepancy_at_every_step():
    lesson = lesson_on(X, tol=0.05, max_iterations=500)
    table = plots.curve_table(lesson)
    np.testing.assert_array_equal(table.step, np.arange(len(lesson) + 1))
    np.testing.assert_array_equal(table.discrepancy, lesson.discrepancy)
    assert (table.method, table.tolerance, table.itd) == ("GFT-1", 0.05, lesson.itd)
    assert lesson.itd is not None


def test_a_panel_holds_f_t_and_what_was_shown_to_it(lesson):
    start, third, seventh, end = plots.panel_table(lesson)
    assert [panel.step for panel in (start, third, seventh, end)] == [0, 3, 7, 12]
    order = np.argsort(X)
    np.testing.assert_array_equal(third.points[:, 0], [0, 1, 2, 3, 4, 5])
    np.testing.assert_array_equal(third.values, lesson.snapshots[3][order])
    np.testing.assert_array_equal(third.target, X[order] / 5)
    shown = lesson.indices[3]
    np.testing.assert_array_equal(third.shown, X[shown][:, np.newaxis])
    np.testing.assert_array_equal(third.labels, X[shown] / 5)
    np.testing.assert_array_equal(third.values_shown, lesson.snapshots[3][shown])
    assert third.discrepancy == lesson.discrepancy[3]
    np.testing.assert_array_equal(start.values, 0.0)
    np.testing.assert_array_equal(end.values, lesson.final[order])
    assert end.shown.shape == (0, 1)


def test_the_example_of_a_panel_is_where_greedy_looked(lesson):
    for panel in plots.panel_table(lesson)[:-1]:
        worst = np.argmax(np.abs(panel.values - panel.target))
        assert panel.shown[0, 0] == panel.points[worst, 0]


def test_a_lesson_that_kept_only_counts_has_no_marks():
    for panel in plots.panel_table(lesson_on(X, record="picks")):
        assert len(panel.shown) == len(panel.labels) == 0


def test_many_snapshots_are_thinned_and_the_ends_stay():
    lesson = lesson_on(X, max_iterations=40, snapshots=range(41))
    steps = [panel.step for panel in plots.panel_table(lesson)]
    assert (len(steps), steps[0], steps[-1]) == (8, 0, 40)
    assert steps == sorted(set(steps))


@pytest.mark.parametrize("step", [5, -1, 13, 3.0, True, "three"])
def test_a_step_that_was_not_kept_is_named(lesson, step):
    with pytest.raises(nimt.InvalidInput, match=f"not kept at step {step!r}, only at 0, 3, 7, 12: teach with"):
        plots.panel_table(lesson, [0, step])


def test_no_steps_are_refused(lesson):
    with pytest.raises(nimt.InvalidInput, match="steps is empty"):
        plots.panels(lesson, [])


def test_lessons_in_a_list_get_the_papers_names_and_those_of_one_teacher_one_band():
    teachers = [nimt.GreedyTeacher(), nimt.GreedyTeacher(k=0.5), nimt.RandomTeacher(k=2), nimt.GreedyTeacher()]
    bands = nimt.runs.Comparison.of(lesson_on(X, teacher) for teacher in teachers).bands()
    assert [(one.name, one.colour == nimt.GreedyTeacher().colour) for one in bands] == [
        ("GFT-1", True), ("GFT-0.5", False), ("RFT-2", False),
    ]  # fmt: skip


def test_names_of_the_readers_own_keep_the_colour_of_the_method(lesson):
    (band,) = nimt.runs.Comparison.of({"the greedy one": lesson}).bands()
    assert (band.name, band.colour) == ("the greedy one", nimt.GreedyTeacher().colour)


def test_lessons_measured_differently_are_not_compared(lesson):
    with pytest.raises(nimt.InvalidInput, match=r"differ in their measure \(paper and rms\)"):
        nimt.runs.Comparison.of([lesson, lesson_on(X, measure="rms")])


@pytest.mark.parametrize(("wrong", "said"), [([], "nothing to compare"), (None, "a list or a dict of lessons")])
def test_what_cannot_be_compared_is_refused(lesson, wrong, said):
    with pytest.raises(nimt.InvalidInput, match=said):
        nimt.runs.Comparison.of(lesson if wrong is None else wrong)


# names and colours


class Own:
    def select(self, view):
        return view.show(0)


COLOURS = {
    "GFT-1": "#D55E00",
    "GFT-k": "#E69F00",
    "RFT": "#0072B2",
    "whole": "#56B4E9",
    "pool": "#009E73",
    "alternative": "#CC79A7",
}


@pytest.mark.parametrize(
    ("teacher", "name", "family"),
    [
        (nimt.GreedyTeacher(), "GFT-1", "GFT-1"),
        (nimt.GreedyTeacher(k=np.int64(1)), "GFT-1", "GFT-1"),
        (nimt.GreedyTeacher(k=3), "GFT-3", "GFT-k"),
        (nimt.GreedyTeacher(k=0.5), "GFT-0.5", "GFT-k"),
        (nimt.GreedyTeacher(k=1.0), "whole", "whole"),
        (nimt.RandomTeacher(), "RFT-1", "RFT"),
        (nimt.RandomTeacher(k=1.0), "RFT-1.0", "RFT"),
        (nimt.RandomTeacher(k=1.0, replace=False), "whole", "RFT"),
        (nimt.GreedyTeacher(pool=0.8), "pool GFT-1", "pool"),
        (nimt.RandomTeacher(k=2, labels=nimt.teachers.AlternativeLabels(0.0)), "alternative RFT-2", "alternative"),
        (nimt.GreedyTeacher(score="gradient", loss="square", kernel=nimt.rbf(1.0)), "GFT-1 (gradient)", "GFT-1"),
    ],
)
def test_a_method_has_one_name_and_one_colour(teacher, name, family):
    table = plots.curve_table(lesson_on(X, teacher, max_iterations=1))
    assert (table.method, table.colour) == (name, COLOURS[family])


def test_a_teacher_of_the_readers_own_is_known_by_its_class():
    table = plots.curve_table(lesson_on(X, Own(), max_iterations=1))
    assert (table.method, table.colour) == ("Own", None)


def test_all_colours_differ():
    ours = [
        kind().colour for kind in (nimt.teachers.SoftTeacher, nimt.SynthesisTeacher, nimt.teachers.InterpolationTeacher)
    ]
    every = [*COLOURS.values(), *ours, *palette.FREE, palette.TARGET]
    assert len(set(every)) == len(every)


def test_six_teachers_of_the_readers_own_are_told_apart_also_in_print():
    kinds = [type(f"Own{place}", (Own,), {}) for place in range(6)]
    axes = nimt.runs.Comparison.of([lesson_on(X, kind(), max_iterations=2) for kind in kinds]).plot().axes[0]
    assert len({line.get_color() for line in axes.lines}) == 6
    assert len({str(line._unscaled_dash_pattern) for line in axes.lines}) == 6


def test_lessons_of_one_method_differ_by_their_line():
    axes = nimt.runs.Comparison.of([lesson_on(X, nimt.GreedyTeacher(k=k)) for k in (1, 2, 3, 4)]).plot().axes[0]
    looks = [(entry.get_color(), str(entry._unscaled_dash_pattern)) for entry in axes.lines]
    assert len(set(looks)) == 4


# ink


def test_a_curve_is_drawn_as_it_is_in_the_table(tmp_path):
    lesson = lesson_on(X, tol=0.05, max_iterations=500)
    axes = plots.curve(lesson).axes[0]
    drawn, end = axes.lines[:2]
    np.testing.assert_array_equal(drawn.get_ydata(), lesson.discrepancy)
    assert (end.get_xdata()[0], end.get_ydata()[0]) == (lesson.itd, lesson.discrepancy[lesson.itd])
    assert axes.get_yscale() == "log"
    assert axes.get_legend().get_texts()[0].get_text() == f"GFT-1, ITD {lesson.itd}"
    saved(axes.figure, tmp_path)


def test_curves_are_drawn_on_axes_that_were_given(lesson):
    axes = Figure().subplots()
    assert plots.curve(lesson, axes) is axes
    assert nimt.runs.Comparison.of([lesson]).plot(axes) is axes


@pytest.mark.parametrize("steps", [None, [0], [12], [0, 3, 7]])
def test_panels_in_one_dimension_show_target_learner_and_example(lesson, tmp_path, steps):
    figure = saved(plots.panels(lesson, steps), tmp_path)
    for axes, panel in zip(figure.axes, plots.panel_table(lesson, steps), strict=True):
        target, learner, *marks = axes.lines
        np.testing.assert_array_equal(target.get_ydata(), panel.target)
        np.testing.assert_array_equal(learner.get_ydata(), panel.values)
        assert len(marks) == (panel.step < 12)
        for mark in marks:
            np.testing.assert_array_equal(mark.get_ydata(), panel.labels)
        assert axes.get_title("left") == f"t = {panel.step}"


def test_a_picture_stands_upright(picture, tmp_path):
    figure = saved(plots.panels(picture), tmp_path)
    target, start = figure.axes[:2]
    np.testing.assert_array_equal(target.collections[0].get_array().reshape(3, 4), np.arange(12.0).reshape(3, 4))
    assert target.get_ylim() == (2.5, -0.5)
    row, column = picture.pool.points[picture.indices[0, 0]]
    np.testing.assert_array_equal(start.collections[1].get_offsets(), [[column, row]])


def test_a_plane_has_its_first_axis_to_the_right(tmp_path):
    lesson = lesson_on(nimt.Grid([0.0, 0.5], [1.0, 2.0, 3.0]), y=lambda p: 10 * p[:, 0] + p[:, 1])
    figure = saved(plots.panels(lesson), tmp_path)
    drawn = figure.axes[0].collections[0].get_array().reshape(3, 2)
    np.testing.assert_array_equal(drawn, [[1, 6], [2, 7], [3, 8]])
    np.testing.assert_array_equal(figure.axes[1].collections[1].get_offsets(), lesson.pool.points[lesson.indices[0]])
    assert figure.axes[0].get_xlabel() == "x1" and figure.axes[0].get_ylabel() == "x2"


def test_a_plane_lies_in_a_film_as_in_panels():
    lesson = lesson_on(nimt.Grid([0.0, 0.5], [1.0, 2.0, 3.0]), y=lambda p: 10 * p[:, 0] + p[:, 1])
    axes = Figure().subplots()
    scene = scene_of(axes, lesson, (0.0, 10.0), "red")
    scene.show(lesson.target, np.array([4]))
    np.testing.assert_array_equal(scene.ink.get_array(), [[1, 6], [2, 7], [3, 8]])
    assert scene.ink.origin == "lower" and scene.ink.get_extent() == [-0.25, 0.75, 0.5, 3.5]
    np.testing.assert_array_equal(scene.rings[0].get_offsets(), lesson.pool.points[[4]])
    assert axes.get_xlabel() == "x1" and axes.get_ylabel() == "x2"


def test_all_maps_share_one_scale(picture):
    scales = {axes.collections[0].get_clim() for axes in plots.panels(picture).axes[:4]}
    assert len(scales) == 1


def test_points_in_two_dimensions_are_dots(tmp_path):
    points = np.random.default_rng(0).uniform(size=(30, 2))
    lesson = lesson_on(points, nimt.RandomTeacher(k=20), y=line)
    figure = saved(plots.panels(lesson), tmp_path)
    np.testing.assert_array_equal(figure.axes[0].collections[0].get_offsets(), points)
    np.testing.assert_array_equal(figure.axes[1].collections[1].get_offsets(), points[lesson.indices[0]])


def test_panels_fill_a_figure_that_was_given(lesson, tmp_path):
    figure = Figure(layout="constrained")
    above, below = figure.subfigures(2, 1)
    assert plots.panels(lesson, figure=above) is above
    plots.curve(lesson, below.subplots())
    saved(figure, tmp_path)


def test_in_many_dimensions_panels_are_f_against_the_target_as_in_the_report(tmp_path):
    lesson = lesson_on(np.eye(3))
    figure = plots.panels(lesson)
    dots, rings = figure.axes[0].collections
    np.testing.assert_array_equal(dots.get_offsets(), np.column_stack([lesson.target, lesson.initial]))
    first = lesson.pack(0)[0]
    np.testing.assert_array_equal(rings.get_offsets(), np.column_stack([lesson.target, lesson.initial])[first])
    np.testing.assert_array_equal(
        figure.axes[-1].collections[0].get_offsets(), np.column_stack([lesson.target, lesson.final])
    )
    assert figure.axes[0].get_xlabel() == "target f*"
    reported = panels_figure(lesson, None)
    assert [ax.get_title() for ax in reported.axes] == [ax.get_title() for ax in figure.axes]
    np.testing.assert_array_equal(reported.axes[0].collections[1].get_offsets(), rings.get_offsets())
    saved(figure, tmp_path)


@pytest.mark.parametrize("pool", [X, np.column_stack([X, X]), nimt.Grid.like(np.zeros((2, 3)))])
def test_a_lesson_that_was_over_at_once_can_be_drawn(pool, tmp_path):
    lesson = lesson_on(pool, y=0.0, tol=1e-3)
    assert len(lesson) == 0
    saved(plots.panels(lesson), tmp_path)
    saved(plots.curve(lesson), tmp_path)


@pytest.mark.parametrize("pool", [X, np.column_stack([X, X])])
def test_a_lesson_that_diverged_can_be_drawn(pool, tmp_path):
    learner = nimt.KernelLearner(nimt.rbf(width=1.0), learning_rate=1e200)
    with pytest.warns(nimt.errors.StepSizeWarning):
        lesson = nimt.teach(learner, nimt.GreedyTeacher(), pool, line, max_iterations=5, tol=None)
    assert lesson.outcome is nimt.lesson.Outcome.DIVERGED
    saved(plots.panels(lesson), tmp_path)
    saved(plots.curve(lesson), tmp_path)


def test_a_single_point_can_be_drawn(tmp_path):
    saved(plots.panels(lesson_on([1.0])), tmp_path)


def test_a_loaded_lesson_is_drawn_like_the_one_saved(lesson, tmp_path):
    lesson.save(tmp_path / "lesson.npz")
    again = plots.panel_table(nimt.Lesson.load(tmp_path / "lesson.npz"))
    for one, other in zip(plots.panel_table(lesson), again, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.shown, other.shown)


def test_drawing_leaves_matplotlib_as_it_was(lesson, picture):
    before = dict(mpl.rcParams)
    plots.panels(lesson)
    plots.panels(picture)
    nimt.runs.Comparison.of([lesson, lesson]).plot()
    assert dict(mpl.rcParams) == before


def test_plots_alone_loads_matplotlib_and_never_pyplot():
    code = (
        "import sys, nimt, nimt.plots.style; nimt.teach; assert 'matplotlib' not in sys.modules;"
        "nimt.plots.curve; assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------- classes and many points


def flowers(dimension, words, n=60, **options):
    """A lesson on a prepared table of classes."""
    rng = np.random.default_rng(0)
    place = np.arange(n) % len(words)
    rows = 10.0 + 5.0 * (rng.normal(size=(n, dimension)) + 3.0 * np.eye(max(dimension, 3))[place][:, :dimension])
    columns = tuple(Column(f"c{axis}", 10.0, 5.0) for axis in range(dimension))
    preparation = Preparation(columns, "kind", words)
    pool = PreparedPoints(preparation.points(rows), preparation)
    target = preparation.labels([words[number] for number in place])
    learner = nimt.KernelLearner(nimt.rbf(2.0), loss="logistic" if len(words) == 2 else "square")
    ways = {"max_iterations": 80, "tol": None, "measure": "accuracy"} | options
    return nimt.teach(learner, nimt.GreedyTeacher(), pool, target, **ways)


def test_classes_in_many_dimensions_are_counted_by_what_the_learner_names():
    lesson = flowers(4, ("iris", "rose", "tulip"))
    ax = Figure().subplots()
    scene = scene_of(ax, lesson, (0.0, 1.0), "black")
    scene.show(lesson.final, np.empty(0, np.int64))
    counts = np.array([int(text.get_text() or 0) for text in ax.texts]).reshape(3, 3)
    assert counts.sum() == 60 and np.trace(counts) == round(60 * lesson.discrepancy[-1])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["iris", "rose", "tulip"]


@pytest.mark.parametrize("width", [None, "page"])
def test_words_of_panels_in_several_rows_do_not_touch(width):
    lesson = flowers(4, ("setosa", "versicolor", "virginica"), snapshots=range(9))
    figure = plots.panels(lesson, range(7), width=width)
    figure.draw_without_rendering()
    axes = [ax for ax in figure.axes if ax.get_visible()]
    words = [word for ax in axes for word in (*ax.get_children(), ax.xaxis.label) if isinstance(word, Text)]
    boxes = [word.get_window_extent() for word in words if word.get_text()]
    assert len(boxes) > 20
    for one, other in combinations(boxes, 2):
        width, height = min(one.x1, other.x1) - max(one.x0, other.x0), min(one.y1, other.y1) - max(one.y0, other.y0)
        assert width <= 1 or height <= 1
    edge = figure.bbox
    assert all(box.y1 <= edge.y1 + 1 and box.y0 >= edge.y0 - 1 and box.x1 <= edge.x1 + 1 for box in boxes)


@pytest.mark.parametrize("snapshots", [[], [10, 100]])
def test_words_of_panels_in_a_column_do_not_touch_and_are_not_cut_off(snapshots):
    points = nimt.Grid(np.arange(-3, 3, 0.1))
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01)
    lesson = nimt.teach(
        learner, nimt.GreedyTeacher(), points, np.sin, tol=1e-3, max_iterations=5000, snapshots=snapshots
    )
    figure = plots.panels(lesson, width="column")
    figure.draw_without_rendering()
    assert figure.legends[0].get_window_extent().x1 <= figure.bbox.x1
    for ax in figure.axes:
        step, discrepancy = [word for word in ax.get_children() if isinstance(word, Text) and word.get_text()]
        left, right = step.get_window_extent(), discrepancy.get_window_extent()
        assert right.x1 <= figure.bbox.x1
        assert right.x0 - left.x1 >= 0.05 * figure.dpi or step.get_text().endswith("\n")  # beside it, or below


def test_two_classes_on_a_plane_have_a_colour_each_and_are_named():
    lesson = flowers(2, ("no", "yes"))
    figure = nimt.plots.panels(lesson)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["no", "yes"]
    drawn = figure.axes[0].collections[0].get_facecolor()
    assert len(np.unique(drawn, axis=0)) == 2  # the target: two colours, and no shades between them


def test_regions_of_a_table_are_asked_in_its_prepared_coordinates():
    lesson = flowers(2, ("no", "yes"))
    table = nimt.plots.region_table(lesson, cells=40)
    assert table.names == ["no", "yes"]
    near = [(int(np.abs(table.x - x).argmin()), int(np.abs(table.y - y).argmin())) for x, y in lesson.pool.points]
    named = np.array([table.named[row, column] for column, row in near])
    agreement = np.mean(named == (lesson.final > 0))
    assert agreement > 0.9  # cells are not the points themselves


def test_many_points_are_drawn_as_a_density():
    points = np.random.default_rng(1).normal(size=(6000, 3))
    lesson = nimt.teach(nimt.KernelLearner(nimt.rbf(1.0)), nimt.GreedyTeacher(), points, points.sum(axis=1),
                        max_iterations=2, tol=None)  # fmt: skip
    ax = Figure().subplots()
    scene = scene_of(ax, lesson, (-10.0, 10.0), "black")
    scene.show(lesson.final, np.empty(0, np.int64))
    counts = np.expm1(ax.images[0].get_array().filled(0.0))
    assert round(counts.sum()) == 6000


def as_seen_with_deuteranopia(colour):
    """CIELAB of a colour as eyes without green cones see it, by the matrix of Machado et al. (2009)."""
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    light = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    seen = (
        np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]])
        @ light
    )
    to_xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    )
    xyz = to_xyz @ np.clip(seen, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def test_curves_are_told_apart_without_green_cones_by_colour_or_by_dashes():
    from nimt.teachers import teacher

    own = [teacher.VERMILION, teacher.ORANGE, teacher.BLUE, teacher.SKY, teacher.GREEN, teacher.PURPLE]
    drawn = palette.inks([*own, *[None] * len(palette.FREE)], shades=True)
    alike = [
        (one, other)
        for one, other in combinations(drawn, 2)
        if np.linalg.norm(as_seen_with_deuteranopia(one.colour) - as_seen_with_deuteranopia(other.colour)) < 15
    ]
    assert alike  # colours alone do not do
    assert all(one.dashes != other.dashes for one, other in alike)


def test_each_curve_of_a_figure_has_a_line_style_as_well_as_a_colour():
    teachers = (nimt.GreedyTeacher(), nimt.RandomTeacher(), nimt.teachers.SoftTeacher(), nimt.GreedyTeacher(k=3))
    axes = nimt.runs.Comparison.of([lesson_on(X, teacher, max_iterations=2) for teacher in teachers]).plot().axes[0]
    assert len({line.get_color() for line in axes.lines}) == 4
    assert len({str(line._unscaled_dash_pattern) for line in axes.lines}) == 4


def test_a_piece_of_each_curve_stands_before_its_name():
    """Names are told apart by their colour, and in print by the dashes of the curve."""
    teachers = (nimt.GreedyTeacher(), nimt.RandomTeacher(), nimt.GreedyTeacher(k=3))
    figure = nimt.runs.Comparison.of([lesson_on(X, teacher, max_iterations=2) for teacher in teachers]).plot()
    figure.draw_without_rendering()
    (axes,) = figure.axes
    for curve, piece, name in zip(axes.lines, figure.artists, axes.texts, strict=True):
        assert piece.get_color() == curve.get_color() == name.get_color() and curve.get_label() == name.get_text()
        assert str(piece._unscaled_dash_pattern) == str(curve._unscaled_dash_pattern)
        ends = piece.get_transform().transform(piece.get_xydata())
        box = name.get_window_extent()
        assert axes.bbox.x1 < ends[0, 0] < ends[1, 0] < box.x0 and box.y0 < ends[0, 1] < box.y1


@pytest.mark.parametrize("width", [None, "column"])
def test_names_of_curves_that_end_together_stand_apart_the_slowest_highest(width):
    teachers = (nimt.GreedyTeacher(), nimt.RandomTeacher(), nimt.teachers.SoftTeacher(), nimt.GreedyTeacher(k=3))
    lessons = [lesson_on(X, teacher, max_iterations=2000, tol=1e-3) for teacher in teachers]
    assert all(lesson.itd for lesson in lessons)
    figure = nimt.runs.Comparison.of(lessons).plot(width=width)
    figure.draw_without_rendering()
    texts = sorted(figure.axes[0].texts, key=lambda text: -text.get_window_extent().y0)
    boxes = [text.get_window_extent() for text in texts]
    assert all(above.y0 >= below.y1 for above, below in pairwise(boxes))
    steps = {lesson.method: lesson.itd for lesson in lessons}
    assert [text.get_text() for text in texts] == sorted(steps, key=lambda name: -steps[name])


@pytest.mark.parametrize("width", [None, "column", "page"])
def test_dark_figures_are_readable(lesson, picture, width):
    """All words and lines stand out by 4.5 to 1 from the page, the grid excepted; f* is not black on black."""
    drawn = [
        plots.curve(lesson, width=width, style="dark"),
        plots.panels(lesson, width=width, style="dark"),
        plots.panels(picture, width=width, style="dark"),
        nimt.runs.Comparison.of([lesson]).plot(width=width, style="dark"),
    ]
    for figure in drawn:
        assert to_hex(figure.get_facecolor()).upper() == palette.PAPER
        if width:
            assert figure.get_size_inches()[0] == palette.WIDTHS[width]
        figure.draw_without_rendering()
        grid = to_rgba(palette.DARK["grid.color"])
        inks = [part.get_color() for part in figure.findobj(Text) if part.get_text()]
        inks += [part.get_color() for part in figure.findobj(Line2D)]
        contrasts = [palette.contrast(to_hex(ink), palette.PAPER) for ink in inks if to_rgba(ink) != grid]
        assert len(contrasts) > 5 and min(contrasts) >= palette.READABLE - 0.05, "rounded to whole bytes"


@pytest.mark.parametrize("wrong", [{"width": "poster"}, {"style": "pink"}])
def test_a_width_or_a_style_that_there_is_not_is_refused(lesson, wrong):
    for draw in (plots.curve, plots.panels, lambda one, **options: nimt.runs.Comparison.of([one]).plot(**options)):
        with pytest.raises(nimt.InvalidInput, match="must be"):
            draw(lesson, **wrong)
