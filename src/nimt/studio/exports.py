"""What a person takes along: the lesson, a page that plays it, an animation, or the code that gives it again."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nimt.errors import InvalidInput
from nimt.lesson.lesson import Lesson
from nimt.replay.page import replay_page
from nimt.replay.recording import record_of
from nimt.sources.reading import PICTURE_ENDINGS
from nimt.studio.files import USUAL_SIZE
from nimt.studio.formulas import read_formula
from nimt.studio.racer import Racer
from nimt.studio.requests import PERSON, RacerRequest, Rules
from nimt.teachers.spelling import parse_teacher

ON_THE_COMMAND_LINE = ("k", "pool")  # parameters of a teacher that have an option

ANIMATION = "lesson.gif"
KINDS = {"lesson.npz": "application/octet-stream", "replay.html": "text/html; charset=utf-8", ANIMATION: "image/gif"}


def export_lesson(lesson: Lesson, name: str) -> bytes:
    """Return a lesson as a file of one of the known kinds."""
    if name == "replay.html":
        return replay_page(record_of(lesson, title="A lesson from the studio")).encode()
    with tempfile.TemporaryDirectory(prefix="nimt-studio-") as folder:
        path = Path(folder) / name
        if name == "lesson.npz":
            lesson.save(path)
        else:
            from nimt.plots.animation import write_gif

            write_gif(lesson, path)
        return path.read_bytes()


@dataclass(frozen=True, eq=False)
class Part:
    """A stretch of a lesson: from a step of the part before, with one thing changed, or from the start.

    Attributes
    ----------
    request : RacerRequest
    rules : Rules
    after : int
        How many steps of the part before were taken; 0 for the first part.
    changed : list of (point, value)
        Where the target is another.
    shown : list of int, optional
        What a person showed.
    """

    request: RacerRequest
    rules: Rules
    after: int = 0
    changed: Sequence[tuple[int, float]] = ()
    shown: Sequence[int] | None = None


def parts_of(racers: Sequence[Racer], number: int) -> list[Part]:
    """Return the parts of a racer's lesson, those of the racers it was forked from first."""
    racer = racers[number]
    before = [] if racer.origin.parent is None else parts_of(racers, racer.origin.parent)
    changed: list[tuple[int, float]] = []
    if racer.origin.parent is not None:
        old, new = racers[racer.origin.parent].setting.target, racer.setting.target
        differs = np.flatnonzero(np.any((old != new).reshape(len(new), -1), axis=1))
        changed = [(int(i), float(new.reshape(len(new), -1)[i, 0])) for i in differs]
    shown = racer.indices.part(0, racer.taken).tolist() if racer.person is not None else None
    return [*before, Part(racer.request, racer.rules, racer.origin.step, changed, shown)]


def as_python(target: dict[str, Any], start: dict[str, Any], parts: Sequence[Part], classes: bool = False) -> str:
    """Return a program that gives the same lesson."""
    rules = parts[0].rules
    lines = ["import numpy as np", "import nimt", "", *_problem_lines(target, start)]
    if classes:
        lines.append("values = target(pool.points) if callable(target) else np.ravel(target)")
        lines.append("target = np.where(values > 0, 1.0, -1.0)  # two classes")
    kernel = f"nimt.parse_kernel({rules.kernel!r}, width={rules.width!r}, dimension=pool.dimension)"
    lines += ["", f"kernel = {kernel}"]
    for place, part in enumerate(parts):
        if place and part.changed:
            points, values = zip(*part.changed, strict=True)
            lines.append("target = np.array(target(pool.points) if callable(target) else target)")
            lines.append(f"target.reshape(len(pool), -1)[{list(points)}] = np.array({list(values)})[:, np.newaxis]")
        if place and part.after == 0:
            lines.append("# forked before the first step")
        lines += [_learner_text(part), *_teacher_lines(part)]
        following = parts[place + 1] if place + 1 < len(parts) else None
        if following is None:
            steps = part.rules.steps if part.shown is None else max(1, len(part.shown))
            lines += [_write_teach_call("lesson", steps, part.rules.tol, part.rules.seed), "print(lesson)"]
        elif following.after:
            lines += [
                _write_teach_call("before", following.after, None, part.rules.seed),
                "initial = before.final  # the fork begins here",
                "",
            ]
    return "\n".join(lines) + "\n"


def _write_teach_call(name: str, steps: int, tol: float | None, seed: int) -> str:
    return f"{name} = nimt.teach(learner, teacher, pool, target, max_iterations={steps}, tol={tol!r}, seed={seed})"


def as_command(target: dict[str, Any], start: dict[str, Any], parts: Sequence[Part], classes: bool = False) -> str:
    """Return the command that gives the same lesson, or say why there is none."""
    request, rules = parts[0].request, parts[0].rules
    if len(parts) > 1:
        raise InvalidInput("a lesson that was forked has no command: copy it as Python")
    if request.learner != "kernel" or request.teacher == PERSON or classes:
        raise InvalidInput("the command line has no such lesson: copy it as Python")
    usual = parse_teacher(request.teacher)
    for name, value in request.parameters().items():
        if name not in ON_THE_COMMAND_LINE and value != getattr(usual, name):
            raise InvalidInput(f"the command line has no option for {name}={value!r}: copy it as Python")
    names = []
    for what, given in (("target", target), ("start", start)):
        if given["kind"] in ("named", "zero"):
            names.append(given.get("name", "zero"))
        elif given["kind"] == "file":
            names.append(f"./{_file_name(given)}")
        else:
            raise InvalidInput(f"the {what} was drawn or typed, and a command names files: copy it as Python")
    size = target.get("size")
    if target["kind"] == "file" and _is_picture(target):
        size = USUAL_SIZE
    options: dict[str, Any] = {
        "--from": names[1], "--teacher": request.teacher, "-k": repr(request.k), "--pool": request.share,
        "--kernel": rules.kernel, "--width": rules.width, "--loss": rules.loss,
        "--learning-rate": rules.rate_of(request), "-n": rules.steps, "--tol": rules.tol or 0, "--seed": rules.seed,
        "--size": size, "--measure": "paper",
    }  # fmt: skip
    parts_of_command = ["nimt", "teach", names[0]]
    for name, value in options.items():
        parts_of_command += [] if value is None else [name, str(value)]
    return shlex.join(parts_of_command)


def _problem_lines(target: dict[str, Any], start: dict[str, Any]) -> list[str]:
    """Return the lines that give pool, target and initial."""
    if target["kind"] in ("named", "file"):
        asked = [_source_text(target)]
        together = start["kind"] in ("named", "file", "zero")
        if together and start["kind"] != "zero":
            asked.append(_source_text(start))
        size = target.get("size") or (USUAL_SIZE if target["kind"] == "file" and _is_picture(target) else None)
        asked += [f"size={size}"] if size else []
        lines = [f"problem = nimt.read_problem({', '.join(asked)})"]
        if together:
            return [*lines, "pool, target, initial = problem.pool, problem.target, problem.initial"]
        return [*lines, "pool, target = problem.pool, problem.target", f"initial = {_values_text(start)}"]
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
        return f"nimt.read_problem({_source_text(given)}{size}).target"
    numbers = ", ".join(f"{float(value)!r}" for value in given["values"])
    colours = ".reshape(-1, 3)" if given.get("outputs", 1) == 3 else ""
    return f"np.array([{numbers}]){colours}"


def _learner_text(part: Part) -> str:
    if part.request.learner == "orthogonal":
        return "learner = nimt.OrthogonalLearner(kernel, initial=initial)"
    loss, rate = part.rules.loss, part.rules.rate_of(part.request)
    return f"learner = nimt.KernelLearner(kernel, loss={loss!r}, learning_rate={rate!r}, initial=initial)"


def _teacher_lines(part: Part) -> list[str]:
    request = part.request
    if request.teacher == PERSON:
        return [
            f"shown = {list(part.shown or [0])}",
            "class Person:",
            "    def select(self, view):",
            "        return view.shown([shown[view.step]])",
            "teacher = Person()",
        ]
    given = request.parameters()
    options = [f"{name}={value!r}" for name, value in given.items() if value is not None]
    return [f"teacher = nimt.{type(request.make_teacher()).__name__}({', '.join(options)})"]
