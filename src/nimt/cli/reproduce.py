"""`nimt reproduce`: the paper's experiments, their figures and a report."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nimt.cli.console import plain, stderr
from nimt.cli.lesson_options import Quiet

if TYPE_CHECKING:
    from rich.console import Console

    from nimt.paper import Event

SECONDS_BETWEEN_LINES = 30.0
DOING = "loading the experiments"
EXAMPLES = (
    "nimt reproduce",
    "nimt reproduce digits cheetah --data pictures",
    "nimt reproduce gmm --iterations 500 --out quick",
    "nimt reproduce digits --lessons --seeds 5",
    "nimt reproduce gmm --width 1 --learning-rate 0.1",
    "nimt reproduce --family",
    "nimt reproduce --list",
)


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="The experiments to run; all of them by default.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder to write to; out by default, out-family with --family.")
    ] = None,
    family: Annotated[
        bool, typer.Option("--family", help="Beyond the paper: MINT, shortest lessons, moons, exams.")
    ] = False,
    iterations: Annotated[int | None, typer.Option("--iterations", help="Cut every lesson at so many steps.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", help="Lessons at a time; one per core by default.")] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="Where published data lies: cheetah.jpg, EMNIST files, imt-moons.npz.")
    ] = None,
    width: Annotated[float | None, typer.Option("--width", help="Of all kernels, instead of the published.")] = None,
    learning_rate: Annotated[
        float | None, typer.Option("--learning-rate", help="Of all learners, instead of the published.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="Give lessons that draw with so many seeds.")] = 1,
    lessons: Annotated[
        bool, typer.Option("--lessons", help="Write every lesson: its curve as CSV, all of it as npz.")
    ] = False,
    quiet: Quiet = False,
    list_: Annotated[bool, typer.Option("--list", help="Name the experiments and end.")] = False,
) -> None:
    """Run the paper's experiments, draw its figures, and write a report with the published numbers beside ours.

    What is finished is kept: an interrupted run goes on with the rest, and a second run redraws nothing.
    """
    from rich.console import Console

    from nimt import paper
    from nimt.engines._numba.second_compiler import compiling_elsewhere
    from nimt.paper.written_lessons import LESSONS

    said = Console(quiet=quiet, highlight=False, markup=False)
    if list_:
        _list(said, paper.FAMILY if family else paper.EXPERIMENTS)
        return
    out = out or Path("out-family" if family else "out")
    # figures are drawn here while another process compiles: both would wait for each other in one process
    with _watch(quiet) as watch, compiling_elsewhere():
        summary = paper.reproduce(
            names, out, iterations=iterations, jobs=jobs, data=data, progress=watch, family=family, width=width,
            learning_rate=learning_rate, seeds=seeds, keep_lessons=lessons,
        )  # fmt: skip
    _tell(said, summary, out)
    if lessons:
        count = sum(len(record["files_of_lessons"] or ()) for record in summary["experiments"].values())
        said.print(f"{count} lessons as .csv and .npz in {plain(str(out / LESSONS))}", soft_wrap=True)


def _list(said: Console, experiments: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table("name", "what", "in the paper", box=None)
    for name, experiment in experiments.items():
        table.add_row(name, experiment.title, experiment.paper)
    said.print(table)


def _tell(said: Console, summary: dict[str, Any], out: Path) -> None:
    from rich.table import Table

    from nimt.paper.report_page import SPENT_ON, TIMES, comparisons, data_in_words, remarks

    times = {part: head for part, head in SPENT_ON.items() if part != "other"}  # narrow enough for 80 columns
    table = Table("experiment", "data", box=None, pad_edge=False)
    for head in ("compared", "measured / published", *times.values()):
        table.add_column(head, justify="right")
    for name, record in summary["experiments"].items():
        ratios = comparisons(record)
        seconds = record["seconds"]
        table.add_row(
            name,
            data_in_words(record),
            str(len(ratios)),
            f"{min(ratios):.4f} to {max(ratios):.4f}" if ratios else "",
            *(f"{seconds[part]:.1f} s" if name in summary["run_now"] else "kept" for part in times),
        )
    said.print(table)
    for record in summary["experiments"].values():
        if rows := record.get("overview"):
            lessons = Table(*rows[0], box=None, pad_edge=False, title=plain(record["title"]), title_justify="left")
            for row in rows[1:]:
                lessons.add_row(*row)
            said.print(lessons)
    for sentence in (*remarks(summary["experiments"].values()), TIMES):
        said.print(sentence)  # its words are wrapped; a path is not, so that it can be copied
    page = plain(str(out / "report.html"))
    said.print(f"{summary['wall_seconds']:.1f} s; open {page} in a browser", soft_wrap=True)


@contextlib.contextmanager
def _watch(quiet: bool) -> Iterator[Callable[[Event], None] | None]:
    """Hand out a callback that shows a bar for every experiment under way, or a line for every one that is done."""
    from nimt.teaching.bars import make_bar

    if quiet:
        yield None
        return
    if not stderr().isatty():
        yield make_log()
        return
    bars: dict[str, Any] = {}

    def watch(event: Event) -> None:
        bar = bars.get(event.experiment)
        if bar is None:
            form = "{desc:14} {bar:24}{postfix} [{elapsed}]"
            bar = make_bar(True, title=event.experiment, file=stderr(), total=1, bar_format=form)
            bars[event.experiment] = bar
        doing = event.state
        if event.state == "teaching":
            bar.total, bar.n = max(1, event.steps), event.step
            doing = f"{event.lesson}, step {event.step:,} of {event.steps:,}"
        elif event.state in ("kept", "finished"):
            bar.total = bar.n = 1
            doing = f"{event.state} ({event.seconds:.1f} s)"
        bar.set_postfix_str(doing, refresh=event.state != "teaching")
        bar.update(0)

    try:
        yield watch
    finally:
        for bar in bars.values():
            bar.close()


def make_log() -> Callable[[Event], None]:
    """Return a callback that prints a line per finished experiment, and of long ones what they do now and then.

    A captured log cannot show bars.
    """
    told: dict[str, float] = {}

    def log(event: Event) -> None:
        now = time.monotonic()
        if event.state in ("kept", "finished"):
            print(f"{event.experiment}: {event.state} ({event.seconds:.1f} s)", file=stderr(), flush=True)
        elif now - told.setdefault(event.experiment, now) > SECONDS_BETWEEN_LINES:
            told[event.experiment] = now
            doing = f"{event.lesson}, step {event.step:,} of {event.steps:,}" if event.lesson else event.state
            print(f"{event.experiment}: {doing}", file=stderr(), flush=True)

    return log
