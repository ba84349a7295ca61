r"""The parts of a kernel learner's update beside the gradient step: momentum, decay, forgetting, a budget, averaging.

A step on a pack of k examples, with rate eta and velocity v (0 at first):

    h = f + mu v                                      with `nesterov`, else h = f
    v <- mu v - eta decay h - (eta / k) sum_j slope(h(x_j), y_j) K(x_j, .)
    f <- (1 - forgetting) f + v
    centres are removed until at most `budget` are left
    g <- g + w (f - g)                                with `averaging`: the learner answers g

Every line is linear in f, v and g. So each of them is a combination of what they were before and of kernel columns, and
one function, `take_step`, moves whatever represents them: values on a pool, coefficients, multiples of the start.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, check_count, check_flag, is_number
from nimt.errors import InvalidInput
from nimt.wording import Wording

FUNCTION, VELOCITY, MEAN = 0, 1, 2  # rows of every table; the last one only with `averaging`


@dataclass(frozen=True)
class Update:
    """The parameters of a `KernelLearner` that are about its update.

    Examples
    --------
    >>> Update(momentum=0.9, nesterov=True).parts
    ('momentum', 'nesterov')
    """

    momentum: float = 0.0
    nesterov: bool = False
    decay: float = 0.0
    forgetting: float = 0.0
    budget: int | None = None
    averaging: float = 0.0

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The names of what differs from a gradient step."""
        usual = Update()
        return tuple(field.name for field in fields(self) if getattr(self, field.name) != getattr(usual, field.name))

    @cached_property
    def is_plain(self) -> bool:
        """Whether a step only adds to f."""
        return not self.parts

    @property
    def rows(self) -> int:
        """How many functions a step moves: f, v, and the mean where the learner answers it."""
        return 3 if self.averaging else 2

    @property
    def answer(self) -> int:
        """The row of the function that the learner answers."""
        return MEAN if self.averaging else FUNCTION

    def check(self) -> None:
        """Refuse parameters that cannot work."""
        for name in ("momentum", "forgetting"):
            value = getattr(self, name)
            if not is_number(value) or not 0 <= value < 1:
                raise InvalidInput(f"must be a number from 0 to below 1, got {value!r}", parameter=name)
        if not is_number(self.decay) or not 0 <= self.decay < np.inf:
            raise InvalidInput(f"must be a number of at least 0, got {self.decay!r}", parameter="decay")
        check_flag("nesterov", self.nesterov)
        if self.nesterov and not self.momentum:
            way_out = Wording("give momentum=, too", "give --momentum, too")
            raise InvalidInput("looks ahead along the velocity", parameter="nesterov", way_out=way_out)
        if self.budget is not None:
            check_count("budget", self.budget, at_least=1)
        if not isinstance(self.averaging, bool | np.bool_) and (
            not is_number(self.averaging) or not 0 <= self.averaging <= 1
        ):
            raise InvalidInput(
                f"must be a number from 0 to 1, how much of the mean stays per step; 1 is the mean of all steps, got "
                f"{self.averaging!r}",
                parameter="averaging",
            )

    def weight(self, steps: int) -> float:
        """Return w, the weight of f in the mean after so many steps."""
        return 1.0 / steps if self.averaging == 1 else 1.0 - float(self.averaging)

    def look_ahead(self, table: Array) -> Array:
        """Return h, at which slopes are taken, from the rows of a table."""
        return np.asarray(table[FUNCTION] + self.momentum * table[VELOCITY] if self.nesterov else table[FUNCTION])

    def take_step(
        self, rate: float, steps: int, tables: Sequence[Array], add: Callable[[], None], remove: Callable[[], None]
    ) -> None:
        """Move f, v and the mean by one step, the `steps`-th, in all tables.

        `add` adds the gradient step to the rows of the velocity, `remove` removes centres beyond the budget.
        """
        pulled = rate * self.decay
        for table in tables:
            table[VELOCITY] *= self.momentum * (1.0 - pulled if self.nesterov else 1.0)
            if pulled:
                table[VELOCITY] -= pulled * table[FUNCTION]
        add()
        for table in tables:
            if self.forgetting:
                table[FUNCTION] *= 1.0 - self.forgetting
            table[FUNCTION] += table[VELOCITY]
        if self.budget is not None:
            remove()
        if self.averaging:
            for table in tables:
                table[MEAN] += self.weight(steps) * (table[FUNCTION] - table[MEAN])

    def surplus(
        self, coefficients: Array, diagonal: Array, centres: NDArray[np.intp], kept: NDArray[np.intp]
    ) -> list[int]:
        """Return which centres to remove: those with the smallest |c| sqrt(K(x, x)), but none of the latest pack.

        `centres` are rows of `coefficients`, ascending; of equal ones the first is removed.
        """
        assert self.budget is not None
        number = len(centres) - self.budget
        if number <= 0:
            return []
        free = centres[~np.isin(centres, kept)]
        rows = coefficients[free].reshape(len(free), math.prod(coefficients.shape[1:]))  # free may be empty
        sizes = np.linalg.norm(rows, axis=1) * np.sqrt(diagonal[free])
        return [int(index) for index in free[np.argsort(sizes, kind="stable")[:number]]]
