"""On a grid a short-ranged kernel makes the Newton basis sparse: the same lesson as with dense columns, faster."""

import numpy as np
import pytest

import nimt
from nimt.engines import reference_engine as reference
from nimt.learners import basis_columns
from nimt.learners import newton_basis as newton
from nimt.learners import orthogonal_learner as orthogonal
from nimt.learners.basis_columns import DenseColumns, SparseColumns
from problems import assert_same_lesson

SIDE = 18
GRID = nimt.Grid.like(np.zeros((SIDE, SIDE)))
PICTURE = np.random.default_rng(5).normal(size=(SIDE, SIDE))
COLOUR = np.random.default_rng(6).normal(size=(SIDE, SIDE, 3))


LESSONS = {
    "greedy": {},
    "three outputs": {"target": COLOUR},
    "random packs": {"teacher": nimt.RandomTeacher(k=3), "max_iterations": 60, "tol": None},
    "ridge": {"learner_options": {"regularisation": 0.1}},
    "to the end": {"max_iterations": 400, "tol": None, "learner_options": {"power_tolerance": 0.3}},
}


def taught(teacher=None, target=PICTURE, width=0.5, learner=None, **options):
    options = {"max_iterations": 120, "tol": None} | options
    learner = learner or nimt.learners.OrthogonalLearner(nimt.rbf(width), **options.pop("learner_options", {}))
    return nimt.teach(learner, teacher or nimt.GreedyTeacher(), GRID, target, **options)


def dense(monkeypatch, **options):
    with monkeypatch.context() as patch:
        patch.setattr(orthogonal, "short_window", lambda kernel, pool: None)
        return taught(**options)


def assert_equal_up_to_rounding(lesson, other):
    np.testing.assert_array_equal(lesson.indices, other.indices)
    np.testing.assert_allclose(lesson.discrepancy, other.discrepancy, rtol=1e-9, atol=1e-16)
    np.testing.assert_allclose(lesson.final, other.final, atol=1e-9)
    np.testing.assert_allclose(lesson.learner.factor_, other.learner.factor_, atol=1e-9)
    np.testing.assert_allclose(lesson.learner.newton_, other.learner.newton_, atol=1e-9)
    assert lesson.learner.refused_ == other.learner.refused_
    assert lesson.outcome is other.outcome


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        *LESSONS.values(),
        {"teacher": nimt.teachers.InterpolationTeacher("P", kernel=nimt.rbf(0.5)), "max_iterations": 40, "tol": None},
    ],
    ids=[*LESSONS, "by the power function"],
)
def test_the_lesson_is_that_of_dense_columns(options, monkeypatch):
    pupil = nimt.learners.OrthogonalLearner(nimt.rbf(0.5)).make_pupil(GRID)
    assert isinstance(pupil.basis.kept, SparseColumns)
    assert_equal_up_to_rounding(taught(**options), dense(monkeypatch, **options))


@pytest.fixture
def numba_not_loaded(monkeypatch):
    monkeypatch.setattr(reference, "numba_is_loaded", lambda: False)


@pytest.fixture
def compiled_from(monkeypatch):
    """The steps of lessons from which compiled code was used."""
    steps, was = [], reference.ReferenceEngine.compile_pupil

    def compile_pupil(engine):
        was(engine)
        assert engine.pupil.basis.add_center is not None and isinstance(engine.pupil.basis.kept, SparseColumns)
        steps.append(engine.step)

    monkeypatch.setattr(reference.ReferenceEngine, "compile_pupil", compile_pupil)
    return steps


def assert_equal_to_the_last_bit(lesson, other):
    assert_same_lesson(lesson, other)
    for name in ("factor_", "newton_", "refused_", "centers_"):
        np.testing.assert_array_equal(getattr(lesson.learner, name), getattr(other.learner, name))


@pytest.mark.long
@pytest.mark.usefixtures("every_step", "numba_not_loaded")
@pytest.mark.parametrize("options", LESSONS.values(), ids=LESSONS)
def test_compiled_code_changes_not_one_bit_whenever_it_comes(options, monkeypatch, compiled_from):
    plain = taught(**options)
    assert not compiled_from
    for late in (0, 9):
        monkeypatch.setattr(reference, "LATE", late)
        assert_equal_to_the_last_bit(taught(**options), plain)
    assert compiled_from == [0, 9]


def test_compiled_code_is_used_where_numba_is_loaded(monkeypatch, compiled_from):
    monkeypatch.setattr(reference, "numba_is_loaded", lambda: True)
    taught(max_iterations=3)
    assert compiled_from == [0]


@pytest.mark.usefixtures("every_step", "numba_not_loaded")
def test_a_lesson_that_was_killed_goes_on_with_compiled_code(tmp_path, monkeypatch, compiled_from):
    whole = taught(max_iterations=30)
    taught(max_iterations=30, callback=lambda p: p.step >= 12, checkpoint=tmp_path / "cut.npz")
    assert not compiled_from
    monkeypatch.setattr(reference, "LATE", 0)
    assert_equal_to_the_last_bit(nimt.resume(tmp_path / "cut.npz"), whole)
    assert compiled_from == [12]


def test_a_kernel_on_a_line_and_in_space(monkeypatch, compiled_from):
    """One axis, three axes, windows that cross every edge."""
    rng = np.random.default_rng(8)
    for shape in ((60,), (9, 10, 11)):
        target, pool, lessons = rng.normal(size=shape), nimt.Grid.like(np.zeros(shape)), []
        for loaded in (False, True):
            monkeypatch.setattr(reference, "numba_is_loaded", lambda loaded=loaded: loaded)
            learner = nimt.learners.OrthogonalLearner(nimt.rbf(0.5))
            lessons.append(nimt.teach(learner, nimt.GreedyTeacher(), pool, target, max_iterations=40, tol=None))
        assert_equal_to_the_last_bit(*lessons)
    assert compiled_from == [0, 0]


@pytest.mark.long
def test_columns_that_fill_up_become_dense_and_the_lesson_stays_the_same(monkeypatch):
    monkeypatch.setattr(newton, "SHORT", 1)  # a window of 197 of 324 cells
    monkeypatch.setattr(basis_columns, "SMALL", 8)
    pupil = nimt.learners.OrthogonalLearner(nimt.rbf(1.3)).make_pupil(GRID)
    kinds = []
    for index in range(0, 324, 9):
        pupil.learn(np.array([index]), np.ones(1))
        kinds.append(type(pupil.basis.kept))
    assert kinds[0] is SparseColumns and kinds[-1] is DenseColumns
    options = {"width": 1.3, "max_iterations": 60, "tol": None}
    assert_equal_up_to_rounding(taught(**options), dense(monkeypatch, **options))


@pytest.mark.long
@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("full_from", [10**6, 12])
def test_resuming_changes_nothing(full_from, tmp_path, monkeypatch):
    monkeypatch.setattr(basis_columns, "SMALL", full_from)
    if full_from == 12:
        monkeypatch.setattr(basis_columns, "KEPT", 1000)  # dense from the twelfth centre on
    once = taught(max_iterations=5).learner
    for learner in (None, once):
        whole = taught(learner=learner, max_iterations=30)
        for at in (1, 9, 20):
            place = tmp_path / f"{at} {learner is once}.npz"
            taught(learner=learner, max_iterations=30, callback=lambda p, at=at: p.step >= at, checkpoint=place)
            resumed = nimt.resume(place)
            assert_same_lesson(resumed, whole)
            np.testing.assert_array_equal(resumed.learner.factor_, whole.learner.factor_)


def test_a_state_that_was_altered_is_refused():
    pupil = nimt.learners.OrthogonalLearner(nimt.rbf(0.5)).make_pupil(GRID)
    pupil.learn(np.array([5, 100]), np.ones(2))
    for name, wrong in (("starts", [0, 40, 20]), ("starts", [3]), ("members", [-1]), ("members", [SIDE**2])):
        state = pupil.state()
        altered = np.array(state[name])
        altered[: len(wrong)] = wrong
        with pytest.raises(nimt.errors.CorruptLesson):
            nimt.learners.OrthogonalLearner(nimt.rbf(0.5)).make_pupil(GRID).restore(state | {name: altered})


def test_an_example_changes_its_neighbourhood_only():
    pupil = nimt.learners.OrthogonalLearner(nimt.rbf(0.5)).make_pupil(GRID)
    pupil.learn(np.array([SIDE * 9 + 9]), np.ones(1))
    assert np.count_nonzero(pupil.values) == 29
    assert len(pupil.state()["entries"]) == 29
