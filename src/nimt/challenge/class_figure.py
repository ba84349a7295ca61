"""The results of a class: the table, then a swarm of its games beside greedy, chance, the best and shortest lesson."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.challenge.challenges import Challenge, Played
from nimt.challenge.result_codes import read_code
from nimt.errors import InvalidInput
from nimt.plots.figures import new_figure
from nimt.plots.style import GREEDY, OTHER, QUIET, SEVERAL, STYLE

DOT = 0.09  # of the width of the axes, in which the dots of one row keep apart


@dataclass(frozen=True, eq=False)
class ClassTable:
    """What the figure draws: every game, best first, and what greedy and chance reach with as many examples.

    `best` is the least M that was found with as many, `shortest` the fewest examples found that reach greedy's end.
    `refused` says of each line that holds no good code which one it is, and why.
    """

    games: tuple[Played, ...]
    greedy: float
    chances: Array
    winners: int
    best: float | None
    shortest: Played | None = None
    refused: tuple[str, ...] = ()


def read_results(challenge: Challenge, lines: Sequence[str], source: str = "the codes") -> ClassTable:
    """Play every code again by nimt's own steps: a line is a code, or a name and a code.

    A line without a good code is left out, and named in `refused`: one that is damaged must not stop a class.

    Examples
    --------
    >>> import nimt
    >>> from nimt.challenge import write_code
    >>> challenge = Challenge(nimt.sources.read_problem("gmm", "gmm:start"))
    >>> code = write_code(challenge.number, challenge.greedy.indices[:, 0].tolist(), points=280)
    >>> read_results(challenge, [f"Ada {code}"]).games[0].name
    'Ada'
    """
    games, refused = [], []
    for number, line in enumerate(lines, start=1):
        words = line.replace(",", " ").replace(";", " ").split()
        if not words or words[0].startswith("#"):
            continue
        name = " ".join(words[:-1]) or f"line {number}"
        try:
            shown = read_code(words[-1], challenge.number, challenge.clicks, len(challenge.problem.pool))
        except InvalidInput as error:
            whose = f" ({name})" if words[1:] else ""
            refused.append(f"line {number} of {source}{whose} is left out: {error}")
            continue
        games.append(Played(name, tuple(shown), challenge.play(shown)))
    if not games and not refused:
        raise InvalidInput(f"{source} holds no code: write one on each line, with a name before it if you like")
    winners = sum(challenge.is_beaten_by(game) for game in games)
    best = None if challenge.best is None else challenge.best.discrepancy
    best_first = sorted(games, key=lambda game: game.discrepancy)
    end = float(challenge.greedy.discrepancy[-1])
    return ClassTable(tuple(best_first), end, challenge.chances, winners, best, challenge.shortest, tuple(refused))


def draw_class(table: ClassTable) -> Figure:
    """Return the figure: the class, and chance below it, as swarms on one axis; greedy is a line."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        figure = new_figure(6.5, 3.0)
        axes = figure.subplots()
        rows = (
            ("the class", np.array([game.discrepancy for game in table.games]), SEVERAL[0], 1.0),
            ("random", table.chances, OTHER, 0.0),
        )
        axes.set_xscale("log")
        every = np.concatenate([values for _, values, _, _ in rows] + [[table.greedy, table.best or table.greedy]])
        axes.set_xlim(0.7 * every.min(), 1.1 * every.max())
        for name, values, colour, height in rows:
            _swarm(axes, values, height, colour)
            median = float(np.median(values))
            axes.plot([median, median], [height - 0.3, height + 0.3], color=colour, linewidth=1.2)
            axes.annotate(f"median of {name}", (median, height + 0.32), ha="center", fontsize=7.5, color=colour)
        axes.axvline(table.greedy, color=GREEDY, linestyle=(0, (3, 1.5)))
        axes.annotate(" greedy", (table.greedy, 1.47), ha="left", va="top", color=GREEDY, fontsize=8.5)
        if table.best is not None:
            axes.axvline(table.best, color=SEVERAL[2], linestyle=(0, (1, 1.2)))
            axes.annotate("best found ", (table.best, -0.47), ha="right", va="bottom", color=SEVERAL[2], fontsize=8.5)
        if table.shortest is not None:
            end, count = table.shortest.discrepancy, len(table.shortest.shown)
            axes.plot(end, 0.5, "D", color=SEVERAL[3], markersize=6, zorder=3)
            axes.annotate(
                f"shortest lesson: {count} examples", (end, 0.5), (9, 0), textcoords="offset points", va="center",
                color=SEVERAL[3], fontsize=8.5, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )  # fmt: skip
        axes.set_yticks([1.0, 0.0], ["the class", "random"])
        axes.set_ylim(-0.5, 1.5)
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("M after as many examples (left is nearer to the target)")
        axes.tick_params(axis="y", length=0)
        axes.set_title(f"{table.winners} of {len(table.games)} beat the greedy teacher", loc="left", color=QUIET)
    return figure


def _swarm(axes: Axes, values: Array, height: float, colour: str) -> None:
    """Put each dot as near to its row as the dots before it let."""
    low, high = np.log(axes.get_xlim())
    places = (np.log(values) - low) / (high - low)
    order = np.argsort(values)
    rises: NDArray[np.float64] = np.zeros(len(values))
    for place, dot in enumerate(order):
        near = [other for other in order[:place] if places[dot] - places[other] < DOT / 4]
        taken = {round(float(rises[other]), 6) for other in near}
        free = (sign * step * DOT for step in range(len(values) + 1) for sign in (1, -1))
        rises[dot] = next(rise for rise in free if round(rise, 6) not in taken)
    most = max(0.28, float(np.abs(rises).max(initial=0.0)))
    axes.plot(values, height + rises * 0.28 / most, "o", color=colour, markersize=4, alpha=0.75, markeredgewidth=0)
