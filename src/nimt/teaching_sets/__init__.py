"""Real rows: a reference for f*, which rows to keep, with which labels, and rows whose label is doubtful."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
