"""Killed, interrupted, out of disk, damaged: the lesson that comes of it is the lesson that was never stopped."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome
from nimt.store.claims import hold

pytestmark = pytest.mark.long

# random draws of the pool, of the examples and of the labels: everything that has to be carried over a stop
DRAWN = (
    "--from", "gmm:start", "--teacher", "random", "-k", "2", "--pool", "0.8", "--other-target", "sine",
    "--probability", "0.3", "--learning-rate", "0.01", "--tol", "0", "--seed", "7", "--engine", "reference",
)  # fmt: skip
GREEDY = ("--from", "gmm:start", "--learning-rate", "0.001", "--tol", "0")
FOREVER = (
    "--from",
    "gmm:start",
    "--learning-rate",
    "1e-9",
    "--tol",
    "0",
    "--iterations",
    "100000000",
    "--every",
    "50000000",
)


def assert_same_lesson(one: Path, other: Path) -> None:
    a, b = Lesson.load(one / "lesson.npz"), Lesson.load(other / "lesson.npz")
    assert a.outcome is b.outcome and a.engine == b.engine and len(a) == len(b)
    for name in ("discrepancy", "indices", "labels", "picks", "initial", "final"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_array_equal(a.learner.coefficients_, b.learner.coefficients_)
    np.testing.assert_array_equal(a.learner.centers_, b.learner.centers_)
    assert a.snapshots.keys() == b.snapshots.keys()
    for step in a.snapshots:
        np.testing.assert_array_equal(a.snapshots[step], b.snapshots[step])


def assert_tidy(folder: Path) -> None:
    """The lesson, at most with the one before it, and nothing that was left half-written."""
    names = {path.name for path in folder.iterdir()}
    assert not [name for name in names if ".part" in name or name.endswith(".next")]
    assert {name for name in names if name.startswith("lesson.npz")} <= {"lesson.npz", "lesson.npz.previous"}


def is_finished(folder: Path) -> bool:
    """Say whether the lesson in a folder is over; one under way is in the same file."""
    if not (folder / "lesson.npz").exists():
        return False
    return Lesson.load_record(folder / "lesson.npz").outcome not in (Outcome.UNFINISHED, Outcome.INTERRUPTED)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "options", "steps"),
    [
        ("reference", DRAWN, 2_500),
        ("grid", GREEDY, 200_000),
        pytest.param("neighbours", GREEDY, 600_000, marks=pytest.mark.exhaustive),
        pytest.param("streamed", GREEDY, 12_000, marks=pytest.mark.exhaustive),
    ],
)
def test_twenty_kills_change_nothing(server, tmp_path, engine, options, steps):
    lesson = ("teach", "gmm", *options, "--engine", engine, "--quiet", "--iterations")
    assert server.run(*lesson, 10, "--out", tmp_path / "short", undrawn=True).code == 0  # compiles what is missing
    command = (*lesson, steps)
    began = time.monotonic()
    whole = server.run(*command, "--out", tmp_path / "whole", undrawn=True)
    assert whole.code == 0, whole.err
    duration = time.monotonic() - began
    rng = np.random.default_rng(20)
    folder = tmp_path / "killed"
    killed, went_on, tries = 0, 0, 0
    while (killed < 20 or went_on < 5) and tries < 120:
        tries += 1
        # a run of its own is killed anywhere in its time; what it left behind is resumed, and killed again
        if not (folder / "run.toml").exists():  # there is nothing to resume yet
            pid = server.start(*command, "--out", folder, every=0.01, undrawn=True)
        else:
            went_on += (folder / "lesson.npz").exists()
            pid = server.start("resume", folder, "--quiet", every=0.01, undrawn=True)
        time.sleep(rng.uniform(0.1, 0.9) * duration)
        answer = server.kill(pid)
        assert answer.code in (-signal.SIGKILL, 0), answer.err
        killed += answer.code == -signal.SIGKILL
        # other tests run beside this one, so that the first run may have been faster or slower than these
        if answer.code == 0:
            duration *= 0.8
        elif not (folder / "lesson.npz").exists():
            duration *= 1.1
        if is_finished(folder):
            assert_same_lesson(tmp_path / "whole", folder)
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()
    assert killed >= 20 and went_on >= 5, "too few kills, or too few after a checkpoint, to prove anything"
    if not (folder / "run.toml").exists():  # killed before it had written anything
        assert server.run(*command, "--out", folder, undrawn=True).code == 0
    answer = server.run("resume", folder, "--quiet", undrawn=True)
    assert answer.code == 0, answer.err
    assert_same_lesson(tmp_path / "whole", folder)
    assert_tidy(folder)


STEPS = 6_000
LONG = ("teach", "gmm", *DRAWN, "--iterations", STEPS)


@pytest.fixture(scope="module")
def whole(server, tmp_path_factory) -> Path:
    """Return the folder of a LONG lesson that was never stopped."""
    folder = tmp_path_factory.mktemp("never-stopped") / "whole"
    assert server.run(*LONG, "--out", folder, undrawn=True).code == 0
    return folder


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_and_resumed(server, whole, tmp_path, until, number):
    folder = tmp_path / "stopped"
    pid = server.start(*LONG, "--out", folder, every=0.01, undrawn=True)
    until((folder / "lesson.npz").exists)
    answer = server.kill(pid, number)
    assert answer.code == 130, answer.err
    assert f"nimt resume {folder}" in answer.err and "Traceback" not in answer.err
    assert not is_finished(folder)
    assert server.run("resume", folder, undrawn=True).code == 0
    assert_same_lesson(whole, folder)
    assert_tidy(folder)


def test_interrupted_before_its_first_checkpoint_it_still_leaves_one(server, tmp_path, until):
    folder = tmp_path / "run"
    pid = server.start("teach", "gmm", *FOREVER, "--out", folder)
    until((folder / "run.toml").exists)
    time.sleep(0.3)
    assert server.kill(pid, signal.SIGINT).code == 130
    assert (folder / "lesson.npz").exists()


def test_a_disk_that_fills_up_leaves_the_last_checkpoint_whole(server, whole, tmp_path):
    folder = tmp_path / "full"
    answer = server.run(*LONG, "--out", folder, every=0.01, largest_file=100_000, undrawn=True)
    assert answer.code == 2
    assert "Traceback" not in answer.err
    assert "could not be written" in answer.err and f"nimt resume {folder}" in answer.err
    assert not is_finished(folder)
    assert_tidy(folder)
    answer = server.run("resume", folder, undrawn=True)
    assert answer.code == 0 and "warning" not in answer.err
    assert_same_lesson(whole, folder)


def stopped_with_two_checkpoints(server, folder, until):
    pid = server.start(*LONG, "--out", folder, every=0.01, undrawn=True)
    until((folder / "lesson.npz.previous").exists)
    assert server.kill(pid, signal.SIGINT).code == 130


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def test_a_damaged_checkpoint_is_named_and_the_one_before_is_used(server, whole, tmp_path, until):
    folder = tmp_path / "damaged"
    stopped_with_two_checkpoints(server, folder, until)
    flip(folder / "lesson.npz")
    answer = server.run("resume", folder, undrawn=True)
    assert answer.code == 0
    assert "nimt: warning" in answer.err and str(folder / "lesson.npz") in answer.err and "previous" in answer.err
    assert_same_lesson(whole, folder)


def test_two_damaged_checkpoints_are_refused(server, tmp_path, until):
    folder = tmp_path / "damaged"
    stopped_with_two_checkpoints(server, folder, until)
    flip(folder / "lesson.npz")
    flip(folder / "lesson.npz.previous")
    answer = server.run("resume", folder)
    assert answer.code == 2 and "lesson.npz.previous" in answer.err and "Traceback" not in answer.err


def test_a_second_run_into_the_same_folder_is_refused_and_a_crash_frees_it(server, tmp_path, until):
    folder = tmp_path / "run"
    pid = server.start("teach", "gmm", *FOREVER, "--out", folder, every=0.01)
    until((folder / "lesson.npz").exists)
    for command in (("teach", "sine", "--out", folder, "--overwrite"), ("resume", folder)):
        answer = server.run(*command)
        assert answer.code == 2
        assert answer.is_one_sentence() and "another run is writing" in answer.err
    assert server.kill(pid).code == -signal.SIGKILL
    again = server.start("resume", folder)
    time.sleep(0.2)
    assert server.kill(again, signal.SIGINT).code == 130


def test_resume_goes_on_with_a_larger_budget(server, tmp_path):
    short = ("teach", "gmm", *DRAWN, "--iterations", 500, "--every", 250)
    long = ("teach", "gmm", *DRAWN, "--iterations", 1500, "--every", 250)
    assert server.run(*short, "--out", tmp_path / "run", undrawn=True).code == 0
    assert server.run(*long, "--out", tmp_path / "whole", undrawn=True).code == 0
    assert server.run("resume", tmp_path / "run", "--iterations", 1500, undrawn=True).code == 0
    assert_same_lesson(tmp_path / "whole", tmp_path / "run")
    answer = server.run("resume", tmp_path / "run", "--iterations", 10)
    assert answer.code == 0 and "stands at step 1,500, past 10: nothing was done" in answer.err
    assert_same_lesson(tmp_path / "whole", tmp_path / "run")


def test_resuming_a_finished_run_changes_nothing(server, tmp_path):
    folder = tmp_path / "run"
    assert server.run("teach", "gmm", *DRAWN, "--iterations", 300, "--out", folder, undrawn=True).code == 0
    before = Lesson.load(folder / "lesson.npz")
    assert server.run("resume", folder, undrawn=True).code == 0
    after = Lesson.load(folder / "lesson.npz")
    np.testing.assert_array_equal(before.discrepancy, after.discrepancy)
    assert after.outcome is Outcome.BUDGET


def test_a_run_killed_before_any_checkpoint_begins_again(server, tmp_path):
    folder = tmp_path / "run"
    assert server.run("teach", "gmm", *DRAWN, "--iterations", 300, "--out", folder, undrawn=True).code == 0
    (folder / "lesson.npz").rename(tmp_path / "lesson.npz")
    answer = server.run("resume", folder, undrawn=True)
    assert answer.code == 0 and "begins again" in answer.err
    assert_same_lesson(tmp_path, folder)


def test_what_a_killed_run_was_writing_is_swept_away(server, tmp_path):
    folder = tmp_path / "run"
    assert server.run("teach", "gmm", *DRAWN, "--iterations", 300, "--out", folder, undrawn=True).code == 0
    for name in (".lesson.npz.next.abc.part", ".lesson.xyz.part.gif", "lesson.npz.next"):
        (folder / name).write_bytes(b"half")
    (folder / "notes.txt").write_text("mine")
    assert server.run("resume", folder, undrawn=True).code == 0
    assert_tidy(folder)
    assert (folder / "notes.txt").read_text() == "mine"


COMPARE = (
    "compare", "gmm", "--from", "gmm:start", "--learning-rate", "1e-3", "--tol", "0", "--iterations", "3000",
    "--seeds", "2", "--teachers", "greedy:1,random:2", "--engine", "reference",
)  # fmt: skip


@pytest.fixture(scope="module")
def whole_comparison(server, tmp_path_factory) -> Path:
    """Return the folder of a comparison that was never stopped."""
    folder = tmp_path_factory.mktemp("never-stopped") / "comparison"
    assert server.run(*COMPARE, "--out", folder).code == 0
    return folder


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_comparison_that_was_stopped_goes_on_where_it_was(server, whole_comparison, tmp_path, until, ending):
    folder = tmp_path / "run"
    pid = server.start(*COMPARE, "--out", folder, every=0.01)
    until(lambda: list(folder.glob("lessons-under-way/lessons/*.npz")))
    answer = server.kill(pid, ending)
    if ending != signal.SIGKILL:
        assert answer.code == 130 and answer.is_one_sentence() and f"nimt resume {folder}" in answer.err
    answer = server.run("show", folder)
    assert answer.code == 2 and f"nimt resume {folder}" in answer.err
    answer = server.run(*COMPARE, "--seeds", "3", "--out", folder)
    assert answer.code == 2 and "not finished" in answer.err
    again = ("resume", folder) if ending == signal.SIGTERM else (*COMPARE, "--out", folder)
    assert server.run(*again).code == 0
    assert not (folder / "lessons-under-way").exists() and (folder / "report.html").exists()
    lessons = sorted(path.name for path in whole_comparison.glob("*-seed-*.npz"))
    assert len(lessons) == 3
    for name in lessons:
        one, other = Lesson.load(folder / name), Lesson.load(whole_comparison / name)
        np.testing.assert_array_equal(one.discrepancy, other.discrepancy)
        np.testing.assert_array_equal(one.picks, other.picks)
    assert_tidy(folder)
    answer = server.run("resume", folder)
    assert answer.code == 2 and "is over" in answer.err


@pytest.mark.parametrize("command", [("teach", "gmm"), ("compare", "gmm"), ("plan", "gmm")])
def test_interrupted_before_it_began(nimt, tmp_path, monkeypatch, command):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("nimt.sources.read_problem", interrupted)
    answer = nimt(*command)
    assert answer.code == 130 and answer.is_one_sentence() and "interrupted" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_a_comparison_that_cannot_be_drawn_keeps_its_lessons(nimt, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nimt.runs.Comparison.plot", full)
    answer = nimt("compare", "gmm", "--teachers", "greedy:1", "--iterations", "20", "--out", "run")
    assert answer.code == 2 and answer.is_one_sentence() and "No space left" in answer.err
    assert len(Lesson.load(tmp_path / "run" / "greedy-1-seed-0.npz")) == 20


def test_a_stopped_run_is_shown_as_far_as_it_went(server, tmp_path, until):
    folder = tmp_path / "part"
    stopped_with_two_checkpoints(server, folder, until)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    answer = server.run("show", folder, "--json")
    assert answer.code == 0, answer.err
    assert f"nimt resume {folder}" in answer.err
    assert 0 < json.loads(answer.out)["steps"] < STEPS
    assert "│" in server.run("show", folder).out
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_run_stopped_after_its_first_budget_is_shown_beyond_it(server, tmp_path, until):
    folder = tmp_path / "run"
    assert server.run("teach", "gmm", *FOREVER[:-4], "--iterations", 100, "--out", folder, undrawn=True).code == 0
    assert json.loads(server.run("show", folder, "--json").out)["steps"] == 100
    pid = server.start("resume", folder, "--iterations", 100_000_000, every=0.01, undrawn=True)
    written = (folder / "lesson.npz").stat().st_mtime_ns
    until(lambda: (folder / "lesson.npz.previous").exists() and newer(folder / "lesson.npz", written))
    assert server.kill(pid, signal.SIGINT).code == 130
    answer = server.run("show", folder, "--json")
    assert json.loads(answer.out)["steps"] > 100 and "nimt resume" in answer.err


def newer(path: Path, than: int) -> bool:
    return path.exists() and path.stat().st_mtime_ns > than


def test_the_lesson_is_written_before_anything_is_drawn(nimt, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("nimt.reports.lesson_page.write_lesson_report", interrupted)
        answer = nimt("teach", "gmm", "--learning-rate", "0.1", "--out", "run")
    assert answer.code == 130 and "the lesson is kept" in answer.err
    before = (tmp_path / "run" / "lesson.npz").read_bytes()
    assert Lesson.load(tmp_path / "run" / "lesson.npz").outcome is Outcome.CONVERGED
    assert nimt("resume", "run").code == 0
    assert (tmp_path / "run" / "report.html").exists()
    assert (tmp_path / "run" / "lesson.npz").read_bytes() == before


def test_a_run_has_one_file_from_which_it_goes_on(undrawn, nimt, tmp_path):
    answer = nimt("teach", "gmm", "--out", "over")
    assert answer.code == 0 and "go on with" not in answer.out
    assert sorted(path.name for path in (tmp_path / "over").glob("*npz*")) == ["lesson.npz"]
    answer = nimt("resume", "over", "--iterations", "30000")
    assert answer.code == 0 and "the lesson is over" in answer.err
    answer = nimt("teach", "gmm", "--iterations", "5", "--out", "more")
    assert "go on with: nimt resume more --iterations" in answer.out
    assert sorted(path.name for path in (tmp_path / "more").glob("*npz*")) == ["lesson.npz"]


@pytest.mark.parametrize("more", [False, True], ids=["over", "larger budget"])
def test_resume_reads_the_file_once_and_builds_one_task(undrawn, nimt, tmp_path, monkeypatch, more):
    from nimt.engines import choice as choosing
    from nimt.store import records
    from nimt.task.task import Task

    assert nimt("teach", "gmm", *GREEDY, "--iterations", "5", "--out", "run").code == 0
    calls = []

    def count(owner, name):
        before = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *args, **options: [calls.append(name), before(*args, **options)][1])

    for owner, name in ((records, "read"), (Task, "__init__"), (choosing, "choose")):
        count(owner, name)
    assert nimt("resume", "run", *(("--iterations", "9") if more else ())).code == 0
    assert sorted(calls) == (["__init__", "choose", "read"] if more else ["read"])
    assert len(Lesson.load(tmp_path / "run" / "lesson.npz")) == (9 if more else 5)


def test_a_damaged_lesson_is_refused_when_it_is_to_go_on(undrawn, nimt, tmp_path):
    assert nimt("teach", "gmm", "--iterations", "5", "--out", "run").code == 0
    flip(tmp_path / "run" / "lesson.npz")
    answer = nimt("resume", "run", "--iterations", "9")
    assert answer.code == 2 and answer.is_one_sentence() and "lesson.npz" in answer.err


def test_where_nothing_can_be_written_the_settings_stay(server, tmp_path):
    folder = tmp_path / "full"
    answer = server.run("teach", "gmm", *GREEDY, "--iterations", 500, "--out", folder, largest_file=2_000, undrawn=True)
    assert answer.code == 2 and "begin again with nimt resume" in answer.err
    assert [path.name for path in folder.iterdir()] == ["run.toml"]
    assert server.run("resume", folder, undrawn=True).code == 0
    assert len(Lesson.load(folder / "lesson.npz")) == 500


def test_a_refused_second_run_removes_nothing_of_the_first(undrawn, nimt, tmp_path, monkeypatch):
    """Both come to make the folder, the second makes it, the first gets the lock: what the first wrote stays."""
    folder = tmp_path / "run"
    held = []

    def slow(path):
        if not held:  # now the other run, which found the folder there, is faster
            held.append(hold(path))
            (folder / "run.toml").write_text("of the first run")
        return hold(path)

    monkeypatch.setattr("nimt.store.claims.hold", slow)
    answer = nimt("teach", "gmm", "--out", "run")
    held[0].release()
    assert answer.code == 2 and "another run is writing" in answer.err
    assert (folder / "run.toml").read_text() == "of the first run"


def test_a_folder_that_another_run_removes_meanwhile_is_made_again(undrawn, nimt, tmp_path, monkeypatch):
    removed = []

    def removed_before(path):
        if len(removed) < 2:
            (tmp_path / "run").rmdir()
            removed.append(path)
        return hold(path)

    monkeypatch.setattr("nimt.store.claims.hold", removed_before)
    assert nimt("teach", "gmm", "--iterations", "3", "--out", "run").code == 0
    assert len(removed) == 2 and (tmp_path / "run" / "lesson.npz").exists()


def test_what_was_made_for_a_run_that_never_began_is_removed(nimt, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("nimt.cli.teach.run_session", interrupted)
    assert nimt("teach", "gmm", "--out", "a/b/c").code == 130
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a").mkdir()
    assert nimt("teach", "gmm", "--out", "a/b/c").code == 130
    assert list((tmp_path / "a").iterdir()) == []


@pytest.mark.parametrize("lost", ["the newest", "both"])
def test_a_checkpoint_that_was_written_and_not_moved_is_taken_up(undrawn, nimt, tmp_path, lost):
    folder = tmp_path / "run"
    command = ("teach", "gmm", *GREEDY, "--iterations", "30")
    assert nimt(*command, "--out", "whole").code == 0
    assert nimt(*command, "--out", "run").code == 0
    (folder / "lesson.npz").rename(folder / "lesson.npz.next")  # the power went just now
    if lost == "both":
        (folder / "lesson.npz.previous").write_bytes(b"damaged")
        (folder / "lesson.npz").write_bytes(b"damaged")
    answer = nimt("resume", "run", "--quiet")
    assert answer.code == 0 and "begins again" not in answer.err and "warning" not in answer.err
    assert_same_lesson(tmp_path / "whole", folder)
    assert_tidy(folder)


def test_show_with_a_damaged_lesson_shows_the_one_before(undrawn, nimt, tmp_path):
    import shutil

    assert nimt("teach", "gmm", "--iterations", "5", "--out", "run").code == 0
    shutil.copy(tmp_path / "run" / "lesson.npz", tmp_path / "run" / "lesson.npz.previous")
    flip(tmp_path / "run" / "lesson.npz")
    answer = nimt("show", "run", "--json")
    assert answer.code == 0 and json.loads(answer.out)["steps"] == 5
    assert "warning" in answer.err and "lesson.npz.previous" in answer.err


@pytest.mark.parametrize("instead", ["nothing", "another folder", "a run"])
def test_a_folder_removed_while_the_lesson_ran(server, tmp_path, until, instead):
    import shutil

    folder = tmp_path / "here" / "run"
    folder.parent.mkdir()
    options = ("--from", "gmm:start", "--learning-rate", "1e-9", "--tol", "0", "--engine", "reference")
    pid = server.start(
        "teach", "gmm", *options, "--iterations", 20_000, "--out", folder, undrawn=True, cwd=str(tmp_path)
    )
    until((folder / "run.toml").exists)
    time.sleep(0.2)
    shutil.rmtree(folder)
    if instead == "another folder":
        folder.mkdir()
        (folder / "notes.txt").write_text("mine")
    elif instead == "a run":
        assert server.run("teach", "sine", "--iterations", 3, "--out", folder, undrawn=True).code == 0
    answer = server.wait(pid)
    assert answer.code == 0, answer.err
    assert "was removed or replaced while the lesson ran" in answer.err and "Traceback" not in answer.err
    assert len(Lesson.load(tmp_path / "nimt-run" / "lesson.npz")) == 20_000
    if instead == "a run":
        assert len(Lesson.load(folder / "lesson.npz")) == 3
        assert server.run("resume", folder, "--iterations", 5, undrawn=True).code == 0  # its checkpoint is its own
    elif instead == "another folder":
        assert (folder / "notes.txt").read_text() == "mine" and not (folder / "lesson.npz").exists()


def test_stopped_in_a_folder_that_was_removed_no_resume_is_suggested(server, tmp_path, until):
    import shutil

    folder = tmp_path / "run"
    pid = server.start("teach", "gmm", *FOREVER, "--out", folder)
    until((folder / "run.toml").exists)
    time.sleep(0.3)
    shutil.rmtree(folder)
    answer = server.kill(pid, signal.SIGINT)
    assert answer.code == 130
    assert "nothing to go on from" in answer.err and "nimt resume" not in answer.err
    assert not folder.exists()


def test_a_larger_budget_plans_the_memory_of_its_snapshots(undrawn, nimt, tmp_path):
    assert nimt("teach", "digit:0", "--every", "1", "--tol", "0", "--iterations", "10", "--out", "run").code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    answer = nimt("resume", "run", "--iterations", "900000")
    assert answer.code == 2 and answer.is_one_sentence() and "--every 1" in answer.err and "raise it" in answer.err
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
