"""Beat the greedy teacher: the page, its codes, and the results of a class."""

from __future__ import annotations

import numpy as np
import pytest

import nimt
from browsers import a_browser, a_page
from nimt.challenge import Challenge, read_code, write_challenge, write_code
from nimt.challenge.class_figure import read_results
from nimt.cli.app import run

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def challenge():
    return Challenge(nimt.sources.read_problem("gmm", "gmm:start"))


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


def test_a_code_with_one_wrong_letter_or_two_that_changed_places_is_refused():
    code = write_code(513, list(range(12)), points=280)
    assert read_code(code.lower().replace("-", ""), 513, 12, 280) == list(range(12))
    letters = code.replace("-", "")
    wrong = [letters[:at] + ("2" if letters[at] != "2" else "3") + letters[at + 1 :] for at in range(len(letters))]
    wrong += [
        letters[:at] + letters[at + 1] + letters[at] + letters[at + 2 :]
        for at in range(len(letters) - 1)
        if letters[at] != letters[at + 1]
    ]
    for other in [*wrong, letters[:-1], letters + "0", ""]:
        with pytest.raises(nimt.InvalidInput, match="copy it again"):
            read_code(other, 513, 12, 280)
    with pytest.raises(nimt.InvalidInput, match="another challenge"):
        read_code(code, 514, 12, 280)


def test_a_class_is_ranked_by_what_its_codes_say(challenge, tmp_path, monkeypatch, capsys):
    greedy = [int(point) for point in challenge.greedy.indices[:, 0]]
    codes = {"Ada": greedy, "Bob B.": [5] * 12, "Cy": [*greedy[:11], 5]}
    lines = [
        "# our class",
        "",
        *(f"{name}, {write_code(challenge.number, shown, 280)}" for name, shown in codes.items()),
    ]
    table = read_results(challenge, lines)
    assert [game.name for game in table.games] == ["Ada", "Cy", "Bob B."]
    assert table.greedy == challenge.greedy.discrepancy[-1] == pytest.approx(table.games[0].discrepancy, rel=1e-12)
    assert table.winners == 0
    shortest = table.shortest
    assert len(shortest.shown) <= 12 and challenge.play(shortest.shown) == shortest.discrepancy < table.greedy
    assert not challenge.is_beaten_by(challenge._exchange(len(shortest.shown) - 1))
    better = challenge.best  # greedy can be beaten
    assert table.best == better.discrepancy == challenge.play(better.shown) < 0.95 * table.greedy
    assert read_results(challenge, [write_code(challenge.number, better.shown, 280)]).winners == 1
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codes.txt").write_text("\n".join(lines))
    assert run(["challenge", "--results", "codes.txt", "--out", "class.pdf"]) == 0
    assert "1. Ada: M = " in capsys.readouterr().out
    assert b"/Type3" not in (tmp_path / "class.pdf").read_bytes()
    capsys.readouterr()


def test_one_damaged_code_does_not_stop_the_class(challenge, tmp_path, monkeypatch, capsys):
    code = write_code(challenge.number, list(range(12)), 280)
    bad = ["Bob " + code[:-1] + ("2" if code[-1] != "2" else "3"), "Cy hello"]
    monkeypatch.chdir(tmp_path)
    codes = tmp_path / "codes.txt"
    codes.write_text("\n".join(["# our class", bad[0], f"Ada {code}", bad[1]]))
    assert run(["challenge", "--results", "codes.txt", "--quiet"]) == 0
    assert (tmp_path / "challenge.png").stat().st_size > 1000
    error = capsys.readouterr().err
    assert error.count("\n") == 2
    assert "warning: line 2 of codes.txt (Bob) is left out: " in error and "is damaged: copy it again" in error
    assert "warning: line 4 of codes.txt (Cy) is left out: 'hello' is no code of this challenge" in error
    (tmp_path / "challenge.png").unlink()
    codes.write_text("\n".join(bad))
    assert run(["challenge", "--results", "codes.txt"]) == 2
    error = capsys.readouterr().err
    assert "line 1 of codes.txt (Bob)" in error and "line 2 of codes.txt (Cy)" in error and error.count("\n") == 3
    assert "error: codes.txt holds no code that can be read" in error
    assert not (tmp_path / "challenge.png").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["iris.csv"], "iris.csv"),
        (["--clicks", "0"], "clicks"),
        (["cat"], "points at most"),
        (["--results", "none.txt"], "cannot be read"),
        (["--out", "nowhere/a.html"], "in a folder that is there"),
    ],
)
def test_what_cannot_be_a_challenge_is_refused_in_a_sentence(arguments, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["challenge", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_a_telephone_plays_it_with_fingers_and_keys(challenge, browser, tmp_path):
    file = tmp_path / "challenge.html"
    write_challenge(challenge, file)
    assert file.stat().st_size < 150_000
    asked = []
    with a_page(browser, viewport={"width": 390, "height": 844}, has_touch=True) as page:
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_function("() => window.challenge")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        box = page.locator("#board").bounding_box()
        for share in (0.25, 0.6, 0.4, 0.9):
            page.touchscreen.tap(box["x"] + share * box["width"], box["y"] + 60)
        assert page.evaluate("challenge.game.shown.length") == 4
        page.focus("#board")
        for _ in range(8):
            page.keyboard.press("Shift+ArrowLeft")
            page.keyboard.press("ArrowRight")
            page.keyboard.press("Enter")
        page.wait_for_selector("#end:visible")
        page.keyboard.press("Enter")  # it is over
        shown, end, code = page.evaluate("[challenge.game.shown, challenge.game.curve.at(-1), challenge.game.code]")
        assert page.input_value("#code") == code
        assert read_code(code, challenge.number, 12, 280) == shown
        assert end == pytest.approx(challenge.play(shown), rel=1e-12)
        low, high = page.evaluate("challenge.view.limits")
        assert low <= min(page.evaluate("Array.from(challenge.game.values)"))  # nothing is drawn over the axis
        assert high >= max(page.evaluate("Array.from(challenge.game.values)"))
        page.click("#again")
        for point in challenge.greedy.indices[:, 0]:
            page.evaluate(f"challenge.spot = {point}; challenge.show()")
        curve = np.array(page.evaluate("challenge.game.curve"))
        np.testing.assert_allclose(curve, challenge.greedy.discrepancy, rtol=1e-12)
        assert page.evaluate("challenge.game.points") == [100] * 12
    assert asked == [file.as_uri()]
