"""`nimt studio`: a page on this machine where teachers are watched and raced."""

from __future__ import annotations

import importlib.util
import os
import sys
import webbrowser
from typing import Annotated

import typer

from nimt.errors import InvalidInput, MissingExtra

DOING = "preparing the studio"
EXAMPLES = ("nimt studio", "nimt studio --port 8800 --no-browser", "nimt studio --static studio-page")
NEEDED = ("starlette", "uvicorn", "websockets", "python_multipart")


def studio(
    port: Annotated[int, typer.Option("--port", help="The port to listen on; 0 takes a free one.")] = 0,
    host: Annotated[str, typer.Option("--host", help="Listen here instead of on this machine only.")] = "127.0.0.1",
    token: Annotated[str | None, typer.Option("--token", help="The secret of the address; drawn by default.")] = None,
    static: Annotated[
        str | None,
        typer.Option(
            "--static", help="Write the page into this folder instead, as one file without a server; small problems."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Open the studio: draw a target, race teachers, go back and forth in time, be the teacher.

    Everything stays on this machine. Ctrl-C ends it.
    """
    if static is not None:
        from nimt.cli.console import say
        from nimt.datasets.places import as_path
        from nimt.studio.static_page import write_static_studio

        say(f"the studio is in {write_static_studio(as_path(static))}: open it in a browser, or put it on a web page")
        return
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtra(f"the studio needs {', '.join(missing)}: pip install 'nimt[studio]'")
    if not 0 <= port <= 65535:
        raise InvalidInput(f"--port must be a number from 0 to 65535, got {port}")
    from nimt.studio.listening import listening
    from nimt.studio.safety import Guard, check_host

    check_host(host, token)
    with listening(host, port) as taken:
        number = taken.getsockname()[1]
        guard = Guard(number, host) if token is None else Guard(number, host, token)
        # a page that is opened now waits for the rest to be loaded, as its reader would without an address
        print(f"the studio is open at {guard.address()}\nCtrl-C ends it", flush=True)
        if browser and sys.stdout.isatty() and (os.environ.get("DISPLAY") or sys.platform in ("darwin", "win32")):
            webbrowser.open(guard.address())
        from nimt.studio.serving import alert, serve

        with alert() as compiler:
            serve(guard, taken, compiler)
