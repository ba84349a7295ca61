"""The functions that users call: teach, steps, plan, resume. Input is checked before any work."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, check_count, check_positive
from nimt.engines.base import Task
from nimt.engines.choosing import Plan, check_memory, choose
from nimt.engines.compiling import compile_time
from nimt.errors import CannotStore, InvalidInput, NimtError
from nimt.learners.base import Learner, Pupil
from nimt.learners.foreign import seated
from nimt.lesson.checkpoints import read_checkpoint
from nimt.lesson.descriptions import is_foreign, rebuild
from nimt.lesson.identity import check_identified, deciding
from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome
from nimt.lesson.recording import Chunk
from nimt.measures import Measure
from nimt.operators.features import RandomFeatures
from nimt.pools.base import FunctionLike, Pool, as_pool
from nimt.pools.box import Box
from nimt.teachers.base import Selection, SelectsExamples
from nimt.teaching.bars import check_progress
from nimt.teaching.checking import (
    Rules,
    approximated,
    check_checkpoint,
    check_first_rate,
    check_pupil,
    kernels_named,
    rules_as_settings,
    settings_of,
    settle_rate,
    task_of,
    with_record,
)
from nimt.teaching.existing_checkpoints import continue_same, incomplete_is_corrupt, is_to_be_continued
from nimt.teaching.narrow_kernels import warn_of_narrow_kernel
from nimt.teaching.progress import both, progress_bar
from nimt.teaching.running import ON_INTERRUPT, Progress, Run
from nimt.teaching.warning import warn_of_misled_teacher, warn_of_step_size

Callback = Callable[[Progress], object]  # a true answer stops the lesson


def teach(
    learner: Learner,
    teacher: SelectsExamples,
    X: Pool | Box | ArrayLike,
    y: FunctionLike,
    *,
    max_iterations: int,
    tol: float | None = None,
    measure: str | Measure = "paper",
    stop_when_stationary: float | None = None,
    patience: int | None = None,
    time_limit: float | None = None,
    snapshots: Iterable[int] = (),
    record: str = "auto",
    seed: int | None = 0,
    holdout: tuple[ArrayLike, ArrayLike] | None = None,
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
    on_existing: str = "refuse",
    on_interrupt: str = "return",
    progress: bool | str = False,
    engine: str | RandomFeatures = "auto",
) -> Lesson:
    r"""Teach a learner the target and return the lesson [Zhang23, Alg. 1].

    Parameters
    ----------
    learner : anything with `predict(X)` and `partial_fit(X, y)`
        It is left as it was; `lesson.learner` is the taught copy.
    teacher : a teacher, with `select(view)`
    X : Grid or array (n,) or (n, d), or Box
        The pool: the points at which functions are known and examples can be given. In a `Box` they may lie anywhere.
    y : array (n,) or of the grid's shape, callable, or a learner
        The target f*. A callable is called with all points at once, as one array (n, d), (n, 1) in 1-D too, and
        returns (n,) or (n, 1): `np.sin`, `lambda x: x[:, 0] + x[:, 1]`.
    max_iterations : int
    tol : float, optional
        Stop at the first t with a discrepancy below it (above it for a measure with `higher_is_better`); this is
        checked before anything is shown.
    measure : {"paper", "rms", "rkhs", "parameters"}, or a Measure of your own
        "paper" is sqrt(sum (f - f*)^2) / n; "rms" is sqrt(sum (f - f*)^2 / n). "rkhs" is the norm of f - f* in H,
        "parameters" is |w - w*| between two `LinearLearner`.
    stop_when_stationary : float, optional
        Stop before an example whose S = (slope K(x, x))^2 is not above it.
    patience : int, optional
        Stop when the discrepancy has not improved for this many steps.
    time_limit : float, optional
        Seconds of teaching; those of compiling, in `lesson.compiling`, do not count.
    snapshots : steps at which to keep f^t on the pool
    record : {"auto", "all", "picks"}
        "all" keeps what was shown at each step, "picks" only how often each point was shown; "auto" changes from "all"
        to "picks" when the record becomes too large.
    seed : int or None
        All random choices are derived from it; None draws one and records it.
    holdout : pair (X, y), optional
        Points that are never shown, with their targets: `lesson.held_out` is the error on them, and
        `lesson.held_out_curve` that at the snapshots.
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
    engine : {"auto", "reference", "grid", "neighbours", "streamed"}, RandomFeatures or Nystroem
        How the lesson is run; "auto" takes the fastest engine that covers it, `lesson.engine` says which. The last two
        are approximations: their lesson is close to the exact one, not equal to it.

    Returns
    -------
    Lesson

    Examples
    --------
    >>> import nimt
    >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.1)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), x, np.sin, tol=1e-2, max_iterations=1000)
    >>> print(lesson.outcome)
    the discrepancy fell below the tolerance
    """
    check_progress(progress)
    run = prepare(
        learner, teacher, X, y,
        max_iterations=max_iterations, tol=tol, measure=measure, stop_when_stationary=stop_when_stationary,
        patience=patience, time_limit=time_limit, snapshots=snapshots, record=record, seed=seed, holdout=holdout,
        callback=callback, checkpoint=checkpoint, on_existing=on_existing, on_interrupt=on_interrupt, engine=engine,
    )  # fmt: skip
    return _watched_to_the_end(run, time_limit, progress)


def _watched_to_the_end(run: Run, time_limit: float | None, progress: bool | str) -> Lesson:
    with progress_bar(progress) as bar:
        run.callback = both(run.callback, bar)
        return run.to_the_end(time_limit)


class Steps(Iterator[tuple[int, Selection, float]]):
    """A lesson taken step by step: an iterator of (t, selection, discrepancy)."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> tuple[int, Selection, float]:
        run = self._run
        if not len(self.advance(1).discrepancy):
            raise StopIteration
        return run.engine.step, run.engine.last_selection(), run.engine.discrepancy

    def advance(self, steps: int) -> Chunk:
        """Take up to `steps` steps at once, far faster than one by one, and return what was recorded of them.

        Fewer are taken where the lesson ends before, where outputs are mixed, or where held-out points are looked at;
        none once it is over, see `outcome`.
        """
        check_count("steps", steps, at_least=1)
        run = self._run
        if run.outcome is not None:
            return Chunk(np.zeros((0, 1), np.int64), np.zeros((0, 1)), np.zeros(0), run.outcome)
        try:
            return run.advance(int(steps))
        except (NimtError, MemoryError):
            raise
        except Exception as error:  # StopIteration too: it would end a loop over these steps without a word
            raise run.interrupted_by(error) from error

    @property
    def outcome(self) -> Outcome | None:
        """Why the lesson ended, or None while it goes on."""
        return self._run.outcome

    @property
    def values(self) -> Array:
        """f^t on the pool now."""
        return np.array(self._run.engine.values)

    @property
    def lesson(self) -> Lesson:
        """The lesson so far."""
        return self._run.lesson()


def steps(
    learner: Learner,
    teacher: SelectsExamples,
    X: Pool | Box | ArrayLike,
    y: FunctionLike,
    *,
    max_iterations: int,
    **options: Any,
) -> Steps:
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
    for name in ("callback", "checkpoint", "time_limit", "on_existing", "on_interrupt", "progress"):
        if options.get(name) is not None:
            raise InvalidInput(f"steps() does not take {name}: use teach(), or look, save and stop between two steps")
    return Steps(prepare(learner, teacher, X, y, max_iterations=max_iterations, **options))


def plan(
    learner: Learner,
    teacher: SelectsExamples,
    X: Pool | ArrayLike,
    y: FunctionLike,
    *,
    max_iterations: int = 1,
    engine: str | RandomFeatures = "auto",
    **options: Any,
) -> Plan:
    """Say which engine would run a lesson, what memory it needs and why, without running it.

    It takes the arguments of `teach`, and refuses what `teach` would refuse.

    Examples
    --------
    >>> import nimt
    >>> picture = np.zeros((92, 92))
    >>> how = nimt.plan(nimt.KernelLearner(nimt.rbf(width=0.5)), nimt.GreedyTeacher(), nimt.Grid.like(picture), picture)
    >>> how.engine, how.window
    ('grid', 29)
    """
    for name in ("callback", "checkpoint", "time_limit", "on_existing", "on_interrupt", "progress"):
        options.pop(name, None)
    rules = Rules(max_iterations=max_iterations, **options)
    task, name, _, _ = _checked(learner, teacher, X, y, rules, engine)
    with kernels_named(learner, teacher):
        found = with_record(choose(name, task).plan, task, rules)
    return dataclasses.replace(found, engine=engine.name) if isinstance(engine, RandomFeatures) else found


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
    """Continue a lesson from its checkpoint; the finished lesson equals, bit by bit, one that was never stopped.

    Parameters
    ----------
    checkpoint : path
        As given to `teach`; if it is damaged, the one before it is used.
    learner, teacher : optional
        What is not nimt's own (a teacher, kernel, loss or schedule you wrote) must be passed again, as at the start.
    y : optional
        The target of a lesson in a `Box`, where it was a function of yours.
    allow : classes and functions of yours that the checkpoint may name
        Classes that are described by the parameters of their constructor are rebuilt, and need not be passed again.
    max_iterations : int, optional
        Another budget than before: a larger one continues a lesson whose budget ran out, a smaller one ends it earlier.
    snapshots : steps at which to keep f^t, besides those asked for before
    callback, time_limit, on_interrupt, progress : as in `teach`
    """
    if not isinstance(checkpoint, str | PathLike):
        raise InvalidInput(f"a lesson is resumed from the path of its checkpoint, got {checkpoint!r}")
    check_progress(progress)
    run = _restored(
        Path(checkpoint), learner, teacher, y, allow, max_iterations, snapshots, callback, time_limit, on_interrupt
    )
    return _watched_to_the_end(run, time_limit, progress)


def lesson_so_far(checkpoint: str | PathLike[str]) -> Lesson:
    """Return the lesson that a checkpoint holds, without continuing it; the checkpoint is not changed."""
    return _restored(Path(checkpoint)).lesson()


def _restored(
    path: Path,
    learner: Learner | None = None,
    teacher: SelectsExamples | None = None,
    target: FunctionLike | None = None,
    allow: Iterable[object] = (),
    max_iterations: int | None = None,
    snapshots: Iterable[int] = (),
    callback: Callback | None = None,
    time_limit: float | None = None,
    on_interrupt: str = "return",
) -> Run:
    """Build the run of a checkpoint, ready to continue."""
    content = read_checkpoint(path)
    allowed = list(allow)
    with incomplete_is_corrupt(path):
        settings = content["settings"]
        box = settings["box"]
        run = prepare(
            learner if learner is not None else _rebuilt(settings["learner"], "learner", path, allowed),
            teacher if teacher is not None else _rebuilt(settings["teacher"], "teacher", path, allowed),
            rebuild(settings["pool"] if box is None else box),
            settings["target"] if box is None else _function_of_box(settings, target, path, allowed),
            **_repeated(settings, len(content["record"]["discrepancy"]) - 1, max_iterations, snapshots, path, allowed),
            time_limit=time_limit, callback=callback, on_interrupt=on_interrupt, engine=rebuild(settings["engine"]),
            checkpoint=path, on_existing="replace",
            target_function=_rebuilt_target(settings, target, allowed), warn=False,
        )  # fmt: skip
        run.restore(content)
    return run


REPEATED = ("max_iterations", "tol", "stop_when_stationary", "patience", "snapshots", "record", "seed")


def _repeated(
    settings: dict[str, Any],
    step: int,
    max_iterations: int | None,
    snapshots: Iterable[int],
    path: Path,
    allow: list[object],
) -> dict[str, Any]:
    """Return the rules of the lesson as they were, with another budget and more snapshots if asked for."""
    options = {name: settings[name] for name in REPEATED}
    if max_iterations is not None:
        check_count("max_iterations", max_iterations, at_least=0)
        if max_iterations < step:
            raise InvalidInput(
                f"max_iterations is {max_iterations}, and the lesson stands at step {step}: give at least that"
            )
        options["max_iterations"] = max_iterations
        options["snapshots"] = [kept for kept in options["snapshots"] if kept <= max_iterations]
    measure = _rebuilt(settings["measure"], "measure", path, allow)
    held = settings.get("holdout")  # missing in files of version 0.1
    holdout = None if held is None else (held["points"], held["target"])
    return options | {"measure": measure, "snapshots": [*options["snapshots"], *snapshots], "holdout": holdout}


def prepare(
    learner: Learner,
    teacher: SelectsExamples,
    X: Pool | Box | ArrayLike,
    y: FunctionLike,
    *,
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
    on_existing: str = "refuse",
    on_interrupt: str = "return",
    time_limit: float | None = None,
    engine: str | RandomFeatures = "auto",
    target_function: object = None,
    warn: bool = True,
    numbers_only: bool = False,
    **options: Any,
) -> Run:
    """Check everything, then choose an engine and build the run; takes the arguments of `teach`.

    `run.plan` says how it will run, `run.to_the_end()` runs it. With `numbers_only` its lesson has neither the learner
    nor a description of what was taught, which take a seventh of the time of a short lesson.
    """
    if callback is not None and not callable(callback):
        raise InvalidInput(f"callback must be callable, got {callback!r}")
    if time_limit is not None:
        check_positive("time_limit", time_limit)
    if on_interrupt not in ON_INTERRUPT:
        raise InvalidInput(f"on_interrupt must be one of {', '.join(ON_INTERRUPT)}, got {on_interrupt!r}")
    rules = Rules(**options)
    task, name, pupil, gain = _checked(learner, teacher, X, y, rules, engine, target_function)
    if warn:
        with kernels_named(learner, teacher):
            warn_of_step_size(pupil, task, gain)
            warn_of_misled_teacher(task, pupil.loss)
            warn_of_narrow_kernel(task)
    before: dict[str, Any] | None = None
    if checkpoint is not None:
        check_checkpoint(Path(checkpoint), pupil)
        if is_to_be_continued(Path(checkpoint), on_existing, options.get("seed", 0)):
            before = read_checkpoint(Path(checkpoint))
    with kernels_named(learner, teacher):
        choice = choose(name, task)
    whole = with_record(choice.plan, task, rules)
    check_memory(whole)
    with compile_time() as compiling, kernels_named(learner, teacher):
        made = choice.make(pupil)
    if isinstance(engine, RandomFeatures):
        made.name = engine.name
    if numbers_only:
        settings = rules_as_settings(task, rules)
    else:
        settings = settings_of(task, rules, made.name if isinstance(engine, str) else engine)
    if checkpoint is not None and on_existing == "resume":
        check_identified(deciding(settings))
    run = Run(task, made, settings, whole, callback, checkpoint)
    run.compiling = compiling.seconds
    run.numbers_only = numbers_only
    run.raises_interrupt = on_interrupt == "raise"
    if before is not None:
        continue_same(run, before, Path(str(checkpoint)))
    return run


def _checked(
    learner: Learner,
    teacher: SelectsExamples,
    X: Pool | Box | ArrayLike,
    y: FunctionLike,
    rules: Rules,
    engine: str | RandomFeatures,
    target_function: object = None,
) -> tuple[Task, str, Pupil, float | None]:
    """Return the task, the name of its engine, the learner seated, and the gain of a pack; refuse what cannot run."""
    task, name = _task(learner, teacher, X, y, rules, engine, target_function)
    pupil = seated(task.learner, task.box or task.pool, task.possible_labels)
    check_pupil(pupil, task)
    check_first_rate(task.learner)
    with kernels_named(learner, teacher):
        return task, name, pupil, settle_rate(pupil, task)


def _task(
    learner: Learner,
    teacher: SelectsExamples,
    X: Pool | Box | ArrayLike,
    y: FunctionLike,
    rules: Rules,
    engine: str | RandomFeatures,
    target_function: object = None,
) -> tuple[Task, str]:
    """Return the task and the name of the engine that is to run it."""
    if not isinstance(engine, RandomFeatures):
        return task_of(learner, teacher, X, y, rules, target_function), engine
    if isinstance(X, Box):
        raise InvalidInput(
            f"{engine.label} approximate a kernel on the points of a pool, and a Box has no fixed points"
        )
    pool = as_pool(X)
    return task_of(approximated(learner, engine, pool), teacher, pool, y, rules, target_function), "reference"


def _rebuilt_target(settings: dict[str, Any], target: FunctionLike | None, allow: list[object]) -> object:
    """Return the target as the learner that was given, None if the measure only needs its values."""
    if target is not None:
        return target
    described = settings["target_function"]
    if settings["measure"] not in ("rkhs", "parameters") or described is None or is_foreign(described):
        return None
    try:
        return rebuild(described, allow)
    except CannotStore as error:
        raise InvalidInput(
            f"this lesson measures {settings['measure']!r} against a learner, and {error}: resume(..., y=...)"
        ) from None


def _function_of_box(settings: dict[str, Any], target: FunctionLike | None, path: Path, allow: list[object]) -> Any:
    """Return the target of a lesson in a box, where it must be a function."""
    if target is not None:
        return target
    return _rebuilt(settings["target_function"], "y", path, allow)


def _rebuilt(description: Any, name: str, path: Path, allow: list[object]) -> Any:
    try:
        return rebuild(description, allow)
    except CannotStore as error:
        raise InvalidInput(f"{error}: nimt.resume({str(path)!r}, {name}=...)") from None
