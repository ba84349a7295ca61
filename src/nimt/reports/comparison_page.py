"""A comparison as a table of text, a figure with bands, a JSON file and one page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from nimt import display
from nimt.counting import say_count
from nimt.measures import Measure
from nimt.plots.style import inks
from nimt.reports import html as pages
from nimt.runs.comparison import Comparison
from nimt.runs.summaries import Row
from nimt.store.whole_files import whole_file, write_text

DPI = 130
HEADER = ("teacher", "seeds", "steps", "{measure} at end", "examples", "points", "seconds")
CAPTION = "The {measure} after each step, the mean over the seeds; bands span the lowest to the highest."
PARTS = ("choosing", "learning")
HELD_OUT = {"held_out_r2": "R^2 held out", "held_out_rms": "rms held out", "held_out_accuracy": "accuracy held out"}
LEGEND_HELD_OUT = " What is held out was not taught to any of them."
LEGEND = (
    "Steps to the tolerance, {measure} when the lesson ended, examples shown and distinct points among them, seconds "
    "per lesson without compiling; means over the seeds, with the smallest and the largest in brackets."
)


def comparison_table(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return the header and the lines of the comparison as text; choosing and learning if they were measured."""
    rows = comparison.rows()
    timed = all(row.choosing is not None for row in rows)
    held = _list_held_out(rows)
    header = [
        *(name.format(measure=comparison.measure.letter) for name in HEADER),
        *(HELD_OUT[name] for name in held),
        *(PARTS if timed else ()),
    ]
    return header, [_line(row, comparison.tol, held, timed, comparison.measure) for row in rows]


def _list_held_out(rows: list[Row]) -> list[str]:
    """Return which errors on points held out are said: the accuracy of classes alone."""
    known = [name for name in HELD_OUT if any(getattr(row, name) is not None for row in rows)]
    return ["held_out_accuracy"] if "held_out_accuracy" in known else known


def comparison_cell(comparison: Comparison) -> str:
    """Return what a notebook shows of a comparison: its table, and the mean curves."""
    header, lines = comparison_table(comparison)
    bands = comparison.bands()
    drawn = inks((band.colour for band in bands), (band.name for band in bands), shades=True)
    curves = [
        display.Line(band.name, ink.colour, band.step, band.mean, ink.lengths)
        for band, ink in zip(bands, drawn, strict=True)
    ]
    measure = comparison.measure
    return display.cell(
        f"Comparison of {len(lines)} teacher{'s' if len(lines) > 1 else ''}",
        display.table(header, lines),
        display.curves(curves, measure.axis or measure.name, comparison.tol, logarithmic=not measure.higher_is_better),
    )


def write_comparison_report(
    comparison: Comparison, folder: Path, *, title: str = "A comparison", repeat: str = ""
) -> list[Path]:
    """Write every lesson, comparison.json, curves.png and report.html into an existing folder; return the paths."""
    written = []
    for name, lessons in comparison.lessons.items():
        for lesson in lessons:
            path = folder / f"{_file_name(name)}-seed-{lesson.settings['seed']}.npz"
            lesson.save(path)
            written.append(path)
    write_text(folder / "comparison.json", json.dumps(_finite(comparison.to_dict()), indent=2, allow_nan=False) + "\n")
    with whole_file(folder / "curves.png") as temporary:
        comparison.plot().savefig(temporary, format="png", dpi=DPI)
    write_text(folder / "report.html", comparison_page(comparison, title, folder, repeat))
    return [*written, folder / "comparison.json", folder / "curves.png", folder / "report.html"]


def comparison_page(comparison: Comparison, title: str, folder: Path, repeat: str = "") -> str:
    """Return the page; the figure in the folder is embedded in it."""
    header, lines = comparison_table(comparison)
    content = comparison.to_dict()
    parts = [
        pages.picture(
            (folder / "curves.png").read_bytes(), "image/png", CAPTION.format(measure=comparison.measure.word)
        ),
        pages.heading("In numbers"),
        pages.table(header, lines),
        pages.remark(
            LEGEND.format(measure=comparison.measure.letter) + LEGEND_HELD_OUT * bool(_list_held_out(comparison.rows()))
        ),
    ]
    if repeat:
        parts += [pages.heading("To repeat it"), pages.code(repeat)]
    parts += [pages.heading("Versions"), pages.pairs(content["versions"])]
    lead = f"{say_count(len(lines), 'teacher')} on one problem of {say_count(content['points'], 'point')}."
    return pages.page(title, lead, parts, f"Made by nimt {content['versions']['nimt']}.")


def _line(row: Row, tol: float | None, held: list[str], timed: bool, measure: Measure) -> list[str]:
    reached = row.steps is not None  # every lesson then ended just below the tolerance
    if tol is None:
        steps = "no tolerance"
    elif row.steps is None:
        steps = "not reached" if row.reached == 0 else f"{row.reached} of {row.seeds} reached"
    else:
        assert row.steps_range is not None
        steps = f"{row.steps:,.0f}" + _range(row.steps_range, "{:,}")
    lowest, highest = (measure.text(value, digits=3) for value in row.discrepancy_range)
    end = measure.text(row.discrepancy, tol, 3)
    end += "" if reached or row.discrepancy_range[0] == row.discrepancy_range[1] else f" ({lowest} to {highest})"
    line = [
        row.name, str(row.seeds), steps, end,
        f"{row.examples:,.0f}", f"{row.distinct:,.0f}", f"{row.seconds:.3g}",
    ]  # fmt: skip
    for name in held:
        error = getattr(row, name)
        as_text = display.per_cent if name == "held_out_accuracy" else "{:.4g}".format
        line.append("" if error is None else as_text(error))
    if timed and row.choosing is not None and row.learning is not None:
        line += [f"{row.choosing:.3g}", f"{row.learning:.3g}"]
    return line


def _range(pair: tuple[float, float], form: str) -> str:
    return "" if pair[0] == pair[1] else f" ({form.format(pair[0])} to {form.format(pair[1])})"


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.]+", "-", name).strip("-.") or "teacher"


def _finite(value: object) -> object:
    """Replace what JSON cannot hold, anywhere inside, by None."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
