"""What the engines are measured against: loops a good researcher would write, on the same work.

Each takes the target on the pool and returns the discrepancy M after every step, so that both sides can be compared.
"""

from __future__ import annotations

import functools
import importlib.util
import time

import numpy as np


def step_of(k, rate):
    return -2.0 * rate / k  # square loss, packs averaged


def dense_single(gram, target, steps, rate, indices=None):
    """One example per step on a precomputed Gram matrix: argmax (or drawn), axpy, norm."""
    n = len(target)
    residual = -target.copy()
    curve = np.empty(steps + 1)
    curve[0] = np.sqrt(residual @ residual) / n
    factor = step_of(1, rate)
    for t in range(steps):
        i = np.argmax(np.abs(residual)) if indices is None else indices[t, 0]
        residual += factor * residual[i] * gram[i]
        curve[t + 1] = np.sqrt(residual @ residual) / n
    return curve


def dense_packs(gram, target, steps, rate, k, way, indices=None):
    """Packs of k on a precomputed Gram matrix, by `rows` (c @ K[i]) or by `product` (K @ c)."""
    n = len(target)
    residual = -target.copy()
    curve = np.empty(steps + 1)
    curve[0] = np.sqrt(residual @ residual) / n
    factor = step_of(k, rate)
    for t in range(steps):
        if indices is not None:
            chosen = indices[t]
        elif k == n:
            chosen = slice(None)
        else:
            chosen = np.argpartition(np.abs(residual), n - k)[n - k :]
        coefficients = factor * residual[chosen]
        if way == "rows":
            residual += coefficients @ gram[chosen]
        else:
            spread = np.zeros(n)
            if indices is None:
                spread[chosen] = coefficients
            else:
                np.add.at(spread, chosen, coefficients)
            residual += gram @ spread
        curve[t + 1] = np.sqrt(residual @ residual) / n
    return curve


def faster_way(gram, target, rate, k, indices=None):
    """Time both ways of adding a pack and return the faster."""
    costs = {}
    for way in ("rows", "product"):
        began = time.perf_counter()
        dense_packs(gram, target, 3, rate, k, way, indices)
        costs[way] = time.perf_counter() - began
    return min(costs, key=costs.get)


def columns_each_step(points, target, steps, rate, width):
    """Greedy teaching without a Gram matrix: the kernel's column is computed with NumPy at every step."""
    n = len(target)
    residual = -target.copy()
    curve = np.empty(steps + 1)
    curve[0] = np.sqrt(residual @ residual) / n
    factor = step_of(1, rate)
    for t in range(steps):
        i = np.argmax(np.abs(residual))
        difference = points - points[i]
        column = np.exp(np.einsum("ij,ij->i", difference, difference) / -(width**2))
        residual += factor * residual[i] * column
        curve[t + 1] = np.sqrt(residual @ residual) / n
    return curve


def sklearn_columns(points, target, steps, rate, width):
    """The same, with the column computed by scikit-learn."""
    from sklearn.metrics.pairwise import rbf_kernel

    n, residual, curve = len(target), -target.copy(), np.empty(steps + 1)
    curve[0] = np.sqrt(residual @ residual) / n
    for t in range(steps):
        i = np.argmax(np.abs(residual))
        residual += step_of(1, rate) * residual[i] * rbf_kernel(points, points[i : i + 1], gamma=1 / width**2)[:, 0]
        curve[t + 1] = np.sqrt(residual @ residual) / n
    return curve


def numba_columns(points, target, steps, rate, width):
    """The same as a plain numba loop that a good user would write: one pass per step, nothing kept."""
    residual, curve = -target.copy(), np.empty(steps + 1)
    curve[0] = np.sqrt(residual @ residual) / len(target)
    _numba_loop()(np.ascontiguousarray(points), residual, steps, step_of(1, rate), 1.0 / width**2, curve)
    return curve


@functools.cache
def _numba_loop():
    import numba

    @numba.njit(fastmath=True)
    def loop(points, residual, steps, factor, inverse, curve):
        n, d = points.shape
        best = np.argmax(np.abs(residual))
        for t in range(steps):
            move, shown = factor * residual[best], points[best].copy()
            total, top = 0.0, -1.0
            for s in range(n):
                square = 0.0
                for i in range(d):
                    square += (points[s, i] - shown[i]) ** 2
                residual[s] += move * np.exp(-square * inverse)
                total += residual[s] ** 2
                if abs(residual[s]) > top:
                    top, best = abs(residual[s]), s
            curve[t + 1] = np.sqrt(total) / n

    return loop


def has_torch():
    """Say whether PyTorch is installed; without it a row says so."""
    return importlib.util.find_spec("torch") is not None


def torch_rows(points, target, steps, rate, width):
    """Greedy teaching as the published notebooks do it: every step builds the kernel row of the shown point."""
    import torch

    x = torch.tensor(points)
    goal = torch.tensor(target)
    f = torch.zeros_like(goal)
    n = len(target)
    curve = np.empty(steps + 1)
    curve[0] = torch.sqrt(torch.sum((f - goal) ** 2)).item() / n
    for t in range(steps):
        i = torch.argmax(torch.abs(f - goal))
        slope = 2.0 * (f[i] - goal[i])
        row = torch.exp(-torch.sum(((x - x[i]) / width) ** 2, dim=1))
        f = f - rate * slope * row
        curve[t + 1] = torch.sqrt(torch.sum((f - goal) ** 2)).item() / n
    return curve
