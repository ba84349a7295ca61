"""f at some steps of a lesson whose steps a page cannot take again: few enough to keep, and small enough to send."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.pools.pool import Grid, Pool

MOST_FRAMES = 400  # of one lesson; with more of them every second one is given up
FIRST_STEPS = 16  # of which every frame is kept
FRAME_BYTES = 2**25  # of all frames of one lesson
SIDE = 320  # pixels along a side of the canvas that a learner is drawn on
LEVELS = 255
LARGEST = 1e100  # a value that diverged further is drawn no differently


@dataclass(frozen=True, eq=False)
class StoredFrame:
    """f after a step, as a page is sent it.

    Attributes
    ----------
    step : int
    data : array of float32, or of uint8
        f itself, or which of 256 levels between the smallest and the largest f - f* each value has.
    low, scale : float
        f - f* is low + scale * data, where data is uint8.
    shown : array
        The examples of the step.
    """

    step: int
    data: NDArray[Any] = field(repr=False)
    low: float = 0.0
    scale: float = 0.0
    shown: NDArray[np.uint32] = field(repr=False, default_factory=lambda: np.zeros(0, np.uint32))


class Frames:
    """The frames of one lesson: those of the first steps, then evenly spaced over as many as were taken.

    Parameters
    ----------
    pool : Pool
    target : array (n,) or (n, q)

    Examples
    --------
    >>> frames = Frames(Grid(np.arange(4.0)), np.zeros(4))
    >>> for step in range(1, 1001):
    ...     if step == frames.next:
    ...         frames.keep(step, np.full(4, 1.0 / step))
    >>> kept = [frame.step for frame in frames.kept]
    >>> kept[:3], kept[-3:], len(kept) <= MOST_FRAMES
    ([1, 2, 3], [992, 996, 1000], True)
    """

    def __init__(self, pool: Pool, target: Array) -> None:
        self.kept: list[StoredFrame] = []
        self.every = 1
        self.target = target
        self.shape = pool.shape if isinstance(pool, Grid) and pool.dimension == 2 else None
        self.shrink = 0  # frames are f itself
        if self.shape is not None and 4 * target.size * MOST_FRAMES > FRAME_BYTES:
            self.shrink = -(-max(self.shape) // SIDE)
            self.target = shrink(target, self.shape, self.shrink)
        self.most = int(max(16, min(MOST_FRAMES, FRAME_BYTES // (self.target.size * (1 if self.shrink else 4)))))

    @property
    def next(self) -> int:
        """The step of the next frame."""
        last = self.kept[-1].step if self.kept else 0
        return last + 1 if last < FIRST_STEPS else (last // self.every + 1) * self.every

    def keep(self, step: int, values: Array, shown: NDArray[np.uint32] | None = None) -> None:
        """Keep f after a step, later than all that are kept."""
        if self.kept and self.kept[-1].step >= step:
            return
        data, low, scale = self._pack(values)
        frame = StoredFrame(step, data, low, scale, np.zeros(0, np.uint32) if shown is None else shown)
        kept = [*self.kept, frame]
        if len(kept) > self.most:
            self.every *= 2
            kept = [one for one in kept if one.step <= FIRST_STEPS or one.step % self.every == 0 or one is frame]
        self.kept = kept  # at once: another thread reads it

    def _pack(self, values: Array) -> tuple[NDArray[Any], float, float]:
        with np.errstate(all="ignore"):
            if not self.shrink:
                return values.astype(np.float32).ravel(), 0.0, 0.0
            assert self.shape is not None
            finite = np.nan_to_num(values, nan=LARGEST, posinf=LARGEST, neginf=-LARGEST).clip(-LARGEST, LARGEST)
            gap = shrink(finite, self.shape, self.shrink) - self.target
            low, high = float(gap.min()), float(gap.max())
            scale = (high - low) / LEVELS or 1.0
            return np.rint((gap - low) / scale).astype(np.uint8).ravel(), low, scale


def shrink(values: Array, shape: tuple[int, ...], by: int) -> Array:
    """Return a picture (n,) or (n, q) in blocks of by x by pixels, the mean of each.

    Examples
    --------
    >>> shrink(np.arange(6.0), (2, 3), 2)
    array([2. , 3.5])
    """
    if by == 1:
        return values
    picture = values.reshape(*shape, -1)
    sums = np.zeros((-(-shape[0] // by), -(-shape[1] // by), picture.shape[2]))
    counts = np.zeros(sums.shape[:2])
    for row in range(by):
        for column in range(by):
            part = picture[row::by, column::by]
            sums[: part.shape[0], : part.shape[1]] += part  # a block at an edge has fewer pixels
            counts[: part.shape[0], : part.shape[1]] += 1
    return np.asarray((sums / counts[:, :, np.newaxis]).reshape(-1, *values.shape[1:]))
