"""The rate of a greedy lesson in the end, against a plain loop."""

import numpy as np
import pytest

import nimt
from nimt.theory import late_rate


def plain_rate(points, target, kernel, rate, steps):
    """Return the steps per factor e of the largest error over the last half, in a plain loop."""
    gram, errors, sizes = kernel(points, points), -np.array(target), []
    for _ in range(steps):
        sizes.append(np.abs(errors).max())
        i = int(np.argmax(np.abs(errors)))
        errors = errors - 2 * rate * errors[i] * gram[:, i]
    half = steps // 2
    return half / np.log(sizes[steps - 1 - half] / sizes[-1])


@pytest.mark.parametrize("signs", [[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0]], ids=["one sign", "two signs"])
@pytest.mark.parametrize("height", [1.0, 2.0])
def test_steps_per_factor_e_are_a_magnitude(signs, height):
    points, kernel, rate = np.array([[0.0], [0.6], [1.4], [2.0]]), height * nimt.rbf(0.7), 0.005
    learner = nimt.KernelLearner(kernel, learning_rate=rate)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, signs, tol=None, max_iterations=4000, engine="reference")
    found = late_rate(lesson, 2000)
    sigma = np.sign(lesson.learner.predict(points[found.points]) - np.array(signs)[found.points])
    gram = kernel(points[found.points], points[found.points])
    assert found.magnitude == pytest.approx(sigma @ np.linalg.inv(gram) @ sigma)
    assert found.measured == pytest.approx(plain_rate(points, signs, kernel, rate, 4000), rel=0.02)
    assert found.predicted == pytest.approx(found.measured, rel=0.02)


def test_a_lesson_that_does_not_alternate_yet_is_refused():
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
    x = np.linspace(-2, 2, 30)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), x, np.sin, tol=None, max_iterations=20, engine="reference")
    with pytest.raises(nimt.InvalidInput, match="it does not alternate between a few points yet"):
        late_rate(lesson)
    with pytest.raises(nimt.InvalidInput, match="steps must be from 1 to 20"):
        late_rate(lesson, 21)


@pytest.mark.parametrize("height", [1.0, 2.0])
def test_a_forecast_knows_the_rate_in_the_end(height):
    points, kernel, signs = np.array([[0.0], [0.6], [1.4], [2.0]]), height * nimt.rbf(0.7), np.ones(4)
    rate = 0.005
    learner = nimt.KernelLearner(kernel, learning_rate=rate)
    found = nimt.forecast(learner, nimt.GreedyTeacher(), points, signs, tol=1e-6).late_rate
    assert found.predicted == pytest.approx(plain_rate(points, signs, kernel, rate, 4000), rel=0.02)
    smaller = [nimt.forecast(learner, nimt.GreedyTeacher(), points, signs, tol=tol).itd for tol in (1e-6, 1e-6 / np.e)]
    assert smaller[1] - smaller[0] == pytest.approx(found.predicted, rel=0.1)
    assert nimt.forecast(learner, nimt.RandomTeacher(), points, signs, tol=1e-3).late_rate is None
