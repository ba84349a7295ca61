"""Who is connected: so many at most, each with little time to say what it wants, and accepted calmly."""

from __future__ import annotations

import asyncio
import importlib
import logging
import selectors
import socket
import sys
from typing import Any

import psutil
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

MOST_CONNECTIONS = 256  # four for each page that can be open
FEWEST_CONNECTIONS = 8
SECONDS_FOR_HEADERS = 10.0  # a browser sends them at once
AT_ONCE = 0.01  # seconds until those that were closed are gone
PAUSE = 0.5  # seconds until the next try where the system has no descriptor left, and none could be closed

logger = logging.getLogger("uvicorn.error")


def most_connections() -> int:
    """Return how many connections may be open: half of what the system lets this process open, or `MOST_CONNECTIONS`.

    The other half is for files, pipes, and what is compiled.
    """
    if sys.platform == "win32":
        return MOST_CONNECTIONS
    resource: Any = importlib.import_module("resource")  # of Unix alone
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    free: int = limit - psutil.Process().num_fds()
    return max(FEWEST_CONNECTIONS, min(MOST_CONNECTIONS, free // 2))


class HttpConnection(H11Protocol):
    """A connection that is closed where it sends no whole request for some seconds."""

    _timer: asyncio.TimerHandle | None = None
    since = 0.0  # when it began to wait for a request

    @property
    def is_waiting(self) -> bool:
        """Whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def can_be_dropped(self) -> bool:
        """Whether little is lost with it: no request is under way, or its answer is not read."""
        return self.is_waiting or self.flow.write_paused

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        if not self.is_waiting:
            self._stop_waiting()

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        self._wait()  # before anything else: the next request may have arrived already
        super().on_response_complete()

    def _wait(self) -> None:
        self._stop_waiting()
        self.since = self.loop.time()
        self._timer = self.loop.call_later(SECONDS_FOR_HEADERS, self._close_unless_there_is_more)

    def timeout_keep_alive_handler(self) -> None:
        self._stop_waiting()
        self._close_unless_there_is_more()

    def _close_unless_there_is_more(self) -> None:
        """Close now, or after one more look at what has arrived: the event loop may have been too busy to read it."""
        if self.transport.is_closing():
            return
        if _is_readable(self.transport.get_extra_info("socket")):
            self._timer = self.loop.call_later(AT_ONCE, self.transport.close)
        else:
            self.transport.close()

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _is_readable(line: Any) -> bool:
    """Return whether something has arrived that nobody has read."""
    with selectors.DefaultSelector() as look:
        look.register(line, selectors.EVENT_READ)
        return bool(look.select(0))


class SocketConnection(WebSocketsSansIOProtocol):
    """A socket that hands on a text which is no Unicode as bytes, so that it is refused like any other nonsense."""

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.curr_msg_data_type = "bytes"
        super().send_receive_event_to_app()


class BoundedServer(uvicorn.Server):
    """A server that accepts connections itself: asyncio tries again without a pause where descriptors are used up."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._accepting: list[asyncio.Task[None]] = []
        self._said: set[str] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])  # none of them is accepted from by asyncio
        most = most_connections()
        for taken in sockets or ():
            taken.setblocking(False)
            self._accepting.append(asyncio.create_task(self._accept(taken, most)))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for task in self._accepting:
            task.cancel()
        await asyncio.gather(*self._accepting, return_exceptions=True)
        await super().shutdown(sockets)

    async def _accept(self, taken: socket.socket, most: int) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(taken)
            except ConnectionAbortedError:
                continue  # it left before it was accepted
            except OSError as error:
                self._say_once("accept", f"connections cannot be accepted ({error.strerror}): idle ones are closed")
                most = max(FEWEST_CONNECTIONS, min(most, 3 * len(self.server_state.connections) // 4))
                await asyncio.sleep(AT_ONCE if self._make_room(most) else PAUSE)
                continue
            if len(self.server_state.connections) >= most:
                self._say_once("most", f"{most} connections are open: from now on idle ones are closed for new ones")
                if not self._make_room(most):
                    connection.close()
                    continue
            try:
                await loop.connect_accepted_socket(self._make_connection, connection)
            except OSError:
                connection.close()

    def _make_connection(self) -> HttpConnection:
        return HttpConnection(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    def _make_room(self, most: int) -> bool:
        """Close those that have waited longest, until one more makes `most`; return whether any could be closed."""
        there = self.server_state.connections
        lines = [one for one in there if isinstance(one, HttpConnection) and one.can_be_dropped]
        lines.sort(key=lambda line: (not line.is_waiting, line.since))
        dropped = lines[: max(0, len(there) - most + 1)]
        for line in dropped:
            line.transport.abort()
            there.discard(line)
        return bool(dropped)

    def _say_once(self, about: str, sentence: str) -> None:
        if about not in self._said:
            self._said.add(about)
            logger.error(sentence)
