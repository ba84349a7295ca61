"""README and docs are run, not trusted.

Every ```python block of a page is executed, in order and in one namespace a page. A ```text block right after one is
what it must print, to the letter. (A session with >>> is left to doctest, which pytest runs on the same pages.)
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest

import nimt
from nimt import testing
from nimt.learners.learner import Learner, Pupil
from nimt.losses import Loss

HOME = Path(__file__).parents[1]
DOCS = [page for page in sorted(HOME.glob("docs/**/*.md")) if "built" not in page.parts]
PAGES = [HOME / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + DOCS
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ ]*\n?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
LANGUAGES = {"python", "text", "sh", "toml", "bibtex", ""}
PYTHON = re.compile(r"^(?:>>> )?(?:import|from) (?:nimt|numpy|sklearn)\b", re.MULTILINE)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
NAME = re.compile(r"(?<![\w./-])(?:nimt|joblib)(?:\.[A-Za-z_]\w*)+")
LARGEST_IMAGE = 150_000  # bytes


@dataclass(frozen=True)
class Block:
    """A piece of code on a page: its first line there, and what it must print (None: anything)."""

    code: str
    line: int
    prints: str | None


def blocks_of(text: str) -> list[Block]:
    found = list(FENCE.finditer(text))
    blocks = []
    for fence, following in zip_longest(found, found[1:]):
        if fence[1] != "python" or ">>>" in fence[2]:
            continue
        adjacent = following is not None and not text[fence.end() : following.start()].strip()
        prints = following[2] if following is not None and adjacent and following[1] == "text" else None
        blocks.append(Block(fence[2], text.count("\n", 0, fence.start()) + 2, prints))
    return blocks


def run(text: str, name: str) -> dict[str, object]:
    namespace: dict[str, object] = {"__name__": "page"}
    for block in blocks_of(text):
        printed = io.StringIO()
        lines_before = "\n" * (block.line - 1)  # so that an error names the line of the page
        code = compile(lines_before + block.code, name, "exec", dont_inherit=True)
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        if block.prints is not None:
            assert printed.getvalue() == block.prints, f"{name}, line {block.line}"
    return namespace


def name_of(page: Path) -> str:
    return page.relative_to(HOME).as_posix()


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_code_on_a_page_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages save files
    text = page.read_text(encoding="utf-8")
    if any("import torch" in block.code for block in blocks_of(text)) and find_spec("torch") is None:
        pytest.skip("PyTorch is not installed: pip install 'nimt[torch]'")
    run(text, name_of(page))


# what is said between the blocks


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_on_a_page_is_in_a_block_that_is_run(page):
    for fence in FENCE.finditer(page.read_text(encoding="utf-8")):
        assert fence[1] in LANGUAGES, f"{name_of(page)}: ```{fence[1]}"
        assert fence[1] == "python" or not PYTHON.search(fence[2]), (
            f"{name_of(page)} has code that is not run: {fence[2]}"
        )


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=name_of)
def test_names_in_the_text_of_a_page_exist(page):
    """The changelog also names what was removed."""
    for span in INLINE.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        for name in NAME.findall(span):
            assert exists(name), f"{name_of(page)} names {name}"


def exists(name: str) -> bool:
    """Say whether a dotted name is one of a module, or of something in a module."""
    module, _, rest = name.partition(".")
    thing: object = importlib.import_module(module)
    for part in rest.split("."):
        try:
            thing = getattr(thing, part)
        except nimt.errors.MissingExtra:
            return True  # it is there, and needs a package that is not
        except AttributeError:
            if find_spec(f"{getattr(thing, '__name__', '')}.{part}") is None:
                return False
            thing = importlib.import_module(f"{thing.__name__}.{part}")  # type: ignore[attr-defined]
    return True


@pytest.mark.long
def test_the_page_on_extending_writes_one_of_everything_that_can_be_checked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (HOME / "docs" / "extending.md").read_text(encoding="utf-8")
    for name in (name for name in vars(testing) if name.startswith("check_")):
        if getattr(testing, name).__module__ == testing.__name__:
            assert any(f"testing.{name}(" in block.code for block in blocks_of(text)), f"the page never calls {name}"
    written = [thing for thing in run(text, "extending").values() if isinstance(thing, type)]
    for protocol in (Learner, Pupil, Loss):
        members = {name for name in (*vars(protocol), *protocol.__annotations__) if not name.startswith("_")}
        assert any(members <= {*dir(thing), *assigned(thing, text)} for thing in written), f"no {protocol.__name__}"


def assigned(thing: type, text: str) -> set[str]:
    """Return the attributes that a class on a page gives its objects."""
    found = re.search(rf"^class {thing.__name__}\b.*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"self\.(\w+)(?:, self\.\w+)* =", found[0])) if found else set()


def test_a_pupil_that_lacks_something_is_refused_by_name():
    class Half:
        values = np.zeros(2)

        def learn(self, indices, labels): ...

        def to_learner(self): ...

    class Mine:
        def predict(self, X): ...

        def partial_fit(self, X, y): ...

        def make_pupil(self, pool):
            return Half()

    with pytest.raises(nimt.InvalidInput, match="the pupil of Mine, a Half, has no loss and no diagonal and no state"):
        nimt.teach(Mine(), nimt.GreedyTeacher(), [0.0, 1.0], [1.0, 2.0], max_iterations=1, tol=None)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_pictures_of_a_page_exist(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if not link.startswith(("http://", "https://", "#")):
            assert (page.parent / link.partition("#")[0]).exists(), f"{name_of(page)} links to {link}"


@pytest.mark.parametrize("page", DOCS, ids=name_of)
def test_every_page_is_in_the_table_of_contents(page):
    index = HOME / "docs" / "pages.md"
    if page != index:
        assert f"]({page.relative_to(index.parent).as_posix()})" in index.read_text(encoding="utf-8")


def test_pictures_are_small():
    for picture in HOME.glob("docs/images/*"):
        assert picture.stat().st_size < LARGEST_IMAGE, picture.name


# the mechanism itself


def test_wrong_output_is_noticed():
    page = "```python\nprint(1)\n```\n\n```text\n2\n```\n"
    with pytest.raises(AssertionError, match="page, line 2"):
        run(page, "page")


def test_blocks_share_a_namespace_and_other_fences_are_left_alone():
    run("```python\na = 1\n```\n```sh\nexit 1\n```\n```python\nprint(a + 1)\n```\n```text\n2\n```\n", "page")


def test_readme_begins_with_a_picture_and_six_lines_that_print_something():
    text = (HOME / "README.md").read_text(encoding="utf-8")
    (first, *_) = blocks_of(text)
    lines = [line for line in first.code.splitlines() if line.strip()]
    assert len(lines) <= 6 and first.prints is not None
    assert 0 < text.index("![") < text.index("pip install") < text.index(first.code)
    assert first.line < 20
