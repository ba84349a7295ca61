"""Formulas typed by a person, read without eval: numbers, x and y, a few functions, and + - * / **."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nimt.arrays import Array
from nimt.errors import InvalidInput

LONGEST = 300  # characters
VARIABLES = ("x", "y")
CONSTANTS = {"pi": math.pi, "e": math.e}
FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    **{
        name: (getattr(np, name), 1)
        for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "abs", "sign", "floor")
    },
    "min": (np.minimum, 2),
    "max": (np.maximum, 2),
}
NUMPY_NAMES = {"min": "minimum", "max": "maximum"}
OPERATORS: dict[type, tuple[Callable[[Any, Any], Any], str, str]] = {
    ast.Add: (operator.add, "+", "add"),
    ast.Sub: (operator.sub, "-", "subtract"),
    ast.Mult: (operator.mul, "*", "multiply"),
    ast.Div: (operator.truediv, "/", "divide"),
    ast.Pow: (operator.pow, "**", "power"),
}


@dataclass(frozen=True)
class TypedFormula:
    """A formula of x, or of x and y.

    Examples
    --------
    >>> wave = read_formula("sin(x) ^ 2 + 1")
    >>> wave(np.array([[0.0], [np.pi / 2]]))
    array([1., 2.])
    >>> print(wave.as_python())
    ((np.sin(x[:, 0]) ** 2.0) + 1.0)
    """

    text: str
    tree: ast.expr
    dimension: int

    def __call__(self, points: Array) -> Array:
        known = {name: points[:, axis] for axis, name in enumerate(VARIABLES[: points.shape[1]])}
        with np.errstate(all="ignore"):
            values = np.broadcast_to(
                np.asarray(_term(self.tree, known, self.text).value, dtype=np.float64), len(points)
            )
        wrong = np.flatnonzero(~np.isfinite(values))
        if wrong.size:
            where = ", ".join(f"{name} = {known[name][wrong[0]]:.4g}" for name in known)
            raise InvalidInput(f"the formula {self.text!r} has no finite value at {where}: change it or the range")
        return np.array(values)

    def as_python(self) -> str:
        """Return the formula as NumPy writes it, of an array x of shape (n, d)."""
        known = dict.fromkeys(VARIABLES[: self.dimension], np.ones(1))  # the text is the same for any points
        with np.errstate(all="ignore"):
            return _term(self.tree, known, self.text).python


def read_formula(text: str, dimension: int = 1) -> TypedFormula:
    """Read a formula, or say what in it is not understood; ^ is a power too."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput("the formula is empty: write for example sin(x)")
    if len(text) > LONGEST:
        raise InvalidInput(f"the formula has {len(text)} characters: {LONGEST} at most")
    try:
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval").body
        with np.errstate(all="ignore"):
            _term(tree, dict.fromkeys(VARIABLES[:dimension], np.ones(1)), text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"the formula {text!r} cannot be read: write for example sin(x) + 0.5 * x") from None
    return TypedFormula(text, tree, dimension)


class _Term(NamedTuple):
    """What a part of a formula is, and how Python writes it: made together, so that they stay the same."""

    value: Any
    python: str


def _term(node: ast.expr, known: dict[str, Array], text: str) -> _Term:
    """Return what a node stands for; numbers are floats, so that no power can grow without end."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        number = _number(node.value, text)
        return _Term(number, repr(number))
    if isinstance(node, ast.Name):
        if node.id in known:
            return _Term(known[node.id], f"x[:, {VARIABLES.index(node.id)}]")
        if node.id in CONSTANTS:
            return _Term(CONSTANTS[node.id], f"np.{node.id}")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value, python = _term(node.operand, known, text)
        return _Term(-value, f"(-{python})") if isinstance(node.op, ast.USub) else _Term(value, python)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return _combine(type(node.op), _term(node.left, known, text), _term(node.right, known, text))
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in FUNCTIONS
        and not node.keywords
    ):
        function, count = FUNCTIONS[node.func.id]
        if len(node.args) != count:
            raise InvalidInput(f"{node.func.id} takes {count} argument(s) in {text!r}, got {len(node.args)}")
        parts = [_term(part, known, text) for part in node.args]
        name = NUMPY_NAMES.get(node.func.id, node.func.id)
        return _Term(
            function(*(part.value for part in parts)), f"np.{name}({', '.join(part.python for part in parts)})"
        )
    raise InvalidInput(
        f"the formula {text!r} holds {ast.unparse(node)[:40]!r}: it may hold numbers, {', '.join(known)}, pi, e, "
        f"{', '.join(FUNCTIONS)} and + - * / ^"
    )


def _combine(kind: type, left: _Term, right: _Term) -> _Term:
    """Return the sum, product or power of two parts, of two numbers too as NumPy computes it.

    Python has an error where NumPy has infinity, and a complex power where NumPy has none.
    """
    act, sign, name = OPERATORS[kind]
    try:
        value = act(left.value, right.value)
    except ArithmeticError:
        value = None
    if value is None or isinstance(value, complex):
        return _Term(getattr(np, name)(left.value, right.value), f"np.{name}({left.python}, {right.python})")
    return _Term(value, f"({left.python} {sign} {right.python})")


def _number(value: int | float, text: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidInput(f"the formula {text[:60]!r} holds a number too large to compute with")
    return number
