"""`nimt shortest`: plan a lesson with few steps, and say how near it is to the fewest possible."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nimt.cli.console import Doing, note, say
from nimt.cli.lesson_options import TARGET_HELP, with_lesson_options
from nimt.errors import InvalidInput
from nimt.recipe.completing import read_completed
from nimt.recipe.recipe import Recipe

if TYPE_CHECKING:
    from nimt.pools.pool import Pool

DOING = "reading the target"
EXAMPLES = ("nimt shortest sine --learning-rate 0.01 --tol 1e-2", "nimt shortest gmm --from gmm:start --out plan.npz")


@with_lesson_options(command="shortest")
def shortest(
    target: Annotated[str | None, typer.Argument(help=TARGET_HELP, metavar="TARGET")] = None,
    out: Annotated[str | None, typer.Option("--out", "-o", help="Write the planned lesson to this .npz file.")] = None,
    starts: Annotated[
        int | None, typer.Option("--starts", help="From how many lists of first visits it is planned; 3 by default.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result, warnings and errors.")] = False,
    **given: Any,
) -> None:
    """Plan a lesson with few steps before it is given, and prove how near it is to the fewest possible.

    It covers the kernel learner with the square loss, true labels and a constant learning rate.
    """
    from nimt.planning.shortest_lesson import shortest as plan
    from nimt.teaching.lessons import teach

    asked = Recipe.of(target, given)
    path = _check_path(out)
    settings, problem = read_completed(asked, Doing(quiet=quiet))
    for sentence in problem.notes:
        note(sentence, quiet=quiet)
    tol = asked.tolerance or 0.0
    if settings.rate == "auto":
        settings = dataclasses.replace(settings, learning_rate=_find_rate(settings, problem.pool))
        sentence = (
            f"the learning rate is {settings.learning_rate}, half of the largest safe one, since at that one step"
        )
        note(f"{sentence} corrects all of an error: --learning-rate sets another", quiet=quiet)
    learner = settings.make_learner(problem.pool, problem.start)
    found = plan(learner, problem.pool, problem.target, tol=tol, measure=settings.measure, starts=starts)
    say(str(found))
    if path is not None:
        rules: dict[str, Any] = {"tol": tol, "measure": settings.measure, "max_iterations": found.steps}
        teach(learner, found.teacher, problem.pool, problem.target, **rules, progress=False).save(path)
        note(f"written to {path}", quiet=quiet)


def _find_rate(settings: Recipe, pool: Pool) -> str:
    """Return half of the rate at which one step corrects the whole error where K(x, x) is largest."""
    from nimt.kernels.kernel import diagonal

    return f"{0.25 / float(diagonal(settings.make_kernel(pool), pool).max()):.3g}"


def _check_path(out: str | None) -> Path | None:
    if out is None:
        return None
    path = Path(out)
    if path.suffix != ".npz" or not path.parent.is_dir():
        raise InvalidInput(f"--out must name a .npz file in a folder that exists, got {out!r}")
    return path
