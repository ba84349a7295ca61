"""Steps that are taken again: a replay finds the coefficients of a lesson from its labels."""

from __future__ import annotations

from nimt.engines._numba.chosen import compiled
from nimt.engines.compiled_steps.losses import slope


@compiled
def take_again(f, offsets, w, places, y, rates, loss, delta, c):
    """Take steps on a grid with a margin, and write down what each example added.

    f is flat, the outputs of a place side by side; places (m, k), y and c (m, k, q), rates (m,).
    """
    steps, k, q = c.shape
    for t in range(steps):
        scale = -rates[t] / k
        for j in range(k):
            for o in range(q):
                c[t, j, o] = scale * slope(loss, (delta, 0.0), f[places[t, j] * q + o], y[t, j, o])
        for j in range(k):
            for i in range(len(offsets)):
                at = (places[t, j] + offsets[i]) * q
                for o in range(q):
                    f[at + o] += c[t, j, o] * w[i]
