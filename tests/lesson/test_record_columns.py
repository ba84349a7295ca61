"""The columns of a record: what a table calls its own columns never replaces them."""

import numpy as np
import pytest

import nimt
from nimt.lesson.record_columns import names_in_record
from nimt.pools.prepared_points import Column, Preparation, PreparedPoints

OURS = ("step", "index", "row", "label", "discrepancy", "output", "looked", "mixed")
ROWS = np.random.default_rng(0).uniform(-1, 1, size=(12, len(OURS)))


def teach(names, target, teacher):
    pool = PreparedPoints(ROWS[:, : len(names)], Preparation(tuple(Column(name) for name in names)), np.arange(12) + 50)
    learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.3)
    return nimt.teach(learner, teacher, pool, target, max_iterations=6, tol=None, engine="reference")


ONE = ROWS[:, 0]
TWO = np.column_stack([ROWS[:, 0], np.sin(ROWS[:, 1])])
CASES = {
    "one example": (ONE, nimt.GreedyTeacher()),
    "packs": (ONE, nimt.GreedyTeacher(k=2)),
    "outputs": (TWO, nimt.GreedyTeacher()),
    "packs of outputs": (TWO, nimt.GreedyTeacher(k=2)),
    "each output": (TWO, nimt.teachers.PerOutput(nimt.GreedyTeacher())),
    "mixed": (TWO, nimt.teachers.Communicating(nimt.GreedyTeacher(), every=2)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("how", ["examples", "to_table"])
def test_columns_named_like_ours_stand_beside_them(case, how):
    plain = getattr(teach([f"feature {place}" for place in range(len(OURS))], *CASES[case]), how)()
    named = getattr(teach(OURS, *CASES[case]), how)()
    assert len(named) == len(plain)  # no column is lost
    for name, column in plain.items():
        title = name
        for place, ours in enumerate(OURS):
            title = title.replace(f"feature {place}", f"table_{ours}")
        np.testing.assert_array_equal(named[title], column)


@pytest.mark.parametrize("case", CASES)
def test_labels_of_outputs_are_not_replaced_either(case):
    names = ("label_output_1", "label_1_output", "label_1_output_1")
    for how in ("examples", "to_table"):
        plain = getattr(teach(("a", "b", "c"), *CASES[case]), how)()
        named = getattr(teach(names, *CASES[case]), how)()
        assert len(named) == len(plain)
        for name in set(plain) & set(named):
            np.testing.assert_array_equal(named[name], plain[name])


def test_a_new_name_is_never_one_that_the_table_has():
    assert names_in_record(["step", "table_step", "size"]) == ["table_table_step", "table_step", "size"]
