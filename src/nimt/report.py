"""One self-contained HTML page: sections of text, figures, tables and notes. It reads no network and runs no script."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

STYLE = """
:root { color-scheme: light; --ink: #1c1c1c; --quiet: #6a6a6a; --line: #dcdcdc; --soft: #f6f6f4; --mark: #b34700; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 2.5rem 1.5rem 4rem; color: var(--ink); background: #fff;
  font: 16px/1.55 Georgia, "Times New Roman", serif; }
h1, h2, h3, nav, table, figcaption, .quiet, .tag { font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.3rem; margin: 3.2rem 0 .3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
.quiet { color: var(--quiet); font-size: .85rem; }
nav { font-size: .9rem; margin: 1.2rem 0; } nav a { margin-right: 1em; white-space: nowrap; }
a { color: var(--mark); text-decoration: none; } a:hover { text-decoration: underline; }
figure { margin: 1.4rem 0; } figure img { max-width: 100%; height: auto; display: block; margin: 0 auto; }
figcaption { font-size: .85rem; color: #333; margin-top: .5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .78rem; font-variant-numeric: tabular-nums; margin: .5rem 0 1rem; }
th, td { padding: .22rem .45rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } thead th { border-bottom: 2px solid var(--ink); font-weight: 600; }
tr.group td { border-top: 1px solid #999; } td.words, th.words { text-align: left; white-space: normal; }
td.words { min-width: 5.5em; }
.tag { display: inline-block; font-size: .75rem; padding: .05rem .5rem; border-radius: 1rem; background: var(--soft);
  border: 1px solid var(--line); margin-right: .4rem; }
li { margin: .3rem 0; }
@media print { body { max-width: none; padding: 0; } h2 { break-after: avoid; } figure, table { break-inside: avoid; } }
"""


@dataclass(frozen=True)
class Image:
    """A PNG file and its caption."""

    path: Path
    caption: str


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; a row that begins a group is set off by a line.

    Attributes
    ----------
    title : str
    head : sequence of str
    rows : sequence of sequences of str
    groups : sequence of int
        Rows that begin a group.
    words : sequence of int
        Columns that hold words: set to the left, and broken into lines.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    groups: Sequence[int] = ()
    words: Sequence[int] = ()


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    name: str
    title: str
    tags: Sequence[str] = ()
    paragraphs: Sequence[str] = ()
    images: Sequence[Image] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    notes_title: str = "Notes"
    lists: dict[str, Sequence[str]] = field(default_factory=dict)


def html_page(title: str, lead: str, sections: Sequence[Section], footer: str = "") -> str:
    """Return the page as text; pictures are inside it.

    Parameters
    ----------
    title, lead, footer : str
        Plain text; everything is escaped.
    sections : sequence of Section

    Examples
    --------
    >>> page = html_page("A lesson", "It went well.", [Section("end", "The end", paragraphs=["1 < 2"])])
    >>> "1 &lt; 2" in page
    True
    """
    links = "".join(f'<a href="#{escape(part.name)}">{escape(part.title)}</a> ' for part in sections)
    numbers = iter(range(1, 10_000))
    body = "\n".join(_section(part, numbers) for part in sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n<p>{escape(lead)}</p>\n<nav>{links}</nav>\n{body}\n"
        f'<p class="quiet">{escape(footer)}</p>\n</body>\n</html>\n'
    )


def _section(part: Section, numbers: object) -> str:
    pieces = [f'<h2 id="{escape(part.name)}">{escape(part.title)}</h2>']
    if part.tags:
        pieces.append("<p>" + "".join(f'<span class="tag">{escape(tag)}</span>' for tag in part.tags) + "</p>")
    pieces += [f"<p>{escape(text)}</p>" for text in part.paragraphs]
    pieces += [_figure(image, next(numbers)) for image in part.images]  # type: ignore[call-overload]
    pieces += [_table(table) for table in part.tables]
    if part.notes:
        pieces.append(f"<h3>{escape(part.notes_title)}</h3>{_bullets(part.notes)}")
    pieces += [f"<h3>{escape(name)}</h3>{_bullets(lines)}" for name, lines in part.lists.items() if lines]
    return "\n".join(pieces)


def _figure(image: Image, number: int) -> str:
    content = base64.b64encode(image.path.read_bytes()).decode("ascii")
    caption = escape(image.caption)
    return (
        f'<figure><img alt="{caption}" src="data:image/png;base64,{content}">'
        f"<figcaption><strong>Figure {number}.</strong> {caption}</figcaption></figure>"
    )


def _table(table: Table) -> str:
    def cells(row: Sequence[str], tag: str) -> str:
        kinds = [' class="words"' if column in table.words else "" for column in range(len(row))]
        return "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, row, strict=True))

    begins = [' class="group"' if number in table.groups else "" for number in range(len(table.rows))]
    rows = "\n".join(f"<tr{begin}>{cells(row, 'td')}</tr>" for begin, row in zip(begins, table.rows, strict=True))
    return (
        f'<h3>{escape(table.title)}</h3><div class="wide"><table><thead><tr>{cells(table.head, "th")}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _bullets(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
