"""Every compiled function: they call each other, so they share one file and one disk cache.

Symbols: f values, y target (the true labels), c coefficients, w the kernel's window. A *slot* is a place in the layout
of an array; greedy teaching stores a grid tile by tile, so that one step touches few tiles and a tile is contiguous.
Scores are compared as the bits of non-negative floats, which order like the numbers themselves: integer maxima can be
vectorised where floating ones may not, and a NaN counts as the largest. A slot that may not be shown has score -1.

No fastmath anywhere: a diverging lesson must be seen, not optimised away, and the arithmetic of a step must be that of
the reference loop.
"""

from __future__ import annotations

import numpy as np
from numba import njit

TILE = 64  # slots that a tournament's leaf holds

SQUARE, HINGE, LOGISTIC, HUBER, ABSOLUTE = 0, 1, 2, 3, 4
GOING, DIVERGED, CONVERGED, STALLED, STATIONARY = 0, 1, 2, 3, 4

# places in the array of sums
TOTAL, CARRY, AT_SYNC = 0, 1, 2
# places in the array of rules
SCALE, TOL, LIMIT, STILL, PATIENCE = 0, 1, 2, 3, 4
# places in the array of the watch
BEST, BEST_AT = 0, 1


@njit(cache=True)
def slope(loss, delta, f, y):
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
        return 2.0 * min(max(f - y, -delta), delta)
    return np.sign(f - y)


@njit(cache=True)
def score_of(rule, delta, weight, f, y):
    """|f - y|, or for a rule >= 0 the gradient's size |slope| weight."""
    if rule < 0:
        return abs(f - y)
    return abs(slope(rule, delta, f, y)) * weight


# ---------------------------------------------------------------- the discrepancy, kept and re-synchronised


@njit(cache=True)
def sum_of_squares(f, y):
    total = 0.0
    for block in range(0, f.size, 1024):
        part = 0.0
        for s in range(block, min(block + 1024, f.size)):
            r = f[s] - y[s]
            part += r * r
        total += part
    return total


@njit(cache=True)
def synchronise(sums, f, y):
    sums[TOTAL] = sum_of_squares(f, y)
    sums[CARRY] = 0.0
    sums[AT_SYNC] = sums[TOTAL]


@njit(cache=True)
def account(sums, change, step, period, f, y):
    """Add a step's change (compensated), and start afresh at fixed steps and whenever most of the sum is gone."""
    total = sums[TOTAL]
    new = total + change
    if abs(total) >= abs(change):
        sums[CARRY] += (total - new) + change
    else:
        sums[CARRY] += (change - new) + total
    sums[TOTAL] = new
    if step % period == 0 or new + sums[CARRY] < 1e-3 * sums[AT_SYNC]:
        synchronise(sums, f, y)


@njit(cache=True)
def measured(sums, rules):
    total = sums[TOTAL] + sums[CARRY]
    if total < 0.0:
        total = 0.0
    return rules[SCALE] * np.sqrt(total)


@njit(cache=True)
def over(step, m, rules, watch):
    """The rules of `Watch.over`, in the same order."""
    if not np.isfinite(m) or m > rules[LIMIT]:
        return DIVERGED
    if m < rules[TOL]:
        return CONVERGED
    if m < watch[BEST]:
        watch[BEST] = m
        watch[BEST_AT] = step
    if rules[PATIENCE] > 0 and step - watch[BEST_AT] >= rules[PATIENCE]:
        return STALLED
    return GOING


# ---------------------------------------------------------------- the tournament


@njit(cache=True)
def rescan(tile, bits, best_bits, best_slot):
    first = tile * TILE
    top = bits[first]
    for s in range(first + 1, first + TILE):
        top = max(top, bits[s])
    s = first
    while bits[s] != top:
        s += 1
    best_bits[tile] = top
    best_slot[tile] = s


@njit(cache=True)
def winner(a, b, best_bits, best_slot, order):
    """The better of two tiles; of equals, the one whose point comes first in the pool."""
    if best_bits[a] != best_bits[b]:
        return a if best_bits[a] > best_bits[b] else b
    return a if order[best_slot[a]] < order[best_slot[b]] else b


@njit(cache=True)
def build_tournament(bits, best_bits, best_slot, order, tree):
    leaves = tree.size // 2
    for tile in range(leaves):
        rescan(tile, bits, best_bits, best_slot)
        tree[leaves + tile] = tile
    for node in range(leaves - 1, 0, -1):
        tree[node] = winner(tree[2 * node], tree[2 * node + 1], best_bits, best_slot, order)


@njit(cache=True)
def replay(touched, count, stamp, now, bits, best_bits, best_slot, order, tree):
    """Rescan the touched tiles and play their matches again, as far up as anything can have changed."""
    leaves = tree.size // 2
    for j in range(count):
        rescan(touched[j], bits, best_bits, best_slot)
    for j in range(count):
        node = (leaves + touched[j]) >> 1
        while node >= 1:
            before = tree[node]
            after = winner(tree[2 * node], tree[2 * node + 1], best_bits, best_slot, order)
            tree[node] = after
            if after == before and stamp[after] != now:
                break
            node >>= 1


# ---------------------------------------------------------------- columns of K: a window on a grid, a list elsewhere


@njit(cache=True)
def add_window(
    index,
    step,
    shape,
    strides,
    tables,
    places,
    lead,
    first,
    start,
    w,
    f,
    y,
    score,
    rule,
    delta,
    weight,
    stamp,
    touched,
    count,
    now,
    keep_score,
):
    """Do f += step * K[:, index] on a grid; returns the change of the sum of squares and the number of touched tiles."""
    d = shape.size
    change = 0.0
    last = index
    for i in range(d - 1):
        last -= (last // strides[i]) * strides[i]
    for r in range(first.size):
        base = 0
        inside = True
        rest = index
        for i in range(d - 1):
            x = rest // strides[i]
            rest -= x * strides[i]
            x += lead[r, i]
            if x < 0 or x >= shape[i]:
                inside = False
                break
            base += tables[places[i] + x]
        if not inside:
            continue
        begin = last + first[r]
        length = start[r + 1] - start[r]
        lo = max(begin, 0)
        hi = min(begin + length, shape[d - 1])
        offset = start[r] - begin
        for x in range(lo, hi):
            s = base + tables[places[d - 1] + x]
            before = f[s] - y[s]
            f[s] += step * w[offset + x]
            after = f[s] - y[s]
            change += (after - before) * (after + before)
            if keep_score and not score[s] < 0.0:
                score[s] = score_of(rule, delta, weight[s] if rule >= 0 else 1.0, f[s], y[s])
                if stamp.size:
                    tile = s // TILE
                    if stamp[tile] != now:
                        stamp[tile] = now
                        touched[count] = tile
                        count += 1
    return change, count


@njit(cache=True)
def add_list(slot, step, begin, members, w, f, y, score, rule, delta, weight, stamp, touched, count, now, keep_score):
    """Do f += step * K[:, slot] where K's columns are lists of neighbours."""
    change = 0.0
    for j in range(begin[slot], begin[slot + 1]):
        s = members[j]
        before = f[s] - y[s]
        f[s] += step * w[j]
        after = f[s] - y[s]
        change += (after - before) * (after + before)
        if keep_score and not score[s] < 0.0:
            score[s] = score_of(rule, delta, weight[s] if rule >= 0 else 1.0, f[s], y[s])
            if stamp.size:
                tile = s // TILE
                if stamp[tile] != now:
                    stamp[tile] = now
                    touched[count] = tile
                    count += 1
    return change, count


@njit(cache=True)
def add_column(
    on_grid, index, slot, step, grid, lists, f, y, score, rule, delta, weight, stamp, touched, count, now, keep_score
):
    if on_grid:
        shape, strides, tables, places, lead, first, start, w = grid
        return add_window(
            index,
            step,
            shape,
            strides,
            tables,
            places,
            lead,
            first,
            start,
            w,
            f,
            y,
            score,
            rule,
            delta,
            weight,
            stamp,
            touched,
            count,
            now,
            keep_score,
        )
    begin, members, values = lists
    return add_list(
        slot, step, begin, members, values, f, y, score, rule, delta, weight, stamp, touched, count, now, keep_score
    )


# ---------------------------------------------------------------- lessons


@njit(cache=True)
def greedy_one(
    on_grid,
    grid,
    lists,
    at,
    rates,
    other_label,
    diagonal,
    f,
    y,
    other,
    c,
    shown,
    score,
    bits,
    rule,
    rule_delta,
    weight,
    loss,
    loss_delta,
    order,
    best_bits,
    best_slot,
    tree,
    stamp,
    touched,
    sums,
    period,
    rules,
    watch,
    out_index,
    out_label,
    out_m,
):
    """Greedy teaching, one example a step; returns the steps taken and how it stands."""
    for t in range(rates.size):
        step = at + t
        state = over(step, measured(sums, rules), rules, watch)
        if state != GOING:
            return t, state
        slot = best_slot[tree[1]]
        index = order[slot]
        label = other[slot] if other_label.size and other_label[t] else y[slot]
        g = slope(loss, loss_delta, f[slot], label)
        if rules[STILL] >= 0.0 and (g * diagonal[slot % diagonal.size]) ** 2 <= rules[STILL]:
            return t, STATIONARY
        move = -rates[t] * g
        c[slot] += move
        shown[slot] = True
        change, count = add_column(
            on_grid,
            index,
            slot,
            move,
            grid,
            lists,
            f,
            y,
            score,
            rule,
            rule_delta,
            weight,
            stamp,
            touched,
            0,
            step,
            True,
        )
        account(sums, change, step + 1, period, f, y)
        replay(touched, count, stamp, step, bits, best_bits, best_slot, order, tree)
        out_index[t, 0] = index
        out_label[t, 0] = label
        out_m[t] = measured(sums, rules)
    return rates.size, GOING


@njit(cache=True)
def show_pack(
    on_grid,
    grid,
    lists,
    chosen,
    rate,
    label_other,
    diagonal,
    f,
    y,
    other,
    c,
    shown,
    score,
    rule,
    rule_delta,
    weight,
    loss,
    loss_delta,
    moves,
    rules,
    out_label,
    keep_score,
):
    """Show the chosen slots (layout = pool order) by adding their columns; returns the change, or NaN if stationary."""
    k = chosen.size
    largest = 0.0
    for j in range(k):
        s = chosen[j]
        out_label[j] = other[s] if label_other else y[s]
        g = slope(loss, loss_delta, f[s], out_label[j])
        largest = max(largest, (g * diagonal[s % diagonal.size]) ** 2)
        moves[j] = -rate / k * g
    if rules[STILL] >= 0.0 and largest <= rules[STILL]:
        return 0.0, True
    change = 0.0
    none = np.empty(0, np.int64)
    for j in range(k):
        s = chosen[j]
        c[s] += moves[j]
        shown[s] = True
        part, _ = add_column(
            on_grid, s, s, moves[j], grid, lists, f, y, score, rule, rule_delta, weight, none, none, 0, 0, keep_score
        )
        change += part
    return change, False


@njit(cache=True)
def given_packs(
    on_grid,
    grid,
    lists,
    at,
    rates,
    other_label,
    diagonal,
    f,
    y,
    other,
    c,
    shown,
    loss,
    loss_delta,
    sums,
    period,
    rules,
    watch,
    out_index,
    out_label,
    out_m,
):
    """Show packs that are already chosen (random teaching), adding column after column."""
    moves = np.empty(out_index.shape[1])
    none = np.empty(0)
    for t in range(rates.size):
        step = at + t
        state = over(step, measured(sums, rules), rules, watch)
        if state != GOING:
            return t, state
        label_other = other_label.size > 0 and other_label[t]
        change, still = show_pack(
            on_grid,
            grid,
            lists,
            out_index[t],
            rates[t],
            label_other,
            diagonal,
            f,
            y,
            other,
            c,
            shown,
            none,
            -1,
            0.0,
            none,
            loss,
            loss_delta,
            moves,
            rules,
            out_label[t],
            False,
        )
        if still:
            return t, STATIONARY
        account(sums, change, step + 1, period, f, y)
        out_m[t] = measured(sums, rules)
    return rates.size, GOING


@njit(cache=True)
def greedy_packs(
    on_grid,
    grid,
    lists,
    at,
    rates,
    other_label,
    diagonal,
    f,
    y,
    other,
    c,
    shown,
    score,
    bits,
    rule,
    rule_delta,
    weight,
    loss,
    loss_delta,
    work,
    guess,
    sums,
    period,
    rules,
    watch,
    out_index,
    out_label,
    out_m,
):
    """Greedy teaching, k examples a step, adding column after column."""
    moves = np.empty(out_index.shape[1])
    for t in range(rates.size):
        step = at + t
        state = over(step, measured(sums, rules), rules, watch)
        if state != GOING:
            return t, state
        largest_into(bits, work, guess, out_index[t])
        label_other = other_label.size > 0 and other_label[t]
        change, still = show_pack(
            on_grid,
            grid,
            lists,
            out_index[t],
            rates[t],
            label_other,
            diagonal,
            f,
            y,
            other,
            c,
            shown,
            score,
            rule,
            rule_delta,
            weight,
            loss,
            loss_delta,
            moves,
            rules,
            out_label[t],
            True,
        )
        if still:
            return t, STATIONARY
        account(sums, change, step + 1, period, f, y)
        out_m[t] = measured(sums, rules)
    return rates.size, GOING


@njit(cache=True)
def prepare_spread(chosen, rate, label_other, diagonal, f, y, other, c, shown, loss, loss_delta, spread, out_label):
    """Write a pack's coefficients into `spread` (zero elsewhere); returns the paper's S, the largest of the pack."""
    k = chosen.size
    largest = 0.0
    spread[:] = 0.0
    for j in range(k):
        s = chosen[j]
        out_label[j] = other[s] if label_other else y[s]
        g = slope(loss, loss_delta, f[s], out_label[j])
        largest = max(largest, (g * diagonal[s % diagonal.size]) ** 2)
        spread[s] += -rate / k * g
    return largest


@njit(cache=True)
def take_spread(chosen, spread, c, shown):
    for s in range(spread.size):
        c[s] += spread[s]
    for j in range(chosen.size):
        shown[chosen[j]] = True


@njit(cache=True)
def finish_spread(addition, f, y, score, rule, delta, weight, keep_score):
    """Do f += addition, with the scores, and the sum of squares afterwards."""
    total = 0.0
    for block in range(0, f.size, 1024):
        part = 0.0
        for s in range(block, min(block + 1024, f.size)):
            f[s] += addition[s]
            r = f[s] - y[s]
            part += r * r
            if keep_score and not score[s] < 0.0:
                score[s] = score_of(rule, delta, weight[s] if rule >= 0 else 1.0, f[s], y[s])
        total += part
    return total


@njit(cache=True)
def convolve_axis(source, result, outer, length, inner, taps, reach):
    """result[o, x, i] = sum_t taps[t + reach] source[o, x - t, i]; each tap is one pass over contiguous memory."""
    result[:] = 0.0
    for o in range(outer):
        base = o * length * inner
        for t in range(-reach, reach + 1):
            weight = taps[t + reach]
            if weight == 0.0:
                continue
            lo = max(0, t)
            hi = min(length, length + t)
            shift = t * inner
            for p in range(base + lo * inner, base + hi * inner):
                result[p] += weight * source[p - shift]


@njit(cache=True)
def separable_packs(
    shape,
    taps,
    taps_at,
    height,
    at,
    rates,
    other_label,
    greedy,
    diagonal,
    f,
    y,
    other,
    c,
    shown,
    score,
    bits,
    rule,
    rule_delta,
    weight,
    loss,
    loss_delta,
    work,
    guess,
    sums,
    rules,
    watch,
    out_index,
    out_label,
    out_m,
):
    """Packs so large that convolving the whole grid, axis by axis, is cheaper than adding their columns."""
    spread = np.empty(f.size)
    result = np.empty(f.size)
    for t in range(rates.size):
        step = at + t
        state = over(step, measured(sums, rules), rules, watch)
        if state != GOING:
            return t, state
        if greedy:
            largest_into(bits, work, guess, out_index[t])
        label_other = other_label.size > 0 and other_label[t]
        largest = prepare_spread(
            out_index[t], rates[t], label_other, diagonal, f, y, other, c, shown, loss, loss_delta, spread, out_label[t]
        )
        if rules[STILL] >= 0.0 and largest <= rules[STILL]:
            return t, STATIONARY
        take_spread(out_index[t], spread, c, shown)
        inner = f.size
        outer = 1
        for i in range(shape.size):
            inner //= shape[i]
            reach = (taps_at[i + 1] - taps_at[i]) // 2
            convolve_axis(spread, result, outer, shape[i], inner, taps[taps_at[i] : taps_at[i + 1]], reach)
            outer *= shape[i]
            spread, result = result, spread
        if height != 1.0:
            spread *= height
        sums[TOTAL] = finish_spread(spread, f, y, score, rule, rule_delta, weight, greedy)
        sums[CARRY] = 0.0
        out_m[t] = measured(sums, rules)
    return rates.size, GOING


# ---------------------------------------------------------------- the k largest, in O(n)


@njit(cache=True)
def kth_largest(values, count, k):
    """The k-th largest of values[:count] (k from 1), by quickselect in place."""
    lo, hi, want = 0, count - 1, k - 1  # descending order
    while lo < hi:
        mid = (lo + hi) // 2
        a, b, e = values[lo], values[mid], values[hi]
        pivot = max(min(a, b), min(max(a, b), e))
        i, j = lo, hi
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if want <= j:
            hi = j
        elif want >= i:
            lo = i
        else:
            return values[want]
    return values[want]


@njit(cache=True)
def count_between(bits, lo, hi):
    above = 0
    within = 0
    for s in range(bits.size):
        above += bits[s] > hi
        within += bits[s] > lo
    return above, within - above


@njit(cache=True)
def largest_into(bits, work, guess, out):
    """Write the slots of the largest scores, ascending, ties to the lowest.

    guess[0] is the threshold of the step before, guess[1] how far around it to look, both as bits.
    """
    k = out.size
    if k == bits.size:
        for s in range(k):
            out[s] = s
        return
    lo, hi = guess[0] - guess[1], guess[0] + guess[1]
    above, within = count_between(bits, lo, hi)
    found = guess[1] > 0 and above < k <= above + within
    if found:
        count = 0
        for s in range(bits.size):
            work[count] = bits[s]
            count += lo < bits[s] <= hi
    else:
        above = 0
        count = bits.size
        work[:count] = bits
    threshold = kth_largest(work, count, k - above)
    if found and count > 256:
        guess[1] = guess[1] // 2
    elif not found:
        guess[1] = 4 * guess[1] + (np.int64(1) << 44)
    guess[0] = threshold
    strictly = 0
    for s in range(bits.size):
        strictly += bits[s] > threshold
    equal = k - strictly
    j = 0
    for s in range(bits.size):
        if bits[s] > threshold:
            out[j] = s
            j += 1
        elif bits[s] == threshold and equal > 0:
            out[j] = s
            j += 1
            equal -= 1


# ---------------------------------------------------------------- layouts


@njit(cache=True)
def slots_of_grid(shape, tables, places, order, slot_of_index):
    """Fill order[slot] = pool index (and, if asked for, the inverse) for a grid laid out by its tables."""
    d = shape.size
    x = np.zeros(d, np.int64)
    total = 1
    for i in range(d):
        total *= shape[i]
    for index in range(total):
        s = 0
        for i in range(d):
            s += tables[places[i] + x[i]]
        order[s] = index
        if slot_of_index.size:
            slot_of_index[index] = s
        i = d - 1
        while i >= 0:
            x[i] += 1
            if x[i] < shape[i]:
                break
            x[i] = 0
            i -= 1


@njit(cache=True)
def gather(order, source, result):
    """result[slot] = source[index]; slots that are padding (index beyond the pool) are left alone."""
    n = source.size
    for s in range(order.size):
        if order[s] < n:
            result[s] = source[order[s]]


@njit(cache=True)
def scatter(order, source, result):
    """result[index] = source[slot], the inverse of `gather`."""
    n = result.size
    for s in range(order.size):
        if order[s] < n:
            result[order[s]] = source[s]


@njit(cache=True)
def score_all(f, y, score, rule, delta, weight):
    for s in range(f.size):
        if not score[s] < 0.0:
            score[s] = score_of(rule, delta, weight[s] if rule >= 0 else 1.0, f[s], y[s])
