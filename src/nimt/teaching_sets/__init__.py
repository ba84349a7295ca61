"""Real rows: a reference for f*, which rows to keep, with which labels, and rows whose label is doubtful."""

import lazy_loader

__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __dir__() -> list[str]:
    return sorted(__all__)
