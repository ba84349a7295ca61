"""What a running lesson keeps: columns that grow chunk by chunk, and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Flags, check_stored_array, check_stored_indices
from nimt.errors import CorruptLesson
from nimt.lesson.outcome import Outcome

T = TypeVar("T", bound=np.generic)

RECORD_LIMIT = 2**28  # bytes of indices and labels beyond which record="auto" keeps the counts only
LARGE_PACK = 64  # examples per step from which coefficients are not recorded: they would take more than all else
RECORDS = ("auto", "all", "picks")
NO_INDEX = -1  # fills the rows of packs that are smaller than the largest; labels and points are then NaN


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers that a teacher asked for, in the order of the steps; its length is how many they are.

    Attributes
    ----------
    steps : array (m,) of int
        Before which step each was asked for.
    indices : array (m,) of int
        At which point of the pool.
    answers : array (m,), or (m, q) for q outputs
        What the learner answered.
    """

    steps: NDArray[np.int64]
    indices: NDArray[np.int64]
    answers: Array

    @classmethod
    def none(cls, outputs: tuple[int, ...] = ()) -> Answers:
        """Return no answers."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, *outputs)))

    @classmethod
    def join(cls, parts: list[Answers]) -> Answers:
        """Return the answers of several parts of a lesson as one."""
        names = ("steps", "indices", "answers")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    @classmethod
    def load(cls, stored: dict[str, Any] | None, steps: int, n: int, outputs: tuple[int, ...]) -> Answers:
        """Return the answers that a file of a lesson of so many steps holds; none where it has none."""
        if stored is None:
            return cls.none(outputs)
        answers = check_stored_array(stored, "answers", (None, *outputs))
        count = (len(answers),)
        found = cls(
            check_stored_indices(stored, "steps", count, max(1, steps)).astype(np.int64),
            check_stored_indices(stored, "indices", count, n).astype(np.int64),
            answers,
        )
        if (np.diff(found.steps) < 0).any():
            raise CorruptLesson("the file was altered: its answers are not in the order of the steps")
        return found

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some steps of a lesson: what was shown, the discrepancy after each, and the outcome if it ended.

    `indices` are (T, k), `labels` (T, k) or (T, k, q); `points` (T, k, d) if points between those of
    the pool were shown. A pack of fewer than k examples ends with `NO_INDEX` and NaN. `looked` (T,) says at which steps
    the teacher looked at its learner, None if it did at all. `snapshots` are the values on the pool after the steps at
    which they were asked for. `coefficients`, shaped as the labels, are what each example added to f, the c_j of
    sum_j c_j K(x_j, .); None where nobody asked for them, or where f is no such sum. `weights` (T, k) are those of the
    examples, None for 1; `asked` are the answers that the teacher asked for, None for none.
    """

    indices: NDArray[np.int64]
    labels: Array
    discrepancy: Array
    outcome: Outcome | None
    points: Array | None = None
    looked: Flags | None = None
    snapshots: dict[int, Array] = field(default_factory=dict)
    coefficients: Array | None = None
    weights: Array | None = None
    asked: Answers | None = None


def as_rows(packs: list[NDArray[T]], filler: float, trailing: tuple[int, ...] = ()) -> NDArray[T]:
    """Return packs of any size as the rows of one array, the smaller ones filled up.

    Examples
    --------
    >>> as_rows([np.array([4, 2]), np.array([3])], NO_INDEX)
    array([[ 4,  2],
           [ 3, -1]])
    """
    sizes = set(map(len, packs))
    k = max(sizes, default=1)
    if len(sizes) <= 1:
        joined = np.concatenate(packs) if packs else np.array(packs)
        return joined.reshape(len(packs), k, *trailing)
    return np.stack([fill_up(pack, k, filler) for pack in packs])


def fill_up(pack: NDArray[T], k: int, filler: float, axis: int = 0) -> NDArray[T]:
    """Return an array with `k` entries along an axis, the new ones at its end being `filler`."""
    missing = [(0, k - length if number == axis else 0) for number, length in enumerate(pack.shape)]
    return np.pad(pack, missing, constant_values=filler)


def join_chunks(chunks: list[Chunk], looked: Flags | None, snapshots: dict[int, Array]) -> Chunk:
    """Return steps that follow each other as one chunk; packs of fewer examples than the largest are filled up."""
    some = [chunk for chunk in chunks if len(chunk.indices)] or chunks[:1]  # the last may only say that it is over
    shape = (sum(len(chunk.indices) for chunk in some), max(chunk.indices.shape[1] for chunk in some))
    indices = np.full(shape, NO_INDEX, dtype=np.int64)
    labels = np.full((*shape, *some[0].labels.shape[2:]), np.nan)
    begin = 0
    for chunk in some:
        place = slice(begin, begin + len(chunk.indices)), slice(chunk.indices.shape[1])
        indices[place], labels[place] = chunk.indices, chunk.labels
        begin += len(chunk.indices)
    curve = np.concatenate([chunk.discrepancy for chunk in some])
    added = None if some[0].coefficients is None else np.full(labels.shape, np.nan)
    begin = 0
    for chunk in some:
        if added is not None and chunk.coefficients is not None:
            added[begin : begin + len(chunk.indices), : chunk.indices.shape[1]] = chunk.coefficients
        begin += len(chunk.indices)
    return Chunk(indices, labels, curve, chunks[-1].outcome, None, looked, snapshots, added)


class Record:
    """The columns of a lesson so far.

    Parameters
    ----------
    n : int
        Points in the pool.
    start : float
        The discrepancy before anything is shown.
    kept : {"auto", "all", "picks"}
        "auto" begins with everything, and drops all but the counts when that exceeds `limit` bytes.
    outputs : tuple of int
        Of one label: (q,) for q > 1, () for one number.
    """

    def __init__(
        self, n: int, start: float, kept: str, limit: int = RECORD_LIMIT, *, outputs: tuple[int, ...] = ()
    ) -> None:
        self.outputs: tuple[int, ...] = outputs
        self.kept: str = kept
        self.limit: int = limit
        self.picks: NDArray[np.int32] = np.zeros(n, dtype=np.int32)
        self._discrepancy: list[Array] = [np.array([start])]
        self._indices: list[NDArray[np.int64]] = []
        self._labels: list[Array] = []
        self._coefficients: list[Array] | None = []  # None once they are not known of some step
        self._points: list[Array] = []
        self._looked: list[Flags] = []
        self._weights: list[Array | None] = []  # one entry per entry of the indices
        self._is_weighted = False  # whether one of them is not None
        self._asked: list[Answers] = []
        self._mix_steps: list[int] = []
        self._mixes: list[Array] = []
        self._bytes = 0

    def add(self, chunk: Chunk) -> None:
        """Append a chunk."""
        if not len(chunk.discrepancy):
            return
        self._discrepancy.append(chunk.discrepancy)
        if chunk.looked is not None:
            self._looked.append(chunk.looked)
        if chunk.asked is not None:
            self._asked.append(chunk.asked)
        if not chunk.indices.strides[0] and len(chunk.indices) > 1:  # the same pack at every step, in memory once
            self.picks += len(chunk.indices) * np.bincount(chunk.indices[0], minlength=len(self.picks)).astype(np.int32)
            shown = np.empty(0, dtype=np.int64)
        else:
            shown = chunk.indices.ravel()
            if shown.min() == NO_INDEX:
                shown = shown[shown != NO_INDEX]
        if 4 * shown.size > len(self.picks):
            self.picks += np.bincount(shown, minlength=len(self.picks)).astype(np.int32)
        else:  # a chunk may show few of very many points
            np.add.at(self.picks, shown, 1)
        if self.kept == "picks":
            return
        self._indices.append(chunk.indices)
        self._labels.append(chunk.labels)
        self._weights.append(chunk.weights)
        self._is_weighted |= chunk.weights is not None
        if chunk.coefficients is None or chunk.indices.shape[1] >= LARGE_PACK:
            self._coefficients = None
        elif self._coefficients is not None:
            self._coefficients.append(chunk.coefficients)
        self._bytes += chunk.indices.nbytes + chunk.labels.nbytes
        if chunk.points is not None:
            self._points.append(chunk.points)
            self._bytes += chunk.points.nbytes
        if self.kept == "auto" and self._bytes > self.limit:
            self.kept, self._coefficients = "picks", None
            for part in (self._indices, self._labels, self._weights, self._points, self._mix_steps, self._mixes):
                part.clear()

    def add_mixture(self, step: int, matrix: Array, discrepancy: float) -> None:
        """Note that the outputs were mixed before a step, and the discrepancy after it."""
        self._discrepancy[-1][-1] = discrepancy
        if self.kept != "picks":
            self._mix_steps.append(step)
            self._mixes.append(matrix)
            self._bytes += matrix.nbytes

    def fields(self) -> dict[str, Any]:
        """Return the columns as the fields of a lesson; None for what was not kept, not known, or never happened.

        Where points of a step are not those of the pool, `shown_points` are them, (T, k, d); `looked` is at which steps
        the teacher looked at its learner.
        """
        self._discrepancy = [np.concatenate(self._discrepancy)]
        if len(self._asked) > 1:
            self._asked = [Answers.join(self._asked)]
        weights = self._join_weights() if self._is_weighted else None
        self._weights = [weights] * min(1, len(self._indices))  # which are joined next
        labels = np.zeros((0, 1, *self.outputs))
        added, mixed = self._coefficients, bool(self._mixes)
        return {
            "discrepancy": np.array(self._discrepancy[0]),
            "picks": self.picks,
            "record": "picks" if self.kept == "picks" else "all",
            "indices": self._join(self._indices, np.zeros((0, 1), np.int64), NO_INDEX),
            "labels": self._join(self._labels, labels),
            "weights": weights,
            "asked": self._asked[0] if self._asked else Answers.none(self.outputs),
            "coefficients": None if added is None else self._join(added, labels),
            "shown_points": self._join(self._points, np.zeros((0, 1, 1))) if self._points else None,
            "looked": np.concatenate(self._looked) if self._looked else None,
            "mix_steps": np.array(self._mix_steps, dtype=np.int64) if mixed else None,
            "mixes": np.array(self._mixes) if mixed else None,
        }

    def _join_weights(self) -> Array | None:
        """Return the weights of all steps, 1 where none were given; before the indices are joined."""
        filled = [
            np.where(indices < 0, np.nan, 1.0) if weights is None else weights
            for weights, indices in zip(self._weights, self._indices, strict=True)
        ]
        return self._join(filled, np.zeros((0, 1)))

    def _join(self, parts: list[NDArray[T]], empty: NDArray[T], filler: float = np.nan) -> NDArray[T] | None:
        if self.kept == "picks":
            return None
        if len(parts) > 1:
            k = max([part.shape[1] for part in parts])
            parts[:] = [
                np.concatenate([part if part.shape[1] == k else fill_up(part, k, filler, axis=1) for part in parts])
            ]
        return parts[0] if parts else empty

    def restore(self, fields: Mapping[str, Any]) -> None:
        """Go on from the fields of a lesson, which were checked when they were read."""
        if fields["record"] == "picks":
            self.kept = "picks"
        self.picks = fields["picks"]
        self._discrepancy = [fields["discrepancy"]]
        self._indices = self._present(fields["indices"])
        self._labels = self._present(fields["labels"])
        self._is_weighted = fields["weights"] is not None
        self._weights = self._present(fields["weights"]) or [None] * len(self._indices)
        self._asked = [fields["asked"]]
        self._coefficients = None if fields["coefficients"] is None else self._present(fields["coefficients"])
        self._points = self._present(fields["shown_points"])
        self._looked = self._present(fields["looked"])
        self._mix_steps, self._mixes = [], []
        if fields["mixes"] is not None:
            self._mix_steps, self._mixes = fields["mix_steps"].tolist(), list(fields["mixes"])
        self._bytes = sum(part.nbytes for part in (*self._indices, *self._labels, *self._points, *self._mixes))

    def _present(self, column: Any) -> list[Any]:
        """Return the parts of a column: one, or none where nothing was shown yet."""
        return [] if column is None or not len(column) else [column]
