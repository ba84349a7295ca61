"""A challenge: a problem, a few examples to show, and what greedy and chance make of as many."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nimt.arrays import Array, check_count
from nimt.errors import InvalidInput
from nimt.kernels.radial import rbf
from nimt.learners.kernel_learner import KernelLearner
from nimt.lesson.lesson import Lesson
from nimt.pools.pool import Grid
from nimt.sources import Problem
from nimt.task.task import Task
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.random import RandomTeacher
from nimt.teachers.teacher import Selection, View

CLICKS = 12
MOST_CLICKS = 40
MOST_POINTS = 4096  # of a page that stays small, and of a target whose points a finger can choose
MOST_TRIED = 1024  # points of a pool of which every one is tried at every place
MOST_SWEEPS = 20
CHANCES = 100  # lessons of the random teacher
MEASURE = "paper"
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Played:
    """One game: who played it, what was shown, and how far the learner still is from the target."""

    name: str
    shown: tuple[int, ...]
    discrepancy: float


@dataclass(frozen=True, eq=False)
class Challenge:
    """A problem on a grid, and how many examples may be shown.

    The learner has the largest safe rate: with the square loss it fits every example it is shown.

    Examples
    --------
    >>> import nimt
    >>> challenge = Challenge(nimt.sources.read_problem("gmm", "gmm:start"))
    >>> greedy = challenge.greedy
    >>> again = Played("again", tuple(greedy.indices[:, 0].tolist()), float(greedy.discrepancy[-1]))
    >>> abs(challenge.play(again.shown) - again.discrepancy) < 1e-12, challenge.is_beaten_by(again)
    (True, False)
    >>> bool(np.median(challenge.chances) > 5 * greedy.discrepancy[-1]), challenge.is_beaten_by(challenge.best)
    (True, True)
    """

    problem: Problem
    clicks: int = CLICKS
    width: float = 0.5

    def __post_init__(self) -> None:
        check_count("clicks", self.clicks, at_least=1)
        pool, target = self.problem.pool, self.problem.target
        if self.clicks > MOST_CLICKS:
            raise InvalidInput(f"must be {MOST_CLICKS} at most, got {self.clicks}", parameter="clicks")
        if not isinstance(pool, Grid) or pool.dimension > 2 or target.ndim > 1:
            raise InvalidInput("a challenge is played on a curve or a grey picture: take such a target")
        if len(pool) > MOST_POINTS:
            problem = f"a challenge has {MOST_POINTS:,} points at most, and this target {len(pool):,}"
            raise InvalidInput(problem, way_out="take a smaller one (size)")
        if not np.any(target != self.problem.initial):
            raise InvalidInput("here is nothing to teach: the learner starts at the target")

    @property
    def _learner(self) -> KernelLearner:
        return KernelLearner(rbf(self.width), learning_rate="auto", initial=self.problem.initial)

    @property
    def rate(self) -> float:
        """The largest safe learning rate."""
        return float(self._learner.bind(self.problem.pool).learning_rate_)

    def _teach(self, teacher: Any, seed: int = 0, steps: int | None = None) -> Lesson:
        options: dict[str, Any] = {
            "tol": None,
            "max_iterations": steps or self.clicks,
            "measure": MEASURE,
            "seed": seed,
        }
        return (
            Task.of(self._learner, teacher, self.problem.pool, self.problem.target, **options).begin(quiet=True).run()
        )

    @functools.cached_property
    def greedy(self) -> Lesson:
        """What the greedy teacher does."""
        return self._teach(GreedyTeacher())

    @functools.cached_property
    def chances(self) -> Array:
        """How far the learner still is after as many examples drawn at random, sorted, of some lessons."""
        return np.sort([self._teach(RandomTeacher(), seed).discrepancy[-1] for seed in range(CHANCES)])

    @functools.cached_property
    def best(self) -> Played | None:
        """The best lesson that was found: greedy's, each example exchanged for the best other one until none helps.

        None for pools that are too large to try every point. Nothing proves that there is no better one.
        """
        return None if len(self.problem.pool) > MOST_TRIED else self._exchange(self.clicks)

    @functools.cached_property
    def shortest(self) -> Played | None:
        """The lesson of the fewest examples found that ends nearer to the target than greedy's; None if none does.

        As of `nimt.shortest`, which plans for smaller rates, nothing proves that there is no shorter one.
        """
        found = self.best
        while found is not None and self.is_beaten_by(found):
            shorter = self._exchange(len(found.shown) - 1) if len(found.shown) > 1 else found
            if shorter is found or not self.is_beaten_by(shorter):
                return found
            found = shorter
        return None

    def _exchange(self, count: int) -> Played:
        """Return the lesson of so many examples: greedy's first, each exchanged for the best other until none helps."""
        points = self.problem.pool.points
        factor, gram = 2 * self.rate, np.asarray(rbf(self.width)(points, points))
        gaps = np.asarray(self.problem.target) - np.asarray(self.problem.initial)
        shown, least = [int(self.greedy.pack(step)[0][0]) for step in range(count)], np.inf
        for _ in range(MOST_SWEEPS):
            before = least
            for place in range(count):
                ends = _try_every_point(gaps, gram, factor, shown, place)
                if ends.min() < least * (1 - ROUNDING):
                    least, shown[place] = float(ends.min()), int(ends.argmin())
            if not least < before:
                break
        return Played("best found", tuple(shown), self.play(shown))

    @property
    def number(self) -> int:
        """Of the game, 16 bits: codes of another target, start, width or number of examples have another one."""
        parts = (np.asarray(self.problem.target), np.asarray(self.problem.initial), np.array([self.width, self.clicks]))
        return zlib.crc32(b"".join(part.astype("<f8").tobytes() for part in parts)) & 0xFFFF

    def is_beaten_by(self, game: Played) -> bool:
        """Whether a game came nearer to the target than greedy does; by more than rounding."""
        return bool(game.discrepancy < self.greedy.discrepancy[-1] * (1 - ROUNDING))

    def play(self, shown: Sequence[int]) -> float:
        """Return how far the learner is from the target after these examples, as nimt's own steps say."""
        return float(self._teach(_Shown(tuple(shown)), steps=len(shown)).discrepancy[-1])


def _try_every_point(gaps: Array, gram: Array, factor: float, shown: Sequence[int], place: int) -> Array:
    """Return how far f is from f* at the end, for every point that could be shown at one place of a lesson."""
    left = np.array(gaps)
    for point in shown[:place]:
        left -= factor * left[point] * gram[point]
    each = left - factor * left[:, np.newaxis] * gram  # row i: after point i
    for point in shown[place + 1 :]:
        each -= factor * each[:, point, np.newaxis] * gram[point]
    return np.asarray(np.sqrt((each**2).sum(axis=1)))


@dataclass(frozen=True)
class _Shown:
    points: tuple[int, ...]

    def select(self, view: View) -> Selection:
        return view.show([self.points[view.step]])
