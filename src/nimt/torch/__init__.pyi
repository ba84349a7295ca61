from .influence import NINTTeacher as NINTTeacher
from .influence import ntk_influence as ntk_influence
from .learner import TorchLearner as TorchLearner
from .looping import TaughtSampler as TaughtSampler
from .looping import TeachingLoop as TeachingLoop
from .looping import taught as taught

__all__: list[str]
