"""What a page sends, read from JSON: an object of texts and numbers, or a sentence that says what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

from nimt.errors import InvalidInput

DEEPEST = 8  # objects and lists in one another; a page sends five
MOST_DIGITS = 9  # of a number in a form or an address
LARGEST_REQUEST_NUMBER = 2**53  # up to which a page counts exactly


def read_message(text: str | bytes) -> dict[str, Any]:
    """Read a message, or refuse it in a sentence.

    Examples
    --------
    >>> read_message('{"type": "ack"}')
    {'type': 'ack'}
    """
    try:
        message = json.loads(text, parse_constant=_refuse_constant)
        _check(message, DEEPEST)
    except InvalidInput:
        raise
    except (ValueError, RecursionError):  # ValueError: also of a number with thousands of digits
        raise InvalidInput("this message is no JSON, or holds a number of thousands of digits") from None
    if not isinstance(message, dict):
        raise InvalidInput("a message must be an object")
    return message


def number_of_request(message: dict[str, Any]) -> int | None:
    """Return the number by which a page knows the answer again, None where it has none."""
    number = message.get("request")
    return number if type(number) is int and 0 <= number <= LARGEST_REQUEST_NUMBER else None


def whole_number(given: Any) -> int | None:
    """Return the whole number that a form or an address writes in few digits, None where it is something else.

    Examples
    --------
    >>> whole_number("96"), whole_number("9" * 5000), whole_number("-1")
    (96, None, None)
    """
    is_one = isinstance(given, str) and given.isascii() and given.isdecimal() and len(given) <= MOST_DIGITS
    return int(given) if is_one else None


def _refuse_constant(name: str) -> None:
    raise InvalidInput(f"a message holds {name}, which is no number of JSON")


def _check(value: Any, levels: int) -> None:
    """Refuse what could not be written into an answer: text that is no Unicode, and nests without end."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidInput("a message holds half a letter: its text is no Unicode") from None
    elif isinstance(value, list | dict):
        if levels == 0:
            raise InvalidInput(f"a message holds lists or objects more than {DEEPEST} deep")
        for part in value:
            if not isinstance(part, float):  # a drawing is a list of a million of them
                _check(part, levels - 1)
        if isinstance(value, dict):
            for part in value.values():
                _check(part, levels - 1)
