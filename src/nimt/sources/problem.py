"""From names of functions or files to a lesson's pool, target and start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, freeze
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.learners.learner import InitialFunction
from nimt.pools.pool import Pool
from nimt.pools.prepared_points import Preparation, PreparedPoints
from nimt.sources.reading import read_source
from nimt.sources.source import Aside
from nimt.sources.tables import Columns
from nimt.wording import Wording

if TYPE_CHECKING:
    from nimt.teaching_sets.reference import Reference

MEAN = "mean"
TEACH_ROWS = Wording("the problem without it", "--reference none")


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be taught.

    Attributes
    ----------
    pool : Grid or Points
    target, initial : arrays (n,), or (n, q) for q outputs, as the three of a colour picture
        f* and f^0 on the pool.
    other_target : array like the target, or None
        The target that labels are sometimes taken from instead.
    notes : tuple of str
        What was decided while reading, one sentence each.
    start : number, callable or array (n,)
        f^0 as a learner is given it: a number or a formula, which are known anywhere, where it is one.
    aside : Aside or None
        The rows of a table that are held out, with `points` and `target`.
    reference : Reference or None
        The model whose answers are the target (`with_reference`).
    """

    pool: Pool
    target: Array
    initial: Array
    other_target: Array | None = None
    notes: tuple[str, ...] = ()
    start: InitialFunction = 0.0
    aside: Aside | None = None
    reference: Reference | None = None

    @property
    def preparation(self) -> Preparation | None:
        """How the rows of a table became points; None for anything else."""
        return self.pool.preparation if isinstance(self.pool, PreparedPoints) else None

    @property
    def classes(self) -> tuple[str, ...]:
        """The words of a table's target, () where it is of numbers."""
        return () if self.preparation is None else self.preparation.classes

    @property
    def labels(self) -> NDArray[Any]:
        """The target as the table has it: words of classes, otherwise numbers."""
        return self.target if self.preparation is None else self.preparation.answers(self.target)

    def with_reference(self, reference: Reference) -> Problem:
        """Return the problem whose target is what a model of its rows answers; rows held out keep their own labels."""
        if len(reference.labels) != len(self.pool):
            raise InvalidInput(f"the reference answers {len(reference.labels)} rows, and {len(self.pool)} are taught")
        target: Any = reference.labels
        if self.preparation is not None and self.classes:
            target = self.preparation.labels(reference.labels)
        said = TEACH_ROWS.embed(f"{reference.sentence}: ", " teaches the rows")
        return replace(self, target=freeze(target), reference=reference, notes=(*self.notes, said))


def read_problem(
    target: str,
    initial: str = "zero",
    *,
    other_target: str | None = None,
    size: int | None = None,
    normalise: str = "none",
    columns: Columns = Columns(),  # noqa: B008 (frozen)
    strict: bool = False,
    grey: bool = False,
) -> Problem:
    """Read target and start, and bring them onto one pool: the target's, or the start's if the target has none.

    Parameters
    ----------
    target, initial, other_target : str
        As `read_source` takes them. The start may also be "mean", of the target; of classes it is 0.
    size, normalise, columns : as in `read_source`
    strict : bool
        Refuse a start or other target whose size is not that of the target, instead of resampling it.
    grey : bool
        Teach the brightness of colour pictures.

    The lesson has the outputs of the target: a grey start stands for red, green and blue of a colour target, and a
    colour start is read as brightness where the target is grey.

    Examples
    --------
    >>> problem = read_problem("gmm", "gmm:start")
    >>> problem.pool, problem.target.shape
    (Grid(280), (280,))
    """
    names = [target, "zero" if initial == MEAN else initial] + ([] if other_target is None else [other_target])
    options: dict[str, Any] = {"size": size, "normalise": normalise, "columns": columns}
    first = read_source(target, grey=grey, **options)
    # where the target is a curve, a table or a grey picture, the others have one output as well
    is_grey = grey or (first.values is not None and first.values.ndim == 1)
    sources = [first, *(read_source(name, grey=is_grey, **options) for name in names[1:])]
    home = next((source for source in sources[:2] if source.pool is not None), None)
    if home is None or home.pool is None:
        who = f"{target} does not say" if target == names[1] else f"neither {target} nor {names[1]} says"
        raise InvalidInput(f"{who} on which points: give a picture, array, table or gmm")
    if len(home.pool) < 2:
        raise InvalidInput(f"{home.name} has a single point: a lesson needs at least 2")
    carried = [source.on(home.pool, home.name, strict=strict) for source in sources]
    notes = dict.fromkeys(
        note for source in sources for note in source.notes
    )  # each once, also if a file was read twice
    notes |= dict.fromkeys(note for _, said in carried for note in said)
    outputs = carried[sources.index(home)][0].shape[1:]
    values = [with_outputs(value, outputs, name) for (value, _), name in zip(carried, names, strict=True)]
    start = values[1] if sources[1].start is None else sources[1].start
    if callable(start) and isinstance(home.pool, PreparedPoints):
        start = values[1]  # a formula of what the table holds is none of the prepared points
    other = values[2] if other_target is not None else None
    found = Problem(home.pool, values[0], values[1], other, tuple(notes), start, home.aside)
    if initial != MEAN or found.classes:
        return found
    mean = float(found.target.mean())
    return replace(found, start=mean, initial=freeze(np.full(found.target.shape, mean)))


def with_outputs(values: Array, outputs: tuple[int, ...], name: str) -> Array:
    """Return values with the outputs of the target; a function with one output stands for each of them."""
    if values.shape[1:] == outputs:
        return values
    if values.ndim == 1:
        return freeze(np.repeat(values[:, np.newaxis], outputs[0], axis=1))
    raise InvalidInput(
        f"{name} has {say_count(values.shape[1], 'output')} and the target {outputs[0] if outputs else 1}",
        way_out=Wording("grey=True", "--grey").embed("give both in colour, or teach brightness with "),
    )
