"""A class and its teacher, against plain loops over its learners."""

import numpy as np
import pytest

import nimt
from nimt.learners import Classroom
from nimt.teachers import ClassroomTeacher

X = np.linspace(-2, 2, 14)
TARGET = np.sin(2 * X)


def learners():
    return [
        nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, initial=-1.0),
        nimt.KernelLearner(2.0 * nimt.rbf(0.9), learning_rate=0.2, initial=np.cos(X)),
        nimt.LinearLearner([0.5, 0.1], learning_rate=0.02),
    ]


def plain(aim, k, steps):
    grams = [nimt.rbf(0.5)(X[:, None]), 2 * nimt.rbf(0.9)(X[:, None]), np.outer(X, X) + 1]
    rates = [0.1, 0.2, 0.02]
    f = [np.full(14, -1.0), np.cos(X), 0.5 * X + 0.1]
    shown = []
    for _ in range(steps):
        r = [one - TARGET for one in f]
        total = sum if aim == "sum" else max
        scores = [
            total(4 * rates[j] * (1 - rates[j] * grams[j][i, i]) * r[j][i] ** 2 for j in range(3)) for i in range(14)
        ]
        pack = sorted(sorted(range(14), key=lambda i: (-scores[i], i))[:k])
        f = [f[j] - rates[j] / k * grams[j][:, pack] @ (2 * r[j][pack]) for j in range(3)]
        shown.append(pack)
    return shown, np.column_stack(f)


@pytest.mark.parametrize("aim", ["sum", "worst"])
@pytest.mark.parametrize("k", [1, 3])
def test_plain_loops_show_the_same(aim, k, tmp_path):
    classroom = Classroom(learners())
    rules = {"max_iterations": 25, "tol": None}
    lesson = nimt.teach(classroom, ClassroomTeacher(aim, k=k), X, classroom.repeat(TARGET), **rules)
    shown, final = plain(aim, k, 25)
    assert lesson.indices.tolist() == shown
    np.testing.assert_allclose(lesson.final, final, atol=1e-10)
    np.testing.assert_allclose(lesson.learner.predict(X), final, atol=1e-9)
    assert (lesson.access, lesson.engine) == ("white box", "reference")


def test_a_class_is_saved_and_resumed(tmp_path):
    classroom = Classroom(learners())
    target = classroom.repeat(TARGET)
    whole = nimt.teach(classroom, ClassroomTeacher(), X, target, max_iterations=20, tol=None)
    path = tmp_path / "half.npz"
    nimt.teach(classroom, ClassroomTeacher(), X, target, max_iterations=7, tol=None, checkpoint=path)
    resumed = nimt.resume(path, max_iterations=20)
    np.testing.assert_array_equal(resumed.final, whole.final)
    whole.save(tmp_path / "whole.npz")
    loaded = nimt.Lesson.load(tmp_path / "whole.npz")
    np.testing.assert_allclose(loaded.learner.predict(X), whole.final, atol=1e-9)


def test_rates_of_any_kind():
    fast = nimt.KernelLearner(nimt.rbf(0.5), learning_rate="auto")
    slow = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=lambda step: 0.1 / (1 + step))
    classroom = Classroom([fast, slow])
    lesson = nimt.teach(classroom, ClassroomTeacher(), X, classroom.repeat(TARGET), max_iterations=5)
    i = lesson.indices[0, 0]
    assert lesson.indices[0, 0] == np.argmax(np.abs(TARGET))
    first = nimt.teach(classroom, ClassroomTeacher(), X, classroom.repeat(TARGET), max_iterations=1)
    np.testing.assert_allclose(first.final[i], [TARGET[i], 0.2 * TARGET[i]], rtol=1e-12)


def test_the_class_is_divided_by_its_starts():
    starts = [0.0, 4.0, 0.3, -3.0, 4.2, 0.1]
    classroom = Classroom([nimt.KernelLearner(nimt.rbf(0.5), initial=start) for start in starts])
    assert classroom.partition(X, 3) == [[0, 2, 5], [1, 4], [3]]
    assert classroom.partition(X, 1) == [[0, 1, 2, 3, 4, 5]]


def test_what_is_no_class_is_refused():
    with pytest.raises(nimt.InvalidInput, match="two or more"):
        Classroom(learners()[:1])
    with pytest.raises(nimt.InvalidInput, match="two or more"):
        Classroom([nimt.learners.OrthogonalLearner(nimt.rbf(1.0))] * 2)
    with pytest.raises(nimt.InvalidInput, match="must have one loss"):
        Classroom([nimt.KernelLearner(nimt.rbf(1.0)), nimt.KernelLearner(nimt.rbf(1.0), loss="huber")])
    with pytest.raises(nimt.InvalidInput, match=r"give it once per learner, classroom.repeat\(y\)"):
        nimt.teach(Classroom(learners()), nimt.GreedyTeacher(), X, TARGET, max_iterations=1)
    with pytest.raises(nimt.InvalidInput, match="teaches a Classroom, and this is a KernelLearner"):
        nimt.teach(learners()[0], ClassroomTeacher(), X, TARGET, max_iterations=1)
    with pytest.raises(nimt.InvalidInput, match="'sum' or 'worst'"):
        ClassroomTeacher("best")
    with pytest.raises(nimt.InvalidInput, match="groups"):
        Classroom(learners()).partition(X, 4)
