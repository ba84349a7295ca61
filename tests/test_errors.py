"""An error has parts, and says them to Python and to the program in the words of each."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import nimt
from nimt.cli.app import program
from nimt.cli.lesson_options import OPTION_OF
from nimt.errors import NimtError
from nimt.wording import Wording, say_in_program

HOUSE = Path(nimt.__file__).parent
WRITES_COMMANDS = {
    "cli",
    "paper",
    "recipe",
    "option_table.py",
    "exports.py",
}  # the program, its options, `nimt reproduce`, copied commands
NO_SENTENCES = {"errors.py", "wording.py", "html.py"}  # examples of both wordings, and style sheets
OPTION = re.compile(r"(?<![\w-])--[a-z]")


def refused(call) -> nimt.InvalidInput:
    with pytest.raises(nimt.InvalidInput) as caught:
        call()
    return caught.value


def test_an_error_carries_its_parameter_its_problem_and_the_way_out():
    error = refused(lambda: nimt.RandomTeacher(weights=[1e308] * 9))
    assert error.parameter == "weights"
    assert error.problem == "must have a finite sum, got 1e+308"
    assert error.way_out == "divide them by the largest"
    assert str(error) == f"{error.parameter} {error.problem}: {error.way_out}"


def test_the_program_names_the_option_and_leaves_out_what_only_python_can_give():
    error = refused(lambda: nimt.GreedyTeacher(pool=1.5))
    assert str(error) == "pool must be a share in (0, 1], a boolean mask or indices, got 1.5"
    assert error.tell_in_program(OPTION_OF) == "--pool must be a share in (0, 1], got 1.5"


def test_a_parameter_with_its_value_is_written_as_python_and_as_an_option():
    error = refused(lambda: nimt.KernelLearner(nimt.linear(0.0)).partial_fit([[0.0]], [1.0]))
    assert str(error).startswith("learning_rate='auto' needs K(x, x) > 0")
    assert error.tell_in_program(OPTION_OF).startswith("--learning-rate auto needs K(x, x) > 0")
    assert error.way_out == "give a number"


def test_the_way_out_can_be_left_out():
    error = NimtError("is full", parameter="disk", way_out="remove a file")
    assert error.tell_in_program({}, with_way_out=False) == "disk is full"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
@pytest.mark.parametrize(
    "kind", [nimt.InvalidInput, nimt.errors.MissingFile, nimt.errors.NotEnoughMemory, nimt.errors.MissingExtra]
)
def test_an_error_from_another_process_has_all_its_words(again, kind):
    error = again(kind("must be small", parameter="tol", way_out=Wording("tol=1", "--tol 1")))
    assert str(error) == "tol must be small: tol=1"
    assert error.tell_in_program(OPTION_OF) == "--tol must be small: --tol 1"


def test_a_teacher_is_called_by_its_class_in_python_and_by_its_spelling_in_the_program():
    teachers = [
        nimt.GreedyTeacher(),
        nimt.GreedyTeacher(k=1.0),
        nimt.teachers.InterpolationTeacher("f*P", kernel=nimt.rbf(1.0)),
    ]
    assert [str(teacher.kind) for teacher in teachers] == ["GreedyTeacher", "GreedyTeacher", "InterpolationTeacher"]
    spelled = [teacher.kind.in_program for teacher in teachers]
    assert spelled == ["the teacher greedy", "the teacher whole", "the teacher f*P"]


def test_every_option_that_sentences_name_is_one():
    known = {flag for command in commands() for part in command.params for flag in part.opts}
    assert set(OPTION_OF.values()) <= known


def commands():
    import typer

    return typer.main.get_command(program()).commands.values()


def test_a_table_tells_python_of_parameters_and_the_program_of_options(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a,b,y\n1,2,3\n2,,4\n3,4,5\n")
    error = refused(lambda: nimt.sources.read_problem(str(file)))
    assert "Columns(missing='drop')" in str(error) and not OPTION.search(str(error))
    assert "--missing drop" in error.tell_in_program(OPTION_OF)
    file.write_text("a,y\n" + "\n".join(f"{i},{np.sin(i)}" for i in range(40)))
    (note,) = (
        note
        for note in nimt.sources.read_problem(str(file), columns=nimt.sources.Columns(holdout=0.5)).notes
        if "held" in note
    )
    assert note.endswith("Columns(holdout=...) sets another share")
    assert say_in_program(note).endswith("--holdout sets another share")


def texts_for_python(path: Path) -> Iterator[str]:
    """Yield the texts of a module, except what a Wording says in the program."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Wording":
            call.args = call.args[:1]
    yield from (part.value for part in ast.walk(tree) if isinstance(part, ast.Constant) and isinstance(part.value, str))


def test_no_sentence_of_the_library_tells_a_python_user_of_an_option():
    found = [
        f"{path.relative_to(HOUSE)}: {text[:80]}"
        for path in sorted(HOUSE.rglob("*.py"))
        if not (WRITES_COMMANDS | NO_SENTENCES) & {*path.relative_to(HOUSE).parts}
        for text in texts_for_python(path)
        if OPTION.search(text)
    ]
    assert not found, found
