"""`nimt forecast`: how many steps a lesson will take, said before it is given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nimt.cli.console import Doing, note, say
from nimt.cli.lesson_options import TARGET_HELP, with_lesson_options
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.recipe.completing import read_completed
from nimt.recipe.recipe import Recipe

if TYPE_CHECKING:
    from nimt.theory.forecasting import Forecast

DOING = "reading the target"
EXAMPLES = (
    "nimt forecast gmm --from gmm:start --learning-rate 0.01 --tol 1e-4",
    "nimt forecast cat --teacher whole --learning-rate 100 --tol 1e-3",
)


@with_lesson_options(command="forecast")
def forecast(
    target: Annotated[str | None, typer.Argument(help=TARGET_HELP, metavar="TARGET")] = None,
    figure: Annotated[str | None, typer.Option("--figure", help="Draw the forecast to this picture file.")] = None,
    iterations: Annotated[
        int | None, typer.Option("--iterations", "-n", help="Look no further than so many steps; no limit by default.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the forecast as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the forecast, warnings and errors.")] = False,
    **given: Any,
) -> None:
    """Say how many steps a lesson would take, with an interval and proved bounds, before it is given.

    It covers the kernel learner with the square loss and true labels, and the teachers greedy, random and whole.
    """
    from nimt.theory.forecasting import forecast as made

    asked = Recipe.of(target, given)
    path = _figure_path(figure)
    settings, problem = read_completed(asked, Doing(quiet=quiet))
    for sentence in problem.notes:
        note(sentence, quiet=quiet)
    found = made(
        settings.make_learner(problem.pool, problem.start), settings.make_teacher(problem), problem.pool,
        problem.target, tol=asked.tolerance or 0.0, measure=settings.measure, seed=settings.seed,
        max_iterations=iterations,
    )  # fmt: skip
    for line in (found.to_json() if as_json else str(found)).splitlines():
        say(line)
    steps = found.itd or iterations
    if steps and not as_json:
        from nimt.cli.expected_steps import measure_seconds, say_time

        seconds = measure_seconds(settings.task(problem), steps)
        if seconds is not None:
            they_take = "That takes" if found.itd else f"{say_count(steps, 'step')} take"
            say(f"{they_take} {say_time(seconds)}.")
    if path is not None:
        _draw(found, path)
        note(f"written to {path}", quiet=as_json or quiet)


def _figure_path(figure: str | None) -> Path | None:
    """Check where the picture goes before any work."""
    if figure is None:
        return None
    path = Path(figure)
    if path.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InvalidInput(f"--figure must name a .png, .pdf or .svg file, got {figure!r}")
    if not path.parent.is_dir():
        raise InvalidInput(f"there is no folder {str(path.parent)!r} to write --figure to: make it first")
    return path


def _draw(found: Forecast, path: Path) -> None:
    from nimt.plots import forecast as drawn

    drawn(found).savefig(path, dpi=130)
