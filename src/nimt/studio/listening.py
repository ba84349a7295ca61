"""A socket that listens, before anything that takes long is loaded: the address is known at once."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

from nimt.errors import InvalidInput


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Hand out a socket that listens; 0 takes a free port."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        taken = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise InvalidInput(f"cannot be listened on: {error.strerror or error}", parameter="host", value=host) from None
    with taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind((host, port))
            taken.listen()  # from now on whoever calls is kept waiting, not refused
        except OSError as error:
            raise InvalidInput(f"port {port} of {host} cannot be listened on: {error.strerror}; take another") from None
        yield taken
