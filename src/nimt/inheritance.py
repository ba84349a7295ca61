"""Whether an object behaves as one of our classes does, or belongs to a subclass that changed it."""

from __future__ import annotations


def behaves_like(thing: object, kind: type, *methods: str) -> bool:
    """Say whether `thing` is of this kind and inherits these methods unchanged.

    Fast code that was written for a class is right for a subclass only if the subclass did not override these methods.

    Examples
    --------
    >>> class Loud(dict):
    ...     def keys(self): return ["!"]
    >>> behaves_like(Loud(), dict, "values"), behaves_like(Loud(), dict, "keys")
    (True, False)
    """
    if type(thing) is kind:
        return True
    return isinstance(thing, kind) and all(getattr(type(thing), name) is getattr(kind, name) for name in methods)
