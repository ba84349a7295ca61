"""What a teacher sees of its learner: with noise, late, seldom, or only at some points."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt.arrays import Array, Indices, check_count, is_number
from nimt.errors import InvalidInput
from nimt.schedules import LookSchedule
from nimt.schedules import every as every_steps
from nimt.teachers.candidates import candidates_of
from nimt.teachers.rule import Rule
from nimt.teachers.teacher import Selection, View
from nimt.teachers.wrapping import Wrapping

INNER = "inner/"  # what the teacher inside remembers, beside what was observed


@dataclass(frozen=True, eq=False)
class Observed(Wrapping):
    """Let a teacher see its learner imperfectly: the predictions in its view are observations.

    Where and while the learner is not observed, the teacher sees what was observed there last. The lesson's settings
    hold the options; `lesson.looked` says at which steps it was observed, if not at all. Lessons run in the plain loop,
    on a pool, not in a `Box`.

    Parameters
    ----------
    teacher : a teacher, with `select(view)`
    noise : float
        The standard deviation of what is added to every observed value; drawn from the teacher's stream.
    delay : int
        How many steps old the values are: the start is seen until that many steps were taken.
    every : int
        From one look to the next; the first is at step 0.
    at : "shown", or points as a boolean mask or indices, optional
        Where the learner is observed: at the examples that were shown last, or at these points; by default everywhere.
        At step 0 it is observed everywhere.

    Examples
    --------
    >>> import nimt
    >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.05)
    >>> rules = {"tol": 0.01, "max_iterations": 2000}
    >>> greedy = nimt.GreedyTeacher()
    >>> views = greedy, Observed(greedy, noise=0.01), Observed(greedy, delay=20), Observed(greedy, every=20)
    >>> [nimt.teach(learner, teacher, x, np.sin, **rules).itd for teacher in views]
    [126, 127, 160, 142]
    """

    noise: float = dataclasses.field(default=0.0, kw_only=True)
    delay: int = dataclasses.field(default=0, kw_only=True)
    every: int = dataclasses.field(default=1, kw_only=True)
    at: ArrayLike | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.noise) or not 0 <= float(self.noise) < np.inf:
            raise InvalidInput(f"must be a number >= 0, got {self.noise!r}", parameter="noise")
        check_count("delay", self.delay, at_least=0)
        check_count("every", self.every, at_least=1)
        if self.inner.looks is not None and self.every > 1:
            raise InvalidInput("every= says when the learner is seen", way_out="leave look= of the teacher out")
        if is_number(self.at) or (isinstance(self.at, str) and self.at != "shown"):
            raise InvalidInput(f"must be 'shown', a boolean mask or indices, got {self.at!r}", parameter="at")

    @property
    def method(self) -> str:
        parts = [f"noise {self.noise:g}"] if self.noise else []
        parts += [f"{self.delay} late"] if self.delay else []
        parts += [f"every {self.every}"] if self.every > 1 else []
        parts += [] if self.at is None else ["at examples" if isinstance(self.at, str) else "at points"]
        return f"{super().method} (seen {', '.join(parts)})" if parts else super().method

    @property
    def draws(self) -> bool | None:
        return True if self.noise else super().draws

    @property
    def look(self) -> LookSchedule | None:
        return every_steps(self.every) if self.every > 1 else super().look

    def looks_at(self, step: int) -> bool:
        return step % self.every == 0 and super().looks_at(step)

    def compiled_rule(self) -> Rule | None:
        return None

    def select(self, view: View) -> Selection:
        memory = self._observe(view)
        inner = {name.removeprefix(INNER): part for name, part in (view.memory or {}).items() if name.startswith(INNER)}
        seen = dataclasses.replace(view, predictions=memory["seen"], memory=inner or None)
        chosen = self.inner.select(seen)
        if not isinstance(chosen, Selection):
            raise InvalidInput(f"{self.inner.kind}.select must return a Selection, got {chosen!r}")
        memory["shown"] = np.atleast_1d(chosen.indices)
        kept = {f"{INNER}{name}": np.asarray(part) for name, part in (chosen.memory or {}).items()}
        return dataclasses.replace(chosen, memory=memory | kept)

    def _observe(self, view: View) -> dict[str, NDArray[Any]]:
        """Return the values that were observed last at every point, and those that will be seen later."""
        now = np.array(view.predictions)
        if view.memory is None:
            past, seen = now[np.newaxis], self._blur(now, view.rng)
            return {"seen": seen, "past": past, "identity": view.candidates}
        if not np.array_equal(view.memory["identity"], view.candidates):
            raise InvalidInput("Observed follows the same points at every step: teach on a pool, not in a Box")
        past = np.concatenate([view.memory["past"], now[np.newaxis]])[-(int(self.delay) + 1) :]
        seen = np.array(view.memory["seen"])
        if view.step % self.every == 0:
            places = self._places(view)
            seen[places] = self._blur(past[0][places], view.rng)
        return {"seen": seen, "past": past, "identity": view.candidates}

    def _places(self, view: View) -> Indices:
        assert view.memory is not None
        if isinstance(self.at, str):
            return np.unique(view.memory["shown"])
        if self.at is None:
            return np.arange(len(view))
        points = candidates_of(self.at, (int(view.candidates.max()) + 1,), view.rng)
        assert points is not None
        return np.flatnonzero(np.isin(view.candidates, points))

    def _blur(self, values: Array, rng: np.random.Generator) -> Array:
        return values + self.noise * rng.normal(size=values.shape) if self.noise else values
