"""Neural networks as learners, and teachers in training loops of your own. It needs PyTorch; loaded when first used."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
