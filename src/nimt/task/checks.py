"""What is wrong with a lesson, found before its first step: what cannot be taught is refused, the rest is warned of."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nimt.arrays import Array, is_whole
from nimt.counting import say_count
from nimt.errors import (
    InvalidInput,
    NarrowKernelWarning,
    NimtError,
    SlowLessonWarning,
    StepSizeWarning,
    TeacherWarning,
    first_call_of,
    name_thing,
)
from nimt.inheritance import behaves_like
from nimt.kernels import Kernel
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import MixingPupil, Pupil, SeveralPupils, find_disagreement, find_known_parts, find_rate
from nimt.lesson.descriptions import is_own
from nimt.losses import Loss, Square, check_labels, couples_outputs
from nimt.measures import distance
from nimt.pools.pool import Points
from nimt.wording import Wording

if TYPE_CHECKING:
    from nimt.task.task import Task


PER_OUTPUT = Wording("PerOutput", "a teacher per output")
WITHOUT_PER_OUTPUT = Wording("give the teacher without PerOutput", "leave -per-output out of --teacher")
COMMUNICATING = Wording("Communicating", "--communicate")
WITHOUT_COMMUNICATING = Wording("give the teacher without Communicating", "leave --communicate out")
AUTO = Wording("learning_rate='auto'", "--learning-rate auto")
FEWEST = 50  # points: of fewer, each may well be taught by itself
SAMPLE = 48  # points whose nearest neighbours are looked for
FELT = 0.05  # the value of the kernel, relative to K(x, x), from which a neighbour is taught too
BLOCK = 1 << 16  # points at a time
SLOW = 10.0  # seconds of the plain loop that are worth a warning


def check_fit(task: Task) -> None:
    """Refuse a teacher that cannot teach this target, here or at all."""
    if task.outputs and task.teacher.needs_one_output:
        teaches = f" teaches functions with one output with these options, and the target has {task.outputs[0]}"
        raise InvalidInput(
            task.teacher.kind.embed(after=teaches),
            way_out=Wording("nimt.GreedyTeacher()", "--teacher greedy").embed("teach each output by itself, or use "),
        )
    if task.per_output:
        _check_per_output(task)
    if task.communicates:
        _check_communicating(task)
    if task.box is not None:
        _check_box(task)
    with first_call_of(lambda: f"{task.teacher.kind}.check_on"):
        task.teacher.check_on(len(task.pool))
    task.pack_size  # noqa: B018  (refuses a pack larger than the pool)


def _check_per_output(task: Task) -> None:
    """Refuse what cannot be taught one output at a time."""
    if not task.outputs:
        raise InvalidInput(
            PER_OUTPUT.embed(after=" shows every output examples of its own, and the target has one output"),
            way_out=WITHOUT_PER_OUTPUT,
        )
    if task.box is not None:
        raise InvalidInput("in a Box all outputs are shown the same examples: leave PerOutput out, or use a Grid")


def _check_communicating(task: Task) -> None:
    """Refuse what cannot be mixed, or measured after it."""
    if not task.outputs:
        raise InvalidInput(
            COMMUNICATING.embed(after=" mixes outputs, and the target has one output"), way_out=WITHOUT_COMMUNICATING
        )
    if task.measure.name == "rkhs":
        raise InvalidInput(
            "the norm in H is kept up to date by what steps add, and a mixture changes all of f",
            way_out=WITHOUT_COMMUNICATING.embed("measure 'rms' or 'paper', or "),
        )


def _check_box(task: Task) -> None:
    """Refuse what a box cannot do."""
    functions = {"the target": task.target_function}
    if task.teacher.labels is not None:
        functions["the other target"] = task.teacher.labels.other_target
    for name, function in functions.items():
        if not callable(function) and not hasattr(function, "predict"):
            raise InvalidInput("must be callable in a Box, because examples may lie anywhere in it", parameter=name)
    if task.stop.stop_when_stationary is not None:
        raise InvalidInput("stop_when_stationary is not available in a Box: use patience instead")
    if task.candidates is not None:
        raise InvalidInput(
            "in a Box a teacher cannot have pool=, because a Box is not a list of points: leave it out, or use a "
            "smaller Box"
        )
    if task.looks_by_schedule:
        raise InvalidInput("in a Box a teacher cannot have look=, because what it may show changes with every step")
    k = task.teacher.size
    if k is not None and not is_whole(k):
        raise InvalidInput(
            f"in a Box k must be a count, because a Box has no number of points to take a share of; got k={k!r}"
        )


def check_pupil(pupil: Pupil, task: Task) -> None:
    """Refuse what the learner cannot use: labels that its loss does not take, rules that need a loss, huge numbers."""
    if task.per_output and not isinstance(pupil, SeveralPupils):
        raise InvalidInput(
            PER_OUTPUT.embed(after=f" teaches one output at a time, which {type(task.learner).__name__} cannot learn"),
            way_out=WITHOUT_PER_OUTPUT.embed("use a KernelLearner, or "),
        )
    if task.communicates and not isinstance(pupil, MixingPupil):
        raise InvalidInput(
            COMMUNICATING.embed(
                after=f" mixes the outputs of the learner, which {type(task.learner).__name__} cannot do"
            ),
            way_out=WITHOUT_COMMUNICATING.embed("use a KernelLearner, or "),
        )
    coupled = couples_outputs(pupil.loss)
    if coupled and task.per_output:
        raise InvalidInput(
            PER_OUTPUT.embed(
                after=f" teaches one output at a time, and the loss {name_thing(pupil.loss)} couples them"
            ),
            way_out=WITHOUT_PER_OUTPUT,
        )
    if coupled and task.communicates:
        raise InvalidInput(
            COMMUNICATING.embed(
                after=f" fits f to the target, which f does not tend to with the loss {name_thing(pupil.loss)}"
            ),
            way_out=WITHOUT_COMMUNICATING,
        )
    if pupil.loss is None and task.stop.stop_when_stationary is not None:
        raise InvalidInput(
            f"stop_when_stationary needs the learner's loss, which {type(task.learner).__name__} does not provide: "
            f"use patience instead"
        )
    if pupil.loss is not None:
        check_labels(pupil.loss, task.target)
        task.teacher.check_loss(pupil.loss)
        if task.other_target is not None:
            check_labels(pupil.loss, task.other_target)
    if callable(getattr(task.learner, "learning_rate", None)):
        _check_first_rate(task.learner)
    with np.errstate(over="ignore", invalid="ignore"):
        start = distance(pupil.values, task.target)
    if np.isfinite(start):
        return
    unknown = np.argwhere(np.isnan(pupil.values))
    if unknown.size:
        raise InvalidInput(
            f"{type(task.learner).__name__} predicts nan at {len(unknown)} of {pupil.values.size} values before the "
            f"first example, first at point {unknown[0][0]}: let it predict numbers from the start"
        )
    raise InvalidInput(
        f"the discrepancy before the first example is {start!s}: the target or the initial function is too "
        f"large to be subtracted and summed; divide both by a common factor"
    )


def _check_first_rate(learner: Any) -> None:
    """Refuse a schedule that cannot be called at the first step; one that fails later ends the lesson there."""
    first = getattr(learner, "steps_", None)  # how many it has taken
    if not is_whole(first):
        return
    try:
        learner.learning_rate(first)
    except NimtError:
        raise
    except Exception as error:
        raise InvalidInput(
            f"learning_rate raised {type(error).__name__} ({error}) when it was called with the first step, {first}"
        ) from error


@contextlib.contextmanager
def name_kernels(*owners: object) -> Iterator[None]:
    """Name a kernel of the user in the error that it raises in the block, before the first step."""
    try:
        yield
    except (NimtError, MemoryError):
        raise
    except Exception as error:
        kernels = (getattr(owner, "kernel", None) for owner in owners)
        theirs = next((kernel for kernel in kernels if kernel is not None and not is_own(kernel)), None)
        if theirs is None:
            raise
        problem = f"raised {type(error).__name__} ({error}) before the first step"
        raise InvalidInput(f"the kernel {theirs!r} {problem}") from error


def find_faults(task: Task) -> dict[type[Warning], str]:
    """Return what to warn of, by the class of the warning."""
    pupil, kernel = task.look_at_pupil(), getattr(task.learner, "kernel", None)
    found: dict[type[Warning], str] = {}
    with name_kernels(task.learner, task.teacher):
        if large := find_large_step(pupil, task):
            found[StepSizeWarning] = large
        if misleading := find_misleading(pupil, task):
            found[TeacherWarning] = misleading
        # a grid is not looked at: the pictures of the paper are taught pixel by pixel, and nothing is asked between
        if kernel is not None and isinstance(task.pool, Points) and len(task.pool) >= FEWEST:
            narrow = find_narrow_kernel(kernel, task.pool)
            if narrow is not None:
                found[NarrowKernelWarning] = narrow
        is_plain = task.engine == "auto" and isinstance(task.learner, KernelLearner)
        if is_plain and task.choice.plan.engine == "reference" and (slow := _say_slow(task)):
            found[SlowLessonWarning] = slow
    return found


def find_misleading(pupil: Pupil, task: Task) -> str | None:
    """Return what will mislead the teacher: labels, a loss, or parts that are not the learner's."""
    found = task.teacher.find_misleading(task.pool, task.target, task.candidates, pupil.loss)
    if found is not None or not task.teacher.opens:
        return found
    known = find_known_parts(task.learner)
    return find_disagreement(task.teacher.known_parts, known | {"rate": find_rate(pupil, known["rate"])})


def _say_slow(task: Task) -> str | None:
    """Return why a long lesson of a kernel learner runs in the plain loop, None if it is short."""
    seconds = task.choice.seconds * task.stop.max_iterations
    if seconds <= SLOW:
        return None
    return f"{say_count(task.stop.max_iterations, 'step')} may take about {seconds:.0f} s in {task.choice.plan.reason}"


def find_large_step(pupil: Pupil, task: Task) -> str | None:
    """Return what to say of a learning rate that is too large; "will diverge" only where it is proved, else "may"."""
    loss, gain = pupil.loss, task.gain
    tell = getattr(pupil, "rate", None)
    if loss is None or gain is None or gain <= 0 or tell is None:
        return None
    rate = float(tell())
    if not np.isfinite(loss.smoothness):
        return _of_kinks(rate, pupil, gain, task)
    if loss.smoothness <= 0 or rate <= (1 + 1e-12) / (loss.smoothness * gain):
        return None
    return _of_smooth_loss(rate, loss, gain, task)


def _of_smooth_loss(rate: float, loss: Loss, gain: float, task: Task) -> str:
    bound = 1.0 / (loss.smoothness * gain)
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


def find_narrow_kernel(kernel: Kernel, pool: Points) -> str | None:
    """Return what to say if, at most points of a scattered pool, no other point is within reach of the kernel."""
    rows = np.random.default_rng(0).choice(len(pool), SAMPLE, replace=False)
    felt, distance = _nearest(kernel, pool.points, rows)
    alone = int(np.count_nonzero(felt < FELT))
    if 2 * alone <= len(rows):
        return None
    return (
        f"the kernel reaches almost no neighbour: at {alone} of {len(rows)} points looked at, the nearest other "
        f"point (about {np.median(distance):.3g} away) feels less than {FELT:.0%} of an example, so that the "
        f"learner remembers the examples and knows nothing between them; use a wider kernel, or scale the features"
    )


def _nearest(kernel: Kernel, points: Array, rows: np.ndarray) -> tuple[Array, Array]:
    """Return how much each of some points is felt at the other point that feels it most, and how far that is."""
    here = points[rows]
    scale = np.sqrt(np.maximum(kernel.diag(here), np.finfo(float).tiny))
    best, place = np.full(len(rows), -np.inf), np.zeros(len(rows), dtype=np.intp)
    for start in range(0, len(points), BLOCK):
        there = points[start : start + BLOCK]
        values = np.abs(kernel(here, there)) / scale[:, np.newaxis]
        values /= np.sqrt(np.maximum(kernel.diag(there), np.finfo(float).tiny))
        own = (rows >= start) & (rows < start + len(there))
        values[np.flatnonzero(own), rows[own] - start] = -np.inf
        largest = values.argmax(axis=1)
        better = values[np.arange(len(rows)), largest] > best
        best[better] = values[np.arange(len(rows)), largest][better]
        place[better] = largest[better] + start
    return best, np.linalg.norm(points[place] - here, axis=1)
