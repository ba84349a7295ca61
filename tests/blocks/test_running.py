"""Lessons by blocks in a folder: larger than memory, resumed, killed at any moment, and given damaged files."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

import nimt
from nimt.blocks.block_folder import BlockFolder
from nimt.store import records

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    path = tmp_path_factory.mktemp("target") / "rough.npy"
    np.save(path, np.random.default_rng(0).normal(size=(30, 20)).astype(np.float32))
    return path


def learner():
    return nimt.KernelLearner(nimt.Wendland(2.0), learning_rate=0.2)


def teach(y, blocks, X=None, **options):
    blocks = nimt.Blocks(blocks, share=0.8) if isinstance(blocks, tuple) else blocks  # so that there are many turns
    return nimt.blocks.teach_blocks(
        learner(), nimt.GreedyTeacher(), X, y, blocks, **({"tol": "20%", "measure": "rms"} | options)
    )


@pytest.fixture(scope="module")
def whole(target):
    """Return the lesson that was never stopped, in memory."""
    return teach(target, (3, 2))


def assert_same(one, other):
    for name in ("final", "coefficients", "picks"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(one.curve, other.curve)
    assert one.outcome is other.outcome
    for block in range(len(one.task.partition)):
        assert np.array_equal(one.record(block).indices, other.record(block).indices)
        assert np.array_equal(one.record(block).discrepancy, other.record(block).discrepancy)


def test_a_folder_and_little_memory_change_nothing(target, whole, tmp_path):
    one_block = 120 * 12 * 12
    lesson = teach(target, nimt.Blocks((3, 2), share=0.8, folder=tmp_path / "run", memory=3 * one_block, workers=2))
    assert_same(whole, lesson)
    assert isinstance(lesson.final, np.memmap)
    assert lesson.final.shape == (30, 20)
    picks = sum(np.bincount(lesson.record(block).indices, minlength=600) for block in range(6))
    assert np.array_equal(picks, np.asarray(lesson.picks).ravel())


def test_a_function_an_array_and_a_file_are_the_same_target(target, whole):
    values = np.load(target)
    grid = nimt.Grid.like(values)
    by_points = lambda x: values[x[:, 0].astype(int), x[:, 1].astype(int)]  # noqa: E731
    for y in (values, by_points, np.load(target, mmap_mode="r")):
        assert_same(whole, teach(y, (3, 2), X=grid))


def test_a_lesson_that_is_stopped_again_and_again_ends_the_same(target, whole, tmp_path):
    folder = tmp_path / "run"
    lesson = teach(target, nimt.Blocks((3, 2), share=0.8, folder=folder), callback=lambda progress: True)
    stops = 0
    while lesson.outcome is nimt.lesson.Outcome.STOPPED:
        lesson = nimt.blocks.resume_blocks(folder, callback=lambda progress: progress.turn % 4 == 0)
        stops += 1
    assert stops > 2
    assert_same(whole, lesson)
    assert not list((folder / "patches").glob("*turn-1.npz"))  # what nobody asks for again is removed


KILLED = """
import os, sys, signal, random
import nimt
from nimt.store import records
write, left = records.write, [int(sys.argv[3])]
def counted(*given, **more):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    write(*given, **more)
records.write = counted
if sys.argv[1] == "begin":
    learner = nimt.KernelLearner(nimt.Wendland(2.0), learning_rate=0.2)
    blocks = nimt.Blocks((3, 2), share=0.8, folder=sys.argv[2])
    nimt.blocks.teach_blocks(learner, nimt.GreedyTeacher(), None, sys.argv[4], blocks, tol="20%", measure="rms")
else:
    nimt.blocks.resume_blocks(sys.argv[2])
"""


@pytest.mark.slow
def test_a_process_that_is_killed_at_any_write_loses_nothing(target, whole, tmp_path):
    folder, rng = tmp_path / "run", np.random.default_rng(1)
    what, deaths = "begin", 0
    for _ in range(4):
        writes = str(int(rng.integers(2, 60)))
        done = subprocess.run([sys.executable, "-c", KILLED, what, str(folder), writes, str(target)], check=False)
        assert done.returncode in (0, -signal.SIGKILL)
        deaths += done.returncode != 0
        what = "resume"
        if not done.returncode:
            break
    assert deaths > 1
    assert_same(whole, nimt.blocks.resume_blocks(folder))


def test_a_full_disk_is_one_sentence_and_loses_nothing(target, whole, tmp_path, monkeypatch):
    folder, write, left = tmp_path / "run", records.write, [20]

    def write_a_few(*given, **more):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(*given, **more)

    monkeypatch.setattr(records, "write", write_a_few)
    with pytest.raises(nimt.InvalidInput, match=r"No space left on device.: make room there"):
        teach(target, nimt.Blocks((3, 2), share=0.8, folder=folder))
    monkeypatch.undo()
    assert_same(whole, nimt.blocks.resume_blocks(folder))


def test_a_target_that_changed_since_the_checkpoint_is_refused(target, tmp_path):
    mine = tmp_path / "mine.npy"
    shutil.copy(target, mine)
    teach(mine, nimt.Blocks((3, 2), share=0.8, folder=tmp_path / "run"), callback=lambda progress: True)
    values = np.load(mine)
    values[3, 3] += 1.0
    np.save(mine, values)
    with pytest.raises(nimt.InvalidInput, match="the target changed since the lesson began, at the points of block 0"):
        nimt.blocks.resume_blocks(tmp_path / "run")


def test_a_disk_without_room_for_the_results_is_one_sentence(target, whole, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with pytest.raises(nimt.InvalidInput, match=r"No space left on device.: make room there"):
        teach(target, nimt.Blocks((3, 2), share=0.8, folder=tmp_path / "run"))
    monkeypatch.undo()
    assert_same(whole, nimt.blocks.resume_blocks(tmp_path / "run"))


def test_a_target_that_changed_before_any_checkpoint_is_refused(target, tmp_path):
    mine = tmp_path / "mine.npy"
    shutil.copy(target, mine)
    folder = tmp_path / "run"

    def stop(progress):
        raise RuntimeError("as if it was killed")

    with pytest.raises(RuntimeError, match="killed"):
        teach(mine, nimt.Blocks((3, 2), share=0.8, folder=folder), callback=stop)
    assert not list((folder / "blocks").glob("*.npz"))
    values = np.load(mine)
    values[3, 3] += 1.0
    np.save(mine, values)
    with pytest.raises(nimt.InvalidInput, match="the target changed since the lesson began"):
        nimt.blocks.resume_blocks(folder)


def test_what_is_no_number_in_one_block_is_refused_with_its_place(target, tmp_path):
    values = np.load(target)
    values[27, 15] = np.nan
    np.save(tmp_path / "mine.npy", values)
    with pytest.raises(nimt.InvalidInput, match=r"nan.*27.*15"):
        teach(tmp_path / "mine.npy", nimt.Blocks((3, 2), folder=tmp_path / "run"))


def test_a_damaged_block_is_noticed(target, tmp_path):
    teach(target, nimt.Blocks((3, 2), share=0.8, folder=tmp_path / "run"), callback=lambda progress: True)
    file = tmp_path / "run" / "blocks" / "block-5.npz"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(nimt.errors.CorruptLesson, match="checksum"):
        nimt.blocks.resume_blocks(tmp_path / "run")


def test_a_block_that_is_missing_is_noticed(target, tmp_path):
    teach(target, nimt.Blocks((3, 2), share=0.8, folder=tmp_path / "run"), callback=lambda progress: progress.turn > 2)
    (tmp_path / "run" / "blocks" / "block-5.npz").unlink()
    with pytest.raises(nimt.errors.CorruptLesson, match="the checkpoint of block 5 is missing"):
        nimt.blocks.resume_blocks(tmp_path / "run")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"memory": 1000}, "give Blocks.folder"),
        ({"client": object()}, "folder that every worker reaches"),
        ({"share": 1.0}, "between 0 and 1"),
        ({"blocks": 0}, "at least 1"),
        ({"memory": 1000, "folder": "run"}, "one block takes about 15.8 kB, and a worker may use 1 kB"),
    ],
)
def test_a_way_to_cut_that_cannot_work_is_refused(target, tmp_path, monkeypatch, given, sentence):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nimt.NimtError, match=sentence):
        teach(target, nimt.Blocks(**({"blocks": (3, 2)} | given)))
    assert not BlockFolder(tmp_path / "run").task_file.exists()


def test_a_folder_is_one_lesson_at_a_time(target, tmp_path):
    how = nimt.Blocks((3, 2), share=0.8, folder=tmp_path / "run")
    teach(target, how, max_iterations=5)
    with pytest.raises(nimt.InvalidInput, match="holds a lesson by blocks already"):
        teach(target, how)
    with BlockFolder(tmp_path / "run").claim(), pytest.raises(nimt.InvalidInput, match="another run is writing"):
        nimt.blocks.resume_blocks(tmp_path / "run")
    assert len(nimt.blocks.resume_blocks(tmp_path / "run", max_iterations=50)) == 50
