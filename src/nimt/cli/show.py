"""`nimt show`: what a lesson file holds, with its curve in the terminal."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nimt.cli.console import can_print, note, say
from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from nimt.cli.run_folder import RunFolder
    from nimt.lesson.lesson import Lesson

LARGEST = 1 << 40  # bytes

DOING = "reading the lesson"
EXAMPLES = (
    "nimt demo",
    "nimt show nimt-demo",
    "nimt show nimt-demo --figures --cmap magma",
)


def show(
    lesson: Annotated[str, typer.Argument(help="A lesson.npz, or the folder of a run.", metavar="LESSON")],
    figures: Annotated[
        bool, typer.Option("--figures", help="Write figures, an animation and a page to the folder of the run.")
    ] = False,
    cmap: Annotated[str | None, typer.Option("--cmap", help="A colour map of matplotlib for --figures.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Show what a lesson file holds, and draw its curve.

    A run that was stopped is shown as far as it went; --figures draws that, too.
    """
    import json

    from nimt.cli.run_folder import BLOCK_TASK
    from nimt.cli.terminal_curve import ASCII, terminal_curve
    from nimt.cli.written_results import print_summary
    from nimt.datasets.places import as_path
    from nimt.reports.summary import summary_of

    path = as_path(lesson)
    if (path / BLOCK_TASK).is_file():
        from nimt.cli.block_run import show_blocks

        if figures:
            raise InvalidInput(f"{lesson!r} is a lesson by blocks, which has no figures: leave --figures out")
        show_blocks(path, as_json=as_json)
        return
    if figures and not path.is_dir():
        raise InvalidInput(f"--figures writes to the folder of a run, and {lesson!r} is none: name the folder")
    found = find_lesson(path)
    if figures:
        _draw(found, path, cmap, quiet=as_json)
    summary = summary_of(found)
    if as_json:
        print(json.dumps(summary, allow_nan=False))
        return
    print_summary(summary)
    for line in terminal_curve(found.discrepancy, measure=found.measure):
        say(line if can_print(line) else line.translate(ASCII))


def _draw(found: Lesson, path: Path, cmap: str | None, *, quiet: bool) -> None:
    """Write the figures of a lesson to the folder of its run, while no other process writes there."""
    from nimt.cli.run_folder import RunFolder
    from nimt.plots.figures import check_cmap
    from nimt.recipe.recipe import Recipe
    from nimt.reports.lesson_page import write_lesson_report

    check_cmap(cmap)
    run = RunFolder(path)
    with run.claim_again():
        settings = Recipe.read(run.config)
        written = write_lesson_report(
            found, path, title=settings.title, repeat=settings.to_toml(path), cmap=cmap or settings.cmap
        )
    note(f"written to {path}: {', '.join(one.name for one in written)}", quiet=quiet)


def find_lesson(path: Path) -> Lesson:
    """Return the lesson of a file, or of a folder: finished, or as far as it was written."""
    from nimt.cli.run_folder import RunFolder
    from nimt.datasets.places import readable_file
    from nimt.lesson.content import KIND
    from nimt.lesson.lesson import Lesson
    from nimt.lesson.outcome import Outcome
    from nimt.store.checkpoint_file import read_checkpoint

    if not path.is_dir():
        return Lesson.load_record(readable_file(path, LARGEST))
    run = RunFolder(path)
    if not run.has_lesson():
        raise InvalidInput(f"{str(path)!r} holds no lesson.npz; {_way_out(run)}")
    lesson = Lesson.of_content(read_checkpoint(run.lesson, KIND)[0], run.lesson)
    if lesson.outcome in (Outcome.UNFINISHED, Outcome.INTERRUPTED):
        note(f"the run is not finished, and is shown as far as it was written; go on with: {_say_how_to_resume(path)}")
    return lesson


def _way_out(run: RunFolder) -> str:
    from nimt.cli.run_folder import say_how_to_repeat
    from nimt.recipe.recipe import read_settings

    if not run.config.exists():
        return "name the folder of a run"
    if "teachers" not in read_settings(run.config):
        return f"its run is not finished: {_say_how_to_resume(run.path)}"
    lessons = sorted(path.name for path in run.path.glob("*-seed-*.npz"))
    if run.is_under_way():
        return f"its comparison is not finished: {_say_how_to_resume(run.path)}"
    if not lessons:
        return f"its comparison is not finished, and is {say_how_to_repeat(run.path)}"
    one = _quote(run.path / lessons[0])
    return f"it is a comparison: open its report.html, or show one of its lessons: nimt show {one}"


def _say_how_to_resume(path: Path) -> str:
    return f"nimt resume {_quote(path)}"


def _quote(path: Path) -> str:
    """Return a path as it is pasted into a shell."""
    return shlex.quote(str(path))
