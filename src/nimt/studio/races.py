"""Races under way: who teaches next, who may ask for how much, and what is forgotten when nobody looks."""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from nimt.engines._numba.second_compiler import SecondCompiler
from nimt.errors import InvalidInput
from nimt.recipe.recipe import Recipe
from nimt.sources.source import Source
from nimt.studio.racer import Origin, Racer
from nimt.studio.requests import PERSON, RaceProblem, change_racer

T = TypeVar("T")

RACES_PER_BROWSER = 2
FILES_PER_BROWSER = 4
MOST_RACES = 48  # of all browsers: a browser is known by its cookie, and a cookie can be made up
MOST_BROWSERS = 48  # whose files are kept
MOST_BRANCHES = 12  # racers of one race, forks included
LOADING = 0.5  # seconds that loading takes at most: what takes longer is being compiled
PATIENCE = 60.0  # seconds a race goes on without anyone who looks


@dataclass(eq=False)
class Race:
    """Some racers on one problem, and the request they came from."""

    name: str
    browser: str
    racers: list[Racer]
    watchers: int = 0
    left_at: float = field(default_factory=time.monotonic)

    @property
    def forgotten(self) -> bool:
        return self.watchers == 0 and time.monotonic() - self.left_at > PATIENCE

    def racer(self, number: Any) -> Racer:
        """Return a racer by its number."""
        if type(number) is not int or not 0 <= number < len(self.racers):
            raise InvalidInput(f"this race has the racers 0 to {len(self.racers) - 1}, not {str(number)[:20]}")
        return self.racers[number]


class RaceRunner:
    """Teach all racers in one thread, a slice of time each, so that they share the clock and the page stays alive.

    Another thread gets new racers ready, and loads what the usual kinds of lessons need before anyone asks for it.

    Parameters
    ----------
    compiler : SecondCompiler, optional
        Who compiles; it rests while there is nothing to be compiled.
    """

    def __init__(self, compiler: SecondCompiler | None = None) -> None:
        self.compiler = compiler
        self.races: dict[str, Race] = {}
        self.files: dict[str, dict[str, Source]] = {}
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        self._wake = threading.Event()
        self._starting = threading.Lock()
        self._closing = False
        self._arrived = threading.Event()
        self._at_work_since: float | None = None  # on what is to be loaded or compiled
        self._threads = [
            threading.Thread(target=self._teach, name="nimt-classroom", daemon=True),
            threading.Thread(target=self._get_ready, name="nimt-preparation", daemon=True),
        ]

    def open(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End all lessons and the threads."""
        self._closing = True
        self._wake.set()
        self._arrived.set()
        if self.compiler is not None:
            self.compiler.close()
        for thread in self._threads:
            thread.join(timeout=5)
        self.races.clear()

    @property
    def is_compiling(self) -> bool:
        """Whether a lesson waits, or the first one would, for what takes too long to be loaded: it is compiled."""
        since = self._at_work_since
        if since is None or time.monotonic() - since < LOADING:
            return False
        return not self.races or any(not racer.is_begun for racer in self._racers())

    def _racers(self) -> list[Racer]:
        return [racer for race in list(self.races.values()) for racer in list(race.racers)]

    def ask(self, job: Callable[[], T]) -> Future[T]:
        """Have something done between two slices, in the thread that teaches."""
        answer: Future[T] = Future()
        self._jobs.put((job, answer))
        self._wake.set()
        return answer

    # -- what runs in the thread

    def _teach(self) -> None:
        while not self._closing:
            self._do_jobs()
            self._forget()
            self._begin_plainly()
            busy = [racer for racer in self._racers() if racer.is_begun and not racer.rests]
            for racer in busy:
                racer.slice()
                time.sleep(0)  # let the event loop have its turn
                self._do_jobs()
            if not busy:
                self._wake.wait(0.25)
                self._wake.clear()

    def _begin_plainly(self) -> None:
        """Let small lessons begin in the plain loop while the other process compiles, which may take a minute."""
        if self.compiler is None or not self.compiler.is_running:
            return
        for racer in self._racers():
            if not racer.is_begun and racer.can_begin_plainly:
                racer.begin_plainly()

    def _do_jobs(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                job, answer = self._jobs.get_nowait()
                if not answer.set_running_or_notify_cancel():
                    continue
                try:
                    answer.set_result(job())
                except Exception as error:
                    answer.set_exception(error)

    # -- what runs in the thread that gets racers ready

    def _get_ready(self) -> None:
        kinds = self._usual_kinds()
        while not self._closing:
            new = next((racer for racer in self._racers() if not racer.is_begun), None)
            self._at_work_since = time.monotonic()
            if new is not None:
                new.begin()
                self._wake.set()
                continue
            make = next(kinds, None)
            if make is not None:
                with contextlib.suppress(Exception):
                    make().take(3)
                continue
            self._at_work_since = None
            if self.compiler is not None:
                self.compiler.rest()
            self._arrived.wait()
            self._arrived.clear()

    @staticmethod
    def _usual_kinds() -> Iterator[Callable[[], Racer]]:
        """Yield one small lesson of each kind, so that the loops are compiled before anyone waits for them."""
        from nimt.pools.pool import Grid

        short = Recipe(target="", iterations=3)
        kinds = (
            short, replace(short, teacher="random"), replace(short, k="0.05"), replace(short, k="1.0"),
            replace(short, teacher="synthesis"), replace(short, teacher="soft"),
        )  # fmt: skip
        for shape in ((8,), (48, 48)):  # the second large enough for every way of showing a pack
            grid = Grid(*(np.arange(float(length)) for length in shape))
            setting = RaceProblem(grid, np.arange(float(len(grid))), np.zeros(len(grid)))
            for recipe in kinds:
                yield partial(Racer, recipe, setting)
        colours = replace(setting, target=np.ones((len(grid), 3)), initial=np.zeros((len(grid), 3)))
        for recipe in kinds[:2]:
            yield partial(Racer, recipe, colours)

    def _forget(self) -> None:
        for name in [name for name, race in list(self.races.items()) if race.forgotten]:
            self.races.pop(name, None)

    # -- what a page asks for

    def start(self, browser: str, recipes: list[Recipe], setting: RaceProblem) -> Race:
        """Begin a race; the oldest of a browser's races makes room where there are too many. Any thread may ask."""
        racers = [Racer(recipe, setting) for recipe in recipes]
        with self._starting:
            mine = [race for race in list(self.races.values()) if race.browser == browser]
            for race in mine[: max(0, len(mine) - RACES_PER_BROWSER + 1)]:
                self.races.pop(race.name, None)
            self._make_room()
            race = Race(secrets.token_urlsafe(9), browser, racers)
            self.races[race.name] = race
        self._arrived.set()
        return race

    def _make_room(self) -> None:
        if len(self.races) < MOST_RACES:
            return
        unseen = [race for race in list(self.races.values()) if race.watchers == 0]
        if not unseen:
            raise InvalidInput(f"{MOST_RACES} races are being watched: close a page")
        self.races.pop(min(unseen, key=lambda race: race.left_at).name, None)

    def find(self, browser: str, name: Any) -> Race:
        """Return a race of this browser, whoever else may know its name."""
        race = self.races.get(name) if isinstance(name, str) else None
        if race is None or race.browser != browser:
            raise InvalidInput("this race is over and forgotten: start it again")
        return race

    def fork(self, race: Race, number: Any, step: Any, change: Any) -> int:
        """Let a racer go on from a step with something changed; return the number of the new one."""
        parent = race.racer(number)
        if len(race.racers) >= MOST_BRANCHES:
            raise InvalidInput(f"a race has {MOST_BRANCHES} branches at most: start a new one")
        if parent.person is not None:
            raise InvalidInput("a lesson of your own cannot be forked: fork the one beside it")
        if type(step) is not int or step < 0:
            raise InvalidInput(f"a fork begins at a step, a whole number from 0, got {str(step)[:20]}")
        at, values = parent.values_at(step)
        recipe, target, said = change_request(parent, change)
        setting = replace(parent.setting, target=target, initial=values)
        recipe = replace(recipe, iterations=max(1, parent.recipe.iterations - at))
        origin = Origin(number, at, said, parent.origin.begins + at)
        race.racers.append(Racer(recipe, setting, origin))
        self._arrived.set()
        return len(race.racers) - 1

    def keep_file(self, browser: str, source: Source) -> str:
        """Keep what a browser dropped, the latest few, and return its name."""
        kept = self.files.setdefault(browser, {})
        while len(self.files) > MOST_BROWSERS:
            self.files.pop(next(iter(self.files)))  # the one that came first
        while len(kept) >= FILES_PER_BROWSER:
            kept.pop(next(iter(kept)))
        name = secrets.token_urlsafe(9)
        kept[name] = source
        return name


def change_request(parent: Racer, change: Any) -> tuple[Recipe, Any, str]:
    """Return the recipe and the target of a fork, and what is different in a few words."""
    if not isinstance(change, dict) or len(change) != 1:
        raise InvalidInput("a fork changes one thing: the target, the rate or the teacher")
    ((what, value),) = change.items()
    target = parent.setting.target
    if what == "target":
        target = np.array(target)
        points = value if isinstance(value, list) else []
        if not points or len(points) > 10_000:
            raise InvalidInput("a change of the target is a list of [point, value], 10,000 at most")
        for entry in points:
            if not isinstance(entry, list) or len(entry) != 2 or type(entry[0]) is not int:
                raise InvalidInput("a change of the target is a list of [point, value]")
            point, new = entry
            if not 0 <= point < len(target) or not isinstance(new, int | float) or not abs(new) < 1e100:
                raise InvalidInput(f"the point {str(point)[:20]} cannot be set to {str(new)[:20]}")
            target[point] = new
        return parent.recipe, target, "changed target"
    if what == "rate":
        return change_racer(parent.recipe, {"rate": value}), target, f"rate {value}"
    if what == "teacher":
        recipe = change_racer(parent.recipe, {"teacher": value})
        if recipe.teacher == PERSON:
            raise InvalidInput("a person teaches from the start: press Be the teacher")
        return recipe, target, ""  # the page says who teaches
    raise InvalidInput(f"a fork changes the target, the rate or the teacher, not {str(what)[:20]!r}")
