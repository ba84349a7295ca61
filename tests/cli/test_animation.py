"""The animation: which frames, what is marked on them, and the film where there is a program for it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from PIL import Image

import nimt
from nimt.plots.animation import MOST_MARKS, draw_frames, frames_of, limits_of, write_gif, write_mp4
from nimt.plots.animation_frames import frame_steps
from nimt.reports.lesson_page import panel_steps, panels_figure

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def lesson():
    problem = nimt.sources.read_problem("gmm", "gmm:start")
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, initial=problem.initial)
    return nimt.teach(
        learner,
        nimt.GreedyTeacher(),
        problem.pool,
        problem.target,
        max_iterations=400,
        tol=None,
        snapshots=[3, 100, 300],
    )


def test_frames_by_a_plain_loop(lesson):
    frames = frames_of(lesson)
    assert [frame.step for frame in frames] == [0, 3, 100, 300, 400]
    before = 0
    for frame in frames:
        shown = []
        for step in range(before, frame.step):
            shown += [int(index) for index in lesson.indices[step]]
        assert frame.shown.tolist() == sorted(set(shown[-MOST_MARKS:]))
        assert frame.discrepancy == lesson.discrepancy[frame.step]
        before = frame.step
    np.testing.assert_array_equal(frames[2].values, lesson.snapshots[100])
    np.testing.assert_array_equal(frames[-1].values, lesson.final)


def test_kept_steps_begin_and_end_with_the_lesson():
    for last in (0, 1, 7, 1000, 10**8):
        steps = frame_steps(last, 100)
        assert steps[0] == 0 and steps[-1] == last and len(steps) <= 49
        assert steps == sorted(set(steps))
    assert len(frame_steps(10**6, 10**7)) == 4  # eighty million bytes each


def test_every_frame_is_drawn_and_they_differ(lesson, tmp_path):
    pictures = [np.asarray(picture) for picture in draw_frames(lesson)]
    assert len(pictures) == 5 and len({picture.tobytes() for picture in pictures}) == 5
    write_gif(lesson, tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == 5 and film.info["loop"] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a.gif"]


def test_limits_hold_what_is_drawn_and_cut_what_diverges(lesson):
    low, high = limits_of(lesson)
    for values in (lesson.target, lesson.initial, lesson.final):
        assert low <= values.min() and values.max() <= high
    wild = dataclasses.replace(lesson, final=lesson.final * 1e9, snapshots={3: np.full(280, np.nan)})
    room = (max(lesson.target.max(), lesson.initial.max()) - min(lesson.target.min(), lesson.initial.min())) / 2
    assert limits_of(wild)[1] == pytest.approx(max(lesson.target.max(), lesson.initial.max()) + room)


def test_panels_begin_before_and_end_after(lesson):
    steps = panel_steps(lesson)
    assert steps[0] == 0 and steps[-1] == 400 and 3 <= len(steps) <= 5
    assert len(panels_figure(lesson).axes) >= len(steps)


def program(folder, monkeypatch, script):
    path = folder / "ffmpeg"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_a_film_where_ffmpeg_is_installed(lesson, tmp_path, monkeypatch):
    """A stand-in writes what it is sent: so many frames of so many pixels."""
    program(tmp_path, monkeypatch, 'for last; do :; done; echo "$@" > "$(dirname "$0")/told"; cat > "$last"')
    assert write_mp4(lesson, tmp_path / "a.mp4")
    told = (tmp_path / "told").read_text().split()
    width, height = map(int, told[told.index("-s") + 1].split("x"))
    assert width % 2 == 0 and height % 2 == 0
    assert (tmp_path / "a.mp4").stat().st_size == (5 + 2000 // 120) * width * height * 3


def test_a_film_that_cannot_be_made(lesson, tmp_path, monkeypatch):
    program(tmp_path, monkeypatch, "cat > /dev/null; echo no codec >&2; exit 1")
    with pytest.raises(OSError, match="no codec"):
        write_mp4(lesson, tmp_path / "a.mp4")
    assert not (tmp_path / "a.mp4").exists()
    monkeypatch.setenv("PATH", "")
    assert not write_mp4(lesson, tmp_path / "a.mp4")
