"""A lesson under way: taken step by step or run to the end, and kept on disk."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
