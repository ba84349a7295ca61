"""The report of a reproduction: from what `summary.json` holds to the sections of a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nimt.report import Image, Section, Table, html_page

TITLE = "Nonparametric iterative machine teaching: the paper's experiments, run again"
NOTHING = "·"


def page_of(summary: dict[str, Any], out: Path) -> str:
    """Return the report as one HTML page, its figures inside it."""
    experiments = list(summary["experiments"].values())
    sections = [_overview(experiments), *(_section(record, out) for record in experiments)]
    short = "" if summary["iterations"] is None else (
        f" Every lesson was cut at {summary['iterations']:,} steps, so most published figures were not reached."
    )  # fmt: skip
    lead = (
        "Every experiment of Zhang et al. (ICML 2023), taught anew by nimt, its numbers beside the published ones. "
        "M is the paper's discrepancy, sqrt(sum (f - f*)^2) / n; ITD the first step at which it is below the "
        f"tolerance.{short}"
    )
    made_with = ", ".join(f"{name} {number}" for name, number in summary["versions"].items())
    footer = f"nimt {summary['nimt']}; {made_with}. This run took {summary['wall_seconds']:.1f} s."
    return html_page(TITLE, lead, sections, footer)


def _overview(experiments: list[dict[str, Any]]) -> Section:
    rows = []
    for record in experiments:
        ratios = comparisons(record)
        agreement = f"{min(ratios):.4f} to {max(ratios):.4f}" if ratios else NOTHING
        seconds = record["seconds"]
        rows.append(
            [
                record["title"],
                record["paper"],
                _data_in_a_word(record),
                str(len(ratios)),
                agreement,
                f"{seconds['lessons']:.1f} s",
                f"{seconds['drawing']:.1f} s",
            ]
        )
    head = ["experiment", "in the paper", "data", "numbers compared", "measured / published", "lessons", "figures"]
    table = Table("All experiments", head, rows, words=(2,))
    return Section("overview", "Overview", tables=[table])


def comparisons(record: dict[str, Any]) -> list[float]:
    """Return every ratio of a measured to a published number of an experiment."""
    parts = [lesson["itd"] for lesson in record["lessons"]] + record["quantities"]
    parts += [row for lesson in record["lessons"] for row in lesson["checkpoints"]]
    return [part["ratio"] for part in parts if part["ratio"] is not None]


def _data_in_a_word(record: dict[str, Any]) -> str:
    used = record["data"]
    if not used:
        return "formulas"
    replaced = [picture["name"] for picture in used if not picture["original"]]
    return "published" if not replaced else f"stand-in: {', '.join(replaced)}"


def _section(record: dict[str, Any], out: Path) -> Section:
    tables = [_discrepancies(record), _runs(record)]
    if record["quantities"]:
        tables.insert(1, _quantities(record))
    return Section(
        name=record["name"],
        title=record["title"],
        tags=[record["paper"], f"data: {_data_in_a_word(record)}", f"{record['seconds']['total']:.1f} s"],
        paragraphs=[record["about"]],
        images=[Image(out / figure["png"], figure["caption"]) for figure in record["figures"]],
        tables=tables,
        notes=record["notes"],
        notes_title="What differs, and why",
        lists={"Data": [f"{used['name']}: {used['caption']} Terms: {used['licence']}." for used in record["data"]]},
    )


def _discrepancies(record: dict[str, Any]) -> Table:
    """M at the checkpoints, a column a step; three lines a lesson that has published figures, one for another."""
    steps = sorted({row["step"] for lesson in record["lessons"] for row in lesson["checkpoints"]})
    rows: list[list[str]] = []
    groups = []
    for lesson in record["lessons"]:
        by_step = {row["step"]: row for row in lesson["checkpoints"]}
        groups.append(len(rows))
        itd = lesson["itd"]
        compared = itd["published"] is not None or any(row["published"] is not None for row in by_step.values())
        for line in ("published", "measured", "ratio") if compared else ("measured",):
            values = [by_step.get(step, {}).get(line) for step in steps]
            name = lesson["name"] if line in ("published", "measured") and len(rows) == groups[-1] else ""
            rows.append([name, line, shown(itd[line], line), *(shown(value, line) for value in values)])
    head = ["lesson", "", "ITD", *(f"t = {step:,}" for step in steps)]
    return Table("Discrepancy M, published / measured", head, rows, groups, words=(1,))


def _quantities(record: dict[str, Any]) -> Table:
    rows = [
        [part["name"], shown(part["published"]), shown(part["measured"]), shown(part["ratio"], "ratio")]
        for part in record["quantities"]
    ]
    return Table("Other numbers", ["", "published", "measured", "ratio"], rows)


def _runs(record: dict[str, Any]) -> Table:
    rows = [
        [
            lesson["name"],
            f"{lesson['steps']:,}",
            shown(lesson["final"]),
            f"{lesson['seconds']:.2f} s",
            f"{1e6 * lesson['seconds'] / max(1, lesson['steps']):.1f} µs",
            lesson["engine"],
            lesson["outcome"],
        ]
        for lesson in record["lessons"]
    ]
    head = ["lesson", "steps", "M at the end", "time", "a step", "engine", "outcome"]
    return Table("Lessons", head, rows, words=(5, 6))


def shown(value: float | int | None, kind: str = "") -> str:
    """Return a number as a reader wants it: counts whole, the rest with five digits.

    Examples
    --------
    >>> shown(3056), shown(0.0065), shown(1.00001, "ratio"), shown(None)
    ('3,056', '0.0065', '1.0000', '·')
    """
    if value is None:
        return NOTHING
    if kind == "ratio":
        return f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}"
