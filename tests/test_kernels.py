"""What every kernel must be, and what Wendland is beside that."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import CompoundKernel, ConstantKernel, WhiteKernel

import nimt
from kernels_under_test import KERNELS
from problems import scattered

points_in_the_plane = arrays(float, st.tuples(st.integers(1, 9), st.just(2)), elements=st.floats(-3, 3, width=32))


@pytest.mark.long
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@given(points=points_in_the_plane)
def test_the_gram_matrix_is_symmetric_and_positive_semidefinite(kernel, points):
    gram = kernel(points)
    np.testing.assert_allclose(gram, gram.T, rtol=1e-12, atol=1e-14)
    assert np.linalg.eigvalsh(gram).min() >= -1e-10 * max(1.0, np.abs(gram).max() * len(points))
    np.testing.assert_allclose(np.diag(gram), kernel.diag(points), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_lesson_runs_over_any_kernel(kernel):
    points, target, initial = scattered()
    learner = nimt.KernelLearner(kernel, learning_rate="auto", initial=initial)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(k=2), points, target, max_iterations=40)
    taught = lesson.learner
    assert lesson.discrepancy[-1] < lesson.discrepancy[0]
    by_hand = initial + kernel(points, taught.centers_) @ taught.coefficients_
    np.testing.assert_allclose(lesson.final, by_hand, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(taught.predict(points), by_hand, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_kernel_survives_cloning_and_storing(kernel, tmp_path):
    assert clone(kernel) == kernel
    points, target, _ = scattered()
    lesson = nimt.teach(
        nimt.KernelLearner(kernel, learning_rate=0.01), nimt.RandomTeacher(), points, target, max_iterations=3
    )
    lesson.save(tmp_path / "lesson")
    kept = nimt.Lesson.load(tmp_path / "lesson").learner
    np.testing.assert_array_equal(kept.predict(points), lesson.learner.predict(points))


def test_rbf_is_the_papers_form():
    assert nimt.rbf(0.5)([[0.0, 0.0]], [[0.3, 0.4]])[0, 0] == pytest.approx(np.exp(-1), rel=1e-15)


def test_linear_is_the_dot_product_plus_c():
    assert nimt.linear(2.5)([[1.0, 2.0]], [[3.0, -1.0]])[0, 0] == pytest.approx(3.5, rel=1e-15)


def wendland_as_in_the_book(r, dimension, smoothness):
    ell = dimension // 2 + smoothness + 1
    if r >= 1:
        return 0.0
    if smoothness == 0:
        return (1 - r) ** ell
    if smoothness == 1:
        return (1 - r) ** (ell + 1) * ((ell + 1) * r + 1)
    return (1 - r) ** (ell + 2) * ((ell**2 + 4 * ell + 3) * r**2 + (3 * ell + 6) * r + 3) / 3


@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
@pytest.mark.parametrize("smoothness", [0, 1, 2])
def test_wendland_is_the_formula(dimension, smoothness):
    kernel = nimt.Wendland(2.0, dimension=dimension, smoothness=smoothness)
    for distance in (0.0, 0.1, 0.9, 1.99, 2.0, 2.5):
        expected = wendland_as_in_the_book(distance / 2, dimension, smoothness)
        assert kernel([[0.0]], [[distance]])[0, 0] == pytest.approx(expected, rel=1e-13, abs=1e-15)
    assert kernel([[0.0]], [[2.0]])[0, 0] == 0.0


@pytest.mark.parametrize("smoothness", [0, 1, 2])
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_wendland_is_positive_definite_on_a_lattice_of_its_dimension(dimension, smoothness):
    axes = [np.linspace(0, 1, {1: 60, 2: 9, 3: 5}[dimension])] * dimension
    gram = nimt.Wendland(0.8, dimension=dimension, smoothness=smoothness)(nimt.Grid(*axes).points)
    assert np.linalg.eigvalsh(gram).min() > 0


@pytest.mark.parametrize("kernel", [nimt.Wendland(1.0, dimension=1), nimt.Wendland(1.0, dimension=1) + nimt.rbf(1.0)])
def test_wendland_refuses_a_higher_dimension_before_any_work(kernel):
    points, target, _ = scattered(dimension=2)
    with pytest.raises(nimt.InvalidInput, match="dimension 2; make it with dimension=2"):
        nimt.teach(nimt.KernelLearner(kernel), nimt.GreedyTeacher(), points, target, max_iterations=0)


@pytest.mark.parametrize("smoothness", [0, 1, 2])
def test_wendland_has_the_gradient_scikit_learn_asks_for(smoothness):
    points, _, _ = scattered(8)
    kernel = nimt.Wendland(1.3, dimension=2, smoothness=smoothness)
    _, gradient = kernel(points, eval_gradient=True)
    h = 1e-6
    up, down = (nimt.Wendland(1.3 * np.exp(s * h), dimension=2, smoothness=smoothness)(points) for s in (1, -1))
    np.testing.assert_allclose(gradient[:, :, 0], (up - down) / (2 * h), atol=1e-8)
    fixed = nimt.Wendland(1.3, dimension=2, width_bounds="fixed")
    assert fixed(points, eval_gradient=True)[1].shape == (8, 8, 0)


def test_wendland_can_be_fitted_by_scikit_learn():
    points, target, _ = scattered(20)
    kernel = ConstantKernel(1.0) * nimt.Wendland(1.0, dimension=2)
    fitted = GaussianProcessRegressor(kernel, alpha=1e-2, random_state=0).fit(points, target)
    assert fitted.log_marginal_likelihood_value_ >= fitted.log_marginal_likelihood(kernel.theta)


@pytest.mark.parametrize(
    "kernel",
    [WhiteKernel(), nimt.rbf(1.0) + WhiteKernel(), 2.0 * (nimt.rbf(1.0) + WhiteKernel(0.1)) ** 2],
    ids=["alone", "in a sum", "deep inside"],
)
def test_a_white_kernel_is_refused(kernel):
    with pytest.raises(nimt.InvalidInput, match=r"WhiteKernel is not a function of two points.*leave it out"):
        nimt.KernelLearner(kernel)


def test_a_compound_kernel_is_refused():
    with pytest.raises(nimt.InvalidInput, match="CompoundKernel is not a function of two points"):
        nimt.KernelLearner(CompoundKernel([nimt.rbf(1.0)]))


def test_an_anisotropic_kernel_of_the_wrong_dimension_is_refused_before_any_work():
    points, target, _ = scattered(dimension=1)
    with pytest.raises(nimt.InvalidInput, match="cannot be used on points of dimension 1"):
        nimt.teach(
            nimt.KernelLearner(KERNELS["anisotropic rbf"]), nimt.GreedyTeacher(), points, target, max_iterations=0
        )
