"""A table of text as Markdown and as LaTeX, for pages and papers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

IN_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "<": r"$<$", ">": r"$>$", "×": r"$\times$",
}  # fmt: skip


class SpelledTable(ABC):
    """What has a table of text and numbers can be written as Markdown and as LaTeX, and be a DataFrame."""

    @abstractmethod
    def _text_table(self) -> tuple[Sequence[str], list[list[str]]]:
        """Return the header and the lines."""

    @abstractmethod
    def to_table(self) -> Any:
        """Return the numbers as columns."""

    def to_frame(self) -> pandas.DataFrame:
        """Return the numbers as a DataFrame of pandas."""
        import pandas

        return pandas.DataFrame(self.to_table())

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        return as_markdown(*self._text_table())

    def to_latex(self) -> str:
        r"""Return the table in LaTeX, a `tabular` with the lines of booktabs (\usepackage{booktabs})."""
        return as_latex(*self._text_table())


def as_markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    r"""Return a table in Markdown, numbers to the right, the first column and words to the left.

    Examples
    --------
    >>> print(as_markdown(["teacher", "steps"], [["a|b", "12"]]))
    | teacher | steps |
    |---|---:|
    | a\|b | 12 |
    """
    rule = ["---:" if right else "---" for right in _find_numbers(header, lines)]
    rows = [[cell.replace("|", "\\|") for cell in line] for line in (header, *lines)]
    written = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([written[0], "|" + "|".join(rule) + "|", *written[1:]])


def _find_numbers(header: Sequence[str], lines: Sequence[Sequence[str]]) -> list[bool]:
    """Say of each column whether it has numbers; the first has names."""
    return [place > 0 and any(line[place].lstrip("-")[:1].isdigit() for line in lines) for place in range(len(header))]


def as_latex(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    r"""Return a table in LaTeX.

    Examples
    --------
    >>> print(as_latex(["teacher", "M_0"], [["5 %", "1 ± 2"]]))
    \begin{tabular}{lr}
    \toprule
    teacher & M\_0 \\
    \midrule
    5 \% & 1 $\pm$ 2 \\
    \bottomrule
    \end{tabular}
    """
    rows = [" & ".join("".join(IN_LATEX.get(letter, letter) for letter in cell) for cell in line) for line in lines]
    head = " & ".join("".join(IN_LATEX.get(letter, letter) for letter in cell) for cell in header)
    body = "\n".join(f"{row} \\\\" for row in rows)
    columns = "".join("r" if right else "l" for right in _find_numbers(header, lines))
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", f"{head} \\\\", r"\midrule", body, r"\bottomrule",
         r"\end{tabular}"]
    )  # fmt: skip
