"""A lesson whose settings or numbers were edited and sealed again: one sentence, wherever it is read first."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nimt
from nimt.arrays import check_stored_indices
from nimt.errors import CorruptLesson
from nimt.pools.prepared_points import Column, Preparation, PreparedPoints
from nimt.reports.summary import summary_of
from nimt.store import records

OF_A_COPY = "copy.npz"  # which has the learner instead of a state


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    preparation = Preparation((Column("size", 1.0, 2.0), Column("kind", levels=("a", "b"))), "class", ("x", "y", "z"))
    pool = PreparedPoints(rng.normal(size=(9, 3)), preparation)
    lesson = nimt.teach(
        nimt.KernelLearner(2.0 * nimt.rbf(1.0)), nimt.GreedyTeacher(), pool,
        np.eye(3)[np.arange(9) % 3], max_iterations=6, tol=None, snapshots=[0, 3], engine="reference",
        holdout=(np.zeros((2, 3)), np.eye(3)[:2]),
    )  # fmt: skip
    path = tmp_path_factory.mktemp("honest") / "lesson.npz"
    lesson.save(path)
    dataclasses.replace(lesson).save(path.with_name(OF_A_COPY))
    return path


ALTERED: dict[str, tuple[tuple[Any, ...], Any]] = {
    "no budget": (("settings", "max_iterations"), None),
    "a budget below zero": (("settings", "max_iterations"), -1),
    "a seed of text": (("settings", "seed"), "0"),
    "a version that is none": (("settings", "nimt"), {}),
    "versions that are none": (("settings", "versions"), ["numpy"]),
    "a version of numbers": (("settings", "versions", "numpy"), 2),
    "an infinite tolerance": (("settings", "tol"), float("inf")),
    "a tolerance beyond all": (("settings", "tol"), 10**400),
    "snapshots of text": (("settings", "snapshots"), ["1"]),
    "a learner that is none": (("settings", "learner"), []),
    "a learner without a type": (("settings", "learner", "type"), None),
    "a kernel without a part": (("settings", "learner", "kernel"), {"type": "sum", "left": None}),
    "a kernel that is a list": (("settings", "learner", "kernel", "type"), ["rbf"]),
    "a rate of text": (("settings", "learner", "learning_rate"), "x"),
    "a rate that is no number": (("settings", "learner", "learning_rate"), float("nan")),
    "an example for three outputs": (("settings", "per_output"), True),
    "a state that is none": (("settings", "learner", "state"), 5),
    "a start that is a pool without axes": (("settings", "learner", "initial"), {"type": "Grid"}),
    "a width that is none": (("settings", "learner", "kernel", "right", "width"), None),
    "a width of text": (("settings", "learner", "kernel", "right", "width"), "x"),
    "a loss without a type": (("settings", "learner", "loss"), {"delta": 1.0}),
    "a measure that rises to 2": (("settings", "measure"), {"label": "mine", "axis": "mine", "higher_is_better": 2}),
    "a state with a coefficient too few": (("state", "pupil", "coefficients"), np.zeros((8, 3))),
    "a state of no steps": (("state", "pupil", "steps"), -1),
    "a state of another rate": (("state", "pupil", "rate"), "x"),
    "endless seconds": (("elapsed",), float("inf")),
    "seconds below zero": (("elapsed",), -1.0),
    "compiling for nothing": (("compiling",), float("nan")),
    "a learner of numbers": (("learner",), 5),
    "a learner of nothing": (("learner",), {}),
    "a learner that is a pool": (("learner",), {"type": "Points", "points": np.zeros((2, 1))}),
    "centres that are text": (("learner", "state", "centers_"), np.array(["x"])),
    "centres of another dimension": (("learner", "state", "centers_"), np.zeros((4, 2))),
    "a coefficient too few": (("learner", "state", "coefficients_"), np.zeros((1, 3))),
    "coefficients of another output": (("learner", "state", "coefficients_"), np.zeros((4, 2))),
    "steps that are none": (("learner", "state", "steps_"), None),
    "an example that is none": (("indices",), np.full((6, 1), 9)),
    "an example before the first": (("indices",), np.full((6, 1), -2)),
    "a pack without examples": (("indices",), np.full((6, 1), -1)),
    "a step too few": (("indices",), np.zeros((5, 1), dtype=np.int64)),
    "counts for other points": (("picks",), np.zeros(8, dtype=np.int32)),
    "a snapshot after the end": (("course", "7"), np.zeros((9, 3))),
    "a snapshot before the start": (("course", "-1"), np.zeros((9, 3))),
    "an error after the end": (("held_out_curve",), {"steps": np.array([99]), "errors": np.array([0.5])}),
    "an error at the end of text": (("held_out_error", "rms"), "x"),
    "an error at the end of nothing": (("held_out_error",), {}),
    "an accuracy that is none": (("held_out_error", "accuracy"), float("nan")),
    "an accuracy of nothing": (("held_out_error", "accuracy"), ""),
    "an accuracy above 1": (("held_out_error", "accuracy"), 1.5),
    "a share explained of nothing": (("held_out_error", "r_squared"), ""),
    "points below zero": (("held_out_error", "count"), -1),
    "a part of a kernel that is many": (("settings", "learner", "kernel", "right", "type"), np.ones(3, dtype=bool)),
    "a width beyond all": (("settings", "learner", "kernel", "right", "width"), 10**400),
    "a class too few": (("pool", "preparation", "classes"), ["x", "y"]),
    "a class too many": (("pool", "preparation", "classes"), ["x", "y", "z", "w"]),
    "columns that are other ones": (("pool", "preparation", "columns"), [{"type": "Column", "name": "size"}]),
    "a deviation of zero": (("pool", "preparation", "columns", 0, "deviation"), 0.0),
    "a mean that is none": (("pool", "preparation", "columns", 0, "mean"), float("nan")),
    "levels that are numbers": (("pool", "preparation", "columns", 1, "levels"), [1, 2]),
    "rows for other points": (("pool", "rows"), np.arange(4)),
}


def _shown_and_rebuilt(path: Path) -> None:
    record = nimt.Lesson.load_record(path)
    assert summary_of(record)
    assert record.learner


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_lesson_is_refused_when_it_is_loaded(honest: Path, tmp_path: Path, name: str) -> None:
    (*path, last), value = ALTERED[name]
    of_learner = [*path, last][0] == "learner"
    content = records.read(honest.with_name(OF_A_COPY) if of_learner else honest, "lesson")
    part: Any = content
    for key in path:
        part = part[key]
    part[last] = value
    records.write(tmp_path / "forged.npz", "lesson", content)
    with pytest.raises(CorruptLesson, match="forged") as refused:
        nimt.Lesson.load(tmp_path / "forged.npz")
    # of the record alone, an altered learner is refused when it is asked for, by the same sentence
    with pytest.raises(CorruptLesson) as later:
        _shown_and_rebuilt(tmp_path / "forged.npz")
    assert str(later.value) == str(refused.value)


def test_the_record_alone_says_the_same_as_the_lesson(honest: Path, tmp_path: Path) -> None:
    record, lesson = nimt.Lesson.load_record(honest), nimt.Lesson.load(honest)
    assert summary_of(record) == summary_of(lesson)
    assert record.held_out == lesson.held_out is not None
    assert record.learning_rate == lesson.learning_rate
    assert repr(record) == repr(lesson) and record._repr_html_() == lesson._repr_html_()
    nimt.Lesson.load_record(honest).save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == honest.read_bytes()
    sent = pickle.loads(pickle.dumps(nimt.Lesson.load_record(honest)))
    assert np.array_equal(sent.taught.coefficients_, lesson.taught.coefficients_)


@pytest.mark.parametrize("k", [1, 5])
def test_the_rate_that_auto_stood_for_is_read_from_the_file(tmp_path: Path, k: int) -> None:
    points = np.random.default_rng(0).random((30, 2)) * 4
    learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate="auto")
    lesson = nimt.teach(learner, nimt.GreedyTeacher(k=k), points, points[:, 0], max_iterations=3, tol=None)
    lesson.save(tmp_path / "lesson.npz")
    assert lesson.learning_rate is not None and (lesson.learning_rate > 0.5) == (k > 1)
    for read in (nimt.Lesson.load, nimt.Lesson.load_record):
        assert read(tmp_path / "lesson.npz").learning_rate == lesson.learning_rate
        assert summary_of(read(tmp_path / "lesson.npz")) == summary_of(lesson)


def test_a_text_in_the_place_of_the_colour_is_passed_over(honest: Path, tmp_path: Path) -> None:
    content = records.read(honest, "lesson")
    content["settings"]["method"]["colour"] = "red; background: url(x)"
    records.write(tmp_path / "forged.npz", "lesson", content)
    assert nimt.Lesson.load(tmp_path / "forged.npz").colour is None


@pytest.mark.parametrize("index", [-1, 5, 2**40])
def test_an_index_outside_its_range_never_reaches_compiled_code(index: int) -> None:
    assert check_stored_indices({"rows": np.array([0, 4])}, "rows", (2,), 5).tolist() == [0, 4]
    with pytest.raises(CorruptLesson, match="'rows' holds an index outside 0 to 4"):
        check_stored_indices({"rows": np.array([0, index])}, "rows", (2,), 5)


def test_a_lesson_is_saved_where_its_learner_fails_on_held_out_points(tmp_path: Path) -> None:
    class Tired:
        rested = True

        def predict(self, X: Any) -> Any:
            if len(X) == 2 and not Tired.rested:
                raise ValueError("no more")
            return np.zeros(len(X))

        def partial_fit(self, X: Any, y: Any) -> None:
            pass

        def state(self) -> dict[str, Any]:
            return {}

        def restore(self, state: dict[str, Any]) -> None:
            pass

    points = np.arange(9.0)[:, np.newaxis]
    lesson = nimt.teach(
        Tired(), nimt.RandomTeacher(), points, np.sin, max_iterations=3, tol=None, holdout=(points[:2], np.ones(2))
    )
    Tired.rested = False
    lesson.save(tmp_path / "lesson.npz")
    assert len(nimt.Lesson.load_record(tmp_path / "lesson.npz")) == 3
    with pytest.raises(ValueError, match="no more"):
        assert lesson.held_out
