"""What is taught: our learners, each with its pupil, and anything with `predict` and `partial_fit`.

A name is loaded when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
