"""Go through a recorded lesson, step by step: the one source of everything the theory says about a lesson."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nimt.arrays import Array, Indices, outputs_of
from nimt.errors import CannotStore, InvalidInput
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.kernel_pupils import KernelPupil
from nimt.lesson.descriptions import rebuild
from nimt.lesson.lesson import Lesson
from nimt.losses import Loss, as_loss
from nimt.pools.pool import values_on
from nimt.teachers.candidates import candidates_of
from nimt.theory.bounds_table import check_one_output

REPLAY_TOLERANCE = 1e-6  # of the largest value: engines may round differently, and no more than that


@dataclass(frozen=True, eq=False)
class Moment:
    """One step of a lesson, seen from inside.

    Attributes
    ----------
    step : int
        t, from 0.
    values, after : arrays (n,)
        f^t and f^{t+1} on the pool.
    indices, labels, slopes : arrays (k,)
        What was shown, and dL/df there at f^t.
    rate : float
        The learning rate of this step.
    """

    step: int
    values: Array
    after: Array
    indices: Indices
    labels: Array
    slopes: Array
    rate: float


@dataclass(frozen=True, eq=False)
class Replay:
    """A lesson of a `KernelLearner` whose record is whole; `moments()` yields its steps.

    Attributes
    ----------
    lesson : Lesson
    start : KernelLearner
        The learner as it was before the lesson.
    """

    lesson: Lesson
    start: KernelLearner

    @cached_property
    def loss(self) -> Loss:
        return as_loss(self.start.loss)

    @cached_property
    def diagonal(self) -> Array:
        """K(x, x) on the pool, shape (n,)."""
        return np.asarray(self.start.kernel.diag(self.lesson.pool.points), dtype=np.float64)

    @cached_property
    def rates(self) -> Array:
        """The learning rate of every step, shape (T,)."""
        before = self.start.steps_
        steps = range(before, before + len(self.lesson))
        if not callable(self.start.learning_rate) and len(steps):
            return np.full(len(steps), self.start.rate(before, self.diagonal))
        return np.array([self.start.rate(step, self.diagonal) for step in steps], dtype=np.float64)

    @cached_property
    def candidates(self) -> Indices:
        """The points the teacher could show: a limited pool of its own, or all.

        A teacher that is not nimt's own is recorded by its name only; it is taken to be free to show all.
        """
        pool, settings = self.lesson.pool, self.lesson.settings
        pool_stream, _, _ = np.random.default_rng(settings["seed"]).spawn(3)
        chosen = candidates_of(settings["teacher"].get("pool"), pool.shape, pool_stream)
        return np.arange(len(pool)) if chosen is None else chosen

    @property
    def free(self) -> bool:
        """Whether the teacher could show every point."""
        return len(self.candidates) == len(self.lesson.pool)

    @cached_property
    def target_function(self) -> Any:
        """f* as it was given, where that can be rebuilt; its values on the pool otherwise."""
        try:
            given = rebuild(self.lesson.settings["target_function"])
        except CannotStore:
            given = None
        return self.lesson.target if given is None else given

    def pupil(self) -> KernelPupil:
        """Return the learner before the first step, at work on the pool."""
        return KernelPupil(self.start, self.lesson.pool, self.lesson.target.shape[1:])

    def moments(self, pupil: KernelPupil | None = None) -> Iterator[Moment]:
        """Yield every step; `pupil` is taught along, so a measure of it can be read between two moments."""
        lesson = self.lesson
        pupil = pupil or self.pupil()
        values = pupil.values.copy()
        has_own, loss, rates = lesson.per_output, self.loss, self.rates.tolist()
        for step in range(len(lesson)):
            shown, labels = lesson.pack(step)
            indices = shown.astype(np.intp)
            own = outputs_of(len(indices), lesson.target.shape[1]) if has_own else ...
            with np.errstate(over="ignore", invalid="ignore"):  # a diverged lesson is told as it was
                slopes = np.asarray(loss.slope(values[indices, own], labels))
                follow_step(lesson, step, pupil, (indices, labels))
            after = pupil.values.copy()
            yield Moment(step, values, after, indices, labels, slopes, rates[step])
            values = after
        _check_arrival(values, lesson.final)


def follow_step(lesson: Lesson, step: int, pupil: KernelPupil, pack: tuple[Indices, Array]) -> None:
    """Move a pupil as a step moved the learner: by the coefficients recorded, or, of a pack, by its labels."""
    indices, labels = pack
    known = lesson.coefficients
    moves = labels if known is None else known[step][: len(indices)]
    if not lesson.per_output:
        (pupil.learn if known is None else pupil.add)(indices, moves)
        return
    packs = (lesson.target.shape[1], -1)
    (pupil.learn_each if known is None else pupil.add_each)(indices.reshape(packs), moves.reshape(packs))


def replay(lesson: Lesson, *, several_outputs: bool = False) -> Replay:
    """Make a lesson ready to be gone through, or say why it cannot be.

    `several_outputs` is for what holds for several outputs as for one.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 5.0], [1.0, 3.0], max_iterations=2)
    >>> [(moment.step, moment.indices.tolist(), moment.rate) for moment in replay(lesson).moments()]
    [(0, [1], 0.5), (1, [0], 0.5)]
    """
    if not isinstance(lesson, Lesson):
        raise InvalidInput(f"the theory speaks of a lesson, as nimt.teach returns it; got {lesson!r}")
    if not several_outputs:
        check_one_output(lesson.target, "the target of this lesson")
    if lesson.settings["teacher"].get("type") == "Communicating":
        raise InvalidInput("the outputs of this lesson were mixed between its steps, which the theory does not cover")
    if lesson.taught is None:
        raise InvalidInput(
            "this lesson was stored without its learner, which is not nimt's own, so it cannot be replayed: "
            "use the lesson that nimt.teach returned"
        )
    if not isinstance(lesson.taught, KernelLearner):
        raise InvalidInput(
            f"the theory is about functional gradients, so about a KernelLearner; this lesson taught a "
            f"{type(lesson.taught).__name__}"
        )
    if not lesson.taught.update.is_plain:
        raise InvalidInput(
            f"the theory is about gradient steps, and this learner has {lesson.taught.update.parts[0]}=: leave it out"
        )
    if lesson.shown_points is not None:
        raise InvalidInput("this lesson was held in a Box, off its grid: only one on a pool can be replayed")
    if lesson.indices is None or lesson.labels is None:
        raise InvalidInput(
            "this lesson kept only how often each point was shown, not when, so it cannot be replayed: "
            "teach it again with record='all'"
        )
    return Replay(lesson, learner_at_start(lesson))


def learner_at_start(lesson: Lesson) -> KernelLearner:
    """Return the learner as it was before the lesson; what is not nimt's own in it is taken from the taught one."""
    try:
        learner: KernelLearner = rebuild(lesson.settings["learner"])
    except CannotStore:
        taught = lesson.taught
        learner = KernelLearner(
            taught.kernel,
            loss=taught.loss,
            learning_rate=taught.learning_rate,
            initial=values_on(lesson.pool, lesson.initial, "initial"),
        )
        learner.steps_ = taught.steps_ - len(lesson)
    return learner.bind(lesson.pool)


def _check_arrival(values: Array, final: Array) -> None:
    """Refuse a replay that ends elsewhere than the lesson did: its numbers would be about another lesson."""
    if not (np.isfinite(values).all() and np.isfinite(final).all()):
        return
    gap = float(np.max(np.abs(values - final)))
    if gap > REPLAY_TOLERANCE * max(1.0, float(np.max(np.abs(final)))):
        raise InvalidInput(
            f"the replay ends {gap:.2g} away from what the lesson recorded: its parts do not belong together"
        )
