from .choosing import ENGINES as ENGINES
