"""Epochs without a part of the examples that are learned already, the others weighed for those left out [Qin24]."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices, check_count, is_number
from nimt.errors import InvalidInput
from nimt.losses import Loss, as_loss
from nimt.schedules import PackSchedule, check_pack
from nimt.teachers.teacher import Selection, Teacher, View, count_of


@dataclass(frozen=True, eq=False)
class PruningTeacher(Teacher):
    """Leave a share of the examples with small losses out of each epoch, and weigh the others like them instead.

    At the beginning of an epoch a `share` of the examples whose loss, as it was after they were last shown, is below
    the mean is drawn and left out (rounded down); the others below the mean get the weight 1 / (1 - share). In the mean
    over the draws each example counts 1 per epoch, so the gradient of an epoch is not biased. Examples that were never
    shown are not left out, so the first epoch is whole. Each epoch is shuffled; a pack that an epoch does not fill is
    filled from the next one. This is the rule of InfoBatch [Qin24], with a number that is left out instead of coins.

    The learner must take weights, as a `KernelLearner` and a `nimt.torch.TorchLearner` do. In a loop of your own
    (`nimt.torch.teach`) multiply `packs.weights` into the losses; the teacher reads what the training itself computes.

    Parameters
    ----------
    k : int, float or schedule
        A count from 1 to n, or a share in (0, 1]; a schedule (`nimt.schedules`) changes it with the step.
    share : float in [0, 1)
        How many of the examples below the mean are left out.
    until : float in [0, 1]
        The share of the lesson after which new epochs are whole again.
    loss : str or Loss
        By which examples are compared, from f and f*; summed over outputs.
    over : int, optional
        The steps of the lesson, for `until`; `max_iterations` by default.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
    >>> x = np.linspace(-2, 2, 20)
    >>> lesson = nimt.teach(learner, PruningTeacher(k=5), x, x**3, max_iterations=6, tol=None)
    >>> sorted(lesson.indices[:4].ravel().tolist()) == list(range(20)), lesson.weights[3:5].max(axis=1)
    (True, array([1., 2.]))
    """

    k: int | float | PackSchedule = 0.1
    share: float = dataclasses.field(default=0.5, kw_only=True)
    until: float = dataclasses.field(default=0.875, kw_only=True)
    loss: str | Loss = dataclasses.field(default="square", kw_only=True)
    over: int | None = dataclasses.field(default=None, kw_only=True)

    at_random: ClassVar[bool] = True
    watches_packs: ClassVar[bool] = True
    own_colour: ClassVar[str | None] = "#6699CC"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"pruning": {}}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pack(self.k)
        if not is_number(self.share) or not 0 <= float(self.share) < 1:
            raise InvalidInput(f"must be a number from 0 to below 1, got {self.share!r}", parameter="share")
        if not is_number(self.until) or not 0 <= float(self.until) <= 1:
            raise InvalidInput(f"must be a number from 0 to 1, got {self.until!r}", parameter="until")
        if self.over is not None:
            check_count("over", self.over, at_least=1)
        as_loss(self.loss)

    @property
    def method(self) -> str:
        return f"pruning-{self.k}"

    @property
    def may_repeat(self) -> bool:
        return True  # a pack may hold the end of one epoch and the beginning of the next

    def looks_at(self, step: int) -> bool:
        return False

    def fix_length(self, steps: int) -> Self:
        settled = super().fix_length(steps)
        return settled if settled.over is not None else dataclasses.replace(settled, over=max(1, steps))

    def select(self, view: View) -> Selection:
        memory = begin_memory(len(view)) if view.memory is None else dict(view.memory)
        losses = self._read_losses(view, memory)
        rest, weights = memory["rest"], memory["weights"]
        k = count_of(self.k, len(view), view.step)
        prunes = self.over is None or view.step < self.until * self.over
        while len(rest) < k:
            order, weighed = plan_epoch(losses, float(self.share) if prunes else 0.0, view.rng)
            rest, weights = np.concatenate([rest, order]), np.concatenate([weights, weighed])
        kept = {"losses": losses, "latest": rest[:k], "rest": rest[k:], "weights": weights[k:]}
        return view.show(rest[:k], memory=kept, weights=weights[:k])

    def _read_losses(self, view: View, memory: dict[str, NDArray[Any]]) -> Array:
        """Return the loss last known at every example, NaN for those never shown: new at those of the latest pack."""
        latest, losses = memory["latest"], np.array(memory["losses"])
        terms = np.asarray(as_loss(self.loss).value(view.predictions[latest], view.target[latest]))
        losses[latest] = terms if terms.ndim == 1 else terms.sum(axis=1)
        return losses


def begin_memory(n: int) -> dict[str, NDArray[Any]]:
    """Return what is known before the first of n examples is shown."""
    nothing = np.empty(0, dtype=np.intp)
    return {"losses": np.full(n, np.nan), "latest": nothing, "rest": nothing, "weights": np.empty(0)}


def plan_epoch(losses: Array, share: float, rng: np.random.Generator) -> tuple[Indices, Array]:
    """Return the examples of an epoch, shuffled, and their weights, whose sum is the number of all examples.

    Examples
    --------
    >>> order, weights = plan_epoch(np.array([0.0, 9.0, 1.0, np.nan]), 0.5, np.random.default_rng(0))
    >>> weights[order == 1], weights[order == 3], len(order), weights.sum()
    (array([1.]), array([1.]), 3, np.float64(4.0))
    """
    known = np.isfinite(losses)
    usual = float(np.mean(losses[known])) if known.any() else 0.0
    below = np.flatnonzero(known & (losses < usual))
    dropped = min(int(share * len(below)), max(0, len(below) - 1))
    weights = np.ones(len(losses))
    if dropped:
        weights[below] = len(below) / (len(below) - dropped)
        weights[rng.choice(below, size=dropped, replace=False)] = 0.0
    order = rng.permutation(np.flatnonzero(weights))
    return order, weights[order]
