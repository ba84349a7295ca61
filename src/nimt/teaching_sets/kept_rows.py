"""Rows that are kept for a student, in order, with the labels to give: what they are worth beside random rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Indices
from nimt.counting import say_count
from nimt.display import cell, sentences, table
from nimt.teaching_sets.exact import Certificate
from nimt.teaching_sets.reference import Reference
from nimt.teaching_sets.row_checks import Rows, take_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
        """What the labels gain, what choosing gains on top, and the spread of that, at the last size of the curve."""
        if self.curve is None:
            return None
        last = self.curve.iloc[-1]
        if self.own_labels:
            return 0.0, float(last["chosen"] - last["random_own"]), float(last["gain_own_spread"])
        labels = float(last["random_reference"] - last["random_own"])
        return labels, float(last["chosen"] - last["random_reference"]), float(last["gain_reference_spread"])

    @property
    def helps(self) -> bool | None:
        """Whether choosing gained more than its spread over splits and draws; None where it was not measured."""
        gains = self.gains
        return None if gains is None or np.isnan(gains[1]) else self.rule != "random" and gains[1] > gains[2]

    @property
    def sentence(self) -> str:
        """Whether choosing helped, and how much is due to the labels."""
        count, whole = len(self), len(self.reference.labels)
        of_f = "their own labels" if self.own_labels else "f*'s labels"
        how = "drawn at random" if self.rule == "random" else f"chosen by {self.rule}"
        begin = f"{count} of {say_count(whole, 'row')}, {how}, with {of_f}"
        if self.curve is None or self.gains is None:
            return f"{begin}; what they are worth was not measured"
        last = self.curve.iloc[-1]
        size = int(last["size"])
        labels, choosing, spread = self.gains
        if np.isnan(choosing):
            return f"{begin}; what they are worth was not measured, because {self.student_name} failed on {size} rows"
        told = (
            f"{begin}: with rows chosen in this way {self.student_name} has {self.measure} {last['chosen']:.3f} on "
            f"rows held out"
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
            return f"{told}, more than its spread over splits and draws ({spread:.3f})"
        within = "more than" if choosing > spread else "within"
        told += f", {within} its spread over splits and draws ({spread:.3f})"
        told += ", but the rows kept are a random draw" * (choosing > spread)
        if choosing > 0:
            return f"{told}: that choosing helps here is not sure, random rows may be as good"
        return f"{told}: choosing does not help here, random rows are as good"

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
