"""The lesson: the record of what was shown, how far the learner still was, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nimt import display
from nimt.arrays import Array, is_number, is_whole, outputs_of
from nimt.counting import say_count
from nimt.errors import CannotStore, InvalidInput, MissingFile
from nimt.learners.prepared_learner import on_prepared_points
from nimt.lesson.citing import cite
from nimt.lesson.content import KIND, content_of, fields_of
from nimt.lesson.descriptions import check_can_take, find_lost_part, is_foreign
from nimt.lesson.held_out import HeldOutError, load_held_out
from nimt.lesson.outcome import Outcome
from nimt.lesson.record_columns import LABEL_OUTPUT, columns_of, columns_per_output, with_empty_end
from nimt.lesson.recording import Answers
from nimt.lesson.stored_learner import EndState, MadeWhenAsked, StoredLearner, refuse_incomplete
from nimt.measures import Measure, NamedMeasure, as_measure, decibels
from nimt.pools.pool import Pool
from nimt.pools.prepared_points import PreparedPoints
from nimt.store import records

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Lesson:
    """The record of a lesson of T steps.

    Attributes
    ----------
    discrepancy : array (T + 1,)
        M(f^t, f*) for t = 0 .. T.
    indices, labels : arrays (T, k) or None
        What was shown at each step; None where only the counts were kept (`record` is "picks"). With q outputs the
        labels are (T, k, q); if every output was shown examples of its own (`per_output`), both are (T, q k).
        Where packs have different sizes, k is the largest, and a shorter row ends with -1 and NaN, which `pack(t)`
        leaves out.
    coefficients : array like the labels, or None
        What each example added to f, the c of c K(x, .), of a `KernelLearner`. Files hold them if there is one number
        per step; those of packs would be most of a file, and follow from what was shown. None of packs of 64 or more.
    shown_points : array (T, k, d) or None
        The points shown in a `Box`, where they may lie anywhere; `indices` and `picks` then name the nearest ones of
        its grid.
    weights : array (T, k) or None
        What the learner's step at each example was multiplied by; None where no teacher gave weights.
    asked : Answers
        What the teacher asked the learner: `len(lesson.asked)` answers, with their `steps`, `indices` and `answers`.
    looked : array (T,) of bool, or None
        At which steps the teacher looked at the learner, for a teacher with a schedule of looking.
    mix_steps, mixes : arrays (m,) of int and (m, q, q), or None
        Before which steps the outputs were mixed, and by which matrices: f^t is the function after the mixture.
    held_out_curve : dict of step -> float
        The error on held-out points at the snapshots and at the end: the root mean square error, of classes the
        accuracy. Of many points, the first ones only. At step 0 it is that of the start, before any mixture.
    picks : array (n,) of int
        How often each point of the pool was shown.
    snapshots : dict of step -> array (n,), or (n, q)
        f^t on the pool at the steps asked for.
    itd : int or None
        The iterative teaching dimension: the first t with a discrepancy below the tolerance.
    outcome : Outcome
    elapsed : float
        Seconds that the steps took, without `compiling`.
    compiling : float
        Seconds of compiling engines, once per installation, or of loading them, once per process.
    drew : bool
        Whether anything was drawn from the seed, so that another seed would have given another lesson.
    engine, record : str
        Which engine ran, and whether "all" or only "picks" was kept.
    pool, target, initial : Pool, array (n,), or (n, q) for q outputs, and another like it
    final : array like the target
        f^T on the pool.
    settings : dict
        Everything needed to run it again, versions included.
    warnings : list of str
        What it warned of.
    learner : the taught learner, or None for one that was not stored, or not loaded
        Of a table, it takes rows as the table has them (`PreparedLearner`).
    """

    discrepancy: Array
    picks: NDArray[np.int32]
    outcome: Outcome
    elapsed: float
    engine: str
    record: str
    pool: Pool
    target: Array
    initial: Array
    final: Array
    settings: dict[str, Any] = MadeWhenAsked()  # type: ignore[assignment]  # noqa: RUF009
    # of the class that the caller taught, so only the caller knows its methods
    learner: Any = MadeWhenAsked()  # noqa: RUF009  (a descriptor, which a class needs to have one of)
    indices: NDArray[np.int64] | None = None
    labels: Array | None = None
    shown_points: Array | None = None
    snapshots: dict[int, Array] = field(default_factory=dict)
    compiling: float = 0.0
    drew: bool = True
    looked: NDArray[np.bool_] | None = None
    mix_steps: NDArray[np.int64] | None = None
    mixes: Array | None = None
    held_out_curve: dict[int, float] = field(default_factory=dict)
    coefficients: Array | None = None
    warnings: list[str] = field(default_factory=list)
    weights: Array | None = None
    asked: Answers = field(default_factory=Answers.none)

    @cached_property
    def held_out(self) -> HeldOutError | None:
        """The error of the taught learner on points that were held out; None where there are none."""
        held = load_held_out(self.settings.get("holdout"), self.pool.dimension, self.target.shape[1:])
        if held is None:
            return None
        if self._stored_learner is not None and self._stored_learner.held_out is not None:
            return self._stored_learner.held_out
        if self.taught is None:
            return None
        points, target = held.for_report()
        return held.measure(np.asarray(self.taught.predict(points), dtype=np.float64), target, self.target)

    def find_held_out(self) -> HeldOutError | None:
        """Return `held_out`, None if it cannot be computed: a lesson that a failing learner ended is saved, too."""
        try:
            return self.held_out
        except Exception:  # the learner or its kernel may be the user's, and raise anything
            return None

    @property
    def _stored_learner(self) -> StoredLearner | None:
        """The learner as a file holds it, None once it is rebuilt."""
        found = vars(self)["learner"]
        return found if isinstance(found, StoredLearner) else None

    @property
    def learning_rate(self) -> float | None:
        """The learning rate that "auto" stood for; None where the learner found none."""
        if self._stored_learner is not None:
            return self._stored_learner.learning_rate
        found: float | None = getattr(self.taught, "learning_rate_", None)
        return found

    @property
    def taught(self) -> Any:
        """The taught learner on the points of the pool: without the preparation of a table."""
        return on_prepared_points(self.learner)

    def __len__(self) -> int:
        """Return T, the number of steps."""
        return len(self.discrepancy) - 1

    @property
    def tol(self) -> float | None:
        tol: float | None = self.settings["tol"]
        return tol

    @property
    def itd(self) -> int | None:
        return None if self.tol is None else self.steps_to(self.tol)

    @property
    def access(self) -> str:
        """What the teacher knew: "white box", "gray box" (the learner's predictions), or "black box" (its answers)."""
        return str(self.settings["method"].get("access", "gray box"))

    @property
    def per_output(self) -> bool:
        """Whether every output was shown examples of its own, in the order of the outputs."""
        return bool(self.settings.get("per_output", False)) and self.target.ndim == 2

    @property
    def measure(self) -> Measure:
        """What `discrepancy` was measured by."""
        described = self.settings["measure"]
        if isinstance(described, str):
            return as_measure(described)
        return NamedMeasure(described["label"], described["axis"], bool(described["higher_is_better"]))

    @property
    def method(self) -> str:
        """What tables and figures call its teacher: GFT-1, RFT-0.05, whole ..."""
        return str(self.settings["method"]["name"])

    @property
    def colour(self) -> str | None:
        """The colour of its teacher in figures; None if the teacher has none, and figures then take a free one."""
        colour: str | None = self.settings["method"]["colour"]
        return colour if colour is not None and display.is_colour(colour) else None  # a file may hold any text

    def steps_to(self, tolerance: float) -> int | None:
        """Return the first t that meets any tolerance: M below it, above it if higher is better; None if no t does."""
        better = self.discrepancy >= tolerance if self.measure.higher_is_better else self.discrepancy < tolerance
        met = np.flatnonzero(better)
        return int(met[0]) if met.size else None

    def psnr(self) -> Array:
        """Return the peak signal-to-noise ratio of f^t in decibels for t = 0 .. T: 20 log10(peak / RMS error).

        The peak is 1 for a target within [0, 1], as a picture is, and the range of the target otherwise; the error is
        that of all points and outputs.
        """
        scale = self.measure.scale(self.target)
        if scale is None:
            raise InvalidInput(
                f"psnr() is computed from the root mean square error, and this lesson has the measure "
                f"{self.measure.name!r}: teach with measure='paper' or 'rms'"
            )
        return decibels(self.discrepancy / (scale * np.sqrt(self.target.size)), self.target)

    def objective(self, lam: float) -> Array:
        """Return M(f^t, f*) + lam * t along the lesson, the objective of machine teaching [Zhang23, Eq. 1]."""
        if not is_number(lam) or not 0 <= float(lam) < np.inf:
            raise InvalidInput(f"must be a finite number >= 0, got {lam!r}", parameter="lam")
        return np.asarray(self.discrepancy + lam * np.arange(len(self.discrepancy)))

    def best_length(self, lam: float) -> int:
        """Return the length at which `objective(lam)` is smallest."""
        return int(np.argmin(self.objective(lam)))

    def pack(self, step: int) -> tuple[NDArray[np.int64], Array]:
        """Return the indices (k,) and the labels (k,) or (k, q) of what was shown at a step, 0 to T - 1."""
        if self.indices is None or self.labels is None:
            raise InvalidInput("this lesson kept only how often each point was shown: teach it with record='all'")
        if not is_whole(step) or not 0 <= step < len(self):
            raise InvalidInput(f"this lesson has the steps 0 to {len(self) - 1}, got {step!r}")
        shown = self.indices[step] >= 0
        return self.indices[step][shown], self.labels[step][shown]

    @property
    def has_packs_of_one_size(self) -> bool:
        """Whether every step showed the same number of examples."""
        return self.indices is None or not bool((self.indices < 0).any())

    def to_table(self) -> dict[str, NDArray[Any]]:
        """Return columns by step, ready for pandas.DataFrame, polars.DataFrame or CSV.

        Row t holds M(f^t, f*) and what was shown then: index, coordinates and label. Nothing was shown in the last row
        (index -1, coordinates and label NaN or empty). The coordinates have the names of a table's columns, or are
        x_1, x_2; a table's column that is named like one of the record's, as "step", is called "table_step".
        """
        table: dict[str, NDArray[Any]] = {
            "step": np.arange(len(self.discrepancy)),
            "discrepancy": np.array(self.discrepancy),
        }
        if self.indices is not None and self.labels is not None and self.per_output:
            q = self.target.shape[1]
            table |= columns_per_output(self.pool, self.indices, self.labels, self.weights, q)
        elif self.indices is not None and self.labels is not None:
            k = self.indices.shape[1]
            for j in range(k):
                suffix = "" if k == 1 else f"_{j + 1}"
                table[f"index{suffix}"] = np.append(self.indices[:, j], -1)
                points = None if self.shown_points is None else self.shown_points[:, j]
                for name, column in columns_of(self.pool, self.indices[:, j], self.labels[:, j], points).items():
                    is_output = name.startswith(LABEL_OUTPUT)
                    title = name.replace("label", f"label{suffix}", 1) if is_output else f"{name}{suffix}"
                    table[title] = with_empty_end(column)
                if self.weights is not None:
                    table[f"weight{suffix}"] = with_empty_end(self.weights[:, j])
        if self.looked is not None:
            table["looked"] = np.append(self.looked, False)
        if self.mix_steps is not None:
            table["mixed"] = np.isin(table["step"], self.mix_steps)
        return table

    def examples(self) -> pd.DataFrame:
        """Return the examples as a DataFrame, one per row in the order in which they were shown.

        Columns: step, index (in the pool), row (in the file, of a table), the coordinates with the names that a table
        or a DataFrame given as X has, or as x_1, x_2, and label: words of classes, otherwise numbers. If every output
        has examples of its own, output says which one an example is for. A table's column that is named like one of
        the record's (step, discrepancy, index, row, label, weight, output, looked, mixed) gets the prefix table_:
        "step" of the table is "table_step".

        Examples
        --------
        >>> import nimt
        >>> lesson = nimt.teach(nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5), nimt.GreedyTeacher(),
        ...                     [0.0, 5.0], [1.0, 3.0], max_iterations=2)
        >>> lesson.examples()
           step  index  x_1  label
        0     0      1  5.0    3.0
        1     1      0  0.0    1.0
        """
        import pandas as pd  # here, since a lesson needs none

        if self.indices is None or self.labels is None:
            raise InvalidInput("only how often each point was shown is recorded (picks): teach with record='all'")
        steps, places = np.nonzero(self.indices >= 0)
        indices, labels = self.indices[steps, places], self.labels[steps, places]
        points = None if self.shown_points is None else self.shown_points[steps, places]
        table: dict[str, NDArray[Any]] = {"step": steps, "index": indices}
        if self.per_output:
            counts = np.count_nonzero(self.indices >= 0, axis=1)
            none = np.zeros(0, dtype=np.intp)  # of a lesson of no step
            table["output"] = np.concatenate([none, *(outputs_of(count, self.target.shape[1]) for count in counts)]) + 1
        if isinstance(self.pool, PreparedPoints):
            table["row"] = self.pool.rows[indices]
        table |= columns_of(self.pool, indices, labels, points)
        return pd.DataFrame(table if self.weights is None else table | {"weight": self.weights[steps, places]})

    def save(self, path: str | PathLike[str]) -> None:
        """Write the lesson to one npz file without pickle; an interrupted write leaves no partial file.

        `nimt.resume` goes on with a lesson of a `KernelLearner` from its file, for example with a larger budget.
        Functions are stored as their values on the pool. A learner of your own is stored by the parameters of its
        constructor and its `state()`, one of scikit-learn by skops. If there is a `state()` only, as of a
        `TorchLearner`, `load` needs `learner=`. If nothing can be stored, `StorageWarning` says so.
        """
        folder = Path(path).parent
        if not folder.is_dir():
            raise MissingFile(f"there is no folder {folder} to save the lesson {Path(path).name} in: make it first")
        if Path(path).is_dir():
            raise InvalidInput(f"a lesson is saved to a file, and {path} is a folder: name a file in it")
        state, held_out = self._find_state(), self.find_held_out()
        if state is not None:
            try:
                records.write(path, KIND, content_of(vars(self), None, self.per_output, held_out, state))
            except CannotStore:  # what a teacher of the user remembers
                state = None
        if state is None:
            records.write(path, KIND, content_of(vars(self), self.taught, self.per_output, held_out))

    def _find_state(self) -> dict[str, Any] | None:
        """Return the state from which it can go on, None where it has none, or its learner needs more than that."""
        stored, end = self._stored_learner, vars(self).get("_end")  # put there by the session that ran it
        state = stored.state if stored is not None else None if end is None else end.of(self.taught)
        before = self.settings["learner"]
        is_whole = find_lost_part(before) is None and not is_foreign(before.get("learning_rate"))
        return state if state is not None and is_whole else None

    def cite(self) -> str:
        """Return what to cite, in BibTeX: the papers of the methods it used, and the software."""
        return cite(self.settings)

    def rerun(
        self, *, seed: int | None = None, learner: Any = None, teacher: Any = None, y: Any = None,
        allow: Iterable[object] = (),
    ) -> Lesson:  # fmt: skip
        """Give the lesson again, by its settings; with the same versions it is the same lesson, to the last digit.

        Parameters
        ----------
        seed : int, optional
            Another seed than before.
        learner, teacher, y : optional
            What is not nimt's own must be passed again, as at the start.
        allow : classes and functions of yours that the settings may name
        """
        # a lesson is below what gives lessons, so that it is asked for by name and only here
        run_again = import_module("nimt.session.rerunning").run_again
        again: Lesson = run_again(self, seed=seed, learner=learner, teacher=teacher, y=y, allow=allow)
        return again

    def replay(self, path: str | PathLike[str], *, title: str = "A lesson") -> Path:
        """Write one HTML file that plays the lesson, forwards or backwards, without a server; return its path.

        A lesson of a `KernelLearner` is played exactly, step by step; any other from its snapshots.
        """
        # the page is made far above the record, so it is asked for by name and only here
        page: Path = import_module("nimt.replay.player_page").write_replay(self, path, title=title)
        return page

    def animate(self, path: str | PathLike[str], *, cmap: str | None = None) -> Path:
        """Write a .gif or (with ffmpeg) an .mp4 file with one frame per snapshot, examples marked; return its path.

        Without snapshots the steps of a `KernelLearner` are taken again, and about 50 of them are shown.

        Parameters
        ----------
        path : path
        cmap : str, optional
            A colour map of matplotlib for functions on a plane; grey for pictures by default.
        """
        file: Path = import_module("nimt.plots.animation").write_animation(self, path, cmap)
        return file

    def report(self, folder: str | PathLike[str], *, title: str = "A lesson", cmap: str | None = None) -> Path:
        """Write numbers, figures and an animation to a folder, and one page that holds them all; return its path.

        Parameters
        ----------
        folder : path
            Made if it is missing. The files are summary.json, curve.png, panels.png, lesson.gif and report.html.
        title : str
            Of the page.
        cmap : str, optional
            As in `animate`.
        """
        page: Path = import_module("nimt.reports.lesson_page").lesson_report(self, folder, title=title, cmap=cmap)
        return page

    @classmethod
    def load(cls, path: str | PathLike[str], *, learner: Any = None, allow: Iterable[object] = ()) -> Lesson:
        """Read a lesson written by `save`; a truncated, altered or foreign file raises `CorruptLesson`.

        Parameters
        ----------
        path : path
        learner : optional
            A learner like the one that was taught, for a file that holds only its state: `lesson.learner` is a copy of
            it with this state. So is a `TorchLearner` loaded, because no file holds the code of a module.
        allow : classes and functions of yours that the file may name
            A kernel, loss, learner or initial function of your own is rebuilt only if it is listed here. Otherwise
            `lesson.learner` is None; everything else of the lesson is there.
        """
        fields = _read(path, learner, allow)
        stored = fields["learner"]
        lesson = cls(**fields | {"learner": stored.rebuild()})
        if stored.state is not None and lesson.taught is not None:
            vars(lesson)["_end"] = EndState(stored.state, lesson.taught)
        return lesson

    @classmethod
    def load_record(cls, path: str | PathLike[str]) -> Lesson:
        """Read a lesson as `load` does, but rebuild and check its learner only when it is asked for.

        So scikit-learn is not loaded where only the record is looked at.
        """
        return cls(**_read(path))

    @classmethod
    def of_content(cls, content: dict[str, Any], path: str | PathLike[str]) -> Lesson:
        """Return the lesson of a file that was read."""
        with refuse_incomplete(path):
            return cls(**fields_of(content, path, []))

    def _repr_html_(self) -> str:
        measure = self.measure
        numbers = {
            "steps": f"{len(self):,}",
            "ITD": None if self.itd is None else f"{self.itd:,}",
            "tolerance": None if self.tol is None else f"{self.tol:g}",
            measure.word: f"{self.discrepancy[0]:.4g} → {display.below(self.discrepancy[-1], self.tol, 4)}",
            "measure": measure.name,
            "teacher": self.method,
            "learner": "not loaded" if self.learner is None else type(self.learner).__name__,
            "pool": repr(self.pool),
            "engine": f"{self.engine}, {self.elapsed:.3g} s",
        }
        line = display.Line("", self.colour or "currentColor", np.arange(len(self.discrepancy)), self.discrepancy)
        return display.cell(
            f"Lesson: {self.outcome}",
            display.pairs(numbers),
            display.curves([line], measure.axis or measure.name, self.tol, logarithmic=not measure.higher_is_better),
        )

    def __repr__(self) -> str:
        reached = f", ITD {self.itd}" if self.itd is not None else ""
        stored = "" if self.learner is not None else "; without its learner"
        return (
            f"<Lesson of {say_count(len(self), 'step', 'd')}{reached}: {self.outcome}; {self.measure.word} "
            f"{self.discrepancy[0]:.4g} -> "
            f"{display.below(self.discrepancy[-1], self.tol, 4)} on {self.pool!r}, {self.engine} engine{stored}>"
        )


def _read(path: str | PathLike[str], learner: Any = None, allow: Iterable[object] = ()) -> dict[str, Any]:
    """Return the fields of the lesson that a file holds; its learner is not rebuilt yet."""
    if not isinstance(path, str | PathLike):
        raise InvalidInput(f"a lesson is loaded from the path of a file, got {path!r}")
    try:
        content = records.read(path, KIND)
    except FileNotFoundError:
        raise MissingFile(f"there is no lesson {path}") from None
    if learner is not None:
        check_can_take(learner, content.get("learner") or content.get("settings", {}).get("learner"))
    with refuse_incomplete(path):
        return fields_of(content, path, list(allow), learner)
