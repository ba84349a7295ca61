"""Losses: their values and their slopes."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from nimt.engines.caching import compiled, part
from nimt.engines.compiled_steps.codes import ABSOLUTE, HINGE, HUBER, LOGISTIC, SQUARE


@intrinsic
def call_at(typing_context, address, f, y):
    """Call the function of two numbers at an address: a loss that is not nimt's own (`nimt.compiled`)."""

    def generate(context, builder, signature, arguments):
        number = ir.DoubleType()
        pointer = ir.FunctionType(number, [number, number]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], pointer), arguments[1:])

    return types.float64(types.int64, types.float64, types.float64), generate


@compiled
def slope(loss, delta, f, y):
    """The slope dL/df; None for the loss is the square, and leaves the others out of what is compiled."""
    if loss is None:
        return 2.0 * (f - y)
    if loss == SQUARE:
        return 2.0 * (f - y)
    if loss == HINGE:
        return -y if y * f < 1.0 else 0.0
    if loss == LOGISTIC:
        z = -y * f
        if z >= 0.0:
            return -y / (1.0 + np.exp(-z))
        e = np.exp(z)
        return -y * e / (1.0 + e)
    if loss == HUBER:
        r = f - y
        return 2.0 * (-delta if r < -delta else delta if r > delta else r)
    if loss == ABSOLUTE:
        return np.sign(f - y)
    return call_at(loss, f, y)


@part
def loss_value(loss, delta, f, y):
    if loss == SQUARE:
        return (y - f) ** 2
    if loss == HINGE:
        return max(0.0, 1.0 - y * f)
    if loss == LOGISTIC:
        z = -y * f
        return max(0.0, z) + np.log1p(np.exp(-abs(z)))
    distance = abs(y - f)
    if loss == HUBER:
        return distance**2 if distance <= delta else delta * (2.0 * distance - delta)
    if loss == ABSOLUTE:
        return distance
    return call_at(loss, f, y)
