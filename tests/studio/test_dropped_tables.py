"""Tables that are dropped on the page: their rows, or a model of them, and the same lesson in a shell and in Python."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest

import nimt
from nimt.cli.app import run
from nimt.errors import InvalidInput
from nimt.lesson.lesson import Lesson
from nimt.studio import exports
from nimt.studio.dropped_files import describe_file, model_rows, read_dropped
from nimt.studio.requests import read_recipe, read_setting

pytestmark = pytest.mark.long

ZERO = {"kind": "zero"}


def noisy_table():
    rng = np.random.default_rng(4)
    points = rng.uniform(-1, 1, (80, 3))
    labels = points @ [1.0, -2.0, 0.5] + 0.8 * rng.normal(size=80)
    return "a,b,c,y\n" + "\n".join(",".join(map(repr, map(float, row))) for row in np.c_[points, labels]) + "\n"


def given(source):
    target = {"kind": "file", "id": "1", "name": "t.csv"}
    return target, read_setting(target, ZERO, {"1": source})


@pytest.fixture(params=["rows", "model"])
def source(request):
    rows = read_dropped("t.csv", noisy_table().encode())
    return rows if request.param == "rows" else model_rows(rows)


def test_a_model_of_the_rows_is_taught_and_told():
    rows = read_dropped("t.csv", noisy_table().encode())
    modelled = model_rows(rows)
    assert describe_file(rows)["table"] and not describe_file(modelled)["table"]
    assert modelled.notes[-1] == modelled.reference.sentence and "fitted to 64 rows" in modelled.notes[-1]
    np.testing.assert_array_equal(modelled.values, modelled.reference.labels)
    np.testing.assert_array_equal(modelled.aside.target, rows.aside.target)
    spread = [np.std(one.values - rows.pool.coordinates(np.arange(64))["a"]) for one in (rows, modelled)]
    assert spread[1] < spread[0]  # without the noise


def test_only_tables_are_modelled():
    array = read_dropped("a.npy", _npy(np.zeros((4, 4))))
    with pytest.raises(InvalidInput, match="only the rows of a table are modelled: drop a CSV first"):
        model_rows(array)
    few = read_dropped("t.csv", b"x,y\n0,1\n1,2\n2,0\n")
    with pytest.raises(InvalidInput, match="no model can be made of them"):
        model_rows(few)


def test_what_is_copied_gives_the_lesson_of_the_page(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(noisy_table())
    target, setting = given(source)
    recipe = read_recipe({"width": describe_file(source)["width"], "steps": 40, "tol": None}, {"rate": 0.5})
    learner = recipe.make_learner(setting.pool, setting.initial)
    shown = nimt.teach(learner, nimt.GreedyTeacher(), setting.pool, setting.target, tol=None, max_iterations=40)

    command = exports.as_command(target, ZERO, [exports.LessonPart(recipe)], setting)
    words = shlex.split(command)[1:]
    assert run([*words, "--out", "out", "--figures", "none", "-q"]) == 0
    given_names: dict = {}
    exec(exports.as_python(target, ZERO, [exports.LessonPart(recipe)], setting), given_names)
    for lesson in (Lesson.load("out/lesson.npz"), given_names["lesson"]):
        np.testing.assert_array_equal(lesson.indices, shown.indices)
        np.testing.assert_array_equal(lesson.labels, shown.labels)


def test_the_page_asks_for_a_model(studio):
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="t.csv"\r\n\r\n'
    body = head + noisy_table().encode() + b"\r\n--x--\r\n"
    rows = json.loads(studio.ask("POST", "/file", body, Content_Type="multipart/form-data; boundary=x")[2])
    asked = json.dumps({"kind": "file", "id": rows["id"], "name": "t.csv"}).encode()
    answer = json.loads(studio.ask("POST", "/model", asked)[2])
    assert rows["table"] and not answer["table"] and answer["id"] != rows["id"] and answer["width"] == rows["width"]
    status, _, said = studio.ask("POST", "/model", b'{"id": "gone"}')
    assert status == 422 and b"this file is not here any more" in said


def _npy(array):
    import io

    data = io.BytesIO()
    np.save(data, array)
    return data.getvalue()
