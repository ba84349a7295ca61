"""Sparse kernel models for scikit-learn, with centres chosen one after the other by the rules of the teachers.

A name is loaded when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
