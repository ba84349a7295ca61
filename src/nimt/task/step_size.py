"""What to warn of where a learning rate is too large."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nimt.arrays import Array
from nimt.inheritance import behaves_like
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import Pupil
from nimt.losses import Loss, Square
from nimt.wording import Wording

if TYPE_CHECKING:
    from nimt.task.task import Task

AUTO = Wording("learning_rate='auto'", "--learning-rate auto")


def find_large_step(pupil: Pupil, task: Task, gain: float | None) -> str | None:
    """Return what to say of a learning rate that is too large; "will diverge" only where it is proved, else "may"."""
    loss = pupil.loss
    if loss is None or gain is None or gain <= 0:
        return None
    tell = getattr(pupil, "rate", None)
    if tell is None:
        return None
    rate = float(tell())
    smooth = np.isfinite(loss.smoothness)
    return _of_smooth_loss(rate, loss, gain, task) if smooth else _of_kinks(rate, pupil, gain, task)


def _of_smooth_loss(rate: float, loss: Loss, gain: float, task: Task) -> str | None:
    if loss.smoothness <= 0:
        return None
    bound = 1.0 / (loss.smoothness * gain)
    if rate <= bound * (1 + 1e-12):
        return None
    alone = task.pack_size == 1
    formula = "1 / (L max K(x, x))" if alone else "1 / (L G)"
    meaning = "" if alone else " (G bounds the norm of a pack's Gram matrix, divided by the size of the pack)"
    if rate <= 2 * bound:
        return AUTO.embed(
            f"the learning rate {rate:g} is above the bound {formula} = {bound:g}: steps may overshoot; use at most "
            f"{bound:g}, or ",
            meaning,
        )
    will = _is_proved_to_diverge(loss, task)
    what = "every step overshoots by more than it corrects and the lesson will" if will else "the lesson may"
    return AUTO.embed(
        f"the learning rate {rate:g} is above {2 * bound:g}, twice the bound {formula}: {what} diverge; use at most "
        f"{bound:g}, or ",
        meaning,
    )


def _is_proved_to_diverge(loss: Loss, task: Task) -> bool:
    """Say whether every step enlarges the error at the shown example, whatever the teacher chooses."""
    learner = task.learner
    return (
        behaves_like(loss, Square, "slope")
        and isinstance(learner, KernelLearner)
        and learner.kernel.is_stationary()
        and learner.update.is_plain
        and not callable(learner.learning_rate)
        and task.pack_size == 1
        and task.other_target is None
        and task.teacher.shows_true_labels
    )


def _of_kinks(rate: float, pupil: Pupil, gain: float, task: Task) -> str | None:
    """Warn if steps are longer than the distance to the target and, the loss having a kink, do not become shorter."""
    farthest = float(np.max(np.abs(pupil.values - task.target)))
    assert pupil.loss is not None
    steepest = float(np.max(np.abs(pupil.loss.slope(pupil.values, task.target)), initial=0.0))
    length = rate * gain * steepest
    if callable(getattr(task.learner, "learning_rate", None)) or length <= farthest or farthest == 0:
        return None
    moves = (
        f"the learning rate {rate:g} moves the learner by up to {length:.3g} at the example shown, and the target is "
        f"at most {farthest:.3g} away"
    )
    less = f"use less than {farthest / (gain * steepest):.3g}"
    if _has_kink(pupil.loss, task.target, farthest):
        return (
            f"{moves}: with this loss steps do not become shorter, so the lesson cannot end near the target; {less}, "
            f"or a decreasing schedule"
        )
    diverges = " and the lesson may diverge" if length > 2 * farthest else ""
    return f"{moves}: steps may overshoot{diverges}; {less}"


def _has_kink(loss: Loss, target: Array, scale: float) -> bool:
    """Say whether the slope stays away from 0 as f tends to the label; it tends to 0 for |f - y|^3, not for |f - y|."""
    near, nearer = (
        max(float(np.max(np.abs(loss.slope(target + side * share * scale, target)))) for side in (-1, 1))
        for share in (1e-4, 1e-6)
    )
    return nearer > near / 2
