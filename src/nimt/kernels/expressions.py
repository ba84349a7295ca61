"""Kernels written as text: a name with a width, or an expression of kernels, read without eval."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from nimt.arrays import check_positive
from nimt.errors import InvalidInput
from nimt.kernels.dot_product import linear
from nimt.kernels.families import BY_SKLEARN, SINGLE
from nimt.kernels.kernel import Kernel
from nimt.kernels.matern import Matern
from nimt.kernels.radial import rbf
from nimt.kernels.wendland import Wendland

LONGEST = 500  # characters; Python's own parser may exhaust its stack on much longer text

SIMPLE: dict[str, Callable[[float, int], Kernel]] = {
    "rbf": lambda width, dimension: rbf(width),
    "matern": lambda width, dimension: Matern(width, nu=1.5),
    "linear": lambda width, dimension: linear(1.0),
    "wendland": lambda width, dimension: Wendland(width, dimension=max(dimension, 1)),
}
WORDS: dict[str, Callable[..., Kernel]] = {
    **{kind.word or kind.__name__: kind for kind in SINGLE},
    "linear": linear,
    **BY_SKLEARN,
}


def parse_kernel(text: str, *, width: float = 0.5, dimension: int = 1) -> Kernel:
    """Return the kernel that a text names.

    Parameters
    ----------
    text : str
        "rbf" is exp(-|x - y|^2 / width^2), "matern" Matern's with nu = 1.5 and length scale `width`, "linear"
        <x, y> + 1, "wendland" zero beyond `width`; or an expression of rbf(width), linear(c), Wendland, Matern,
        RationalQuadratic, ExpSineSquared, ConstantKernel, and scikit-learn's RBF(length_scale) and DotProduct(sigma_0),
        with +, * and **.
    width : float
        For the four names.
    dimension : int
        Of the points it will be used on.

    Examples
    --------
    >>> parse_kernel("0.5 * RBF(2.0) + DotProduct(sigma_0=1)")
    0.5 * rbf(width=2.8284271247461903) + linear(c=1.0)
    """
    if text in SIMPLE:
        check_positive("width", width)
        kernel = SIMPLE[text](float(width), dimension)
    else:
        try:
            kernel = _value(_tree(text), text)
        except RecursionError:
            raise InvalidInput(f"the kernel {text[:40]!r}... is nested too deeply") from None
        if not isinstance(kernel, Kernel):
            kind = "a number" if isinstance(kernel, int | float) else "a list"
            raise InvalidInput(f"the kernel {text!r} is {kind}, not a kernel; write rbf or RBF(1.0)")
    return _try(kernel, text, dimension)


def kernel_expression(kernel: Kernel, *, dimension: int = 1) -> str | None:
    """Return the text that `parse_kernel` reads as this kernel, all digits kept; None for a kernel that it cannot read.

    Examples
    --------
    >>> kernel_expression(0.5 * rbf(1.0))
    '0.5 * rbf(width=1.0)'
    """
    text = repr(kernel)
    try:
        return text if parse_kernel(text, dimension=dimension) == kernel else None
    except InvalidInput:
        return None


def _tree(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise InvalidInput(f"the kernel {text[:40]!r}... has {len(text)} characters: {LONGEST} at most")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about literals such as 1if
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidInput(
            f"the kernel {text!r} cannot be read: write {', '.join(SIMPLE)}, or an expression such as "
            f"'RBF(0.5) + 0.1 * Matern(1.0, nu=2.5)'"
        ) from None


def _value(node: ast.expr, text: str) -> Any:
    """Return the value of a node: a number, a tuple of numbers, or one of the kernels above; nothing else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return _number(node.value, text)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _negative(_value(node.operand, text), text)
    if isinstance(node, ast.Tuple | ast.List):
        return _numbers(node, text)
    if isinstance(node, ast.BinOp):
        return _combine(node, text)
    if isinstance(node, ast.Call):
        return _call(node, text)
    raise InvalidInput(
        f"the kernel {text!r} holds {ast.unparse(node)[:60]!r}, which is neither a number nor a kernel: write "
        f"{', '.join(SIMPLE)}, or an expression of {', '.join(WORDS)} such as RBF(0.5) + 0.1 * Matern(2)"
    )


def _numbers(node: ast.Tuple | ast.List, text: str) -> tuple[int | float, ...]:
    values = tuple(_value(part, text) for part in node.elts)
    if not values or not all(isinstance(value, int | float) for value in values):
        raise InvalidInput(
            f"the kernel {text!r} holds the list {ast.unparse(node)[:60]!r}: a list must hold one number or more, and "
            f"nothing else"
        )
    return values


def _number(value: int | float, text: str) -> int | float:
    if isinstance(value, bool) or not abs(value) < 1e100:
        raise InvalidInput(f"the kernel {text!r} holds the number {str(value)[:40]}, which cannot be used")
    return value


def _negative(value: object, text: str) -> int | float:
    if not isinstance(value, int | float):
        raise InvalidInput(f"the kernel {text!r} has a minus before a kernel, which would not be positive definite")
    return -value


def _combine(node: ast.BinOp, text: str) -> Any:
    left, right = _value(node.left, text), _value(node.right, text)
    kernels = [isinstance(side, Kernel) for side in (left, right)]
    numbers = [isinstance(side, int | float) for side in (left, right)]
    if isinstance(node.op, ast.Add | ast.Mult) and any(kernels) and (all(kernels) or any(numbers)):
        if any(isinstance(side, int | float) and side <= 0 for side in (left, right)):
            raise InvalidInput(f"the kernel {text!r} adds or multiplies by a number that is not positive")
        return left + right if isinstance(node.op, ast.Add) else left * right
    if isinstance(node.op, ast.Pow) and kernels[0] and isinstance(right, int) and 1 <= right <= 16:
        return left**right
    raise InvalidInput(
        f"the kernel {text!r} holds {ast.unparse(node)[:60]!r}: kernels are added or multiplied with kernels and "
        f"positive numbers, and raised to whole powers from 1 to 16"
    )


def _call(node: ast.Call, text: str) -> Kernel:
    name = node.func.id if isinstance(node.func, ast.Name) else None
    if name not in WORDS:
        raise InvalidInput(f"the kernel {text!r} calls {ast.unparse(node.func)[:60]!r}; known are {', '.join(WORDS)}")
    arguments = [_value(part, text) for part in node.args]
    options = {keyword.arg: _value(keyword.value, text) for keyword in node.keywords if keyword.arg is not None}
    if len(options) < len(node.keywords):
        raise InvalidInput(f"the kernel {text!r} holds **, which cannot be read here")
    if any(isinstance(part, Kernel) for part in (*arguments, *options.values())):
        raise InvalidInput(f"the kernel {text!r} gives {name} a kernel where a number belongs")
    try:
        return WORDS[name](*arguments, **options)
    except (TypeError, ValueError) as problem:
        raise InvalidInput(f"the kernel {text!r} cannot be made: {problem}") from None


def _try(kernel: Kernel, text: str, dimension: int) -> Kernel:
    """Evaluate the kernel on three points, where some parameters first show that they cannot be used."""
    points = np.linspace(0.0, 1.0, 3)[:, np.newaxis] * np.ones(max(dimension, 1))
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            finite = np.isfinite(kernel(points)).all() and np.isfinite(kernel.diag(points)).all()
    except InvalidInput as problem:
        raise InvalidInput(f"the kernel {text!r} cannot be used: {problem}") from None
    except (ValueError, TypeError, ArithmeticError, RecursionError) as problem:
        raise InvalidInput(
            f"the kernel {text!r} cannot be used on points of dimension {dimension}: {problem}"
        ) from None
    if not finite:
        raise InvalidInput(f"the kernel {text!r} is not finite on points of dimension {dimension}: change its numbers")
    return kernel
