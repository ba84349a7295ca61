"""`nimt compare`: the same lesson by several teachers."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

from nimt.cli.console import DONE, INTERRUPTED, complain, note
from nimt.cli.options import TARGET_HELP, with_lesson_options
from nimt.cli.settings import RunSettings, settings_from

TEACHERS = "greedy:1,greedy:0.05,random:0.05,whole"
SEEDS = 5

EXAMPLES = (
    "nimt compare gmm --from gmm:start --learning-rate 0.01",
    "nimt compare digit:0 --teachers greedy:1,random:1 --seeds 3 -n 1000",
)


@with_lesson_options(without=("teacher", "k", "every", "seed"))
def compare(
    target: Annotated[str | None, typer.Argument(help=TARGET_HELP, metavar="TARGET")] = None,
    teachers: Annotated[
        str | None,
        typer.Option("--teachers", help=f"Teachers as in --teacher, each with :k. [dim]\\[{TEACHERS}][/dim]"),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", help=f"Lessons of each teacher that draws. [dim]\\[{SEEDS}][/dim]")
    ] = None,
    out: Annotated[str | None, typer.Option("--out", help="The folder to write to; a new one here usually.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run that is in --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON, and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but complaints.")] = False,
    **given: Any,
) -> None:
    """Give the same lesson by several teachers, those that draw at random over several seeds.

    With --engine reference the time of choosing is measured apart from that of learning.
    """
    settings = settings_from(target, {**given, "teachers": teachers, "seeds": seeds})
    usual: dict[str, Any] = {
        "teachers": settings.teachers or TEACHERS,
        "seeds": SEEDS if settings.seeds is None else settings.seeds,
    }
    settings = dataclasses.replace(settings, **usual)
    try:
        code = run_comparison(settings, out, overwrite=overwrite, as_json=as_json, quiet=quiet)
    except KeyboardInterrupt:
        complain("interrupted; half a comparison compares nothing and is not kept: give the same command again")
        code = INTERRUPTED
    raise typer.Exit(code)


def run_comparison(settings: RunSettings, out: str | None, *, overwrite: bool, as_json: bool, quiet: bool) -> int:
    """Read, check, give every lesson, write; return the exit code."""
    from nimt.cli.folder import RunFolder
    from nimt.cli.progress import progress_bar
    from nimt.cli.results import print_table, print_written
    from nimt.files import write_text
    from nimt.reports.comparison import comparison_table, write_comparison_report
    from nimt.teaching.comparing import compare as give
    from nimt.teaching.teaching import plan

    problem = settings.problem()
    learner, teachers = settings.made_learner(problem), settings.made_teachers(problem)
    for teacher in teachers.values():
        plan(learner, teacher, problem.pool, problem.target, **settings.rules())  # refuses what cannot be given
    config = settings.to_toml()
    folder = RunFolder.chosen(out, f"compare-{Path(settings.target).stem}")
    with folder.claimed_anew(overwrite=overwrite):
        for sentence in problem.notes:
            note(sentence, quiet=quiet)
        write_text(folder.config, config)
        assert settings.seeds is not None
        with progress_bar(settings.title, shown=not (quiet or as_json)) as watcher:
            comparison = give(
                learner, teachers, problem.pool, problem.target,
                **settings.rules(), seeds=settings.seeds, callback=watcher,
            )  # fmt: skip
        written = write_comparison_report(comparison, folder.path, title=settings.title, repeat=config)
        if as_json:
            print((folder.path / "comparison.json").read_text(encoding="utf-8"), end="")
        elif not quiet:
            header, lines = comparison_table(comparison)
            print_table(header, lines)
            print_written(folder.path, written)
    return DONE
