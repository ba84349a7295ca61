"""Labels at which a loss has a given slope, in closed form: what LAST shows."""

from __future__ import annotations

import numpy as np

from nimt.arrays import Array
from nimt.errors import InvalidInput, name_thing
from nimt.losses import CrossEntropy, Logistic, Loss, Square
from nimt.wording import Wording


def check_closed_form(loss: Loss, kind: Wording) -> None:
    """Refuse a loss whose labels have no closed form."""
    if not isinstance(loss, Square | Logistic | CrossEntropy):
        problem = (
            f" with points= makes labels for the square, the logistic and the cross-entropy loss, not "
            f"{name_thing(loss)}"
        )
        raise InvalidInput(kind.embed(after=problem), way_out="leave points= out, or use one of these losses")


def find_labels(loss: Loss, predictions: Array, slopes: Array, limits: tuple[float, float] | None) -> Array:
    """Return the labels at which the loss has these slopes, kept within limits.

    Labels of cross-entropy are probabilities: the nearest ones are taken, whatever the limits.

    Examples
    --------
    >>> find_labels(Square(), np.array([1.0]), np.array([4.0]), None)
    array([-1.])
    >>> find_labels(Logistic(), np.array([0.0, 0.0]), np.array([0.25, 3.0]), (-1.0, 1.0))
    array([-0.5, -1. ])
    """
    if isinstance(loss, CrossEntropy):
        from scipy.special import softmax

        return project_to_simplex(softmax(predictions, axis=-1) - slopes)
    if isinstance(loss, Logistic):
        from scipy.special import expit

        labels = 2.0 * (expit(predictions) - slopes) - 1.0
    else:
        labels = predictions - slopes / 2.0
    return np.asarray(labels if limits is None else np.clip(labels, *limits))


def project_to_simplex(rows: Array) -> Array:
    """Return the probabilities that are nearest to each row.

    Examples
    --------
    >>> project_to_simplex(np.array([[0.5, 0.7], [3.0, 0.0]]))
    array([[0.4, 0.6],
           [1. , 0. ]])
    """
    falling = -np.sort(-rows, axis=1)
    counts = np.arange(1, rows.shape[1] + 1)
    excess = (np.cumsum(falling, axis=1) - 1.0) / counts
    last = np.count_nonzero(falling > excess, axis=1) - 1  # entries that stay above 0
    kept = np.maximum(rows - excess[np.arange(len(rows)), last][:, np.newaxis], 0.0)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))
