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
from nimt.teaching_sets.fold_answers import split
from nimt.teaching_sets.models import fit_quietly, score
from nimt.teaching_sets.reference import Reference, fit_again, make_reference
from nimt.teaching_sets.row_checks import Rows, take_rows

if TYPE_CHECKING:
    import pandas as pd

REPEATS = 3  # splits into rows to choose from and rows held out
PARTS = 4  # of which one is held out
DRAWS = 3  # of random rows, in each split
FEWEST = 12  # rows, below which none can be held out
LADDER = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
FOLDS = 3  # of the reference of each split
RANDOM = ("random_own", "random_reference")


@dataclass(frozen=True, eq=False)
class Curve:
    """Scores on held-out rows at some sizes: one row per split and draw.

    Attributes
    ----------
    sizes : array (s,)
    chosen : array (splits, s)
    random_own, random_reference : array (splits * draws, s)
        Of random rows, with their own labels and with the reference's.
    all_rows : array (splits,)
        Of the student of all rows that can be chosen, with their own labels.
    notes : tuple of str
    """

    sizes: NDArray[np.intp]
    chosen: Array
    random_own: Array
    random_reference: Array
    all_rows: Array
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return means and spreads as columns, one row per size.

        The spread of random rows is the standard deviation over draws in the same split; that of chosen rows is the one
        over splits of how far they are ahead of random rows with the reference's labels.
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


def measure(
    rows: Rows, found: Reference, model: Any, student: Any, size: int, rule: str, own_labels: bool, seed: int
) -> Curve | None:
    """Return the curve up to a size; None where there are too few rows to hold some out.

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
    """
    if len(rows) < FEWEST:
        return None
    sizes: list[int] = []
    parts: dict[str, list[Any]] = {"chosen": [], "random_own": [], "random_reference": [], "all_rows": []}
    notes: dict[str, None] = {}
    for known, held_out in split(rows, PARTS, seed)[:REPEATS]:
        known = np.random.default_rng(seed).permutation(known)[:MOST_ROWS]
        pool = rows.take(known)
        if rows.classes is not None and len(np.unique(pool.y)) < 2:
            continue
        try:
            if model is not None:
                again = make_reference(pool, model, min(FOLDS, len(pool)), False, seed)
            elif found.can_be_fitted:
                again = fit_again(found, pool)
            else:
                again = found.take(known)
                notes["f* cannot be fitted again, so it may have seen the rows held out"] = None
        except InvalidInput as error:  # what the other splits showed is kept
            notes[f"a split was left out of the curve: {error}"] = None
            continue
        exam = _Exam(student, pool, take_rows(rows.X, held_out), rows.y[held_out], notes)
        sizes = list_sizes(min(size, len(pool)))
        chooser = Chooser(pool, again.labels, student, pool.y if own_labels else again.labels, seed)
        chosen = chooser.choose(rule, sizes[-1]).indices
        is_exact = not own_labels and rule == "auto" and rows.classes is None and find_ridge(student) is not None
        parts["chosen"].append([
            exam.sit(chosen[:count], exact_labels(student, pool, chosen[:count], again.labels))
            if is_exact
            else exam.sit(chosen[:count], chooser.labels[chosen[:count]])
            for count in sizes
        ])  # fmt: skip
        for number in range(DRAWS):
            drawn = chooser.draw(sizes[-1], 1000 + number)
            parts["random_own"].append([exam.sit(drawn[:count], pool.y[drawn[:count]]) for count in sizes])
            parts["random_reference"].append([exam.sit(drawn[:count], again.labels[drawn[:count]]) for count in sizes])
        parts["all_rows"].append(exam.sit(np.arange(len(pool)), pool.y))
    if not parts["chosen"]:
        return None
    least = min(len(scores) for scores in parts["chosen"])  # splits may differ by a row
    tables = {name: np.array([one[:least] for one in parts[name]]) for name in parts if name != "all_rows"}
    return Curve(np.array(sizes[:least]), all_rows=np.array(parts["all_rows"]), notes=tuple(notes), **tables)


def exact_labels(student: Any, rows: Rows, chosen: Indices, answers: Array) -> Array:
    """Return the labels with which a kernel ridge student returns its nearest to the reference."""
    return make_labels(student, take_rows(rows.X, chosen), answers, rows.X)[0]


class _Exam:
    """Fits students to some rows of a pool, and scores them on rows held out."""

    def __init__(self, student: Any, pool: Rows, X: Any, y: NDArray[Any], notes: dict[str, None]) -> None:
        self.student, self.pool, self.X, self.y, self.notes = student, pool, X, y, notes

    def sit(self, rows: Indices, labels: NDArray[Any]) -> float:
        has_classes = self.pool.classes is not None
        if has_classes and len(np.unique(labels)) < 2:  # a student of one class knows no other
            return score(np.full(len(self.y), labels[0]), self.y, True)
        try:
            student = fit_quietly(clone(self.student), take_rows(self.pool.X, rows), labels)
            return score(np.asarray(student.predict(self.X)), self.y, has_classes)
        except Exception as error:  # code of anybody; what was measured before is kept
            said = str(error).split("\n")[0]
            self.notes[f"the student failed on {len(rows)} rows with {type(error).__name__} ({said})"] = None
            return float("nan")


def _mean(scores: Array) -> Array:
    known = np.isfinite(scores)
    count = known.sum(axis=0)
    return np.asarray(np.where(count > 0, np.where(known, scores, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan))
