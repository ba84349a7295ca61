"""A recipe as what a person copies: the command that gives the lesson, or a program that does."""

from __future__ import annotations

import dataclasses
import shlex
from typing import TYPE_CHECKING, Any

from nimt import defaults
from nimt.learners.learner_words import list_learners
from nimt.named_code import GROUPS, find_code, is_foreign
from nimt.recipe.recipe import CLASSROOM, DEFAULTS, TABLE_OF_FIELDS, Recipe
from nimt.sources.functions import NAMES
from nimt.sources.tables import Columns
from nimt.teachers.alternative_labels import AlternativeLabels
from nimt.teachers.teacher import Teacher

if TYPE_CHECKING:
    from nimt.sources import Problem


REFERENCE = (
    "problem = problem.with_reference("
    "nimt.reference(problem.pool.points, problem.labels, classes=bool(problem.classes)))"
)


def to_command(recipe: Recipe) -> str:
    """Return the command that gives the lesson, with the options that differ from the defaults.

    Examples
    --------
    >>> print(to_command(Recipe(target="my cat.png", grey=True, k="0.05", seed=3)))
    nimt teach 'my cat.png' --grey -k 0.05 --seed 3
    """
    words = ["nimt", "teach" if recipe.teachers is None else "compare"]
    words += [recipe.target] * (not recipe.target.startswith("-"))
    for name, line in TABLE_OF_FIELDS.items():
        value = getattr(recipe, name)
        if value == DEFAULTS[name]:
            continue
        flag = (line.flags or (f"--{name.replace('_', '-')}",))[0]
        if isinstance(value, bool):
            words.append(flag.split("/")[0 if value else 1])
        else:
            words += [flag, str(value)]
    return shlex.join(words + ["--", recipe.target] * recipe.target.startswith("-"))


def to_python(recipe: Recipe, problem: Problem) -> str:
    """Return a program that gives the lesson of a recipe that is complete for this problem (`complete`).

    Examples
    --------
    >>> from nimt.recipe.completing import read_completed
    >>> print(to_python(*read_completed(Recipe(target="gmm", initial="gmm:start", learning_rate="0.01", tol="1e-4"))))
    import nimt
    <BLANKLINE>
    problem = nimt.sources.read_problem('gmm', 'gmm:start')
    kernel = nimt.kernels.parse_kernel('rbf', width=0.5, dimension=problem.pool.dimension)
    learner = nimt.KernelLearner(kernel, learning_rate=0.01, initial=problem.start)
    teacher = nimt.GreedyTeacher()
    lesson = nimt.teach(learner, teacher, problem.pool, problem.target, tol=0.0001)
    print(lesson)
    <BLANKLINE>
    """
    if has_foreign_code(recipe) or recipe.learner == CLASSROOM:
        return _write_program(recipe)
    held = ""
    if problem.aside is not None:
        choosing = recipe.count_choosing(problem)
        held = f", holdout=(problem.aside.points, problem.aside.target{f', {choosing}' if choosing else ''})"
    lines = [
        "import nimt",
        "",
        f"problem = nimt.sources.read_problem({write_problem(recipe)})",
        *([] if problem.reference is None else [REFERENCE]),
        f"kernel = {write_kernel(recipe, 'problem.pool')}",
        f"learner = {write_learner(recipe, 'problem.start')}",
        f"teacher = {write_teacher(recipe.make_teacher(problem))}",
        f"lesson = nimt.teach(learner, teacher, problem.pool, problem.target{write_options(recipe)}{held})",
        "print(lesson)",
    ]
    return "\n".join(lines) + "\n"


def has_foreign_code(recipe: Recipe) -> bool:
    """Say whether a recipe names code of the user, which a program makes by the recipe itself."""
    return any(is_foreign(name, getattr(recipe, name)) for name in GROUPS)


def list_foreign_code(recipe: Recipe) -> list[object]:
    """Return the classes of the user that a recipe names."""
    found = [find_code(kind, text) for kind in GROUPS if (text := getattr(recipe, kind)) is not None]
    return [pair[0] for pair in found if pair is not None]


def write_recipe(recipe: Recipe) -> str:
    """Return a recipe as Python writes it."""
    changed = [f"{name}={value!r}" for name, value in vars(recipe).items() if value != DEFAULTS.get(name, None)]
    return f"nimt.recipe.recipe.Recipe({', '.join(changed)})"


def _write_program(recipe: Recipe) -> str:
    """Return a program for what a recipe makes: code of the user, which it imports by its name, or a class."""
    lines = [
        "import nimt",
        "",
        f"recipe = {write_recipe(recipe)}",
        "lesson = recipe.task(recipe.problem()).begin().run()",
        "print(lesson)",
    ]
    return "\n".join(lines) + "\n"


def write_problem(recipe: Recipe) -> str:
    """Return the arguments of `nimt.sources.read_problem`."""
    words = [repr(recipe.target)] + [repr(recipe.start)] * (recipe.start != "zero")
    words += [f"{name}={value!r}" for name, value in recipe.sources().items() if value != DEFAULTS[name]]
    if recipe.target in NAMES and recipe.start in NAMES:
        return ", ".join(words)
    usual = vars(Columns())
    columns = [f"{name}={value!r}" for name, value in recipe.columns().items() if value != usual[name]]
    return ", ".join([*words, f"columns=nimt.sources.Columns({', '.join(columns)})"])


def write_kernel(recipe: Recipe, pool: str) -> str:
    """Return the kernel as Python writes it; `pool` is what the pool is called there."""
    return f"nimt.kernels.parse_kernel({recipe.kernel!r}, width={recipe.usual_width!r}, dimension={pool}.dimension)"


def write_learner(recipe: Recipe, start: str) -> str:
    """Return the learner as Python writes it, with the kernel as `kernel`; `start` is what f^0 is called there."""
    foreign = recipe.list_foreign_settings()
    given = {
        "loss": (recipe.loss or defaults.LOSS, defaults.LOSS),
        "learning_rate": (recipe.rate, defaults.LEARNING_RATE),
        **{name: (value, DEFAULTS[name]) for name, value in recipe.learner_parameters().items()},
    }
    words = [f"{name}={value!r}" for name, (value, usual) in given.items() if value != usual and name not in foreign]
    kind = list_learners().get(recipe.learner, list_learners()["kernel"])
    return f"{_write_class(kind)}({', '.join(['kernel', *words, f'initial={start}'])})"


def write_teacher(teacher: Teacher) -> str:
    """Return a teacher as Python writes it, with the kernel as `kernel`, and other labels from `problem`.

    Examples
    --------
    >>> import nimt
    >>> write_teacher(nimt.teachers.PerOutput(nimt.GreedyTeacher(k=nimt.schedules.cosine(0.05, 1.0))))
    "nimt.teachers.PerOutput(nimt.GreedyTeacher(k=nimt.schedules.PackSchedule(shape='cosine', start=0.05, end=1.0)))"
    """
    words = []
    for part in dataclasses.fields(teacher):
        value = getattr(teacher, part.name)
        if not part.init:
            continue
        if isinstance(value, Teacher):
            words.append(write_teacher(value))
        elif part.name == "kernel" and value is not None:
            words.append("kernel=kernel")
        elif isinstance(value, AlternativeLabels):
            words.append(f"labels=nimt.teachers.AlternativeLabels(problem.other_target, {value.probability!r})")
        elif value != part.default or type(value) is not type(part.default):  # k=1.0 is the whole pool, k=1 one example
            words.append(f"{part.name}={_write(value)}")
    return f"{_write_class(type(teacher))}({', '.join(words)})"


def _write_class(kind: type) -> str:
    """Return a class of nimt as Python writes it: at the top if it is listed there, or in its room."""
    import nimt

    name, room = kind.__name__, kind.__module__.split(".")[1]
    return f"nimt.{name}" if name in nimt.__all__ else f"nimt.{room}.{name}"


def _write(value: Any) -> str:
    if not dataclasses.is_dataclass(value):
        return repr(value)
    parts = [(part, getattr(value, part.name)) for part in dataclasses.fields(value)]
    words = [f"{part.name}={own!r}" for part, own in parts if own != part.default]
    return f"{_write_class(type(value))}({', '.join(words)})"


def write_options(recipe: Recipe) -> str:
    """Return the options of `nimt.teach` that differ from its defaults, each after a comma."""
    from nimt.option_table import USUAL

    given = {name: repr(value) for name, value in recipe.options().items() if value != USUAL[name]}
    if is_foreign("measure", recipe.measure):
        given["measure"] = "recipe.make_measure()"
    if recipe.time_limit is not None:
        given["time_limit"] = repr(recipe.time_limit)
    words = [f", {name}={value}" for name, value in given.items()]
    if recipe.every is not None:
        words.append(f", snapshots=range(0, {recipe.iterations + 1}, {recipe.every})")
    return "".join(words)
