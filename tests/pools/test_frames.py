"""The columns of a DataFrame keep their names from X to the figures, tables, files and pages of a lesson."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import nimt
from nimt.operators.random_features import subsample
from nimt.plots.animation import draw_frames
from nimt.replay.lesson_recording import record_of

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"width": RNG.normal(size=12), "height": RNG.integers(0, 5, 12), "step": RNG.normal(size=12)})
PRICE = pd.Series(np.sin(FRAME["width"]), name="price")


def teach(X, y=PRICE, **options):
    learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    return nimt.teach(learner, nimt.GreedyTeacher(), X, y, **{"max_iterations": 4, "tol": None} | options)


def test_examples_are_a_frame_with_the_columns_that_were_given():
    lesson = teach(FRAME)
    found = lesson.examples()
    assert isinstance(found, pd.DataFrame)
    assert list(found) == ["step", "index", "width", "height", "table_step", "label"]
    for mine, yours in (("width", "width"), ("height", "height"), ("table_step", "step")):
        np.testing.assert_array_equal(found[mine], FRAME[yours].to_numpy(float)[lesson.indices[:, 0]])
    np.testing.assert_array_equal(found["label"], PRICE.to_numpy()[lesson.indices[:, 0]])
    assert list(lesson.to_table())[2:] == ["index", "width", "height", "table_step", "label"]


def test_a_frame_teaches_what_its_numbers_teach():
    named, plain = teach(FRAME), teach(FRAME.to_numpy(float), PRICE.to_numpy())
    np.testing.assert_array_equal(named.indices, plain.indices)
    np.testing.assert_array_equal(named.discrepancy, plain.discrepancy)
    np.testing.assert_array_equal(named.learner.predict(FRAME), plain.learner.predict(FRAME.to_numpy(float)))
    assert list(plain.examples()) == ["step", "index", "x_1", "x_2", "x_3", "label"]
    assert plain.pool.describe().keys() == {"points"}  # as in files of before


def test_names_survive_files_and_resuming(tmp_path):
    whole = teach(FRAME, max_iterations=8)
    whole.save(tmp_path / "whole.npz")
    teach(FRAME, checkpoint=tmp_path / "part.npz")
    resumed = nimt.resume(tmp_path / "part.npz", max_iterations=8)
    again = teach(FRAME, checkpoint=tmp_path / "part.npz", on_existing="resume", max_iterations=8)
    for lesson in (nimt.Lesson.load(tmp_path / "whole.npz"), resumed, again):
        pd.testing.assert_frame_equal(lesson.examples(), whole.examples())
        assert lesson.pool.names == ("width", "height", "step") and lesson.pool.target_name == "price"


def test_comparisons_and_parts_of_a_pool_keep_names():
    learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    found = nimt.compare(learner, [nimt.GreedyTeacher()], FRAME, PRICE, max_iterations=2)
    ((lesson,),) = found.lessons.values()
    part, _ = subsample(FRAME, PRICE, 5)
    for kept in (lesson.pool, part):
        assert (kept.names, kept.target_name) == (("width", "height", "step"), "price")


@pytest.mark.parametrize(
    ("columns", "across", "up"), [(["width"], "width", "price"), (["width", "height"], "width", "height")]
)
def test_axes_of_figures_are_named(columns, across, up):
    lesson = teach(FRAME[columns])
    axes = [ax for ax in nimt.plots.panels(lesson).axes if ax.get_label() != "<colorbar>"]
    assert axes[0].get_xlabel() == across and axes[0].get_ylabel() == up
    assert len(list(draw_frames(lesson))) == 2
    bars = [ax.get_ylabel() for ax in nimt.plots.panels(lesson).axes if ax.get_label() == "<colorbar>"]
    assert bars == (["price"] if len(columns) == 2 else [])


def test_in_many_dimensions_the_target_is_named():
    assert nimt.plots.panels(teach(FRAME)).axes[0].get_xlabel() == "target f* (price)"


def test_reports_and_replays_say_the_names(tmp_path):
    lesson = teach(FRAME.rename(columns={"step": "row"}))
    page = lesson.report(tmp_path / "report").read_text(encoding="utf-8")
    heads = page.partition("The rows shown")[2]
    assert all(f">{name}</th>" in heads for name in ("width", "height", "row", "label", "learned"))
    header = record_of(lesson).header
    assert (header["columns"], header["target_name"]) == (["width", "height", "row"], "price")


def test_a_series_and_names_given_by_hand():
    assert list(teach(FRAME["width"]).examples()) == ["step", "index", "width", "label"]
    named = nimt.Points(FRAME.to_numpy(float), names=["a", "b", "c"])
    assert list(teach(named).examples()) == ["step", "index", "a", "b", "c", "label"]
    with pytest.raises(nimt.InvalidInput, match="names must have a word for each of the 3 coordinates"):
        nimt.Points(FRAME.to_numpy(float), names=["a"])


def test_columns_without_words_for_names_have_none():
    assert list(teach(FRAME.set_axis([0, 1, 2], axis=1)).examples())[2:5] == ["x_1", "x_2", "x_3"]


def test_whole_numbers_of_pandas_are_numbers():
    assert teach(FRAME.astype({"height": "Int64"})).pool.points.tolist() == FRAME.to_numpy(float).tolist()


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (
            ["red", "blue"] * 6,
            r"the column 'new' of the pool holds 'red'.*leave it.*get_dummies\(X, columns=\['new'\]",
        ),
        (pd.date_range("2024-01-31", periods=12), "the column 'new' of the pool holds '2024-01-31.*numbers"),
        ([*range(11), None], "the column 'new' of the pool has nan at index 11"),
        (pd.array([*range(11), None], dtype="Int64"), "the column 'new' of the pool has nan at index 11"),
    ],
)
def test_a_column_without_numbers_is_named(column, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        teach(FRAME.assign(new=column))


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(nimt.InvalidInput, match="two columns of the pool are named 'width': rename one"):
        teach(pd.concat([FRAME, FRAME[["width"]]], axis=1))


def test_the_advice_for_words_works():
    advised = pd.get_dummies(FRAME.assign(new=["red", "blue"] * 6), columns=["new"], dtype=float)
    assert list(teach(advised).examples())[-3:] == ["new_blue", "new_red", "label"]


def test_a_lesson_without_a_frame_loads_no_pandas():
    code = (
        "import sys, nimt; nimt.teach(nimt.KernelLearner(nimt.rbf(1.0)), nimt.GreedyTeacher(), [0.0, 5.0], [1.0, 3.0],"
        "max_iterations=2, engine='reference').to_table(); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
