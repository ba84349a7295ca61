"""Planned epochs and INT's rule against plain loops."""

import math

import numpy as np
import pytest

import nimt
from nimt import schedules, testing
from nimt.teachers.planned import curve_order, plan_places
from nimt.teachers.teacher import View

LEARNER = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
POINTS = np.linspace(-2, 2, 17)
TARGET = np.sin(2 * POINTS)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_curve_visits_every_cell_of_a_grid_and_goes_to_a_neighbour(dimension):
    axes = np.meshgrid(*[np.arange(8.0)] * dimension, indexing="ij")
    grid = np.stack(axes, axis=-1).reshape(-1, dimension)
    order = curve_order(grid)
    assert sorted(order) == list(range(8**dimension))
    np.testing.assert_array_equal(np.abs(np.diff(grid[order], axis=0)).sum(axis=1), 1.0)


def test_points_on_a_line_or_at_one_place_are_ordered_too():
    assert curve_order(np.array([[3.0, 1.0], [1.0, 1.0], [2.0, 1.0]])).tolist() == [1, 2, 0]
    assert sorted(curve_order(np.zeros((4, 2)))) == [0, 1, 2, 3]


@pytest.mark.parametrize("floor", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_places_are_floor_or_ceil_of_what_is_due(floor, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.exponential(size=40)
    sizes[rng.permutation(40)[:5]] = np.nan
    order = rng.permutation(40)
    counts = np.bincount(plan_places(sizes, order, floor, rng), minlength=40)
    usual = sum(m for m in sizes if not math.isnan(m)) / 35
    known = [usual if math.isnan(m) else m for m in sizes]
    assert counts.sum() == 40
    for count, m in zip(counts, known, strict=True):
        due = 40 * ((1 - floor) * m / sum(known) + floor / 40)
        assert math.floor(due - 1e-9) <= count <= math.ceil(due + 1e-9)


@pytest.mark.long
def test_places_are_due_in_the_mean():
    sizes, order, rng = np.array([4.0, 1.0, 0.5, 0.0, 2.5]), np.array([2, 0, 1, 4, 3]), np.random.default_rng(0)
    counts = sum(np.bincount(plan_places(sizes, order, 0.2, rng), minlength=5) for _ in range(4000)) / 4000
    np.testing.assert_allclose(counts, 5 * (0.8 * sizes / 8 + 0.2 / 5), atol=0.04)
    assert np.bincount(plan_places(np.zeros(5), order, 0.0, rng)).tolist() == [1] * 5


def lesson_of(teacher, steps, **options):
    return nimt.teach(LEARNER, teacher, POINTS, TARGET, max_iterations=steps, **{"tol": None} | options)


def test_every_pack_has_one_place_of_every_run():
    """17 places and packs of about 5: three packs, from five runs of three places and one of two."""
    lesson = lesson_of(nimt.teachers.PlannedTeacher(k=5, floor=1.0), 6, seed=4)
    runs = [range(0, 3), range(3, 6), range(6, 9), range(9, 12), range(12, 15)]
    for epoch in (0, 3):
        packs = [lesson.pack(epoch + step)[0] for step in range(3)]
        assert sorted(map(len, packs)) == [5, 6, 6]
        assert all(sum(i in run for i in pack) == 1 for pack in packs for run in runs)
        assert sorted(np.concatenate(packs)) == list(range(17))


@pytest.mark.parametrize(("k", "sizes"), [(1, [1] * 17), (0.4, [5, 6, 6]), (0.9, [17]), (1.0, [17])])
def test_the_packs_of_an_epoch_have_nearly_equal_sizes(k, sizes):
    lesson = lesson_of(nimt.teachers.PlannedTeacher(k=k), len(sizes))
    assert sorted(len(lesson.pack(step)[0]) for step in range(len(sizes))) == sizes


def test_the_teacher_knows_the_errors_at_what_it_showed_alone():
    teacher, rng = nimt.teachers.PlannedTeacher(k=4, floor=0.0), np.random.default_rng(1)
    target, n = np.zeros(12), 12
    memory, seen, shown = None, np.full(n, np.nan), []
    for step in range(13):
        predictions = rng.normal(size=n)
        if step % 3 == 0:  # an epoch has three packs of four
            seen[shown] = np.abs(predictions[shown])
            shown = []
        view = View(step, nimt.Grid(np.arange(n)), predictions, target, rng, memory, np.arange(n))
        selection = teacher.select(view)
        np.testing.assert_array_equal(selection.memory["sizes"], seen)
        memory, shown = selection.memory, [*shown, *selection.indices]


@pytest.mark.filterwarnings("ignore::nimt.errors.NarrowKernelWarning")
def test_larger_errors_are_shown_more_often():
    target = np.where(np.arange(64) < 8, 5.0, 0.1)
    learner = nimt.KernelLearner(nimt.rbf(0.3), learning_rate=1e-6)
    lesson = nimt.teach(
        learner, nimt.teachers.PlannedTeacher(k=8, floor=0.3), np.arange(64.0), target, max_iterations=80, tol=None
    )
    shares = lesson.picks[:8].sum() / lesson.picks.sum()
    due = (0.7 * 40 / 45.6 + 0.3 / 8) * 0.9 + 0.1 / 8  # one of ten epochs is in turn
    assert shares == pytest.approx(due, abs=0.02)


@pytest.mark.parametrize(
    "teacher",
    [
        nimt.teachers.PlannedTeacher(k=schedules.linear(2, 9, over=20)),
        nimt.teachers.PlannedTeacher(k=0.4, floor=0.0),
        nimt.teachers.INTTeacher().fix_length(10),
        nimt.teachers.INTTeacher(k=3, look=None),
    ],
    ids=lambda teacher: teacher.name,
)
def test_the_contract_of_teachers(teacher, tmp_path):
    testing.check_teacher(teacher)
    whole = lesson_of(teacher, 14, seed=3)
    lesson_of(teacher, 5, seed=3, checkpoint=tmp_path / "checkpoint")
    resumed = nimt.resume(tmp_path / "checkpoint", max_iterations=14)
    np.testing.assert_array_equal(resumed.indices, whole.indices)
    np.testing.assert_array_equal(resumed.final, whole.final)


def test_int_keeps_its_pack_between_looks_and_sums_over_channels():
    """The published rule in plain loops: top-k of sum |f - f*|, chosen at looks, of the size due at the look."""
    rng = np.random.default_rng(2)
    target = rng.normal(size=(30, 3))
    k, look = schedules.steps(0.2, 0.92, over=40, stages=10), schedules.incremental(10, over=40, stages=5)
    learner = nimt.KernelLearner(nimt.rbf(0.01), learning_rate=0.05)
    lesson = nimt.teach(
        learner, nimt.teachers.INTTeacher(k=k, look=look), np.arange(30.0), target, max_iterations=40, tol=None
    )
    values, pack = np.zeros((30, 3)), []
    for step in range(40):
        if look.at(step):
            ratio = 0.2 + (step // 4) * 0.08
            by_size = sorted(
                range(30), key=lambda i: -sum(abs(v - t) for v, t in zip(values[i], target[i], strict=True))
            )
            pack = sorted(by_size[: int(ratio * 30 + 1e-9)])
        assert lesson.pack(step)[0].tolist() == pack
        values[pack] -= 0.1 / len(pack) * (values[pack] - target[pack])
    assert np.flatnonzero(lesson.looked).tolist() == [step for step in range(40) if look.at(step)]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: nimt.teachers.PlannedTeacher(floor=1.5), "floor must be a number from 0 to 1, got 1.5"),
        (lambda: nimt.teachers.PlannedTeacher(k=0), "k must be a count"),
        (lambda: nimt.teachers.INTTeacher(look=3), "look must be None"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(make, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        make()


@pytest.mark.parametrize(("k", "fits"), [(5, True), (8, True), (3, False), (0.3, False)])
def test_outputs_with_packs_of_their_own_need_packs_of_one_size(k, fits):
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.2)
    teacher, target = nimt.teachers.PerOutput(nimt.teachers.PlannedTeacher(k=k)), np.ones((20, 2))
    if fits:
        assert len(nimt.teach(learner, teacher, np.arange(20.0), target, max_iterations=12, tol=None)) == 12
        return
    with pytest.raises(nimt.InvalidInput, match=rf"k={k} does not divide 20 points: give a k that does"):
        nimt.teach(learner, teacher, np.arange(20.0), target, max_iterations=12, tol=None)
