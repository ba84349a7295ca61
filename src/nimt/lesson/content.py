"""A lesson as the content of a file, and back: every array that is read is checked against the others."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, check_stored_array, check_stored_indices, outputs_of
from nimt.errors import CorruptLesson, StorageWarning
from nimt.lesson.descriptions import describe, find_lost_part, is_state_alone, rebuild
from nimt.lesson.held_out import HeldOutError, describe_errors, load_errors
from nimt.lesson.outcome import Outcome
from nimt.lesson.recording import Answers
from nimt.lesson.stored_learner import StoredLearner
from nimt.pools.pool import Pool

KIND = "lesson"
STORED = (
    "discrepancy",
    "picks",
    "elapsed",
    "engine",
    "record",
    "target",
    "initial",
    "indices",
    "labels",
    "settings",
    "compiling",
    "drew",
    "looked",
    "mix_steps",
    "mixes",
    "weights",
)


END = "end"  # of the course of f: the snapshots, and f^T
TRUE_LABELS = "target"  # in the place of labels that are the target's values at the examples


def content_of(
    fields: Mapping[str, Any],
    learner: object,
    per_output: bool,
    held_out: HeldOutError | None,
    state: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what a file holds of a lesson, from its fields, the taught learner and its error on held-out points.

    With a `state`, from which the lesson can go on, the file holds no learner: it is in the state.
    """
    content = {name: fields[name] for name in STORED}
    content |= {
        "examples": fields["shown_points"],
        "asked": vars(fields["asked"]) if len(fields["asked"]) else None,
        "outcome": fields["outcome"].name,
        "warnings": [str(text) for text in fields["warnings"]],
        "pool": describe(fields["pool"]),
        "learner": None if state is not None else _describe_learner(learner),
        "state": state,
        "held_out_curve": describe_errors(fields["held_out_curve"]),
        "held_out_error": None if held_out is None else dataclasses.asdict(held_out),
        # the end closes the series of snapshots, and is stored as what changed since the last of them
        "course": {**{str(step): values for step, values in fields["snapshots"].items()}, END: fields["final"]},
    }
    indices, labels = fields["indices"], fields["labels"]
    added = fields["coefficients"]  # more than one number per step would take more than all else
    content["coefficients"] = None if added is None or added.size > len(added) else added
    if indices is not None and labels is not None:
        truth = _true_labels(fields["target"], indices, per_output)
        content["labels"] = TRUE_LABELS if np.array_equal(truth, labels) else labels
    return content


def _describe_learner(learner: object) -> object:
    described = describe(learner)
    lost = None if is_state_alone(described) else find_lost_part(described)
    if lost is not None:
        whose = f"the taught {type(learner).__name__} is not kept in the file"
        if lost.startswith("sklearn."):
            why = "pip install 'nimt[skops]' to store estimators of scikit-learn"
        else:
            why = f"the parameters of {lost} are not known (give it get_params, or make it a dataclass)"
        warnings.warn(f"{whose}: {why}", StorageWarning, stacklevel=4)
    return described


def fields_of(
    content: dict[str, Any], path: str | PathLike[str], allow: list[object], learner: Any = None
) -> dict[str, Any]:
    """Return the fields of the lesson that a file holds, after checking the shapes of its arrays.

    The learner is a `StoredLearner`: it is rebuilt, and checked, by the caller.
    """
    from nimt.lesson.schema import check_content  # here, since lessons that are not read need no msgspec

    check_content(content)
    pool = rebuild(content["pool"])
    if not isinstance(pool, Pool):
        raise CorruptLesson("the file was altered: it does not describe a pool")
    n = len(pool)
    target = check_stored_array(content, "target", (n, *np.shape(content["target"])[1:2]))
    curve = check_stored_array(content, "discrepancy", (None,))
    steps = len(curve) - 1
    settings = content["settings"]
    _check_preparation(pool, target)
    per_output = settings["per_output"] and target.ndim == 2
    indices = labels = weights = coefficients = shown_points = None
    if content["indices"] is not None:
        indices = check_stored_packs(content, "indices", steps, n)
        if per_output and steps and indices.shape[1] % target.shape[1]:
            raise CorruptLesson(f"the file was altered: {target.shape[1]} outputs share {indices.shape[1]} examples")
        if isinstance(content["labels"], str) and content["labels"] == TRUE_LABELS:
            labels = _true_labels(target, indices, per_output)
        else:
            outputs = () if per_output else target.shape[1:]
            labels = check_stored_array(content, "labels", (steps, indices.shape[1], *outputs))
        if content.get("weights") is not None:
            weights = check_stored_array(content, "weights", indices.shape)
        if content["coefficients"] is not None:
            coefficients = check_stored_array(content, "coefficients", labels.shape)
    if content["examples"] is not None:
        shown_points = check_stored_array(content, "examples", (steps, None, pool.dimension))
    kept = dict(content["course"])
    if END not in kept:
        raise CorruptLesson("the file was altered: it does not hold f at the end")
    final = kept.pop(END)
    held_out = load_errors(content["held_out_curve"])
    mix_steps, mixes = check_stored_mixtures(content, steps) if content["mixes"] is not None else (None, None)
    return {
        "discrepancy": curve,
        "picks": check_stored_array(content, "picks", (n,), "i").astype(np.int32),
        "outcome": Outcome[content["outcome"]],
        "elapsed": float(content["elapsed"]),
        "engine": content["engine"],
        "record": content["record"],
        "pool": pool,
        "target": target,
        "initial": check_stored_array(content, "initial", target.shape),
        "final": check_stored_array({"final": final}, "final", target.shape),
        "settings": settings,
        "learner": StoredLearner(
            path,
            content["learner"],
            settings["learner"],
            pool,
            pool if settings["box"] is None else rebuild(settings["box"]),
            target,
            allow,
            learner,
            None if content["held_out_error"] is None else HeldOutError(**content["held_out_error"]),
            content["state"],
        ),
        "indices": indices,
        "labels": labels,
        "weights": weights,
        "asked": Answers.load(content.get("asked"), steps, n, () if per_output else target.shape[1:]),
        "coefficients": coefficients,
        "warnings": list(content.get("warnings", ())),
        "shown_points": shown_points,
        "snapshots": {_step(step, steps): check_stored_array(kept, step, target.shape) for step in kept},
        "compiling": float(content["compiling"]),
        "drew": content["drew"],
        "mix_steps": mix_steps,
        "mixes": mixes,
        "held_out_curve": {_step(step, steps): error for step, error in held_out.items()},
        "looked": None if content["looked"] is None else check_stored_array(content, "looked", (steps,), "b"),
    }


def check_stored_packs(state: Mapping[str, Any], name: str, steps: int, n: int) -> NDArray[np.int64]:
    """Return the indices (steps, k) of a file; each row begins with an index below n and may end with some -1."""
    packs = check_stored_indices(state, name, (steps, None), n, at_least=-1)
    filler = packs < 0
    if packs.size and (filler[:, 0].any() or (filler[:, :-1] & ~filler[:, 1:]).any()):
        raise CorruptLesson(f"the file was altered: {name!r} has a pack without examples, or with gaps")
    return packs


def check_stored_mixtures(state: Mapping[str, Any], steps: int) -> tuple[NDArray[np.int64], Array]:
    """Return the steps (m,) before which outputs were mixed, in ascending order, and the matrices (m, q, q)."""
    mixes = check_stored_array(state, "mixes", (None, None, None))
    mix_steps = check_stored_indices(state, "mix_steps", (len(mixes),), steps + 1).astype(np.int64)
    if mixes.shape[1] != mixes.shape[2] or (np.diff(mix_steps) <= 0).any():
        raise CorruptLesson("the file was altered: its mixtures are not square matrices at ascending steps")
    return mix_steps, mixes


def _step(step: Any, steps: int) -> int:
    """Return the number of a step that a file holds, or refuse one that the lesson does not have."""
    if not 0 <= int(step) <= steps:
        raise CorruptLesson(f"the file was altered: it holds values at step {step!r:.80} of {steps}")
    return int(step)


def _check_preparation(pool: Pool, target: Array) -> None:
    """Refuse a table whose classes are not the outputs of the target."""
    preparation = getattr(pool, "preparation", None)
    if preparation is not None and preparation.classes and preparation.outputs != target.shape[1:]:
        raise CorruptLesson(
            f"the file was altered: it names {len(preparation.classes)} classes for targets of shape {target.shape[1:]}"
        )


def _true_labels(target: Array, indices: NDArray[np.int64], per_output: bool) -> Array:
    """Return the target at the examples shown, in the shape of their labels."""
    return np.asarray(target[indices, outputs_of(indices.shape[1], target.shape[1])] if per_output else target[indices])
