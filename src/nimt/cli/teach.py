"""`nimt teach`: one lesson, from a picture, table or function to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nimt.cli.console import Doing, note
from nimt.cli.lesson_options import (
    BLOCKS,
    TARGET_HELP,
    BlockWorkers,
    Cluster,
    CutInto,
    Overwrite,
    Quiet,
    with_lesson_options,
)
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.recipe.completing import read_completed
from nimt.recipe.recipe import Recipe
from nimt.wording import say_in_program

if TYPE_CHECKING:
    from nimt.lesson.lesson import Lesson
    from nimt.session.session import Session
    from nimt.task.task import Task

MUCH_MEMORY = 1 << 28  # bytes, from which on they are told before the lesson
DOING = "reading the target"
EXAMPLES = (
    "nimt teach gmm --from gmm:start --learning-rate 0.01 --tol 1e-4",
    "nimt teach digit:0 --from digit:8 --teacher random -k 0.05 -n 2000",
    "nimt teach face:1 --size 24 --kernel 'rbf(0.5) + 0.1 * Matern(2)'",
    "nimt teach huge.npy --blocks 8x8 --memory 2",
)


@with_lesson_options()
def teach(
    target: Annotated[str | None, typer.Argument(help=TARGET_HELP, metavar="TARGET")] = None,
    out: Annotated[str | None, typer.Option("--out", help="The folder to write to; by default a new one here.")] = None,
    overwrite: Overwrite = False,
    require: Annotated[bool, typer.Option("--require", help="End with 1 if --tol was not reached.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, and nothing else.")] = False,
    quiet: Quiet = False,
    blocks: CutInto = None,
    cluster: Cluster = None,
    workers: BlockWorkers = None,
    memory: Annotated[
        float | None,
        typer.Option(
            "--memory", help="Gigabytes for blocks in each worker; others wait on disk.", rich_help_panel=BLOCKS
        ),
    ] = None,
    results: Annotated[
        str | None,
        typer.Option(
            "--results", help="npy or zarr: the files that blocks write; by default as TARGET.", rich_help_panel=BLOCKS
        ),
    ] = None,
    **given: Any,
) -> None:
    """Teach a learner TARGET, and write the lesson, figures and a page.

    Ctrl-C stops it without losing anything; nimt resume goes on.
    """
    ways = {"cluster": cluster, "workers": workers, "memory": memory, "results": results}
    if blocks is not None:
        from nimt.cli.block_run import teach_in_blocks

        how = {"as_json": as_json, "quiet": quiet, "require": require}
        most = given.get("iterations")
        raise typer.Exit(
            teach_in_blocks(Recipe.of(target, given), blocks, out, ways, most=most, overwrite=overwrite, **how)
        )
    for name, value in ways.items():
        if value is not None:
            raise InvalidInput("is for --blocks", parameter=name, way_out="give that, too")
    code = run_lesson(Recipe.of(target, given), out, overwrite=overwrite, require=require, as_json=as_json, quiet=quiet)
    raise typer.Exit(code)


def run_lesson(settings: Recipe, out: str | None, *, overwrite: bool, require: bool, as_json: bool, quiet: bool) -> int:
    """Read, check, teach, write; return the exit code."""
    from nimt.cli.run_folder import RunFolder
    from nimt.cli.run_identity import mark_settings
    from nimt.cli.written_results import finish
    from nimt.store.whole_files import write_text

    check_cmap(settings)
    folder = RunFolder.choose(out, Path(settings.target).stem)
    if settings.is_table:  # to find what is taught may take long
        folder.check_it_is_free(overwrite=overwrite)
    settings, problem = read_completed(settings, Doing(quiet=quiet))
    folder.check_it_can_be_written()
    # refused here, before a folder is made or an older run in it is replaced
    task = settings.task(problem)
    session = task.begin()
    config = mark_settings(settings, task.settings, folder.path)
    with folder.claim_anew(overwrite=overwrite):
        notes = (*problem.notes, *_describe_choosing(settings.count_choosing(problem)))
        for sentence in notes:
            note(sentence, quiet=quiet)
        shown = not (quiet or as_json)
        if task.plan.bytes > MUCH_MEMORY:
            note(str(task.plan), quiet=quiet)
        expected = _announce(task) if shown else None
        write_text(folder.config, config)
        session.warnings[:] = map(say_in_program, session.warnings)
        session.keep_checkpoints(folder.lesson)
        lesson = run_session(session, settings, shown=shown, expected=expected)
        how: dict[str, Any] = {"as_json": as_json, "quiet": quiet, "require": require}
        return finish(lesson, folder, settings, session, notes=notes, **how)


def _describe_choosing(count: int) -> list[str]:
    """Say which of the rows held out choose the learner that is kept."""
    if not count:
        return []
    return [f"{say_count(count, 'row')} of those held out choose the step, and the error is measured on the others"]


def _announce(task: Task) -> int | None:
    """Say how many steps the lesson will take where that is found at once, and return it."""
    from nimt.cli.expected_steps import quick_forecast

    found = quick_forecast(task)
    if found is None:
        return None
    note(f"forecast: {found.in_one_line()}")
    return found.itd


def check_cmap(settings: Recipe) -> None:
    """Refuse an unknown colour map before any work, and load matplotlib only where one is named."""
    if settings.cmap is not None:
        from nimt.plots.figures import check_cmap as checked

        checked(settings.cmap)


def run_session(session: Session, settings: Recipe, *, shown: bool, expected: int | None = None) -> Lesson:
    """Give the lesson, with a bar to watch."""
    from nimt.cli.terminal_progress import progress_bar

    with progress_bar(settings.title, shown=shown, expected=expected) as watcher:
        return session.run(watch=watcher, seconds=settings.time_limit)
