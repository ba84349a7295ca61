"""The orthogonal learner on a picture: bound by reading memory, or sparse where the kernel has a short reach."""

from __future__ import annotations

import numpy as np

import nimt
from benchmarks.rows import picture, timed
from nimt.learners import orthogonal as module


def interpolating(bench):
    image = picture(92)
    centers = 200 if bench.quick else 1000
    wide, lesson = taught(image, centers, 2.0, dense=True)
    products = seconds_of_products(image.size, centers)
    bench.row(f"OrthogonalLearner, 92x92, {centers:,} centres, width 2", ">= 0.5x", products / wide,
              seconds=wide, steps=centers, lesson=lesson, against="the products with the basis alone",
              note=f"{reading(image.size, centers) / products:.1f} GB/s in them")  # fmt: skip
    slow, reference = taught(image, centers, 0.5, dense=True)
    fast, lesson = taught(image, centers, 0.5)
    bench.row(f"OrthogonalLearner, 92x92, {centers:,} centres, width 0.5, sparse columns", ">= 10x", slow / fast,
              seconds=fast, steps=centers, lesson=lesson, curve=reference.discrepancy,
              against="dense columns")  # fmt: skip


def taught(image, centers, width, dense=False, repeat=2):
    """Return the seconds of the best lesson of some, and the lesson; with dense columns if asked for."""
    chosen = module.short_window
    if dense:
        module.short_window = lambda kernel, pool: None
    try:
        return timed(
            lambda: nimt.teach(
                nimt.OrthogonalLearner(nimt.rbf(width)), nimt.GreedyTeacher(), nimt.Grid.like(image), image,
                max_iterations=centers,
            ),
            repeat,
        )  # fmt: skip
    finally:
        module.short_window = chosen


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
