"""Progress bars: on where a person looks on and the lesson is long, and never in the way of the result."""

import io
from types import SimpleNamespace

import numpy as np
import pytest

import nimt
from nimt.sweeps.progress import SweepProgress
from nimt.teaching import bars, progress
from problems import assert_same_lesson, small_lesson


class Terminal(io.StringIO):
    def isatty(self):
        return True


def at(step, last=100, discrepancy=0.5, outcome=None):
    return SimpleNamespace(step=step, max_iterations=last, discrepancy=discrepancy, outcome=outcome)


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [0.0]
    monkeypatch.setattr(bars.time, "perf_counter", lambda: now[0])
    return now


def test_the_result_is_that_of_a_lesson_without_a_bar(capsys):
    assert_same_lesson(small_lesson(progress=True), small_lesson())
    shown = capsys.readouterr()
    assert shown.out == "" and "25 steps, all that were allowed" in shown.err


@pytest.mark.long
def test_resume_and_compare_take_it_too(tmp_path, capsys):
    path = tmp_path / "lesson.ckpt"
    small_lesson(max_iterations=10, checkpoint=path)
    assert_same_lesson(nimt.resume(path, max_iterations=25, progress=True), small_lesson())
    assert "25 steps, all that were allowed" in capsys.readouterr().err
    learner, x = nimt.KernelLearner(nimt.rbf(0.5)), np.arange(9.0)
    compared = nimt.compare(learner, [nimt.RandomTeacher()], x, np.sin, max_iterations=20, seeds=3, progress=True)
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
    assert lesson.outcome is nimt.Outcome.STOPPED
    assert seen == [1, 2, 3, 4, 4]


def test_auto_waits_a_second(clock):
    terminal = Terminal()
    with progress.progress_bar("auto", file=terminal) as bar:
        bar(at(1))
        clock[0] = 0.9
        bar(at(2))
        assert terminal.getvalue() == ""
        clock[0] = 1.1
        bar(at(56))
    for text in ("step 56 of 100", "M 5.000e-01", "50 steps/s"):
        assert text in terminal.getvalue()


WORDINGS = progress.wordings(1_035_831, 3_000_000, "", 1.234e-5, 3_391_289.0)


@pytest.mark.parametrize(
    ("columns", "words", "has_name"), [(40, 3, False), (60, 1, False), (80, 0, False), (120, 0, True)]
)
def test_a_narrow_terminal_still_shows_the_bar_and_the_time_left(monkeypatch, columns, words, has_name):
    """The name is given up first, then words that matter less than the discrepancy; nothing is cut off."""
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal = Terminal()
    bar = bars.bar_for(True, terminal)
    bar.draw("a photo, from zero", 1, 3, WORDINGS)
    bar.close()
    shown = terminal.getvalue()
    assert WORDINGS[words] in shown and "…" not in shown and shown.count("━") >= 6
    assert ("a photo" in shown.split(WORDINGS[words])[0].splitlines()[-1]) == has_name
    assert all(text in WORDINGS[words] for text in ("M 1.2", "0:00 left"))


def test_words_that_were_given_up_do_not_come_back(monkeypatch):
    """They would come and go as the numbers become longer and shorter."""
    monkeypatch.setenv("COLUMNS", "40")
    bar = bars.bar_for(True, Terminal())
    for number, words in enumerate([["long" * 8, "short"], ["long" * 9, "short"], ["long", "brief"]]):
        bar.draw("", number, 3, words)
    assert bar.bar.tasks[0].fields["said"] == "brief"
    bar.close()


def test_a_sweep_has_words_for_narrow_terminals_too():
    now = SweepProgress(done=1_030, total=2_000, failed=12, elapsed=60.0, left=3_780.0)
    assert [len(words) for words in now.wordings()] == [47, 39, 25]
    assert str(now) == "1,030 of 2,000 lessons, 12 failed, 1:03:00 left"
    assert str(SweepProgress(done=0, total=1, failed=0, elapsed=0.0, left=None)) == "0 of 1 lesson"


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
    assert terminal.getvalue().rindex("\x1b[?25h") > terminal.getvalue().rindex("\x1b[?25l"), "the cursor is back"


@pytest.mark.parametrize("wrong", [2, "yes", None, 0])
def test_other_words_are_refused(wrong):
    with pytest.raises(nimt.InvalidInput, match="progress must be True, False or 'auto', got"):
        small_lesson(progress=wrong)


@pytest.fixture
def notebook(monkeypatch):
    """Stand in for the kernel of a notebook, and keep what it is told to show."""
    shown = []

    class Handle:
        def update(self, page):
            shown.append(page.data)

    def display(page, *, display_id):
        shown.append(page.data)
        return Handle()

    ipython = pytest.importorskip("IPython")
    import IPython.display

    monkeypatch.setattr(ipython, "get_ipython", lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setattr(IPython.display, "display", display)
    return shown


def test_a_notebook_gets_an_html_bar(notebook, clock):
    with progress.progress_bar(True, title="<b>mine") as bar:
        for step in range(1, 101):
            clock[0] += 0.05
            bar(at(step))
    assert all('<progress value="' in page and "&lt;b&gt;mine" in page for page in notebook)
    assert 'value="100" max="100"' in notebook[-1]
    assert 20 <= len(notebook) <= 30, "at most five messages per second"
    assert "20 steps/s" in notebook[-1]


def test_a_finished_bar_is_full_and_says_how_the_lesson_ended(notebook):
    lesson = small_lesson(tol=0.5, max_iterations=5_000, measure="rms", progress=True)
    assert lesson.outcome is nimt.Outcome.CONVERGED and len(lesson) < 5_000
    assert 'value="1" max="1"' in notebook[-1] and "left" not in notebook[-1]
    assert f"{len(lesson):,} step" in notebook[-1] and "tolerance reached" in notebook[-1]


def test_lessons_are_counted_by_their_ends(clock):
    terminal = Terminal()
    with progress.progress_bar(True, file=terminal) as bar:
        for _ in range(3):
            bar(at(20, outcome=nimt.Outcome.CONVERGED))
        assert bar.lesson == 3
        bar(at(7, outcome=nimt.Outcome.INTERRUPTED))
    assert "lesson 4, step 7 of 100" in terminal.getvalue()


def test_auto_waits_in_a_notebook_too(notebook, clock):
    with progress.progress_bar("auto") as bar:
        bar(at(1))
        assert notebook == []
        clock[0] = 2.0
        bar(at(50))
        assert len(notebook) == 1
