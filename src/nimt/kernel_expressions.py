"""Kernels written as text: a name with a width, or an expression of scikit-learn's kernels, read without eval."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sklearn_kernels
from sklearn.gaussian_process.kernels import Kernel

from nimt.arrays import check_positive
from nimt.errors import InvalidInput
from nimt.kernels import Wendland, check_kernel, linear, rbf

LONGEST = 500  # characters; Python's own parser may exhaust its stack on much longer text

SIMPLE: dict[str, Callable[[float, int], Kernel]] = {
    "rbf": lambda width, dimension: rbf(width),
    "matern": lambda width, dimension: sklearn_kernels.Matern(length_scale=width, nu=1.5, length_scale_bounds="fixed"),
    "linear": lambda width, dimension: linear(1.0),
    "wendland": lambda width, dimension: Wendland(width, dimension=max(dimension, 1)),
}
WORDS: dict[str, Callable[..., Kernel]] = {
    "rbf": rbf,
    "linear": linear,
    "Wendland": Wendland,
    **{
        name: getattr(sklearn_kernels, name)
        for name in ("RBF", "Matern", "RationalQuadratic", "ExpSineSquared", "DotProduct", "ConstantKernel")
    },
}


def parse_kernel(text: str, *, width: float = 0.5, dimension: int = 1) -> Kernel:
    """Return the kernel that a text names.

    Parameters
    ----------
    text : str
        "rbf" is exp(-|x - y|^2 / width^2), "matern" Matern's with nu = 1.5 and length scale `width`, "linear"
        <x, y> + 1, "wendland" zero beyond `width`; or an expression of rbf(width), linear(c), Wendland, RBF, Matern,
        RationalQuadratic, ExpSineSquared, DotProduct and ConstantKernel with +, * and **.
    width : float
        For the four names.
    dimension : int
        Of the points it will be used on.

    Examples
    --------
    >>> parse_kernel("0.5 * RBF(2.0) + DotProduct(sigma_0=1)")
    0.707**2 * RBF(length_scale=2) + DotProduct(sigma_0=1)
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
            kind = "a number" if isinstance(kernel, int | float) else "a text" if isinstance(kernel, str) else "a list"
            raise InvalidInput(f"the kernel {text!r} is {kind}, not a kernel; write rbf or RBF(1.0)")
    return _tried(check_kernel(kernel), text, dimension)


def kernel_expression(kernel: Kernel, *, dimension: int = 1) -> str | None:
    """Return the text that `parse_kernel` reads as this kernel, all digits kept; None for a kernel that it cannot read.

    Examples
    --------
    >>> kernel_expression(0.5 * rbf(1.0))
    'ConstantKernel(constant_value=0.5) * RBF(length_scale=0.7071067811865475)'
    """
    text = _written(kernel)
    if text is None:
        return None
    try:
        parse_kernel(text, dimension=dimension)
    except InvalidInput:
        return None
    return text


def _written(kernel: Kernel) -> str | None:
    kind = type(kernel)
    if kind is sklearn_kernels.Sum or kind is sklearn_kernels.Product:
        parts = [kernel.k1, kernel.k2]
        texts = [_written(part) for part in parts]
        if None in texts:
            return None
        if kind is sklearn_kernels.Sum:
            return f"{texts[0]} + {texts[1]}"
        in_brackets = [isinstance(part, sklearn_kernels.Sum) for part in parts]
        return " * ".join(f"({text})" if around else str(text) for text, around in zip(texts, in_brackets, strict=True))
    if isinstance(kernel, sklearn_kernels.Exponentiation):
        base = _written(kernel.kernel)
        return None if base is None else f"({base}) ** {kernel.exponent}"
    name = kind.__name__
    if WORDS.get(name) is not kind:
        return None
    numbers = {key: value for key, value in kernel.get_params(deep=False).items() if not key.endswith("_bounds")}
    given = (f"{key}={np.asarray(value).tolist()!r}" for key, value in numbers.items())
    return f"{name}({', '.join(given)})"


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
    """Return the value of a node: a number, "fixed", a tuple of values, or one of the kernels above; nothing else."""
    if isinstance(node, ast.Constant) and (isinstance(node.value, int | float | str)) and node.value is not True:
        return _constant(node.value, text)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _negative(_value(node.operand, text), text)
    if isinstance(node, ast.Tuple | ast.List):
        return _numbers(node, text)
    if isinstance(node, ast.BinOp):
        return _combined(node, text)
    if isinstance(node, ast.Call):
        return _called(node, text)
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


def _constant(value: int | float | str, text: str) -> int | float | str:
    if isinstance(value, str):
        if value != "fixed":
            raise InvalidInput(f"the kernel {text!r} holds the text {value[:40]!r}; only 'fixed' is allowed")
        return value
    if isinstance(value, bool) or not abs(value) < 1e100:
        raise InvalidInput(f"the kernel {text!r} holds the number {str(value)[:40]}, which cannot be used")
    return value


def _negative(value: object, text: str) -> int | float:
    if not isinstance(value, int | float):
        raise InvalidInput(f"the kernel {text!r} has a minus before a kernel, which would not be positive definite")
    return -value


def _combined(node: ast.BinOp, text: str) -> Kernel:
    left, right = _value(node.left, text), _value(node.right, text)
    kernels = [isinstance(side, Kernel) for side in (left, right)]
    numbers = [isinstance(side, int | float) for side in (left, right)]
    if isinstance(node.op, ast.Add | ast.Mult) and any(kernels) and (all(kernels) or any(numbers)):
        if any(isinstance(side, int | float) and side < 0 for side in (left, right)):
            raise InvalidInput(f"the kernel {text!r} adds or multiplies by a negative number: not positive definite")
        return left + right if isinstance(node.op, ast.Add) else left * right
    if isinstance(node.op, ast.Pow) and kernels[0] and isinstance(right, int) and 1 <= right <= 16:
        return left**right
    raise InvalidInput(
        f"the kernel {text!r} holds {ast.unparse(node)[:60]!r}: kernels are added or multiplied with kernels and "
        f"numbers >= 0, and raised to whole powers from 1 to 16"
    )


def _called(node: ast.Call, text: str) -> Kernel:
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


def _tried(kernel: Kernel, text: str, dimension: int) -> Kernel:
    """Evaluate the kernel on three points: scikit-learn accepts any parameter, and fails only when it is used."""
    for name, value in kernel.get_params(deep=True).items():
        part = name.rpartition("__")[2]
        is_parameter = isinstance(value, int | float | tuple) and not part.endswith("bounds")
        if is_parameter and (lowest := np.min(value)) <= 0 and not (part in ("sigma_0", "smoothness") and lowest == 0):
            raise InvalidInput(f"the kernel {text!r} has {part} = {value}: it must be positive")
    points = np.linspace(0.0, 1.0, 3)[:, np.newaxis] * np.ones(max(dimension, 1))
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            finite = np.isfinite(kernel(points)).all() and np.isfinite(kernel.diag(points)).all()
    except InvalidInput:
        raise
    except (ValueError, TypeError, ArithmeticError, AttributeError) as problem:
        raise InvalidInput(
            f"the kernel {text!r} cannot be used on points of dimension {dimension}: {problem}"
        ) from None
    if not finite:
        raise InvalidInput(f"the kernel {text!r} is not finite on points of dimension {dimension}: change its numbers")
    return kernel
