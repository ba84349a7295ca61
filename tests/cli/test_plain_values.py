"""Plain values of options are read as typer reads them, and without what it loads for that."""

from __future__ import annotations

import subprocess
import sys
from typing import Annotated

import pytest
import typer

from nimt.cli.plain_values import PlainCommand

WORDS = ["3", "-3", "+7", "0012", "1_000", "1.0", "1.5", ".5", "5.", "1e3", "1e-3", "-1E+2", "inf", "nan", "", " 4 ",
         "x", "٣", "9" * 18, "9" * 40, "9" * 5000, "1e999", "0x10", "1e", "--"]  # fmt: skip


def commands():
    """Two commands with one option of each kind, by typer alone and with plain values."""
    for kind in (None, PlainCommand):
        app = typer.Typer()

        @app.command(cls=kind)
        def one(
            text: Annotated[str | None, typer.Option()] = None,
            count: Annotated[int | None, typer.Option()] = None,
            size: Annotated[float | None, typer.Option()] = None,
            many: Annotated[list[str] | None, typer.Option()] = None,
            small: Annotated[int, typer.Option(min=0, max=5)] = 1,
            flag: Annotated[bool | None, typer.Option("--flag/--no-flag")] = None,
            rest: Annotated[list[str] | None, typer.Argument()] = None,
        ) -> None: ...

        yield typer.main.get_command(app)


def read(command, words):
    try:
        return {name: repr(value) for name, value in command.make_context("one", list(words)).params.items()}
    except Exception as error:
        return error.format_message() if hasattr(error, "format_message") else str(error)


@pytest.mark.parametrize("option", ["--text", "--count", "--size", "--many", "--small"])
@pytest.mark.parametrize("word", WORDS, ids=lambda word: ascii(word[:20]))
def test_a_value_is_read_as_typer_reads_it(option, word):
    usual, plain = (read(command, [option, word]) for command in commands())
    if isinstance(usual, str) and usual.startswith("Invalid value") and option in ("--count", "--size"):
        assert plain == f"{option} must be {'a whole number' if option == '--count' else 'a number'}, got {word!r}"
    else:
        assert plain == usual


@pytest.mark.parametrize("words", [[], ["a", "b"], ["--many", "a", "--many", "b"], ["--flag"], ["--no-flag", "c"]])
def test_missing_and_repeated_values_are_read_as_typer_reads_them(words):
    usual, plain = (read(command, words) for command in commands())
    assert plain == usual


def test_a_command_with_plain_values_loads_neither_pydantic_nor_other_commands():
    script = """
import sys
from nimt.cli.app import run
code = run(["teach", "no-such-file.png", "--seed", "3", "--width", "0.5", "-k", "1"])
loaded = {"pydantic", "importlib.metadata", "nimt.cli.sweep", "nimt.cli.studio"} & set(sys.modules)
sys.exit(f"{code} {loaded}")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "2 set()"
