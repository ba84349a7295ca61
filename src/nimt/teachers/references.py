"""What a teacher takes for f* where the labels are noisy: the answers of a reference, in the units of the learner."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices, freeze, is_number
from nimt.errors import InvalidInput
from nimt.losses import Loss, predicts_logits
from nimt.pools.pool import Pool, values_on
from nimt.teachers.teacher import View

SMALLEST_SHARE = 1e-12  # of a class that a reference excludes: its logarithm must be finite


def check_reference(reference: object) -> None:
    """Refuse what can answer nothing, before a lesson asks it."""
    if isinstance(reference, str | bytes | bool | type) or is_number(reference):
        raise InvalidInput(
            f"must be an array, a function of x, a fitted estimator or a nimt.reference, got {reference!r}",
            parameter="reference",
        )


def answer_on(reference: Any, pool: Pool, outputs: tuple[int, ...], loss: Loss) -> Array:
    """Return what a reference predicts on a pool, shape (n, *outputs), as the learner would predict it.

    A `nimt.reference` of the rows of the pool, in their order, has answered already. The shares of classes that a
    classifier tells become logits where the loss is of logits; numbers are taken as they are.

    Examples
    --------
    >>> from nimt.losses import CrossEntropy, Square
    >>> from nimt.pools.pool import Points
    >>> answer_on(np.array([1, 0]), Points([[0.0], [1.0]]), (2,), Square())
    array([[0., 1.],
           [1., 0.]])
    >>> answer_on(lambda x: 2 * x[:, 0], Points([[0.0], [1.0]]), (), Square())
    array([0., 2.])
    """
    shares = find_shares(reference, pool, outputs[0] if outputs else 2)
    if shares is not None and (outputs or predicts_logits(loss)):
        return freeze(shares_to_outputs(shares, outputs, loss))
    if outputs and shares is None and _names_classes(reference):
        return freeze(shares_to_outputs(_mark_classes(number_classes(reference, pool), outputs[0]), outputs, loss))
    values = ask(reference, pool)
    if values.shape[1:] == outputs:
        return values
    if outputs and values.ndim == 1:
        return freeze(shares_to_outputs(_mark_classes(values, outputs[0]), outputs, loss))
    return values_on(pool, values, "the reference", outputs)  # refuses it


def ask(reference: Any, pool: Pool) -> Array:
    """Return the numbers that a reference answers on a pool: values, or numbers of classes."""
    stored = getattr(reference, "labels", None)
    if is_made_of_rows(reference) and stored is not None and len(stored) == len(pool):
        classes = reference.classes
        if classes is not None and np.asarray(classes).dtype.kind not in "biuf":
            stored = np.searchsorted(classes, stored)
        return values_on(pool, np.asarray(stored, dtype=np.float64), "the reference")
    try:
        return values_on(pool, reference, "the reference")
    except InvalidInput as error:
        raise _find_unfitted(reference, error) from None


def _names_classes(reference: Any) -> bool:
    return hasattr(reference, "classes_") and callable(getattr(reference, "predict", None))


def number_classes(reference: Any, pool: Pool) -> Array:
    """Return the number of the class that a classifier names at each point, in the order of its `classes_`."""
    known = np.asarray(reference.classes_)

    def number(points: Array) -> Indices:
        return np.asarray(np.searchsorted(known, reference.predict(points)), dtype=np.intp)

    return values_on(pool, number, "the reference")


def is_made_of_rows(reference: Any) -> bool:
    """Say whether it is what `nimt.reference` returns, which a teacher must not import."""
    return all(hasattr(reference, name) for name in ("predict", "labels", "scores", "classes"))


def find_shares(reference: Any, pool: Pool, q: int) -> Array | None:
    """Return the share (n, q) of each class where the reference is a classifier that tells it, else None."""
    found: Any = None
    if is_made_of_rows(reference) and len(reference.labels) == len(pool):
        found = reference.scores
    elif not is_made_of_rows(reference) and callable(getattr(reference, "predict_proba", None)):
        try:
            found = reference.predict_proba(pool.points)
        except Exception as error:  # code of anybody
            problem = f"the reference {type(reference).__name__} failed with {type(error).__name__} ({error})"
            unfitted = InvalidInput(problem)
            unfitted.__cause__ = error
            raise _find_unfitted(reference, unfitted) from None
    if found is None:
        return None
    shares: NDArray[Any] = np.asarray(found, dtype=np.float64)
    if shares.shape != (len(pool), q):
        raise InvalidInput(
            f"the reference tells the shares of {shares.shape[-1]} classes at {len(shares)} points, and the target has "
            f"{q} classes at {len(pool)}: fit it to the same classes"
        )
    return values_on(pool, shares, "the reference")


def shares_to_outputs(shares: Array, outputs: tuple[int, ...], loss: Loss) -> Array:
    """Return shares of classes as outputs under a loss: logits, or the shares themselves.

    Examples
    --------
    >>> from nimt.losses import Logistic
    >>> shares_to_outputs(np.array([[0.5, 0.5]]), (), Logistic())
    array([0.])
    """
    if not predicts_logits(loss):
        return shares
    logits = np.log(np.maximum(shares, SMALLEST_SHARE))
    return np.asarray(logits if outputs else logits[:, 1] - logits[:, 0])


def answers_at(reference: Any, view: View, loss: Loss) -> Array:
    """Return the answers at the points of a view; those of an array are counted in the pool of the lesson."""
    outputs = view.target.shape[1:]
    if not isinstance(reference, np.ndarray):
        return answer_on(reference, view.pool, outputs, loss)
    if view.candidates.min() < 0 or view.candidates.max() >= len(reference):
        raise InvalidInput(
            f"the reference answers {len(reference)} points, and the teacher sees others: give it as a function of x"
        )
    taken = reference[view.candidates]
    if taken.shape[1:] != outputs:
        raise InvalidInput(
            f"the reference has shape {reference.shape}, and the teacher sees a target of shape {view.target.shape}: "
            f"PerOutput shows it one output at a time, leave PerOutput out"
        )
    return taken


def _mark_classes(values: Array, q: int) -> Array:
    """Return 1 in the column of the class that each answer names."""
    if not np.isin(values, np.arange(q)).all():
        raise InvalidInput(
            f"the reference has one answer per point and the target {q} outputs: give it as outputs (n, {q}), or as "
            f"numbers of columns from 0 to {q - 1}"
        )
    return np.asarray(values[:, np.newaxis] == np.arange(q), dtype=np.float64)


def _find_unfitted(reference: object, error: InvalidInput) -> InvalidInput:
    """Return a sentence of its own where an estimator was not fitted, or a module of PyTorch wants tensors."""
    name = type(reference).__name__
    if type(error.__cause__).__name__ == "NotFittedError":
        return InvalidInput(f"the reference {name} is not fitted: fit it first")
    if callable(getattr(reference, "forward", None)):
        return InvalidInput(
            f"the reference {name} is a module, which answers tensors: give nimt.reference(X, y, model=...) of it"
        )
    return error


def find_unlike(answers: Array, target: Array) -> Indices:
    """Return the points whose label, a number, is more than 3 deviations from the answer.

    The differences y - answer are taken from their median, and the deviation is 1.4826 times the median of their sizes:
    that of normal errors, which few large ones do not change. Of several outputs, one is enough.

    Examples
    --------
    >>> find_unlike(np.zeros(5), np.array([0.1, -0.1, 0.2, 9.0, 0.0]))
    array([3])
    """
    residual = (target - answers).reshape(len(target), -1)
    residual = np.abs(residual - np.median(residual, axis=0))
    deviation = NORMAL * np.median(residual, axis=0)
    return np.flatnonzero((residual > STRONG * deviation).any(axis=1))


NORMAL = 1.4826  # the deviation of normal errors, in medians of their size
STRONG = 3.0  # deviations beyond which a number disagrees
