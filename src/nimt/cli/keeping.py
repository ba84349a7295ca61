"""Which learner of a lesson on a table is kept: the one that was best on the rows held out, or the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nimt.counting import say_count

if TYPE_CHECKING:
    from nimt.cli.run_folder import RunFolder
    from nimt.lesson.lesson import Lesson
    from nimt.session.session import Session

CLEARLY = 0.02  # of the root mean square error, or of an accuracy: a smaller difference does not choose


def find_best_step(lesson: Lesson) -> int | None:
    """Return the step at which rows held out were predicted clearly better than at the end; None if there is none."""
    import numpy as np

    curve = lesson.held_out_curve
    if lesson.held_out is None or len(curve) < 2:
        return None
    steps = list(curve)
    errors = np.array(list(curve.values()))
    of_classes = lesson.held_out.accuracy is not None
    errors = np.where(np.isfinite(errors), 1.0 - errors if of_classes else errors, np.inf)
    best, last = float(errors.min()), float(errors[steps.index(max(steps))])
    if not last > (best + CLEARLY if of_classes else best * (1.0 + CLEARLY)):
        return None
    return steps[int(errors.argmin())]


def say_choosing(lesson: Lesson) -> str:
    """Name the rows held out that choose a step."""
    count = (lesson.settings.get("holdout") or {}).get("choosing", 0)
    return f"{count:,} rows held out, which are not those it is measured on," if count else "the rows held out"


def keep_best(lesson: Lesson, session: Session, folder: RunFolder) -> tuple[Lesson, Session, str | None]:
    """Return the lesson up to the best step, given again, with a sentence about it; as it is where the end is best.

    A lesson is the same, bit by bit, however often it is given.
    """
    from nimt.lesson.outcome import Outcome

    goes_on = (Outcome.INTERRUPTED, Outcome.TIME, Outcome.STOPPED)
    best = None if lesson.outcome in goes_on else find_best_step(lesson)
    if best is None:
        return lesson, session, None
    again = session.task.begin(quiet=True)
    again.warnings += session.warnings
    again.keep_checkpoints(folder.lesson)
    while again.outcome is None and again.step < best:
        again.advance(best - again.step)
    again.outcome = Outcome.CHOSEN
    kept = again.run()
    word = "accuracy" if lesson.held_out is not None and lesson.held_out.accuracy is not None else "error"
    steps = say_count(len(lesson), "step")
    before, after = lesson.held_out_curve[best], lesson.held_out_curve[len(lesson)]
    sentence = (
        f"the learner of step {best:,} is kept, of {steps}: on {say_choosing(lesson)} its {word} is {before:.4g}, and "
        f"{after:.4g} at the end; --keep last keeps the last"
    )
    return kept, again, sentence
