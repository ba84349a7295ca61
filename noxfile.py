#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.10.14", "uv"]
# ///
"""The quick tests with the lowest and with the newest versions of what nimt needs, on every Python: `make versions`.

Each session installs the wheel into an empty environment, runs the program there, and then the quick tests.
"""

from __future__ import annotations

from pathlib import Path

import nox

PYTHONS = ("3.11", "3.12", "3.13")
TESTED = ("pytest", "hypothesis", "polars")  # of the tests alone: in their newest versions
QUICK = "not slow and not long and not exhaustive and not data"

nox.needs_version = ">=2025.10.14"
nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = False


@nox.session(python=PYTHONS)
def lowest(session: nox.Session) -> None:
    """The lowest versions that pyproject.toml allows."""
    requirements = session.create_tmp() + "/lowest.txt"
    session.run(
        "uv", "pip", "compile", "--quiet", "--resolution", "lowest-direct", "--python", session.virtualenv.location,
        "pyproject.toml", "--output-file", requirements,
    )  # fmt: skip
    session.install("--requirement", requirements)
    tested(session, "--constraint", requirements)


@nox.session(python=PYTHONS)
def newest(session: nox.Session) -> None:
    """The newest versions there are."""
    tested(session)


@nox.session(python=PYTHONS[-1])
def plain(session: nox.Session) -> None:
    """The newest versions, and nothing of numba's inner workings."""
    session.env["NIMT_PLAIN_NUMBA"] = "1"
    tested(session)


def tested(session: nox.Session, *limits: str) -> None:
    """Install the wheel, run the program, run the quick tests; `limits` hold for what the tests need too."""
    folder = session.create_tmp()
    session.run("uv", "build", "--quiet", "--wheel", "--out-dir", f"{folder}/wheel", external=True)
    (wheel,) = Path(folder, "wheel").glob("*.whl")
    session.install(str(wheel))
    session.run("nimt", "--version")
    session.run("nimt", "teach", "gmm", "--iterations", "50", "--quiet", "--out", f"{folder}/run")
    session.install(*TESTED, *limits)
    session.run("pytest", "-q", "-m", QUICK, "tests", *session.posargs)


if __name__ == "__main__":
    nox.main()
