"""A loss written as one function runs in the compiled engines, and is the loss that it was written as."""

import copy
import pickle

import numpy as np
import pytest
from test_engines import POOLS, SIZES, TARGETS, assert_same_lesson, engines_for, teach

import nimt
from nimt import testing
from nimt.plain_numba import PLAIN_NUMBA

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(PLAIN_NUMBA, reason="plain numba calls no function by its address"),
]


@nimt.compiled(smoothness=1.0, lipschitz=1.0, convex=True)
def log_cosh(f, y):
    error = abs(f - y)
    return error + np.log1p(np.exp(-2.0 * error)) - np.log(2.0), np.tanh(f - y)


class LogCosh:
    """The same loss, written for arrays."""

    smoothness, lipschitz, convex = 1.0, 1.0, True

    def value(self, f, y):
        return np.logaddexp(f - y, y - f) - np.log(2.0)

    def slope(self, f, y):
        return np.tanh(f - y)


@nimt.compiled
def squared(f, y):
    return (f - y) ** 2, 2.0 * (f - y)


TEACHERS = {
    "GFT-1": lambda loss: nimt.GreedyTeacher(),
    "largest loss": lambda loss: nimt.GreedyTeacher(score="loss", loss=loss),
    "largest losses": lambda loss: nimt.GreedyTeacher(k=3, score="loss", loss=loss),
    "gradient": lambda loss: nimt.GreedyTeacher(score="gradient", loss=loss, kernel=nimt.rbf(0.7)),
    "large packs": lambda loss: nimt.GreedyTeacher(k=0.4),
    "random": lambda loss: nimt.RandomTeacher(k=2),
    "made labels": lambda loss: nimt.SynthesisTeacher(),
}


@pytest.mark.parametrize("teacher", list(TEACHERS))
@pytest.mark.parametrize("name", ["2-D", "scattered"])
@pytest.mark.filterwarnings("ignore::nimt.errors.ResponseWarning")
@pytest.mark.sampled(3)
def test_its_lessons_are_those_of_the_class(name, teacher):
    start = np.random.default_rng(8).normal(size=SIZES[name])
    options = {"rate": 0.3, "initial": start, "steps": 80}
    expected = teach(POOLS[name], TARGETS[name], TEACHERS[teacher](LogCosh()), "reference", loss=LogCosh(), **options)
    for engine in ["reference", *engines_for(POOLS[name])]:
        lesson = teach(POOLS[name], TARGETS[name], TEACHERS[teacher](log_cosh), engine, loss=log_cosh, **options)
        assert lesson.engine == engine
        np.testing.assert_array_equal(lesson.indices, expected.indices)
        np.testing.assert_allclose(lesson.discrepancy, expected.discrepancy, rtol=1e-9)
        np.testing.assert_allclose(lesson.labels, expected.labels, rtol=1e-7, atol=1e-10)


def test_the_square_loss_written_again_is_the_square_loss_to_the_last_bit():
    y = np.random.default_rng(1).normal(size=(SIZES["2-D"], 3))
    one, other = (teach(POOLS["2-D"], y, nimt.GreedyTeacher(), "grid", loss=loss) for loss in ("square", squared))
    assert_same_lesson(one, other)
    np.testing.assert_array_equal(one.final, other.final)


def test_it_keeps_the_contract_of_a_loss():
    testing.check_loss(log_cosh, labels=[-1.0, 0.3, 2.0])
    testing.check_loss(squared)
    with pytest.raises(AssertionError, match=r"declares the smoothness 0\.5"):
        testing.check_loss(nimt.compiled(smoothness=0.5)(squared.function))


def test_it_is_saved_and_resumed_by_its_name(tmp_path):
    options = {"loss": log_cosh, "rate": 0.3, "steps": 400}
    whole = teach(POOLS["2-D"], TARGETS["2-D"], nimt.GreedyTeacher(), "auto", **options)
    whole.save(tmp_path / "lesson.npz")
    assert nimt.Lesson.load(tmp_path / "lesson.npz").learner is None
    kept = nimt.Lesson.load(tmp_path / "lesson.npz", allow=[log_cosh])
    assert kept.learner.loss is log_cosh
    teach(POOLS["2-D"], TARGETS["2-D"], nimt.GreedyTeacher(), "auto", checkpoint=tmp_path / "stopped.npz",
          callback=lambda progress: True, **options)  # fmt: skip
    lesson = nimt.resume(tmp_path / "stopped.npz", allow=[log_cosh])
    assert lesson.engine == "grid"
    np.testing.assert_array_equal(lesson.discrepancy, whole.discrepancy)


def test_copies_and_other_processes_have_the_same_loss():
    assert copy.deepcopy(log_cosh) is log_cosh
    assert pickle.loads(pickle.dumps(log_cosh)) is log_cosh
    assert repr(log_cosh) == "log_cosh"


def three(f, y):
    return f, y, f


def unknown_to_numba(f, y):
    return sorted({f: y}, key=str)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nimt.compiled(unknown_to_numba), "unknown_to_numba cannot be compiled: it must take two numbers"),
        (lambda: nimt.compiled(lambda f: f), "cannot be compiled: it must take two numbers"),
        (lambda: nimt.compiled(lambda f, y: f - y), "cannot be compiled: it must take two numbers"),
        (lambda: nimt.compiled(3), "takes a function of a prediction and a label, got 3"),
        (lambda: nimt.compiled(smoothness=-1.0)(three), "smoothness must be a positive number"),
        (lambda: nimt.compiled(lipschitz="one")(three), "lipschitz must be a positive number"),
        (lambda: nimt.compiled(convex="yes")(three), "convex must be True or False"),
        (lambda: nimt.compiled(three), "must return a pair, the value and the slope; it returns 3 numbers"),
    ],
)
def test_what_it_refuses(make, message):
    with pytest.raises(nimt.InvalidInput, match=message):
        make()


def test_a_loss_that_raises_is_refused_before_it_is_compiled():
    def raising(f, y):
        if f > 0.3:
            raise ValueError("no")
        return (f - y) ** 2, 2 * (f - y)

    with pytest.raises(nimt.InvalidInput, match=r"raising raises exceptions.*return nan"):
        nimt.compiled(raising)


@nimt.compiled
def not_a_number_above(f, y):
    if f > 0.3:
        return np.nan, np.nan
    return (f - y) ** 2, 2 * (f - y)


@pytest.mark.long
@pytest.mark.parametrize("engine", ["reference", "grid", "neighbours", "streamed"])
@pytest.mark.parametrize("k", [1, 3])
def test_a_slope_that_is_not_a_number_diverges_on_every_engine(engine, k):
    x = nimt.Grid(np.linspace(-3, 3, 61))
    learner = nimt.KernelLearner(nimt.Wendland(0.5, dimension=1), loss=not_a_number_above, learning_rate=0.3)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(k=k), x, np.sin, max_iterations=60, tol=None, engine=engine)
    assert lesson.outcome is nimt.lesson.Outcome.DIVERGED and np.isnan(lesson.discrepancy[-1])


@nimt.compiled(smoothness=2.0, convex=True)
def less_than_nothing(f, y):
    return (f - y) ** 2 - 1.0, 2.0 * (f - y)


@nimt.compiled
def always_negative(f, y):
    return -np.exp(-((f - y) ** 2)), 2.0 * (f - y) * np.exp(-((f - y) ** 2))


@nimt.compiled
def zeros_of_both_signs(f, y):
    return np.copysign(0.0, y) if abs(f - y) < 1.0 else -abs(f - y), f - y


@nimt.compiled
def infinities(f, y):
    return (f - y) ** 2 if abs(f - y) < 1.0 else np.inf if y > 1.0 else -np.inf, f - y


@nimt.compiled
def missing_values(f, y):
    if y > 1.0:
        return np.inf, np.inf
    return (np.copysign(np.nan, f), np.copysign(np.nan, f)) if y < -1.0 else (y - f, f - y)


SCORES = [less_than_nothing, always_negative, zeros_of_both_signs, infinities, missing_values]


@pytest.mark.parametrize(
    "loss", [*SCORES[-1:], *(pytest.param(loss, marks=pytest.mark.exhaustive) for loss in SCORES[:-1])], ids=repr
)
@pytest.mark.parametrize("name", ["2-D", "scattered"])
def test_scores_of_any_value_are_compared_as_numbers(name, loss):
    """Below 0, -0, infinite and NaN: the largest is shown, NaN before any number, the lowest index among equals."""
    by_loss = {"score": "loss", "loss": loss}
    cases = [(nimt.GreedyTeacher(k=k, pool=part, **by_loss), ()) for k in (1, 3, 0.4, 1.0) for part in (None, 0.6)]
    cases += [(nimt.GreedyTeacher(k=k, score="gradient", loss=loss, kernel=nimt.rbf(0.7)), ()) for k in (1, 3)]
    cases += [(nimt.GreedyTeacher(k=k, pool=part, **by_loss), (3,)) for k in (1, 3) for part in (None, 0.6)]
    cases += [(nimt.teachers.PerOutput(nimt.GreedyTeacher(k=k, pool=0.6, **by_loss)), (3,)) for k in (1, 3)]
    for teacher, outputs in cases:
        y, start = np.random.default_rng(8).normal(size=(2, SIZES[name], *outputs))
        options = {"rate": 0.2, "initial": start, "steps": 50}
        expected = teach(POOLS[name], y, teacher, "reference", **options)
        for engine in engines_for(POOLS[name]):
            lesson = teach(POOLS[name], y, teacher, engine, **options)
            assert lesson.engine == engine
            assert_same_lesson(expected, lesson)


@pytest.mark.parametrize("engine", ["reference", "grid", "neighbours", "streamed"])
def test_where_a_loss_is_below_0_the_largest_is_shown(engine):
    """By hand: |f - y| orders the points as the loss does, whatever is subtracted from it."""
    x = nimt.Grid(np.linspace(-3, 3, 100))
    learner = nimt.KernelLearner(nimt.Wendland(0.5, dimension=1), loss=less_than_nothing, learning_rate=0.2)
    by_loss = nimt.GreedyTeacher(score="loss", loss=less_than_nothing)
    y = np.random.default_rng(8).normal(size=100)
    lesson = nimt.teach(learner, by_loss, x, y, max_iterations=60, tol=None, engine=engine)
    by_error = nimt.teach(learner, nimt.GreedyTeacher(), x, y, max_iterations=60, tol=None, engine="reference")
    np.testing.assert_array_equal(lesson.indices, by_error.indices)
    assert len(np.unique(lesson.indices)) > 10
