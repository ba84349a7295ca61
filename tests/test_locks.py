"""The two lock files: what nimt runs with, and what is needed besides to test it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

packaging = pytest.importorskip("packaging.requirements")

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.lower())


def read_lock(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text().splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith(("#", "-r"))]
    return {normalise(package): version for package, version in pairs}


def list_development() -> list[str]:
    """Return what the group dev asks for, with the extras of nimt that it names instead of their names."""
    listed = []
    for line in PROJECT["dependency-groups"]["dev"]:
        extras = re.fullmatch(r"nimt\[(\w+)\]", line)
        listed += PROJECT["project"]["optional-dependencies"][extras[1]] if extras else [line]
    return listed


def check(lines: list[str], locked: dict[str, str]) -> None:
    for line in lines:
        requirement = packaging.Requirement(line)
        version = locked.get(normalise(requirement.name))
        assert version is not None, f"{requirement.name} is in no lock file"
        assert requirement.specifier.contains(version), f"{line} does not allow {version}"


def test_what_nimt_and_its_installation_need_is_locked_in_an_allowed_version():
    needed = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"], "editables"]
    check(needed, read_lock("requirements.lock"))


def test_what_development_needs_is_locked_in_an_allowed_version():
    check(list_development(), read_lock("requirements.lock") | read_lock("requirements-dev.lock"))


def test_no_package_is_in_both_files():
    assert not read_lock("requirements.lock").keys() & read_lock("requirements-dev.lock").keys()


def test_the_file_for_development_includes_the_other():
    assert "-r requirements.lock" in (ROOT / "requirements-dev.lock").read_text().splitlines()
