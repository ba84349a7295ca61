"""Synthesised labels: show the largest error, with a label for which the learner's own step reaches the target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array, Indices, check_positive, is_number
from nimt.errors import InvalidInput, ResponseWarning, name_thing, warn
from nimt.inheritance import behaves_like
from nimt.losses import check_labels
from nimt.schedules import check_k
from nimt.teachers.responses import Responses
from nimt.teachers.rule import LabelsByResponse, Rule
from nimt.teachers.teacher import Selection, Teacher, View, count_of, largest, residual_size
from nimt.wording import Wording


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

    The disadvantage: labels may lie outside the range of the target, by up to `radius`. A loss that accepts
    only some labels (logistic) refuses them.

    Parameters
    ----------
    radius : float, optional
        How far a label, the true label included, may be from the learner's prediction. By default the largest
        |f0 - f*| of the points it may show.
    label_range : "target" or pair of floats, optional
        Keep every label within the range of f* on the points it may show, or between these two numbers: for labels
        that must be possible values of the target. It needs more steps.
    k : int or float
        A count from 1 to n, or a share in (0, 1]. The points of a pack move each other, so k=1 is the most accurate.

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

    makes_labels: ClassVar[bool] = True
    own_colour: ClassVar[str | None] = "#6A3D9A"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"synthesis": {}}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_k(self.k)
        if self.radius is not None:
            check_positive("radius", self.radius)
        self._check_label_range()
        if self.labels is not None:
            problem = self.kind.embed(after=" makes the labels itself")
            raise InvalidInput(problem, way_out=Wording("leave labels= out", "leave --other-target out"))

    @property
    def method(self) -> str:
        return f"synthesis-{self.k}"

    @property
    def needs_one_output(self) -> bool:
        return True

    def check_loss(self, loss: Any) -> None:
        """Refuse a loss that takes few labels: the labels made lie anywhere between and beyond the true ones."""
        try:
            check_labels(loss, np.zeros(1))
        except InvalidInput:
            raise InvalidInput(
                self.kind.embed(after=f" makes labels of any value, and the loss {name_thing(loss)} takes only some"),
                way_out=Wording("use nimt.GreedyTeacher() or another loss", "use --teacher greedy or another --loss"),
            ) from None

    def compiled_rule(self) -> Rule | None:
        own = behaves_like(self, SynthesisTeacher, "select", "label", "limits", "responses_so_far")
        return Rule(labels=LabelsByResponse()) if own else None

    def select(self, view: View) -> Selection:
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
