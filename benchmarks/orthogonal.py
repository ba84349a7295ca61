"""The orthogonal learner on a picture: bound by reading memory, or sparse where the kernel has a short reach."""

from __future__ import annotations

from contextlib import nullcontext
from unittest.mock import patch

import numpy as np

import nimt
from benchmarks import bounds
from benchmarks.results import picture, timed
from nimt.engines._numba.compiling import load_numba
from nimt.learners import orthogonal_learner as module
from nimt.learners.orthogonal_learner import OrthogonalPupil


def interpolating(bench):
    image = picture(92)
    centers = 200 if bench.quick else 1000
    wide, lesson = taught(image, centers, 2.0, dense=True)
    products = seconds_of_products(image.size, centers)
    bench.row(f"OrthogonalLearner, 92x92, {centers:,} centres, width 2", ">= 0.5x", products / wide,
              seconds=wide, steps=centers, lesson=lesson, against="the products with the basis alone",
              note=f"{reading(image.size, centers) / products:.1f} GB/s in them",
              bound=bounds.memory(1e3 * reading(image.size, centers)))  # fmt: skip
    sparse_columns(bench, image, centers)


def sparse_columns(bench, image, centers, turns=5):
    """Sparse columns against dense ones, by turns: the dense ones take both cores and all bandwidth there is."""
    load_numba()  # a short lesson in a new process does without it
    taught(image, 10, 0.5)  # compiles, once
    times = []
    for _ in range(turns):
        slow, reference = taught(image, centers, 0.5, dense=True, repeat=1)
        fast, lesson = taught(image, centers, 0.5, repeat=3)
        with patch.object(OrthogonalPupil, "use_compiled", lambda pupil, add_center: None):
            plain, _ = taught(image, centers, 0.5, repeat=3)
        times.append((slow, fast, plain))
    slow, fast, plain = np.array(times).T
    ratios = np.sort(slow / fast)
    bench.row(f"OrthogonalLearner, 92x92, {centers:,} centres, width 0.5, sparse columns", ">= 10x", np.median(ratios),
              seconds=fast.min(), steps=centers, lesson=lesson, curve=reference.discrepancy, against="dense columns",
              note=f"{ratios[0]:.3g}x to {ratios[-1]:.3g}x in {turns} turns; without numba "
                   f"{np.median(slow / plain):.3g}x",
              bound=bounds.more(1e6 * fast.min() / centers, "what a centre itself takes", "us"))  # fmt: skip


def taught(image, centers, width, dense=False, repeat=2):
    """Return the seconds of the best lesson of some, and the lesson; with dense columns if asked for."""
    with patch.object(module, "short_window", lambda kernel, pool: None) if dense else nullcontext():
        return timed(
            lambda: nimt.teach(
                nimt.learners.OrthogonalLearner(nimt.rbf(width)), nimt.GreedyTeacher(), nimt.Grid.like(image), image,
                max_iterations=centers, tol=None,
            ),
            repeat,
        )  # fmt: skip


def reading(n, centers):
    """Return the gigabytes of basis values that a lesson must read."""
    return 8e-9 * n * centers * (centers - 1) / 2


def seconds_of_products(n, centers, repeat=2):
    """Return the seconds of the matrix-vector products alone, one per centre on a basis that grows."""
    basis, row = np.random.default_rng(0).normal(size=(centers, n)), np.ones(centers)
    out = np.empty(n)

    def all_of_them():
        for m in range(centers):
            np.dot(row[:m], basis[:m], out=out)

    return timed(all_of_them, repeat)[0]
