"""The commands, and the one place where an error becomes a sentence and an exit code."""

from __future__ import annotations

import contextlib
import difflib
import errno
import functools
import gc
import importlib
import inspect
import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Annotated, Any

import typer

from nimt._version import __version__
from nimt.cli.console import BAD_INPUT, DONE, INTERRUPTED, UNREAD, announce, complain, note, prepare_streams, say
from nimt.cli.lesson_options import OPTION_OF
from nimt.cli.plain_values import PlainCommand, PlainGroup
from nimt.errors import NimtError
from nimt.named_code import allow as allow_code

COMMANDS = (
    "teach", "compare", "sweep", "show", "predict", "export", "resume", "plan", "forecast", "shortest", "reproduce",
    "demo", "teaching-set", "suspects", "studio", "challenge",
)  # fmt: skip
COMPLETION = ("--install-completion", "--show-completion")
ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))  # Windows has one
EXAMPLES = (
    "nimt demo",
    "nimt teach digit:0 --from digit:8",
    "nimt compare gmm --from gmm:start",
)


def _help_of(text: str | None, examples: Sequence[str]) -> str:
    """Return a help text with its paragraphs in one line each, for a terminal of any width, and indented examples."""
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(text or "").split("\n\n")]
    # the control character keeps the lines of examples from being joined
    return "\n\n".join([*paragraphs, "\b\n" + "\n".join(["Examples:", *(f"  {line}" for line in examples)])])


def _say_version(asked: bool) -> None:
    if asked:
        say(f"nimt {__version__}")
        raise typer.Exit


def nimt(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version and end.")
    ] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", help="A package, or package:Name, that files of settings and the studio may name."),
    ] = None,
) -> None:
    """Teach a learner one function from another, and watch which examples do it in the fewest steps.

    Exit codes: 0 done; 1 the tolerance was not reached (with --require); 2 bad input; 130 interrupted; 141 the
    reader of the output closed it (`nimt ... | head`).
    """
    allow_code(allow or ())


def program(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """Return the program with these commands; the module of each holds a function of its name, DOING and EXAMPLES."""
    app = typer.Typer(
        name="nimt",
        cls=PlainGroup,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(help=_help_of(nimt.__doc__, EXAMPLES))(nimt)
    for name in names:
        spelled = name.replace("-", "_")
        module = importlib.import_module(f"nimt.cli.{spelled}")
        command = getattr(module, spelled)
        text = _help_of(command.__doc__, module.EXAMPLES)
        app.command(name, cls=PlainCommand, help=text)(_accompany(command, module.DOING))
    return app


def _accompany(command: Callable[..., None], doing: str) -> Callable[..., None]:
    """Say at once what a command does, before it loads anything; turn Ctrl-C into what typer hands on to us.

    Of Ctrl-C itself typer makes an exit code without a word.
    """

    @functools.wraps(command)
    def announce_and_run(**given: Any) -> None:
        announce(doing, quiet=bool(given.get("quiet") or given.get("as_json")))
        try:
            command(**given)
        except KeyboardInterrupt:
            raise typer.Abort from None

    return announce_and_run


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and end it with its exit code."""
    gc.set_threshold(100_000, 20, 20)  # modules and compiled code are a million objects, of which nearly all stay
    code = run(arguments)
    gc.freeze()  # all goes with the process: to look through every object once more at its end takes a tenth as long
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; what is wrong with the input becomes one sentence on stderr."""
    if not prepare_streams():
        complain("standard output is closed: send it to a file, or to /dev/null")
        return BAD_INPUT
    try:
        code = _answer(arguments)
        sys.stdout.flush()  # here, where a reader that has gone away can still be told from a mistake
    except BrokenPipeError:
        return _stop_unread()
    except OSError as error:  # a full disk, where stdout is a file
        complain(f"standard output: {_of_the_system(error)}")
        _stop_unread()
        return BAD_INPUT
    except SystemExit as end:  # how typer and rich end when the output is closed
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        return _stop_unread()
    return code


def _stop_unread() -> int:
    """Discard what is still to be written to a closed output, and return the exit code for that."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    return UNREAD


def _answer(arguments: Sequence[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    if len(given) > 1 and given[0] in COMPLETION:
        # typer passes over the shell that is named and takes the one it finds, unless this is set
        os.environ["_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"] = "1"
    # their remarks on damaged pictures and caches would stand beside ours
    for name in ("PIL", "matplotlib"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), _stop_by_signals():
            warnings.showwarning = _show_warning
            warnings.simplefilter("default", UserWarning)
            names = given[:1] if given[:1] and given[0] in COMMANDS else COMMANDS  # the others need not be loaded
            code = program(names)(args=given, prog_name="nimt", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        complain("interrupted")
        return INTERRUPTED
    except NimtError as error:
        for sentence in getattr(error, "__notes__", ()):  # what led to it
            note(sentence)
        complain(error.tell_in_program(OPTION_OF))
        return BAD_INPUT
    except MemoryError as error:
        complain(f"this needs more memory than there is ({error}): use fewer points, for example with --size")
        return BAD_INPUT
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(_of_the_system(error))
        return BAD_INPUT
    except Exception as error:
        if not hasattr(error, "format_message"):  # typer's own complaints about options have one; all else is a bug
            raise
        sentence = _name_way_out(error)
        if not sentence:  # nimt alone prints its help, which is not an error
            return DONE
        complain(sentence)
        return BAD_INPUT
    return code if isinstance(code, int) else DONE


def _name_way_out(error: Any) -> str:
    """Return the sentence of typer; of an option that the command does not have, ours, with the nearest that it has."""
    name, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    if name is None or context is None or not hasattr(error, "possibilities"):
        return str(error.format_message())
    known = [option for part in context.command.params for option in (*part.opts, *part.secondary_opts)]
    near = difflib.get_close_matches(name.lstrip("-"), [option.lstrip("-") for option in known], n=1)
    ways = [f"did you mean --{near[0]}?"] if near and len(near[0]) > 1 else []
    short = [option for option in known if option[0] == "-" != option[1]]
    ways += [f"short options here are {', '.join(sorted(short))};"] if len(name) == 2 and short else []
    return f"{context.command_path} has no option {name}: {' '.join([*ways, context.command_path])} --help lists all"


@contextlib.contextmanager
def _stop_by_signals() -> Iterator[None]:
    """Let a request to end, or a terminal that goes away, do what Ctrl-C does: write the checkpoint, say how to go on.

    A signal that is ignored, as SIGHUP is after nohup, stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        # Ctrl-C itself may be ignored, as in a job in the background
        interrupts = sys.modules.get("nimt.session.interrupts")
        if interrupts is None:
            raise KeyboardInterrupt
        interrupts.interrupt()

    heard = [number for number in ENDINGS if signal.getsignal(number) is not signal.SIG_IGN]
    before = [signal.signal(number, stop) for number in heard]
    try:
        yield
    finally:
        for number, handler in zip(heard, before, strict=True):
            signal.signal(number, handler)


def _of_the_system(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return f"{where}{error.strerror or error}{': make room on the disk, then give the command again' if full else ''}"


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    said = message.args[0] if isinstance(message, Warning) and message.args else message
    complain(said if isinstance(said, str) else str(message), "warning")
