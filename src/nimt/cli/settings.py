"""The settings of a run: from options and a TOML file, to what the library takes, and back to a file."""

from __future__ import annotations

import dataclasses
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from nimt.kernels import Kernel
    from nimt.learners.kernel import KernelLearner
    from nimt.learners.orthogonal import OrthogonalLearner
    from nimt.schedules import PackSchedule
    from nimt.sources import Problem
    from nimt.teachers.base import Teacher

USUAL_K = "1"
WIDTH = 0.5  # of the paper, for pictures, arrays and formulas
LARGEST_CONFIG = 1 << 16  # bytes
MOST_DOTS = 250  # in a line of it
MOST_SNAPSHOTS = 100_000
LARGEST_NUMBER = 2**63 - 1  # what TOML promises to keep
WHOLE_NUMBERS = (
    "size", "iterations", "patience", "seed", "every", "seeds", "communicate", "communicate_until",
)  # fmt: skip
MOST_SEEDS = 10_000
OTHERWISE = {"learning_rate": ", or auto", "tol": ", or a share of the target's deviation such as 1%"}
LARGEST_SNAPSHOTS = 1 << 30  # bytes, of all of them together


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Everything that decides a run, as text and numbers; the names are those of the options."""

    target: str
    initial: str = "zero"
    size: int | None = None
    normalise: str = "none"
    grey: bool = False
    strict: bool = False
    features: str | None = None
    target_column: str | None = None
    scale_features: bool = True
    duplicates: str = "refuse"
    missing: str = "refuse"
    holdout: float | None = None
    encoding: str | None = None
    teacher: str = "greedy"
    k: str = USUAL_K
    pool: float | None = None
    communicate: int | None = None
    communicate_until: int | None = None
    other_target: str | None = None
    probability: float = 0.2
    learner: str = "kernel"
    kernel: str = "rbf"
    width: float | None = None
    loss: str | None = None
    learning_rate: str = "auto"
    iterations: int = 20_000
    tol: str | None = None
    measure: str | None = None
    patience: int | None = None
    time_limit: float | None = None
    seed: int = 0
    every: int | None = None
    cmap: str | None = None
    engine: str = "auto"
    teachers: str | None = None
    seeds: int | None = None

    def __post_init__(self) -> None:
        for name in WHOLE_NUMBERS:
            value = getattr(self, name)
            if value is not None and not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
                raise InvalidInput(
                    f"must be a whole number of at most 63 bits, got {show_value(value)}", parameter=name
                )
        if self.seeds is not None and self.seeds > MOST_SEEDS:
            raise InvalidInput(f"must be at most {MOST_SEEDS:,}, got {self.seeds}", parameter="seeds")

    @property
    def title(self) -> str:
        """What the run is about, in a few words."""
        return f"{Path(self.target).name}, from {Path(self.initial).name}"

    def problem(self) -> Problem:
        """Read what is to be taught."""
        from nimt.sources import read_problem
        from nimt.sources.tables import Columns

        names = None if self.features is None else tuple(name.strip() for name in self.features.split(","))
        return read_problem(
            self.target,
            self.initial,
            other_target=self.other_target,
            size=self.size,
            normalise=self.normalise,
            grey=self.grey,
            strict=self.strict,
            columns=Columns(
                names,
                self.target_column,
                self.scale_features,
                self.duplicates,
                self.missing,
                self.holdout,
                classes=self.has_loss_of_classes,
                encoding=self.encoding,
            ),
        )

    @property
    def has_loss_of_classes(self) -> bool:
        """Whether a loss was named, and the labels it takes are classes."""
        from nimt.losses import make_described_loss, teaches_classes

        return teaches_classes(make_described_loss(self.loss))

    def make_learner(self, problem: Problem) -> KernelLearner | OrthogonalLearner:
        """Return the learner that starts at the problem's initial function."""
        from nimt.learners.kernel import KernelLearner

        if self.learner != "kernel":
            return self._projecting_learner(problem)
        rate = self.learning_rate if self.learning_rate == "auto" else _number("learning_rate", self.learning_rate)
        loss = self.loss or "square"
        return KernelLearner(self.make_kernel(problem), loss=loss, learning_rate=rate, initial=problem.start)

    def _projecting_learner(self, problem: Problem) -> OrthogonalLearner:
        from nimt.learners.orthogonal import OrthogonalLearner

        if self.learner != "orthogonal":
            raise InvalidInput(f"must be kernel or orthogonal, got {self.learner!r}", parameter="learner")
        for name, usual in (("learning_rate", "auto"), ("loss", "square")):
            if getattr(self, name) != usual:
                option = name.replace("_", "-")
                raise InvalidInput(f"the orthogonal learner projects, and takes no --{option}: leave that out")
        return OrthogonalLearner(self.make_kernel(problem), initial=problem.start)

    def make_kernel(self, problem: Problem) -> Kernel:
        """Return the kernel, on points of the problem's dimension."""
        from nimt.kernels.expressions import parse_kernel

        width = WIDTH if self.width is None else self.width
        return parse_kernel(self.kernel, width=width, dimension=problem.pool.dimension)

    def make_teacher(self, problem: Problem, name: str | None = None, k: str | None = None) -> Teacher:
        """Return the teacher, with its pool and its other labels; `name` and `k` stand in for the settings' own."""
        from nimt.arrays import check_count
        from nimt.teachers.base import AlternativeLabels
        from nimt.teachers.communicating import Communicating
        from nimt.teachers.spelling import PER_OUTPUT, list_spellings, parse_teacher

        name = self.teacher if name is None else name
        labels = None if problem.other_target is None else AlternativeLabels(problem.other_target, self.probability)
        _, fixed = list_spellings().get(name.removesuffix(PER_OUTPUT), (None, {}))
        if "k" in fixed:
            asked = self.k if k is None and self.k != USUAL_K else k
            if asked not in (None, str(fixed["k"])):
                _refuse_k(name, asked)
        size = pack(self.k if k is None else k)
        teacher = parse_teacher(
            name, k=size, pool=self.pool, labels=labels, kernel=self.make_kernel(problem), loss=self.loss
        )
        if problem.classes and self.loss is not None and self.has_loss_of_classes:
            teacher = teacher.for_classes(self.loss)
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
        for part in (self.teachers or "").split(","):
            name, _, k = part.strip().partition(":")
            if part.strip() in named:
                raise InvalidInput(f"names {part.strip()!r} twice", parameter="teachers", way_out="leave one out")
            named[part.strip()] = self.make_teacher(problem, name, k or None)
        return named

    @property
    def tolerance(self) -> float | None:
        """The tolerance as a number, None where there is none."""
        return (_number("tol", self.tol) or None) if self.tol is not None else None

    def rules(self) -> dict[str, Any]:
        """Return the rules of the lesson, as `nimt.teach` takes them."""
        return {
            "max_iterations": self.iterations,
            "tol": self.tolerance,
            "measure": self.measure,
            "patience": self.patience,
            "time_limit": self.time_limit,
            "engine": self.engine,
        }

    def snapshots(self, values: int, iterations: int | None = None) -> list[int]:
        """Return the steps at which f is kept; `values` is how many numbers it has, those of all outputs."""
        from nimt.plots.frames import frame_steps

        last = self.iterations if iterations is None else iterations
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

    def to_toml(self) -> str:
        """Return the TOML file that repeats the run; paths are absolute, so that it works from anywhere."""
        lines = ["# nimt teach --config this-file" if self.teachers is None else "# nimt compare --config this-file"]
        for name, value in dataclasses.asdict(self).items():
            if value is not None and not (name in LATER and value == DEFAULTS[name]):
                if name in ("target", "initial", "other_target"):
                    value = absolute(value)
                if name == "tol" and not value.endswith("%"):
                    value = _number(name, value)
                lines.append(f"{name} = {toml_value(value)}")
        return "\n".join(lines) + "\n"


FIELDS = {part.name: part for part in dataclasses.fields(RunSettings)}
DEFAULTS = {name: part.default for name, part in FIELDS.items() if part.default is not dataclasses.MISSING}
KINDS: dict[str, type] = {
    **dict.fromkeys(FIELDS, str),
    **dict.fromkeys(WHOLE_NUMBERS, int),
    **dict.fromkeys(("pool", "probability", "width", "holdout", "time_limit"), float),
    **dict.fromkeys(("strict", "grey", "scale_features"), bool),
}
LATER = (
    "grey",
    "learner",
)  # settings that older files do not have: not written where usual, so that such a file stays known
WORDS: dict[type, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def settings_from(target: str | None, given: dict[str, Any]) -> RunSettings:
    """Return the settings: defaults, then the TOML file where `given` names one, then what was given."""
    given = dict(given)
    config = given.pop("config", None)
    values = {} if config is None else read_config(Path(config))
    values |= {name: value for name, value in given.items() if value is not None}
    if target is not None:
        values["target"] = target
    if "target" not in values:
        raise InvalidInput("TARGET is missing: name a picture, an array, a table or a function such as gmm")
    settings = RunSettings(**values)
    if settings.teacher == "whole" and given.get("k") not in (None, "1.0"):
        _refuse_k("whole", given["k"])
    return settings


def settings_of(config: Path) -> RunSettings:
    """Return the settings of the run that a run.toml describes."""
    if not config.exists():
        raise InvalidInput(f"there is no {str(config)!r}, which says what the run was; use nimt.resume from Python")
    values = read_config(config)
    if "target" not in values:
        raise InvalidInput(f"{str(config)!r} names no target")
    return RunSettings(**values)


def read_config(path: Path) -> dict[str, Any]:
    """Read a TOML file of settings; an unknown name or a value of another kind is refused."""
    return {name: check_setting(name, value, path) for name, value in read_toml(path).items()}


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file whose values are not checked yet."""
    from nimt.datasets.places import readable_file

    path = readable_file(path, LARGEST_CONFIG)
    try:
        text = path.read_text(encoding="utf-8")
        deepest = max(text.splitlines(), key=lambda line: line.count("."), default="").count(".")
        if deepest > MOST_DOTS:  # a key of thousands of parts takes the parser minutes
            raise InvalidInput(f"{str(path)!r} has {deepest} dots in a line: settings are not nested")
        content = tomllib.loads(text)
    except InvalidInput:
        raise
    except (ValueError, RecursionError) as problem:  # ValueError: also of a number with thousands of digits
        raise InvalidInput(f"{str(path)!r} is not a TOML file: {str(problem)[:200]}") from None
    return content


def check_setting(name: str, value: Any, path: Path) -> Any:
    """Return the value of a setting as its kind, or refuse it; the sentence names the file."""
    if name not in FIELDS:
        raise InvalidInput(
            f"{str(path)!r} sets {show_value(name)}, which is not a setting; there are {', '.join(FIELDS)}"
        )
    kind = KINDS[name]
    if type(value) is int and abs(value) > LARGEST_NUMBER:
        raise InvalidInput(f"{str(path)!r} sets {name} to {show_value(value)}: a number has at most 63 bits")
    if kind is float and type(value) is int:
        return float(value)
    if name == "tol" and type(value) is float and not math.isfinite(value):
        raise InvalidInput(
            f"{str(path)!r} sets {name} = {show_value(value)}: it must be a number, or a share such as 1%"
        )
    if name in ("k", "learning_rate", "tol") and type(value) in (int, float):
        return repr(value)
    if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
        raise InvalidInput(f"{str(path)!r} sets {name} = {show_value(value)}: it must be {WORDS[kind]}")
    return value


def show_value(value: Any) -> str:
    """Return a value for a sentence: cut where it is long, and in words where Python will not write it out.

    Examples
    --------
    >>> show_value(7), show_value(10**60), show_value(1 << 60_000)
    ('7', '1000000000000000000000000000000000000000...', 'a number of 60001 bits')
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # Python refuses to write out more than some thousand digits
        return f"a number of {value.bit_length()} bits" if isinstance(value, int) else "a value that is too large"
    return text if len(text) <= 60 else f"{text[:40]}..."


def _refuse_k(name: str, k: str | None) -> NoReturn:
    raise InvalidInput(f"the teacher {name} shows everything at every step, not {k}: leave out -k, or take greedy")


def pack(text: str) -> int | float | PackSchedule:
    """Return k as a count or a share: "1" is one example, "1.0" the whole pool; or as a schedule.

    Examples
    --------
    >>> pack("1"), pack("0.05"), pack("1.0")
    (1, 0.05, 1.0)
    >>> str(pack("cosine:0.05:1.0")), str(pack("linear:1:20:500"))
    ('cosine(0.05, 1.0)', 'linear(1, 20, over=500)')
    """
    shape, *parts = text.split(":")
    if parts:
        from nimt import schedules

        made = getattr(schedules, shape) if shape in schedules.SHAPES else None
        if made is None or len(parts) not in (2, 3):
            problem = (
                f"as a schedule is shape:start:end or shape:start:end:steps, with the shape "
                f"{', '.join(schedules.SHAPES)}, got {text!r}"
            )
            raise InvalidInput(problem, parameter="k")
        start, end, *over = (_size(part) for part in parts)
        found: PackSchedule = made(start, end, over=over[0] if over else None)
        return found
    return _size(text)


def _size(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return _number("k", text)


def toml_value(value: str | int | float | bool) -> str:
    r"""Return a value as TOML writes it.

    Examples
    --------
    >>> print(toml_value('a "b"\n'), toml_value(True), toml_value(1e-4))
    "a \"b\"\u000A" true 0.0001
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InvalidInput(f"{value!r} is not UTF-8, and cannot be kept in run.toml: rename it, or the folder it is in")
    quoted = "".join(
        f"\\u{ord(letter):04X}" if ord(letter) < 32 or ord(letter) == 127 else letter
        for letter in value.replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{quoted}"'


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(f"must be a number{OTHERWISE.get(name, '')}, got {text!r}", parameter=name)
    return number


def absolute(name: str) -> str:
    """Return the path of a file from anywhere, and the name of a function as it is."""
    from nimt.sources.functions import NAMES

    return name if name in NAMES else str(Path(name).absolute())
