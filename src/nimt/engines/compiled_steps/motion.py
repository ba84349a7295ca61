"""Momentum, decay, forgetting, a budget and averaging: `learners/update_parts`, compiled.

`motion` is a `codes.Motion`. A step is begun before the examples are added to the velocity, and ended after it.
"""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import part


@part
def look_ahead(motion, chosen, each, n, q):
    """Write to `ahead` the values at which slopes are taken."""
    for j in range(chosen.size):
        for o in range(q):
            a = (j // each * n + chosen[j]) * q + o
            motion.ahead[a] = motion.function[a]
            if motion.nesterov:
                motion.ahead[a] = motion.function[a] + motion.momentum * motion.velocity[a]


@part
def pull(kept, pulled, velocity, function):
    for s in range(velocity.size):
        velocity[s] = velocity[s] * kept - pulled * function[s]


@part
def begin_motion(motion, rate):
    """Slow the velocity down, and let it pull f towards 0."""
    pulled = rate * motion.decay
    kept = motion.momentum * (1.0 - pulled if motion.nesterov else 1.0)
    pull(kept, pulled, motion.velocity, motion.function)
    pull(kept, pulled, motion.c_velocity, motion.c_function)
    pull(kept, pulled, motion.of_start[1], motion.of_start[0])


@part
def follow(kept, function, velocity):
    for s in range(function.size):
        function[s] = function[s] * kept + velocity[s]


@part
def average(weight, mean, function):
    for s in range(mean.size):
        mean[s] += weight * (function[s] - mean[s])


@part
def end_motion(motion, columns, where, chosen, diagonal, shown, f, c, steps, n, q):
    """Move f by the velocity, remove centres beyond the budget, and take f into the mean."""
    kept = 1.0 - motion.forgetting
    follow(kept, motion.function, motion.velocity)
    follow(kept, motion.c_function, motion.c_velocity)
    follow(kept, motion.of_start[0], motion.of_start[1])
    if motion.budget > 0:
        keep_to_budget(motion, columns, where, chosen, diagonal, shown, f, c, n, q)
    if motion.averaging > 0.0:
        weight = 1.0 / steps if motion.averaging == 1.0 else 1.0 - motion.averaging
        average(weight, f, motion.function)
        average(weight, c, motion.c_function)
        average(weight, motion.of_start[2], motion.of_start[0])


@part
def keep_to_budget(motion, columns, where, chosen, diagonal, shown, f, c, n, q):
    """Remove the centres with the smallest |c| sqrt(K(x, x)), but none of the pack, the first of equal ones."""
    centres = 0
    for s in range(n):
        centres += shown[s]
    while centres > motion.budget:
        gone, least = -1, np.inf
        for s in range(n):
            if not shown[s]:
                continue
            total = 0.0
            for o in range(q):
                total += motion.c_function[s * q + o] ** 2
            size = np.sqrt(total) * np.sqrt(diagonal[s])
            if size < least:
                in_pack = False
                for j in range(chosen.size):
                    in_pack = in_pack or chosen[j] == s
                if not in_pack:
                    gone, least = s, size
        if gone < 0:  # a pack larger than the budget
            return
        centres -= 1
        shown[gone] = False
        column = columns[where[gone]]
        remove_centre(gone, column, motion.function, motion.c_function, q)
        remove_centre(gone, column, motion.velocity, motion.c_velocity, q)
        if motion.averaging > 0.0:
            remove_centre(gone, column, f, c, q)


@part
def remove_centre(gone, column, values, coefficients, q):
    for o in range(q):
        coefficient = -coefficients[gone * q + o]
        for s in range(column.size):
            values[s * q + o] += column[s] * coefficient
        coefficients[gone * q + o] = 0.0
