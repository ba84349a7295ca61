"""Who may talk to the studio: a token per run, known hosts, our own origin, and strict headers."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import secrets
import time
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from nimt.errors import InvalidInput
from nimt.wording import Wording

LARGEST_BODY = 20 * 2**20
LARGEST_MESSAGE = 2**20
SECONDS_FOR_A_BODY = 60.0  # a browser on this machine needs less than one
BROWSER_COOKIE = "nimt-browser"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
HEADERS = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data: blob:; connect-src 'self'; object-src 'none'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

Scope = dict[str, Any]


@dataclass(frozen=True)
class Guard:
    """The rules of one run of the studio.

    Parameters
    ----------
    port : int
    host : str
        What it listens on; its name is one it answers to.
    token : str
        Drawn anew for every run.
    """

    port: int
    host: str = "127.0.0.1"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie; two studios on one machine differ by their port."""
        return f"nimt-studio-{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """What a browser may call us: anything else is another site that points here."""
        names = {*LOOPBACK, f"[{self.host}]" if ":" in self.host else self.host}
        return frozenset(f"{name}:{self.port}" for name in names) | (
            frozenset(names) if self.port == 80 else frozenset()
        )

    def knows_host(self, headers: dict[str, str]) -> bool:
        return headers.get("host", "").lower() in self.hosts

    def is_own_origin(self, headers: dict[str, str]) -> bool:
        """Whether a request comes from a page of ours, port included; one without an origin does not."""
        return headers.get("origin", "").lower() == f"http://{headers.get('host', '').lower()}"

    def is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    def has_cookie(self, headers: dict[str, str]) -> bool:
        return self.is_token(cookies_of(headers).get(self.cookie, ""))

    def address(self) -> str:
        """Return the address to open, with the token."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}/?token={self.token}"


def check_host(host: str, token: str | None) -> None:
    """Refuse to listen on more than this machine, unless a token was chosen for it."""
    try:
        only_here = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        only_here = False
    if not only_here and (token is None or len(token) < 16):
        raise InvalidInput(
            "lets other machines in",
            parameter="host",
            value=host,
            way_out=Wording(
                "give a token of at least 16 characters, or leave host out",
                "give a --token of at least 16 characters, or leave --host out",
            ),
        )


def cookies_of(headers: dict[str, str]) -> dict[str, str]:
    """Return the cookies of a request; nonsense counts as none."""
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers by name; one that comes twice is not believed."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        found[key] = "" if key in found and key in ("host", "origin") else value.decode("latin-1")
    return found


class RequestGuard:
    """Let in who may come in, before anything else is looked at, and send the headers with every answer."""

    def __init__(self, app: Any, guard: Guard) -> None:
        self.app = app
        self.guard = guard

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = headers_of(scope)
        refusal = self.refusal(scope, headers)
        if scope["type"] == "websocket":
            if refusal:
                await receive()
                await send({"type": "websocket.close", "code": 1008, "reason": refusal[1]})
                return
            await self.app(scope, receive, send)
            return
        send = _with_headers(send)
        if refusal:
            await _answer(send, refusal[0], refusal[1])
        elif self._brings_token(scope):
            await self._welcome(send, headers)
        else:
            await self.app(scope, _limit_body(receive), send)

    def refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return why a request is not let in, or None."""
        guard = self.guard
        if not guard.knows_host(headers):
            return 421, "this studio answers to its own name only"
        if scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD"):
            if not guard.is_own_origin(headers):
                return 403, "this request comes from another page"
        elif "origin" in headers and not guard.is_own_origin(headers):
            return 403, "this request comes from another page"
        if scope["type"] == "http" and self._brings_token(scope):
            return None
        if not guard.has_cookie(headers):
            return 403, "open the address that nimt studio printed, with its token"
        try:
            length = int(headers.get("content-length", "0"))
        except ValueError:
            return 400, "the length of this request is not a number"
        if length > LARGEST_BODY:
            return 413, f"more than {LARGEST_BODY // 2**20} MB are not taken"
        return None

    def _brings_token(self, scope: Scope) -> bool:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        return scope["path"] == "/" and scope["method"] == "GET" and len(given) == 1 and self.guard.is_token(given[0])

    async def _welcome(self, send: Any, headers: dict[str, str]) -> None:
        """Turn the token of the address into a cookie, and lead to the page without it."""
        rules = "; Path=/; HttpOnly; SameSite=Lax"
        fields = [(b"location", b"/"), (b"set-cookie", f"{self.guard.cookie}={self.guard.token}{rules}".encode())]
        if BROWSER_COOKIE not in cookies_of(headers):
            fields.append((b"set-cookie", f"{BROWSER_COOKIE}={secrets.token_urlsafe(18)}{rules}".encode()))
        await send({"type": "http.response.start", "status": 303, "headers": fields})
        await send({"type": "http.response.body", "body": b""})


class TooLarge(Exception):
    """A body that said nothing of its length and went on and on."""


class TooSlow(Exception):
    """A body that came so slowly that somebody may be holding the line on purpose."""


def _limit_body(receive: Any) -> Any:
    taken = 0
    end = time.monotonic() + SECONDS_FOR_A_BODY
    whole = False

    async def receive_some() -> Any:
        nonlocal taken, whole
        if whole:
            return await receive()  # whether the client is still there, which takes as long as it takes
        try:
            message = await asyncio.wait_for(receive(), max(0.0, end - time.monotonic()))
        except TimeoutError:
            raise TooSlow from None
        taken += len(message.get("body", b""))
        whole = not message.get("more_body", False)
        if taken > LARGEST_BODY:
            raise TooLarge
        return message

    return receive_some


def _with_headers(send: Any) -> Any:
    async def send_some(message: Any) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            extra = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in there]
            message = message | {"headers": [*message["headers"], *extra]}
        await send(message)

    return send_some


async def _answer(send: Any, status: int, sentence: str) -> None:
    await send({
        "type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/plain; charset=utf-8")],
    })  # fmt: skip
    await send({"type": "http.response.body", "body": f"{sentence}\n".encode()})
