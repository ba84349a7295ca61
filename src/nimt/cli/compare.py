"""`nimt compare`: the same lesson by several teachers."""

from __future__ import annotations

import dataclasses
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nimt import defaults
from nimt.cli.console import DONE, INTERRUPTED, Doing, complain, note
from nimt.cli.lesson_options import OPTION_OF, TARGET_HELP, Overwrite, Quiet, with_lesson_options
from nimt.errors import InvalidInput
from nimt.recipe.completing import read_completed
from nimt.recipe.field_table import TEACHERS
from nimt.recipe.recipe import Recipe

if TYPE_CHECKING:
    from nimt.cli.run_folder import RunFolder
    from nimt.sources import Problem

DOING = "reading the target"
EXAMPLES = (
    "nimt compare gmm --from gmm:start --learning-rate 0.01 --tol 1e-4",
    "nimt compare digit:0 --teachers greedy:1,random:1 --seeds 3 -n 1000",
)


@with_lesson_options(command="compare")
def compare(
    target: Annotated[str | None, typer.Argument(help=TARGET_HELP, metavar="TARGET")] = None,
    out: Annotated[str | None, typer.Option("--out", help="The folder to write to; by default a new one here.")] = None,
    overwrite: Overwrite = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON, and nothing else.")] = False,
    quiet: Quiet = False,
    **given: Any,
) -> None:
    """Give the same lesson by several teachers, those that draw at random over several seeds.

    With --engine reference the time of choosing is measured apart from that of learning.
    """
    settings = Recipe.of(target, given)
    usual: dict[str, Any] = {
        "teachers": settings.teachers or TEACHERS,
        "seeds": defaults.SEEDS if settings.seeds is None else settings.seeds,
    }
    settings = dataclasses.replace(settings, **usual)
    raise typer.Exit(run_comparison(settings, out, overwrite=overwrite, as_json=as_json, quiet=quiet))


def run_comparison(settings: Recipe, out: str | None, *, overwrite: bool, as_json: bool, quiet: bool) -> int:
    """Read, check, give every lesson, write; return the exit code."""
    from nimt.cli.run_folder import RunFolder
    from nimt.runs.seeding import check_seeds
    from nimt.store.whole_files import write_text

    settings, problem = read_completed(settings, Doing(quiet=quiet))
    folder = RunFolder.choose(out, f"compare-{Path(settings.target).stem}")
    folder.check_it_can_be_written()
    if settings.teachers == TEACHERS:
        settings, left_out = _that_fit(settings, problem)
        problem = dataclasses.replace(problem, notes=problem.notes + left_out)
    else:
        _check(settings, problem)
    check_seeds(settings.seeds or 0)
    config = settings.to_toml(folder.path)
    with folder.claim_anew(overwrite=overwrite, goes_on=config):
        write_text(folder.config, config)
        return give_lessons_in(folder, settings, problem, as_json=as_json, quiet=quiet)


def _check(settings: Recipe, problem: Problem) -> None:
    """Refuse a lesson that cannot be given by one of the teachers."""
    from nimt.teaching.lessons import plan

    learner = settings.make_learner(problem.pool, problem.start)
    for teacher in settings.make_teachers(problem).values():
        plan(learner, teacher, problem.pool, problem.target, **settings.options())


def _that_fit(settings: Recipe, problem: Problem) -> tuple[Recipe, tuple[str, ...]]:
    """Return the settings with those of the usual teachers that can give this lesson, and why others cannot."""
    first, *others = TEACHERS.split(",")
    _check(dataclasses.replace(settings, teachers=first), problem)  # what it cannot give is refused, not left out
    kept, notes = [first], []
    for name in others:
        try:
            _check(dataclasses.replace(settings, teachers=name), problem)
            kept.append(name)
        except InvalidInput as refusal:
            reason = refusal.tell_in_program(OPTION_OF, with_way_out=False)
            notes.append(f"{name.partition(':')[0]} is left out: {reason}")
    return dataclasses.replace(settings, teachers=",".join(kept)), tuple(notes)


def give_lessons_in(folder: RunFolder, settings: Recipe, problem: Problem, *, as_json: bool, quiet: bool) -> int:
    """Give the lessons that are not finished in a folder that is ours, and write the comparison; return the exit code.

    Finished lessons and the checkpoint of the one under way are kept in the folder until the comparison is written.
    """
    from nimt.cli.terminal_progress import progress_bar
    from nimt.cli.written_results import print_table, print_written
    from nimt.reports.comparison_page import comparison_table, write_comparison_report
    from nimt.runs.comparing import compare as give

    if folder.is_under_way() and any(folder.under_way.iterdir()):
        note("goes on with the lessons that were not finished", quiet=quiet)
    for sentence in problem.notes:
        note(sentence, quiet=quiet)
    assert settings.seeds is not None
    aside = problem.aside
    folder.keep()
    try:
        with progress_bar(settings.title, shown=not (quiet or as_json)) as watcher:
            comparison = give(
                settings.make_learner(problem.pool, problem.start), settings.make_teachers(problem), problem.pool,
                problem.target, **settings.list_shared_options(), seeds=settings.seeds, callback=watcher,
                out=folder.under_way, holdout=None if aside is None else (aside.points, aside.target),
            )  # fmt: skip
    except KeyboardInterrupt:
        complain(f"interrupted; what was finished is kept: nimt resume {shlex.quote(str(folder.path))}")
        return INTERRUPTED
    written = write_comparison_report(
        comparison, folder.path, title=settings.title, repeat=folder.config.read_text("utf-8")
    )
    shutil.rmtree(folder.under_way)
    if as_json:
        print((folder.path / "comparison.json").read_text(encoding="utf-8"), end="")
    elif not quiet:
        header, lines = comparison_table(comparison)
        print_table(header, lines)
        print_written(folder.path, written)
    return DONE
