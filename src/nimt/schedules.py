"""Schedules: how the size of a pack changes with the step, and at which steps a teacher looks at its learner.

A schedule of the pack size is given as `k=`, one of looking as `look=`:

>>> import nimt
>>> teacher = nimt.GreedyTeacher(k=nimt.schedules.cosine(0.05, 1.0, over=200), look=nimt.schedules.every(10))
>>> [round(teacher.k.at(step), 3) for step in (0, 100, 200, 500)]
[0.05, 0.525, 1.0, 1.0]
>>> [step for step in range(25) if teacher.looks_at(step)]
[0, 10, 20]

Both depend on the step alone, so a lesson that is stopped and resumed goes on with the same packs. `over` says over how
many steps a schedule runs; without it that is `max_iterations` of the lesson, as it was when the lesson began.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from nimt.arrays import check_count, is_number, is_whole
from nimt.errors import InvalidInput
from nimt.wording import Wording

SHAPES = ("cosine", "geometric", "linear", "steps")
LOOKS = ("every", "incremental")


@dataclass(frozen=True)
class PackSchedule:
    """The size of a pack at each step, from `start` at step 0 to `end` at the step `over` and after it.

    Made by `cosine`, `geometric`, `linear` and `steps`.

    Parameters
    ----------
    shape : {"cosine", "geometric", "linear", "steps"}
    start, end : int or float
        Both counts, or both shares in (0, 1].
    over : int, optional
        Steps; `max_iterations` of the lesson by default.
    stages : int, optional
        Of "steps": how many sizes there are.
    """

    shape: str
    start: int | float
    end: int | float
    over: int | None = None
    stages: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.shape, str) or self.shape not in SHAPES:
            raise InvalidInput(f"the shape of a schedule must be one of {', '.join(SHAPES)}, got {self.shape!r}")
        check_k(self.start, "start")
        check_k(self.end, "end")
        if is_whole(self.start) != is_whole(self.end):
            raise InvalidInput(
                f"start and end must both be counts or both be shares in (0, 1], got {self.start!r} and {self.end!r}"
            )
        _check_over(self.over)
        if self.shape == "steps":
            check_count("stages", self.stages, at_least=1)
        elif self.stages is not None:
            raise InvalidInput(f"stages is a parameter of nimt.schedules.steps, a {self.shape} schedule has none")

    def at(self, step: int) -> int | float:
        """Return k at a step: a count or a share, as `start` and `end` are."""
        part = min(1.0, step / _check_known(self.over))
        if part == 1.0:
            return self.end
        size = self._between(part)
        return round(size) if is_whole(self.start) else float(size)

    def fix_length(self, steps: int) -> PackSchedule:
        """Return the schedule with its length: as given, or else this many steps."""
        return self if self.over is not None else dataclasses.replace(self, over=max(1, steps))

    def __str__(self) -> str:
        over = "" if self.over is None else f", over={self.over}"
        return f"{self.shape}({self.start}, {self.end}{over})"

    def _between(self, part: float) -> float:
        if self.shape == "geometric":
            return float(self.start * (self.end / self.start) ** part)
        if self.shape == "cosine":
            part = (1.0 - math.cos(math.pi * part)) / 2
        elif self.shape == "steps":
            assert self.stages is not None
            part = math.floor(part * self.stages) / max(1, self.stages - 1)
        return self.start + (self.end - self.start) * part


@dataclass(frozen=True)
class LookSchedule:
    """The steps at which a teacher looks at its learner; between them it chooses by what it saw last.

    Made by `every` and `incremental`.

    Parameters
    ----------
    shape : {"every", "incremental"}
    gap : int
        Steps from one look to the next; of "incremental" the longest.
    over : int, optional
        Of "incremental": steps until the gap is the longest; `max_iterations` of the lesson by default.
    stages : int, optional
        Of "incremental": how many gaps there are.
    dense : float
        Of "incremental": the share of the steps, at the start, in which it looks at every step.
    """

    shape: str
    gap: int
    over: int | None = None
    stages: int | None = None
    dense: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.shape, str) or self.shape not in LOOKS:
            raise InvalidInput(f"the shape of a look schedule must be one of {', '.join(LOOKS)}, got {self.shape!r}")
        check_count("gap", self.gap, at_least=1)
        _check_over(self.over)
        if self.shape == "every":
            return
        check_count("stages", self.stages, at_least=1)
        assert self.stages is not None
        if self.gap < self.stages:
            raise InvalidInput(f"the longest gap must be at least stages ({self.stages}), got {self.gap}")
        if not is_number(self.dense) or not 0 <= float(self.dense) < 1:
            raise InvalidInput(f"must be a share in [0, 1), got {self.dense!r}", parameter="dense")

    def at(self, step: int) -> bool:
        """Say whether the teacher looks at a step; it always looks at step 0."""
        return step % self.gap_at(step) == 0

    def gap_at(self, step: int) -> int:
        """Return how many steps lie between two looks at this point of the lesson."""
        if self.shape == "every":
            return self.gap
        assert self.stages is not None
        over = _check_known(self.over)
        first = int(over * self.dense)
        if step < first:
            return 1
        stage = min(self.stages - 1, (step - first) * self.stages // max(1, over - first))
        return self.gap // self.stages * (stage + 1)

    def fix_length(self, steps: int) -> LookSchedule:
        """Return the schedule with its length: as given, or else this many steps."""
        needs = self.shape == "incremental" and self.over is None
        return dataclasses.replace(self, over=max(1, steps)) if needs else self


def cosine(start: int | float, end: int | float, *, over: int | None = None) -> PackSchedule:
    """Return start + (end - start) (1 - cos(pi t / over)) / 2: slow, then fast, then slow.

    Examples
    --------
    >>> [round(cosine(0.1, 1.0, over=4).at(step), 3) for step in range(6)]
    [0.1, 0.232, 0.55, 0.868, 1.0, 1.0]
    """
    return PackSchedule("cosine", start, end, over)


def geometric(start: int | float, end: int | float, *, over: int | None = None) -> PackSchedule:
    """Return start (end / start)^(t / over): the size grows by the same factor at every step.

    Examples
    --------
    >>> [geometric(1, 16, over=4).at(step) for step in range(6)]
    [1, 2, 4, 8, 16, 16]
    """
    return PackSchedule("geometric", start, end, over)


def linear(start: int | float, end: int | float, *, over: int | None = None) -> PackSchedule:
    """Return start + (end - start) t / over.

    Examples
    --------
    >>> [linear(1, 5, over=4).at(step) for step in range(6)]
    [1, 2, 3, 4, 5, 5]
    """
    return PackSchedule("linear", start, end, over)


def steps(start: int | float, end: int | float, *, over: int | None = None, stages: int = 10) -> PackSchedule:
    """Return as many sizes as `stages`, evenly spaced from start to end, each for the same number of steps.

    Examples
    --------
    >>> [steps(1, 7, over=6, stages=3).at(step) for step in range(8)]
    [1, 1, 4, 4, 7, 7, 7, 7]
    """
    return PackSchedule("steps", start, end, over, stages)


def every(gap: int) -> LookSchedule:
    """Look at the steps 0, gap, 2 gap, ...

    Examples
    --------
    >>> [step for step in range(12) if every(5).at(step)]
    [0, 5, 10]
    """
    return LookSchedule("every", gap)


def incremental(longest: int = 50, *, over: int | None = None, stages: int = 5, dense: float = 0.25) -> LookSchedule:
    """Look at every step at first, then after longer and longer gaps: the "incremental" strategy of INT.

    The first `dense` of the steps are all looked at. The others are divided into equal stages, in which the gap is
    longest / stages, 2 longest / stages, ..., longest; a look is at the steps that the gap divides.

    Examples
    --------
    >>> [step for step in range(24) if incremental(4, over=16, stages=2, dense=0.25).at(step)]
    [0, 1, 2, 3, 4, 6, 8, 12, 16, 20]
    """
    return LookSchedule("incremental", longest, over, stages, dense)


def check_k(k: object, name: str = "k") -> None:
    """Refuse a pack size that is invalid for every pool."""
    if not is_number(k) or (is_whole(k) and int(k) < 1):
        raise InvalidInput(f"must be a count >= 1 or a share in (0, 1], got {k!r}", parameter=name)
    if not is_whole(k) and not 0 < float(k) <= 1:
        problem = f"as a float is a share in (0, 1], got {k!r}"
        if float(k) > 1 and float(k).is_integer():
            problem = Wording(f"{name}={int(k)}", f"{int(k)}").embed(f"{problem}; for a count write ")
        raise InvalidInput(problem, parameter=name)


def check_pack(k: object) -> None:
    """Refuse what is neither a pack size nor a schedule of them."""
    if not isinstance(k, PackSchedule):
        check_k(k)


def check_look(look: object) -> None:
    """Refuse what is not a schedule of looking."""
    if look is not None and not isinstance(look, LookSchedule):
        raise InvalidInput(
            f"must be None (at every step) or a schedule, as nimt.schedules.every(10), got {look!r}", parameter="look"
        )


def _check_over(over: object) -> None:
    if over is not None:
        check_count("over", over, at_least=1)


def _check_known(over: int | None) -> int:
    if over is None:
        raise InvalidInput("it is not known over how many steps this schedule runs: give it over=, a number of steps")
    return over
