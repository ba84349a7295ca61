"""One example that is shown: its label, and what it will add to f."""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import part
from nimt.engines.compiled_steps.loss_slopes import slope
from nimt.engines.compiled_steps.stopping import larger


@part
def show_example(t, j, first, stride, rate, made, loss, own, height, largest, values, batch, moves, outputs):
    """Write the label and the coefficients of example j of step t; returns the largest |slope| K(x, x) so far.

    Its outputs lie at `first` and every `stride` behind it. A label that was `made` stays, the others are those of the
    target, or of the other one. `own` is what the slope of the loss needs beside f and y.
    """
    f, y, other = values.f, values.y, values.other
    q = len(outputs)
    for o in range(q):
        s = first + np.uint64(o * stride)
        if not made:
            batch.labels[t, j * q + o] = other[s] if batch.other_label[t] else y[s]
        g = slope(loss, own, f[s], batch.labels[t, j * q + o])
        largest = larger(largest, abs(g) * height)
        moves[j * q + o] = -rate * g
    return largest


@part
def keep_coefficients(t, first, stride, values, batch, moves, outputs):
    """Add what the only example of step t adds to f to the coefficients, and write it to the record if that is kept."""
    for o in range(len(outputs)):
        values.c[first + np.uint64(o * stride)] += moves[o]
        if t < batch.coefficients.shape[0]:
            batch.coefficients[t, o] = moves[o]
