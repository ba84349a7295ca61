"""The compiled engine of a `LinearLearner`, against gradient descent on its weights by a plain loop."""

import numpy as np
import pytest

import nimt

pytestmark = pytest.mark.long

rng = np.random.default_rng(8)
X = rng.normal(size=(50, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.3


@pytest.mark.parametrize("loss", ["square", "logistic"])
@pytest.mark.parametrize(
    "teacher", [nimt.GreedyTeacher(), nimt.GreedyTeacher(k=4, pool=0.5), nimt.RandomTeacher(k=2)], ids=lambda t: t.name
)
def test_the_lesson_is_gradient_descent_on_the_weights(teacher, loss, tmp_path):
    y = Y if loss == "square" else np.sign(Y)
    learner = nimt.LinearLearner([0.1, 0.2, -0.3, 0.4], learning_rate=lambda step: 0.04 / (1 + step / 50), loss=loss)
    rules = {"max_iterations": 80, "tol": None}
    lesson = nimt.teach(learner, teacher, X, y, **rules)
    plain = nimt.teach(learner, teacher, X, y, engine="reference", **rules)
    assert lesson.engine == "linear"
    np.testing.assert_array_equal(np.sort(lesson.indices), np.sort(plain.indices))
    features, w = np.column_stack([X, np.ones(50)]), np.array([0.1, 0.2, -0.3, 0.4])
    for t in range(80):
        shown = lesson.indices[t]
        f, label = features[shown] @ w, y[shown]
        slopes = 2 * (f - label) if loss == "square" else -label / (1 + np.exp(label * f))
        w = w - 0.04 / (1 + t / 50) / len(shown) * sum(s * row for s, row in zip(slopes, features[shown], strict=True))
    np.testing.assert_allclose(lesson.taught.weights_, w, rtol=1e-11)
    np.testing.assert_allclose(lesson.discrepancy, plain.discrepancy, rtol=1e-10)
    assert lesson.taught.steps_ == 80


def test_it_goes_on_bit_by_bit(tmp_path):
    learner = nimt.LinearLearner([0.1, 0.2, -0.3, 0.4], learning_rate=0.04)
    nimt.teach(learner, nimt.GreedyTeacher(), X, Y, max_iterations=30, tol=None, checkpoint=tmp_path / "half")
    resumed = nimt.resume(tmp_path / "half", max_iterations=80)
    whole = nimt.teach(learner, nimt.GreedyTeacher(), X, Y, max_iterations=80, tol=None)
    np.testing.assert_array_equal(resumed.indices, whole.indices)
    np.testing.assert_array_equal(resumed.taught.weights_, whole.taught.weights_)


def test_other_engines_say_that_it_is_no_kernel_learner():
    learner = nimt.LinearLearner([0.0, 0.0, 0.0, 0.0])
    with pytest.raises(nimt.InvalidInput, match="because this is a LinearLearner"):
        nimt.teach(learner, nimt.GreedyTeacher(), X, Y, engine="streamed")
    with pytest.raises(nimt.InvalidInput, match="because this is a KernelLearner"):
        nimt.teach(nimt.KernelLearner(nimt.rbf(1.0)), nimt.GreedyTeacher(), X, Y, engine="linear")
