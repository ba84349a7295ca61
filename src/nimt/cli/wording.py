"""Sentences of the library in the words of the program: options for parameters, and nothing only Python can give."""

from __future__ import annotations

import re

FLAGS = {"max_iterations": "--iterations", "learning_rate": "--learning-rate", "k": "-k", "teachers": "--teachers"} | {
    name: f"--{name}"
    for name in (
        "tol", "pool", "seed", "seeds", "measure", "probability", "engine", "width", "loss", "normalise", "every",
        "size", "iterations", "teacher", "duplicates", "learning-rate",
    )
}  # fmt: skip
ABOUT_A_PARAMETER = re.compile(rf"^({'|'.join(map(re.escape, FLAGS))})(?= must be | is |=)")
ONLY_IN_PYTHON = (
    " or None",
    ", a callable of the step",
    ", a boolean mask or indices",
    ", nimt.RandomFeatures() or nimt.Nystroem()",
)


def in_words_of_the_program(sentence: str) -> str:
    """Return a sentence about a parameter as one about the option it came from; all others stay as they are.

    Examples
    --------
    >>> in_words_of_the_program("tol must be a finite number >= 0 or None, got -1.0")
    '--tol must be a finite number >= 0, got -1.0'
    >>> in_words_of_the_program("learning_rate='auto' needs a loss")
    '--learning-rate auto needs a loss'
    """
    found = ABOUT_A_PARAMETER.match(sentence)
    if found is None:
        return sentence
    rule, got, value = sentence[found.end() :].partition(", got ")
    for words in ONLY_IN_PYTHON:
        rule = rule.replace(words, "")
    return FLAGS[found[1]] + re.sub(r"^='(\w+)'", r" \1", rule) + got + value
