"""Teach a picture of 2048 x 2048 pixels from nothing: four million examples, chosen one by one."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.progress import Progress

import nimt


def julia(side: int) -> np.ndarray:
    """Return a picture with detail at every scale: how fast z -> z^2 + c leaves the disc, smoothed, mean 0."""
    x = np.linspace(-1.5, 1.5, side)
    z = (x[np.newaxis, :] + 1j * x[:, np.newaxis] * 0.9) * np.exp(0.4j)
    c = -0.79 + 0.15j
    time_of_leaving = np.full(z.shape, 120.0)
    inside = np.ones(z.shape, dtype=bool)
    for step in range(120):
        z[inside] = z[inside] ** 2 + c
        left = inside & (np.abs(z) > 4)
        time_of_leaving[left] = step + 1 - np.log2(np.log2(np.abs(z[left])))
        inside &= ~left
    picture = np.log(np.maximum(time_of_leaving, 0.5))
    return (picture - picture.mean()) / picture.std()


def draw(lesson: nimt.Lesson, picture: np.ndarray, path: Path) -> None:
    thin = max(1, len(picture) // 512)
    steps = sorted(lesson.snapshots)
    figure = Figure(figsize=(3 * (len(steps) + 1), 3.5), layout="constrained")
    axes = figure.subplots(1, len(steps) + 1)
    shown = [(f"{step:,} examples", lesson.snapshots[step].reshape(picture.shape)) for step in steps]
    for ax, (title, values) in zip(axes, [*shown, ("the target", picture)], strict=True):
        small = values[: len(values) // thin * thin, : len(values) // thin * thin]
        small = small.reshape(len(small) // thin, thin, -1, thin).mean(axis=(1, 3))
        ax.imshow(small, cmap="magma", vmin=picture.min(), vmax=np.quantile(picture, 0.999))
        ax.set_title(title)
        ax.axis("off")
    figure.savefig(path, dpi=60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="the folder for the picture")
    parser.add_argument("--side", type=int, default=512, help="pixels along a side; 2048 is four million of them")
    options = parser.parse_args()
    picture = julia(options.side)
    steps = picture.size // 2**20 * 2**20 or picture.size
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.5)
    with Progress(transient=True) as bar:
        job = bar.add_task("teaching", total=steps)
        began = time.perf_counter()
        lesson = nimt.teach(
            learner, nimt.GreedyTeacher(), nimt.Grid.like(picture), picture, max_iterations=steps, tol=None,
            snapshots=[steps // 16, steps // 4, steps], callback=lambda now: bar.update(job, completed=now.step),
        )  # fmt: skip
        seconds = time.perf_counter() - began
    left = lesson.discrepancy[-1] / lesson.discrepancy[0]
    print(f"{picture.size:,} pixels, {len(lesson):,} examples in {seconds:.1f} s on the {lesson.engine} engine")
    print(f"{1e6 * lesson.elapsed / len(lesson):.2f} microseconds per example; {left:.1%} of the discrepancy is left")
    options.out.mkdir(parents=True, exist_ok=True)
    draw(lesson, picture, options.out / "large-picture.png")
    print(f"written: {options.out / 'large-picture.png'}")


if __name__ == "__main__":
    main()
