"""Compiled code by numba's public functions alone: one array entry after another, kept nowhere."""

from __future__ import annotations

import numba
import numpy as np

from nimt.engines.codes import EUCLIDEAN, FAN, LANES, MANHATTAN

compiled = numba.njit(nogil=True)
part = compiled
inlined = numba.njit(nogil=True, inline="always")
rule = inlined


@inlined
def bits_of(number):
    return np.float64(number).view(np.int64)


@part
def step_in_row(f, y, at, window, offset, width, moves, change, forbidden, slot, outputs, norm):
    """`vectors.step_in_row`, lane by lane."""
    q, by = len(outputs), len(norm)
    top, which = np.int64(-(2**63)), np.int64(0)
    for lane in range(LANES):
        w = window[offset + lane]
        reached = w != 0.0 and lane < width
        size = 0.0
        for o in range(q):
            s = at + o * LANES + lane
            before = f[s] - y[s]
            if reached:
                f[s] += moves[o] * w
            after = f[s] - y[s]
            if reached:
                change[lane] += (after - before) * (after + before)
            if q == 1:
                size = abs(after)
            elif by == EUCLIDEAN:
                size += after * after
            elif by == MANHATTAN:
                size += abs(after)
            elif abs(after) > size:
                size = abs(after)
        bits = bits_of(np.sqrt(size) if q > 1 and by == EUCLIDEAN else size)
        if forbidden is not None:
            bits |= forbidden[slot + lane]
        if bits > top:
            top, which = bits, np.int64(0)
        if bits == top:
            which |= np.int64(1) << np.int64(lane)
    return top, which


@part
def match(node_bits, first):
    """`vectors.match`, node by node."""
    top, which = node_bits[first], np.int64(0)
    for v in range(FAN):
        top = max(top, node_bits[first + v])
    for v in range(FAN):
        if node_bits[first + v] == top:
            which |= np.int64(1) << np.int64(v)
    return top, which


@part
def first_in(which):
    """The lowest bit that is set."""
    place = np.int64(0)
    while not (which >> place) & 1:
        place += 1
    return place


@inlined
def fetch(array, index):
    """Nothing: there is no public way to fetch from memory beforehand."""


@inlined
def call_at(address, f, y):
    """Nothing is called by its address: a loss of the user has no number here (`CompiledLoss.compiled_twin`)."""
    return np.nan
