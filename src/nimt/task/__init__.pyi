from .task import Plan as Plan
from .task import Task as Task
