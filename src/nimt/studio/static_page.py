"""The studio as one HTML file that needs no server: its lessons are computed in the browser."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from nimt.errors import InvalidInput
from nimt.replay.joined_modules import join_modules
from nimt.replay.lesson_recording import describe_pool
from nimt.sources import read_problem
from nimt.store.whole_files import write_text
from nimt.studio.lists import PLACE, list_choices, spell_json
from nimt.studio.requests import view_for

STARTS = {"gmm": ("gmm:start",), "sine": (), "digit:0": ("digit:8",), "cat": ()}
TEACHERS = ("greedy", "random")  # that the page computes itself, with the loss and the kernels below
LOSSES = ("square",)
KERNELS = ("rbf", "matern")
ROOMS = (("nimt.replay", "static"), ("nimt.studio", "static"), ("nimt.studio", "without_server"))  # the last wins
LINK_TO_MODULE = re.compile(r'<link rel="modulepreload" href="static/\w+\.js">\n')
LINK_TO_STYLE = re.compile(r'<link rel="stylesheet" href="static/(\w+\.css)">')
LINK_TO_SCRIPT = '<script type="module" src="static/studio.js"></script>'


def write_static_studio(folder: Path) -> Path:
    """Write the page, which holds everything it needs, and return its path."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"the folder {str(folder)!r} cannot be made ({error.strerror}): name another") from None
    files: dict[str, str] = {}
    for package, room in ROOMS:
        for file in (resources.files(package) / room).iterdir():
            if file.name.endswith((".js", ".css", ".svg", ".html")):
                files[file.name] = file.read_text(encoding="utf-8")
    write_text(folder / "index.html", fill_page(hold_files(files["index.html"], files)))
    return folder / "index.html"


def hold_files(page: str, files: Mapping[str, str]) -> str:
    """Write the style, the icon and the modules into the page instead of links to them."""
    page = LINK_TO_MODULE.sub("", page)
    page = LINK_TO_STYLE.sub(lambda link: f"<style>{files[link[1]]}</style>", page)
    page = page.replace("static/icon.svg", f"data:image/svg+xml,{quote(files['icon.svg'])}")
    script = f'<script type="module">{join_modules("studio", files.__getitem__)}</script>'
    return page.replace(LINK_TO_SCRIPT, script)


def fill_page(page: str) -> str:
    """Write into the page what it offers, and the problems of the paper that it holds."""
    choices = list_choices()
    ways = [way for way in choices["ways"] if way["request"] in [{"teacher": name, "k": 1} for name in TEACHERS]]
    kept = {"ways": ways, "losses": list(LOSSES), "kernels": list(KERNELS)}
    problems = f'<script type="application/json" id="problems">{spell_json(list_problems())}</script>\n</head>'
    return page.replace(PLACE, spell_json(kept)).replace("</head>", problems, 1)


def list_problems() -> dict[str, Any]:
    """Return the targets that the page knows by name, each with the starts that fit it."""
    found: dict[str, Any] = {}
    for name, starts in STARTS.items():
        problem = read_problem(name, "zero")
        found[name] = {
            **describe_pool(problem.pool, {}),
            "view": view_for(problem.pool, classes=False),
            "target": _numbers(problem.target),
            "starts": {start: _numbers(read_problem(name, start).initial) for start in starts},
        }
    return found


def _numbers(values: Any) -> list[float]:
    return [float(value) for value in np.asarray(values)]
