"""Open the studio in Chromium, race on the mixture and on the cat, and save the page: docs/images/studio*.png."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.studio import GUIDED, a_browser, a_studio
from PIL import Image

HOME = Path(__file__).parents[1]

SCREEN = {"width": 1180, "height": 900}
LESSONS = {"x": 312, "y": 62, "width": 868, "height": 690}  # the page without its form
COLOURS = 64  # enough for a page, and a third of the bytes
OVER = "() => window.studio?.racers.length === 2 && studio.racers.every((racer) => racer?.over)"


def saved(page, path: Path, part=None) -> None:
    """Save the page, or a part of it, as it is seen, in few colours."""
    page.wait_for_timeout(500)
    with Image.open(io.BytesIO(page.screenshot(clip=part))) as picture:
        picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1024:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HOME / "docs" / "images")
    out = parser.parse_args().out
    with a_studio() as address, a_browser() as browser:
        page = browser.new_context(viewport=SCREEN, color_scheme="light").new_page()
        page.set_default_timeout(120_000)
        page.add_init_script(GUIDED)
        page.goto(address)
        page.wait_for_function(OVER)
        page.evaluate("studio.seek(450)")
        saved(page, out / "studio.png")
        page.select_option("#target-kind", "named:cat")
        page.wait_for_function("() => studio.request?.target.name === 'cat'")
        page.wait_for_function(OVER)
        page.evaluate("studio.seek(25000)")
        saved(page, out / "studio-cat.png", LESSONS)


if __name__ == "__main__":
    main()
