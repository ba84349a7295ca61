"""What an experiment is: lessons, the published numbers beside them, and figures made from both."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from nimt.arrays import Array
from nimt.datasets import Picture
from nimt.learners.learner import Learner
from nimt.lesson.identity import fingerprint
from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome
from nimt.pools.pool import FunctionLike, Pool
from nimt.runs.entries import Entry, entry_of_lesson
from nimt.runs.giving import give
from nimt.runs.runs_folder import UNDER_WAY, RunsFolder, checkpoint_of
from nimt.session.session import Callback, Progress
from nimt.store.whole_files import write_text
from nimt.task.task import Task
from nimt.teachers.teacher import SelectsExamples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tell = Callable[[str, int, int], None]
Number = int | float


class Keeper:
    """Keeps the lessons of an experiment until it is finished, so that a run that was stopped loses none.

    Parameters
    ----------
    experiment : str
    mark : str
        The fingerprint of the experiment: settings, data, versions and code.
    out : path
        Where they are kept, unless it is on another machine.
    """

    def __init__(self, experiment: str, mark: str, out: Path) -> None:
        self.experiment = experiment
        self.mark = mark
        self.folder: RunsFolder | None = RunsFolder(out) if out.is_dir() else None
        self.not_kept: list[tuple[Entry, Lesson]] = []  # for the process that sees the folder
        self.other_seeds: list[tuple[str, Lesson]] = []

    def give(self, name: str, task: Task, watch: Callback) -> Lesson:
        """Return the lesson of a task: as it is kept, or given now, from its checkpoint if there is one."""
        rules = [task.stop.max_iterations, list(task.keep.snapshots), task.keep.record]
        key = fingerprint([self.mark, name, task.id, rules, task.seed])
        which = {
            "key": key, "problem": self.experiment, "learner": type(task.learner).__name__, "teacher": name,
            "seed": task.seed,
        }  # fmt: skip
        if self.folder is None:
            lesson = finish(give(task, watch=watch)[0])
            self.not_kept.append((entry_of_lesson(lesson, **which), lesson))
            return lesson
        known = self.folder.entries.get(key)
        kept = None if known is None else self.folder.find(known, task.learner)
        if kept is not None:
            return kept
        is_ours = self.folder.claim(key, again=True)
        try:
            lesson = finish(give(task, checkpoint_of(self.folder.path, key) if is_ours else None, watch=watch)[0])
            self.folder.add(entry_of_lesson(lesson, **which), lesson)
        finally:
            self.folder.release()
        return lesson

    def keep_value(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what takes long to compute and is no lesson, as it is kept, or made now: text, numbers and lists."""
        if self.folder is None:
            return make()
        path = values_of(self.folder.path, self.experiment) / f"{fingerprint([self.mark, name])}.json"
        with contextlib.suppress(OSError, ValueError):
            return json.loads(path.read_text("utf-8"))
        value = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(value))
        return value


def values_of(out: Path, experiment: str) -> Path:
    """Return the folder in which `Keeper.keep_value` keeps what belongs to an experiment under way."""
    return out / UNDER_WAY / experiment


def finish(lesson: Lesson) -> Lesson:
    """Return a lesson, unless Ctrl-C ended it."""
    if lesson.outcome is Outcome.INTERRUPTED:
        raise KeyboardInterrupt
    return lesson


@dataclass(frozen=True, kw_only=True)
class PaperSetting:
    """How the experiments are run.

    Parameters
    ----------
    iterations : int, optional
        The most steps of a lesson; None for the published lengths.
    data : path, optional
        Where published data is looked for, see `nimt.datasets.data_folder`.
    width, learning_rate : float, optional
        Of all kernels that have a width, and of all learners, instead of the published ones.
    seeds : int
        Lessons that draw are given with so many; figures and tables are those of the first.
    tell : callable of (lesson, step, steps), optional
        Called with the progress of a lesson.
    keeper : Keeper, optional
        Where lessons are kept and found again.
    """

    iterations: int | None = None
    data: Path | None = None
    width: float | None = None
    learning_rate: float | None = None
    seeds: int = 1
    tell: Tell | None = None
    keeper: Keeper | None = None

    @property
    def is_altered(self) -> bool:
        """Whether its lessons are others than the published ones."""
        return self.width is not None or self.learning_rate is not None

    def alter(self, learner: Learner) -> Learner:
        """Return the learner with the width and the rate that were asked for.

        Examples
        --------
        >>> import nimt
        >>> altered = PaperSetting(width=2.0).alter(nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01))
        >>> altered.kernel.width, altered.learning_rate
        (2.0, 0.01)
        """
        if not self.is_altered:
            return learner
        changed: dict[str, Any] = {} if self.learning_rate is None else {"learning_rate": self.learning_rate}
        if self.width is not None and "kernel__width" in learner.get_params():  # type: ignore[attr-defined]
            changed["kernel__width"] = self.width
        return copy.copy(learner).set_params(**changed)  # type: ignore[attr-defined, no-any-return]

    def budget(self, published: int) -> int:
        """Return how many steps a lesson of that published length may take."""
        return published if self.iterations is None else min(published, self.iterations)

    def scale_steps(self, steps: Iterable[int]) -> tuple[int, ...]:
        """Return the steps to draw: as published, or scaled down if the lesson is shorter than the last of them.

        Examples
        --------
        >>> PaperSetting(iterations=100).scale_steps([0, 500, 1000])
        (0, 50, 100)
        """
        asked = tuple(steps)
        last = max(asked, default=0)
        share = self.budget(last) / last if last else 1.0
        return tuple(sorted({round(step * share) for step in asked}))

    def teach(
        self,
        name: str,
        learner: Learner,
        teacher: SelectsExamples,
        pool: Pool,
        target: FunctionLike,
        *,
        steps: int,
        draw_at: Iterable[int] = (),
        tol: float | None = None,
        record: str = "picks",
        seed: int = 0,
    ) -> Lesson:
        """Run one lesson of an experiment; f^t is kept at the steps of `draw_at`, scaled."""
        budget = self.budget(steps)
        learner = self.alter(learner)

        def callback(progress: Progress) -> None:
            if self.tell is not None:
                self.tell(name, progress.step, budget)

        def give_with(seed: int, **kept: Any) -> Lesson:
            task = Task.of(learner, teacher, pool, target, max_iterations=budget, tol=tol, seed=seed, **kept)
            if self.keeper is None:
                return finish(give(task, watch=callback)[0])
            return self.keeper.give(name, task, callback)

        lesson = give_with(seed, snapshots=self.scale_steps(draw_at), record=record)
        if self.keeper is not None and lesson.drew:
            self.keeper.other_seeds += [(name, give_with(seed + more)) for more in range(1, self.seeds)]
        return lesson


@dataclass(frozen=True, eq=False, kw_only=True)
class PaperLesson:
    """A lesson of an experiment and what was published of it.

    Parameters
    ----------
    name : str
        Its name in tables.
    lesson : Lesson
    checkpoints : steps at which its discrepancy is reported
    published : mapping of step -> discrepancy
        As a figure of the paper or its code gives it.
    published_itd : int, optional
    differs : str, optional
        Why measured and published numbers differ, as a clause.
    """

    name: str
    lesson: Lesson
    checkpoints: tuple[int, ...] = ()
    published: Mapping[int, float] = field(default_factory=dict)
    published_itd: int | None = None
    differs: str | None = None

    def without_published(self) -> PaperLesson:
        """Return it without the published numbers, at the same steps: for lessons of other settings."""
        steps = tuple(sorted({*self.checkpoints, *self.published}))
        return replace(self, checkpoints=steps, published={}, published_itd=None, differs=None)

    def table(self) -> list[dict[str, Any]]:
        """Return one row per checkpoint that the lesson reached: step, measured, published, ratio."""
        steps = sorted({*self.checkpoints, *self.published})
        return [
            compare_values(float(self.lesson.discrepancy[step]), self.published.get(step)) | {"step": step}
            for step in steps
            if step <= len(self.lesson)
        ]

    def summary(self) -> dict[str, Any]:
        """Return the lesson in numbers and text, ready for a JSON file."""
        lesson = self.lesson
        return {
            "name": self.name,
            "itd": compare_values(lesson.itd, self.published_itd) | {"tolerance": lesson.tol},
            "steps": len(lesson),
            "final": float(lesson.discrepancy[-1]),
            "outcome": str(lesson.outcome),
            "checkpoints": self.table(),
            "differs": self.differs,
            "seconds": lesson.elapsed,
            "compiling_seconds": lesson.compiling,
            "engine": lesson.engine,
            "seed": lesson.settings["seed"],
        }


@dataclass(frozen=True)
class Quantity:
    """A number of an experiment other than the discrepancy of a lesson: an accuracy, a largest difference."""

    name: str
    measured: Number | None
    published: Number | None = None
    differs: str | None = None

    def summary(self) -> dict[str, Any]:
        return {"name": self.name, "differs": self.differs} | compare_values(self.measured, self.published)


@dataclass(frozen=True, eq=False)
class PaperFigure:
    """A figure, the name of its file, and its caption."""

    name: str
    figure: Figure
    caption: str


F = TypeVar("F")


@dataclass(frozen=True, eq=False)
class Parts(Generic[F]):
    """The lessons of an experiment, or groups of them, if they can run separately in several processes.

    Parameters
    ----------
    names : tuple of str
    teach : callable of (setting, pictures, name)
        Runs one lesson, or one group.
    assemble : callable of (what `teach` returned by name, pictures)
        Combines all of it into what `Experiment.run` returns.
    """

    names: tuple[str, ...]
    teach: Callable[[PaperSetting, tuple[Picture, ...], str], Any]
    assemble: Callable[[dict[str, Any], tuple[Picture, ...]], F]

    def run(self, setting: PaperSetting, pictures: tuple[Picture, ...]) -> F:
        """Run all lessons, one after the other."""
        return self.assemble({name: self.teach(setting, pictures, name) for name in self.names}, pictures)


@dataclass(frozen=True, eq=False, kw_only=True)
class Experiment(Generic[F]):
    """One experiment of the paper.

    Parameters
    ----------
    name, title : str
    paper : str
        Where the paper shows it.
    about : str
        Target, learner and settings, in a paragraph.
    pictures : callable of the data folder
        The data it uses; () if it needs formulas only.
    run : callable of (setting, pictures)
        Runs the lessons and returns what was found.
    lessons, quantities, notes : callables of the findings
        The tables, and what differs from the paper and why.
    overview : callable of the findings
        One table of all lessons, its first row the head; [] if there is none.
    draw : callable of the findings
        Yields the figures; all numbers in them are in the tables.
    parts : Parts, optional
        The lessons one by one, if they are long enough for several processes.
    compares : str
        The setting that it compares, "width" or "learning_rate", and that cannot be altered therefore.
    cost : float
        Approximate seconds: the longest experiment starts first.
    """

    name: str
    title: str
    paper: str
    about: str
    run: Callable[[PaperSetting, tuple[Picture, ...]], F]
    lessons: Callable[[F], list[PaperLesson]]
    draw: Callable[[F], Iterator[PaperFigure]]
    notes: Callable[[F], list[str]]
    quantities: Callable[[F], list[Quantity]] = lambda found: []
    overview: Callable[[F], list[list[str]]] = lambda found: []
    pictures: Callable[[Path | None], tuple[Picture, ...]] = lambda folder: ()
    parts: Parts[F] | None = None
    compares: str = ""
    cost: float = 1.0


def compare_values(measured: Number | None, published: Number | None) -> dict[str, Number | None]:
    """Return measured and published with their ratio, which is None if one of them is missing.

    Examples
    --------
    >>> compare_values(3.0, 4.0)
    {'measured': 3.0, 'published': 4.0, 'ratio': 0.75}
    """
    known = measured is not None and published is not None and published != 0
    ratio = measured / published if known else None  # type: ignore[operator]
    return {"measured": measured, "published": published, "ratio": ratio}


def frames(lesson: Lesson) -> dict[int, Array]:
    """Return the snapshots of a lesson by step, and its end if it ended before the last one asked for."""
    kept = dict(lesson.snapshots)
    kept.setdefault(len(lesson), lesson.final)
    return dict(sorted(kept.items()))
