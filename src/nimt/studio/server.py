"""The studio's own small server: the page, dropped files, exports, and a socket for what changes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from importlib import resources
from typing import Any

import psutil
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from nimt.errors import InvalidInput, NimtError
from nimt.lesson.lesson import Lesson
from nimt.replay.lesson_recording import Recording
from nimt.studio import dropped_files as files
from nimt.studio import exports
from nimt.studio.describing import describe, find_narrower, forecast_of
from nimt.studio.game import set_up_game
from nimt.studio.lists import fill_lists
from nimt.studio.messages import read_message, whole_number
from nimt.studio.page_connection import PageConnection
from nimt.studio.races import RaceRunner
from nimt.studio.requests import find_file, read_recipe, read_setting
from nimt.studio.safety import BROWSER_COOKIE, LARGEST_BODY, Guard, RequestGuard, TooLarge, TooSlow

TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
MOST_TALKS = 64  # pages open at once
BEAT = 0.005  # seconds between two looks at the clock


def make_app(guard: Guard, classroom: RaceRunner | None = None) -> RequestGuard:
    """Return the application, which refuses requests that are not of its own pages."""
    room = classroom or RaceRunner()
    heartbeat = Heartbeat()

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        room.open()
        beating = asyncio.create_task(heartbeat.beat())
        try:
            yield
        finally:
            beating.cancel()
            room.close()

    pages = read_shipped_files()

    async def page(request: Request) -> Response:
        found = pages.get(request.path_params.get("name", "index.html"))
        if found is None:
            return PlainTextResponse("there is no such file\n", 404)
        text, kind = found
        return Response(text, media_type=kind)

    async def health(request: Request) -> Response:
        return JSONResponse(heartbeat.report() | {"races": len(room.races), "compiling": room.is_compiling})

    async def take_file(request: Request) -> Response:
        async with request.form(max_files=1, max_fields=2, max_part_size=LARGEST_BODY) as form:
            given = form.get("file")
            if given is None or isinstance(given, str):
                raise InvalidInput("no file came with this")
            data = await given.read()
            size = _size(form.get("size"))
            found = await asyncio.to_thread(files.read_dropped, given.filename or "", data, size)
        if isinstance(found, Lesson):
            return _binary(await asyncio.to_thread(files.record_lesson, found))
        return JSONResponse(files.describe_file(found, data) | {"id": room.keep_file(_browser(request), found)})

    async def model_rows(request: Request) -> Response:
        asked = await _json(request)
        browser = _browser(request)
        found = await asyncio.to_thread(files.model_rows, find_file(asked, room.files.get(browser, {})))
        return JSONResponse(files.describe_file(found) | {"id": room.keep_file(browser, found)})

    async def describe_problem(request: Request) -> Response:
        asked = await _json(request)
        kept = room.files.get(_browser(request), {})
        return _binary(await asyncio.to_thread(describe, asked, kept))

    async def forecast(request: Request) -> Response:
        asked = await _json(request)
        kept = room.files.get(_browser(request), {})
        return JSONResponse({"said": await asyncio.to_thread(forecast_of, asked, kept)})

    async def narrower(request: Request) -> Response:
        asked = await _json(request)
        kept = room.files.get(_browser(request), {})
        return JSONResponse(await asyncio.to_thread(find_narrower, asked, kept))

    async def game(request: Request) -> Response:
        asked = await _json(request)
        kept = room.files.get(_browser(request), {})
        return JSONResponse(await asyncio.to_thread(set_up_game, asked, kept))

    async def code(request: Request) -> Response:
        asked = await _json(request)
        parts = [exports.LessonPart(read_recipe(asked.get("rules"), asked.get("racer")))]
        if asked.get("race") is not None:  # a lesson under way: its forks, and what a person showed, are known there
            race = room.find(_browser(request), asked["race"])
            race.racer(asked.get("number"))
            parts = exports.parts_of(race.racers, asked["number"])
        classes = asked.get("classes") is True
        kept = room.files.get(_browser(request), {})
        setting = read_setting(asked.get("target"), asked.get("start"), kept, classes)
        written = {}
        for name, write in (("python", exports.as_python), ("command", exports.as_command)):
            try:
                written[name] = write(asked["target"], asked["start"], parts, setting, classes)
            except InvalidInput as error:
                written[name] = f"# {error}\n"
        return JSONResponse(written)

    async def export(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in exports.KINDS:
            return PlainTextResponse("there is no such file\n", 404)
        race = room.find(_browser(request), request.path_params["race"])
        racer = race.racer(whole_number(request.path_params["racer"]))
        lesson = await asyncio.wrap_future(room.ask(racer.animate if name == exports.ANIMATION else racer.lesson))
        data = await asyncio.to_thread(exports.export_lesson, lesson, name)
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(data, media_type=exports.KINDS[name], headers=headers)

    talking: set[WebSocket] = set()

    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        if len(talking) >= MOST_TALKS:
            await socket.close(1013, f"{MOST_TALKS} pages are open: close one of them")
            return
        talking.add(socket)
        try:
            await PageConnection(socket, room, socket.cookies.get(BROWSER_COOKIE, "")).hold()
        except asyncio.CancelledError:
            pass  # the studio is closing
        finally:
            talking.discard(socket)

    async def refuse(request: Request, error: Exception) -> Response:
        return JSONResponse({"said": str(error)}, 422)

    async def too_large(request: Request, error: Exception) -> Response:
        return JSONResponse({"said": f"more than {LARGEST_BODY // 2**20} MB are not taken"}, 413)

    async def too_slow(request: Request, error: Exception) -> Response:
        return JSONResponse({"said": "this took too long to arrive"}, 408)

    async def answer_nobody(request: Request, error: Exception) -> Response:
        return Response(status_code=400)  # the client is gone

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/static/{name}", page),
            Route("/health", health),
            Route("/file", take_file, methods=["POST"]),
            Route("/model", model_rows, methods=["POST"]),
            Route("/describe", describe_problem, methods=["POST"]),
            Route("/forecast", forecast, methods=["POST"]),
            Route("/narrower", narrower, methods=["POST"]),
            Route("/game", game, methods=["POST"]),
            Route("/code", code, methods=["POST"]),
            Route("/export/{race}/{racer}/{name}", export),
            WebSocketRoute("/talk", talk),
        ],
        lifespan=life,
        exception_handlers={NimtError: refuse, TooLarge: too_large, TooSlow: too_slow, ClientDisconnect: answer_nobody},
    )
    app.state.classroom = room
    return RequestGuard(app, guard)


def read_shipped_files() -> dict[str, tuple[bytes, str]]:
    """Return every file of the page by its name: a page asks by a name of this list, never by a path."""
    found = {}
    for room in ("nimt.replay", "nimt.studio"):
        for file in (resources.files(room) / "static").iterdir():
            ending = file.name[file.name.rfind(".") :]
            if ending in TYPES:
                data = file.read_bytes()
                found[file.name] = (fill_lists(data.decode()).encode() if ending == ".html" else data, TYPES[ending])
    return found


class Heartbeat:
    """How long the event loop was away at most: what a person feels as a page that hangs."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def beat(self) -> None:
        before = time.perf_counter()
        while True:
            await asyncio.sleep(BEAT)
            now = time.perf_counter()
            self.longest = max(self.longest, now - before - BEAT)
            before = now

    def report(self) -> dict[str, Any]:
        """Return the longest gap since the last report, in milliseconds, and the memory in use, in MB."""
        longest, self.longest = self.longest, 0.0
        return {"longest_gap_ms": round(1000 * longest, 2), "memory_mb": round(_memory(), 1)}


def _memory() -> float:
    return float(psutil.Process().memory_info().rss) / 2**20


def _browser(request: Request) -> str:
    return request.cookies.get(BROWSER_COOKIE, "")


async def _json(request: Request) -> dict[str, Any]:
    return read_message(await request.body())


def _size(given: Any) -> int | None:
    if given is None or given == "":
        return None
    size = whole_number(given)
    if size is None or not 2 <= size <= 1024:
        raise InvalidInput(f"size must be a whole number from 2 to 1,024, got {str(given)[:20]!r}")
    return size


def _binary(recording: Recording) -> Response:
    return Response(recording.to_bytes(), media_type="application/octet-stream")
