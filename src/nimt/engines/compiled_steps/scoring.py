"""The score of a point: how much a greedy teacher wants to show it."""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import call_score_at, compiled, inlined, part
from nimt.engines.codes import EUCLIDEAN, NO_SCORE
from nimt.engines.compiled_steps.bits import bits_of, number_with
from nimt.engines.compiled_steps.loss_slopes import SIMPLE, SQUARE, loss_value, own_of, slope
from nimt.engines.compiled_steps.outputs import norm_of
from nimt.teachers.scores import SCORES, Gradient, LossValue, OwnScore, Response

BY_SLOPE, BY_LOSS, BY_RESPONSE, OWN = Gradient.number, LossValue.number, Response.number, OwnScore.number
LOWER_BITS = np.int64(2**63 - 1)  # all but the sign


@inlined
def rank_bits(score):
    """The number whose bits stand for a score when they are compared as integers.

    That is the score itself where it is not negative; -0 is 0, and any NaN is the largest.
    """
    bits = bits_of(score + 0.0)
    bits = bits if bits >= 0 else bits ^ LOWER_BITS
    return number_with(bits) if score == score else np.nan


@inlined
def is_barred(score):
    """Whether a slot may not be shown."""
    return bits_of(score) == NO_SCORE


@inlined
def slope_by(loss, own, f, y):
    return slope(loss[0], own, f, y)


@inlined
def value_by(loss, own, f, y):
    return loss_value(loss[1], own, f, y)


@inlined
def called_score(number, loss, own, f, y, constants, s, o):
    return call_score_at(loss[1], f, y, constants[0, s])


def one_or(kind, otherwise):
    compute = inlined(kind.compile(slope_by, value_by))
    its_number = kind.number

    @inlined
    def computed(number, loss, own, f, y, constants, s, o):
        if number == its_number:
            return compute(loss, own, f, y, constants, s, o)
        return otherwise(number, loss, own, f, y, constants, s, o)

    return computed


score_by_number = called_score  # that of the user, which has no formula here
for kind in reversed(SCORES.values()):
    if kind.compile(slope_by, value_by) is not None:
        score_by_number = one_or(kind, score_by_number)


@part
def score_of_output(number, loss, own, f, y, constants, s, o):
    """The score of one output at a slot, by the number of the score."""
    return score_by_number(number, loss, own, f, y, constants, s, o)


response_at = inlined(Response.compile_joined())


@inlined
def own_score_at(s, f, y, loss, constants):
    """The score of the user at a slot of one output: what `score_at` returns, without asking for its number."""
    return rank_bits(call_score_at(loss[1], f[s], y[s], constants[0, s]))


@part
def score_at(s, f, y, number, loss, delta, constants, outputs, norm):
    """The score of a slot: the norm of the slope times the slot's weight, or the sum over its outputs.

    The parts of `Scoring` one by one: references to an array in a tuple would be counted at every call.
    """
    q = len(outputs)
    first = s * np.uint64(q)
    own = own_of(loss[0], delta, f, first, outputs)
    total = 0.0
    if number == BY_RESPONSE:
        return rank_bits(response_at(f, y, first, q, constants, s))
    if number != BY_SLOPE:
        for o in range(q):
            at = first + np.uint64(o)
            total += score_of_output(number, loss, own, f[at], y[at], constants, s, o)
        return rank_bits(total)
    if q == 1:
        return rank_bits(abs(slope(loss[0], own, f[first], y[first])) * constants[0, s])
    for o in range(q):
        total = norm_of(slope(loss[0], own, f[first + np.uint64(o)], y[first + np.uint64(o)]), total, norm)
    size = np.sqrt(total) if norm == EUCLIDEAN else total
    return rank_bits(size * constants[0, s])


@inlined
def score_by_any_loss(loss, own, f, y, score):
    for s in range(score.size):
        score[s] = score[s] if is_barred(score[s]) else rank_bits(loss_value(loss, own, f[s], y[s]))


def simple_or(number, otherwise):
    """A loop for the values of one loss, which are never negative: without branches, so that it is vectorised."""

    @inlined
    def scored(loss, own, f, y, score):
        if loss == number:
            for s in range(score.size):
                score[s] = score[s] if is_barred(score[s]) else loss_value(number, own, f[s], y[s])
        else:
            otherwise(loss, own, f, y, score)

    return scored


score_by_loss = score_by_any_loss
for number in reversed(SIMPLE):
    score_by_loss = simple_or(number, score_by_loss)


@inlined
def score_by_slope(loss, own, f, y, score, weight):
    for s in range(score.size):
        score[s] = score[s] if is_barred(score[s]) else rank_bits(abs(slope(loss, own, f[s], y[s])) * weight[s])


@inlined
def score_by_any(scoring, own, f, y, score, low):
    number, loss, _, constants = scoring
    for s in range(score.size):
        if not is_barred(score[s]):
            if number == BY_RESPONSE:
                score[s] = rank_bits(response_at(f, y, np.uint64(s), 1, constants, np.uint64(low + s)))
            else:
                score[s] = rank_bits(score_of_output(number, loss, own, f[s], y[s], constants, np.uint64(low + s), 0))


@part
def score_one_output(f, y, score, scoring, low):
    """The scores of some slots of one output; `low` is the number of the first."""
    if scoring is None:
        for s in range(score.size):
            score[s] = score[s] if is_barred(score[s]) else abs(f[s] - y[s])
    else:
        number, loss, delta, constants = scoring
        own = (delta, 0.0)
        if number == BY_LOSS:
            score_by_loss(loss[1], own, f, y, score)
        elif number != BY_SLOPE:
            score_by_any(scoring, own, f, y, score, low)
        elif loss[0] == SQUARE:
            score_by_slope(SQUARE, own, f, y, score, constants[0, low : low + score.size])
        else:
            score_by_slope(loss[0], own, f, y, score, constants[0, low : low + score.size])


@compiled
def score_all(f, y, score, scoring, outputs, norm):
    q = len(outputs)
    if len(outputs) == 1:
        score_one_output(f, y, score, scoring, 0)
    elif scoring is not None:
        number, loss, delta, constants = scoring
        for s in range(score.size):
            if not is_barred(score[s]):
                score[s] = score_at(np.uint64(s), f, y, number, loss, delta, constants, outputs, norm)
    elif norm == EUCLIDEAN:  # the usual one, without branches
        for s in range(score.size):
            total = 0.0
            for o in range(q):
                part = f[s * q + o] - y[s * q + o]
                total += part * part
            score[s] = score[s] if is_barred(score[s]) else np.sqrt(total)
    else:
        for s in range(score.size):
            total = 0.0
            for o in range(q):
                total = norm_of(f[s * q + o] - y[s * q + o], total, norm)
            score[s] = score[s] if is_barred(score[s]) else total
