"""What the theme leaves out for those who listen to the pages, or use the keyboard alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

COMPLETED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="On this page">',
    '<aside class="toc-drawer no-toc">': '<aside class="toc-drawer no-toc" aria-label="On this page">',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',  # it is scrolled where a window is narrow
}
# of the gallery, whose thumbnails hide the words of their links
UNNAMED = re.compile(r'(<a class="reference internal" href="plot_[^"]+")(?=><span class="doc">([^<]*)</span></a>)')


def complete(page: str) -> str:
    """Return a page with what its elements lack.

    Examples
    --------
    >>> complete("<pre>text</pre>")
    '<pre tabindex="0">text</pre>'
    >>> complete('<a class="reference internal" href="plot_1.html"><span class="doc">One</span></a>')
    '<a class="reference internal" href="plot_1.html" aria-label="One"><span class="doc">One</span></a>'
    """
    for before, after in COMPLETED.items():
        page = page.replace(before, after)
    return UNNAMED.sub(lambda found: f'{found[1]} aria-label="{found[2].replace(chr(34), "&quot;")}"', page)


def complete_pages(app: Any, failure: Exception | None) -> None:
    """Complete every page of the site that was built; not those that are pages of their own, as a replay."""
    if failure is not None or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        if "_static" not in path.parts:
            path.write_text(complete(path.read_text(encoding="utf-8")), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", complete_pages)
    return {"parallel_read_safe": True}
