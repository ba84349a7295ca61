"""What a page may ask for, checked field by field and turned into what the library takes; never a path."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nimt.arrays import Array, is_number, is_whole
from nimt.errors import InvalidInput
from nimt.kernels.expressions import parse_kernel
from nimt.learners.kernel import KernelLearner
from nimt.learners.orthogonal import OrthogonalLearner
from nimt.losses import LOSSES, as_loss, couples_outputs
from nimt.pools.base import Grid, Pool, values_on
from nimt.sources import read_problem
from nimt.sources.functions import NAMES
from nimt.sources.problem import with_outputs
from nimt.sources.source import Source
from nimt.studio.formulas import read_formula
from nimt.teachers.spelling import list_spellings, parse_teacher

MOST_POINTS = 2**20
MOST_STEPS = 1_000_000
MOST_RACERS = 4
LOSSES_OF_ONE_OUTPUT = tuple(name for name, kind in LOSSES.items() if not couples_outputs(kind()))
PERSON = "you"  # a teacher that the page adds
USUAL_RATE = 0.01  # for a loss without a safe one
LEARNERS = ("kernel", "orthogonal")
COLOURS = 3
BRIGHTNESS = np.array([0.299, 0.587, 0.114])  # of red, green and blue
NAMED = tuple(name for name in NAMES)

FUNCTION_FIELDS = ("kind", "name", "text", "axes", "shape", "values", "outputs", "id", "size")

Files = Mapping[str, Source]


@dataclass(frozen=True, eq=False)
class RaceProblem:
    """What is taught: where, to what, from what; target and start are (n,), or (n, 3) in colour."""

    pool: Pool
    target: Array
    initial: Array
    view: str

    @property
    def outputs(self) -> int:
        return 1 if self.target.ndim == 1 else int(self.target.shape[1])


@dataclass(frozen=True)
class RacerRequest:
    """One teacher with one learner."""

    teacher: str = "greedy"
    k: int | float = 1
    share: float | None = None
    temperature: float = 0.1
    learner: str = "kernel"
    rate: float | str = "auto"

    def as_sent(self) -> dict[str, Any]:
        """Return the request as a page writes it."""
        return vars(self) | ({"k": "whole"} if isinstance(self.k, float) and self.k == 1.0 else {})

    def make_teacher(self) -> Any:
        """Return the teacher; a person is made elsewhere."""
        return parse_teacher(self.teacher, **self.parameters())

    def parameters(self) -> dict[str, Any]:
        """Return what the request says of the parameters of its teacher."""
        kind, _ = list_spellings()[self.teacher]
        known = {part.name for part in dataclasses.fields(kind)}
        given = {"k": self.k, "pool": self.share, "temperature": self.temperature}
        return {name: value for name, value in given.items() if name in known}


@dataclass(frozen=True)
class Rules:
    """What all racers of a race share."""

    kernel: str = "rbf"
    width: float = 0.5
    loss: str = "square"
    steps: int = 20_000
    tol: float | None = 1e-4
    seed: int = 0

    def make_learner(self, request: RacerRequest, pool: Pool, initial: Array) -> Any:
        """Return the learner a racer teaches."""
        kernel = parse_kernel(self.kernel, width=self.width, dimension=pool.dimension)
        if request.learner == "orthogonal":
            return OrthogonalLearner(kernel, initial=initial)
        return KernelLearner(kernel, loss=self.loss, learning_rate=self.rate_of(request), initial=initial)

    def rate_of(self, request: RacerRequest) -> float | str:
        """Return the learning rate of a racer; "auto" only where the loss has a safe one."""
        has_none = request.rate == "auto" and not np.isfinite(as_loss(self.loss).smoothness)
        return USUAL_RATE if has_none else request.rate


@functools.cache
def teachers() -> tuple[str, ...]:
    """Return the teachers that can race: those that need to know nothing of the learner, and a person.

    Examples
    --------
    >>> teachers()
    ('greedy', 'random', 'soft', 'synthesis', 'uncertainty', 'you')
    """
    return (*(name for name, (kind, fixed) in list_spellings().items() if not kind.told and not fixed), PERSON)


def read_rules(given: Any) -> Rules:
    """Read what all racers share.

    Examples
    --------
    >>> read_rules({"width": 2, "tol": None}).width
    2.0
    """
    fields = _fields("the rules", given, ("kernel", "width", "loss", "steps", "tol", "seed"))
    return Rules(
        kernel=_text("kernel", fields.get("kernel", "rbf"), 200),
        width=_number("width", fields.get("width", 0.5), 1e-6, 1e6),
        loss=_one_of("loss", fields.get("loss", "square"), LOSSES_OF_ONE_OUTPUT),
        steps=_count("steps", fields.get("steps", 20_000), 1, MOST_STEPS),
        tol=None if fields.get("tol", 1e-4) in (None, 0) else _number("tol", fields.get("tol", 1e-4), 1e-300, 1e300),
        seed=_count("seed", fields.get("seed", 0), 0, 2**32),
    )


def read_racer(given: Any) -> RacerRequest:
    """Read one teacher with its learner."""
    fields = _fields("a racer", given, ("teacher", "k", "share", "temperature", "learner", "rate"))
    k = fields.get("k", 1)
    if k == "whole":
        k = 1.0  # JSON does not tell 1.0, the whole pool, from 1, one example
    if not (is_whole(k) and 1 <= k <= MOST_POINTS) and not (isinstance(k, float) and 0 < k <= 1):
        raise InvalidInput(f"k must be a count of at least 1 or a share in (0, 1], got {str(k)[:40]}")
    share, rate = fields.get("share"), fields.get("rate", "auto")
    return RacerRequest(
        teacher=_one_of("teacher", fields.get("teacher", "greedy"), teachers()),
        k=k,
        share=None if share is None else _number("share", share, 1e-9, 1.0),
        temperature=_number("temperature", fields.get("temperature", 0.1), 0.0, 1e6),
        learner=_one_of("learner", fields.get("learner", "kernel"), LEARNERS),
        rate="auto" if rate == "auto" else _number("rate", rate, 1e-12, 1e6),
    )


def read_racers(given: Any) -> list[RacerRequest]:
    """Read one to four racers."""
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_RACERS:
        count = len(given) if isinstance(given, list) else repr(str(given)[:40])
        raise InvalidInput(f"a race has 1 to {MOST_RACERS} teachers, got {count}")
    return [read_racer(one) for one in given]


def read_setting(target: Any, start: Any, files: Files, classes: bool = False) -> RaceProblem:
    """Read what is taught; the target decides the pool."""
    pool, values = _home(target, files)
    if len(pool) > MOST_POINTS:
        raise InvalidInput(f"{len(pool):,} points are more than the {MOST_POINTS:,} taught here: take fewer")
    if classes:
        if values.ndim > 1:
            raise InvalidInput("two classes are of one output, and this target has three colours: take another target")
        values = np.where(values > 0, 1.0, -1.0)
    initial = _on(start, pool, files)
    if initial.ndim > values.ndim:
        initial = initial @ BRIGHTNESS  # a colour start for a grey target
    return RaceProblem(pool, values, with_outputs(initial, values.shape[1:], "the start"), view_for(pool, classes))


def view_for(pool: Pool, classes: bool) -> str:
    """Return how a pool is drawn."""
    if classes and isinstance(pool, Grid) and pool.view != "agreement":
        return "boundary"
    return "picture" if pool.view == "map" else pool.view  # the studio draws both alike


def _home(given: Any, files: Files) -> tuple[Pool, Array]:
    """Return the pool of a target and its values there."""
    fields = _fields("the target", given, FUNCTION_FIELDS)
    kind = _one_of("the target's kind", fields.get("kind"), ("named", "formula", "drawn", "file"))
    if kind == "named":
        name = _one_of("the target's name", fields.get("name"), NAMED)
        size = fields.get("size")
        problem = read_problem(name, size=None if size is None else _count("size", size, 2, 1024))
        return problem.pool, problem.target
    if kind == "file":
        source = _file(fields, files)
        assert source.pool is not None and source.values is not None
        return source.pool, source.values
    grid = read_axes(fields.get("axes"))
    if kind == "formula":
        return grid, values_on(grid, read_formula(fields.get("text", ""), grid.dimension), "the formula")
    return grid, _read_drawing(fields, grid)


def _on(given: Any, pool: Pool, files: Files) -> Array:
    """Return a start on the pool of the target."""
    fields = _fields("the start", given, FUNCTION_FIELDS)
    kind = _one_of("the start's kind", fields.get("kind"), ("zero", "named", "formula", "drawn", "file"))
    if kind == "zero":
        return np.zeros(len(pool))
    if kind == "named":
        from nimt.sources.functions import find_function

        source = find_function(_one_of("the start's name", fields.get("name"), NAMED))
        return np.array(source.on(pool, "the target")[0])
    if kind == "file":
        return np.array(_file(fields, files).on(pool, "the target")[0])
    if kind == "formula":
        if pool.dimension > 2:
            raise InvalidInput("a formula is of x, or of x and y, and this target has more variables: start from zero")
        return values_on(pool, read_formula(fields.get("text", ""), pool.dimension), "the start")
    return _read_drawing(fields, pool)


def read_axes(given: Any) -> Grid:
    """Read one or two axes, each [from, to, count], the last running fastest as in pictures.

    Examples
    --------
    >>> read_axes([[-1, 1, 5]])
    Grid(5)
    """
    if not isinstance(given, list) or not 1 <= len(given) <= 2:
        raise InvalidInput(f"a target has one or two axes, each [from, to, count], got {given!r}"[:200])
    axes = []
    for axis in given:
        if not isinstance(axis, list) or len(axis) != 3:
            raise InvalidInput(f"an axis is [from, to, count], got {axis!r}"[:200])
        first, last = (_number("an axis' end", end, -1e6, 1e6) for end in axis[:2])
        count = _count("an axis' count", axis[2], 2, 2**16 if len(given) == 1 else 1024)
        if not last > first:
            raise InvalidInput(f"an axis must run upwards, got {first:g} to {last:g}")
        axes.append(np.linspace(first, last, count))
    return Grid(*axes)


def _read_drawing(fields: dict[str, Any], pool: Pool) -> Array:
    values, outputs = fields.get("values"), fields.get("outputs", 1)
    if outputs not in (1, COLOURS):
        raise InvalidInput(f"what was drawn has one output or three, got {str(outputs)[:20]}")
    if not isinstance(values, list) or len(values) != len(pool) * outputs:
        count = len(values) if isinstance(values, list) else "no"
        raise InvalidInput(f"what was drawn has {count} values and {len(pool)} points")
    if not all(is_number(value) and abs(value) < 1e100 for value in values):
        raise InvalidInput("the drawing holds a value that is not a finite number")
    drawn = np.array(values, dtype=np.float64)
    return drawn if outputs == 1 else drawn.reshape(-1, COLOURS)


def _file(fields: dict[str, Any], files: Files) -> Source:
    name = fields.get("id")
    if not isinstance(name, str) or name not in files:
        raise InvalidInput("this file is not here any more: drop it again")
    return files[name]


def _fields(what: str, given: Any, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise InvalidInput(f"{what} must be an object, got {str(given)[:40]!r}")
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InvalidInput(f"{what} has {str(unknown[0])[:40]!r}, which is not known; known are {', '.join(known)}")
    return given


def _one_of(what: str, given: Any, known: tuple[str, ...]) -> str:
    if not isinstance(given, str) or given not in known:
        raise InvalidInput(f"{what} must be one of {', '.join(known)}, got {str(given)[:40]!r}")
    return given


def _text(what: str, given: Any, longest: int) -> str:
    if not isinstance(given, str) or len(given) > longest:
        raise InvalidInput(f"{what} must be a text of at most {longest} characters")
    return given


def _number(what: str, given: Any, low: float, high: float) -> float:
    if not is_number(given) or not low <= float(given) <= high:
        raise InvalidInput(f"{what} must be a number from {low:g} to {high:g}, got {str(given)[:40]}")
    return float(given)


def _count(what: str, given: Any, low: int, high: int) -> int:
    if not is_whole(given) or not low <= given <= high:
        raise InvalidInput(f"{what} must be a whole number from {low:,} to {high:,}, got {str(given)[:40]}")
    return int(given)
