"""A studio that runs, and a client that talks to it as a page does."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time

import pytest

pytest.importorskip("starlette", reason="the studio is an extra: pip install 'nimt[studio]'")
pytest.importorskip("uvicorn", reason="the studio is an extra: pip install 'nimt[studio]'")

from websockets.sync.client import connect

from nimt.studio.listening import listening
from nimt.studio.safety import Guard
from nimt.studio.serving import server_of

MIXTURE = {
    "type": "race",
    "target": {"kind": "named", "name": "gmm"},
    "start": {"kind": "named", "name": "gmm:start"},
    "rules": {"width": 0.5, "steps": 5000, "tol": 1e-4},
    "racers": [{"teacher": "greedy", "rate": 0.01}],
}


def unpack(data):
    """Read what the server sends, as recording.js does."""
    import numpy as np

    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    blocks = {
        name: np.frombuffer(data, place["kind"], place["length"], place["offset"])
        for name, place in header["blocks"].items()
    }
    return header, blocks


class Studio:
    """A running studio."""

    def __init__(self, guard, server):
        self.guard, self.server = guard, server
        self.port = guard.port
        self.origin = f"http://127.0.0.1:{guard.port}"
        self.classroom = server.config.app.app.state.classroom

    @property
    def address(self):
        return self.guard.address()

    def cookies(self, browser="a-test"):
        return f"{self.guard.cookie}={self.guard.token}; nimt-browser={browser}"

    def ask(self, method, path, body=None, *, cookies=True, **headers):
        """Send one request; return status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        sent = {"Host": f"127.0.0.1:{self.port}"}
        if cookies:
            sent["Cookie"] = self.cookies() if cookies is True else cookies
        if method == "POST":
            sent["Origin"] = self.origin
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in sent.items() if value is not None}
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def post_json(self, path, value, **more):
        status, _, body = self.ask("POST", path, json.dumps(value), **more)
        return status, body

    @contextlib.contextmanager
    def talk(self, browser="a-test", **headers):
        sent = {"Cookie": self.cookies(browser)} | headers
        origin = sent.pop("Origin", self.origin)
        url = f"ws://127.0.0.1:{self.port}/talk"
        with connect(url, origin=origin, additional_headers=sent, max_size=2**28, compression=None) as line:
            yield Talk(line)


class Talk:
    """One open page."""

    def __init__(self, line):
        self.line = line
        self.steps = {}
        self.racers = {}
        self.status = {}

    def say(self, **message):
        self.line.send(json.dumps(message))

    def hear(self, timeout=30):
        """Return the next message, acknowledged and taken in."""
        message = self.line.recv(timeout=timeout)
        if isinstance(message, str):
            said = json.loads(message)
            if said["type"] == "status":
                self.status[said["racer"]] = said
            if said["type"] in ("ready", "compiling"):
                return self.hear(timeout)
            return said, {}
        header, blocks = unpack(message)
        self.say(type="ack")
        if header["type"] == "racer":
            self.racers[header["racer"]] = (header, blocks)
            self.steps.setdefault(header["racer"], [])
        elif header["type"] == "steps":
            self.steps.setdefault(header["racer"], []).append((header, blocks))
        return header, blocks

    def until(self, done, timeout=60):
        """Listen until something is so."""
        end = time.monotonic() + timeout
        while not done(self):
            assert time.monotonic() < end, "the studio does not say it"
            last = self.hear()
            if last[0]["type"] == "refused":
                raise AssertionError(last[0]["said"])
        return self

    def until_over(self, count=1, timeout=60):
        return self.until(lambda talk: sum(one["over"] for one in talk.status.values()) >= count, timeout)

    def joined(self, racer, name):
        import numpy as np

        return np.concatenate([blocks[name] for _, blocks in self.steps[racer]])


@contextlib.contextmanager
def running(**options):
    with listening("127.0.0.1", 0) as taken:
        guard = Guard(taken.getsockname()[1], **options)
        server = server_of(guard)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
        thread.start()
        end = time.monotonic() + 30
        while not server.started:
            assert time.monotonic() < end and thread.is_alive(), "the studio does not start"
            time.sleep(0.01)
        try:
            yield Studio(guard, server)
        finally:
            server.should_exit = True
            thread.join(timeout=20)


@pytest.fixture(scope="session")
def studio():
    with running() as studio:
        yield studio


@pytest.fixture
def mixture():
    return json.loads(json.dumps(MIXTURE))


def raw(port, data, timeout=10):
    """Send bytes that no client library would send; return what comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as line:
        line.sendall(data)
        received = b""
        with contextlib.suppress(TimeoutError, ConnectionError):
            while part := line.recv(65536):
                received += part
        return received
