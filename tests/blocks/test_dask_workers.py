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
    return nimt.blocks.teach_blocks(
        learner, nimt.GreedyTeacher(), grid, TARGET, blocks, tol="20%", measure="rms", **options
    )


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
    lesson = nimt.blocks.resume_blocks(folder)
    assert np.array_equal(lesson.final, whole.final)
    assert np.array_equal(lesson.curve, whole.curve)


@contextlib.contextmanager
def started(folder, name, *arguments):
    """Start a program of Dask, and end it by its id."""
    with open(folder / f"{name}.log", "w") as log:
        command = [sys.executable, "-m", "dask", *map(str, arguments)]
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def machines(folder, name, workers=2):
    """Hand out the scheduler, a process of its own, and its address; its workers are processes, too."""
    file = folder / f"{name}.json"
    where = ("--scheduler-file", file)
    quiet = ("--no-dashboard",)
    ends = ("--idle-timeout", "600s")  # if this test is killed
    with contextlib.ExitStack() as stack:
        scheduler = stack.enter_context(
            started(folder, name, "scheduler", "--port", 0, "--host", "127.0.0.1", *quiet, *ends, *where)
        )
        for number in range(workers):
            options = ("--nthreads", 1, "--no-nanny", *quiet, "--local-directory", folder, "--death-timeout", 60)
            stack.enter_context(started(folder, f"{name}-{number}", "worker", *where, *options))
        while not file.exists() or not (text := file.read_text()).endswith("}"):
            time.sleep(0.1)
        yield scheduler, json.loads(text)["address"]


KILLED = """
import os, signal, sys
from nimt.blocks import driving
note, left, scheduler = driving.Driver._note, [int(sys.argv[1])], int(sys.argv[2])
def counted(self, report):
    left[0] -= 1
    if left[0] == 0:
        os.kill(scheduler, signal.SIGKILL)
    note(self, report)
driving.Driver._note = counted
from nimt.cli.app import run
sys.exit(run(sys.argv[3:]))
"""


def test_a_scheduler_that_is_killed_is_one_sentence_and_nimt_resume_goes_on(whole, tmp_path):
    np.save(tmp_path / "huge.npy", TARGET)
    run, rng = tmp_path / "run", np.random.default_rng(11)
    lesson = (
        "teach", tmp_path / "huge.npy", "--blocks", "4x2", "--out", run, "--tol", repr(whole.stop.tol), "--kernel",
        "Wendland(2)", "--learning-rate", "0.2", "--measure", "rms",
    )  # fmt: skip
    expected = teach(nimt.Blocks((4, 2)))
    with machines(tmp_path, "first") as (scheduler, address):
        reports = str(int(rng.integers(5, 8 * (expected.turns - 1))))
        command = [sys.executable, "-c", KILLED, reports, str(scheduler.pid), *map(str, lesson), "--cluster", address]
        lost = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert scheduler.poll() == -signal.SIGKILL, lost.stderr
    assert lost.returncode not in (0, -signal.SIGKILL)
    assert "the cluster was lost" in lost.stderr and "nimt resume" in lost.stderr
    assert "Traceback" not in lost.stderr
    assert not (run / "values.npy").exists()
    with machines(tmp_path, "second") as (_, address):
        command = [sys.executable, "-m", "nimt", "resume", str(run), "--cluster", address, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["outcome"], told["examples"]) == ("converged", len(expected))
    assert np.array_equal(np.load(run / "values.npy"), expected.final)
    assert np.array_equal(np.load(run / "coefficients.npy"), expected.coefficients)
    assert np.array_equal(np.load(run / "picks.npy"), expected.picks)
