"""Packs that change many points at once: what is chosen, what it adds, and the scores after it.

In the layout `wide` every axis of the grid has as many empty cells behind it as the kernel reaches along it. So a
convolution along an axis is one loop over all cells: what it reads beyond an edge is empty.
"""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import compiled
from nimt.engines.codes import NO_SCORE
from nimt.engines.compiled_steps.bits import bits_of, number_with
from nimt.engines.compiled_steps.diverse import diverse_into
from nimt.engines.compiled_steps.largest import first_largest, largest_into
from nimt.engines.compiled_steps.loss_slopes import SQUARE, own_of, slope
from nimt.engines.compiled_steps.outputs import number_of
from nimt.engines.compiled_steps.scoring import rank_bits, score_all, score_one_output

SMALLEST = 5e-324  # of the numbers above 0


@compiled
def choose_packs(diverse, bits, work, guess, f, y, score, copies, out):
    """Write the pack of every copy, one after another: points of the largest scores, or diverse ones."""
    each = out.size // number_of(copies)
    n = score.size // number_of(copies)
    for v in range(number_of(copies)):
        own = out[v * each : (v + 1) * each]
        low, high = v * n, (v + 1) * n
        if diverse is not None:
            diverse_into(diverse, guess[v], f[low:high], y[low:high], score[low:high], own)
        else:
            largest_into(bits[low:high], work, guess[v], own)


@compiled
def choose_jointly(left, ranks, effect_lists, effect_columns, f, y, bits, constants, outputs, out):
    """Write a pack as `JointDecrease.choose_pack` chooses it, ascending; returns false where an effect is not kept.

    `left` and `ranks` are room: for K r' as rows, and for the bits of the scores that the points chosen leave. Effects
    are those that the teacher expects, K P K with its own K on both sides: lists, or columns with the row of each
    point, and the other of the two is None. Where the effect of a point is not kept,
    that point fills the rest of the pack, for Python to compute it.
    """
    q = len(outputs)
    n = bits.size
    first = constants.shape[0] - q
    for o in range(q):
        for s in range(n):
            left[o, s] = constants[first + o, s]
    for s in range(n):
        ranks[s] = bits[s]
    for j in range(out.size):
        index = first_largest(ranks)
        ranks[index] = NO_SCORE
        out[j] = index
        if j == out.size - 1:
            break
        low, high = 0, n
        if effect_lists is not None:
            begin, members, weights = effect_lists
            low, high = begin[index], begin[index + 1]
        if effect_columns is not None:
            columns, where = effect_columns
            if where[index] < 0:
                for rest in range(j, out.size):
                    out[rest] = index
                return False
            column = columns[where[index]]
        for x in range(low, high):
            s = x
            if effect_lists is not None:
                s = np.int64(members[x])
                effect = weights[x]
            if effect_columns is not None:
                effect = column[x]
            total = 0.0
            for o in range(q):
                left[o, s] -= constants[0, index] * (f[index * q + o] - y[index * q + o]) * effect
                step = constants[0, s] * (f[s * q + o] - y[s * q + o])
                total += 2.0 * step * left[o, s] - step * step * constants[1, s]
            if ranks[s] != NO_SCORE:
                ranks[s] = bits_of(rank_bits(total))
    j = 0
    for s in range(n):
        if ranks[s] == NO_SCORE and bits[s] != NO_SCORE:
            out[j] = s
            j += 1
    return True


@compiled
def pack_moves(chosen, whole, rate, labels, diagonal, f, loss, loss_delta, outputs, copies, moves, sizes):
    """Write the coefficients that a pack adds; returns the largest |slope| K(x, x), NaN if there is one."""
    each = chosen.size // number_of(copies)
    q = len(outputs)
    n = f.size // (q * number_of(copies))
    factor = -rate / each
    if q == 1 and loss == SQUARE and whole:
        for j in range(moves.size):
            g = slope(None, (loss_delta, 0.0), f[j], labels[j])  # of the square: so the loop is vectorised
            moves[j] = factor * g
            sizes[j] = abs(g)
    else:
        for j in range(chosen.size):
            slot = chosen[j] + j // each * n if len(copies) > 1 else chosen[j]
            own = own_of(loss, loss_delta, f, np.uint64(slot * q), outputs)
            for o in range(q):
                a = np.uint64(slot * q + o)
                to = np.uint64(j * q + o)
                g = slope(loss, own, f[a], labels[to])
                moves[to] = factor * g
                sizes[to] = abs(g)
    if diagonal.size > 1 or diagonal[0] != 1.0:
        for j in range(sizes.size):
            scaled = abs(sizes[j] * diagonal[chosen[j // q] % diagonal.size])  # inf times 0 may be a NaN with a sign
            # where K(x, x) is 0 a slope still counts as one: a learner is at rest only where there is none
            sizes[j] = min(sizes[j], SMALLEST) if scaled == 0.0 else scaled
    largest = np.int64(0)
    for j in range(sizes.size):  # as integers, since a maximum of floating-point numbers is not vectorised
        bits = bits_of(sizes[j])
        largest = bits if bits > largest else largest
    return number_with(largest)


@compiled
def take_moves(chosen, whole, moves, c, shown, outputs, copies, wide, spread):
    """Add a pack's coefficients to the learner's, and lay them out in `spread`, output after output."""
    place, _, lead, span, length = wide
    q = len(outputs)
    each = chosen.size // number_of(copies)
    n = place.size
    spread[:] = 0.0
    if whole and q == 1:
        for s in range(moves.size):
            c[s] += moves[s]
        shown[:] = True
        for v in range(number_of(copies)):
            for row in range(0, n, length):
                into = spread[lead + v * span + place[row] :]
                for x in range(length):
                    into[x] = moves[v * n + row + x]
        return
    for j in range(chosen.size):
        v = j // each if len(copies) > 1 else 0
        slot = np.uint64(chosen[j] + v * n)
        at = np.uint64(lead + v * span + place[np.uint64(chosen[j])])
        shown[slot] = True
        for o in range(q):
            move = moves[np.uint64(j * q + o)]
            c[slot * np.uint64(q) + np.uint64(o)] += move
            spread[at + np.uint64(o * span)] += move


@compiled
def add_spread(scale, addition, f, outputs, wide):
    """Do f += scale * addition; `addition` is laid out as `wide` says, output after output."""
    place, _, lead, span, length = wide
    q = len(outputs)
    n = place.size
    for v in range(f.size // (n * q)):
        for o in range(q):
            for row in range(0, n, length):
                here = addition[lead + (v * q + o) * span + place[row] :]
                there = f[(v * n + row) * q + o : (v * n + row + length) * q]
                for x in range(length):
                    there[x * q] += scale * here[x]


@compiled
def rescore(f, y, score, scoring, keep_score, outputs, norm):
    """Bring the scores up to date after all values changed, and return the sum of squares."""
    q = len(outputs)
    if q > 1 and keep_score:
        score_all(f, y, score, scoring, outputs, norm)
    total = 0.0
    for low in range(0, f.size, 1024):  # so few that they stay in the nearest cache
        f_, y_ = f[low : low + 1024], y[low : low + 1024]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0  # or one addition would wait for another
        end = f_.size // 8 * 8
        for s in range(0, end, 8):
            s0 += (f_[s] - y_[s]) ** 2
            s1 += (f_[s + 1] - y_[s + 1]) ** 2
            s2 += (f_[s + 2] - y_[s + 2]) ** 2
            s3 += (f_[s + 3] - y_[s + 3]) ** 2
            s4 += (f_[s + 4] - y_[s + 4]) ** 2
            s5 += (f_[s + 5] - y_[s + 5]) ** 2
            s6 += (f_[s + 6] - y_[s + 6]) ** 2
            s7 += (f_[s + 7] - y_[s + 7]) ** 2
        for s in range(end, f_.size):
            s0 += (f_[s] - y_[s]) ** 2
        total += ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
        if q == 1 and keep_score:
            score_one_output(f_, y_, score[low : low + 1024], scoring, low)
    return total
