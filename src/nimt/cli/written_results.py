"""What a finished or stopped run says: a table, where everything is, and how to go on."""

from __future__ import annotations

import contextlib
import json
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nimt.cli.console import DONE, INTERRUPTED, NOT_REACHED, note, plain, say
from nimt.cli.keeping import keep_best
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.wording import say_in_program

if TYPE_CHECKING:
    from nimt.cli.run_folder import RunFolder
    from nimt.lesson.lesson import Lesson
    from nimt.recipe.recipe import Recipe
    from nimt.session.session import Session

WIDE = 160  # letters
MOST_LETTERS = 14  # of a word that is never broken in a table
ROWS = {
    "sentence": "how it ended",
    "steps": "steps",
    "itd": "steps to tolerance (ITD)",
    "tol": "tolerance",
    "discrepancy_at_start": "{word} at the start",
    "discrepancy_at_end": "{word} at the end",
    "psnr_at_start": "PSNR at the start, dB",
    "psnr_at_end": "PSNR at the end, dB",
    "kept": "learner kept",
    "held_out_points": "rows held out",
    "held_out_r2": "R^2 on them",
    "held_out_rms": "root mean square error on them",
    "held_out_accuracy": "accuracy on them",
    "examples": "examples shown",
    "distinct_points": "distinct points shown",
    "points": "points in the pool",
    "classes": "classes",
    "teacher": "teacher",
    "kernel": "kernel",
    "kernel_width": "kernel width",
    "loss": "loss",
    "learning_rate": "learning rate",
    "seed": "seed",
    "engine": "engine",
    "seconds": "seconds",
    "steps_per_second": "steps per second",
}


LONGEST_REPLAY, LARGEST_REPLAY = 200_000, 1 << 25  # steps, and bytes of snapshots in single precision
FEW_LESSONS = 3  # that are named one by one
USUAL_BUDGET = 20_000  # steps, suggested after a lesson of none


def finish(
    lesson: Lesson,
    folder: RunFolder,
    settings: Recipe,
    session: Session | None,
    *,
    as_json: bool,
    quiet: bool,
    require: bool,
    notes: Iterable[str] = (),
) -> int:
    """Write what the lesson leaves beside its file, say so, and return the exit code.

    The session that gave it has written the file; None where it was read from there. `notes` are what was decided
    before the lesson, for its report.
    """
    from nimt.lesson.outcome import Outcome
    from nimt.reports.summary import summary_of

    folder.keep()
    if not folder.is_still_there():
        return _finish_elsewhere(lesson, folder, settings, as_json=as_json, quiet=quiet, require=require)
    go_on = f"nimt resume {shlex.quote(str(folder.path))}"
    if lesson.outcome is Outcome.INTERRUPTED:
        note(
            f"stopped after {say_count(len(lesson), 'step')}, everything is kept; go on with: {go_on}; for figures so "
            f"far: nimt show {shlex.quote(str(folder.path))} --figures"
        )
        return INTERRUPTED
    try:
        with _tell_what_is_kept(folder, go_on, saved=False):
            if session is not None:
                session.check_written()
                lesson, session = _settle(lesson, session, folder, settings, quiet=quiet)
                session.check_written()
        if not (quiet or as_json):
            print_summary(summary_of(lesson))
            sys.stdout.flush()  # a person reads it while the figures are drawn
        with _tell_what_is_kept(folder, go_on, saved=True):
            folder.drop_previous()
            written = _draw(lesson, folder, settings, quiet=quiet or as_json, notes=notes)
    except KeyboardInterrupt:
        note(f"stopped while writing and drawing, the lesson is kept; go on with: {go_on}")
        return INTERRUPTED
    _say_written(lesson, folder, written, go_on, as_json=as_json, quiet=quiet)
    return NOT_REACHED if require and not lesson.outcome.met_tolerance else DONE


@contextlib.contextmanager
def _tell_what_is_kept(folder: RunFolder, go_on: str, *, saved: bool) -> Iterator[None]:
    """Say of a disk that is full, or of what else the system refuses in the block, what is kept and how to go on."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, _say_unwritten(error, folder, go_on, saved=saved)) from error


def _settle(
    lesson: Lesson, session: Session, folder: RunFolder, settings: Recipe, *, quiet: bool
) -> tuple[Lesson, Session]:
    """Return the lesson with the learner that is kept, and write what is to be said of it into its file too."""
    sentence = None
    if settings.keep == "best":
        lesson, session, sentence = keep_best(lesson, session, folder)
    said = [text for text in (sentence, _advice(lesson, settings)) if text is not None]
    for text in said:
        note(text, quiet=quiet)
    if said:
        session.warnings += said
        session.write_checkpoint()
    return lesson, session


def _advice(lesson: Lesson, settings: Recipe) -> str | None:
    """Return what to try where the rows held out, or the accuracy on the way, say that little was learned."""
    held_out, teacher = lesson.held_out, settings.teacher
    if held_out is None:
        return None
    noisy = "leave out --reference none, which teaches the rows with their noise" * (settings.reference == "none")
    if held_out.accuracy is None:
        if (held_out.r_squared or 0.0) >= 0:
            return None
        worse = "on the rows held out the learner is worse than the mean of their labels"
        if noisy:
            return f"{worse}: {noisy}"
        ways = [] if teacher == "random" else ["--teacher random"]
        if getattr(getattr(lesson.pool, "preparation", None), "missing", "") == "mean":
            ways.append("--missing drop")
        ways.append("more steps" if _still_improves(lesson) else "other --features")
        return f"{worse}: noise or wrong rows may mislead the teacher, so try {' or '.join(ways)}"
    from nimt.teaching.missed_classes import say_missed_classes

    seen = say_missed_classes(lesson, lesson.measure)
    if seen is None:
        return None
    if noisy:
        return f"the learner {seen}: {noisy}"
    if teacher == "random":
        more = ", or more steps" if _still_improves(lesson) else ""
        return f"the learner {seen}: try a smaller --learning-rate or another --width{more}"
    return (
        f"the learner {seen}: classes that overlap mislead a greedy teacher, so try --teacher random or a smaller "
        f'--learning-rate; see the page "When not to teach greedily"'
    )


def _still_improves(lesson: Lesson) -> bool:
    """Say whether the last look at the rows held out was the best one, so that more steps may help."""
    from nimt.lesson.outcome import Outcome

    if lesson.outcome is Outcome.CHOSEN:  # later steps were taken, and hurt
        return False
    curve = list(lesson.held_out_curve.values())
    of_classes = lesson.held_out is not None and lesson.held_out.accuracy is not None
    return len(curve) > 1 and curve[-1] == (max(curve) if of_classes else min(curve))


def _finish_elsewhere(
    lesson: Lesson, folder: RunFolder, settings: Recipe, *, as_json: bool, quiet: bool, require: bool
) -> int:
    """Write the lesson to a new folder: its own was removed or replaced while it ran."""
    from nimt.cli.run_folder import RunFolder
    from nimt.cli.run_identity import mark_settings
    from nimt.lesson.outcome import Outcome
    from nimt.store.whole_files import write_text

    gone = f"the folder {str(folder.path)!r} was removed or replaced while the lesson ran"
    if lesson.outcome is Outcome.INTERRUPTED:
        note(f"stopped after {say_count(len(lesson), 'step')}; {gone}, so that there is nothing to go on from")
        return INTERRUPTED
    other = RunFolder.of_their_own(folder.path.name.removeprefix("nimt-"))
    note(f"{gone}: it is written to {str(other.path)!r}")
    with other.claim_anew(overwrite=False):
        write_text(other.config, mark_settings(settings, lesson.settings, other.path))
        lesson.save(other.lesson)
        return finish(lesson, other, settings, None, as_json=as_json, quiet=quiet, require=require)


def _draw(lesson: Lesson, folder: RunFolder, settings: Recipe, *, quiet: bool, notes: Iterable[str] = ()) -> list[Path]:
    moves = " and the animation" if settings.figures == "all" else ""
    said = [say_in_program(text) for text in notes]
    if settings.figures == "none":  # nothing that draws is loaded
        from nimt.reports.summary import write_summary

        return [folder.lesson, write_summary(lesson, folder.path, said)]
    note(f"drawing the figures{moves}", quiet=quiet)
    from nimt.plots.quick_loading import load_without_help

    with load_without_help():
        from nimt.reports.lesson_page import write_lesson_report

    replay = folder.path / "replay.html"
    if _has_a_small_replay(lesson):
        with contextlib.suppress(InvalidInput):  # it would take more than a replay may
            lesson.replay(replay, title=settings.title)
    if not replay.exists():
        note("replay.html is left out, it would be large; in Python lesson.replay(path) writes it", quiet=quiet)
    report = write_lesson_report(
        lesson,
        folder.path,
        title=settings.title,
        repeat=settings.to_toml(folder.path),
        cmap=settings.cmap,
        figures=settings.figures,
        notes=said,
    )
    return [folder.lesson, *([replay] if replay.exists() else []), *report]


def _has_a_small_replay(lesson: Lesson) -> bool:
    """Say whether a replay is small and soon written: on scattered points it may have to hold every snapshot."""
    from nimt.pools.pool import Grid

    held = 4 * lesson.target.size * (len(lesson.snapshots) + 2)
    return len(lesson) <= LONGEST_REPLAY and (isinstance(lesson.pool, Grid) or held <= LARGEST_REPLAY)


def _say_unwritten(error: OSError, folder: RunFolder, go_on: str, *, saved: bool) -> str:
    what = "the figures" if saved else "the lesson"
    if saved:
        kept = f"the lesson itself is: make room, then {go_on}"
    elif folder.has_lesson():
        kept = f"what was written of it before is whole: make room, then {go_on}"
    else:
        kept = f"nothing was written of it before: make room, then begin again with {go_on}"
    return f"{what} could not be written ({error.strerror or error}); {kept}"


def _say_written(
    lesson: Lesson, folder: RunFolder, written: list[Path], go_on: str, *, as_json: bool, quiet: bool
) -> None:
    from nimt.lesson.outcome import Outcome
    from nimt.reports.summary import summary_of

    if as_json:
        print(json.dumps(summary_of(lesson) | {"folder": str(folder.path)}, allow_nan=False))
    elif not quiet:
        print_written(folder.path, written)
        if lesson.outcome in (Outcome.BUDGET, Outcome.TIME):
            larger = "" if lesson.outcome is Outcome.TIME else f" --iterations {_larger_budget(lesson)}"
            worth = lesson.held_out is None or _still_improves(lesson)
            say(f"go on with: {go_on}{larger}" if worth else _say_best_step(lesson))


def _say_best_step(lesson: Lesson) -> str:
    """Say when the rows held out were predicted best, where that was before the end."""
    pick = max if lesson.held_out is not None and lesson.held_out.accuracy is not None else min
    curve = lesson.held_out_curve
    best = pick(curve, key=lambda step: curve[step]) if curve else 0
    return f"rows held out were predicted best at step {best:,}, so that more steps may not help"


def _larger_budget(lesson: Lesson) -> int:
    """Return a budget worth trying: twice the steps; of a picture whose pixels were not all shown, two for each."""
    unseen = lesson.pool.view == "picture" and len(lesson) < len(lesson.pool)
    return 2 * max(len(lesson), len(lesson.pool) if unseen else 0) or USUAL_BUDGET


def print_summary(summary: dict[str, Any]) -> None:
    """Print the summary as a table."""
    from nimt.display import per_cent
    from nimt.measures import MEASURES, Measure
    from nimt.reports.summary import COMPILING, compiling_text

    measure = MEASURES.get(summary["measure"], Measure())
    texts = {name: text_of(summary[name]) for name in ROWS if summary[name] is not None}
    for name in {"tol", "discrepancy_at_start"} & set(texts):
        texts[name] = measure.text(summary[name], digits=6)
    if "discrepancy_at_end" in texts:
        texts["discrepancy_at_end"] = measure.text(summary["discrepancy_at_end"], summary["tol"], 6)
    if "held_out_accuracy" in texts:
        texts["held_out_accuracy"] = per_cent(summary["held_out_accuracy"])
    if "steps_per_second" in texts:
        texts["steps_per_second"] = f"{summary['steps_per_second']:,.0f}"
    rows = [[ROWS[name].format(word=summary["measure_word"]), text] for name, text in texts.items()]
    compiling = compiling_text(summary)
    if compiling is not None:
        rows.append([COMPILING, compiling])
    print_table(["", ""], rows)


def print_table(header: list[str], lines: list[list[str]]) -> None:
    """Print a table, its first column and words to the left, numbers to the right.

    Where the terminal is narrow, cells are broken between words, so that no column is lost.
    """
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE, show_header=any(header), pad_edge=False)
    for place, name in enumerate(header):
        words = place == 0 or len(header) == 2 or not any(line[place][:1].isdigit() for line in lines)
        justify: Literal["left", "right"] = "left" if words else "right"
        least = max((len(word) for line in lines for word in plain(line[place]).split()), default=1)
        table.add_column(plain(name), justify=justify, overflow="fold", min_width=min(least, MOST_LETTERS))
    for line in lines:
        table.add_row(*(Text(plain(cell)) for cell in line))  # Text, so that brackets in a name are not read as markup
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, WIDE)  # a file or a pipe has no edge to keep within
    if console.measure(table, options=console.options.update(width=WIDE)).maximum > console.width:
        table.padding = (0, 1, 0, 0)  # before words are broken, columns move together
    console.print(table)


def print_written(folder: Path, written: list[Path]) -> None:
    """Say where everything is."""
    names = [path.name for path in written]
    lessons = [name for name in names if name.endswith(".npz")]
    if len(lessons) > FEW_LESSONS:
        names = [f"{len(lessons)} lessons ({lessons[0]}, ...)", *(name for name in names if name not in lessons)]
    say(f"written to {folder}: {', '.join(names)}")


def text_of(value: Any) -> str:
    """Return a number or a text as a person reads it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
