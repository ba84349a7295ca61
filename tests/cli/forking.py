"""A server for the tests: loads nimt once, then runs each command it is told in a forked process."""

import contextlib
import io
import json
import os
import resource
import sys
import tempfile

import nimt
import nimt.cli.folder
import nimt.cli.progress
import nimt.cli.results
import nimt.plots.animation
import nimt.reports.comparison
import nimt.reports.lesson
import nimt.sources
import nimt.teaching
import nimt.teaching.running
from nimt.cli.app import run


def obey(order: dict) -> int:
    for descriptor, name in ((1, "out"), (2, "err")):
        file = os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, descriptor)
    if "every" in order:  # seconds between checkpoints
        nimt.teaching.running.CHECKPOINT_EVERY = order["every"]
        nimt.teaching.running.CHECKPOINT_SHARE = 1e6
    if "largest_file" in order:  # beyond it a write fails, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["largest_file"], resource.RLIM_INFINITY))
    if "cwd" in order:
        os.chdir(order["cwd"])
    if "user" in order:
        os.setgid(order["user"])
        os.setuid(order["user"])
    if "undrawn" in order:  # tests of the lesson itself need no figures
        nimt.reports.lesson.write_lesson_report = lambda lesson, folder, **_: []
        nimt.Lesson.replay = lambda lesson, path, **_: path.write_text("not drawn")
    return run(order["args"])


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
            code = 99  # a traceback
            try:
                code = obey(order)
            finally:
                try:
                    sys.stdout.flush()
                    sys.stderr.flush()
                    if code == 99:
                        import traceback

                        traceback.print_exc()
                finally:
                    os._exit(code)
        print(pid, flush=True)
