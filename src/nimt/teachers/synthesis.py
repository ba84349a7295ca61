"""Synthesised labels: show the largest error, with a label for which the learner's own step reaches the target."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from nimt.arrays import Array, Indices, check_positive, is_number
from nimt.errors import InvalidInput, ResponseWarning, name_thing, warn
from nimt.inheritance import behaves_like
from nimt.kernels import Kernel
from nimt.learners.learner import auto_rate
from nimt.losses import Loss, as_loss, check_labels
from nimt.pools.pool import Pool
from nimt.schedules import check_k
from nimt.teachers.closed_labels import check_closed_form, find_labels
from nimt.teachers.planned import PlannedTeacher
from nimt.teachers.references import answer_on, answers_at
from nimt.teachers.responses import Responses
from nimt.teachers.rule import LabelsByResponse, Rule
from nimt.teachers.teacher import Selection, Teacher, View, count_of, largest, norm_of, residual_size
from nimt.wording import Wording

CHOICES_OF_POINTS = ("greedy", "random", "planned")
SINGULAR = 1e-10  # of the largest singular value: directions in which the examples of a pack cannot be told apart


@dataclass(frozen=True, eq=False)
class SynthesisTeacher(Teacher):
    r"""Choose the label too, so that the learner's own step reaches the target at the point shown.

    With true labels the steps become smaller as |f - f*| shrinks. Here the example is chosen as `GreedyTeacher` does,
    and its label is

        y = f(x) + clip((f*(x) - f(x)) / rho, -radius, radius),

    rho being the learner's response (f^{t+1}(x) - f^t(x)) / (y - f^t(x)). The teacher is told neither the learning
    rate nor the loss nor the kernel: it observes the effect of its examples and estimates rho from it
    (`nimt.teachers.responses`), for all points together while their responses agree and for each alone where they do
    not. It uses only responses that it has observed: the first example carries the true label, and so does the first
    example at a point whose response differs from the others'. Where a more distant label does not move the learner
    further, it warns and uses nearer labels, down to the true label.

    With `points` the teacher is a white box instead and estimates nothing: it sees the kernel, the loss and the rate,
    and solves K_PP c = f_P - f*_P for the points P of the pack. A step with the slopes k c / eta of the loss takes the
    learner to f* at all of them at once; the labels are those with these slopes (LAST, [Liu21]): f - k c / (2 eta) for
    the square loss, 2 (sigma(f) - k c / eta) - 1 for the logistic loss, softmax(f) - k c / eta for cross-entropy, there
    the nearest probabilities. With random points that is the randomised Kaczmarz method, with greedy ones Motzkin's.
    For classes give f* as `reference`.

    The disadvantage: labels may lie outside the range of the target, by up to `radius`. Without `points`, a loss that
    accepts only some labels (logistic) refuses them.

    Parameters
    ----------
    radius : float, optional
        How far a label, the true label included, may be from the learner's prediction. By default the largest
        |f0 - f*| of the points it may show.
    label_range : "target" or pair of floats, optional
        Keep every label within the range of f* on the points it may show, or between these two numbers: for labels
        that must be possible values of the target. It needs more steps.
    k : int or float
        A count from 1 to n, or a share in (0, 1]. The points of a pack move each other, so k=1 is the most accurate;
        with `points` a pack of any size is put right at once.
    points : {"greedy", "random", "planned"}, optional
        How a white box chooses: the largest errors, a draw, or as `PlannedTeacher` does.
    reference : nimt.reference, array, callable or fitted estimator, optional
        With `points`: f*, where the target holds labels of another kind, as classes; the target by default.
    kernel, learning_rate, loss : optional
        With `points`: of the learner, which the teacher sees.

    Examples
    --------
    >>> import nimt
    >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01)
    >>> rules = {"tol": 1e-3, "max_iterations": 9000}
    >>> [nimt.teach(learner, teacher, x, np.sin, **rules).itd for teacher in (nimt.GreedyTeacher(), SynthesisTeacher())]
    [1865, 242]
    """

    radius: float | None = None
    label_range: str | tuple[float, float] | None = None
    k: int | float = 1
    points: str | None = None
    reference: Any = None
    kernel: Kernel | None = None
    learning_rate: float | str | None = None
    loss: str | Loss | None = None

    makes_labels: ClassVar[bool] = True
    own_colour: ClassVar[str | None] = "#6A3D9A"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "synthesis": {},
        **{f"last-{points}": {"points": points} for points in CHOICES_OF_POINTS},
    }
    sees: ClassVar[tuple[str, ...]] = ("kernel", "loss", "rate")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_k(self.k)
        if self.radius is not None:
            check_positive("radius", self.radius)
        self._check_label_range()
        self._check_points()
        if self.labels is not None:
            problem = self.kind.embed(after=" makes the labels itself")
            raise InvalidInput(problem, way_out=Wording("leave labels= out", "leave --other-target out"))

    @property
    def method(self) -> str:
        return f"synthesis-{self.k}" if self.points is None else f"LAST-{self.k} ({self.points})"

    @property
    def colour(self) -> str | None:
        return super().colour if self.points is None else "#CC6677"

    @property
    def opens(self) -> tuple[str, ...]:
        return () if self.points is None else self.sees

    @property
    def draws(self) -> bool | None:
        return super().draws or self.points in ("random", "planned")

    @property
    def needs_one_output(self) -> bool:
        return self.points is None

    def check_loss(self, loss: Any) -> None:
        """Refuse a loss that takes few labels: the labels made lie anywhere between and beyond the true ones."""
        if self.points is not None:
            check_closed_form(loss, self.kind)
            return
        try:
            check_labels(loss, np.zeros(1))
        except InvalidInput:
            raise InvalidInput(
                self.kind.embed(after=f" makes labels of any value, and the loss {name_thing(loss)} takes only some"),
                way_out=Wording("use nimt.GreedyTeacher() or another loss", "use --teacher greedy or another --loss"),
            ) from None

    def compiled_rule(self) -> Rule | None:
        own = behaves_like(self, SynthesisTeacher, "select", "label", "limits", "responses_so_far")
        return Rule(labels=LabelsByResponse()) if own and self.points is None else None

    def prepare_on(self, pool: Pool, target: Array) -> Self:
        if self.reference is None or self.loss is None:
            return self
        answers = answer_on(self.reference, pool, target.shape[1:], as_loss(self.loss))
        return dataclasses.replace(self, reference=answers)

    def _select_closed(self, view: View) -> Selection:
        """Show a pack with the labels that put it right at once."""
        if not self.is_informed:
            return self.inform_by(view).select(view)
        assert self.kernel is not None
        assert self.loss is not None
        assert self.learning_rate is not None
        loss, k = as_loss(self.loss), count_of(self.k, len(view))
        truth = view.target if self.reference is None else answers_at(self.reference, view, loss)
        errors = np.asarray(view.predictions - truth)
        memory, scores = None, norm_of(errors)
        if self.points == "greedy":
            shown = largest(scores, k)
        elif self.points == "random":
            shown = np.sort(view.rng.choice(len(view), size=k, replace=False))
        else:
            planned = PlannedTeacher(k=self.k).select(dataclasses.replace(view, target=truth))
            shown, memory = np.unique(planned.indices), planned.memory
        rate = self.learning_rate
        if isinstance(rate, str):
            rate = auto_rate(loss, self.kernel.diag(view.pool.points))
        gram = np.asarray(self.kernel(view.pool.take(shown)), dtype=np.float64)
        slopes = len(shown) / rate * np.linalg.lstsq(gram, errors[shown], rcond=SINGULAR)[0]
        labels = find_labels(
            loss, view.predictions[shown], np.asarray(slopes, dtype=np.float64), self.limits(view.target)
        )
        return view.show(shown, scores, labels=labels, memory=memory)

    def select(self, view: View) -> Selection:
        if self.points is not None:
            return self._select_closed(view)
        responses = self.responses_so_far(view)
        scores = residual_size(view.predictions, view.target)
        shown = largest(scores, count_of(self.k, len(view)))
        labels, offsets = self.label(responses, shown, view.predictions[shown], view.target[shown], view.target)
        memory = responses.remember(shown, view.predictions[shown], offsets)
        return view.show(shown, scores, labels=labels, memory=memory)

    def label(
        self, responses: Responses, shown: Indices, predictions: Array, target: Array, everywhere: Array
    ) -> tuple[Array, Array]:
        """Return the labels of the points shown, and how far each is from the prediction.

        `predictions` and `target` are those of the points shown, `everywhere` is f* on all points that may be shown.
        """
        offsets = responses.offsets(shown, target - predictions)
        labels = make_labels(offsets, predictions, target)
        limits = self.limits(everywhere)
        if limits is None:
            return labels, offsets
        kept = np.clip(labels, *limits)
        return kept, np.where(kept == labels, offsets, kept - predictions)

    def limits(self, everywhere: Array) -> tuple[float, float] | None:
        """Return between which numbers labels are kept."""
        if isinstance(self.label_range, str):
            return float(np.min(everywhere)), float(np.max(everywhere))
        return self.label_range

    def _check_points(self) -> None:
        if self.points is None:
            given = [n for n in ("reference", "kernel", "learning_rate", "loss") if getattr(self, n) is not None]
            if given:
                raise InvalidInput(f"{given[0]}= is used with points= only, a white box")
            return
        if not isinstance(self.points, str) or self.points not in CHOICES_OF_POINTS:
            names = ", ".join(map(repr, CHOICES_OF_POINTS))
            raise InvalidInput(f"must be None or one of {names}, got {self.points!r}", parameter="points")
        if self.radius is not None:
            raise InvalidInput("radius= is of labels by responses", way_out="use label_range=, or leave points= out")
        self.check_parts()
        if self.loss is not None:
            check_closed_form(as_loss(self.loss), self.kind)

    def _check_label_range(self) -> None:
        if self.label_range is None or (isinstance(self.label_range, str) and self.label_range == "target"):
            return
        given = self.label_range
        pair = isinstance(given, tuple | list) and len(given) == 2 and all(is_number(end) for end in given)
        if not pair or not -np.inf < float(given[0]) < float(given[1]) < np.inf:
            raise InvalidInput(
                f"must be 'target' or two rising numbers (low, high), got {given!r}", parameter="label_range"
            )

    def responses_so_far(self, view: View) -> Responses:
        """Return what is known of the learner's responses, including the latest step."""
        if view.memory is None:
            radius = self.radius or float(np.max(residual_size(view.predictions, view.target)))
            return Responses.unknown(view.candidates, radius)
        responses = Responses.recall(view.memory, view.candidates)
        observe(responses, view.predictions, view.step)
        return responses


def observe(responses: Responses, predictions: Array, step: int) -> None:
    """Update the responses by the effect of the latest labels, and warn where the movement stopped growing."""
    stopped_growing = responses.observe(predictions, step)
    if stopped_growing is not None:
        near, far = stopped_growing
        warn_that_movement_stopped_growing(near, far, responses.reach, step)


def warn_that_movement_stopped_growing(near: float, far: float, reach: float, step: int) -> None:
    """Warn that a label at the further distance moved the learner no further than one at the nearer."""
    warn(
        f"a label {far:.3g} away moved the learner no further than one {near:.3g} away (step {step}): "
        f"labels are now made within {reach:.3g} of its predictions, and are the true labels where these are "
        f"further away",
        ResponseWarning,
    )


def make_labels(offsets: Array, predictions: Array, target: Array) -> Array:
    """Return f + offset, and exactly f* where the offset is f* - f.

    f + (f* - f) is f* only up to rounding, and a true label must be exact.
    """
    return np.where(offsets == target - predictions, target, predictions + offsets)
