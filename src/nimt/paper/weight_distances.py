"""Lessons of linear learners: how far their weights are from those wanted, beside what was published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from matplotlib.axes import Axes

from nimt.arrays import Array
from nimt.lesson.lesson import Lesson
from nimt.paper.experiment import Quantity
from nimt.paper.figure_style import LossCurve, draw_curves


def weight_distances(lesson: Lesson, features: Array, target: Array) -> Array:
    """Return |w - w*| after each step, from f on the pool, which every step must have been kept of.

    Parameters
    ----------
    lesson : Lesson
        Of a `LinearLearner`.
    features : array (n, d)
        What the weights multiply, of rank d.
    target : array (d,)
        w*.
    """
    values = np.array([lesson.snapshots[step] for step in range(len(lesson) + 1)])
    weights = np.linalg.lstsq(features, values.T, rcond=None)[0].T
    return np.asarray(np.linalg.norm(weights - target, axis=1))


def compare_curve(
    name: str, curve: Array, steps: Iterable[int], published: Mapping[int, float], differs: str | None = None
) -> list[Quantity]:
    """Return a curve at the steps that it reached, each beside the published value."""
    return [
        Quantity(f"{name}, t = {step:,}", float(curve[step]), published.get(step), differs)
        for step in steps
        if step < len(curve)
    ]


def draw_distances(
    ax: Axes,
    curves: Mapping[str, Array],
    colours: Mapping[str, str | None],
    published: Mapping[str, Mapping[int, float]],
    label: str,
) -> None:
    """Draw curves by name over the steps, on a logarithmic scale, and what was published of them as points."""
    drawn = [LossCurve(name, np.arange(len(curve)), curve, colours.get(name)) for name, curve in curves.items()]
    draw_curves(ax, drawn)
    for line, name in zip(ax.get_lines(), curves, strict=True):
        known = {step: value for step, value in published.get(name, {}).items() if value > 0}
        ax.plot(list(known), list(known.values()), "o", color=line.get_color(), markersize=4)
    ax.set_yscale("log")
    ax.set_xlabel("step t")
    ax.set_ylabel(label)
