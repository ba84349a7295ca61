"""The result of a game as letters that can be read out, typed and checked: which game, and what was shown."""

from __future__ import annotations

from collections.abc import Sequence

from nimt.errors import InvalidInput

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without I, L, O and U, which are taken for others
LOOKALIKES = str.maketrans({"I": "1", "L": "1", "O": "0"})
GAME_BITS = 16
CHECK = 32749  # the largest prime below 2^15: one letter that is wrong, or two that changed places, are noticed
CHECK_BITS = 15
GROUP = 4  # letters between two dashes


def write_code(game: int, shown: Sequence[int], points: int) -> str:
    """Return the code of a game in which these points of so many were shown.

    Examples
    --------
    >>> write_code(7, [3, 1, 4], points=10)
    '000W-RMWR-M'
    """
    bits = (points - 1).bit_length()
    number = game
    for point in shown:
        number = (number << bits) | int(point)
    number = (number << CHECK_BITS) | number % CHECK
    letters = ""
    for _ in range(_length(len(shown), bits)):
        number, last = divmod(number, 32)
        letters = LETTERS[last] + letters
    return "-".join(letters[at : at + GROUP] for at in range(0, len(letters), GROUP))


def read_code(code: str, game: int, clicks: int, points: int) -> list[int]:
    """Return the points that a code holds, or refuse it: damaged, or of another game.

    Examples
    --------
    >>> read_code("ooow rmwr m", 7, clicks=3, points=10)
    [3, 1, 4]
    """
    letters = "".join(code.upper().translate(LOOKALIKES).replace("-", " ").split())
    bits = (points - 1).bit_length()
    shown_code = repr(code[:60])
    if len(letters) != _length(clicks, bits) or any(letter not in LETTERS for letter in letters):
        raise InvalidInput(f"{shown_code} is no code of this challenge: copy it again, as a whole")
    number = 0
    for letter in letters:
        number = 32 * number + LETTERS.index(letter)
    number, check = divmod(number, 1 << CHECK_BITS)
    if number % CHECK != check:
        raise InvalidInput(f"{shown_code} is damaged: copy it again, as a whole")
    shown: list[int] = []
    for _ in range(clicks):
        number, point = divmod(number, 1 << bits)
        shown.insert(0, point)
    if number != game:
        raise InvalidInput(f"{shown_code} is of another challenge: name the target and the options it was made with")
    if max(shown) >= points:
        raise InvalidInput(f"{shown_code} is damaged: copy it again, as a whole")
    return shown


def _length(clicks: int, bits: int) -> int:
    return -(-(GAME_BITS + clicks * bits + CHECK_BITS) // 5)
