"""`nimt plan`: which engine would run, with how much memory, how long, and why; only a few steps are run."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nimt.cli.console import Doing, note, say
from nimt.cli.lesson_options import TARGET_HELP, BlockWorkers, CutInto, with_lesson_options
from nimt.errors import InvalidInput
from nimt.recipe.completing import check_on, complete, read_completed
from nimt.recipe.recipe import Recipe

if TYPE_CHECKING:
    from nimt.sources import Problem

MOST_MODELLED = 5000  # rows of a table of which f* is found to plan a lesson
DOING = "reading the target"
EXAMPLES = (
    "nimt plan cat",
    "nimt plan gmm --from gmm:start --engine reference",
    "nimt plan gmm --from gmm:start --python",
    "nimt plan huge.npy --blocks 8x8 --workers 64",
)


@with_lesson_options()
def plan(
    target: Annotated[str | None, typer.Argument(help=TARGET_HELP, metavar="TARGET")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
    as_python: Annotated[bool, typer.Option("--python", help="Print the lesson as a program instead.")] = False,
    blocks: CutInto = None,
    workers: BlockWorkers = None,
    **given: Any,
) -> None:
    """Say which engine would run a lesson, how much memory and time it takes, and why; a few steps are timed."""
    import json

    from nimt.cli.expected_steps import measure_seconds, quick_forecast, say_time
    from nimt.counting import say_count

    if as_python:
        from nimt.recipe.copying import to_python

        if as_json or blocks is not None:
            raise InvalidInput("prints a program", parameter="python", way_out="leave --json and --blocks out")
        print(to_python(*read_completed(Recipe.of(target, given), Doing())), end="")
        return
    if blocks is not None:
        from nimt.cli.block_run import plan_in_blocks

        plan_in_blocks(Recipe.of(target, given), blocks, 1 if workers is None else workers, as_json=as_json)
        return
    settings, problem = _read(Recipe.of(target, given))
    for sentence in problem.notes:
        note(sentence)
    task = settings.task(problem)
    is_planned_by_rows = problem.preparation is not None and problem.reference is None
    found, expected = task.plan, None if is_planned_by_rows else quick_forecast(task)
    steps = task.stop.max_iterations if expected is None else min(expected.itd or 0, task.stop.max_iterations)
    steps = steps or task.stop.max_iterations
    seconds = measure_seconds(task, steps)
    if as_json:
        print(
            json.dumps(
                {
                    "engine": found.engine,
                    "bytes": found.bytes,
                    "window": found.window,
                    "reason": str(found.reason),
                    "seconds": seconds,
                    "forecast": None if expected is None else expected.itd,
                }
            )
        )
    else:
        say(str(found))
        if expected is not None:
            say(f"forecast: {expected.in_one_line()}")
        if seconds is not None:
            say(f"{say_count(steps, 'step')} take {say_time(seconds)}")


def _read(recipe: Recipe) -> tuple[Recipe, Problem]:
    """Read what is planned; of a large table the rows themselves, since a step of theirs takes as long."""
    from nimt.recipe.modelled_rows import take_reference

    watch = Doing()
    problem = dataclasses.replace(recipe, reference="none").problem(watch)
    if problem.preparation is not None and recipe.reference != "none":
        check_on(recipe, problem)
        if len(problem.pool) <= MOST_MODELLED:
            problem = take_reference(problem, watch)
        else:
            told = "planned without f*, which takes as long per step: how many steps it needs is not forecast"
            problem = dataclasses.replace(problem, notes=(*problem.notes, told))
    return complete(recipe, problem, watch)
