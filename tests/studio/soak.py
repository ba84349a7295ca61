"""Ten minutes with four racing lessons in a browser: memory stays flat, and nobody waits.

python tests/studio/soak.py --minutes 10
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from browsers import a_browser
from studio.conftest import running

FOUR = """studio.form.racers = [['greedy', 0.01], ['random', 0.01], ['synthesis', 0.01], ['packs', 0.01]]
  .map(([preset, rate]) => ({ preset, rate }))"""
WATCH = """(() => { window.gaps = 0; let before = performance.now();
  const look = (now) => { window.gaps = Math.max(window.gaps, now - before); before = now; requestAnimationFrame(look); };
  requestAnimationFrame(look); })()"""


def soak(minutes: float) -> None:
    """Race, play and scrub until the time is over; print a line every ten seconds."""
    print(
        f"{'seconds':>8} {'races':>6} {'server MB':>10} {'page MB':>8} {'server gap ms':>14} {'page gap ms':>12} {'frames/s':>9}"
    )
    with running() as studio, a_browser() as browser:
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.add_init_script("try { localStorage.setItem('nimt-guided', 'yes') } catch {}")
        page.goto(studio.address)
        page.wait_for_function("() => window.studio?.racers.length")
        page.evaluate(FOUR)
        page.select_option("#target-kind", "named:cat")
        page.wait_for_function("() => studio.racers.length === 4")
        studio.ask("GET", "/health")  # what came before does not count
        page.evaluate(WATCH)
        began, races, frames, looked = time.monotonic(), 1, page.evaluate("studio.frames"), time.monotonic()
        while time.monotonic() - began < 60 * minutes:
            page.evaluate("studio.clock.speed = 3000; studio.clock.play(1)")
            page.wait_for_timeout(4000)
            page.evaluate("studio.clock.play(-1)")
            page.wait_for_timeout(2000)
            page.evaluate("studio.seek(Math.random() * studio.clock.end)")
            page.wait_for_timeout(2000)
            page.click("#race")
            races += 1
            page.wait_for_timeout(2000)
            now = time.monotonic()
            health = json.loads(studio.ask("GET", "/health")[2])
            heap = page.evaluate("performance.memory ? performance.memory.usedJSHeapSize / 2**20 : 0")
            gap = page.evaluate("(() => { const gap = window.gaps; window.gaps = 0; return gap; })()")
            drawn = page.evaluate("studio.frames")
            print(f"{now - began:8.0f} {races:6d} {health['memory_mb']:10.1f} {heap:8.1f} {health['longest_gap_ms']:14.1f} "
                  f"{gap:12.1f} {(drawn - frames) / (now - looked):9.1f}", flush=True)  # fmt: skip
            frames, looked = drawn, now


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    soak(parser.parse_args().minutes)
