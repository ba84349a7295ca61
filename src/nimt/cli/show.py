"""`nimt show`: what a lesson file holds, with its curve in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nimt.errors import InvalidInput

EXAMPLES = (
    "nimt demo",
    "nimt show nimt-demo",
)


def show(
    lesson: Annotated[str, typer.Argument(help="A lesson.npz, or the folder of a run.", metavar="LESSON")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Show what a lesson file holds, and draw its curve."""
    import json

    from nimt.cli.results import print_summary
    from nimt.cli.terminal_curve import terminal_curve
    from nimt.lesson import Lesson
    from nimt.summarising import summary_of

    found = Lesson.load(_lesson_file(Path(lesson)))
    summary = summary_of(found)
    if as_json:
        print(json.dumps(summary, allow_nan=False))
        return
    print_summary(summary)
    for line in terminal_curve(found.discrepancy, found.tol):
        print(line)


def _lesson_file(path: Path) -> Path:
    from nimt.datasets.places import readable_file

    if path.is_dir():
        if not (path / "lesson.npz").exists():
            unfinished = (path / "run.toml").exists()
            way_out = f"its run is not finished: nimt resume {path}" if unfinished else "name the folder of a run"
            raise InvalidInput(f"{str(path)!r} holds no lesson.npz; {way_out}")
        path = path / "lesson.npz"
    return readable_file(path, 1 << 40)
