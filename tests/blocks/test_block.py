"""A block at work: what compiled code renews at every turn is what the engine found at the start."""

from __future__ import annotations

import math

import numpy as np
import pytest

import nimt
from nimt.blocks.block import Block
from nimt.blocks.block_task import BlockTask, make_partition
from nimt.blocks.targets import ArrayTarget
from nimt.engines.codes import TOTAL
from nimt.measures import as_measure


@pytest.mark.parametrize("shape", [(20, 18), (40,), (6, 10, 9)])
def test_scores_are_renewed_as_the_engine_finds_them(shape):
    y = np.round(np.random.default_rng(0).normal(size=shape), 1)  # with ties
    kernel = nimt.Wendland(1.5)
    cut = make_partition(nimt.Grid.like(y), 2, kernel)
    scale = 1.0 / math.sqrt(y.size)
    block = Block(
        BlockTask(cut, nimt.KernelLearner(kernel), ArrayTarget(y), as_measure("rms"), scale, None, None, False), 1
    )
    engine = block.engine
    place = block._shared[0]
    engine.f[place] = np.random.default_rng(1).normal(size=len(place))
    block._renew()
    bits, indices = engine.node_bits.copy(), engine.node_index.copy()
    engine.find_scores()
    found = engine.node_bits >= 0
    assert np.array_equal(bits, engine.node_bits)
    assert np.array_equal(indices[found], engine.node_index[found])
    assert engine.sums[TOTAL] == pytest.approx(np.sum((engine.f - engine.y) ** 2), rel=1e-14)
