"""Weights of examples, and what a teacher sees of its learner."""

import dataclasses

import numpy as np
import pytest

import nimt
from nimt.teachers import Teacher

POINTS = np.random.default_rng(5).uniform(-2, 2, size=(12, 2))
TARGET = np.sin(POINTS[:, 0]) - POINTS[:, 1]


@dataclasses.dataclass(frozen=True, eq=False)
class Weighted(Teacher):
    """Shows two points with weights; every third step without."""

    def select(self, view):
        pack = np.array([view.step % 12, (5 * view.step + 1) % 12])
        return view.show(pack, weights=None if view.step % 3 == 2 else np.array([2.0, -0.5 + 0.1 * view.step]))


def plain(K, target, steps, eta=0.1):
    f = np.zeros(len(K))
    for t in range(steps):
        weights = (1.0, 1.0) if t % 3 == 2 else (2.0, -0.5 + 0.1 * t)
        change = np.zeros(len(K))
        for i, w in zip((t % 12, (5 * t + 1) % 12), weights, strict=True):
            change += eta / 2 * w * 2 * (f[i] - target[i]) * K[:, i]
        f = f - change
    return f


def test_the_step_is_multiplied_by_the_weight():
    kernel = nimt.rbf(0.9)
    lesson = nimt.teach(nimt.KernelLearner(kernel, learning_rate=0.1), Weighted(), POINTS, TARGET, max_iterations=20)
    np.testing.assert_allclose(lesson.final, plain(kernel(POINTS), TARGET, 20), rtol=1e-12)
    np.testing.assert_allclose(lesson.learner.predict(POINTS), lesson.final, rtol=1e-10)
    assert lesson.weights[:3].tolist() == [[2.0, -0.5], [2.0, -0.4], [1.0, 1.0]]
    assert lesson.examples()["weight"].tolist() == lesson.weights.ravel().tolist()
    np.testing.assert_array_equal(lesson.to_table()["weight_2"][:-1], lesson.weights[:, 1])


def test_a_linear_learner_takes_weights():
    learner = nimt.LinearLearner([0.0, 0.0, 0.0], learning_rate=0.02)
    lesson = nimt.teach(learner, Weighted(), POINTS, TARGET, max_iterations=20)
    np.testing.assert_allclose(lesson.final, plain(POINTS @ POINTS.T + 1, TARGET, 20, 0.02), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("momentum", [0.0, 0.5])
def test_partial_fit_takes_them_too(momentum):
    learner, pupil = (nimt.KernelLearner(nimt.rbf(0.9), learning_rate=0.1, momentum=momentum) for _ in range(2))
    pupil = pupil.make_pupil(nimt.Points(POINTS))
    pupil.learn_weighted(np.array([1, 4]), TARGET[[1, 4]], np.array([3.0, 0.5]))
    learner.partial_fit(POINTS[[1, 4]], TARGET[[1, 4]], sample_weight=[3.0, 0.5])
    np.testing.assert_allclose(learner.predict(POINTS), pupil.values, rtol=1e-12)
    with pytest.raises(nimt.InvalidInput, match="sample_weight must have shape"):
        learner.partial_fit(POINTS[:2], TARGET[:2], sample_weight=[1.0])


def test_weights_are_saved_and_resumed(tmp_path):
    learner = nimt.KernelLearner(nimt.rbf(0.9), learning_rate=0.1)
    whole = nimt.teach(learner, Weighted(), POINTS, TARGET, max_iterations=20)
    path = tmp_path / "lesson.npz"
    nimt.teach(learner, Weighted(), POINTS, TARGET, max_iterations=3, checkpoint=path)
    resumed = nimt.resume(path, max_iterations=20, allow=[Weighted])
    np.testing.assert_array_equal(resumed.weights, whole.weights)
    np.testing.assert_array_equal(resumed.final, whole.final)
    resumed.save(path)
    np.testing.assert_array_equal(nimt.Lesson.load(path).weights, whole.weights)


def test_chunks_of_any_length_record_the_same_weights():
    learner = nimt.KernelLearner(nimt.rbf(0.9), learning_rate=0.1)
    whole = nimt.teach(learner, Weighted(), POINTS, TARGET, max_iterations=20)
    walk = nimt.steps(learner, Weighted(), POINTS, TARGET, max_iterations=20)
    for count in (2, 1, 1, 5, 11):
        walk.advance(count)
        walk.lesson
    np.testing.assert_array_equal(walk.lesson.weights, whole.weights)


class OfOneOutput(Teacher):
    def select(self, view):
        return view.show([view.step % 12], weights=np.array([1.0 + view.step]))


def test_every_output_has_weights_of_its_own():
    target = np.column_stack([TARGET, -TARGET])
    learner = nimt.KernelLearner(nimt.rbf(0.9), learning_rate=0.01)
    lesson = nimt.teach(learner, nimt.teachers.PerOutput(OfOneOutput()), POINTS, target, max_iterations=6)
    single = nimt.teach(learner, OfOneOutput(), POINTS, TARGET, max_iterations=6)
    np.testing.assert_allclose(lesson.final[:, 1], -single.final, rtol=1e-12)
    assert lesson.weights.tolist() == [[1.0 + t, 1.0 + t] for t in range(6)]
    assert lesson.to_table()["weight_output_2"][:-1].tolist() == [1.0 + t for t in range(6)]


def test_weights_in_a_box():
    class Corner(Teacher):
        def select(self, view):
            return view.show([0], weights=np.array([3.0]))

    box = nimt.Box([(-1.0, 1.0)], [9])
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
    lesson = nimt.teach(learner, Corner(), box, np.cos, max_iterations=1)
    assert lesson.final[0] == pytest.approx(3 * 0.1 * 2 * np.cos(-1.0))


@pytest.mark.parametrize("weights", [[1.0], [np.nan, 1.0], [[1.0], [2.0]]])
def test_bad_weights_are_refused(weights):
    class Wrong(Teacher):
        def select(self, view):
            return view.show([0, 1], weights=np.array(weights))

    with pytest.raises(nimt.InvalidInput, match="weights"):
        nimt.teach(nimt.KernelLearner(nimt.rbf(1.0)), Wrong(), POINTS, TARGET, max_iterations=2)


def test_a_learner_without_weights_says_so():
    with pytest.raises(nimt.InvalidInput, match="which OrthogonalLearner cannot take"):
        nimt.teach(nimt.learners.OrthogonalLearner(nimt.rbf(1.0)), Weighted(), POINTS, TARGET, max_iterations=2)


# ---------------------------------------------------------------- what a teacher sees


class Curious(Teacher):
    sees = ("kernel", "loss", "rate")

    def select(self, view):
        SEEN.append((view.kernel, view.loss, view.rate))
        return view.show([0])


SEEN = []


def test_a_view_has_what_the_teacher_sees():
    SEEN.clear()
    learner = nimt.KernelLearner(nimt.rbf(0.7), loss="huber", learning_rate=lambda step: 0.5 / (1 + step))
    lesson = nimt.teach(learner, Curious(), POINTS, TARGET, max_iterations=2)
    assert [(nimt.rbf(0.7), nimt.losses.Huber(1.0), 0.5), (nimt.rbf(0.7), nimt.losses.Huber(1.0), 0.25)] == SEEN
    assert lesson.access == "white box"
    assert nimt.teach(learner, nimt.GreedyTeacher(), POINTS, TARGET, max_iterations=1).access == "gray box"


@pytest.mark.long
@pytest.mark.parametrize("rate", [0.03, "auto", lambda step: 0.1 / (1 + step)])
@pytest.mark.parametrize("k", [1, 3])
def test_a_teacher_sees_what_it_is_not_given(rate, k):
    learner = nimt.KernelLearner(2.0 * nimt.rbf(0.7), loss="huber", learning_rate=rate)
    seen = nimt.teach(learner, nimt.OmniscientTeacher(k=k), POINTS, TARGET, max_iterations=9)
    f = np.zeros(12)
    K = learner.kernel(POINTS)
    for t in range(9):  # argmin of eta^2 g^2 K - 2 eta g r, each point by itself
        eta = rate(t) if callable(rate) else seen.learning_rate if rate == "auto" else rate
        g = 2 * np.clip(f - TARGET, -1, 1)
        change = eta**2 * g**2 * np.diag(K) - 2 * eta * g * (f - TARGET)
        pack = np.sort(np.argsort(change, kind="stable")[:k])
        assert seen.indices[t].tolist() == pack.tolist()
        f = f - eta / k * K[:, pack] @ g[pack]


def test_a_teacher_that_disagrees_is_warned_of():
    learner = nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.1)
    for wrong in ({"learning_rate": 0.2}, {"kernel": nimt.rbf(0.8)}, {"loss": "huber"}):
        with pytest.warns(nimt.errors.TeacherWarning, match="and the learner has"):
            nimt.teach(learner, nimt.OmniscientTeacher(**wrong), POINTS, TARGET, max_iterations=1)


def test_what_a_learner_does_not_have_must_be_given():
    with pytest.raises(nimt.InvalidInput, match="sees the learner's loss, and OrthogonalLearner has none"):
        nimt.teach(
            nimt.learners.OrthogonalLearner(nimt.rbf(1.0)), nimt.OmniscientTeacher(), POINTS, TARGET, max_iterations=1
        )


@pytest.mark.long
def test_a_linear_learner_has_a_kernel_too():
    learner = nimt.LinearLearner([0.1, 0.2, 0.3], learning_rate=0.01)
    twin = nimt.KernelLearner(nimt.linear(1.0), learning_rate=0.01, initial=lambda x: x @ [0.1, 0.2] + 0.3)
    lessons = [nimt.teach(one, nimt.OmniscientTeacher(), POINTS, TARGET, max_iterations=9) for one in (learner, twin)]
    assert lessons[0].indices.tolist() == lessons[1].indices.tolist()
