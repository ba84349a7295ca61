"""How a value of a field of a recipe is read from text, TOML and JSON."""

from __future__ import annotations

import difflib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from nimt.schedules import PackSchedule

LARGEST_NUMBER = 2**63 - 1  # what TOML promises to keep
WORDS: dict[type, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
OTHERWISE = {"learning_rate": ", or auto", "tol": ", auto, or a share of the target's deviation such as 1%"}
NUMBER_OR_WORD = ("k", "learning_rate", "tol")  # text that may be a number


def convert(name: str, kind: type, value: Any, path: Path, known: tuple[str, ...]) -> Any:
    """Return the value of a field in a TOML file as its kind, or refuse it; the sentence names the file."""
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=3)
        there = f"did you mean {' or '.join(near)}?" if near else "nimt teach --help lists them, with _ for -"
        raise InvalidInput(f"{str(path)!r} sets {show(name)}, which is not a setting: {there}")
    if type(value) is int and abs(value) > LARGEST_NUMBER:
        raise InvalidInput(f"{str(path)!r} sets {name} to {show(value)}: a number has at most 63 bits")
    if kind is float and type(value) is int:
        return float(value)
    if name == "tol" and type(value) is float and not math.isfinite(value):
        raise InvalidInput(f"{str(path)!r} sets {name} = {show(value)}: it must be a number, or a share such as 1%")
    if name in NUMBER_OR_WORD and type(value) in (int, float):
        return repr(value)
    if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
        raise InvalidInput(f"{str(path)!r} sets {name} = {show(value)}: it must be {WORDS[kind]}")
    return value


def show(value: Any) -> str:
    """Return a value for a sentence: cut where it is long, and in words where Python will not write it out.

    Examples
    --------
    >>> show(7), show(10**60), show(1 << 60_000)
    ('7', '1000000000000000000000000000000000000000...', 'a number of 60001 bits')
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # Python refuses to write out more than some thousand digits
        return f"a number of {value.bit_length()} bits" if isinstance(value, int) else "a value that is too large"
    return text if len(text) <= 60 else f"{text[:40]}..."


def read_number(name: str, text: str) -> float:
    """Return the number that a text says, or refuse it by the name of its field."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(f"must be a number{OTHERWISE.get(name, '')}, got {text!r}", parameter=name)
    return number


def read_pack(text: str) -> int | float | PackSchedule:
    """Return k as a count or a share: "1" is one example, "1.0" the whole pool; or as a schedule.

    Examples
    --------
    >>> read_pack("1"), read_pack("0.05"), read_pack("1.0")
    (1, 0.05, 1.0)
    >>> str(read_pack("cosine:0.05:1.0")), str(read_pack("linear:1:20:500"))
    ('cosine(0.05, 1.0)', 'linear(1, 20, over=500)')
    """
    shape, *parts = text.split(":")
    if parts:
        from nimt import schedules

        make = getattr(schedules, shape) if shape in schedules.SHAPES else None
        if make is None or len(parts) not in (2, 3):
            problem = (
                f"as a schedule is shape:start:end or shape:start:end:steps, with the shape "
                f"{', '.join(schedules.SHAPES)}, got {text!r}"
            )
            raise InvalidInput(problem, parameter="k")
        start, end, *over = (_size(part) for part in parts)
        found: PackSchedule = make(start, end, over=over[0] if over else None)
        return found
    return _size(text)


def _size(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return read_number("k", text)
