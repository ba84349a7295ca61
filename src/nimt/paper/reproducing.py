"""Run the experiments, draw their figures, write the summary and the report; finished experiments are kept."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nimt._version import __version__
from nimt.arrays import check_count, check_positive
from nimt.datasets import Picture, data_folder
from nimt.errors import InvalidInput
from nimt.lesson.descriptions import versions
from nimt.lesson.lesson import Lesson
from nimt.paper.experiment import Experiment, Keeper, PaperFigure, PaperLesson, PaperSetting, values_of
from nimt.paper.finished import FIGURES, find_finished, keep, mark_of
from nimt.paper.registry import ALL, EXPERIMENTS, FAMILY, choose_experiments
from nimt.paper.report_page import page_of
from nimt.paper.written_lessons import write_lessons
from nimt.runs.entries import Entry
from nimt.runs.runs_folder import RunsFolder
from nimt.runs.workers import Workers
from nimt.store.whole_files import whole_file, write_text

DPI = 150
ALTERED = (
    "These lessons have other settings than the published ones, so that published numbers are not shown beside them; "
    "what is said of this experiment and its figures is said of the published settings."
)
CHANGING: dict[str, tuple[str, ...]] = {
    "png": ("Software",),
    "pdf": ("CreationDate", "Producer"),
}  # metadata that would differ from run to run: left out


@dataclass(frozen=True)
class Event:
    """What a progress callback receives.

    Attributes
    ----------
    experiment : str
    state : {"kept", "teaching", "drawing", "finished"}
    lesson : str
        Which lesson is taught, while state is "teaching"; `step` of `steps` are done.
    seconds : float
        How long the experiment took, when it is finished or kept.
    """

    experiment: str
    state: str
    lesson: str = ""
    step: int = 0
    steps: int = 0
    seconds: float = 0.0


Listener = Callable[[Event], None]


def reproduce(
    names: Iterable[str] | None = None,
    out: str | os.PathLike[str] = "out",
    *,
    iterations: int | None = None,
    jobs: int | None = None,
    data: str | os.PathLike[str] | None = None,
    progress: Listener | None = None,
    family: bool = False,
    width: float | None = None,
    learning_rate: float | None = None,
    seeds: int = 1,
    keep_lessons: bool = False,
) -> dict[str, Any]:
    """Run experiments of the paper and write figures, `summary.json` and `report.html`.

    Parameters
    ----------
    names : list of str, optional
        See `nimt.paper.EXPERIMENTS`; all of them by default.
    out : path
        A folder, created if it is missing. Experiments finished there before with the same settings, data and versions
        are kept and not run again.
    iterations : int, optional
        The most steps of a lesson.
    jobs : int, optional
        How many lessons run at a time, in threads; by default one per core. `joblib.parallel_config` names processes or
        a cluster, as for `nimt.sweep`; lessons there report no progress.
    data : path, optional
        Where published data is looked for, see `nimt.datasets.data_folder`.
    progress : callable of Event, optional
    family : bool
        Run the experiments of the paper's family, `nimt.paper.FAMILY`, instead: MINT, shortest lessons,
        and published lessons of other systems.
    width, learning_rate : float, optional
        Of all kernels that have a width, and of all learners of the paper's experiments, instead of the published ones.
        Published numbers are then left out, and so is an experiment that compares widths.
    seeds : int
        Give each lesson that draws with so many seeds. Figures and tables are those of the first; the report has a
        table of ITD and M over all of them.
    keep_lessons : bool
        Write every lesson into `lessons/`, with a folder per experiment: its curve as CSV, and all of it as npz.

    Returns
    -------
    dict
        What `summary.json` holds: all experiments in the folder that these settings made.
    """
    began = time.perf_counter()
    offered = FAMILY if family else EXPERIMENTS
    altered = {"width": width, "learning_rate": learning_rate}
    chosen = choose_experiments(names, family)
    asked = _leave_out_compared(chosen, [one for one in altered if altered[one] is not None], bool(names))
    if iterations is not None:
        check_count("iterations", iterations, at_least=1)
    if jobs is not None:
        check_count("jobs", jobs, at_least=1)
    check_count("seeds", seeds, at_least=1)
    for name, value in altered.items():
        if value is not None:
            check_positive(name, value)
            if family:
                raise InvalidInput(
                    "is that of the paper's experiments, and cannot be changed in its family", parameter=name
                )
    if data is not None:
        data = data_folder(data)
    folder = _make_folder(Path(out))
    setting = PaperSetting(
        iterations=iterations, data=None if data is None else Path(data), width=width, learning_rate=learning_rate,
        seeds=seeds,
    )  # fmt: skip
    listen = _one_at_a_time(progress)

    marks = {name: mark_of(name, setting, offered[name].pictures(setting.data)) for name in offered}
    records = {
        name: record
        for name in offered
        if (record := find_finished(folder, name, marks[name])) is not None
        and (not keep_lessons or record["files_of_lessons"] is not None)
    }
    for name in asked:
        if name in records:
            listen(Event(name, "kept", seconds=records[name]["seconds"]["total"]))
    missing = sorted((name for name in asked if name not in records), key=lambda name: -offered[name].cost)
    under_way = {name: UnderWay(name, setting, marks[name], RunsFolder(folder), keep_lessons) for name in missing}
    try:
        for record in _records(under_way, setting, -1 if jobs is None else jobs, listen):
            records[record["name"]] = record
            listen(Event(record["name"], "finished", seconds=record["seconds"]["total"]))
    finally:
        # an interrupted run leaves a report of what it finished
        ordered = [records[name] for name in offered if name in records]
        summary = {
            "nimt": __version__,
            "versions": versions(),
            "family": family,
            "iterations": iterations,
            "width": width,
            "learning_rate": learning_rate,
            "seeds": seeds,
            "wall_seconds": time.perf_counter() - began,
            "run_now": [name for name in asked if name in records and name in missing],
            "experiments": {record["name"]: _without_marks(record) for record in ordered},
        }
        write_text(folder / "summary.json", json.dumps(summary, indent=1))
        write_text(folder / "report.html", page_of(summary, folder))
    return summary


class UnderWay:
    """An experiment that is being run: which of its parts are known. One without parts is given as a whole.

    Parameters
    ----------
    name : str
    setting : PaperSetting
    mark : str
        Its fingerprint.
    folder : RunsFolder
        The output folder.
    keep_lessons : bool
        Whether its lessons are written to files of their own.
    """

    def __init__(
        self, name: str, setting: PaperSetting, mark: str, folder: RunsFolder, keep_lessons: bool = False
    ) -> None:
        self.name = name
        self.experiment: Experiment[Any] = ALL[name]
        self.setting = setting
        self.mark = mark
        self.folder = folder
        self.keep_lessons = keep_lessons
        parts = self.experiment.parts
        self.parts: tuple[str | None, ...] = (None,) if parts is None else parts.names
        self.given: dict[str | None, Given] = {}

    @property
    def missing(self) -> list[str | None]:
        """The parts that are still to be taught."""
        return [part for part in self.parts if part not in self.given]

    def take(self, given: Given) -> None:
        """Note a part, and keep its lessons if they were given where the folder is not seen."""
        self.given[given.part] = given
        for entry, lesson in given.not_kept:
            self.folder.add(entry, lesson)

    def finish(self, listen: Listener) -> dict[str, Any]:
        """Draw what was found; save the figures and the record."""
        experiment = self.experiment
        pictures = experiment.pictures(self.setting.data)
        if experiment.parts is None:
            found = self.given[None].found
        else:
            found = experiment.parts.assemble(
                {part: self.given[part].found for part in experiment.parts.names}, pictures
            )
        teaching = sum(given.seconds for given in self.given.values())
        taught, quantities, notes = experiment.lessons(found), experiment.quantities(found), experiment.notes(found)
        if self.setting.is_altered:
            taught = [lesson.without_published() for lesson in taught]
            quantities = [replace(quantity, published=None, differs=None) for quantity in quantities]
            notes = [ALTERED]
        others = [pair for given in self.given.values() for pair in given.other_seeds]
        began = time.perf_counter()
        listen(Event(self.name, "drawing", seconds=teaching))
        out = self.folder.path
        figures = [save(drawn, out) for drawn in experiment.draw(found)]
        drawing = time.perf_counter() - began
        record = {
            "name": self.name,
            "title": experiment.title,
            "paper": experiment.paper,
            "about": experiment.about,
            "fingerprint": self.mark,
            "data": [_describe_data(picture) for picture in pictures],
            "lessons": [lesson.summary() for lesson in taught],
            "quantities": [quantity.summary() for quantity in quantities],
            "overview": experiment.overview(found),
            "notes": notes,
            "seeds": list_seeds(taught, others),
            "figures": figures,
            "seconds": seconds_of(
                [*(lesson.lesson for lesson in taught), *(lesson for _, lesson in others)], teaching, drawing
            ),
            "files_of_lessons": None,
        }
        if self.keep_lessons:
            every = [*((lesson.name, lesson.lesson) for lesson in taught), *others]
            record["files_of_lessons"] = write_lessons(out, self.name, every)
        keep(out, record)
        self.folder.drop_lessons(self.name)
        shutil.rmtree(values_of(out, self.name), ignore_errors=True)
        return record


@dataclass(frozen=True, eq=False)
class Given:
    """One lesson of an experiment, or, if `part` is None, all that `Experiment.run` found; and the seconds it took.

    The seconds are those of everything that was done for it, compiling included.
    """

    name: str
    part: str | None
    found: Any
    seconds: float
    not_kept: list[tuple[Entry, Lesson]]
    other_seeds: list[tuple[str, Lesson]]


def teach_part(
    name: str, part: str | None, setting: PaperSetting, mark: str, out: Path, listen: Listener | None
) -> Given:
    """Give one lesson of an experiment, or the whole experiment, where this runs."""
    experiment = ALL[name]
    pictures = experiment.pictures(setting.data)
    began = time.perf_counter()

    def tell(lesson: str, step: int, steps: int) -> None:
        if listen is not None:
            listen(Event(name, "teaching", lesson, step, steps, time.perf_counter() - began))

    keeper = Keeper(name, mark, out)
    kept = replace(setting, tell=tell, keeper=keeper)
    if part is None:
        found: Any = experiment.run(kept, pictures)
    else:
        assert experiment.parts is not None
        found = experiment.parts.teach(kept, pictures, part)
    return Given(name, part, found, time.perf_counter() - began, keeper.not_kept, keeper.other_seeds)


def list_seeds(taught: Iterable[PaperLesson], others: Iterable[tuple[str, Lesson]]) -> list[dict[str, Any]]:
    """Return ITD and final M of each lesson that was given with several seeds, the first seed first."""
    found: dict[str, list[Lesson]] = {}
    for name, lesson in others:
        found.setdefault(name, []).append(lesson)
    first = {lesson.name: lesson.lesson for lesson in taught}
    return [
        {
            "name": name,
            "seeds": [lesson.settings["seed"] for lesson in every],
            "itd": [lesson.itd for lesson in every],
            "final": [float(lesson.discrepancy[-1]) for lesson in every],
        }
        for name, more in found.items()
        if (every := [*([first[name]] if name in first else []), *more])
    ]


def seconds_of(lessons: Iterable[Lesson], teaching: float, drawing: float) -> dict[str, float]:
    """Return what the time of an experiment was spent on.

    Parameters
    ----------
    lessons : those of the experiment
    teaching : float
        Seconds until everything that is drawn was known.
    drawing : float

    Returns
    -------
    dict
        "lessons" are the steps of the lessons, "compiling" is what they waited for, "other" is what else was computed
        before drawing.
    """
    each = {id(lesson): lesson for lesson in lessons}.values()  # an experiment may show one twice
    steps, compiling = sum(lesson.elapsed for lesson in each), sum(lesson.compiling for lesson in each)
    teaching = max(teaching, steps + compiling)  # lessons that an earlier run gave were only read
    return {
        "lessons": steps,
        "compiling": compiling,
        "other": teaching - steps - compiling,
        "drawing": drawing,
        "total": teaching + drawing,
    }


def _records(
    under_way: dict[str, UnderWay], setting: PaperSetting, n_jobs: int, listen: Listener
) -> Iterator[dict[str, Any]]:
    """Give the lessons side by side, as every sweep does, and draw each experiment here when its last one is known."""
    workers = Workers(n_jobs)
    heard = listen if workers.in_this_process else None  # another process cannot call it
    calls = [
        (name, part, setting, experiment.mark, experiment.folder.path.absolute(), heard)
        for name, experiment in under_way.items()
        for part in experiment.missing
    ]
    with contextlib.closing(workers.each(teach_part, calls)) as results:
        for given in results:
            experiment = under_way[given.name]
            experiment.take(given)
            if not experiment.missing:
                yield experiment.finish(listen)


def save(drawn: PaperFigure, out: Path) -> dict[str, str]:
    """Write a figure as PNG and PDF, with the same bytes in every run."""
    paths = {kind: f"{FIGURES}/{drawn.name}.{kind}" for kind in ("png", "pdf")}
    (out / FIGURES).mkdir(parents=True, exist_ok=True)
    for kind, path in paths.items():
        with whole_file(out / path) as temporary:
            drawn.figure.savefig(temporary, format=kind, dpi=DPI, metadata=dict.fromkeys(CHANGING[kind]))
        drawn.figure.set_layout_engine("none")  # laid out once, so that the PDF equals the PNG
    return {"name": drawn.name, "caption": drawn.caption, **paths}


def _one_at_a_time(progress: Listener | None) -> Listener:
    """Return the listener for several threads: they call it one after the other."""
    turn = threading.Lock()

    def listen(event: Event) -> None:
        if progress is not None:
            with turn:
                progress(event)

    return listen


def _leave_out_compared(asked: list[str], altered: list[str], by_name: bool) -> list[str]:
    """Return the experiments without those that compare what is altered; one that was named is refused."""
    compared = [name for name in asked if ALL[name].compares in altered and altered]
    if compared and by_name:
        what = ALL[compared[0]].compares
        raise InvalidInput(f"the experiment {compared[0]!r} compares several: leave it out, or this", parameter=what)
    return [name for name in asked if name not in compared]


def _make_folder(out: Path) -> Path:
    try:
        (out / FIGURES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"the output folder {str(out)!r} cannot be made or written to ({error}): name another"
        ) from None
    return out


def _describe_data(picture: Picture) -> dict[str, Any]:
    return {
        "name": picture.name,
        "original": picture.original,
        "source": picture.source,
        "caption": picture.caption,
        "licence": picture.licence,
    }


def _without_marks(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in ("fingerprint", "files")}
