"""The command line has what Python has, and says where a lesson stands."""

import errno
import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import nimt as library
from nimt.cli.app import COMMANDS

pytestmark = pytest.mark.slow

SHORT = ("--learning-rate", "0.01", "--from", "gmm:start", "-q")


def lesson_in(folder):
    return library.Lesson.load(folder / "lesson.npz")


def test_the_orthogonal_learner_with_a_rule_of_interpolation(nimt, tmp_path):
    answer = nimt("teach", "gmm", "--learner", "orthogonal", "--teacher", "f/P", "-n", "25", "--tol", "0", "--out", "a")
    assert answer.code == 0, answer.err
    kernel = library.rbf(0.5)
    x = np.arange(-14, 14, 0.1)
    lesson = lesson_in(tmp_path / "a")
    assert isinstance(lesson.learner, library.learners.OrthogonalLearner)
    target, start = lesson.target, lesson.initial
    expected = library.teach(
        library.learners.OrthogonalLearner(kernel, initial=start),
        library.teachers.InterpolationTeacher("f/P", kernel=kernel),
        library.Grid(x), target, max_iterations=25, tol=None,
    )  # fmt: skip
    np.testing.assert_array_equal(lesson.indices, expected.indices)


def test_a_class_is_taught_and_repeated_from_its_file(nimt, tmp_path):
    asked = ("--teacher", "classroom", "--learner", "classroom", "--pupils", "rate=0.1:0.3", "--pupils", "start=0:1")
    answer = nimt("teach", "gmm", *asked, "-n", "30", "--tol", "0", "--out", "a")
    assert answer.code == 0, answer.err
    again = nimt("teach", "--config", "a/run.toml", "--figures", "none", "--out", "b")
    assert again.code == 0, again.err
    first, second = lesson_in(tmp_path / "a"), lesson_in(tmp_path / "b")
    assert first.learner.learning_rate == (0.1, 0.3) and first.initial[0].tolist() == [0.0, 1.0]
    np.testing.assert_array_equal(first.final, second.final)
    refused = nimt("teach", "gmm", "--teacher", "classroom", "--out", "c")
    assert refused.code == 2 and "add --learner classroom, or take --teacher omniscient" in refused.err


@pytest.mark.parametrize("option", [("--learning-rate", "0.1"), ("--loss", "huber")])
def test_the_orthogonal_learner_takes_neither_rate_nor_loss(nimt, tmp_path, option):
    answer = nimt("teach", "gmm", "--learner", "orthogonal", *option)
    assert answer.code == 2 and answer.is_one_sentence() and f"takes no {option[0]}" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_learner_is_refused(nimt):
    answer = nimt("teach", "gmm", "--learner", "forest")
    choices = "kernel, classroom, orthogonal, or package:Name"
    assert answer.code == 2 and f"--learner must be {choices}, got 'forest'" in answer.err


def test_patience(nimt, tmp_path):
    answer = nimt("teach", "gmm", "--teacher", "random", "--patience", "3", "-n", "3000", "--out", "a", "-q")
    assert answer.code == 0 and lesson_in(tmp_path / "a").outcome is library.lesson.Outcome.STALLED
    answer = nimt("teach", "gmm", "--patience", "0")
    assert answer.code == 2 and "--patience must be" in answer.err


def test_a_time_limit_stops_and_resume_goes_on(undrawn, nimt, tmp_path):
    common = ("teach", "cat", "--size", "32", "--engine", "reference", "-n", "4000", "--tol", "0")
    assert nimt(*common, "--out", "whole", "-q").code == 0
    answer = nimt(*common, "--time-limit", "0.05", "--out", "part")
    assert answer.code == 0, answer.err
    assert "go on with: nimt resume part" in answer.out
    stopped = lesson_in(tmp_path / "part")
    assert stopped.outcome is library.lesson.Outcome.TIME and 0 < len(stopped) < 4000
    assert nimt("resume", "part", "--time-limit", "600", "-q").code == 0
    again, whole = lesson_in(tmp_path / "part"), lesson_in(tmp_path / "whole")
    np.testing.assert_array_equal(again.discrepancy, whole.discrepancy)
    assert nimt("teach", "gmm", "--time-limit", "-1").code == 2


def test_colour_maps(nimt, tmp_path):
    answer = nimt("teach", "cat", "--size", "12", "-n", "20", "--cmap", "virids", "--out", "a")
    assert answer.code == 2 and answer.is_one_sentence() and "did you mean 'viridis'" in answer.err
    assert list(tmp_path.iterdir()) == []
    shades = {}
    for cmap in (None, "magma"):
        option = () if cmap is None else ("--cmap", cmap)
        assert (
            nimt("teach", "cat", "--grey", "--size", "12", "-n", "20", *option, "--out", f"run{cmap}", "-q").code == 0
        )
        shades[cmap] = (tmp_path / f"run{cmap}" / "panels.png").read_bytes()
    assert shades[None] != shades["magma"]


def test_a_stopped_run_leaves_figures_when_asked(nimt, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("nimt.reports.lesson_page.write_lesson_report", lambda lesson, folder, **_: [])
        assert nimt("teach", "gmm", *SHORT, "-n", "50", "--out", "a").code == 0
    assert not (tmp_path / "a" / "report.html").exists()
    answer = nimt("show", "a", "--figures")
    assert answer.code == 0, answer.err
    assert {"report.html", "panels.png", "curve.png", "lesson.gif"} <= {
        path.name for path in (tmp_path / "a").iterdir()
    }
    assert nimt("resume", "a", "-n", "60", "-q").code == 0 and len(lesson_in(tmp_path / "a")) == 60


def test_figures_need_the_folder_of_a_run(undrawn, nimt, tmp_path):
    assert nimt("teach", "gmm", *SHORT, "-n", "5", "--out", "a").code == 0
    answer = nimt("show", "a/lesson.npz", "--figures")
    assert answer.code == 2 and answer.is_one_sentence() and "name the folder" in answer.err


def test_a_smaller_budget_says_where_the_lesson_stands(undrawn, nimt, tmp_path):
    assert nimt("teach", "gmm", *SHORT, "-n", "50", "--out", "a").code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    answer = nimt("resume", "a", "-n", "20")
    assert answer.code == 0 and "the lesson stands at step 50, past 20: nothing was done" in answer.err
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    for option, said in (("-n", "--iterations must be"), ("--time-limit", "--time-limit must be")):
        answer = nimt("resume", "a", option, "-1")
        assert answer.code == 2 and answer.is_one_sentence() and said in answer.err
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    answer = nimt("resume", "a", "-n", "50")
    assert answer.code == 0 and "the lesson is over: the iteration budget ran out after 50 steps" in answer.err


def test_a_budget_may_be_lowered_while_the_lesson_is_below_it(tmp_path):
    path = tmp_path / "lesson.ckpt"
    learner, x = library.KernelLearner(library.rbf(0.5)), np.arange(9.0)
    args = (learner, library.GreedyTeacher(), x, np.sin)
    library.teach(*args, max_iterations=30, tol=None, snapshots=[0], checkpoint=path)
    library.resume(path, max_iterations=100, callback=lambda progress: True, snapshots=[40, 90])
    shorter = library.resume(path, max_iterations=50)
    alone = library.teach(*args, max_iterations=50, tol=None, snapshots=[0, 40])
    np.testing.assert_array_equal(shorter.discrepancy, alone.discrepancy)
    assert sorted(shorter.snapshots) == [0, 40]
    with pytest.raises(library.InvalidInput, match="stands at step 50: give at least that"):
        library.resume(path, max_iterations=49)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_examples_that_begin_with_the_program(nimt, command):
    answer = nimt(command, "--help")
    assert answer.code == 0 and "Examples:" in answer.out
    assert re.search(r"^\s*nimt [a-z]", answer.out.partition("Examples:")[2], re.MULTILINE)


INSTALLED = {"bash": ".bash_completions/nimt.sh", "zsh": ".zfunc/_nimt", "fish": ".config/fish/completions/nimt.fish"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder with nothing in it."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "")  # so that it is put back afterwards
    return folder


def installed(nimt, *shell):
    with pytest.raises(SystemExit) as ended:
        nimt("--install-completion", *shell)
    return ended.value.code


@pytest.mark.parametrize("shell", INSTALLED)
def test_completion_is_installed_for_the_shell_that_is_named(nimt, home, shell):
    assert installed(nimt, shell) == 0
    written = {name for name, place in INSTALLED.items() if (home / place).is_file()}
    assert written == {shell}
    assert "_NIMT_COMPLETE" in (home / INSTALLED[shell]).read_text()


def test_completion_for_a_shell_that_is_not_known_is_refused(nimt, home):
    answer = nimt("--install-completion", "ksh")
    assert answer.code == 2 and answer.is_one_sentence() and "'ksh'" in answer.err
    assert list(home.iterdir()) == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is needed")
@pytest.mark.long
def test_bash_completes_after_the_installation(nimt, home):
    """What bash does at the tab key: it calls the function of the installed script with the words of the line."""
    assert installed(nimt, "bash") == 0
    script = """
        source ~/.bashrc
        complete -p nimt || exit 3
        program="$HOME/nimt"
        COMP_WORDS=(nimt te); COMP_CWORD=1
        _nimt_completion "$program" && echo "commands: ${COMPREPLY[*]}"
        COMP_WORDS=(nimt teach --time); COMP_CWORD=2
        _nimt_completion "$program" && echo "options: ${COMPREPLY[*]}"
    """
    program = home / "nimt"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nimt "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == ["commands: teach teaching-set", "options: --time-limit"], done.stdout


# ---------------------------------------------------------------- refusals name the option that was given


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--probability", "nan"],
            "--probability says how often labels of another target are shown",
        ),
        (["--sight", "every=0"], "--sight cannot be used: every must be a whole number >= 1, got 0"),
        (["--sight", "foo=1"], "--sight must be made of noise=, delay=, every= and at=, got 'foo=1'"),
        (["--teacher-option", "labels=3"], "--teacher-option cannot be used: labels must be None or"),
        (["--nesterov"], "--nesterov looks ahead along the velocity: give --momentum, too"),
        (["--measure", ""], "--measure is empty: leave it out, or give a value"),
        (["--loss", ""], "--loss is empty: leave it out, or give a value"),
    ],
)
def test_a_refusal_names_the_option_that_was_given(nimt, tmp_path, options, said):
    answer = nimt("teach", "gmm", "-n", "1", "--figures", "none", "--out", tmp_path / "run", *options)
    assert answer.code == 2 and answer.is_one_sentence() and said in answer.err
    assert not (tmp_path / "run").exists()


# ---------------------------------------------------------------- forecasts


def test_a_lesson_without_end_is_taught_without_a_forecast(nimt, tmp_path):
    options = ("--learning-rate", "1e-320", "-n", "1", "--figures", "none", "--out", tmp_path / "run")
    answer = nimt("teach", "gmm", *options)
    assert answer.code == 0 and answer.err == ""


def test_a_forecast_offers_nothing_that_it_refuses(nimt):
    answer = nimt("forecast", "--help")
    for option in ("--loss", "--other-target", "--probability", "--every", "--engine", "--patience"):
        assert option not in answer.out
    assert "--quiet" in answer.out and "20000" not in answer.out


def test_a_quiet_forecast_says_the_forecast_only(nimt):
    answer = nimt("forecast", "gmm", "--from", "gmm:start", "--learning-rate", "0.1", "-q")
    assert answer.code == 0 and "steps" in answer.out and answer.err == ""


def test_a_forecast_looks_only_so_far(nimt):
    answer = nimt("forecast", "gmm", "--from", "gmm:start", "--learning-rate", "0.1", "-n", "20", "--json")
    assert json.loads(answer.out)["itd"] is None


@pytest.mark.parametrize("teacher", ["soft", "synthesis", "f/P"])
def test_refusals_of_a_forecast_speak_the_language_of_the_program(nimt, teacher):
    answer = nimt("forecast", "gmm", "--teacher", teacher)
    assert answer.code == 2 and answer.is_one_sentence()
    assert "nimt." not in answer.err and "Teacher" not in answer.err and "--teacher greedy" in answer.err


def test_a_forecast_of_colours_says_which_option_helps(nimt):
    answer = nimt("forecast", "cat", "--size", "8")
    if answer.code == 2:  # a picture in colour has three outputs
        assert "--grey" in answer.err and "nimt." not in answer.err


def test_a_full_disk_says_the_way_out(nimt, monkeypatch):
    def refuse(*given, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("nimt.cli.app.program", lambda names: refuse)
    answer = nimt("show", "run")
    assert answer.code == 2 and answer.is_one_sentence() and "make room on the disk" in answer.err
