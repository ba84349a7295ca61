"""`Session`: a lesson under way, the only thing that changes, and the only place that cuts steps into pieces."""

from __future__ import annotations

import bisect
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from nimt.arrays import Array, check_count, check_positive, is_number, read_only
from nimt.engines._numba.compiling import seconds_compiling
from nimt.engines.engine import Engine
from nimt.errors import CorruptLesson, InvalidInput, LessonInterrupted, NimtError, keep_warnings
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import Learner
from nimt.learners.prepared_learner import with_preparation
from nimt.lesson.content import KIND, content_of
from nimt.lesson.descriptions import DescribedLater, describe_later
from nimt.lesson.held_out import measure_on_the_way
from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome
from nimt.lesson.recording import Chunk, Record
from nimt.lesson.stored_learner import EndState
from nimt.operators.random_features import RandomFeatures
from nimt.pools.pool import FunctionLike
from nimt.session.interrupts import defer_interrupt, delay_interrupt
from nimt.session.stored_task import StoredTask
from nimt.store.checkpoint_file import CheckpointFile
from nimt.task.checks import name_kernels
from nimt.task.task import Task
from nimt.teachers.teacher import Selection, SelectsExamples

ON_INTERRUPT = ("return", "raise")
INTERVAL = 0.05  # seconds between two returns from an engine: at most 20 callbacks per second


@dataclass(frozen=True, eq=False)
class Progress:
    """What a callback receives.

    Attributes
    ----------
    step, max_iterations : int
    discrepancy : float
    elapsed : float
        Seconds that the steps took so far, without compiling.
    outcome : Outcome or None
        How the lesson ended, at the last call; None before.
    letter : str
        What narrow places call the discrepancy: M, RMS, or the name of the measure.
    in_per_cent : bool
        Whether the discrepancy is a share, as an accuracy is.
    """

    step: int
    max_iterations: int
    discrepancy: float
    elapsed: float
    engine: Engine = field(repr=False)
    outcome: Outcome | None = None
    letter: str = "M"
    in_per_cent: bool = False

    @property
    def values(self) -> Array:
        """f^t on the pool, a read-only copy; it is made at every access, which takes time on a large pool."""
        values = np.array(self.engine.values)
        values.flags.writeable = False
        return values


Callback = Callable[[Progress], object]  # a true answer stops the lesson


class Session(Iterator[tuple[int, Selection, float]]):
    """A lesson under way: run it to the end, or take its steps one by one.

    As an iterator it takes one step at a time and yields (t, selection, discrepancy).

    Parameters
    ----------
    task : Task
    """

    def __init__(self, task: Task) -> None:
        self.task: Task = task
        task.plan.check_memory()
        compiled = seconds_compiling()
        with name_kernels(task.learner, task.teacher):
            self.engine: Engine = task.choice.make(task, task.make_pupil())
        if isinstance(task.engine, RandomFeatures):
            self.engine.name = task.engine.name
        self._settings: DescribedLater | None = None
        if task.keep.learner and "settings" not in vars(task):
            self._settings = describe_later(task)
            if self._settings is None:
                task.settings  # noqa: B018  (described now: the caller may change the learner later)
        self.outcome: Outcome | None = None
        self.elapsed: float = 0.0
        self.compiling: float = seconds_compiling() - compiled
        self.snapshots: dict[int, Array] = {}
        self.warnings: list[str] = []
        self.checkpoint: CheckpointFile | None = None
        self.record: Record = Record(len(task.pool), self.engine.discrepancy, task.record, outputs=task.label_outputs)
        self._held_out: dict[int, float] = {}  # the errors on held-out points so far
        self._is_torn = False  # whether the engine took steps that are not recorded
        self._chunk = 1
        self._asked = list(task.keep.snapshots)
        if task.holdout is not None and (self._asked[:1] == [0] or self._next_mix(0) == [0]):
            self._measure_held_out()  # where the learner starts, before any mixture
        if task.communicates:
            self._mix_if_due()
        start = self.engine.values
        # a copy; that of a start at 0 takes no memory, because nothing is written to it
        self.initial: Array = np.array(start) if start.any() else np.zeros(start.shape)
        if self._asked:
            self._take_snapshot()

    # -- steps

    def __next__(self) -> tuple[int, Selection, float]:
        if not len(self.advance(1).discrepancy):
            raise StopIteration
        return self.engine.step, self.engine.last_selection(), self.engine.discrepancy

    def advance(self, steps: int) -> Chunk:
        """Take up to `steps` steps at once, far faster than one by one, and return what was recorded of them.

        Fewer are taken where the lesson ends before, where outputs are mixed, or where held-out points are looked at;
        none once it is over, see `outcome`.
        """
        check_count("steps", steps, at_least=1)
        if self.outcome is not None:
            return Chunk(np.zeros((0, 1), np.int64), np.zeros((0, 1)), np.zeros(0), self.outcome)
        try:
            return self._advance(int(steps))
        except (NimtError, MemoryError):
            raise
        except Exception as error:  # StopIteration too: it would end a loop over these steps without a word
            raise self._make_interrupted(error) from error

    def _advance(self, steps: int) -> Chunk:
        began, compiled = time.perf_counter(), seconds_compiling()
        before = self.engine.step
        following = bisect.bisect_right(self._asked, before)  # there may be one after every step
        looks = [] if self.task.holdout is None else self._asked[following : following + 1]
        mixes = self._next_mix(before + 1) if self.task.communicates else []
        stop = min([self.task.stop.max_iterations, *looks, *mixes])
        allowed = min(steps, stop - before)
        asked = self._asked[following : bisect.bisect_left(self._asked, before + allowed)]
        # the engine is asked even if no step is left, so that a tolerance met by the last step counts
        self._is_torn = True  # until what the engine did is recorded
        with keep_warnings(self.warnings):
            chunk = self.engine.advance(max(0, allowed), asked)
        self.record.add(chunk)
        self.snapshots.update(chunk.snapshots)
        self.outcome = chunk.outcome
        if self.task.communicates and len(chunk.discrepancy):
            self._mix_if_due()
        if self.outcome is None and self.engine.step >= self.task.stop.max_iterations:
            met = self.engine.watch.over(self.engine.step, self.engine.discrepancy)
            self.outcome = met or Outcome.BUDGET
        if self._asked:
            self._take_snapshot()
        compiled = seconds_compiling() - compiled
        self.compiling += compiled
        self.elapsed += max(0.0, time.perf_counter() - began - compiled)
        if self.task.holdout is not None:
            self._look_at_held_out()
        self._is_torn = False
        return chunk

    def _next_mix(self, step: int) -> list[int]:
        """Return the first step, this one or a later one, before which the outputs are mixed; [] for none."""
        following = self.task.teacher.next_mix(step)
        return [] if following is None else [following]

    def _mix_if_due(self) -> None:
        """Mix the outputs before the step to come, if the teacher asks for it, by a matrix fitted to what it sees."""
        step, engine = self.engine.step, self.engine
        if self._next_mix(step) != [step]:
            return
        seen: Any = slice(None) if self.task.candidates is None else self.task.candidates
        matrix = self.task.teacher.mix(read_only(engine.values[seen]), read_only(self.task.target[seen]))
        engine.mix(matrix)
        self.record.add_mixture(step, matrix, engine.discrepancy)

    def _take_snapshot(self) -> None:
        place = bisect.bisect_left(self._asked, self.engine.step)
        if self.engine.step in self._asked[place : place + 1]:
            self.snapshots.setdefault(self.engine.step, np.array(self.engine.values))

    def _look_at_held_out(self) -> None:
        """Measure the error on held-out points at snapshots and at the end."""
        if self.engine.step in self.snapshots or self.outcome is not None:
            self._measure_held_out()

    def _measure_held_out(self) -> None:
        """Measure the error on held-out points at this step, once."""
        held = self.task.holdout
        if held is not None and self.engine.step not in self._held_out:
            error = measure_on_the_way(self.engine.to_learner(), held, self.task.target)
            self._held_out[self.engine.step] = error

    @property
    def step(self) -> int:
        """How many steps were taken."""
        return self.engine.step

    @property
    def values(self) -> Array:
        """f^t on the pool now."""
        return np.array(self.engine.values)

    # -- to the end

    def run(
        self, *, watch: Callback | None = None, seconds: float | None = None, on_interrupt: str = "return"
    ) -> Lesson:
        """Run until a rule ends the lesson, and return it; Ctrl-C ends it with everything recorded so far.

        Parameters
        ----------
        watch : callable of Progress, optional
            Called at most 20 times per second and at the end; a true answer stops the lesson.
        seconds : float, optional
            From now on, callbacks and checkpoints included, compiling not.
        on_interrupt : {"return", "raise"}
            After Ctrl-C, return the lesson so far, or raise KeyboardInterrupt when the checkpoint is written.
        """
        with defer_interrupt() as interrupted:
            try:
                self._loop(watch, seconds, interrupted)
                if watch is not None:
                    watch(self.progress())
            except NimtError:
                raise
            except Exception as error:
                raise self._make_interrupted(error) from error
            finally:
                if (
                    self.checkpoint is not None and not self._is_torn
                ):  # an interrupted step cannot be resumed: the checkpoint before it stays
                    self.write_checkpoint()
        self.engine.close()
        if on_interrupt == "raise" and self.outcome is Outcome.INTERRUPTED:
            raise KeyboardInterrupt(f"the lesson was interrupted at step {self.engine.step}")
        return self._lesson(is_over=True)

    def _loop(self, watch: Callback | None, seconds: float | None, interrupted: threading.Event) -> None:
        started, latest_look = time.perf_counter() - self.compiling, -np.inf
        while self.outcome is None:
            before, began = self.engine.step, time.perf_counter()
            self._advance(self._chunk)
            if self.outcome is not None:
                break
            # the next chunk is about 0.05 s of work, and at most 16 times the one before
            fitting = int(INTERVAL * (self.engine.step - before) / max(time.perf_counter() - began, 1e-9))
            self._chunk = max(1, min(fitting, 16 * self._chunk))
            if interrupted.is_set():
                self.outcome = Outcome.INTERRUPTED
            elif seconds is not None and time.perf_counter() - self.compiling - started >= seconds:
                self.outcome = Outcome.TIME
            elif watch is not None and time.perf_counter() - latest_look >= INTERVAL:
                latest_look = time.perf_counter()
                if watch(self.progress()):
                    self.outcome = Outcome.STOPPED
            if self.checkpoint is not None and self.outcome is None and self.checkpoint.is_due(self.elapsed):
                self.write_checkpoint()

    def progress(self) -> Progress:
        """Return the state of the lesson for a callback."""
        most = self.task.stop.max_iterations
        return Progress(
            self.engine.step,
            most,
            self.engine.discrepancy,
            self.elapsed,
            self.engine,
            self.outcome,
            self.task.measure.letter,
            self.task.measure.in_per_cent,
        )

    def _make_interrupted(self, error: Exception) -> LessonInterrupted:
        """Return an error that holds the lesson recorded before `error`."""
        self.outcome = Outcome.FAILED
        return LessonInterrupted(
            f"{type(error).__name__} at step {self.engine.step}: {error}; the lesson up to this step is the "
            f"attribute `lesson` of this exception",
            self.lesson,
        )

    # -- the record

    @property
    def lesson(self) -> Lesson:
        """The lesson so far."""
        return self._lesson()

    def _lesson(self, *, is_over: bool = False) -> Lesson:
        """Return the record as a lesson; if no step will follow, with the arrays themselves."""
        taught = self.engine.to_learner() if self.task.keep.learner else None
        learner = taught if self.task.pool.preparation is None else with_preparation(taught, self.task.pool)
        lesson = Lesson(**self._fields(is_over=is_over), learner=learner)
        # the states of other learners may be copies, and a start in a box must be known anywhere
        if is_over and taught is not None and type(self.task.learner) is KernelLearner and self.task.box is None:
            vars(lesson)["_end"] = EndState(self.engine.state(), taught)
        return lesson

    def _fields(self, *, is_over: bool) -> dict[str, Any]:
        fields = self.record.fields()
        if not is_over:
            fields["picks"] = np.array(fields["picks"])
        return fields | {
            "outcome": self.outcome or Outcome.UNFINISHED,
            "elapsed": self.elapsed,
            "engine": self.engine.name,
            "pool": self.task.pool,
            "target": self.task.target,
            "initial": self.initial,
            "final": self.engine.values if is_over else np.array(self.engine.values),
            "settings": self._settings or self.task.settings,
            "snapshots": dict(self.snapshots),
            "compiling": self.compiling,
            "drew": is_number(self.task.teacher.pool) or self.engine.has_drawn("selection", "labels"),
            "held_out_curve": {} if self.task.holdout is None else self._list_held_out_curve(),
            "warnings": self.warnings if is_over else list(self.warnings),
        }

    def _list_held_out_curve(self) -> dict[int, float]:
        """Return the errors at the snapshots and at the end; that of the start was measured in any case."""
        wants_start = self._asked[:1] == [0] or self.engine.step == 0
        return {step: error for step, error in self._held_out.items() if step or wants_start}

    # -- on disk

    def keep_checkpoints(self, path: str | PathLike[str], stored: StoredTask | None = None) -> None:
        """Write checkpoints to this file from now on; `stored` is what it holds of this lesson."""
        self.engine.state()  # refused here, where the learner cannot be stored
        self.checkpoint = CheckpointFile(
            path, KIND, exists=stored is not None, is_whole=stored is not None and stored.is_newest
        )
        self.checkpoint.expects(self.elapsed)

    def write_checkpoint(self) -> None:
        """Write what `open` needs to go on, where checkpoints are kept."""
        if self.checkpoint is not None:
            is_last = self.outcome is not None and self.outcome is not Outcome.INTERRUPTED
            with delay_interrupt():
                self.checkpoint.write(self._content, self.engine.step, self.elapsed, is_last=is_last)

    def check_written(self) -> None:
        """Raise what kept the latest checkpoint from being written, if anything did."""
        if self.checkpoint is not None and self.checkpoint.failure is not None:
            raise self.checkpoint.failure

    def _content(self) -> dict[str, Any]:
        """Return the lesson so far as a file holds it, with the state from which it goes on."""
        # of a lesson that is over the error is kept, so that no learner has to be made to show it
        error = None if self.task.holdout is None or self.outcome is None else self.lesson.find_held_out()
        fields = self._fields(is_over=True)
        if self._settings is not None:
            fields["settings"] = self._settings.description
        return content_of(fields, None, self.task.per_output, error, self.engine.state())

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        learner: Learner | None = None,
        teacher: SelectsExamples | None = None,
        y: FunctionLike | None = None,
        allow: Iterable[object] = (),
        max_iterations: int | None = None,
        snapshots: Iterable[int] = (),
    ) -> Session:
        """Read a lesson file that holds a state, once, and return the session ready to go on; see `nimt.resume`."""
        stored = StoredTask.read(Path(path), allow=list(allow))
        return cls.go_on(
            stored, learner=learner, teacher=teacher, target=y, max_iterations=max_iterations, snapshots=snapshots
        )

    @classmethod
    def go_on(cls, stored: StoredTask, **given: Any) -> Session:
        """Return the session of a task that was read, where it was stopped; takes what `StoredTask.task` takes."""
        with stored.naming_the_file():
            session = stored.task(**given).begin(quiet=True)
            session.restore(stored)
        session.check_snapshots(stored.path)
        session.keep_checkpoints(stored.path, stored)
        return session

    def restore(self, stored: StoredTask) -> None:
        """Continue from what a file holds."""
        fields, state = stored.fields, stored.state
        if state is None:
            problem = f"{str(stored.path)!r} holds a lesson without the state to go on from"
            raise InvalidInput(f"{problem}: give teach() checkpoint= to keep it")
        self.record.restore(fields)
        self.engine.restore(state)
        if self.engine.step != len(fields["discrepancy"]) - 1:
            raise CorruptLesson(
                f"the file was altered: it is at step {self.engine.step} and records {len(fields['discrepancy']) - 1}"
            )
        self.initial = fields["initial"]
        self.snapshots = dict(fields["snapshots"])
        self.warnings = list(fields["warnings"])
        self._held_out = dict(fields["held_out_curve"])
        self.elapsed, self.compiling = fields["elapsed"], fields["compiling"]
        ended: Outcome = fields["outcome"]
        has_more = ended is Outcome.BUDGET and self.engine.step < self.task.stop.max_iterations
        self.outcome = ended if ended in FINAL and not has_more else None
        self._take_snapshot()  # where this step is asked for only now
        if self.task.holdout is not None:
            self._look_at_held_out()

    def check_snapshots(self, path: Path) -> None:
        """Refuse to go on without snapshots that were asked for and whose steps are past."""
        step, most = self.engine.step, self.task.stop.max_iterations
        if step > most:
            raise InvalidInput(
                f"{str(path)!r} holds this lesson up to step {step}, beyond max_iterations={most}: raise "
                f"max_iterations, or teach it anew"
            )
        missed = [asked for asked in self._asked if asked <= step and asked not in self.snapshots]
        if missed:
            raise InvalidInput(
                f"{str(path)!r} holds this lesson up to step {step}, without the snapshot of step {missed[0]}: leave "
                f"that out, or teach it anew"
            )


FINAL = {
    Outcome.CONVERGED,
    Outcome.REACHED,
    Outcome.DIVERGED,
    Outcome.STATIONARY,
    Outcome.AT_REST,
    Outcome.ALL_SHOWN,
    Outcome.STALLED,
    Outcome.CHOSEN,
    Outcome.BUDGET,
}


def check_run_options(callback: object, time_limit: float | None, on_interrupt: str) -> None:
    """Refuse options of a run before anything is built."""
    if callback is not None and not callable(callback):
        raise InvalidInput(f"must be callable, got {callback!r}", parameter="callback")
    if time_limit is not None:
        check_positive("time_limit", time_limit)
    if on_interrupt not in ON_INTERRUPT:
        raise InvalidInput(f"must be one of {', '.join(ON_INTERRUPT)}, got {on_interrupt!r}", parameter="on_interrupt")
