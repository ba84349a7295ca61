"""A lesson as a list of visits, N shows of one point each: where it leads, and how that changes with every N.

One visit changes r = f - f* to r - r_i (1 - (1 - s K_ii)^N) / K_ii K_{.i}, exactly; N is any number >= 0. `decay` holds
-log(1 - s K_ii) of every point. K is given by rows: the entries of row i are `entries[starts[i] : starts[i + 1]]`, at
the points `members`.
"""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import compiled, part


@part
def subtract_row(values, i, factor, starts, members, entries):
    """Take factor K_{.i} from the values."""
    for e in range(starts[i], starts[i + 1]):
        values[members[e]] -= factor * entries[e]


@compiled
def visit_all(errors, order, counts, decay, diagonal, starts, members, entries, found):
    """Visit the points in order: `errors` becomes f - f* after them, `found[k]` is what it was at visit k."""
    for k in range(order.size):
        i = order[k]
        found[k] = errors[i]
        if counts[k] > 0.0:
            removed = errors[i] * -np.expm1(-decay[i] * counts[k]) / diagonal[i]
            subtract_row(errors, i, removed, starts, members, entries)


@compiled
def slopes(weights, order, counts, decay, diagonal, starts, members, entries, found, slope):
    """Write the derivatives of a function of f - f* by every count; `weights`, its gradient at the end, is changed."""
    for k in range(order.size - 1, -1, -1):
        i = order[k]
        product = 0.0
        for e in range(starts[i], starts[i + 1]):
            product += entries[e] * weights[members[e]]
        left = np.exp(-decay[i] * counts[k])
        slope[k] = -decay[i] * left / diagonal[i] * found[k] * product
        weights[i] -= -np.expm1(-decay[i] * counts[k]) / diagonal[i] * product


@compiled
def best_insertions(
    errors, products, order, counts, decay, diagonal, starts, members, entries, found, places, steepest
):
    """Find for every point the place in the list where one more visit to it lowers the function of f - f* most.

    `errors` is f - f* at the end and `products` is K times the gradient there, a row per output; both are followed back
    to the start. `places[i]` is how many visits come before, `steepest[i]` the derivative by the count of that visit.
    """
    outputs, n = errors.shape
    for k in range(order.size, -1, -1):
        for i in range(n):
            if diagonal[i] > 0.0:
                along = 0.0
                for o in range(outputs):
                    along += errors[o, i] * products[o, i]
                slope = -decay[i] / diagonal[i] * along
                if slope < steepest[i]:
                    steepest[i] = slope
                    places[i] = k
        if k > 0:
            i = order[k - 1]
            share = -np.expm1(-decay[i] * counts[k - 1]) / diagonal[i]
            for o in range(outputs):
                subtract_row(errors[o], i, -share * found[o, k - 1], starts, members, entries)
                subtract_row(products[o], i, share * products[o, i], starts, members, entries)


@compiled
def lower_squares(errors, products, lengths, step, radius, starts, members, entries, shown):
    """Show the point that lowers the sum of squares most, until its root is below `radius`; returns the steps.

    `errors` and `products`, K (f - f*), have a row per output; `lengths` are the squared lengths of the rows of K. -1
    where `shown` is full, or nothing helps.
    """
    outputs, n = errors.shape
    for t in range(shown.size + 1):
        total = 0.0
        for o in range(outputs):
            for i in range(n):
                total += errors[o, i] * errors[o, i]
        if np.sqrt(total) < radius:
            return t
        best, which = 0.0, -1
        for i in range(n):
            gain = 0.0
            for o in range(outputs):
                move = step * errors[o, i]
                gain += 2.0 * move * products[o, i] - move * move * lengths[i]
            if gain > best:
                best, which = gain, i
        if which < 0 or t == shown.size:
            return -1
        shown[t] = which
        for o in range(outputs):
            move = step * errors[o, which]
            subtract_row(errors[o], which, move, starts, members, entries)
            for e in range(starts[which], starts[which + 1]):
                subtract_row(products[o], members[e], move * entries[e], starts, members, entries)
    return -1
