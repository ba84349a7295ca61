"""The documentation site: it names everything public, and builds without a warning."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import sys
import textwrap
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import nbformat
import numpy as np
import pytest

import nimt
from browsers import a_browser, a_page

HOME = Path(__file__).parents[1]
MAIN_PAGES = (
    "index.html", "pages.html", "theory.html", "studio.html", "built/lecture.html", "built/gallery/index.html",
    "tutorial/five-minutes.html", "built/reference/index.html",
)  # fmt: skip
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
    contents = (HOME / "docs" / "index.rst").read_text(encoding="utf-8")
    named = {
        line.strip().split("<")[-1].removesuffix(">") for line in contents.splitlines()
    }  # "Title <page>" or "page"
    for page in (HOME / "docs").rglob("*.md"):
        place = page.relative_to(HOME / "docs").with_suffix("").as_posix()
        assert place.startswith("built/") or place in named, f"docs/index.rst does not name {place}"


@pytest.mark.long
def test_the_program_of_the_first_page_prints_what_is_shown_below_it(capsys):
    page = (HOME / "docs" / "index.rst").read_text(encoding="utf-8")
    blocks = re.findall(r"^( +).. code-block:: \w+\n\n((?:(?:\1 {3}.*)?\n)+)", page, re.MULTILINE)
    program, shown, teacher = (textwrap.dedent(block) for _, block in blocks)
    names: dict[str, object] = {}
    exec(compile(program + teacher, "index.rst", "exec"), names)
    assert capsys.readouterr().out.strip() == shown.strip()
    assert len([line for line in program.splitlines() if line]) == 6
    both = [
        nimt.teach(names["learner"], one, names["x"], np.sin, tol=1e-3, max_iterations=200).itd
        for one in (names["Mine"](), nimt.GreedyTeacher())
    ]
    assert both[0] == both[1]


def test_the_site_opens_with_the_landing_page_and_its_pages_are_in_four_groups():
    page = (HOME / "docs" / "index.rst").read_text(encoding="utf-8")
    assert 'root_doc = "index"' in (HOME / "docs" / "conf.py").read_text(encoding="utf-8")
    assert page.count(".. container:: tile\n") == 4 and "replay.html#play&loop" in page
    assert re.findall(r":caption: (.*)", page) == ["Tutorial", "How to", "Explanation", "Reference"]


def test_every_column_of_a_table_is_named_in_words():
    """Who listens to a page hears the name of the column; a formula alone is none for axe."""
    tables = re.compile(r"^\|(.*)\|\n\|[-:| ]+\|$", re.MULTILINE)
    for page in [*(HOME / "docs").rglob("*.md"), HOME / "README.md", HOME / "CONTRIBUTING.md"]:
        for head in tables.findall(page.read_text(encoding="utf-8")):
            names = [re.sub(r"\$[^$]*\$", "", name) for name in head.split("|")]
            assert all(re.search(r"\w", name) for name in names), f"{page.name}: {head}"


def test_what_is_scrolled_can_be_reached_and_links_of_the_gallery_have_names():
    complete = importlib.import_module("accessible").complete
    assert complete('<div class="table-wrapper docutils">') == '<div tabindex="0" class="table-wrapper docutils">'
    link = complete('<a class="reference internal" href="plot_1.html"><span class="doc">A "b"</span></a>')
    assert 'aria-label="A &quot;b&quot;"' in link and link.endswith("</span></a>")


def test_pictures_of_the_lecture_are_named_and_solutions_are_folded():
    project_pages = importlib.import_module("project_pages")
    cell = nbformat.v4.new_code_cell('draw("a")', metadata={"tags": ["solution"]})
    cell.outputs = [nbformat.v4.new_output("execute_result", {"image/png": "AA"})]
    page = project_pages.lecture_of(nbformat.v4.new_notebook(cells=[cell]), "lecture.ipynb")
    assert 'alt="Figure drawn by draw(&quot;a&quot;)"' in page and page.startswith("<details><summary>Solution")


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


class Links(HTMLParser):
    """The addresses that a page links to or loads, and the names of its places."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.places.add(value)


def find_broken_links(site: Path) -> tuple[list[str], set[Path]]:
    """Return the links within a site that lead nowhere, and the pages that are reached from its first."""
    found: dict[Path, Links] = {}
    broken: list[str] = []
    waiting = [site / "index.html"]
    while waiting:
        page = waiting.pop()
        if page in found:
            continue
        found[page] = Links(page)
        for link in found[page].links:
            if link.startswith(("http:", "https:", "data:", "mailto:", "javascript:")):
                continue
            file, _, place = unquote(link).partition("#")
            path = page if not file.partition("?")[0] else (page.parent / file.partition("?")[0]).resolve()
            if not path.is_file():
                broken.append(f"{page.relative_to(site)}: {link}")
            elif path.suffix == ".html" and site in path.parents:
                alone = "_static" in path.parts  # a page of its own, whose places are steps of a lesson
                if place and not alone and place not in (found.get(path) or Links(path)).places:
                    broken.append(f"{page.relative_to(site)}: {link}")
                if not alone:
                    waiting.append(path)
    return broken, set(found)


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "index.html").write_text('<a href="a.html#one">x</a><img src="no.png">', encoding="utf-8")
    (tmp_path / "a.html").write_text('<p id="one"><a href="#two">x</a><a href="index.html">x</a>', encoding="utf-8")
    (tmp_path / "alone.html").write_text("", encoding="utf-8")
    broken, reached = find_broken_links(tmp_path)
    assert sorted(broken) == ["a.html: #two", "index.html: no.png"]
    assert {path.name for path in reached} == {"index.html", "a.html"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built without a warning; NIMT_SITE names one that was built before."""
    if os.environ.get("NIMT_SITE"):
        return Path(os.environ["NIMT_SITE"]).resolve()
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-n", "-W", "--keep-going", "-q", "docs", str(folder)]
    done = subprocess.run(
        command, cwd=HOME, capture_output=True, text=True, env=os.environ | {"MPLBACKEND": "Agg"}, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.exhaustive
def test_no_link_of_the_site_is_broken_and_every_page_is_reached(site):
    broken, reached = find_broken_links(site)
    assert broken == []
    made = {path for path in site.rglob("*.html") if "_static" not in path.parts}
    assert {path.name for path in made - reached} <= {"search.html", "genindex.html", "py-modindex.html"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("page", MAIN_PAGES)
def test_axe_finds_nothing_on_the_main_pages_of_the_site(site, page):
    accessibility = pytest.importorskip("test_accessibility", exc_type=ImportError)
    with a_browser() as browser:
        accessibility.look(browser, (site / page).as_uri(), "() => true", accessibility.open_details)


@pytest.mark.exhaustive
def test_the_first_page_plays_a_lesson_and_loads_nothing_from_elsewhere(site):
    with a_browser() as browser, a_page(browser, viewport={"width": 1280, "height": 800}) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.frame_locator("iframe.replay").get_by_text("step 5 of").wait_for()
        assert page.locator("iframe.replay").bounding_box()["y"] < 500
        assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)
        page.click("text=Try the studio here")
        page.wait_for_function("() => window.studio && studio.racers.length")
        page.go_back()
        page.click("text=Beat the greedy teacher")
        page.wait_for_function("() => window.challenge")


@pytest.mark.exhaustive
def test_the_gallery_and_the_lecture_show_what_they_make(site):
    lecture = (site / "built" / "lecture.html").read_text(encoding="utf-8")
    assert lecture.count('class="shown"') >= 8 and lecture.count("<summary>Solution") == 5 and "<math" in lecture
    pages = list((site / "built" / "gallery").glob("plot_*.html"))
    assert len(pages) >= 15
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "sphx-glr-single-img" in text or "sphx-glr-multi-img" in text or "iframe" in text, page.name
        assert "http://" not in text.replace("http://www.w3.org", ""), page.name
