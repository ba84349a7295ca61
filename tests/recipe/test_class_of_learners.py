"""A class on the command line and in files is the class of Python."""

from dataclasses import replace

import numpy as np
import pytest

import nimt
from nimt.learners import Classroom
from nimt.recipe.completing import read_completed
from nimt.recipe.recipe import Recipe
from nimt.teachers import ClassroomTeacher

GIVEN = "rate=0.05:0.1:0.3,width=0.5:1:0.7,start=0:1:-1"


def recipe(**more):
    return Recipe(
        **{"target": "gmm", "teacher": "classroom", "learner": "classroom", "iterations": 40, "tol": "0"} | more
    )


def teach(asked):
    complete, problem = read_completed(asked)
    return complete.task(problem).begin(quiet=True).run()


def teach_in_python(kernels, rates, starts, teacher, **options):
    problem = nimt.sources.read_problem("gmm", "gmm:start")
    parts = zip(kernels, rates, starts, strict=True)
    classroom = Classroom([nimt.KernelLearner(k, learning_rate=r, initial=s) for k, r, s in parts])
    rules = {"max_iterations": 40, "tol": None} | options
    return nimt.teach(classroom, teacher, problem.pool, classroom.repeat(problem.target), **rules)


def same(one, other):
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_array_equal(one.final, other.final)


@pytest.mark.parametrize(("spelled", "aim"), [("classroom", "sum"), ("classroom-worst", "worst")])
def test_pupils_are_the_learners_of_a_class(spelled, aim):
    kernels = [nimt.rbf(width) for width in (0.5, 1.0, 0.7)]
    expected = teach_in_python(kernels, (0.05, 0.1, 0.3), (0.0, 1.0, -1.0), ClassroomTeacher(aim))
    same(teach(recipe(teacher=spelled, pupils=GIVEN)), expected)


def test_three_learners_share_the_start_and_differ_in_their_rates_where_nothing_is_said():
    start = nimt.sources.read_problem("gmm", "gmm:start").start
    expected = teach_in_python([nimt.rbf(0.5)] * 3, (0.2, 0.1, 0.05), [start] * 3, nimt.GreedyTeacher(k=2))
    same(teach(recipe(teacher="greedy", k="2", initial="gmm:start", learning_rate="0.2")), expected)
    auto = teach(recipe(initial="gmm:start"))
    assert auto.learner.learning_rate == (0.5, 0.25, 0.125)


def test_starts_alone_leave_the_rate_to_all():
    learner = teach(recipe(pupils="start=0:2")).learner
    assert learner.learning_rate == (0.5, 0.5)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"pupils": "rate=0.1"}, "pupils must have from 2 to 100 learners"),
        ({"pupils": "rate=0.1:0.2,start=1:2:3"}, "as many numbers in each part, got 2 of rate, 3 of start"),
        ({"pupils": "rate=0.1:x"}, "pupils must be a number, got 'x'"),
        ({"pupils": "rate=0.1:-1"}, "pupils has a rate that is not above 0, -1"),
        ({"pupils": "speed=1:2"}, "pupils has rate, width, start"),
        ({"pupils": "width=1:2", "kernel": "rbf(0.5)"}, r"has widths, and the kernel rbf\(0.5\) has its own"),
        ({"pupils": "rate=0.1:0.2", "learner": "kernel"}, "pupils is of the learner classroom"),
        ({"learner": "kernel"}, "teaches a Classroom, and this is a KernelLearner"),
        ({"target": "rows.csv"}, "not for tables"),
        ({"target": "colours.png"}, "targets of one output, and this one has 3"),
    ],
)
def test_what_is_no_class_is_refused_in_a_sentence(given, sentence, tmp_path, monkeypatch):
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b\n" + "\n".join(f"{i},{i * i}" for i in range(9)), encoding="utf-8")
    noise = np.random.default_rng(0).integers(0, 255, (5, 6, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "colours.png")
    with pytest.raises(nimt.InvalidInput, match=sentence):
        teach(recipe(**given))
    if given.get("target") == "colours.png":
        assert teach(replace(recipe(**given), grey=True)).final.shape == (30, 3)
