"""One open page: what it asks for is done, and what its races did is sent, one message in flight."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from nimt.errors import InvalidInput, NimtError
from nimt.replay.lesson_recording import Recording
from nimt.studio.messages import number_of_request, read_message
from nimt.studio.races import Race, RaceRunner
from nimt.studio.requests import read_recipes, read_setting
from nimt.studio.safety import LARGEST_MESSAGE

PAUSE = 0.02  # seconds between two looks for news
SECONDS_FOR_AN_ANSWER = 30.0  # a page that does not answer for so long is taken to be gone


@dataclass
class Seen:
    """How much of a racer a page has."""

    introduced: bool = False
    steps: int = 0
    frame: int = 0  # the step of the latest
    status: dict[str, Any] = field(default_factory=dict)


class PageConnection:
    """Talk with one page."""

    def __init__(self, socket: WebSocket, classroom: RaceRunner, browser: str) -> None:
        self.socket = socket
        self.classroom = classroom
        self.browser = browser
        self.watched: dict[str, tuple[Race, list[Seen]]] = {}
        self.answered = asyncio.Event()

    async def hold(self) -> None:
        """Talk until the page is gone; its races go on for a while."""
        sender = asyncio.create_task(self._send_news())
        try:
            while True:
                message = await self.socket.receive()
                if message["type"] == "websocket.disconnect":
                    break
                await self._hear(message.get("text"))
        except (WebSocketDisconnect, RuntimeError):
            pass  # it vanished in the middle of a word
        finally:
            sender.cancel()
            for name in list(self.watched):
                self._leave(name)

    async def _hear(self, text: str | None) -> None:
        request: int | None = None
        try:
            if text is None or len(text) > LARGEST_MESSAGE:
                raise InvalidInput("a message must be text of at most 1 MB")
            message = read_message(text)
            request = number_of_request(message)
            await self._do(message)
        except NimtError as error:
            await self._say({"type": "refused", "request": request, "said": str(error)})

    async def _do(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        if kind == "ack":
            self.answered.set()
        elif kind == "race":
            await self._race(message)
        elif kind == "resume":
            await self._resume(message)
        elif kind == "leave":
            left = self._leave(message.get("race"))
            if left is not None and left.watchers == 0:  # not a line that broke: the page has another race now
                self.classroom.races.pop(left.name, None)
        elif kind == "fork":
            race = self.classroom.find(self.browser, message.get("race"))
            number = await self._ask(
                lambda: self.classroom.fork(race, message.get("racer"), message.get("step"), message.get("change"))
            )
            await self._say(
                {"type": "forked", "request": number_of_request(message), "race": race.name, "racer": number}
            )
        elif kind == "show":
            race = self.classroom.find(self.browser, message.get("race"))
            racer = race.racer(message.get("racer"))
            await self._ask(lambda: racer.show(message.get("point")))
        else:
            raise InvalidInput(f"a message of the type {str(kind)[:20]!r} is not known")

    async def _race(self, message: dict[str, Any]) -> None:
        recipes = read_recipes(message.get("rules"), message.get("racers"))
        files = self.classroom.files.get(self.browser, {})

        def start() -> Race:
            setting = read_setting(message.get("target"), message.get("start"), files, message.get("classes") is True)
            return self.classroom.start(self.browser, recipes, setting)

        # not in the thread that teaches: it may be compiling, and the first picture is not to wait for that
        race = await asyncio.to_thread(start)
        for name in [name for name in self.watched if name not in self.classroom.races]:
            self._leave(name)
        # said before it is watched: a page must know the name of a race before it hears of it
        await self._say(
            {"type": "started", "request": number_of_request(message), "race": race.name, "racers": len(race.racers)}
        )
        self._watch(race)

    async def _resume(self, message: dict[str, Any]) -> None:
        race = self.classroom.find(self.browser, message.get("race"))
        known = message.get("known")
        self._watch(race)
        seen = self.watched[race.name][1]
        # what the page still has need not be sent again
        if isinstance(known, list) and len(known) <= len(race.racers):
            for number, have in enumerate(known):
                if isinstance(have, list) and len(have) == 2 and all(type(part) is int and part >= 0 for part in have):
                    racer = race.racers[number]
                    if have[0] <= racer.taken and have[1] <= have[0]:
                        seen[number] = Seen(True, have[0], have[1])
        await self._say({"type": "resumed", "request": number_of_request(message), "race": race.name})

    async def _ask(self, job: Any) -> Any:
        return await asyncio.wrap_future(self.classroom.ask(job))

    def _watch(self, race: Race) -> None:
        if race.name not in self.watched:
            race.watchers += 1
        self.watched[race.name] = (race, [Seen() for _ in race.racers])

    def _leave(self, name: Any) -> Race | None:
        found = self.watched.pop(name, None) if isinstance(name, str) else None
        if found is None:
            return None
        found[0].watchers -= 1
        found[0].left_at = asyncio.get_running_loop().time()
        return found[0]

    # -- what is sent

    async def _send_news(self) -> None:
        is_compiling = None
        try:
            while True:
                sent = False
                now = self.classroom.is_compiling
                if now is not is_compiling:
                    is_compiling = now
                    await self._say({"type": "compiling" if is_compiling else "ready"})
                for race, seen in list(self.watched.values()):
                    seen += [Seen() for _ in race.racers[len(seen) :]]
                    for number in range(len(race.racers)):
                        sent |= await self._send_of(race, number, seen[number])
                if not sent:
                    await asyncio.sleep(PAUSE)
        except (WebSocketDisconnect, RuntimeError, OSError):
            pass  # whoever reads will notice that the page is gone
        except TimeoutError:
            await self.socket.close(1001, "the page does not answer")

    async def _send_of(self, race: Race, number: int, seen: Seen) -> bool:
        racer = race.racers[number]
        about = {"race": race.name, "racer": number}
        status = racer.status()
        if not seen.introduced:
            seen.introduced = True
            await self._send(about | {"type": "racer"}, await asyncio.to_thread(racer.introduction))
            return True
        news = racer.news(seen.steps, seen.frame)
        if news is not None:
            seen.steps = news.header["until"]
            seen.frame = max([seen.frame, *(one["step"] for one in news.header.get("frames", ()))])
            await self._send(about | {"type": "steps"}, news)
            return True
        if status != seen.status and status["taken"] <= seen.steps:
            seen.status = status
            await self._say(about | {"type": "status"} | status)
        return False

    async def _send(self, about: dict[str, Any], recording: Recording) -> None:
        self.answered.clear()
        data = Recording(recording.header | about, recording.blocks).to_bytes()
        await self.socket.send_bytes(data)
        await asyncio.wait_for(self.answered.wait(), SECONDS_FOR_AN_ANSWER)

    async def _say(self, message: dict[str, Any]) -> None:
        await self.socket.send_text(json.dumps(message, allow_nan=False))
