"""The features and the target of real rows, as scikit-learn's estimators take them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import LARGEST, Array, Indices, check_count, check_squares, is_number
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.wording import Wording

if TYPE_CHECKING:
    import pandas as pd

MOST_CLASSES = 20  # different whole numbers that are taken for classes
FEWEST_ALONE = 5  # rows, of which each may not have a class of its own
LARGEST_WHOLE = 2.0**53  # beyond it a float does not tell neighbouring whole numbers apart
SECONDS_OF_A_DAY = 86_400.0
NANOSECONDS_OF_A_DAY = 86_400e9
NUMBERS = (int, float, np.number, Decimal, Fraction)
NESTED = (list, tuple, dict, set, np.ndarray)

STUDENT_NAMES = ("linear", "svm", "kernel-ridge", "forest", "trees", "network", "neighbours")
MOST_FOR_TOL = 500  # rows that are tried to reach a tolerance

AS_NUMBERS = Wording("classes=False", "--numbers")

Features = Any  # an array (n, d) of float64, or a DataFrame of columns of float64 and of words


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with their labels, checked.

    Attributes
    ----------
    X : array (n, d) of float64, or DataFrame
        A DataFrame if one was given, or if there are words.
    y : array (n,)
        Numbers, or classes as they were given.
    classes : array (q,) or None
        The different classes, sorted; None for numbers.
    notes : tuple of str
        What the user should know of them.
    """

    X: Features
    y: NDArray[Any]
    classes: NDArray[Any] | None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.y)

    def take(self, places: Indices) -> Rows:
        """Return some of the rows."""
        return replace(self, X=take_rows(self.X, places), y=self.y[places])


def take_rows(X: Features, places: Indices) -> Features:
    """Return some rows of features."""
    return X.iloc[places] if hasattr(X, "iloc") else X[places]


def read_rows(X: Any, y: Any, classes: bool | None = None, what: str = "y") -> Rows:
    """Return rows that are checked; `classes` says whether the labels are classes, None lets them tell.

    `what` is how errors call the labels.
    """
    if classes is not None and not isinstance(classes, bool | np.bool_):
        raise InvalidInput(f"must be True, False or None, got {classes!r}", parameter="classes")
    features = read_features(X)
    labels, names, notes = _read_labels(y, classes, what)
    if len(features) != len(labels):
        raise InvalidInput(f"X has {say_count(len(features), 'row')} and y has {say_count(len(labels), 'label')}")
    if len(labels) < 2:
        raise InvalidInput(f"X has {say_count(len(labels), 'row')}: at least 2 are needed")
    return Rows(features, labels, names, notes + _describe_features(features) + _describe_copies(features, labels))


def read_features(X: Any) -> Features:
    """Return features as numbers and words; a missing number is NaN, a missing word is empty."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return _read_frame(X)
    if hasattr(X, "toarray"):
        raise InvalidInput("X is sparse, and dense rows are needed: give X.toarray()")
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InvalidInput(f"X is not a table of rows: {error}") from None
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidInput(f"X must have shape (rows, features), got {np.shape(X)}")
    if array.dtype.kind in "biuf":
        numbers = array.astype(np.float64)
        _check_not_infinite(numbers, "X")
        return numbers
    if array.dtype.kind not in "OUS":
        raise InvalidInput(f"X must hold numbers or words, got dtype {array.dtype}")
    named = pd.DataFrame(array, columns=[f"x_{place + 1}" for place in range(array.shape[1])])
    read = _read_frame(named)
    return read.to_numpy() if all(kind.kind == "f" for kind in read.dtypes) else read


def _read_frame(frame: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    names = [str(name) for name in frame.columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput(f"X has several columns called {twice!r}: give each a name of its own")
    if not names:
        raise InvalidInput("X has no column: at least one feature is needed")
    columns = {name: _read_column(frame.iloc[:, place], name) for place, name in enumerate(names)}
    return pd.DataFrame(columns, index=frame.index)


def _read_column(column: pd.Series, name: str) -> NDArray[Any]:
    import pandas as pd

    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert(None)
    if column.dtype.kind == "M":  # days since 1970-01-01
        when = column.to_numpy().astype("datetime64[ns]")
        return np.where(np.isnat(when), np.nan, when.astype(np.int64) / NANOSECONDS_OF_A_DAY)
    if column.dtype.kind == "m":
        return np.asarray(column.dt.total_seconds() / SECONDS_OF_A_DAY)
    if column.dtype.kind in "biuf":
        numbers = np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        _check_not_infinite(numbers, f"the column {name!r}")
        return numbers
    if column.dtype.kind == "c":
        raise InvalidInput(f"the column {name!r} holds complex numbers: give real ones")
    cells = list(column)
    lacking = column.isna().to_numpy()
    known = [cell for cell, is_lacking in zip(cells, lacking, strict=True) if not is_lacking]
    if known and all(isinstance(cell, NUMBERS) for cell in known):
        where = f"the column {name!r}"
        numbers = np.array(
            [np.nan if gone else _as_float(cell, where) for cell, gone in zip(cells, lacking, strict=True)]
        )
        _check_not_infinite(numbers, f"the column {name!r}")
        return numbers
    nested = next((cell for cell in known if isinstance(cell, NESTED)), None)
    if nested is not None:
        raise InvalidInput(f"the column {name!r} holds {nested!r:.60}: give each part a column of its own")
    words = ["" if gone else str(cell) for cell, gone in zip(cells, lacking, strict=True)]
    return np.array(words, dtype=object)


def _as_float(cell: Any, where: str) -> float:
    try:
        return float(cell)
    except OverflowError:
        raise InvalidInput(f"{where} has a number of {len(str(cell))} digits: give it in other units") from None


def _check_not_infinite(numbers: Array, what: str) -> None:
    wrong = np.argwhere(np.abs(numbers) > LARGEST)
    if len(wrong):
        found = numbers[tuple(wrong[0])]
        why = "every number must be finite" if np.isinf(found) else "its square is infinite, give it in other units"
        raise InvalidInput(f"{what} has {found:g} in row {wrong[0][0]}: {why}")


def _describe_features(X: Features) -> tuple[str, ...]:
    """Return notes on missing values, and on numbers that are written as words."""
    written = () if isinstance(X, np.ndarray) else tuple(name for name in X.columns if _holds_written_numbers(X[name]))
    told = tuple(f"the column {name!r} holds numbers written as words, and is taken for words" for name in written)
    return _describe_missing(X) + told


def _holds_written_numbers(column: pd.Series) -> bool:
    if column.dtype.kind == "f":
        return False
    try:
        return bool(np.isfinite([float(word) for word in column.unique() if word]).all()) and bool((column != "").any())
    except ValueError:
        return False


def _describe_missing(X: Features) -> tuple[str, ...]:
    numbers = X if isinstance(X, np.ndarray) else X.select_dtypes("number").to_numpy()
    count = int(np.isnan(numbers).sum())
    told = (f"{say_count(count, 'missing number')} filled in by the median of the column",) if count else ()
    absent = 0 if isinstance(X, np.ndarray) else int((X.select_dtypes(exclude="number") == "").to_numpy().sum())
    return told + ((f"{say_count(absent, 'missing word')} taken for one more word of the column",) if absent else ())


def find_copies(X: Features, y: NDArray[Any]) -> Indices:
    """Return the place of the first row that each row is a copy of, label and all; of a row that is none, its own.

    Equal rows with several labels are no copies: they were measured several times.

    Examples
    --------
    >>> find_copies(np.array([[1.0], [2.0], [1.0], [2.0]]), np.array([5.0, 6.0, 5.0, 7.0]))
    array([0, 1, 0, 3])
    """
    import pandas as pd

    places = np.arange(len(y))
    frame = pd.DataFrame(X) if isinstance(X, np.ndarray) else X
    hashes = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    equal, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    if len(equal) == len(y):
        return places
    several = np.zeros(len(equal), dtype=bool)
    several[group[y != y[first[group]]]] = True
    return np.where(several[group], places, first[group])


def _describe_copies(X: Features, y: NDArray[Any]) -> tuple[str, ...]:
    count = int((find_copies(X, y) != np.arange(len(y))).sum())
    copies = "1 row is a copy of another" if count == 1 else f"{count:,} rows are copies of others"
    return (f"{copies}, label and all: no model is judged on a row of which it has seen a copy",) if count else ()


def _read_labels(y: Any, classes: bool | None, what: str) -> tuple[NDArray[Any], NDArray[Any] | None, tuple[str, ...]]:
    """Return labels, the classes if they are some, and a note where whole numbers are taken for classes."""
    import pandas as pd

    column = y if isinstance(y, pd.Series) else None
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        column = y.iloc[:, 0]
    try:
        labels = np.asarray(y if column is None else column.to_numpy())
    except ValueError:  # lists of several lengths
        raise InvalidInput(f"{what} must hold one label per row, got lists of several lengths") from None
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InvalidInput(f"{what} must hold one label per row, got shape {labels.shape}: give one target at a time")
    lacking = np.flatnonzero(pd.isna(labels))
    if lacking.size:
        raise InvalidInput(f"{what} has no label in row {lacking[0]}: leave rows without one out")
    if labels.dtype.kind == "O" and all(isinstance(cell, NUMBERS) for cell in labels.tolist()):
        labels = np.array([_as_float(cell, what) for cell in labels.tolist()])
    if labels.dtype.kind in "mMc":
        raise InvalidInput(f"{what} holds {labels.dtype}: give numbers, such as days, or words for classes")
    if labels.dtype.kind not in "biuf":
        if classes is False:
            raise InvalidInput(f"{what} holds words, such as {str(labels[0])!r}, and a regressor needs numbers")
        words = labels.astype(str)
        return words, _check_classes(words, what), ()
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise InvalidInput(f"{what} has an infinite label in row {np.flatnonzero(np.isinf(labels))[0]}")
    different = np.unique(labels) if len(labels) else labels
    whole = labels.dtype.kind != "f" or bool(
        ((different == np.round(different)) & (np.abs(different) < LARGEST_WHOLE)).all()
    )
    few = whole and len(different) <= min(MOST_CLASSES, max(2, len(labels) // 5))
    if classes is None and labels.dtype.kind != "b" and few and len(different) > 1:
        names = ", ".join(f"{value:g}" for value in different)
        note = AS_NUMBERS.embed(f"the labels {names} are taken for classes: ", " takes them for numbers")
        return labels, different, (note,)
    if classes and not whole:
        fraction = next(value for value in different if value != round(value))
        raise InvalidInput(
            f"{what} holds numbers that are not whole, such as {fraction:g}, and a classifier needs classes"
        )
    if classes or (classes is None and labels.dtype.kind == "b"):
        return labels, _check_classes(labels, what), ()
    numbers = labels.astype(np.float64)
    if len(numbers) and numbers.min() == numbers.max():
        raise InvalidInput(f"{what} is {numbers[0]:g} in every row: there is nothing to teach")
    check_squares(what, numbers)
    return numbers, None, ()


def _check_classes(labels: NDArray[Any], what: str) -> NDArray[Any]:
    different = np.unique(labels)
    if len(different) < 2:
        raise InvalidInput(f"{what} has one class, {different[0]!s}: at least two are needed")
    if len(different) == len(labels) >= FEWEST_ALONE:
        raise InvalidInput(f"{what} has another class in every row, such as {labels[0]!s}: no row tells of another")
    return different


def check_student_name(student: str) -> None:
    """Refuse the name of no student; models are loaded after that."""
    if student not in STUDENT_NAMES:
        known = f"must be one of {', '.join(STUDENT_NAMES)}"
        raise InvalidInput(
            Wording(f"{known} or an estimator, got {student!r}", f"{known}, got {student!r}"), parameter="student"
        )


def check_size(size: int | None, tol: float | None, rows: int) -> int:
    """Return how many rows are chosen at most; refuse a size or a tolerance that cannot be."""
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
