"""Losses by their numbers: the values and slopes of `nimt.losses`, and functions of the user by their addresses."""

from __future__ import annotations

from nimt.engines._numba.chosen import call_at, compiled, inlined, part
from nimt.losses import LOSSES, Square

KINDS = tuple(LOSSES.values())
SQUARE = Square.number
SIMPLE = tuple(kind.number for kind in KINDS if kind.has_simple_value)


def by_number(functions, otherwise):
    """Return a function (loss, own, f, y) that calls the one of these for the loss with that number."""
    for number, function in reversed(functions):
        otherwise = one_or(number, inlined(function), otherwise)
    return otherwise


def one_or(number, function, otherwise):
    @inlined
    def chosen(loss, own, f, y):
        if loss == number:
            return function(f, y, own)
        return otherwise(loss, own, f, y)

    return chosen


@inlined
def called(loss, own, f, y):
    return call_at(loss, f, y)


slope_of = by_number([(kind.number, kind.slope_at) for kind in KINDS], called)
value_of = by_number([(kind.number, kind.value_at) for kind in KINDS], called)
slope_of_square = inlined(Square.slope_at)


@compiled
def slope(loss, own, f, y):
    """The slope dL/df; None for the loss is the square, and leaves the others out of what is compiled."""
    if loss is None:
        return slope_of_square(f, y, own)
    return slope_of(loss, own, f, y)


@part
def loss_value(loss, own, f, y):
    return value_of(loss, own, f, y)


def shared_or(number, shared_at, otherwise):
    @inlined
    def chosen(loss, parameter, f, first, outputs):
        if loss == number:
            return shared_at(f, first, outputs)
        return otherwise(loss, parameter, f, first, outputs)

    return chosen


@inlined
def nothing_shared(loss, parameter, f, first, outputs):
    return parameter, 0.0


shared_by_outputs = nothing_shared
for kind in KINDS:
    if kind.couples_outputs:
        shared_by_outputs = shared_or(kind.number, part(kind.shared_at), shared_by_outputs)


@part
def own_of(loss, parameter, f, first, outputs):
    """What slopes and values at the outputs from `first` on need beside f and y."""
    if len(outputs) == 1:  # known to the compiler: with one output nothing is shared
        return parameter, 0.0
    return shared_by_outputs(loss, parameter, f, first, outputs)
