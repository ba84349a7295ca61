"""Ctrl-C: the lesson ends, and nothing that was learned is lost."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import nimt
from problems import RECORDED, assert_same_lesson, small_lesson

pytestmark = pytest.mark.long


def press_ctrl_c(after):
    """Send SIGINT to this process as a terminal would, from a thread."""
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_ends_the_lesson_with_everything_recorded(tmp_path):
    path = tmp_path / "checkpoint"
    before = signal.getsignal(signal.SIGINT)
    pressed = []

    def press_once(progress):
        if not pressed:
            pressed.append(press_ctrl_c(after=0.1))

    lesson = small_lesson(nimt.RandomTeacher(k=2), max_iterations=10**8, tol=0.0, checkpoint=path, callback=press_once)
    pressed[0].join()
    assert lesson.outcome is nimt.lesson.Outcome.INTERRUPTED
    assert len(lesson) > 0
    assert lesson.indices.shape == (len(lesson), 2)
    assert lesson.picks.sum() == 2 * len(lesson)
    assert lesson.learner.steps_ == len(lesson)
    assert signal.getsignal(signal.SIGINT) is before
    same = small_lesson(nimt.RandomTeacher(k=2), max_iterations=len(lesson), tol=0.0)
    for name in RECORDED:
        np.testing.assert_array_equal(getattr(lesson, name), getattr(same, name))


def test_ctrl_c_in_the_last_callback_loses_nothing():
    def late(progress):
        if progress.step == progress.max_iterations:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)

    assert_same_lesson(small_lesson(callback=late), small_lesson())


class SlowTeacher(nimt.Teacher):
    """A teacher that would take a minute to choose, and is interrupted twice meanwhile."""

    def select(self, view):
        if view.step == 5:
            view.rng.random()
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
        return view.show(view.rng.integers(len(view)))


class PlainTeacher(nimt.Teacher):
    def select(self, view):
        return view.show(view.rng.integers(len(view)))


def test_a_second_ctrl_c_is_raised_and_leaves_the_checkpoint_before_whole(tmp_path, monkeypatch, every_step):
    monkeypatch.setattr("nimt.store.checkpoint_file.EVERY", 0.0)
    monkeypatch.setattr("nimt.store.checkpoint_file.SHARE", 1e9)
    path = tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        small_lesson(SlowTeacher(), checkpoint=path)
    assert_same_lesson(nimt.resume(path, teacher=PlainTeacher()), small_lesson(PlainTeacher()))


def test_a_process_that_ignores_ctrl_c_goes_on_ignoring_it():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        lesson = small_lesson(callback=lambda progress: os.kill(os.getpid(), signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)
    assert lesson.outcome is nimt.lesson.Outcome.BUDGET


def test_a_lesson_runs_in_any_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(small_lesson()))
    thread.start()
    thread.join()
    assert_same_lesson(found[0], small_lesson())


def test_an_error_of_the_teacher_leaves_the_checkpoint_before_whole(tmp_path, monkeypatch, every_step):
    monkeypatch.setattr("nimt.store.checkpoint_file.EVERY", 0.0)
    monkeypatch.setattr("nimt.store.checkpoint_file.SHARE", 1e9)
    path = tmp_path / "checkpoint"

    class Breaking(nimt.Teacher):
        def select(self, view):
            chosen = view.rng.integers(len(view))
            if view.step == 9:
                raise RuntimeError("chalk broke")
            return view.show(chosen)

    with pytest.raises(RuntimeError, match="chalk broke"):
        small_lesson(Breaking(), checkpoint=path)
    assert_same_lesson(nimt.resume(path, teacher=PlainTeacher()), small_lesson(PlainTeacher()))


def test_an_error_of_the_callback_keeps_the_lesson_in_the_checkpoint(tmp_path, every_step):
    path = tmp_path / "checkpoint"

    def fail(progress):
        if progress.step == 8:
            raise RuntimeError("the progress bar broke")

    with pytest.raises(RuntimeError, match="progress bar"):
        small_lesson(nimt.RandomTeacher(), callback=fail, checkpoint=path)
    seen = []
    resumed = nimt.resume(path, callback=lambda progress: seen.append(progress.step))
    assert seen[0] == 9
    assert_same_lesson(resumed, small_lesson(nimt.RandomTeacher()))


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("how", ["Ctrl-C", "SIGTERM"])
def test_repeated_ctrl_c_while_a_checkpoint_is_written(tmp_path, monkeypatch, how):
    from nimt.session.interrupts import interrupt
    from nimt.store import records

    def press():
        if how == "Ctrl-C":
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        else:
            interrupt()

    write = records.write

    def pressed_meanwhile(*arguments, **options):
        for _ in range(5):
            press()
        write(*arguments, **options)
        press()

    path = tmp_path / "checkpoint"
    with monkeypatch.context() as patch:
        patch.setattr(records, "write", pressed_meanwhile)
        lesson = small_lesson(checkpoint=path, callback=lambda progress: progress.step == 6 and press())
    assert lesson.outcome is nimt.lesson.Outcome.INTERRUPTED and len(lesson) == 7
    assert os.listdir(tmp_path) == ["checkpoint"]
    assert_same_lesson(nimt.resume(path), small_lesson())
