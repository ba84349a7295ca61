"""The paper's theory, executable: what it says about a lesson, beside what happened, and where it does not apply."""

from nimt.theory.assumptions import Assumption
from nimt.theory.calculus import CalculusCheck, check_calculus
from nimt.theory.convergence import Bounds, Prediction, bounds
from nimt.theory.discrepancy_bounds import (
    Discrepancies,
    discrepancies,
    discrepancy_at,
    fisher_information,
    greedy_ratio,
    psi,
    ratio_of_bounds,
    repair_psi,
)
from nimt.theory.findings import Check, Inequality, Violation
from nimt.theory.forecasting import Forecast, forecast
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
from nimt.theory.loss_bounds import largest_loss_bound
from nimt.theory.magnitude import LateRate, late_rate
from nimt.theory.objective import optimal_length
from nimt.theory.reach import PoolLimit, pool_limit
from nimt.theory.replay import Moment, Replay, replay

__all__ = [
    "Assumption",
    "Bounds",
    "CalculusCheck",
    "Check",
    "Discrepancies",
    "Forecast",
    "Inequality",
    "LateRate",
    "Moment",
    "PoolLimit",
    "Prediction",
    "Replay",
    "SteepestExample",
    "Violation",
    "best_learning_rate",
    "bounds",
    "check",
    "check_calculus",
    "discrepancies",
    "discrepancy_at",
    "distance_change",
    "diverging_rate",
    "fisher_information",
    "forecast",
    "gaussian_norm",
    "greedy_ratio",
    "largest_loss_bound",
    "late_rate",
    "optimal_length",
    "pool_limit",
    "psi",
    "ratio_of_bounds",
    "repair_psi",
    "replay",
    "rkhs_distance",
    "rkhs_distances",
    "steepest_example",
]
