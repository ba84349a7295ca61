"""Print how the studio keeps its pace in a real browser: `python -m benchmarks.studio` (about two minutes).

Frames per second of two teachers at 512 x 512, the first picture after the page opens, the longest gap of the event
loop while lessons run, and how long a page takes to replay 60,000 steps. `--minutes 10` soaks instead: four racing
lessons, a line every ten seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import psutil

import nimt
from browsers import a_browser

SCREEN = {"width": 1280, "height": 900}
GUIDED = "try { localStorage.setItem('nimt-guided', 'yes') } catch {}"
RACE = "(request) => studio.start(request)"
# what is drawn between two looks: frames, the steps they show, and the longest time between two while it plays
WATCH = """() => { window.seen = { frames: 0, gap: 0, shown: new Set(), began: performance.now() };
  const draw = studio.draw.bind(studio); let before = performance.now(); let playing = false;
  studio.draw = () => { draw(); const now = performance.now(); const racer = studio.racers[0];
    window.seen.frames++; if (playing) window.seen.gap = Math.max(window.seen.gap, now - before);
    before = now; playing = studio.clock.playing;
    if (racer) { const step = studio.stepOf(racer);
      const { known } = racer.lesson; // the steps of frames, where these are all that is known
      window.seen.shown.add(known ? known[racer.lesson.place(step)] : step); } }; }"""
LOOK = """() => { const { frames, gap, shown, began } = window.seen; const now = performance.now();
  window.seen = { frames: 0, gap: 0, shown: new Set(), began: now };
  return { frames: 1000 * frames / (now - began), pictures: 1000 * shown.size / (now - began), gap }; }"""
HEALTH = "fetch('/health').then((answer) => answer.json())"
PLANE = {"kind": "formula", "text": "sin(3*x) * cos(2*y) + 0.3 * sin(11*x*y)", "axes": [[-3, 3, 512], [-3, 3, 512]]}
KINDS = {
    "one example, a kernel of 121 points": ({"width": 0.012}, {"k": 1}, {"k": 1, "teacher": "random"}),
    "one example, a kernel of 749 points": ({"width": 0.03}, {"k": 1}, {"k": 1, "teacher": "random"}),
    "one example, a kernel of 8,405 points": ({"width": 0.1}, {"k": 1}, {"k": 1, "teacher": "random"}),
    "packs of 5 %": ({"width": 0.03}, {"k": 0.05}, {"k": 0.05, "teacher": "random"}),
    "the whole pool": ({"width": 0.03}, {"k": "whole"}, {"k": "whole"}),
}
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
def a_studio():
    """Run `nimt studio` in a process of its own; hand out its address."""
    arguments = [sys.executable, "-c", "from nimt.cli.app import run; run(['studio', '--no-browser'])"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


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


@contextlib.contextmanager
def at_one_priority():
    """Keep the browser at the priority of this process: Chromium changes that of its threads by itself."""
    mine, done = os.getpriority(os.PRIO_PROCESS, 0), threading.Event()

    def keep():
        while not done.wait(0.3):
            for process in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error, OSError):
                    if process.name().startswith("chrom"):  # the studio lets its compiler have less
                        for thread in process.threads():
                            os.setpriority(os.PRIO_PROCESS, thread.id, mine)

    keeper = threading.Thread(target=keep, daemon=True)
    if mine < 0:
        keeper.start()
    yield
    done.set()


def open_page(browser, address):
    page = browser.new_context(viewport=SCREEN).new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(GUIDED)
    page.goto(address)
    page.wait_for_function("() => window.studio?.drawnAt")
    return page


def first_pictures(browser, address):
    """Print how long after a page is opened its first lesson is drawn: at once, and once everything is compiled."""
    for when in ("just started", "again", "again"):
        page = open_page(browser, address)
        print(
            f"first picture, studio {when}: {page.evaluate('studio.drawnAt'):.0f} ms after the page opens (goal 1000)"
        )
        page.wait_for_function("() => studio.racers.every((racer) => racer.over)")
        page.context.close()


def paces(browser, address, seconds):
    """Print the frames per second of two teachers at 512 x 512, while they are taught and when they are played."""
    page = open_page(browser, address)
    page.evaluate(WATCH)
    for name, (rules, *racers) in KINDS.items():
        heavy = "k" in racers[0] and racers[0]["k"] != 1
        request = {
            "target": PLANE, "start": {"kind": "zero"}, "classes": False,
            "rules": {"steps": 2000 if heavy else 1_000_000, "tol": None, **rules},
            "racers": [{**racer, "rate": 0.02} for racer in racers],
        }  # fmt: skip
        page.evaluate(RACE, request)
        refused = page.inner_text("#alert")
        if refused:
            print(f"{name}: {refused}")
            continue
        page.wait_for_function("() => studio.racers.length === 2 && studio.racers.every((racer) => racer.taken > 1)")
        page.evaluate(HEALTH)
        page.evaluate("studio.clock.speed = 100000; studio.clock.play(1)")  # at the heels of the lessons
        page.evaluate(LOOK)
        page.wait_for_timeout(1000 * seconds)
        taught, health = page.evaluate(LOOK), page.evaluate(HEALTH)
        taken = page.evaluate("studio.racers[0].taken")
        page.evaluate("studio.clock.pause(); studio.clock.seek(0)")
        # played as fast as in ten seconds from start to end
        page.evaluate("studio.clock.speed = Math.max(1, studio.clock.end / 10); studio.clock.play(1)")
        page.evaluate(LOOK)
        page.wait_for_timeout(1000 * seconds)
        played = page.evaluate(LOOK)
        print(f"{name:40} while taught {taught['frames']:5.1f} frames/s ({taught['pictures']:5.1f} different), "
              f"played {played['frames']:5.1f} ({played['pictures']:5.1f}); steps taken {taken:,}; "
              f"event loop's gap {health['longest_gap_ms']:.1f} ms", flush=True)  # fmt: skip
    page.context.close()


def replays(browser):
    """Print how long a page takes to replay 60,000 steps on the cat, and how large the file is."""
    problem = nimt.sources.read_problem("cat")
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), problem.pool, problem.target, max_iterations=60_000, tol=None)
    path = Path("out") / "replay-of-the-cat.html"
    path.parent.mkdir(exist_ok=True)
    lesson.replay(path)
    page = browser.new_context(viewport=SCREEN).new_page()
    page.goto(path.resolve().as_uri())
    page.wait_for_function("() => window.player")
    timed = """(() => { const { lesson } = player;
      lesson.frames.clear(); lesson.values.set(lesson.initial); lesson.step = 0;
      const began = performance.now(); player.valuesAt(60000); return performance.now() - began; })()"""
    milliseconds = sorted(page.evaluate(timed) for _ in range(7))
    back = """(() => { const began = performance.now(); player.valuesAt(123); player.valuesAt(41234);
      return (performance.now() - began) / 2; })()"""
    seek = min(page.evaluate(back) for _ in range(5))
    print(f"60,000 steps on the cat: {milliseconds[0]:.0f} ms at best, {milliseconds[3]:.0f} ms usually; "
          f"a seek {seek:.1f} ms; {path.stat().st_size / 1e6:.2f} MB")  # fmt: skip
    page.context.close()


def soak(browser, address, minutes):
    """Race four lessons, play and scrub until the time is over; print a line every ten seconds.

    The first line's gap of the server counts from its start. Set NUMBA_CACHE_DIR to an empty folder to see how it is
    while everything is compiled for the first time.
    """
    names = (
        "seconds",
        "races",
        "server MB",
        "page MB",
        "server gap ms",
        "idle gap ms",
        "page gap ms",
        "frames/s",
        "load",
    )
    print(" ".join(f"{name:>13}" for name in names))
    four = [{"teacher": "greedy"}, {"teacher": "random"}, {"teacher": "synthesis"}, {"teacher": "greedy", "k": 0.05}]
    page = open_page(browser, address)
    page.select_option("#target-kind", "named:cat")
    page.evaluate(
        "(four) => { studio.form.teachers.fill(four); studio.form.teachers.draw() }",
        [one | {"rate": 0.01} for one in four],
    )
    page.click("#race")
    page.wait_for_function("() => studio.racers.length === 4")
    page.evaluate(WATCH)
    began, races = time.monotonic(), 1
    with an_idle_process() as idle_gap:
        while time.monotonic() - began < 60 * minutes:
            page.evaluate("studio.time.chosen = true; studio.clock.speed = 3000; studio.clock.play(1)")
            page.wait_for_timeout(4000)
            page.evaluate("studio.clock.play(-1)")
            page.wait_for_timeout(2000)
            drawn = page.evaluate(LOOK)  # it is always playing until here
            page.evaluate("studio.seek(Math.random() * studio.clock.end)")
            page.wait_for_timeout(2000)
            page.click("#race")
            races += 1
            page.wait_for_timeout(2000)
            page.evaluate(LOOK)
            health = page.evaluate(HEALTH)
            heap = page.evaluate("performance.memory ? performance.memory.usedJSHeapSize / 2**20 : 0")
            numbers = (time.monotonic() - began, races, health["memory_mb"], heap, health["longest_gap_ms"], idle_gap(),
                       drawn["gap"], drawn["frames"], os.getloadavg()[0])  # fmt: skip
            print(" ".join(f"{value:13.1f}" for value in numbers), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="soak for so long instead")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement of frames")
    options = parser.parse_args()
    with a_studio() as address, a_browser() as browser, at_one_priority():
        time.sleep(1.0)
        print(f"load when it began: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        if options.minutes:
            soak(browser, address, options.minutes)
            return
        first_pictures(browser, address)
        replays(browser)
        paces(browser, address, options.seconds)


if __name__ == "__main__":
    main()
