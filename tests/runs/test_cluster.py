"""Sweeps on a real Dask cluster of two worker processes."""

from __future__ import annotations

import logging
import os
import signal

import joblib
import numpy as np
import pytest

import nimt
from studies import POOL, Counted, SlowTeacher, arrivals, learner

distributed = pytest.importorskip("distributed", reason="clusters are an extra: pip install 'nimt[dask]'")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client():
    # the ports and the temporary folder are the system's choice: several clusters may run on one machine
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=logging.ERROR
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_every_lesson_is_given_though_a_worker_is_killed(client, tmp_path):
    # SlowTeacher does not say that it draws, so that its other seeds follow the first; the random one begins with all
    teachers = {"slow": SlowTeacher(0.02), "random": nimt.RandomTeacher(k=3)}
    study = {"seeds": 8, "max_iterations": 20, "tol": None}
    workers = list(client.run(os.getpid).values())
    assert len(set(workers)) == 2
    told = []

    def kill_one(progress):
        told.append(progress.done)
        if progress.done == 3:
            os.kill(workers[0], signal.SIGKILL)

    with joblib.parallel_config(backend="dask"):
        found = nimt.sweep((POOL, np.sin), learner(), teachers, **study, out=tmp_path, progress=kill_one)
    whole = nimt.sweep((POOL, np.sin), learner(), teachers | {"slow": SlowTeacher(0)}, **study)
    assert [entry.error for entry in found.entries] == [None] * 16
    assert [entry.curve for entry in found.entries] == [entry.curve for entry in whole.entries]
    assert told[-1] == 16
    client.wait_for_workers(2, timeout=60)
    assert workers[0] not in client.run(os.getpid).values()


def test_a_pool_is_sent_once_per_worker_and_not_per_lesson(client):
    pool = Counted(np.arange(-3, 3, 0.1))
    with joblib.parallel_config(backend="dask"):
        found = nimt.sweep((pool, np.sin), learner(), SlowTeacher(0.001), seeds=20, max_iterations=20, tol=None)
    assert len(found) == 20 and not found.failed
    came = client.run(arrivals)
    assert list(came.values()) == [1, 1], came


def test_the_lessons_of_a_cluster_can_be_stopped(client, tmp_path):
    def stop(progress):
        if progress.done == 2:
            raise KeyboardInterrupt

    with joblib.parallel_config(backend="dask"), pytest.raises(KeyboardInterrupt):
        nimt.sweep(
            (POOL, np.sin),
            learner(),
            SlowTeacher(0.02),
            seeds=12,
            max_iterations=20,
            tol=None,
            out=tmp_path,
            progress=stop,
        )
    assert 2 <= len(nimt.runs.Sweep.load(tmp_path)) < 12
