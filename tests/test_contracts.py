"""Our own classes keep the contracts that nimt.testing offers to extenders."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, RationalQuadratic

import nimt
from nimt import testing
from nimt.losses import LOSSES
from nimt.measures import MEASURES
from nimt.operators.dense import DenseOperator
from nimt.operators.grid import GridOperator
from nimt.operators.neighbours import NeighbourOperator
from nimt.operators.random_features import FeatureOperator
from nimt.operators.streamed_columns import StreamedOperator
from nimt.teachers.spelling import list_spellings, parse_teacher

pytestmark = pytest.mark.long

KERNELS = [
    nimt.rbf(0.5), nimt.linear(1.0), nimt.Wendland(1.5, dimension=2), Matern(1.0, nu=1.5), RationalQuadratic(),
    2.0 * RBF([0.5, 1.5]) + Matern(0.7, nu=0.5), RBF(0.5) ** 2, ConstantKernel(0.5) * RBF(1.0),
    nimt.operators.RandomFeatureKernel(0.7, components=30), nimt.operators.NystroemKernel(nimt.rbf(0.8), np.eye(2)),
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels(kernel):
    testing.check_kernel(kernel)


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    testing.check_loss(name)


# a class of learners is checked by the tests of classrooms, since its teacher teaches no other learner
FOR_ANY_LEARNER = [name for name in list_spellings() if parse_teacher(name).only_learner is None]


@pytest.mark.parametrize("name", FOR_ANY_LEARNER)
def test_teachers(name):
    testing.check_teacher(parse_teacher(name, k=1.0 if name == "whole" else 2))


@pytest.mark.parametrize("name", FOR_ANY_LEARNER)
def test_teachers_of_each_output(name):
    testing.check_teacher(parse_teacher(f"{name}-per-output", k=1.0 if name == "whole" else 2))


WITHOUT_A_WORD = [
    nimt.teachers.INTTeacher(k=2, look=nimt.schedules.every(3)),  # by default the length of the lesson decides
    nimt.teachers.MixedTeacher([(nimt.GreedyTeacher(), 0.5), (nimt.RandomTeacher(), 0.5)], k=2),
    nimt.teachers.Observed(nimt.GreedyTeacher(k=2), noise=0.01, delay=2),
    nimt.teachers.SequenceTeacher([0, 3, 1]),
    nimt.RandomTeacher(order="epoch"),
    nimt.GreedyTeacher(score="decrease"),
]
FOR_SOME_LEARNERS = {"ClassroomTeacher", "Communicating", "PerOutput"}


@pytest.mark.parametrize("teacher", WITHOUT_A_WORD, ids=lambda teacher: teacher.name)
def test_teachers_without_a_word(teacher):
    testing.check_teacher(teacher)


def test_no_teacher_is_left_out():
    named = {kind.__name__ for kind, _ in list_spellings().values()}
    tried = named | {type(teacher).__name__ for teacher in WITHOUT_A_WORD} | FOR_SOME_LEARNERS
    every = {name for name in dir(nimt.teachers) if isinstance(getattr(nimt.teachers, name), type)}
    kinds = {name for name in every if issubclass(getattr(nimt.teachers, name), nimt.Teacher)} - {"Teacher"}
    assert kinds == tried


@pytest.mark.parametrize(
    "learner",
    [
        nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.2),
        nimt.KernelLearner(nimt.rbf(0.7), loss="huber", learning_rate=0.2, initial=1.0),
        nimt.LinearLearner([0.1, 0.2, 0.3], learning_rate=0.05),
        nimt.learners.OrthogonalLearner(nimt.rbf(0.7), regularisation=0.1),
    ],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize("outputs", [1, 3])
def test_learners(learner, outputs):
    if outputs == 3 and isinstance(learner, nimt.LinearLearner):
        pytest.skip("a LinearLearner has one output")
    rng = np.random.default_rng(1)
    points = rng.uniform(-2, 2, size=(20, 2))
    target = np.sin(points @ rng.normal(size=(2, outputs)))
    testing.check_learner(learner, points, target[:, 0] if outputs == 1 else target)


@pytest.mark.parametrize("name", ["paper", "rms", "rkhs", "accuracy"])
def test_measures(name):
    assert name in MEASURES
    testing.check_measure(name)


@pytest.mark.parametrize("kind", [DenseOperator, GridOperator, NeighbourOperator, StreamedOperator])
def test_operators(kind):
    pool = nimt.Grid(np.linspace(0, 1, 6), np.linspace(0, 2, 5))
    testing.check_operator(kind(nimt.rbf(0.4), pool), nimt.rbf(0.4), pool)


def test_the_feature_operator():
    pool = nimt.Grid(np.linspace(0, 1, 12))
    kernel = nimt.operators.RandomFeatureKernel(0.5, components=40)
    testing.check_operator(FeatureOperator(kernel, pool), kernel, pool)


class Lopsided(RBF):
    def __call__(self, X, Y=None, eval_gradient=False):
        values = super().__call__(X, Y)
        return values * np.linspace(1.0, 2.0, values.shape[1])


class Steeper(nimt.losses.Square):
    def slope(self, f, y):
        return 3.0 * (f - y)


class Secretive(nimt.Teacher):
    at_random = False

    def select(self, view):
        return view.show(view.rng.integers(len(view), size=1))


class Forgetful(nimt.KernelLearner):
    def restore(self, state):
        pass


class Deaf(nimt.measures.Measure):
    name = "deaf"

    def of(self, pupil, target):
        return np.nan


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (lambda: testing.check_kernel(Lopsided()), "is not symmetric"),
        (lambda: testing.check_loss(Steeper()), "has the slope .* but its value changes at the rate"),
        (lambda: testing.check_teacher(Secretive()), "declares that it does not draw, but drew"),
        (lambda: testing.check_measure(Deaf()), "not finite"),
    ],
)
def test_the_contracts_can_fail(check, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check()
