"""A teacher's score of your own, written as one function of three numbers, that compiled engines run too."""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from nimt.arrays import Array
from nimt.errors import InvalidInput

ScoreFunction = Callable[[float, float, float], float]


class CompiledFunction:
    """A function of the user that is compiled: it never changes, and is stored by its name."""

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)  # type: ignore[arg-type]  # its name, by which it is stored
        self.function = function

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> str:
        return self.__qualname__  # other processes import it by name

    def __repr__(self) -> str:
        return self.__name__


class CompiledScore(CompiledFunction):
    """What `nimt.compiled` makes of a function (f, y, kappa) -> score; give it as `GreedyTeacher(score=)`.

    It is stored by the name of the function. A file that holds it is read with `allow=[the score]`.

    Attributes
    ----------
    function : callable(f, y, kappa) -> number
        As it was written.
    """

    def __init__(self, function: ScoreFunction) -> None:
        super().__init__(function)
        self._of, self._kept = compile_score(function)

    def of(self, f: Array, y: Array, kappa: Array) -> Array:
        """Return the scores of predictions f, targets y and K(x, x), elementwise."""
        return np.asarray(self._of(f, y, kappa))

    @property
    def address(self) -> int:
        """Where compiled code finds the function."""
        return int(self._kept.address)

    def describe(self) -> dict[str, Any]:
        """Return nothing: a file holds the name, but not the function."""
        return {}


def compile_score(function: ScoreFunction) -> tuple[Any, Any]:
    """Return the score as a function on arrays, and as one that compiled code calls by its address."""
    import numba as untyped

    numba: Any = untyped
    name = getattr(function, "__name__", repr(function))
    refuse_raising(function, name, "the score")
    signature = "float64(float64, float64, float64)"
    one = numba.njit(function, error_model="numpy")  # 1 / 0 is infinity, as on arrays

    def score(f: float, y: float, kappa: float) -> Any:
        return one(f, y, kappa)

    try:
        return numba.vectorize([signature])(score), numba.cfunc(signature)(score)
    except (numba.core.errors.NumbaError, TypeError) as error:
        why = " ".join(str(error).split())[:300]
        raise InvalidInput(
            f"{name} cannot be compiled: it must take three numbers, a prediction, a label and K(x, x), and return the "
            f"score, with operations that numba knows ({why})"
        ) from error


def refuse_raising(function: Callable[..., Any], name: str, what: str) -> None:
    """Refuse a function that has a `raise` or `assert` of its own."""
    code = getattr(function, "__code__", None)
    if code is not None and any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(code)):
        raise InvalidInput(
            f"{name} raises exceptions, and compiled code cannot pass them on: return nan where {what} is not defined"
        )


def takes_three(function: object) -> bool:
    """Say whether a function has three parameters: it is a score, and one of two is a loss."""
    return getattr(getattr(function, "__code__", None), "co_argcount", 0) == 3
