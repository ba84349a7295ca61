"""A lesson holds what is needed to run it again."""

from __future__ import annotations

import numpy as np
import pytest

import nimt


@pytest.mark.long
@pytest.mark.parametrize(
    "teacher", [nimt.GreedyTeacher(), nimt.RandomTeacher(k=2), nimt.teachers.SoftTeacher(temperature=0.3)]
)
def test_a_lesson_given_again_is_the_same_to_the_last_digit(teacher, tmp_path):
    pool = nimt.Grid(np.arange(-3, 3, 0.1))
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate="auto", initial=np.cos(pool.points[:, 0]))
    lesson = nimt.teach(learner, teacher, pool, np.sin, max_iterations=40, tol=1e-3, seed=5, snapshots=[7])
    lesson.save(tmp_path / "lesson.npz")
    for again in (lesson.rerun(), nimt.Lesson.load(tmp_path / "lesson.npz").rerun()):
        np.testing.assert_array_equal(again.discrepancy, lesson.discrepancy)
        np.testing.assert_array_equal(again.indices, lesson.indices)
        np.testing.assert_array_equal(again.snapshots[7], lesson.snapshots[7])
    if lesson.drew:
        assert not np.array_equal(lesson.rerun(seed=6).indices, lesson.indices)


class Mine:
    def select(self, view):
        return view.show([view.step])


def test_what_is_not_nimts_own_must_be_passed_again():
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.5)
    lesson = nimt.teach(learner, Mine(), np.arange(5.0), np.sin, max_iterations=3)
    with pytest.raises(nimt.InvalidInput, match=r"lesson\.rerun\(teacher=\.\.\.\)"):
        lesson.rerun()
    np.testing.assert_array_equal(lesson.rerun(teacher=Mine()).discrepancy, lesson.discrepancy)


def test_a_lesson_says_what_to_cite():
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.5)
    teacher = nimt.OmniscientTeacher(kernel=learner.kernel, learning_rate=0.5)
    said = nimt.teach(learner, teacher, np.arange(5.0), np.sin, max_iterations=2).cite()
    assert [line for line in said.splitlines() if line.startswith("@")] == [
        "@inproceedings{Zhang23,", "@inproceedings{Liu17,", "@software{nimt,",
    ]  # fmt: skip
    assert f"version = {{{nimt.__version__}}}" in said
