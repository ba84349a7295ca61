"""`nimt challenge`: beat the greedy teacher, as one page for telephones; and the results of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nimt.cli.console import complain, say
from nimt.cli.lesson_options import Quiet
from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from nimt.challenge.challenges import Challenge

DOING = "preparing the challenge"
EXAMPLES = (
    "nimt challenge",
    "nimt challenge sine --clicks 8 --out sine.html",
    "nimt challenge --results codes.txt",
)
USUAL_START = {"gmm": "gmm:start", "digit:0": "digit:8", "face:1": "face:2"}
LISTED = 10  # games that are named


def challenge(
    target: Annotated[str, typer.Argument(help="What is taught: a curve or a small picture.")] = "gmm",
    start: Annotated[
        str | None, typer.Option("--from", help="Where the learner starts; of gmm its own start, else zero.")
    ] = None,
    clicks: Annotated[int, typer.Option("--clicks", help="How many examples may be shown.")] = 12,
    width: Annotated[float, typer.Option("--width", help="Of the kernel.")] = 0.5,
    results: Annotated[
        str | None, typer.Option("--results", help="A file of result codes, one a line, each after a name or alone.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", help="The file to write: challenge.html, and with --results challenge.png."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write a game for a class as one HTML file: show twelve examples, and beat the greedy teacher.

    It needs no server: send the file, or put it on any web page. A game ends with a code; --results draws the codes of
    a class, played again by nimt's own steps, beside greedy, 100 random lessons, the best lesson found with as many
    examples, and the shortest found that comes nearer than greedy's.
    """
    import nimt
    from nimt.challenge.challenge_page import write_challenge
    from nimt.challenge.challenges import Challenge
    from nimt.datasets.places import as_path

    path = as_path(out or ("challenge.html" if results is None else "challenge.png"))
    if not path.parent.is_dir() or path.is_dir():
        raise InvalidInput(f"{str(path)!r} cannot be written: name a file in a folder that is there", parameter="out")
    given = Challenge(nimt.sources.read_problem(target, start or USUAL_START.get(target, "zero")), clicks, width)
    if results is None:
        write_challenge(given, path)
        if not quiet:
            say(f"{path}: {path.stat().st_size / 1000:,.0f} kB; greedy ends at M = {given.greedy.discrepancy[-1]:.4g}")
            say("collect the codes of the class, then: nimt challenge --results codes.txt")
        return
    _draw_results(given, results, path, quiet)


def _draw_results(given: Challenge, results: str, path: Path, quiet: bool) -> None:
    from nimt.challenge.class_figure import draw_class, read_results
    from nimt.datasets.places import as_path

    try:
        lines = as_path(results).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise InvalidInput(f"{results!r} cannot be read ({why})", parameter="results") from None
    table = read_results(given, lines, results)
    for sentence in table.refused:  # also with --quiet: a pupil waits for this place
        complain(sentence, "warning")
    if not table.games:
        raise InvalidInput(f"{results} holds no code that can be read: the lines above say why")
    try:
        draw_class(table).savefig(path)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{str(path)!r} cannot be written: {error}", parameter="out") from None
    if quiet:
        return
    for place, game in enumerate(table.games[:LISTED], start=1):
        say(f"{place:3}. {game.name}: M = {game.discrepancy:.4g}")
    best = "" if table.best is None else f", best found: M = {table.best:.4g}"
    if table.shortest is not None:
        best += f", as near as greedy with {len(table.shortest.shown)} examples"
    games = f"{len(table.games)} {'game is' if len(table.games) == 1 else 'games are'} drawn in {path}"
    left_out = f", {len(table.refused)} left out" if table.refused else ""
    say(f"greedy: M = {table.greedy:.4g}{best}; {games}{left_out}")
