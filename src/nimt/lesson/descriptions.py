"""Objects of ours as plain dictionaries of numbers, text and arrays, and back: what a file can hold without pickle."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sklearn_kernels
from sklearn.gaussian_process.kernels import Kernel

from nimt.errors import CannotStore, InvalidInput
from nimt.kernels import Wendland
from nimt.learners.kernel import KernelLearner
from nimt.learners.linear import LinearLearner
from nimt.learners.orthogonal import OrthogonalLearner
from nimt.losses import LOSSES
from nimt.operators.features import Nystroem, RandomFeatures
from nimt.pools.base import Grid, Points
from nimt.teachers.base import AlternativeLabels
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.interpolation import InterpolationTeacher
from nimt.teachers.random import RandomTeacher
from nimt.teachers.soft import SoftTeacher
from nimt.teachers.synthesis import SynthesisTeacher

KERNELS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(getattr(sklearn_kernels, name) for name in dir(sklearn_kernels)),
        Wendland,
    )
    if isinstance(kind, type) and issubclass(kind, Kernel) and not getattr(kind, "__abstractmethods__", None)
}
PLAIN: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *LOSSES.values(),
        AlternativeLabels,
        GreedyTeacher,
        InterpolationTeacher,
        Nystroem,
        RandomFeatures,
        RandomTeacher,
        SoftTeacher,
        SynthesisTeacher,
    )
}
LEARNERS: dict[str, Any] = {kind.__name__: kind for kind in (KernelLearner, LinearLearner, OrthogonalLearner)}
LEARNED = ("centers_", "coefficients_", "steps_", "weights_", "learning_rate_", "factor_", "newton_", "refused_")

FOREIGN = "foreign"


def describe(thing: Any) -> Any:
    """Return `thing` as numbers, text, lists, dictionaries and arrays; what is not ours becomes its name only.

    Examples
    --------
    >>> from nimt.kernels import linear
    >>> describe(linear(4.0))
    {'type': 'DotProduct', 'sigma_0': 2.0, 'sigma_0_bounds': 'fixed'}
    """
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, np.ndarray):
        return thing if thing.dtype.kind in "biufU" else _foreign(thing)
    if isinstance(thing, list | tuple):
        return [describe(part) for part in thing]
    if isinstance(thing, Mapping):
        return {str(name): describe(part) for name, part in thing.items()}
    if isinstance(thing, Grid):
        return {"type": "Grid", "axes": list(thing.axes)}
    if isinstance(thing, Points):
        return {"type": "Points", "points": thing.points}
    return _describe_object(thing)


def _describe_object(thing: Any) -> Any:
    name = type(thing).__name__
    if KERNELS.get(name) is type(thing):
        return _with_type(name, thing.get_params(deep=False))
    if LEARNERS.get(name) is type(thing):
        return _describe_learner(name, thing)
    if is_plain(thing):
        return _with_type(name, {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)})
    return _foreign(thing)


def is_foreign(description: Any) -> bool:
    """Say whether only the name was kept of what was described."""
    return isinstance(description, dict) and description.get("type") == FOREIGN


def is_plain(thing: Any) -> bool:
    """Say whether it is one of our own losses, teachers or labels, and no subclass of one."""
    return PLAIN.get(type(thing).__name__) is type(thing)


def rebuild(description: Any) -> Any:
    """Return the object that `describe` described; lists come back as tuples.

    Only the classes listed here are ever made, from their own parameters, so a hostile file can build nothing else.
    """
    if isinstance(description, list):
        return tuple(rebuild(part) for part in description)
    if not isinstance(description, dict):
        return description
    if "type" not in description:
        return {name: rebuild(part) for name, part in description.items()}
    name = description["type"]
    if is_foreign(description):
        raise CannotStore(f"{description.get('name')} is not nimt's own and was not stored: hand it over again")
    fields = {key: rebuild(part) for key, part in description.items() if key != "type"}
    if name == "Grid":
        return Grid(*fields["axes"])
    if name == "Points":
        return Points(fields["points"])
    if name in LEARNERS:
        learned = {key: fields.pop(key) for key in LEARNED if key in fields}
        learner = LEARNERS[name](**fields)
        for key, value in learned.items():
            setattr(learner, key, value)
        return learner
    if name in KERNELS:
        return KERNELS[name](**fields)
    if name in PLAIN:
        return PLAIN[name](**fields)
    raise InvalidInput(f"{name!r} is nothing nimt can build")


def _with_type(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": name} | {key: describe(value) for key, value in fields.items()}


def _describe_learner(name: str, learner: Any) -> dict[str, Any]:
    fields = dict(learner.get_params(deep=False))
    if callable(fields.get("initial")) and hasattr(learner, "pool_"):
        fields["initial"] = learner.initial_on(learner.pool_)
    fields |= {key: getattr(learner, key) for key in LEARNED if hasattr(learner, key)}
    return _with_type(name, fields)


def _foreign(thing: Any) -> dict[str, str]:
    kind = thing if hasattr(thing, "__qualname__") else type(thing)
    return {"type": FOREIGN, "name": f"{kind.__module__}.{kind.__qualname__}"}
