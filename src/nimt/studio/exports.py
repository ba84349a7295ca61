"""What a person takes along: the lesson, a page that plays it, an animation, or the code that gives it again."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nimt import defaults
from nimt.errors import InvalidInput
from nimt.lesson.lesson import Lesson
from nimt.recipe.class_of_learners import make_class
from nimt.recipe.copying import (
    REFERENCE,
    has_foreign_code,
    to_command,
    write_kernel,
    write_learner,
    write_options,
    write_recipe,
    write_teacher,
)
from nimt.recipe.recipe import CLASSROOM, Recipe
from nimt.replay.player_page import lesson_page
from nimt.sources.reading import PICTURE_ENDINGS
from nimt.studio.dropped_files import USUAL_SIZE
from nimt.studio.racer import Racer
from nimt.studio.requests import PERSON, RaceProblem
from nimt.studio.typed_formulas import read_formula

ANIMATION = "lesson.gif"
KINDS = {"lesson.npz": "application/octet-stream", "replay.html": "text/html; charset=utf-8", ANIMATION: "image/gif"}


def export_lesson(lesson: Lesson, name: str) -> bytes:
    """Return a lesson as a file of one of the known kinds."""
    if name == "replay.html":
        return lesson_page(lesson, title="A lesson from the studio").encode()
    with tempfile.TemporaryDirectory(prefix="nimt-studio-") as folder:
        path = Path(folder) / name
        if name == "lesson.npz":
            lesson.save(path)
        else:
            from nimt.plots.animation import write_gif

            write_gif(lesson, path)
        return path.read_bytes()


@dataclass(frozen=True, eq=False)
class LessonPart:
    """A stretch of a lesson: from a step of the part before, with one thing changed, or from the start.

    Attributes
    ----------
    recipe : Recipe
    after : int
        How many steps of the part before were taken; 0 for the first part.
    changed : list of (point, value)
        Where the target is another.
    shown : list of int, optional
        What a person showed.
    """

    recipe: Recipe
    after: int = 0
    changed: Sequence[tuple[int, float]] = ()
    shown: Sequence[int] | None = None


def parts_of(racers: Sequence[Racer], number: int) -> list[LessonPart]:
    """Return the parts of a racer's lesson, those of the racers it was forked from first."""
    racer = racers[number]
    before = [] if racer.origin.parent is None else parts_of(racers, racer.origin.parent)
    changed: list[tuple[int, float]] = []
    if racer.origin.parent is not None:
        old, new = racers[racer.origin.parent].setting.target, racer.setting.target
        differs = np.flatnonzero(np.any((old != new).reshape(len(new), -1), axis=1))
        changed = [(int(i), float(new.reshape(len(new), -1)[i, 0])) for i in differs]
    shown = racer.indices.part(0, racer.taken).tolist() if racer.person is not None else None
    return [*before, LessonPart(racer.recipe, racer.origin.step, changed, shown)]


def as_python(
    target: dict[str, Any],
    start: dict[str, Any],
    parts: Sequence[LessonPart],
    setting: RaceProblem,
    classes: bool = False,
) -> str:
    """Return a program that gives the same lesson."""
    lines = ["import numpy as np", "import nimt", "", *_problem_lines(target, start, setting)]
    if classes:
        lines.append("values = target(pool.points) if callable(target) else np.ravel(target)")
        lines.append("target = np.where(values > 0, 1.0, -1.0)  # two classes")
    is_foreign = any(has_foreign_code(part.recipe) for part in parts)
    lines += [""] if is_foreign else ["", f"kernel = {write_kernel(parts[0].recipe, 'pool')}"]
    for place, part in enumerate(parts):
        if place and part.changed:
            points, values = zip(*part.changed, strict=True)
            lines.append("target = np.array(target(pool.points) if callable(target) else target)")
            lines.append(f"target.reshape(len(pool), -1)[{list(points)}] = np.array({list(values)})[:, np.newaxis]")
        if place and part.after == 0:
            lines.append("# forked before the first step")
        if is_foreign:
            lines += _foreign_lines(part)
        else:
            lines += _learner_lines(part.recipe, setting, is_first=place == 0) + _teacher_lines(part, setting)
        following = parts[place + 1] if place + 1 < len(parts) else None
        if following is None:
            steps = part.recipe.iterations if part.shown is None else max(1, len(part.shown))
            lines += [_write_teach_call("lesson", replace(part.recipe, iterations=steps)), "print(lesson)"]
        elif following.after:
            lines += [
                _write_teach_call("before", replace(part.recipe, iterations=following.after, tol="0")),
                "initial = before.final  # the fork begins here",
                "",
            ]
    return "\n".join(lines) + "\n"


def _learner_lines(recipe: Recipe, setting: RaceProblem, *, is_first: bool) -> list[str]:
    """Return the lines that make the learner; of a class target and start get a column per learner first."""
    if recipe.learner != CLASSROOM:
        return [f"learner = {write_learner(recipe, 'initial')}"]
    rates = make_class(recipe, setting.pool, 0.0).learning_rate
    lines = []
    if is_first:
        for name in ("target", "initial"):
            values = f"{name}(pool.points) if callable({name}) else np.ravel({name}) + np.zeros(len(pool))"
            lines.append(f"{name} = np.repeat(np.reshape({values}, (-1, 1)), {len(rates)}, axis=1)")
    one = replace(recipe, learner="kernel")
    words = [
        write_learner(replace(one, learning_rate=repr(float(rate))), f"initial[:, {place}]")
        for place, rate in enumerate(rates)
    ]
    return [*lines, "learner = nimt.learners.Classroom([", *(f"    {word}," for word in words), "])"]


def _write_teach_call(name: str, recipe: Recipe) -> str:
    return f"{name} = nimt.teach(learner, teacher, pool, target{write_options(recipe)})"


def as_command(
    target: dict[str, Any],
    start: dict[str, Any],
    parts: Sequence[LessonPart],
    setting: RaceProblem,
    classes: bool = False,
) -> str:
    """Return the command that gives the same lesson, or say why there is none."""
    recipe = parts[0].recipe
    if len(parts) > 1:
        raise InvalidInput("a lesson that was forked has no command: copy it as Python")
    if recipe.teacher == PERSON or classes:
        raise InvalidInput("the command line has no such lesson: copy it as Python")
    names = []
    for what, given in (("target", target), ("start", start)):
        if given["kind"] in ("named", "zero"):
            names.append(given.get("name", "zero"))
        elif given["kind"] == "file" and "values" not in given:
            names.append(f"./{_file_name(given)}")
        else:
            raise InvalidInput(f"the {what} was drawn, dragged or typed, and a command names files: copy it as Python")
    size = target.get("size")
    if target["kind"] == "file" and _is_picture(target):
        size = USUAL_SIZE
    # stated for a table too, for which the command would choose others
    loss, width = recipe.loss or defaults.LOSS, recipe.usual_width
    measure = defaults.MEASURE if setting.classes else None
    named = {"target": names[0], "initial": names[1], "size": size, "loss": loss, "width": width, "measure": measure}
    if setting.preparation is not None:  # the page teaches the rows, or a model of them, to the end
        named |= {"reference": "none" if setting.reference is None else "auto", "keep": "last"}
    return to_command(replace(recipe, **named))


def _problem_lines(target: dict[str, Any], start: dict[str, Any], setting: RaceProblem) -> list[str]:
    """Return the lines that give pool, target and initial."""
    if target["kind"] in ("named", "file"):
        asked = [_source_text(target)]
        together = start["kind"] in ("named", "file", "zero")
        if together and start["kind"] != "zero":
            asked.append(_source_text(start))
        size = target.get("size") or (USUAL_SIZE if target["kind"] == "file" and _is_picture(target) else None)
        asked += [f"size={size}"] if size else []
        is_table = setting.preparation is not None
        asked += ["columns=nimt.sources.Columns(holdout=None)"] if is_table else []
        lines = [f"problem = nimt.sources.read_problem({', '.join(asked)})"]
        lines += [] if setting.reference is None else [REFERENCE]
        goal = f"np.array({target['values']!r})" if "values" in target else "problem.target"
        initial = "problem.initial" if together else _values_text(start)
        return [*lines, f"pool, target, initial = problem.pool, {goal}, {initial}"]
    axes = ", ".join(f"np.linspace({float(a)!r}, {float(b)!r}, {int(n)})" for a, b, n in target["axes"])
    return [f"pool = nimt.Grid({axes})", f"target = {_values_text(target)}", f"initial = {_values_text(start)}"]


def _source_text(given: dict[str, Any]) -> str:
    return repr(given["name"]) if given["kind"] == "named" else repr(_file_name(given))


def _file_name(given: dict[str, Any]) -> str:
    """Return what a dropped file is called; it is written into code, quoted, and never opened here."""
    name = given.get("name")
    return (Path(name).name if isinstance(name, str) else "")[:100] or "the-file-you-dropped"


def _is_picture(given: dict[str, Any]) -> bool:
    return Path(_file_name(given)).suffix.lower() in PICTURE_ENDINGS


def _values_text(given: dict[str, Any]) -> str:
    if given["kind"] == "zero":
        return "0.0"
    if given["kind"] == "formula":
        formula = read_formula(given["text"], 2 if "y" in given["text"] else 1)
        return f"lambda x: {formula.as_python()} + 0.0 * x[:, 0]"
    if given["kind"] in ("named", "file"):
        size = f", size={USUAL_SIZE}" if given["kind"] == "file" and _is_picture(given) else ""
        return f"nimt.sources.read_problem({_source_text(given)}{size}).target"
    numbers = ", ".join(f"{float(value)!r}" for value in given["values"])
    colours = ".reshape(-1, 3)" if given.get("outputs", 1) == 3 else ""
    return f"np.array([{numbers}]){colours}"


def _foreign_lines(part: LessonPart) -> list[str]:
    """Return the lines that make learner and teacher by a recipe, where code of the user is in them."""
    lines = [f"recipe = {write_recipe(part.recipe)}", "learner = recipe.make_learner(pool, initial)"]
    if part.recipe.teacher == PERSON:
        return [*lines, *_person_lines(part)]
    return [*lines, "teacher = recipe.make_teacher(nimt.sources.Problem(pool, target, initial))"]


def _teacher_lines(part: LessonPart, setting: RaceProblem) -> list[str]:
    if part.recipe.teacher == PERSON:
        return _person_lines(part)
    return [f"teacher = {write_teacher(part.recipe.make_teacher(setting))}"]


def _person_lines(part: LessonPart) -> list[str]:
    return [
        f"shown = {list(part.shown or [0])}",
        "class Person:",
        "    def select(self, view):",
        "        return view.show([shown[view.step]])",
        "teacher = Person()",
    ]
