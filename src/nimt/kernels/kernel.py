"""What a kernel K(x, y) is, its values on a pool, and sums, products and powers of kernels."""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import operator
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import FLOAT, Array, check_positive, is_number
from nimt.errors import InvalidInput, first_call_of
from nimt.pools.pool import Pool

CUT = 1e-16  # of K(0): smaller contributions are lost in rounding
LARGEST_CUT = 1.0 - 1e-15  # at a cut of 1 a reach would be 0
ROUNDED_UP = 1.0 + 1e-9  # on a distance, so that no value at the cut is lost to rounding
PROBED = 5  # points of a pool at which a kernel is evaluated as a check
SYMMETRIC_WITHIN = 1e-9  # of the largest value: matrix products round differently in the two triangles


class KernelLike(Protocol):
    """What can be given as a kernel: one of ours, or one of scikit-learn."""

    def __call__(self, X: Any, Y: Any = None) -> Any: ...

    def diag(self, X: Any) -> Any: ...

    def is_stationary(self) -> Any: ...


class Kernel(ABC):
    """A kernel: a value that says what K(x, y) is, and what is known about it.

    A kernel of your own is a frozen dataclass with `__call__`; give it `is_stationary` and `reach` where they hold, so
    that faster engines can run it. One that is a function of the distance is shorter as a `Radial`.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Brownian(Kernel):
    ...     def __call__(self, X, Y=None):
    ...         return np.minimum(as_rows(X), as_rows(X if Y is None else Y).T)
    >>> (2.0 * Brownian())([[1.0], [3.0]])
    array([[2., 2.],
           [2., 6.]])
    """

    word: ClassVar[str] = ""  # what text and files call it; the name of the class if it is empty
    __array_ufunc__: ClassVar[None] = None  # so that numpy's numbers leave + and * to the kernel

    def __new__(cls, *_: object, **__: object) -> Self:
        theirs = kernels_of_sklearn()
        if theirs is not None and not issubclass(Kernel, theirs.Kernel):
            theirs.Kernel.register(Kernel)  # so that scikit-learn's sums, products and estimators take it for a kernel
        return super().__new__(cls)

    @abstractmethod
    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """Return K(x, y) for every row x of X and y of Y, or of X again: shape (n, m)."""

    def diag(self, X: ArrayLike) -> Array:
        """Return K(x, x) for every row of X, shape (n,)."""
        return np.array([np.asarray(self(row[np.newaxis]))[0, 0] for row in as_rows(X)], dtype=np.float64)

    def is_stationary(self) -> bool:
        """Say whether K(x, y) depends on x - y alone."""
        return False

    def reach(self, cut: float = CUT) -> float:
        """Return a distance beyond which |K(x, y)| <= cut K(0) in every direction, inf where none is known."""
        return math.inf

    def rank(self, dimension: int) -> float:
        """Return how many functions of this dimension its space is made of, at most; inf where that has no end."""
        return math.inf

    @property
    def origin(self) -> object:
        """The object whose parameters make this kernel again."""
        return self

    def check_on(self, pool: Pool) -> None:
        """Refuse a pool whose points this kernel cannot take, or on which its values cannot be those of a kernel."""
        last = len(pool) - 1
        some = pool.take(np.array(sorted({last * part // (PROBED - 1) for part in range(PROBED)})))
        try:
            returned = self(some, some)
            if np.ma.is_masked(returned):
                raise InvalidInput(f"{self!r} returned masked values: a kernel has a value between any two points")
            values = np.asarray(returned)
        except InvalidInput:
            raise
        except Exception as error:  # a kernel of the user may raise anything
            what = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            raise InvalidInput(
                f"{self!r} cannot be used on points of dimension {pool.dimension}: {what}{error}"
            ) from error
        reach(self)
        with first_call_of(lambda: f"{self!r}.diag"):
            self.diag(some)
        if values.shape != (len(some), len(some)) or values.dtype.kind not in "fiu":
            raise InvalidInput(
                f"{self!r} returned dtype {values.dtype} and shape {values.shape} for {len(some)} points: it must "
                f"return real numbers of shape ({len(some)}, {len(some)})"
            )
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise InvalidInput(f"{self!r} is {values[i, j]} between {some[i].tolist()} and {some[j].tolist()}")
        uneven = np.abs(values - values.T) > SYMMETRIC_WITHIN * np.abs(values).max()
        if uneven.any():
            i, j = np.argwhere(uneven)[0]
            raise InvalidInput(
                f"{self!r} is not symmetric: K(x, y) = {values[i, j]!s} and K(y, x) = {values[j, i]!s} at "
                f"x = {some[i].tolist()}, y = {some[j].tolist()}"
            )

    # ------------------------------------------------------------ a value

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor; if `deep`, also those of kernels inside, as left__width."""
        found = {name: getattr(self, name) for name in parameter_names(type(self))}
        inner = {name: part for name, part in found.items() if deep and hasattr(part, "get_params")}
        for name, part in inner.items():
            found |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return found

    def with_params(self, **params: Any) -> Self:
        """Return this kernel with some parameters changed, in kernels inside by names as left__width.

        Examples
        --------
        >>> (2.0 * ConstantKernel(3.0)).with_params(right__constant_value=5.0)
        ConstantKernel(constant_value=2.0) * 5.0
        """
        changed = self.get_params(deep=False)
        inner: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            first, _, rest = name.partition("__")
            if first not in changed:
                raise InvalidInput(f"{self!r} has no parameter {first!r}; it has {', '.join(changed) or 'none'}")
            if rest:
                inner.setdefault(first, {})[rest] = value
            else:
                changed[first] = value
        changed |= {name: as_kernel(changed[name]).with_params(**parts) for name, parts in inner.items()}
        return type(self)(**changed)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernel) or type(other) is not type(self):
            return NotImplemented
        one, two = self.get_params(deep=False), other.get_params(deep=False)
        return one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={value!r}" for name, value in self.get_params(deep=False).items())
        return f"{self.word or type(self).__name__}({numbers})"

    def __sklearn_clone__(self) -> Self:
        return self  # a value need not be copied

    # ------------------------------------------------------------ sums, products, powers

    def __add__(self, other: object) -> Kernel:
        return KernelSum(self, operand(other))

    def __radd__(self, other: object) -> Kernel:
        if is_number(other) and other == 0:
            return self  # the sum of a list starts from 0
        return KernelSum(operand(other), self)

    def __mul__(self, other: object) -> Kernel:
        return KernelProduct(self, operand(other))

    def __rmul__(self, other: object) -> Kernel:
        return KernelProduct(operand(other), self)

    def __pow__(self, exponent: float) -> Kernel:
        return KernelPower(self, exponent)


@dataclass(frozen=True, repr=False)
class ConstantKernel(Kernel):
    """K = constant_value, a positive number: what a number becomes in a sum or product of kernels."""

    constant_value: float = 1.0

    def __post_init__(self) -> None:
        check_positive("constant_value", self.constant_value)
        normalise(self, constant_value=float(self.constant_value))

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        return np.full((len(as_rows(X)), len(as_rows(X if Y is None else Y))), self.constant_value)

    def diag(self, X: ArrayLike) -> Array:
        return np.full(len(as_rows(X)), self.constant_value)

    def is_stationary(self) -> bool:
        return True

    def rank(self, dimension: int) -> float:
        return 1.0


class _Pair(Kernel):
    """Two kernels, combined."""

    left: Kernel
    right: Kernel
    sign: ClassVar[str]
    combine: ClassVar[Callable[[Any, Any], Any]]

    def __post_init__(self) -> None:
        normalise(self, left=as_kernel(self.left), right=as_kernel(self.right))

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        return np.asarray(type(self).combine(self.left(X, Y), self.right(X, Y)))

    def diag(self, X: ArrayLike) -> Array:
        return np.asarray(type(self).combine(self.left.diag(X), self.right.diag(X)))

    def rank(self, dimension: int) -> float:
        return float(type(self).combine(self.left.rank(dimension), self.right.rank(dimension)))

    def is_stationary(self) -> bool:
        return self.left.is_stationary() and self.right.is_stationary()

    def __repr__(self) -> str:
        left, right = self.left, self.right
        numbers = [isinstance(part, ConstantKernel) for part in (left, right)]
        texts = [
            repr(part.constant_value) if isinstance(part, ConstantKernel) and not all((*numbers, at == 0)) else
            f"({part!r})" if isinstance(part, KernelSum) and not (isinstance(self, KernelSum) and at == 0) else
            f"({part!r})" if isinstance(part, _Pair) and at == 1 else
            repr(part)
            for at, part in enumerate((left, right))
        ]  # fmt: skip
        return f" {self.sign} ".join(texts)


@dataclass(frozen=True, repr=False)
class KernelSum(_Pair):
    """K = left + right."""

    left: Kernel
    right: Kernel
    word: ClassVar[str] = "sum"
    sign: ClassVar[str] = "+"
    combine = operator.add

    def reach(self, cut: float = CUT) -> float:
        return max(reach(self.left, cut), reach(self.right, cut))


@dataclass(frozen=True, repr=False)
class KernelProduct(_Pair):
    """K = left right."""

    left: Kernel
    right: Kernel
    word: ClassVar[str] = "product"
    sign: ClassVar[str] = "*"
    combine = operator.mul

    def reach(self, cut: float = CUT) -> float:
        return min(reach(self.left, cut), reach(self.right, cut))  # a kernel never exceeds its value at 0


@dataclass(frozen=True, repr=False)
class KernelPower(Kernel):
    """K = base ** exponent, the exponent a positive number; whole ones keep a kernel positive definite."""

    base: Kernel
    exponent: float
    word: ClassVar[str] = "power"

    def __post_init__(self) -> None:
        check_positive("exponent", self.exponent)
        exponent = self.exponent.item() if isinstance(self.exponent, np.generic) else self.exponent
        normalise(self, base=as_kernel(self.base), exponent=exponent)

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        return np.asarray(self.base(X, Y) ** self.exponent)

    def diag(self, X: ArrayLike) -> Array:
        return np.asarray(self.base.diag(X) ** self.exponent)

    def is_stationary(self) -> bool:
        return self.base.is_stationary()

    def reach(self, cut: float = CUT) -> float:
        return reach(self.base, min(cut ** (1.0 / self.exponent), LARGEST_CUT))

    def rank(self, dimension: int) -> float:
        inside, power = self.base.rank(dimension), self.exponent
        if math.isinf(inside) or float(power) != int(power):
            return math.inf
        return float(math.comb(int(inside) + int(power) - 1, int(power)))

    def __repr__(self) -> str:
        inside = f"({self.base!r})" if isinstance(self.base, _Pair | KernelPower) else repr(self.base)
        return f"{inside} ** {self.exponent!r}"


def as_rows(points: ArrayLike) -> Array:
    """Return points as an array (n, d); a single point may be given as (d,)."""
    if type(points) is np.ndarray and points.ndim == 2 and points.dtype == FLOAT:
        return points
    return np.atleast_2d(np.asarray(points, dtype=np.float64))


def normalise(kernel: Kernel, /, **parameters: object) -> None:
    """Give a frozen kernel parameters of the types that it promises, while it is made."""
    for name, value in parameters.items():
        object.__setattr__(kernel, name, value)


def operand(value: object) -> Kernel:
    """Return what stands beside a kernel in a sum or product: a kernel, or a number as a constant kernel."""
    return ConstantKernel(value) if is_number(value) else as_kernel(value)


def reach(kernel: Kernel, cut: float = CUT) -> float:
    """Return `kernel.reach(cut)`, or refuse what a kernel of the user returned.

    Examples
    --------
    >>> reach(ConstantKernel(2.0))
    inf
    """
    try:
        distance = kernel.reach(cut)
    except InvalidInput:
        raise
    except Exception as error:  # a kernel of the user may raise anything
        raise InvalidInput(f"{kernel!r}.reach() raised {type(error).__name__}: {error}") from error
    if not is_number(distance) or not float(distance) > 0:
        raise InvalidInput(f"{kernel!r}.reach() returned {distance!r}: it must be a positive distance, or inf")
    return float(distance)


@functools.lru_cache(maxsize=64)  # to read a signature takes longer than to make a kernel
def parameter_names(kind: type) -> tuple[str, ...]:
    """Return the names of the parameters of a constructor; a class without one has none."""
    parts = inspect.signature(kind).parameters.values()
    return tuple(part.name for part in parts if part.kind not in (part.VAR_POSITIONAL, part.VAR_KEYWORD))


def kernels_of_sklearn() -> ModuleType | None:
    """Return scikit-learn's module of kernels if it is loaded."""
    found = sys.modules.get("sklearn.gaussian_process.kernels")
    return found if hasattr(found, "Kernel") else None  # while it is being loaded it has none


def as_kernel(thing: object) -> Kernel:
    """Return a kernel: itself, or one of scikit-learn as ours; refuse anything else.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import Matern
    >>> 2.0 * as_kernel(Matern(0.7))
    2.0 * Matern(length_scale=0.7, nu=1.5)
    """
    if isinstance(thing, Kernel):
        return thing
    theirs = kernels_of_sklearn()
    if theirs is not None and isinstance(thing, theirs.Kernel):
        # by name, since it stands below all kernels, and is loaded only where scikit-learn is
        converted: Kernel = importlib.import_module("nimt.kernels.sklearn_adapter").convert(thing)
        return converted
    raise InvalidInput(
        f"must be a kernel such as nimt.rbf(width=0.5), nimt.kernels.parse_kernel('Matern(0.5)') or one of "
        f"scikit-learn, got {thing!r}",
        parameter="kernel",
    )


def diagonal(kernel: Kernel, pool: Pool) -> Array:
    """Return K(x, x) at every point of a pool; for a stationary kernel one number, broadcast without a copy."""
    if kernel.is_stationary():
        return np.broadcast_to(np.asarray(kernel.diag(np.zeros((1, pool.dimension))), np.float64), len(pool))
    return np.asarray(kernel.diag(pool.points), dtype=np.float64)


def height(kernel: Kernel, dimension: int) -> float:
    """Return K(0), the constant diagonal of a stationary kernel."""
    return float(kernel.diag(np.zeros((1, dimension)))[0])


def profile(kernel: Kernel, differences: Array) -> Array:
    """Return K(x - x') of a stationary kernel at given differences (m, d), shape (m,)."""
    return np.asarray(kernel(differences, np.zeros((1, differences.shape[1]))), dtype=np.float64)[:, 0]
