"""Which steps of a lesson an animation shows; without matplotlib, so that a lesson can be planned without it."""

from __future__ import annotations

SMALL = 1 << 25  # bytes of all frames in which there may be many
FEW = 6  # frames that a lesson on more values has


def frame_steps(max_iterations: int, values: int, *, most: int = 48, largest: int = 1 << 28) -> list[int]:
    """Return steps at which to keep f^t for an animation: dense at the start, where the learner changes most.

    The i-th of m steps is max_iterations (i / m)^3. There are fewer if all f^t, of so many `values` each, would exceed
    32 MB, but at least six, unless these exceed `largest` bytes.

    Examples
    --------
    >>> frame_steps(1000, 280, most=5)
    [0, 8, 64, 216, 512, 1000]
    """
    fitting = max(min(FEW, largest // (8 * values)), SMALL // (8 * values))
    count = max(1, min(most, fitting))
    return sorted({round(max_iterations * (i / count) ** 3) for i in range(count + 1)})
