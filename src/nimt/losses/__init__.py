"""Losses L(f, y), one file each. They are imported in this order, by which compiled code numbers them.

A file that is not named here is imported after those that are.
"""

import importlib
import pkgutil

from nimt.losses.loss import (
    LOSSES,
    Loss,
    as_loss,
    check_labels,
    couples_outputs,
    find_label_check,
    make_described_loss,
    predicts_logits,
    teaches_classes,
    twin_of,
)

# isort: off
from nimt.losses.square import Square
from nimt.losses.hinge import Hinge
from nimt.losses.logistic import Logistic
from nimt.losses.huber import Huber
from nimt.losses.absolute import Absolute
from nimt.losses.crossentropy import CrossEntropy
from nimt.losses.perceptron import Perceptron
# isort: on

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "LOSSES", "Absolute", "CrossEntropy", "Hinge", "Huber", "Logistic", "Loss", "Perceptron", "Square", "as_loss",
    "check_labels", "couples_outputs", "find_label_check", "make_described_loss", "predicts_logits",
    "teaches_classes", "twin_of",
]  # fmt: skip
