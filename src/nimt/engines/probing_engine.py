"""The engine of a gray-box `ResponsiveTeacher`: a few steps of the plain loop, then compiled ones.

The teacher reads the learner's response from its first examples. From then on it is a teacher with a kernel, the
response, whose lessons are compiled. At the steps at which the teacher compares how the learner moved with the response
it does so here, too; where that is not as expected it warns, and compiled steps of a greedy teacher follow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from nimt.arrays import Array
from nimt.engines.compiled import CompiledEngine
from nimt.engines.engine import Engine, Watch
from nimt.engines.offering import PoolOffer
from nimt.engines.reference_engine import ReferenceEngine, check_memory
from nimt.errors import CorruptLesson, InvalidInput
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import Pupil
from nimt.lesson.recording import Chunk, join_chunks
from nimt.pools.pool import Pool
from nimt.task.task import Task
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.responsive import KNOWN, PROBES, WATCHED, ResponsiveTeacher
from nimt.teachers.teacher import Memory, Selection, Teacher

if TYPE_CHECKING:
    from nimt.engines.choice import Choice


KEPT = ("known", "probed", "columns", "missed")  # of what the teacher remembers, once compiled steps follow


class ProbingEngine(Engine):
    """Run a lesson by one engine after another.

    Parameters
    ----------
    task : Task
        Whose teacher `probes`.
    pupil : Pupil
    choose : callable(task) -> Choice
        Which engine goes on.
    name : str
        Of the engine that is planned to go on.
    """

    def __init__(self, task: Task, pupil: Pupil, choose: Callable[[Task], Choice], name: str) -> None:
        self.task: Task = task
        self.name: str = name
        self.pupil: Pupil = pupil
        self.teacher: ResponsiveTeacher = cast(ResponsiveTeacher, task.teacher)
        self.choose: Callable[[Task], Choice] = choose
        self.plain: ReferenceEngine = ReferenceEngine(task, pupil)
        self.pool: Pool = cast(PoolOffer, self.plain.offer).pool  # the points that the teacher sees
        self.running: Engine = self.plain
        self.memory: Memory | None = None  # what the teacher remembers, once another engine goes on
        self.failure: Exception | None = None  # raised after the steps before it are recorded

    # -- what the engine that runs says

    @property
    def step(self) -> int:  # type: ignore[override]
        return self.running.step

    @property
    def discrepancy(self) -> float:  # type: ignore[override]
        return self.running.discrepancy

    @property
    def watch(self) -> Watch:  # type: ignore[override]
        return self.running.watch

    @property
    def last(self) -> Selection | None:  # type: ignore[override]
        return self.running.last

    @property
    def values(self) -> Array:
        return self.running.values

    def has_drawn(self, *roles: str) -> bool:
        return self.running.has_drawn(*roles)

    def mix(self, matrix: Array) -> None:
        self.running.mix(matrix)

    def settle(self) -> None:
        self.running.settle()

    def close(self) -> None:
        self.running.close()

    # -- running

    @property
    def compares(self) -> bool:
        """Whether responses are used and compiled steps have to be compared with them."""
        return self.memory is not None and bool(self.memory["known"] == KNOWN) and self.running is not self.plain

    def advance(self, steps: int, asked: Sequence[int] = ()) -> Chunk:
        if self.failure is not None:
            raise self.failure
        chunks: list[Chunk] = []
        snapshots: dict[int, Array] = {}
        end = self.step + steps
        while True:
            began, before = self.step, None
            try:
                if began == PROBES and self.memory is None and steps:
                    self.hand_over()
                if self.compares and began % WATCHED == WATCHED - 1:
                    before = self.errors()
                stop = min(end, self.next_stop())
                chunks.append(self.running.advance(stop - began, [step for step in asked if began < step < stop]))
                snapshots |= chunks[-1].snapshots
                if before is not None and self.step > began:
                    self.compare(before)
            except Exception as error:
                if self.step == end - steps:
                    raise
                self.failure = error
            if self.step in asked and self.step > began:
                snapshots[self.step] = np.array(self.values)
            if self.step < stop or stop >= end or chunks[-1].outcome is not None or self.failure is not None:
                break
        return chunks[0] if len(chunks) == 1 else join_chunks(chunks, None, snapshots)

    def next_stop(self) -> int:
        """Return the step before which something else than a step has to be done."""
        if self.memory is None:
            return PROBES
        if not self.compares:
            return self.step + self.task.stop.max_iterations
        following = (self.step // WATCHED + 1) * WATCHED
        return following if self.step == following - 1 else following - 1

    def errors(self) -> Array:
        """Return f - f* as the teacher sees it."""
        seen: Any = slice(None) if self.task.candidates is None else self.task.candidates
        return np.asarray(self.values[seen] - self.task.target[seen])

    def hand_over(self) -> None:
        """Let the teacher read the response to its latest example, and go on by another engine."""
        plain = self.plain
        view = plain.offer.view(plain.step, plain.selection_rng, plain.memory)
        self.memory = self.teacher.observe(view)
        self.replace_engine()

    def compare(self, before: Array) -> None:
        """Let the teacher compare how the latest step moved the learner with the response."""
        assert self.memory is not None
        shown = self.running.last_selection().indices
        places = shown if self.task.candidates is None else np.searchsorted(self.task.candidates, shown)
        moved = self.errors() - before
        found = self.teacher.compare(self.pool, self.step, places, before, moved, self.memory)
        self.memory = dict(self.memory) | found
        if self.memory["known"] != KNOWN:
            self.replace_engine()

    def replace_engine(self) -> None:
        """Go on by the engine for what the teacher knows now."""
        self.running.settle()
        engine = self.make_engine()
        if engine is None:  # the response is too wide for the engine that was planned, and for all others
            assert self.running is self.plain
            self.name = self.plain.name
            return
        engine.go_on_from(self.running)
        self.running, self.name = engine, engine.name

    def make_engine(self) -> CompiledEngine | None:
        """Return a compiled engine for what the teacher knows, None where there is none."""
        assert self.memory is not None
        teacher: Teacher
        if self.memory["known"] == KNOWN:
            teacher = self.teacher.read_kernel(self.pool, self.memory)
        else:
            teacher = GreedyTeacher(self.teacher.k, pool=self.teacher.pool, labels=self.teacher.labels)
        task = with_teacher(self.task, teacher)
        vars(task)["repeats"] = False  # as in the plain loop: a teacher that remembers may show another example
        vars(task)["_waiting"] = self.pupil  # or one would be made, to look at
        try:
            choice = self.choose(task)
        except InvalidInput:  # the engine that was asked for cannot run with this response
            choice = self.choose(dataclasses.replace(task, engine="auto"))
        engine = choice.make(task, self.pupil)
        return engine if isinstance(engine, CompiledEngine) else None

    # -- on disk

    def state(self) -> dict[str, Any]:
        kept = None if self.memory is None else {name: self.memory[name] for name in KEPT}
        return self.running.state() | {"responses_read": kept, "is_plain": self.running is self.plain}

    def restore(self, state: dict[str, Any]) -> None:
        if "responses_read" not in state:
            raise CorruptLesson("the file was altered: it does not say what the teacher read of the responses")
        self.memory = check_memory(state["responses_read"])
        if not state["is_plain"]:
            engine = self.make_engine()
            if engine is None:
                raise CorruptLesson("the file was altered: no compiled engine can go on with it")
            self.running, self.name = engine, engine.name
        elif self.memory is not None:
            self.name = self.plain.name
        self.running.restore(state)


def will_hand_over(task: Task, teacher: ResponsiveTeacher) -> bool:
    """Say whether the teacher of a task reads responses first, and compiled steps may follow."""
    return teacher.probes and isinstance(task.learner, KernelLearner) and task.box is None and task.offered > PROBES


def with_teacher(task: Task, teacher: Teacher) -> Task:
    """Return a task with another teacher that may show the same points; what was built for it is handed on."""
    other = dataclasses.replace(task, teacher=teacher)
    for name in ("gain", "_waiting", "candidates", "other_target"):
        if name in vars(task):
            vars(other)[name] = vars(task)[name]
    return other
