"""What is offered to a teacher at a step: the points of a pool; in a box also the largest errors between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np

from nimt.arrays import Array, Flags, Indices, check_stored_array, read_only
from nimt.errors import InvalidInput
from nimt.kernels import Kernel
from nimt.learners.learner import (
    BoxPupil,
    FollowingPupil,
    MovingBoxPupil,
    MovingPupil,
    Pupil,
    SeveralPupils,
    WeighingPupil,
    find_known_parts,
    weigh_slopes,
)
from nimt.losses import Loss, as_loss
from nimt.pools.box import Box, highest
from nimt.pools.cell_maxima import CellNodes
from nimt.pools.pool import Points, Pool, values_on
from nimt.task.task import Task
from nimt.teachers.teacher import Memory, Selection, View, norm_of, residual_size


class Offer(Protocol):
    """The places a teacher may choose from: a *place* counts points of the view, an *index* those of the pool."""

    def view(self, step: int, rng: np.random.Generator, memory: Memory | None) -> View:
        """Return what the teacher sees at a step."""
        ...

    def indices(self, places: Indices) -> Indices:
        """Return the indices by which chosen places are recorded."""
        ...

    def name_points(self, numbers: Indices) -> Indices:
        """Return the indices by which points of the latest view are recorded, given as its `candidates`."""
        ...

    def points(self, places: Indices) -> Array | None:
        """Return the points themselves if they are not points of the pool, else None."""
        ...

    def other_labels(self, places: Indices) -> Array:
        """Return the labels of the other target."""
        ...

    def learn(self, places: Indices, selection: Selection, slopes: Array | None) -> None:
        """Show a pack to the learner; `slopes` are those of its loss at the examples, where they are known."""
        ...

    def state(self) -> dict[str, Any]: ...

    def restore(self, state: dict[str, Any]) -> None: ...


class PoolOffer:
    """The points of a pool, or the part of it that a teacher may show: the same at every step."""

    def __init__(self, task: Task, pupil: Pupil) -> None:
        self.task: Task = task
        self.pupil: Pupil = pupil
        self.shows_all: bool = task.candidates is None
        candidates = np.arange(len(task.pool)) if task.candidates is None else task.candidates
        self.candidates: Indices = candidates.view()
        self.candidates.flags.writeable = False
        self.pool: Pool = task.pool if self.shows_all else Points(task.pool.take(self.candidates))
        self.seen: Array = read_only(pupil.values)
        self.target: Array = read_only(task.target if self.shows_all else task.target[self.candidates])
        self.known = KnownParts(task, pupil) if task.teacher.opens else None
        self.per_output: bool = task.per_output
        self.move: Callable[[Indices, Array], None] | None = None
        if getattr(pupil, "takes_slopes", False):
            self.move = cast(MovingPupil, pupil).move

    def view(self, step: int, rng: np.random.Generator, memory: Memory | None) -> View:
        values = self.pupil.values
        if not self.shows_all:
            self.seen = read_only(values[self.candidates])
        elif self.seen.base is not values:  # most pupils change their values in place
            self.seen = read_only(values)
        known = () if self.known is None else self.known.now()
        return View(step, self.pool, self.seen, self.target, rng, memory, self.candidates, *known)

    def indices(self, places: Indices) -> Indices:
        return places.copy() if self.shows_all else self.candidates[places]

    def name_points(self, numbers: Indices) -> Indices:
        return numbers

    def points(self, places: Indices) -> Array | None:
        return None

    def other_labels(self, places: Indices) -> Array:
        assert self.task.other_target is not None
        return self.task.at_examples(self.task.other_target, self.candidates[places])

    def learn(self, places: Indices, selection: Selection, slopes: Array | None) -> None:
        if self.per_output:
            packs = (self.task.outputs[0], -1)
            indices, labels = selection.indices.reshape(packs), selection.labels.reshape(packs)
            weights = () if selection.weights is None else (selection.weights.reshape(packs),)
            cast(SeveralPupils, self.pupil).learn_each(indices, labels, *weights)
        elif selection.weights is not None:
            learn_weighted(self.pupil, selection)
        elif slopes is None or self.move is None:
            self.pupil.learn(selection.indices, selection.labels)
        else:
            self.move(selection.indices, slopes)

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        pass


class BoxOffer:
    """The points of a box's grid, and after them two sets of k places between them.

    One set holds the highest maxima of |f - f*| over the box, searched at every step. The other holds those of the step
    before, so that a teacher can see how the learner responded there. The sets swap roles from step to step, so a point
    that was shown keeps its place for one more step. `View.candidates` numbers every point ever offered, so a teacher
    can tell when a place holds another point.
    """

    def __init__(self, task: Task, pupil: Pupil) -> None:
        assert task.box is not None
        self.task: Task = task
        self.box: Box = task.box
        self.k: int = int(task.teacher.size or 1)  # type: ignore[arg-type]
        self.pupil: BoxPupil = cast(BoxPupil, pupil)
        n = len(task.pool)
        self.between: Array = np.tile(task.pool.points[:1], (2 * self.k, 1))
        self.numbers: Indices = np.concatenate([np.arange(n), np.full(2 * self.k, -1)])
        self.offered: Array = task.pool.points
        self.truth_between: Array = self._truth(self.between).copy()
        self.nodes: CellNodes | None = None
        if self.box.dimension == 1 and isinstance(pupil, FollowingPupil):  # in more dimensions there would be too many
            self.nodes = CellNodes(self.box.grid)
            self.truth_at_nodes: Array = self._truth(self.nodes.points)
            pupil.follow(self.nodes.points)
        self.known = KnownParts(task, pupil)
        self.moves: bool = getattr(pupil, "takes_slopes", False)
        self.before: Array = self.between[self.k :]  # the places of the step before
        self.asked: Array | None = None  # the latest places at which f and f* were asked for, and what was found
        self.found: Array = self.between[:0]
        self.found_truth: Array = self.truth_between[:0]
        self.predictions: Array = pupil.values

    def view(self, step: int, rng: np.random.Generator, memory: Memory | None) -> View:
        between = self._search(step)
        self.offered = np.concatenate([self.task.pool.points, self.between])
        self.predictions = np.concatenate([self.pupil.values, between])
        target = np.concatenate([self.task.target, self.truth_between])
        numbers = self.numbers.view()
        numbers.flags.writeable = False
        return View(
            step,
            Points.from_checked(self.offered),
            read_only(self.predictions),
            read_only(target),
            rng,
            memory,
            numbers,
            *self.known.now(),
        )

    def _search(self, step: int) -> Array:
        """Put the highest maxima of |f - f*| into the set of places of this step; return f at both sets."""
        first, n = self.k * (step % 2), len(self.task.pool)
        self.before = self.between[self.k - first : 2 * self.k - first]
        scan = residual_size(self.pupil.values, self.task.target)
        kept = () if self.nodes is None else (self._tops, self._top)
        places = highest(self._error, self.box, scan, self.k, *kept)
        now = slice(first, first + len(places))
        self.between[now] = places
        self.numbers = self.numbers.copy()
        number = n + self.k * step
        self.numbers[n + first : n + now.stop] = np.arange(number, number + len(places))
        if places is not self.asked or len(places) < self.k:  # a search asks for other places last
            self.truth_between[now] = self._truth(places)
            return self.pupil.at(self.between.copy())  # a function of the user may keep what it was called with
        self.truth_between[now] = self.found_truth
        new, old = self.found[: self.k], self.found[self.k :]
        return np.concatenate([old, new] if first else [new, old])

    def _tops(self, starts: list[int]) -> tuple[Array, Array, Flags]:
        """Return the maxima of |f - f*| next to points of the grid, from values that are kept up to date."""
        assert self.nodes is not None
        return self.nodes.tops(starts, self._gaps)

    def _top(self, starts: list[int]) -> tuple[float, float] | None:
        assert self.nodes is not None
        return self.nodes.top(starts, self._gaps)

    def _gaps(self, nodes: Indices) -> Array:
        """Return f - f* at nodes; its sign is kept, because |f - f*| has a kink where f crosses f*."""
        followed = cast(FollowingPupil, self.pupil).followed
        gaps = followed.take(nodes, axis=0) - self.truth_at_nodes.take(nodes, axis=0)
        return norm_of(gaps.reshape(-1, *self.task.outputs)).reshape(nodes.shape) if self.task.outputs else gaps

    def _error(self, points: Array) -> Array:
        """Return |f - f*| at points between; f is asked for also at the places of the step before."""
        asked = points if self.nodes is None else np.concatenate([points, self.before])
        self.asked, self.found, self.found_truth = points, self.pupil.at(asked), self._truth(points)
        return residual_size(self.found[: len(points)], self.found_truth)

    def _truth(self, points: Array) -> Array:
        return values_on(Points.from_checked(points), self.task.target_function, "the target", self.task.outputs)

    def indices(self, places: Indices) -> Indices:
        return self.box.nearest(self.offered[places])

    def name_points(self, numbers: Indices) -> Indices:
        return self.indices(np.array([np.flatnonzero(self.numbers == number)[0] for number in numbers]))

    def points(self, places: Indices) -> Array | None:
        return self.offered[places]

    def other_labels(self, places: Indices) -> Array:
        labels = self.task.teacher.labels
        assert labels is not None
        points = Points(self.offered[places])
        return np.asarray(values_on(points, labels.other_target, "the other target", self.task.outputs))

    def learn(self, places: Indices, selection: Selection, slopes: Array | None) -> None:
        points = self.offered[places]
        if self.moves:
            pupil = cast(MovingBoxPupil, self.pupil)
            found = pupil.loss.slope(self.predictions[places], selection.labels)
            pupil.move_at(points, weigh_slopes(found, selection.weights))
        elif selection.weights is not None:
            raise refuse_weights(self.task.learner)
        else:
            self.pupil.learn_at(points, selection.labels)

    def state(self) -> dict[str, Any]:
        return {"between": self.between, "truth_between": self.truth_between, "numbers": self.numbers}

    def restore(self, state: dict[str, Any]) -> None:
        self.between = check_stored_array(state, "between", self.between.shape)
        self.truth_between = check_stored_array(state, "truth_between", self.truth_between.shape)
        self.numbers = check_stored_array(state, "numbers", self.numbers.shape, "i").astype(np.intp)


class KnownParts:
    """What the teacher sees of the learner beside its predictions, at every step."""

    def __init__(self, task: Task, pupil: Pupil) -> None:
        sees = task.teacher.opens
        known = find_known_parts(task.learner) if sees else {}
        self.kernel: Kernel | None = known["kernel"] if "kernel" in sees else None
        self.loss: Loss | None = as_loss(known["loss"]) if "loss" in sees and known["loss"] is not None else None
        self.rate: Callable[[], float] | None = getattr(pupil, "rate", None) if "rate" in sees else None

    def now(self) -> tuple[Kernel | None, Loss | None, float | None]:
        """Return the kernel, the loss and the rate of the step to come, None for what is not seen."""
        return self.kernel, self.loss, None if self.rate is None else self.rate()


def learn_weighted(pupil: Pupil, selection: Selection) -> None:
    """Show a pack whose examples have weights."""
    assert selection.weights is not None
    if not isinstance(pupil, WeighingPupil) or not pupil.takes_weights:
        raise refuse_weights(pupil.to_learner())
    pupil.learn_weighted(selection.indices, selection.labels, selection.weights)


def refuse_weights(learner: object) -> InvalidInput:
    """Return the error for a learner that cannot multiply its step."""
    name = type(learner).__name__
    return InvalidInput(f"the teacher gave examples weights, which {name} cannot take: use a KernelLearner")


def offer_of(task: Task, pupil: Pupil) -> Offer:
    """Return the offer of a task: of its pool, or of its box."""
    return PoolOffer(task, pupil) if task.box is None else BoxOffer(task, pupil)
