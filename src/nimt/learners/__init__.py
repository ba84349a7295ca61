"""What is taught: our learners, each with its pupil, and anything with `predict` and `partial_fit`."""

from nimt.learners.base import Learner
from nimt.learners.kernel import KernelLearner
from nimt.learners.linear import LinearLearner
from nimt.learners.orthogonal import OrthogonalLearner

__all__ = ["KernelLearner", "Learner", "LinearLearner", "OrthogonalLearner"]
