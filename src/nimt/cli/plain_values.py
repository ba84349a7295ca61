"""The values of options, read without pydantic where they are plain: typer loads it for every command, for 0.15 s."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from nimt.errors import InvalidInput

WHOLE, NUMBER = r"[+-]?[0-9]{1,18}", r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"  # others are left to typer
READ: dict[Any, Callable[[Any], Any]] = {
    str: lambda text: text if isinstance(text, str) else None,
    int: lambda text: int(text) if isinstance(text, str) and re.fullmatch(WHOLE, text) else None,
    float: lambda text: float(text) if isinstance(text, str) and re.fullmatch(NUMBER, text) else None,
    list[str]: lambda texts: list(texts) if all(isinstance(text, str) for text in texts) else None,
}
KINDS: dict[Any, str] = {int: "a whole number", float: "a number"}


class PlainCommand(TyperCommand):
    """A command that reads plain values itself."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options of the command, and --help."""
        return _read_plainly(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """A group of commands that reads the plain values of its own options itself."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options before a command, and --help."""
        return _read_plainly(super().get_params(ctx))


def _read_plainly(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if "process_value" not in vars(parameter):
            parameter.process_value = functools.partial(_process, parameter, parameter.process_value)
    return parameters


def _process(parameter: Any, usual: Callable[..., Any], context: Any, value: Any) -> Any:
    """Return the value of an option as typer does, which reads what is not plain, and says what is wrong with it."""
    if value is None and not parameter.required:
        read = () if parameter.multiple or parameter.nargs == -1 else None
    else:
        read = _read(getattr(parameter, "type_descriptor", None), value)
        if read is None:
            return _read_by_typer(parameter, usual, context, value)
    return read if parameter.callback is None else parameter.callback(context, parameter, read)


def _read_by_typer(parameter: Any, usual: Callable[..., Any], context: Any, value: Any) -> Any:
    """Return the value as typer reads it; of what is no number, our sentence."""
    try:
        return usual(context, value)
    except typer.BadParameter:
        described = getattr(parameter, "type_descriptor", None)
        info = getattr(described, "parameter_info", None)
        kind = KINDS.get(getattr(described, "annotation", None))
        if kind is None or info is None or info.min is not None or info.max is not None:
            raise
        raise InvalidInput(f"must be {kind}, got {value!r}", parameter=parameter.opts[0]) from None


def _read(described: Any, value: Any) -> Any:
    """Return a plain value of its type; None where it is not plain, or where more is asked of it than its type."""
    info = getattr(described, "parameter_info", None)
    if value is None or info is None or described.annotation not in READ:
        return None
    if described.is_choice or described.is_path or info.min is not None or info.max is not None:
        return None
    return READ[described.annotation](value)
