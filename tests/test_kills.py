"""Killed at random moments, with the checkpoints a user gets by default: every engine, teacher and learner goes on."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor
from sklearn.neural_network import MLPRegressor

import nimt
from nimt.teaching import running

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(sys.platform == "win32", reason="processes are forked"),
    pytest.mark.filterwarnings("ignore"),
]

SECONDS = 8.0  # a lesson that is never stopped: long enough for two checkpoints at the default interval
GRID = nimt.Grid(np.linspace(-1, 1, 30), np.linspace(-1, 1, 30))
WAVES = np.sin(4 * GRID.points[:, 0]) * np.cos(3 * GRID.points[:, 1])
COLOURS = np.stack([WAVES, -WAVES, WAVES**2], axis=1)
SCATTERED = nimt.Points(np.random.default_rng(3).uniform(-1, 1, size=(300, 2)))
HEIGHTS = np.sin(4 * SCATTERED.points[:, 0]) + SCATTERED.points[:, 1]

PICKS = {"engine": "grid", "record": "picks"}  # all indices of packs would take too much memory


def kernel_learner(rate: float = 1e-4, kernel: Any = None) -> nimt.KernelLearner:
    return nimt.KernelLearner(nimt.rbf(0.1) if kernel is None else kernel, learning_rate=rate)


KINDS: dict[str, Callable[[], tuple[Any, Any, Any, Any, dict[str, Any]]]] = {
    "grid, greedy": lambda: (kernel_learner(1e-7), nimt.GreedyTeacher(), GRID, WAVES, {"engine": "grid"}),
    "grid, greedy packs": lambda: (kernel_learner(1e-6), nimt.GreedyTeacher(k=0.1), GRID, WAVES, PICKS),
    "grid, random": lambda: (kernel_learner(1e-7), nimt.RandomTeacher(pool=0.5), GRID, WAVES, {"engine": "grid"}),
    "grid, three outputs": lambda: (kernel_learner(1e-7), nimt.GreedyTeacher(), GRID, COLOURS, {"engine": "grid"}),
    "grid, examples of each output": lambda: (
        kernel_learner(1e-7),
        nimt.PerOutput(nimt.GreedyTeacher()),
        GRID,
        COLOURS,
        {"engine": "grid"},
    ),
    "grid, loss": lambda: (
        kernel_learner(1e-7),
        nimt.GreedyTeacher(score="loss", loss="square"),
        GRID,
        WAVES,
        {"engine": "grid"},
    ),
    "synthesis": lambda: (kernel_learner(1e-5), nimt.SynthesisTeacher(), GRID, WAVES, {}),
    "soft": lambda: (kernel_learner(1e-5), nimt.SoftTeacher(), GRID, WAVES, {}),
    "neighbours": lambda: (
        kernel_learner(1e-7, nimt.Wendland(0.3, dimension=3)),
        nimt.GreedyTeacher(),
        SCATTERED,
        HEIGHTS,
        {"engine": "neighbours"},
    ),
    "streamed": lambda: (kernel_learner(1e-6), nimt.RandomTeacher(k=2), SCATTERED, HEIGHTS, {"engine": "streamed"}),
    "plain loop, other labels": lambda: (
        kernel_learner(),
        nimt.GreedyTeacher(labels=nimt.AlternativeLabels(-WAVES, 0.3)),
        GRID,
        WAVES,
        {"engine": "reference"},
    ),
    "diverse packs": lambda: (
        kernel_learner(),
        nimt.GreedyTeacher(k=4, diverse=True, kernel=nimt.rbf(0.1)),
        GRID,
        WAVES,
        {},
    ),
    "orthogonal": lambda: (
        nimt.OrthogonalLearner(nimt.rbf(0.05)),
        nimt.RandomTeacher(),
        SCATTERED,
        HEIGHTS,
        {"max_iterations": 250},
    ),
    "linear": lambda: (
        nimt.LinearLearner([0.0, 0.0, 0.0], learning_rate=1e-6),
        nimt.RandomTeacher(k=3),
        SCATTERED,
        HEIGHTS,
        {},
    ),
    "box": lambda: (
        nimt.KernelLearner(nimt.rbf(0.3), learning_rate=1e-3),
        nimt.GreedyTeacher(),
        nimt.Box([(-1.0, 1.0)]),
        np.sin,
        {},
    ),
    "gradient descent of scikit-learn": lambda: (
        SGDRegressor(random_state=1, eta0=1e-4),
        nimt.RandomTeacher(k=4),
        SCATTERED,
        HEIGHTS,
        {},
    ),
    "network of scikit-learn": lambda: (
        MLPRegressor(hidden_layer_sizes=(20,), random_state=1),
        nimt.GreedyTeacher(k=8),
        SCATTERED,
        HEIGHTS,
        {},
    ),
}


def in_a_child(call: Callable[[], object]) -> multiprocessing.process.BaseProcess:
    child = multiprocessing.get_context("fork").Process(target=call)
    child.start()
    return child


@pytest.mark.parametrize("kind", KINDS)
def test_kills_at_random_moments_change_nothing(kind: str, tmp_path: Path) -> None:
    learner, teacher, pool, target, options = KINDS[kind]()
    options = {"max_iterations": 2 * 10**7, "seed": 5, "record": "all"} | options
    whole = nimt.teach(learner, teacher, pool, target, time_limit=SECONDS, **options)
    options["max_iterations"] = len(whole)
    again = {"y": target} if callable(target) else {}  # a function of the user's is passed again
    place = tmp_path / "checkpoint.npz"
    rng = np.random.default_rng(sum(map(ord, kind)))
    kills = went_on = 0
    while kills < 3:
        began_anew = not place.exists()

        def go_on(began_anew: bool = began_anew) -> None:
            if began_anew:
                nimt.teach(learner, teacher, pool, target, checkpoint=place, **options)
            else:
                nimt.resume(place, **again)

        child = in_a_child(go_on)
        # first after a checkpoint is due, so that there is something to resume
        child.join(rng.uniform(running.CHECKPOINT_EVERY + 0.5, SECONDS - 1) if began_anew else rng.uniform(0.2, 2.0))
        if child.exitcode is not None:
            assert child.exitcode == 0
            break
        child.kill()
        child.join()
        kills += 1
        went_on += not began_anew
    assert place.exists(), "killed before any checkpoint: this proves nothing"
    resumed = nimt.resume(place, **again)
    assert len(resumed) == len(whole)
    for name in ("discrepancy", "indices", "labels", "picks", "final"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(resumed, name), err_msg=name)
