"""What every teacher has: what it may see, what it shows, its pool and its labels."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt import display
from nimt.arrays import Array, Indices, is_number, is_whole
from nimt.errors import InvalidInput
from nimt.kernels import Kernel
from nimt.losses import Loss
from nimt.pools.pool import Points, Pool, values_on
from nimt.schedules import LookSchedule, PackSchedule, check_k
from nimt.teachers.alternative_labels import AlternativeLabels
from nimt.teachers.candidates import refuse_pool
from nimt.teachers.knows_learner import KnowsLearner
from nimt.wording import Wording

if TYPE_CHECKING:
    from nimt.teachers.rule import Rule

Memory = Mapping[str, NDArray[Any]]
INDEX = np.dtype(np.intp)

NORMS: tuple[int | str, ...] = (2, 1, "max")  # over outputs; compiled code knows them by their positions in this tuple

# Okabe and Ito's colours, distinguishable with any type of colour vision
VERMILION, ORANGE, BLUE, SKY, GREEN, PURPLE = "#D55E00", "#E69F00", "#0072B2", "#56B4E9", "#009E73", "#CC79A7"


@dataclass(frozen=True, eq=False, init=False)
class Selection:
    """What a teacher shows: pool indices and labels, the scores it chose by, and what it wants to remember.

    `weights` (k,) multiply the learner's step at each example; None for 1.
    """

    indices: Indices
    labels: Array
    scores: Array | None = None
    memory: Memory | None = None
    weights: Array | None = None

    def __init__(
        self, indices: Indices, labels: Array, scores: Array | None = None, memory: Memory | None = None,
        weights: Array | None = None,
    ) -> None:  # fmt: skip
        own = self.__dict__  # two are made at every step, in a third of the time of a frozen class's own
        own["indices"], own["labels"], own["scores"], own["memory"] = indices, labels, scores, memory
        own["weights"] = weights


@dataclass(frozen=True, eq=False, init=False)
class View:
    """All a teacher may see: a gray box. The learner's kernel, loss and rate are in it only for one that `sees` them.

    A teacher with a limited pool is given the view of that pool alone, so it cannot show anything else.

    Attributes
    ----------
    step : int
    pool : Grid or Points
        The points it may show, n of them.
    predictions : array (n,), or (n, q) for q outputs
        The learner's values there, read-only.
    target : array (n,), or (n, q)
        f* there, read-only.
    rng : numpy Generator
        The teacher's own stream.
    memory : mapping of names to arrays, or None
        What this teacher returned as `Selection.memory` at the step before.
    candidates : array (n,) of int
        The indices of the points in the pool of the lesson.
    kernel, loss, rate : Kernel, Loss and float, or None
        Of the learner, the rate that of the step to come: for a teacher whose class names them in `sees`.
    heard : list
        What `ask` was answered at this step; a lesson records it.
    """

    step: int
    pool: Pool
    predictions: Array
    target: Array
    rng: np.random.Generator
    memory: Memory | None
    candidates: Indices
    kernel: Kernel | None = None
    loss: Loss | None = None
    rate: float | None = None
    heard: list[tuple[Indices, Array]] = field(default_factory=list)

    def __init__(
        self, step: int, pool: Pool, predictions: Array, target: Array, rng: np.random.Generator, memory: Memory | None,
        candidates: Indices, kernel: Kernel | None = None, loss: Loss | None = None, rate: float | None = None,
        heard: list[tuple[Indices, Array]] | None = None,
    ) -> None:  # fmt: skip
        own = self.__dict__  # as for a selection
        own["step"], own["pool"], own["predictions"], own["target"] = step, pool, predictions, target
        own["rng"], own["memory"], own["candidates"] = rng, memory, candidates
        own["kernel"], own["loss"], own["rate"] = kernel, loss, rate
        own["heard"] = [] if heard is None else heard

    def ask(self, places: ArrayLike) -> Array:
        """Return the learner's answers at some of these points; the lesson records them as `lesson.asked`."""
        asked = check_indices(places, len(self))
        answers = np.array(self.predictions[asked])
        self.heard.append((self.candidates[asked], answers))
        return answers

    def show(
        self,
        indices: ArrayLike,
        scores: Array | None = None,
        *,
        labels: ArrayLike | None = None,
        memory: Memory | None = None,
        weights: Array | None = None,
    ) -> Selection:
        """Make the selection that shows these points, labelled by the target unless other labels are given."""
        chosen = check_indices(indices, len(self.target))
        told = self.target[chosen] if labels is None else np.atleast_1d(labels)
        return Selection(chosen, told, scores, memory, weights)

    def as_last_seen(self, look: LookSchedule | None) -> View:
        """Return the view with the predictions of the latest look: these, where it looks at this step."""
        if look is None or self.memory is None or look.at(self.step):
            return self
        return dataclasses.replace(self, predictions=np.asarray(self.memory["predictions"]))

    def to_remember(self, look: LookSchedule | None) -> Memory | None:
        """Return what a teacher with this schedule must remember of the view, None if it looks at every step."""
        return None if look is None else {"predictions": self.predictions}

    def part(self, places: Indices) -> View:
        """Return the view of some of these points alone."""
        return dataclasses.replace(
            self,
            pool=Points(self.pool.take(places)),
            predictions=self.predictions[places],
            target=self.target[places],
            candidates=self.candidates[places],
        )

    def __len__(self) -> int:
        return len(self.target)


@runtime_checkable
class SelectsExamples(Protocol):
    """What a lesson needs of a teacher: `select(view)`. Inherit `Teacher` for the options all our teachers have."""

    def select(self, view: View) -> Selection:
        """Choose what to show next."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Teacher(KnowsLearner):
    """The options every teacher has; a teacher of your own inherits them and adds `select(view)`.

    Parameters
    ----------
    pool : None, float in (0, 1], boolean mask (n,) or of the grid's shape, or indices
        The points it can show: all, a share drawn once from the seed, or these.
    labels : None or AlternativeLabels
        The labels of the target, or at some steps those of another target.

    Attributes
    ----------
    name : str
        What tables and figures call it: the name in the paper where there is one, else that of its class.
    draws : bool or None
        Whether its lesson depends on the seed; a comparison then runs it over several. None if it does not say so.
    colour : str or None
        Its colour in figures; None for any free colour.
    spellings : dict of str -> dict
        Its names on the command line, and the parameters that each name stands for.
    sees : tuple of str
        What it sees of the learner beside its predictions: "kernel", "loss", "rate". A view then has it, as
        `view.kernel`, and a parameter of the teacher that is None becomes it (of "rate", `learning_rate`).
    changes_by_step : bool
        Whether it may show other examples at another step, also where the learner has not moved. A class of yours with
        a `select` of its own may, unless it says False; a lesson then ends where an example does not move the learner.
    access : str
        "gray box" of a teacher who sees predictions alone, "white box" of one who knows more, "black box" of one who
        hears only the answers that it asks for.
    """

    pool: ArrayLike | None = None
    labels: AlternativeLabels | None = None

    at_random: ClassVar[bool] = False  # whether `select` draws from the view's stream
    makes_labels: ClassVar[bool] = False  # whether it makes the labels itself
    per_output: ClassVar[bool] = False  # whether it shows every output examples of its own, as `PerOutput` does
    communicates: ClassVar[bool] = False  # whether it mixes the outputs before some steps, as `Communicating` does
    watches_packs: ClassVar[bool] = False  # whether it reads predictions at the points that it showed last
    own_colour: ClassVar[str | None] = None
    only_learner: ClassVar[str | None] = None  # the word of the one learner that it can teach
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __post_init__(self) -> None:
        if self.labels is not None and not isinstance(self.labels, AlternativeLabels):
            raise InvalidInput(
                f"must be None or nimt.teachers.AlternativeLabels(other_target), got {self.labels!r}",
                parameter="labels",
            )
        if isinstance(self.pool, bool) or (is_number(self.pool) and not 0 < float(self.pool) <= 1):
            raise refuse_pool(self.pool)
        if is_whole(self.pool):
            way_out = f"write pool=1.0 or pool=[{self.pool}]"
            raise InvalidInput("could be a share or a point", parameter="pool", value=self.pool, way_out=way_out)

    @property
    def original(self) -> object:
        """The teacher as the caller gave it: itself, or what `as_teacher` adapted."""
        return self

    @property
    def kind(self) -> Wording:
        """What sentences call it: its class, and in the program its spelling."""
        name = type(self.original).__name__
        fitting = [
            spelling
            for spelling, fixed in self.spellings.items()
            if all(repr(getattr(self, part)) == repr(value) for part, value in fixed.items())
        ]
        return Wording(name, f"the teacher {fitting[-1]}" if fitting else name)  # the last fixes the most; 1 is not 1.0

    # A teacher of the user may have k, look and replace or not, as fields: a default here would become theirs.

    @property
    def size(self) -> int | float | PackSchedule | None:
        """The size of a pack, `k`; None for a teacher that does not say it."""
        k: int | float | PackSchedule | None = getattr(self, "k", None)
        return k

    @property
    def looks(self) -> LookSchedule | None:
        """At which steps it looks at the learner, `look`; None for all."""
        look: LookSchedule | None = getattr(self, "look", None)
        return look

    @property
    def may_repeat(self) -> bool:
        """Whether a pack may hold a point twice, `replace`."""
        return bool(getattr(self, "replace", False))

    @property
    def name(self) -> str:
        name = self.method
        if self.labels is not None:
            name = f"alternative {name}"
        return name if self.pool is None else f"pool {name}"

    @property
    def method(self) -> str:
        """Its name without its pool and its labels."""
        return type(self).__name__

    @property
    def draws(self) -> bool | None:
        return self.at_random or self.labels is not None or is_number(self.pool)

    @property
    def colour(self) -> str | None:
        if self.pool is not None:
            return GREEN
        return PURPLE if self.labels is not None else self.own_colour

    @property
    def shows_true_labels(self) -> bool:
        """Whether every label it shows is the target's."""
        return self.labels is None and not self.makes_labels

    def pack_size(self, n: int) -> int | None:
        """Return how many examples a pack from n points has, or None where this is known only after `select`."""
        k = self.size
        if isinstance(k, PackSchedule):
            for end in (k.start, k.end):
                count_of(end, n)  # refuses one that is too large
            return None
        return None if k is None else count_of(k, n)

    def looks_at(self, step: int) -> bool:
        """Say whether it reads the learner's predictions at a step; without a schedule (`look`) it always does."""
        return self.looks is None or self.looks.at(step)

    @property
    def has_schedule(self) -> bool:
        """Whether the size of its packs changes, or it looks only at some steps."""
        return isinstance(self.size, PackSchedule) or self.looks is not None

    @property
    def changes_by_step(self) -> bool:
        """Whether it may show other examples at another step, also where the learner has not moved.

        If not, a lesson ends where an example does not move the learner (`Outcome.AT_REST`). A class of yours with a
        `select` of its own may look at `view.step`: it is taken to change, unless it says `changes_by_step = False`.
        """
        return self.has_schedule or not type(self).select.__module__.startswith("nimt.")

    def next_mix(self, step: int) -> int | None:
        """Return the first step, this one or a later one, before which the outputs are mixed; None for none."""
        return None

    def mix(self, predictions: Array, target: Array) -> Array:
        """Return the matrix (q, q) to mix the outputs by, from what the teacher sees of f and f*: arrays (n, q)."""
        raise InvalidInput(f"{self.kind} does not mix outputs")

    def fix_length(self, steps: int) -> Self:
        """Return the teacher for a lesson of this many steps: schedules without a length get this one."""
        known: dict[str, Any] = {}
        for name, schedule in (("k", self.size), ("look", self.looks)):
            if isinstance(schedule, PackSchedule | LookSchedule):
                known[name] = schedule.fix_length(steps)
        return dataclasses.replace(self, **known) if known else self

    @property
    def needs_one_output(self) -> bool:
        """Whether it can only teach functions with one output."""
        return False

    def with_labels(self, labels: AlternativeLabels) -> Self:
        """Return the same teacher with these labels."""
        return dataclasses.replace(self, labels=labels)

    def check_on(self, n: int) -> None:
        """Refuse a pool of n points that does not fit its parameters."""

    def check_loss(self, loss: Loss) -> None:
        """Refuse a learner's loss that it cannot teach."""

    def resolve_on(self, pool: Pool, outputs: tuple[int, ...] = ()) -> Self:
        """Return the teacher with what was given as functions as values on a pool, so that a file can hold it."""
        if self.labels is None:
            return self
        values = values_on(pool, self.labels.other_target, "the other target", outputs)
        return self.with_labels(AlternativeLabels(values, self.labels.probability))

    def prepare_on(self, pool: Pool, target: Array) -> Self:
        """Return the teacher with what it asks of others on a pool: a lesson asks once, before its first step."""
        return self

    def find_misleading(self, pool: Pool, target: Array, candidates: Indices | None, loss: Loss | None) -> str | None:
        """Return a sentence if the labels, or the learner's loss, will mislead it, None if not.

        `candidates` are the points it may show, None for all; `loss` is the learner's, where it is known to the lesson.
        """
        return None

    def for_classes(self, loss: str | Loss) -> Self:
        """Return the teacher as it should teach classes to a learner with this loss."""
        return self

    def compiled_rule(self) -> Rule | None:
        """Return what `select` does, part by part, for compiled engines; None where `select` itself must be called."""
        return None

    def _repr_html_(self) -> str:
        kind, name = type(self).__name__, name_of(self)
        title = kind if name == kind else f"{kind}, {name}"
        return display.diagram(
            title, {part.name: getattr(self, part.name) for part in dataclasses.fields(self)}, self.colour
        )

    def select(self, view: View) -> Selection:
        """Choose what to show next."""
        raise InvalidInput(f"{type(self).__name__} has no select(view): a teacher chooses by that method")


def name_of(teacher: object) -> str:
    """Return what tables and figures call a teacher; a teacher without a name is called by its class."""
    name = getattr(teacher, "name", None)
    return name if isinstance(name, str) and name else type(teacher).__name__


def check_indices(indices: ArrayLike, n: int) -> Indices:
    """Return the indices of a pack, or refuse what a teacher chose."""
    # one example per step: the checks below would take longer than the rest of the step
    if type(indices) is np.ndarray:
        if indices.shape == (1,) and indices.dtype is INDEX and 0 <= indices.item() < n:
            return indices
    elif isinstance(indices, np.intp) and 0 <= indices < n:
        return np.array([indices])
    if np.ma.is_masked(indices):
        raise InvalidInput("a teacher chose masked indices: show only points that it chose")
    chosen = np.atleast_1d(np.asarray(indices))
    if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
        raise InvalidInput(f"a teacher must show at least one whole-numbered index, it chose {indices!r}")
    if chosen.min() < 0 or chosen.max() >= n:
        wrong = chosen.min() if chosen.min() < 0 else chosen.max()
        raise InvalidInput(f"a teacher chose the index {wrong}, and may show 0 to {n - 1}")
    return chosen.astype(np.intp, copy=False)


def residual_size(predictions: Array, target: Array, norm: int | str = 2) -> Array:
    """Return |f - f*| at every point; with several outputs a norm over them, the Euclidean one by default."""
    return norm_of(predictions - target, norm)


def norm_of(values: Array, norm: int | str = 2) -> Array:
    """Return the size of each row: the absolute value for one output, a norm for several.

    Examples
    --------
    >>> norm_of(np.array([[3.0, -4.0]])), norm_of(np.array([[3.0, -4.0]]), 1), norm_of(np.array([[3.0, -4.0]]), "max")
    (array([5.]), array([7.]), array([4.]))
    """
    if values.ndim == 1:
        return np.abs(values)
    if norm == 2:
        return np.asarray(np.sqrt(np.sum(values**2, axis=1)))
    sizes = np.abs(values)
    return np.asarray(np.sum(sizes, axis=1) if norm == 1 else np.max(sizes, axis=1))


def check_norm(norm: object) -> None:
    """Refuse a value that is not one of the norms over outputs."""
    if isinstance(norm, bool) or not isinstance(norm, int | str) or norm not in NORMS:
        raise InvalidInput(f"must be 2, 1 or 'max', got {norm!r}", parameter="norm")


def largest(scores: Array, k: int) -> Indices:
    """Return the indices of the k largest scores in ascending order; of equals, those with the lowest index.

    A score that is NaN is larger than any number: where a learner has diverged, it is corrected first.

    Examples
    --------
    >>> largest(np.array([1.0, 3.0, 3.0, 2.0]), 1)
    array([1])
    >>> largest(np.array([1.0, 3.0, 3.0, 2.0]), 3)
    array([1, 2, 3])
    """
    n = len(scores)
    if k == 1:
        return np.asarray(scores.argmax(0, keepdims=True))
    if k == n:
        return np.arange(n)
    threshold = np.partition(scores, n - k)[n - k]  # NaN comes last
    unknown = np.isnan(scores)
    if np.isnan(threshold):
        return np.flatnonzero(unknown)[:k]
    above = np.flatnonzero((scores > threshold) | unknown)
    equal = np.flatnonzero(scores == threshold)[: k - len(above)]
    return np.sort(np.concatenate([above, equal]))


def count_of(k: int | float | PackSchedule, n: int, step: int = 0) -> int:
    """Return how many of n points k means at a step: a count as it is, a share floored and at least 1.

    Examples
    --------
    >>> count_of(1, 280), count_of(1.0, 280), count_of(0.05, 8464)
    (1, 280, 423)
    """
    if type(k) is int and 0 < k <= n:  # at every step of a lesson
        return k
    if isinstance(k, PackSchedule):
        k = k.at(step)
    check_k(k)
    if is_whole(k):
        if int(k) > n:
            raise InvalidInput(f"must be a count from 1 to {n} or a share in (0, 1], got {k!r}", parameter="k")
        return int(k)
    return max(1, int(float(k) * n))
