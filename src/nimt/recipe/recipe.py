"""`Recipe`: a lesson as text and numbers, read and written, and made into a learner, a teacher and a task."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, get_args, get_type_hints

from nimt import defaults
from nimt.errors import InvalidInput
from nimt.named_code import check_allowed
from nimt.option_table import HOW, TABLE, WHAT, WHEN, Setting
from nimt.recipe.field_table import AUTO, USUAL_K, RecipeFields
from nimt.recipe.fields import LARGEST_NUMBER, convert, read_number, read_pack, show
from nimt.recipe.toml import find_path, read_toml, write_line
from nimt.wording import Watcher, be_silent

if TYPE_CHECKING:
    from nimt.kernels import Kernel
    from nimt.learners.classroom import Classroom
    from nimt.learners.kernel_learner import KernelLearner
    from nimt.learners.learner import InitialFunction
    from nimt.learners.orthogonal_learner import OrthogonalLearner
    from nimt.losses import Loss
    from nimt.measures import Measure
    from nimt.pools.pool import Pool
    from nimt.sources import Problem
    from nimt.task.task import Task
    from nimt.teachers.teacher import Teacher

CLASSROOM = "classroom"
CHOICES = {"reference": (AUTO, "none"), "keep": ("best", "last"), "figures": ("none", "png", "all")}
MOST_SNAPSHOTS = 100_000
MOST_SEEDS = 10_000
LARGEST_SNAPSHOTS = 1 << 30  # bytes, of all of them together


@dataclass(frozen=True, kw_only=True)
class Recipe(RecipeFields):
    """Everything that decides a run, as its fields say it, and what is made of them.

    Examples
    --------
    >>> recipe = Recipe(target="gmm", learning_rate="0.01", measure="paper", tol="0.0001", initial="gmm:start")
    >>> recipe.task(recipe.problem()).begin().run().itd
    3056
    """

    def __post_init__(self) -> None:
        for name, kind in KINDS.items():
            value = getattr(self, name)
            if kind is int and value is not None and not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
                raise InvalidInput(f"must be a whole number of at most 63 bits, got {show(value)}", parameter=name)
        for name, known in CHOICES.items():
            if (value := getattr(self, name)) not in known:
                listed = f"{', '.join(known[:-1])} or {known[-1]}"
                raise InvalidInput(f"must be {listed}, got {value!r}", parameter=name)
        if self.seeds is not None and self.seeds > MOST_SEEDS:
            raise InvalidInput(f"must be at most {MOST_SEEDS:,}, got {self.seeds}", parameter="seeds")

    # -- from text, and back to it

    @classmethod
    def of(cls, target: str | None, given: dict[str, Any]) -> Recipe:
        """Return defaults, then the TOML file where `given` names one as `config`, then what was given."""
        given = dict(given)
        given |= {name: ",".join(value) or None for name, value in given.items() if isinstance(value, list | tuple)}
        config = given.pop("config", None)
        values = {} if config is None else read_settings(Path(config))
        values |= {name: value for name, value in given.items() if value is not None}
        if target is not None:
            values["target"] = target
        for name, value in values.items():
            if value == "" and name in DEFAULTS and DEFAULTS[name] is None:
                raise InvalidInput("is empty", parameter=name, way_out="leave it out, or give a value")
        if "target" not in values:
            raise InvalidInput("TARGET is missing: name a picture, an array, a table or a function such as gmm")
        recipe = cls(**values)
        if recipe.teacher == "whole" and given.get("k") not in (None, "1.0"):
            _refuse_k("whole", given["k"])
        return recipe

    @classmethod
    def read(cls, config: Path) -> Recipe:
        """Return the recipe of the run that a run.toml describes."""
        if not config.exists():
            raise InvalidInput(f"there is no {str(config)!r}, which says what the run was; use nimt.resume from Python")
        values = read_settings(config)
        if "target" not in values:
            raise InvalidInput(f"{str(config)!r} names no target")
        return cls(**values)

    def to_toml(self, folder: Path | None = None) -> str:
        """Return the TOML file that repeats the run, with paths as seen from its folder, or from here."""
        lines = ["# nimt teach --config this-file" if self.teachers is None else "# nimt compare --config this-file"]
        for name in FIELDS:
            if (value := getattr(self, name)) is not None:
                told = self.tolerance or 0.0 if name == "tol" and not self.has_share else value
                lines.append(write_line(name, told, folder))
        return "\n".join(lines) + "\n"

    # -- what a lesson is made of

    @property
    def title(self) -> str:
        """What the run is about, in a few words."""
        return f"{Path(self.target).name}, from {Path(self.start).name}"

    @property
    def is_table(self) -> bool:
        """Whether the target is a table, by the ending of its name."""
        from nimt.sources.table_files import TABLE_ENDINGS

        return self.target.lower().endswith(TABLE_ENDINGS)

    @property
    def start(self) -> str:
        """Where the learner starts, by name."""
        if self.initial != AUTO:
            return self.initial
        return "mean" if self.is_table else "zero"

    def problem(self, watch: Watcher = be_silent) -> Problem:
        """Read what is to be taught: of a table a model of its rows, where there is to be one.

        `watch` is told what is being done, where that takes long.
        """
        from nimt.sources import read_problem
        from nimt.sources.table_files import tell_reading
        from nimt.sources.tables import Columns

        if self.is_table and "\0" not in self.target:
            tell_reading(Path(self.target), watch)
        found = read_problem(self.target, self.start, **self.sources(), columns=Columns(**self.columns()))
        if self.learner == CLASSROOM:
            from nimt.recipe.class_of_learners import repeat_problem

            return repeat_problem(self, found)
        if found.preparation is None or self.reference == "none":
            return found
        from nimt.recipe.modelled_rows import take_reference

        return take_reference(found, watch)

    def sources(self) -> dict[str, Any]:
        """Return the options of `nimt.sources.read_problem`."""
        return {name: getattr(self, name) for name in ("other_target", "size", "normalise", "grey", "strict")}

    def columns(self) -> dict[str, Any]:
        """Return the parameters of `nimt.sources.Columns`: which columns and rows of a table are used, and how."""
        found = {line.column: getattr(self, name) for name, line in TABLE_OF_FIELDS.items() if line.column}
        names = None if self.features is None else tuple(name.strip() for name in self.features.split(","))
        told = self.classes
        if told is None and self.loss is not None:
            told = self.has_loss_of_classes
        return found | {"features": names, "classes": told}

    @property
    def has_loss_of_classes(self) -> bool:
        """Whether a loss was named, and the labels it takes are classes."""
        from nimt.losses import make_described_loss, teaches_classes

        loss = self.make_loss()
        return teaches_classes(make_described_loss(loss) if isinstance(loss, str | None) else loss)

    def make_loss(self) -> str | Loss | None:
        """Return the loss by its name, or one of the user."""
        found: Loss | None = self._make_named("loss", self.loss)
        return self.loss if found is None else found

    def make_measure(self) -> str | Measure:
        """Return the measure by its name, or one of the user."""
        found: Measure | None = self._make_named("measure", self.measure)
        return self.measure or defaults.MEASURE if found is None else found

    def _make_named(self, kind: str, text: str | None, **told: Any) -> Any:
        """Return what a field names of the user's code; None where it is a name of nimt's own."""
        from nimt.kernels.families import FAMILIES
        from nimt.learners.learner_words import list_learners
        from nimt.losses import LOSSES
        from nimt.measures import MEASURES
        from nimt.named_code import make_named, read_options

        options = read_options("teacher_option", self.teacher_option) if kind == "teacher" else {}
        own: dict[str, Container[str]] = {
            "loss": LOSSES, "measure": MEASURES, "kernel": FAMILIES, "learner": list_learners(),
        }  # fmt: skip
        return None if text is None or text in own.get(kind, ()) else make_named(kind, text, told, options)

    @property
    def rate(self) -> float | str:
        """The learning rate as a number, or auto."""
        return self.learning_rate if self.learning_rate == "auto" else read_number("learning_rate", self.learning_rate)

    def make_learner(self, pool: Pool, start: InitialFunction) -> KernelLearner | OrthogonalLearner | Classroom:
        """Return the learner, before its first step."""
        from nimt.learners.learner_words import list_learners

        if self.learner == CLASSROOM:
            from nimt.recipe.class_of_learners import make_class

            return make_class(self, pool, start)
        if self.pupils is not None:
            raise InvalidInput("is of the learner classroom", parameter="pupils", way_out="add --learner classroom")
        kernel, loss = self.make_kernel(pool), self.make_loss() or defaults.LOSS
        told = {"loss": loss, "learning_rate": self.rate, **self.learner_parameters()}
        own: KernelLearner | None = self._make_named("learner", self.learner, kernel=kernel, initial=start, **told)
        if own is not None:
            return own
        known: dict[str, Any] = dict(list_learners())
        if self.learner not in known:
            raise InvalidInput(
                f"must be {', '.join(known)}, or package:Name, got {self.learner!r}", parameter="learner"
            )
        for name in self.list_foreign_settings():
            if getattr(self, name) not in (DEFAULTS[name], "auto", defaults.LOSS):
                option = name.replace("_", "-")
                raise InvalidInput(f"the {self.learner} learner takes no --{option}: leave that out")
        taken = {name: value for name, value in told.items() if name not in self.list_foreign_settings()}
        made: KernelLearner | OrthogonalLearner = known[self.learner](kernel, initial=start, **taken)
        return made

    def list_foreign_settings(self) -> list[str]:
        """Return the settings of learners that this one does not have; one of your own takes what it asks for."""
        from nimt.learners.learner_words import list_learners

        kind = list_learners().get("kernel" if self.learner == CLASSROOM else self.learner)
        every = ["loss", "learning_rate", *self.learner_parameters()]
        return [] if kind is None else [name for name in every if name not in inspect.signature(kind).parameters]

    def learner_parameters(self) -> dict[str, Any]:
        """Return the parameters of a `KernelLearner` that are about its update."""
        return {name: getattr(self, name) for name, line in TABLE_OF_FIELDS.items() if line.of_learner}

    def make_kernel(self, pool: Pool) -> Kernel:
        """Return the kernel, on points of the pool's dimension."""
        from nimt.kernels import as_kernel
        from nimt.kernels.expressions import parse_kernel

        found = self._make_named("kernel", self.kernel, width=self.usual_width)
        if found is not None:
            return as_kernel(found)
        return parse_kernel(self.kernel, width=self.usual_width, dimension=pool.dimension)

    @property
    def usual_width(self) -> float:
        """The width, that of the paper where none was given."""
        return defaults.WIDTH if self.width is None else self.width

    def make_teacher(self, problem: Problem, name: str | None = None, k: str | None = None) -> Teacher:
        """Return the teacher, with its pool and its other labels; `name` and `k` stand in for the recipe's own."""
        from nimt.arrays import check_count
        from nimt.named_code import read_options
        from nimt.teachers.adapter import as_teacher
        from nimt.teachers.alternative_labels import AlternativeLabels
        from nimt.teachers.communicating import Communicating
        from nimt.teachers.observed import Observed
        from nimt.teachers.spelling import PER_OUTPUT, list_spellings, parse_teacher

        name = self.teacher if name is None else name
        if problem.other_target is not None:
            labels = AlternativeLabels(problem.other_target, self.probability)
        elif self.probability == DEFAULTS["probability"]:
            labels = None
        else:
            raise InvalidInput(
                "says how often labels of another target are shown", parameter="probability",
                way_out="give --other-target, too",
            )  # fmt: skip
        kind, fixed = list_spellings().get(name.removesuffix(PER_OUTPUT), (None, {}))
        if "k" in fixed:
            asked = self.k if k is None and self.k != USUAL_K else k
            if asked not in (None, str(fixed["k"])):
                _refuse_k(name, asked)
        parameters: dict[str, Any] = {"k": read_pack(self.k if k is None else k), "pool": self.pool, "labels": labels}
        if self.temperature is not None:
            if kind is not None and not hasattr(kind, "temperature"):
                raise InvalidInput("is of the teacher soft", parameter="temperature", way_out=f"{name} has none")
            parameters["temperature"] = self.temperature
        loss = self.make_loss()
        told = {"kernel": self.make_kernel(problem.pool), "loss": loss, "learning_rate": self.rate}
        own = None if kind is not None else self._make_named("teacher", name, **parameters, **told)
        if own is not None:
            teacher = as_teacher(own)
        elif self.teacher_option is not None:
            given = read_options("teacher_option", self.teacher_option)
            try:
                teacher = parse_teacher(name, **parameters | given)
            except TypeError as error:  # of a parameter that it does not have
                raise InvalidInput(f"is not for this teacher: {error}", parameter="teacher_option") from None
            except InvalidInput as error:
                raise _name_option(error, "teacher_option", given) from None
        else:
            teacher = parse_teacher(name, **parameters)
        if problem.classes and loss is not None and self.has_loss_of_classes:
            teacher = teacher.for_classes(loss)
        if self.sight is not None:
            sight = read_options("sight", self.sight)
            try:
                teacher = Observed(teacher, **sight)
            except TypeError:
                problem_of = "must be made of noise=, delay=, every= and at="
                raise InvalidInput(f"{problem_of}, got {self.sight!r}", parameter="sight") from None
            except InvalidInput as error:
                raise _name_option(error, "sight", sight) from None
        if self.communicate is None:
            if self.communicate_until is not None:
                raise InvalidInput(
                    "says when mixing ends", parameter="communicate_until", way_out="give --communicate, how often, too"
                )
            return teacher
        for name in ("communicate", "communicate_until"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), at_least=1)
        return Communicating(teacher, every=self.communicate, until=self.communicate_until)

    def make_teachers(self, problem: Problem) -> dict[str, Teacher]:
        """Return the teachers of a comparison by the names they were given: greedy:1, random:0.05, whole."""
        named: dict[str, Teacher] = {}
        from nimt.named_code import split_outside, split_size
        from nimt.teachers.spelling import list_spellings

        ours = list_spellings()
        for part in split_outside(self.teachers or ""):
            name, k = split_size(part, ours)
            if part.strip() in named:
                raise InvalidInput(f"names {part.strip()!r} twice", parameter="teachers", way_out="leave one out")
            named[part.strip()] = self.make_teacher(problem, name, k or None)
        return named

    @property
    def has_share(self) -> bool:
        """Whether the tolerance is said in words: auto, or a share of the target's deviation."""
        return self.tol.strip() == "auto" or self.tol.strip().endswith("%")

    @property
    def tolerance(self) -> float | str | None:
        """The tolerance as `nimt.teach` takes it."""
        return self.tol if self.has_share else read_number("tol", self.tol) or None

    def options(self) -> dict[str, Any]:
        """Return the options of the lesson, as `nimt.teach` takes them."""
        found = {line.option: getattr(self, name) for name, line in TABLE_OF_FIELDS.items() if line.option}
        return found | {"tol": self.tolerance, "measure": self.make_measure()}

    def list_shared_options(self) -> dict[str, Any]:
        """Return what all lessons of a comparison or a study share."""
        shared = {name: value for name, value in self.options().items() if name != "seed"}
        return shared | {"time_limit": self.time_limit}

    def task(self, problem: Problem) -> Task:
        """Return the task, checked."""
        from nimt.arrays import check_positive
        from nimt.task.task import Task

        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit)
        aside = problem.aside
        return Task.of(
            self.make_learner(problem.pool, problem.start),
            self.make_teacher(problem),
            problem.pool,
            problem.target,
            **self.options(),
            snapshots=self.snapshots(problem.target.size),
            holdout=None if aside is None else (aside.points, aside.target, self.count_choosing(problem)),
        )

    def count_choosing(self, problem: Problem) -> int:
        """Return how many of the rows held out choose the learner that is kept: half, if one is chosen."""
        return len(problem.aside.target) // 2 if problem.aside is not None and self.keep == "best" else 0

    def snapshots(self, values: int) -> list[int]:
        """Return the steps at which f is kept; `values` is how many numbers it has, those of all outputs."""
        from nimt.plots.animation_frames import frame_steps

        last = self.iterations
        if last < 0:
            return []  # refused by the library, with its own sentence
        if self.every is None:
            return frame_steps(last, values)
        if self.every < 1:
            raise InvalidInput(f"must be a whole number >= 1, got {self.every}", parameter="every")
        count = last // self.every + 1
        if count > MOST_SNAPSHOTS or count * values * 8 > LARGEST_SNAPSHOTS:
            problem = (
                f"would keep f {count:,} times, {values:,} numbers each, and {MOST_SNAPSHOTS:,} times and "
                f"{LARGEST_SNAPSHOTS >> 20:,} MB are the most"
            )
            raise InvalidInput(problem, parameter="every", value=self.every, way_out="raise it")
        return [*range(0, last + 1, self.every)]


_LINES: dict[str, Setting | None] = {part.name: part.metadata.get("entry") for part in dataclasses.fields(Recipe)}
_PANELS = (None, WHAT, TABLE, HOW, WHEN)  # in the order of help and of files; the target stands before all
FIELDS = tuple(sorted(_LINES, key=lambda name: _PANELS.index(line.panel if (line := _LINES[name]) else None)))
TABLE_OF_FIELDS: dict[str, Setting] = {name: line for name in FIELDS if (line := _LINES[name]) is not None}
DEFAULTS: dict[str, Any] = {part.name: part.default for part in dataclasses.fields(Recipe) if part.metadata}
KINDS: dict[str, type] = {name: (get_args(hint) or (hint,))[0] for name, hint in get_type_hints(Recipe).items()}


def read_settings(path: Path) -> dict[str, Any]:
    """Read a TOML file of settings; an unknown name or a value of another kind is refused."""
    return {name: read_setting(name, value, path) for name, value in read_toml(path).items()}


def read_setting(name: str, value: Any, path: Path) -> Any:
    """Return a value of a TOML file as its field has it, or refuse it."""
    check_allowed(name, value, repr(str(path)))
    return find_path(name, convert(name, KINDS.get(name, str), value, path, FIELDS), path)


def _name_option(error: InvalidInput, option: str, given: Container[str]) -> InvalidInput:
    """Return the error with the option in which a parameter was given: an option may have the name of the parameter."""
    return InvalidInput(f"cannot be used: {error}", parameter=option) if error.parameter in given else error


def _refuse_k(name: str, k: str | None) -> NoReturn:
    raise InvalidInput(f"the teacher {name} shows everything at every step, not {k}: leave out -k, or take greedy")
