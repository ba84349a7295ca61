from .influence import NINTTeacher as NINTTeacher
from .influence import ntk_influence as ntk_influence
from .looping import TeachingLoop as TeachingLoop
from .looping import TeachingSampler as TeachingSampler
from .looping import teach as teach
from .torch_learner import TorchLearner as TorchLearner

__all__: list[str]
