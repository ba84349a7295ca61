"""The k largest scores, in O(n)."""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import compiled, part


@compiled
def first_largest(bits):
    """The slot of the largest score, the lowest of equals."""
    top = bits[0]
    for s in range(bits.size):
        top = max(top, bits[s])
    s = 0
    while bits[s] != top:
        s += 1
    return s


@part
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


@part
def count_between(bits, lo, hi):
    above = 0
    within = 0
    for s in range(bits.size):
        above += bits[s] > hi
        within += bits[s] > lo
    return above, within - above


@part
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
        for s in range(count):  # a loop: assigning a slice would take seconds to compile
            work[s] = bits[s]
    threshold = kth_largest(work, count, k - above)
    if found and count > 256:
        guess[1] = guess[1] // 2
    elif not found:
        guess[1] = 4 * guess[1] + (np.int64(1) << 44)
    guess[0] = threshold
    strictly, equal = above, 0
    for s in range(count):
        strictly += work[s] > threshold
        equal += work[s] == threshold
    s = j = np.uint64(0)
    if strictly + equal == k:  # no tie at the threshold: without a branch that is hard to predict
        while j < np.uint64(k):
            out[j] = s
            j += np.uint64(bits[s] >= threshold)
            s += np.uint64(1)
        return
    equal = k - strictly
    while j < np.uint64(k):
        if bits[s] > threshold:
            out[j] = s
            j += np.uint64(1)
        elif bits[s] == threshold and equal > 0:
            out[j] = s
            j += np.uint64(1)
            equal -= 1
        s += np.uint64(1)
