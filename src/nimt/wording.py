"""Sentences that are said in two ways: to a user of Python, and to a user of the program."""

from __future__ import annotations

from collections.abc import Callable

Watcher = Callable[[str], object]  # is told what is being done


def be_silent(sentence: str) -> None:
    """Ignore what is done."""


def begin_with(begin: str, watch: Watcher) -> Watcher:
    """Return what tells the same with a beginning: the larger part of the work.

    Examples
    --------
    >>> begin_with("split 1 of 3: ", print)("choosing rows")
    split 1 of 3: choosing rows
    """
    return lambda sentence: watch(f"{begin}{sentence}")


class Wording(str):
    """A sentence, or a part of one, in the words of Python; `in_program` says the same with options.

    Examples
    --------
    >>> advice = Wording("give loss='square'", "use --loss square")
    >>> print(advice), print(say_in_program(advice)), print(say_in_program("rescale it"))
    give loss='square'
    use --loss square
    rescale it
    (None, None, None)
    """

    __slots__ = ("in_program",)
    in_program: str

    def __new__(cls, in_python: str, in_program: str) -> Wording:
        made = super().__new__(cls, in_python)
        made.in_program = in_program
        return made

    def embed(self, before: str = "", after: str = "") -> Wording:
        """Return both in a sentence that is otherwise the same.

        Examples
        --------
        >>> Wording("size=", "--size").embed("give ", " a smaller number").in_program
        'give --size a smaller number'
        """
        return Wording(f"{before}{self}{after}", f"{before}{self.in_program}{after}")

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.in_program


def say_in_program(sentence: str) -> str:
    """Return a sentence in the words of the program, where it has others there."""
    return sentence.in_program if isinstance(sentence, Wording) else sentence
