"""`nimt sweep`: the lessons of a study, side by side; a second call goes on where the first was stopped."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nimt.cli.console import DONE, INTERRUPTED, complain, note, plain, stderr
from nimt.cli.lesson_options import Quiet
from nimt.cli.study import Study
from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from nimt.runs.sweep_table import Sweep

STUDY = "study.toml"
TABLE, FIGURE = "table.csv", "sweep.png"
DPI = 130
HEADER = ["problem", "learner", "teacher", "seeds", "steps", "at end", "seconds"]
DOING = "reading the study"
EXAMPLES = (
    "nimt sweep study.toml --out widths",
    "nimt sweep --resume widths",
)


def sweep(
    study: Annotated[
        str | None, typer.Argument(help="A TOML file of settings; a list means every value of it.", metavar="STUDY")
    ] = None,
    resume: Annotated[
        str | None, typer.Option("--resume", help="Go on with the sweep in this folder.", metavar="DIR")
    ] = None,
    out: Annotated[str | None, typer.Option("--out", help="Where to write; by default nimt-sweep-STUDY.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Lessons at a time; -1 is one per core.")] = -1,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Give failed lessons again.")] = False,
    quiet: Quiet = False,
) -> None:
    """Give the lessons of a study: every target, learner and teacher in it, over several seeds.

    Each lesson is kept as soon as it is finished. The same command again gives only those that are missing, and several
    may share a folder. A lesson that fails is a row of the table, with the reason.
    """
    folder, found = _find_study(study, resume, out)
    raise typer.Exit(_run(found, folder, jobs, retry_failed=retry_failed, quiet=quiet))


def _find_study(study: str | None, resume: str | None, out: str | None) -> tuple[Path, Study]:
    """Return the folder and the study, from a file or from the folder of an earlier call."""
    from nimt.datasets.places import as_path

    if (study is None) == (resume is None):
        raise InvalidInput("name a study, or the folder of one with --resume")
    if resume is not None:
        if out is not None:
            raise InvalidInput("--resume names the folder: leave --out out")
        folder = as_path(resume)
        if not (folder / STUDY).is_file():
            raise InvalidInput(f"there is no {STUDY} in {resume!r}: name the folder that 'nimt sweep' wrote to")
        return folder, Study.read(folder / STUDY)
    assert study is not None
    path = as_path(study)
    return as_path(out) if out is not None else Path(f"nimt-sweep-{path.stem}"), Study.read(path)


def _run(study: Study, path: Path, jobs: int, *, retry_failed: bool, quiet: bool) -> int:
    from nimt.runs.runs import Runs, check_rules
    from nimt.runs.seeding import check_seeds
    from nimt.runs.sweep_progress import sweep_bar
    from nimt.runs.sweep_table import Sweep
    from nimt.runs.workers import check_jobs
    from nimt.store.whole_files import refuse_links, write_text

    check_jobs(jobs)
    seeds = check_seeds(study.values["seeds"])
    rules = check_rules("sweep", **study.settings()[0].list_shared_options())
    plans, notes = study.plans()
    for sentence in notes:
        note(sentence, quiet=quiet)
    config = study.to_toml(path)
    if (path / STUDY).exists() and (path / STUDY).read_text(encoding="utf-8") != config:
        raise InvalidInput(f"{str(path)!r} holds another study: give another --out, or go on with it by --resume")
    refuse_links(path, (STUDY, TABLE, FIGURE))
    runs = Runs(plans, seeds, rules, path, n_jobs=jobs, retry_failed=retry_failed)
    write_text(path / STUDY, config)
    try:
        shown = "auto" if not quiet else False
        with sweep_bar(shown, title=plain(path.name), file=stderr(), delay=0.0) as watcher:
            runs.run(watcher)
    except KeyboardInterrupt:
        complain(f"interrupted; what was finished is kept: nimt sweep --resume {shlex.quote(str(path))}")
        return INTERRUPTED
    _write(Sweep.of(runs), study, path, quiet=quiet)
    return DONE


def _write(found: Sweep, study: Study, path: Path, *, quiet: bool) -> None:
    """Write the table and the figure, and print what was found."""
    from nimt.cli.written_results import print_table, print_written
    from nimt.plots.swept_lines import STEP
    from nimt.runs.runs_folder import ROWS
    from nimt.runs.sweep_table import cells
    from nimt.store.whole_files import whole_file

    found.save_table(path / TABLE)
    written = [path / STUDY, path / ROWS, path / TABLE]
    if found.given:
        numbers = [name for name, values in study.varied.items() if all(isinstance(value, float) for value in values)]
        x = numbers[0] if numbers and study.settings()[0].tolerance else STEP
        figure = found.plot(x, facet="problem" if len(found.problems) > 1 else None)
        with whole_file(path / FIGURE) as temporary:
            figure.savefig(temporary, format="png", dpi=DPI)
        written.append(path / FIGURE)
    for entry in found.failed[:3]:
        complain(f"{entry.problem}, {entry.learner}, {entry.teacher}, seed {entry.seed}: {entry.error}", "failed")
    if len(found.failed) > 3:
        complain(f"and {len(found.failed) - 3} more, in {TABLE}", "failed")
    if not quiet:
        lines = [cells(group) for group in found.groups()]
        # what all lessons have in common needs no column: the terminal is narrow
        kept = [place for place in range(len(HEADER)) if place > 1 or len({line[place] for line in lines}) > 1]
        print_table([HEADER[place] for place in kept], [[line[place] for place in kept] for line in lines])
        print_written(path, written)
