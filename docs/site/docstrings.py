"""Docstrings are plain text with formulas: what reStructuredText would read as markup in them is escaped."""

from __future__ import annotations

import re
from typing import Any

CODE = re.compile(r"(``.*?``|`[^`]*`)")  # backticks stay as they are
MARKUP = re.compile(r"([*|\\])")
REFERENCE = re.compile(r"(?<=\w)_(?!\w)")  # a name that ends in an underscore is no link
PROMPT, LITERAL = ">>>", "::"


def escaped(line: str) -> str:
    """Return a line with the signs escaped that would begin emphasis, a substitution or a link."""
    pieces = CODE.split(line)
    for place in range(0, len(pieces), 2):
        pieces[place] = REFERENCE.sub(r"\\_", MARKUP.sub(r"\\\1", pieces[place]))
    return "".join(pieces)


def escape(app: Any, what: str, name: str, subject: object, options: Any, lines: list[str]) -> None:
    """Escape all but examples (from >>> to an empty line) and indented text after `::`."""
    in_example, literal_beyond = False, None
    for number, line in enumerate(lines):
        words = line.strip()
        indent = len(line) - len(line.lstrip())
        in_example = (in_example and bool(words)) or words.startswith(PROMPT)
        if literal_beyond is not None and words and indent <= literal_beyond:
            literal_beyond = None
        if not in_example and literal_beyond is None:
            lines[number] = escaped(line)
            if words.endswith(LITERAL):
                literal_beyond = indent


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", escape, priority=400)  # before numpydoc reads the sections
    return {"parallel_read_safe": True}
