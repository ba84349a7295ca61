"""The curve of a teaching set as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nimt.errors import InvalidInput
from nimt.plots.figures import draw_on
from nimt.plots.style import GREEDY, QUIET, SEVERAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nimt.teaching_sets.kept_rows import TeachingSet

LINES = {
    "chosen": ("chosen", GREEDY, "-", "o"),
    "random_reference": ("random, labels of f*", SEVERAL[0], (0, (3, 1.5)), "s"),
    "random_own": ("random, own labels", QUIET, (0, (1, 1.2)), "^"),
}


def draw_curve(found: TeachingSet, ax: Axes | None = None) -> Figure | Axes:
    """Draw the quality of the student against the number of rows; bands are the spread over splits and draws."""
    curve = found.curve
    if curve is None:
        raise InvalidInput("this teaching set was not measured, so there is no curve to draw")

    def ink(axes: Axes) -> None:
        sizes = curve["size"].to_numpy()
        is_random = found.rule == "random"
        for name, (label, colour, dashes, mark) in LINES.items():
            label = "found in this way" if is_random and name == "chosen" else label
            if name == "random_reference" and found.own_labels:
                continue
            mean, spread = curve[name].to_numpy(), curve[f"{name}_spread"].to_numpy()
            axes.fill_between(sizes, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)
            axes.plot(sizes, mean, color=colour, linestyle=dashes, marker=mark, markersize=3.5, label=label)
        full = float(curve["all_rows"].iloc[0])
        axes.axhline(full, color="#000000", linewidth=0.8, label=f"all rows, own labels ({full:.2f})")
        axes.set_xscale("log")
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.set_xticks([], minor=True)
        shown = [name for name in LINES if not (name == "random_reference" and found.own_labels)]
        edges = [curve[name] + sign * curve[f"{name}_spread"] for name in shown for sign in (-1, 1)]
        known = np.concatenate([*edges, [full]])
        known = known[np.isfinite(known)]  # a student may fail on few rows
        low, high = float(known.min()), float(known.max())
        low = max(low, high - 2.0)  # a student far below the mean would flatten all others
        axes.set_ylim(low - 0.05 * (high - low + 0.01), high + 0.05 * (high - low + 0.01))
        axes.set_xlabel("rows")
        axes.set_ylabel(f"{found.measure.replace('R^2', 'R²')} on rows held out")
        how = "the rows kept are a random draw" if is_random else f"rows chosen by {found.rule}"
        axes.set_title(f"{found.student_name}: {how}", loc="left")
        axes.grid(axis="y")
        axes.legend(loc="lower right")

    return draw_on(ink, ax, 5.2, 3.4)
