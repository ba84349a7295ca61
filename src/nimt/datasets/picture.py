"""A picture and its source: what every loader returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nimt.errors import InvalidInput

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture as a function on its pixels, with the facts that a caption needs.

    Attributes
    ----------
    values : ndarray of shape (height, width), or (height, width, 3) in colour
        float64, finite and read-only; row 0 is the top.
    name : str
        A short name, for example "digit 0".
    source : str
        One sentence: where the values come from and what was done to them.
    original : bool
        True for the data of the published experiment, False for a stand-in.
    licence : str
        The licence or terms of use.

    Examples
    --------
    >>> from nimt.datasets import Picture
    >>> Picture([[0, 1]], "pair", "Two pixels, made here.", False, "MIT").caption
    'Stand-in for the published data: Two pixels, made here.'
    """

    values: Values
    name: str
    source: str
    original: bool
    licence: str

    def __post_init__(self) -> None:
        values = numbers(self.values).copy()
        if (values.ndim != 2 and values.shape[2:] != (3,)) or values.size == 0:
            raise InvalidInput(
                f"a picture has the shape (height, width), or (height, width, 3) in colour, and at least one pixel; "
                f"got shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise InvalidInput(f"the picture {self.name!r} has values that are not finite: replace them first")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def caption(self) -> str:
        """Say in one sentence whether this is the published data and where it comes from."""
        return ("Published data: " if self.original else "Stand-in for the published data: ") + self.source


def numbers(values: npt.ArrayLike) -> Values:
    """Return the values as float64, and refuse what is not a table of numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InvalidInput(f"a picture is a table of real numbers, and this is not ({problem})") from problem


def standardise(values: npt.ArrayLike) -> Values:
    """(values - mean) / std, with mean 0 and *unbiased* standard deviation 1 after it.

    The divisor of the variance is n - 1, as in the published code; ``numpy.std`` divides by n by default.

    Parameters
    ----------
    values : array_like of shape (height, width), or (height, width, 3)
        Two different values or more. Mean and deviation are those of all values, so that colours keep their relations.

    Examples
    --------
    >>> from nimt.datasets import standardise
    >>> standardise([[1, 2, 3]])
    array([[-1.,  0.,  1.]])
    """
    values = numbers(values)
    if values.size < 2 or not np.isfinite(values).all():
        raise InvalidInput(f"a picture to standardise needs two finite pixels or more, got shape {values.shape}")
    with np.errstate(all="ignore"):
        mean, deviation = values.mean(), values.std(ddof=1)
    if values.min() == values.max() or not 0 < deviation < np.inf:
        raise InvalidInput(
            f"pixels from {values.min():g} to {values.max():g} have no usable standard deviation: give another picture"
        )
    return np.asarray((values - mean) / deviation)
