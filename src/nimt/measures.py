"""How far the learner is from the target: the discrepancy M(f, f*), in several forms, or a measure of your own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, is_number
from nimt.classes import answers, check_classes
from nimt.display import below, per_cent
from nimt.errors import InvalidInput, name_thing
from nimt.learners.learner import Pupil
from nimt.wording import Wording

SAFE_SQUARES = (1e-280, 1e280)  # sums of squares between which no square was lost or became infinite
ONE_THREAD = 8192  # numbers: BLAS gives longer products to threads, which wait for each other on a busy machine


@dataclass(frozen=True)
class Measure:
    """How far a learner is from the target; write your own with a `name` and `of(pupil, target)`.

    A measure of your own works as `measure=` of `teach`, in its stop rules, in figures and in files.

    Attributes
    ----------
    name : str
        What it is called in settings and tables.
    axis : str
        What it is called on the axis of a figure; the name by default.
    latex : str
        Its formula, for reports.
    higher_is_better : bool
        Whether it rises as the learner improves, as an accuracy does. `tol` is then reached from below.
    in_per_cent : bool
        Whether it is a share, which reports write in per cent.
    usual_tolerance : float or None
        What `tol="auto"` is, where `scale` is None.

    Examples
    --------
    >>> class Agreement(Measure):
    ...     name, higher_is_better = "agreement", True
    ...     def of(self, pupil, target):
    ...         return float(np.mean(np.sign(pupil.values) == np.sign(target)))
    >>> Agreement().is_reached(0.99, tol=0.95)
    True
    """

    name: ClassVar[str] = ""
    axis: ClassVar[str] = ""
    latex: ClassVar[str] = ""
    higher_is_better: ClassVar[bool] = False
    in_per_cent: ClassVar[bool] = False
    usual_tolerance: ClassVar[float | None] = None

    def of(self, pupil: Pupil, target: Array) -> float:
        """Return the measure of a pupil's `values` against the target, both (n,) or (n, q)."""
        raise InvalidInput(f"{type(self).__name__} has no of(pupil, target): a measure needs that method")

    def prepare(self, pupil: Pupil, target: Array, target_function: object) -> Callable[[], float]:
        """Return a function that measures the pupil as it is when called, after any work that is needed only once.

        `target_function` is what the caller of `teach` gave as y.
        """

        def measure_now() -> float:
            value = self.of(pupil, target)
            if not is_number(value):
                raise InvalidInput(f"the measure {self.name!r} returned {value!r}: it must return one number")
            return float(value)

        return measure_now

    def scale(self, values: Array) -> float | None:
        """Return s if the measure is s * sqrt(sum (f - f*)^2), which engines can update by differences; None if not."""
        return None

    def is_reached(self, value: float, tol: float) -> bool:
        """Say whether a value meets a tolerance."""
        return value >= tol if self.higher_is_better else value < tol

    def is_better(self, value: float, than: float) -> bool:
        """Say whether one value is better than another."""
        return value > than if self.higher_is_better else value < than

    def text(self, value: float | None, tol: float | None = None, digits: int = 4) -> str:
        """Return a value as reports write it, with so many digits that it is seen whether it meets the tolerance.

        Examples
        --------
        >>> Accuracy().text(0.75), RootMeanSquare().text(0.75)
        ('75.0%', '0.75')
        """
        if value is None or not math.isfinite(value):
            return "not finite"
        return per_cent(value, tol) if self.in_per_cent else below(value, tol, digits)

    @property
    def word(self) -> str:
        """What sentences call it: "discrepancy" for those of the paper's kind, the name of any other."""
        return self.name

    @property
    def letter(self) -> str:
        """What narrow places of tables and figures call it: M, or the name."""
        return self.name

    @property
    def worst(self) -> float:
        """The value that every other value is better than."""
        return -np.inf if self.higher_is_better else np.inf


class Discrepancy(Measure):
    """A distance of f from f*, which the paper calls M."""

    @property
    def word(self) -> str:
        return "discrepancy"

    @property
    def letter(self) -> str:
        return "M"


class RootOfSquares(Discrepancy):
    """sqrt(sum (f - f*)^2) over all points and outputs, or a multiple of it."""

    def of(self, pupil: Pupil, target: Array) -> float:
        return self.multiple(target) * distance(pupil.values, target)

    def prepare(self, pupil: Pupil, target: Array, target_function: object) -> Callable[[], float]:
        multiple = self.scale(target)
        if multiple is None:
            return super().prepare(pupil, target, target_function)
        return lambda: multiple * distance(pupil.values, target)

    def scale(self, values: Array) -> float | None:
        return self.multiple(values) if type(self).of is RootOfSquares.of else None

    def multiple(self, values: Array) -> float:
        """Return what the root of the sum is multiplied by."""
        return 1.0


class PaperDiscrepancy(RootOfSquares):
    """M = sqrt(sum (f - f*)^2) / n, the n outside the root: the paper's; the sum runs over all outputs."""

    name: ClassVar[str] = "paper"
    axis: ClassVar[str] = "discrepancy M"
    latex: ClassVar[str] = r"M = \frac{1}{n} \sqrt{\sum_i (f(x_i) - f^*(x_i))^2}"

    def multiple(self, values: Array) -> float:
        return 1.0 / len(values)


class RootMeanSquare(RootOfSquares):
    """sqrt(mean (f - f*)^2), the mean over all points and outputs."""

    name: ClassVar[str] = "rms"
    axis: ClassVar[str] = "root mean square error"
    latex: ClassVar[str] = r"\text{RMS} = \sqrt{\frac{1}{n} \sum_i (f(x_i) - f^*(x_i))^2}"

    @property
    def word(self) -> str:
        return "RMS"

    @property
    def letter(self) -> str:
        return "RMS"

    def multiple(self, values: Array) -> float:
        return 1.0 / float(np.sqrt(values.size))


class DistanceInH(Discrepancy):
    """|f - f*|_H, the norm in the kernel's space.

    Exact where y is an `Expansion` or a `KernelLearner` over the same kernel and from the same start, or a
    `LinearLearner` for a linear kernel; elsewhere the norm of the interpolant of f - f* on the pool. Of a kernel of
    finite rank it is that of the nearest function of the kernel, and a warning says what is left.
    """

    name: ClassVar[str] = "rkhs"
    axis: ClassVar[str] = "distance in the kernel's space"
    latex: ClassVar[str] = r"M = \lVert f - f^* \rVert_{\mathcal{H}}"

    def of(self, pupil: Pupil, target: Array) -> float:
        return self.prepare(pupil, target, None)()

    def prepare(self, pupil: Pupil, target: Array, target_function: object) -> Callable[[], float]:
        tell: Callable[[Array, object], Callable[[], float]] | None = getattr(pupil, "distance_in_h", None)
        if tell is None:
            problem = "needs a learner that lives in a kernel's space"
            which = "a KernelLearner or an OrthogonalLearner"
            raise InvalidInput(problem, parameter="measure", value="rkhs", way_out=which)
        return tell(target, target_function)


class DistanceOfWeights(Discrepancy):
    """|w - w*| between two linear learners, one taught and one given as y."""

    name: ClassVar[str] = "parameters"
    axis: ClassVar[str] = "distance of the weights"
    latex: ClassVar[str] = r"M = \lVert w - w^* \rVert"

    def of(self, pupil: Pupil, target: Array) -> float:
        return self.prepare(pupil, target, None)()

    def prepare(self, pupil: Pupil, target: Array, target_function: object) -> Callable[[], float]:
        tell: Callable[[object], Callable[[], float] | None] | None = getattr(pupil, "distance_of_weights", None)
        measured = None if tell is None else tell(target_function)
        if measured is None:
            problem = Wording("is |w - w*|", "is |w - w*|, and no learner of the program has a w")
            which = Wording("both the learner and y must be a LinearLearner", "give --measure rms")
            raise InvalidInput(problem, parameter="measure", value="parameters", way_out=which)
        return measured


class Accuracy(Measure):
    """The share of points at which the learner names the class of the target.

    For targets that are classes: one-hot rows, where the largest output is the answer, or whole numbers such as -1 and
    +1, where the nearest is.
    """

    name: ClassVar[str] = "accuracy"
    axis: ClassVar[str] = "accuracy"
    higher_is_better: ClassVar[bool] = True
    in_per_cent: ClassVar[bool] = True
    usual_tolerance: ClassVar[float | None] = 0.99

    def of(self, pupil: Pupil, target: Array) -> float:
        return self.prepare(pupil, target, None)()

    def prepare(self, pupil: Pupil, target: Array, target_function: object) -> Callable[[], float]:
        check_classes(target)
        truth = answers(target, target)
        return lambda: float(np.mean(answers(pupil.values, target) == truth))


@dataclass(frozen=True)
class NamedMeasure(Measure):
    """A measure known by name only: enough for the figures and tolerances of a stored lesson, but it cannot measure."""

    name: str  # type: ignore[misc]
    axis: str  # type: ignore[misc]
    higher_is_better: bool  # type: ignore[misc]


MEASURES: dict[str, Measure] = {
    kind.name: kind() for kind in (PaperDiscrepancy, RootMeanSquare, DistanceInH, DistanceOfWeights, Accuracy)
}


def as_measure(measure: str | Measure) -> Measure:
    """Return the measure of that name, or `measure` itself if it is one.

    Examples
    --------
    >>> as_measure("rms").axis
    'root mean square error'
    """
    if isinstance(measure, str) and measure in MEASURES:
        return MEASURES[measure]
    if isinstance(measure, Measure):
        if not isinstance(measure.name, str) or not measure.name:
            raise InvalidInput(f"{type(measure).__name__} has no name: tables and files need one")
        return measure
    other = Wording(", or a nimt.measures.Measure of your own; got ", ", got ")
    raise InvalidInput(other.embed(f"must be one of {', '.join(MEASURES)}", name_thing(measure)), parameter="measure")


def decibels(root_mean_square: ArrayLike, target: Array) -> Array:
    """Return the peak signal-to-noise ratio 20 log10(peak / error) of root mean square errors.

    The peak is 1 for a target within [0, 1], the convention for pictures, and the range of any other target.

    Examples
    --------
    >>> decibels(0.01, np.array([0.2, 0.9])).item()
    40.0
    """
    low, high = float(np.min(target)), float(np.max(target))
    peak = 1.0 if low >= 0.0 and high <= 1.0 else high - low
    if peak == 0.0:
        raise InvalidInput(f"the target is {low:g} everywhere, so a ratio of its range to the error says nothing")
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(20.0 * np.log10(peak / np.asarray(root_mean_square, dtype=np.float64)))


def distance(values: Array, target: Array) -> float:
    """Return sqrt(sum (f - f*)^2), scaled where the squares would leave the range of floating-point numbers.

    Examples
    --------
    >>> distance(np.array([3e-200, 0.0]), np.array([0.0, 4e-200]))
    5e-200
    """
    gap = values - target
    gap = gap if gap.ndim == 1 else np.ravel(gap)
    if gap.size <= ONE_THREAD:
        square = float(np.vdot(gap, gap))  # `dot` and `@` warn of an overflow; `errstate` takes as long as the product
    else:
        parts = (gap[low : low + ONE_THREAD] for low in range(0, gap.size, ONE_THREAD))
        square = float(sum(np.vdot(part, part) for part in parts))
    if SAFE_SQUARES[0] < square < SAFE_SQUARES[1]:
        return math.sqrt(square)
    largest = float(np.max(np.abs(gap), initial=0.0))
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    return largest * float(np.linalg.norm(gap / largest))
