"""The only part that knows nimt: give a lesson that is described by plain numbers, and read its record as such."""

from __future__ import annotations

import functools
import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Matern, RationalQuadratic

import nimt
from oracle.problem import Problem

ENGINES = ("auto", "reference", "grid", "neighbours", "cells", "streamed")


def logcosh(f: float, y: float) -> tuple[float, float]:
    return abs(f - y) + math.log1p(math.exp(-2 * abs(f - y))) - math.log(2.0), math.tanh(f - y)


def below_one(f: float, y: float) -> tuple[float, float]:
    return (f - y) ** 2 - 1.0, 2 * (f - y)


def below_nine(f: float, y: float) -> tuple[float, float]:
    return (f - y) ** 2 - 9.0, 2 * (f - y)


OWN = {("logcosh",): (logcosh, 1.0), ("below", 1.0): (below_one, 2.0), ("below", 9.0): (below_nine, 2.0)}


def kernel_of(spec: tuple[Any, ...]) -> Any:
    name, *parts = spec
    if name == "scale":
        return parts[0] * kernel_of(parts[1])
    if name in ("sum", "product"):
        one, other = map(kernel_of, parts)
        return one + other if name == "sum" else one * other
    if name == "matern":
        return Matern(parts[0], nu=parts[1])
    if name == "rational":
        return RationalQuadratic(parts[0], alpha=parts[1])
    return {"gauss": nimt.rbf, "linear": nimt.linear, "wendland": nimt.Wendland}[name](*parts)


@functools.cache  # and not when this file is imported: it takes a second
def compiled(spec: tuple[Any, ...]) -> Any:
    function, smoothness = OWN[spec]
    return nimt.compiled(smoothness=smoothness, convex=True)(function)


def loss_of(spec: tuple[Any, ...]) -> Any:
    if spec in OWN:
        return compiled(spec)
    return nimt.losses.Huber(spec[1]) if spec[0] == "huber" else spec[0]


def learner_of(problem: Problem) -> Any:
    rate = problem.rate
    if isinstance(rate, tuple):
        _, first, power = problem.rate

        def rate(step: int) -> float:
            return first / (1 + step) ** power

    kind, *rest = problem.start
    if problem.members:
        return nimt.learners.Classroom([member_of(problem, number) for number in range(problem.q)])
    if kind == "weights":
        return nimt.LinearLearner(rest[0], loss=loss_of(problem.loss), learning_rate=rate, intercept=rest[1])
    start = as_given(rest[0]) if kind == "table" and np.ndim(rest[0]) == 2 else rest[0]
    return nimt.KernelLearner(kernel_of(problem.kernel), loss=loss_of(problem.loss), learning_rate=rate, initial=start)


def member_of(problem: Problem, number: int) -> Any:
    """Return one learner of a class, with its column of the start."""
    kind, start = problem.start
    own = {
        "number": lambda: start,
        "table": lambda: start[:, number],
        "function": lambda: lambda points: start.rows(points)[:, number],
    }[kind]()
    kernel, rate = problem.members[number]
    return learner_of(replace(problem, kernel=kernel, rate=rate, start=(kind, own), members=[]))


def as_given(rows: np.ndarray) -> np.ndarray:
    return rows[:, 0] if rows.shape[1] == 1 else rows


def size_of(k: Any) -> Any:
    if not isinstance(k, tuple):
        return k
    shape, start, end, over, stages = k
    more = {} if stages is None else {"stages": stages}
    return getattr(nimt.schedules, shape)(start, end, over=over, **more)


def look_of(look: Any) -> Any:
    if look is None or look[0] == "every":
        return look and nimt.schedules.every(look[1])
    _, longest, over, stages, dense = look
    return nimt.schedules.incremental(longest, over=over, stages=stages, dense=dense)


KINDS = {
    "random": (nimt.RandomTeacher, ("replace", "weights")),
    "greedy": (nimt.GreedyTeacher, ("score", "norm", "diverse")),
    "soft": (nimt.teachers.SoftTeacher, ("temperature",)),
    "uncertainty": (nimt.teachers.UncertaintyTeacher, ()),
    "int": (nimt.teachers.INTTeacher, ()),
    "mixed": (nimt.teachers.MixedTeacher, ()),
    "planned": (nimt.teachers.PlannedTeacher, ("floor",)),
    "interpolation": (nimt.teachers.InterpolationTeacher, ("rule",)),
    "synthesis": (nimt.SynthesisTeacher, ("radius", "label_range")),
    "decrease": (functools.partial(nimt.GreedyTeacher, score="decrease"), ("learning_rate",)),
    "response": (nimt.ResponsiveTeacher, ("p",)),
    "gray": (nimt.ResponsiveTeacher, ("p",)),
    "joint": (nimt.ResponsiveTeacher, ("learning_rate",)),
    "surrogate": (nimt.SurrogateTeacher, ("learning_rate", "difficulty")),
    "omniscient": (nimt.OmniscientTeacher, ("learning_rate",)),
    "imitation": (nimt.teachers.ImitationTeacher, ("learning_rate",)),
    "exam": (nimt.teachers.ExamTeacher, ("learning_rate", "prior", "ask", "noise")),
    "epochs": (functools.partial(nimt.RandomTeacher, order="epoch"), ()),
    "sequence": (nimt.teachers.SequenceTeacher, ("indices",)),
    "once": (None, ()),
    "observed": (nimt.GreedyTeacher, ()),
    "last": (nimt.SynthesisTeacher, ("points", "learning_rate", "label_range")),
    "rescaling": (nimt.teachers.RescalingTeacher, ("learning_rate", "largest_weight")),
    "importance": (nimt.teachers.ImportanceTeacher, ("floor",)),
    "classroom": (nimt.teachers.ClassroomTeacher, ("aim",)),
}


def teacher_of(spec: dict[str, Any]) -> Any:
    kind, names = KINDS[spec["kind"]]
    options = {name: spec[name] for name in names if name in spec}
    if spec["kind"] == "once":
        kind, options = nimt.RandomTeacher if spec["drawn"] else nimt.GreedyTeacher, {"never_twice": True}
    if spec["kind"] == "mixed":
        options["shares"] = [(teacher_of(part), share) for part, share in spec["parts"]]
    if "k" in spec:
        options["k"] = size_of(spec["k"])
    if "look" in spec and spec["kind"] != "observed":
        options["look"] = look_of(spec["look"])
    if spec.get("loss") is not None and spec["kind"] != "classroom":  # which is told the loss by its class
        options["loss"] = loss_of(spec["loss"])
    if spec.get("kernel") is not None:
        options["kernel"] = kernel_of(spec["kernel"])
    if spec.get("reference") is not None:
        options["reference"] = as_given(spec["reference"])
    if spec.get("other") is not None:
        options["labels"] = nimt.teachers.AlternativeLabels(as_given(spec["other"]), spec["probability"])
    if spec.get("pool") is not None:
        options["pool"] = spec["pool"]
    teacher = kind(**options)
    if spec["kind"] == "observed":
        teacher = nimt.teachers.Observed(teacher, **{name: spec[name] for name in ("noise", "delay", "every", "at")})
    if spec.get("per_output"):
        teacher = nimt.teachers.PerOutput(teacher)
    if spec.get("mixes") is not None:
        every, until, ridge = spec["mixes"]
        teacher = nimt.teachers.Communicating(teacher, every=every, until=until, ridge=ridge)
    return teacher


def give(problem: Problem, engine: str) -> dict[str, Any] | None:
    """Give the lesson and return its record; None where the engine does not cover it."""
    if problem.box is not None:
        if engine != "auto":
            return None
        pool: Any = nimt.Box(*problem.box)
    else:
        pool = nimt.Points(problem.points) if problem.axes is None else nimt.Grid(*problem.axes)
    target = problem.target if problem.box is not None else as_given(problem.target)
    rules = dict(problem.rules)
    if problem.holdout is not None:
        rules["holdout"] = problem.holdout[0], as_given(problem.holdout[1])
    arguments = learner_of(problem), teacher_of(problem.teacher), pool, target
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if problem.chunks:
                walk = nimt.steps(*arguments, engine=engine, **rules)
                number = 0
                while walk.outcome is None:
                    walk.advance(problem.chunks[number % len(problem.chunks)])
                    number += 1
                lesson = walk.lesson
            else:
                lesson = nimt.teach(*arguments, engine=engine, **rules)
        except nimt.InvalidInput as error:
            if "cannot run this lesson" in str(error):
                return None
            raise
        return read(lesson, problem)


def read(lesson: Any, problem: Problem) -> dict[str, Any]:
    """Return all that the record says, as plain numbers; an error where it cannot say it, as text."""

    def told(ask: Any) -> Any:
        try:
            return ask()
        except Exception as error:  # what went wrong is for the judge to say
            return f"{type(error).__name__}: {error}"

    kept = lesson.indices is not None
    held = told(lambda: lesson.held_out and vars(lesson.held_out))
    names = (
        "discrepancy",
        "indices",
        "labels",
        "initial",
        "final",
        "picks",
        "looked",
        "mix_steps",
        "mixes",
        "itd",
        "drew",
        "weights",
    )
    arrays = {name: getattr(lesson, name) for name in names}
    return arrays | {
        "engine": lesson.engine,
        "outcome": lesson.outcome.name,
        "pool": lesson.pool.points,
        "shown_points": lesson.shown_points,
        "snapshots": dict(lesson.snapshots),
        "held_out_curve": dict(lesson.held_out_curve),
        "held_out": held,
        "predictions": told(lambda: lesson.learner.predict(problem.probes)),
        "examples": told(lambda: {name: np.asarray(part) for name, part in lesson.examples().items()})
        if kept
        else None,
        "table": told(lesson.to_table),
        "rate": lesson.learning_rate,
    }
