"""The documentation site: it names everything public, and builds without a warning."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import nimt

HOME = Path(__file__).parents[1]
sys.path.insert(0, str(HOME / "docs" / "site"))

reference = importlib.import_module("reference")
docstrings = importlib.import_module("docstrings")


def shown() -> list[str]:
    return [name for names in reference.rooms().values() for name in names]


def test_the_reference_shows_every_public_name_once():
    names = shown()
    assert len(names) == len(set(names))
    for name in nimt.__all__:
        subject = getattr(nimt, name)
        assert name.startswith("_") or inspect.ismodule(subject) or f"nimt.{name}" in names
    for module in (nimt.plots, nimt.theory, nimt.datasets, nimt.testing):
        for name in module.__all__:
            subject = getattr(module, name)
            assert f"{module.__name__}.{name}" in names or subject in (getattr(nimt, own) for own in nimt.__all__)


@pytest.mark.parametrize("path", shown())
def test_every_public_name_has_a_docstring_of_its_own(path):
    module, _, name = path.rpartition(".")
    subject = reference.found_in(importlib.import_module(module), name)  # None without PyTorch
    if inspect.isclass(subject) or inspect.isfunction(subject):
        words = subject.__dict__.get("__doc__") if inspect.isclass(subject) else subject.__doc__
        assert words and not words.startswith(f"{name}("), f"{path} has no docstring"


def test_every_page_is_in_the_contents_of_the_site():
    contents = (HOME / "docs" / "contents.rst").read_text(encoding="utf-8")
    named = {
        line.strip().split("<")[-1].removesuffix(">") for line in contents.splitlines()
    }  # "Title <page>" or "page"
    for page in (HOME / "docs").rglob("*.md"):
        place = page.relative_to(HOME / "docs").with_suffix("").as_posix()
        assert place.startswith("built/") or place in named, f"docs/contents.rst does not name {place}"


@pytest.mark.long
def test_the_program_of_the_first_page_prints_what_is_shown_below_it(capsys):
    page = (HOME / "docs" / "contents.rst").read_text(encoding="utf-8")
    program, shown = re.findall(r"^.. code-block:: \w+\n\n((?:(?: {3}.*)?\n)+)", page, re.MULTILINE)
    exec(compile(textwrap.dedent(program), "contents.rst", "exec"), {})
    assert capsys.readouterr().out.strip() == textwrap.dedent(shown).strip()


@pytest.mark.parametrize(
    ("line", "escaped"),
    [
        ("|f - f*| <= 1", r"\|f - f\*\| <= 1"),
        ("`f*` and coef_ and `coef_`", r"`f*` and coef\_ and `coef_`"),
        ("a_b stays", "a_b stays"),
    ],
)
def test_formulas_are_not_markup(line, escaped):
    assert docstrings.escaped(line) == escaped


def test_examples_are_left_as_they_are():
    lines = [">>> f * 2", "|x|", "", "|x|"]
    docstrings.escape(None, "function", "f", None, None, lines)
    assert lines == [">>> f * 2", "|x|", "", r"\|x\|"]


@pytest.mark.exhaustive
def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-n", "-W", "--keep-going", "-q", "docs", str(tmp_path / "site")]
    done = subprocess.run(
        command, cwd=HOME, capture_output=True, text=True, env=os.environ | {"MPLBACKEND": "Agg"}, check=False
    )
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site" / "built" / "gallery").glob("plot_*.html"))
    assert len(pages) >= 15
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "sphx-glr-single-img" in text or "sphx-glr-multi-img" in text or "iframe" in text, page.name
        assert "http://" not in text.replace("http://www.w3.org", ""), page.name
