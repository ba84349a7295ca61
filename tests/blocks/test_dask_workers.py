"""Lessons by blocks on a Dask cluster whose workers, or whose scheduler, are killed."""

from __future__ import annotations

import logging
import os
import signal

import numpy as np
import pytest

import nimt

distributed = pytest.importorskip("distributed", reason="clusters are an extra: pip install 'nimt[dask]'")

pytestmark = pytest.mark.slow

TARGET = np.random.default_rng(0).normal(size=(40, 20))


def teach(blocks, **options):
    learner = nimt.KernelLearner(nimt.Wendland(2.0), learning_rate=0.2)
    grid = nimt.Grid.like(TARGET)
    return nimt.teach_blocks(learner, nimt.GreedyTeacher(), grid, TARGET, blocks, tol="20%", measure="rms", **options)


@pytest.fixture(scope="module")
def cluster():
    # ports and folders are the system's choice: several clusters may run on one machine
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=logging.ERROR
    ) as made:
        yield made


@pytest.fixture(scope="module")
def whole():
    return teach(nimt.Blocks((4, 2), share=0.8))


def kill_a_worker(cluster, rng):
    pids = [nanny.pid for nanny in cluster.workers.values() if nanny.pid is not None]
    os.kill(pids[rng.integers(len(pids))], signal.SIGKILL)


def test_workers_killed_at_any_moment_change_nothing(cluster, whole, tmp_path):
    rng = np.random.default_rng(7)
    rounds = iter(np.cumsum(rng.integers(2, 9, size=2)).tolist())
    due, seen, killed = next(rounds), 0, 0

    def look(progress):
        nonlocal due, seen, killed
        seen += 1
        if seen == due:
            kill_a_worker(cluster, rng)
            due, killed = next(rounds, -1), killed + 1

    with distributed.Client(cluster) as client:
        lesson = teach(nimt.Blocks((4, 2), share=0.8, client=client, folder=tmp_path / "run"), callback=look)
    assert killed >= 2
    assert np.array_equal(lesson.final, whole.final)
    assert np.array_equal(lesson.coefficients, whole.coefficients)
    assert np.array_equal(lesson.curve, whole.curve)


def test_a_lesson_goes_on_after_its_cluster_is_gone(cluster, whole, tmp_path):
    folder = tmp_path / "run"
    with distributed.Client(cluster) as client, pytest.raises(nimt.LessonInterrupted, match="the cluster was lost"):
        teach(
            nimt.Blocks((4, 2), share=0.8, client=client, folder=folder),
            callback=lambda progress: cluster.close() if progress.turn == 3 else None,
        )
    lesson = nimt.resume_blocks(folder)
    assert np.array_equal(lesson.final, whole.final)
    assert np.array_equal(lesson.curve, whole.curve)
