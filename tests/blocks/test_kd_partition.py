"""Scattered points in blocks."""

from __future__ import annotations

import numpy as np
import pytest
from tests.blocks.oracle_of_blocks import teach_by_loops

import nimt
from nimt.blocks.kd_partition import PointPartition
from nimt.kernels import CUT


def scattered(n, d, seed=0):
    return np.random.default_rng(seed).uniform(0, 10, size=(n, d))


@pytest.mark.parametrize(("n", "d", "count"), [(200, 2, 7), (60, 1, 3), (150, 3, 4), (5, 2, 5)])
def test_every_point_is_owned_once_and_what_a_block_reaches_is_held(n, d, count):
    points, reach = scattered(n, d), 0.7
    cut = PointPartition(nimt.Points(points), count, reach)
    assert sorted(np.concatenate(cut.owned).tolist()) == list(range(n))
    assert np.ptp([len(part) for part in cut.owned]) <= 1
    for block in range(count):
        gaps = np.linalg.norm(points[:, np.newaxis] - points[cut.owned[block]], axis=2).min(axis=1)
        assert set(np.flatnonzero(gaps <= reach)) <= set(cut.points_with_halo(block).tolist())
        for other in cut.neighbours(block):
            mine = cut.number(block, cut.find_shared(block, other))
            assert np.array_equal(mine, cut.number(other, cut.find_shared(other, block)))
    for colour in cut.colours:
        held = np.concatenate([cut.points_with_halo(block) for block in colour])
        assert len(held) == len(set(held.tolist()))


@pytest.mark.long
def test_scattered_blocks_show_what_plain_loops_show():
    points, kernel = scattered(150, 2), nimt.Wendland(1.5)
    y = np.random.default_rng(1).normal(size=150)
    learner = nimt.KernelLearner(kernel, learning_rate=0.2)
    options = {"tol": 0.2, "measure": "rms", "max_iterations": 10_000}
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, y, engine=nimt.Blocks(6, share=0.7), **options)
    cut = PointPartition(nimt.Points(points), 6, 1.5)
    owners = [part.tolist() for part in cut.owned]
    shown, f = teach_by_loops(y, points, owners, cut.colours, kernel, 0.2, tol=0.2, share=0.7, cut=CUT)
    assert lesson.indices[:, 0].tolist() == shown
    assert np.abs(lesson.final - f).max() < 1e-12
    whole = nimt.teach(learner, nimt.GreedyTeacher(), points, y, engine="neighbours", **options)
    one = nimt.teach(learner, nimt.GreedyTeacher(), points, y, engine=nimt.Blocks(1), **options)
    assert np.array_equal(whole.indices, one.indices)
    assert np.array_equal(whole.discrepancy, one.discrepancy)
