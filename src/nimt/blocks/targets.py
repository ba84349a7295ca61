"""A target that is read block by block: an array, a file that is larger than memory, or a function of coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from nimt.arrays import Array, real_array
from nimt.blocks.kd_partition import PointPartition
from nimt.blocks.partition import GridPartition
from nimt.blocks.stored_arrays import naming_the_array, open_array
from nimt.errors import InvalidInput
from nimt.pools.pool import FunctionLike, Pool, values_on

Partition = GridPartition | PointPartition


class Target(Protocol):
    """f*, of which a block reads what it holds."""

    @property
    def kind(self) -> str:
        """The kind of files in which results are written, if none is asked for."""
        ...

    def read(self, cut: Partition, block: int) -> Array:
        """Return the values at the points that a block holds."""
        ...


@dataclass(frozen=True, eq=False)
class ArrayTarget:
    """Values in memory, or anything that is cut by slices as an array is."""

    values: Any
    kind: str = "npy"

    def read(self, cut: Partition, block: int) -> Array:
        return real_array("the target", np.asarray(cut.take_held(block, self.values))).reshape(-1)


@dataclass(frozen=True)
class FileTarget:
    """A `.npy` file, or a Zarr array; a worker opens it by its path."""

    path: str

    def open(self) -> Any:
        """Return the array without reading it."""
        return open_array(Path(self.path))

    @property
    def kind(self) -> str:
        return "zarr" if self.path.endswith(".zarr") else "npy"

    def read(self, cut: Partition, block: int) -> Array:
        with naming_the_array(Path(self.path)):
            return ArrayTarget(self.open()).read(cut, block)


@dataclass(frozen=True, eq=False)
class FunctionTarget:
    """A function of coordinates, called with the points that a block holds."""

    function: FunctionLike
    kind: str = "npy"

    def read(self, cut: Partition, block: int) -> Array:
        return values_on(cut.pool(block), self.function, "the target")


def as_target(y: FunctionLike | PathLike[str], pool: Pool) -> Target:
    """Return what was given as a target that is read block by block; refuse one of another shape than the pool."""
    if isinstance(y, np.memmap) and str(y.filename).endswith(".npy") and y.base is not None:
        y = str(y.filename) if y.shape == FileTarget(str(y.filename)).open().shape else y
    if isinstance(y, str | PathLike):
        target = FileTarget(str(Path(y).absolute()))
        _check_shape(target.open(), pool)
        return target
    if callable(y) or hasattr(y, "predict"):
        return FunctionTarget(y)
    given: Any = y if hasattr(y, "shape") and hasattr(y, "__getitem__") else np.asarray(y)
    if given.shape == ():
        given = np.broadcast_to(np.asarray(given, dtype=np.float64), pool.shape)
    if given.shape == (len(pool),) and isinstance(given, np.ndarray):
        given = given.reshape(pool.shape)
    _check_shape(given, pool)
    return ArrayTarget(given)


def shape_of(y: str | PathLike[str]) -> tuple[int, ...]:
    """Return the shape of the array in a file, without reading it."""
    return tuple(int(length) for length in FileTarget(str(y)).open().shape)


def _check_shape(array: Any, pool: Pool) -> None:
    if tuple(array.shape) != pool.shape:
        problem = f"has shape {tuple(array.shape)}, and the pool {pool.shape}"
        raise InvalidInput(problem, parameter="the target", way_out="blocks teach one output on every point")
    if array.dtype.kind not in "fiub":
        raise InvalidInput(f"has no real numbers, but {array.dtype}", parameter="the target")
