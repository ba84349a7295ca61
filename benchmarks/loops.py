"""What the loop in plain Python costs per step: a teacher or a loss of one's own on a small pool, and a box."""

from __future__ import annotations

import time
from unittest.mock import patch

import numpy as np

import nimt
from benchmarks import bounds
from nimt.engines import offering

POOL = nimt.Grid(np.arange(-14, 14, 0.1))
TARGET = np.exp(-(POOL.points[:, 0] ** 2))
RATE = 0.001
STEPS = 5000


class LargestError(nimt.Teacher):
    """Greedy teaching as a user would write it."""

    def select(self, view):
        return view.show(np.argmax(np.abs(view.predictions - view.target)))


class OwnSquare:
    """The square loss as a user would write it."""

    smoothness = 2.0

    def value(self, f, y):
        return (f - y) ** 2

    def slope(self, f, y):
        return 2 * (f - y)


OWN = {"a teacher": (LargestError(), "square"), "a loss": (nimt.GreedyTeacher(), OwnSquare())}


def own_code(bench):
    for what, parts in OWN.items():
        taught(10, *parts)
        times = [
            (seconds(taught, 1000 + STEPS, *parts) - seconds(taught, 1000, *parts), seconds(by_hand, STEPS))
            for _ in range(7)
        ]
        ours, plain = (1e6 * best / STEPS for best in np.min(times, axis=0))
        bench.row(f"{what} of one's own, n = 280, on top of the same steps by hand", "<= 15 us per step", ours - plain,
                  lesson=taught(STEPS, *parts), curve=by_hand(STEPS),
                  note=f"{ours:.0f} us with it, {plain:.1f} us by hand",
                  bound=bounds.calls(plain, ours, "check, record and stop"))  # fmt: skip


class Line:
    """A learner as a user would write it: a line through zero."""

    def __init__(self):
        self.slope = 0.0

    def predict(self, X):
        return X[:, 0] * self.slope

    def partial_fit(self, X, y):
        self.slope -= RATE * (X[0, 0] * self.slope - y[0]) * X[0, 0]
        return self


class Fading(nimt.KernelLearner):
    """A subclass as a user would write it: all that was learnt fades a little before each step."""

    def partial_fit(self, X, y, sample_weight=None):
        if len(getattr(self, "coefficients_", ())):
            self.coefficients_ *= 1.0 - 0.01 * RATE
        return super().partial_fit(X, y, sample_weight)


def loop_alone(bench):
    """The loop by itself, with a teacher and a learner of ours and of one's own: the least of short stretches."""
    cases = {
        "reference loop, KernelLearner, n = 280": (nimt.GreedyTeacher(), None, 15, "reference"),
        "a teacher of one's own, n = 280": (LargestError(), None, 20, "reference"),
        "a learner with predict and partial_fit, n = 280": (nimt.GreedyTeacher(), Line(), 60, "reference"),
        "a KernelLearner that decays, compiled by parts, n = 280": (nimt.GreedyTeacher(), decaying(), 60, "auto"),
        "a subclass of KernelLearner that decays in partial_fit, n = 280": (
            nimt.GreedyTeacher(),
            fading(),
            60,
            "reference",
        ),
        "a teacher with a score of one's own by @nimt.compiled, n = 280": (scored(), None, 1, "auto"),
    }
    plain, what = stretch(by_hand), "predict, check, record and stop"
    for work, (teacher, learner, goal, engine) in cases.items():
        learner = learner or nimt.KernelLearner(nimt.rbf(0.5), learning_rate=RATE)
        rules = {"max_iterations": 10**6, "tol": None, "engine": engine}
        session = nimt.steps(learner, teacher, POOL, TARGET, **rules)
        session.advance(500)
        ours = stretch(session.engine.advance, 500 if engine == "auto" else 25)
        bench.row(f"{work}, one step", f"<= {goal} us", ours,
                  note=f"{plain:.1f} us by hand in NumPy, without rules, checks and record",
                  bound=bounds.calls(plain, ours, what))  # fmt: skip


def decaying():
    return nimt.KernelLearner(nimt.rbf(0.5), learning_rate=RATE, decay=0.01)


def fading():
    return Fading(nimt.rbf(0.5), learning_rate=RATE)


def scored():
    @nimt.compiled
    def score(f, y, kappa):
        return (f - y) ** 2

    return nimt.GreedyTeacher(score=score)


def stretch(function, steps=25, repeat=200):
    """Return the microseconds of a step: the least difference of short stretches, which other programs leave alone."""
    short, long = ([], [])
    for _ in range(repeat):
        for count, times in ((steps, short), (2 * steps, long)):
            began = time.perf_counter()
            function(count)
            times.append(time.perf_counter() - began)
    return 1e6 * (min(long) - min(short)) / steps


def box(bench):
    """The mixture of the paper in a box, against a search at every step."""
    steps = 300 if bench.quick else 3000
    in_a_box(10)
    times = []
    for _ in range(3):
        fast, lesson = seconds_and_result(in_a_box, steps)
        slow, searched = seconds_and_result(in_a_plain_box, steps)
        times.append((fast, slow))
    fast, slow = np.min(times, axis=0)
    bench.row(f"1-D mixture in a Box, {steps:,} steps", ">= 10x", slow / fast, lesson=lesson, seconds=fast, steps=steps,
              curve=searched.discrepancy, against="a local search at every step",
              bound=bounds.more(1e6 * fast / steps, "evaluating f anywhere, in a step of", "us"))  # fmt: skip


def in_a_plain_box(steps):
    """The same lesson, without anything that makes it faster."""
    nobody = type("Nobody", (), {})
    with patch.object(offering, "FollowingPupil", nobody):
        return in_a_box(steps)


def in_a_box(steps):
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01, initial=lambda x: bell(x, -10))
    target = lambda x: bell(x, -2) / 3 + 2 * bell(x, 2) / 3  # noqa: E731
    return nimt.teach(learner, nimt.GreedyTeacher(), nimt.Box((-14, 14)), target, max_iterations=steps, tol=None)


def bell(x, mean):
    return np.exp(-((x[:, 0] - mean) ** 2) / 2) / np.sqrt(2 * np.pi)


def taught(steps, teacher, loss):
    learner = nimt.KernelLearner(nimt.rbf(0.5), loss=loss, learning_rate=RATE)
    return nimt.teach(learner, teacher, POOL, TARGET, max_iterations=steps, tol=None, engine="reference")


def by_hand(steps):
    """The same steps without checks, without a record, without rules: what NumPy itself takes."""
    gram, f, c = nimt.rbf(0.5)(POOL.points), np.zeros(len(TARGET)), np.zeros(len(TARGET))
    curve = [np.sqrt(TARGET @ TARGET) / len(TARGET)]
    for _ in range(steps):
        residual = f - TARGET
        i = np.argmax(np.abs(residual))
        step = -2 * RATE * residual[i]
        c[i] += step
        f += step * gram[i]
        gap = f - TARGET
        curve.append(np.sqrt(gap @ gap) / len(TARGET))
    return np.array(curve)


def seconds(function, *arguments):
    return seconds_and_result(function, *arguments)[0]


def seconds_and_result(function, *arguments):
    """Return the processor time of a call, so that other work on the machine does not count, and what it returned."""
    began = time.process_time()
    result = function(*arguments)
    return time.process_time() - began, result
