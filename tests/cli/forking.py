"""A server for the tests: loads nimt once, then runs each command it is told in a forked process."""

import contextlib
import io
import json
import os
import resource
import signal
import sys
import tempfile
import traceback

import nimt
import nimt.cli.run_folder
import nimt.cli.terminal_progress
import nimt.cli.written_results
import nimt.plots.animation
import nimt.reports.comparison_page
import nimt.reports.lesson_page
import nimt.sources
import nimt.store.checkpoint_file
import nimt.teaching
from nimt.cli.app import run


def connect(order: dict) -> None:
    """Give the process its streams, as Python does when it starts."""
    for descriptor, name in ((1, "out"), (2, "err")):
        file = os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, descriptor)
    if "unread" in order:  # a pipe whose reader has gone away
        reading, writing = os.pipe()
        os.close(reading)
        os.dup2(writing, order["unread"])
    if "full" in order:
        os.dup2(os.open("/dev/full", os.O_WRONLY), order["full"])
    if "terminal" in order:
        os.setsid()
        terminal = os.open(order["terminal"], os.O_RDWR | (0 if order["hears_hangup"] else os.O_NOCTTY))
        for descriptor in (0, 2):
            os.dup2(terminal, descriptor)
        os.close(terminal)
        # set in both cases: the tests themselves may run under nohup
        signal.signal(signal.SIGHUP, signal.SIG_DFL if order["hears_hangup"] else signal.SIG_IGN)
    raw = [open(number, "wb", buffering=0, closefd=False) for number in (1, 2)]  # noqa: SIM115 (open to the end)
    encoding = "ascii" if "ascii" in order else "utf-8"
    unbuffered = "unbuffered" in order
    sys.stdout = io.TextIOWrapper(
        raw[0] if unbuffered else io.BufferedWriter(raw[0]), encoding, write_through=unbuffered
    )
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(raw[1]), encoding, "backslashreplace", line_buffering=True)
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        if descriptor in order.get("closed", ()):
            os.close(descriptor)
            setattr(sys, name, None)


def obey(order: dict) -> int:
    os.environ.update(order.get("environment", {}))
    connect(order)
    if "every" in order:  # seconds between checkpoints
        nimt.store.checkpoint_file.EVERY = order["every"]
        nimt.store.checkpoint_file.SHARE = 1e6
    if "largest_file" in order:  # beyond it a write fails, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["largest_file"], resource.RLIM_INFINITY))
    if "cwd" in order:
        os.chdir(order["cwd"])
    if "user" in order:
        os.setgid(order["user"])
        os.setuid(order["user"])
    if "undrawn" in order:  # tests of the lesson itself need no figures
        nimt.reports.lesson_page.write_lesson_report = lambda lesson, folder, **_: []
        nimt.Lesson.replay = lambda lesson, path, **_: path.write_text("not drawn")
    return run(order["args"])


def live(order: dict) -> None:
    """Do as told, and end as Python does: with 120 if what is still to be written cannot be."""
    code = 99  # a traceback
    try:
        code = obey(order)
    except BaseException:
        traceback.print_exc()
    try:
        sys.stdout.flush()
    except OSError:
        code = 120
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    # Load everything now: it is faster, and a process without permissions could not.
    with contextlib.redirect_stdout(io.StringIO()), tempfile.TemporaryDirectory() as folder:
        run(["teach", "--help"])
        run(["teach", "gmm", "--iterations", "1", "--quiet", "--out", f"{folder}/run"])
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            _, status = os.waitpid(order["wait"], 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            live(order)
        print(pid, flush=True)
