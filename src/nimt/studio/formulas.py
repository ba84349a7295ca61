"""Formulas typed by a person, read without eval: numbers, x and y, a few functions, and + - * / **."""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
OPERATORS: dict[type, tuple[Callable[[Any, Any], Any], str]] = {
    ast.Add: (np.add, "+"),
    ast.Sub: (np.subtract, "-"),
    ast.Mult: (np.multiply, "*"),
    ast.Div: (np.divide, "/"),
    ast.Pow: (np.power, "**"),
}


@dataclass(frozen=True)
class Formula:
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
            values = np.broadcast_to(np.asarray(_value(self.tree, known, self.text), dtype=np.float64), len(points))
        wrong = np.flatnonzero(~np.isfinite(values))
        if wrong.size:
            where = ", ".join(f"{name} = {known[name][wrong[0]]:.4g}" for name in known)
            raise InvalidInput(f"the formula {self.text!r} has no finite value at {where}: change it or the range")
        return np.array(values)

    def as_python(self) -> str:
        """Return the formula as NumPy writes it, of an array x of shape (n, d)."""
        return _python(self.tree)


def read_formula(text: str, dimension: int = 1) -> Formula:
    """Read a formula, or say what in it is not understood; ^ is a power too."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput("the formula is empty: write for example sin(x)")
    if len(text) > LONGEST:
        raise InvalidInput(f"the formula has {len(text)} characters: {LONGEST} at most")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip().replace("^", "**"), mode="eval").body
        _value(tree, dict.fromkeys(VARIABLES[:dimension], np.ones(1)), text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"the formula {text!r} cannot be read: write for example sin(x) + 0.5 * x") from None
    return Formula(text, tree, dimension)


def _value(node: ast.expr, known: dict[str, Array], text: str) -> Any:
    """Return what a node stands for; numbers are floats, so that no power can grow without end."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return _number(node.value, text)
    if isinstance(node, ast.Name):
        if node.id in known:
            return known[node.id]
        if node.id in CONSTANTS:
            return CONSTANTS[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand, known, text)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        act, _ = OPERATORS[type(node.op)]
        with np.errstate(all="ignore"):
            return act(_value(node.left, known, text), _value(node.right, known, text))
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in FUNCTIONS
        and not node.keywords
    ):
        function, count = FUNCTIONS[node.func.id]
        if len(node.args) != count:
            raise InvalidInput(f"{node.func.id} takes {count} argument(s) in {text!r}, got {len(node.args)}")
        with np.errstate(all="ignore"):
            return function(*(_value(part, known, text) for part in node.args))
    raise InvalidInput(
        f"the formula {text!r} holds {ast.unparse(node)[:40]!r}: it may hold numbers, {', '.join(known)}, pi, e, "
        f"{', '.join(FUNCTIONS)} and + - * / ^"
    )


def _number(value: int | float, text: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidInput(f"the formula {text[:60]!r} holds a number too large to compute with")
    return number


def _python(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return repr(float(node.value))  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return f"x[:, {VARIABLES.index(node.id)}]" if node.id in VARIABLES else f"np.{node.id}"
    if isinstance(node, ast.UnaryOp):
        return f"{'-' if isinstance(node.op, ast.USub) else '+'}{_python(node.operand)}"
    if isinstance(node, ast.BinOp):
        return f"({_python(node.left)} {OPERATORS[type(node.op)][1]} {_python(node.right)})"
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    name = NUMPY_NAMES.get(node.func.id, node.func.id)
    return f"np.{name}({', '.join(_python(part) for part in node.args)})"
