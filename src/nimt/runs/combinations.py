"""Which lessons are to be given: every learner with every teacher on every problem, each with a name and a key."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nimt._version import __version__
from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.learners.foreign_learner import check_learner
from nimt.lesson.descriptions import describe
from nimt.lesson.identity import fingerprint
from nimt.pools.box import Box
from nimt.pools.pool import FunctionLike, Pool, as_pool, name_target, values_on
from nimt.runs.entries import Scalar, flatten_description, sentence_of
from nimt.sources.problem import Problem, read_problem
from nimt.teachers.adapter import as_teacher

ONLY = "problem"  # what the only problem is called


@dataclass(frozen=True, eq=False)
class Planned:
    """A learner, a teacher and a problem: one lesson per seed.

    Attributes
    ----------
    problem, learner, teacher : str
        Their names.
    given : tuple of (place, target, learner, teacher)
        As `teach` takes them.
    parameters : dict of name -> number or text
    mark : str
        A fingerprint of all this.
    error : str or None
        Why the learner or the teacher could not be made for the problem.
    """

    problem: str
    learner: str
    teacher: str
    given: tuple[Any, Any, Any, Any]
    parameters: dict[str, Scalar]
    mark: str
    error: str | None = None

    def key(self, seed: int, rules: str) -> str:
        """Return the key of the lesson with this seed; `rules` is the fingerprint of its rules."""
        return fingerprint([self.mark, seed, rules, __version__])

    def which(self, key: str, seed: int) -> dict[str, Any]:
        """Return what an entry says about which lesson it is."""
        told = {
            "key": key, "problem": self.problem, "learner": self.learner, "teacher": self.teacher, "seed": seed,
            "parameters": self.parameters,
        }  # fmt: skip
        return told if self.error is None else told | {"error": self.error, "drew": False}  # one row for all seeds


def plan_combinations(problems: object, learners: object, teachers: object) -> list[Planned]:
    """Return every combination; what cannot be one is refused.

    Parameters
    ----------
    problems, learners, teachers : as in `nimt.sweep`
    """
    places = {name: _problem(name, value) for name, value in _name_things("problems", problems, _problem_names).items()}
    pupils = _name_things("learners", learners, _learner_names)
    guides = _name_things("teachers", teachers, _teacher_names)
    marks = {name: fingerprint([describe(place.pool), describe(place.target)]) for name, place in places.items()}
    combined = []
    for where, place in places.items():
        taught = {name: _make("a learner", learner, "predict", place) for name, learner in pupils.items()}
        teaching = {name: _make("a teacher", teacher, "select", place) for name, teacher in guides.items()}
        for (who, learner), (by, teacher) in itertools.product(taught.items(), teaching.items()):
            failed = [made.reason for made in (learner, teacher) if isinstance(made, NotMade)]
            if failed:
                mark = fingerprint([where, who, by, marks[where], "not made", failed[0]])
                combined.append(Planned(where, who, by, (None, None, None, None), {}, mark, failed[0]))
                continue
            check_learner(learner)
            as_teacher(teacher)
            combined.append(combination((where, who, by), (place.pool, place.target, learner, teacher), marks[where]))
    return combined


def combination(names: tuple[str, str, str], given: tuple[Any, Any, Any, Any], place: str) -> Planned:
    """Return one combination of a problem, a learner and a teacher; `place` is the fingerprint of the problem."""
    learner, teacher = describe(given[2]), describe(given[3])
    parameters = flatten_description(learner, "learner") | flatten_description(teacher, "teacher")
    return Planned(*names, given, parameters, fingerprint([names, place, learner, teacher]))


@dataclass(frozen=True, eq=False)
class Place:
    """A problem as the lessons take it: a pool with the values of the target, or a box with a function."""

    pool: Pool | Box
    target: FunctionLike
    problem: Problem | None


def _problem(name: str, value: object) -> Place:
    if isinstance(value, str):
        value = read_problem(value)
    if isinstance(value, Problem):
        return Place(value.pool, value.target, value)
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InvalidInput(
            f"a problem must be a pair (X, y), a nimt.sources.Problem, or a name such as 'gmm'; {name} is {value!r:.60}"
        )
    X, y = value
    if isinstance(X, Box):
        return Place(X, y, None)
    pool = name_target(as_pool(X), y)
    if hasattr(y, "predict"):
        return Place(pool, y, None)
    target: Array = values_on(pool, y, "the target" if name == ONLY else f"the target of {name}")
    return Place(pool, target, Problem(pool, target, np.zeros_like(target)))


@dataclass(frozen=True)
class NotMade:
    """Stands for a learner or teacher that a function of the user failed to make."""

    reason: str


def _make(kind: str, value: Any, method: str, place: Place) -> Any:
    """Return the learner or teacher: as it was given, or made for this problem by a function."""
    if hasattr(value, method) or not callable(value) or isinstance(value, type):
        return value
    if place.problem is None:
        raise InvalidInput(
            f"{kind} cannot be made for a problem in a Box or with a learner as target: give it as it is"
        )
    try:
        return value(place.problem)
    except Exception as error:
        return NotMade(f"{kind} could not be made: {sentence_of(error)}")


def _name_things(what: str, given: Any, names_of: Callable[[list[object]], list[str]]) -> dict[str, Any]:
    """Return the things by their names: those of a dict, or names made from what tells them apart."""
    if isinstance(given, Mapping):
        named = {str(name): value for name, value in given.items()}
    else:
        listed: list[object] = list(given) if _is_several(what, given) else [given]
        names = names_of(listed)
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InvalidInput(f"two of the {what} are both called {twice[0]!r}: give a dict of name -> what it is")
        named = dict(zip(names, listed, strict=True))
    if not named:
        raise InvalidInput(f"{what} is empty: give at least one")
    return named


def _is_several(what: str, given: object) -> bool:
    """Say whether something is a list of things, and not one of them: a pair (X, y) is one problem."""
    if what == "problems" and isinstance(given, tuple):
        return all(isinstance(part, tuple | str | Problem) for part in given)
    return isinstance(given, Iterable) and not isinstance(given, str)


def _problem_names(problems: Sequence[object]) -> list[str]:
    if len(problems) == 1 and not isinstance(problems[0], str):
        return [ONLY]
    return [value if isinstance(value, str) else f"problem {place}" for place, value in enumerate(problems, 1)]


def _learner_names(learners: Sequence[object]) -> list[str]:
    return _tell_apart([type(learner).__name__ for learner in learners], learners, "learner")


def _teacher_names(teachers: Sequence[object]) -> list[str]:
    names = [as_teacher(one).name if hasattr(one, "select") else type(one).__name__ for one in teachers]
    return _tell_apart(names, teachers, "teacher")


def _tell_apart(names: list[str], things: Sequence[object], prefix: str) -> list[str]:
    """Add to names that occur twice the parameters in which the things differ."""
    parameters = [flatten_description(describe(thing), prefix) for thing in things]
    told = []
    for name, own in zip(names, parameters, strict=True):
        alike = [other for theirs, other in zip(names, parameters, strict=True) if theirs == name]
        differing = [key for key in own if any(other.get(key) != own[key] for other in alike)]
        words = ", ".join(f"{key.partition('.')[2] or key}={_show(own[key])}" for key in differing)
        told.append(f"{name}, {words}" if words else name)
    return told


def _show(value: Scalar) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
