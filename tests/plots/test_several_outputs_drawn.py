"""Lessons with several outputs in figures: colour pictures, curves, errors; and the signal-to-noise ratio."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PIL import Image

import nimt
from nimt import plots
from nimt.plots.animation import draw_frames, write_gif
from nimt.plots.looks import Classes, Colours, Errors, look_of
from nimt.reports.lesson_page import panels_figure, write_lesson_report
from nimt.reports.summary import summary_of

pytestmark = pytest.mark.long

ROWS, COLUMNS = np.mgrid[:6, :8]
PHOTO = np.stack([ROWS / 5, COLUMNS / 7, 1 - ROWS / 10], axis=2)


def lesson_on(pool, target, width=0.5, **options):
    learner = nimt.KernelLearner(nimt.rbf(width), learning_rate=0.3)
    return nimt.teach(
        learner, nimt.GreedyTeacher(), pool, target, **{"max_iterations": 60, "tol": None, "snapshots": [20]} | options
    )


@pytest.fixture(scope="module")
def colour():
    return lesson_on(nimt.Grid.like(PHOTO[:, :, 0]), PHOTO)


@pytest.fixture(scope="module")
def curves():
    x = np.linspace(-2, 2, 30)
    return lesson_on(nimt.Grid(x), np.column_stack([np.sin(x), np.cos(x), x / 2]), width=1.0)


@pytest.fixture(scope="module")
def field():
    plane = nimt.Grid(np.linspace(-1, 1, 7), np.linspace(0, 1, 5))
    return lesson_on(plane, plane.points @ np.array([[1.0, -1.0], [2.0, 0.5]]), width=0.6)


@pytest.fixture(scope="module")
def scattered():
    points = np.random.default_rng(0).uniform(-1, 1, size=(40, 2))
    return lesson_on(points, nimt.classes.one_hot(np.arange(40) % 3), width=0.6)


def test_the_ratio_of_signal_to_noise_by_a_plain_loop(colour):
    for step, values in ((0, colour.initial), (20, colour.snapshots[20]), (60, colour.final)):
        total = 0.0
        for point in range(48):
            for output in range(3):
                total += (values[point, output] - colour.target[point, output]) ** 2
        expected = 20 * math.log10(1.0 / math.sqrt(total / (48 * 3)))
        assert colour.psnr()[step] == pytest.approx(expected, rel=1e-9)
    summary = summary_of(colour)
    assert summary["psnr_at_end"] == pytest.approx(colour.psnr()[-1]) and summary["outputs"] == 3


def test_the_peak_of_other_targets_is_their_range():
    x = np.linspace(-2, 2, 30)
    lesson = lesson_on(nimt.Grid(x), 3 * np.sin(x), measure="rms")
    high, low = 3 * np.sin(x).max(), 3 * np.sin(x).min()
    np.testing.assert_allclose(lesson.psnr(), 20 * np.log10((high - low) / lesson.discrepancy))
    assert summary_of(lesson)["psnr_at_end"] is None  # no picture


def test_a_ratio_that_says_nothing_is_refused():
    with pytest.raises(nimt.InvalidInput, match="3 everywhere"):
        lesson_on([0.0, 1.0], 3.0).psnr()
    with pytest.raises(nimt.InvalidInput, match="measure='paper' or 'rms'"):
        lesson_on([0.0, 1.0], [1.0, 2.0], measure="rkhs").psnr()
    flat = lesson_on(nimt.Grid.like(np.zeros((2, 2))), 3.0)
    assert summary_of(flat)["psnr_at_end"] is None and len(plots.curve(flat).axes) == 1


def test_a_picture_has_decibels_at_the_right_of_its_curve(colour):
    axes = plots.curve(colour).axes[0]
    left, right = axes.figure.axes
    for limits in (left.get_ylim(), (1e-3, 1e-1)):
        left.set_ylim(*limits)
        # both ends of both axes stand for the same errors
        for m, level in zip(left.get_ylim(), right.get_ylim(), strict=True):
            assert level == pytest.approx(20 * math.log10(1 / (m * 48 / math.sqrt(48 * 3))))
    assert right.get_ylabel() == "PSNR (dB)"


def test_what_is_drawn_of_several_outputs(colour, field, scattered, curves):
    assert look_of(colour) == Colours(0.0, 1.0)
    assert isinstance(look_of(field), Errors) and isinstance(look_of(scattered), Classes)
    inks = look_of(scattered).shades(scattered.target)
    assert len(np.unique(inks, axis=0)) == 3 and inks.shape == (40, 3)
    expected = [math.dist(a, b) for a, b in zip(field.final, field.target, strict=True)]
    np.testing.assert_allclose(look_of(field).shades(field.final), expected, atol=1e-12)


def test_a_standardised_picture_is_drawn_within_its_range():
    target = nimt.datasets.standardise(PHOTO)
    look = look_of(lesson_on(nimt.Grid.like(PHOTO[:, :, 0]), target))
    assert look == Colours(target.min(), target.max())
    shades = look.shades(target.reshape(-1, 3))
    assert (shades.min(), shades.max()) == (0.0, 1.0)
    assert look.shades(np.full((1, 3), np.nan)).tolist() == [[1.0, 1.0, 1.0]]


def test_a_colour_picture_in_panels_has_its_pixels(colour, tmp_path):
    figure = plots.panels(colour)
    target, start, *_ = figure.axes
    np.testing.assert_allclose(target.collections[0].get_array().reshape(-1, 3), PHOTO.reshape(-1, 3))
    assert not start.collections[0].get_array().any()  # it begins black
    figure.savefig(tmp_path / "figure.png")


@pytest.mark.parametrize("name", ["colour", "curves", "field", "scattered"])
def test_every_lesson_is_drawn_reported_and_replayed(name, tmp_path, request):
    lesson = request.getfixturevalue(name)
    panels_figure(lesson).savefig(tmp_path / "panels.png")
    frames = [np.asarray(picture) for picture in draw_frames(lesson)]
    assert len(frames) == 3 and len({frame.tobytes() for frame in frames}) == 3
    lesson.replay(tmp_path / "replay.html")
    written = {path.name for path in write_lesson_report(lesson, tmp_path)}
    assert {"report.html", "lesson.gif", "curve.png", "panels.png"} <= written


def test_curves_of_several_outputs_keep_their_colours(curves):
    table = plots.panel_table(curves)
    axes = plots.panels(curves).axes[1]
    lines = [line for line in axes.lines if len(line.get_xdata()) == 30]
    assert len(lines) == 6 and len({line.get_color() for line in lines}) == 3
    for output in range(3):
        dashed, solid = lines[2 * output : 2 * output + 2]
        np.testing.assert_array_equal(dashed.get_ydata(), table[1].target[:, output])
        np.testing.assert_array_equal(solid.get_ydata(), table[1].values[:, output])
        assert dashed.get_color() == solid.get_color()


def test_an_animation_is_in_colour(colour, tmp_path):
    write_gif(colour, tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as film:
        film.seek(2)
        pixels = np.asarray(film.convert("RGB")).astype(int)
    strongest = (pixels.max(axis=2) - pixels.min(axis=2)).max()
    assert strongest > 150  # neither grey nor a map of one output


def test_dots_of_many_dimensions_are_those_of_all_outputs(tmp_path):
    points = np.random.default_rng(0).uniform(size=(20, 3))
    lesson = lesson_on(points, points[:, :2])
    drawn = plots.panels(lesson)
    drawn.savefig(tmp_path / "panels.png")
    assert len(drawn.axes[-1].collections[0].get_offsets()) == 40
