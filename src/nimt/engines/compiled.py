"""What the compiled engines share: the random draws, the rules, the state."""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Flags, Indices, check_stored_indices
from nimt.engines.codes import LIMIT, NO_SCORE, Scoring
from nimt.engines.engine import STREAMS, Engine, Watch
from nimt.engines.error_product import RENEWED, ErrorProduct
from nimt.engines.parts import pack_size
from nimt.engines.synthesising import LabelMaker
from nimt.errors import ResponseWarning
from nimt.learners.kernel_pupils import KernelPupil
from nimt.lesson.outcome import Outcome
from nimt.lesson.recording import Chunk, join_chunks
from nimt.losses import Loss, Square, twin_of
from nimt.measures import SAFE_SQUARES, distance
from nimt.task.task import Task
from nimt.teachers.rule import Drawn, Jointly, LabelsByResponse, Listed, Part, Rule
from nimt.teachers.scores import OwnScore, Residual
from nimt.teachers.teacher import NORMS, Selection

OUTCOMES = (None, Outcome.DIVERGED, Outcome.CONVERGED, Outcome.STALLED, Outcome.STATIONARY, Outcome.AT_REST)


def code_of(loss: Loss) -> tuple[int, float]:
    """Return the number by which compiled code knows a loss, and its parameter."""
    code = twin_of(loss)
    assert code is not None
    return code


def value_code_of(loss: Loss) -> int:
    """Return the number by which compiled code knows the value of a loss."""
    own = getattr(loss, "compiled_value", None)  # its slope and its value are two functions
    return code_of(loss)[0] if own is None else int(own())


class StepBatch(NamedTuple):
    """The steps of one call: their inputs, and the arrays that the results are written to.

    Attributes
    ----------
    rates : array (steps,)
        The learning rate of each.
    other_label : array (steps,) of bool
        Whether its pack is labelled by the other target. Never None: that would be another type, for which every loop
        is compiled again.
    watch : array (2,)
        The best discrepancy so far and its step, read and written.
    indices : array (steps, k) of int
        What is shown: drawn beforehand, or written; (1, k) where every step shows the same.
    labels : array (steps, k q)
        Written; (1, k q) likewise.
    discrepancy : array (steps,)
        After each step; written.
    coefficients : array (steps, k q)
        What each example added to f; written. (0, k q) where nobody asked for it.
    """

    rates: Array
    other_label: Flags
    watch: Array
    indices: NDArray[np.int64]
    labels: Array
    discrepancy: Array
    coefficients: Array

    def part(self, low: int, high: int) -> StepBatch:
        """Return the batch of the steps from `low` to before `high`."""
        now = slice(low, high)
        rows = now if len(self.indices) == len(self.rates) else slice(None)  # one row for all
        parts = self.indices[rows], self.labels[rows], self.discrepancy[now], self.coefficients[now]
        return StepBatch(self.rates[now], self.other_label[now], self.watch, *parts)


class CompiledEngine(Engine):
    """The part of an engine that does not depend on how K acts.

    While it runs it owns the pupil's arrays, in an order of its own; a subclass defines `run(batch)`.
    """

    name: str = ""

    def __init__(self, task: Task, pupil: KernelPupil) -> None:
        self.task: Task = task
        self.pupil: KernelPupil = pupil
        self.loss: int
        self.delta: float
        self.loss, self.delta = code_of(pupil.loss)
        # None for the square: a loop that leaves the others out is a thirtieth faster
        self.quick_loss: int | None = None if self.loss == Square.number else self.loss
        assert task.rule is not None  # else this engine is not chosen
        self.rule: Rule = task.rule
        self.choose: Part = self.rule.choose
        self.greedy: bool = not isinstance(self.choose, Drawn | Listed)
        self.k: int = pack_size(task)
        self.pack: NDArray[np.int64] | None = None  # of the latest look, where the teacher looks by a schedule
        self.outputs: tuple[int, ...] = (0,) * int(np.prod(task.label_outputs))  # see `compiled_steps`
        self.copies: tuple[int, ...] = (task.outputs[0], 0) if task.per_output else (1,)
        self.makes_labels: bool = isinstance(self.rule.labels, LabelsByResponse)  # from the learner's responses
        self.norm: int = NORMS.index(self.rule.score.norm)
        self.steps_before: int = pupil.learner.steps_  # of the lesson
        self.step: int = 0
        self.discrepancy: float = 0.0
        self.last: Selection | None = None
        self.maker: LabelMaker | None = None
        self.responses: dict[str, Any] | None = None  # its state once it is let go
        self.product: ErrorProduct | None = None  # for a score that needs K r
        self.failure: Exception | None = None  # raised after the steps before it are recorded
        scale = task.measure.scale(task.target)
        assert scale is not None
        self.scale: float = scale

    def begin(self, discrepancy: float) -> None:
        """Start the watch with the discrepancy before the first step."""
        task = self.task
        tol = task.stop.tol
        tol_square = -1.0 if tol is None or tol <= 0.0 else (tol / self.scale) * (tol / self.scale)
        self.discrepancy = discrepancy
        self.watch: Watch = Watch(task.measure, task.stop.tol, task.stop.patience, discrepancy)
        self.rules: Array = np.array(
            [
                self.scale,
                -1.0 if tol is None else tol,
                self.watch.limit,
                -1.0 if task.stop.stop_when_stationary is None else task.stop.stop_when_stationary,
                0.0 if task.stop.patience is None else float(task.stop.patience),
                1.0 if task.repeats and not self.makes_labels else 0.0,
                tol_square,
            ]
        )

    def measure(self, square: float, f: Array, y: Array) -> float:
        """Return the discrepancy from a sum of squares, as compiled code does."""
        safe = SAFE_SQUARES[0] < square < SAFE_SQUARES[1]
        return self.scale * (math.sqrt(square) if safe else distance(f, y))

    def make_labels_by(self, slots: int, largest: float) -> None:
        """Prepare for a teacher that makes labels; `largest` is the largest |f - f*| that it may show."""
        self.maker = LabelMaker(self.task, slots, self.k, largest)

    @property
    def making(self) -> tuple[object, ...] | None:
        """What compiled code makes labels from, None for a teacher that does not."""
        return None if self.maker is None else self.maker.arrays

    def advance(self, steps: int, asked: Sequence[int] = ()) -> Chunk:
        if not self.task.has_schedule:
            return self._advance(steps, asked)
        chunks: list[Chunk] = []
        snapshots: dict[int, Array] = {}
        end = self.step + steps
        while not chunks or (self.step < end and chunks[-1].outcome is None and self.failure is None):
            began, stop = self.step, min(self.step + 1, end)
            self.k, looks = pack_size(self.task, began), self.task.looks_at(began)
            while stop < end and pack_size(self.task, stop) == self.k and self.task.looks_at(stop) == looks:
                stop += 1
            if self.task.looks_by_schedule:
                self._look(looks)
            chunks.append(self._advance(stop - began, [step for step in asked if began < step < stop]))
            snapshots |= chunks[-1].snapshots
            if self.step in asked:
                snapshots[self.step] = np.array(self.values)
            if looks and self.step > began:
                self.pack = self.last_selection().indices
            if self.step < stop:
                break
        looked = None
        if self.task.looks_by_schedule:
            looked = np.array([self.task.looks_at(step) for step in range(end - steps, self.step)], dtype=bool)
        return join_chunks(chunks, looked, snapshots)

    def _look(self, looks: bool) -> None:
        """Choose by the scores of now, or show the pack of the latest look again."""
        if looks and not self.greedy:
            self.greedy = True
            self.find_scores()
        self.greedy = looks

    def _advance(self, steps: int, asked: Sequence[int]) -> Chunk:
        """Take steps with packs of one size, all of them chosen by a look, or none."""
        if self.failure is not None:
            raise self.failure
        rates = self._rates(steps)
        steps = len(rates)
        task, k, q = self.task, self.k * self.copies[0], len(self.outputs)
        other_label: Flags = np.zeros(steps, dtype=bool)
        if task.other_target is not None:
            other_label = self.label_rng.random(steps) < task.other_probability
        rows = 1 if self.shows_the_same else steps
        indices = np.empty((rows, k), dtype=np.int64) if self.greedy else self._draw(steps)
        watch = np.array([self.watch.best, float(self.watch.best_at)])
        added = np.empty((steps if task.keeps_coefficients else 0, k * q))
        batch = StepBatch(rates, other_label, watch, indices, np.empty((rows, k * q)), np.empty(steps), added)
        if self.maker is not None:
            self.maker.make_room(steps)
        taken, code, snapshots = self._run_through(batch, asked)
        self.watch.best, self.watch.best_at = float(watch[0]), int(watch[1])
        self.pupil.steps += taken
        labels = batch.labels.reshape(len(batch.labels), k, *task.label_outputs)
        if self.shows_the_same:
            indices, labels = (np.broadcast_to(part[0], (steps, *part.shape[1:])) for part in (indices, labels))
        if taken:
            self.last = Selection(indices[taken - 1], labels[taken - 1])
        if self.maker is not None:
            try:
                self.maker.warn()
            except ResponseWarning as warning:  # where warnings are errors: raised after these steps are recorded
                self.failure = warning
        coefficients = added[:taken].reshape(-1, k, *task.label_outputs) if task.keeps_coefficients else None
        return Chunk(
            indices[:taken], labels[:taken], batch.discrepancy[:taken], OUTCOMES[code], snapshots=snapshots,
            coefficients=coefficients,
        )  # fmt: skip

    def _run_through(self, batch: StepBatch, asked: Sequence[int]) -> tuple[int, int, dict[int, Array]]:
        """Take the steps of a batch; return what `run` returns, and the values after the steps asked for."""
        began, end = self.step, self.step + len(batch.rates)
        snapshots: dict[int, Array] = {}
        code = 0
        stops = [*asked[: bisect_left(asked, end)], end]
        if self.product is not None:
            stops = sorted({*stops, *range(began // RENEWED * RENEWED + RENEWED, end, RENEWED)})
        for stop in stops:
            low, high = self.step - began, stop - began
            try:
                taken, code = self.run(batch.part(low, high) if len(stops) > 1 else batch)
            except Exception as error:  # the kernel may be the user's, and raise anything
                if low == 0:
                    raise
                self.failure = error  # the steps before the latest snapshot are recorded first
                break
            self.step += taken
            if taken:
                self.discrepancy = float(batch.discrepancy[low + taken - 1])
            if taken and self.product is not None and self.step % RENEWED == 0:
                self.renew_product()
            if stop == end or self.step < stop:
                break
            if stop in asked:
                snapshots[stop] = np.array(self.values)
            if self.maker is not None and self.maker.must_warn:
                break
        return self.step - began, code, snapshots

    def renew_product(self) -> None:
        """Compute K r anew, and all that depends on it."""

    @property
    def shows_the_same(self) -> bool:
        """Whether every step shows the same pack with the same labels; a batch then has one row for all."""
        return False

    @abstractmethod
    def run(self, batch: StepBatch) -> tuple[int, int]:
        """Take the steps of a batch; return how many were taken and the code of the outcome."""

    def mix(self, matrix: Array) -> None:
        self.settle()
        self.pupil.mix(matrix)
        self.discrepancy = self.take_over()

    @abstractmethod
    def find_scores(self) -> None:
        """Compute from f all that the next choice depends on."""

    @abstractmethod
    def take_over(self) -> float:
        """Take the pupil's arrays, bring the scores up to date, and return the discrepancy."""

    @property
    def barred(self) -> Flags:
        """The points that may not be shown."""
        flags = np.zeros(len(self.task.pool), dtype=bool)
        if self.task.candidates is not None:
            flags[:] = True
            flags[self.task.candidates] = False
        return flags

    def candidate_scores(self) -> Array:
        """Return initial scores: 0 for points that may be shown, NO_SCORE as bits for those that may not."""
        return np.where(self.barred, NO_SCORE, 0).view(np.float64)

    def scoring_with(self, arrange: Callable[[Array], Array]) -> Scoring | None:
        """Return the score for compiled code, None for the residual; `arrange` brings its constants into the layout."""
        score = self.rule.score
        if isinstance(score, Residual):
            return None
        if score.keeps_product:
            self.product = ErrorProduct(score, self.task.pool, ~self.barred)
            rows = [*self.product.own, *np.zeros((len(self.outputs), len(self.task.pool)))]
        else:
            rows = [*score.constants(self.task.pool, self.task.target)]
        constants = [arrange(row) for row in rows]
        loss, delta = (0, 1.0) if score.loss is None else code_of(score.loss)
        value = 0 if score.loss is None else value_code_of(score.loss)
        value = score.address if isinstance(score, OwnScore) else value
        return Scoring(score.number, (loss, value), delta, np.array(constants, ndmin=2))

    @property
    def room_for_joint(self) -> tuple[Array, NDArray[np.int64]] | None:
        """Room in which compiled code chooses packs by their joint decrease, None for other teachers."""
        if not isinstance(self.choose, Jointly) or self.k == 1:
            return None
        n = len(self.task.pool)
        return np.empty((len(self.outputs), n)), np.empty(n, dtype=np.int64)

    def go_on_from(self, engine: Engine) -> None:
        """Go on where another engine has taken the first steps with the same pupil."""
        self.step, self.discrepancy, self.last = engine.step, engine.discrepancy, engine.last
        for name in STREAMS:
            if name in vars(engine):
                vars(self)[name] = getattr(engine, name)
        self.watch.restore(engine.watch.state())
        self.rules[LIMIT] = self.watch.limit

    def _rates(self, steps: int) -> Array:
        learner = self.pupil.learner
        if not callable(learner.learning_rate):
            return np.full(steps, self.pupil.rate())
        before = self.steps_before + self.step
        rates = np.empty(steps)
        for t in range(steps):
            try:
                rates[t] = learner.rate(before + t, self.pupil.diagonal)
            except Exception:  # the schedule may be the user's, and raise anything
                if t == 0:
                    raise
                return rates[:t]  # what is wrong with a rate is said at the step it belongs to, not before
        return rates

    def _draw(self, steps: int) -> NDArray[np.int64]:
        """Return what `select` would draw in these steps, the same numbers from the same stream; or the pack again."""
        if isinstance(self.choose, Listed):
            listed = self.choose.indices
            return listed[np.arange(self.step, self.step + steps) % len(listed)].reshape(steps, 1).astype(np.int64)
        if not isinstance(self.choose, Drawn):
            assert self.pack is not None
            return np.tile(self.pack, (steps, 1))
        candidates: Indices = np.arange(self.task.offered) if self.task.candidates is None else self.task.candidates
        packs = self.copies[0]
        drawn = self.choose.draw(self.selection_rng, candidates, self.k, steps * packs).reshape(steps, packs * self.k)
        return np.ascontiguousarray(drawn if self.task.candidates is None else candidates[drawn], np.int64)

    def state(self) -> dict[str, Any]:
        responses = self.responses if self.maker is None else self.maker.state()
        return super().state() | {"responses": responses, "pack": self.pack}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.rules[LIMIT] = self.watch.limit
        if self.maker is not None:
            self.maker.restore(state["responses"])
        if self.task.looks_by_schedule and self.step:
            self.pack = check_stored_indices(state, "pack", (self.k * self.copies[0],), len(self.task.pool))
