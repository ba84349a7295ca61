"""The folder of a run: one run at a time, and nothing in it that another run left half-done."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from nimt.errors import InvalidInput
from nimt.store.claims import LOCK, ClaimedFolder
from nimt.store.whole_files import refuse_links

LESSON, PREVIOUS = "lesson.npz", "lesson.npz.previous"  # the latter while the lesson is under way
RESULTS = (LESSON, "comparison.json", PREVIOUS)
REPORTS = (
    "report.html",
    "summary.json",
    "curve.png",
    "curves.png",
    "panels.png",
    "lesson.gif",
    "lesson.mp4",
    "replay.html",
    "examples.csv",
    "curve.csv",
    "learner.npz",
)
BLOCK_TASK = "task.npz"  # of a lesson by blocks
LESSONS = "*-seed-*.npz"  # of a comparison
UNDER_WAY = "lessons-under-way"  # the folder of a comparison that is not finished
WRITTEN = "lesson.npz.next"  # whole, and not moved to its place yet
WRITTEN_BY_NIMT = b"# nimt "  # how a run.toml begins
UNFINISHED = re.compile(r"^\..*\.part(\.\w+)?$|^lesson\.npz\.next$")


class RunFolder(ClaimedFolder):
    """Where a run writes.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._stays = False

    @classmethod
    def choose(cls, out: str | None, name: str) -> RunFolder:
        """Return the folder that --out names, or one of its own where --out was left out."""
        if out is None:
            return cls.of_their_own(name)
        if not out.strip():
            raise InvalidInput(f"--out is {out!r}: name a folder, or leave --out out for a new one")
        from nimt.datasets.places import as_path

        return cls(as_path(out))

    @classmethod
    def of_their_own(cls, name: str) -> RunFolder:
        """Return a folder here that is not there yet: nimt-cat, nimt-cat-2, ..."""
        stem = "nimt-" + (re.sub(r"[^\w.]+", "-", name).strip("-.") or "lesson")
        number = 1
        while (path := Path(stem if number == 1 else f"{stem}-{number}")).exists():
            number += 1
        return cls(path)

    @property
    def config(self) -> Path:
        return self.path / "run.toml"

    @property
    def lesson(self) -> Path:
        return self.path / LESSON

    @property
    def under_way(self) -> Path:
        return self.path / UNDER_WAY

    def is_under_way(self) -> bool:
        """Say whether a comparison of ours is here that was stopped before its end."""
        return self.under_way.is_dir() and self._is_ours()

    def has_lesson(self) -> bool:
        """Say whether there is a lesson, finished or under way, be it the one that was written before the last."""
        return any((self.path / name).is_file() for name in (LESSON, PREVIOUS))

    def drop_previous(self) -> None:
        """Remove what was written before the last: the lesson is finished."""
        (self.path / PREVIOUS).unlink(missing_ok=True)

    def holds_run_of(self, settings: str) -> bool:
        """Say whether the run in the folder has these settings, written as in run.toml."""
        return self._config_begins_with(settings.encode())

    def check_it_is_free(self, *, overwrite: bool) -> None:
        """Refuse, before any work, a folder that may not be written to, or with a run that is not to be replaced."""
        self.check_it_can_be_written()
        if self.path.is_dir() and not overwrite:
            self._refuse_if_used([name for name in RESULTS if (self.path / name).exists()])

    def keep(self) -> None:
        """Let the folder stay whatever happens from now on: the run has begun, and run.toml says how to go on."""
        self._stays = True

    @contextlib.contextmanager
    def claim_anew(self, *, overwrite: bool, goes_on: str | None = None) -> Iterator[None]:
        """Make the folder ours for a new run; if the run never begins, leave everything as it was found.

        `goes_on` is the run.toml of a comparison: one of the same settings that is under way there goes on.
        """
        with self.make_and_claim() as made:
            try:
                if overwrite or goes_on is None or not self.is_under_way() or not self.holds_run_of(goes_on):
                    self._empty(overwrite=overwrite)
                yield
            except BaseException:
                if made and not self._stays:
                    self._remove_if_unused(made)
                raise

    def _empty(self, *, overwrite: bool) -> None:
        """Remove the run that is there, where that was asked for; a report of it would describe another lesson."""
        taken = [name for name in RESULTS if (self.path / name).exists()]
        if not overwrite:
            self._refuse_if_used(taken)
        elif self._is_ours():
            taken += [name for name in REPORTS if (self.path / name).is_file()]
            taken += [path.name for path in self.path.glob(LESSONS) if path.is_file()]
            if self.is_under_way():
                shutil.rmtree(self.under_way)
        for name in taken:
            (self.path / name).unlink()
        self._sweep()

    @contextlib.contextmanager
    def claim_again(self) -> Iterator[None]:
        """Make the folder ours to go on with its run."""
        with self.claim() as there:
            if not there or not self.path.is_dir():
                raise InvalidInput(f"there is no folder {str(self.path)!r}: name the one that 'nimt teach' wrote to")
            if not self.config.exists() and not self.has_lesson():
                raise InvalidInput(
                    f"{str(self.path)!r} holds no run of nimt: name the folder that 'nimt teach' wrote to"
                )
            refuse_links(self.path, (self.config.name, "comparison.json", *REPORTS))
            self._recover()
            self._sweep()
            yield

    def _refuse_if_used(self, taken: list[str]) -> None:
        """Refuse a folder with a run in it, or with anything that no run wrote and a run might write over."""
        where = str(self.path)
        if self.is_under_way():
            raise InvalidInput(
                f"{where!r} holds a comparison of other settings that is not finished: go on with "
                f"'nimt resume {shlex.quote(where)}', give another --out, or --overwrite"
            )
        if "comparison.json" in taken:
            raise InvalidInput(f"{where!r} holds a comparison already: give another --out, or --overwrite")
        if taken and self._is_ours():
            raise InvalidInput(
                f"{where!r} holds a run already ({taken[0]}): go on with 'nimt resume {shlex.quote(where)}', give "
                f"another --out, or --overwrite"
            )
        found = sorted(path.name for path in self.path.iterdir() if not path.name.startswith("."))
        if found and not self._is_ours():
            raise InvalidInput(
                f"{where!r} holds {found[0]!r}, which no run of nimt wrote: give --out an empty or a new folder, or "
                f"--overwrite"
            )

    def _is_ours(self) -> bool:
        """Say whether a run wrote run.toml, rather than somebody who keeps settings there."""
        return self._config_begins_with(WRITTEN_BY_NIMT)

    def _config_begins_with(self, beginning: bytes) -> bool:
        if not self.config.is_file():  # a pipe would keep us waiting
            return False
        with contextlib.suppress(OSError), open(self.config, "rb") as file:
            return file.read(len(beginning)) == beginning
        return False

    def _remove_if_unused(self, made: list[Path]) -> None:
        """Remove the folders that were made where nothing but the settings came into them."""
        with contextlib.suppress(OSError):
            self._sweep()
            if {path.name for path in self.path.iterdir()} <= {self.config.name, LOCK}:
                self.config.unlink(missing_ok=True)
                (self.path / LOCK).unlink(missing_ok=True)
                for folder in made:
                    folder.rmdir()

    def _recover(self) -> None:
        """Take up a lesson that a killed run had written and not moved to its place, if none there is whole."""
        from nimt.lesson.content import KIND
        from nimt.store.checkpoint_file import is_whole

        written = self.path / WRITTEN
        if (
            written.is_file()
            and is_whole(written, KIND)
            and not (self.lesson.is_file() and is_whole(self.lesson, KIND))
        ):
            os.replace(written, self.lesson)

    def _sweep(self) -> None:
        """Remove what a killed run was in the middle of writing."""
        for path in self.path.iterdir():
            if UNFINISHED.match(path.name):
                path.unlink(missing_ok=True)


def say_how_to_repeat(folder: Path) -> str:
    """Say how the comparison in a folder is given again."""
    where, config = shlex.quote(str(folder)), shlex.quote(str(folder / "run.toml"))
    return f"given again as a whole: nimt compare --config {config} --out {where} --overwrite"
