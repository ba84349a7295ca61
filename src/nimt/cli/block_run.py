"""`nimt teach --blocks`, with `nimt resume` and `nimt show`: one lesson in parts, by threads or on a cluster."""

from __future__ import annotations

import contextlib
import inspect
import json
import logging
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nimt.cli.console import DONE, INTERRUPTED, NOT_REACHED, can_print, note, say
from nimt.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from nimt.blocks.block_lesson import BlockLesson
    from nimt.recipe.recipe import Recipe
    from nimt.task.cutting import Blocks

ENDINGS = (".npy", ".zarr")


def teach_in_blocks(
    settings: Recipe, blocks: str, out: str | None, given: dict[str, Any], *, most: int | None, overwrite: bool,
    **how: bool,
) -> int:  # fmt: skip
    """Teach an array in a file by blocks, and return the exit code."""
    from nimt.blocks.teaching_blocks import teach_blocks
    from nimt.cli.run_folder import RunFolder

    folder = RunFolder.choose(out, Path(settings.target).stem).path
    learner, teacher, path = read_settings(settings)
    with connect(given.pop("cluster", None)) as client:
        cut = make_blocks(blocks, given, client=client, folder=folder)
        if overwrite:
            from nimt.blocks.block_folder import BlockFolder

            BlockFolder(folder).clear()
        with _bar(settings.title, **how) as watch:
            known = inspect.signature(teach_blocks).parameters
            options = {name: value for name, value in settings.options().items() if name in known}
            options |= {"max_iterations": most, "time_limit": settings.time_limit}
            lesson = teach_blocks(learner, teacher, None, path, cut, callback=watch, **options)
    return finish(lesson, **how)


def resume_in_blocks(
    folder: Path, cluster: str | None, workers: int | None, most: int | None, seconds: float | None, **how: bool
) -> int:
    """Go on with a run by blocks, and return the exit code."""
    from nimt.blocks.teaching_blocks import resume_blocks

    with connect(cluster) as client, _bar(folder.name, **how) as watch:
        lesson = resume_blocks(
            folder, client=client, workers=workers, max_iterations=most, time_limit=seconds, callback=watch
        )
    return finish(lesson, **how)


def show_blocks(folder: Path, *, as_json: bool) -> None:
    """Say how far a run by blocks is, and draw M over its colours; nothing of its blocks is read."""
    from nimt.blocks.block_folder import BlockFolder
    from nimt.cli.terminal_curve import ASCII, terminal_curve
    from nimt.counting import say_count
    from nimt.lesson.outcome import Outcome
    from nimt.measures import as_measure

    place = BlockFolder(folder)
    task, state = place.read_task(), place.read_turns()
    if state is None:
        raise InvalidInput(f"{str(folder)!r} holds no turn yet: go on with 'nimt resume {shlex.quote(str(folder))}'")
    curve, outcome = state["curve"], state["outcome"]
    turn, _, shown, _, discrepancy = curve[-1]
    blocks = len(state["saved"])
    if as_json:
        told = {
            "outcome": None if outcome is None else outcome.lower(), "examples": int(shown), "turns": int(turn),
            "blocks": blocks, "discrepancy": float(discrepancy), "tol": task["tol"], "seconds": state["elapsed"],
        }  # fmt: skip
        print(json.dumps(told))
        return
    ended = "not finished" if outcome is None else str(Outcome[outcome])
    many, turns = say_count(int(shown), "example", ",d"), say_count(int(turn), "turn", ",d")
    say(f"{ended} after {many} in {turns} of {say_count(blocks, 'block')}; M {discrepancy:.4g} ({task['measure']})")
    say(f"{folder}: {', '.join(file.name for file in place.results)}")
    for line in terminal_curve(curve[:, 4], measure=as_measure(task["measure"])):
        say(line if can_print(line) else line.translate(ASCII))
    if outcome is None or Outcome[outcome] in (Outcome.INTERRUPTED, Outcome.TIME):
        note(f"go on with 'nimt resume {shlex.quote(str(folder))}'")


def plan_in_blocks(settings: Recipe, blocks: str, workers: int, *, as_json: bool) -> None:
    """Say what memory each worker needs, how much is sent, and how long it takes on so many workers."""
    from nimt.blocks.block_plan import estimate, plan_task
    from nimt.blocks.teaching_blocks import make_task
    from nimt.cli.expected_steps import say_time
    from nimt.option_table import Options

    learner, _, path = read_settings(settings)
    cut = make_blocks(blocks, {"workers": workers})
    options = Options(tol=settings.tolerance, measure=settings.options()["measure"])
    task, _ = make_task(learner, None, path, cut, options)
    plan = plan_task(task, cut)
    costs, found = estimate(task, plan, workers)
    if as_json:
        told = {"engine": plan.engine, "bytes": int(found.memory), "blocks": plan.blocks, "colours": plan.colours}
        told |= {"turns": plan.turns, "sent": plan.sent, "busy": found.busy, "seconds": found.seconds}
        print(json.dumps(told))
        return
    say(str(plan))
    say(f"costs of one core, measured now: {costs}")
    say(f"{workers} workers, of which {found.busy} are busy, take {say_time(found.seconds)}")


def read_settings(settings: Recipe) -> tuple[Any, Any, str]:
    """Return learner, teacher and the path of the array; refuse what blocks do not teach."""
    import numpy as np

    from nimt.blocks.targets import shape_of
    from nimt.datasets.places import as_path
    from nimt.pools.pool import Grid
    from nimt.teachers.greedy import GreedyTeacher

    if not settings.target.endswith(ENDINGS):
        raise InvalidInput(f"--blocks teaches an array in a file ({', '.join(ENDINGS)}), got {settings.target!r}")
    if (settings.teacher, settings.k) != ("greedy", "1"):
        raise InvalidInput(f"--blocks is for the teacher greedy with -k 1, got {settings.teacher} with {settings.k}")
    if settings.initial not in ("auto", "zero"):
        raise InvalidInput(f"--blocks begins at zero, got --from {settings.initial}: leave that out")
    path = str(as_path(settings.target))
    grid = Grid(*(np.arange(length, dtype=float) for length in shape_of(path)))
    return settings.make_learner(grid, 0.0), GreedyTeacher(), path


def make_blocks(blocks: str, given: dict[str, Any], **where: Any) -> Blocks:
    """Return how the lesson is cut, from text such as 8x8.

    Examples
    --------
    >>> make_blocks("8x4", {"memory": 0.5}, folder="run").blocks
    (8, 4)
    """
    from nimt.task.cutting import Blocks

    parts = blocks.lower().split("x")
    if not all(part.strip().isdigit() for part in parts):
        raise InvalidInput(
            f"must be a count such as 64, or one for each axis such as 8x8, got {blocks!r}", parameter="blocks"
        )
    counts = tuple(int(part) for part in parts)
    memory = given.get("memory")
    if memory is not None and not 0 < memory < 1e9:
        raise InvalidInput(f"must be a number of gigabytes above 0, got {memory}", parameter="memory")
    in_bytes = None if memory is None else int(memory * 1e9)
    cut = counts if len(counts) > 1 else counts[0]
    return Blocks(cut, workers=given.get("workers"), memory=in_bytes, results=given.get("results"), **where)


@contextlib.contextmanager
def connect(address: str | None) -> Iterator[Any]:
    """Hand out a client of the cluster at an address, None for none."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("--cluster needs Dask: pip install 'nimt[dask]'") from None
    # any module of Dask may log a traceback when the scheduler is lost, and importing it sets the levels of its loggers
    for handler in logging.getLogger("distributed").handlers:
        handler.setLevel(logging.CRITICAL)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    try:
        client: Any = Client(address, timeout=10)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"there is no Dask scheduler at {address!r} ({type(error).__name__}): start one there"
        ) from None
    with client:
        yield client


@contextlib.contextmanager
def _bar(title: str, *, as_json: bool, quiet: bool, **_: bool) -> Iterator[Any]:
    from nimt.blocks.block_bar import block_bar
    from nimt.cli.console import plain, stderr

    with block_bar(False if quiet or as_json else "auto", title=plain(title), file=stderr(), delay=0.0) as watcher:
        yield watcher


def finish(lesson: BlockLesson, *, as_json: bool, quiet: bool, require: bool) -> int:
    """Say how the lesson ended and where its results are, and return the exit code."""
    from nimt.blocks.block_folder import BlockFolder
    from nimt.lesson.outcome import Outcome

    assert lesson.folder is not None
    if as_json:
        told = {
            "outcome": lesson.outcome.name.lower(), "examples": len(lesson), "turns": lesson.turns,
            "blocks": len(lesson.task.partition), "discrepancy": lesson.discrepancy, "tol": lesson.stop.tol,
            "seconds": lesson.elapsed, "folder": str(lesson.folder),
        }  # fmt: skip
        print(json.dumps(told))
    elif not quiet:
        say(str(lesson))
        say(f"{lesson.folder}: {', '.join(file.name for file in BlockFolder(lesson.folder).results)}")
    if lesson.outcome in (Outcome.INTERRUPTED, Outcome.TIME):
        note(f"go on with 'nimt resume {shlex.quote(str(lesson.folder))}'", quiet=quiet)
    if lesson.outcome is Outcome.INTERRUPTED:
        return INTERRUPTED
    return NOT_REACHED if require and not lesson.outcome.met_tolerance else DONE
