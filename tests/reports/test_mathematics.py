"""Formulas become MathML that is well formed, and those of the pages can all be typeset."""

import re
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest

import nimt
from nimt.measures import DistanceInH, DistanceOfWeights, PaperDiscrepancy, RootMeanSquare
from nimt.reports import html as pages
from nimt.reports.mathematics import FONTS, typeset, typeset_names

DOCS = Path(__file__).parents[2] / "docs"
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+(?:\n[^$\n]+)?)\$", re.DOTALL)


def formulas_of_pages():
    for page in sorted(DOCS.rglob("*.md")):
        if "built" in page.parts:
            continue
        text = re.sub(r"`[^`]*`", "", FENCED.sub("", page.read_text(encoding="utf-8")))
        yield from (one or other for one, other in FORMULA.findall(text))
    for cell in nbformat.read(DOCS / "lecture.ipynb", as_version=4).cells:
        if cell.cell_type == "markdown":
            yield from (one or other for one, other in FORMULA.findall(cell.source))


def tree(mathml):
    return ElementTree.fromstring(mathml)


def test_every_formula_of_the_pages_is_typeset():
    found = list(formulas_of_pages())
    assert len(found) > 30
    for latex in found:
        for display in (False, True):
            tree(typeset(latex, display=display))


@pytest.mark.parametrize("kind", [PaperDiscrepancy, RootMeanSquare, DistanceInH, DistanceOfWeights])
def test_every_measure_has_a_formula(kind):
    assert kind.latex and len(list(tree(typeset(kind.latex, display=True)).iter())) > 5


def test_what_stands_above_and_below():
    both = tree(typeset(r"\lVert f \rVert_{\mathcal{H}}^2")).find("msubsup")
    assert [part.text for part in both] == ["‖", "ℋ", "2"]
    under = tree(typeset(r"\min_{j<t} S_j", display=True)).find("math/munder")
    assert [part.text for part in under[1]] == ["j", "<", "t"]
    assert tree(typeset(r"\min_{j<t} S_j")).find("msub") is not None  # within a line it stands beside
    root = tree(typeset(r"\frac{1}{n} \sqrt{a + b}"))
    assert [part.text for part in root.find("mfrac")] == ["1", "n"]
    assert "".join(root.find("msqrt").itertext()) == "a+b"


def test_brackets_are_as_high_as_letters_unless_they_are_asked_to_grow():
    """Without this, a font for formulas makes each of them as high as the whole line."""
    signs = {part.text: part.get("stretchy") for part in tree(typeset(r"f(x) = \lVert y \rVert")).iter("mo")}
    assert signs == {"(": "false", ")": "false", "=": None, "‖": "false"}
    braces = tree(typeset(r"\{ |b| \}")).iter("mo")
    assert [(part.text, part.get("rspace")) for part in braces] == [("{", None), ("|", "0"), ("|", "0"), ("}", None)]
    high = tree(typeset(r"\exp\left(-\frac{a}{b}\right)^2")).find("msup/mrow")
    assert [high[0].text, high[-1].text] == ["(", ")"] and high[0].get("stretchy") is None
    for wrong in (r"\left(x", r"\left x \right)", r"\left(x\right"):
        with pytest.raises(nimt.InvalidInput, match="left"):
            typeset(wrong)


def test_pages_and_site_ask_for_the_same_fonts():
    assert FONTS in (DOCS / "site" / "static" / "site.css").read_text(encoding="utf-8")
    assert f"font-family: {FONTS}" in pages.page("title", "lead", [])


def test_a_wide_formula_scrolls_sideways_only():
    """A box that scrolls to one side scrolls to the other too, unless it is told not to: a bar beside each formula."""
    rule = re.search(r"\.formula \{([^}]*)\}", pages.page("title", "lead", []))[1]
    assert "overflow-x: auto" in rule and "overflow-y: hidden" in rule


def test_words_keep_their_letters_and_the_number_stands_at_the_end():
    shown = tree(typeset(r"\text{mean } S \le 1 \tag{4}", display=True))
    assert shown.find("math/mtext").text == "mean "
    assert shown.find("span").text == "(4)"


def test_prose_is_escaped():
    assert typeset_names("<b> & f0") == "&lt;b&gt; &amp; <math><msup><mi>f</mi><mn>0</mn></msup></math>"


@pytest.mark.parametrize("latex", [r"\foo", "{a", "a}", r"a^", r"\frac{1}"])
def test_what_is_not_known_is_refused(latex):
    with pytest.raises(nimt.InvalidInput, match="not typeset here"):
        typeset(latex)


def test_no_star_of_a_formula_is_taken_for_emphasis():
    """On every page f* in the prose is still f* when Markdown was read."""
    markdown = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    for page in sorted(DOCS.rglob("*.md")):
        if "built" in page.parts:
            continue
        text = re.sub(r"\$\$.+?\$\$|\$[^$\n]+\$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        shown = 0
        for token in markdown.parse(text):
            for part in token.children or ():
                shown += len(re.findall(r"\bf\*", part.content)) if part.type == "text" else 0
        prose = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", FENCED.sub("", text), flags=re.DOTALL)
        prose = re.sub(r"^(?: {4}|\t).*$", "", prose, flags=re.MULTILINE)
        assert shown == len(re.findall(r"\bf\\?\*(?!\*)", prose)), page
