"""Lessons by blocks on a Dask cluster whose workers, or whose scheduler, are killed."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import time

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


SCHEDULER = ("-m", "distributed.cli.dask_scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard")
WORKER = ("-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-dashboard")


@pytest.fixture
def processes(tmp_path):
    """Start a scheduler and a worker as processes of their own; return them, and the address."""
    file = tmp_path / "scheduler.json"
    with contextlib.ExitStack() as stack:
        started = []
        for command in ((*SCHEDULER, "--scheduler-file", str(file)), (*WORKER, "--scheduler-file", str(file))):
            process = subprocess.Popen(
                [sys.executable, *command], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            started.append(stack.enter_context(process))
            stack.callback(process.kill)
        deadline = time.monotonic() + 120
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        yield started, json.loads(file.read_text())["address"]


def test_a_lesson_goes_on_after_its_scheduler_is_killed(processes, whole, tmp_path):
    (scheduler, _), address = processes
    folder, moment = tmp_path / "run", int(np.random.default_rng(3).integers(10, 40))
    seen = 0

    def look(progress):
        nonlocal seen
        seen += 1
        if seen == moment:
            scheduler.send_signal(signal.SIGKILL)

    client = distributed.Client(address, timeout=120)
    try:
        with pytest.raises(nimt.LessonInterrupted, match=r"the cluster was lost.* go on with nimt.resume_blocks"):
            teach(nimt.Blocks((4, 2), share=0.8, client=client, folder=folder), callback=look)
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=1)
    assert seen >= moment
    lesson = nimt.resume_blocks(folder)
    assert np.array_equal(lesson.final, whole.final)
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
