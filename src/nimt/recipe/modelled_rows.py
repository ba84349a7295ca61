"""What is taught of a table: a model of its rows, because a teacher who shows noisy rows shows the noise."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from nimt.errors import InvalidInput
from nimt.wording import Watcher, Wording, be_silent

if TYPE_CHECKING:
    from nimt.sources import Problem

SMALLEST = 1e-100  # of the largest label: squares of smaller ones are lost, and those of very large ones infinite


def take_reference(problem: Problem, watch: Watcher = be_silent) -> Problem:
    """Return the problem with a model of the taught rows as f*; the rows as they are, with a note, if none fits them.

    Rows that are held out keep their own labels. `watch` is told which model is tried.
    """
    watch("loading models of rows, of which one becomes f*")
    from nimt.teaching_sets.making_reference import POOR, reference

    try:
        largest = float(abs(problem.target).max())
        if not SMALLEST < largest < 1 / SMALLEST:
            raise InvalidInput(f"its labels go up to {largest:.3g}, and models square them: rescale them")
        found = reference(problem.pool.points, problem.labels, classes=bool(problem.classes), watch=watch)
        if problem.classes and len(set(found.labels)) == 1:
            raise InvalidInput(f"the best one answers {found.labels[0]} in every row")
    except InvalidInput as error:  # fewer rows than folds, one class left
        why = Wording(str(error), error.tell_in_program({}))
        note = why.embed("f* is the rows themselves, because no model can be made of them: ")
        return dataclasses.replace(problem, notes=(*problem.notes, note))
    problem = problem.with_reference(found)
    poor = tuple(note for note in found.notes if note.startswith(POOR))
    return dataclasses.replace(problem, notes=problem.notes + poor)
