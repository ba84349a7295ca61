"""A mixture: one pack whose parts are chosen by different teachers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from nimt.arrays import Indices, is_number, is_whole
from nimt.errors import InvalidInput, name_thing
from nimt.schedules import LookSchedule, PackSchedule, check_look, check_pack
from nimt.teachers.teacher import Selection, Teacher, View, count_of

Shares = Mapping[Teacher, float] | Sequence[tuple[Teacher, float]]


@dataclass(frozen=True, eq=False)
class MixedTeacher(Teacher):
    """Fill a pack by several teachers, one after the other, each from the points that are still free.

    Parameters
    ----------
    shares : dict or list of pairs, teacher -> share
        In the order in which they choose. The shares sum to 1. Each teacher chooses floor(share * k) points, the
        last one the rest of the pack. The size of a pack, the pool and the labels are those of the mixture: leave
        k=, pool=, labels= and look= of the teachers out.
    k : int, float or schedule
        The size of the whole pack: a count from 1 to n, a share in (0, 1], or a schedule (`nimt.schedules`).
    look : schedule, optional
        At which steps all of them look at the learner; by default at every step.

    Examples
    --------
    >>> import nimt
    >>> mix = MixedTeacher({nimt.GreedyTeacher(): 0.3, nimt.RandomTeacher(replace=False): 0.7}, k=0.2)
    >>> mix.sizes(10), mix.pack_size(100)
    ([3, 7], 20)
    """

    shares: Shares
    k: int | float | PackSchedule = 1
    look: LookSchedule | None = None

    own_colour: ClassVar[str | None] = "#666666"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pack(self.k)
        check_look(self.look)
        object.__setattr__(self, "shares", check_shares(self.shares))

    @property
    def parts(self) -> tuple[tuple[Teacher, float], ...]:
        """The teachers and their shares, in the order in which they choose."""
        return tuple(self.shares)  # type: ignore[arg-type]

    @property
    def method(self) -> str:
        parts = " + ".join(f"{share:g} {teacher.method.rpartition('-')[0]}" for teacher, share in self.parts)
        return f"mix-{self.k} ({parts})"

    @property
    def draws(self) -> bool:
        return bool(super().draws) or any(teacher.draws for teacher, _ in self.parts)

    @property
    def changes_by_step(self) -> bool:
        return super().changes_by_step or any(teacher.changes_by_step for teacher, _ in self.parts)

    @property
    def opens(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part for teacher, _ in self.parts for part in teacher.opens))

    @property
    def known_parts(self) -> dict[str, Any]:
        return {part: value for teacher, _ in self.parts for part, value in teacher.known_parts.items()}

    def inform(self, known: Mapping[str, Any]) -> Self:
        return dataclasses.replace(self, shares=[(teacher.inform(known), share) for teacher, share in self.parts])

    def check_known(self, known: Mapping[str, Any], learner: str) -> None:
        for teacher, _ in self.parts:
            teacher.check_known(known, learner)

    @property
    def needs_one_output(self) -> bool:
        return any(teacher.needs_one_output for teacher, _ in self.parts)

    def check_on(self, n: int) -> None:
        for teacher, _ in self.parts:
            teacher.check_on(n)

    def looks_at(self, step: int) -> bool:
        return super().looks_at(step) and any(teacher.looks_at(step) for teacher, _ in self.parts)

    def sizes(self, k: int) -> list[int]:
        """Return how many of k points each teacher chooses."""
        # a share of 0.3 of 10 is 3, though 0.3 * 10 rounds to a little less for some shares
        sizes = [math.floor(share * k + 1e-9) for _, share in self.parts[:-1]]
        return [*sizes, k - sum(sizes)]

    def select(self, view: View) -> Selection:
        seen = view.as_last_seen(self.look)
        chosen: Indices = np.empty(0, dtype=np.intp)
        free = np.ones(len(view), dtype=bool)
        for (teacher, _), size in zip(self.parts, self.sizes(count_of(self.k, len(view), view.step)), strict=True):
            if size == 0:
                continue
            places = np.flatnonzero(free)
            chooser: Teacher = dataclasses.replace(teacher, k=size)  # type: ignore[call-arg]
            part = chooser.select(dataclasses.replace(seen.part(places), memory=None))
            if part.memory is not None:
                raise InvalidInput(f"{teacher.kind} remembers what it showed, so it cannot be in a mixture")
            chosen = np.concatenate([chosen, places[part.indices]])
            free[chosen] = False
        return view.show(chosen, memory=seen.to_remember(self.look))


def check_shares(shares: Shares) -> tuple[tuple[Teacher, float], ...]:
    """Return teachers and shares as pairs, or say what is wrong with them."""
    pairs = list(shares.items() if isinstance(shares, Mapping) else shares) if np.iterable(shares) else []
    if not pairs or not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
        raise InvalidInput(
            f"must be teachers and their shares, {{nimt.GreedyTeacher(): 0.3, ...}}, got {shares!r}", parameter="shares"
        )
    for teacher, share in pairs:
        _check_part(teacher)
        if not is_number(share) or not 0 <= float(share) <= 1:
            raise InvalidInput(f"a share of a mixture must be a number from 0 to 1, got {share!r}")
    total = sum(float(share) for _, share in pairs)
    if abs(total - 1) > 1e-9:
        raise InvalidInput(f"the shares of a mixture must sum to 1, these sum to {total:g}")
    return tuple((teacher, float(share)) for teacher, share in pairs)


def _check_part(teacher: object) -> None:
    sized = isinstance(teacher, Teacher) and any(field.name == "k" for field in dataclasses.fields(teacher))
    if not sized or teacher.makes_labels:  # type: ignore[attr-defined]
        raise InvalidInput(
            f"a mixture is made of teachers that choose k points and make no labels, got {name_thing(teacher)}"
        )
    own = [name for name in ("pool", "labels", "look") if getattr(teacher, name, None) is not None]
    k = teacher.k  # type: ignore[attr-defined]
    if not is_whole(k) or k != 1:
        own.append("k")
    if own:
        raise InvalidInput(f"{own[0]}= is given to the mixture, not to a teacher in it, got {name_thing(teacher)}")
