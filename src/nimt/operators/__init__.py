"""How K acts on a pool: its diagonal, and what a few coefficients add to the values of a function on it."""

from nimt.operators.dense import DenseOperator
from nimt.operators.operator import Operator
from nimt.operators.random_features import NystroemKernel, RandomFeatureKernel, subsample

__all__ = ["DenseOperator", "NystroemKernel", "Operator", "RandomFeatureKernel", "subsample"]
