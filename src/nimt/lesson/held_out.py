"""How far a learner is off on points it was never shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nimt.arrays import Array, check_stored_array, is_whole
from nimt.classes import are_classes, class_of
from nimt.errors import CorruptLesson, InvalidInput
from nimt.measures import distance

PAIRS = 4_000_000  # kernel values per measurement during a lesson
FEWEST = 200  # points, however many centres there are


class HeldOutRows(NamedTuple):
    """Points that are never shown, and f* there; the first `choosing` of them are for the curve alone.

    What is chosen by the curve, such as a step, is then measured on points that did not choose it. 0 takes all points
    for both.
    """

    points: Array
    target: Array
    choosing: int = 0

    def for_curve(self) -> tuple[Array, Array]:
        """Return the points, and f* there, of the curve."""
        count = self.choosing or len(self.points)
        return self.points[:count], self.target[:count]

    def for_report(self) -> tuple[Array, Array]:
        """Return the points, and f* there, on which the taught learner is measured."""
        return self.points[self.choosing :], self.target[self.choosing :]

    def measure(self, values: Array, target: Array, taught: Array) -> HeldOutError:
        """Compare values at some of the points with the target there; `taught` is the target of the lesson.

        Few points may be of one class alone, so that the target of the lesson tells that there are two.
        """
        of_one = target.ndim == 1 and bool((np.abs(self.target) == 1.0).all()) and names_classes(taught)
        return error_on(values, target, of_one or names_classes(self.target))


@dataclass(frozen=True)
class HeldOutError:
    """The error of a learner on points that are held out.

    Attributes
    ----------
    count : int
        How many points.
    rms : float
        sqrt(mean (f - f*)^2), over all points and outputs.
    r_squared : float or None
        1 - sum (f - f*)^2 / sum (f* - mean)^2: 1 if all is explained, 0 for the mean of these points, below 0 if worse
        than that. None where f* is constant.
    accuracy : float or None
        The share of right answers; None where f* names no classes.
    """

    count: int
    rms: float
    r_squared: float | None
    accuracy: float | None

    @property
    def main(self) -> tuple[str, float]:
        """What to say first: the accuracy of classes, otherwise the root mean square error."""
        return ("rms", self.rms) if self.accuracy is None else ("accuracy", self.accuracy)


def error_on(values: Array, target: Array, of_classes: bool | None = None) -> HeldOutError:
    """Compare values with the target, both (n,) or (n, q); None asks the target whether it names classes.

    Examples
    --------
    >>> error_on(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 6.0]))
    HeldOutError(count=4, rms=1.0, r_squared=0.7142857142857142, accuracy=None)
    """
    off = distance(values, target)
    spread = distance(target, np.broadcast_to(target.mean(axis=0), target.shape))
    share = None if spread == 0 else 1.0 - (off / spread) ** 2
    of_classes = names_classes(target) if of_classes is None else of_classes
    right = float(np.mean(_answers(values) == _answers(target))) if of_classes else None
    return HeldOutError(len(target), off / float(np.sqrt(target.size)), share, right)


def _answers(values: Array) -> Any:
    """Return the class of each value: its largest output, or its sign, also where the target has one class alone."""
    return class_of(values) if values.ndim > 1 else values > 0


def measure_on_the_way(learner: Any, held: HeldOutRows, taught: Array) -> float:
    """Return the main error of a learner on the points of the curve; of many, only the first are measured."""
    points, target = held.for_curve()
    count = max(FEWEST, PAIRS // max(1, len(getattr(learner, "centers_", ()))))
    return held.measure(learner.predict(points[:count]), target[:count], taught).main[1]


def names_classes(target: Array) -> bool:
    """Say whether a target has labels -1 and 1, or one-hot rows."""
    if target.ndim != 1:
        return are_classes(target)
    return (
        target.size > 0 and abs(target[0]) == 1.0 and set(np.unique(target)) == {-1.0, 1.0}
    )  # most targets are not looked through


def load_held_out(described: Any, dimension: int, outputs: tuple[int, ...]) -> HeldOutRows | None:
    """Return the points and targets that a file holds, None where it has none."""
    if described is None:
        return None
    points = check_stored_array(described, "points", (None, dimension))
    target = check_stored_array(described, "target", (len(points), *outputs))
    choosing = described.get("choosing", 0)
    if not is_whole(choosing) or not 0 <= choosing < max(1, len(points)):
        raise CorruptLesson(f"the rows held out that choose must be fewer than {len(points)}, got {choosing!r}")
    return HeldOutRows(points, target, int(choosing))


def load_errors(described: Mapping[str, Any]) -> dict[int, float]:
    """Return the errors by step that a file holds."""
    steps = check_stored_array(described, "steps", (None,), "iu")
    errors = check_stored_array(described, "errors", (len(steps),))
    return {int(step): float(error) for step, error in zip(steps, errors, strict=True)}


def describe_errors(errors: Mapping[int, float]) -> dict[str, Any]:
    """Return errors by step as arrays."""
    return {"steps": np.array(list(errors), dtype=np.int64), "errors": np.array(list(errors.values()), dtype=float)}


def check_held_out(held: HeldOutRows, dimension: int, outputs: tuple[int, ...]) -> None:
    """Refuse held-out points that do not fit the pool and the target."""
    points, target, _ = held
    if points.shape[1] != dimension or target.shape[1:] != outputs:
        raise InvalidInput(
            f"holdout has points of dimension {points.shape[1]} with targets of shape {target.shape}, and the lesson "
            f"points of dimension {dimension} with {outputs[0] if outputs else 1} output(s)"
        )
