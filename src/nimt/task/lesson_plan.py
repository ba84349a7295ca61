"""How a lesson would run: which engine, how much memory, and why."""

from __future__ import annotations

from dataclasses import dataclass

from nimt import display
from nimt.counting import say_count
from nimt.errors import NotEnoughMemory


@dataclass(frozen=True)
class Plan:
    """How a lesson would run.

    Attributes
    ----------
    engine : str
    bytes : int
        Estimated memory at its peak, beyond the arrays given.
    window : int or None
        How many points one example changes: the cells of the kernel's window, or the average number of neighbours;
        None for all.
    reason : str
    """

    engine: str
    bytes: int
    window: int | None
    reason: str

    def __str__(self) -> str:
        changed = "every point" if self.window is None else say_count(self.window, "point", "d")
        return f"{self.engine} engine, about {readable(self.bytes)}, an example changes {changed}: {self.reason}"

    def _repr_html_(self) -> str:
        changed = "every point" if self.window is None else say_count(self.window, "point", "d")
        rows = {"memory": f"about {readable(self.bytes)}", "an example changes": changed, "why": self.reason}
        return display.cell(f"Plan: {self.engine} engine", display.pairs(rows))


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


SURELY_FREE = 2**24  # bytes that need not be asked for: the question takes as long as hundreds of steps


def check_memory(plan: Plan) -> None:
    """Raise if a lesson needs more memory than is free, before anything is allocated."""
    if plan.bytes <= SURELY_FREE:
        return
    free = available_memory()
    if free is not None and plan.bytes > free:
        raise NotEnoughMemory(
            f"this lesson would need about {readable(plan.bytes)} on the {plan.engine} engine, and "
            f"{readable(free)} are free: use a smaller pool, a narrower kernel, record='picks', or engine='auto'"
        )


def available_memory() -> int | None:
    """Return the bytes of free memory, None if the system does not report them."""
    import psutil

    try:
        return int(psutil.virtual_memory().available)
    except (OSError, RuntimeError, NotImplementedError):
        return None
