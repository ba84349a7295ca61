"""`nimt resume`: go on with a run that was stopped, killed, or given too few steps."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nimt.cli.console import DONE, note
from nimt.cli.defaults import read_completed
from nimt.cli.folder import RunFolder, repeated
from nimt.cli.options import Quiet
from nimt.cli.settings import RunSettings, settings_of
from nimt.counting import counted
from nimt.errors import CorruptLesson, InvalidInput

if TYPE_CHECKING:
    from nimt.lesson.lesson import Lesson

LARGEST = 1 << 40  # bytes of a lesson file

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
) -> None:
    """Go on with a run; the finished lesson is the same, bit by bit, as one that was never stopped."""
    from nimt.arrays import check_count, check_positive
    from nimt.cli.results import finish
    from nimt.cli.run_identity import check_settings
    from nimt.datasets.places import as_path

    run = RunFolder(as_path(folder))
    with run.claimed_again():
        settings = settings_of(run.config)
        if settings.teachers is not None:
            raise typer.Exit(_compared(run, settings, iterations, as_json=as_json, quiet=quiet))
        check_settings(run.config, settings)
        if time_limit is not None:
            check_positive("time_limit", time_limit)
            settings = dataclasses.replace(settings, time_limit=time_limit)
        if iterations is not None:
            check_count("iterations", iterations, at_least=0)
            if (stands := _step_of(run)) > iterations:
                note(f"the lesson stands at step {stands:,}, past {iterations:,}: nothing was done", quiet=quiet)
                raise typer.Exit(DONE)
            settings = dataclasses.replace(settings, iterations=iterations)
        lesson = _gone_on(run, settings, shown=not (quiet or as_json), quiet=quiet)
        code = finish(lesson, run, settings, as_json=as_json, quiet=quiet, require=require)
    raise typer.Exit(code)


def _compared(run: RunFolder, settings: RunSettings, iterations: int | None, *, as_json: bool, quiet: bool) -> int:
    """Go on with a comparison that was stopped; return the exit code."""
    from nimt.cli.compare import given_in

    if iterations not in (None, settings.iterations):
        raise InvalidInput(f"the lessons of a comparison keep their budget of {settings.iterations}: leave -n out")
    if not run.is_under_way():
        raise InvalidInput(f"the comparison in {str(run.path)!r} is over; it can be {repeated(run.path)}")
    return given_in(run, settings, settings.problem(), as_json=as_json, quiet=quiet)


def _step_of(run: RunFolder) -> int:
    """Return how far the lesson has come."""
    from nimt.lesson.lesson import Lesson
    from nimt.teaching.teaching import lesson_so_far

    with _naming_what_is_whole(run), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a damaged checkpoint: said again when the lesson goes on
        if run.has_checkpoint():
            return len(lesson_so_far(run.checkpoint))
        return len(Lesson.load(run.lesson)) if run.lesson.exists() else 0


def _gone_on(run: RunFolder, settings: RunSettings, *, shown: bool, quiet: bool) -> Lesson:
    """Return the lesson from its checkpoint on, as it is where it was over, or from the beginning."""
    from nimt.cli.teach import prepared, taught
    from nimt.datasets.places import readable_file
    from nimt.lesson.lesson import Lesson
    from nimt.lesson.outcome import Outcome

    if run.has_checkpoint():
        return _from_checkpoint(run, settings, shown=shown)
    if run.lesson.exists():
        lesson = Lesson.load(readable_file(run.lesson, LARGEST))
        _begin(run, settings, lesson.settings, str(run.lesson))
        if lesson.outcome is not Outcome.BUDGET or len(lesson) >= settings.iterations:
            note(f"the lesson is over: {lesson.outcome}", quiet=quiet)
            return lesson
    settings, problem = read_completed(settings)
    learner, teacher = settings.made_learner(problem), settings.made_teacher(problem)
    again = prepared(settings, problem, learner, teacher)
    _begin(run, settings, again.settings, f"{settings.target!r} as it is now")
    note("there is no checkpoint to go on from: it begins again", quiet=quiet)
    return taught(again, settings, run, shown=shown)


def _from_checkpoint(run: RunFolder, settings: RunSettings, *, shown: bool) -> Lesson:
    from nimt.cli.progress import progress_bar
    from nimt.lesson.outcome import Outcome
    from nimt.teaching.teaching import lesson_so_far
    from nimt.teaching.teaching import resume as go_on

    with _naming_what_is_whole(run):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a damaged checkpoint: said again when the lesson goes on
            found = lesson_so_far(run.checkpoint)
        if found.outcome is Outcome.BUDGET and len(found) >= settings.iterations:
            note(f"the lesson is over: {found.outcome} after {counted(len(found), 'step')}", quiet=not shown)
        described, values = found.settings, found.target.size
        del found  # it may be large, and is made again
        before = described["max_iterations"]
        asked = settings.snapshots(values)  # refused here where so many pictures would not fit
        _begin(run, settings, described, str(run.checkpoint))
        with progress_bar(settings.title, shown=shown) as watcher:
            return go_on(
                run.checkpoint,
                max_iterations=settings.iterations,
                snapshots=[step for step in asked if step > before],
                callback=watcher,
                time_limit=settings.time_limit,
            )


def _begin(run: RunFolder, settings: RunSettings, lesson: dict[str, Any], found_in: str) -> None:
    """Check that this is the lesson of run.toml, and write there the budget it has now."""
    from nimt.cli.run_identity import check_lesson_of, marked
    from nimt.files import write_text

    check_lesson_of(run.config, settings, lesson, found_in)
    config = marked(settings, lesson)
    if config != run.config.read_text(encoding="utf-8"):
        write_text(run.config, config)


@contextlib.contextmanager
def _naming_what_is_whole(run: RunFolder) -> Iterator[None]:
    """Where the checkpoints are damaged, say of a lesson that was written before that it is not."""
    from nimt.lesson.lesson import Lesson

    try:
        yield
    except CorruptLesson as error:
        with contextlib.suppress(CorruptLesson, OSError):
            steps = len(Lesson.load(run.lesson))
            where = shlex.quote(str(run.path))
            raise InvalidInput(
                f"{error}; {run.lesson} is whole, with {counted(steps, 'step')}: nimt show {where}"
            ) from None
        raise
