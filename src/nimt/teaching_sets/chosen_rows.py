"""The rows to keep for a student, in order, with the labels to give, and what they are worth beside random rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt.arrays import check_flag
from nimt.counting import readable, say_count
from nimt.errors import InvalidInput, NotEnoughMemory
from nimt.task.task import available_memory
from nimt.teaching_sets.choosing_rules import MOST_ROWS, Chooser, check_rule
from nimt.teaching_sets.curve import MOST_ASKED, Measured, measure
from nimt.teaching_sets.exact import find_ridge, make_labels
from nimt.teaching_sets.fold_answers import FOLDS, check_enough
from nimt.teaching_sets.kept_rows import TeachingSet
from nimt.teaching_sets.making_reference import MOST_FITTED, check_seed, check_watch, make_reference
from nimt.teaching_sets.models import CENTRES, MOST_WORDS, make_student, says_classes, with_few_threads, with_one_thread
from nimt.teaching_sets.reference import Reference
from nimt.teaching_sets.row_checks import Rows, check_size, read_rows, take_rows
from nimt.wording import Watcher, Wording, be_silent

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("reference", "rows")
MUCH_MEMORY = 1 << 28  # bytes, from which on they are told
COPIES = 4  # of prepared rows that a fit holds at a time
NO_ROWS_FOR_TOL = Wording(
    "tol= needs rows to hold out, and there are too few: give size= instead",
    "--tol needs rows to hold out, and there are too few: give --size instead",
)


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
    watch: Watcher = be_silent,
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
    watch : callable of str
        Called with a sentence before each part of the work, such as `print`.

    Notes
    -----
    Where "auto" or `tol` decides by rows held out, a third of these decides, and the curve is of the others: what is
    reported did not choose. Of more than 5,000 rows, so many are drawn at random to choose from, and 2,000 to measure
    on, which is noted; time and memory do not grow with the rest, but for f*'s answers.

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
    check_enough(rows)
    most = check_size(size, tol, len(rows))
    check_seed(seed)
    check_watch(watch)
    check_flag("measure_curve", measure_curve)
    if labels not in LABELS:
        raise InvalidInput(f"must be 'reference' or 'rows', got {labels!r}", parameter="labels")
    check_rule(rule, rows)
    made = make_student(student, rows.X, rows.classes is not None, int(seed))
    _check_memory(rows, most, watch)
    with with_few_threads(reference, len(rows)):
        found = _take_reference(rows, reference, FOLDS, int(seed), watch)
    with with_one_thread():
        return _make(
            rows, made, student, found, isinstance(reference, str), most, tol, rule, labels == "rows", int(seed),
            measure_curve, watch,
        )  # fmt: skip


def expect_memory(rows: Rows, size: int) -> int:
    """Return about how many bytes the choice takes at most, beside what a student of the user takes.

    That is: two copies of the rows; models of f* of those to which they are fitted, prepared and with their kernel
    features; and the prepared rows to choose from, with a basis of `size` functions.
    """
    count, columns = rows.X.shape
    width = columns
    if not isinstance(rows.X, np.ndarray):
        words = [column for name, column in rows.X.items() if column.dtype.kind != "f"]
        width += sum(min(column.nunique(), MOST_WORDS) for column in words)
    fitted, among = min(count, MOST_FITTED), min(count, max(MOST_ROWS, size))
    copies = 2 * count * columns + COPIES * fitted * (width + CENTRES) + among * (size + COPIES * width)
    return int(np.dtype(np.float64).itemsize * copies)


def _check_memory(rows: Rows, size: int, watch: Watcher) -> None:
    """Refuse rows that do not fit into memory, and tell of much."""
    needed, free = expect_memory(rows, size), available_memory()
    count = say_count(len(rows), "row")
    if free is not None and needed > free:
        raise NotEnoughMemory(
            f"{count} need about {readable(needed)}, and {readable(free)} are free: give fewer rows, or fewer columns"
        )
    if needed > MUCH_MEMORY:
        watch(f"{count} take about {readable(needed)} of memory, beside what the student takes")


def _make(
    rows: Rows, made: Any, student: Any, found: Reference, is_auto: bool, most: int, tol: float | None, rule: str,
    own: bool, seed: int, measure_curve: bool, watch: Watcher,
) -> TeachingSet:  # fmt: skip
    """Measure the curve, and choose."""
    measured: Measured | None = None
    if measure_curve or tol is not None:
        again = "auto" if is_auto else None
        decides = rule == "auto" or tol is not None
        measured = measure(rows, found, again, made, most, rule, own, seed, decides, watch)
    notes = list(rows.notes) + ([] if measured is None else list(measured.notes))
    frame, deciding = _take_frames(measured)
    if tol is not None:
        most, note = _find_size(deciding, float(tol), most)
        frame = None if frame is None else frame[frame["size"] <= most]
        notes += note
    if frame is not None and deciding is not None and rule == "auto" and _is_worse(deciding, most, own):
        rule, drawn = "random", "random_own" if own else "random_reference"
        frame = frame.assign(chosen=frame[drawn], chosen_spread=frame[f"{drawn}_spread"])
        notes.append("rows chosen by 'auto' were worse than random ones on rows held out: these are random rows")
    if len(rows) > max(MOST_ROWS, most):
        notes.append(_describe_draws(len(rows), max(MOST_ROWS, most), frame is not None))
    return _choose(rows, found, made, student, most, rule, own, seed, frame, tuple(notes), watch)


def _take_frames(measured: Measured | None) -> tuple[pd.DataFrame | None, pd.DataFrame | None]:
    """Return the curve that is reported, and the one that decides, where rows were enough for one."""
    if measured is None or measured.reported is None:
        return None, None
    frame = measured.reported.to_frame()
    if frame["chosen"].isna().all():  # the student failed on all of them, which a note says
        return None, None
    return frame, None if measured.deciding is None else measured.deciding.to_frame()


def _describe_draws(count: int, most: int, measured: bool) -> str:
    told = f"rows are chosen among {most:,} drawn at random from {count:,}"
    if not measured:
        return told
    return (
        f"{told}; the curve too, so that its 'all rows' are {MOST_ROWS:,}, and it is measured on {MOST_ASKED:,} others"
    )


def _choose(
    rows: Rows, found: Reference, made: Any, student: Any, size: int, rule: str, own: bool, seed: int,
    frame: pd.DataFrame | None, notes: tuple[str, ...], watch: Watcher,
) -> TeachingSet:  # fmt: skip
    """Choose from all rows, and find the labels to give."""
    among = np.arange(len(rows))
    if len(rows) > max(MOST_ROWS, size):
        among = np.sort(np.random.default_rng(seed).permutation(len(rows))[: max(MOST_ROWS, size)])
    given = rows.y if own else found.labels
    chosen = Chooser(rows.take(among), found.labels[among], made, given[among], seed, watch).choose(rule, size)
    indices = among[chosen.indices]
    told, certificate = given[indices], None
    if rule == "auto" and not own and rows.classes is None and find_ridge(made) is not None:
        told, certificate = make_labels(made, take_rows(rows.X, indices), found.labels, rows.X)
    name = student if isinstance(student, str) else type(student).__name__
    return TeachingSet(
        indices,
        told,
        frame,
        chosen.rule,
        found,
        made,
        name,
        own,
        certificate,
        tuple(dict.fromkeys(notes + found.notes)),
        rows,
    )


def _take_reference(rows: Rows, reference: Any, folds: int, seed: int, watch: Watcher) -> Reference:
    if not isinstance(reference, Reference):
        return make_reference(rows, reference, folds, False, seed, watch, "reference")
    if len(reference.labels) != len(rows):
        raise InvalidInput(
            f"answers {say_count(len(reference.labels), 'row')} and X has {len(rows):,}: make it from the same rows",
            parameter="reference",
        )
    width = len(reference.columns) or getattr(reference.model, "n_features_in_", rows.X.shape[1])
    if width != rows.X.shape[1]:
        raise InvalidInput(
            f"was made from {say_count(width, 'column')} and X has {rows.X.shape[1]}: make it from the same rows",
            parameter="reference",
        )
    if list(_of(reference.classes)) != list(_of(rows.classes)):
        raise InvalidInput("has other classes than y: make it from the same rows", parameter="reference")
    return reference


def _of(classes: NDArray[Any] | None) -> Any:
    return () if classes is None else classes


def _find_size(frame: pd.DataFrame | None, tol: float, most: int) -> tuple[int, list[str]]:
    """Return the least size within the tolerance on the rows that decide, and a note where none is."""
    if frame is None:
        raise InvalidInput(NO_ROWS_FOR_TOL)
    near = np.flatnonzero(frame["chosen"].to_numpy() >= frame["all_rows"].to_numpy() - tol)
    if near.size:
        return int(frame["size"].iloc[near[0]]), []
    short = float(frame["all_rows"].iloc[0]) - float(np.nanmax(frame["chosen"]))
    told = f"no size up to {most} reaches tol={tol:g}: the student is {short:.3f} below that of all rows"
    return most, [told]


def _is_worse(frame: pd.DataFrame, size: int, own: bool) -> bool:
    """Return whether chosen rows are clearly worse than random ones, at the largest size that is not above one."""
    labels = "own" if own else "reference"
    last = frame[frame["size"] <= size].iloc[-1]
    return bool(last["chosen"] < last[f"random_{labels}"] - last[f"gain_{labels}_spread"])
