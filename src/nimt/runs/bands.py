"""Curves of several lessons as one: a middle and a band over the seeds, of the kind that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, is_number
from nimt.errors import InvalidInput
from nimt.lesson.lesson import Lesson

KINDS = {
    "range": "from the lowest to the highest",
    "std": "one standard deviation",
    "sem": "one standard error of the mean",
    "ci": "95 % confidence of the mean",
}
CONFIDENCE = 0.95
BandKind = str | tuple[float, float]


@dataclass(frozen=True, eq=False)
class Band:
    """A curve with a band over the seeds at each step (T + 1,); the middle is the mean, of quantiles the median.

    After the end of a lesson its last value is repeated: the learner does not change any more.
    """

    name: str
    colour: str | None
    step: NDArray[np.int64]
    mean: Array
    low: Array
    high: Array


def check_band(band: object) -> BandKind:
    """Return the kind of a band, or refuse it."""
    if isinstance(band, str) and band in KINDS:
        return band
    if isinstance(band, tuple | list) and len(band) == 2 and all(is_number(one) for one in band):
        low, high = float(band[0]), float(band[1])
        if 0 <= low < high <= 1:
            return low, high
    raise InvalidInput(
        f"must be one of {', '.join(KINDS)}, or two quantiles such as (0.25, 0.75), got {band!r}", parameter="band"
    )


def say_band(band: BandKind) -> str:
    """Say what a band is.

    Examples
    --------
    >>> say_band("sem"), say_band((0.25, 0.75))
    ('one standard error of the mean', 'the quantiles 0.25 and 0.75, around the median')
    """
    return KINDS[band] if isinstance(band, str) else f"the quantiles {band[0]:g} and {band[1]:g}, around the median"


def band_of(name: str, lessons: Sequence[Lesson], band: BandKind = "range") -> Band:
    """Return the curve of some lessons with its band."""
    length = max(len(lesson.discrepancy) for lesson in lessons)
    curves = np.stack(
        [np.pad(lesson.discrepancy, (0, length - len(lesson.discrepancy)), mode="edge") for lesson in lessons]
    )
    middle, low, high = summarise_curves(curves, band)
    return Band(name=name, colour=lessons[0].colour, step=np.arange(length), mean=middle, low=low, high=high)


def summarise_curves(curves: Array, band: BandKind = "range") -> tuple[Array, Array, Array]:
    """Return the middle, the lower and the upper end of curves (seeds, steps); of one curve alone they are the same.

    Examples
    --------
    >>> curves = np.array([[1.0], [2.0], [6.0]])
    >>> [part.tolist() for part in summarise_curves(curves, "range")]
    [[3.0], [1.0], [6.0]]
    >>> [part.tolist() for part in summarise_curves(curves, (0.0, 0.5))]
    [[2.0], [1.0], [2.0]]
    """
    kind = check_band(band)
    mean = curves.mean(axis=0)
    if len(curves) == 1:
        return mean, mean, mean
    if isinstance(kind, tuple):
        low, middle, high = np.quantile(curves, [kind[0], 0.5, kind[1]], axis=0)
        return middle, low, high
    if kind == "range":
        return mean, curves.min(axis=0), curves.max(axis=0)
    half = curves.std(axis=0, ddof=1)
    if kind != "std":
        half = half / np.sqrt(len(curves))
    if kind == "ci":
        from scipy.stats import t as student

        half = half * float(student.ppf(0.5 + CONFIDENCE / 2, len(curves) - 1))
    return mean, mean - half, mean + half
