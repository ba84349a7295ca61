"""The paper's theory, executable: what it says about a lesson, beside what happened, and where it does not apply."""

from nimt.theory.assumptions import Assumption
from nimt.theory.convergence import Bounds, Prediction, bounds
from nimt.theory.discrepancy import (
    Discrepancies,
    discrepancies,
    discrepancy_at,
    fisher_information,
    greedy_ratio,
    psi,
)
from nimt.theory.findings import Check, Inequality, Violation
from nimt.theory.geometry import (
    SteepestExample,
    best_learning_rate,
    distance_change,
    diverging_rate,
    gaussian_norm,
    rkhs_distance,
    rkhs_distances,
    steepest_example,
)
from nimt.theory.inequalities import check
from nimt.theory.replay import Moment, Replay, replay

__all__ = [
    "Assumption",
    "Bounds",
    "Check",
    "Discrepancies",
    "Inequality",
    "Moment",
    "Prediction",
    "Replay",
    "SteepestExample",
    "Violation",
    "best_learning_rate",
    "bounds",
    "check",
    "discrepancies",
    "discrepancy_at",
    "distance_change",
    "diverging_rate",
    "fisher_information",
    "gaussian_norm",
    "greedy_ratio",
    "psi",
    "replay",
    "rkhs_distance",
    "rkhs_distances",
    "steepest_example",
]
