"""How much a greedy teacher wants to show a point, one file for each score, numbered in the order of these imports.

A file that is not named here is imported after those that are.
"""

import importlib
import pkgutil

# isort: off
from nimt.teachers.scores.score import SCORES, Score
from nimt.teachers.scores.residual import Residual
from nimt.teachers.scores.gradient import Gradient
from nimt.teachers.scores.loss_value import LossValue
from nimt.teachers.scores.surrogate_score import Surrogate
from nimt.teachers.scores.omniscient_score import Omniscient
from nimt.teachers.scores.decrease import Decrease, JointDecrease
from nimt.teachers.scores.response import Response
from nimt.teachers.scores.own_score import OwnScore
# isort: on

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "SCORES", "Decrease", "Gradient", "JointDecrease", "LossValue", "Omniscient", "OwnScore", "Residual", "Response",
    "Score", "Surrogate",
]  # fmt: skip
