"""The rows to keep for a student, in order, with the labels to give, and what they are worth beside random rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt.arrays import Indices, check_count, is_number
from nimt.counting import say_count
from nimt.display import cell, sentences, table
from nimt.errors import InvalidInput
from nimt.teaching_sets.choosing_rules import MOST_ROWS, RULES, Chooser
from nimt.teaching_sets.curve import Curve, measure
from nimt.teaching_sets.exact import Certificate, find_ridge, make_labels
from nimt.teaching_sets.fold_answers import check_folds
from nimt.teaching_sets.models import make_student, says_classes, with_one_thread
from nimt.teaching_sets.reference import Reference, check_seed, make_reference
from nimt.teaching_sets.row_checks import Rows, read_rows, take_rows
from nimt.wording import Wording

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = ("reference", "rows")
FOLDS = 5
MOST_FOR_TOL = 500  # rows that are tried to reach a tolerance


@dataclass(frozen=True, eq=False, repr=False)
class TeachingSet:
    """Rows to keep, in order, with their labels; made by `nimt.teaching_set`.

    Attributes
    ----------
    indices : array (m,)
        The rows of X, the most useful first where the rule has an order.
    labels : array (m,)
        The labels to give: the reference's, the rows' own, or the exact ones of a kernel ridge student.
    curve : DataFrame or None
        Columns `size`, `chosen`, `random_own`, `random_reference` (R^2 or accuracy on rows held out), the spread of
        each over splits and draws, and `all_rows`. None where there are too few rows, or with `measure=False`.
    rule : str
        The rule that chose; where "auto" was asked for, the one that it took.
    reference : Reference
    student : estimator
        Not fitted: `set.student.fit(X[set.indices], set.labels)`.
    certificate : Certificate or None
        Of a kernel ridge student.
    helps : bool or None
        Whether choosing gained more than the spread; None where it was not measured.
    notes : tuple of str
    """

    indices: Indices
    labels: NDArray[Any]
    curve: pd.DataFrame | None
    rule: str
    reference: Reference
    student: Any
    student_name: str
    own_labels: bool
    certificate: Certificate | None = None
    notes: tuple[str, ...] = ()
    _rows: Rows | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def measure(self) -> str:
        """What the curve shows: R^2, or accuracy."""
        return self.reference.measure

    @property
    def gains(self) -> tuple[float, float, float] | None:
        """What the labels gain, what choosing gains on top, and the spread, at the last size of the curve."""
        if self.curve is None:
            return None
        last = self.curve.iloc[-1]
        if self.own_labels:
            return 0.0, float(last["chosen"] - last["random_own"]), float(last["random_own_spread"])
        labels = float(last["random_reference"] - last["random_own"])
        return labels, float(last["chosen"] - last["random_reference"]), float(last["random_reference_spread"])

    @property
    def helps(self) -> bool | None:
        """Whether choosing gained more than the spread over draws; None where it was not measured."""
        gains = self.gains
        return None if gains is None else gains[1] > gains[2]

    @property
    def sentence(self) -> str:
        """Whether choosing helped, and how much is due to the labels."""
        count, whole = len(self), len(self.reference.labels)
        of_f = "their own labels" if self.own_labels else "f*'s labels"
        begin = f"{count} of {say_count(whole, 'row')}, chosen by {self.rule}, with {of_f}"
        if self.curve is None or self.gains is None:
            return f"{begin}; what they are worth was not measured"
        last = self.curve.iloc[-1]
        size = int(last["size"])
        labels, choosing, spread = self.gains
        told = (
            f"{begin}: {self.student_name} has {self.measure} {last['chosen']:.3f} on rows held out"
            f"{'' if size == count else f' after {size} of them'}, where {size} random rows have "
            f"{last['random_own']:.3f}"
        )
        if self.own_labels:
            told += f" and all rows {last['all_rows']:.3f}; choosing gains {choosing:+.3f}"
        else:
            told += (
                f" with their own labels and {last['random_reference']:.3f} with f*'s, and all rows "
                f"{last['all_rows']:.3f}; the labels gain {labels:+.3f}, choosing {choosing:+.3f}"
            )
        if self.helps:
            return f"{told}, more than the spread of random draws ({spread:.3f})"
        return f"{told}, within the spread ({spread:.3f}): choosing does not help here, random rows are as good"

    def to_frame(self) -> pd.DataFrame:
        """Return the chosen rows in order, with all columns of X, their own labels and the labels to give."""
        import pandas as pd

        assert self._rows is not None
        X = take_rows(self._rows.X, self.indices)
        if isinstance(X, np.ndarray):
            X = pd.DataFrame(X, columns=[f"x_{place + 1}" for place in range(X.shape[1])], index=self.indices)
        own, given = (_free(name, X.columns) for name in ("own label", "label"))
        return X.assign(**{own: self._rows.y[self.indices], given: self.labels})

    def plot(self, ax: Axes | None = None) -> Figure | Axes:
        """Draw the curve: the quality of the student against the number of rows, chosen and random."""
        from nimt.teaching_sets.curve_figure import draw_curve

        return draw_curve(self, ax)

    def __repr__(self) -> str:
        return f"TeachingSet({self.sentence})"

    def _repr_html_(self) -> str:
        parts = [sentences([f"{self.sentence}.", f"{self.reference.sentence}.", *self.notes])]
        if self.certificate is not None:
            parts.append(sentences([f"{self.certificate}."]))
        if self.curve is not None:
            head = ["rows", "chosen", "random, own labels", "random, f*'s labels", "all rows"]
            shown = self.curve[["chosen", "random_own", "random_reference", "all_rows"]].to_numpy()
            lines = [[f"{size}", *(f"{value:.3f}" for value in line)]
                     for size, line in zip(self.curve["size"], shown, strict=True)]  # fmt: skip
            parts.append(table(head, lines))
        return cell("TeachingSet", *parts)


def _free(name: str, taken: Any) -> str:
    return name if name not in taken else f"{name} (2)"


def teaching_set(
    X: Any,
    y: ArrayLike,
    *,
    size: int | None = None,
    tol: float | None = None,
    student: Any = "svm",
    reference: Any = "auto",
    labels: str = "reference",
    rule: str = "auto",
    classes: bool | None = None,
    seed: int = 0,
    measure_curve: bool = True,
) -> TeachingSet:
    """Choose the rows to keep for a student, with the labels to give, and measure what they are worth.

    Parameters
    ----------
    X : array (n, d), or DataFrame
    y : array (n,)
        Numbers or classes, as in `nimt.reference`.
    size : int
        How many rows.
    tol : float
        Instead of `size`: as few rows as bring the student within so much of the R^2, or accuracy, that it has after
        all rows.
    student : str or estimator
        "linear", "svm", "kernel-ridge", "forest", "trees", "network" or "neighbours", or any estimator of scikit-learn.
        The curve is measured for this one.
    reference : "auto", Reference, estimator, torch module or callable
        What stands for f*, as in `nimt.reference`.
    labels : {"reference", "rows"}
        Which labels to give: the reference's answers, or the rows' own.
    rule : str
        "random"; "kmeans" and "p" spread the rows; "f" and "fp" take those that a kernel model of the rows before them
        lacks most; "uncertainty" (classes) and "greedy" spread 20 rows and then take those at which the student is
        least sure, or furthest from f*. "auto" gives the student the rows of each, and of random draws, and takes those
        after which it is best on the other rows. For a kernel ridge student and numbers, "auto" also gives the labels
        with which the student returns the nearest function to f* exactly, with a certificate.
    classes : bool, optional
        Whether the labels are classes; by default the models and the labels tell: words are, and so are at most 20
        different whole numbers, with a note.
    seed : int
    measure_curve : bool
        False leaves the curve out, which takes most of the time.

    Returns
    -------
    TeachingSet

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (120, 2))
    >>> chosen = teaching_set(X, X[:, 0] + rng.normal(0, 0.5, 120), size=10, student="linear")
    >>> last = chosen.curve.iloc[-1]
    >>> len(chosen), bool(last["chosen"] > last["random_own"])
    (10, True)
    """
    model = reference.model if isinstance(reference, Reference) else reference
    if classes is None:
        of_reference = isinstance(reference, Reference)
        classes = reference.classes is not None if of_reference else says_classes(student, model)
    rows = read_rows(X, y, classes)
    most = _check_size(size, tol, len(rows))
    check_seed(seed)
    if labels not in LABELS:
        raise InvalidInput(f"must be 'reference' or 'rows', got {labels!r}", parameter="labels")
    if rule not in RULES:
        raise InvalidInput(f"must be one of {', '.join(RULES)}, got {rule!r}", parameter="rule")
    if rule == "uncertainty" and rows.classes is None:
        raise InvalidInput("rule='uncertainty' is for classes, and y holds numbers: use 'f', 'auto' or 'greedy'")
    made = make_student(student, rows.X, rows.classes is not None, int(seed))
    with with_one_thread(len(rows)):
        return _make(rows, made, student, reference, most, tol, rule, labels == "rows", int(seed), measure_curve)


def _make(
    rows: Rows, made: Any, student: Any, reference: Any, most: int, tol: float | None, rule: str, own: bool, seed: int,
    measure_curve: bool,
) -> TeachingSet:  # fmt: skip
    """Find f*, measure the curve, and choose."""
    folds = min(FOLDS, len(rows))
    check_folds(folds, rows)
    found = _take_reference(rows, reference, folds, seed)
    curve: Curve | None = None
    if measure_curve or tol is not None:
        again = "auto" if isinstance(reference, str) else None
        curve = measure(rows, found, again, made, most, rule, own, seed)
    notes = list(rows.notes) + ([] if curve is None else list(curve.notes))
    if curve is None and (measure_curve or tol is not None):
        notes.append("no rows could be held out, so nothing was measured")
    frame = None if curve is None else curve.to_frame()
    if tol is not None:
        most, frame, note = _find_size(frame, float(tol), most)
        notes += note
    if frame is not None and rule == "auto" and _is_worse(frame, own):
        rule = "random"
        notes.append("rows chosen by 'auto' were worse than random ones on the rows held out: these are random rows")
    return _choose(rows, found, made, student, most, rule, own, seed, frame, tuple(notes))


def _choose(
    rows: Rows, found: Reference, made: Any, student: Any, size: int, rule: str, own: bool, seed: int,
    frame: pd.DataFrame | None, notes: tuple[str, ...],
) -> TeachingSet:  # fmt: skip
    """Choose from all rows, and find the labels to give."""
    among = np.arange(len(rows))
    if len(rows) > max(MOST_ROWS, size):
        among = np.sort(np.random.default_rng(seed).permutation(len(rows))[: max(MOST_ROWS, size)])
    given = rows.y if own else found.labels
    chosen = Chooser(rows.take(among), found.labels[among], made, given[among], seed).choose(rule, size)
    indices = among[chosen.indices]
    told, certificate = given[indices], None
    if rule == "auto" and not own and rows.classes is None and find_ridge(made) is not None:
        told, certificate = make_labels(made, take_rows(rows.X, indices), found.labels, rows.X)
    name = student if isinstance(student, str) else type(student).__name__
    return TeachingSet(
        indices, told, frame, chosen.rule, found, made, name, own, certificate, notes + found.notes, rows
    )


def _check_size(size: int | None, tol: float | None, rows: int) -> int:
    if (size is None) == (tol is None):
        raise InvalidInput(
            Wording(
                "give size= (how many rows) or tol= (how near to the student of all rows), and not both",
                "give --size (how many rows) or --tol (how near to the student of all rows), and not both",
            )
        )
    if tol is not None:
        if not is_number(tol) or not 0 <= float(tol) < 1:
            raise InvalidInput(f"must be a number from 0 to below 1, got {tol!r}", parameter="tol")
        return max(2, min(MOST_FOR_TOL, 3 * rows // 4))
    check_count("size", size, at_least=2)
    assert size is not None
    if size > rows:
        raise InvalidInput(f"must be at most the number of rows, {rows}, got {size}", parameter="size")
    return int(size)


def _take_reference(rows: Rows, reference: Any, folds: int, seed: int) -> Reference:
    if not isinstance(reference, Reference):
        return make_reference(rows, reference, folds, False, seed)
    if len(reference.labels) != len(rows):
        raise InvalidInput(
            f"answers {say_count(len(reference.labels), 'row')} and X has {len(rows):,}: make it from the same rows",
            parameter="reference",
        )
    if list(_of(reference.classes)) != list(_of(rows.classes)):
        raise InvalidInput("has other classes than y: make it from the same rows", parameter="reference")
    return reference


def _of(classes: NDArray[Any] | None) -> Any:
    return () if classes is None else classes


def _find_size(frame: pd.DataFrame | None, tol: float, most: int) -> tuple[int, pd.DataFrame | None, list[str]]:
    """Return the least size within the tolerance, the curve up to it, and a note where none is."""
    if frame is None:
        raise InvalidInput("tol= needs rows to hold out, and there are too few: give size= instead")
    near = np.flatnonzero(frame["chosen"].to_numpy() >= frame["all_rows"].to_numpy() - tol)
    if near.size:
        upto = frame.iloc[: near[0] + 1]
        return int(upto["size"].iloc[-1]), upto, []
    best = float(np.nanmax(frame["chosen"]))
    short = float(frame["all_rows"].iloc[0]) - best
    return (
        most,
        frame,
        [f"no size up to {most} reaches tol={tol:g}: the student is {short:.3f} below that of all rows"],
    )


def _is_worse(frame: pd.DataFrame, own: bool) -> bool:
    last, name = frame.iloc[-1], "random_own" if own else "random_reference"
    return bool(last["chosen"] < last[name] - last[f"{name}_spread"])
