"""Pools: the points at which functions are known and examples can be given."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt import display
from nimt.arrays import Array, check_finite, freeze, read_only, real_array
from nimt.counting import say_count
from nimt.errors import InvalidInput, NimtError
from nimt.pools.frames import check_names, column_names, series_name, stack_columns
from nimt.pools.interpolating import interpolate

EPSILON = float(np.finfo(float).eps)
LARGEST_COORDINATE = 1e300  # of a grid's axis, so that its steps are finite
UNEVEN = 1e-6  # of a step: by how much the rounding of an axis may change its steps
AXES_SHOWN = 8  # of scattered points, in a notebook


class Pool(ABC):
    """What every kind of pool answers; a kind of your own has `points` and `describe`, and what differs from here."""

    preparation: Any = None  # how the rows of a table became its points (`prepared_points.Preparation`)
    has_distinct_points: bool = False  # whether no two points can be equal

    @property
    @abstractmethod
    def points(self) -> Array:
        """All points, shape (n, d), read-only."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return the parameters it is made from."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in which values on it may be given."""
        return (len(self),)

    @property
    def dimension(self) -> int:
        return int(self.points.shape[1])

    @property
    def axis_names(self) -> tuple[str, ...]:
        """What the axes of figures are called, () where the coordinates have no names."""
        return ()

    @property
    def target_name(self) -> str:
        """What the target is called in figures, "" where it has no name."""
        return ""

    def take(self, indices: NDArray[np.intp]) -> Array:
        """Return the points at some indices."""
        return np.asarray(self.points[indices])

    def coordinates(self, indices: NDArray[np.intp]) -> Mapping[str, NDArray[Any]]:
        """Return the points at some indices as the columns of a table."""
        return {f"x_{axis + 1}": column for axis, column in enumerate(self.take(indices).T)}

    @property
    def view(self) -> str:
        """How functions on it are drawn: "curve", "picture", "map", "points", "graph"; "agreement" is f against f*."""
        return {1: "curve", 2: "points"}.get(self.dimension, "agreement")

    @property
    def positions(self) -> Array:
        """Where figures draw the points, shape (n, 1) on a line and (n, 2) on a plane."""
        return self.points

    @property
    def edges(self) -> NDArray[np.intp]:
        """Which points figures join by lines, shape (m, 2)."""
        return np.empty((0, 2), np.intp)

    @property
    def point_names(self) -> tuple[str, ...]:
        """What the points themselves are called, () where they are known by their coordinates."""
        return ()

    def operators(self, kernel: ActsOnPools) -> tuple[str, ...]:
        """Return the names of the operators by which a kernel can act on it (`nimt.operators`), the fastest first."""
        return ("neighbours", "streamed", "dense") if kernel.is_stationary() else ("streamed", "dense")

    def interpolate(self, values: Array, points: Array, name: str = "initial") -> Array:
        """Return values at some points (m, d) from those on the pool, given as `name`; what is not known is refused.

        Examples
        --------
        >>> Points([0.0, 1.0, 5.0]).interpolate(np.array([3.0, 4.0, 5.0]), np.array([[5.0], [0.0]]))
        array([5., 3.])
        """
        unknown = np.zeros(1, np.intp)
        if points.shape[1] == self.dimension:
            both = np.concatenate([self.points, points]) + 0.0
            _, first, place = np.unique(both, axis=0, return_index=True, return_inverse=True)
            rows = first[np.ravel(place)[len(self) :]]
            unknown = np.flatnonzero(rows >= len(self))
        if unknown.size:
            raise InvalidInput(
                f"{name} was given as values on a pool of {say_count(len(self), 'point', 'd')}, so this learner is "
                f"unknown at {points[unknown[0]].tolist()}: give {name} as a callable to predict anywhere, also "
                f"afterwards by learner.set_params({name}=...)"
            )
        return np.asarray(values[rows])

    def __len__(self) -> int:
        return len(self.points)


class ActsOnPools(Protocol):
    """What a pool asks of a kernel."""

    def is_stationary(self) -> bool: ...


class Points(Pool):
    """Points in any arrangement, as rows: an array or a DataFrame given as X becomes one of these.

    Parameters
    ----------
    points : array of shape (n,) or (n, d), or a DataFrame
    names : words, optional
        What the d coordinates are called in tables and figures; the columns of a DataFrame by default.
    target_name : str
        What the target is called in figures; a Series given as y brings its name.

    Examples
    --------
    >>> Points([0.0, 0.5, 2.0]).points.shape
    (3, 1)
    >>> Points([[1.0, 2.0]], names=["width", "height"]).coordinates(np.array([0]))
    {'width': array([1.]), 'height': array([2.])}
    """

    names: tuple[str, ...] = ()
    _target_name: str = ""

    def __init__(self, points: ArrayLike, names: Iterable[str] | None = None, target_name: str = "") -> None:
        self._points: Array = freeze(_check_rows("the pool", points))
        if names is None:
            self.names = column_names(points)
        else:
            self.names = check_names("the pool", names)
            if self.names and len(self.names) != self.dimension:
                raise InvalidInput(
                    f"must have a word for each of the {say_count(self.dimension, 'coordinate', 'd')}, got "
                    f"{list(self.names)}",
                    parameter="names",
                )
        if not isinstance(target_name, str):
            raise InvalidInput(f"must be a word, got {target_name!r}", parameter="target_name")
        self._target_name = target_name

    @classmethod
    def from_checked(cls, points: Array) -> Points:
        """Return rows (n, d) of finite numbers as points, without a check or a copy; they must not change later."""
        made = cls.__new__(cls)
        made._points = read_only(points)
        return made

    @property
    def points(self) -> Array:
        return self._points

    @property
    def axis_names(self) -> tuple[str, ...]:
        return self.names

    @property
    def target_name(self) -> str:
        return self._target_name

    def coordinates(self, indices: NDArray[np.intp]) -> Mapping[str, NDArray[Any]]:
        if not self.names:
            return super().coordinates(indices)
        return dict(zip(self.names, self.take(indices).T, strict=True))

    def describe(self) -> dict[str, Any]:
        named = {"names": list(self.names)} if self.names else {}
        return {"points": self.points} | named | ({"target_name": self.target_name} if self.target_name else {})

    def _repr_html_(self) -> str:
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        titles = self.axis_names or [f"axis {i}" for i in range(self.dimension)]
        sides = {titles[i]: f"from {low[i]:g} to {high[i]:g}" for i in range(min(self.dimension, AXES_SHOWN))}
        return display.cell(repr(self), display.pairs(sides))

    def __repr__(self) -> str:
        return f"Points({len(self)} in {self.dimension}-D)"


class Grid(Pool):
    """All combinations of uniform axes, in C order: the last axis runs fastest.

    Parameters
    ----------
    *axes : arrays of shape (m,)
        Each strictly monotone with equal steps (within rounding); an axis may have a single point.

    Examples
    --------
    >>> grid = Grid([0.0, 1.0], [0.0, 0.5, 1.0])
    >>> grid.shape, len(grid)
    ((2, 3), 6)
    >>> grid.points[1]
    array([0. , 0.5])
    """

    shape: tuple[int, ...] = ()
    dimension: int = 0
    has_distinct_points: bool = True

    def __init__(self, *axes: ArrayLike) -> None:
        if not axes:
            raise InvalidInput("a Grid needs at least one axis, for example Grid(np.arange(-14, 14, 0.1))")
        self.axes: tuple[Array, ...] = tuple(map(_check_axis, range(len(axes)), axes))
        self.shape = tuple(map(len, self.axes))
        self.dimension = len(self.axes)

    @classmethod
    def like(cls, image: ArrayLike) -> Grid:
        """Return the grid of integer pixel coordinates of an array, row first.

        Every axis of the array is an axis of the grid. Of a colour picture (rows, columns, 3) give one channel,
        `Grid.like(picture[:, :, 0])`, or colour would be a third coordinate; the whole picture is then a target with
        three outputs.

        Examples
        --------
        >>> Grid.like(np.zeros((2, 2))).points.tolist()
        [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
        """
        shape = np.shape(image)
        if not shape or 0 in shape:
            raise InvalidInput(f"an image needs at least one pixel, got shape {shape}")
        return cls(*(np.arange(length, dtype=float) for length in shape))

    @cached_property
    def spacing(self) -> tuple[float, ...]:
        """The step along each axis (0 for an axis of one point)."""
        steps = []
        for axis in self.axes:
            steps.append(float((axis[-1] - axis[0]) / (len(axis) - 1)) if len(axis) > 1 else 0.0)
        return tuple(steps)

    @cached_property
    def points(self) -> Array:
        """All points, shape (n, d); computed when first used."""
        if len(self.axes) == 1:
            return self.axes[0][:, np.newaxis]
        mesh = np.meshgrid(*self.axes, indexing="ij")
        return freeze(np.stack([part.ravel() for part in mesh], axis=1))

    def take(self, indices: NDArray[np.intp]) -> Array:
        """Return the points at some indices, without computing all of them."""
        if len(self.axes) == 1:
            return self.axes[0][indices][:, np.newaxis]
        taken = np.empty((len(indices), self.dimension))
        rest = np.array(indices)
        for i in range(self.dimension - 1, -1, -1):  # axis by axis, because a picture has many pixels
            taken[:, i] = self.axes[i][rest % len(self.axes[i])]
            rest //= len(self.axes[i])
        return taken

    @cached_property
    def view(self) -> str:
        if self.dimension != 2:
            return super().view
        # a picture is the grid that `Grid.like(picture)` makes: its first axis is down
        pixels = all(np.array_equal(axis, np.arange(len(axis))) for axis in self.axes)
        return "picture" if pixels else "map"

    def operators(self, kernel: ActsOnPools) -> tuple[str, ...]:
        return ("grid", "neighbours", "streamed", "dense") if kernel.is_stationary() else ("streamed", "dense")

    def interpolate(self, values: Array, points: Array, name: str = "initial") -> Array:
        return interpolate(self, values, points, f"the {name} function")

    def describe(self) -> dict[str, Any]:
        return {"axes": list(self.axes)}

    @classmethod
    def from_description(cls, fields: dict[str, Any]) -> Grid:
        """Make it from what `describe` returned."""
        return cls(*fields["axes"])

    def __len__(self) -> int:
        return math.prod(self.shape)

    def _repr_html_(self) -> str:
        rows = {"points": f"{len(self):,}"}
        for number, (axis, step) in enumerate(zip(self.axes, self.spacing, strict=True)):
            rows[f"axis {number}"] = f"{say_count(len(axis), 'point')} from {axis[0]:g} to {axis[-1]:g}, {step:g} apart"
        return display.cell(repr(self), display.pairs(rows))

    def __repr__(self) -> str:
        return f"Grid({' x '.join(str(length) for length in self.shape)})"


class Predicts(Protocol):
    """Anything that gives its values at the rows of X, as scikit-learn's models do."""

    def predict(self, X: Any) -> Any: ...


FunctionLike = ArrayLike | Callable[[Array], ArrayLike] | Predicts  # values, a number, a callable, or a model


def as_pool(X: Pool | ArrayLike, name: str = "the pool") -> Pool:
    """Return X as a pool: a Grid stays one, an array becomes Points; `name` is for error messages."""
    if isinstance(X, Pool):
        return X
    rows = _check_rows(name, X)
    if type(X) is not np.ndarray:
        return Points(rows, column_names(X))
    made = Points.__new__(Points)  # without names, and checked before: a learner is asked at every step
    made._points = freeze(rows)
    return made


def name_target(pool: Pool, y: object) -> Pool:
    """Return the pool with the name of a Series that is the target; any other pool or target has none to give.

    Examples
    --------
    >>> import pandas
    >>> name_target(Points([1.0, 2.0]), pandas.Series([3.0, 4.0], name="price")).target_name
    'price'
    """
    name = series_name(y) if type(pool) is Points else ""
    if not name or type(pool) is not Points or pool.target_name == name:
        return pool
    return Points(pool.points, pool.names, name)


def same_points(one: Pool, other: Pool) -> bool:
    """Say whether two pools hold the same points in the same order."""
    if len(one) != len(other) or one.dimension != other.dimension or one.point_names != other.point_names:
        return False
    if isinstance(one, Grid) and isinstance(other, Grid) and one.shape == other.shape:
        return all(np.array_equal(a, b) for a, b in zip(one.axes, other.axes, strict=True))
    return bool(np.array_equal(one.points, other.points))


def values_on(pool: Pool, function: object, name: str, outputs: tuple[int, ...] | None = None) -> Array:
    """Return the values of `function` on the pool, shape (n,), or (n, q) where it has q > 1 outputs.

    Parameters
    ----------
    pool : Grid or Points
    function : array, number, callable, or anything with `predict`
        An array has shape (n,) or the grid's shape, each with one more axis of length q for q outputs. A callable is
        called once, with all points as one array (n, d), (n, 1) in 1-D, and returns (n,), (n, 1) or (n, q).
    name : str
        Its name in error messages.
    outputs : () or (q,), optional
        The outputs it must have; a number then stands for all of them.
    """
    if hasattr(function, "predict") and not callable(function):
        function = function.predict
    values = _values_of_callable(pool, function, name) if callable(function) else _values_of_array(pool, function, name)
    if outputs is None or values.shape[1:] == outputs:
        return values
    if not callable(function) and np.ndim(np.asarray(function)) == 0:
        return freeze(np.full((len(pool), *outputs), float(values[0])))
    raise InvalidInput(
        f"{name} has {values[0].size} output{'s' if values[0].size > 1 else ''} where {_count(outputs)} "
        f"needed: give it as an array ({len(pool)}{''.join(f', {q}' for q in outputs) or ','})"
    )


def _count(outputs: tuple[int, ...]) -> str:
    return f"{outputs[0]} are" if outputs else "1 is"


def _values_of_array(pool: Pool, given: object, name: str) -> Array:
    n = len(pool)
    array = real_array(name, given)
    if array.shape == ():
        array = np.full(n, float(array))
    elif array.shape in ((n,), pool.shape):
        array = array.reshape(n)
    elif array.size and (array.shape[:-1] in ((n,), pool.shape)):
        array = array.reshape(n) if array.shape[-1] == 1 else array.reshape(n, array.shape[-1])
    else:
        allowed = f"({n},)" if pool.shape == (n,) else f"({n},) or the grid's {pool.shape}"
        raise InvalidInput(
            f"{name} has shape {array.shape} and the pool {say_count(n, 'point', 'd')}: its shape must be {allowed}, "
            f"with one more axis of length q for q outputs"
        )
    check_finite(name, array, lambda index: pool.take(np.array([index]))[0].tolist())
    return freeze(array)


def _values_of_callable(pool: Pool, function: Callable[[Array], object], name: str) -> Array:
    n = len(pool)
    try:
        returned = function(pool.points)
    except NimtError:
        raise
    except (TypeError, ValueError, IndexError) as error:
        raise InvalidInput(
            f"{name} cannot be called with all points at once, an array of shape {(n, pool.dimension)} "
            f"({type(error).__name__}: {error}): it must take such an array and return ({n},), "
            f"for example lambda x: np.sin(x[:, 0])"
        ) from error
    except Exception as error:  # a function of the user may raise anything
        raise InvalidInput(
            f"{name} raised {type(error).__name__} ({error}) when it was called with all points, an array of shape "
            f"{(n, pool.dimension)}"
        ) from error
    array = real_array(f"what {name} returned", returned)
    if array.ndim not in (1, 2) or len(array) != n or array.size == 0:
        raise InvalidInput(
            f"{name} was called with points of shape {(n, pool.dimension)} and returned shape {array.shape}: "
            f"it must return ({n},), or ({n}, q) for q outputs"
        )
    array = array[:, 0] if array.shape[1:] == (1,) else array  # one output is a scalar function, however it is given
    check_finite(f"what {name} returned", array, lambda index: pool.take(np.array([index]))[0].tolist())
    return freeze(array)


def _check_rows(name: str, points: ArrayLike) -> Array:
    array = real_array(name, stack_columns(name, points))
    if array.ndim == 0:
        raise InvalidInput(
            "must have shape (n,) or (n, d), got ()", parameter=name, way_out=f"for one point give [[{array!s}]]"
        )
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise InvalidInput(f"must have shape (n,) or (n, d), got {array.shape}", parameter=name)
    if array.size == 0:
        raise InvalidInput(f"is empty (shape {array.shape})", parameter=name, way_out="give at least one point")
    check_finite(name, array)
    return array


def _check_axis(number: int, axis: ArrayLike) -> Array:
    name = f"axis {number} of the grid"
    array = real_array(name, axis)
    if array.ndim != 1 or array.size == 0:
        raise InvalidInput(f"must be one-dimensional with at least one point, got shape {array.shape}", parameter=name)
    check_finite(name, array)
    largest = np.abs(array).max()
    if largest > LARGEST_COORDINATE:
        raise InvalidInput(
            f"reaches {largest!s}, the limit is {LARGEST_COORDINATE:g}", parameter=name, way_out="rescale it"
        )
    steps = array[1:] - array[:-1]
    if steps.size:
        if not steps.all():
            repeated = np.flatnonzero(steps == 0)
            raise InvalidInput(
                f"{name} repeats the point {array[repeated[0]]!s} (indices {repeated[0]} and {repeated[0] + 1})"
            )
        mean = (array[-1] - array[0]) / steps.size
        size = abs(mean)
        rounding = 8 * EPSILON * max(largest, size * steps.size)
        uneven = np.abs(steps - mean) > min(rounding, UNEVEN * size) + 1e-9 * size
        if uneven.any():
            i = int(np.argmax(uneven))
            gap = float(np.spacing(largest))
            if gap > UNEVEN / 4 * size and np.abs(steps - mean).max() <= 2 * gap:
                raise InvalidInput(
                    f"{name} has steps of about {mean:.3g} at {array[i]!s}, where numbers are {gap:.2g} apart, so that "
                    f"it is not uniform: count from a point nearer to it, for example subtract {array[0]!s}"
                )
            raise InvalidInput(
                f"{name} is not uniform: the step from {array[i]!s} to {array[i + 1]!s} is {steps[i]!s}, "
                f"the mean step {mean!s}; {_way_to_uniform(array, mean)}give the points as an (n, d) array instead"
            )
    return freeze(array)


def _way_to_uniform(axis: Array, mean: float) -> str:
    """Say how to repair an axis that is uniform up to rounding (float32, the digits of a table)."""
    if np.abs(axis - np.linspace(axis[0], axis[-1], len(axis))).max() > 0.1 * np.abs(mean):
        return ""
    return f"if it was rounded, give np.linspace({axis[0]!s}, {axis[-1]!s}, {len(axis)}) in float64, otherwise "
