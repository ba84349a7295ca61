"""Take the pictures of studio, game and first page that the pages show: `python docs/site/screenshots.py [NAME ...]`.

It needs a Chromium; the first page is taken from the site that `make docs` built.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

HOME = Path(__file__).parents[2]
IMAGES = HOME / "docs" / "images"
sys.path[:0] = [str(HOME / "tests")]

import nimt  # noqa: E402
from browsers import a_browser, a_page  # noqa: E402
from nimt.challenge import Challenge, write_challenge  # noqa: E402
from studio.conftest import running  # noqa: E402

COLOURS = 96
LANDING = HOME / "out" / "site" / "index.html"
OVER = "() => window.studio && !studio.later && studio.racers.length && studio.racers.every((racer) => racer.over)"


def photograph(page: Any, name: str) -> None:
    """Write a picture with few colours, so that it stays small."""
    path = IMAGES / f"{name}.png"
    page.screenshot(path=path)
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(COLOURS)
    few.save(path, optimize=True)


def wait_at(page: Any, step: int) -> None:
    page.evaluate(f"studio.seek({step})")
    page.wait_for_function("() => !studio.asked")


def race(page: Any) -> None:
    wait_at(page, 26)


def draw(page: Any) -> None:
    page.select_option("#target-kind", "draw:curve")
    page.wait_for_selector("#empty:visible")
    box = page.locator("#sketch").bounding_box()
    for number, (across, down) in enumerate([(0.1, 0.5), (0.3, 0.2), (0.5, 0.6), (0.7, 0.3), (0.9, 0.5)]):
        page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"], steps=8)
        if number == 0:
            page.mouse.down()
    page.mouse.up()
    page.wait_for_function(OVER)
    wait_at(page, 12)


def cat(page: Any) -> None:
    page.select_option("#target-kind", "named:cat")
    page.wait_for_function(f"{OVER} && studio.racers[0].header.points > 8000", timeout=120_000)
    page.uncheck("#why")
    wait_at(page, 4000)


def why(page: Any) -> None:
    wait_at(page, 9)


def fork(page: Any) -> None:
    wait_at(page, 60)
    page.click("#poke")
    page.locator("#stages canvas").first.click(position={"x": 300, "y": 80})
    page.wait_for_function(f"{OVER} && studio.racers.length === 3")
    wait_at(page, 110)


def teach(page: Any) -> None:
    page.click("#be-teacher")
    page.wait_for_function("() => studio.teaching && studio.racers.length === 2 && studio.racers[1].over")
    for count, point in enumerate((40, 158, 30, 120), start=1):
        page.evaluate(f"studio.lessons.show({point})")
        page.wait_for_function(f"() => studio.racers[0].taken === {count}")
    box = page.locator("#stages canvas").first.bounding_box()
    page.mouse.move(box["x"] + 0.62 * box["width"], box["y"] + 100)


def take(page: Any) -> None:
    page.click("#open-take")
    page.click("#copy-python")
    page.wait_for_function("() => document.getElementById('copied').value.includes('nimt.teach')")


PICTURES: dict[str, Callable[[Any], None]] = {
    "studio": race, "studio-target": draw, "studio-cat": cat, "studio-why": why, "studio-fork": fork,
    "studio-teacher": teach, "studio-take": take,
}  # fmt: skip


def take_landing(browser: Any) -> None:
    """Take the first page of the site while its lesson plays."""
    if not LANDING.exists():
        raise SystemExit(f"there is no {LANDING.relative_to(HOME)}: run make docs first")
    with a_page(browser, viewport={"width": 1280, "height": 900}) as page:
        page.goto(LANDING.as_uri())
        frame = page.frame_locator("iframe.replay")
        frame.get_by_text("step 8 of").wait_for()
        photograph(page, "landing")


def take_challenge(browser: Any) -> None:
    """Take the game on a telephone after five examples."""
    with tempfile.TemporaryDirectory() as folder, a_page(browser, viewport={"width": 390, "height": 844}) as page:
        challenge = Challenge(nimt.sources.read_problem("gmm", "gmm:start"))
        write_challenge(challenge, Path(folder) / "challenge.html")
        page.goto((Path(folder) / "challenge.html").as_uri())
        page.wait_for_function("() => window.challenge")
        for point in challenge.greedy.indices[:5, 0]:
            page.evaluate(f"challenge.spot = {point}; challenge.show()")
        page.evaluate("challenge.spot = 170; challenge.draw()")
        photograph(page, "challenge")


OTHERS = {"landing": take_landing, "challenge": take_challenge}


def main(names: list[str]) -> None:
    unknown = set(names) - {*PICTURES, *OTHERS}
    if unknown:
        raise SystemExit(f"there is no picture {sorted(unknown)[0]!r}: {', '.join([*PICTURES, *OTHERS])}")
    wanted = names or [*PICTURES, *OTHERS]
    with a_browser() as browser:
        for name in OTHERS:
            if name in wanted:
                OTHERS[name](browser)
        if not set(wanted) & set(PICTURES):
            return
        with running() as studio:
            for name in (name for name in PICTURES if name in wanted):
                act = PICTURES[name]
                with a_page(browser, viewport={"width": 1280, "height": 900}) as page:
                    page.add_init_script("try { localStorage.setItem('nimt-guided', 'yes') } catch {}")
                    page.goto(studio.address)
                    page.wait_for_function(OVER, timeout=120_000)
                    act(page)
                    page.wait_for_timeout(200)
                    photograph(page, name)


if __name__ == "__main__":
    main(sys.argv[1:])
