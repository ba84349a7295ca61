"""The one loop, in plain NumPy: Algorithm 1 of the paper. Every other engine must give the same lesson."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import FLOAT, Array, Indices, check_finite, real_array
from nimt.counting import say_count
from nimt.engines._numba.compiling import load_numba, numba_is_loaded
from nimt.engines.engine import Engine, Watch
from nimt.engines.offering import Offer, offer_of
from nimt.errors import InvalidInput, first_call_of
from nimt.learners.kernel_pupils import KernelPupil
from nimt.learners.learner import CompilablePupil, MixingPupil, Pupil, weigh_slopes
from nimt.lesson.outcome import Outcome
from nimt.lesson.recording import NO_INDEX, Answers, Chunk, as_rows
from nimt.losses import Square, find_label_check
from nimt.task.task import Task
from nimt.teachers.never_twice import NothingLeft
from nimt.teachers.teacher import Memory, Selection, Teacher, check_indices

LATE = 2**13  # steps after which numba is loaded for a pupil that can use it: as long as they take without it


class ReferenceEngine(Engine):
    """Run any teacher and any learner, one step after another."""

    name: str = "reference"

    def __init__(self, task: Task, pupil: Pupil, name: str = "reference") -> None:
        self.task: Task = task
        self.name = name
        self.pupil: Pupil = pupil
        self.measure: Callable[[], float]
        with first_call_of(lambda: f"the measure {task.measure.name!r}"):
            self.measure = task.measure.prepare(pupil, task.target, task.target_function)
        self.offer: Offer = offer_of(task, pupil)
        # asked for at every step
        self.teacher: Teacher = task.teacher
        self.per_output: bool = task.per_output
        self.label_outputs: tuple[int, ...] = task.label_outputs
        self.other_target: Array | None = task.other_target
        self.repeats: bool = task.repeats
        self.still: float | None = task.stop.stop_when_stationary
        self.check_labels: Callable[[Array], None] | None = find_label_check(pupil.loss, task.teacher.makes_labels)
        # made of - and * alone, so that the slope of a number is that of an array of one number, to the bit
        self.slopes_of_numbers: bool = (
            type(pupil.loss) is Square and isinstance(pupil, KernelPupil) and pupil.takes_slopes and not task.outputs
        )
        self.may_be_full: bool = hasattr(pupil, "is_full")
        self.may_be_compiled: bool = isinstance(pupil, CompilablePupil)
        self.memory: Memory | None = None
        self.step: int = 0
        self.discrepancy: float
        # an infinite one is refused elsewhere, with a message
        with np.errstate(over="ignore", invalid="ignore"), first_call_of(lambda: f"the measure {task.measure.name!r}"):
            self.discrepancy = self.measure()
        self.watch: Watch = Watch(task.measure, task.stop.tol, task.stop.patience, self.discrepancy)
        self.last: Selection | None = None
        self.heard: list[Answers] = []  # at the latest step
        self.failure: Exception | None = None  # an error of a step, raised after the steps before it are recorded

    @property
    def values(self) -> Array:
        return self.pupil.values

    def advance(self, steps: int, asked: Sequence[int] = ()) -> Chunk:
        wanted, snapshots = set(asked), dict[int, Array]()
        shown: list[Indices] = []  # not the selections: their scores would be kept in memory
        labels: list[Array] = []
        points: list[Array] = []
        added: list[Array] | None = None
        if self.task.keeps_coefficients and isinstance(self.pupil, KernelPupil) and self.pupil.takes_slopes:
            added = []
        weights: list[Array | None] = []
        heard: list[Answers] = []
        discrepancies: list[float] = []
        outcome: Outcome | None = None
        in_box = self.task.box is not None
        if self.failure is not None:
            raise self.failure
        if self.may_be_compiled and (self.step >= LATE or numba_is_loaded()):
            self.compile_pupil()
        with np.errstate(over="ignore", invalid="ignore"):  # a diverging lesson is an outcome, not a warning
            for _ in range(steps):
                outcome = self.watch.over(self.step, self.discrepancy)
                if outcome is not None:
                    break
                try:
                    places, selection = self.select()
                    outcome, slopes = self.stillness(selection)
                    if outcome is not None:
                        break
                    self.offer.learn(places, selection, slopes)
                    discrepancy = self.measure()
                except NothingLeft:
                    outcome = Outcome.ALL_SHOWN
                    break
                except Exception as error:
                    if not shown:
                        raise
                    self.failure = error
                    break
                self.memory = selection.memory
                self.last = selection
                weights.append(selection.weights)
                if self.heard:
                    heard += self.heard
                self.step += 1
                self.discrepancy = discrepancy
                shown.append(selection.indices)
                labels.append(selection.labels)
                if added is not None:
                    added.append(self.pupil.added)  # type: ignore[attr-defined]
                if in_box and (between := self.offer.points(places)) is not None:
                    points.append(between)
                discrepancies.append(discrepancy)
                if self.step in wanted:
                    snapshots[self.step] = np.array(self.values)
        dimension = self.task.pool.dimension
        looked = None
        if self.task.looks_by_schedule:
            looked = np.array(
                [self.task.looks_at(self.step - len(shown) + row) for row in range(len(shown))], dtype=bool
            )
        return Chunk(
            as_rows(shown, NO_INDEX).astype(np.int64, copy=False),
            as_rows(labels, np.nan, self.task.label_outputs),
            np.array(discrepancies, dtype=np.float64),
            outcome,
            None if self.task.box is None else as_rows(points, np.nan, (dimension,)),
            looked,
            snapshots,
            None if added is None else as_rows(added, np.nan, self.task.label_outputs),
            as_weights(weights, shown),
            Answers.join(heard) if heard else None,
        )

    def compile_pupil(self) -> None:
        """Let the pupil use compiled code; to load numba for it takes as long as many steps without it."""
        load_numba()
        from nimt.engines.compiled_steps.newton_steps import add_center

        cast(CompilablePupil, self.pupil).use_compiled(add_center)
        self.may_be_compiled = False

    def select(self) -> tuple[Indices, Selection]:
        """Ask the teacher; return the places it chose, and its answer in terms of the lesson's pool."""
        task, offer = self.task, self.offer
        view = offer.view(self.step, self.selection_rng, self.memory)
        selection = self.teacher.select(view)
        if not isinstance(selection, Selection):
            raise InvalidInput(f"{task.teacher.kind}.select must return a Selection, got {selection!r}")
        places = check_indices(selection.indices, len(view.target))
        if self.per_output and len(places) % task.outputs[0]:
            raise InvalidInput(
                f"{task.teacher.kind} shows each of {task.outputs[0]} outputs examples of its own, and chose "
                f"{len(places)}: it must choose as many for every output"
            )
        if self.other_target is not None and self.label_rng.random() < task.other_probability:
            labels = offer.other_labels(places)
        else:
            labels = check_given_labels(selection.labels, (len(places), *self.label_outputs), self.check_labels)
        memory = None if selection.memory is None else check_memory(selection.memory)
        weights = None if selection.weights is None else check_weights(selection.weights, len(places))
        if view.heard or self.heard:
            self.heard = [
                Answers(np.full(len(asked), self.step), offer.name_points(asked).astype(np.int64), answers)
                for asked, answers in view.heard
            ]
        return places, Selection(offer.indices(places), labels, selection.scores, memory, weights)

    def stillness(self, selection: Selection) -> tuple[Outcome | None, Array | None]:
        """Return an outcome if the examples chosen move the learner too little, or if no later step can move it.

        With it come the slopes of the loss at these examples, None where no rule asked for them.

        The largest S = (slope K(x, x))^2 of the pack, the paper's S, is compared with `stop_when_stationary`. A learner
        with `is_full` cannot be moved by any point of the pool. If the slope is zero at every example shown and the
        teacher would show the same examples again, the learner is at rest.
        """
        if self.may_be_full and self.pupil.is_full:  # type: ignore[attr-defined]
            return Outcome.STATIONARY, None
        pupil, still = self.pupil, self.still
        loss, diagonal = pupil.loss, pupil.diagonal
        if loss is None or diagonal is None:
            return None, None
        may_rest = self.repeats and self.discrepancy > 0 and selection.memory is None
        if not may_rest and still is None:
            return None, None
        values, indices, weights = pupil.values, selection.indices, selection.weights
        if self.slopes_of_numbers and len(indices) == 1 and weights is None:
            slopes = loss.slope(values[indices.item()], selection.labels[0])
        else:
            values = self.task.at_examples(values, indices) if self.per_output else values[indices]
            slopes = loss.slope(values, selection.labels)
        if weights is not None:
            slopes = weigh_slopes(slopes, weights)
        if still is not None:
            at = diagonal[indices].reshape(-1, *(1 for _ in self.task.label_outputs))
            if np.max((slopes * at) ** 2) <= still:
                return Outcome.STATIONARY, slopes
        # a teacher that draws may show another example next time
        steep = slopes.item() if slopes.size == 1 else np.count_nonzero(slopes)
        rests = may_rest and not steep and not self.has_drawn("selection")
        return Outcome.AT_REST if rests else None, slopes

    def mix(self, matrix: Array) -> None:
        cast(MixingPupil, self.pupil).mix(matrix)
        self.discrepancy = self.measure()

    def settle(self) -> None:
        pass  # the pupil has all of it

    def close(self) -> None:
        pass

    def state(self) -> dict[str, Any]:
        memory = None if self.memory is None else dict(self.memory)
        return super().state() | {"memory": memory, "offer": self.offer.state()}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.memory = check_memory(state["memory"])
        self.offer.restore(state.get("offer", {}))


def check_given_labels(labels: ArrayLike, shape: tuple[int, ...], check: Callable[[Array], None] | None) -> Array:
    """Return a teacher's labels, or say what is wrong with them; `check` is that of the loss."""
    # one label per step, as in `check_indices`
    if type(labels) is np.ndarray and labels.dtype == FLOAT and labels.shape == shape == (1,) and isfinite(labels[0]):
        if check is not None:
            check(labels)
        return labels.copy()
    given = real_array("a teacher's labels", labels)
    if given.shape != shape:
        raise InvalidInput(
            f"a teacher showed {say_count(shape[0], 'example')} with labels of shape {given.shape}, not {shape}"
        )
    check_finite("a teacher's labels", given)
    if check is not None:
        check(given)
    return given.copy()  # the teacher may use its array again


def check_weights(weights: ArrayLike, k: int) -> Array:
    """Return the weights that a teacher gave the examples of a pack, or say what is wrong with them."""
    given = real_array("a teacher's weights", weights)
    if given.shape != (k,):
        raise InvalidInput(
            f"a teacher showed {say_count(k, 'example')} with weights of shape {given.shape}, not ({k},)"
        )
    check_finite("a teacher's weights", given)
    return given.copy()


def as_weights(packs: list[Array | None], shown: list[Indices]) -> Array | None:
    """Return the weights of packs of any size as rows, 1 for a pack without; None if no pack has any."""
    if all(weights is None for weights in packs):
        return None
    return as_rows([np.ones(len(i)) if w is None else w for w, i in zip(packs, shown, strict=True)], np.nan)


def check_memory(memory: Memory | None) -> Memory | None:
    """Return the memory of a teacher as arrays that a file can hold."""
    if memory is None:
        return None
    if not isinstance(memory, Mapping):
        raise InvalidInput(
            f"must be a dict of named arrays, for example memory={{'seen': seen}}; got {memory!r}", parameter="memory"
        )
    kept = {str(name): np.array(value) for name, value in memory.items()}
    for name, value in kept.items():
        if value.dtype.kind not in "biufU":
            raise InvalidInput(
                f"must hold arrays of numbers or text; {name!r} has dtype {value.dtype}", parameter="memory"
            )
    return kept
