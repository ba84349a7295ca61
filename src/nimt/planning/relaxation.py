"""The fewest shows in a list of visits whose counts need not be whole: solved for the counts, then for the places."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize

from nimt.arrays import Array, Indices
from nimt.planning.visit_list import VisitProblem, Visits

ITERATIONS = 300  # of L-BFGS-B per round
ROUNDS = 10  # of the augmented Lagrangian
SPENT = 5.0  # -log of the share of an error that a visit leaves at least
STEEPER = 3.0  # what the penalty is multiplied by where a round did not help enough
HELPED = 0.3  # of the violation before
STEEPEST = 1e3  # the largest price, of the first
CLOSE, ROUGH = 1e-4, 1e-1  # of log |f - f*|^2, at the tolerance and in the stages before
FACTOR = 4.0  # by which a stage lowers |f - f*|, about
INSERTIONS = 40  # lists tried at the tolerance itself
PATIENCE = 8  # lists tried there before the tolerance counts as out of reach
WORTH = 1e-3  # the smallest reduced price at which a visit is inserted
LONGEST_LIST = 5_000  # visits of a greedy lesson to begin with
GAIN = 5e-5  # the share of the shows that an insertion must save to go on


def solve_counts(
    problem: VisitProblem, visits: Visits, radius: float, price: float, close: float
) -> tuple[Visits, float, float]:
    """Minimise the sum of the counts so that |f - f*| is `radius`, by an augmented Lagrangian.

    Returns the visits, the price of one unit of log |f - f*|^2 in shows, and by how much that is missed.
    """
    goal, highest, penalty, before = 2.0 * math.log(radius), STEEPEST * price, price, math.inf
    counts, missed = visits.counts, math.inf

    # beyond, more shows of a visit change nothing, and its derivative says nothing
    bounds = np.stack([np.zeros(len(counts)), np.maximum(SPENT / problem.decay[visits.order], counts)], axis=1)

    def lagrangian(counts: Array) -> tuple[float, Array]:
        value, slope = problem.log_square(Visits(visits.order, counts))
        pressure = max(0.0, price + penalty * (value - goal))
        return float(counts.sum()) + (pressure**2 - price**2) / (2.0 * penalty), 1.0 + pressure * slope

    for _ in range(ROUNDS):
        options = {"maxiter": ITERATIONS, "maxcor": 20, "maxfun": 10**6, "ftol": 1e-9, "gtol": 1e-9}
        counts = minimize(lagrangian, counts, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
        missed = problem.log_square(Visits(visits.order, counts))[0] - goal
        price = min(highest, max(0.0, price + penalty * missed))
        if abs(missed) > HELPED * before:
            penalty = min(STEEPER * penalty, highest)
        before = abs(missed)
        if before < close:
            break
    return Visits(visits.order, counts), price, missed


def insert_visits(problem: VisitProblem, visits: Visits, price: float) -> Visits:
    """Insert an empty visit to every point where shows would save more than they cost, each where it saves most."""
    places, slope = problem.find_insertions(visits)
    reduced = 1.0 + price * slope
    new = np.flatnonzero(reduced < -WORTH)
    before = np.concatenate([np.arange(len(visits.order)) + 0.5, places[new]])
    value = np.concatenate([np.zeros(len(visits.order)), reduced[new]])
    order, counts = np.concatenate([visits.order, new]), np.concatenate([visits.counts, np.zeros(len(new))])
    arranged = np.lexsort((value, before))
    return Visits(order[arranged], counts[arranged])


def relax_order(problem: VisitProblem, order: Indices) -> tuple[Visits, float] | None:
    """Return the visits with the fewest shows that were found from an order of first visits, and the price of tol.

    The tolerance is approached in stages, since few visits can be far from where any counts reach it. None where it was
    not reached.
    """
    distance = problem.distance
    stages = max(1, math.ceil(math.log(distance / problem.radius) / math.log(FACTOR)))
    usual = 0.25 * len(problem.diagonal) / float(problem.decay[order].mean())
    visits = Visits(order, np.full(len(order), usual / len(order)))
    price = usual / (2.0 * math.log(FACTOR))
    for stage in range(1, stages):
        radius = distance * (problem.radius / distance) ** (stage / stages)
        for _ in range(2):
            visits, price, _ = solve_counts(problem, visits, radius, price, ROUGH)
            price = max(price, 1e-3 * visits.total)
            visits = insert_visits(problem, visits.without_empty(), price)
    return improve(problem, visits, price)


def relax_greedy_list(problem: VisitProblem) -> tuple[Visits, float] | None:
    """Do the same from the visits of a greedy lesson whose every step halves the error at its point, about."""
    step = 0.5 / float(problem.diagonal.max())
    order = problem.finish_greedily(problem.errors, step, LONGEST_LIST)
    if order is None:
        return None
    visits = Visits(order, -np.log1p(-step * problem.diagonal[order]) / problem.decay[order])
    return improve(problem, visits, visits.total / (2.0 * math.log(problem.distance / problem.radius)))


def improve(problem: VisitProblem, visits: Visits, price: float) -> tuple[Visits, float] | None:
    """Solve for the counts and insert visits where they save shows, by turns, until that saves next to nothing."""
    found: tuple[Visits, float] | None = None
    in_vain = 0
    for tried in range(INSERTIONS):
        visits, price, missed = solve_counts(problem, visits, problem.radius, price, CLOSE)
        price = max(price, 1e-3 * visits.total)
        visits = visits.without_empty()
        reached = abs(missed) < 10 * CLOSE
        saved = math.inf if found is None else found[0].total - visits.total
        if reached and saved > 0:
            found = visits, price
        in_vain = in_vain + 1 if reached and saved < GAIN * visits.total else 0
        if in_vain == 2 or (found is None and tried == PATIENCE):
            break
        more = insert_visits(problem, visits, price)
        if reached and len(more.order) == len(visits.order):
            break
        visits = more
    return found
