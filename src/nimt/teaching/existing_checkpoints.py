"""Checkpoints that exist already: read, refused, or continued by the lesson they were written for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nimt.errors import CorruptLesson, InvalidInput, NimtError
from nimt.lesson.checkpoints import previous_of
from nimt.lesson.identity import difference
from nimt.teaching.running import Run, checkpoint_place

ON_EXISTING = ("refuse", "resume", "replace")
CALLED = {"pool": "X", "box": "X", "target": "y", "target_function": "y"}  # as `teach` calls them


def has_checkpoint(path: Path) -> bool:
    """Say whether a lesson was written to this path, or was being replaced there."""
    return any(place.is_file() and place.stat().st_size > 0 for place in (path, previous_of(path)))


def is_to_be_continued(path: Path, on_existing: str, seed: int | None) -> bool:
    """Say whether a lesson continues what is at `path`; refuse to overwrite it unless that was asked for."""
    if on_existing not in ON_EXISTING:
        raise InvalidInput(f"on_existing must be one of {', '.join(ON_EXISTING)}, got {on_existing!r}")
    if on_existing == "resume" and seed is None:
        raise InvalidInput("on_existing='resume' needs a seed: seed=None draws another one at every start")
    checkpoint_place(path)
    if on_existing == "replace" or not has_checkpoint(path):
        return False
    if on_existing == "resume":
        return True
    raise InvalidInput(
        f"{str(path)!r} already holds a lesson: on_existing='resume' continues it if it is this one, "
        f"on_existing='replace' overwrites it; or name another file"
    )


def continue_same(run: Run, content: dict[str, Any], path: Path) -> None:
    """Let a run continue from a checkpoint that was written for the same lesson; refuse that of another."""
    with incomplete_is_corrupt(path):
        before, now = content["settings"], run.settings
        differing = difference(before, now)
        if differing is not None:
            raise InvalidInput(
                f"{str(path)!r} holds another lesson, with another {CALLED.get(differing, differing)}: name another "
                f"file, or overwrite it by on_existing='replace' (nimt.resume goes on with code that you changed)"
            )
        run.restore(content)
    step = run.engine.step
    if step > run.max_iterations:
        raise InvalidInput(
            f"{str(path)!r} holds this lesson up to step {step}, beyond max_iterations={run.max_iterations}: raise "
            f"max_iterations, or start anew by on_existing='replace'"
        )
    missed = [asked for asked in run.asked if asked <= step and asked not in run.snapshots]
    if missed:
        raise InvalidInput(
            f"{str(path)!r} holds this lesson up to step {step}, without the snapshot of step {missed[0]}: leave that "
            f"out, or start anew by on_existing='replace'"
        )


@contextlib.contextmanager
def incomplete_is_corrupt(path: Path) -> Iterator[None]:
    """Turn what goes wrong with an altered file into `CorruptLesson`."""
    try:
        yield
    except NimtError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        raise CorruptLesson(f"{path} is marked as a checkpoint but its content is incomplete: {error!r}") from None
