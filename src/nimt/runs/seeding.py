"""The seeds of several lessons: which are asked for, and which of them make a difference."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from nimt.arrays import check_count
from nimt.errors import InvalidInput
from nimt.teachers.adapter import as_teacher

Which = TypeVar("Which", bound=Hashable)


def check_seeds(seeds: int | Iterable[int]) -> list[int]:
    """Return the seeds of a count or a list, or refuse them."""
    if isinstance(seeds, Iterable):
        listed = list(seeds)
        for seed in listed:
            check_count("a seed", seed, at_least=0, at_most=None)
        if not listed or len(set(listed)) < len(listed):
            raise InvalidInput(f"must be a count or different whole numbers, got {listed!r}", parameter="seeds")
        return [int(seed) for seed in listed]
    check_count("seeds", seeds, at_least=1)
    return list(range(int(seeds)))


def over_seeds(
    teachers: Mapping[Which, object],
    seeds: Sequence[int],
    give: Callable[[list[tuple[Which, int]]], None],
    drew: Callable[[Which], bool],
) -> dict[Which, Sequence[int]]:
    """Give the lessons of several teachers, over all seeds where these make a difference, else with the first seed.

    A teacher that says that it draws begins with all seeds. Of another one the first lesson shows whether it does: it
    may draw its pool or its labels.

    Parameters
    ----------
    teachers : dict of which lesson -> its teacher
    seeds : list of int
    give : callable of a list of (which, seed)
        Called twice; the second list holds the first again, so that what is known has to be passed over.
    drew : callable of which
        Whether its lesson with the first seed drew anything.

    Returns
    -------
    dict of which -> the seeds that count

    Examples
    --------
    >>> over_seeds({"a": None, "b": None}, [0, 1], print, lambda which: which == "b")
    [('a', 0), ('b', 0)]
    [('a', 0), ('b', 0), ('b', 1)]
    {'a': [0], 'b': [0, 1]}
    """
    says_so = {which for which, teacher in teachers.items() if teacher is not None and as_teacher(teacher).draws}
    give([(which, seed) for which in teachers for seed in (seeds if which in says_so else seeds[:1])])
    wanted = {which: seeds if drew(which) else seeds[:1] for which in teachers}
    give([(which, seed) for which, several in wanted.items() for seed in several])
    return wanted
