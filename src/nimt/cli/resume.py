"""`nimt resume`: go on with a run that was stopped, killed, or given too few steps."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from nimt.cli.console import note
from nimt.cli.settings import RunSettings, read_config
from nimt.errors import InvalidInput

EXAMPLES = (
    "nimt teach gmm --from gmm:start -n 1000 --out run",
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
    from nimt.cli.folder import RunFolder
    from nimt.cli.progress import progress_bar
    from nimt.cli.results import finish
    from nimt.cli.teach import taught
    from nimt.files import write_text
    from nimt.teaching import resume as go_on

    run = RunFolder(Path(folder))
    with run.claimed_again():
        settings = _settings_of(run.config)
        if settings.teachers is not None:
            raise InvalidInput(f"{folder!r} holds a comparison, which cannot be resumed: give it again")
        before = settings.iterations
        if iterations is not None:
            if iterations < before:
                raise InvalidInput(f"iterations must be at least the {before} of before, got {iterations}")
            settings = dataclasses.replace(settings, iterations=iterations)
            write_text(run.config, settings.to_toml())
        shown = not (quiet or as_json)
        if run.has_checkpoint():
            with progress_bar(settings.title, shown=shown) as watcher:
                more = [] if iterations is None else [step for step in settings.snapshots(1) if step > before]
                lesson = go_on(run.checkpoint, max_iterations=settings.iterations, snapshots=more, callback=watcher)
        else:
            note("it was stopped before its first checkpoint and begins again", quiet=quiet)
            problem = settings.problem()
            learner, teacher = settings.made_learner(problem), settings.made_teacher(problem)
            lesson = taught(
                settings, run, problem, learner, teacher, settings.snapshots(len(problem.pool)), shown=shown
            )
        code = finish(lesson, run, settings, as_json=as_json, quiet=quiet, require=require)
    raise typer.Exit(code)


def _settings_of(config: Path) -> RunSettings:
    if not config.exists():
        raise InvalidInput(f"there is no {str(config)!r}, which says what the run was; use nimt.resume from Python")
    values = read_config(config)
    if "target" not in values:
        raise InvalidInput(f"{str(config)!r} names no target")
    return RunSettings(**values)
