"""What a page needs to play a lesson: a header, and blocks of numbers it can read without parsing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, outputs_of
from nimt.kernels import CUT, Kernel
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.kernel_pupils import KernelPupil
from nimt.lesson.lesson import Lesson
from nimt.lesson.recording import LARGE_PACK
from nimt.losses import make_described_loss, teaches_classes
from nimt.operators.dense import DenseOperator
from nimt.operators.grid import GridOperator
from nimt.plots.looks import Classes, look_of
from nimt.pools.pool import Grid, Pool
from nimt.pools.prepared_points import PreparedPoints
from nimt.reports.summary import summary_of
from nimt.theory.replaying import follow_step, learner_at_start

FORMAT = 1
ALIGNED = 8  # bytes: a browser reads 64-bit numbers at such places only
ROUNDING = 1e-12  # of the largest number of a column
CURVE_POINTS = 2000
CHUNK = 4096  # steps whose coefficients are held at once
LARGEST = 2**24  # bytes of examples, coefficients and columns; beyond it only every so many steps are kept
KINDS = ("float64", "float32", "uint32", "uint16", "uint8", "int32")


@dataclass(frozen=True, eq=False)
class Recording:
    """A lesson ready to be played by `static/recording.js`.

    Attributes
    ----------
    header : dict
        Numbers and text: what kind of pool, kernel and lesson it is.
    blocks : dict of arrays
        float64, float32, uint32, uint16, uint8 or int32. Values have shape (n, q), coefficients (pairs, q), q being the
        number of outputs.
    """

    header: dict[str, Any]
    blocks: dict[str, NDArray[Any]] = field(repr=False)

    def to_bytes(self) -> bytes:
        """Return the header's length, the header, and the blocks, each at a multiple of 8 bytes.

        Examples
        --------
        >>> Recording({"format": 1}, {"weights": np.zeros(3)}).to_bytes()[4:14]
        b'{"format":'
        """
        places: dict[str, dict[str, Any]] = {}
        offset = 0
        for name, block in self.blocks.items():
            if block.dtype.name not in KINDS:
                raise TypeError(f"block {name} is {block.dtype}, and a page reads {', '.join(KINDS)}")
            places[name] = {"kind": block.dtype.name, "offset": offset, "length": block.size}
            offset += -(-block.nbytes // ALIGNED) * ALIGNED
        # the places stand in the header, whose length shifts them: reserve room, then shift
        begin = -(-(4 + len(self._header(places)) + 16 * len(places)) // ALIGNED) * ALIGNED
        for place in places.values():
            place["offset"] += begin
        header = self._header(places)
        parts = [len(header).to_bytes(4, "little"), header, b"\0" * (begin - 4 - len(header))]
        for block in self.blocks.values():
            data = np.ascontiguousarray(block).astype(block.dtype.newbyteorder("<"), copy=False).tobytes()
            parts += [data, b"\0" * (-len(data) % ALIGNED)]
        return b"".join(parts)

    def _header(self, places: dict[str, dict[str, Any]]) -> bytes:
        return json.dumps(self.header | {"blocks": places}, allow_nan=False, separators=(",", ":")).encode()


def record_of(lesson: Lesson, *, title: str = "A lesson", largest: int = LARGEST) -> Recording:
    """Return what a page needs to play a lesson.

    A `KernelLearner` is played exactly, at every step: f is its start plus c K(x, .) for every example shown. Where
    that would take more than `largest` bytes (large packs), every so many steps; `header["every"]` says how many. Any
    other learner is played from the snapshots of the lesson, fewer of them where all would take more bytes.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 5.0], [1.0, 3.0], max_iterations=2)
    >>> recording = record_of(lesson)
    >>> recording.header["kernel"], recording.blocks["indices"], recording.blocks["coefficients"].ravel()
    ('columns', array([1, 0], dtype=uint16), array([3., 1.]))
    """
    blocks = {"target": _by_output(lesson.target), "initial": _by_output(lesson.initial)}
    header = describe_lesson(lesson, title) | {"outputs": blocks["target"].shape[1]}
    header |= describe_pool(lesson.pool, blocks)
    header |= {"columns": list(lesson.pool.axis_names), "target_name": lesson.pool.target_name}
    steps = curve_steps(lesson)
    blocks |= {"curve_steps": steps.astype(np.uint32), "curve": np.asarray(lesson.discrepancy)[steps]}
    found = _as_examples(lesson, largest) or _as_frames(lesson, largest)
    return Recording(header | found.header, blocks | found.blocks)


def describe_lesson(lesson: Lesson, title: str) -> dict[str, Any]:
    """Return what is said about a lesson beside its pictures."""
    summary = summary_of(lesson)
    names = (
        "sentence", "outcome", "itd", "tol", "measure", "teacher", "learner", "kernel_width", "loss", "learning_rate",
        "seed", "engine", "examples", "distinct_points", "discrepancy_at_start", "discrepancy_at_end",
        "measure_word",
    )  # fmt: skip
    said = {name: summary[name] for name in names} | {
        "kernel_text": summary["kernel"],
        "in_per_cent": lesson.measure.in_per_cent,
        "higher_is_better": lesson.measure.higher_is_better,
    }
    return {
        "format": FORMAT, "title": title, "steps": len(lesson), "points": len(lesson.pool), "view": view_of(lesson),
        "made_by": f"nimt {summary['versions']['nimt']}", **said,
    }  # fmt: skip


def view_of(lesson: Lesson) -> str:
    """Return how a lesson is drawn: "curve", "picture", "map", "boundary", "classes", "points" or "agreement"."""
    pool = lesson.pool
    classes = teaches_classes(make_described_loss(lesson.settings["learner"].get("loss")))
    if pool.view in ("agreement", "graph"):  # the player draws no graphs
        return "agreement"
    if pool.dimension == 2 and lesson.target.ndim > 1 and isinstance(look_of(lesson), Classes):
        return "classes"
    return "boundary" if classes and isinstance(pool, Grid) else pool.view


def describe_pool(pool: Pool, blocks: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the pool for the header; scattered points become a block."""
    if isinstance(pool, Grid):
        start = [float(axis[0]) for axis in pool.axes]
        return {"pool": {"kind": "grid", "shape": list(pool.shape), "start": start, "spacing": list(pool.spacing)}}
    names, blocks["points"] = _name_axes(pool)
    said: dict[str, Any] = {"kind": "points", "dimension": pool.dimension}
    if names:
        said["names"] = names
    if pool.target_name:
        said["target"] = pool.target_name
    if isinstance(pool, PreparedPoints):
        said["classes"] = list(pool.preparation.classes)
        blocks["rows"] = pool.rows.astype(np.uint32)
    return {"pool": said}


def _name_axes(pool: Pool) -> tuple[list[str], Array]:
    """Return the names of the axes and the points along them: columns of numbers as the table has them, not scaled."""
    points = np.asarray(pool.points, dtype=np.float64)
    if isinstance(pool, PreparedPoints):
        columns = pool.coordinates(np.arange(len(pool)))
        if len(columns) == pool.dimension and all(np.issubdtype(one.dtype, np.number) for one in columns.values()):
            found = np.stack([np.asarray(one, dtype=np.float64) for one in columns.values()], axis=1)
            found[np.abs(found) < ROUNDING * np.abs(found).max(axis=0)] = 0.0  # what scaling and back leaves of a zero
            return list(columns), found
    return list(pool.axis_names), points


def curve_steps(lesson: Lesson) -> NDArray[np.int64]:
    """Return the steps at which the curve of M is drawn: evenly spaced, the first, the last and the ITD among them."""
    steps = np.linspace(0, len(lesson), CURVE_POINTS + 1).astype(np.int64)
    extra = [] if lesson.itd is None else [lesson.itd]
    return np.unique(np.append(steps, extra)).astype(np.int64)


def _as_examples(lesson: Lesson, largest: int) -> Recording | None:
    """Return examples and coefficients, or None where the lesson has none, or too many."""
    known = lesson.indices is not None and lesson.labels is not None and lesson.shown_points is None
    if not known or not isinstance(lesson.taught, KernelLearner) or not lesson.has_packs_of_one_size:
        return None
    if not lesson.taught.update.is_plain:
        return None  # its steps do more than add their examples
    assert lesson.indices is not None and lesson.labels is not None
    pack = int(lesson.indices.shape[1])
    outputs = _by_output(lesson.target).shape[1]
    mixes = mixtures_of(lesson)
    operator = operator_on(lesson.pool, lesson.taught.kernel)
    kernel = _kernel_blocks(operator, lesson, largest)
    if kernel is None:
        return None
    every = _steps_per_frame(lesson, largest)
    if every > 1 and mixes:
        return None  # steps told as one would leave out the mixtures between them
    places: list[NDArray[np.int64]] = []
    coefficients: list[Array] = []
    begin = [0]
    chunk = every * max(1, CHUNK // every)
    recorded = lesson.coefficients
    followed = _follow(lesson, operator)
    for first in range(0, len(lesson), chunk):
        shown = lesson.indices[first : first + chunk]
        rows = list(islice(followed, chunk)) if recorded is None else recorded[first : first + chunk]
        added = _by_example(lesson, np.asarray(rows))
        if every == 1:
            places.append(shown.ravel())
            coefficients.append(added)
            continue
        for row in range(0, len(shown), every):
            told = shown[row : row + every].ravel()
            where, what = _gather(told, added[row * pack : row * pack + len(told)])
            places.append(where)
            coefficients.append(what)
            begin.append(begin[-1] + len(where))
    blocks = kernel.blocks | {
        "indices": _small(np.concatenate(places) if places else np.zeros(0, np.int64), len(lesson.pool)),
        "coefficients": np.concatenate(coefficients) if coefficients else np.zeros((0, outputs)),
    }
    if mixes:
        blocks["mix_steps"] = np.array(list(mixes), dtype=np.uint32)
        blocks["mixes"] = np.concatenate([matrix.ravel() for matrix in mixes.values()])
    if every > 1:
        blocks["begin"] = np.array(begin, dtype=np.uint32)
    return Recording(kernel.header | {"pack": pack, "every": every}, blocks)


def operator_on(pool: Pool, kernel: Kernel) -> GridOperator | DenseOperator:
    """Return how K acts on a pool, in the way that a page can play."""
    if isinstance(pool, Grid) and kernel.is_stationary():
        return GridOperator(kernel, pool)
    return DenseOperator(kernel, pool)


def _by_example(lesson: Lesson, added: Array) -> Array:
    """Return coefficients (m, k) or (m, k, q) as (m k, q), 0 for outputs that an example does not belong to."""
    outputs = _by_output(lesson.target).shape[1]
    if not lesson.per_output:
        return added.reshape(-1, outputs)
    steps, k = added.shape
    told = np.zeros((steps, k, outputs))
    told[:, np.arange(k), outputs_of(k, outputs)] = added
    return told.reshape(-1, outputs)


def _follow(lesson: Lesson, operator: GridOperator | DenseOperator) -> Iterator[Array]:
    """Yield the coefficients of every step, from f before it and the labels shown.

    For lessons that hold none: files leave out those of packs, which would take ten times as much as all else.
    """
    pupil = KernelPupil(learner_at_start(lesson), lesson.pool, lesson.target.shape[1:])
    pupil.operator = operator
    mixes = mixtures_of(lesson)
    for step in range(len(lesson)):
        if step in mixes:
            pupil.mix(mixes[step])
        with np.errstate(over="ignore", invalid="ignore"):  # a diverged lesson is told as it was
            follow_step(lesson, step, pupil, lesson.pack(step))
        yield pupil.added


def mixtures_of(lesson: Lesson) -> dict[int, Array]:
    """Return the matrices by which outputs were mixed, by step."""
    if lesson.mix_steps is None or lesson.mixes is None:
        return {}
    return dict(zip(lesson.mix_steps.tolist(), lesson.mixes, strict=True))


def _steps_per_frame(lesson: Lesson, largest: int) -> int:
    """Return how many steps are told as one, a power of two, so that the whole fits into `largest` bytes."""
    assert lesson.indices is not None
    each, n, every = 4 + 8 * _by_output(lesson.target).shape[1], len(lesson.pool), 1
    pack = int(lesson.indices.shape[1])
    if pack >= LARGE_PACK:
        largest //= 4  # such packs repeat themselves: fewer frames show as much
    while -(-len(lesson) // every) * min(every * pack, n) * each > largest and every < len(lesson):
        every *= 2
    return every


def _gather(places: NDArray[np.int64], coefficients: Array) -> tuple[NDArray[np.int64], Array]:
    """Return each place once, with the sum of its coefficients."""
    distinct, back = np.unique(places, return_inverse=True)
    sums = np.zeros((len(distinct), coefficients.shape[1]))
    np.add.at(sums, back.ravel(), coefficients)
    return distinct, sums


def _kernel_blocks(operator: Any, lesson: Lesson, largest: int) -> Recording | None:
    if isinstance(operator, GridOperator):
        return window_blocks(operator)
    assert lesson.indices is not None
    shown = np.unique(lesson.indices)
    n = len(lesson.pool)
    if 8 * n * len(shown) > 16 * largest:
        return None
    columns = operator.kernel(lesson.pool.points[shown], lesson.pool.points)
    kept = np.abs(columns) >= CUT * np.max(np.abs(columns), initial=0.0)
    if 12 * np.count_nonzero(kept) > largest:
        return None
    counts = np.count_nonzero(kept, axis=1)
    return Recording(
        {"kernel": "columns"},
        {
            "columns": shown.astype(np.uint32),
            "column_begin": np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32),
            "members": np.nonzero(kept)[1].astype(np.uint32),
            "weights": columns[kept],
        },
    )


def window_blocks(operator: GridOperator) -> Recording:
    """Return the window of a kernel on a grid, as runs along the last axis."""
    return Recording(
        {"kernel": "window"},
        {
            "lead": operator.lead.astype(np.int32),
            "first": operator.first.astype(np.int32),
            "start": operator.start.astype(np.uint32),
            "weights": np.asarray(operator.weights, dtype=np.float64),
        },
    )


def _as_frames(lesson: Lesson, largest: int) -> Recording:
    """Return the start, the end, as many snapshots as `largest` bytes hold, and what was shown just before each."""
    frames = {0: lesson.initial, **lesson.snapshots, len(lesson): lesson.final}
    known = sorted(frames)
    room = max(2, largest // (8 * lesson.target.size))
    steps = [known[i] for i in np.unique(np.linspace(0, len(known) - 1, min(room, len(known))).astype(np.int64))]
    shown: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for step in steps[1:]:
        shown.append(lesson.pack(step - 1)[0] if lesson.indices is not None else np.zeros(0, np.int64))
    return Recording(
        {"kernel": "frames", "pack": 1, "every": 1},
        {
            "frame_steps": np.array(steps, dtype=np.uint32),
            "frames": np.concatenate([_by_output(frames[step]) for step in steps]),
            "shown": np.concatenate(shown).astype(np.uint32),
            "shown_begin": np.concatenate([[0], np.cumsum([len(part) for part in shown])]).astype(np.uint32),
        },
    )


def _by_output(values: Array) -> Array:
    """Return values as (n, q): one row per point, one column per output."""
    array = np.asarray(values, dtype=np.float64)
    return array[:, np.newaxis] if array.ndim == 1 else array


def _small(indices: NDArray[np.int64], n: int) -> NDArray[Any]:
    return indices.astype(np.uint16 if n <= 2**16 else np.uint32)
