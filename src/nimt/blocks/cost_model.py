"""What a lesson by blocks costs, from a few costs that are measured on one block."""

from __future__ import annotations

import math
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nimt.blocks.block_store import FolderStore
from nimt.blocks.block_task import ROWS, BlockTask, make_partition
from nimt.blocks.orders import Orders
from nimt.blocks.row_block import make_block
from nimt.blocks.running import SAVE_EVERY
from nimt.blocks.targets import ArrayTarget
from nimt.kernels import Kernel
from nimt.learners.kernel_learner import KernelLearner
from nimt.measures import as_measure
from nimt.pools.pool import Grid

TRIAL = (512, 512)  # points of the block that is measured
SAVED = 21  # bytes of a checkpoint for each point that is held
# seconds of the client, as `python -m benchmarks.blocks` measures them: once per colour, and for each call of a worker
ROUND, CALL = 0.02, 0.002


@dataclass(frozen=True)
class Costs:
    """What the parts of a lesson take, in seconds of one core.

    Attributes
    ----------
    example : float
        To show one example.
    point : float
        For each point that is held, once per turn: to take over what neighbours changed.
    opening : float
        For each point that is held, once: to read its target and lay it out.
    byte : float
        For each byte that is sent: written by one block and read by another.
    round : float
        Once for each colour of each turn: the client waits for the last worker, and keeps what was told.
    call : float
        In the client, for each block and turn: calls are made one after the other.
    """

    example: float
    point: float
    opening: float
    byte: float
    round: float = ROUND
    call: float = CALL

    def __str__(self) -> str:
        return (
            f"{self.example * 1e9:.0f} ns per example, {self.point * 1e9:.1f} ns per point and turn, "
            f"{self.opening * 1e9:.0f} ns per point at the start, "
            f"{self.byte * 1e9:.1f} ns per byte sent, {self.round * 1e3:.1f} ms per colour, {self.call * 1e3:.2f} ms "
            f"per call"
        )


@dataclass(frozen=True)
class CostPrediction:
    """What a lesson would take.

    Attributes
    ----------
    seconds : float
    of_client : float
        Of these, those in which workers wait for the client.
    busy : int
        Workers that have a block to teach at the same time.
    sent : float
        Bytes that are sent in one turn.
    memory : float
        Bytes of blocks in each worker.
    """

    seconds: float
    of_client: float
    busy: int
    sent: float
    memory: float


def predict(
    costs: Costs, *, points: float, blocks: int, colours: int, workers: int, reach: int, examples: float, turns: int,
    dimension: int = 2,
) -> CostPrediction:  # fmt: skip
    """Return what a lesson on a cube of blocks takes: work shared by the busy workers, and that of the client.

    Examples
    --------
    >>> costs = Costs(example=1e-6, point=1e-8, opening=1e-7, byte=1e-9, round=0.0, call=0.0)
    >>> one, two = (predict(costs, points=1e6, blocks=64, colours=4, workers=workers, reach=3, examples=2e6, turns=10)
    ...             for workers in (1, 2))
    >>> round(one.seconds / two.seconds, 3)
    2.0
    """
    side = (points / blocks) ** (1.0 / dimension)
    held = blocks * (side + 2 * reach) ** dimension
    ring = (side + 2 * reach) ** dimension - max(0.0, side - 2 * reach) ** dimension
    sent = 8.0 * blocks * ring
    busy = max(1, min(workers, math.ceil(blocks / colours)))
    saved = SAVED * held * (1 + turns // SAVE_EVERY)
    work = examples * costs.example + held * costs.opening + turns * held * costs.point
    work += (turns * sent + saved) * costs.byte
    own = turns * (colours * costs.round + blocks * costs.call)
    return CostPrediction(work / busy + own, own, busy, sent, held * ROWS / workers)


def measure_costs(kernel: Kernel, learning_rate: float | str = "auto") -> Costs:
    """Measure the costs on one block of noise, in seconds of the processor, which other programs do not change."""
    grid = Grid(*(np.arange(length, dtype=float) for length in TRIAL))
    learner = KernelLearner(kernel, learning_rate=learning_rate)
    measure = as_measure("rms")
    cut = make_partition(grid, (1, 2), kernel)
    target = ArrayTarget(np.random.default_rng(0).normal(size=TRIAL))
    task = BlockTask(cut, learner, target, measure, 1.0 / math.sqrt(len(grid)), None, None, False)
    opening = []
    for _ in range(3):  # the first compiles
        began = time.thread_time()
        block = make_block(task, 0)
        opening.append(time.thread_time() - began)
    held = block.patches()[1]
    top = block.top
    times = []
    for turn in range(1, 7):  # the first compiles
        level = 4.0 * top if turn % 2 else 0.7 ** (turn // 2) * top
        began = time.thread_time()
        report, sent = block.take_turn(Orders(turn, level, math.inf, math.inf, 2**62, ()), {1: held})
        times.append((time.thread_time() - began, report.shown))
        held = sent.get(1, held)
    idle = min(seconds for seconds, shown in times[2:] if not shown)
    example = min((seconds - idle) / shown for seconds, shown in times[2:] if shown)
    points = len(cut.pool(0))
    return Costs(max(example, 1e-9), idle / points, min(opening) / points, _measure_sending())


def _measure_sending() -> float:
    values = np.zeros(2**19)
    with tempfile.TemporaryDirectory() as folder:
        store = FolderStore(Path(folder))
        store.prepare()
        times = []
        for turn in range(3):
            began = time.thread_time()
            store.send(0, turn, {1: values})
            store.receive(0, turn, 1)
            times.append(time.thread_time() - began)
    return min(times) / values.nbytes
