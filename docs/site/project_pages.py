"""The pages that stand beside the code as pages of the site, with links that hold there."""

from __future__ import annotations

import re
import tempfile
from html import escape
from pathlib import Path
from typing import Any

import nbclient
import nbformat

BESIDE_THE_CODE = ("CONTRIBUTING", "CHANGELOG")  # the README is the first page of the site in other words
LINK = re.compile(r"(?<=\]\()([^)#\s]+)")


def page_of(root: Path, name: str) -> str:
    """Return a page with its links as seen from the folder of built pages."""

    def seen_from_built(found: re.Match[str]) -> str:
        link = found[1]
        if link.startswith(("http:", "https:")):
            return link
        if link == "README.md":
            return "../index.rst"
        if link.removesuffix(".md") in BESIDE_THE_CODE:
            return link.lower()
        return f"../{link.removeprefix('docs/')}" if link.startswith("docs/") else f"../../{link}"

    return LINK.sub(seen_from_built, (root / f"{name}.md").read_text(encoding="utf-8"))


def run_notebook(path: Path) -> Any:
    """Return a notebook after it was run, in an empty folder."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(notebook, timeout=900, resources={"metadata": {"path": folder}}).execute()
    return notebook


def lecture_of(notebook: Any, name: str) -> str:
    """Return a notebook that was run as a page: text, code, what the code shows; solutions and answers folded."""
    pieces = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            pieces.append(cell.source)
            continue
        shown = [
            f"```python\n{cell.source}\n```",
            *(show(output, cell.source.splitlines()[-1]) for output in cell.outputs),
        ]
        for tag in cell.metadata.get("tags", ()):  # a solution of an exercise, an answer to a question
            shown = [f"<details><summary>{tag.capitalize()}</summary>", *shown, "</details>"]
        pieces += shown
    return "\n\n".join([*pieces, f"This page is the notebook {{download}}`{name} <../{name}>`.", ""])


def show(output: Any, last: str) -> str:
    """Return what a cell showed: a picture, named by its last line, a table, or text."""
    data = output.get("data", {})
    if "image/png" in data:
        picture = data["image/png"].replace("\n", "")
        return f'<img class="shown" alt="Figure drawn by {escape(last)}" src="data:image/png;base64,{picture}">'
    if "text/html" in data:
        return f"```{{raw}} html\n{data['text/html']}\n```"
    return f"```text\n{data.get('text/plain', output.get('text', ''))}\n```"


def write(app: Any) -> None:
    """Write the pages."""
    folder = Path(app.srcdir) / "built"
    folder.mkdir(exist_ok=True)
    for name in BESIDE_THE_CODE:
        (folder / f"{name.lower()}.md").write_text(page_of(Path(app.srcdir).parent, name), encoding="utf-8")
    lecture = Path(app.srcdir) / "lecture.ipynb"
    page = folder / "lecture.md"
    if not page.exists() or page.stat().st_mtime < lecture.stat().st_mtime:  # running it takes a while
        page.write_text(lecture_of(run_notebook(lecture), lecture.name), encoding="utf-8")


def link_to_them(app: Any, page: str, source: list[str]) -> None:
    """Let the other pages link to these."""
    for name in BESIDE_THE_CODE:
        source[0] = source[0].replace(f"](../{name}.md", f"](built/{name.lower()}.md")
    source[0] = source[0].replace("](../README.md", "](index.rst")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write, priority=100)
    app.connect("source-read", link_to_them)
    return {"parallel_read_safe": True}
