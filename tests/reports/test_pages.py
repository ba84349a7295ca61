"""Pages: everything given is text, whatever it looks like, and a page needs nothing but itself."""

import re

import pytest

from nimt.reports import html as pages
from nimt.reports.summary import compiling_text

RAW = "<b>&\"'"
SAFE = "&lt;b&gt;&amp;&quot;&#x27;"
PIECES = {
    "contents": lambda text: pages.contents({text: text}),
    "heading": pages.heading,
    "named heading": lambda text: pages.heading(text, text),
    "subheading": pages.subheading,
    "paragraph": pages.paragraph,
    "bullets": lambda text: pages.bullets([text, text]),
    "tags": lambda text: pages.tags([text, text]),
    "picture": lambda text: pages.picture(b"x", "image/png", text, 1),
    "tiles": lambda text: pages.tiles({text: text}),
    "pairs": lambda text: pages.pairs({text: text}),
    "table": lambda text: pages.table([text, text], [[text, text]], words=[1], groups=[0]),
    "remark": pages.remark,
    "code": pages.code,
    "page": lambda text: pages.page(text, text, [], text),
}


@pytest.mark.parametrize("name", PIECES)
def test_a_piece_escapes_what_it_is_given(name):
    piece = PIECES[name](RAW)
    assert SAFE in piece
    assert RAW not in piece
    assert piece.count(SAFE) == PIECES[name]("@@@").count("@@@")


def test_a_page_holds_its_parts_in_order_and_loads_nothing():
    page = pages.page("title", "lead", [pages.contents({"a": "A"}), pages.heading("A", "a"), pages.remark("r")], "end")
    places = [
        page.index(part) for part in ("<h1>title", "lead</p>", '<nav><a href="#a">', '<h2 id="a">', ">r<", ">end<")
    ]
    assert places == sorted(places)
    assert not re.search(r"<script|<link|@import|url\(|https?:", page)


def test_a_picture_has_a_number_if_it_is_given_one():
    assert "Figure" not in pages.picture(b"x", "image/png", "said")
    assert "<figcaption><b>Figure 3.</b> said</figcaption>" in pages.picture(b"x", "image/png", "said", 3)


def test_a_table_knows_words_from_numbers_and_where_groups_begin():
    shown = pages.table(["a", "b", "c"], [["1", "2", "3"], ["4", "5", "6"]], words=[2], groups=[1])
    assert re.findall(r'<t[dh] class="(\w+)">', shown) == ["words", "number", "words"] * 3
    rows = re.findall(r"<tr[^>]*>", shown)
    assert ["group" in row for row in rows] == [False, False, True]


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="zip"):
        pages.table(["a", "b"], [["1"]])


def test_what_is_none_is_left_out_of_pairs():
    assert "tol" not in pages.pairs({"tol": None, "seed": 0})
    assert "seed" in pages.pairs({"tol": None, "seed": 0})


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (6, 6), (7, 4), (9, 5), (13, 5)])
def test_no_tile_is_left_alone(count, columns):
    assert f"--columns: {columns}" in pages.tiles({str(place): "1" for place in range(count)})


def test_the_seconds_of_compiling_are_a_number():
    assert compiling_text({"compiling_seconds": 0.759}) == "0.759"
