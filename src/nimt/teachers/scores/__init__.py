"""How much a greedy teacher wants to show a point, one file for each score, numbered in the order of these imports."""

# isort: off
from nimt.teachers.scores.score import SCORES, Score
from nimt.teachers.scores.residual import Residual
from nimt.teachers.scores.gradient import Gradient
from nimt.teachers.scores.loss_value import LossValue
# isort: on

__all__ = ["SCORES", "Gradient", "LossValue", "Residual", "Score"]
