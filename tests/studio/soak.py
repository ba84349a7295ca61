"""Ten minutes with four racing lessons in a browser: memory stays flat, and nobody waits.

python tests/studio/soak.py --minutes 10
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from browsers import a_browser
from studio.conftest import running

FOUR = """studio.form.teachers.list = [['greedy', 0.01], ['random', 0.01], ['synthesis', 0.01], ['packs', 0.01]]
  .map(([preset, rate]) => ({ preset, rate }))"""
WATCH = """(() => { window.gaps = 0; let before = performance.now();
  const look = (now) => {
    window.gaps = Math.max(window.gaps, now - before); before = now; requestAnimationFrame(look);
  };
  requestAnimationFrame(look); })()"""


IDLE = """import sys, time, select
before, longest = time.perf_counter(), 0.0
while True:
    time.sleep(0.005)
    now = time.perf_counter()
    longest, before = max(longest, now - before - 0.005), now
    if select.select([sys.stdin], [], [], 0)[0]:
        if not sys.stdin.readline():
            break
        print(1000 * longest, flush=True)
        longest = 0.0
"""


@contextlib.contextmanager
def an_idle_process():
    """Hand out the longest gap of a process that only sleeps: what a busy machine does to anyone."""
    arguments = [sys.executable, "-c", IDLE]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def longest() -> float:
            process.stdin.write("\n")
            process.stdin.flush()
            return float(process.stdout.readline())

        yield longest
        process.stdin.close()


def soak(minutes: float) -> None:
    """Race, play and scrub until the time is over; print a line every ten seconds."""
    names = ("seconds", "races", "server MB", "page MB", "server gap ms", "idle gap ms", "page gap ms", "frames/s")
    print(" ".join(f"{name:>13}" for name in names))
    with running() as studio, a_browser() as browser, an_idle_process() as idle_gap:
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
            numbers = (now - began, races, health["memory_mb"], heap, health["longest_gap_ms"], idle_gap(), gap)
            print(" ".join(f"{value:13.1f}" for value in (*numbers, (drawn - frames) / (now - looked))), flush=True)
            frames, looked = drawn, now


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    soak(parser.parse_args().minutes)
