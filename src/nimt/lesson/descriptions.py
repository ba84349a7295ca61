"""Objects as plain dictionaries of numbers, text and arrays, and back: what a file can hold without pickle.

There are three kinds of classes. Those of nimt, and scikit-learn's kernels, are rebuilt whenever a file names them. A
class of the user, described by the parameters of its constructor, is rebuilt only if the caller allows that class. Of
anything else, such as a function, only the name is kept, and the state if it has `state` and `restore`. What is not
nimt's own also has a mark of its code, by which a lesson is known again (see `user_code`).
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import platform
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from nimt import display
from nimt._version import __version__
from nimt.errors import CannotStore, InvalidInput, first_call_of
from nimt.kernels import Kernel
from nimt.kernels.families import FAMILIES, SINGLE
from nimt.learners.foreign_learner import SKOPS, from_skops, has_state, state_of
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import StartsFromInitial
from nimt.lesson.identity import CODE
from nimt.lesson.user_code import code_mark
from nimt.measures import MEASURES, Measure
from nimt.option_table import OPTIONS, Option
from nimt.pools.pool import Pool, values_on
from nimt.teachers.teacher import Teacher

if TYPE_CHECKING:
    from nimt.task.task import Task

ROOMS = (
    "pools", "losses", "learners", "teachers", "schedules", "operators", "kernels", "measures", "datasets",
)  # whose public classes files may name  # fmt: skip
FOREIGN = "foreign"
ESTIMATOR = "estimator"  # of scikit-learn, as skops writes it


class DescribedLater:
    """A description that is made when somebody asks for it, of something that cannot change until then."""

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        self._make = make

    @cached_property
    def description(self) -> dict[str, Any]:
        return self._make()

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return dict, (self.description,)  # what is copied or sent to another process is the description


@cache
def own_class(name: str) -> type | None:
    """Return the class of that name among nimt's public nouns and scikit-learn's kernels, or None."""
    if name in FAMILIES:
        return FAMILIES[name]
    for place in ("nimt", *(f"nimt.{room}" for room in ROOMS)):
        listed = import_module(place)
        if name in getattr(listed, "__all__", vars(listed)):
            return _noun(getattr(listed, name))
    from sklearn.gaussian_process import kernels  # here, since files that name no kernel of it are read without

    kind = getattr(kernels, name, None)
    is_kernel = isinstance(kind, type) and issubclass(kind, kernels.Kernel)
    return kind if is_kernel and not getattr(kind, "__abstractmethods__", None) else None


def _noun(kind: object) -> type | None:
    """Return a class if a file may name it; of the operators only plain values: the others may fill the memory."""
    if not isinstance(kind, type) or inspect.isabstract(kind):
        return None
    room = kind.__module__.split(".")[1]
    return kind if room in ROOMS and (room != "operators" or dataclasses.is_dataclass(kind)) else None


def is_own(thing: object) -> bool:
    """Say whether it is an instance of a class of nimt or a kernel of scikit-learn, not of a subclass of these."""
    room = type(thing).__module__.partition(".")[0]
    return room in ("nimt", "sklearn") and own_class(_name_in_files(thing)) is type(thing)


def _name_in_files(thing: object) -> str:
    return (thing.word if isinstance(thing, Kernel) else "") or type(thing).__name__


def describe(thing: object) -> Any:
    """Return `thing` as numbers, text, lists, dictionaries and arrays.

    Examples
    --------
    >>> from nimt.kernels import linear
    >>> describe(linear(4.0))
    {'type': 'linear', 'c': 4.0}
    """
    if isinstance(thing, Kernel):
        thing = thing.origin
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, np.ndarray):
        return thing if thing.dtype.kind in "biufU" else _describe_foreign(thing)
    if isinstance(thing, list | tuple):
        return [describe(part) for part in thing]
    if isinstance(thing, Mapping):
        return {str(name): describe(part) for name, part in thing.items()}
    if is_own(thing):
        fields = _parameters(thing) or {}
        return {"type": _name_in_files(thing), **_describe(thing, fields), **_state(thing)}
    return _describe_foreign(thing)


def _describe_foreign(thing: object) -> dict[str, Any]:
    """Return the full name of an object that is not nimt's, and its parameters and state if they are known."""
    description: dict[str, Any] = {"type": FOREIGN, "name": _full_name(thing), CODE: code_mark(thing)}
    if isinstance(thing, type) or not type(thing).__module__:
        return description
    if type(thing).__module__.startswith("sklearn.") and callable(getattr(thing, "get_params", None)):
        try:
            return description | {"type": ESTIMATOR} | state_of(thing)
        except (CannotStore, TypeError, ValueError, AttributeError):  # skops is not installed, or cannot write it
            return description
    fields = _parameters(thing)
    described = None if fields is None else _describe(thing, fields)
    if described is None or any(is_foreign(part) and "fields" not in part for part in described.values()):
        return description | _state(thing)  # the caller must make it again, and can then restore its state
    return description | {"fields": described} | _state(thing)


def _parameters(thing: Any) -> dict[str, Any] | None:
    """Return the parameters of the constructor, None if the object does not provide them."""
    if hasattr(thing, "describe"):
        return dict(thing.describe())
    if callable(getattr(thing, "get_params", None)):
        return dict(thing.get_params(deep=False))
    if dataclasses.is_dataclass(thing):
        return {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing) if field.init}
    return None


def _describe(thing: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    described = {name: describe(value) for name, value in fields.items()}
    if isinstance(thing, StartsFromInitial) and callable(thing.initial) and hasattr(thing, "pool_"):
        start = described["initial"]
        if is_foreign(start):
            # the function may not exist where the file is read: its values on the pool then stand in for it
            values = values_on(thing.pool_, thing.initial, "initial")
            described["initial"] = start | {"values": values}
    return described


def _state(thing: Any) -> dict[str, Any]:
    return {"state": dict(thing.state())} if has_state(thing) else {}


def is_foreign(description: Any) -> bool:
    """Say whether a description is that of an object which is not nimt's."""
    return isinstance(description, dict) and description.get("type") == FOREIGN


def find_lost_part(description: Any) -> str | None:
    """Return the name of a part that cannot be made again, whatever the caller allows; None if there is none."""
    if isinstance(description, dict):
        if is_foreign(description) and not {"fields", "values"} & set(description):
            return str(description["name"])
        parts = {key: part for key, part in description.items() if key not in ("learning_rate", "state")}
        return next((lost for part in parts.values() if (lost := find_lost_part(part)) is not None), None)
    if isinstance(description, list):
        return next((lost for part in description if (lost := find_lost_part(part)) is not None), None)
    return None


def is_state_alone(description: Any) -> bool:
    """Say whether a description holds what an object has learned, but not how to make the object."""
    return is_foreign(description) and "state" in description and "fields" not in description


def check_can_take(thing: object, description: Any) -> None:
    """Refuse an object of the caller that cannot take over the state that a description holds."""
    known = description if isinstance(description, dict) else {}
    described = str(known.get("name", known.get("type"))).rpartition(".")[2]
    if "state" not in known:
        raise InvalidInput(f"the file holds no state of its {described}, which learner= could take over: leave it out")
    if type(thing).__name__ != described or not has_state(thing):
        raise InvalidInput(
            f"learner= is a {type(thing).__name__} and the file holds the state of a {described}: pass one of these"
        )


def rebuild(description: Any, allow: Iterable[object] = ()) -> Any:
    """Return the object that `describe` described; lists come back as tuples.

    Parameters
    ----------
    description : what `describe` returned
    allow : classes and functions of yours that may be used
        Apart from these only classes of nimt and kernels of scikit-learn are built, whatever a file names.
    """
    allowed = {_full_name(thing): thing for thing in allow}
    return _rebuild(description, allowed)


def _rebuild(description: Any, allowed: dict[str, object]) -> Any:
    if isinstance(description, list):
        return tuple(_rebuild(part, allowed) for part in description)
    if not isinstance(description, dict):
        return description
    if "type" not in description:
        return {name: _rebuild(part, allowed) for name, part in description.items()}
    name = description["type"]
    if name == FOREIGN:
        return _rebuild_foreign(description, allowed)
    if name == ESTIMATOR:
        return from_skops(description[SKOPS], description["name"])
    kind = own_class(name) if isinstance(name, str) else None
    if kind is None:
        raise InvalidInput(f"the file names {name!r}, which is not a class that nimt builds")
    fields = {key: part for key, part in description.items() if key not in ("type", "state")}
    return _make(kind, fields, description.get("state", {}), allowed)


def _rebuild_foreign(description: dict[str, Any], allowed: dict[str, object]) -> Any:
    name = description.get("name")
    kind = allowed.get(str(name))
    if kind is not None and not isinstance(kind, type):
        return kind  # a function
    if kind is not None and "fields" in description:
        return _make(kind, description["fields"], description.get("state", {}), allowed)
    if "values" in description:
        return description["values"]
    short = str(name).rpartition(".")[2]
    if "fields" in description:
        raise CannotStore(f"{name} is not nimt's own: pass it again, or allow=[{short}]")
    why = "does not tell the parameters of its constructor (give it get_params, or make it a dataclass)"
    raise CannotStore(f"{name} is not nimt's own" + (f" and {why}" if kind is not None else "") + ": pass it again")


def _make(kind: type, fields: Mapping[str, Any], state: Mapping[str, Any], allowed: dict[str, object]) -> Any:
    parameters = {key: _rebuild(part, allowed) for key, part in fields.items()}
    make = getattr(kind, "from_description", None)
    thing = kind(**parameters) if make is None else make(parameters)
    if state:
        thing.restore(dict(state))
    return thing


def _full_name(thing: object) -> str:
    kind: Any = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{kind.__module__}.{kind.__qualname__}"


# ---------------------------------------------------------------- a task


def describe_task(task: Task) -> dict[str, Any]:
    """Return everything needed to run the lesson again."""
    teacher = task.teacher.original
    if isinstance(teacher, Teacher) and is_own(teacher):  # a teacher of the user is stored as it describes itself
        teacher = teacher.resolve_on(task.pool, task.outputs)
    return {
        "versions": versions(task.learner, getattr(getattr(task.learner, "kernel", None), "origin", None)),
        "engine": describe(task.engine if not isinstance(task.engine, str) else task.plan.engine),
        "learner": describe(_bind(task.learner, task.pool)),
        "teacher": describe(teacher),
        "pool": describe(task.pool),
        "box": None if task.box is None else describe(task.box),
        "target": task.target,
        "target_function": _describe_target(task),
    } | describe_rules(task)


def describe_later(task: Task) -> DescribedLater | None:
    """Return a promise of what `describe_task` returns, None where a part of the task may change until then.

    The caller's learner may be changed, too, so that a copy of it is kept.
    """
    learner, target = task.learner, task.target_function
    if type(learner) is not KernelLearner or type(learner.kernel) not in SINGLE:
        return None
    parts = [learner.loss, learner.learning_rate, learner.initial, task.engine, task.holdout, task.box]
    parts += [getattr(task.teacher, field.name) for field in dataclasses.fields(task.teacher)]
    for part in parts:
        if part is not None and not isinstance(part, bool | int | float | str):
            return None
    for thing in (task.teacher, task.pool, task.measure):
        if not type(thing).__module__.startswith("nimt."):
            return None
    if (callable(target) and not isinstance(target, np.ufunc)) or hasattr(target, "predict"):
        return None
    kept = copy.copy(task)
    vars(kept)["learner"] = copy.copy(learner)
    vars(kept).pop("choice", None)  # what was built for the engine may be large
    return DescribedLater(lambda: describe_task(kept))


def describe_rules(task: Task) -> dict[str, Any]:
    """Return the settings of a lesson of which only the numbers are kept: all but what it was about."""
    held = task.holdout
    return {
        "nimt": __version__,
        "method": _describe_method(task.teacher),
        "per_output": task.per_output,
        "planned_steps": task.planned_steps,
        "measure": _describe_measure(task.measure),
        "holdout": None if held is None else held._asdict(),
    } | {name: _find(task, name, option) for name, option in OPTIONS.items() if option.is_plain}


def _find(task: Task, name: str, option: Option) -> Any:
    """Return the value of an option, as a task has it."""
    value = getattr(task if option.part == "task" else getattr(task, option.part), name)
    return list(value) if isinstance(value, tuple) else value


def _describe_method(teacher: Teacher) -> dict[str, str | None]:
    """Return the name and the colour of a teacher, as it states them; refuse what is no colour."""
    with first_call_of(lambda: f"the name or the colour of {teacher.kind}"):
        name, colour = teacher.name, teacher.colour
    if colour is not None and not display.is_colour(colour):
        raise InvalidInput(
            f"the colour of {teacher.kind} must be '#' and six hexadecimal digits, as '#D55E00', "
            f"or None for a free one; got {colour!r}"
        )
    return {"name": name, "colour": colour, "access": teacher.access}


def _describe_measure(measure: Measure) -> str | dict[str, Any]:
    """Return the name of a measure of nimt; for another, also what figures and tolerances need without its class."""
    if MEASURES.get(measure.name) is measure:
        return measure.name
    known = {"label": measure.name, "axis": measure.axis or measure.name, "higher_is_better": measure.higher_is_better}
    return {**describe(measure), **known}


def _describe_target(task: Task) -> dict[str, Any] | None:
    """Return the description of a target that was given as a learner or function, None if given as values."""
    target = task.target_function
    if hasattr(target, "predict") or callable(target):
        described: dict[str, Any] = describe(_bind(target, task.pool))
        return described
    return None


def _bind(learner: object, pool: Pool) -> object:
    """Return a learner bound to its pool, so that an initial function can be stored as values on it."""
    if not isinstance(learner, StartsFromInitial) or not callable(learner.initial) or hasattr(learner, "pool_"):
        return learner
    stored = copy.copy(learner)
    stored.pool_ = pool
    return stored


def versions(*parts: object) -> dict[str, str]:
    """Return the versions of Python and of the packages that these parts of a lesson depend on."""
    import scipy

    found = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
    if any(kind.__module__.startswith("sklearn.") for part in parts for kind in type(part).__mro__):
        import sklearn

        found["scikit-learn"] = sklearn.__version__
    return found
