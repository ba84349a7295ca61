"""The score of a point: how much a greedy teacher wants to show it."""

from __future__ import annotations

import numpy as np

from nimt.engines.caching import compiled, inlined, part
from nimt.engines.compiled_steps.codes import BY_LOSS, CROSSENTROPY, EUCLIDEAN, HINGE, HUBER, NO_SCORE, SQUARE
from nimt.engines.compiled_steps.losses import loss_value, slope
from nimt.engines.compiled_steps.outputs import norm_of, softmax_parts
from nimt.engines.compiled_steps.vectors import bits_of, number_with

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


@part
def score_at(s, f, y, rule, rule_delta, weight, outputs, norm):
    """The score of a slot by a loss: the norm of its slope times the slot's weight, or its value."""
    q = len(outputs)
    first = s * np.uint64(q)
    coupled = rule == CROSSENTROPY or rule == BY_LOSS - CROSSENTROPY
    top, parts = softmax_parts(f, first, outputs) if coupled else (0.0, 1.0)
    if rule == BY_LOSS - CROSSENTROPY:
        total = 0.0
        for o in range(q):
            at = first + np.uint64(o)
            total += y[at] * -(f[at] - top - np.log(parts))
        return rank_bits(total)
    if rule <= BY_LOSS:
        total = 0.0
        for o in range(q):
            total += loss_value(BY_LOSS - rule, rule_delta, f[first + np.uint64(o)], y[first + np.uint64(o)])
        return rank_bits(total)
    if q == 1:
        return rank_bits(abs(slope(rule, rule_delta, f[first], y[first])) * weight[s])
    total = 0.0
    for o in range(q):
        at = first + np.uint64(o)
        if rule == CROSSENTROPY:
            part = np.exp(f[at] - top) / parts - y[at]
        else:
            part = slope(rule, rule_delta, f[at], y[at])
        total = norm_of(part, total, norm)
    size = np.sqrt(total) if norm == EUCLIDEAN else total
    return rank_bits(size * weight[s])


@inlined
def score_by_loss(loss, delta, f, y, score):
    """The values of a loss that are never negative."""
    for s in range(score.size):
        score[s] = score[s] if is_barred(score[s]) else loss_value(loss, delta, f[s], y[s])


@inlined
def score_by_any_loss(loss, delta, f, y, score):
    for s in range(score.size):
        score[s] = score[s] if is_barred(score[s]) else rank_bits(loss_value(loss, delta, f[s], y[s]))


@inlined
def score_by_slope(loss, delta, f, y, score, weight):
    for s in range(score.size):
        score[s] = score[s] if is_barred(score[s]) else rank_bits(abs(slope(loss, delta, f[s], y[s])) * weight[s])


@part
def score_one_output(f, y, score, rule, delta, weight):
    """The scores of all slots of one output: a loop for each rule without branches, which can be vectorised."""
    if rule is None:
        for s in range(score.size):
            score[s] = score[s] if is_barred(score[s]) else abs(f[s] - y[s])
    elif rule == BY_LOSS - SQUARE:
        score_by_loss(SQUARE, delta, f, y, score)
    elif rule == BY_LOSS - HINGE:
        score_by_loss(HINGE, delta, f, y, score)
    elif rule == BY_LOSS - HUBER:
        score_by_loss(HUBER, delta, f, y, score)
    elif rule <= BY_LOSS:
        score_by_any_loss(BY_LOSS - rule, delta, f, y, score)
    elif rule == SQUARE:
        score_by_slope(SQUARE, delta, f, y, score, weight)
    else:
        score_by_slope(rule, delta, f, y, score, weight)


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
