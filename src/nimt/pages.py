"""One self-contained HTML page: pictures inside, no script, nothing loaded from anywhere."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark; --ink: #1d1d1f; --quiet: #6a6a70; --line: #dcdce0; --paper: #ffffff; --box: #f6f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececf0; --quiet: #a0a0a8; --line: #3a3a40; --paper: #17171a; --box: #222226; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2.5rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.1rem; margin: 2.4rem 0 .7rem; }
.lead { color: var(--quiet); margin: 0 0 1.6rem; font-size: 1.05rem; }
figure { margin: 0 0 1.4rem; }
figure img { display: block; max-width: 100%; height: auto; background: #fff; border: 1px solid var(--line);
  border-radius: 6px; padding: .5rem; }
figcaption, .remark { color: var(--quiet); font-size: .9rem; margin-top: .45rem; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
th, td { text-align: left; padding: .32rem 1.1rem .32rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 600; white-space: nowrap; }
td.number, th.number { text-align: right; padding-left: 1.1rem; padding-right: 0; white-space: nowrap; }
.tiles { display: flex; flex-wrap: wrap; gap: .7rem; margin: 0 0 1.4rem; }
.tile { background: var(--box); border-radius: 8px; padding: .65rem 1rem; min-width: 8.5rem; flex: 1; }
.tile b { display: block; font-size: 1.35rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.tile span { color: var(--quiet); font-size: .86rem; }
pre { background: var(--box); border-radius: 8px; padding: .8rem 1rem; overflow-x: auto; font-size: .88rem; }
footer { color: var(--quiet); font-size: .85rem; margin-top: 3rem; }
"""


def page(title: str, lead: str, parts: Iterable[str], footer: str = "") -> str:
    """Return a whole page; `parts` are pieces made by the functions below, everything else is escaped here."""
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<h1>{escape(title)}</h1>\n<p class="lead">{escape(lead)}</p>\n{body}\n'
        f"<footer>{escape(footer)}</footer>\n</body>\n</html>\n"
    )


def heading(text: str) -> str:
    """Return a heading."""
    return f"<h2>{escape(text)}</h2>"


def picture(data: bytes, mime: str, caption: str) -> str:
    """Return a picture that lives inside the page, with its caption.

    Examples
    --------
    >>> picture(b"x", "image/png", "f < g")
    '<figure><img src="data:image/png;base64,eA==" alt="f &lt; g"><figcaption>f &lt; g</figcaption></figure>'
    """
    source = f"data:{mime};base64,{base64.b64encode(data).decode()}"
    return f'<figure><img src="{source}" alt="{escape(caption)}"><figcaption>{escape(caption)}</figcaption></figure>'


def tiles(numbers: Mapping[str, str]) -> str:
    """Return a row of large numbers, each with what it is."""
    inside = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(name)}</span></div>' for name, value in numbers.items()
    )
    return f'<div class="tiles">{inside}</div>'


def pairs(values: Mapping[str, Any]) -> str:
    """Return a table of names and values; what is None is left out."""
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in values.items()
        if value is not None
    )
    return f'<div class="scroll"><table>{rows}</table></div>'


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of text, the first column to the left and the others, numbers, to the right."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}>{escape(cell)}</{tag}>" if place == 0 else f'<{tag} class="number">{escape(cell)}</{tag}>'
            for place, cell in enumerate(cells)
        )

    inside = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{line(header, "th")}</tr>{inside}</table></div>'


def remark(text: str) -> str:
    """Return a paragraph in a quiet voice."""
    return f'<p class="remark">{escape(text)}</p>'


def code(text: str) -> str:
    """Return text as it is typed."""
    return f"<pre>{escape(text)}</pre>"
