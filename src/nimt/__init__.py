"""Nonparametric iterative machine teaching: which examples bring a learner to a target in the fewest steps."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nimt._version import __version__

if TYPE_CHECKING:
    from nimt import datasets as datasets
    from nimt import paper as paper
    from nimt import plots as plots
    from nimt import theory as theory
    from nimt.box import Box as Box
    from nimt.comparing import Comparison as Comparison
    from nimt.comparing import compare as compare
    from nimt.comparing import compare_lessons as compare_lessons
    from nimt.engines.choosing import Plan as Plan
    from nimt.errors import CannotStore as CannotStore
    from nimt.errors import CheckpointWarning as CheckpointWarning
    from nimt.errors import CorruptLesson as CorruptLesson
    from nimt.errors import IllConditioned as IllConditioned
    from nimt.errors import InvalidInput as InvalidInput
    from nimt.errors import MissingExtra as MissingExtra
    from nimt.errors import MissingFile as MissingFile
    from nimt.errors import NimtError as NimtError
    from nimt.errors import NotEnoughMemory as NotEnoughMemory
    from nimt.errors import ResponseWarning as ResponseWarning
    from nimt.errors import StepSizeWarning as StepSizeWarning
    from nimt.interpolation import InterpolationTeacher as InterpolationTeacher
    from nimt.kernel_expressions import parse_kernel as parse_kernel
    from nimt.kernels import Wendland as Wendland
    from nimt.kernels import linear as linear
    from nimt.kernels import rbf as rbf
    from nimt.learners import KernelLearner as KernelLearner
    from nimt.learners import LinearLearner as LinearLearner
    from nimt.lesson import Lesson as Lesson
    from nimt.lesson import Outcome as Outcome
    from nimt.losses import Absolute as Absolute
    from nimt.losses import Hinge as Hinge
    from nimt.losses import Huber as Huber
    from nimt.losses import Logistic as Logistic
    from nimt.losses import Square as Square
    from nimt.operators.approximate import Nystroem as Nystroem
    from nimt.operators.approximate import RandomFeatures as RandomFeatures
    from nimt.operators.approximate import subsample as subsample
    from nimt.orthogonal import OrthogonalLearner as OrthogonalLearner
    from nimt.pools import Grid as Grid
    from nimt.running import Progress as Progress
    from nimt.soft import SoftTeacher as SoftTeacher
    from nimt.sources import Problem as Problem
    from nimt.sources import read_problem as read_problem
    from nimt.synthesis import SynthesisTeacher as SynthesisTeacher
    from nimt.teachers import AlternativeLabels as AlternativeLabels
    from nimt.teachers import GreedyTeacher as GreedyTeacher
    from nimt.teachers import RandomTeacher as RandomTeacher
    from nimt.teachers import Selection as Selection
    from nimt.teachers import Teacher as Teacher
    from nimt.teachers import View as View
    from nimt.teaching import plan as plan
    from nimt.teaching import resume as resume
    from nimt.teaching import steps as steps
    from nimt.teaching import teach as teach

# Where each public name lives; nothing is loaded before it is asked for, so `import nimt` stays instant.
_HOMES = {
    "box": ("Box",),
    "comparing": ("Comparison", "compare", "compare_lessons"),
    "engines.choosing": ("Plan",),
    "errors": (
        "CannotStore",
        "CheckpointWarning",
        "CorruptLesson",
        "IllConditioned",
        "InvalidInput",
        "MissingExtra",
        "MissingFile",
        "NimtError",
        "ResponseWarning",
        "NotEnoughMemory",
        "StepSizeWarning",
    ),
    "interpolation": ("InterpolationTeacher",),
    "kernel_expressions": ("parse_kernel",),
    "kernels": ("Wendland", "linear", "rbf"),
    "learners": ("KernelLearner", "LinearLearner"),
    "lesson": ("Lesson", "Outcome"),
    "losses": ("Absolute", "Hinge", "Huber", "Logistic", "Square"),
    "orthogonal": ("OrthogonalLearner",),
    "operators.approximate": ("Nystroem", "RandomFeatures", "subsample"),
    "pools": ("Grid",),
    "running": ("Progress",),
    "soft": ("SoftTeacher",),
    "synthesis": ("SynthesisTeacher",),
    "sources": ("Problem", "read_problem"),
    "teachers": ("AlternativeLabels", "GreedyTeacher", "RandomTeacher", "Selection", "Teacher", "View"),
    "teaching": ("plan", "resume", "steps", "teach"),
}
_MODULES = ("datasets", "paper", "plots", "theory")
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF), *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(import_module(f"nimt.{_HOME_OF[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"nimt.{name}")
    else:
        raise AttributeError(f"module 'nimt' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
