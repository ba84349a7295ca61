"""`Task`: a lesson as a value. Every entrance builds one, once; every check is made while it is built.

`Plan` is how it would run.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from nimt import display
from nimt.arrays import Array, Indices, outputs_of
from nimt.counting import readable, say_count
from nimt.errors import InvalidInput, NotEnoughMemory, first_call_of, warn
from nimt.inheritance import behaves_like
from nimt.learners.foreign_learner import make_pupil
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import Learner, Pupil, auto_rate, find_known_parts, find_rate
from nimt.lesson.descriptions import describe_rules, describe_task
from nimt.lesson.held_out import HeldOutRows, check_held_out
from nimt.lesson.identity import identity
from nimt.lesson.recording import LARGE_PACK, RECORD_LIMIT
from nimt.measures import Measure
from nimt.operators.pack_gain import pack_gain
from nimt.operators.random_features import FeatureKernel, RandomFeatures
from nimt.option_table import LessonOptions, Options
from nimt.pools.box import Box
from nimt.pools.pool import FunctionLike, Pool, as_pool, name_target, values_on
from nimt.task.checks import check_fit, check_pupil, find_faults, name_kernels
from nimt.task.cutting import Blocks
from nimt.task.options import Keep, Stop, check_options, settle_tolerance
from nimt.teachers.adapter import as_teacher
from nimt.teachers.candidates import candidates_of
from nimt.teachers.rule import Rule
from nimt.teachers.teacher import SelectsExamples, Teacher

if TYPE_CHECKING:
    from nimt.session.session import Session

SURELY_FREE = 2**24  # bytes that need not be asked for: the question takes as long as hundreds of steps
ROLES = ("pool", "selection", "labels")  # each has a random stream of its own


@dataclass(frozen=True)
class Plan:
    """How a lesson would run.

    Attributes
    ----------
    engine : str
    bytes : int
        Estimated memory at its peak, beyond the arrays given.
    window : int or None
        How many points one example changes: the cells of the kernel's window, or the average number of neighbours;
        None for all.
    reason : str
    """

    engine: str
    bytes: int
    window: int | None
    reason: str

    def __str__(self) -> str:
        changed = "every point" if self.window is None else say_count(self.window, "point", "d")
        return f"{self.engine} engine, about {readable(self.bytes)}, an example changes {changed}: {self.reason}"

    def check_memory(self) -> None:
        """Raise if the lesson needs more memory than is free, before anything is allocated."""
        if self.bytes <= SURELY_FREE:
            return
        free = available_memory()
        if free is not None and self.bytes > free:
            raise NotEnoughMemory(
                f"this lesson would need about {readable(self.bytes)} on the {self.engine} engine, and "
                f"{readable(free)} are free: use a smaller pool, a narrower kernel, record='picks', or engine='auto'"
            )

    def _repr_html_(self) -> str:
        changed = "every point" if self.window is None else say_count(self.window, "point", "d")
        rows = {"memory": f"about {readable(self.bytes)}", "an example changes": changed, "why": self.reason}
        return display.cell(f"Plan: {self.engine} engine", display.pairs(rows))


def available_memory() -> int | None:
    """Return the bytes of free memory, None if the system does not report them."""
    import psutil

    try:
        return int(psutil.virtual_memory().available)
    except (OSError, RuntimeError, NotImplementedError):
        return None


@dataclass(frozen=True, eq=False)
class Task:
    """A lesson that can run: what is taught, to whom, by whom, and by which rules.

    Attributes
    ----------
    learner : as given
    teacher : Teacher
        As given, or adapted by `as_teacher`.
    pool, target : Pool, array (n,), or (n, q) for q outputs
    target_function : object
        f* as the caller gave it.
    measure : Measure
    stop, keep : Stop, Keep
    seed : int
    engine : str or RandomFeatures
        As asked for; `plan.engine` is the one that runs.
    holdout : HeldOutRows or None
    box : Box or None
        Where the teacher may show any point of a box; `pool` is then its grid.
    planned_steps : int
        The length of the teacher's schedules that were given none: the budget, of a lesson that goes on the first one.
    outputs, label_outputs : tuple of int
        (q,) for q > 1 outputs of the target, () for one; and those of one label, which may belong to one output.
    per_output, communicates : bool
        Whether every output is shown examples of its own, and whether outputs are mixed before some steps.
    has_schedule, looks_by_schedule : bool
        Whether packs change in size or are chosen by an earlier look, and whether the teacher looks only at some steps.
    gain : float or None
        How far a pack can move the learner at once (`pack_gain`); None where that is not known.
    """

    learner: Learner
    teacher: Teacher
    pool: Pool
    target: Array
    target_function: object
    measure: Measure
    stop: Stop
    keep: Keep
    seed: int
    engine: str | RandomFeatures = "auto"
    holdout: HeldOutRows | None = None
    box: Box | None = None
    planned_steps: int = 0
    outputs: tuple[int, ...] = field(init=False)
    label_outputs: tuple[int, ...] = field(init=False)
    per_output: bool = field(init=False)
    communicates: bool = field(init=False)
    has_schedule: bool = field(init=False)
    looks_by_schedule: bool = field(init=False)
    gain: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        teacher, outputs = self.teacher, self.target.shape[1:]
        per_output = teacher.per_output
        vars(self).update(
            outputs=outputs,
            label_outputs=() if per_output else outputs,
            per_output=per_output,
            communicates=teacher.communicates,
            has_schedule=teacher.has_schedule,
            looks_by_schedule=teacher.looks is not None,
        )

    @classmethod
    def of(
        cls,
        learner: Learner,
        teacher: SelectsExamples,
        X: Pool | Box | ArrayLike,
        y: FunctionLike,
        *,
        target_function: object = None,
        numbers_only: bool = False,
        planned_steps: int | None = None,
        **options: Unpack[LessonOptions],
    ) -> Task:
        """Check what `nimt.teach` takes and return the task, or refuse it in one sentence.

        `target_function` is f* where `y` holds only its values. With `numbers_only` its lesson has neither the learner
        nor a description of what was taught.
        """
        given = Options.of("teach", options)
        stop, keep, measured, drawn, held = check_options(given, learner=not numbers_only)
        engine = given.engine
        if isinstance(engine, Blocks):
            raise InvalidInput(
                "only nimt.teach, nimt.blocks.teach_blocks and nimt.plan take Blocks", parameter="engine"
            )
        planned = stop.max_iterations if planned_steps is None else planned_steps
        adapted = as_teacher(teacher).fix_length(planned)
        box = X if isinstance(X, Box) else None
        pool = X.grid if isinstance(X, Box) else name_target(as_pool(X), y)
        if isinstance(engine, RandomFeatures):
            if box is not None:
                raise InvalidInput(
                    f"{engine.label} approximate a kernel on the points of a pool, and a Box has no fixed points"
                )
            learner = approximate(learner, engine, pool)
        target = values_on(pool, y, "the target")
        sees = adapted.opens
        known = find_known_parts(learner) if sees else {}
        if sees:
            adapted.check_known(known, type(learner).__name__)
            adapted = adapted.inform({"kernel": known["kernel"], "loss": known["loss"]})
        adapted = adapted if box is not None else adapted.prepare_on(pool, target)
        if held is not None:
            check_held_out(held, pool.dimension, target.shape[1:])
        function = y if target_function is None else target_function
        task = cls(learner, adapted, pool, target, function, measured, stop, keep, drawn, engine, held, box, planned)
        check_fit(task)
        pupil = task.look_at_pupil()
        if "rate" in sees:  # only now is it known what "auto" stands for
            object.__setattr__(task, "teacher", adapted.inform({"rate": find_rate(pupil, known["rate"])}))
        if isinstance(given.tol, str):
            tol = settle_tolerance(given.tol, measured, target, pupil.values)
            object.__setattr__(task, "stop", dataclasses.replace(stop, tol=tol))
        return task

    # -- what follows from the parts

    def at_examples(self, values: Array, indices: Indices) -> Array:
        """Return values on the pool at the examples of a step, as their labels are: (k,) or (k, q)."""
        if not self.per_output:
            return np.asarray(values[indices])
        return np.asarray(values[indices, outputs_of(len(indices), self.outputs[0])])

    def stream(self, role: str) -> np.random.Generator:
        """Return a new random stream of the lesson, for the teacher's "pool", its "selection" or its "labels"."""
        own = np.random.SeedSequence(self.seed, spawn_key=(ROLES.index(role),))  # as `Generator.spawn` does
        return np.random.default_rng(own)

    @cached_property
    def rule(self) -> Rule | None:
        """What the teacher does, for compiled code; None where that is known to the teacher alone."""
        return self.teacher.compiled_rule()

    @cached_property
    def candidates(self) -> Indices | None:
        """The points the teacher may show, sorted; None for all."""
        if self.teacher.pool is None:
            return None
        return candidates_of(self.teacher.pool, self.pool.shape, self.stream("pool"))

    @property
    def offered(self) -> int:
        """How many points the teacher may show."""
        return len(self.pool) if self.candidates is None else len(self.candidates)

    @cached_property
    def other_target(self) -> Array | None:
        """What alternative labels are read from, like the target; None for the truth alone."""
        labels = self.teacher.labels
        return None if labels is None else values_on(self.pool, labels.other_target, "the other target", self.outputs)

    @property
    def other_probability(self) -> float:
        """How often a step is labelled by the other target."""
        return 0.0 if self.teacher.labels is None else float(self.teacher.labels.probability)

    def looks_at(self, step: int) -> bool:
        """Say whether the teacher looks at its learner at a step."""
        return not self.looks_by_schedule or self.teacher.looks_at(step)

    @cached_property
    def pack_size(self) -> int | None:
        """How many examples each step shows to an output; None if that is not known before."""
        tell = self.teacher.pack_size
        if not callable(tell):
            problem = f"{self.teacher.kind}.pack_size must be a method, pack_size(n), got {tell!r}"
            raise InvalidInput(problem, way_out=f"write k = {tell!r} for packs of one size")
        with first_call_of(lambda: f"{self.teacher.kind}.pack_size"):
            return tell(self.offered)

    @property
    def examples_per_step(self) -> int | None:
        """How many examples are recorded per step: one pack, or one per output; None if not known before."""
        k = self.pack_size
        return k if k is None or not self.per_output else k * self.outputs[0]

    @cached_property
    def repeats(self) -> bool:
        """Whether the teacher shows the same example again as long as the learner does not move."""
        still = self.teacher.draws is False and self.other_target is None and self.adds_only
        return still and not self.teacher.changes_by_step and not self.communicates  # a mixture moves the learner

    @cached_property
    def record(self) -> str:
        """What is recorded: "auto" becomes "picks" if the record is sure to exceed the limit."""
        k = self.examples_per_step
        if self.keep.record == "auto" and not self.stop.may_end_early and k is not None:
            return "picks" if 16 * k * self.stop.max_iterations > RECORD_LIMIT else "auto"
        return self.keep.record

    @cached_property
    def keeps_coefficients(self) -> bool:
        """Whether engines write down what each example added to f; not of large packs."""
        k = self.examples_per_step
        small = self.record != "picks" and (k is None or k < LARGE_PACK)
        return self.keep.coefficients and isinstance(self.learner, KernelLearner) and self.adds_only and small

    @cached_property
    def adds_only(self) -> bool:
        """Whether a step changes f only by what its examples add: not with momentum, forgetting and so on."""
        return not isinstance(self.learner, KernelLearner) or self.learner.update.is_plain

    def keeping(self, keep: Keep) -> Task:
        """Return the same task of which something else is kept; what was built to plan it is handed on."""
        task = dataclasses.replace(self, keep=keep)
        for name in ("choice", "gain", "_waiting", "candidates", "other_target", "pack_size"):
            if name in vars(self):
                vars(task)[name] = vars(self)[name]
        vars(self).pop("_waiting", None)
        return task

    # -- the learner at work

    def make_pupil(self) -> Pupil:
        """Return the learner at work on the pool, before the first step; the caller's learner is not changed."""
        waiting: Pupil | None = vars(self).pop("_waiting", None)
        if waiting is not None:
            return waiting
        labels = self.target  # all that it may be shown: a classifier must know its classes before it begins
        if self.other_target is not None:
            labels = np.concatenate([self.target, self.other_target])
        pupil = make_pupil(self.learner, self.box or self.pool, labels)
        check_pupil(pupil, self)
        with name_kernels(self.learner, self.teacher):
            vars(self)["gain"] = self._settle_rate(pupil)
        return pupil

    def look_at_pupil(self) -> Pupil:
        """Return the learner as `make_pupil` will; it must not be taught."""
        pupil = vars(self)["_waiting"] = self.make_pupil()
        return pupil

    def _settle_rate(self, pupil: Pupil) -> float | None:
        """Set the value of learning_rate="auto", and return the gain of a pack (`pack_gain`), None if not known."""
        learner, k, diagonal = self.learner, self.pack_size, pupil.diagonal
        if pupil.loss is None or not isinstance(learner, KernelLearner):
            return None if diagonal is None else float(np.max(diagonal))
        if k == 1 and diagonal is not None:
            gain = float(diagonal[0] if learner.kernel.is_stationary() else np.max(diagonal))
        else:
            repeats = k is None or self.teacher.may_repeat or self.box is not None
            gain = pack_gain(learner.kernel, self.pool, k or 1, repeats=repeats)
        if learner.learning_rate == "auto" and gain > 0:
            pupil.learner.learning_rate_ = auto_rate(pupil.loss, gain)  # type: ignore[attr-defined]
        return gain

    # -- running it

    @cached_property
    def choice(self) -> Any:
        """The engine that runs it (`nimt.engines.choice.Choice`), with what was built to choose it."""
        with name_kernels(self.learner, self.teacher):
            return import_module("nimt.engines.choice").choose(self)

    @cached_property
    def plan(self) -> Plan:
        """How it will run: the engine, its memory with the record and the snapshots, and why."""
        found: Plan = self.choice.plan
        name = self.engine.name if isinstance(self.engine, RandomFeatures) else found.engine
        steps, k, numbers = self.stop.max_iterations, self.examples_per_step or 1, math.prod(self.label_outputs)
        record = (8 + (0 if self.keep.record == "picks" else 8 * k * (1 + numbers))) * steps
        if self.keep.record != "all":
            record = min(record, 8 * steps + RECORD_LIMIT)
        if self.keeps_coefficients:
            record += min(8 * k * numbers * steps, RECORD_LIMIT)
        snapshots = self.target.nbytes * len(self.keep.snapshots)
        return Plan(name, found.bytes + record + snapshots, found.window, found.reason)

    def begin(self, *, quiet: bool = False) -> Session:
        """Return the lesson before its first step; unless `quiet`, warn of what will go wrong."""
        faults = {} if quiet else find_faults(self)
        for kind, text in faults.items():
            warn(text, kind)
        started: Session = import_module("nimt.session.session").Session(self)
        started.warnings += faults.values()
        return started

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Everything needed to run it again, as numbers, text and arrays; of numbers only, its rules."""
        return describe_task(self) if self.keep.learner else describe_rules(self)

    @cached_property
    def id(self) -> str:
        """The same text for the same lesson, and another for another one."""
        return identity(self.settings)


def approximate(learner: Learner, approximation: RandomFeatures, pool: Pool) -> KernelLearner:
    """Return the learner with an approximate kernel; what it learned before becomes its initial function."""
    if not isinstance(learner, KernelLearner) or not behaves_like(learner, KernelLearner, "predict", "partial_fit"):
        raise InvalidInput(f"{approximation.label} approximate a kernel, and {type(learner).__name__} has none")
    if isinstance(learner.kernel, FeatureKernel):
        return learner  # a resumed lesson: its kernel is an approximation already
    start = learner.predict if learner.has_centers() or learner.is_mixed() else learner.initial
    kernel = approximation.kernel(learner.kernel, pool)
    return KernelLearner(**learner.get_params(deep=False) | {"kernel": kernel, "initial": start})
