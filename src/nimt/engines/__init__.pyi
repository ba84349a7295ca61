from .choosing import ENGINES as ENGINES
from .choosing import Plan as Plan
