"""A recipe survives what it is written as: a command, a TOML file, a program."""

import contextlib
import io
import random
import shlex
from dataclasses import fields, replace

import numpy as np
import pytest
import typer.main

import nimt
from nimt.cli.app import program
from nimt.lesson.identity import identity
from nimt.recipe.completing import read_completed
from nimt.recipe.copying import to_command, to_python
from nimt.recipe.recipe import FIELDS, KINDS, TABLE_OF_FIELDS, Recipe, read_settings

WORDS = {
    "target": ("gmm", "my cat.png", "-odd", 'quoted "name"\\.npy', "digit:0"),
    "initial": ("zero", "auto", "mean", "gmm:start", "other cat.png"),
    "reference": ("auto", "none"),
    "keep": ("best", "last"),
    "figures": ("none", "png", "all"),
    "teacher": ("greedy", "random", "soft", "f/P", "greedy-per-output"),
    "k": ("1", "3", "0.05", "1.0", "cosine:0.05:1.0"),
    "learning_rate": ("auto", "0.01", "1e-07"),
    "tol": ("auto", "5%", "0.0001", "0.0", "1e-300"),
    "teachers": (None, "greedy:1,random:0.05"),
}


def draw_recipe(rng):
    """Return a recipe with a value for about half of its fields; not every one can be taught."""
    values = {"target": rng.choice(WORDS["target"])}
    for name in FIELDS[1:]:
        if rng.random() < 0.5:
            continue
        if name in WORDS:
            values[name] = rng.choice(WORDS[name])
        elif KINDS[name] is bool:
            values[name] = rng.random() < 0.5
        elif KINDS[name] is int:
            values[name] = rng.choice((1, 0, 7, 10_000, rng.randrange(10_000)))
        elif KINDS[name] is float:
            values[name] = rng.choice((0.1, 1.0, rng.random(), 10 ** rng.uniform(-300, 300)))
        else:
            values[name] = rng.choice(("rbf", "a b", 'say "no"', "--", "-x", "ü"))
    if values.get("teachers") is None:
        values["seeds"] = None
    else:  # a comparison has others
        for name in ("teacher", "k", "every", "seed", "keep", "figures"):
            values.pop(name, None)
    return Recipe(**values)


def parsed(command):
    """Return the recipe that the command line makes of a command."""
    name, *words = shlex.split(command)[1:]
    read = typer.main.get_command(program()).commands[name].make_context(name, words).params
    return Recipe.of(read["target"], {part: value for part, value in read.items() if part in FIELDS})


def test_a_recipe_survives_its_command():
    rng = random.Random(1)
    for _ in range(60):
        recipe = draw_recipe(rng)
        if recipe.teacher == "whole":
            continue
        assert parsed(to_command(recipe)) == recipe


def test_a_recipe_survives_its_file(tmp_path):
    rng = random.Random(2)
    for _ in range(300):
        recipe = replace(draw_recipe(rng), target="gmm", initial="gmm:start", other_target=None)
        (tmp_path / "run.toml").write_text(recipe.to_toml(), encoding="utf-8")
        assert Recipe(**read_settings(tmp_path / "run.toml")) == recipe


LESSONS = (
    {},
    {"initial": "gmm:start", "learning_rate": "0.01", "tol": "1e-4"},
    {"teacher": "random", "k": "0.05", "pool": 0.5, "seed": 3, "tol": "5%", "measure": "rms"},
    {"teacher": "soft", "temperature": 0.3, "loss": "huber", "kernel": "rbf(0.5) + 0.1 * Matern(2)"},
    {"teacher": "whole", "width": 0.7, "patience": 4, "engine": "reference"},
    {"teacher": "synthesis", "iterations": 20},
    {"sight": "noise=0.01,delay=3", "iterations": 20},
    {"teacher": "pruning", "k": "4", "sight": "at=shown", "iterations": 20},
    {"teacher": "importance", "iterations": 20},
    {"teacher": "classroom", "learner": "classroom", "iterations": 20},
    {"teacher": "classroom-worst", "learner": "classroom", "pupils": "rate=0.1:0.2,width=0.5:1,start=1:0",
     "iterations": 20},
    {"teacher": "f/P", "learner": "orthogonal", "iterations": 9, "tol": "0"},
    {"k": "linear:1:4:20", "iterations": 30, "every": 10},
    {"other_target": "sine", "probability": 0.4, "teacher": "random", "iterations": 40, "time_limit": 60.0},
    {"target": "face:1", "initial": "face:2", "size": 12, "normalise": "unit", "iterations": 50},
    {"target": "picture.png", "teacher": "greedy-per-output", "communicate": 5, "communicate_until": 20,
     "iterations": 30},
    {"target": "picture.png", "grey": True, "initial": "cat", "strict": False, "iterations": 30},
    {"target": "rows.csv", "iterations": 200},
    {"target": "rows.csv", "features": "a, kind", "target_column": "b", "scale_features": False, "holdout": 0.3,
     "duplicates": "mean", "iterations": 100, "width": 1.0},
    {"target": "rows.csv", "iterations": 200, "reference": "none", "initial": "zero"},
    {"target": "classes.csv", "iterations": 100},
    {"target": "rows.csv", "target_column": "two", "loss": "hinge", "iterations": 50, "missing": "drop"},
)  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A picture and tables, in the folder the recipes are read in."""
    from PIL import Image

    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 255, (9, 11, 3), dtype=np.uint8)).save(folder / "picture.png")
    rows = [
        (f"{a:.3f}", "uv"[i % 2], f"{np.sin(a):.4f}", "-1" if a < 0 else "1") for i, a in enumerate(rng.normal(size=60))
    ]
    (folder / "rows.csv").write_text("a,kind,b,two\n" + "\n".join(",".join(row) for row in rows), encoding="utf-8")
    (folder / "classes.csv").write_text(
        "a,b,name\n" + "\n".join(f"{row[0]},{row[2]},{'low' if row[3] == '-1' else 'high'}" for row in rows), "utf-8"
    )
    with contextlib.chdir(folder):
        yield folder


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "values", LESSONS, ids=lambda values: " ".join(f"{k}={v}" for k, v in values.items()) or "usual"
)
@pytest.mark.sampled(3)
def test_a_recipe_the_command_the_file_and_the_program_are_one_lesson(values, files):
    recipe = Recipe(**{"target": "gmm"} | values)
    complete, problem = read_completed(recipe)
    expected = complete.task(problem).id
    again, same = read_completed(parsed(to_command(recipe)))
    assert again.task(same).id == expected
    (files / "run.toml").write_text(complete.to_toml(files), encoding="utf-8")
    assert str(files) not in complete.to_toml(files)
    kept = Recipe.read(files / "run.toml")
    assert kept.task(kept.problem()).id == expected
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(to_python(complete, problem), "copied", "exec"), names)  # what a person does with it
    assert identity(names["lesson"].settings) == expected and "Lesson of" in printed.getvalue()
    lesson = complete.task(problem).begin(quiet=True).run()
    np.testing.assert_array_equal(names["lesson"].discrepancy, lesson.discrepancy)


def test_every_field_of_the_table_is_an_option_of_a_command():
    commands = typer.main.get_command(program()).commands
    options = {one.name for name in ("teach", "compare") for one in commands[name].params}
    assert set(TABLE_OF_FIELDS) | {"target"} == {part.name for part in fields(Recipe)} <= options


def test_a_command_has_the_options_that_the_table_gives_it():
    commands = typer.main.get_command(program()).commands
    for name, line in TABLE_OF_FIELDS.items():
        assert {*line.without, *([line.only] if line.only else [])} <= set(commands)
        for command in ("teach", "compare", "forecast", "shortest"):
            own = {one.name for one in commands[command].params}
            asked = {"forecast": {"iterations"}}.get(command, set())  # which it has for itself
            assert (name in own) == (name in asked or (command not in line.without and line.only in (None, command)))


def test_a_temperature_is_of_the_soft_teacher():
    recipe, problem = Recipe(target="gmm", temperature=0.3), nimt.sources.read_problem("gmm")
    with pytest.raises(nimt.InvalidInput, match="temperature is of the teacher soft: greedy has none"):
        recipe.make_teacher(problem)
    assert replace(recipe, teacher="soft").make_teacher(problem).temperature == 0.3
