"""Whole counts: visits are rounded a part at a time, and what follows is solved again for what is left."""

from __future__ import annotations

import math

import numpy as np

from nimt.arrays import Indices
from nimt.planning.relaxation import CLOSE, insert_visits, solve_counts
from nimt.planning.visit_list import VisitProblem, Visits

PARTS = 16  # in which the list is rounded
SPARE = 1.5  # how many times the shows of the relaxed list a whole one may have


def round_visits(problem: VisitProblem, visits: Visits, price: float, parts: int = PARTS) -> Indices | None:
    """Return the points shown, one after another, by a list with whole counts; None where they do not reach tol."""
    most = math.ceil(SPARE * visits.total) + len(problem.diagonal)
    shown: list[Indices] = []
    left, each = problem, visits.total / parts
    for remaining in range(parts, 0, -1):
        if left.distance < problem.radius or not len(visits.order):
            break
        cut = len(visits.order) if remaining == 1 else 1 + int(np.searchsorted(np.cumsum(visits.counts), each))
        head = Visits(visits.order[:cut], np.rint(visits.counts[:cut]))
        rest = Visits(visits.order[cut:], visits.counts[cut:])
        shown.append(np.repeat(head.order, head.counts.astype(np.intp)))
        left = left.begin_from(left.after(head)[0])
        if not len(rest.order) or left.distance < problem.radius:
            break
        rest = insert_visits(left, rest, price)
        visits, price, _ = solve_counts(left, rest, problem.radius, price, CLOSE)
        price = max(price, 1e-3 * (visits.total + 1.0))
        visits = visits.without_empty()
    end = problem.finish(left.errors, most)
    if end is None:
        end = problem.finish_greedily(left.errors, problem.step, most)
    return None if end is None else cut_after_arrival(problem, np.concatenate([*shown, end]).astype(np.intp))


def cut_after_arrival(problem: VisitProblem, shown: Indices) -> Indices:
    """Return the list up to the first step after which the radius is reached: that can be within its last visit."""
    errors = np.array(problem.errors)
    for step, i in enumerate(shown):
        if float(np.vdot(errors, errors)) < problem.radius**2:
            return shown[:step]
        errors -= problem.step * errors[:, i, np.newaxis] * problem.gram[i]
    return shown
