"""Whether an object still behaves as one of our classes does, or a subclass changed it."""

from __future__ import annotations


def behaves_like(thing: object, kind: type, *methods: str) -> bool:
    """Say whether `thing` is of this kind and inherits these methods unchanged.

    A fast way that was written for a class holds for a subclass only while the subclass does the same thing.

    Examples
    --------
    >>> class Loud(dict):
    ...     def keys(self): return ["!"]
    >>> behaves_like(Loud(), dict, "values"), behaves_like(Loud(), dict, "keys")
    (True, False)
    """
    return isinstance(thing, kind) and all(getattr(type(thing), name) is getattr(kind, name) for name in methods)
