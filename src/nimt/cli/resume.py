"""`nimt resume`: go on with a run that was stopped, killed, or given too few steps."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nimt.cli.console import note
from nimt.cli.folder import RunFolder, repeated
from nimt.cli.settings import RunSettings, read_config
from nimt.errors import CorruptLesson, InvalidInput

if TYPE_CHECKING:
    from nimt.lesson.lesson import Lesson

EXAMPLES = (
    "nimt teach gmm --from gmm:start --learning-rate 0.01 -n 1000 --out run",
    "nimt resume run --iterations 4000",
)


def resume(
    folder: Annotated[str, typer.Argument(help="The folder that nimt teach wrote to.", metavar="DIR")],
    iterations: Annotated[int | None, typer.Option("--iterations", "-n", help="A larger budget than before.")] = None,
    require: Annotated[bool, typer.Option("--require", help="End with 1 if --tol was not reached.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but complaints.")] = False,
) -> None:
    """Go on with a run; the finished lesson is the same, bit by bit, as one that was never stopped."""
    from nimt.cli.results import finish
    from nimt.files import write_text

    run = RunFolder(Path(folder))
    with run.claimed_again():
        settings = _settings_of(run.config)
        if settings.teachers is not None:
            raise InvalidInput(f"{folder!r} holds a comparison, which is not resumed but {repeated(run.path)}")
        before = settings.iterations
        if iterations is not None:
            if iterations < before:
                raise InvalidInput(f"iterations must be at least the {before} of before, got {iterations}")
            settings = dataclasses.replace(settings, iterations=iterations)
            write_text(run.config, settings.to_toml())
        lesson = _gone_on(run, settings, before, shown=not (quiet or as_json), quiet=quiet)
        code = finish(lesson, run, settings, as_json=as_json, quiet=quiet, require=require)
    raise typer.Exit(code)


def _gone_on(run: RunFolder, settings: RunSettings, before: int, *, shown: bool, quiet: bool) -> Lesson:
    """Return the lesson from its checkpoint on, as it is where it was over, or from the beginning."""
    from nimt.cli.progress import progress_bar
    from nimt.cli.teach import taught
    from nimt.lesson.lesson import Lesson, Outcome
    from nimt.teaching.teaching import resume as go_on

    if run.has_checkpoint():
        more = [step for step in settings.snapshots(1) if step > before] if settings.iterations > before else []
        with progress_bar(settings.title, shown=shown) as watcher, _naming_what_is_whole(run):
            return go_on(run.checkpoint, max_iterations=settings.iterations, snapshots=more, callback=watcher)
    if run.lesson.exists():
        lesson = Lesson.load(run.lesson)
        if lesson.outcome is not Outcome.BUDGET or len(lesson) >= settings.iterations:
            note(f"the lesson is over: {lesson.outcome}", quiet=quiet)
            return lesson
    note("there is no checkpoint to go on from: it begins again", quiet=quiet)
    problem = settings.problem()
    learner, teacher = settings.made_learner(problem), settings.made_teacher(problem)
    return taught(settings, run, problem, learner, teacher, settings.snapshots(len(problem.pool)), shown=shown)


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
            raise InvalidInput(f"{error}; {run.lesson} is whole, with {steps:,} steps: nimt show {where}") from None
        raise


def _settings_of(config: Path) -> RunSettings:
    if not config.exists():
        raise InvalidInput(f"there is no {str(config)!r}, which says what the run was; use nimt.resume from Python")
    values = read_config(config)
    if "target" not in values:
        raise InvalidInput(f"{str(config)!r} names no target")
    return RunSettings(**values)
