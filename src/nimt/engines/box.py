"""The loop for lessons in a `Box`: the reference's, with points between those of the grid offered to the teacher."""

from __future__ import annotations

from typing import Any

import numpy as np

from nimt.arrays import Array, is_whole, read_only
from nimt.engines.base import Chunk, Task, Watch
from nimt.engines.reference import checked_labels, checked_memory, possible_labels
from nimt.errors import CannotStore, InvalidInput
from nimt.learners.base import BoxPupil, Pupil
from nimt.learners.foreign import box_pupil_of
from nimt.lesson.lesson import Outcome
from nimt.measures import measure_of
from nimt.pools.base import Points, values_on
from nimt.pools.box import Box, highest
from nimt.teachers.base import Memory, Selection, View, checked_indices


class BoxEngine:
    """Teach in a box.

    A teacher sees the n grid points, and after them two sets of k places between them: in one the highest maxima of
    |f - f*| over the box, found anew at every step, in the other those it was offered the step before, so that it can
    see what became of them. The sets change places from step to step: what was shown keeps its index for one more.
    `View.candidates` numbers every place ever offered, so a teacher can tell when another point took a place.
    """

    name = "box"

    def __init__(self, task: Task) -> None:
        assert task.box is not None
        self.task = task
        self.box: Box = task.box
        self.k = check_box_task(task)
        self.seated: BoxPupil = box_pupil_of(task.learner, task.box, possible_labels(task))
        self.pupil: Pupil = self.seated
        self.measure = measure_of(task.measure, self.pupil, task.target, task.target_function)
        _, self.selection_rng, self.label_rng = task.streams()
        self.memory: Memory | None = None
        self.step = 0
        self.discrepancy = self.measure()
        self.watch = Watch(task.tol, task.patience, self.discrepancy)
        self.last: Selection | None = None
        self.shown: list[Array] = []
        n = len(task.pool)
        self.between: Array = np.tile(task.pool.points[:1], (2 * self.k, 1))
        self.numbers = np.concatenate([np.arange(n), np.full(2 * self.k, -1)])

    @property
    def values(self) -> Array:
        return self.pupil.values

    @property
    def examples(self) -> Array:
        """The points shown so far, shape (T, k, d)."""
        return np.array(self.shown).reshape(len(self.shown), self.k, self.box.dimension)

    def advance(self, steps: int) -> Chunk:
        indices, labels, discrepancies = [], [], []
        outcome: Outcome | None = None
        with np.errstate(over="ignore", invalid="ignore"):  # a diverging lesson is an outcome, not a warning
            for _ in range(steps):
                outcome = self.watch.over(self.step, self.discrepancy)
                if outcome is not None:
                    break
                points, selection = self.select()
                self.seated.learn_at(points, selection.labels)
                self.memory = selection.memory
                self.last = selection
                self.step += 1
                self.discrepancy = self.measure()
                self.shown.append(points)
                indices.append(selection.indices)
                labels.append(selection.labels)
                discrepancies.append(self.discrepancy)
        return Chunk(
            np.array(indices, dtype=np.int64).reshape(-1, self.k),
            np.array(labels, dtype=np.float64).reshape(-1, self.k),
            np.array(discrepancies, dtype=np.float64),
            outcome,
        )

    def select(self) -> tuple[Array, Selection]:
        """Offer places, ask the teacher, and return the points it chose, with the grid points nearest to them."""
        self.offer()
        everything = np.concatenate([self.task.pool.points, self.between])
        view = View(
            step=self.step,
            pool=Points(everything),
            predictions=read_only(np.concatenate([self.values, self.seated.at(self.between)])),
            target=read_only(np.concatenate([self.task.target, self.truth(self.between)])),
            rng=self.selection_rng,
            memory=self.memory,
            candidates=self.numbers,
        )
        selection = self.task.teacher.select(view)
        if not isinstance(selection, Selection):
            raise InvalidInput(f"{type(self.task.teacher).__name__}.select must return a Selection, got {selection!r}")
        chosen = checked_indices(selection.indices, len(view))
        if len(chosen) != self.k:
            raise InvalidInput(f"{type(self.task.teacher).__name__} showed {len(chosen)} examples, not k = {self.k}")
        points = everything[chosen]
        labels = self.label(points, selection.labels)
        memory = checked_memory(selection.memory)
        return points, Selection(self.box.nearest(points), labels, selection.scores, memory)

    def offer(self) -> None:
        """Put the highest maxima of |f - f*| into the set of places whose turn it is."""
        found = highest(self.error, self.box, self.values - self.task.target, self.k)
        first = self.k * (self.step % 2)
        n = len(self.task.pool)
        self.numbers = self.numbers.copy()
        for place, point in enumerate(found, start=first):
            self.between[place] = point
            self.numbers[n + place] = n + self.k * self.step + place - first

    def error(self, points: Array) -> Array:
        return self.seated.at(points) - self.truth(points)

    def truth(self, points: Array) -> Array:
        return values_on(Points(points), self.task.target_function, "the target")

    def label(self, points: Array, labels: Any) -> Array:
        """Return the labels as the teacher gave them, or now and then those of the other target."""
        task = self.task
        if task.other_target is not None and self.label_rng.random() < task.alternative_probability:
            return values_on(Points(points), task.teacher.labels.other_target, "the other target")
        return checked_labels(labels, len(points), self.pupil.loss)

    def last_selection(self) -> Selection:
        assert self.last is not None
        return self.last

    def taught(self) -> Any:
        return self.pupil.taught()

    def close(self) -> None:
        pass

    def state(self) -> dict[str, Any]:
        raise CannotStore("a lesson in a Box needs its functions, which no checkpoint can hold: leave checkpoint= out")

    def restore(self, state: dict[str, Any]) -> None:
        self.state()


def check_box_task(task: Task) -> int:
    """Return the size of a pack, and refuse what a box cannot do."""
    functions = {"the target": task.target_function}
    if task.other_target is not None:
        functions["the other target"] = task.teacher.labels.other_target
    for name, function in functions.items():
        if not callable(function) and not hasattr(function, "predict"):
            raise InvalidInput(f"{name} must be callable in a Box, where examples lie between any points given")
    if task.measure not in ("paper", "rms"):
        raise InvalidInput(f"measure must be 'paper' or 'rms' in a Box, got {task.measure!r}")
    if task.stationary is not None:
        raise InvalidInput("stop_when_stationary is not known in a Box: use patience instead")
    if task.candidates is not None:
        raise InvalidInput("a teacher in a Box has no pool to be limited: leave pool= out, or give a smaller Box")
    k = getattr(task.teacher, "k", 1)
    if not is_whole(k):
        raise InvalidInput(f"a Box has no number of points that k={k!r} could be a share of: give a count")
    return int(k)
