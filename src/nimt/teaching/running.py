"""Run any engine to the end: chunks, snapshots, callbacks, time limits, checkpoints and Ctrl-C."""

from __future__ import annotations

import bisect
import contextlib
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from nimt.arrays import Array, is_number, read_only, stored_array
from nimt.engines.base import Engine, Task
from nimt.engines.choosing import Plan
from nimt.engines.compiling import compile_time
from nimt.errors import CheckpointWarning, CorruptLesson, InvalidInput, LessonInterrupted, NimtError
from nimt.files import is_archive_of_ours, place_of, refuse_what_is_not_ours
from nimt.learners.prepared import with_preparation
from nimt.lesson import storage
from nimt.lesson.checkpoints import CHECKPOINT, previous_of
from nimt.lesson.held_out import described_errors, stored_errors
from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome
from nimt.lesson.recording import Chunk, Record
from nimt.lesson.stored_settings import checked_seconds
from nimt.teaching.held_out_watch import HeldOutWatch

ON_INTERRUPT = ("return", "raise")
INTERVAL = 0.05  # seconds between two returns from an engine: at most 20 callbacks per second
CHECKPOINT_EVERY = 3.0  # seconds, or more if writing one takes long
CHECKPOINT_WORTH = 4.0  # times smaller: arrays that compress less take longer to compress than to write
CHECKPOINT_SHARE = 0.05  # the largest share of the time that checkpoints may take


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
    """

    step: int
    max_iterations: int
    discrepancy: float
    elapsed: float
    engine: Engine = field(repr=False)
    outcome: Outcome | None = None

    @property
    def values(self) -> Array:
        """f^t on the pool, a read-only copy; it is made at every access, which takes time on a large pool."""
        values = np.array(self.engine.values)
        values.flags.writeable = False
        return values


class Run:
    """A lesson under way.

    Parameters
    ----------
    task, engine : what runs, and by what
    settings : dict
        As recorded in the lesson; also says where to stop and what to keep.
    plan : Plan
        How it will run.
    callback : callable of Progress, optional
        Called at most 20 times per second and at the end; a true answer stops the lesson.
    checkpoint : path, optional
    """

    def __init__(
        self,
        task: Task,
        engine: Engine,
        settings: dict[str, Any],
        plan: Plan,
        callback: Callable[[Progress], object] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.task: Task = task
        self.engine: Engine = engine
        self.settings: dict[str, Any] = settings
        self.plan: Plan = plan
        self.callback: Callable[[Progress], object] | None = callback
        self.checkpoint: Path | None = None
        self.max_iterations: int = settings["max_iterations"]
        self.asked: list[int] = sorted(settings["snapshots"])
        self.record: Record = Record(len(task.pool), engine.discrepancy, settings["record"], outputs=task.label_outputs)
        self.aside: HeldOutWatch = HeldOutWatch(settings.get("holdout"), task.pool.dimension, task.outputs)
        if self.asked[:1] == [0] or self._next_mix(0) == [0]:  # where the learner starts, before any mixture
            self.aside.look(0, engine)
        self._mix_if_due()
        self.initial: Array = copied(engine.values)
        self.snapshots: dict[int, Array] = {}
        self.outcome: Outcome | None = None
        self.elapsed: float = 0.0
        self.compiling: float = 0.0
        self.raises_interrupt: bool = False
        self.numbers_only: bool = False  # whether the lesson goes without its learner
        self._chunk = 1
        self._torn = False
        self._folder: os.stat_result | None = None
        self._wrote = False  # whether the checkpoint on disk is of this lesson
        self._is_whole = False  # whether the newest one is known to be complete
        self._next_checkpoint = CHECKPOINT_EVERY
        if checkpoint is not None:
            self.keep_checkpoints(checkpoint)
        self._take_snapshot()

    def keep_checkpoints(self, path: str | os.PathLike[str]) -> None:
        """Write checkpoints to this file from now on."""
        self.checkpoint = checkpoint_place(Path(path))
        self._folder = self.checkpoint.parent.stat()

    def advance(self, steps: int) -> Chunk:
        """Take up to `steps` steps, and return what was recorded; stop at the next mixture or the budget.

        Where held-out points are looked at, stop at the next snapshot too.
        """
        began = time.perf_counter()
        before = self.engine.step
        following = bisect.bisect_right(self.asked, before)  # there may be one after every step
        looks = [] if self.aside.held is None else self.asked[following : following + 1]
        stop = min([self.max_iterations, *looks, *self._next_mix(before + 1)])
        allowed = min(steps, stop - before)
        asked = self.asked[following : bisect.bisect_left(self.asked, before + allowed)]
        # the engine is asked even if no step is left, so that a tolerance met by the last step counts
        self._torn = True  # until what the engine did is recorded
        with compile_time() as compiling:
            chunk = self.engine.advance(max(0, allowed), asked)
        self.record.add(chunk)
        self.snapshots.update(chunk.snapshots)
        self.outcome = chunk.outcome
        if len(chunk.discrepancy):
            self._mix_if_due()
        if self.outcome is None and self.engine.step >= self.max_iterations:
            self.outcome = self._met_at_the_end() or Outcome.BUDGET
        self._take_snapshot()
        self.compiling += compiling.seconds
        self.elapsed += max(0.0, time.perf_counter() - began - compiling.seconds)
        self._look_aside()
        self._torn = False
        return chunk

    def _next_mix(self, step: int) -> list[int]:
        """Return the first step, this one or a later one, before which the outputs are mixed; [] for none."""
        if not self.task.communicates:
            return []
        teacher: Any = self.task.teacher
        following: int | None = teacher.next_mix(step)
        return [] if following is None else [following]

    def _mix_if_due(self) -> None:
        """Mix the outputs before the step to come, if the teacher asks for it, by a matrix fitted to what it sees."""
        step, engine = self.engine.step, self.engine
        if self._next_mix(step) != [step]:
            return
        seen: Any = slice(None) if self.task.candidates is None else self.task.candidates
        teacher: Any = self.task.teacher
        matrix = teacher.mix(read_only(engine.values[seen]), read_only(self.task.target[seen]))
        engine.mix(matrix)
        self.record.add_mixture(step, matrix, engine.discrepancy)

    def to_the_end(self, time_limit: float | None = None) -> Lesson:
        """Run until a rule ends the lesson, and return it; Ctrl-C ends it with everything recorded so far.

        `time_limit` is in seconds from now, callbacks and checkpoints included, compiling not. If `raises_interrupt` is
        set, Ctrl-C is raised again when the checkpoint is written.
        """
        with deferred_interrupt() as interrupted:
            try:
                self._loop(time_limit, interrupted)
                if self.callback is not None:
                    self.callback(self.progress())
            except NimtError:
                raise
            except Exception as error:
                raise self.interrupted_by(error) from error
            finally:
                if not self._torn:  # an interrupted step cannot be resumed: the checkpoint before it stays
                    self.write_checkpoint()
        self.engine.close()
        if self.raises_interrupt and self.outcome is Outcome.INTERRUPTED:
            raise KeyboardInterrupt(f"the lesson was interrupted at step {self.engine.step}")
        return self.lesson(is_over=True)

    def interrupted_by(self, error: Exception) -> LessonInterrupted:
        """Return an error that holds the lesson recorded before `error`."""
        self.outcome = Outcome.FAILED
        return LessonInterrupted(
            f"{type(error).__name__} at step {self.engine.step}: {error}; the lesson up to this step is the "
            f"attribute `lesson` of this exception",
            self.lesson(),
        )

    def _loop(self, time_limit: float | None, interrupted: threading.Event) -> None:
        started, latest_callback = time.perf_counter() - self.compiling, -np.inf
        while self.outcome is None:
            before, began = self.engine.step, time.perf_counter()
            self.advance(self._chunk)
            self._resize(self.engine.step - before, time.perf_counter() - began)
            if self.outcome is not None:
                break
            if interrupted.is_set():
                self.outcome = Outcome.INTERRUPTED
            elif time_limit is not None and time.perf_counter() - self.compiling - started >= time_limit:
                self.outcome = Outcome.TIME
            elif self.callback is not None and time.perf_counter() - latest_callback >= INTERVAL:
                latest_callback = time.perf_counter()
                if self.callback(self.progress()):
                    self.outcome = Outcome.STOPPED
            if self.elapsed >= self._next_checkpoint and self.outcome is None:
                self.write_checkpoint()

    def progress(self) -> Progress:
        """Return the state of the lesson for a callback."""
        return Progress(
            self.engine.step, self.max_iterations, self.engine.discrepancy, self.elapsed, self.engine, self.outcome
        )

    def lesson(self, is_over: bool = False) -> Lesson:
        """Return the record so far as a lesson; if no step will follow, with the arrays themselves."""
        return Lesson(
            discrepancy=np.array(self.record.discrepancy),
            picks=self.record.picks if is_over else np.array(self.record.picks),
            outcome=self.outcome or Outcome.UNFINISHED,
            elapsed=self.elapsed,
            engine=self.engine.name,
            record=self.record.name,
            pool=self.task.pool,
            target=self.task.target,
            initial=self.initial,
            final=self.engine.values if is_over else np.array(self.engine.values),
            settings=self.settings,
            learner=None if self.numbers_only else with_preparation(self.engine.taught(), self.task.pool),
            indices=self.record.indices,
            labels=self.record.labels,
            shown_points=self.record.points,
            snapshots=dict(self.snapshots),
            compiling=self.compiling,
            drew=self._drew(),
            looked=self.record.looked,
            mix_steps=self.record.mix_steps,
            mixes=self.record.mixes,
            held_out_curve=dict(self.aside.errors),
        )

    def _drew(self) -> bool:
        """Say whether the teacher's pool, its choice or its labels were drawn from the seed."""
        _, selection, label = self.task.streams()
        unused = [stream.bit_generator.state for stream in (selection, label)]
        now = [stream.bit_generator.state for stream in (self.engine.selection_rng, self.engine.label_rng)]
        return unused != now or is_number(getattr(self.task.teacher, "pool", None))

    def write_checkpoint(self) -> None:
        """Write what `resume` needs and keep the checkpoint before; on a full disk warn, and continue the lesson."""
        if self.checkpoint is None:
            return
        began = time.perf_counter()
        with uninterrupted():
            self._write_to(self.checkpoint)
        cost = time.perf_counter() - began
        self._next_checkpoint = self.elapsed + max(CHECKPOINT_EVERY, cost / CHECKPOINT_SHARE)

    def _write_to(self, place: Path) -> None:
        content = {
            "settings": self.settings,
            "engine": self.engine.name,
            "engine_state": self.engine.state(),
            "record": self.record.state(),
            "snapshots": {str(step): values for step, values in self.snapshots.items()},
            "held_out_curve": described_errors(self.aside.errors),
            "elapsed": self.elapsed,
            "compiling": self.compiling,
            "outcome": None if self.outcome is None else self.outcome.name,
        }
        try:
            self._replace(place, content)
        except (OSError, InvalidInput) as error:
            warnings.warn(
                f"the checkpoint {place} could not be written at step {self.engine.step} ({error}): the "
                f"lesson continues, and "
                + ("the checkpoint before it is complete" if self._wrote else "it has no checkpoint yet"),
                CheckpointWarning,
                stacklevel=3,
            )

    def _replace(self, place: Path, content: dict[str, Any]) -> None:
        """Write the new one, and only then move the old one away; a damaged one never replaces a complete one."""
        if self._folder is None or not os.path.samestat(self._folder, place.parent.stat()):
            raise InvalidInput(f"the folder {place.parent} was removed, and another was made in its place")
        fresh = place.with_name(place.name + ".next")
        if fresh.is_file():
            fresh.unlink()  # of a run that was killed
        storage.write(fresh, CHECKPOINT, content, worth=CHECKPOINT_WORTH)
        if not self._wrote:  # a checkpoint of another lesson, which must not be resumed by mistake
            previous_of(place).unlink(missing_ok=True)
        elif place.exists() and (self._is_whole or is_whole(place)):
            os.replace(place, previous_of(place))
        os.replace(fresh, place)
        self._wrote = self._is_whole = True

    def restore(self, content: dict[str, Any]) -> None:
        """Continue from the content of a checkpoint."""
        self.record.restore(content["record"])
        self.engine.restore(content["engine_state"])
        if self.engine.step != len(self.record.discrepancy) - 1:
            raise CorruptLesson(
                f"the file was altered: it is at step {self.engine.step} and records {len(self.record.discrepancy) - 1}"
            )
        shape = self.task.target.shape
        kept = content["snapshots"]
        self.snapshots = {int(step): stored_array(kept, step, shape) for step in kept}
        self.aside.errors = stored_errors(content.get("held_out_curve"))
        self.elapsed = checked_seconds(content, "elapsed")
        self.compiling = checked_seconds(content, "compiling")
        ended = content["outcome"]
        has_more = ended == Outcome.BUDGET.name and self.engine.step < self.max_iterations
        self.outcome = Outcome[ended] if ended in FINAL and not has_more else None
        self._wrote = True
        self._next_checkpoint = self.elapsed + CHECKPOINT_EVERY

    def _met_at_the_end(self) -> Outcome | None:
        """Apply the stop rules after the last step, as the engine would before the next one."""
        return self.engine.watch.over(self.engine.step, self.engine.discrepancy)

    def _take_snapshot(self) -> None:
        place = bisect.bisect_left(self.asked, self.engine.step)
        if self.engine.step in self.asked[place : place + 1]:
            self.snapshots.setdefault(self.engine.step, np.array(self.engine.values))

    def _look_aside(self) -> None:
        """Measure the error on held-out points at snapshots and at the end."""
        if self.engine.step in self.snapshots or self.outcome is not None:
            self.aside.look(self.engine.step, self.engine)

    def _resize(self, steps: int, seconds: float) -> None:
        """Choose the size of the next chunk: about 0.05 s of work, and at most 16 times the chunk before."""
        if steps:
            fitting = int(INTERVAL * steps / max(seconds, 1e-9))
            self._chunk = max(1, min(fitting, 16 * self._chunk))


FINAL = {
    outcome.name
    for outcome in (
        Outcome.CONVERGED,
        Outcome.REACHED,
        Outcome.DIVERGED,
        Outcome.STATIONARY,
        Outcome.AT_REST,
        Outcome.STALLED,
        Outcome.BUDGET,
    )
}


def checkpoint_place(path: Path) -> Path:
    """Return where checkpoints are written; refuse a place taken by anything but checkpoints."""
    places = (path, previous_of(path))
    # if one of them is a checkpoint of nimt, the other is accepted too: it may be damaged beyond recognition
    if not any(place_of(place).exists() and is_archive_of_ours(place) for place in places):
        for place in places:
            refuse_what_is_not_ours(place)
    return place_of(path)


def is_whole(path: Path) -> bool:
    """Say whether a file is a checkpoint that can be read."""
    try:
        storage.read(path, CHECKPOINT)
    except (CorruptLesson, OSError):
        return False
    return True


class Flag(threading.Event):
    """One per running lesson; setting it ends that lesson."""

    def __init__(self, group: object) -> None:
        super().__init__()
        self.group = group


_under_way: list[Flag] = []
_thread = threading.local()  # whose `group` the lessons of a thread belong to
_writing: list[None] = []  # not empty while a checkpoint is written


@contextlib.contextmanager
def deferred_interrupt() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into a flag, so that it never interrupts a step; a second one is raised.

    None is raised while a checkpoint is written: the lesson ends after that anyway. A process that ignores Ctrl-C
    continues to ignore it.
    """
    flag = Flag(getattr(_thread, "group", None))
    before = signal.getsignal(signal.SIGINT)
    _under_way.append(flag)
    if threading.current_thread() is not threading.main_thread() or before in (signal.SIG_IGN, None):
        try:
            yield flag
        finally:
            _under_way.remove(flag)
        return

    def note(number: int, frame: FrameType | None) -> None:
        if flag.is_set() and not _writing:
            (before if callable(before) else signal.default_int_handler)(number, frame)
        flag.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)
        _under_way.remove(flag)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block; it then ends the lesson."""
    _writing.append(None)
    try:
        yield
    finally:
        _writing.pop()


def interrupt() -> None:
    """Do what Ctrl-C does, also where Ctrl-C is ignored: end the running lesson after its step, or raise.

    For programs that are asked to end in another way, for example by SIGTERM.
    """
    if not _under_way or (_under_way[-1].is_set() and not _writing):
        raise KeyboardInterrupt
    _under_way[-1].set()


@contextlib.contextmanager
def lessons_of(group: object) -> Iterator[None]:
    """Let the lessons that this thread runs in the block belong to a group, which `interrupt_group` ends."""
    _thread.group = group
    try:
        yield
    finally:
        _thread.group = None


def interrupt_group(group: object) -> None:
    """End the running lessons of a group after their steps, and wait until they are over."""
    while theirs := [flag for flag in list(_under_way) if flag.group is group]:
        for flag in theirs:
            flag.set()
        time.sleep(INTERVAL / 10)


def copied(values: Array) -> Array:
    """Return a copy of values; that of a start at 0 takes no memory, because nothing is written to it."""
    return np.array(values) if values.any() else np.zeros(values.shape)
