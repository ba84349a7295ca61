"""TOML files of settings: read with limits, and written with paths as seen from their folder."""

from __future__ import annotations

import os
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


def write_line(name: str, value: Any, folder: Path | None = None) -> str:
    r"""Return a setting, or a list of its values, as a line of TOML; paths are as seen from a folder, or from here.

    Examples
    --------
    >>> print(write_line("loss", 'a "b"\n'), write_line("grey", True), write_line("width", [1.0, 1e-4]))
    loss = "a \"b\"\u000A" grey = true width = [1.0, 0.0001]
    """
    if isinstance(value, list):
        return f"{name} = [{', '.join(_value(_seen_from(folder, name, part)) for part in value)}]"
    return f"{name} = {_value(_seen_from(folder, name, value))}"


def _seen_from(folder: Path | None, name: str, value: Any) -> Any:
    """Return the path of a file as seen from a folder; the name of a function, and any other value, as it is."""
    if name not in PATHS or _is_known(value):
        return value
    try:
        path = Path(os.path.relpath(Path(value).absolute(), (folder or Path()).absolute())).as_posix()
    except ValueError:  # on another drive
        return str(Path(value).absolute())
    return f"./{path}" if _is_known(path) else path


def find_path(name: str, value: Any, file: Path) -> Any:
    """Return a path that a file of settings holds as seen from here, if it leads somewhere from the file's folder."""
    if name not in PATHS or not isinstance(value, str) or "\0" in value or _is_known(value):
        return value
    path = os.path.normpath(file.parent / value)
    return f"./{path}" if _is_known(path) else path if os.path.exists(path) else value


def _is_known(value: str) -> bool:
    from nimt.sources.functions import NAMES

    return value in NAMES or value in STARTS


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
