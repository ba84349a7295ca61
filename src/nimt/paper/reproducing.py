"""Run the experiments, draw their figures, write the summary and the report; finished experiments are kept."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import multiprocessing.queues
import os
import queue
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nimt._version import __version__
from nimt.arrays import check_count
from nimt.datasets import Picture, data_folder
from nimt.errors import InvalidInput
from nimt.files import whole_file, write_text
from nimt.lesson.lesson import Lesson
from nimt.paper.experiment import Drawn, Setting
from nimt.paper.finished import FIGURES, drop_parts, fingerprint, keep, keep_part, kept, kept_part
from nimt.paper.page import page_of
from nimt.paper.registry import ALL, EXPERIMENTS, FAMILY, chosen
from nimt.teaching.checking import versions

DPI = 150
CHANGING: dict[str, tuple[str, ...]] = {
    "png": ("Software",),
    "pdf": ("CreationDate", "Producer"),
}  # metadata that would differ from run to run: left out
HEARD_EVERY = 0.1  # seconds between two looks at the messages of the workers
SPAWN = multiprocessing.get_context("spawn")  # a fork would copy the locks of numba and BLAS in an unknown state


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
        The number of processes; by default that of the cores. With 1 everything runs in this process.
    data : path, optional
        Where published data is looked for, see `nimt.datasets.data_folder`.
    progress : callable of Event, optional
    family : bool
        Run the experiments of the paper's family, `nimt.paper.FAMILY`, instead: several outputs taught at once.

    Returns
    -------
    dict
        What `summary.json` holds: all experiments in the folder that these settings made.
    """
    began = time.perf_counter()
    offered = FAMILY if family else EXPERIMENTS
    asked = chosen(names, family)
    if iterations is not None:
        check_count("iterations", iterations, at_least=1)
    workers = os.cpu_count() or 1 if jobs is None else jobs
    check_count("jobs", workers, at_least=1)
    if data is not None:
        data = data_folder(data)
    folder = _made(Path(out))
    setting = Setting(iterations=iterations, data=None if data is None else Path(data))
    listen = progress or (lambda event: None)

    marks = {name: fingerprint(name, setting, offered[name].pictures(setting.data)) for name in offered}
    records = {name: record for name in offered if (record := kept(folder, name, marks[name])) is not None}
    for name in asked:
        if name in records:
            listen(Event(name, "kept", seconds=records[name]["seconds"]["total"]))
    missing = sorted((name for name in asked if name not in records), key=lambda name: -offered[name].cost)
    work = Work(setting, marks, folder)
    alone = workers == 1 or not missing
    run = _in_this_process if alone else _in_processes
    try:
        for record in run(missing, work, int(workers), listen):
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
            "wall_seconds": time.perf_counter() - began,
            "run_now": [name for name in asked if name in records and name in missing],
            "experiments": {record["name"]: _without_marks(record) for record in ordered},
        }
        write_text(folder / "summary.json", json.dumps(summary, indent=1))
        write_text(folder / "report.html", page_of(summary, folder))
    return summary


@dataclass(frozen=True, eq=False)
class Work:
    """What a worker needs to know: the settings, the fingerprint of every experiment, the output folder."""

    setting: Setting
    marks: dict[str, str]
    out: Path


def teach_part(name: str, part: str, work: Work, listen: Listener) -> Lesson:
    """Run one lesson of an experiment, or read it if an interrupted run had finished it."""
    before = kept_part(work.out, name, part, work.marks[name])
    if before is not None:
        return before
    experiment = ALL[name]
    assert experiment.parts is not None
    pictures = experiment.pictures(work.setting.data)
    lesson = experiment.parts.teach(_listened(name, work.setting, listen), pictures, part)
    keep_part(work.out, name, part, work.marks[name], lesson)
    return lesson


def finish(name: str, parts: dict[str, Lesson] | None, work: Work, listen: Listener) -> dict[str, Any]:
    """Run one experiment, or take the lessons of its parts; save its figures and its record."""
    experiment = ALL[name]
    began = time.perf_counter()
    pictures = experiment.pictures(work.setting.data)
    if parts is None:
        found = experiment.run(_listened(name, work.setting, listen), pictures)
        teaching = time.perf_counter() - began
    else:
        assert experiment.parts is not None
        found = experiment.parts.assemble(parts, pictures)
        teaching = sum(lesson.elapsed for lesson in parts.values())
    began = time.perf_counter()
    listen(Event(name, "drawing", seconds=teaching))
    figures = [save(drawn, work.out) for drawn in experiment.draw(found)]
    drawing = time.perf_counter() - began
    record = {
        "name": name,
        "title": experiment.title,
        "paper": experiment.paper,
        "about": experiment.about,
        "fingerprint": work.marks[name],
        "data": [_data_used(picture) for picture in pictures],
        "lessons": [lesson.summary() for lesson in experiment.lessons(found)],
        "quantities": [quantity.summary() for quantity in experiment.quantities(found)],
        "notes": experiment.notes(found),
        "figures": figures,
        "seconds": {"lessons": teaching, "drawing": drawing, "total": teaching + drawing},
    }
    keep(work.out, record)
    drop_parts(work.out, name)
    return record


def _listened(name: str, setting: Setting, listen: Listener) -> Setting:
    began = time.perf_counter()

    def tell(lesson: str, step: int, steps: int) -> None:
        listen(Event(name, "teaching", lesson, step, steps, time.perf_counter() - began))

    return replace(setting, tell=tell)


def save(drawn: Drawn, out: Path) -> dict[str, str]:
    """Write a figure as PNG and PDF, with the same bytes in every run."""
    paths = {kind: f"{FIGURES}/{drawn.name}.{kind}" for kind in ("png", "pdf")}
    (out / FIGURES).mkdir(parents=True, exist_ok=True)
    for kind, path in paths.items():
        with whole_file(out / path) as temporary:
            drawn.figure.savefig(temporary, format=kind, dpi=DPI, metadata=dict.fromkeys(CHANGING[kind]))
        drawn.figure.set_layout_engine("none")  # laid out once, so that the PDF equals the PNG
    return {"name": drawn.name, "caption": drawn.caption, **paths}


def _in_this_process(names: list[str], work: Work, workers: int, listen: Listener) -> Iterator[dict[str, Any]]:
    for name in names:
        parts = ALL[name].parts
        lessons = None if parts is None else {part: teach_part(name, part, work, listen) for part in parts.names}
        yield finish(name, lessons, work, listen)


def _in_processes(names: list[str], work: Work, workers: int, listen: Listener) -> Iterator[dict[str, Any]]:
    said: multiprocessing.queues.Queue[Event] = SPAWN.Queue()
    pool = ProcessPoolExecutor(workers, mp_context=SPAWN, initializer=_begin, initargs=(said, work))
    try:
        lessons: dict[Future[Lesson], tuple[str, str]] = {}
        records: set[Future[dict[str, Any]]] = set()
        apart: dict[str, dict[str, Lesson]] = {}
        for name in names:
            parts = ALL[name].parts
            if parts is None:
                records.add(pool.submit(_finish, name, None))
            else:
                apart[name] = {}
                lessons |= {pool.submit(_teach_part, name, part): (name, part) for part in parts.names}
        while lessons or records:
            pending: list[Future[Any]] = [*lessons, *records]
            done, _ = wait(pending, timeout=HEARD_EVERY, return_when=FIRST_COMPLETED)
            with contextlib.suppress(queue.Empty):
                while True:
                    listen(said.get_nowait())
            for lesson in [future for future in lessons if future in done]:
                name, part = lessons.pop(lesson)
                apart[name][part] = lesson.result()
                parts = ALL[name].parts
                assert parts is not None
                if len(apart[name]) == len(parts.names):
                    ordered = {each: apart[name][each] for each in parts.names}
                    records.add(pool.submit(_finish, name, ordered))
            for record in [future for future in records if future in done]:
                records.remove(record)
                yield record.result()
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        said.close()


_said: multiprocessing.queues.Queue[Event]
_work: Work


def _begin(said: multiprocessing.queues.Queue[Event], work: Work) -> None:
    """Prepare a worker: it reports through a queue, and the parent handles Ctrl-C."""
    global _said, _work
    _said, _work = said, work
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _teach_part(name: str, part: str) -> Lesson:
    return teach_part(name, part, _work, _said.put)


def _finish(name: str, parts: dict[str, Lesson] | None) -> dict[str, Any]:
    return finish(name, parts, _work, _said.put)


def _made(out: Path) -> Path:
    try:
        (out / FIGURES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"the output folder {str(out)!r} cannot be made or written to ({error}): name another"
        ) from None
    return out


def _data_used(picture: Picture) -> dict[str, Any]:
    return {
        "name": picture.name,
        "original": picture.original,
        "source": picture.source,
        "caption": picture.caption,
        "licence": picture.licence,
    }


def _without_marks(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in ("fingerprint", "files")}
