"""What reaches the terminal: no orders from a file, no letter it does not have, and no end when it goes away."""

from __future__ import annotations

import importlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from nimt.cli import app
from nimt.cli.console import complain, say
from nimt.cli.terminal_progress import progress_bar
from nimt.cli.written_results import print_table
from nimt.recipe.toml import LARGEST_CONFIG

pytestmark = pytest.mark.long

ORDER = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"  # a title, a cleared screen, a colour, and letters from right to left
ORDERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def started(*arguments: object, **how: object) -> subprocess.CompletedProcess[bytes]:
    """Run the program in a process of its own, with streams of its own."""
    command = [sys.executable, "-m", "nimt", *map(os.fspath, map(str, arguments))]
    how.setdefault("stdout", subprocess.PIPE)
    how.setdefault("stderr", subprocess.PIPE)
    return subprocess.run(command, timeout=120, check=False, **how)  # type: ignore[call-overload, no-any-return]


def assert_silent(answer) -> None:
    """Nothing but printable text, tabs and ends of lines."""
    assert not ORDERS.search(answer.out + answer.err), ascii(answer.out + answer.err)
    assert "Traceback" not in answer.err


@pytest.mark.usefixtures("undrawn")
class TestNoOrdersReachIt:
    def test_in_the_name_of_a_picture(self, nimt, tmp_path):
        Image.fromarray(np.arange(200 * 200).reshape(200, 200).astype(np.uint8)).save(tmp_path / f"{ORDER}.png")
        for command in (("teach", f"{ORDER}.png", "--iterations", "3"), ("plan", f"{ORDER}.png")):
            answer = nimt(*command)
            assert answer.code == 0 and "shrunk" in answer.err
            assert_silent(answer)
        assert_silent(nimt("teach", f"{ORDER}-missing.png"))

    def test_in_the_header_of_a_table(self, nimt, tmp_path):
        (tmp_path / "a.csv").write_text(f"x,{ORDER},y\n1,2,3\n4,5,6\n", encoding="utf-8")
        answer = nimt("teach", "a.csv", "--iterations", "3", "--width", "9")
        assert answer.code == 0 and "features" in answer.err
        assert_silent(answer)
        assert_silent(nimt("teach", "a.csv", "--features", "z"))

    def test_in_the_cells_of_a_table(self, nimt, tmp_path):
        (tmp_path / "a.csv").write_text(f"x,y\n1,{ORDER}\n4,5\n", encoding="utf-8")
        assert_silent(nimt("teach", "a.csv"))

    def test_in_the_names_of_arrays(self, nimt, tmp_path):
        np.savez(tmp_path / "a.npz", **{ORDER: np.zeros(3), "b": np.ones(3)})
        answer = nimt("teach", "a.npz")
        assert answer.code == 2
        assert_silent(answer)

    def test_in_the_name_of_the_folder(self, nimt):
        for command in (
            ("teach", "gmm", "--iterations", "3", "--out", f"run{ORDER}"),
            ("show", f"run{ORDER}"),
            ("resume", f"run{ORDER}"),
            ("teach", "gmm", "--out", f"run{ORDER}"),
            ("demo", "--out", f"demo{ORDER}"),
        ):
            answer = nimt(*command)
            assert answer.code == (2 if command[0] == "teach" and len(command) == 4 else 0), answer.err
            assert_silent(answer)

    @pytest.mark.parametrize(
        "option", ["--kernel", "--teacher", "--loss", "--learning-rate", "-k", "--width", "--from"]
    )
    def test_in_an_option(self, nimt, option):
        answer = nimt("teach", "gmm", option, ORDER)
        assert answer.code == 2 and answer.is_one_sentence()
        assert_silent(answer)

    def test_in_a_lesson(self, nimt, tmp_path):
        import nimt as library

        class Teacher(library.Teacher):
            def select(self, view):
                return view.show(0)

        Teacher.__name__ = Teacher.__qualname__ = f"Teacher{ORDER}"
        learner = library.KernelLearner(library.rbf(1.0))
        lesson = library.teach(learner, Teacher(), [0.0, 1.0], [1.0, 2.0], max_iterations=3, tol=None)
        lesson.save(tmp_path / "lesson.npz")
        for command in (("show", "lesson.npz"), ("show", "lesson.npz", "--json")):
            answer = nimt(*command)
            assert answer.code == 0
            assert_silent(answer)

    @pytest.mark.sampled(4)
    def test_in_settings(self, nimt, tmp_path):
        escaped = "".join(f"\\u{ord(letter):04x}" for letter in ORDER)
        (tmp_path / "a.toml").write_text(f'target = "gmm"\n"{escaped}" = 3\n')
        answer = nimt("teach", "--config", "a.toml")
        assert answer.code == 2 and answer.is_one_sentence()
        assert_silent(answer)


def test_brackets_in_a_title_are_no_markup(monkeypatch, capsys):
    monkeypatch.setattr("nimt.cli.console.Unbroken.isatty", lambda stream: True)
    with progress_bar("a[/b]c[red]{x}{", shown=True) as watcher:
        watcher(SimpleNamespace(step=1, max_iterations=9, discrepancy=0.5, outcome=None, letter="M", in_per_cent=False))
    assert "a[/b]c[red]{x}{" in capsys.readouterr().err


NOT_UTF8 = os.fsdecode(b"caf\xe9")


class TestLettersItDoesNotHave:
    @pytest.mark.parametrize("ending", [".png", ".npy", ".csv", ""])
    def test_a_file_name_that_is_not_utf8(self, nimt, tmp_path, ending):
        (tmp_path / f"{NOT_UTF8}{ending}").write_bytes(b"x,y\n1,2\n3,4\n")
        for command in (
            ("teach", f"{NOT_UTF8}{ending}"),
            ("teach", "gmm", "--from", f"{NOT_UTF8}{ending}"),
            ("teach", "gmm", "--config", f"{NOT_UTF8}{ending}"),
            ("show", f"{NOT_UTF8}{ending}"),
            ("teach", "gmm", "--out", f"run{NOT_UTF8}"),
            ("resume", f"run{NOT_UTF8}"),
            ("compare", "gmm", "--out", f"run{NOT_UTF8}"),
        ):
            answer = nimt(*command)
            assert answer.code == 2 and answer.is_one_sentence(), (command, answer)
            assert "caf\\udce9" in answer.err
        assert len(list(tmp_path.iterdir())) == 1

    def test_a_folder_above_that_is_not_utf8(self, nimt, tmp_path, monkeypatch):
        (tmp_path / NOT_UTF8).mkdir()
        monkeypatch.chdir(tmp_path / NOT_UTF8)
        np.save("a.npy", np.arange(9.0))
        for command in (("teach", "a.npy"), ("compare", "a.npy")):
            answer = nimt(*command)
            assert answer.code == 0, answer.err  # run.toml names the file from its own folder
        assert len(os.listdir()) == 3

    def test_a_column_that_is_not_utf8(self, nimt, tmp_path):
        (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
        answer = nimt("teach", "a.csv", "--features", f"x,{NOT_UTF8}")
        assert answer.code == 2 and answer.is_one_sentence()

    def test_an_ascii_terminal(self, server, tmp_path):
        plain = {"ascii": True, "cwd": str(tmp_path)}
        (tmp_path / "é.csv").write_text("é,y\n1,2\n3,4\n", encoding="utf-8")
        done = server.run("teach", "é.csv", "--iterations", "3", "--out", "run", **plain)
        assert done.code == 0, done.err
        assert (done.out + done.err).isascii() and "\\xe9" in done.err
        done = server.run("show", "run", **plain)
        assert done.code == 0, done.err
        assert done.out.isascii() and "|" in done.out and "#" in done.out and "\\u" not in done.out
        strict = os.environ | {"PYTHONIOENCODING": "ascii:strict"}
        assert started("teach", "--help", env=strict).returncode == 0


def closed(number: int):
    return lambda: os.close(number)


class TestStreamsThatAreGone:
    @pytest.mark.parametrize(
        "command", [("--version",), ("--help",), ("plan", "gmm"), ("teach", "gmm", "--out", "run")]
    )
    def test_standard_output_is_closed(self, tmp_path, command):
        done = started(*command, cwd=tmp_path, preexec_fn=closed(1))
        assert done.returncode == 2
        assert done.stderr.decode().splitlines() == [
            "nimt: error: standard output is closed: send it to a file, or to /dev/null"
        ]
        assert list(tmp_path.iterdir()) == []

    def test_standard_error_is_closed(self, server, tmp_path):
        done = server.run("teach", "gmm", "--iterations", "3", "--out", "run", cwd=str(tmp_path), closed=[2])
        assert done.code == 0
        assert (tmp_path / "run" / "report.html").exists()
        assert started("teach", "gmm", "--iterations", "ten", preexec_fn=closed(2)).returncode == 2

    def test_all_of_them_are_closed(self, tmp_path):
        def all_closed():
            for number in (0, 1, 2):
                os.close(number)

        done = started("plan", "gmm", cwd=tmp_path, preexec_fn=all_closed)
        assert done.returncode == 2

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full device is needed")
    @pytest.mark.parametrize("how", [{}, {"unbuffered": True}], ids=["buffered", "unbuffered"])
    def test_standard_output_is_full(self, server, how):
        done = server.run("plan", "gmm", full=1, **how)
        assert done.code == 2
        assert "No space left" in done.err and len(done.err.splitlines()) == 1

    @pytest.mark.parametrize("how", ["full", "unread"])
    def test_standard_error_vanishes_and_the_lesson_goes_on(self, server, tmp_path, how):
        done = server.run("teach", "gmm", "--iterations", "30", "--out", "run", cwd=str(tmp_path), **{how: 2})
        assert done.code == 0
        assert (tmp_path / "run" / "report.html").exists()

    @pytest.mark.parametrize("how", ["a full device", "nobody reads"])
    def test_standard_error_vanishes_and_the_code_is_that_of_the_mistake(self, how):
        """Python tries to write the sentence once more when it ends, which changes nothing."""
        if how == "nobody reads":
            reading, writing = os.pipe()
            os.close(reading)
        else:
            writing = os.open("/dev/full", os.O_WRONLY)
        try:
            assert started("teach", "gmm", "--iterations", "ten", stderr=writing).returncode == 2
        finally:
            os.close(writing)

    @pytest.mark.parametrize("ends", [False, True], ids=["goes on after nohup", "stops as by Ctrl-C"])
    def test_the_terminal_goes_away(self, server, tmp_path, ends):
        """A bar is drawn on a terminal, and the terminal is closed under it."""
        terminal, side = os.openpty()
        command = ("teach", "gmm", "--learning-rate", "1e-9", "--tol", "0", "--engine", "reference", "--out", "run")
        iterations = ("--iterations", "1000000000" if ends else "20000")
        how = {"terminal": os.ttyname(side), "hears_hangup": ends, "cwd": str(tmp_path)}
        pid = server.start(*command, *iterations, **how)
        seen = b""
        while b"steps/s" not in seen:
            seen += os.read(terminal, 1000)
        os.close(side)
        os.close(terminal)
        assert server.wait(pid).code == (130 if ends else 0)
        assert (tmp_path / "run" / ("lesson.npz" if ends else "report.html")).exists()


NUMBERS = {
    "400 digits": "9" * 400,
    "5,000 digits": "9" * 5000,
    "400 digits and a point": "9" * 400 + ".0",
    "5,000 digits and a point": "9" * 5000 + ".5",
    "hexadecimal": "0x" + "f" * 5000,
    "a list of them": "[0x" + "f" * 5000 + "]",
    "a table of them": "{a = 0x" + "f" * 5000 + "}",
    "a large exponent": "1e99999",
    "just too large": str(2**63),
    "negative": "-" + "9" * 400,
}


class TestNumbersThatAreTooLarge:
    @pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
    @pytest.mark.parametrize(
        "name", ["size", "iterations", "seed", "every", "tol", "width", "k", "learning_rate", "target"]
    )
    def test_in_settings(self, nimt, tmp_path, name, number):
        target = "" if name == "target" else 'target = "gmm"\n'
        (tmp_path / "a.toml").write_text(f"{target}{name} = {number}\n")
        answer = nimt("teach", "--config", "a.toml", "--quiet", "--out", "run")
        if name in ("tol", "width", "learning_rate") and number == str(2**63):
            return  # a large number, and none too large
        assert answer.code == 2 and answer.is_one_sentence(), answer
        assert len(answer.err) < 1000
        assert [path.name for path in tmp_path.iterdir()] == ["a.toml"]

    @pytest.mark.parametrize(
        "command",
        [
            ("teach", "cat", "--size", "3000000000"),
            ("teach", "cat", "--size", "100000"),
            ("plan", "digit:0", "--size", "9" * 400),
            ("teach", "gmm", "--iterations", "9" * 400),
            ("teach", "gmm", "--iterations", "9" * 5000),
            ("teach", "gmm", "--seed", "9" * 400),
            ("teach", "gmm", "--every", "9" * 400),
            ("teach", "gmm", "-k", "9" * 400),
            ("teach", "gmm", "-k", "9" * 5000),
            ("teach", "gmm", "--learning-rate", "9" * 5000),
            ("teach", "gmm", "--width", "9" * 5000),
            ("teach", "gmm", "--every", "1", "--iterations", str(2**62)),
            ("compare", "gmm", "--seeds", "3000000000"),
            ("compare", "gmm", "--seeds", "9" * 400),
            ("compare", "gmm", "--teachers", "greedy:" + "9" * 5000),
        ],
        ids=lambda command: " ".join(command)[:40],
    )
    def test_in_options(self, nimt, tmp_path, command):
        answer = nimt(*command)
        assert answer.code == 2 and answer.is_one_sentence(), answer
        assert list(tmp_path.iterdir()) == []

    def test_settings_that_are_too_long(self, nimt, tmp_path):
        (tmp_path / "a.toml").write_text("#" * (LARGEST_CONFIG + 1))
        answer = nimt("teach", "--config", "a.toml")
        assert answer.code == 2 and answer.is_one_sentence()


@pytest.mark.parametrize(
    "kernel",
    [
        "RBF(())", "RBF([])", "RBF(((1, 2), (3, 4)))", "RBF(('fixed',))", "RBF(RBF(1))", "RBF((RBF(1),))",
        "RationalQuadratic((1, 2))", "Matern((), nu=())", "ConstantKernel(())", "DotProduct(())", "rbf(())",
        "Wendland(())", "linear(())", "RBF('fixed')", "RBF(1, ())", "RBF(1, length_scale_bounds=())",
    ],
)  # fmt: skip
def test_kernels_with_lists_in_them(nimt, tmp_path, kernel):
    answer = nimt("teach", "gmm", "--kernel", kernel, "--out", "run", "--iterations", "2", "--quiet")
    assert answer.code == 2 and answer.is_one_sentence(), answer
    assert list(tmp_path.iterdir()) == []


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("columns", [60, 200])
def test_sentences_are_wrapped_between_words_at_80_columns_at_most(monkeypatch, columns):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    sentence = "the learning rate is too large for this kernel " * 6
    complain(sentence)
    lines = terminal.getvalue().splitlines()
    assert len(lines) > 3 and max(map(len, lines)) <= min(80, columns)
    assert " ".join(terminal.getvalue().split()) == f"nimt: error: {sentence.strip()}"


SAYS_FIRST = """
import sys
from nimt.cli import console
class Terminal:
    encoding = "utf-8"
    def isatty(self): return True
    def fileno(self): return 2
    def flush(self): pass
    def write(self, text):
        if text.strip():
            print("numpy" in sys.modules, text.strip())
            raise SystemExit
console.stderr = Terminal
sys.argv = ["nimt", *sys.argv[1:]]
from nimt.cli.app import run
run(sys.argv[1:])
"""


@pytest.mark.parametrize(
    "arguments",
    [["teach", "sine"], ["reproduce", "--list"], ["sweep", "study.toml"], ["show", "run"], ["suspects", "rows.csv"]],
    ids=" ".join,
)
def test_something_is_said_before_anything_heavy_is_loaded(arguments, tmp_path):
    """To load numpy takes most of a second where a disk is slow."""
    done = subprocess.run([sys.executable, "-c", SAYS_FIRST, *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.startswith("False nimt:"), done.stdout + done.stderr


def test_every_command_says_at_once_what_it_does(monkeypatch):
    """Once for all of them, before they load anything; not to a file, and not where silence was asked for."""
    said = []
    monkeypatch.setattr(app, "announce", lambda sentence, *, quiet: said.append((sentence, quiet)))
    for name in app.COMMANDS:
        assert importlib.import_module(f"nimt.cli.{name.replace('-', '_')}").DOING
    app._accompany(lambda **given: said.append(given), "reading the run")(quiet=True)
    app._accompany(lambda **given: said.append(given), "reading the run")(run="here")
    assert said == [("reading the run", True), {"quiet": True}, ("reading the run", False), {"run": "here"}]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_results_are_wrapped_at_a_terminal_alone_and_drawings_are_left(monkeypatch, is_terminal):
    out = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setenv("COLUMNS", "200")
    sentence, drawing = "written to run: " + "lesson.npz, " * 12, "  │" + "·" * 90
    say(sentence)
    say(drawing)
    *lines, last = out.getvalue().splitlines()
    assert last == drawing and " ".join(" ".join(lines).split()) == sentence.strip()
    assert max(map(len, lines)) <= 80 if is_terminal else len(lines) == 1


def test_a_table_in_a_narrow_terminal_loses_no_column_and_breaks_no_number(monkeypatch, capsys):
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    monkeypatch.setenv("COLUMNS", "80")
    line = ["width=0.5", "random:1", "2", "0 of 2 reached it", "0.0009809 ± 1.1e-05", "0.00332"]
    print_table(["learner", "teacher", "seeds", "steps", "discrepancy at the end", "seconds per lesson"], [line] * 2)
    words = capsys.readouterr().out.split()
    assert all(words.count(word) >= 2 for cell in line for word in cell.split())


def test_columns_move_together_before_words_are_broken(monkeypatch, capsys):
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    monkeypatch.setenv("COLUMNS", "80")
    line = ["random:0.05", "5", "336 (319 to 351)", "0.000996", "4,707", "280", "0.00139"]
    print_table(["teacher", "seeds", "steps", "M at end", "examples", "points", "seconds"], [line])
    assert any("336 (319 to 351)" in row for row in capsys.readouterr().out.splitlines())


def test_the_root_mean_square_is_called_so(nimt, tmp_path):
    said = nimt("teach", "sine", "--measure", "rms", "--iterations", "5", "--out", tmp_path / "run")
    assert "RMS" in said.out and "discrepancy" not in said.out and "M =" not in said.out
