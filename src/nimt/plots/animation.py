"""A lesson as an animation: f^t at every snapshot; the examples shown since the snapshot before are marked."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from nimt.arrays import Array
from nimt.errors import InvalidInput, MissingExtra, MissingFile
from nimt.lesson.lesson import Lesson
from nimt.plots.animation_frames import frame_steps
from nimt.plots.figures import choose_style
from nimt.plots.looks import look_of
from nimt.plots.scenes import limits_of, scene_of, within
from nimt.plots.style import QUIET, inks
from nimt.store.whole_files import whole_file

Indices = NDArray[np.int64]

MOST_FRAMES = 60
MOST_MARKS = 60  # more would hide the function
FRAME_MILLISECONDS = 120
LAST_MILLISECONDS = 2000
DPI = 100


@dataclass(frozen=True, eq=False)
class AnimationFrame:
    """One picture of the animation: f^t (n,) or (n, q), and the latest points shown since the frame before."""

    step: int
    discrepancy: float
    values: Array
    shown: Indices


def frames_of(lesson: Lesson) -> list[AnimationFrame]:
    """Return the numbers that are drawn: the start, the snapshots and the end, at most 60 of them."""
    kept = {0: lesson.initial, **lesson.snapshots, len(lesson): lesson.final}
    steps = sorted(kept)
    if len(steps) > MOST_FRAMES:
        steps = [steps[i] for i in np.unique(np.linspace(0, len(steps) - 1, MOST_FRAMES).round().astype(int))]
    frames, before = [], 0
    for step in steps:
        shown = np.empty(0, np.int64) if lesson.indices is None else lesson.indices[before:step].ravel()
        latest = np.unique(shown[shown >= 0][-MOST_MARKS:])
        frames.append(AnimationFrame(step, float(lesson.discrepancy[step]), kept[step], latest))
        before = step
    return frames


def keep_frames(lesson: Lesson) -> Lesson:
    """Return the lesson with snapshots to animate: those it has, or f from its steps, taken again where they can be.

    Examples
    --------
    >>> import nimt
    >>> lesson = nimt.teach(nimt.KernelLearner(nimt.rbf(1.0)), nimt.GreedyTeacher(), np.arange(9.0), np.sin, tol=1e-3)
    >>> len(lesson.snapshots), sorted(keep_frames(lesson).snapshots) == frame_steps(len(lesson), 9)
    (0, True)
    """
    if lesson.snapshots:
        return lesson
    try:
        steps = set(frame_steps(len(lesson), lesson.target.size))
        from nimt.theory.replaying import replay  # here, since few figures need it

        kept = {moment.step + 1: moment.after for moment in replay(lesson, several_outputs=True).moments()
                if moment.step + 1 in steps}  # fmt: skip
    except InvalidInput:  # of another learner, in a Box, or without a record: its start and its end are shown
        return lesson
    return replace(lesson, snapshots={0: lesson.initial, **kept})


def draw_frames(lesson: Lesson, cmap: str | None = None) -> Iterator[Image.Image]:
    """Draw the frames one after another; on a 2-D pool the target is drawn beside the learner."""
    is_map = lesson.pool.view not in ("curve", "agreement")
    look = look_of(lesson)
    beside = is_map and look.shows_target
    colour = inks([lesson.colour])[0].colour
    limits = limits_of(lesson)
    letter = lesson.measure.letter
    with choose_style(lesson, cmap):
        figure = Figure(figsize=(6.0, 3.3) if beside else (5.0, 3.2), dpi=DPI, layout="constrained")
        canvas = FigureCanvasAgg(figure)
        axes: list[Axes] = list(figure.subplots(1, 2 if beside else 1, squeeze=False).ravel())
        scenes = [scene_of(ax, lesson, limits, colour) for ax in axes]
        nothing = np.empty(0, np.int64)
        if beside:
            axes[0].set_title("target f*", loc="left")
            scenes[0].show(lesson.target, nothing)
        learner, scene = axes[-1], scenes[-1]
        if is_map and look.limits is not None:
            below = [learner.get_xlabel(), f"{look.bar}, bright: {look.limits[1]:.3g}"]
            learner.set_xlabel("\n".join(filter(None, below)), color=QUIET)
        frames = frames_of(lesson)
        left = learner.set_title(f"t = {frames[-1].step:,}", loc="left")
        right = learner.set_title(f"{letter} = 0.00e+00", loc="right", color=QUIET)
        moving = [*scene.moving, left, right]
        for artist in moving:
            artist.set_animated(True)
        canvas.draw()  # type: ignore[no-untyped-call]
        # the background is drawn once; for every frame only what moves is drawn
        still = canvas.copy_from_bbox(figure.bbox)  # type: ignore[no-untyped-call]
        for frame in frames:
            canvas.restore_region(still)  # type: ignore[no-untyped-call]
            left.set_text(f"t = {frame.step:,}")
            right.set_text(f"{letter} = {lesson.measure.text(frame.discrepancy, digits=3)}")
            scene.show(within(frame.values, limits), frame.shown)
            for artist in moving:
                learner.draw_artist(artist)
            drawn = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
            yield Image.fromarray(drawn.copy()).convert("RGB")


def write_animation(lesson: Lesson, path: str | PathLike[str], cmap: str | None = None) -> Path:
    """Write the animation to a .gif or an .mp4 file, and return its path; the latter needs ffmpeg."""
    place = Path(path)
    kind = place.suffix.lower()
    if kind not in (".gif", ".mp4"):
        raise InvalidInput(f"an animation is written to a .gif or an .mp4 file, got {str(path)!r}")
    if not place.parent.is_dir():
        raise MissingFile(f"there is no folder {str(place.parent)!r} to write {place.name!r} to: make it first")
    moving = keep_frames(lesson)
    if kind == ".gif":
        write_gif(moving, place, cmap)
    elif not write_mp4(moving, place, cmap):
        raise MissingExtra(f"{place.name!r} needs the program ffmpeg, which is not installed: write a .gif instead")
    return place


def write_gif(lesson: Lesson, path: Path, cmap: str | None = None) -> None:
    """Write the animation as a GIF; an interrupted write leaves no partial file."""
    pictures = [picture.quantize(256, method=Image.Quantize.MAXCOVERAGE) for picture in draw_frames(lesson, cmap)]
    durations = [FRAME_MILLISECONDS] * (len(pictures) - 1) + [LAST_MILLISECONDS]
    with whole_file(path) as temporary:
        pictures[0].save(temporary, format="GIF", save_all=True, append_images=pictures[1:], duration=durations, loop=0)


def write_mp4(lesson: Lesson, path: Path, cmap: str | None = None) -> bool:
    """Write the animation as an MP4 file if ffmpeg is installed; return whether it is."""
    program = shutil.which("ffmpeg")
    if program is None:
        return False
    pictures = list(draw_frames(lesson, cmap))
    pictures += [pictures[-1]] * (LAST_MILLISECONDS // FRAME_MILLISECONDS)
    width, height = (side - side % 2 for side in pictures[0].size)  # the codec needs even sides
    command = [
        program, "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
        "-r", str(round(1000 / FRAME_MILLISECONDS)), "-i", "-", "-an", "-pix_fmt", "yuv420p", "-f", "mp4",
    ]  # fmt: skip
    film = b"".join(picture.crop((0, 0, width, height)).tobytes() for picture in pictures)
    with whole_file(path) as temporary:
        done = subprocess.run([*command, str(temporary)], input=film, capture_output=True, check=False)
        if done.returncode != 0:
            raise OSError(f"ffmpeg could not write {path}: {done.stderr.decode(errors='replace').strip()[:200]}")
    return True
