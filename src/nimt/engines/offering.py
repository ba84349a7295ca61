"""What is offered to a teacher at a step: the points of a pool, or in a box also the best places between them."""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np

from nimt.arrays import Array, Indices, is_whole, read_only, stored_array
from nimt.engines.base import Task
from nimt.errors import InvalidInput
from nimt.learners.base import BoxPupil, Pupil
from nimt.pools.base import Points, Pool, values_on
from nimt.pools.box import Box, highest
from nimt.teachers.base import AlternativeLabels, Memory, View, residual_size


class Offer(Protocol):
    """The places a teacher may choose from: a place is an index into the view, an index one into the lesson's pool."""

    def view(self, step: int, rng: np.random.Generator, memory: Memory | None) -> View:
        """Return what the teacher sees at a step."""
        ...

    def indices(self, places: Indices) -> Indices:
        """Return the indices by which chosen places are recorded."""
        ...

    def points(self, places: Indices) -> Array | None:
        """Return the points themselves where indices do not tell them."""
        ...

    def other_labels(self, places: Indices) -> Array:
        """Return the labels of the other target."""
        ...

    def learn(self, places: Indices, labels: Array) -> None:
        """Show a pack to the learner."""
        ...

    def state(self) -> dict[str, Any]: ...

    def restore(self, state: dict[str, Any]) -> None: ...


class PoolOffer:
    """The points of a pool, or the part of it that a teacher may show: the same at every step."""

    def __init__(self, task: Task, pupil: Pupil) -> None:
        self.task = task
        self.pupil = pupil
        everything = task.candidates is None
        candidates = np.arange(len(task.pool)) if task.candidates is None else task.candidates
        self.candidates: Indices = candidates.view()
        self.candidates.flags.writeable = False
        self.pool: Pool = task.pool if everything else Points(task.pool.take(self.candidates))
        self.target = read_only(task.target if everything else task.target[self.candidates])

    def view(self, step: int, rng: np.random.Generator, memory: Memory | None) -> View:
        values = self.pupil.values
        seen = values if self.task.candidates is None else values[self.candidates]
        return View(step, self.pool, read_only(seen), self.target, rng, memory, self.candidates)

    def indices(self, places: Indices) -> Indices:
        return self.candidates[places]

    def points(self, places: Indices) -> Array | None:
        return None

    def other_labels(self, places: Indices) -> Array:
        assert self.task.other_target is not None
        return np.asarray(self.task.other_target[self.candidates[places]])

    def learn(self, places: Indices, labels: Array) -> None:
        self.pupil.learn(self.candidates[places], labels)

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        pass


class BoxOffer:
    """The points of a box's grid, and after them two sets of k places between them.

    In one set are the highest maxima of |f - f*| over the box, found anew at every step, in the other those offered
    the step before, so that a teacher can see what became of them. The sets change places from step to step: what was
    shown keeps its index for one more. `View.candidates` numbers every place ever offered, so a teacher can tell when
    another point took a place.
    """

    def __init__(self, task: Task, pupil: Pupil) -> None:
        assert task.box is not None
        self.task = task
        self.box: Box = task.box
        self.k = check_box_task(task)
        self.pupil = cast(BoxPupil, pupil)
        n = len(task.pool)
        self.between: Array = np.tile(task.pool.points[:1], (2 * self.k, 1))
        self.numbers: Indices = np.concatenate([np.arange(n), np.full(2 * self.k, -1)])
        self.offered: Array = task.pool.points

    def view(self, step: int, rng: np.random.Generator, memory: Memory | None) -> View:
        self._search(step)
        self.offered = np.concatenate([self.task.pool.points, self.between])
        predictions = np.concatenate([self.pupil.values, self.pupil.at(self.between)])
        target = np.concatenate([self.task.target, self._truth(self.between)])
        numbers = self.numbers.view()
        numbers.flags.writeable = False
        return View(step, Points(self.offered), read_only(predictions), read_only(target), rng, memory, numbers)

    def _search(self, step: int) -> None:
        """Put the highest maxima of |f - f*| into the set of places whose turn it is."""
        found = highest(self._error, self.box, residual_size(self.pupil.values, self.task.target), self.k)
        first = self.k * (step % 2)
        n = len(self.task.pool)
        self.numbers = self.numbers.copy()
        for place, point in enumerate(found, start=first):
            self.between[place] = point
            self.numbers[n + place] = n + self.k * step + place - first

    def _error(self, points: Array) -> Array:
        return residual_size(self.pupil.at(points), self._truth(points))

    def _truth(self, points: Array) -> Array:
        return values_on(Points(points), self.task.target_function, "the target", self.task.outputs)

    def indices(self, places: Indices) -> Indices:
        return self.box.nearest(self.offered[places])

    def points(self, places: Indices) -> Array | None:
        return self.offered[places]

    def other_labels(self, places: Indices) -> Array:
        labels: AlternativeLabels = self.task.teacher.labels
        points = Points(self.offered[places])
        return np.asarray(values_on(points, labels.other_target, "the other target", self.task.outputs))

    def learn(self, places: Indices, labels: Array) -> None:
        self.pupil.learn_at(self.offered[places], labels)

    def state(self) -> dict[str, Any]:
        return {"between": self.between, "numbers": self.numbers}

    def restore(self, state: dict[str, Any]) -> None:
        self.between = stored_array(state, "between", self.between.shape)
        self.numbers = stored_array(state, "numbers", self.numbers.shape, "i").astype(np.intp)


def offer_of(task: Task, pupil: Pupil) -> Offer:
    """Return what a task's place offers."""
    return PoolOffer(task, pupil) if task.box is None else BoxOffer(task, pupil)


def check_box_task(task: Task) -> int:
    """Return the size of a pack, and refuse what a box cannot do."""
    functions = {"the target": task.target_function}
    if task.other_target is not None:
        functions["the other target"] = task.teacher.labels.other_target
    for name, function in functions.items():
        if not callable(function) and not hasattr(function, "predict"):
            raise InvalidInput(f"{name} must be callable in a Box, where examples lie between any points given")
    if task.stop_when_stationary is not None:
        raise InvalidInput("stop_when_stationary is not known in a Box: use patience instead")
    if task.candidates is not None:
        raise InvalidInput("a teacher in a Box has no pool to be limited: leave pool= out, or give a smaller Box")
    k = getattr(task.teacher, "k", 1)
    if not is_whole(k):
        raise InvalidInput(f"a Box has no number of points that k={k!r} could be a share of: give a count")
    return int(k)
