"""Lessons of a learner with weights: a step changes few numbers, and all values follow from them."""

from __future__ import annotations

from nimt.engines._numba.chosen import compiled
from nimt.engines.codes import BEST, BEST_AT, GOING, SCALE
from nimt.engines.compiled_steps.discrepancy import measure_from_square
from nimt.engines.compiled_steps.labels import true_labels
from nimt.engines.compiled_steps.largest import first_largest
from nimt.engines.compiled_steps.pack_steps import choose_packs, pack_moves, rescore
from nimt.engines.compiled_steps.stopping import over, stillness


@compiled
def apply_weights(features, weights, f):
    """Write f = sum_i w_i times feature i; `features` holds one row per weight."""
    f[:] = 0.0
    for i in range(weights.size):
        feature, weight = features[i], weights[i]
        for s in range(f.size):
            f[s] += weight * feature[s]


@compiled
def by_weights(features, weights, at, m, steps, greedy, function, scores, scoring, learner, room, work, rules):
    """Teach by changing the weights; returns the steps taken and the outcome."""
    rates, other_label, watch, indices, labels, discrepancy, _ = steps
    diagonal, f, y, other, shown = function
    score, bits, norm = scores
    loss, loss_delta, outputs, copies = learner
    moves, sizes, guess = room
    for t in range(rates.size):
        chosen, labels_now = indices[t], labels[t]
        state, watch[BEST], watch[BEST_AT] = over(at + t, m, rules, watch[BEST], watch[BEST_AT])
        if state != GOING:
            return t, state
        if greedy and work.size > 0:
            choose_packs(None, bits, work, guess, f, y, score, copies, chosen)
        elif greedy:
            chosen[0] = first_largest(bits)
        true_labels(chosen, False, other if other_label[t] else y, outputs, copies, labels_now)
        largest = pack_moves(
            chosen, False, rates[t], labels_now, diagonal, f, loss, loss_delta, outputs, copies, moves, sizes
        )
        state = stillness(largest, m, rules)
        if state != GOING:
            return t, state
        for j in range(chosen.size):
            shown[chosen[j]] = True
            for i in range(weights.size):
                weights[i] += moves[j] * features[i, chosen[j]]
        apply_weights(features, weights, f)
        m = measure_from_square(rules[SCALE], rescore(f, y, score, scoring, greedy, outputs, norm), f, y)
        discrepancy[t] = m
    return rates.size, GOING
