"""One racer: a lesson taught in slices, with everything a page needs to play it kept ready to be sent."""

from __future__ import annotations

import time
import warnings
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nimt
from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.learners.kernel import KernelLearner
from nimt.lesson.lesson import Lesson
from nimt.operators.grid import GridOperator
from nimt.replay.coefficients import LARGE_PACK, Coefficients
from nimt.replay.recording import Recording, describe_pool, window_blocks
from nimt.studio.requests import RacerRequest, Rules, Setting
from nimt.teachers.base import Selection, View

SLICE = 0.006  # seconds of teaching between two looks at what else is to be done
MOST_BYTES = 2**28  # of memory a lesson may need, by its plan
MOST_WORK = 2e11  # additions a lesson may need, by its plan
MOST_PAIRS = 2**22  # examples a lesson may show with their coefficients kept
FRAME_BYTES = 2**25  # of frames kept for a lesson that is told in frames
MOST_FRAMES = 400
HEAVY_STEP = 2**16  # points moved by a step from which a page could not take the steps again fast enough
PER_MESSAGE = 2**15  # examples in one message


class Person:
    """A teacher who shows what a person clicks."""

    def __init__(self) -> None:
        self.chosen = 0

    def select(self, view: View) -> Selection:
        return view.shown([self.chosen])


@dataclass(frozen=True)
class Origin:
    """Where a racer began: at the start of the race, or at a step of another racer."""

    parent: int | None = None
    step: int = 0
    said: str = ""


class Racer:
    """A lesson under way.

    Its steps are kept as examples and coefficients where f is a sum of kernels and packs are small, and as frames
    (f at some steps, more of them early) elsewhere. `taken` may be called from one thread, `news` from another.
    """

    def __init__(self, request: RacerRequest, rules: Rules, setting: Setting, origin: Origin | None = None) -> None:
        self.request, self.rules, self.setting, self.origin = request, rules, setting, origin or Origin()
        self.person = Person() if request.teacher == "you" else None
        self.learner = rules.made_learner(request, setting.pool, setting.initial)
        teacher: Any = self.person or request.made_teacher()
        options: dict[str, Any] = {"max_iterations": rules.steps, "tol": rules.tol, "seed": rules.seed}
        self.notes: list[str] = []
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            plan = nimt.plan(self.learner, teacher, setting.pool, setting.target, **options)
            self.pack = 1 if self.person else int(teacher.pack_size(_offered(request, len(setting.pool))))
            refuse_what_is_too_much(plan, self.pack, rules.steps, len(setting.pool), setting.outputs)
            felt = plan.window or len(setting.pool)
            heavy = self.pack >= LARGE_PACK or self.pack * felt > HEAVY_STEP
            self.in_frames = heavy or not isinstance(self.learner, KernelLearner)
            self.frame_steps = frame_steps(rules.steps, setting.target.size) if self.in_frames else []
            options |= {"snapshots": self.frame_steps, "record": "picks" if self.pack >= LARGE_PACK else "all"}
            self.walk = nimt.steps(self.learner, teacher, setting.pool, setting.target, **options)
        self.notes += [str(one.message) for one in said]
        self.coefficients: Coefficients | None = None
        if not self.in_frames:
            self.coefficients = self._coefficients(self.learner.bind(setting.pool))
        self.indices, self.added, self.curve = Column(np.uint32), Column(np.float64), Column(np.float64)
        self.curve.append(self.walk.lesson.discrepancy)
        self.frames: list[tuple[int, NDArray[np.float32], NDArray[np.uint32]]] = []
        self.taken = 0
        self.seconds = 0.0
        self.outcome: str | None = None
        self.error: str | None = None
        self._fitting = 16

    def _coefficients(self, learner: KernelLearner) -> Coefficients:
        return Coefficients(learner, self.setting.pool, self.pack, self.setting.target.shape[1:])

    @property
    def over(self) -> bool:
        return self.outcome is not None or self.error is not None

    @property
    def rests(self) -> bool:
        """Whether there is nothing to do: it is over, or waits for a person."""
        return self.over or self.person is not None

    def slice(self) -> None:
        """Teach for about one slice of time."""
        began = time.perf_counter()
        before = self.taken
        self.take(self._fitting)
        spent = time.perf_counter() - began
        taken = max(1, self.taken - before)
        self._fitting = max(1, min(int(SLICE * taken / max(spent, 1e-6)), 8 * self._fitting, 20_000))

    def take(self, steps: int) -> None:
        """Take some steps and keep what they were; what goes wrong becomes a sentence."""
        try:
            began = time.perf_counter()
            chunk = self.walk.advance(min(steps, self._until_frame()))
            self.seconds += time.perf_counter() - began
            self._keep(chunk.indices, chunk.labels, chunk.discrepancy)
            self.outcome = None if self.walk.outcome is None else str(self.walk.outcome)
            if self.outcome is not None and self.in_frames:
                self._keep_frame(chunk.indices)
        except nimt.NimtError as error:
            self.error = str(error)
        except MemoryError:
            self.error = "this lesson needs more memory than there is: take fewer points"

    def show(self, point: Any) -> None:
        """Let the person show a point."""
        if self.person is None:
            raise InvalidInput("this lesson has a teacher of its own")
        if type(point) is not int or not 0 <= point < len(self.setting.pool):
            raise InvalidInput(f"there is no point {str(point)[:20]}: the pool has 0 to {len(self.setting.pool) - 1}")
        if not self.over:
            self.person.chosen = point
            self.take(1)

    def _keep(self, indices: NDArray[np.int64], labels: Array, curve: Array) -> None:
        if not len(curve):
            return
        if self.coefficients is not None:
            self.added.append(self.coefficients.take(indices, labels).ravel())
            self.indices.append(indices.ravel())
        self.curve.append(curve)
        self.taken += len(curve)
        if self.in_frames and self.frame_steps and self.taken >= self.frame_steps[0]:
            self._keep_frame(indices)

    def _keep_frame(self, indices: NDArray[np.int64]) -> None:
        self.frame_steps = self.frame_steps[bisect_right(self.frame_steps, self.taken) :]
        if self.frames and self.frames[-1][0] == self.taken:
            return
        shown = indices[-1].astype(np.uint32) if len(indices) and self.pack < LARGE_PACK else np.zeros(0, np.uint32)
        with np.errstate(over="ignore"):
            self.frames.append((self.taken, self.walk.values.astype(np.float32).ravel(), shown))

    def _until_frame(self) -> int:
        return max(1, self.frame_steps[0] - self.taken) if self.in_frames and self.frame_steps else 2**31

    # -- what a page is sent

    def introduction(self) -> Recording:
        """Return where the racer starts, and the kernel by which its steps are played."""
        setting = self.setting
        blocks: dict[str, NDArray[Any]] = {"target": setting.target, "initial": setting.initial}
        kernel = self._kernel()
        header = {
            "points": len(setting.pool), "outputs": setting.outputs, "view": setting.view, "pack": self.pack,
            "steps": self.rules.steps, "tol": self.rules.tol, "parent": self.origin.parent, "offset": self.origin.step,
            "said": self.origin.said,
            "notes": self.notes, "rate": self.rate(), "measure": "paper", "wish": self.request.as_sent(),
            **describe_pool(setting.pool, blocks), **kernel.header,
        }  # fmt: skip
        return Recording(header, blocks | kernel.blocks)

    def rate(self) -> float | None:
        """Return the learning rate, a number also where it was "auto"."""
        return None if self.coefficients is None else float(self.learner.rate(0, self.coefficients.diagonal))

    def _kernel(self) -> Recording:
        if self.coefficients is None:
            return Recording({"kernel": "frames"}, {})
        operator = self.coefficients.operator
        if isinstance(operator, GridOperator):
            return window_blocks(operator)
        gram = np.asarray(self.learner.kernel(self.setting.pool.points))
        n = len(gram)
        return Recording(
            {"kernel": "columns"},
            {
                "columns": np.arange(n, dtype=np.uint32),
                "column_begin": np.arange(0, n * n + 1, n, dtype=np.uint32),
                "members": np.tile(np.arange(n, dtype=np.uint32), n),
                "weights": gram.ravel(),
            },
        )

    def news(self, since: int, frames_since: int) -> Recording | None:
        """Return the steps after `since`, as many as fit into one message, or None where there are none."""
        taken = self.taken
        kept_frames = self.frames[frames_since:]
        if since >= taken and not kept_frames:
            return None
        curve = self.curve.part(since + 1, min(taken, since + PER_MESSAGE) + 1)
        until = since + len(curve)
        header: dict[str, Any] = {"from": since, "until": until, "pack": self.pack, "seconds": self.seconds}
        blocks: dict[str, NDArray[Any]] = {"curve": curve}
        if not self.in_frames:
            blocks["indices"] = self.indices.part(since * self.pack, until * self.pack)
            width = self.pack * self.setting.outputs
            blocks["coefficients"] = self.added.part(since * width, until * width)
        elif kept_frames:
            some = [frame for frame in kept_frames if frame[0] <= until][: max(1, 2**21 // kept_frames[0][1].nbytes)]
            header["frames"] = [step for step, _, _ in some]
            header["shown"] = [shown.tolist() for _, _, shown in some]
            blocks["values"] = np.concatenate([values for _, values, _ in some]) if some else np.zeros(0, np.float32)
        return Recording(header, blocks)

    def status(self) -> dict[str, Any]:
        """Return how it stands, in a sentence where it is over."""
        said = self.error or self.outcome
        return {"taken": self.taken, "over": self.over, "said": said, "failed": self.error is not None}

    # -- what others may ask

    def lesson(self) -> Lesson:
        """Return the lesson so far."""
        return self.walk.lesson

    def values_at(self, step: int) -> tuple[int, Array]:
        """Return f at a step, and which step that is: the nearest known one before it."""
        step = max(0, min(step, self.taken))
        if self.coefficients is None:
            known = [frame for frame in self.frames if frame[0] <= step]
            if not known:
                return 0, np.array(self.setting.initial)
            return known[-1][0], known[-1][1].astype(np.float64).reshape(self.setting.target.shape)
        again = self._coefficients(self.learner)
        count = step * self.pack
        places = again.board.places(self.indices.part(0, count).astype(np.int64))
        added = self.added.part(0, count * self.setting.outputs)
        again.board.add(places, added.reshape(count, *self.setting.target.shape[1:]))
        return step, np.array(again.values)


def refuse_what_is_too_much(plan: nimt.Plan, pack: int, steps: int, points: int, outputs: int = 1) -> None:
    """Refuse a lesson whose plan needs too much memory or work for a page that is waited for."""
    if plan.bytes > MOST_BYTES:
        raise InvalidInput(f"this lesson would need {plan.bytes / 1e6:,.0f} MB: take fewer points or another teacher")
    felt = plan.window or points
    moved = min(pack * felt, 40 * points) + (0 if plan.engine == "grid" and pack == 1 else points)
    work = float(steps) * moved * outputs
    if work > MOST_WORK:
        fitting = max(1, int(steps * MOST_WORK / work))
        raise InvalidInput(f"{steps:,} steps of this lesson would take minutes: ask for {fitting:,} at most")
    if pack < LARGE_PACK and steps * pack * outputs > MOST_PAIRS:
        fitting = MOST_PAIRS // (pack * outputs)
        raise InvalidInput(f"{steps:,} steps of {pack} examples are too many to keep: ask for {fitting:,}")
    if plan.engine not in ("grid", "reference") and points > 2000:
        raise InvalidInput(f"{points:,} scattered points are too many to draw step by step: 2,000 at most")


def frame_steps(steps: int, values: int) -> list[int]:
    """Return the steps at which f, of so many values, is kept: each of the first, then further and further apart.

    Examples
    --------
    >>> chosen = frame_steps(20_000, 784)
    >>> chosen[:4], len(chosen) <= 400, chosen[-1]
    ([1, 2, 3, 4], True, 20000)
    """
    most = int(max(16, min(MOST_FRAMES, FRAME_BYTES // (4 * values))))
    dense = most // 4
    if steps <= most:
        return list(range(1, steps + 1))
    later = np.geomspace(dense + 1, steps, most - dense).astype(int)
    return sorted({*range(1, dense + 1), *later.tolist(), steps})


class Column:
    """Numbers appended by one thread and read by others: what was once readable never moves from under a reader."""

    def __init__(self, kind: Any) -> None:
        self._data = np.empty(1024, dtype=kind)
        self._length = 0

    def append(self, values: NDArray[Any]) -> None:
        end = self._length + len(values)
        if end > len(self._data):
            larger = np.empty(max(end, 2 * len(self._data)), dtype=self._data.dtype)
            larger[: self._length] = self._data[: self._length]
            self._data = larger
        self._data[self._length : end] = values
        self._length = end  # last, so that a reader never sees what is not there yet

    def part(self, begin: int, end: int) -> NDArray[Any]:
        return self._data[begin : min(end, self._length)]


def _offered(request: RacerRequest, points: int) -> int:
    return points if request.share is None else max(1, int(request.share * points))
