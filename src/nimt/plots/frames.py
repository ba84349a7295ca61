"""Which steps of a lesson an animation shows; without matplotlib, so that a lesson can be planned without it."""

from __future__ import annotations


def frame_steps(max_iterations: int, values: int, *, most: int = 48, largest: int = 1 << 28) -> list[int]:
    """Return steps at which to keep f^t for an animation: dense at the start, where the learner changes most.

    The i-th of m steps is max_iterations (i / m)^3. There are fewer if all f^t, of so many `values` each, would exceed
    `largest` bytes.

    Examples
    --------
    >>> frame_steps(1000, 280, most=5)
    [0, 8, 64, 216, 512, 1000]
    """
    count = max(1, min(most, largest // (8 * values)))
    return sorted({round(max_iterations * (i / count) ** 3) for i in range(count + 1)})
