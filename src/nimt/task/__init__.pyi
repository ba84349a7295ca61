from .lesson_plan import Plan as Plan
from .task import Task as Task
