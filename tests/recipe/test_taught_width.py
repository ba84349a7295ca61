"""The width of a table's kernel: short lessons of the run's own teacher, measure and tolerance."""

import dataclasses

import numpy as np
from sklearn.datasets import make_moons

from nimt.estimators.width import median_width
from nimt.recipe import taught_width
from nimt.recipe.completing import read_completed
from nimt.recipe.recipe import Recipe


def moons(folder):
    """Write a table of two classes that overlap a little, and return the recipe and the problem of the program."""
    X, y = make_moons(300, noise=0.2, random_state=0)
    path = folder / "moons.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header="a,b,moon", comments="", fmt=["%.6f", "%.6f", "%d"])
    return read_completed(Recipe.of(str(path), {"width": 1.0}))


def test_lessons_that_choose_the_width_of_classes_are_those_of_the_run(tmp_path, monkeypatch):
    recipe, problem = moons(tmp_path)
    given = []
    from nimt.teaching import lessons

    teach = lessons.teach

    def listen(learner, teacher, *rest, **options):
        given.append((teacher, options))
        return teach(learner, teacher, *rest, **options)

    monkeypatch.setattr(lessons, "teach", listen)
    taught_width.choose_taught_width(recipe, problem)
    run = recipe.task(problem)
    assert len(given) == len(taught_width.FACTORS)
    for teacher, options in given:
        assert repr(teacher) == repr(run.teacher)
        assert (options["measure"], options["tol"]) == (recipe.measure, recipe.tolerance) == ("accuracy", 0.99)


def test_every_usual_width_teaches_two_moons_to_rows_that_were_not_taught(tmp_path):
    recipe, problem = moons(tmp_path)
    middle = median_width(problem.pool.points)
    order = np.random.default_rng(0).permutation(len(problem.pool.points))
    half = len(order) // 2
    for factor in (0.125, 0.25, 0.5, 1.0):
        one = dataclasses.replace(recipe, width=factor * middle)
        assert taught_width._error(one, problem, order[:half], order[half:]) < 0.05
