"""What is written takes the place of a file of its kind, and of nothing else."""

from __future__ import annotations

import contextlib
import os
import stat
import threading

import numpy as np
import pytest

import nimt
from nimt.store.checkpoint_file import previous_of
from nimt.store.whole_files import is_archive_of_ours, whole_file, write_text
from problems import assert_same_lesson, small_lesson

pytestmark = pytest.mark.long


def save(path):
    small_lesson().save(path)


def checkpoint(path):
    small_lesson(checkpoint=path, on_existing="replace")


def text(path):
    write_text(path, "written")


WAYS = {"save": save, "checkpoint": checkpoint, "text": text}


def reader_of(pipe):
    """Keep a pipe open for reading, so that a writer that opens it is not held up."""
    return os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)


@pytest.mark.parametrize("write", WAYS.values(), ids=WAYS)
def test_a_pipe_is_refused_and_stays(tmp_path, write):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    handle = reader_of(pipe)
    with pytest.raises(nimt.InvalidInput, match=r"pipe.*only a regular file"):
        write(pipe)
    os.close(handle)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize("write", WAYS.values(), ids=WAYS)
def test_a_device_is_refused_and_stays(tmp_path, write):
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")
    with pytest.raises(nimt.InvalidInput, match=r"device.*only a regular file"):
        write(device)
    assert stat.S_ISCHR(device.stat().st_mode)


@pytest.mark.parametrize("write", WAYS.values(), ids=WAYS)
def test_a_link_is_followed_and_stays_a_link(tmp_path, write):
    (tmp_path / "far").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "far" / "file")
    for _ in range(2):  # the first makes the file, the second replaces it
        write(link)
        assert link.is_symlink()
        assert (tmp_path / "far" / "file").is_file() and not (tmp_path / "far" / "file").is_symlink()
    assert os.listdir(tmp_path) == ["far", "link"] or os.listdir(tmp_path) == ["link", "far"]


@pytest.mark.usefixtures("every_step")
def test_a_lesson_goes_on_from_a_checkpoint_behind_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "far" / "checkpoint")
    small_lesson(checkpoint=link, callback=lambda progress: progress.step >= 4)
    nimt.resume(link, callback=lambda progress: progress.step >= 9)
    assert previous_of(link) == tmp_path / "far" / "checkpoint.previous" and previous_of(link).exists()
    (tmp_path / "far" / "checkpoint").write_bytes(b"damaged")
    with pytest.warns(nimt.errors.CheckpointWarning, match="continuing from the checkpoint before it"):
        assert_same_lesson(nimt.resume(link), small_lesson())


@pytest.mark.parametrize("write", [save, checkpoint], ids=["save", "checkpoint"])
@pytest.mark.parametrize("kind", ["text", "npz", "zip"])
def test_a_file_that_nimt_did_not_write_is_left_alone(tmp_path, write, kind):
    path = tmp_path / "mine"
    if kind == "npz":
        with open(path, "wb") as file:
            np.savez(file, results=np.arange(5.0))
    else:
        path.write_bytes(b"my thesis" if kind == "text" else b"PK\x05\x06" + bytes(18))
    before = path.read_bytes()
    with pytest.raises(nimt.InvalidInput, match="a file that nimt did not write"):
        write(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["mine"]


@pytest.mark.parametrize("write", [save, checkpoint], ids=["save", "checkpoint"])
def test_what_nimt_wrote_and_what_is_empty_is_replaced(tmp_path, write):
    path = tmp_path / "file"
    path.touch()
    for _ in range(2):
        write(path)
        assert is_archive_of_ours(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = b""
    path.write_bytes(content)  # cut short, and still known as ours
    write(path)


def test_the_checkpoint_before_is_no_way_in_either(tmp_path):
    (tmp_path / "checkpoint.previous").write_text("mine")
    with pytest.raises(nimt.InvalidInput, match=r"checkpoint.previous.*did not write"):
        small_lesson(checkpoint=tmp_path / "checkpoint")
    assert (tmp_path / "checkpoint.previous").read_text() == "mine"


@pytest.mark.parametrize("read", [nimt.resume], ids=["resume"])
def test_a_pipe_is_not_waited_for(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    said = []

    def ask():
        try:
            read(tmp_path / "pipe")
        except nimt.InvalidInput as error:
            said.append(str(error))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(30)
    assert said and "pipe" in said[0]


def test_a_link_that_leads_back_to_itself_is_refused(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(nimt.InvalidInput, match=r"loop.*give another name"):
        write_text(tmp_path / "loop", "text")


def test_a_private_file_stays_private(tmp_path):
    path = tmp_path / "private"
    path.touch(mode=0o600)
    write_text(path, "secret")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_failed_write_leaves_the_target_of_the_link(tmp_path):
    (tmp_path / "file").write_text("before")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with contextlib.suppress(RuntimeError), whole_file(tmp_path / "link") as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert (tmp_path / "file").read_text() == "before" and len(os.listdir(tmp_path)) == 2
