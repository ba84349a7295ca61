"""Algorithm 1 of the paper as plain loops over plain numbers: nothing here comes from the library it judges."""

from __future__ import annotations

import math

import numpy as np


def gauss(width):
    return lambda a, b: math.exp(-sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) / width**2)


def dot_plus(c):
    return lambda a, b: sum(p * q for p, q in zip(a, b, strict=True)) + c


def slope_square(f, y):
    return 2 * (f - y)


def slope_hinge(f, y):
    return -y if y * f < 1 else 0.0


def slope_perceptron(f, y):
    return -y if y * f <= 0 else 0.0


def slope_logistic(f, y):
    return -y / (1 + math.exp(y * f))


def slope_huber(f, y):
    if abs(f - y) <= 1:
        return 2 * (f - y)
    return 2.0 if f > y else -2.0


def slope_absolute(f, y):
    if f == y:
        return 0.0
    return 1.0 if f > y else -1.0


SLOPES = {
    "square": slope_square,
    "hinge": slope_hinge,
    "logistic": slope_logistic,
    "huber": slope_huber,
    "absolute": slope_absolute,
    "perceptron": slope_perceptron,
}


def value_of(loss, f, y):
    if loss == "square":
        return (y - f) ** 2
    if loss == "hinge":
        return max(0.0, 1 - y * f)
    if loss == "perceptron":
        return max(0.0, -y * f)
    if loss == "logistic":
        return math.log1p(math.exp(-y * f))
    if loss == "huber":
        return (y - f) ** 2 if abs(y - f) <= 1 else 2 * abs(y - f) - 1
    if loss == "absolute":
        return abs(y - f)
    raise KeyError(f"write the loss {loss!r} once more here, from its definition")


def furthest(f, target, allowed, k, weigh=lambda i, gap: abs(gap)):
    """GFT: pick k times the allowed point with the largest difference, leaving out those already picked."""
    picked = []
    for _ in range(k):
        best = None
        for i in allowed:
            if i in picked:
                continue
            if best is None or weigh(i, f[i] - target[i]) > weigh(best, f[best] - target[best]):
                best = i
        picked.append(best)
    return sorted(picked)


class Dice:
    """The lesson's random streams: one for the teacher's pool, one for its selection, one for its labels."""

    def __init__(self, seed):
        self.pool, self.selection, self.labels = np.random.default_rng(seed).spawn(3)

    def uniform(self, allowed, k):
        return [allowed[int(i)] for i in self.selection.integers(len(allowed), size=k)]

    def weighted(self, allowed, weights, k):
        total = sum(weights[i] for i in allowed)
        picked = []
        for u in self.selection.random(k):
            below, running = 0, weights[allowed[0]]
            while running / total <= u:
                below += 1
                running += weights[allowed[below]]
            picked.append(allowed[below])
        return picked


class KernelOracle:
    """f = f0 + sum_j c_j K(x_j, .), every shown example kept, f evaluated from scratch at every point."""

    def __init__(self, points, initial, kernel, slope, rate):
        self.points, self.initial, self.kernel, self.slope, self.rate = points, initial, kernel, slope, rate
        self.shown = []
        self.step = 0

    def values(self):
        total = []
        for i, x in enumerate(self.points):
            value = self.initial[i]
            for center, coefficient in self.shown:
                value += coefficient * self.kernel(center, x)
            total.append(value)
        return total

    def learn(self, indices, labels):
        f, rate, k = self.values(), self.rate(self.step), len(indices)
        for i, y in zip(indices, labels, strict=True):
            self.shown.append((self.points[i], -rate / k * self.slope(f[i], y)))
        self.step += 1


class LinearOracle:
    """f = <w, x> (+ b), one gradient step on (w, b) a pack."""

    def __init__(self, points, weights, slope, rate, intercept):
        self.features = [[*map(float, x), 1.0] if intercept else [*map(float, x)] for x in points]
        self.weights, self.slope, self.rate = list(weights), slope, rate
        self.step = 0

    def values(self):
        return [sum(w * v for w, v in zip(self.weights, x, strict=True)) for x in self.features]

    def learn(self, indices, labels):
        f, rate, k = self.values(), self.rate(self.step), len(indices)
        gradient = [0.0] * len(self.weights)
        for i, y in zip(indices, labels, strict=True):
            for place, feature in enumerate(self.features[i]):
                gradient[place] += self.slope(f[i], y) * feature / k
        self.weights = [w - rate * g for w, g in zip(self.weights, gradient, strict=True)]
        self.step += 1


def paper_discrepancy(f, target):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(f, target, strict=True))) / len(f)


def teach(learner, choose, target, steps, *, other=None, probability=0.0, dice=None, tol=None):
    """Run Algorithm 1 and return what was shown, the labels, and M at t = 0 .. T."""
    indices, labels = [], []
    discrepancy = [paper_discrepancy(learner.values(), target)]
    for _ in range(steps):
        if tol is not None and discrepancy[-1] < tol:
            break
        picked = choose(learner.values())
        source = target
        if other is not None and dice.labels.random() < probability:
            source = other
        given = [source[i] for i in picked]
        learner.learn(picked, given)
        indices.append(picked)
        labels.append(given)
        discrepancy.append(paper_discrepancy(learner.values(), target))
    return indices, labels, discrepancy
