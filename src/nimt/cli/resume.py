"""`nimt resume`: go on with a run that was stopped, killed, or given too few steps."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nimt.cli.console import DONE, Doing, note
from nimt.cli.lesson_options import BlockWorkers, Cluster, Quiet
from nimt.cli.run_folder import BLOCK_TASK, RunFolder, say_how_to_repeat
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.recipe.completing import read_completed
from nimt.recipe.recipe import Recipe

if TYPE_CHECKING:
    from nimt.lesson.lesson import Lesson
    from nimt.session.session import Session

DOING = "reading the run"
EXAMPLES = (
    "nimt teach gmm --from gmm:start --learning-rate 0.01 -n 1000 --out run",
    "nimt resume run --iterations 4000",
)


def resume(
    folder: Annotated[str, typer.Argument(help="The folder that nimt teach wrote to.", metavar="DIR")],
    iterations: Annotated[int | None, typer.Option("--iterations", "-n", help="Another budget than before.")] = None,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", help="Stop after so many seconds, without compiling; as before by default."),
    ] = None,
    require: Annotated[bool, typer.Option("--require", help="End with 1 if --tol was not reached.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, and nothing else.")] = False,
    quiet: Quiet = False,
    cluster: Cluster = None,
    workers: BlockWorkers = None,
) -> None:
    """Go on with a run; the finished lesson is the same, bit by bit, as one that was never stopped."""
    from nimt.arrays import check_count, check_positive
    from nimt.cli.run_identity import check_settings
    from nimt.cli.written_results import finish
    from nimt.datasets.places import as_path

    run = RunFolder(as_path(folder))
    if (run.path / BLOCK_TASK).is_file():
        from nimt.cli.block_run import resume_in_blocks

        how = {"as_json": as_json, "quiet": quiet, "require": require}
        raise typer.Exit(resume_in_blocks(run.path, cluster, workers, iterations, time_limit, **how))
    with run.claim_again():
        settings = Recipe.read(run.config)
        if settings.teachers is not None:
            raise typer.Exit(_go_on_comparing(run, settings, iterations, as_json=as_json, quiet=quiet))
        check_settings(run.config, settings)
        if time_limit is not None:
            check_positive("time_limit", time_limit)
            settings = dataclasses.replace(settings, time_limit=time_limit)
        if iterations is not None:
            check_count("iterations", iterations, at_least=0)
            settings = dataclasses.replace(settings, iterations=iterations)
        lesson, session = _go_on(run, settings, iterations, shown=not (quiet or as_json), quiet=quiet)
        code = finish(lesson, run, settings, session, as_json=as_json, quiet=quiet, require=require)
    raise typer.Exit(code)


def _go_on_comparing(run: RunFolder, settings: Recipe, iterations: int | None, *, as_json: bool, quiet: bool) -> int:
    """Go on with a comparison that was stopped; return the exit code."""
    from nimt.cli.compare import give_lessons_in

    if iterations not in (None, settings.iterations):
        raise InvalidInput(f"the lessons of a comparison keep their budget of {settings.iterations}: leave -n out")
    if not run.is_under_way():
        raise InvalidInput(f"the comparison in {str(run.path)!r} is over; it can be {say_how_to_repeat(run.path)}")
    return give_lessons_in(run, settings, settings.problem(Doing(quiet=quiet)), as_json=as_json, quiet=quiet)


def _go_on(
    run: RunFolder, settings: Recipe, iterations: int | None, *, shown: bool, quiet: bool
) -> tuple[Lesson, Session | None]:
    """Return the lesson from where it was stopped, as it is where it was over, or from the beginning; and its session.

    Its file is read once.
    """
    from nimt.cli.teach import run_session
    from nimt.lesson.outcome import Outcome
    from nimt.recipe.copying import list_foreign_code
    from nimt.session.session import FINAL, Session
    from nimt.session.stored_task import StoredTask

    if run.has_lesson():
        stored = StoredTask.read(run.lesson, allow=list_foreign_code(settings))
        steps, ended = len(stored.fields["discrepancy"]) - 1, stored.fields["outcome"]
        _refuse_fewer(steps, iterations, quiet=quiet)
        before = stored.settings["max_iterations"]
        asked = settings.snapshots(stored.fields["target"].size)  # refused here where so many would not fit
        _begin(run, settings, stored.settings, str(run.lesson))
        if ended in FINAL and (ended is not Outcome.BUDGET or steps >= settings.iterations):
            note(f"the lesson is over: {ended} after {say_count(steps, 'step')}", quiet=quiet)
            return stored.lesson, None
        if stored.state is not None:
            later = [step for step in asked if step > before]
            again = _make_foreign(settings, quiet=quiet)
            session = Session.go_on(stored, max_iterations=settings.iterations, snapshots=later, **again)
            return run_session(session, settings, shown=shown), session
    settings, problem = read_completed(settings, Doing(quiet=quiet))
    session = settings.task(problem).begin()
    _begin(run, settings, session.task.settings, f"{settings.target!r} as it is now")
    note("there is nothing to go on from: it begins again", quiet=quiet)
    session.keep_checkpoints(run.lesson)
    return run_session(session, settings, shown=shown), session


def _make_foreign(settings: Recipe, *, quiet: bool) -> dict[str, Any]:
    """Return a learner and a teacher of the user as at the start; a file need not tell how they are made."""
    from nimt.named_code import is_foreign

    made: dict[str, Any] = {}
    if is_foreign("learner", settings.learner) or is_foreign("teacher", settings.teacher):
        settings, problem = read_completed(settings, Doing(quiet=quiet))
        if is_foreign("learner", settings.learner):
            made["learner"] = settings.make_learner(problem.pool, problem.start)
        if is_foreign("teacher", settings.teacher):
            made["teacher"] = settings.make_teacher(problem)
    return made


def _refuse_fewer(steps: int, iterations: int | None, *, quiet: bool) -> None:
    """End here if the lesson stands past the budget asked for."""
    if iterations is not None and steps > iterations:
        note(f"the lesson stands at step {steps:,}, past {iterations:,}: nothing was done", quiet=quiet)
        raise typer.Exit(DONE)


def _begin(run: RunFolder, settings: Recipe, lesson: dict[str, Any], found_in: str) -> None:
    """Check that this is the lesson of run.toml, and write there the budget it has now."""
    from nimt.cli.run_identity import check_lesson_of, mark_settings
    from nimt.store.whole_files import write_text

    check_lesson_of(run.config, settings, lesson, found_in)
    config = mark_settings(settings, lesson, run.path)
    if config != run.config.read_text(encoding="utf-8"):
        write_text(run.config, config)
