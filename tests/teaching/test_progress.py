"""Progress bars: on where a person looks on and the lesson is long, and never in the way of the result."""

import io
import os
from types import SimpleNamespace

import numpy as np
import pytest

import nimt
from nimt.runs.sweep_progress import SweepProgress, sweep_bar
from nimt.teaching import bars
from nimt.teaching import lesson_progress as progress
from problems import assert_same_lesson, small_lesson


class Terminal(io.StringIO):
    def isatty(self):
        return True


def at(step, last=100, discrepancy=0.5, outcome=None):
    return SimpleNamespace(
        step=step, max_iterations=last, discrepancy=discrepancy, outcome=outcome, letter="M", in_per_cent=False
    )


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [1e9]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    monkeypatch.setattr(bars.bar_class(), "_time", staticmethod(lambda: now[0]), raising=False)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_the_result_is_that_of_a_lesson_without_a_bar(capsys):
    assert_same_lesson(small_lesson(progress=True), small_lesson())
    shown = capsys.readouterr()
    assert shown.out == "" and "25 of 25" in shown.err and "all that were allowed" in shown.err


@pytest.mark.long
def test_resume_and_compare_take_it_too(tmp_path, capsys):
    path = tmp_path / "lesson.ckpt"
    small_lesson(max_iterations=10, checkpoint=path)
    assert_same_lesson(nimt.resume(path, max_iterations=25, progress=True), small_lesson())
    assert "all that were allowed, 25 of 25" in capsys.readouterr().err
    learner, x = nimt.KernelLearner(nimt.rbf(0.5)), np.arange(9.0)
    compared = nimt.compare(
        learner, [nimt.RandomTeacher()], x, np.sin, max_iterations=20, tol=None, seeds=3, progress=True
    )
    assert len(compared.lessons["RFT-1"]) == 3
    assert "lesson 3" in capsys.readouterr().err


def test_nothing_is_shown_unless_asked_for_or_where_nobody_looks_on(capsys):
    small_lesson()
    small_lesson(progress="auto")
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("every_step")
def test_a_callback_of_ones_own_is_called_too_and_may_stop_the_lesson():
    seen = []
    lesson = small_lesson(progress=True, callback=lambda now: seen.append(now.step) or now.step >= 4)
    assert lesson.outcome is nimt.lesson.Outcome.STOPPED
    assert seen == [1, 2, 3, 4, 4]


def test_a_share_is_told_in_per_cent():
    terminal = Terminal()
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.5)
    with progress.progress_bar(True, file=terminal) as bar:
        ways = {"max_iterations": 3, "tol": None, "measure": "accuracy", "callback": bar}
        nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 5.0], [1.0, -1.0], **ways)
    assert "accuracy 100.0%" in terminal.getvalue()


def test_auto_waits_a_second(clock):
    terminal = Terminal()
    with progress.progress_bar("auto", file=terminal) as bar:
        bar(at(1))
        clock[0] += 0.9
        bar(at(2))
        assert terminal.getvalue() == ""
        clock[0] += 0.2
        bar(at(56))
        assert "56 of 100" in terminal.getvalue() and "50.00 steps/s" in terminal.getvalue()
    assert "M 5.000e-01" in terminal.getvalue() and "00:00 left" in terminal.getvalue()
    assert terminal.getvalue().rstrip(" ").endswith("\r"), "it is gone when the work has ended"


@pytest.mark.parametrize(("columns", "words"), [(40, "left, M 1.234e"), (60, "1,035,831 of"), (100, "3,000,000, ")])
def test_a_narrow_terminal_still_shows_the_time_left_and_the_discrepancy(columns, words):
    termios = pytest.importorskip("termios")
    ends = os.openpty()
    termios.tcsetwinsize(ends[1], (24, columns))
    terminal = Terminal()
    terminal.fileno = lambda: ends[1]
    with progress.progress_bar(True, file=terminal, title="a photo, from zero") as bar:
        bar(at(1, last=3_000_000))
        bar.bar.mininterval = 0
        bar(at(1_035_831, last=3_000_000, discrepancy=1.234e-5))
        last = terminal.getvalue().split("\r")[-1]
    for end in ends:
        os.close(end)
    assert words in last and len(last.rstrip()) <= columns and ("a photo" in last) == (columns >= bars.WIDE)


def test_a_forecast_is_the_end_until_it_is_passed():
    terminal = Terminal()
    with progress.progress_bar(True, file=terminal, expected=30) as bar:
        bar(at(1))
        assert bar.bar.total == 30 and "end by forecast" in bar.bar.postfix
        bar(at(31))
        assert bar.bar.total == 100 and "forecast" not in bar.bar.postfix


def test_a_sweep_says_how_many_failed_and_what_time_is_left():
    assert str(SweepProgress(1_030, 2_000, 12, 60.0, 3_780.0)) == "1,030 of 2,000 lessons, 12 failed, 1:03:00 left"
    assert str(SweepProgress(done=0, total=1, failed=0, elapsed=0.0, left=None)) == "0 of 1 lesson"
    assert str(SweepProgress(done=1, total=2, failed=0, elapsed=1.0, left=8.2)) == "1 of 2 lessons, 00:08 left"
    terminal = Terminal()
    with sweep_bar(True, file=terminal, title="study") as listen:
        listen(SweepProgress(done=2, total=3, failed=1, elapsed=60.0, left=30.0))
    assert "study" in terminal.getvalue() and "2 of 3 lessons, 1 failed, 00:30 left" in terminal.getvalue()


def test_a_bar_that_was_never_needed_writes_nothing():
    terminal = Terminal()
    with progress.progress_bar("auto", file=terminal) as bar:
        bar(at(1))
    assert terminal.getvalue() == ""


def test_the_bar_ends_with_an_error_too():
    terminal = Terminal()

    def fail():
        with progress.progress_bar(True, file=terminal) as bar:
            bar(at(1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert terminal.getvalue().endswith("\n"), "what is printed next has a line of its own"


def test_a_bar_starts_no_thread_and_leaves_what_others_set_on_tqdm():
    import threading

    import tqdm

    before = threading.active_count(), tqdm.tqdm.monitor_interval
    with progress.progress_bar(True, file=Terminal()) as bar:
        bar(at(1))
        assert (threading.active_count(), tqdm.tqdm.monitor_interval) == before


def test_a_log_gets_few_lines(clock):
    log = io.StringIO()
    with progress.progress_bar(True, file=log) as bar:
        for step in range(1, 101):
            clock[0] += 0.25
            bar(at(step))
    assert log.getvalue().count("\r") <= 5


@pytest.mark.parametrize("wrong", [2, "yes", None, 0])
def test_other_words_are_refused(wrong):
    with pytest.raises(nimt.InvalidInput, match="progress must be True, False or 'auto', got"):
        small_lesson(progress=wrong)


@pytest.fixture
def notebook(monkeypatch):
    """Stand in for the kernel of a notebook."""
    ipython = pytest.importorskip("IPython")
    monkeypatch.setattr(ipython, "get_ipython", lambda: SimpleNamespace(kernel=object()))


@pytest.mark.usefixtures("notebook")
def test_auto_shows_a_bar_in_a_notebook_and_leaves_it_there(clock):
    page = io.StringIO()
    with progress.progress_bar("auto", file=page, title="mine") as bar:
        bar(at(1))
        assert page.getvalue() == ""
        clock[0] += 2.0
        bar(at(50))
        assert "mine" in page.getvalue() and "50 of 100" in page.getvalue()
    assert page.getvalue().endswith("\n")


def test_a_finished_bar_is_full_and_says_how_the_lesson_ended(capsys):
    lesson = small_lesson(tol=0.5, max_iterations=5_000, measure="rms", progress=True)
    assert lesson.outcome is nimt.lesson.Outcome.CONVERGED and len(lesson) < 5_000
    last = capsys.readouterr().err.split("\r")[-1]
    assert "100%" in last and f"tolerance reached, {len(lesson):,} of {len(lesson):,}" in last
    assert f"RMS {lesson.discrepancy[-1]:.3e}" in last


def test_lessons_are_counted_by_their_ends(clock):
    terminal = Terminal()
    with progress.progress_bar(True, file=terminal) as bar:
        for _ in range(3):
            bar(at(20, outcome=nimt.lesson.Outcome.CONVERGED))
        assert bar.lesson == 3
        bar(at(7, outcome=nimt.lesson.Outcome.INTERRUPTED))
    assert "lesson 4" in terminal.getvalue() and "7 of 100" in terminal.getvalue()
