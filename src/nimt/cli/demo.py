"""`nimt demo`: a first lesson, and files to go on with."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from nimt.cli.console import DONE, say
from nimt.cli.lesson_options import Overwrite, Quiet
from nimt.recipe.recipe import Recipe

DOING = "reading the target"
EXAMPLES = ("nimt demo",)


def demo(
    out: Annotated[str, typer.Option("--out", help="The folder to write to.")] = "nimt-demo",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Teach the paper's mixture of two bumps to a learner that starts with another bump, and say what to try next."""
    from nimt.cli.run_folder import RunFolder
    from nimt.cli.teach import run_lesson
    from nimt.datasets.places import read_shipped
    from nimt.store.whole_files import whole_file

    settings = Recipe(
        target="gmm", initial="gmm:start", learning_rate="0.01", iterations=5000, measure="paper", tol="0.0001",
        width=0.5, loss="square",
    )  # fmt: skip
    folder = RunFolder.choose(out, "demo")
    again = overwrite or folder.holds_run_of(settings.to_toml())  # it comes out the same, so nothing is lost
    code = run_lesson(settings, out, overwrite=again, require=False, as_json=False, quiet=quiet)
    if code != DONE:
        raise typer.Exit(code)
    picture = Path(out) / "cat.png"
    with whole_file(picture) as temporary:
        temporary.write_bytes(read_shipped("chelsea.png"))
    if not quiet:
        say(f"open {Path(out) / 'report.html'} in a browser, then try")
        say(f"  nimt teach {shlex.quote(str(picture))} --from zero")
        say("  nimt compare gmm --from gmm:start --learning-rate 0.01 --tol 1e-4")
        say(
            "0.01 is the paper's learning rate, and 1e-4 its tolerance; without them nimt takes the largest safe rate, "
            "far fewer steps, and ends at 1 % of the target's deviation."
        )
