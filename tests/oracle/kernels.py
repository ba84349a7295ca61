"""K(x, x') by its formula."""

from __future__ import annotations

from typing import Any

import numpy as np


def matrix(kernel: tuple[Any, ...], X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return K(x, y) for all rows x of X and y of Y."""
    name, *parts = kernel
    if name == "scale":
        return parts[0] * matrix(parts[1], X, Y)
    if name == "sum":
        return matrix(parts[0], X, Y) + matrix(parts[1], X, Y)
    if name == "product":
        return matrix(parts[0], X, Y) * matrix(parts[1], X, Y)
    if name == "linear":
        return sum(np.multiply.outer(X[:, i], Y[:, i]) for i in range(X.shape[1])) + parts[0]
    square = sum(np.subtract.outer(X[:, i], Y[:, i]) ** 2 for i in range(X.shape[1]))
    if name == "gauss":
        return np.exp(-square / parts[0] ** 2)
    if name == "rational":
        width, alpha = parts
        return (1 + square / (2 * alpha * width**2)) ** -alpha
    r = np.sqrt(square) / parts[0]
    if name == "matern":
        if parts[1] == 0.5:
            return np.exp(-r)
        if parts[1] == 1.5:
            return (1 + 3**0.5 * r) * np.exp(-(3**0.5) * r)
        return (1 + 5**0.5 * r + 5 * r**2 / 3) * np.exp(-(5**0.5) * r)
    assert name == "wendland"
    dimension, smoothness = parts[1:]
    ell = dimension // 2 + smoothness + 1
    positive = np.where(r < 1, 1 - r, 0.0)
    if smoothness == 0:
        return positive**ell
    if smoothness == 1:
        return positive ** (ell + 1) * ((ell + 1) * r + 1)
    return positive ** (ell + 2) * ((ell**2 + 4 * ell + 3) * r**2 + (3 * ell + 6) * r + 3) / 3


def diagonal(kernel: tuple[Any, ...], X: np.ndarray) -> np.ndarray:
    return np.array([matrix(kernel, x[np.newaxis], x[np.newaxis])[0, 0] for x in X])
