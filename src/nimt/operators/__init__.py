"""How K acts on a pool: its diagonal, and what a few coefficients add to the values of a function on it."""

from nimt.operators.dense import DenseOperator
from nimt.operators.operator import Operator

__all__ = ["DenseOperator", "Operator"]
