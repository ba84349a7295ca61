"""One self-contained HTML page: pictures embedded, no script, nothing loaded from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from html import escape

from nimt.display import pairs as pairs
from nimt.display import table as table
from nimt.reports.mathematics import FONTS, typeset, typeset_names

TILES_PER_ROW = 6
STYLE = """
:root { color-scheme: light dark; --ink: #1d1d1f; --quiet: #6a6a70; --line: #dcdce0; --paper: #ffffff; --box: #f6f6f8;
  --link: #b34700; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececf0; --quiet: #a0a0a8; --line: #3a3a40; --paper: #17171a; --box: #222226; --link: #f0a070; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 66rem; padding: 2.5rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.1rem; margin: 2.4rem 0 .7rem; }
h2[id] { font-size: 1.3rem; margin: 3.2rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
.lead { color: var(--quiet); margin: 0 0 1.6rem; font-size: 1.05rem; }
.prose { font-family: Georgia, "Times New Roman", "DejaVu Serif", serif; margin: .6rem 0; }
ul.prose { padding-left: 1.3rem; }
ul.prose li { margin: .3rem 0; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
nav { font-size: .92rem; margin: 0 0 1.2rem; }
nav a { margin-right: 1.2em; white-space: nowrap; }
.tag { display: inline-block; font-size: .78rem; padding: .05rem .6rem; border-radius: 1rem; background: var(--box);
  border: 1px solid var(--line); margin-right: .4rem; }
figure { margin: 0 0 1.4rem; }
figure img { display: block; max-width: 100%; height: auto; background: #fff; border: 1px solid var(--line);
  border-radius: 6px; padding: .5rem; }
figcaption, .remark { color: var(--quiet); font-size: .9rem; margin-top: .45rem; }
figcaption b { color: var(--ink); }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
th, td { text-align: left; padding: .28rem .9rem .28rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; white-space: nowrap; }
thead th { border-bottom: 2px solid var(--quiet); }
table.grouped { border-bottom: 1px solid var(--line); }
table.grouped td { border-bottom: 0; }
table.grouped tr.group td { border-top: 1px solid var(--line); }
td.number, th.number { text-align: right; white-space: nowrap; }
td.words { min-width: 5.5em; }
td:first-child { min-width: 7em; }
td.value { overflow-wrap: anywhere; }
.tiles { display: grid; gap: .7rem; margin: 0 0 1.4rem; grid-template-columns:
  repeat(auto-fill, minmax(max(8.5rem, (100% - (var(--columns) - 1) * .7rem) / var(--columns)), 1fr)); }
.tile { background: var(--box); border-radius: 8px; padding: .65rem 1rem; }
.tile b { display: block; font-size: 1.35rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.tile span { color: var(--quiet); font-size: .86rem; }
.formula { overflow-x: auto; overflow-y: hidden; padding: .3rem 0; margin: .5rem 0; font-size: 1.1rem; }
math { font-family: FONTS; }
pre { background: var(--box); border-radius: 8px; padding: .8rem 1rem; overflow-x: auto; font-size: .88rem; }
footer { color: var(--quiet); font-size: .85rem; margin-top: 3rem; }
@media print {
  body { max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; }
  figure, table { break-inside: avoid; }
}
""".replace("FONTS", FONTS)


def page(title: str, lead: str, parts: Iterable[str], footer: str = "") -> str:
    """Return a whole page; `parts` are made by the functions below, everything else is escaped here."""
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<main>\n<h1>{escape(title)}</h1>\n<p class="lead">{typeset_names(lead)}</p>\n{body}\n</main>\n'
        f"<footer>{escape(footer)}</footer>\n</body>\n</html>\n"
    )


def contents(titles: Mapping[str, str]) -> str:
    """Return links to the headings of these names.

    Examples
    --------
    >>> contents({"end": "The end"})
    '<nav><a href="#end">The end</a></nav>'
    """
    links = " ".join(f'<a href="#{escape(name)}">{escape(title)}</a>' for name, title in titles.items())
    return f"<nav>{links}</nav>"


def heading(text: str, name: str = "") -> str:
    """Return a heading; one with a name begins a chapter, and `contents` can link to it."""
    return f'<h2 id="{escape(name)}">{escape(text)}</h2>' if name else f"<h2>{escape(text)}</h2>"


def subheading(text: str) -> str:
    """Return a heading within a chapter."""
    return f"<h3>{escape(text)}</h3>"


def paragraph(text: str) -> str:
    """Return a paragraph of prose."""
    return f'<p class="prose">{typeset_names(text)}</p>'


def bullets(lines: Iterable[str]) -> str:
    """Return a list of sentences."""
    return '<ul class="prose">' + "".join(f"<li>{typeset_names(line)}</li>" for line in lines) + "</ul>"


def tags(words: Iterable[str]) -> str:
    """Return a row of short remarks, each framed."""
    return "<p>" + "".join(f'<span class="tag">{escape(word)}</span>' for word in words) + "</p>"


def picture(data: bytes, mime: str, caption: str, number: int | None = None) -> str:
    """Return a picture embedded in the page, with its caption and, if given, its number.

    Examples
    --------
    >>> picture(b"x", "image/png", "f < g")
    '<figure><img src="data:image/png;base64,eA==" alt="f &lt; g"><figcaption>f &lt; g</figcaption></figure>'
    """
    source = f"data:{mime};base64,{base64.b64encode(data).decode()}"
    said = escape(caption)
    label = "" if number is None else f"<b>Figure {number}.</b> "
    return f'<figure><img src="{source}" alt="{said}"><figcaption>{label}{typeset_names(caption)}</figcaption></figure>'


def tiles(numbers: Mapping[str, str]) -> str:
    """Return a row of large numbers, each with its name."""
    inside = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(name)}</span></div>' for name, value in numbers.items()
    )
    rows = -(-len(numbers) // TILES_PER_ROW)
    columns = -(-len(numbers) // max(rows, 1))  # rows of about the same length: no tile is left alone
    return f'<div class="tiles" style="--columns: {max(columns, 1)}">{inside}</div>'


def remark(text: str) -> str:
    """Return a paragraph in small grey text."""
    return f'<p class="remark">{typeset_names(text)}</p>'


def formula(latex: str) -> str:
    """Return a formula on a line of its own."""
    return typeset(latex, display=True)


def code(text: str) -> str:
    """Return text in a fixed-width font, with its line breaks."""
    return f"<pre>{escape(text)}</pre>"
