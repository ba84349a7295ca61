"""Teachers, which choose the examples: one file per teacher."""

from nimt.teachers.base import AlternativeLabels, Selection, SelectsExamples, Teacher, View
from nimt.teachers.communicating import Communicating
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.int_rule import INTTeacher
from nimt.teachers.interpolation import InterpolationTeacher
from nimt.teachers.mixed import MixedTeacher
from nimt.teachers.per_output import PerOutput
from nimt.teachers.planned import PlannedTeacher
from nimt.teachers.random import RandomTeacher
from nimt.teachers.soft import SoftTeacher
from nimt.teachers.synthesis import SynthesisTeacher

__all__ = [
    "AlternativeLabels",
    "Communicating",
    "GreedyTeacher",
    "INTTeacher",
    "InterpolationTeacher",
    "MixedTeacher",
    "PerOutput",
    "PlannedTeacher",
    "RandomTeacher",
    "Selection",
    "SelectsExamples",
    "SoftTeacher",
    "SynthesisTeacher",
    "Teacher",
    "View",
]
