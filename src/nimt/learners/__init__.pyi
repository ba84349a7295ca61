from .base import Learner as Learner
from .kernel import KernelLearner as KernelLearner
from .linear import LinearLearner as LinearLearner
from .orthogonal import OrthogonalLearner as OrthogonalLearner
