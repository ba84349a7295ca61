"""The defaults are the same in Python, on the command line, in TOML files, in the studio, and on their page."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import typer.main

import nimt
from nimt import defaults
from nimt.cli.app import program
from nimt.option_table import OPTIONS, USUAL, LessonOptions
from nimt.recipe.completing import read_completed
from nimt.recipe.recipe import DEFAULTS, TABLE_OF_FIELDS, Recipe
from nimt.studio.requests import read_recipe

PAGE = Path(__file__).parents[2] / "docs" / "defaults.md"
OF_TEACH = {name: field for field, line in TABLE_OF_FIELDS.items() if (name := line.option)}


def rows_of_page():
    """Return the name in Python, the option, the key of the studio and the default of each row."""
    rows = [line.split("|")[2:6] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [[(re.findall("`([^`]+)`", cell) or [None]) for cell in row] for row in rows if "`" in row[0]]


def default_in(function, name):
    return inspect.signature(function).parameters[name].default


@pytest.mark.parametrize("function", [nimt.teach, nimt.steps, nimt.plan])
def test_every_option_of_a_lesson_is_in_the_signature(function):
    shown = inspect.signature(function).parameters
    assert {name: shown[name].default for name in OPTIONS} == USUAL
    assert list(OPTIONS) == list(LessonOptions.__annotations__)
    assert "max_iterations : int" in nimt.teach.__doc__ and "**options" not in nimt.teach.__doc__


@pytest.mark.parametrize("name", sorted(OF_TEACH))
def test_python_and_the_command_line_have_the_same_default(name):
    expected = default_in(nimt.teach, name)
    recipe, _ = read_completed(Recipe(target="sine", tol="0.5"))
    found = DEFAULTS[OF_TEACH[name]] if name == "tol" else recipe.options()[name]
    assert found == expected
    for function in (nimt.compare, nimt.sweep, nimt.forecast):
        parameters = inspect.signature(function).parameters
        if name in parameters and (function, name) != (nimt.forecast, "max_iterations"):  # how far it looks
            assert parameters[name].default == expected


def test_learners_and_teachers_have_the_defaults_too():
    for learner in (nimt.KernelLearner, nimt.LinearLearner):
        assert default_in(learner, "learning_rate") == defaults.LEARNING_RATE == DEFAULTS["learning_rate"]
        assert default_in(learner, "loss") == defaults.LOSS
    recipe, problem = read_completed(Recipe(target="sine"))
    assert repr(recipe.make_teacher(problem)) == repr(nimt.GreedyTeacher())
    assert recipe.loss == defaults.LOSS and recipe.width == defaults.WIDTH
    assert default_in(nimt.compare, "seeds") == default_in(nimt.sweep, "seeds") == defaults.SEEDS


def test_the_studio_takes_the_same_where_a_page_says_nothing():
    assert read_recipe({}, {}) == Recipe(target="")


def test_a_lesson_without_options_is_the_same_everywhere():
    problem = nimt.sources.read_problem("gmm", "gmm:start")
    learner = nimt.KernelLearner(nimt.rbf(0.5), initial=problem.start)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), problem.pool, problem.target)
    recipe, same = read_completed(Recipe(target="gmm", initial="gmm:start"))
    assert recipe.task(same).id == nimt.lesson.identity.identity(lesson.settings)
    assert lesson.outcome is nimt.lesson.Outcome.CONVERGED and lesson.tol == float(recipe.tol)
    assert Recipe(target="gmm", initial="gmm:start").task(same).id == recipe.task(same).id


def test_the_page_has_the_names_and_the_defaults():
    rows = rows_of_page()
    known = set()
    for python, (option, key), (of_studio, *_), (value, *_) in rows:
        assert str(DEFAULTS[key] if DEFAULTS[key] is not None else getattr(defaults, key.upper())) == value
        line = TABLE_OF_FIELDS[key]
        assert option in (line.flags or (f"--{key.replace('_', '-')}",)) and line.key == of_studio
        if line.option:
            assert python == [line.option] and str(default_in(nimt.teach, line.option)) == value
        known.add(key)
    stated = {name for name, line in TABLE_OF_FIELDS.items() if line.option and DEFAULTS[name] is not None}
    assert known >= stated | {"teacher", "k", "loss", "learning_rate", "measure", "seeds"}


@pytest.mark.parametrize("command", ["teach", "compare", "plan"])
def test_help_says_the_defaults(command):
    parameters = {one.name: one for one in typer.main.get_command(program()).commands[command].params}
    for name, usual in DEFAULTS.items():
        if name in parameters and usual not in (None, False):
            assert f"[{usual}]" in parameters[name].help.replace("\\", "")
    assert "paper, the default" in parameters["measure"].help


@pytest.mark.parametrize("measure", ["paper", "rms"])
def test_a_share_ends_a_lesson_at_the_same_step_in_either_unit(measure):
    x = nimt.Grid(np.linspace(-3, 3, 90))
    lesson = nimt.teach(nimt.KernelLearner(nimt.rbf(0.5)), nimt.GreedyTeacher(), x, np.sin, tol="2%", measure=measure)
    assert (lesson.outcome, len(lesson)) == (nimt.lesson.Outcome.CONVERGED, 44)


def test_auto_is_no_tolerance_for_a_measure_in_another_unit():
    x = nimt.Grid(np.linspace(-3, 3, 30))
    arguments = nimt.KernelLearner(nimt.rbf(0.5)), nimt.GreedyTeacher(), x, np.sin
    assert nimt.teach(*arguments, measure="rkhs", max_iterations=3).tol is None
    with pytest.raises(nimt.InvalidInput, match=r"tol is 5%, .* and rkhs has another unit: give a number"):
        nimt.teach(*arguments, measure="rkhs", tol="5%")
    signs = np.sign(x.points[:, 0])
    assert nimt.teach(*arguments[:3], signs, measure="accuracy", max_iterations=3).tol == 0.99


@pytest.mark.parametrize("tol", ["5", "x%", "-1%", "nan%", ""])
def test_a_tolerance_in_other_words_is_refused(tol):
    with pytest.raises(nimt.InvalidInput, match="tol must be a number, None, auto, or a share"):
        nimt.teach(nimt.KernelLearner(nimt.rbf(0.5)), nimt.GreedyTeacher(), [0.0, 1.0], [0.0, 1.0], tol=tol)


def test_auto_is_the_rate_of_the_paper_for_a_loss_with_a_kink():
    lesson = nimt.teach(
        nimt.KernelLearner(nimt.rbf(0.5), loss="hinge"), nimt.GreedyTeacher(), [0.0, 2.0], [1.0, -1.0], max_iterations=1
    )
    assert lesson.learner.learning_rate_ == 0.01 and abs(lesson.final[0]) == pytest.approx(0.01)


@pytest.mark.parametrize("option", ["patience", "stop_when_stationary"])
def test_an_option_of_a_lesson_is_declared_in_the_table_and_where_it_is_checked(option):
    source = Path(nimt.__file__).parent
    declared = re.compile(rf"^ +{option}: ", re.MULTILINE)
    found = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if path.parent.name != "blocks" and declared.search(path.read_text("utf-8"))  # theirs are fewer
    }
    assert found == {"option_table.py", "task/options.py"}
