"""The paper's theory, executable: what it says about a lesson, beside what happened, and where it does not apply."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
