"""Serve until Ctrl-C."""

from __future__ import annotations

import contextlib
import gc
import socket
import sys
from collections.abc import Iterator

import uvicorn

from nimt.engines._numba.second_compiler import SecondCompiler, compiling_elsewhere, load_all_of_numba
from nimt.studio.connections import BoundedServer, HttpConnection, SocketConnection
from nimt.studio.describing import describe, forecast_of
from nimt.studio.racer import Racer
from nimt.studio.races import RaceRunner
from nimt.studio.requests import read_recipe, read_setting
from nimt.studio.safety import LARGEST_MESSAGE, Guard
from nimt.studio.server import make_app

TURN = 0.001  # seconds a thread that teaches may keep Python from the one that answers


@contextlib.contextmanager
def alert() -> Iterator[SecondCompiler]:
    """Let this process answer at any moment: another one compiles, and garbage is collected among few objects."""
    sys.setswitchinterval(TURN)
    with compiling_elsewhere() as compiler:
        load_all_of_numba()
        load_what_a_page_needs()
        gc.collect()
        gc.freeze()  # what is loaded stays, and is not looked through again, which takes a tenth of a second
        yield compiler


def load_what_a_page_needs() -> None:
    """Load the modules that the first race and the first page would: loading them holds up the event loop."""
    asked = {
        "target": {"kind": "named", "name": "gmm"}, "start": {"kind": "zero"}, "rules": {"steps": 10}, "racer": {},
    }  # fmt: skip
    describe(asked, {}).to_bytes()
    forecast_of(asked, {})
    setting = read_setting(asked["target"], asked["start"], {})
    Racer(read_recipe(asked["rules"], asked["racer"]), setting).introduction().to_bytes()


class Server(BoundedServer):
    """A server that ends what waits to be compiled before it waits for what is under way."""

    compiler: SecondCompiler | None = None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.compiler is not None:
            self.compiler.close()
        await super().shutdown(sockets)


def server_of(guard: Guard, compiler: SecondCompiler | None = None) -> Server:
    """Return the server: no compression (it costs four frames of five), small messages, no chatter."""
    server = Server(
        uvicorn.Config(
            make_app(guard, RaceRunner(compiler)),
            log_level="error",
            access_log=False,
            server_header=False,
            http=HttpConnection,
            ws=SocketConnection,
            ws_per_message_deflate=False,
            ws_max_size=LARGEST_MESSAGE,
            timeout_graceful_shutdown=1,
        )
    )
    server.compiler = compiler
    return server


def serve(guard: Guard, taken: socket.socket, compiler: SecondCompiler) -> None:
    """Serve until Ctrl-C."""
    with contextlib.suppress(KeyboardInterrupt):
        server_of(guard, compiler).run(sockets=[taken])
