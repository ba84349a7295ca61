"""Lessons whose packs are added at once, by convolving the whole grid."""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import compiled, part
from nimt.engines.codes import (
    BEST,
    BEST_AT,
    CARRY,
    ERROR,
    GOING,
    SCALE,
    TOTAL,
    WARNED,
)
from nimt.engines.compiled_steps.discrepancy import measure_from_square
from nimt.engines.compiled_steps.labels import make_labels, true_labels
from nimt.engines.compiled_steps.outputs import number_of
from nimt.engines.compiled_steps.pack_steps import add_spread, choose_packs, pack_moves, rescore, take_moves
from nimt.engines.compiled_steps.stopping import over, stillness


@part
def convolve_axis(source, result, lead, stride, taps):
    """Write result[p] = sum_t taps[reach + t] source[p - t stride]; taps are symmetric, so they are taken in pairs."""
    reach = taps.size // 2
    low, high = lead, source.size - lead
    there, here = result[low:high], source[low:high]
    first = 1
    while first == 1 or first <= reach:  # three pairs in one pass: each pass reads and writes the whole result
        t1, t2, t3 = first, first + 1, first + 2
        w0 = taps[reach] if first == 1 else 0.0
        w1 = taps[reach + t1] if t1 <= reach else 0.0
        w2 = taps[reach + t2] if t2 <= reach else 0.0
        w3 = taps[reach + t3] if t3 <= reach else 0.0
        t1 = t1 * stride if t1 <= reach else 0
        t2 = t2 * stride if t2 <= reach else 0
        t3 = t3 * stride if t3 <= reach else 0
        a1, b1 = source[low - t1 : high - t1], source[low + t1 : high + t1]
        a2, b2 = source[low - t2 : high - t2], source[low + t2 : high + t2]
        a3, b3 = source[low - t3 : high - t3], source[low + t3 : high + t3]
        if first == 1:
            for p in range(there.size):
                there[p] = w0 * here[p] + w1 * (a1[p] + b1[p]) + w2 * (a2[p] + b2[p]) + w3 * (a3[p] + b3[p])
        else:
            for p in range(there.size):
                there[p] += w1 * (a1[p] + b1[p]) + w2 * (a2[p] + b2[p]) + w3 * (a3[p] + b3[p])
        first += 3


@compiled
def by_convolution(
    wide, taps, taps_at, height, at, m, making, diverse, greedy, keep_score, diagonal, values, score, bits, scoring,
    norm, loss, loss_delta, outputs, copies, guess, sums, rules, batch,
):  # fmt: skip
    """Packs so large that convolving the whole grid, axis by axis, is cheaper than adding their columns.

    `keep_score` says whether a later step chooses by the scores: not where every pack is the whole pool.
    """
    place, strides, lead, span, _ = wide
    rates, other_label, watch, out_index, out_label, out_m, out_move = batch
    f, y, other, c, shown = values
    several = len(outputs) * number_of(copies)
    spread = np.zeros(2 * lead + several * span)
    result = np.zeros(spread.size)
    moves, sizes = np.empty(out_label.shape[1]), np.empty(out_label.shape[1])
    whole = greedy and out_index.shape[1] == place.size * number_of(copies)
    for t in range(rates.size):
        state, watch[BEST], watch[BEST_AT] = over(at + t, m, rules, watch[BEST], watch[BEST_AT])
        if state != GOING:
            return t, state
        row = t if out_index.shape[0] == rates.size else 0  # one row where every step shows the same
        if row == t:
            if greedy:
                work = result[lead : lead + place.size].view(np.int64)  # written again before it is read
                choose_packs(diverse, bits, work, guess, f, y, score, copies, out_index[row])
            if making is None:
                true_labels(out_index[row], whole, y, outputs, copies, out_label[row])
                if other_label[t]:
                    true_labels(out_index[row], whole, other, outputs, copies, out_label[row])
            else:
                make_labels(making, out_index[row], f, y, at + t, out_label[row])
        shown_now, labels_now = out_index[row], out_label[row]
        largest = pack_moves(
            shown_now, whole, rates[t], labels_now, diagonal, f, loss, loss_delta, outputs, copies, moves, sizes
        )
        state = stillness(largest, m, rules)
        if state != GOING:
            return t, state
        if t < out_move.shape[0]:
            for j in range(moves.size):
                out_move[t, j] = moves[j]
        take_moves(shown_now, whole, moves, c, shown, outputs, copies, wide, spread)
        for i in range(strides.size):
            convolve_axis(spread, result, lead, strides[i], taps[taps_at[i] : taps_at[i + 1]])
            spread, result = result, spread
        add_spread(height, spread, f, outputs, wide)
        sums[CARRY], sums[ERROR] = 0.0, 0.0  # a later pack may be added by columns, which goes on with this sum
        sums[TOTAL] = rescore(f, y, score, scoring, keep_score, outputs, norm)
        m = measure_from_square(rules[SCALE], sums[TOTAL], f, y)
        out_m[t] = m
        if making is not None and making[1][WARNED] == 1.0:
            return t + 1, GOING
    return rates.size, GOING
