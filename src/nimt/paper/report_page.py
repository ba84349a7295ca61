"""The report of a reproduction: the content of `summary.json` as a page with one chapter per experiment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from nimt.counting import say_count
from nimt.measures import PaperDiscrepancy
from nimt.reports import html as pages

TITLE = "Nonparametric iterative machine teaching: the paper's experiments, run again"
LEAD = "Every experiment of Zhang et al. (ICML 2023), run by nimt, with its numbers beside the published ones."
FAMILY_TITLE = "Beyond the paper: several outputs taught at once, few steps, and other systems of iterative teaching"
FAMILY_LEAD = (
    "The settings of MINT (Zhang et al., NeurIPS 2023), shortest lessons, and published lessons of other systems, "
    "run by nimt."
)
MEASURES = "M is the paper's discrepancy; ITD is the first step at which it is below the tolerance."
SPENT_ON = {"lessons": "lessons", "compiling": "compiling", "other": "other", "drawing": "figures"}
TIMES = (
    "Times are sums over the lessons of an experiment: lessons are their steps alone; compiling, once an installation, "
    "or loading what was compiled, is apart. Lessons run in parallel, so a sum can exceed the time of the whole run."
)
NEAR = 0.001
FAR = 0.05  # a ratio further from 1 is explained in the overview
NOTHING = "·"
ALTERED = {"width": "kernel width", "learning_rate": "learning rate"}


def page_of(summary: dict[str, Any], out: Path) -> str:
    """Return the report as one HTML page with embedded figures."""
    experiments = list(summary["experiments"].values())
    numbers = count(1)
    short = "" if summary["iterations"] is None else (
        f" Every lesson was cut at {say_count(summary['iterations'], 'step')}, so most of the published numbers are "
        f"not reached."
    )  # fmt: skip
    altered = ", ".join(
        f"{words} {summary[name]:g}" for name, words in ALTERED.items() if summary.get(name) is not None
    )
    other = f" All lessons were given with {altered} instead of what was published." if altered else ""
    parts = [
        pages.paragraph(f"{MEASURES}{short}{other}"),
        pages.formula(PaperDiscrepancy.latex),
        pages.contents({"overview": "Overview"} | {record["name"]: record["title"] for record in experiments}),
        *_overview(experiments),
        *(piece for record in experiments for piece in _chapter(record, out, numbers)),
    ]
    made_with = ", ".join(f"{name} {number}" for name, number in summary["versions"].items())
    footer = f"nimt {summary['nimt']}; {made_with}. This run took {summary['wall_seconds']:.1f} s."
    title, lead = (FAMILY_TITLE, FAMILY_LEAD) if summary.get("family") else (TITLE, LEAD)
    return pages.page(title, lead, parts, footer)


def _overview(experiments: list[dict[str, Any]]) -> list[str]:
    rows = []
    for record in experiments:
        ratios = comparisons(record)
        agreement = f"{min(ratios):.4f} to {max(ratios):.4f}" if ratios else NOTHING
        seconds = record["seconds"]
        rows.append(
            [
                record["title"],
                record["paper"],
                data_in_words(record),
                str(len(ratios)),
                agreement,
                *(f"{seconds[part]:.1f} s" for part in SPENT_ON),
            ]
        )
    head = ["experiment", "in the paper", "data", "numbers compared", "measured / published", *SPENT_ON.values()]
    return [
        pages.heading("Overview", "overview"),
        *(pages.paragraph(said) for said in [headline(experiments)] if said),
        pages.table(head, rows, words=(1, 2)),
        pages.bullets([*remarks(experiments), TIMES]),
    ]


def headline(experiments: Iterable[dict[str, Any]]) -> str:
    """Return how many published numbers were compared, and how many are met, in one sentence; "" of none."""
    ratios = [ratio for record in experiments for ratio in comparisons(record)]
    if not ratios:
        return ""
    near, close = (sum(abs(ratio - 1) <= most for ratio in ratios) for most in (NEAR, FAR))
    rest = len(ratios) - close
    why = f"; the other {rest} {'is' if rest == 1 else 'are'} explained below the table" if rest else ""
    return (
        f"Of {say_count(len(ratios), 'published number')}, {near} are met within {NEAR:.1%} and {close} within "
        f"{FAR:.0%}{why}."
    )


def remarks(experiments: Iterable[dict[str, Any]]) -> list[str]:
    """Return a sentence on every number further than `FAR` from the published one, with the reason if known."""
    return [
        f"{record['title']}, {what}: measured / published is {ratio:.4f}; {why or 'we do not know why'}."
        for record in experiments
        for what, ratio, why in _list_compared(record)
        if abs(ratio - 1) > FAR
    ]


def comparisons(record: dict[str, Any]) -> list[float]:
    """Return every ratio of a measured to a published number of an experiment."""
    return [ratio for _, ratio, _ in _list_compared(record)]


def _list_compared(record: dict[str, Any]) -> Iterator[tuple[str, float, str | None]]:
    """Yield what was compared, measured / published, and why they differ."""
    for lesson in record["lessons"]:
        steps = {f"t = {row['step']:,}": row for row in lesson["checkpoints"]}
        for place, part in {"ITD": lesson["itd"], **steps}.items():
            if part["ratio"] is not None:
                yield f"{lesson['name']}, {place}", part["ratio"], lesson["differs"]
    for part in record["quantities"]:
        if part["ratio"] is not None:
            yield part["name"], part["ratio"], part["differs"]


def data_in_words(record: dict[str, Any]) -> str:
    """Say whether an experiment used the published data, and what stands in for it if not.

    Examples
    --------
    >>> data_in_words({"data": [{"name": "digit 8", "original": True}, {"name": "letter O", "original": False}]})
    'published, stand-in: letter O'
    """
    used = record["data"]
    if not used:
        return "formulas"
    replaced = [picture["name"] for picture in used if not picture["original"]]
    said = ["published"] if len(replaced) < len(used) else []
    return ", ".join(said + ([f"stand-in: {', '.join(replaced)}"] if replaced else []))


def _chapter(record: dict[str, Any], out: Path, numbers: Iterator[int]) -> list[str]:
    used = [f"{data['name']}: {data['caption']} Terms: {data['licence']}." for data in record["data"]]
    parts = [
        pages.heading(record["title"], record["name"]),
        pages.tags([record["paper"], f"data: {data_in_words(record)}", f"{record['seconds']['total']:.1f} s"]),
        pages.paragraph(record["about"]),
    ]
    for figure in record["figures"]:
        parts.append(pages.picture((out / figure["png"]).read_bytes(), "image/png", figure["caption"], next(numbers)))
    parts += [pages.subheading("Discrepancy M, published and measured"), _discrepancies(record)]
    if record.get("overview"):
        parts += [pages.subheading("All lessons"), pages.table(record["overview"][0], record["overview"][1:])]
    if record["quantities"]:
        parts += [pages.subheading("Other numbers"), _quantities(record)]
    parts += [pages.subheading("Lessons"), _runs(record)]
    if record["seeds"]:
        parts += [pages.subheading("Other seeds"), _over_seeds(record)]
    if record["notes"]:
        parts += [pages.subheading("What differs, and why"), pages.bullets(record["notes"])]
    if used:
        parts += [pages.subheading("Data"), pages.bullets(used)]
    return parts


def _discrepancies(record: dict[str, Any]) -> str:
    """Return a table of M, one column per step: three lines for a lesson with published numbers, one for others."""
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
            rows.append([name, line, format_number(itd[line], line), *(format_number(value, line) for value in values)])
    head = ["lesson", "", "ITD", *(f"t = {step:,}" for step in steps)]
    return pages.table(head, rows, words=(1,), groups=groups)


def _quantities(record: dict[str, Any]) -> str:
    rows = [
        [
            part["name"],
            format_number(part["published"]),
            format_number(part["measured"]),
            format_number(part["ratio"], "ratio"),
        ]
        for part in record["quantities"]
    ]
    return pages.table(["", "published", "measured", "ratio"], rows)


def _runs(record: dict[str, Any]) -> str:
    rows = [
        [
            lesson["name"],
            f"{lesson['steps']:,}",
            format_number(lesson["final"]),
            f"{lesson['seconds']:.2f} s",
            f"{1e6 * lesson['seconds'] / max(1, lesson['steps']):.1f} µs",
            lesson["engine"],
            lesson["outcome"],
        ]
        for lesson in record["lessons"]
    ]
    head = ["lesson", "steps", "M at the end", "time", "per step", "engine", "outcome"]
    return pages.table(head, rows, words=(5, 6))


def _over_seeds(record: dict[str, Any]) -> str:
    """Return a table of ITD and M over the seeds; of lessons some of which did not meet the tolerance, how many did."""
    rows = []
    for lesson in record["seeds"]:
        met = [itd for itd in lesson["itd"] if itd is not None]
        seeds = len(lesson["itd"])
        itd = (
            f"{min(met):,} to {max(met):,}, median {median(met):,g}"
            if len(met) == seeds
            else f"{len(met)} of {seeds} met it"
        )
        final = lesson["final"]
        spread = f"{mean(final):.5g} ± {stdev(final):.2g}" if seeds > 1 else f"{final[0]:.5g}"
        rows.append([lesson["name"], str(seeds), itd, spread])
    return pages.table(["lesson", "seeds", "ITD", "M at the end, mean ± deviation"], rows)


def format_number(value: float | int | None, kind: str = "") -> str:
    """Return a number as text: counts in full, others with five digits.

    Examples
    --------
    >>> format_number(3056), format_number(0.0065), format_number(1.00001, "ratio"), format_number(None)
    ('3,056', '0.0065', '1.0000', '·')
    """
    if value is None:
        return NOTHING
    if kind == "ratio":
        return f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}"
