"""A learner with the linear kernel equals a parametric learner at every step, if both see the same examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.datasets import Picture
from nimt.datasets.formulas import line, line_pool
from nimt.kernels import linear, rbf
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import Learner
from nimt.learners.linear_learner import LinearLearner
from nimt.lesson.lesson import Lesson
from nimt.paper.experiment import Experiment, PaperFigure, PaperLesson, PaperSetting, Quantity
from nimt.paper.figure_style import (
    DASHES,
    LEARNER,
    apply_style,
    canvas,
    draw_example,
    find_shown_at,
    legend_above,
    step_title,
)
from nimt.paper.methods import GREEDY, teacher_of
from nimt.plots.style import TARGET
from nimt.teachers.teacher import Selection, Teacher, View

STEPS = 2_000
DRAWN = (0, 50, 200, 500, 2000)
EVERY = 10  # steps between two comparisons of the learners
# (w, b) of f* and of f0: as the text states them, and as the published figure shows them
VERSIONS = {
    "as the text states it": ((1.0, 1.0), (-0.5, 0.5)),
    "as the figure shows it": ((1.0, 0.0), (-0.5, 0.0)),
}
RBF, LINEAR, PARAMETRIC = "RBF kernel", "linear kernel", "parametric"
LOOKS: dict[str, dict[str, Any]] = {
    RBF: {"color": LEARNER, "linewidth": 1.6},
    LINEAR: {"color": "#CC79A7", "linewidth": 3.2},
    PARAMETRIC: {"color": TARGET, "linewidth": 1.4, "linestyle": ":"},
}


@dataclass(frozen=True, eq=False, kw_only=True)
class ShowAgain(Teacher):
    """Show what another teacher has shown, step by step."""

    shown: NDArray[np.int64]

    def pack_size(self, n: int) -> int:
        return int(self.shown.shape[1])

    def select(self, view: View) -> Selection:
        return view.show(self.shown[view.step])


def run(setting: PaperSetting, pictures: tuple[Picture, ...] = ()) -> dict[str, dict[str, Lesson]]:
    """Teach three learners twice, each time with the greedy examples of the RBF learner."""
    return {version: _run(setting, version, *lines) for version, lines in VERSIONS.items()}


def _run(
    setting: PaperSetting, version: str, goal: tuple[float, float], start: tuple[float, float]
) -> dict[str, Lesson]:
    target, initial = line(*goal), line(*start)
    compared_at = sorted({*DRAWN, *range(0, STEPS + 1, EVERY)})
    teach = partial(setting.teach, steps=STEPS, draw_at=compared_at, record="all")
    first = teach(
        f"{RBF}, {version}", KernelLearner(rbf(0.5), learning_rate=0.01, initial=initial),
        teacher_of(GREEDY), line_pool(), target,
    )  # fmt: skip
    assert first.indices is not None
    others: dict[str, Learner] = {
        LINEAR: KernelLearner(linear(c=1.0), learning_rate=0.01, initial=initial),
        PARAMETRIC: LinearLearner(start, learning_rate=0.01),
    }
    same = ShowAgain(shown=first.indices)
    lessons = {name: teach(f"{name}, {version}", other, same, line_pool(), target) for name, other in others.items()}
    return {RBF: first} | lessons


def lessons(found: dict[str, dict[str, Lesson]]) -> list[PaperLesson]:
    """Return the table of the lessons."""
    return [
        PaperLesson(name=f"{name}, {version}", lesson=lesson, checkpoints=DRAWN)
        for version, group in found.items()
        for name, lesson in group.items()
    ]


def largest_difference(group: dict[str, Lesson]) -> float:
    """Return max |f_linear - f_parametric| over all compared steps and points."""
    kernel, parametric = group[LINEAR].snapshots, group[PARAMETRIC].snapshots
    return max(float(np.abs(kernel[step] - parametric[step]).max()) for step in kernel)


def quantities(found: dict[str, dict[str, Lesson]]) -> list[Quantity]:
    """Return how far the linear kernel and the parametric learner ever were from each other."""
    return [
        Quantity(f"largest difference between linear kernel and parametric, {version}", largest_difference(group), 0.0)
        for version, group in found.items()
    ]


@apply_style
def draw(found: dict[str, dict[str, Lesson]]) -> Iterator[PaperFigure]:
    """Draw the three learners, one row per version."""
    kept = np.array(list(found[next(iter(found))][RBF].snapshots))
    wanted = np.array(DRAWN) * kept[-1] / STEPS
    chosen = np.unique(kept[np.abs(kept[:, np.newaxis] - wanted).argmin(axis=0)]).tolist()
    figure = canvas(1.95 * len(chosen) + 0.4, 4.2)
    axes = figure.subplots(len(found), len(chosen), sharex=True, sharey="row", squeeze=False)
    for row, (version, group) in zip(axes, found.items(), strict=True):
        x, target = group[RBF].pool.points[:, 0], group[RBF].target
        for ax, step in zip(row, chosen, strict=True):
            ax.plot(x, target, color="#8A8A8A", linewidth=1.1, linestyle=DASHES, label="target f*")
            for name in (LINEAR, PARAMETRIC, RBF):
                ax.plot(x, group[name].snapshots[step], label=name, **LOOKS[name])
            index = find_shown_at(group[RBF], step)
            if index is not None:
                draw_example(ax, x[index], target[index])
            ax.set_title(step_title(step), loc="left")
        row[0].set_ylabel(version.replace(" as ", "\nas ").replace("the ", "the\n", 1))
    for ax in axes[-1]:
        ax.set_xlabel("x")
    legend_above(figure, axes[0, 0], 5)
    yield PaperFigure(
        "linear-kernel",
        figure,
        "Three learners shown the same examples, those that GFT-1 chooses for the RBF learner. The linear kernel and "
        "the parametric learner agree at every step: the dotted line lies on the wide one. Above f* = x + 1 from "
        "-0.5 x + 0.5, as the text states it; below f* = x from -0.5 x, as the published figure shows it.",
    )


def notes(found: dict[str, dict[str, Lesson]]) -> list[str]:
    """Say what differs from the paper, and why."""
    worst = max(largest_difference(group) for group in found.values())
    return [
        "The text states f* = x + 1 and f0 = -0.5 x + 0.5, the published figure shows f* = x and f0 = -0.5 x; both are "
        f"run here. The largest difference between linear kernel and parametric learner is {worst:.1e}.",
        "That the linear kernel <x, x'> + c equals parametric teaching needs the bias feature sqrt(c): with feature 1 "
        "it holds for c = 1 only, which is the case here.",
    ]


EXPERIMENT = Experiment(
    name="linear-kernel",
    title="The linear kernel is the parametric learner",
    paper="Figure 9",
    about="A straight line is taught to a learner with the RBF kernel, to one with the linear kernel x x' + 1, and to "
    "one that descends on its two parameters. All three are shown the examples that GFT-1 chooses for the first. "
    "Square loss, learning rate 0.01, 20 points.",
    run=run,
    lessons=lessons,
    quantities=quantities,
    draw=draw,
    notes=notes,
    cost=2.0,
)
