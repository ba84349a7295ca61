"""Lessons of a random teacher on which forecasts are calibrated: jumps, noise, flat curves and smooth targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import nimt
from nimt.datasets import formulas

RNG = np.random.default_rng(7)
LINE = np.linspace(-3, 3, 121)
GRID = nimt.Grid(LINE)
SQUARE = nimt.Grid(np.linspace(-1, 1, 16), np.linspace(-1, 1, 16))
SCATTERED = RNG.uniform(-1, 1, (150, 2))
DEEP = RNG.uniform(-1, 1, (200, 3))
NOISY = np.sin(LINE) + 0.1 * RNG.normal(size=121)
NOISY_SCATTERED = np.sin(3 * SCATTERED[:, 0]) * SCATTERED[:, 1] + 0.1 * RNG.normal(size=150)
WHITE = RNG.normal(size=121)
MIXTURE = (formulas.mixture_pool(), formulas.mixture)


def disc(x: np.ndarray) -> np.ndarray:
    return (np.hypot(x[:, 0], x[:, 1]) < 0.6) * 1.0


@dataclass(frozen=True, eq=False)
class RandomLesson:
    """A lesson to forecast, and to teach with many seeds."""

    pool: Any
    target: Any
    tol: float
    rate: float | Callable[[int], float] = 0.1
    width: float = 0.5
    k: int | float = 1
    measure: str = "rms"
    initial: Any = 0.0
    replace: bool = True
    shown: Any = None

    @property
    def task(self) -> tuple[Any, ...]:
        learner = nimt.KernelLearner(nimt.rbf(self.width), learning_rate=self.rate, initial=self.initial)
        return learner, nimt.RandomTeacher(k=self.k, replace=self.replace, pool=self.shown), self.pool, self.target

    def forecast(self, **options: Any) -> nimt.theory.Forecast:
        return nimt.forecast(*self.task, tol=self.tol, measure=self.measure, **options)

    def teach(self, seeds: int, longest: int) -> np.ndarray:
        """Return the ITDs of the first seeds; infinite where a lesson needs more steps."""
        lessons = (
            nimt.teach(
                *self.task, tol=self.tol, measure=self.measure, seed=seed, max_iterations=longest, record="picks"
            )
            for seed in range(seeds)
        )
        return np.array([np.inf if one.itd is None else one.itd for one in lessons])


QUICK = {
    "a jump": RandomLesson(GRID, np.sign, 0.1),
    "a jump, rate 0.3": RandomLesson(GRID, np.sign, 0.12, 0.3),
    "a jump, rate 0.01": RandomLesson(GRID, np.sign, 0.15, 0.01),
    "noise, scattered, rate 0.4": RandomLesson(SCATTERED, NOISY_SCATTERED, 0.09, 0.4),
    "noise, scattered, packs of 10": RandomLesson(SCATTERED, NOISY_SCATTERED, 0.09, k=10),
    "a disc, half of the points": RandomLesson(SQUARE, disc, 0.25, width=0.25, shown=np.arange(0, 256, 2)),
    "a sine": RandomLesson(GRID, np.sin, 0.01),
    "six points apart": RandomLesson(np.arange(6) * 9.0, np.ones(6), 1e-3, 0.3),
}

LESSONS = QUICK | {
    "a jump, rms 0.15": RandomLesson(GRID, np.sign, 0.15),
    "a jump, rms 0.12": RandomLesson(GRID, np.sign, 0.12),
    "a jump, rate 0.01, rms 0.12": RandomLesson(GRID, np.sign, 0.12, 0.01),
    "a jump, rate 0.3, rms 0.15": RandomLesson(GRID, np.sign, 0.15, 0.3),
    "a jump, rate 0.3, rms 0.1": RandomLesson(GRID, np.sign, 0.1, 0.3),
    "a jump, width 1": RandomLesson(GRID, np.sign, 0.15, width=1.0),
    "a jump, width 0.2": RandomLesson(GRID, np.sign, 0.1, width=0.2),
    "a jump, packs of 5": RandomLesson(GRID, np.sign, 0.1, k=5),
    "a jump, half at a time": RandomLesson(GRID, np.sign, 0.12, 0.4, k=60, replace=False),
    "a jump, a falling rate": RandomLesson(GRID, np.sign, 0.12, lambda t: 0.3 / (1 + t / 500) ** 0.3),
    "two jumps": RandomLesson(GRID, lambda x: np.sign(np.abs(x) - 1), 0.16),
    "noise, rms 0.2": RandomLesson(GRID, NOISY, 0.2),
    "noise, rms 0.1": RandomLesson(GRID, NOISY, 0.1),
    "noise, rms 0.09": RandomLesson(GRID, NOISY, 0.09),
    "noise, rate 0.4": RandomLesson(GRID, NOISY, 0.09, 0.4),
    "noise, scattered": RandomLesson(SCATTERED, NOISY_SCATTERED, 0.1),
    "a disc": RandomLesson(SQUARE, disc, 0.15),
    "a disc, rate 0.4": RandomLesson(SQUARE, disc, 0.15, 0.4),
    "a disc, width 0.25": RandomLesson(SQUARE, disc, 0.1, width=0.25),
    "a disc, scattered": RandomLesson(SCATTERED, disc, 0.2),
    "a sine, rate 0.4": RandomLesson(GRID, np.sin, 0.01, 0.4),
    "a sine, rate 0.01": RandomLesson(GRID, np.sin, 0.01, 0.01),
    "a sine, rms 0.001": RandomLesson(GRID, np.sin, 0.001),
    "a sine, packs of 5": RandomLesson(GRID, np.sin, 0.01, k=5, replace=False),
    "3-D scattered": RandomLesson(DEEP, lambda x: np.sin(x.sum(axis=1)), 0.02, width=1.0),
    "white noise, width 0.05": RandomLesson(GRID, WHITE, 0.1, width=0.05),
    "white noise, rate 0.45": RandomLesson(GRID, WHITE, 0.05, 0.45, width=0.05),
    "white noise, width 0.1": RandomLesson(GRID, WHITE, 0.2, width=0.1),
    "two points apart": RandomLesson(np.array([0.0, 9.0]), np.ones(2), 1e-3, 0.4),
    "a corner": RandomLesson(GRID, np.abs, 0.01),
    "a line, flat": RandomLesson(
        formulas.line_pool(), formulas.line(1.0, 1.0), 2e-3, measure="paper", initial=formulas.two_bumps
    ),
    "a plane": RandomLesson(
        formulas.plane_pool(), formulas.plane, 1e-2, measure="paper", initial=formulas.bowl(-1.0)
    ),
    "the mixture": RandomLesson(*MIXTURE, 1e-4, measure="paper", initial=formulas.mixture_start),
    "the mixture, width 2": RandomLesson(
        *MIXTURE, 1e-3, 0.05, width=2.0, measure="paper", initial=formulas.mixture_start
    ),
}  # fmt: skip
