"""Sparse kernel models for scikit-learn, with centres chosen one after the other by the rules of the teachers."""

from nimt.estimators.classifier import GreedyKernelClassifier
from nimt.estimators.record import GreedyLesson
from nimt.estimators.regressor import GreedyKernelRegressor

__all__ = ["GreedyKernelClassifier", "GreedyKernelRegressor", "GreedyLesson"]
