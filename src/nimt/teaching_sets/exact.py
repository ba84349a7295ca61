"""The teaching set of a kernel ridge student: labels with which it returns a function exactly, and a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from nimt.arrays import Array
from nimt.teaching_sets.row_checks import Features

CUT = 1e-10  # of the largest singular value: smaller ones are rounding errors of the kernel matrix


@dataclass(frozen=True, eq=False)
class Certificate:
    r"""The proof that a kernel ridge student returns f = mean + sum_i a_i K(., x_i) from its teaching set [Qian22].

    The labels are y = mean + (K + alpha I) a, so that the student's own equation (K + alpha I) c = y - mean has the
    solution c = a.

    Attributes
    ----------
    coefficients : array (m,)
        a: of all functions of this form, f is the nearest to the reference on the rows.
    mean : float
        0 for a student that does not subtract the mean of its labels.
    difference : float
        The largest |student - f| over all rows, measured on the fitted student: rounding errors only.
    distance : float
        The root mean square of f - reference over all rows: what a set of this size cannot teach.
    """

    coefficients: Array
    mean: float
    difference: float
    distance: float

    def __str__(self) -> str:
        return (
            f"the student returns its target to {self.difference:.1e}, and this target is {self.distance:.3g} from "
            f"the reference (root mean square)"
        )


def find_ridge(student: Any) -> tuple[Pipeline | None, KernelRidge, bool] | None:
    """Return the steps before kernel ridge, the kernel ridge, and whether it subtracts the mean; None for others."""
    steps, last = (student[:-1], student[-1]) if isinstance(student, Pipeline) else (None, student)
    centres = False
    if isinstance(last, TransformedTargetRegressor):
        if type(last.transformer) is not StandardScaler or last.func is not None:
            return None
        last, centres = last.regressor, bool(last.transformer.with_mean)
    if type(last) is not KernelRidge or np.ndim(last.alpha):
        return None
    return steps, last, centres


def make_labels(student: Any, X: Features, answers: Array, everywhere: Features) -> tuple[Array, Certificate]:
    """Return the labels for chosen rows, and the certificate.

    Parameters
    ----------
    student : estimator
        One of which `find_ridge` found the parts.
    X : features (m, d)
        The chosen rows.
    answers : array (n,)
        What the reference answers on all rows.
    everywhere : features (n, d)
        All rows.
    """
    found = find_ridge(student)
    assert found is not None
    steps, ridge, centres = found
    near, far = X, everywhere
    if steps is not None and len(steps):
        fitted = clone(steps).fit(X)  # as the student will fit them: to the chosen rows alone
        near, far = fitted.transform(X), fitted.transform(everywhere)
    near, far = np.asarray(near, dtype=np.float64), np.asarray(far, dtype=np.float64)
    kernel = clone(ridge).fit(near, np.zeros(len(near)))
    gram, columns = kernel._get_kernel(near, near), kernel._get_kernel(far, near)
    system = gram + float(ridge.alpha) * np.eye(len(near))
    if not centres:
        coefficients = np.linalg.lstsq(columns, answers, rcond=CUT)[0]
        mean = 0.0
    else:
        # the student subtracts the mean of its labels: they must have the mean that they add, so 1'(K + alpha I) a = 0
        basis = np.linalg.svd(system.sum(axis=0)[np.newaxis])[2][1:].T
        solved = np.linalg.lstsq(np.column_stack([columns @ basis, np.ones(len(far))]), answers, rcond=CUT)[0]
        coefficients, mean = basis @ solved[:-1], float(solved[-1])
    target = mean + columns @ coefficients
    labels = np.asarray(mean + system @ coefficients)
    returned = clone(student).fit(X, labels).predict(everywhere)
    return labels, Certificate(
        coefficients=coefficients,
        mean=mean,
        difference=float(np.max(np.abs(returned - target))),
        distance=float(np.sqrt(np.mean((target - answers) ** 2))),
    )
