"""Numbers of things in sentences: "1 step", "2 steps"."""

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
