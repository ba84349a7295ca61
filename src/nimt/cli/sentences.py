"""Sentences of the library in the words of the program: options for parameters, and nothing only Python can give."""

from __future__ import annotations

import re

FLAGS = {
    "max_iterations": "--iterations", "learning_rate": "--learning-rate", "time_limit": "--time-limit", "k": "-k",
    "teachers": "--teachers",
} | {
    name: f"--{name}"
    for name in (
        "tol", "pool", "patience", "cmap", "learner", "seed",
        "seeds", "measure", "probability", "engine", "width", "loss", "normalise", "every",
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


# what the library recommends in Python, and the same for the program; the longer ones first
IN_PYTHON = {
    "every teacher with true labels has the lower bound nimt.forecast(learner, nimt.GreedyTeacher(), ...).bounds[0]": (
        "the lower bound that nimt forecast --teacher greedy proves holds for every teacher with true labels"
    ),
    "nimt.GreedyTeacher() with a learner of learning rate": "--teacher greedy with --learning-rate",
    "nimt.GreedyTeacher(k=1.0)": "--teacher whole",
    "nimt.GreedyTeacher()": "--teacher greedy",
    "for another learner teach a few steps with nimt.teach and time_limit=": "for another one try --time-limit",
    "what holds for it is nimt.theory.largest_loss_bound, where the largest loss is shown": "give --loss square",
    "without labels= it says": "without --other-target it says",
    "forecast each column": "give --grey for the brightness of a picture, or one column of a table",
    "there is no forecast for packs or looks by a schedule: forecast the largest and smallest k": (
        "there is no forecast for packs that change: give -k one number"
    ),
}
A_CLASS = re.compile(r"\b(Greedy|Random|Soft|Synthesis|Interpolation|Uncertainty|Mixed)Teacher\b")


def in_words_of_the_program(sentence: str) -> str:
    """Return a sentence about a parameter as one about the option it came from; all others stay as they are.

    Examples
    --------
    >>> in_words_of_the_program("tol must be a finite number >= 0 or None, got -1.0")
    '--tol must be a finite number >= 0, got -1.0'
    >>> in_words_of_the_program("learning_rate='auto' needs a loss")
    '--learning-rate auto needs a loss'
    """
    for python, options in IN_PYTHON.items():
        sentence = sentence.replace(python, options)
    sentence = A_CLASS.sub(lambda found: f"the teacher {found[1].lower()}", sentence)
    found = ABOUT_A_PARAMETER.match(sentence)
    if found is None:
        return sentence
    rule, got, value = sentence[found.end() :].partition(", got ")
    for words in ONLY_IN_PYTHON:
        rule = rule.replace(words, "")
    return FLAGS[found[1]] + re.sub(r"^='(\w+)'", r" \1", rule) + got + value
