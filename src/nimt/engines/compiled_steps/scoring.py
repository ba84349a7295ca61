"""The score of a point: how much a greedy teacher wants to show it."""

from __future__ import annotations

import numpy as np

from nimt.engines.caching import compiled, inlined, part
from nimt.engines.compiled_steps.codes import BY_LOSS, EUCLIDEAN, NO_SCORE
from nimt.engines.compiled_steps.losses import SIMPLE, SQUARE, loss_value, own_of, slope
from nimt.engines.compiled_steps.outputs import norm_of
from nimt.engines.compiled_steps.vectors import bits_of, number_with

LOWER_BITS = np.int64(2**63 - 1)  # all but the sign


@inlined
def ranked(score):
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


@part
def score_at(s, f, y, rule, rule_delta, weight, outputs, norm):
    """The score of a slot by a loss: the norm of its slope times the slot's weight, or its value."""
    q = len(outputs)
    first = s * np.uint64(q)
    loss = rule if rule > BY_LOSS else BY_LOSS - rule
    own = own_of(loss, rule_delta, f, first, outputs)
    total = 0.0
    if rule <= BY_LOSS:
        for o in range(q):
            total += loss_value(loss, own, f[first + np.uint64(o)], y[first + np.uint64(o)])
        return ranked(total)
    if q == 1:
        return ranked(abs(slope(loss, own, f[first], y[first])) * weight[s])
    for o in range(q):
        total = norm_of(slope(loss, own, f[first + np.uint64(o)], y[first + np.uint64(o)]), total, norm)
    size = np.sqrt(total) if norm == EUCLIDEAN else total
    return ranked(size * weight[s])


@inlined
def score_by_any_loss(loss, own, f, y, score):
    for s in range(score.size):
        score[s] = score[s] if is_barred(score[s]) else ranked(loss_value(loss, own, f[s], y[s]))


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
        score[s] = score[s] if is_barred(score[s]) else ranked(abs(slope(loss, own, f[s], y[s])) * weight[s])


@part
def score_one_output(f, y, score, rule, delta, weight):
    """The scores of all slots of one output."""
    own = (delta, 0.0)
    if rule is None:
        for s in range(score.size):
            score[s] = score[s] if is_barred(score[s]) else abs(f[s] - y[s])
    elif rule <= BY_LOSS:
        score_by_loss(BY_LOSS - rule, own, f, y, score)
    elif rule == SQUARE:
        score_by_slope(SQUARE, own, f, y, score, weight)
    else:
        score_by_slope(rule, own, f, y, score, weight)


@compiled
def score_all(f, y, score, rule, delta, weight, outputs, norm):
    q = len(outputs)
    if len(outputs) == 1:
        score_one_output(f, y, score, rule, delta, weight)
    elif rule is not None:
        for s in range(score.size):
            if not is_barred(score[s]):
                score[s] = score_at(np.uint64(s), f, y, rule, delta, weight, outputs, norm)
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
