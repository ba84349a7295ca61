from .classroom import Classroom as Classroom
from .expansion import Expansion as Expansion
from .kernel_learner import KernelLearner as KernelLearner
from .learner import Learner as Learner
from .linear_learner import LinearLearner as LinearLearner
from .orthogonal_learner import OrthogonalLearner as OrthogonalLearner
from .prepared_learner import PreparedLearner as PreparedLearner
