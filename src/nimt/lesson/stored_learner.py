"""The taught learner as a file holds it: rebuilt when it is asked for, since scikit-learn takes a second to load."""

from __future__ import annotations

import contextlib
import copy
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from nimt.arrays import Array, is_number
from nimt.errors import CannotStore, CorruptLesson, InvalidInput, StorageWarning
from nimt.learners.foreign_learner import make_pupil
from nimt.learners.prepared_learner import with_preparation
from nimt.lesson.descriptions import ESTIMATOR, DescribedLater, is_foreign, is_own, is_state_alone, rebuild
from nimt.lesson.held_out import HeldOutError
from nimt.pools.box import Box
from nimt.pools.pool import Pool


@dataclass(frozen=True)
class StoredLearner:
    """A learner that was read from a file and is not rebuilt yet.

    Parameters
    ----------
    path : path
        Of the file.
    description : as `describe` returned it
        Of the taught learner.
    before : as `describe` returned it
        Of the learner before the lesson, which figures and replays make again.
    pool, place, target : on which it was taught, the pool or the box around it, and f* there
    allow, given : as in `Lesson.load`
    held_out : HeldOutError or None
        Its error on held-out points, where the file has it.
    state : dict or None
        Of the lesson under way, where the file has one: the learner is in it.
    """

    path: str | PathLike[str]
    description: Any
    before: Any
    pool: Pool
    place: Pool | Box
    target: Array
    allow: list[object]
    given: Any
    held_out: HeldOutError | None
    state: dict[str, Any] | None = None

    @property
    def learning_rate(self) -> float | None:
        """The learning rate that "auto" stood for, None where there is none."""
        if self.state is not None:
            return _load_rate(self.state["pupil"].get("rate"))
        described = self.description if isinstance(self.description, dict) else {}
        state = described.get("state")
        return _load_rate((state if isinstance(state, dict) else described).get("learning_rate_"))

    def rebuild(self) -> Any:
        """Return the learner, None for one that is not nimt's and not allowed; refuse one that is not whole."""
        with refuse_incomplete(self.path):
            _check_before(self.before)
            if self.state is not None:
                return self._from_state(self.state)
            return _make(self.description, self.pool, self.target.shape[1:], self.allow, self.given)

    def _from_state(self, state: dict[str, Any]) -> Any:
        """Return the learner of a lesson under way, None for one that is not nimt's and not allowed."""
        try:
            before = self.given if self.given is not None else rebuild(self.before, self.allow)
        except CannotStore:
            return None
        pupil = make_pupil(before, self.place, self.target)
        pupil.restore(state["pupil"])
        return with_preparation(pupil.to_learner(), self.pool)


class EndState:
    """The state in which a lesson ended, as long as its learner is what it was then; copies of a lesson have none."""

    def __init__(self, state: dict[str, Any], learner: object) -> None:
        self._state = state
        self._learner = learner
        self._parts = dict(vars(learner))

    def of(self, learner: object) -> dict[str, Any] | None:
        """Return the state, None where this is another learner, or was taught since."""
        if learner is not self._learner or vars(learner).keys() != self._parts.keys():
            return None
        same = all(part is self._parts[name] for name, part in vars(learner).items())
        return self._state if same else None

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return type(None), ()


class MadeWhenAsked:
    """A field of a lesson that may hold a `StoredLearner` or `DescribedLater`: it is made when it is first read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, lesson: object, owner: type) -> Any:
        if lesson is None:
            raise AttributeError(self.name)  # so that a dataclass sees no default here
        fields = vars(lesson)
        found = fields[self.name]
        if isinstance(found, StoredLearner):
            found = fields[self.name] = found.rebuild()
        elif isinstance(found, DescribedLater):
            found = fields[self.name] = found.description
        return found

    def __set__(self, lesson: object, value: Any) -> None:
        vars(lesson)[self.name] = value


@contextlib.contextmanager
def refuse_incomplete(path: str | PathLike[str]) -> Iterator[None]:
    """Turn what goes wrong with an altered lesson into `CorruptLesson` that names the file."""
    try:
        yield
    except CorruptLesson as error:
        raise CorruptLesson(f"{path}: {error}") from None
    except CannotStore:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise CorruptLesson(f"{path} is marked as a lesson but its content is incomplete: {error!r}") from None


def _check_before(description: Any) -> None:
    """Refuse a learner of the settings that cannot be made again."""
    if description["type"] == ESTIMATOR:
        return
    try:
        made = rebuild(description | ({"learning_rate": 1.0} if "learning_rate" in description else {}))
        repr(getattr(made, "kernel", None))
    except CannotStore:
        return
    except (InvalidInput, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        raise CorruptLesson(f"the file was altered: of its settings, 'learner' is {description!r:.80}") from None


@dataclass(frozen=True)
class ForgottenSchedule:
    """Stand for a learning rate that was a function: the learner predicts as before, and needs a rate to learn on."""

    name: str

    def __call__(self, step: int) -> float:
        raise CannotStore(f"the learning rate {self.name} was not stored: give one by set_params(learning_rate=...)")


def _make(description: Any, pool: Pool, outputs: tuple[int, ...], allow: list[object], given: Any = None) -> Any:
    """Return the learner that is described, on its pool; or a copy of the one given, with the state described."""
    if given is not None:
        learner = copy.deepcopy(given)
        learner.restore(dict(description["state"]))
        return with_preparation(_bound(learner, pool), pool)
    rate: Any = description.get("learning_rate") if isinstance(description, dict) else None
    if is_foreign(rate):
        try:
            schedule = rebuild(rate, allow)
        except CannotStore:
            schedule = ForgottenSchedule(rate["name"])
        learner = _make(description | {"learning_rate": 1.0}, pool, outputs, allow)
        return None if learner is None else learner.set_params(learning_rate=schedule)
    try:
        learner = rebuild(description, allow)
    except CannotStore:
        if is_state_alone(description):
            name = str(description["name"]).rpartition(".")[2]
            sentence = (
                f"the file holds the state of a {name} and not its code: pass one like it, learner=, to have it back"
            )
            warnings.warn(sentence, StorageWarning, stacklevel=4)
        return None
    if learner is not None and not hasattr(learner, "predict"):
        raise CorruptLesson(f"the file was altered: what it holds as the learner is {learner!r:.80}")
    learner = _bound(learner, pool)
    if is_own(learner):
        _check_learner(learner, pool, outputs)
    return with_preparation(learner, pool)


def _bound(learner: Any, pool: Pool) -> Any:
    """Return the learner on its pool, with the learning rate that "auto" stood for: `bind` does not know the packs."""
    rate = _load_rate(getattr(learner, "learning_rate_", None))
    learner = learner.bind(pool) if hasattr(learner, "bind") else learner
    if rate is not None and is_own(learner):
        learner.learning_rate_ = rate
    return learner


def _load_rate(found: Any) -> float | None:
    """Return a learning rate that was stored as a number or as an array of one, None for anything else."""
    value = found.item() if isinstance(found, np.ndarray) and found.ndim == 0 else found
    return float(value) if is_number(value) and 0 < value < np.inf else None


def _check_learner(learner: Any, pool: Pool, outputs: tuple[int, ...]) -> None:
    """Refuse a learner of nimt that cannot answer at a point of its pool, in the shape of the target."""
    with np.errstate(all="ignore"):  # a lesson may have diverged
        answer = np.asarray(learner.predict(pool.take(np.zeros(1, dtype=np.intp))))
    if answer.dtype.kind != "f" or answer.shape not in ((1, *outputs), (1,)):
        raise CorruptLesson(f"the file was altered: its learner answers with the shape {answer.shape} at one point")
