"""The functions that users call: teach, steps, plan, resume. Each builds a task, or reads one, and runs it."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Iterable
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from numpy.typing import ArrayLike

from nimt.errors import InvalidInput, keep_warnings
from nimt.learners.learner import Learner
from nimt.lesson.held_out import names_classes
from nimt.lesson.identity import check_identified, deciding
from nimt.lesson.lesson import Lesson
from nimt.option_table import LessonOptions, Options, takes_options
from nimt.pools.box import Box
from nimt.pools.pool import FunctionLike, Pool
from nimt.session.session import Callback, Session, check_run_options
from nimt.session.stored_task import StoredTask, goes_on
from nimt.task.cutting import Blocks
from nimt.task.task import Plan, Task
from nimt.teachers.teacher import SelectsExamples
from nimt.teaching.bars import check_progress
from nimt.teaching.lesson_progress import both, progress_bar
from nimt.teaching.missed_classes import warn_of_missed_classes

OF_A_RUN = ("callback", "checkpoint", "time_limit", "on_existing", "on_interrupt", "progress")


@takes_options
def teach(
    learner: Learner,
    teacher: SelectsExamples,
    X: Pool | Box | ArrayLike,
    y: FunctionLike,
    *,
    time_limit: float | None = None,
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
    on_existing: str = "refuse",
    on_interrupt: str = "return",
    progress: bool | str = False,
    **options: Unpack[LessonOptions],
) -> Lesson:
    r"""Teach a learner the target and return the lesson [Zhang23, Alg. 1].

    Parameters
    ----------
    learner : anything with `predict(X)` and `partial_fit(X, y)`
        It is left as it was; `lesson.learner` is the taught copy.
    teacher : a teacher, with `select(view)`
    X : Grid or array (n,) or (n, d), DataFrame, or Box
        The pool: the points at which functions are known and examples can be given. In a `Box` they may lie anywhere.
        The columns of a DataFrame keep their names.
    y : array (n,) or of the grid's shape, callable, or a learner
        The target f*. A callable is called with all points at once, as one array (n, d), (n, 1) in 1-D too, and
        returns (n,) or (n, 1): `np.sin`, `lambda x: x[:, 0] + x[:, 1]`.
    **options : as in `Options`
    time_limit : float, optional
        Seconds of teaching; those of compiling, in `lesson.compiling`, do not count.
    callback : callable of Progress, optional
        Called at most 20 times per second and at the end; a true answer stops the lesson.
    checkpoint : path, optional
        Written every few seconds and at every stop; `nimt.resume(path)` continues from it.
    on_existing : {"refuse", "resume", "replace"}
        What happens if the checkpoint exists: "resume" continues it if it is of this lesson (so the same call starts
        a lesson, continues it, and returns it at once when it is finished), "replace" overwrites it.
    on_interrupt : {"return", "raise"}
        After Ctrl-C, return the lesson so far, or raise KeyboardInterrupt, so that a loop over lessons ends too. The
        checkpoint is written in both cases.
    progress : bool or "auto"
        Show a bar, in a terminal or a notebook. "auto" does if a person can see it and the lesson takes over a second.

    Returns
    -------
    Lesson

    Examples
    --------
    >>> import nimt, numpy as np
    >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.1)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), x, np.sin, tol=1e-2, max_iterations=1000)
    >>> print(lesson.outcome)
    the discrepancy fell below the tolerance
    """
    if progress is not False:
        check_progress(progress)
    check_run_options(callback, time_limit, on_interrupt)
    if isinstance(options.get("engine"), Blocks):
        return _teach_by_blocks(
            learner, teacher, X, y, options, checkpoint, callback=callback, time_limit=time_limit,
            on_interrupt=on_interrupt, progress=progress,
        )  # fmt: skip
    stored = None if checkpoint is None else _find_stored(_to_path(checkpoint), on_existing, options.get("seed", 0))
    planned = None if stored is None else stored.settings["planned_steps"]
    task = Task.of(learner, teacher, X, y, planned_steps=planned, **options)
    if checkpoint is not None and on_existing == "resume":
        check_identified(deciding(task.settings))
    session = task.begin()
    if stored is not None:
        with stored.naming_the_file():
            stored.check_same(task)
            session.restore(stored)
        session.check_snapshots(stored.path)
    if checkpoint is not None:
        session.keep_checkpoints(checkpoint, stored)
    return _run(session, callback, time_limit, on_interrupt, progress)


def _teach_by_blocks(
    learner: Learner, teacher: SelectsExamples, X: Any, y: Any, options: Any, checkpoint: object, **run: Any
) -> Lesson:
    if checkpoint is not None:
        raise InvalidInput("a lesson by blocks is kept in a folder: give Blocks(folder=...) instead of checkpoint=")
    if isinstance(X, Box):
        raise InvalidInput("blocks are parts of a pool, and a Box has no fixed points: give its grid")
    teach_gathered = import_module("nimt.blocks.teaching_blocks").teach_gathered
    lesson: Lesson = teach_gathered(learner, teacher, X, y, dict(options), **run)
    return lesson


def _to_path(checkpoint: str | PathLike[str]) -> Path:
    """Return the path, or refuse what no file can be called."""
    try:
        path = Path(checkpoint)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):  # told apart later
            path.lstat()
    except (TypeError, ValueError):
        raise InvalidInput(f"must be the path of a file, got {checkpoint!r}", parameter="checkpoint") from None
    except OSError as error:
        raise InvalidInput(f"{str(checkpoint)!r} cannot be used: {error.strerror}", parameter="checkpoint") from None
    return path


def _find_stored(path: Path, on_existing: str, seed: int | None) -> StoredTask | None:
    """Return what the file of a checkpoint holds, if a lesson is to go on from it."""
    if path.is_dir():
        raise InvalidInput(f"must name a file, and {path} is a folder", parameter="checkpoint")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InvalidInput(f"the folder {path.parent} of the checkpoint does not exist or cannot be written to")
    return StoredTask.read(path) if goes_on(path, on_existing, seed) else None


def _run(
    session: Session, callback: Callback | None, time_limit: float | None, on_interrupt: str, progress: bool | str
) -> Lesson:
    with progress_bar(progress) if progress else contextlib.nullcontext() as bar:
        watch = both(callback, bar) if bar else callback
        lesson = session.run(watch=watch, seconds=time_limit, on_interrupt=on_interrupt)
    if session.task.measure.name == "accuracy" or names_classes(session.task.target):
        with keep_warnings(lesson.warnings):
            warn_of_missed_classes(lesson, session.task.teacher, session.task.measure)
    return lesson


@takes_options
def steps(
    learner: Learner,
    teacher: SelectsExamples,
    X: Pool | Box | ArrayLike,
    y: FunctionLike,
    **options: Unpack[LessonOptions],
) -> Session:
    """Take the steps of a lesson one by one; takes what `teach` takes, and yields (t, selection, discrepancy).

    After the t-th step: `selection` is what was just shown, `discrepancy` is M(f^t, f*), which is
    `lesson.discrepancy[t]`. The lesson so far is `.lesson`, f^t on the pool is `.values`.

    Examples
    --------
    >>> import nimt
    >>> walk = nimt.steps(nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5), nimt.GreedyTeacher(),
    ...                   [0.0, 5.0], [1.0, 3.0], max_iterations=2)
    >>> for t, selection, discrepancy in walk:
    ...     print(t, selection.indices, f"{discrepancy:.3f}")
    1 [1] 0.500
    2 [0] 0.000
    """
    given: dict[str, Any] = dict(options)
    for name in OF_A_RUN:
        if given.pop(name, None) not in (None, inspect.signature(teach).parameters[name].default):
            raise InvalidInput(f"steps() does not take {name}: use teach(), or look, save and stop between two steps")
    Options.of("steps", given)
    return Task.of(learner, teacher, X, y, **given).begin()


@takes_options
def plan(
    learner: Learner,
    teacher: SelectsExamples,
    X: Pool | ArrayLike,
    y: FunctionLike,
    **options: Unpack[LessonOptions],
) -> Plan:
    """Say which engine would run a lesson, what memory it needs and why, without running it.

    It takes the arguments of `teach`, and refuses what `teach` would refuse.

    Examples
    --------
    >>> import nimt, numpy as np
    >>> picture = np.zeros((92, 92))
    >>> how = nimt.plan(nimt.KernelLearner(nimt.rbf(width=0.5)), nimt.GreedyTeacher(), nimt.Grid.like(picture), picture)
    >>> how.engine, how.window
    ('grid', 29)
    """
    kept = {name: value for name, value in options.items() if name not in OF_A_RUN}
    Options.of("plan", kept)
    if isinstance(kept.get("engine"), Blocks):
        found: Plan = import_module("nimt.blocks.block_plan").plan_blocks(learner, teacher, X, y, kept)
        return found
    return Task.of(learner, teacher, X, y, **kept).plan  # type: ignore[arg-type]


def resume(
    checkpoint: str | PathLike[str],
    *,
    learner: Learner | None = None,
    teacher: SelectsExamples | None = None,
    y: FunctionLike | None = None,
    allow: Iterable[object] = (),
    max_iterations: int | None = None,
    snapshots: Iterable[int] = (),
    callback: Callback | None = None,
    time_limit: float | None = None,
    on_interrupt: str = "return",
    progress: bool | str = False,
) -> Lesson:
    """Continue a lesson from its file; the finished lesson equals, bit by bit, one that was never stopped.

    Parameters
    ----------
    checkpoint : path
        As given to `teach`, or the folder of a run of `nimt teach`; if the file is damaged, the one before it is used.
    learner, teacher : optional
        What is not nimt's own (a teacher, kernel, loss or schedule you wrote) must be passed again, as at the start.
    y : optional
        The target of a lesson in a `Box`, where it was a function of yours.
    allow : classes and functions of yours that the checkpoint may name
        Classes that are described by the parameters of their constructor are rebuilt, and need not be passed again.
    max_iterations : int, optional
        Another budget than before: a larger one continues a lesson whose budget ran out, a smaller one ends it earlier.
    snapshots : later steps at which to keep f^t, besides those asked for before
    callback, time_limit, on_interrupt, progress : as in `teach`
    """
    if not isinstance(checkpoint, str | PathLike):
        raise InvalidInput(f"a lesson is resumed from the path of its checkpoint, got {checkpoint!r}")
    check_progress(progress)
    check_run_options(callback, time_limit, on_interrupt)
    session = Session.open(
        checkpoint, learner=learner, teacher=teacher, y=y, allow=allow, max_iterations=max_iterations,
        snapshots=snapshots,
    )  # fmt: skip
    return _run(session, callback, time_limit, on_interrupt, progress)
