"""axe-core finds nothing in the studio, with its guide, its dialogs and a game, at five sizes, light and dark."""

from __future__ import annotations

from nimt.studio.static_page import write_static_studio
from test_accessibility import OVER, browser, do_nothing, look

__all__ = ["browser"]


def close_guide(page):
    page.click("#guide >> text=Close")
    page.evaluate("studio.seek(9)")


def open_take(page):
    page.click("#open-take")


def open_keys(page):
    page.keyboard.press("Escape")
    page.click("#open-keys")


def present(page):
    page.keyboard.press("Escape")
    page.keyboard.press("f")


def test_the_studio_its_dialogs_and_a_presentation(browser, studio):
    look(browser, studio.address, OVER, do_nothing, close_guide, open_take, open_keys, present)


def test_the_game_and_a_drawing(browser, studio):
    def play(page):
        close_guide(page)
        page.click("#be-teacher")
        page.wait_for_function("() => studio.teaching && studio.racers.length === 2 && studio.racers[1].over")

    def draw(page):
        page.select_option("#target-kind", "draw:curve")
        page.select_option("#start-kind", "draw")
        page.wait_for_selector("#start-sketch:visible")

    look(browser, studio.address, OVER, play, draw)


def test_the_studio_without_a_server(browser, tmp_path):
    write_static_studio(tmp_path)
    look(browser, (tmp_path / "index.html").as_uri(), OVER, do_nothing, close_guide)
