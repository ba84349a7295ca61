"""How good a student becomes by chosen rows and by random ones, measured on rows that nobody saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from nimt.arrays import Array, Indices
from nimt.errors import InvalidInput
from nimt.teaching_sets.choosing_rules import MOST_ROWS, Chooser
from nimt.teaching_sets.exact import find_ridge, make_labels
from nimt.teaching_sets.fold_answers import FOLDS, ask_student, split
from nimt.teaching_sets.making_reference import MOST_COMPARED, draw_compared, fit_again, make_reference
from nimt.teaching_sets.models import fit_quietly, score
from nimt.teaching_sets.reference import Reference
from nimt.teaching_sets.row_checks import Rows, take_rows
from nimt.wording import Watcher, begin_with

if TYPE_CHECKING:
    import pandas as pd

REPEATS = 3  # splits into rows to choose from and rows held out
PARTS = 4  # of which one is held out
DRAWS = 3  # of random rows, in each split
FEWEST = 12  # rows, below which none can be held out
NOTHING_HELD_OUT = "no rows could be held out, so nothing was measured"
LADDER = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
FOLDS_OF_A_SPLIT = 3
MOST_ASKED = 2000  # rows held out; of more, so many are drawn
FEWEST_TO_DECIDE = 4  # rows
RANDOM = ("random_own", "random_reference")


@dataclass(frozen=True, eq=False)
class SizeCurve:
    """Scores on held-out rows at some sizes: one row per split and draw.

    Attributes
    ----------
    sizes : array (s,)
    chosen : array (splits, s)
    random_own, random_reference : array (splits * draws, s)
        Of random rows, with their own labels and with the reference's.
    all_rows : array (splits,)
        Of the student of all rows that can be chosen, with their own labels.
    """

    sizes: NDArray[np.intp]
    chosen: Array
    random_own: Array
    random_reference: Array
    all_rows: Array

    def to_frame(self) -> pd.DataFrame:
        """Return means and spreads as columns, one row per size.

        The spread of random rows is the standard deviation over draws in the same split; that of chosen rows is the one
        over splits of how far they are ahead of random rows with the reference's labels. `gain_own_spread` and
        `gain_reference_spread` are those of the paired differences, chosen rows minus random ones of the same split,
        over all splits and draws: how sure the gain by choosing is.
        """
        import pandas as pd

        columns: dict[str, Any] = {"size": self.sizes}
        for name in ("chosen", "random_own", "random_reference"):
            columns[name] = _mean(getattr(self, name))
        splits = len(self.chosen)
        draws = {name: getattr(self, name).reshape(splits, -1, len(self.sizes)) for name in RANDOM}
        ahead = self.chosen - np.array([_mean(one) for one in draws["random_reference"]])
        columns["chosen_spread"] = np.sqrt(_mean((ahead - _mean(ahead)) ** 2))
        for name in RANDOM:  # within the splits: how much rows held out differ is no matter of choosing
            columns[f"{name}_spread"] = np.sqrt(
                _mean(np.array([_mean((one - _mean(one)) ** 2) for one in draws[name]]))
            )
        for name in RANDOM:
            gains = (self.chosen[:, np.newaxis] - draws[name]).reshape(-1, len(self.sizes))
            columns[f"{name.replace('random', 'gain')}_spread"] = np.sqrt(_mean((gains - _mean(gains)) ** 2))
        columns["all_rows"] = np.full(len(self.sizes), float(_mean(self.all_rows[:, np.newaxis])[0]))
        return pd.DataFrame(columns)


def list_sizes(most: int) -> list[int]:
    """Return the sizes at which a student is looked at.

    Examples
    --------
    >>> list_sizes(30)
    [5, 10, 20, 30]
    """
    return [*(size for size in LADDER if size < most), most]


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured on rows held out: on those that decide, and on others, of which is reported.

    Attributes
    ----------
    deciding : SizeCurve or None
        None where nothing is to be decided, or rows are too few.
    reported : SizeCurve or None
        None where there are too few rows to hold some out, or every split failed.
    notes : tuple of str
    """

    deciding: SizeCurve | None
    reported: SizeCurve | None
    notes: tuple[str, ...]


def measure(
    rows: Rows, found: Reference, model: Any, student: Any, size: int, rule: str, own_labels: bool, seed: int,
    decides: bool, watch: Watcher,
) -> Measured:  # fmt: skip
    """Return the curve up to a size.

    Parameters
    ----------
    rows : Rows
    found : Reference
        Of all rows; it is fitted again without the rows held out.
    model : "auto" or None
        "auto" lets each split find its own best model.
    student : estimator
    size : int
    rule : str
    own_labels : bool
        Whether chosen rows keep their own labels.
    seed : int
    decides : bool
        Whether something is decided by the curve: then a third of the rows held out is kept for that alone.
    watch : callable of str
        Told what is done.
    """
    if len(rows) < FEWEST:
        return Measured(None, None, (NOTHING_HELD_OUT,))
    seen: NDArray[np.intp] = np.empty(0, dtype=np.intp)
    if model is not None and len(rows) >= 2 * MOST_COMPARED:  # enough rows that did not take part in the comparison
        model, seen = None, draw_compared(rows, FOLDS, seed)
    table = _Table(student, own_labels, rule)
    for number, (known, held_out) in enumerate(split(rows, PARTS, seed)[:REPEATS]):
        tell = begin_with(f"measuring the student, split {number + 1} of {REPEATS}: ", watch)
        known = np.random.default_rng(seed).permutation(known)[:MOST_ROWS]
        held_out = np.random.default_rng(seed).permutation(np.setdiff1d(held_out, seen))[:MOST_ASKED]
        pool = rows.take(known)
        if rows.classes is not None and len(np.unique(pool.y)) < 2:
            continue
        try:
            if model is not None:
                again = make_reference(pool, model, min(FOLDS_OF_A_SPLIT, len(pool)), False, seed, tell)
            elif found.can_be_fitted:
                tell(f"fitting f*, {found.name}")
                again = fit_again(found, pool)
            else:
                again = found.take(known)
                table.notes["f* cannot be fitted again, so it may have seen the rows held out"] = None
        except InvalidInput as error:  # what the other splits showed is kept
            table.notes[f"a split was left out of the curve: {error}"] = None
            continue
        third = len(held_out) // 3 if decides and len(held_out) >= 3 * FEWEST_TO_DECIDE else 0
        exams = [held_out[third:], *([held_out[:third]] if third else [])]
        table.fill(pool, again.labels, [rows.take(exam) for exam in exams], size, seed, tell)
    return table.finish()


class _Table:
    """Scores of students by name, one row per split (and draw), one column per size, one layer per exam."""

    def __init__(self, student: Any, own_labels: bool, rule: str) -> None:
        self.student, self.own_labels, self.rule = student, own_labels, rule
        self.scores: dict[str, list[Any]] = {"chosen": [], "random_own": [], "random_reference": [], "all_rows": []}
        self.sizes: list[int] = []
        self.notes: dict[str, None] = {}

    def fill(
        self, pool: Rows, answers: NDArray[Any], exams: list[Rows], size: int, seed: int, watch: Watcher
    ) -> None:  # fmt: skip
        """Add one split: the rows to choose from with f*'s answers, and the rows held out."""
        exam = _Exam(self.student, pool, exams, self.notes)
        sizes = self.sizes = list_sizes(min(size, len(pool)))
        chooser = Chooser(pool, answers, self.student, pool.y if self.own_labels else answers, seed, watch)
        chosen = chooser.choose(self.rule, sizes[-1]).indices
        is_exact = not self.own_labels and self.rule == "auto" and pool.classes is None
        is_exact = is_exact and find_ridge(self.student) is not None
        watch("the student of chosen rows")
        self.scores["chosen"].append([
            exam.sit(chosen[:count], exact_labels(self.student, pool, chosen[:count], answers))
            if is_exact
            else exam.sit(chosen[:count], chooser.labels[chosen[:count]])
            for count in sizes
        ])  # fmt: skip
        for number in range(DRAWS):
            watch(f"the student of random rows, draw {number + 1} of {DRAWS}")
            drawn = chooser.draw(sizes[-1], 1000 + number)
            for name, labels in (("random_own", pool.y), ("random_reference", answers)):
                self.scores[name].append([exam.sit(drawn[:count], labels[drawn[:count]]) for count in sizes])
        watch(f"the student of all {len(pool):,} rows")
        self.scores["all_rows"].append(exam.sit(np.arange(len(pool)), pool.y))
        if not any(np.isfinite(one).any() for scores in self.scores.values() for one in scores):
            raise InvalidInput(f"{next(reversed(self.notes))}; on fewer too, so that it cannot be taught")

    def finish(self) -> Measured:
        """Return the curves of all splits."""
        if not self.scores["chosen"]:
            return Measured(None, None, tuple(self.notes) or (NOTHING_HELD_OUT,))
        least = min(len(scores) for scores in self.scores["chosen"])  # splits may differ by a row
        layers = min(len(one) for one in self.scores["all_rows"])

        def take(layer: int) -> SizeCurve:
            tables = {
                name: np.array([[score[layer] for score in one[:least]] for one in self.scores[name]])
                for name in ("chosen", *RANDOM)
            }
            whole = np.array([one[layer] for one in self.scores["all_rows"]])
            return SizeCurve(np.array(self.sizes[:least]), all_rows=whole, **tables)

        return Measured(take(1) if layers > 1 else None, take(0), tuple(self.notes))


def exact_labels(student: Any, rows: Rows, chosen: Indices, answers: Array) -> Array:
    """Return the labels with which a kernel ridge student returns its nearest to the reference."""
    return make_labels(student, take_rows(rows.X, chosen), answers, rows.X)[0]


class _Exam:
    """Fits students to some rows of a pool, and scores them on rows held out, on each part of these."""

    def __init__(self, student: Any, pool: Rows, parts: list[Rows], notes: dict[str, None]) -> None:
        self.student, self.pool, self.parts, self.notes = student, pool, parts, notes

    def sit(self, rows: Indices, labels: NDArray[Any]) -> list[float]:
        has_classes = self.pool.classes is not None
        if has_classes and len(np.unique(labels)) < 2:  # a student of one class knows no other
            return [score(np.full(len(part), labels[0]), part.y, True) for part in self.parts]
        try:
            student = fit_quietly(clone(self.student), take_rows(self.pool.X, rows), labels)
            return [score(ask_student(student, part.X, part), part.y, has_classes) for part in self.parts]
        except Exception as error:  # code of anybody; what was measured before is kept
            said = str(error).split("\n")[0]
            how = f": {said}" if isinstance(error, InvalidInput) else f" with {type(error).__name__} ({said})"
            self.notes[f"the student failed on {len(rows)} rows{how}"] = None
            return [float("nan")] * len(self.parts)


def _mean(scores: Array) -> Array:
    known = np.isfinite(scores)
    count = known.sum(axis=0)
    return np.asarray(np.where(count > 0, np.where(known, scores, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan))
