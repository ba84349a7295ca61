"""A loss of your own, written as one function of two numbers, that compiled engines run too."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, cast, overload

import numpy as np

from nimt.arrays import Array, check_flag, is_number
from nimt.errors import InvalidInput
from nimt.losses.compiled_score import CompiledFunction, CompiledScore, ScoreFunction, refuse_raising, takes_three
from nimt.plain_numba import PLAIN_NUMBA

Function = Callable[[float, float], tuple[float, float]]


class CompiledLoss(CompiledFunction):
    """What `nimt.compiled` makes of a function: a loss whose value and slope are compiled.

    It is stored by the name of the function. A file that holds it is read with `allow=[the loss]`.

    Attributes
    ----------
    function : callable(f, y) -> (value, slope)
        As it was written.
    smoothness, lipschitz, convex : as declared
    """

    def __init__(self, function: Function, smoothness: float, lipschitz: float, convex: bool) -> None:
        if not callable(function):
            raise InvalidInput(f"nimt.compiled takes a function of a prediction and a label, got {function!r}")
        for name, constant in (("smoothness", smoothness), ("lipschitz", lipschitz)):
            if not is_number(constant) or not float(constant) > 0:
                raise InvalidInput(
                    f"must be a positive number, or infinity where there is none; got {constant!r}", parameter=name
                )
        check_flag("convex", convex)
        super().__init__(function)
        self.smoothness: float = float(smoothness)
        self.lipschitz: float = float(lipschitz)
        self.convex: bool = bool(convex)
        self._pair = PairOfNumbers(function)

    def value(self, f: Array, y: Array) -> Array:
        return np.asarray(self._pair.on_arrays(0)(f, y))

    def slope(self, f: Array, y: Array) -> Array:
        return np.asarray(self._pair.on_arrays(1)(f, y))

    def compiled_twin(self) -> tuple[int, float] | None:
        """Return the address of the compiled slope, by which compiled code calls it; there is no parameter."""
        return None if PLAIN_NUMBA else (self._pair.address(1), 1.0)

    def compiled_value(self) -> int:
        """Return the address of the compiled value."""
        return self._pair.address(0)

    def describe(self) -> dict[str, Any]:
        """Return what was declared; a file holds this and the name, but not the function."""
        return {"smoothness": self.smoothness, "lipschitz": self.lipschitz, "convex": self.convex}


class PairOfNumbers:
    """A function of two numbers that returns two, compiled at once, so that it is refused where it is written.

    Each of its two numbers is compiled on arrays, and to be called by its address, when it is first asked for.
    """

    def __init__(self, function: Function) -> None:
        import numba as untyped

        self._numba: Any = untyped
        self._name = getattr(function, "__name__", repr(function))
        refuse_raising(function, self._name, "the loss")
        self._both = self._numba.njit(function, error_model="numpy")  # 1 / 0 is infinity, as on arrays
        self._compiled: dict[tuple[str, int], Any] = {}
        self._compiling = threading.Lock()  # an address is valid as long as what it was taken of is kept
        if not self._returns_two_numbers():
            for which in (0, 1):  # numba says what is wrong, or takes it after all
                self.on_arrays(which)

    def _returns_two_numbers(self) -> bool:
        numba = self._numba
        with self._refusing():
            self._both.compile((numba.float64, numba.float64))
        kinds = getattr(self._both.nopython_signatures[0].return_type, "types", ())
        if len(kinds) > 2:
            raise InvalidInput(
                f"must return a pair, the value and the slope; it returns {len(kinds)} numbers", parameter=self._name
            )
        numbers = numba.types.Float, numba.types.Integer, numba.types.Boolean
        return len(kinds) == 2 and all(isinstance(kind, numbers) for kind in kinds)

    def on_arrays(self, which: int) -> Any:
        """Return one of the numbers as a function on arrays: 0 is the value, 1 the slope."""
        return self._compile("vectorize", which)

    def address(self, which: int) -> int:
        """Return where compiled code finds one of them."""
        return int(self._compile("cfunc", which).address)

    def _compile(self, how: str, which: int) -> Any:
        with self._compiling:
            if (how, which) not in self._compiled:
                both = self._both

                def value(f: float, y: float) -> Any:
                    return both(f, y)[0]

                def slope(f: float, y: float) -> Any:
                    return both(f, y)[1]

                signature = "float64(float64, float64)"
                with self._refusing():
                    make = getattr(self._numba, how)([signature] if how == "vectorize" else signature)
                    self._compiled[how, which] = make((value, slope)[which])
            return self._compiled[how, which]

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except (self._numba.core.errors.NumbaError, TypeError) as error:
            why = " ".join(str(error).split())[:300]
            raise InvalidInput(
                f"{self._name} cannot be compiled: it must take two numbers, a prediction and a label, and return two, "
                f"the value and the slope, with operations that numba knows ({why})"
            ) from error


@overload
def compiled(function: Function, /) -> CompiledLoss: ...


@overload
def compiled(function: ScoreFunction, /) -> CompiledScore: ...


@overload
def compiled(
    *, smoothness: float = ..., lipschitz: float = ..., convex: bool = ...
) -> Callable[[Function], CompiledLoss]: ...


def compiled(
    function: Function | ScoreFunction | None = None,
    /,
    *,
    smoothness: float = np.inf,
    lipschitz: float = np.inf,
    convex: bool = False,
) -> CompiledLoss | CompiledScore | Callable[[Function], CompiledLoss]:
    """Make a loss of a function `(f, y) -> (value, slope)`, or a score of `(f, y, kappa) -> score`: a decorator.

    The function is compiled by numba, so that lessons with this loss or score run on the compiled engines, as fast as
    with one of nimt. A score is given to a teacher, `GreedyTeacher(score=)`, whose `kernel=` makes kappa = K(x, x); it
    is 1 without one.

    Parameters
    ----------
    smoothness : float
        The Lipschitz constant of the slope in f; infinity where there is none.
    lipschitz : float
        That of the value.
    convex : bool
        Whether the value is convex in f.

    Examples
    --------
    >>> import nimt
    >>> @nimt.compiled(smoothness=2.0)
    ... def fourth_of_a_square(f, y):
    ...     return (f - y) ** 2 / 4, (f - y) / 2
    >>> x = nimt.Grid(np.linspace(-3, 3, 60))
    >>> learner = nimt.KernelLearner(nimt.rbf(0.5), loss=fourth_of_a_square, learning_rate=0.5)
    >>> nimt.teach(learner, nimt.GreedyTeacher(), x, np.sin, tol=1e-2, max_iterations=500).outcome.name
    'CONVERGED'
    """

    def make(function: Function) -> CompiledLoss:
        return CompiledLoss(function, smoothness, lipschitz, convex)

    if function is None:
        return make
    if takes_three(function):
        return CompiledScore(cast(ScoreFunction, function))
    return make(cast(Function, function))
