from .classifier import GreedyKernelClassifier as GreedyKernelClassifier
from .record import GreedyLesson as GreedyLesson
from .regressor import GreedyKernelRegressor as GreedyKernelRegressor
