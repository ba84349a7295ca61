"""The report of a finished lesson: numbers, figures, an animation, and one page that holds them all."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from nimt import plots
from nimt.counting import say_count
from nimt.display import per_cent
from nimt.errors import InvalidInput, MissingFile
from nimt.lesson.lesson import Lesson
from nimt.measures import Measure
from nimt.plots.animation import frames_of, write_gif, write_mp4
from nimt.plots.figures import check_cmap, write_png
from nimt.plots.looks import class_words, has_decibels, look_of
from nimt.plots.scenes import MOST_DOTS
from nimt.pools.pool import Points
from nimt.pools.prepared_points import PreparedPoints
from nimt.reports import html as pages
from nimt.reports.summary import COMPILING, compiling_text, summary_of, write_summary
from nimt.store.whole_files import whole_file, write_text

DPI = 130
DURING = 3  # panels between before and after
MOST_ROWS, MOST_COLUMNS = 20, 8  # of a table, on the page


def lesson_report(
    lesson: Lesson, folder: str | PathLike[str], *, title: str = "A lesson", cmap: str | None = None
) -> Path:
    """Write the report of a lesson into a folder, which is made if it is missing, and return the path of its page."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise InvalidInput(f"a report is written to a folder, and {str(folder)!r} is a file: name a folder")
    if not place.parent.is_dir():
        raise MissingFile(f"there is no folder {str(place.parent)!r} to make {place.name!r} in: make it first")
    check_cmap(cmap)
    place.mkdir(exist_ok=True)
    return write_lesson_report(lesson, place, title=title, cmap=cmap)[-1]


def write_lesson_report(
    lesson: Lesson,
    folder: Path,
    *,
    title: str = "A lesson",
    repeat: str = "",
    cmap: str | None = None,
    figures: str = "all",
    notes: Iterable[str] = (),
) -> list[Path]:
    """Write summary.json, curve.png, panels.png, lesson.gif (and .mp4 with ffmpeg) and report.html.

    Parameters
    ----------
    lesson : Lesson
    folder : Path
        It must exist.
    title : str
        Of the page.
    repeat : str
        The settings that repeat the lesson, as text.
    cmap : str, optional
        A colour map for functions on a plane; grey for pictures by default.
    figures : {"none", "png", "all"}
        None writes summary.json alone; "png" leaves out the animation.
    notes : sentences
        What was decided before the lesson, for summary.json and the page.

    Returns
    -------
    list of Path
        What was written, the page last.
    """
    told = [str(note) for note in notes]
    written = [write_summary(lesson, folder, told)]
    if figures == "none":
        return written
    for name, figure in (("curve.png", curve_figure(lesson)), ("panels.png", panels_figure(lesson, cmap))):
        with whole_file(folder / name) as temporary:
            write_png(figure, temporary, DPI)
        written.append(folder / name)
    if figures == "all":
        write_gif(lesson, folder / "lesson.gif", cmap)
        written.append(folder / "lesson.gif")
        if write_mp4(lesson, folder / "lesson.mp4", cmap):
            written.append(folder / "lesson.mp4")
    page = lesson_page(lesson, title, folder, repeat, notes=told, moves=figures == "all")
    write_text(folder / "report.html", page)
    return [*written, folder / "report.html"]


def curve_figure(lesson: Lesson) -> Figure:
    """Return the discrepancy of the lesson as a figure."""
    return plots.curve(lesson)


def panels_figure(lesson: Lesson, cmap: str | None = None) -> Figure:
    """Return a figure of f^t before, during and after the lesson, on a pool of any dimension."""
    drawn = plots.panels(lesson, panel_steps(lesson), cmap=cmap)
    assert isinstance(drawn, Figure)
    return drawn


def panel_steps(lesson: Lesson) -> list[int]:
    """Return the steps of the panels: the start, the frames nearest to 1/4, 1/2 and 3/4 of the fall of log M, the end.

    The logarithm spreads the panels over a lesson that is fast at first.
    """
    frames = frames_of(lesson)
    heights = np.log(np.maximum([frame.discrepancy if np.isfinite(frame.discrepancy) else 1.0 for frame in frames],
                                np.finfo(float).tiny))  # fmt: skip
    marks = np.linspace(heights[0], heights[-1], DURING + 2)[1:-1]
    inner = {frames[int(np.argmin(np.abs(heights - mark)))].step for mark in marks}
    return sorted({frames[0].step, *inner, frames[-1].step})


def lesson_page(
    lesson: Lesson, title: str, folder: Path, repeat: str = "", *, notes: list[str] | None = None, moves: bool = True
) -> str:
    """Return the page; the figures in the folder are embedded in it, with the animation where it `moves`."""
    summary = summary_of(lesson)
    parts = [pages.tiles(_headline(summary, lesson.measure))]
    if lesson.warnings:
        parts += [pages.heading("Warnings"), pages.bullets(lesson.warnings)]
    if moves:
        film = pages.picture((folder / "lesson.gif").read_bytes(), "image/gif", _animation_caption(lesson))
        parts += [pages.heading("The lesson, step by step"), film]
    parts += [
        pages.heading("Before, during, after"),
        pages.picture((folder / "panels.png").read_bytes(), "image/png", _panels_caption(lesson)),
        pages.heading(f"The {lesson.measure.word}"),
        *([pages.formula(lesson.measure.latex)] if lesson.measure.latex else []),
        pages.picture((folder / "curve.png").read_bytes(), "image/png", _curve_caption(lesson)),
        *_list_shown_rows(lesson),
        *([pages.heading("What was decided"), pages.bullets(notes)] if notes else []),
        pages.heading("Settings"),
        pages.pairs(_settings(summary)),
    ]
    if repeat:
        parts += [pages.heading("To repeat it"), pages.code(repeat)]
    parts += [pages.heading("Versions"), pages.pairs(summary["versions"])]
    return pages.page(title, f"{_sentence(summary)}.", parts, f"Made by nimt {summary['versions']['nimt']}.")


def _list_shown_rows(lesson: Lesson) -> list[str]:
    """Return the rows that were shown most often, as a table of the page; [] where columns have no names."""
    pool = lesson.pool
    if not isinstance(pool, Points) or not pool.names:
        return []
    shown = np.flatnonzero(lesson.picks)
    most = shown[np.argsort(-lesson.picks[shown], kind="stable")[:MOST_ROWS]]
    rows, label, learned = most, lesson.target[most], lesson.final[most]
    if isinstance(pool, PreparedPoints):
        rows, answers = pool.rows[most], pool.preparation.answers
        label, learned = answers(label), answers(learned)
    features = list(pool.coordinates(most).items())[:MOST_COLUMNS]
    columns: list[tuple[str, Any]] = [  # not by name, since a feature may be called "row"
        ("row", rows), ("times shown", lesson.picks[most]), *features, ("label", label), ("learned", learned),
    ]  # fmt: skip
    lines = [[_short_cell(cell) for cell in row] for row in zip(*(column for _, column in columns), strict=True)]
    caption = f"The {len(most)} rows that were shown most often, of {say_count(len(shown), 'row')} shown."
    return [pages.heading("The rows shown"), pages.table([title for title, _ in columns], lines), pages.remark(caption)]


def _short_cell(cell: Any) -> str:
    return str(cell)[:40] if not isinstance(cell, float | np.floating) else f"{cell:.6g}"


def _sentence(summary: dict[str, Any]) -> str:
    sentence = str(summary["sentence"])
    return f"{sentence[0].upper()}{sentence[1:]} after {say_count(summary['steps'], 'step')}"


def _headline(summary: dict[str, Any], measure: Measure) -> dict[str, str]:
    start, end = summary["discrepancy_at_start"], summary["discrepancy_at_end"]
    numbers = {"steps": f"{summary['steps']:,}"}
    if summary["tol"] is not None:
        itd = summary["itd"]
        tol = measure.text(summary["tol"], digits=6)
        meets = f"{measure.letter} {'at least' if measure.higher_is_better else '<'} {tol}"
        numbers[f"steps to {meets} (ITD)"] = "not reached" if itd is None else f"{itd:,}"
    numbers[f"{measure.letter} at the start"] = measure.text(start)
    numbers[f"{measure.letter} at the end"] = measure.text(end, summary["tol"])
    if summary["held_out_points"] is not None:
        held = f"on {say_count(summary['held_out_points'], 'row')} held out"
        if summary["held_out_accuracy"] is not None:
            numbers[f"accuracy {held}"] = per_cent(summary["held_out_accuracy"])
        else:
            if summary["held_out_r2"] is not None:
                numbers[f"R^2 {held}"] = f"{summary['held_out_r2']:.4f}"
            numbers[f"RMS error {held}"] = _short(summary["held_out_rms"])
    if summary["psnr_at_end"] is not None:
        numbers["PSNR at the end"] = f"{summary['psnr_at_end']:.1f} dB"
    numbers[f"points shown, of {summary['points']:,}"] = f"{summary['distinct_points']:,}"
    numbers["seconds"] = f"{summary['seconds']:.3g}"
    compiling = compiling_text(summary)
    if compiling is not None:
        numbers[COMPILING] = compiling
    return numbers


def _short(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.4g}"


def _settings(summary: dict[str, Any]) -> dict[str, Any]:
    names = (
        "teacher", "learner", "kernel", "kernel_width", "loss", "learning_rate", "measure", "tol", "max_iterations",
        "seed", "pool", "classes", "outputs", "examples", "engine", "record", "steps_per_second",
    )  # fmt: skip
    values = {name.replace("_", " "): summary[name] for name in names}
    speed = values["steps per second"]
    return values | {"steps per second": None if speed is None else f"{speed:,.0f}"}


def _panels_caption(lesson: Lesson) -> str:
    measure = lesson.measure
    name = f"{measure.word} M" if measure.letter == "M" else measure.word
    look = look_of(lesson) if lesson.pool.view not in ("curve", "agreement") else None
    if look is not None and look.bar:
        return f"{look.bar} at each point, with the {name}."
    if class_words(lesson) is not None:
        if lesson.pool.view == "agreement":
            return f"How many points of each class the learner names as which, with the {name}."
        return f"The classes the learner names, and those of the target f*, with the {name}."
    if lesson.pool.view == "agreement":
        dense = ", darker where there are more points" if lesson.target.size > MOST_DOTS else ""
        return f"f^t against the target f* at every point{dense}; on the diagonal they are equal; with the {name}."
    return f"f^t and the target f*, with the {name}."


def _animation_caption(lesson: Lesson) -> str:
    if lesson.pool.view == "agreement" and (class_words(lesson) is not None or lesson.target.size > MOST_DOTS):
        return "The learner during the lesson, drawn as below."
    if lesson.indices is None:
        marks = "the examples of single steps were not recorded (record: picks)"
    else:
        marks = "marks are the examples shown since the frame before, the latest 60 at most"
    dashes = " (dashed: the target f*)" if lesson.pool.view == "curve" else ""
    return f"f^t during the lesson{dashes}; {marks}."


def _curve_caption(lesson: Lesson) -> str:
    measure = lesson.measure
    decibels = "; at the right its peak signal-to-noise ratio" if has_decibels(lesson) else ""
    return f"The {measure.axis or measure.name} after each step{decibels}."
