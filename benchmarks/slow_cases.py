"""Lessons that only the plain loop runs: each must say so, and why, where it will take over 10 s."""

from __future__ import annotations

import numpy as np

import nimt
from benchmarks.results import RATE, picture
from nimt import schedules
from nimt.errors import SlowLessonWarning
from nimt.task.checks import find_faults
from nimt.task.task import Task

STEPS = 1_000_000


class Own(nimt.Teacher):
    """A teacher as a user would write it."""

    def select(self, view):
        return view.show(np.argmax(np.abs(view.predictions - view.target)))


def slow_cases(bench):
    """Count the lessons that are compiled, or say that the plain loop runs; the others are named."""
    growing = schedules.cosine(0.01, 0.1)
    cases = {
        "packs of SoftTeacher": nimt.teachers.SoftTeacher(k=0.05),
        "diverse packs that change in size": nimt.GreedyTeacher(k=growing, diverse=True, kernel=nimt.rbf(0.5)),
        "packs that change in size, looked at every 10 steps": nimt.GreedyTeacher(k=growing, look=schedules.every(10)),
        "PerOutput of soft": nimt.teachers.PerOutput(nimt.teachers.SoftTeacher()),
        "PerOutput of synthesis": nimt.teachers.PerOutput(nimt.SynthesisTeacher()),
        "a teacher of one's own": Own(),
    }
    silent, looped = [], []
    for name, teacher in cases.items():
        image = picture(64)
        target = np.stack([image, image[::-1], image.T], axis=-1) if teacher.per_output else image
        learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=RATE)
        task = Task.of(learner, teacher, nimt.Grid.like(image), target, max_iterations=STEPS, tol=None)
        if task.plan.engine == "reference":
            looped.append(name)
            if SlowLessonWarning not in find_faults(task):
                silent.append(name)
    note = f"in the plain loop: {', '.join(looped)}" + (f"; silent: {', '.join(silent)}" if silent else "")
    bench.row("long lessons that are compiled, or say that they are not", f">= {len(cases)} of {len(cases)}",
              len(cases) - len(silent), note=note,
              bound=lambda: f"estimates of the time that are too low: {', '.join(silent)}")  # fmt: skip
