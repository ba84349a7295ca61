"""Targets and results in Zarr arrays."""

from __future__ import annotations

import builtins
import errno
import os

import numpy as np
import pytest

import nimt
from nimt.blocks.partition import GridPartition

pytestmark = pytest.mark.long

VALUES = np.random.default_rng(0).normal(size=(31, 23)).astype(np.float32)
RESULTS = ("values", "coefficients", "picks")


@pytest.fixture(scope="module")
def zarr():
    return pytest.importorskip("zarr", reason="Zarr arrays are an extra: pip install 'nimt[zarr]'")


@pytest.fixture(scope="module")
def whole():
    return teach(VALUES, (3, 2), X=nimt.Grid.like(VALUES))


def teach(y, blocks, X=None, **options):
    learner = nimt.KernelLearner(nimt.Wendland(2.0), learning_rate=0.2)
    options = {"tol": "20%", "measure": "rms"} | options
    return nimt.blocks.teach_blocks(learner, nimt.GreedyTeacher(), X, y, blocks, **options)


def write(zarr, path, chunks=(7, 5)):
    zarr.create_array(path, shape=VALUES.shape, chunks=chunks, dtype=VALUES.dtype)[:] = VALUES
    return path


def assert_same(lesson, whole):
    for found, expected in ((lesson.final, whole.final), (lesson.picks, whole.picks)):
        assert np.array_equal(np.asarray(found), expected)
    assert np.array_equal(np.asarray(lesson.coefficients), whole.coefficients)
    assert np.array_equal(lesson.curve, whole.curve)


def test_a_zarr_array_is_the_same_target_and_its_results_are_zarr_arrays(zarr, whole, tmp_path):
    path, folder = write(zarr, tmp_path / "huge.zarr"), tmp_path / "run"
    lesson = teach(path, nimt.Blocks((3, 2), folder=folder, workers=2))
    assert_same(lesson, whole)
    for name in RESULTS:
        stored = zarr.open_array(folder / f"{name}.zarr", mode="r")
        assert stored.shape == VALUES.shape
        assert not (folder / f"{name}.npy").exists()
    assert stored.dtype == np.int32
    assert np.array_equal(lesson.to_lesson().final, whole.final.ravel())


@pytest.mark.parametrize(("ending", "kind"), [("npy", "zarr"), ("zarr", "npy")])
def test_results_are_written_in_the_files_that_are_asked_for(zarr, whole, tmp_path, ending, kind):
    path, folder = tmp_path / f"huge.{ending}", tmp_path / "run"
    np.save(path, VALUES) if ending == "npy" else write(zarr, path)
    how = nimt.Blocks((3, 2), folder=folder, results=kind)
    assert teach(path, how, callback=lambda progress: True).outcome is nimt.lesson.Outcome.STOPPED
    lesson = nimt.blocks.resume_blocks(folder)  # in the same files as before
    assert_same(lesson, whole)
    assert sorted(file.name for file in folder.glob("*.*") if file.suffix in (".npy", ".zarr")) == sorted(
        f"{name}.{kind}" for name in RESULTS
    )


def test_a_zarr_array_in_memory_is_a_target(zarr, whole, tmp_path):
    array = zarr.open_array(write(zarr, tmp_path / "huge.zarr"), mode="r")
    assert_same(teach(array, (3, 2), X=nimt.Grid.like(VALUES)), whole)


def test_scattered_points_are_written_to_zarr(zarr, tmp_path):
    points = np.random.default_rng(1).uniform(0, 10, size=(90, 2))
    y = np.random.default_rng(2).normal(size=90)
    there = teach(y, nimt.Blocks(4, folder=tmp_path / "run", results="zarr"), X=points)
    assert_same(there, teach(y, 4, X=points))


@pytest.mark.parametrize(
    ("shape", "counts"), [((31, 23), (3, 2)), ((100,), (7,)), ((20, 9, 33), (3, 1, 4)), ((5000, 3001), (2, 3))]
)
def test_blocks_that_write_together_share_no_chunk(shape, counts):
    cut = GridPartition(nimt.Grid.like(np.broadcast_to(0.0, shape)), counts, (1,) * len(shape))
    assert np.prod(cut.chunk) <= 2**20
    written = sorted(block for together in cut.written_together for block in together)
    assert written == list(range(len(cut)))
    for together in cut.written_together:
        touched: set[tuple[int, ...]] = set()
        for block in together:
            spans = [
                range(low // size, (high - 1) // size + 1)
                for (low, high), size in zip(cut.own_box(block), cut.chunk, strict=True)
            ]
            own = {tuple(map(int, place)) for place in np.stack(np.meshgrid(*spans), -1).reshape(-1, len(shape))}
            assert not own & touched
            touched |= own


def test_what_is_no_array_is_refused_in_a_sentence(zarr, tmp_path):
    (tmp_path / "empty.zarr").mkdir()
    (tmp_path / "text.npy").write_text("no array")
    (tmp_path / "folder.npy").mkdir()
    zarr.create_group(tmp_path / "group.zarr")
    damaged = write(zarr, tmp_path / "damaged.zarr")
    (damaged / "zarr.json").write_text("{")
    for name in ("empty.zarr", "text.npy", "folder.npy", "group.zarr", "damaged.zarr"):
        with pytest.raises(nimt.InvalidInput, match=rf"{name}' is not read as an array of numbers"):
            teach(tmp_path / name, (3, 2))
    zarr.create_array(tmp_path / "complex.zarr", shape=(31, 23), dtype=complex)
    with pytest.raises(nimt.InvalidInput, match="no real numbers"):
        teach(tmp_path / "complex.zarr", (3, 2))


def test_a_chunk_that_is_damaged_is_one_sentence(zarr, tmp_path):
    path = write(zarr, tmp_path / "huge.zarr")
    (path / "c" / "1" / "1").write_bytes(b"no chunk")
    with pytest.raises(nimt.InvalidInput, match=r"huge.zarr' is not read as an array"):
        teach(path, (3, 2), tol=0.2)


def test_a_full_disk_while_results_are_written_is_one_sentence(zarr, whole, tmp_path, monkeypatch):
    from zarr.storage import LocalStore

    async def refuse(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = write(zarr, tmp_path / "huge.zarr")
    monkeypatch.setattr(LocalStore, "set", refuse)
    with pytest.raises(nimt.InvalidInput, match=r"No space left on device.: make room there"):
        teach(path, nimt.Blocks((3, 2), folder=tmp_path / "run"))
    monkeypatch.undo()
    assert_same(nimt.blocks.resume_blocks(tmp_path / "run"), whole)


def test_without_the_package_the_extra_is_named_before_any_work(tmp_path, monkeypatch):
    usual = builtins.__import__

    def refuse(name, *given, **more):
        if name == "zarr":
            raise ImportError(name)
        return usual(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    grid = nimt.Grid.like(VALUES)
    with pytest.raises(nimt.NimtError, match=r"pip install 'nimt\[zarr\]'"):
        teach(VALUES, nimt.Blocks((3, 2), folder=tmp_path / "run", results="zarr"), X=grid)
    assert not (tmp_path / "run" / "task.npz").exists()
    (tmp_path / "huge.zarr").mkdir()
    with pytest.raises(nimt.NimtError, match=r"pip install 'nimt\[zarr\]'"):
        teach(tmp_path / "huge.zarr", (3, 2))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [({"results": "csv", "folder": "run"}, "must be 'npy' or 'zarr', got 'csv'"), ({"results": "npy"}, "in a folder")],
)
def test_results_that_cannot_be_are_refused(given, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        nimt.Blocks((3, 2), **given)
