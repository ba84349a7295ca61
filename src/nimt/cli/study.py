"""A study: a TOML file of settings in which a list means every value of it, and the lessons of their combinations."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nimt import defaults
from nimt.errors import InvalidInput
from nimt.recipe.completing import complete
from nimt.recipe.recipe import FIELDS, Recipe, read_setting
from nimt.recipe.toml import read_toml, write_line

if TYPE_CHECKING:
    from nimt.runs.combinations import Planned
    from nimt.sources import Problem

TEACHERS = "greedy:1,random:1"
OF_ALL = ("iterations", "tol", "measure", "engine", "seeds")  # settings that all lessons share
OF_LEARNERS = ("kernel", "width", "loss", "learning_rate")
OF_TEACHERS = ("teachers", "pool", "probability")
NOT_OF_A_STUDY = {"teacher": "teachers", "k": "teachers", "seed": "seeds", "every": ""}
MOST_LESSONS = 1_000_000


@dataclass(frozen=True)
class Study:
    """The settings of a sweep: each has one value, or a list of them.

    Attributes
    ----------
    values : dict of name -> value or list
    """

    values: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> Study:
        """Read a study from a TOML file; what is not a setting, or has a value of another kind, is refused."""
        values: dict[str, Any] = {}
        for name, value in read_toml(path).items():
            if name in NOT_OF_A_STUDY:
                instead = NOT_OF_A_STUDY[name]
                raise InvalidInput(
                    f"{str(path)!r} sets {name}, which a study does not have" + f": use {instead}" * bool(instead)
                )
            if not isinstance(value, list):
                values[name] = read_setting(name, value, path)
                continue
            listed = [read_setting(name, part, path) for part in value]
            if not listed or len(set(listed)) < len(listed):
                raise InvalidInput(f"{str(path)!r} sets {name} = {value!r}: a list needs values, each once")
            if name in OF_ALL:
                raise InvalidInput(
                    f"{str(path)!r} sets {name} to a list: all lessons of a study share it, give one value"
                )
            values[name] = ",".join(listed) if name == "teachers" else listed
        if "target" not in values:
            raise InvalidInput(f"{str(path)!r} names no target: target = 'gmm', or a list of them")
        return cls({"teachers": TEACHERS, "seeds": defaults.SEEDS} | values)

    def to_toml(self, folder: Path) -> str:
        """Return the TOML file that repeats it, with paths as seen from its folder."""
        lines = ["# nimt sweep this-file", *(write_line(name, value, folder) for name, value in self.values.items())]
        return "\n".join(lines) + "\n"

    @property
    def varied(self) -> dict[str, list[Any]]:
        """The settings that have several values."""
        return {name: value for name, value in self.values.items() if isinstance(value, list)}

    def settings(self) -> list[Recipe]:
        """Return the settings of every combination."""
        lists = [value if isinstance(value, list) else [value] for value in self.values.values()]
        count = 1
        for values in lists:
            count *= len(values)
        if count * int(self.values["seeds"]) > MOST_LESSONS:
            raise InvalidInput(f"this study has {count:,} combinations, and {MOST_LESSONS:,} lessons are the most")
        return [Recipe(**dict(zip(self.values, values, strict=True))) for values in itertools.product(*lists)]

    def plans(self) -> tuple[list[Planned], list[str]]:
        """Return what is to be given, and what was decided while reading; each problem is read once."""
        from nimt.lesson.descriptions import describe
        from nimt.lesson.identity import fingerprint
        from nimt.runs.combinations import combination

        elsewhere = (*OF_ALL, *OF_LEARNERS, *OF_TEACHERS)
        of_problems = [name for name in FIELDS if name not in elsewhere]
        read: dict[tuple[Any, ...], tuple[Problem, str]] = {}
        plans, notes = [], dict[str, None]()
        for settings in self.settings():
            which = tuple(getattr(settings, name) for name in of_problems)
            if which not in read:
                problem = settings.problem()
                read[which] = problem, fingerprint([describe(problem.pool), problem.target])
                notes |= dict.fromkeys(problem.notes)
            problem, mark = read[which]
            settings, problem = complete(settings, problem)
            where = self._name(settings, of_problems) or Path(settings.target).name
            who = self._name(settings, OF_LEARNERS) or "learner"
            by = self._name(settings, OF_TEACHERS)
            learner = settings.make_learner(problem.pool, problem.start)
            for name, teacher in settings.make_teachers(problem).items():
                names = (where, who, f"{name}, {by}" if by else name)
                plan = combination(names, (problem.pool, problem.target, learner, teacher), mark)
                chosen = {name: getattr(settings, name) for name in self.varied}
                plans.append(dataclasses.replace(plan, parameters=chosen | plan.parameters))
        return plans, list(notes)

    def _name(self, settings: Recipe, names: tuple[str, ...] | list[str]) -> str:
        """Return the values of the settings that vary among these: width=0.5, learning_rate=0.01."""
        told = [name for name in names if name in self.varied]
        if told == ["target"]:
            return Path(settings.target).name
        return ", ".join(f"{name}={getattr(settings, name)}" for name in told)
