"""What every kernel must be, what Wendland is beside that, and how kernels of scikit-learn become ours."""

import subprocess
import sys
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.gaussian_process import kernels as theirs
from sklearn.gaussian_process.kernels import CompoundKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge

import nimt
from kernels_under_test import KERNELS
from nimt.kernels import ConstantKernel, Kernel, Matern, Radial, as_kernel, reach
from nimt.kernels.expressions import kernel_expression
from nimt.kernels.sklearn_adapter import SklearnKernel
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
    lesson = nimt.teach(learner, nimt.GreedyTeacher(k=2), points, target, max_iterations=40, tol=None)
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
        nimt.KernelLearner(kernel, learning_rate=0.01), nimt.RandomTeacher(), points, target, max_iterations=3, tol=None
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
        nimt.teach(nimt.KernelLearner(kernel), nimt.GreedyTeacher(), points, target, max_iterations=0, tol=None)


@pytest.mark.parametrize(
    "make",
    [
        lambda: WhiteKernel(),
        lambda: nimt.rbf(1.0) + WhiteKernel(),
        lambda: 2.0 * (theirs.RBF(1.0) + WhiteKernel(0.1)) ** 2,
    ],
    ids=["alone", "in a sum", "deep inside"],
)
def test_a_white_kernel_is_refused(make):
    with pytest.raises(nimt.InvalidInput, match=r"WhiteKernel is not a function of two points.*leave .* out"):
        nimt.KernelLearner(make())


def test_a_compound_kernel_is_refused():
    with pytest.raises(nimt.InvalidInput, match="CompoundKernel is not a function of two points"):
        nimt.KernelLearner(CompoundKernel([theirs.RBF(1.0)]))


def test_an_anisotropic_kernel_of_the_wrong_dimension_is_refused_before_any_work():
    points, target, _ = scattered(dimension=1)
    with pytest.raises(nimt.InvalidInput, match="cannot be used on points of dimension 1"):
        nimt.teach(
            nimt.KernelLearner(KERNELS["anisotropic rbf"]),
            nimt.GreedyTeacher(),
            points,
            target,
            max_iterations=0,
            tol=None,
        )


# ---------------------------------------------------------------- a kernel is a value


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_kernel_is_a_value(kernel):
    again = type(kernel)(**kernel.get_params(deep=False))
    assert again == kernel and hash(again) == hash(kernel) and again is not kernel
    assert kernel_expression(kernel, dimension=2) == repr(kernel)
    assert kernel != 2.0 * kernel and 2.0 * kernel == 2.0 * again
    with pytest.raises(FrozenInstanceError):
        kernel.width = 3.0


def test_rbf_tells_its_width():
    assert nimt.rbf(0.3).width == 0.3
    assert repr(nimt.rbf(0.3)) == "rbf(width=0.3)"
    assert nimt.rbf([0.5, 2]).width == (0.5, 2.0)
    assert Matern(0.7).width == 0.7


def test_parameters_inside_a_kernel_can_be_changed_in_a_copy():
    kernel = 2.0 * nimt.rbf(0.5) + Matern(1.0)
    changed = kernel.with_params(left__right__width=0.7, right__nu=2.5)
    assert changed == 2.0 * nimt.rbf(0.7) + Matern(1.0, nu=2.5) and kernel.left.right.width == 0.5
    with pytest.raises(nimt.InvalidInput, match="has no parameter 'breadth'"):
        kernel.with_params(breadth=1.0)


def test_numbers_of_numpy_scale_a_kernel_and_a_list_of_kernels_can_be_summed():
    kernel = nimt.rbf(0.5)
    assert np.float64(2.0) * kernel == 2.0 * kernel == ConstantKernel(2.0) * kernel
    assert sum([kernel, kernel]) == kernel + kernel


@pytest.mark.parametrize("change", [lambda k: -1.0 * k, lambda k: k + np.nan, lambda k: k**0, lambda k: k * "2"])
def test_what_would_be_no_kernel_is_refused(change):
    with pytest.raises(nimt.InvalidInput):
        change(nimt.rbf(0.5))


@pytest.mark.parametrize("dimension", [1, 2, 3, 7])
@pytest.mark.parametrize("size", [9, 300])
def test_values_far_from_zero_are_those_near_zero(size, dimension):
    near = np.random.default_rng(0).integers(-64, 64, size=(size, dimension)) / 64
    for kernel in (nimt.rbf(0.7), Matern(0.3, nu=2.5), nimt.Wendland(0.9, dimension=7)):
        for others in (None, near[::2]):
            far = kernel(near + 2.0**40, None if others is None else others + 2.0**40)
            np.testing.assert_allclose(far, kernel(near, others), rtol=1e-13, atol=1e-15)


def test_points_as_far_apart_as_numbers_go_have_no_kernel_between_them():
    points = np.array([[-1e300, 1e300], [1e300, -1e300]])
    np.testing.assert_array_equal(nimt.rbf(0.5)(points), np.eye(2))
    np.testing.assert_array_equal(nimt.rbf(0.5)(points, [[0.0, 0.0]]), np.zeros((2, 1)))


# ---------------------------------------------------------------- kernels of scikit-learn


THEIRS = {
    "rbf": theirs.RBF(0.7),
    "directions": theirs.RBF([0.5, 2.0]),
    "matern": theirs.Matern(0.7, nu=2.5),
    "matern by bessel": theirs.Matern([0.7, 0.3], nu=0.8),
    "matern infinite": theirs.Matern(0.7, nu=np.inf),
    "rational quadratic": theirs.RationalQuadratic(0.7, alpha=0.6),
    "periodic": theirs.ExpSineSquared(0.7, periodicity=1.3),
    "dot product": theirs.DotProduct(0.7),
    "constant": theirs.ConstantKernel(0.7),
    "all together": (theirs.RBF(0.5) + 0.3 * theirs.Matern(1.0)) ** 2 * theirs.DotProduct(2.0) + 1.0,
    "cosine": theirs.PairwiseKernel(metric="cosine"),
}


@pytest.mark.parametrize("kernel", THEIRS.values(), ids=THEIRS)
def test_a_kernel_of_scikit_learn_keeps_its_values(kernel):
    one, other = np.random.default_rng(0).normal(size=(2, 200, 2))
    ours = as_kernel(kernel)
    for others in (None, other):
        np.testing.assert_allclose(ours(one, others), kernel(one, others), rtol=2e-14, atol=1e-15)
    np.testing.assert_allclose(ours.diag(one), kernel.diag(one), rtol=1e-14)
    assert ours.is_stationary() == kernel.is_stationary()
    assert as_kernel(clone(kernel)) == ours


def test_kernels_of_both_kinds_can_be_added_and_multiplied_in_any_order():
    ours, other = nimt.rbf(0.5), theirs.Matern(0.7)
    expected = nimt.rbf(0.5) + Matern(0.7)
    assert ours + other == expected
    assert as_kernel(other + ours) == Matern(0.7) + nimt.rbf(0.5)
    assert nimt.KernelLearner(theirs.ConstantKernel(2.0) * ours).kernel == 2.0 * ours
    assert repr(other + ours) == "Matern(length_scale=0.7, nu=1.5) + rbf(width=0.5)"
    points = np.linspace(0, 1, 5)[:, np.newaxis]
    np.testing.assert_array_equal((other * ours)(points), other(points) * ours(points))
    assert as_kernel(theirs.ConstantKernel(ours)) == ours  # as in a sum if ours was made before theirs was loaded


def test_an_estimator_of_scikit_learn_takes_our_kernel():
    points, target, _ = scattered(30)
    ours, expected = (
        KernelRidge(kernel=kernel).fit(points, target) for kernel in (nimt.rbf(1.0), theirs.RBF(0.5**0.5))
    )
    np.testing.assert_allclose(ours.predict(points), expected.predict(points), rtol=1e-12)


def test_kernels_made_before_scikit_learn_is_loaded_can_be_combined_with_its_own():
    code = """
import nimt
ours = nimt.rbf(0.5)
from sklearn.gaussian_process.kernels import Matern
print(nimt.KernelLearner(Matern(0.7) + ours).kernel, nimt.KernelLearner(ours + Matern(0.7)).kernel, sep=", ")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    matern, rbf = "Matern(length_scale=0.7, nu=1.5)", "rbf(width=0.5)"
    assert done.stdout.strip() == f"{matern} + {rbf}, {rbf} + {matern}"


class Cosine(theirs.StationaryKernelMixin, theirs.NormalizedKernelMixin, theirs.Kernel):
    """A kernel of scikit-learn's kind that is not scikit-learn's."""

    def __init__(self, period=1.0):
        self.period = period

    def __call__(self, X, Y=None, eval_gradient=False):
        return np.cos(2 * np.pi * (X - (X if Y is None else Y).T) / self.period)


class Narrow(theirs.RBF):
    pass


def test_a_kernel_class_of_the_user_built_on_scikit_learn_is_taken_and_stored(tmp_path):
    learner = nimt.KernelLearner(0.5 * nimt.rbf(0.5) + Cosine(2.0), learning_rate=0.1)
    assert isinstance(learner.kernel.right, SklearnKernel) and "Cosine()" in repr(learner.kernel)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), np.linspace(-1, 1, 40), np.sin, max_iterations=20, tol=None)
    lesson.save(tmp_path / "lesson")
    kept = nimt.Lesson.load(tmp_path / "lesson", allow=[Cosine]).learner
    assert kept.kernel == learner.kernel
    np.testing.assert_array_equal(kept.predict([[0.3]]), lesson.learner.predict([[0.3]]))


def test_a_subclass_of_scikit_learn_that_changes_no_value_keeps_its_reach():
    assert reach(as_kernel(Narrow(0.5))) == pytest.approx(reach(as_kernel(theirs.RBF(0.5))))
    assert reach(as_kernel(Cosine())) == np.inf


def test_what_is_no_kernel_is_refused_with_a_way_out():
    with pytest.raises(nimt.InvalidInput, match=r"nimt\.rbf\(width=0\.5\).*got 'rbf'"):
        nimt.KernelLearner("rbf")


# ---------------------------------------------------------------- kernels of the user


@dataclass(frozen=True)
class Askey(Radial):
    width: float = 1.0

    def at_distance(self, distance):
        return np.maximum(0.0, 1.0 - distance / self.width) ** 3

    def reach(self, cut):
        return self.width


class Brownian(Kernel):
    """Not a dataclass, and without `diag`."""

    def __init__(self, height=1.0):
        self.height = height

    def __call__(self, X, Y=None):
        return self.height * np.minimum(X, (X if Y is None else Y).T)


@pytest.mark.parametrize("kernel", [Askey(0.4), 2.0 * Askey(0.4), Brownian(2.0), Brownian() + Askey()], ids=repr)
def test_a_kernel_of_the_user_is_one_class(kernel, tmp_path):
    points = np.sort(np.random.default_rng(0).uniform(0.1, 3, size=(60, 1)), axis=0)
    learner = nimt.KernelLearner(kernel, learning_rate=0.05)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, np.sin, max_iterations=30, tol=None)
    plain = nimt.teach(learner, nimt.GreedyTeacher(), points, np.sin, max_iterations=30, tol=None, engine="reference")
    np.testing.assert_allclose(lesson.final, plain.final, rtol=1e-12)
    lesson.save(tmp_path / "lesson")
    kept = nimt.Lesson.load(tmp_path / "lesson", allow=[Askey, Brownian]).learner
    assert kept.kernel == kernel and kept.inner(lesson.learner) > 0
    np.testing.assert_array_equal(kept.predict(points), lesson.learner.predict(points))
    assert nimt.Lesson.load(tmp_path / "lesson").learner is None


def test_a_reach_of_the_user_chooses_the_engine():
    points = np.random.default_rng(0).uniform(0, 100, size=(500, 1))
    lesson = nimt.KernelLearner(Askey(0.4)), nimt.GreedyTeacher(), points, np.sin
    assert nimt.plan(*lesson).engine == "neighbours"


@pytest.mark.parametrize("told", [-1.0, 0.0, None, "far"])
def test_a_reach_that_is_no_distance_is_refused(told):
    class Wrong(Askey):
        def reach(self, cut):
            return told

    with pytest.raises(nimt.InvalidInput, match=r"reach\(\) returned .*: it must be a positive distance, or inf"):
        nimt.teach(nimt.KernelLearner(Wrong()), nimt.GreedyTeacher(), [0.0, 1.0], np.sin, max_iterations=1, tol=None)


def test_a_kernel_of_the_user_needs_no_constructor():
    class Laplace(nimt.kernels.Kernel):
        def __call__(self, X, Y=None):
            return np.exp(-np.abs(X[:, None, 0] - (X if Y is None else Y)[None, :, 0]))

    assert Laplace().get_params() == {} and repr(Laplace()) == "Laplace()"
    x = np.linspace(0, 1, 9)
    lesson = nimt.teach(nimt.KernelLearner(Laplace(), learning_rate=0.1), nimt.GreedyTeacher(), x, np.sin)
    assert lesson.discrepancy[-1] < lesson.discrepancy[0]
