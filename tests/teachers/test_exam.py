"""The exam teacher against plain loops over the whole covariance, written from its formulas."""

import numpy as np
import pytest

import nimt
from nimt.datasets.formulas import mixture, mixture_pool, mixture_start
from nimt.schedules import every
from nimt.teachers import ExamTeacher
from nimt.teachers.covariances import begin_covariance, recall_covariance

POINTS = np.random.default_rng(3).uniform(-2, 2, size=(14, 2))


def gram(kernel):
    return np.array([[float(kernel(a[np.newaxis], b[np.newaxis])[0, 0]) for b in POINTS] for a in POINTS])


def plain(K, f, target, eta, prior, noise, steps, k, asks, slope, steepness):
    """Follow f ~ (m, C) by full matrices: return what is shown, and the answers that were asked for."""
    n = len(K)
    q = target.shape[1]
    f, m, C = f.copy(), np.zeros_like(target), prior * K.copy()
    shown, heard = [], []
    for t in range(steps):
        scores = [sum((m[i] - target[i]) ** 2) + q * C[i, i] for i in range(n)]
        pack = sorted(sorted(range(n), key=lambda i: (-scores[i], i))[:k])
        A, toward, moved = np.eye(n), np.zeros_like(m), np.zeros_like(f)
        for i in pack:
            a = eta / k * steepness(m[i], target[i])
            A = A - a * np.outer(K[:, i], np.eye(n)[i])
            toward += eta / k * np.outer(K[:, i], slope(m[i], target[i]))
            moved += eta / k * np.outer(K[:, i], slope(f[i], target[i]))
        C = A @ C @ A.T
        m, f = m - toward, f - moved
        if asks(t) and t < steps - 1:
            for i in pack:
                gain = C[:, i] / (C[i, i] + noise**2)
                m = m + np.outer(gain, f[i] - m[i])
                C = C - np.outer(gain, C[i])
                heard.append((t + 1, i, *f[i]))
        shown.append(pack)
    return shown, heard


LOSSES = {
    "square": (lambda f, y: 2 * (f - y), lambda f, y: 2.0),
    "huber": (lambda f, y: 2 * np.clip(f - y, -1, 1), lambda f, y: 2 * float(np.mean(abs(f - y) < 1))),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize(("ask", "asks"), [("shown", lambda t: True), (every(3), lambda t: t % 3 == 0)])
def test_a_plain_loop_shows_the_same(loss, k, q, ask, asks):
    kernel = 2.0 * nimt.rbf(0.8) + nimt.linear(0.1)  # K(x, x) is not 1
    target = np.random.default_rng(0).normal(size=(14, q))
    start = 0.3 * np.cos(POINTS @ np.ones((2, q)))
    given = (lambda v: v[:, 0]) if q == 1 else (lambda v: v)
    learner = nimt.KernelLearner(kernel, learning_rate=0.03, loss=loss, initial=given(start))
    shown, heard = plain(gram(kernel), start, target, 0.03, 0.2, 0.01, 12, k, asks, *LOSSES[loss])
    rules = {"max_iterations": 12, "tol": None}
    with pytest.warns(nimt.errors.TeacherWarning, match="exact for the square") if loss != "square" else nothing():
        lesson = nimt.teach(learner, ExamTeacher(prior=0.2, noise=0.01, ask=ask, k=k), POINTS, given(target), **rules)
    assert lesson.indices.tolist() == shown
    found = np.column_stack([lesson.asked.steps, lesson.asked.indices, lesson.asked.answers])
    np.testing.assert_allclose(found, np.array(heard), rtol=1e-9)
    assert lesson.access == "black box"


def nothing():
    import contextlib

    return contextlib.nullcontext()


def test_never_asking_is_to_hear_nothing():
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
    lesson = nimt.teach(learner, ExamTeacher(ask="never"), POINTS, np.ones(14), max_iterations=9)
    assert len(lesson.asked) == 0


class Blindfold(nimt.Teacher):
    """Shows another teacher predictions that are wrong wherever it did not show the point last."""

    def select(self, view):
        seen = np.full(len(view), 1e6)
        if view.memory is not None:
            seen[view.memory["shown"]] = view.predictions[view.memory["shown"]]
        return ExamTeacher().select(nimt.teachers.View(**vars(view) | {"predictions": seen}))

    sees = ("kernel", "loss", "rate")


def test_it_reads_no_prediction_but_the_answers():
    learner = nimt.KernelLearner(nimt.rbf(0.8), learning_rate=0.1, initial=0.4)
    target = np.sin(POINTS[:, 0])
    lessons = [nimt.teach(learner, one, POINTS, target, max_iterations=30) for one in (ExamTeacher(), Blindfold())]
    assert lessons[0].indices.tolist() == lessons[1].indices.tolist()
    assert lessons[1].access == "white box"


def test_a_factor_is_the_whole_covariance():
    kernel, rng = nimt.rbf(0.9), np.random.default_rng(1)
    both = [begin_covariance(kernel, POINTS, 0.3, whole) for whole in (14, 0)]
    assert [type(one).__name__ for one in both] == ["WholeCovariance", "FactoredCovariance"]
    for t in range(40):
        shown = np.sort(rng.choice(14, size=1 + t % 3, replace=False))
        columns = kernel(POINTS, POINTS[shown])
        gains = []
        for number, one in enumerate(both):
            one.step(shown, np.full(len(shown), 0.1), columns)
            gains.append(one.hear(int(shown[0]), 0.05))
            both[number] = recall_covariance(kernel, POINTS, 0.3, one.state())
        np.testing.assert_allclose(gains[0], gains[1], rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(both[0].variance, both[1].variance, rtol=1e-7, atol=1e-10)


def test_a_sure_answer_can_be_heard_twice():
    covariance = begin_covariance(nimt.rbf(1.0), np.array([[0.0], [3.0]]), 0.5)
    assert covariance.hear(0, 0.0)[0] == 1
    assert covariance.hear(0, 0.0).tolist() == [0.0, 0.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "steps", "answers"),
    [({}, 3096, 3095), ({"ask": every(10)}, 3524, 353), ({"ask": "never"}, 7098, 0), ({"explore": False}, 5520, 5519)],
)
def test_the_mixture(options, steps, answers):
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01, initial=mixture_start)
    lesson = nimt.teach(
        learner, ExamTeacher(prior=0.05, **options), mixture_pool(), mixture, tol=1e-4, max_iterations=9000
    )
    assert (lesson.itd, len(lesson.asked)) == (steps, answers)  # the answer to the last example is not asked for


def test_answers_are_kept_in_files(tmp_path):
    learner = nimt.KernelLearner(nimt.rbf(0.8), learning_rate=0.1)
    target = np.sin(POINTS[:, 0])
    whole = nimt.teach(learner, ExamTeacher(), POINTS, target, max_iterations=12)
    path = tmp_path / "lesson.npz"
    nimt.teach(learner, ExamTeacher(), POINTS, target, max_iterations=5, checkpoint=path)
    resumed = nimt.resume(path, max_iterations=12)
    resumed.save(tmp_path / "again.npz")
    loaded = nimt.Lesson.load(tmp_path / "again.npz")
    for name in ("steps", "indices", "answers"):
        np.testing.assert_array_equal(getattr(loaded.asked, name), getattr(whole.asked, name))
    assert loaded.access == "black box"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ask": "sometimes"}, "'shown', 'never' or a schedule"), ({"prior": 0}, "prior"), ({"noise": -1}, "noise"),
        ({"k": 0}, "k must"), ({"explore": 2}, "True or False"), ({"learning_rate": abs}, "callable"),
        ({"labels": nimt.teachers.AlternativeLabels(np.sin)}, "leave labels= out"),
    ],
)  # fmt: skip
def test_bad_options(options, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        ExamTeacher(**options)


def test_k_is_named():
    with pytest.raises(TypeError):
        ExamTeacher(None, None, None, 0.1, "shown", 0.1, True, None, 2)
