"""The pages that stand beside the code as pages of the site, with links that hold there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

BESIDE_THE_CODE = ("CONTRIBUTING", "CHANGELOG", "SECURITY")  # the README is the first page of the site in other words
LINK = re.compile(r"(?<=\]\()([^)#\s]+)")


def page_of(root: Path, name: str) -> str:
    """Return a page with its links as seen from the folder of built pages."""

    def seen_from_built(found: re.Match[str]) -> str:
        link = found[1]
        if link.startswith(("http:", "https:")):
            return link
        if link == "README.md":
            return "../contents.rst"
        if link.removesuffix(".md") in BESIDE_THE_CODE:
            return link.lower()
        return f"../{link.removeprefix('docs/')}" if link.startswith("docs/") else f"../../{link}"

    return LINK.sub(seen_from_built, (root / f"{name}.md").read_text(encoding="utf-8"))


def lecture_of(notebook: Path) -> str:
    """Return a notebook as a page: its text, and its code to be run by the reader."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    pieces = [f"```python\n{text}\n```" if kind == "code" else text for kind, text in texts]
    return "\n\n".join([*pieces, f"This page is the notebook {{download}}`{notebook.name} <../{notebook.name}>`.", ""])


def write(app: Any) -> None:
    """Write the pages."""
    folder = Path(app.srcdir) / "built"
    folder.mkdir(exist_ok=True)
    for name in BESIDE_THE_CODE:
        (folder / f"{name.lower()}.md").write_text(page_of(Path(app.srcdir).parent, name), encoding="utf-8")
    lecture = Path(app.srcdir) / "lecture.ipynb"
    (folder / "lecture.md").write_text(lecture_of(lecture), encoding="utf-8")


def link_to_them(app: Any, page: str, source: list[str]) -> None:
    """Let the other pages link to these."""
    for name in BESIDE_THE_CODE:
        source[0] = source[0].replace(f"](../{name}.md", f"](built/{name.lower()}.md")
    source[0] = source[0].replace("](../README.md", "](contents.rst")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write, priority=100)
    app.connect("source-read", link_to_them)
    return {"parallel_read_safe": True}
