"""Rows whose label disagrees with a reference that did not see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from nimt.errors import InvalidInput
from nimt.teaching_sets.fold_answers import FOLDS, check_enough
from nimt.teaching_sets.making_reference import check_seed, check_watch, make_reference
from nimt.teaching_sets.model_answers import can_be_fitted
from nimt.teaching_sets.models import says_classes, with_few_threads
from nimt.teaching_sets.reference import Reference
from nimt.teaching_sets.row_checks import read_rows
from nimt.wording import Watcher, be_silent

if TYPE_CHECKING:
    import pandas as pd

NORMAL = 1.4826  # the deviation of normal errors, in medians of their size
STRONG = 3.0  # deviations at which the label of a number is listed
FINEST = 1e-3  # of the deviation of the labels: what is missed by less is no mistake


def suspects(
    X: Any,
    y: ArrayLike,
    reference: Any = None,
    *,
    classes: bool | None = None,
    seed: int = 0,
    watch: Watcher = be_silent,
) -> pd.DataFrame:
    """List rows whose label disagrees with what a model of the other rows answers, the strongest first.

    Of classes, every row is listed whose label is not the answer; its strength is the answer's share minus that of the
    label, from 0 to 1. Of numbers, those are listed whose residual is more than 3 deviations from the median residual,
    where the deviation is 1.4826 times the median size, and at least a thousandth of that of the labels; its strength
    is in deviations.

    Parameters
    ----------
    X : array (n, d), or DataFrame
    y : array (n,)
    reference : Reference, estimator or callable, optional
        `nimt.reference(X, y, out_of_fold=True)` by default. One whose labels are not out of fold is fitted again so; a
        callable answers as it is.
    classes : bool, optional
        As in `nimt.reference`.
    seed : int
    watch : callable of str
        As in `nimt.reference`.

    Returns
    -------
    DataFrame
        Columns `row` (its place in X), `label`, `reference` and `strength`; the index is that of X.

    Examples
    --------
    >>> x = np.linspace(0, 1, 50)
    >>> y = 2 * x + np.random.default_rng(0).normal(0, 0.1, 50)
    >>> y[7] = 3.0
    >>> suspects(x, y)["row"].tolist()
    [7]
    """
    import pandas as pd

    if classes is None:
        classes = reference.classes is not None if isinstance(reference, Reference) else says_classes(reference)
    rows = read_rows(X, y, classes)
    check_seed(seed)
    check_watch(watch)
    check_enough(rows)
    model = reference
    found = reference if isinstance(reference, Reference) else None
    if found is None or not found.out_of_fold:
        model = "auto" if reference is None else found.model if found is not None else reference
        fits = isinstance(model, str) or can_be_fitted(model)
        if found is None or fits:
            with with_few_threads(model, len(rows)):
                found = make_reference(rows, model, FOLDS, fits, int(seed), watch, "reference")
    if len(found.labels) != len(rows):
        raise InvalidInput(
            f"answers {len(found.labels)} rows and X has {len(rows)}: make it from the same rows", parameter="reference"
        )
    if list(() if found.classes is None else found.classes) != list(() if rows.classes is None else rows.classes):
        raise InvalidInput("has other classes than y: make it from the same rows", parameter="reference")
    if rows.classes is None:
        residual = rows.y - found.labels
        residual = residual - np.median(residual)
        scale = NORMAL * float(np.median(np.abs(residual)))
        scale = max(scale, FINEST * NORMAL * float(np.median(np.abs(rows.y - np.median(rows.y)))))
        strength = np.abs(residual) / scale if scale > 0 else np.where(residual != 0, np.inf, 0.0)
        doubtful = np.flatnonzero(strength > STRONG)
    else:
        assert found.scores is not None
        of_label = found.scores[np.arange(len(rows)), np.searchsorted(rows.classes, rows.y)]
        of_answer = found.scores[np.arange(len(rows)), np.searchsorted(rows.classes, found.labels)]
        strength = np.maximum(of_answer - of_label, 0.0)
        doubtful = np.flatnonzero(found.labels != rows.y)
    doubtful = doubtful[np.argsort(-strength[doubtful], kind="stable")]
    index = doubtful if isinstance(rows.X, np.ndarray) else rows.X.index[doubtful]
    listed = {
        "row": doubtful, "label": rows.y[doubtful], "reference": found.labels[doubtful], "strength": strength[doubtful]
    }  # fmt: skip
    return pd.DataFrame(listed, index=index)
