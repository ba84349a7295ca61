"""PyTorch, or the sentence that says how to install it; no other module of nimt imports it."""

from __future__ import annotations

from nimt.errors import MissingExtra

try:
    import torch
except ImportError:
    raise MissingExtra("nimt.torch needs PyTorch, which is not installed: pip install 'nimt[torch]'") from None

__all__ = ["torch"]
