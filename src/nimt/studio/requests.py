"""What a page may ask for, checked field by field and turned into what the library takes; never a path."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nimt.arrays import Array, is_number, is_whole
from nimt.errors import InvalidInput
from nimt.kernels.expressions import SIMPLE
from nimt.learners.learner_words import list_learners
from nimt.losses import LOSSES, couples_outputs
from nimt.named_code import check_allowed, list_offered
from nimt.option_table import Setting
from nimt.pools.pool import Grid, Pool, values_on
from nimt.recipe.fields import NUMBER_OR_WORD, read_pack
from nimt.recipe.recipe import DEFAULTS, KINDS, TABLE_OF_FIELDS, Recipe
from nimt.sources import Problem, read_problem
from nimt.sources.functions import NAMES
from nimt.sources.problem import with_outputs
from nimt.sources.source import Aside, Source
from nimt.studio.typed_formulas import read_formula
from nimt.teachers.spelling import list_spellings

MOST_POINTS = 2**20
MOST_RACERS = 4
LOSSES_OF_ONE_OUTPUT = tuple(name for name, kind in LOSSES.items() if not couples_outputs(kind()))
PERSON = "you"  # a teacher that the page adds
COLOURS = 3
BRIGHTNESS = np.array([0.299, 0.587, 0.114])  # of red, green and blue
NAMED = tuple(name for name in NAMES)

FUNCTION_FIELDS = ("kind", "name", "text", "axes", "shape", "values", "outputs", "id", "size")

Files = Mapping[str, Source]


@dataclass(frozen=True, eq=False)
class RaceProblem(Problem):
    """What is taught: where, to what, from what; target and start are (n,), or (n, 3) in colour.

    `start_aside` is the start at the rows held out, None where it is not known there.
    """

    view: str = "curve"
    start_aside: Array | None = None

    @property
    def outputs(self) -> int:
        return 1 if self.target.ndim == 1 else int(self.target.shape[1])


@functools.cache
def teachers() -> tuple[str, ...]:
    """Return the teachers that can race: all with a name of their own, and a person.

    Examples
    --------
    >>> teachers()[:4], teachers()[-1]
    (('classroom', 'exam', 'greedy', 'imitation'), 'you')
    """
    spelled = {name: fixed for name, (_, fixed) in list_spellings().items() if "k" not in fixed}
    ours = sorted(spelled, key=lambda name: (bool(spelled[name]), name))
    return (*ours, *list_offered("teacher"), PERSON)


@functools.cache
def learners() -> tuple[str, ...]:
    """Return the learners that can be taught: all with a word of their own, and those of the user.

    Examples
    --------
    >>> learners()
    ('kernel', 'classroom', 'orthogonal')
    """
    return (*list_learners(), *list_offered("learner"))


@functools.cache
def losses() -> tuple[str, ...]:
    """Return the losses of one output, and those of the user.

    Examples
    --------
    >>> losses()[:2]
    ('square', 'hinge')
    """
    return (*LOSSES_OF_ONE_OUTPUT, *list_offered("loss"))


@functools.cache
def kernels() -> tuple[str, ...]:
    """Return the kernels that have a word, and those of the user; a page may send an expression of kernels, too.

    Examples
    --------
    >>> kernels()[0]
    'rbf'
    """
    return (*SIMPLE, *list_offered("kernel"))


CHOICES: dict[str, Callable[[], tuple[str, ...]]] = {
    "teacher": teachers,
    "learner": learners,
    "loss": losses,
}


def read_recipe(rules: Any, racer: Any) -> Recipe:
    """Read what all racers share, and one teacher with its learner; the target of the recipe is said elsewhere.

    Examples
    --------
    >>> recipe = read_recipe({"width": 2, "tol": None}, {"k": "whole"})
    >>> recipe.width, recipe.tolerance, recipe.k
    (2.0, None, '1.0')
    """
    return change_racer(Recipe(target="", **_read_part("the rules", rules, of_racer=False)), racer)


def change_racer(recipe: Recipe, racer: Any) -> Recipe:
    """Return the recipe with another teacher, or with another parameter of it or of its learner.

    A page sends a temperature, a rate and a loss also where the teacher or the learner has none.
    """
    changed = replace(recipe, **_read_part("a racer", racer, of_racer=True))
    if changed.teacher != "soft":
        changed = replace(changed, temperature=None)
    usual: dict[str, Any] = {"learning_rate": "auto", "loss": None}
    return replace(changed, **{name: usual[name] for name in changed.list_foreign_settings() if name in usual})


def read_recipes(rules: Any, racers: Any) -> list[Recipe]:
    """Read one to four racers."""
    if not isinstance(racers, list) or not 1 <= len(racers) <= MOST_RACERS:
        count = len(racers) if isinstance(racers, list) else repr(str(racers)[:40])
        raise InvalidInput(f"a race has 1 to {MOST_RACERS} teachers, got {count}")
    return [read_recipe(rules, one) for one in racers]


def write_racer(recipe: Recipe) -> dict[str, Any]:
    """Return a racer as a page writes it."""
    k = read_pack(recipe.k)
    sent = {line.key: getattr(recipe, name) for name, line in TABLE_OF_FIELDS.items() if line.of_racer and line.key}
    # JSON does not tell 1.0, the whole pool, from 1, one example
    return sent | {"rate": recipe.rate, "k": "whole" if isinstance(k, float) and k == 1.0 else k}


def _read_part(what: str, given: Any, *, of_racer: bool) -> dict[str, Any]:
    """Read those fields of a recipe that a page sends, each checked by what the table says of it."""
    lines = {line.key: (name, line) for name, line in TABLE_OF_FIELDS.items() if line.key and line.of_racer == of_racer}
    fields = _fields(what, given, tuple(lines))
    return {lines[key][0]: _read_value(key, *lines[key], value) for key, value in fields.items()}


def _read_value(key: str, name: str, line: Setting, value: Any) -> Any:
    if name in CHOICES:
        return _one_of(key, value, CHOICES[name]())
    if name == "k":
        return _pack(value)
    if name == "tol" and value in (None, 0):
        return "0"
    if name in NUMBER_OR_WORD:
        return "auto" if value == "auto" else repr(_number(key, value, line.least, line.most))
    if KINDS[name] is str:
        text = _text(key, value, int(line.most))
        check_allowed(name, text, "the page")  # a link may hold anything
        return text
    if KINDS[name] is int:
        return _count(key, value, int(line.least), int(line.most))
    return None if value is None and DEFAULTS[name] is None else _number(key, value, line.least, line.most)


def _pack(k: Any) -> str:
    if k == "whole":
        return "1.0"
    if not (is_whole(k) and 1 <= k <= MOST_POINTS) and not (isinstance(k, float) and 0 < k <= 1):
        raise InvalidInput(f"k must be a count of at least 1 or a share in (0, 1], got {str(k)[:40]}")
    return repr(k)


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
    initial = with_outputs(initial, values.shape[1:], "the start")
    aside, start_aside = _read_aside(target, start, files)
    reference = find_file(target, files).reference if target["kind"] == "file" and "values" not in target else None
    view = view_for(pool, classes)
    return RaceProblem(pool, values, initial, aside=aside, reference=reference, view=view, start_aside=start_aside)


def _read_aside(target: Any, start: Any, files: Files) -> tuple[Aside | None, Array | None]:
    """Return the rows of a table that are held out, and a start from zero there; other starts are not known there."""
    if target.get("kind") != "file" or start.get("kind") != "zero":
        return None, None
    aside = find_file(target, files).aside
    return aside, None if aside is None else np.zeros_like(aside.target)


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
        source = find_file(fields, files)
        assert source.pool is not None and source.values is not None
        return source.pool, source.values if "values" not in fields else _read_drawing(fields, source.pool)
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
        return np.array(find_file(fields, files).on(pool, "the target")[0])
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


def find_file(fields: dict[str, Any], files: Files) -> Source:
    """Return the file that a page names."""
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
