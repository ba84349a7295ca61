"""Which lesson a run.toml belongs to, so that no report ever describes another one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from nimt.errors import InvalidInput
from nimt.lesson.identity import digest, identity
from nimt.recipe.recipe import Recipe

MARK = re.compile(r"^# settings ([0-9a-f]{32}), lesson ([0-9a-f]{32})$", re.MULTILINE)


def mark_settings(settings: Recipe, lesson: dict[str, Any], folder: Path) -> str:
    """Return the run.toml of a run: its settings, and a line by which it is known again.

    Parameters
    ----------
    settings : Recipe
    lesson : dict
        The settings of the lesson that came of them, as `Lesson.settings` has them.
    folder : Path
        Of the run.
    """
    text = settings.to_toml(folder)
    return f"{text}# settings {digest(text)}, lesson {identity(lesson)}\n"


def check_settings(config: Path, settings: Recipe) -> None:
    """Refuse a run.toml that was changed since its run began."""
    where = repr(str(config))
    mark = _mark_in(config)
    if mark is None:
        raise InvalidInput(
            f"{where} does not say which lesson it belongs to: it was edited; use "
            f"nimt.resume from Python, or begin anew with nimt teach --config"
        )
    if mark[0] not in (digest(_settings_in(config)), digest(settings.to_toml(config.parent))):
        raise InvalidInput(
            f"{where} was changed since its run began: undo that (nimt resume --iterations gives a larger budget), or "
            f"begin another run with nimt teach --config"
        )


def check_lesson_of(config: Path, settings: Recipe, lesson: dict[str, Any], found_in: str) -> None:
    """Refuse a lesson that is not the one a run.toml was written for; `found_in` says where it comes from."""
    mark = _mark_in(config)
    if mark is None or mark[1] != identity(lesson):
        raise InvalidInput(
            f"{found_in} is not of the run that {str(config)!r} describes{_difference(settings, lesson)}: put back the "
            f"files of one run, or begin another with nimt teach --config"
        )


def _mark_in(config: Path) -> tuple[str, str] | None:
    found = MARK.findall(config.read_text(encoding="utf-8"))
    return found[0] if len(found) == 1 else None


def _settings_in(config: Path) -> str:
    """Return the text of a run.toml without the line by which it is known."""
    lines = config.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not MARK.match(line))


def _difference(settings: Recipe, lesson: dict[str, Any]) -> str:
    """Name one number that differs, where the settings say it as plainly as the lesson does."""
    learner = lesson.get("learner")
    rate = learner.get("learning_rate") if isinstance(learner, dict) else None
    pairs = {
        "learning_rate": (settings.learning_rate, rate if isinstance(rate, str) else repr(rate)),
        "seed": (settings.seed, lesson.get("seed")),
        "tol": (settings.tolerance, lesson.get("tol")),
        "measure": (settings.measure, lesson.get("measure")),
    }
    for name, (here, there) in pairs.items():
        if here != there and not _same_number(here, there):
            return f" ({name} is {there} in it, not {here})"
    return ""


def _same_number(one: Any, other: Any) -> bool:
    try:
        return float(one) == float(other)
    except (TypeError, ValueError, OverflowError):  # a whole number may be beyond all floats
        return False
