"""Every figure can be drawn, from short lessons too; panels never cover one another; a method has one colour."""

import itertools
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from nimt.paper import EXPERIMENTS, FAMILY
from nimt.paper.experiment import PaperSetting
from nimt.paper.figure_style import canvas, curves_of, draw_curves
from nimt.paper.methods import teacher_of
from nimt.paper.picture_problems import draw_contours, loss_figure, picture_rows
from nimt.paper.reproducing import save
from nimt.paper.surfaces import Room, Surface

pytestmark = pytest.mark.long

NOWHERE = Path(__file__).parent  # a folder without data


def find(name, iterations):
    experiment = (EXPERIMENTS | FAMILY)[name]
    return experiment, experiment.run(PaperSetting(iterations=iterations), experiment.pictures(NOWHERE))


@pytest.mark.parametrize("iterations", [1, pytest.param(30, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", [name for name in (*EXPERIMENTS, *FAMILY) if name != "cheetah"])
def test_an_experiment_draws_its_figures(name, iterations, tmp_path):
    before = dict(mpl.rcParams)
    experiment, found = find(name, iterations)
    drawings = list(experiment.draw(found))
    assert drawings
    for drawn in drawings:
        assert drawn.name.startswith(name)
        assert drawn.caption.endswith(".")
        assert isinstance(drawn.figure, Figure)
        drawn.figure.canvas.draw()
        assert_panels_lie_apart(drawn.figure)
    assert dict(mpl.rcParams) == before
    if iterations == 30 and name in ("gmm", "faces"):
        paths = save(drawings[0], tmp_path)
        with Image.open(tmp_path / paths["png"]) as image:
            assert image.width > 800
        assert (tmp_path / paths["pdf"]).read_bytes().startswith(b"%PDF")


def assert_panels_lie_apart(figure):
    boxes = [ax.get_window_extent() for ax in figure.axes if ax.get_visible()]
    for one, other in itertools.combinations(boxes, 2):
        width = min(one.x1, other.x1) - max(one.x0, other.x0)
        height = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert width <= 1 or height <= 1


@pytest.mark.exhaustive
def test_the_cheetah_draws_its_figures():
    experiment, found = find("cheetah", 5)
    drawings = list(experiment.draw(found))
    assert [drawn.name for drawn in drawings] == ["cheetah-images", "cheetah-contours", "cheetah-loss"]
    for drawn in drawings:
        drawn.figure.canvas.draw()
        assert_panels_lie_apart(drawn.figure)
        assert "Stand-in" in drawn.caption


def test_a_figure_is_the_same_bytes_every_time(tmp_path):
    saved = []
    for place in ("one", "two"):
        experiment, found = find("lines", 10)
        paths = save(next(iter(experiment.draw(found))), tmp_path / place)
        saved.append([(tmp_path / place / paths[kind]).read_bytes() for kind in ("png", "pdf")])
    assert saved[0] == saved[1]


def test_curves_are_thinned_without_losing_their_ends():
    _, found = find("gmm", 5000)
    for curve, lesson in zip(curves_of(found), found.values(), strict=True):
        assert curve.steps[0] == 0
        assert curve.steps[-1] == len(lesson)
        assert len(curve.steps) < 1000
        np.testing.assert_array_equal(curve.values, lesson.discrepancy[curve.steps])


def test_a_method_has_one_colour():
    _, found = find("gmm", 20)
    ax = canvas(4, 3).subplots()
    draw_curves(ax, curves_of(found))
    looks = {line.get_label(): (line.get_color(), str(line._unscaled_dash_pattern)) for line in ax.lines}
    assert set(looks) == set(found)
    for name, (colour, _) in looks.items():
        assert colour == teacher_of(name, 0.0).colour
    assert len(set(looks.values())) == len(looks)


def test_what_the_inset_enlarges_is_framed_within_the_axes():
    _, found = find("digits", 30)
    figure = loss_figure(found.lessons, bottom=0.0, enlarged=0.1, place=(0.55, 0.5, 0.43, 0.46))
    (axes,) = figure.axes
    (inset,) = axes.child_axes
    (frame,) = axes.patches
    (left, low), (right, high) = frame.get_xy(), frame.get_xy() + np.array([frame.get_width(), frame.get_height()])
    np.testing.assert_allclose([(left, right), (low, high)], [inset.get_xlim(), inset.get_ylim()])
    assert axes.get_xlim()[0] <= left < right <= axes.get_xlim()[1]
    assert axes.get_ylim()[0] <= low < high <= axes.get_ylim()[1]


def test_contours_of_all_panels_have_the_levels_of_the_target():
    limits = (0.0, 1.0)
    target = np.linspace(*limits, 30).reshape(5, 6)
    rows = {"a": {0: target * 0, 9: target / 2}, "b": {0: target * 0 + 0.4, 9: 0.9 * target}}
    figure = picture_rows(rows, target, partial(draw_contours, limits=limits), side=1.0)
    drawn = [axes.collections[0] for axes in figure.axes]
    assert len(drawn) == 6
    for one in drawn:
        np.testing.assert_allclose(one.levels, np.linspace(*limits, len(one.levels)))
        assert one.get_clim() == drawn[0].get_clim()


def test_a_room_projects_without_perspective():
    room = Room((0, 2), (0, 2), (0, 1), azimuth=-90, elevation=0, height=1.0)
    seen, near = room.place(np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]))
    np.testing.assert_allclose(seen, [[-0.5, -0.5], [0.5, -0.5], [-0.5, -0.5], [-0.5, 0.5]], atol=1e-12)
    assert near[0] > near[2]  # the viewer stands where y is small


def test_a_room_draws_patches_from_behind():
    room = Room((0, 1), (0, 1), (0, 1), azimuth=-90, elevation=30)
    ax = canvas(2, 2).subplots()
    heights = np.array([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]])  # rises away from the viewer
    room.show(ax, [Surface(heights, "#ffffff")])
    (collection,) = ax.collections
    first, second = (path.vertices for path in collection.get_paths())
    assert first[:, 1].mean() > second[:, 1].mean()
