"""The functions that users call: teach_blocks, resume_blocks, and what nimt.teach and nimt.plan do with Blocks."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import math
from collections.abc import Sized
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nimt import defaults
from nimt.arrays import check_count
from nimt.blocks.block_bar import block_bar
from nimt.blocks.block_folder import BlockFolder
from nimt.blocks.block_lesson import BlockLesson, combine_spread
from nimt.blocks.block_task import BlockTask, check_can_be_cut, make_partition
from nimt.blocks.running import BlockRun, Callback, as_folder, check_room
from nimt.blocks.targets import ArrayTarget, FileTarget, Target, as_target, shape_of
from nimt.errors import CannotStore, InvalidInput
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import Learner
from nimt.lesson.descriptions import describe, rebuild
from nimt.lesson.lesson import Lesson
from nimt.measures import Measure, as_measure
from nimt.option_table import USUAL, Options
from nimt.pools.pool import FunctionLike, Grid, Pool, as_pool
from nimt.session.session import check_run_options
from nimt.task.cutting import Blocks
from nimt.task.options import Stop, check_options, settle_share
from nimt.teachers.teacher import SelectsExamples
from nimt.teaching.bars import check_progress
from nimt.teaching.lesson_progress import both

ENDLESS = 2**62  # examples
FULL_RECORD = 2**22  # points up to which record="auto" keeps every example


def teach_blocks(
    learner: Learner,
    teacher: SelectsExamples,
    X: Pool | ArrayLike | None,
    y: FunctionLike | PathLike[str],
    blocks: Blocks | int | tuple[int, ...],
    *,
    max_iterations: int | None = None,
    tol: float | str | None = "auto",
    measure: str | Measure = "paper",
    stop_when_stationary: float | None = None,
    patience: int | None = None,
    record: str = "auto",
    time_limit: float | None = None,
    callback: Callback | None = None,
    on_interrupt: str = "return",
    progress: bool | str = False,
) -> BlockLesson:
    """Teach a lesson that is cut into blocks, larger than memory if need be, and leave its results where they are.

    Parameters
    ----------
    learner : KernelLearner
        With the square loss, and a kernel of finite reach.
    teacher : GreedyTeacher
        With k=1.
    X : Grid, points (n, d), or None
        None for a file: the grid of its indices.
    y : array, function of coordinates, or the path of a `.npy` or `.zarr` array
        The target; each block reads what it holds.
    blocks : Blocks, or how many
    max_iterations : int, optional
        The most examples.
    tol, measure, stop_when_stationary, patience, time_limit, on_interrupt : as in `nimt.teach`
        They are looked at after each colour; a block ends its turn where the tolerance is met.
    record : {"auto", "all", "picks"}
        "all" keeps every example of each block; "auto" does for pools of up to four million points.
    callback : callable of BlockProgress, optional
        Called after each block; a true answer stops the lesson after the colour.
    progress : bool or "auto"
        Whether a bar shows the blocks that had their turn, and the time left.

    Returns
    -------
    BlockLesson

    Examples
    --------
    >>> import nimt, numpy as np
    >>> x = nimt.Grid(np.arange(0, 60, 0.1))
    >>> learner = nimt.KernelLearner(nimt.Wendland(0.5), learning_rate=0.2)
    >>> lesson = nimt.blocks.teach_blocks(learner, nimt.GreedyTeacher(), x, np.sin, 4, tol="5%")
    >>> print(lesson.outcome)
    the discrepancy fell below the tolerance
    """
    how = blocks if isinstance(blocks, Blocks) else Blocks(blocks)
    known = check_can_be_cut(learner, teacher)
    check_progress(progress)
    check_run_options(callback, time_limit, on_interrupt)
    options = Options(
        max_iterations=ENDLESS if max_iterations is None else max_iterations, tol=tol, measure=measure,
        stop_when_stationary=stop_when_stationary, patience=patience, record=record,
    )  # fmt: skip
    task, stop = make_task(known, X, y, how, options)
    check_room(task, how)
    folder = None if how.folder is None else as_folder(how.folder)
    run = BlockRun(task, stop, how, folder)
    with contextlib.nullcontext() if folder is None else folder.claim():
        if folder is not None:
            folder.make(describe_lesson(task, stop, how))
        return _run(run, callback, time_limit, on_interrupt, progress)


def _run(
    run: BlockRun, callback: Callback | None, seconds: float | None, on_interrupt: str, progress: bool | str
) -> BlockLesson:
    with block_bar(progress) as bar:
        return run.run(watch=both(callback, bar), seconds=seconds, on_interrupt=on_interrupt)


def make_task(
    learner: KernelLearner, X: Pool | ArrayLike | None, y: Any, blocks: Blocks, options: Options
) -> tuple[BlockTask, Stop]:
    """Check what a lesson by blocks is made of; a tolerance in words is settled by one look at the target."""
    stop, keep, measure, _, _ = check_options(options)
    pool = _grid_of(y) if X is None else as_pool(X)
    scale = measure.scale(np.broadcast_to(0.0, (len(pool),)))
    if scale is None:
        raise InvalidInput(f"blocks are measured by paper or rms, got {measure.name!r}", parameter="measure")
    cut = make_partition(pool, blocks.blocks, learner.kernel)
    records = keep.record == "all" or (keep.record == "auto" and len(pool) <= FULL_RECORD)
    task = BlockTask(cut, learner, as_target(y, pool), measure, scale, stop.tol, stop.patience, records)
    if isinstance(options.tol, str):
        stop = dataclasses.replace(stop, tol=_settle(options.tol, task))
        task = dataclasses.replace(task, tol=stop.tol)
    return task, stop


def _grid_of(y: Any) -> Grid:
    if not isinstance(y, str | PathLike):
        raise InvalidInput("X is needed where the target is no file: give a Grid or points")
    return Grid(*(np.arange(length, dtype=float) for length in shape_of(y)))


def _settle(tol: str, task: BlockTask) -> float | None:
    """Return a tolerance in words as a number, from a look at the target block by block."""
    cut, opening = task.partition, []
    for block in range(len(cut)):
        values = task.target.read(cut, block)[cut.own(block)]
        mean = float(values.mean())
        opening.append((float(len(values)), mean, float(np.square(values - mean).sum())))
    spread = combine_spread(opening)
    if spread == 0.0:  # a constant has no deviation: its distance from the start
        spread = math.sqrt(sum(_distance_of_start(task, block) for block in range(len(cut))))
    return settle_share(tol, spread, task.scale)


def _distance_of_start(task: BlockTask, block: int) -> float:
    """Return the sum of squares between the start and the target at the points that a block owns."""
    cut = task.partition
    pool = cut.pool(block)
    values = task.learner_on(block).bind(pool).values_on(pool, ())
    return float(np.square(values - task.target.read(cut, block))[cut.own(block)].sum())


# -- on disk


def describe_lesson(task: BlockTask, stop: Stop, blocks: Blocks) -> dict[str, Any]:
    """Return what a lesson is, as its folder holds it."""
    target: dict[str, Any] = {"kind": "function"}
    if isinstance(task.target, FileTarget):
        target = {"kind": "file", "path": task.target.path}
    elif isinstance(task.target, ArrayTarget) and isinstance(task.target.values, np.ndarray):
        target = {"kind": "array", "values": np.ascontiguousarray(task.target.values, dtype=np.float64)}
    return {
        "learner": describe(task.learner),
        "pool": describe(task.whole),
        "target": target,
        "blocks": [*blocks.blocks] if isinstance(blocks.blocks, tuple) else blocks.blocks,
        "results": blocks.results,
        "share": blocks.share,
        "memory": blocks.memory,
        "measure": task.measure.name,
        "records": task.records,
        **dataclasses.asdict(stop),
    }


def resume_blocks(
    folder: str | PathLike[str],
    *,
    learner: KernelLearner | None = None,
    y: FunctionLike | None = None,
    workers: int | None = None,
    client: Any = None,
    memory: int | None = None,
    max_iterations: int | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    on_interrupt: str = "return",
    progress: bool | str = False,
) -> BlockLesson:
    """Go on with a lesson by blocks; the result equals, bit by bit, that of a lesson that was never stopped.

    Parameters
    ----------
    folder : path
    learner, y : optional
        What is not nimt's own must be given again: a kernel you wrote, or a target that is a function.
    workers, client, memory : as in `Blocks`
        They may be others than before.
    max_iterations : int, optional
        Another budget than before.
    time_limit, callback, on_interrupt, progress : as in `nimt.blocks.teach_blocks`
    """
    check_progress(progress)
    check_run_options(callback, time_limit, on_interrupt)
    if not Path(folder).is_dir():
        raise InvalidInput(f"there is no folder {str(folder)!r}: name that of a lesson by blocks")
    place = BlockFolder(Path(folder))
    stored = place.read_task()
    task, stop = read_lesson(stored, learner, y)
    if max_iterations is not None:
        check_count("max_iterations", max_iterations, at_least=0)
        stop = dataclasses.replace(stop, max_iterations=max_iterations)
    own = stored["blocks"]
    how = Blocks(
        tuple(own) if isinstance(own, list) else own, workers=workers, client=client, folder=folder,
        results=stored.get("results"), memory=stored["memory"] if memory is None else memory, share=stored["share"],
    )  # fmt: skip
    with place.claim():
        return _run(BlockRun(task, stop, how, place), callback, time_limit, on_interrupt, progress)


def read_lesson(
    stored: dict[str, Any], learner: KernelLearner | None, y: FunctionLike | None
) -> tuple[BlockTask, Stop]:
    """Return the task that a folder holds."""
    pool = rebuild(stored["pool"])
    if learner is None:
        try:
            learner = rebuild(stored["learner"])
        except CannotStore as error:
            raise InvalidInput(f"{error}: nimt.blocks.resume_blocks(..., learner=...)") from None
    assert isinstance(learner, KernelLearner)
    kind, target = stored["target"]["kind"], stored["target"]
    found: Target
    if y is not None:
        found = as_target(y, pool)
    elif kind == "function":
        raise InvalidInput("the target of this lesson is a function: nimt.blocks.resume_blocks(..., y=...)")
    else:
        found = FileTarget(target["path"]) if kind == "file" else ArrayTarget(target["values"])
    stop = Stop(**{field.name: stored[field.name] for field in dataclasses.fields(Stop)})
    measure = as_measure(stored["measure"])
    scale = measure.scale(np.broadcast_to(0.0, (len(pool),)))
    assert scale is not None
    own = stored["blocks"]
    cut = make_partition(pool, tuple(own) if isinstance(own, list) else own, learner.kernel)
    task = BlockTask(cut, learner, found, measure, scale, stop.tol, stop.patience, bool(stored["records"]))
    return task, stop


def teach_gathered(
    learner: Learner, teacher: SelectsExamples, X: Any, y: Any, options: dict[str, Any], **run: Any
) -> Lesson:
    """Teach by blocks what `nimt.teach` was asked for, and return one lesson."""
    blocks: Blocks = options.pop("engine")
    options.pop("seed", None)  # nothing is drawn
    for name in [name for name in options if name not in inspect.signature(teach_blocks).parameters]:
        value = options.pop(name)
        if value is not USUAL.get(name) and not (isinstance(value, Sized) and not len(value)):
            raise InvalidInput(f"a lesson by blocks has no {name}: leave {name}= out")
    options.setdefault("max_iterations", defaults.MAX_ITERATIONS)
    return teach_blocks(learner, teacher, X, y, blocks, **options, **run).to_lesson()
