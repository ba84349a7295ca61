"""Lessons that add the columns of K at the shown points one after another."""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import compiled
from nimt.engines.codes import (
    BEST,
    BEST_AT,
    CARRY,
    ERROR,
    EUCLIDEAN,
    FAN,
    GOING,
    NO_SCORE,
    TILE,
    TOTAL,
    WARNED,
)
from nimt.engines.compiled_steps.discrepancy import measure_after
from nimt.engines.compiled_steps.grid_lines import line_of, slot_of
from nimt.engines.compiled_steps.labels import make_labels
from nimt.engines.compiled_steps.loss_slopes import own_of
from nimt.engines.compiled_steps.odds import draw_by_odds, odds_at, renew_sums
from nimt.engines.compiled_steps.outputs import norm_of, number_of
from nimt.engines.compiled_steps.pack_steps import choose_jointly, choose_packs
from nimt.engines.compiled_steps.scoring import OWN, own_score_at, score_at
from nimt.engines.compiled_steps.showing import show_example
from nimt.engines.compiled_steps.stopping import over, stillness
from nimt.engines.compiled_steps.tournament import spare_leaves


@compiled
def by_columns(
    grid, lists, effects, at, m, making, drawing, diverse, joint, tournament, diagonal, values, score, bits, scoring,
    norm, loss, loss_delta, outputs, copies, moves, work, guess, sums, rules, batch,
):  # fmt: skip
    """Teach by adding the columns of K at the shown points one after another; returns the steps taken and the outcome.

    What is shown is the tournament's winner, the k largest scores, or already in `out_index`. A column is a window laid
    around a cell of a grid, or a list of neighbours; `effects` are lists of K K, for a score that needs K r. What a
    lesson does not have is None, and is not compiled: numba drops a branch only if a None makes it unreachable, so that
    each kind has an `if` of its own.

    One long body on purpose: every array handed to another function would have its references counted, which costs
    more than a whole step. Slots are unsigned, which spares every access a test for negative indices.
    """
    rates, _, watch, out_index, out_label, out_m, out_move = batch
    f, y, _, c, shown = values
    q = len(outputs)
    k = out_index.shape[1]
    each = k // number_of(copies)
    size_of_copy = f.size // (q * number_of(copies))
    # with short columns the new scores compete with the best of their tile one by one, which mostly saves scanning it
    if grid is not None:
        shape, strides, tables, places, across, here, lead, first, start, window = grid
        runs = first.size
        compete = window.size <= TILE
    if lists is not None:
        begin, members, list_weights = lists
        runs = 1
        compete = list_weights.size // (begin.size - 1) <= TILE
    if tournament is not None:
        order, best_slot, levels, node_bits, node_tile, stamp, touched = tournament
        spare = spare_leaves(score.size, levels, copies)
        root = levels[-2]
    if scoring is not None:
        score_number, score_loss, score_delta, constants = scoring
    if effects is not None:  # the columns by which K r changes, after those of K
        effect_begin, effect_members, effect_weights = effects
        runs += 1
        compete = False
        first_product = constants.shape[0] - q
    state = GOING
    taken = 0
    numbers = (rules[0], rules[1], rules[2], rules[3], rules[4], rules[5], rules[6])  # an array would be read again
    total, carry, error = sums[TOTAL], sums[CARRY], sums[ERROR]
    best, best_at = watch[BEST], watch[BEST_AT]
    for t in range(rates.size):
        step = at + t
        state, best, best_at = over(step, m, numbers, best, best_at)
        if state != GOING:
            break

        # the teacher
        if drawing is not None:
            out_index[t, 0] = draw_by_odds(drawing, score, best_slot[node_tile[root]], levels)
        elif tournament is not None:
            for v in range(number_of(copies)):
                out_index[t, v] = best_slot[node_tile[root + v]] - v * size_of_copy
        elif joint is not None:
            choose_jointly(joint[0], joint[1], joint[2], None, f, y, bits, constants, outputs, out_index[t])
        elif score is not None:
            choose_packs(diverse, bits, work, guess, f, y, score, copies, out_index[t])
        if making is not None:
            make_labels(making, out_index[t], f, y, step, out_label[t])
        largest = 0.0
        for j in range(k):
            copy = j // each if copies[0] > 1 else 0
            slot = np.uint64(out_index[t, j] + copy * size_of_copy)
            height = diagonal[slot if diagonal.size > 1 else np.uint64(0)]
            own_loss = own_of(loss, loss_delta, f, slot * np.uint64(q), outputs)
            largest = show_example(
                t, j, slot * np.uint64(q), 1, rates[t] / each, making is not None, loss, own_loss, height, largest,
                values, batch, moves, outputs,
            )  # fmt: skip
        state = stillness(largest, m, numbers)
        if state != GOING:
            break

        # the learner
        if t < out_move.shape[0]:
            for j in range(moves.size):
                out_move[t, j] = moves[j]
        change = 0.0
        count = 0
        for j in range(k):
            copy = j // each if copies[0] > 1 else 0
            home = np.uint64(copy * size_of_copy)
            slot = np.uint64(out_index[t, j]) + home
            own = slot - home
            if tournament is not None:
                skip = np.uint64(copy * spare)
                out_index[t, j] = order[slot]
            for o in range(q):
                c[slot * np.uint64(q) + np.uint64(o)] += moves[j * q + o]
            shown[slot] = True
            if grid is not None:
                _, last = slot_of(out_index[t, j], here, strides, tables, places, across)
            for r in range(runs):
                is_effect = False
                if effects is not None:
                    is_effect = r == runs - 1
                    if is_effect:
                        lo, hi = effect_begin[own], effect_begin[own + np.uint64(1)]
                if grid is not None and not is_effect:
                    inside, base, _ = line_of(r, here, lead, shape, strides, tables, places)
                    if not inside:
                        continue
                    base += home
                    lo = last + first[r]
                    offset = start[r] - lo
                    hi = start[r + 1] - offset
                    hi = hi if hi < shape[-1] else shape[-1]
                    lo = lo if lo > 0 else 0
                if lists is not None and not is_effect:
                    lo, hi = begin[own], begin[own + np.uint64(1)]
                for x in range(lo, hi):
                    if grid is not None and not is_effect:
                        s = base + across[np.uint64(x)]
                        w = window[np.uint64(offset + x)]
                    if lists is not None and not is_effect:
                        s = np.uint64(members[x]) + home
                        w = list_weights[x]
                    size = 0.0
                    if effects is not None and is_effect:
                        s = np.uint64(effect_members[x])
                        for o in range(q):
                            constants[first_product + o, s] += moves[j * q + o] * effect_weights[x]
                    for o in range(0 if is_effect else q):
                        a = s * np.uint64(q) + np.uint64(o)
                        before = f[a] - y[a]
                        f[a] += moves[j * q + o] * w
                        after = f[a] - y[a]
                        change += (after - before) * (after + before)
                        size = abs(after) if q == 1 else norm_of(after, size, norm)
                    if effects is not None and not is_effect:
                        continue  # the point will be scored when K r has changed, too
                    if score is not None and bits[s] != NO_SCORE:
                        if scoring is not None and q == 1 and score_number == OWN:
                            size = own_score_at(s, f, y, score_loss, constants)
                        elif scoring is not None:
                            size = score_at(s, f, y, score_number, score_loss, score_delta, constants, outputs, norm)
                        elif q > 1 and norm == EUCLIDEAN:
                            size = np.sqrt(size)
                        score[s] = size
                        if drawing is not None:
                            drawing[3][s] = odds_at(size, drawing[2][0], drawing[0][6])
                        if tournament is not None:
                            tile = s // np.uint64(TILE) + skip
                            now = bits[s]
                            if compete and (
                                now > node_bits[tile] or (now == node_bits[tile] and np.int64(s) < best_slot[tile])
                            ):
                                node_bits[tile] = now
                                best_slot[tile] = s
                            if stamp[tile] != step:
                                stamp[tile] = step
                                touched[np.uint64(count)] = tile
                                count += 1
        m, total, carry, error = measure_after(change, largest, m, total, carry, error, numbers, f, y)
        out_m[t] = m
        taken = t + 1

        if drawing is not None:
            renew_sums(drawing, touched, count, levels)

        # the tournament: scan the tiles whose best score may have fallen, then repeat matches as far up as needed
        if tournament is not None:
            for j in range(count):
                tile = np.uint64(touched[j])
                if compete and bits[np.uint64(best_slot[tile])] == node_bits[tile]:
                    continue
                low = np.uint64(best_slot[tile]) // np.uint64(TILE) * np.uint64(TILE)
                top = bits[low]
                for v in range(TILE):
                    top = max(top, bits[low + np.uint64(v)])
                while bits[low] != top:
                    low += np.uint64(1)
                node_bits[tile] = top
                best_slot[tile] = low
            span = 1
            for level in range(1, levels.size - 1):
                if count == 0:
                    break
                down, up = levels[level - 1], levels[level]
                kept = 0
                for j in range(count):
                    node = touched[j] // FAN
                    here_ = np.uint64(up + node)
                    if stamp[here_] == step:
                        continue
                    if node_bits[down + touched[j]] < node_bits[here_] and node_tile[here_] // span != touched[j]:
                        continue  # it lost this match before, and would lose it again
                    stamp[here_] = step
                    child = np.uint64(down + node * FAN)
                    top = node_bits[child]
                    wins = np.uint64(node_tile[child])
                    for v in range(1, FAN):
                        other_bits = node_bits[child + np.uint64(v)]
                        if other_bits > top:
                            top = other_bits
                            wins = np.uint64(node_tile[child + np.uint64(v)])
                        elif other_bits == top and top != NO_SCORE:
                            rival = np.uint64(node_tile[child + np.uint64(v)])
                            if order[best_slot[rival]] < order[best_slot[wins]]:
                                wins = rival
                    if node_bits[here_] != top or node_tile[here_] != wins or stamp[wins] == step:
                        node_bits[here_] = top
                        node_tile[here_] = wins
                        touched[kept] = node
                        kept += 1
                count = kept
                span *= FAN
        if making is not None and making[1][WARNED] == 1.0:  # only Python can warn: return to it after this step
            break
    sums[TOTAL], sums[CARRY], sums[ERROR] = total, carry, error
    watch[BEST], watch[BEST_AT] = best, best_at
    return taken, state
