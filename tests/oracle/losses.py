"""Losses of rows of predictions and labels (m, q): the terms whose sum is L, and dL/df."""

from __future__ import annotations

from typing import Any

import numpy as np

SMOOTHNESS = {"square": 2.0, "huber": 2.0, "logistic": 0.25, "logcosh": 1.0, "below": 2.0, "crossentropy": 0.5}


def value(loss: tuple[Any, ...], f: np.ndarray, y: np.ndarray) -> np.ndarray:
    name, gap = loss[0], abs(f - y)
    if name == "square":
        return gap**2
    if name == "below":  # a loss of the user's, with negative values
        return gap**2 - loss[1]
    if name == "hinge":
        return np.where(y * f < 1, 1 - y * f, 0.0)
    if name == "perceptron":
        return np.where(y * f < 0, -y * f, 0.0)
    if name == "logistic":
        return np.where(y * f > 0, 0.0, -y * f) + np.log1p(np.exp(-abs(y * f)))
    if name == "huber":
        return np.where(gap <= loss[1], gap**2, 2 * loss[1] * gap - loss[1] ** 2)
    if name == "absolute":
        return gap
    if name == "logcosh":  # another of the user's
        return gap + np.log1p(np.exp(-2 * gap)) - np.log(2.0)
    assert name == "crossentropy"
    return -y * np.log(softmax(f))


def slope(loss: tuple[Any, ...], f: np.ndarray, y: np.ndarray) -> np.ndarray:
    name, gap = loss[0], f - y
    if name in ("square", "below"):
        return 2 * gap
    if name == "hinge":
        return np.where(y * f < 1, -y, 0.0)
    if name == "perceptron":
        return np.where(y * f > 0, 0.0, -y)
    if name == "logistic":
        return -y * 0.5 * (1 - np.tanh(y * f / 2))
    if name == "huber":
        return np.where(abs(gap) <= loss[1], 2 * gap, 2 * loss[1] * np.sign(gap))
    if name == "absolute":
        return np.sign(gap)
    if name == "logcosh":
        return np.tanh(gap)
    assert name == "crossentropy"
    return softmax(f) - y


def softmax(f: np.ndarray) -> np.ndarray:
    powers = np.exp(f - f.max(axis=1)[:, np.newaxis])
    return powers / powers.sum(axis=1)[:, np.newaxis]
