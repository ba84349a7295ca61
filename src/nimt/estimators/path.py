"""A greedy path of centres, and the models over its first m centres for every m."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.estimators.greedy_centres import GreedyChoice, rms
from nimt.estimators.refitting import NestedRidge, Ridge
from nimt.estimators.samples import Samples
from nimt.kernels import Kernel
from nimt.teachers.interpolation import InterpolationTeacher

# Of the largest squared singular value: what "auto" compares. The infinite one leaves the mean.
SHARES = np.append(np.logspace(-20, 1, 85), np.inf)


@dataclass(frozen=True)
class PathSettings:
    """How paths are made: what they share, whatever the rule and the rows."""

    kernel: Kernel
    tol: float
    refit: bool
    regularisation: float | None  # None to choose it

    def follow(self, rule: str | float, samples: Samples, most: int, elsewhere: Array | None = None) -> GreedyChoice:
        """Choose up to `most` centres among rows, by their labels minus the mean."""
        ridge = 0.0 if self.refit or self.regularisation is None else self.regularisation
        centred = samples.center()
        choice = GreedyChoice(
            self.kernel,
            centred,
            beta=InterpolationTeacher(rule, kernel=self.kernel).beta,
            ridge=ridge,
            tolerance=self.tol * rms(centred.labels, samples.weight),
            most=most,
            elsewhere=elsewhere,
        )
        choice.grow(most)
        return choice


class NestedModels:
    """The models over the first m centres of a path, for every m; it holds no values at the rows.

    Parameters
    ----------
    settings : PathSettings
    choice : GreedyChoice
    samples : Samples
        The rows it was made on.
    """

    def __init__(self, settings: PathSettings, choice: GreedyChoice, samples: Samples) -> None:
        self.given: float | None = settings.regularisation
        self.most: int = len(choice.indices)
        self.mean: Array = np.atleast_1d(samples.mean())
        self._newton: Array = choice.newton(self.most).reshape(self.most, self.mean.size)
        self._ridge: float = choice.basis.ridge
        self._nested = NestedRidge(choice.functions(self.most), samples.center()) if settings.refit else None

    def solve(self, size: int) -> PathModels:
        """Return the models over the first centres, or over all if there are fewer, for each penalty."""
        size = min(size, self.most)
        if self._nested is None:
            newton = self._newton[:size]
            return PathModels(np.array([self._ridge, np.inf]), np.stack([newton, 0.0 * newton], axis=-1), None)
        ridge = self._nested.solve(size)
        penalties = ridge.unit * SHARES if self.given is None else np.array([self.given, np.inf])
        return PathModels(penalties, ridge.coefficients(penalties), ridge)


@dataclass(frozen=True, eq=False)
class PathModels:
    """Models over the same m centres, for g penalties of which the last is infinite.

    Attributes
    ----------
    penalties : array (g,)
    coefficients : array (m, q, g)
        Of the Newton basis.
    ridge : Ridge or None
        None for interpolants.
    """

    penalties: Array
    coefficients: Array
    ridge: Ridge | None

    @property
    def directions(self) -> tuple[Array, Array] | None:
        """The singular values and directions that `spread_of` needs, None for interpolants."""
        return None if self.ridge is None else (self.ridge.singular, self.ridge.right)

    def select_by_rows(self) -> NDArray[np.intp]:
        """Return the place of a penalty for each output by the rows that were fitted; never the infinite one."""
        if self.ridge is None or len(self.penalties) == 2:
            return np.zeros(self.coefficients.shape[1], dtype=np.intp)
        return self.ridge.cross_validate(self.penalties[:-1])

    def take(self, places: NDArray[np.intp]) -> Array:
        """Return the coefficients with one penalty per output, shape (m, q)."""
        return self.coefficients[:, np.arange(len(places)), places]

    def spread(self, functions: Array, diagonal: Array, places: NDArray[np.intp]) -> Array:
        """Return the standard deviation of new labels in units of the noise, shape (n, q); see `spread_of`."""
        if self.directions is None:
            return np.ones((len(functions), len(places)))
        return spread_of(*self.directions, self.penalties[places], functions, diagonal)


def spread_of(singular: Array, right: Array, penalties: Array, functions: Array, diagonal: Array) -> Array:
    r"""Return sqrt(1 + v(x)' (V'WV + penalty)^-1 v(x) + P(x)^2 / penalty) for each output, shape (n, q).

    Times the deviation of the noise, it is that of a new label under the Gaussian process with covariance
    noise^2 / penalty K, known by its projection on the span of the centres [Seeger03]: the noise, what it does to the
    coefficients, and what the centres cannot say.

    Parameters
    ----------
    singular, right : array (m,), array (m, m)
        As in `Ridge`.
    penalties : array (q,)
    functions : array (n, m)
        v(x), the Newton basis.
    diagonal : array (n,)
        K(x, x).

    Examples
    --------
    >>> spread_of(np.empty(0), np.empty((0, 0)), np.array([0.5, np.inf]), np.empty((1, 0)), np.ones(1))
    array([[1.73205081, 1.        ]])
    """
    along = (functions @ right.T) ** 2
    power = np.maximum(diagonal - np.einsum("ij,ij->i", functions, functions), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # without a penalty nothing is known where P is not 0
        squares = [along @ (1.0 / (singular**2 + penalty)) + power / penalty for penalty in penalties]
    return np.sqrt(1.0 + np.column_stack(squares))
