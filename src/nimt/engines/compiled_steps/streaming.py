"""Lessons whose kernel reaches across the pool: every step adds whole columns of K, of which the latest are kept."""

from __future__ import annotations

from nimt.engines._numba.chosen import apply_formula, compiled, fill_squares
from nimt.engines.codes import ADD, BEST, BEST_AT, FETCH, GOING, NOTHING_MISSING, SCALE, WARNED
from nimt.engines.compiled_steps.discrepancy import measure_from_square
from nimt.engines.compiled_steps.labels import make_labels, true_labels
from nimt.engines.compiled_steps.largest import first_largest
from nimt.engines.compiled_steps.motion import begin_motion, end_motion, look_ahead
from nimt.engines.compiled_steps.outputs import number_of
from nimt.engines.compiled_steps.pack_steps import choose_jointly, choose_packs, pack_moves, rescore
from nimt.engines.compiled_steps.stopping import over, stillness

COLUMN_BLOCK = 256  # points of a column whose distances stay in the nearest cache


@compiled
def fill_squared_distances(columns, index, result):
    """Write |x_s - x_index|^2 for every point; `columns` holds one row per coordinate."""
    result[:] = 0.0
    for i in range(columns.shape[0]):
        axis = columns[i]
        x = axis[index]
        for s in range(axis.size):
            r = axis[s] - x
            result[s] += r * r


@compiled
def fill_column(points, index, form, numbers, begin, end, centre, rest, result):
    """Write K(x_s, x_index) for the points from `begin` to `end`, by the number of the kernel's formula.

    `points` holds one row per coordinate, filled up to a multiple of COLUMN_BLOCK, of which `begin` is one, too;
    `centre` and `rest` are room to compute in.
    """
    d, stride = points.shape
    flat = points.reshape(points.size)
    for i in range(d):
        centre[i] = points[i, index]
    for s in range(begin, end, COLUMN_BLOCK):
        if s + COLUMN_BLOCK <= end:
            fill_squares(flat, s, stride, centre, 0, d, result, s, COLUMN_BLOCK)
            apply_formula(form, numbers, 0.0, result, s, COLUMN_BLOCK)
        else:
            fill_squares(flat, s, stride, centre, 0, d, rest, 0, COLUMN_BLOCK)
            apply_formula(form, numbers, 0.0, rest, 0, COLUMN_BLOCK)
            for k in range(s, end):
                result[k] = rest[k - s]


@compiled
def add_scaled(scale, addition, f):
    for s in range(f.size):
        f[s] += scale * addition[s]


@compiled
def by_whole_columns(
    kept, effects, joint, motion, fits, added, at, m, making, greedy, diagonal, values, score, bits, scoring, norm,
    loss, loss_delta, outputs, copies, moves, sizes, work, guess, rules, batch,
):  # fmt: skip
    """Teach by adding whole columns of K; returns the steps taken, the outcome, and what Python has to do first.

    Python computes columns, because the kernel may be the user's: FETCH asks for those of the pack in the next row of
    `out_index`. Where not even the columns of one pack can be kept (`fits` is false), ADD asks to add `moves` to the
    values; `added` then says that this was done for the first step. `effects` are the columns of K K by which K r
    changes, for a score that needs it (`engines/error_product`), and the row that holds the one of each point; `joint`
    is what packs are chosen from by their joint decrease. `motion`
    is what moves with f, for a learner with momentum and so on.
    """
    columns, where, used, clock = kept
    rates, other_label, watch, out_index, out_label, out_m, out_move = batch
    f, y, other, c, shown = values
    q = len(outputs)
    k = out_index.shape[1]
    each = k // number_of(copies)
    n = f.size // (q * number_of(copies))
    for t in range(rates.size):
        chosen, labels = out_index[t], out_label[t]
        if t > 0 or not added:
            state, watch[BEST], watch[BEST_AT] = over(at + t, m, rules, watch[BEST], watch[BEST_AT])
            if state != GOING:
                return t, state, NOTHING_MISSING
            if joint is not None:
                if not choose_jointly(joint[0], joint[1], None, joint[2], f, y, bits, scoring[3], outputs, chosen):
                    return t, GOING, FETCH
            elif greedy and work.size > 0:
                choose_packs(None, bits, work, guess, f, y, score, copies, chosen)
            elif greedy:
                for v in range(number_of(copies)):
                    chosen[v] = first_largest(bits[v * n : (v + 1) * n])
            if fits:
                for j in range(k):
                    if where[chosen[j]] < 0:
                        return t, GOING, FETCH
                    if effects is not None and effects[1][chosen[j]] < 0:
                        return t, GOING, FETCH
            if making is not None:
                make_labels(making, chosen, f, y, at + t, labels)
            else:
                true_labels(chosen, False, other if other_label[t] else y, outputs, copies, labels)
            largest = pack_moves(
                chosen, False, rates[t], labels, diagonal, f, loss, loss_delta, outputs, copies, moves, sizes
            )
            state = stillness(largest, m, rules)
            if state != GOING:
                return t, state, NOTHING_MISSING
            if motion is not None:
                steps = motion.steps_before + at + t + 1
                look_ahead(motion, chosen, each, n, q)
                pack_moves(
                    chosen, False, rates[t], labels, diagonal, motion.ahead, loss, loss_delta, outputs, copies, moves,
                    sizes,
                )  # fmt: skip
                begin_motion(motion, rates[t])
            if not fits:
                return t, GOING, ADD
            for j in range(k):
                place = where[chosen[j]]
                clock[0] += 1
                used[place] = clock[0]
                column = columns[place]
                into = f
                if motion is not None:
                    into = motion.velocity
                if q == 1:
                    home = j // each * n
                    add_scaled(moves[j], column, into[home : home + n])
                else:
                    for s in range(n):
                        for o in range(q):
                            into[s * q + o] += moves[j * q + o] * column[s]
                if effects is not None:
                    effect = effects[0][effects[1][chosen[j]]]
                    products = scoring[3][scoring[3].shape[0] - q :]
                    for o in range(q):
                        add_scaled(moves[j * q + o], effect, products[o])
        if t < out_move.shape[0]:
            for j in range(moves.size):
                out_move[t, j] = moves[j]
        for j in range(k):
            shown[chosen[j]] = True
            for o in range(q):
                if motion is None:
                    c[(j // each * n + chosen[j]) * q + o] += moves[j * q + o]
                else:
                    motion.c_velocity[(j // each * n + chosen[j]) * q + o] += moves[j * q + o]
        if motion is not None:
            end_motion(motion, columns, where, chosen, diagonal, shown, f, c, steps, n, q)
        m = measure_from_square(rules[SCALE], rescore(f, y, score, scoring, greedy, outputs, norm), f, y)
        out_m[t] = m
        if making is not None and making[1][WARNED] == 1.0:  # only Python can warn: return to it after this step
            return t + 1, GOING, NOTHING_MISSING
    return rates.size, GOING, NOTHING_MISSING
