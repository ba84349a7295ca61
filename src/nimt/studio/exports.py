"""What can be taken along: the lesson as a file, a page or an animation, and the race as code."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import Any

from nimt.errors import InvalidInput
from nimt.lesson.lesson import Lesson
from nimt.replay.page import replay_page
from nimt.replay.recording import record_of
from nimt.studio.formulas import read_formula
from nimt.studio.requests import RacerRequest, Rules

KINDS = {"lesson.npz": "application/octet-stream", "replay.html": "text/html; charset=utf-8", "lesson.gif": "image/gif"}
DIGITS = 6  # of drawn values in code


def exported(lesson: Lesson, name: str) -> bytes:
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


def as_python(
    target: dict[str, Any], start: dict[str, Any], rules: Rules, request: RacerRequest, classes: bool = False
) -> str:
    """Return a program that gives the same lesson."""
    lines = ["import numpy as np", "import nimt", ""]
    named = [one.get("name") for one in (target, start) if one["kind"] == "named"]
    if target["kind"] == "named" and start["kind"] in ("named", "zero"):
        size = f", size={target['size']}" if target.get("size") else ""
        lines.append(f"problem = nimt.read_problem({', '.join(repr(name) for name in named)}{size})")
        lines.append("pool, target, initial = problem.pool, problem.target, problem.initial")
    elif "file" in (target["kind"], start["kind"]):
        lines.append("problem = nimt.read_problem('the-file-you-dropped')  # its path; a picture is taken at size 96")
        lines.append("pool, target, initial = problem.pool, problem.target, problem.initial")
    else:
        lines += [*_home_lines(target), f"initial = {_values_text(start)}"]
    if classes:
        lines.append("values = target(pool.points) if callable(target) else np.ravel(target)")
        lines.append("target = np.where(values > 0, 1.0, -1.0)  # two classes")
    lines += [
        "",
        f"kernel = nimt.parse_kernel({rules.kernel!r}, width={rules.width!r}, dimension=pool.dimension)",
        _learner_text(rules, request),
        f"teacher = {_teacher_text(request)}",
        f"lesson = nimt.teach(learner, teacher, pool, target, max_iterations={rules.steps}, tol={rules.tol!r}, "
        f"seed={rules.seed})",
        "print(lesson)",
    ]
    return "\n".join(lines) + "\n"


def as_command(target: dict[str, Any], start: dict[str, Any], rules: Rules, request: RacerRequest) -> str:
    """Return the command that gives the same lesson, or say why there is none."""
    if request.learner != "kernel" or request.teacher == "you":
        raise InvalidInput("the command line has no such lesson: copy it as Python")
    names = []
    for what, given in (("target", target), ("start", start)):
        if given["kind"] in ("named", "zero"):
            names.append(given.get("name", "zero"))
        elif given["kind"] == "file":
            names.append("the-file-you-dropped")
        else:
            raise InvalidInput(f"the {what} was drawn or typed, and a command names files: copy it as Python")
    rate = 0.01 if request.rate == "auto" and rules.loss in ("hinge", "absolute") else request.rate
    options: dict[str, Any] = {
        "--from": names[1], "--teacher": request.teacher, "-k": repr(request.k), "--pool": request.share,
        "--kernel": rules.kernel, "--width": rules.width, "--loss": rules.loss, "--learning-rate": rate,
        "-n": rules.steps,
        "--tol": rules.tol or 0, "--seed": rules.seed, "--size": target.get("size"),
    }  # fmt: skip
    parts = ["nimt", "teach", names[0]]
    for name, value in options.items():
        parts += [] if value is None else [name, str(value)]
    return shlex.join(parts)


def _home_lines(target: dict[str, Any]) -> list[str]:
    if target["kind"] == "named":
        return [f"problem = nimt.read_problem({target['name']!r})", "pool, target = problem.pool, problem.target"]
    axes = ", ".join(f"np.linspace({float(a)!r}, {float(b)!r}, {int(n)})" for a, b, n in target["axes"])
    return [f"pool = nimt.Grid({axes})", f"target = {_values_text(target)}"]


def _values_text(given: dict[str, Any]) -> str:
    if given["kind"] == "zero":
        return "0.0"
    if given["kind"] == "formula":
        formula = read_formula(given["text"], 2 if "y" in given["text"] else 1)
        return f"lambda x: {formula.as_python()} + 0.0 * x[:, 0]"
    if given["kind"] == "named":
        return f"nimt.read_problem({given['name']!r}).target"
    numbers = ", ".join(f"{float(value):.{DIGITS}g}" for value in given["values"])
    colours = ".reshape(-1, 3)" if given.get("outputs", 1) == 3 else ""
    return f"np.array([{numbers}]){colours}"


def _learner_text(rules: Rules, request: RacerRequest) -> str:
    if request.learner == "orthogonal":
        return "learner = nimt.OrthogonalLearner(kernel, initial=initial)"
    rate = 0.01 if request.rate == "auto" and rules.loss in ("hinge", "absolute") else request.rate
    return f"learner = nimt.KernelLearner(kernel, loss={rules.loss!r}, learning_rate={rate!r}, initial=initial)"


def _teacher_text(request: RacerRequest) -> str:
    kinds = {
        "greedy": "GreedyTeacher",
        "random": "RandomTeacher",
        "soft": "SoftTeacher",
        "synthesis": "SynthesisTeacher",
    }
    options = [f"k={request.k!r}"]
    if request.share is not None:
        options.append(f"pool={request.share!r}")
    if request.teacher == "soft":
        options.append(f"temperature={request.temperature!r}")
    if request.teacher == "you":
        raise InvalidInput("a lesson that you gave by hand is kept as lesson.npz, not as code")
    return f"nimt.{kinds[request.teacher]}({', '.join(options)})"
