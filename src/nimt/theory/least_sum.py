r"""The smallest sum of coefficients that brings a lesson to its tolerance, bounded from below.

L = min { |b|_1 : |r0 + K b|_2 <= R }. Its dual is max r0'y - R |y| over |K y|_inf <= 1: every y, scaled so that it is
feasible, is a proof of L >= r0'y - R |y|. The alternating direction method of multipliers (ADMM) makes good ones:
it needs K only through its spectrum, so that a step costs two products with V, also where K is nearly singular.
"""

from __future__ import annotations

import numpy as np

from nimt.arrays import Array
from nimt.theory.lesson_start import LessonStart
from nimt.theory.spectrum import Spectrum, product_with

FEW_STEPS, MANY_STEPS = 150, 600  # per threshold
SMALL_POOL = 1500  # points up to which there are many
EVERY = 25  # steps after which the proof of a step is looked at
RELAXED = 1.6  # over-relaxation, as is usual
THRESHOLDS = (1.0, 10.0)  # n / |a|_1 times these: how many of the coefficients are moved at once
RIDGE = 1e-6  # of lambda_max, for the coefficients a by which the problem is scaled


def least_coefficients(start: LessonStart, spectrum: Spectrum) -> float:
    """Return a lower bound on min { |b|_1 : |r0 + K b|_2 <= R }, proved by a feasible point of the dual."""
    product = product_with(start.learner.kernel, start.pool)
    residual, radius = start.residual, start.radius

    def certify(y: Array) -> float:
        size = float(np.abs(product(y)).max())
        return (float(residual @ y) - radius * float(np.linalg.norm(y))) / size if size > 0 else 0.0

    height = float(start.diagonal.max())
    best = max(0.0, certify(residual))
    if not height > 0 or not float(spectrum.values.max()) > 0:
        return best
    values, inside = spectrum.values / height, spectrum.modes(residual)
    size = float(np.abs(spectrum.points(inside / (values + RIDGE * values.max()))).sum())
    for share in THRESHOLDS if size > 0 else ():
        for y in _multipliers(spectrum, values, inside, radius, size / (share * len(residual))):
            best = max(best, certify(y))
    return best


def _multipliers(spectrum: Spectrum, values: Array, inside: Array, radius: float, threshold: float) -> list[Array]:
    """Return the multipliers of |r0 + K b| <= R at some steps; `inside` is r0 in the modes of K."""
    n = len(values)
    sparse, near = np.zeros(n), np.zeros(n)  # copies of b, and of r0 + K b
    of_sparse, of_near = np.zeros(n), np.zeros(n)  # the multipliers of the two
    found = []
    for step in range(1, (MANY_STEPS if n <= SMALL_POOL else FEW_STEPS) + 1):
        wanted = spectrum.modes(sparse - of_sparse) + values * (spectrum.modes(near - of_near) - inside)
        in_modes = wanted / (1.0 + values**2)
        moved = RELAXED * spectrum.points(in_modes) + (1.0 - RELAXED) * sparse
        left = RELAXED * spectrum.points(inside + values * in_modes) + (1.0 - RELAXED) * near
        raw = moved + of_sparse
        sparse = np.sign(raw) * np.maximum(np.abs(raw) - threshold, 0.0)
        raw = left + of_near
        near = raw * min(1.0, radius / max(float(np.linalg.norm(raw)), np.finfo(float).tiny))
        of_sparse = of_sparse + moved - sparse
        of_near = of_near + left - near
        if step % EVERY == 0:
            found.append(of_near)
    return found
