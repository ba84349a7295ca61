"""A lesson in a few numbers and sentences, for a table, a JSON file and a page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome
from nimt.plots.looks import has_decibels
from nimt.store.whole_files import write_text

HELD_OUT = ("held_out_points", "held_out_rms", "held_out_r2", "held_out_accuracy")
COMPILING = "seconds of compiling, once per installation"
MENTIONED = 0.5  # seconds of compiling below which nothing is said: loading what was compiled takes less


def write_summary(lesson: Lesson, folder: Path, notes: Iterable[str] = ()) -> Path:
    """Write summary.json into a folder; `notes` are what was decided before the lesson."""
    path = folder / "summary.json"
    summary = summary_of(lesson) | {"notes": list(notes)}
    write_text(path, json.dumps(summary, indent=2, allow_nan=False) + "\n")
    return path


def summary_of(lesson: Lesson) -> dict[str, Any]:
    """Return the main facts about a lesson as text and finite numbers: ready for JSON.

    `seconds` and `steps_per_second` leave the time of compiling out; `compiling_seconds` is that time.

    Examples
    --------
    >>> import nimt
    >>> lesson = nimt.teach(nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5), nimt.GreedyTeacher(), [0.0, 5.0],
    ...                     [1.0, 3.0], max_iterations=9, tol=1e-3)
    >>> summary = summary_of(lesson)
    >>> summary["outcome"], summary["steps"], summary["itd"], summary["examples"]
    ('CONVERGED', 2, 2, 2)
    """
    settings = lesson.settings
    learner = settings["learner"]
    return {
        "outcome": lesson.outcome.name,
        "sentence": str(lesson.outcome),
        "steps": len(lesson),
        "kept": _say_kept(lesson),
        "max_iterations": settings["max_iterations"],
        "itd": lesson.itd,
        "tol": lesson.tol,
        "measure": lesson.measure.name,
        "measure_word": lesson.measure.word,
        "discrepancy_at_start": finite(lesson.discrepancy[0]),
        "discrepancy_at_end": finite(lesson.discrepancy[-1]),
        "smallest_discrepancy": None if lesson.measure.higher_is_better else finite(np.nanmin(lesson.discrepancy)),
        "best": finite((np.nanmax if lesson.measure.higher_is_better else np.nanmin)(lesson.discrepancy)),
        **_decibels(lesson),
        **_list_held_out(lesson),
        "examples": int(lesson.picks.sum()),
        "distinct_points": int(np.count_nonzero(lesson.picks)),
        "points": len(lesson.pool),
        "outputs": 1 if lesson.target.ndim == 1 else lesson.target.shape[1],
        "pool": repr(lesson.pool),
        "classes": _classes_text(lesson),
        "teacher": lesson.method,
        "learner": learner.get("name", learner["type"]) if learner["type"] == "foreign" else learner["type"],
        "kernel": kernel_text(learner.get("kernel")),
        "kernel_width": _width(learner.get("kernel")),
        "loss": _loss_text(learner.get("loss")),
        "learning_rate": _rate_text(lesson),
        "seed": settings["seed"],
        "engine": lesson.engine,
        "record": lesson.record,
        "seconds": round(float(lesson.elapsed), 6),
        "steps_per_second": finite(len(lesson) / lesson.elapsed) if lesson.elapsed > 0 else None,
        "compiling_seconds": round(float(lesson.compiling), 6),
        "warnings": list(map(str, lesson.warnings)),
        "versions": {"nimt": settings["nimt"], **settings["versions"]},
    }


def _say_kept(lesson: Lesson) -> str | None:
    """Say the learner of which step is kept, where rows held out may choose; None elsewhere."""
    if lesson.held_out is None:
        return None
    if lesson.outcome is Outcome.CHOSEN:
        return f"that of step {len(lesson):,}, the best on rows held out"
    return f"the last, of step {len(lesson):,}"


def _decibels(lesson: Lesson) -> dict[str, float | None]:
    """Return the peak signal-to-noise ratio of a picture at the start and at the end, None for other lessons."""
    curve = lesson.psnr() if has_decibels(lesson) else None
    at = {"psnr_at_start": 0, "psnr_at_end": -1}
    return {name: None if curve is None else finite(curve[place]) for name, place in at.items()}


def _classes_text(lesson: Lesson) -> str | None:
    """Return the words of the classes, None where the target is of numbers."""
    classes = getattr(getattr(lesson.pool, "preparation", None), "classes", ())
    return ", ".join(classes) or None


def _list_held_out(lesson: Lesson) -> dict[str, float | int | None]:
    """Return the error on points that were held out, each None where it is not known.

    Of classes it is the accuracy alone: f need not tend to the labels, so its distance from them says little.
    """
    found = lesson.held_out
    if found is None:
        return dict.fromkeys(HELD_OUT)
    if found.accuracy is not None:
        return dict(zip(HELD_OUT, (found.count, None, None, found.accuracy), strict=True))
    r_squared = None if found.r_squared is None else finite(found.r_squared)
    return dict(zip(HELD_OUT, (found.count, finite(found.rms), r_squared, None), strict=True))


def compiling_text(summary: dict[str, Any]) -> str | None:
    """Return the seconds spent on compiling as text, None if they are too few to mention.

    Examples
    --------
    >>> compiling_text({"compiling_seconds": 2.345}), compiling_text({"compiling_seconds": 0.02})
    ('2.35', None)
    """
    seconds: float = summary["compiling_seconds"]
    return f"{seconds:.3g}" if seconds > MENTIONED else None


def finite(value: float) -> float | None:
    """Return a float that JSON can hold: None for what is not finite."""
    number = float(value)
    return number if math.isfinite(number) else None


def kernel_text(description: Any) -> str | None:
    """Return a described kernel as an expression."""
    if not isinstance(description, dict):
        return None
    kind = description.get("type")
    if kind in ("sum", "product"):
        sign = " + " if kind == "sum" else " * "
        return sign.join(str(kernel_text(description.get(part))) for part in ("left", "right"))
    if kind == "power":
        return f"({kernel_text(description.get('base'))}) ** {description.get('exponent')}"
    if kind == "ConstantKernel":
        return str(description.get("constant_value"))
    numbers = ", ".join(
        f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in description.items()
        if name not in ("type", "name") and not name.endswith("_bounds")
    )
    return str(description.get("name")) if kind == "foreign" else f"{kind}({numbers})"


def _width(description: Any) -> float | None:
    """Return the width of a kernel nimt.rbf(width), exp(-|x - y|^2 / width^2), None for other kernels."""
    if not isinstance(description, dict) or description.get("type") != "rbf":
        return None
    width = description.get("width")
    return finite(width) if isinstance(width, int | float) else None


def _loss_text(description: Any) -> str | None:
    if isinstance(description, dict):
        return str(description.get("name", description.get("type")))
    return description if description is None else str(description)


def _rate_text(lesson: Lesson) -> float | str | None:
    given = lesson.settings["learner"].get("learning_rate")
    if given == "auto":
        found = lesson.learning_rate
        return "auto" if found is None else f"auto ({found:g})"
    if isinstance(given, dict):
        return str(given.get("name"))
    return None if given is None else float(given)
