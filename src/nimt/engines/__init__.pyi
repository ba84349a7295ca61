from .choice import ENGINES as ENGINES
