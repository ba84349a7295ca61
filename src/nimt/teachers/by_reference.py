"""What is shared by teachers that compare the learner with a reference: it is asked once for a lesson."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from nimt.arrays import Array
from nimt.inheritance import behaves_like
from nimt.kernels import Kernel
from nimt.kernels.kernel import diagonal
from nimt.learners.learner import auto_rate
from nimt.losses import Loss, Square, as_loss
from nimt.pools.pool import Pool
from nimt.schedules import LookSchedule, PackSchedule, check_look, check_pack
from nimt.teachers.references import answer_on, answers_at, check_reference
from nimt.teachers.rule import Rule
from nimt.teachers.scores.omniscient_score import Omniscient
from nimt.teachers.scores.surrogate_score import Surrogate
from nimt.teachers.teacher import Selection, Teacher, View, count_of, largest


class ByReference(Teacher):
    """A teacher with the fields below, which shows the k points with the largest scores."""

    reference: Any
    loss: str | Loss | None
    kernel: Kernel | None
    learning_rate: float | str | None
    k: int | float | PackSchedule
    look: LookSchedule | None

    steepest: ClassVar[float]  # how large eta K times the smoothness of the loss may be
    fallbacks: ClassVar[Mapping[str, Any]] = {}  # of what it does without
    sees: ClassVar[tuple[str, ...]] = ("kernel", "loss", "rate")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pack(self.k)
        check_look(self.look)
        self.check_parts()
        check_reference(self.reference)

    @abstractmethod
    def make_score(self, reference: Any) -> Surrogate | Omniscient:
        """Return the score, with the answers of the reference."""

    def cost(self, pool: Pool) -> Array:
        """Return (eta / 2) K(x, x) on a pool: what a step costs, per squared slope."""
        return self.rate_on(pool) / 2 * self._diagonal(pool)

    def rate_on(self, pool: Pool) -> float:
        """Return the learning rate; "auto" is that of a `KernelLearner` shown one example per step."""
        rate = self.fallbacks.get("rate") if self.learning_rate is None else self.learning_rate
        assert rate is not None
        return auto_rate(self.known_loss, self._diagonal(pool)) if isinstance(rate, str) else float(rate)

    @property
    def known_loss(self) -> Loss:
        """The loss that it was given, or sees."""
        loss = self.fallbacks.get("loss") if self.loss is None else self.loss
        assert loss is not None
        return as_loss(loss)

    def _diagonal(self, pool: Pool) -> Array:
        return np.ones(len(pool)) if self.kernel is None else diagonal(self.kernel, pool)

    def prepare_on(self, pool: Pool, target: Array) -> Self:
        prepared = super().prepare_on(pool, target)
        if self.reference is None:
            return prepared
        answers = answer_on(self.reference, pool, target.shape[1:], self.known_loss)
        return dataclasses.replace(prepared, reference=answers)  # type: ignore[call-arg]

    def for_classes(self, loss: str | Loss) -> Self:
        return dataclasses.replace(self, loss=loss)  # type: ignore[call-arg]

    def is_too_steep(self, pool: Pool) -> bool:
        """Say whether a step at this rate is so long that the score does not rise with the error.

        Where it is just as long, the score of the square loss is 0 everywhere; that of other losses still rises.
        """
        if not self.is_informed:
            return False  # the rate changes
        beyond = 1 - 1e-9 if isinstance(self.known_loss, Square) else 1 + 1e-9
        steps = self.cost(pool) * 2 * self.known_loss.smoothness
        return bool(np.isfinite(steps).all() and steps.max() > self.steepest * beyond)

    def compiled_rule(self) -> Rule | None:
        if not behaves_like(self, ByReference, "select", "scores"):
            return None
        if isinstance(self.k, PackSchedule) and self.look is not None:  # a larger pack of an earlier look is not kept
            return None
        if not self.is_informed:
            return None
        return Rule(score=self.make_score(self.reference))

    def select(self, view: View) -> Selection:
        seen = view.as_last_seen(self.look)
        scores = self.scores(seen)
        chosen = largest(scores, count_of(self.k, len(view), view.step))
        return view.show(chosen, scores, memory=seen.to_remember(self.look))

    def scores(self, view: View) -> Array:
        """Return the score of each point."""
        score, constants = self._latest.on(view)
        return score.at(view.predictions, view.target, constants)

    @cached_property
    def _latest(self) -> Latest:
        return Latest(self)


class Latest:
    """The score with its constants for the points of the latest view, which are the same at every step of a lesson."""

    def __init__(self, teacher: ByReference) -> None:
        self.teacher = teacher
        self.seen: tuple[Pool, Array] | None = None
        self.rate: float | None = None

    def on(self, view: View) -> tuple[Surrogate | Omniscient, Array]:
        """Return both, computed anew only for other points."""
        same = self.seen is not None and self.seen[0] is view.pool and self.seen[1] is view.target
        if not same or view.rate != self.rate:
            teacher = self.teacher if self.teacher.is_informed else self.teacher.inform_by(view)
            given = teacher.reference
            answers = None if given is None else answers_at(given, view, teacher.known_loss)
            self.score: Surrogate | Omniscient = teacher.make_score(answers)
            self.constants: Array = self.score.constants(view.pool, view.target)
            self.seen, self.rate = (view.pool, view.target), view.rate
        return self.score, self.constants
