"""Teachers that do more than look for the largest error: their cost per step as a multiple of plain greedy teaching."""

from __future__ import annotations

import numpy as np

import nimt
from benchmarks import bounds
from benchmarks.results import RATE, picture
from nimt import datasets


def per_step(teacher, image, steps, start=0.0, engine="auto", repeat=5, width=0.5):
    """Return the shortest microseconds per step of some lessons, and the last of them."""
    learner = nimt.KernelLearner(nimt.rbf(width=width), learning_rate=RATE, initial=start)
    lessons = [
        nimt.teach(
            learner, teacher, pool_of(image), image, max_iterations=steps, tol=None, engine=engine, record="picks"
        )
        for _ in range(repeat)
    ]
    return min(1e6 * lesson.elapsed / len(lesson) for lesson in lessons), lessons[-1]  # without compiling


def pool_of(image):
    return nimt.Grid.like(image[..., 0] if image.ndim == 3 else image)


def in_colour(image):
    return np.stack([image, np.roll(image, 7, axis=0), image[::-1]], axis=-1)


def against(bench, work, goal, teacher, plain, image, steps, start=0.0):
    """Add the row of a teacher's cost over a plain teacher's, its curve compared with the reference loop's."""
    cost, lesson = per_step(teacher, image, steps, start)
    base, _ = per_step(plain, image, steps, start)
    some = min(steps, 200 if bench.quick else 1000)
    _, loop = per_step(teacher, image, some, start, engine="reference", repeat=1)
    bench.row(work, goal, cost / base, lesson=lesson, curve=loop.discrepancy, seconds=1e-6 * cost, steps=1,
              against=f"{plain.name}, {base:.3g} us",
              bound=bounds.more(cost - base, "what this teacher does beyond the plain one takes"))  # fmt: skip


def draws(bench):
    """One point drawn by its score."""
    for side in (28, 92):
        cost, lesson = per_step(nimt.teachers.SoftTeacher(), picture(side), 60_000)
        _, loop = per_step(nimt.teachers.SoftTeacher(), picture(side), 500, engine="reference", repeat=1)
        bench.row(f"soft draws, {side}x{side}", "<= 5 us", cost, lesson=lesson, curve=loop.discrepancy,
                  bound=bounds.passes(side * side))  # fmt: skip


def teachers(bench):
    """Draws by odds, labels made by the teacher, diverse packs, packs of the largest loss, examples of each output."""
    draws(bench)
    eight, zero = datasets.first_eight().values, datasets.mean_zero().values
    made, plain = nimt.SynthesisTeacher(), nimt.GreedyTeacher()
    against(bench, "synthesised labels, digit", "<= 3x", made, plain, zero, 6_600, eight)
    against(bench, "synthesised labels, 92x92", "<= 3x", made, plain, picture(92), 20_000)
    packs = nimt.SynthesisTeacher(k=0.05), nimt.GreedyTeacher(k=0.05)
    against(bench, "packs of synthesised labels (0.05), 92x92", "<= 2x", *packs, picture(92), 300)
    for k in (5, 50, 0.05):
        diverse = nimt.GreedyTeacher(k=k, diverse=True, kernel=nimt.rbf(width=0.5))
        against(bench, f"diverse packs ({k}), 92x92", "<= 2x", diverse, nimt.GreedyTeacher(k=k), picture(92), 100)
    by_loss = nimt.GreedyTeacher(k=0.05, score="loss", loss="square")
    against(bench, "packs of the largest loss (0.05), 92x92", "<= 2x", by_loss, packs[1], picture(92), 300)
    each_output(bench)


def each_output(bench):
    """Examples of each of three outputs: one each against three steps of one output, packs against shared packs."""
    image = picture(92)
    colour = in_colour(image)
    each = nimt.teachers.PerOutput(nimt.GreedyTeacher())
    cost, lesson = per_step(each, colour, 60_000)
    single, _ = per_step(nimt.GreedyTeacher(), image, 180_000)
    _, loop = per_step(each, colour, 200 if bench.quick else 1000, engine="reference", repeat=1)
    bench.row("an example of each of 3 outputs, 92x92", "<= 2x", cost / (3 * single), lesson=lesson,
              curve=loop.discrepancy, seconds=1e-6 * cost, steps=1,
              against=f"3 steps of GFT-1, {single:.3g} us each",
              bound=bounds.memory(3 * 90e-6 * image.size))  # fmt: skip
    packs = nimt.teachers.PerOutput(nimt.GreedyTeacher(k=0.05)), nimt.GreedyTeacher(k=0.05)
    against(bench, "packs (0.05) of each of 3 outputs, 92x92", "<= 2x", *packs, colour, 300)
    mixing = nimt.teachers.Communicating(each, every=10_000)
    against(bench, "an example of each, communicating every 10,000 steps", "<= 2x", mixing, each, colour, 60_000)
