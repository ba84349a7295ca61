"""Numbers of things in sentences: "1 step", "2 steps", "573 MB"."""

from __future__ import annotations


def say_count(count: float, thing: str, form: str = ",") -> str:
    """Return a number with the name of what is counted, in the plural unless it is one.

    Parameters
    ----------
    count : int or float
    thing : str
        The singular.
    form : str
        How the number is written, as in a format string; usually with commas.

    Examples
    --------
    >>> say_count(1, "step"), say_count(3056, "step"), say_count(3056, "step", "d"), say_count(0, "class")
    ('1 step', '3,056 steps', '3056 steps', '0 classes')
    """
    ending = "" if count == 1 else "es" if thing.endswith("s") else "s"
    return f"{count:{form}} {thing}{ending}"


def readable(count: float) -> str:
    """Return a number of bytes as text with a unit.

    Examples
    --------
    >>> readable(573_000_000)
    '573 MB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
