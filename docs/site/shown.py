"""What an example of the gallery makes is shown on its page: figures as pictures, replays as pages that play."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from sphinx_gallery.scrapers import figure_rst

FRAME = """.. raw:: html

    <iframe class="replay" src="{place}" title="{name}: the lesson, step by step" loading="lazy"></iframe>

"""


def figures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figure that a block ends with, and return what shows it."""
    kept = block_vars["example_globals"]
    last = kept.get("___")  # the value of the last expression; it stays there after a block that ends without one
    figure = last.figure if isinstance(last, Axes) else last
    if not isinstance(figure, Figure | SubFigure) or kept.get("_shown") is figure:
        return ""
    kept["_shown"] = figure
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=110, bbox_inches="tight")
    return figure_rst([path], gallery_conf["src_dir"])


def replays(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Move the replays that a block wrote to where the site keeps them, and return what shows them."""
    kept = _folder(gallery_conf["src_dir"])
    shown = []
    for path in sorted(Path(block_vars["src_file"]).parent.glob("*.html")):
        kept.mkdir(parents=True, exist_ok=True)
        path.replace(kept / path.name)
        shown.append(FRAME.format(place=f"../../_static/replays/{path.name}", name=path.stem))
    return "".join(shown)


def _get_sg_image_scraper() -> Any:
    """Tell the gallery what to call after each block."""
    return lambda *told: figures(*told) + replays(*told)


def copy_replays(app: Any, failure: Exception | None) -> None:
    """Copy the replays to the site that was built."""
    kept = _folder(app.srcdir)
    if failure is None and app.builder.format == "html" and kept.is_dir():
        shutil.copytree(kept, Path(app.outdir) / "_static" / "replays", dirs_exist_ok=True)


def _folder(source: str) -> Path:
    return Path(source) / "built" / "replays"


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", copy_replays)
    return {"parallel_read_safe": True}
