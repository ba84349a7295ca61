"""The lesson: the record of what was shown, how far the learner still was, and how it ended."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, is_number
from nimt.errors import CannotStore, CorruptLesson, InvalidInput, MissingFile
from nimt.lesson import storage
from nimt.lesson.descriptions import describe, is_foreign, rebuild
from nimt.pools.base import Pool

KIND = "lesson"
STORED = (
    "discrepancy",
    "picks",
    "elapsed",
    "engine",
    "record",
    "target",
    "initial",
    "final",
    "indices",
    "labels",
    "examples",
)


class Outcome(enum.Enum):
    """How a lesson ended, as a sentence."""

    CONVERGED = "the discrepancy fell below the tolerance"
    BUDGET = "the iteration budget ran out"
    DIVERGED = "the learner is moving away: lower the learning rate"
    STATIONARY = "the example shown no longer moves the learner"
    STALLED = "the discrepancy has not improved for as many steps as patience allows"
    TIME = "the time limit was reached"
    STOPPED = "the callback asked to stop"
    INTERRUPTED = "the lesson was interrupted"
    UNFINISHED = "the lesson is still going on"

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, eq=False)
class Lesson:
    """The record of a lesson of T steps.

    Attributes
    ----------
    discrepancy : array (T + 1,)
        M(f^t, f*) for t = 0 .. T.
    indices, labels : arrays (T, k) or None
        What was shown at each step; None where only the counts were kept (`record` is "picks").
    examples : array (T, k, d) or None
        The points shown in a `Box`, where they may lie anywhere; `indices` and `picks` then name the nearest ones of
        its grid.
    picks : array (n,) of int
        How often each point of the pool was shown.
    snapshots : dict of step -> array (n,)
        f^t on the pool at the steps asked for.
    itd : int or None
        The iterative teaching dimension: the first t with a discrepancy below the tolerance.
    outcome : Outcome
    elapsed : float
        Seconds.
    engine, record : str
        Which engine ran, and whether "all" or only "picks" was kept.
    pool, target, initial : Pool, array (n,), array (n,)
    final : array (n,)
        f^T on the pool.
    settings : dict
        Everything needed to run it again, versions included.
    learner : the taught learner, or None for one that could not be stored
    """

    discrepancy: Array
    picks: NDArray[np.int32]
    outcome: Outcome
    elapsed: float
    engine: str
    record: str
    pool: Pool
    target: Array
    initial: Array
    final: Array
    settings: dict[str, Any]
    learner: Any
    indices: NDArray[np.int64] | None = None
    labels: Array | None = None
    examples: Array | None = None
    snapshots: dict[int, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return T, the number of steps."""
        return len(self.discrepancy) - 1

    @property
    def tol(self) -> float | None:
        tol: float | None = self.settings["tol"]
        return tol

    @property
    def itd(self) -> int | None:
        return None if self.tol is None else self.steps_to(self.tol)

    def steps_to(self, tolerance: float) -> int | None:
        """Return the first t with a discrepancy below any tolerance, or None."""
        below = np.flatnonzero(self.discrepancy < tolerance)
        return int(below[0]) if below.size else None

    def objective(self, lam: float) -> Array:
        """Return M(f^t, f*) + lam * t along the lesson, the objective of machine teaching [Zhang23, Eq. 1]."""
        if not is_number(lam) or not 0 <= float(lam) < np.inf:
            raise InvalidInput(f"lam must be a finite number >= 0, got {lam!r}")
        return np.asarray(self.discrepancy + lam * np.arange(len(self.discrepancy)))

    def best_length(self, lam: float) -> int:
        """Return the length at which `objective(lam)` is smallest."""
        return int(np.argmin(self.objective(lam)))

    def to_table(self) -> dict[str, NDArray[Any]]:
        """Return columns by step, ready for pandas.DataFrame, polars.DataFrame or CSV.

        Row t holds M(f^t, f*) and what was shown then; nothing was shown in the last row (index -1, label NaN).
        """
        table: dict[str, NDArray[Any]] = {
            "step": np.arange(len(self.discrepancy)),
            "discrepancy": np.array(self.discrepancy),
        }
        if self.indices is not None and self.labels is not None:
            k = self.indices.shape[1]
            for j in range(k):
                suffix = "" if k == 1 else f"_{j + 1}"
                table[f"index{suffix}"] = np.append(self.indices[:, j], -1)
                table[f"label{suffix}"] = np.append(self.labels[:, j], np.nan)
        return table

    def save(self, path: str | PathLike[str]) -> None:
        """Write the lesson to one npz file, without pickle, at once or not at all.

        Callables are stored as their values on the pool; a learner that is not ours is not stored.
        """
        folder = Path(path).parent
        if not folder.is_dir():
            raise MissingFile(f"there is no folder {folder} to save the lesson {Path(path).name} in: make it first")
        if Path(path).is_dir():
            raise InvalidInput(f"a lesson is saved to a file, and {path} is a folder: name a file in it")
        content = {name: getattr(self, name) for name in STORED}
        content |= {
            "outcome": self.outcome.name,
            "pool": describe(self.pool),
            "learner": describe(self.learner),
            "settings": self.settings,
            "snapshots": {str(step): values for step, values in self.snapshots.items()},
        }
        storage.write(path, KIND, content)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Lesson:
        """Read a lesson written by `save`; a truncated, altered or foreign file raises `CorruptLesson`."""
        try:
            content = storage.read(path, KIND)
        except FileNotFoundError:
            raise MissingFile(f"there is no lesson {path}") from None
        try:
            pool = rebuild(content["pool"])
            return cls(
                **{name: content[name] for name in STORED},
                outcome=Outcome[content["outcome"]],
                pool=pool,
                learner=_stored_learner(content["learner"], pool),
                settings=content["settings"],
                snapshots={int(step): values for step, values in content["snapshots"].items()},
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise CorruptLesson(f"{path} says it is a lesson and does not hold one: {error!r}") from None

    def __repr__(self) -> str:
        reached = f", ITD {self.itd}" if self.itd is not None else ""
        stored = "" if self.learner is not None else "; the learner was not stored"
        return (
            f"<Lesson of {len(self)} steps{reached}: {self.outcome}; discrepancy {self.discrepancy[0]:.4g} -> "
            f"{self.discrepancy[-1]:.4g} on {self.pool!r}, {self.engine} engine{stored}>"
        )


@dataclass(frozen=True)
class ForgottenSchedule:
    """Stand for a learning rate that was a function: the taught learner is whole, and learns on once given one."""

    name: str

    def __call__(self, step: int) -> float:
        raise CannotStore(f"the learning rate {self.name} was not stored: give one by set_params(learning_rate=...)")


def _stored_learner(description: Any, pool: Pool) -> Any:
    rate: Any = description.get("learning_rate") if isinstance(description, dict) else None
    if is_foreign(rate):
        description = description | {"learning_rate": 1.0}
        learner = _stored_learner(description, pool)
        return None if learner is None else learner.set_params(learning_rate=ForgottenSchedule(rate["name"]))
    try:
        learner = rebuild(description)
    except CannotStore:
        return None
    return learner.bind(pool) if hasattr(learner, "bind") else learner
