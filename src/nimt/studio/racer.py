"""One racer: a lesson taught in slices, with everything a page needs to play it kept ready to be sent."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nimt
from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.learners.kernel_learner import KernelLearner
from nimt.lesson.lesson import Lesson
from nimt.lesson.recording import LARGE_PACK, Chunk
from nimt.operators.dense import DenseOperator
from nimt.operators.grid import GridOperator
from nimt.plots.animation_frames import frame_steps
from nimt.recipe.class_of_learners import repeat_problem
from nimt.recipe.recipe import CLASSROOM, Recipe
from nimt.replay.lesson_recording import Recording, describe_pool, operator_on, window_blocks
from nimt.session.session import Session
from nimt.studio.budget import refuse_what_is_too_much
from nimt.studio.column import GrowingColumn
from nimt.studio.requests import PERSON, RaceProblem, write_racer
from nimt.studio.stored_frames import Frames
from nimt.task.checks import find_faults
from nimt.task.options import Keep
from nimt.task.task import Task
from nimt.teachers.teacher import Selection, View

SLICE = 0.006  # seconds of teaching between two looks at what else is to be done
HEAVY_STEP = 2**16  # points moved by a step from which a page could not take the steps again fast enough
PER_MESSAGE = 2**14  # examples in one message: a longer one keeps the event loop busy for too long
FRAME_MESSAGE = 2**20  # bytes of frames in one message
SNAPSHOT_BYTES = 2**25
MOST_SNAPSHOTS = 200
LIGHT = 2**14  # values times examples per step up to which the plain loop keeps the pace of a page
MOST_HELD_OUT = 2**20  # numbers of K between the pool and the rows held out


class Person:
    """A teacher who shows what a person clicks."""

    def __init__(self) -> None:
        self.chosen = 0

    def select(self, view: View) -> Selection:
        return view.show([self.chosen])


@dataclass(frozen=True)
class Origin:
    """Where a racer began: at the start of the race, or at a step of another racer.

    Attributes
    ----------
    parent : int, optional
        The number of the other racer.
    step : int
        How many steps of its own the other one had taken.
    said : str
        What is different, in a few words.
    begins : int
        The same step, counted from the start of the race: the other racer may be a fork, too.
    """

    parent: int | None = None
    step: int = 0
    said: str = ""
    begins: int = 0


class Racer:
    """A lesson under way.

    Its steps are kept as examples and coefficients where f is a sum of kernels and packs are small, and as frames
    (f at some steps) elsewhere. One thread may teach it while another asks for `news`.
    """

    def __init__(self, recipe: Recipe, setting: RaceProblem, origin: Origin | None = None) -> None:
        if recipe.learner == CLASSROOM and origin is None:  # a fork has a column per learner already
            setting = repeat_problem(recipe, setting)
        self.recipe, self.setting, self.origin = recipe, setting, origin or Origin()
        self.person = Person() if recipe.teacher == PERSON else None
        self.learner: Any = recipe.make_learner(setting.pool, setting.initial)
        teacher: Any = self.person or recipe.make_teacher(setting)
        self.teacher = teacher
        task = Task.of(self.learner, self.teacher, setting.pool, setting.target, **recipe.options())
        plan = task.plan
        self.pack = 1 if self.person else int(teacher.pack_size(_count_offered(recipe, len(setting.pool))))
        refuse_what_is_too_much(plan, self.pack, recipe.iterations, len(setting.pool), setting.outputs)
        felt = plan.window or len(setting.pool)
        heavy = self.pack >= LARGE_PACK or self.pack * felt > HEAVY_STEP
        in_frames = heavy or not isinstance(self.learner, KernelLearner) or not task.adds_only
        self.frames = Frames(setting.pool, setting.target) if in_frames else None
        snapshots = snapshot_steps(recipe.iterations, setting.target.size) if in_frames else []
        record = "picks" if self.pack >= LARGE_PACK else "all"
        self.task = task.keeping(Keep(snapshots=tuple(snapshots), record=record, coefficients=not in_frames))
        self.operator: GridOperator | DenseOperator | None = None  # by which steps are played, unless in frames
        if self.frames is None:
            assert isinstance(self.learner, KernelLearner)
            self.operator = operator_on(setting.pool, self.learner.bind(setting.pool).kernel)
        self.indices, self.added, self.curve = (
            GrowingColumn(np.uint32),
            GrowingColumn(np.float64),
            GrowingColumn(np.float64),
        )
        self.walk: Session | None = None
        self.is_begun = False
        self.notes: list[str] = []
        self.taken = 0
        self.seconds = 0.0
        self.outcome: str | None = None
        self.error: str | None = None
        self._fitting = 16
        self._at_work = threading.Lock()  # a person may show a point while another thread gets the lesson ready

    @property
    def over(self) -> bool:
        return self.outcome is not None or self.error is not None

    @property
    def rests(self) -> bool:
        """Whether there is nothing to do: it is over, or waits for a person."""
        return self.over or self.person is not None

    def begin(self) -> None:
        """Get ready to teach, and take the first step: what is compiled is loaded, or compiled, here and not later."""
        self._begin(self.task)

    @property
    def can_begin_plainly(self) -> bool:
        """Whether the plain loop, which needs no compiling, is fast enough for this lesson."""
        return self.frames is None and self.setting.target.size * self.pack <= LIGHT

    def begin_plainly(self) -> None:
        """Begin in the plain loop, which shows the same examples, while another thread waits for the compiled one."""
        self._begin(replace(self.task, engine="reference"))

    def _begin(self, task: Task) -> None:
        """Take the first step, and keep it unless another thread was faster."""
        walk, chunk, error = None, None, None
        try:
            walk = self._make_session(task)
            chunk = None if self.person else walk.advance(1)
        except (nimt.NimtError, MemoryError) as problem:
            walk, error = None, _say(problem)
        with self._at_work:
            if self.walk is None and walk is not None:
                self._adopt(walk)
                if chunk is not None:
                    self._keep(chunk)
            elif self.walk is None:
                self.error = error
            self.is_begun = True

    def _make_session(self, task: Task) -> Session:
        return task.begin(quiet=True)

    def _adopt(self, walk: Session) -> None:
        self.walk = walk
        # not by catching warnings: these are caught for all threads, and other lessons run in some of them
        self.notes = list(find_faults(self.task).values())
        self.curve.append(walk.lesson.discrepancy[:1])

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
        with self._at_work:
            self._take(steps)

    def _take(self, steps: int) -> None:
        try:
            if self.walk is None:
                self._adopt(self._make_session(self.task))
            if not steps:
                return
            assert self.walk is not None
            began = time.perf_counter()
            chunk = self.walk.advance(steps if self.frames is None else min(steps, self.frames.next - self.taken))
            self.seconds += time.perf_counter() - began
            self._keep(chunk)
        except (nimt.NimtError, MemoryError) as problem:
            self.error = _say(problem)

    def show(self, point: Any) -> None:
        """Let the person show a point."""
        if self.person is None:
            raise InvalidInput("this lesson has a teacher of its own")
        if type(point) is not int or not 0 <= point < len(self.setting.pool):
            raise InvalidInput(f"there is no point {str(point)[:20]}: the pool has 0 to {len(self.setting.pool) - 1}")
        if not self.over:
            self.person.chosen = point
            self.take(1)

    def _keep(self, chunk: Chunk) -> None:
        """Keep what some steps were, and whether they were the last."""
        assert self.walk is not None
        if len(chunk.discrepancy):
            if chunk.coefficients is not None:
                self.added.append(chunk.coefficients.ravel())
                self.indices.append(chunk.indices.ravel())
            self.curve.append(chunk.discrepancy)
            self.taken += len(chunk.discrepancy)
        self.outcome = None if self.walk.outcome is None else str(self.walk.outcome)
        self._keep_frame(chunk.indices)

    def _keep_frame(self, indices: NDArray[np.int64]) -> None:
        """Keep f where a frame is due, and at the end."""
        if self.frames is None or (self.taken < self.frames.next and self.outcome is None):
            return
        shown = indices[-1].astype(np.uint32) if len(indices) and self.pack < LARGE_PACK else None
        assert self.walk is not None
        self.frames.keep(self.taken, self.walk.values, shown)

    # -- what a page is sent

    def introduction(self) -> Recording:
        """Return where the racer starts, and the kernel by which its steps are played."""
        setting = self.setting
        blocks: dict[str, NDArray[Any]] = {"target": setting.target, "initial": setting.initial}
        kernel = self._kernel()
        header = {
            "points": len(setting.pool), "outputs": setting.outputs, "view": setting.view, "pack": self.pack,
            "steps": self.recipe.iterations, "tol": self.task.stop.tol, "parent": self.origin.parent,
            "offset": self.origin.begins, "said": self.origin.said,
            "rate": self.rate(), "measure": "paper", "request": write_racer(self.recipe),
            **describe_pool(setting.pool, blocks), **kernel.header,
        }  # fmt: skip
        held_out = self._held_out()
        return Recording(header | held_out.header, blocks | kernel.blocks | held_out.blocks)

    def _held_out(self) -> Recording:
        """Return the rows held out and K between them and the pool, by which a page follows f there, too."""
        aside, start = self.setting.aside, self.setting.start_aside
        if self.operator is None or aside is None or start is None:
            return Recording({}, {})
        points = self.setting.pool.points
        if not len(aside.points) or len(points) * len(aside.points) > MOST_HELD_OUT:
            return Recording({}, {})
        weights = np.asarray(self.learner.kernel(points, aside.points), dtype=np.float64)
        blocks = {"held_target": aside.target, "held_initial": start, "held_weights": weights.ravel()}
        return Recording({"held_out": len(aside.points)}, blocks)

    def rate(self) -> float | None:
        """Return the learning rate, a number also where it was "auto"."""
        return None if self.operator is None else float(self.learner.rate(0, self.operator.diagonal()))

    def _kernel(self) -> Recording:
        if self.operator is None:
            return Recording({"kernel": "frames", "shrink": self.frames.shrink if self.frames else 0}, {})
        if isinstance(self.operator, GridOperator):
            return window_blocks(self.operator)
        points = self.setting.pool.points
        gram = self.learner.kernel(points, points)
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

    def news(self, since: int, frame: int) -> Recording | None:
        """Return the steps after `since`, and the frames after step `frame`, as many as fit into one message.

        None where there are none.
        """
        taken = self.taken
        kept = [] if self.frames is None else [one for one in self.frames.kept if one.step > frame]
        if since >= taken and not kept:
            return None
        curve = self.curve.part(since + 1, min(taken, since + PER_MESSAGE) + 1)
        until = since + len(curve)
        header: dict[str, Any] = {"from": since, "until": until, "pack": self.pack, "seconds": self.seconds}
        if since == 0:
            header["notes"] = self.notes
        blocks: dict[str, NDArray[Any]] = {"curve": curve}
        if self.frames is None:
            blocks["indices"] = self.indices.part(since * self.pack, until * self.pack)
            width = self.pack * self.setting.outputs
            blocks["coefficients"] = self.added.part(since * width, until * width)
        elif kept:
            some = [one for one in kept if one.step <= until][: max(1, FRAME_MESSAGE // kept[0].data.nbytes)]
            header["frames"] = [
                {"step": one.step, "low": one.low, "scale": one.scale, "shown": one.shown.tolist()} for one in some
            ]
            blocks["values"] = np.concatenate([one.data for one in some]) if some else kept[0].data[:0]
        return Recording(header, blocks)

    def status(self) -> dict[str, Any]:
        """Return how it stands, in a sentence where it is over."""
        said = self.error or self.outcome
        return {"taken": self.taken, "over": self.over, "said": said, "failed": self.error is not None}

    # -- what others may ask

    def lesson(self) -> Lesson:
        """Return the lesson so far."""
        if self.walk is None:
            raise InvalidInput(self.error or "this lesson has not begun yet: wait until it is compiled")
        return self.walk.lesson

    def values_at(self, step: int) -> tuple[int, Array]:
        """Return f at a step, and which step that is: the nearest known one before it."""
        step = max(0, min(step, self.taken))
        if self.operator is None:
            snapshots = {} if self.walk is None else self.walk.lesson.snapshots
            known = max((one for one in snapshots if one <= step), default=0)
            return known, np.array(snapshots[known] if known else self.setting.initial)
        return step, next(self._play([step]))

    def _play(self, steps: Sequence[int]) -> Iterator[Array]:
        """Yield f at these steps, in ascending order, from the coefficients."""
        assert self.operator is not None
        outputs = self.setting.target.shape[1:]
        values, before = np.array(self.learner.values_on(self.setting.pool, outputs)), 0
        for step in steps:
            begin, end = before * self.pack, step * self.pack
            places = self.indices.part(begin, end).astype(np.int64)
            added = self.added.part(begin * self.setting.outputs, end * self.setting.outputs)
            self.operator.add(values, places, added.reshape(end - begin, *outputs))
            before = step
            yield np.array(values)

    def animate(self) -> Lesson:
        """Return the lesson so far with f at the steps that an animation shows."""
        lesson = self.lesson()
        if self.operator is None:
            return lesson  # f was kept on the way
        steps = frame_steps(len(lesson), self.setting.target.size)
        return replace(lesson, snapshots=dict(zip(steps, self._play(steps), strict=True)))


def _say(problem: nimt.NimtError | MemoryError) -> str:
    return (
        str(problem)
        if isinstance(problem, nimt.NimtError)
        else "this lesson needs more memory than there is: take fewer points"
    )


def snapshot_steps(steps: int, values: int) -> list[int]:
    """Return the steps at which the lesson keeps f, of so many values: the first ones, then further and further apart.

    A file of the lesson is played from them, and a fork begins at one.

    Examples
    --------
    >>> chosen = snapshot_steps(20_000, 784)
    >>> chosen[:4], len(chosen) <= 200, chosen[-1]
    ([1, 2, 3, 4], True, 20000)
    """
    most = int(max(16, min(MOST_SNAPSHOTS, SNAPSHOT_BYTES // (8 * values))))
    dense = most // 4
    if steps <= most:
        return list(range(1, steps + 1))
    later = np.geomspace(dense + 1, steps, most - dense).astype(int)
    return sorted({*range(1, dense + 1), *later.tolist(), steps})


def _count_offered(recipe: Recipe, points: int) -> int:
    return points if recipe.pool is None else max(1, int(recipe.pool * points))
