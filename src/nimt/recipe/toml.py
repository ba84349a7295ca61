"""TOML files of settings: read with limits, and written so that they work from anywhere."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from nimt.errors import InvalidInput

LARGEST_CONFIG = 1 << 16  # bytes
MOST_DOTS = 250  # in a line of it
PATHS = ("target", "initial", "other_target")
STARTS = ("auto", "mean")  # that are no functions by themselves


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file whose values are not checked yet."""
    from nimt.datasets.places import readable_file

    path = readable_file(path, LARGEST_CONFIG)
    try:
        text = path.read_text(encoding="utf-8")
        deepest = max(text.splitlines(), key=lambda line: line.count("."), default="").count(".")
        if deepest > MOST_DOTS:  # a key of thousands of parts takes the parser minutes
            raise InvalidInput(f"{str(path)!r} has {deepest} dots in a line: settings are not nested")
        content = tomllib.loads(text)
    except InvalidInput:
        raise
    except (ValueError, RecursionError) as problem:  # ValueError: also of a number with thousands of digits
        raise InvalidInput(f"{str(path)!r} is not a TOML file: {str(problem)[:200]}") from None
    return content


def write_line(name: str, value: Any) -> str:
    r"""Return a setting, or a list of its values, as a line of TOML; paths become absolute.

    Examples
    --------
    >>> print(write_line("loss", 'a "b"\n'), write_line("grey", True), write_line("width", [1.0, 1e-4]))
    loss = "a \"b\"\u000A" grey = true width = [1.0, 0.0001]
    """
    if isinstance(value, list):
        return f"{name} = [{', '.join(_value(_absolute(name, part)) for part in value)}]"
    return f"{name} = {_value(_absolute(name, value))}"


def _absolute(name: str, value: Any) -> Any:
    """Return the path of a file from anywhere; the name of a function, and any other value, as it is."""
    from nimt.sources.functions import NAMES

    return str(Path(value).absolute()) if name in PATHS and value not in (*NAMES, *STARTS) else value


def _value(value: str | int | float | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InvalidInput(f"{value!r} is not UTF-8, and cannot be kept in run.toml: rename it, or the folder it is in")
    quoted = "".join(
        f"\\u{ord(letter):04X}" if ord(letter) < 32 or ord(letter) == 127 else letter
        for letter in value.replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{quoted}"'
