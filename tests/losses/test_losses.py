"""What every loss must be."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nimt
import oracles
from nimt.losses import LOSSES, as_loss
from problems import scattered

reals = st.floats(-50, 50)
names = pytest.mark.parametrize("name", [name for name in LOSSES if name != "crossentropy"])  # it couples outputs


def label(name, y):
    return (1.0 if y >= 0 else -1.0) if name == "logistic" else y


@names
@given(f=reals, y=reals)
def test_values_and_slopes_are_the_formulas(name, f, y):
    y = label(name, y)
    loss = as_loss(name)
    np.testing.assert_allclose(loss.value(np.array(f), np.array(y)), oracles.value_of(name, f, y), rtol=1e-11)
    np.testing.assert_allclose(loss.slope(np.array(f), np.array(y)), oracles.SLOPES[name](f, y), rtol=1e-11)


@names
@given(f=reals, y=reals)
def test_what_is_compiled_of_a_loss_is_its_value_and_its_slope(name, f, y):
    y = label(name, y)
    loss = as_loss(name)
    number, parameter = loss.compiled_twin()
    assert list(LOSSES)[number] == name
    np.testing.assert_allclose(loss.value_at(f, y, (parameter, 0.0)), loss.value(np.array(f), np.array(y)), rtol=1e-14)
    np.testing.assert_allclose(loss.slope_at(f, y, (parameter, 0.0)), loss.slope(np.array(f), np.array(y)), rtol=1e-14)


@given(f=reals, y=st.floats(-3, 3))
def test_logistic_labels_that_a_teacher_made_mean_the_same_in_compiled_code(f, y):
    loss, share = as_loss("logistic"), (1.0 + y) / 2.0
    value = share * oracles.value_of("logistic", f, 1.0) + (1.0 - share) * oracles.value_of("logistic", f, -1.0)
    slope = share * oracles.SLOPES["logistic"](f, 1.0) + (1.0 - share) * oracles.SLOPES["logistic"](f, -1.0)
    for of_loss in (loss.value(np.array(f), np.array(y)), loss.value_at(f, y, (0.0, 0.0))):
        np.testing.assert_allclose(of_loss, value, rtol=1e-11, atol=1e-13)
    for of_loss in (loss.slope(np.array(f), np.array(y)), loss.slope_at(f, y, (0.0, 0.0))):
        np.testing.assert_allclose(of_loss, slope, rtol=1e-11, atol=1e-13)


@given(f=st.lists(reals, min_size=3, max_size=3), y=st.sampled_from(np.eye(3).tolist()))
def test_what_is_compiled_of_a_loss_that_couples_outputs_is_its_value_and_its_slope(f, y):
    loss, f, y = as_loss("crossentropy"), np.array(f), np.array(y)
    own = loss.shared_at(f, np.uint64(0), (0, 0, 0))
    for compiled, on_arrays in ((loss.value_at, loss.value), (loss.slope_at, loss.slope)):
        np.testing.assert_allclose(
            [compiled(*pair, own) for pair in zip(f, y, strict=True)], on_arrays(f, y), atol=1e-13
        )


def test_a_loss_that_changes_its_value_runs_in_the_reference_loop():
    @dataclass(frozen=True)
    class Doubled(nimt.losses.Square):
        def value(self, f, y):
            return 2.0 * super().value(f, y)

    assert Doubled().compiled_twin() is None
    assert nimt.losses.Huber(0.5).compiled_twin() == (list(LOSSES).index("huber"), 0.5)


@names
@given(f=reals, g=reals, y=reals)
def test_losses_are_convex_with_the_smoothness_they_claim(name, f, g, y):
    y = label(name, y)
    loss = as_loss(name)
    at_f, at_g = loss.slope(np.array(f), np.array(y)), loss.slope(np.array(g), np.array(y))
    assert (at_f - at_g) * (f - g) >= -1e-12
    assert loss.value(np.array(g), np.array(y)) >= loss.value(np.array(f), np.array(y)) + at_f * (g - f) - 1e-9
    if np.isfinite(loss.smoothness):
        assert abs(at_f - at_g) <= loss.smoothness * abs(f - g) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize(
    ("name", "smoothness"),
    [
        ("square", 2.0),
        ("huber", 2.0),
        ("logistic", 0.25),
        ("hinge", np.inf),
        ("perceptron", np.inf),
        ("absolute", np.inf),
    ],
)
def test_smoothness(name, smoothness):
    assert as_loss(name).smoothness == smoothness


@names
def test_losses_work_elementwise_on_read_only_arrays(name):
    _, f, y = scattered()
    y = np.sign(y)
    y.flags.writeable = False
    loss = as_loss(name)
    for method in (loss.value, loss.slope):
        together = method(f, y)
        assert together.shape == f.shape
        for i in range(len(f)):
            np.testing.assert_allclose(together[i], method(f[i : i + 1], y[i : i + 1])[0], rtol=1e-14)


@names
def test_extreme_predictions_neither_warn_nor_overflow(name):
    f, y = np.array([-1e4, -800.0, 0.0, 800.0, 1e4]), np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    loss = as_loss(name)
    assert np.isfinite(loss.value(f, y)).all()
    assert np.isfinite(loss.slope(f, y)).all()


def test_huber_is_square_within_any_delta_and_linear_beyond():
    loss = nimt.losses.Huber(delta=0.5)
    assert loss.value(np.array(1.3), np.array(1.0)) == pytest.approx(0.09)
    assert loss.value(np.array(3.0), np.array(1.0)) == pytest.approx(0.5 * (4 - 0.5))
    assert loss.slope(np.array(3.0), np.array(1.0)) == 1.0


@pytest.mark.parametrize(
    ("name", "f", "y", "slope"),
    [
        ("hinge", 0.5, 2.0, 0.0),
        ("perceptron", 0.0, -1.0, 1.0),
        ("absolute", 1.5, 1.5, 0.0),
        ("huber", 2.0, 1.0, 2.0),
        ("huber", 0.0, 1.0, -2.0),
    ],
)
def test_slopes_at_the_kinks(name, f, y, slope):
    assert as_loss(name).slope(np.array(f), np.array(y)) == slope


@dataclass(frozen=True)
class Quartic:
    smoothness: float = np.inf

    def value(self, f, y):
        return (f - y) ** 4

    def slope(self, f, y):
        return 4 * (f - y) ** 3


def test_a_loss_of_your_own():
    points, target, _ = scattered()
    learner = nimt.KernelLearner(nimt.rbf(0.7), loss=Quartic(), learning_rate=0.01)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, target, max_iterations=1, tol=None)
    i = lesson.indices[0, 0]
    assert lesson.final[i] == pytest.approx(0.01 * 4 * target[i] ** 3, rel=1e-12)


def test_a_loss_without_a_repr_is_called_by_its_class():
    class Pinball:
        smoothness = np.inf

        def value(self, f, y):
            return np.abs(f - y)

        def slope(self, f, y):
            return np.sign(f - y)

    learner = nimt.KernelLearner(nimt.rbf(1.0), loss=Pinball())
    with pytest.raises(nimt.InvalidInput, match="the loss is Pinball"):
        nimt.forecast(learner, nimt.GreedyTeacher(), [0.0, 1.0], [1.0, 2.0])
    with pytest.raises(nimt.InvalidInput, match=r"got Pinball$"):
        nimt.teach(nimt.KernelLearner(nimt.rbf(1.0)), Pinball(), [0.0, 1.0], [1.0, 2.0], max_iterations=1, tol=None)
