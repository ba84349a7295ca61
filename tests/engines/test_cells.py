"""Points in cells: the same lessons as the reference loop, whatever the kernel, the pool and the rules."""

import numpy as np
import pytest

import nimt
from nimt.engines import cell_layout
from nimt.engines.cell_layout import Cells, find_formula, sort_into_cells
from nimt.engines.codes import WAITING_IN_CELLS
from nimt.kernels import Matern, RationalQuadratic

pytestmark = pytest.mark.long

RNG = np.random.default_rng(5)
POINTS = {d: RNG.random((n, d)) * 4 for d, n in ((1, 70), (2, 333), (3, 700), (4, 64))}
TARGETS = {d: RNG.normal(size=len(points)) for d, points in POINTS.items()}
KERNELS = {
    "rbf": nimt.rbf(0.5),
    "an rbf that reaches everything": nimt.rbf(9.0),
    "matern 1/2": Matern(0.05, nu=0.5),
    "matern 3/2": Matern(0.1, nu=1.5),
    "matern 5/2": Matern(0.1, nu=2.5),
    "matern inf": Matern(0.2, nu=np.inf),
    "wendland 0": nimt.Wendland(0.9, 4, 0),
    "wendland 1": nimt.Wendland(0.9, 4, 1),
    "wendland 2": nimt.Wendland(1.4, 5, 2),
}


def teach(engine, d=3, kernel=None, teacher=None, target=None, loss="square", **options):
    learner = nimt.KernelLearner(kernel or nimt.rbf(0.5), loss=loss, learning_rate=0.1)
    y = TARGETS[d] if target is None else target
    rules = {"tol": None, "max_iterations": 300} | options
    return nimt.teach(learner, teacher or nimt.GreedyTeacher(), POINTS[d], y, engine=engine, **rules)


@pytest.fixture(params=["at once", "waiting"], autouse=True)
def waits(request, monkeypatch):
    """Let steps wait for cells, or take them at once, however few points they reach."""
    fewest = 0 if request.param == "waiting" else np.inf
    monkeypatch.setattr(cell_layout, "FEWEST", fewest)
    return request.param == "waiting"


def assert_same(lesson, expected):
    assert lesson.engine == "cells"
    assert lesson.outcome is expected.outcome
    np.testing.assert_array_equal(lesson.indices, expected.indices)
    np.testing.assert_allclose(lesson.discrepancy, expected.discrepancy, rtol=1e-9)
    np.testing.assert_allclose(lesson.final, expected.final, atol=1e-11)


@pytest.mark.filterwarnings("ignore::nimt.errors.NarrowKernelWarning")
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_gives_the_lesson_of_the_reference_loop(kernel):
    for d in POINTS:
        given = {"d": d, "kernel": KERNELS[kernel]}
        assert_same(teach("cells", **given), teach("reference", **given))


ANISOTROPIC = nimt.rbf([0.4, 0.9, 0.2])
PAIRS = np.stack([TARGETS[3], TARGETS[3][::-1] ** 2], axis=1)
OTHER = nimt.teachers.AlternativeLabels(-TARGETS[3], probability=0.3)
WAYS = {
    "a width for each axis": {"kernel": ANISOTROPIC},
    "two outputs": {"target": PAIRS},
    "two outputs by their largest error": {"target": PAIRS, "teacher": nimt.GreedyTeacher(norm="max")},
    "some candidates and other labels": {"teacher": nimt.GreedyTeacher(pool=0.4, labels=OTHER)},
    "made labels": {"teacher": nimt.SynthesisTeacher(label_range="target")},
    "another loss": {"loss": nimt.losses.Huber(0.4)},
    "errors that are all equal": {"target": np.ones(700)},
    "nothing to learn": {"target": np.zeros(700)},
    "a tolerance": {"tol": 0.03, "max_iterations": 3000},
    "patience": {"patience": 2, "loss": "absolute", "max_iterations": 3000},
    "numbers near the smallest": {"target": 2.0**-1000 * TARGETS[3]},
    "numbers near the largest": {"target": 2.0**1000 * TARGETS[3]},
}


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("way", WAYS)
def test_every_way_gives_the_lesson_of_the_reference_loop(way):
    assert_same(teach("cells", **WAYS[way]), teach("reference", **WAYS[way]))


def test_a_resumed_lesson_is_bit_identical(tmp_path, every_step):
    given = {"teacher": WAYS["some candidates and other labels"]["teacher"]}
    whole, path = teach("cells", **given), tmp_path / "stopped.npz"
    teach("cells", checkpoint=path, callback=lambda progress: progress.step >= 111, **given)
    lesson = nimt.resume(path)
    assert lesson.engine == "cells"
    np.testing.assert_array_equal(lesson.discrepancy, whole.discrepancy)
    np.testing.assert_array_equal(lesson.final, whole.final)
    np.testing.assert_array_equal(lesson.learner.coefficients_, whole.learner.coefficients_)


@pytest.mark.parametrize("n", [1, 64, 65, 5000, 9000])
def test_cells_hold_every_point_once_and_their_boxes_hold_them(n):
    points = np.random.default_rng(n).normal(size=(n, 3))
    cells = Cells(nimt.rbf(0.1), nimt.Points(points))
    np.testing.assert_array_equal(np.sort(sort_into_cells(points))[:n], np.arange(n))
    laid = cells.points.reshape(-1, 3, 64)
    boxes = cells.boxes.reshape(-1, 3, 2, 64).transpose(0, 3, 1, 2).reshape(-1, 3, 2)
    groups = cells.group_boxes.reshape(3, 2, -1).transpose(2, 0, 1)
    for cell, own in enumerate(laid):
        np.testing.assert_array_equal(boxes[cell], np.stack([own.min(axis=1), own.max(axis=1)], axis=1))
        assert np.all(groups[cell // 64, :, 0] <= own.min(axis=1))
        assert np.all(groups[cell // 64, :, 1] >= own.max(axis=1))
    widths = boxes[: len(laid), :, 1] - boxes[: len(laid), :, 0]
    assert n < 5000 or np.prod(widths, axis=1).mean() < 0.03 * np.prod(np.ptp(laid, axis=(0, 2)))  # small ones


def test_auto_takes_cells_where_many_points_are_in_reach():
    points = np.random.default_rng(0).random((30_000, 3))
    plans = [
        nimt.plan(nimt.KernelLearner(nimt.rbf(width)), nimt.GreedyTeacher(), points, points[:, 0])
        for width in (0.01, 0.1, 2.0)
    ]
    assert [plan.engine for plan in plans] == ["neighbours", "cells", "cells"]
    assert plans[2].bytes < 200 * len(points)


@pytest.mark.parametrize(
    ("kernel", "teacher", "reason"),
    [
        (RationalQuadratic(), nimt.GreedyTeacher(), "it knows Gaussian, Matern .* got RationalQuadratic"),
        (nimt.rbf(1e-5), nimt.GreedyTeacher(), "so far from zero"),
        (nimt.rbf(0.5), nimt.GreedyTeacher(k=2), "it shows one example per step"),
        (nimt.rbf(0.5), nimt.RandomTeacher(), "RandomTeacher chooses otherwise"),
    ],
    ids=["kernel", "far points", "pack", "teacher"],
)
@pytest.mark.filterwarnings("ignore::nimt.errors.NarrowKernelWarning")
def test_what_cells_cannot_do_is_refused_by_name(kernel, teacher, reason):
    with pytest.raises(nimt.InvalidInput, match=f"'cells' cannot run this lesson, because .*{reason}"):
        teach("cells", kernel=kernel, teacher=teacher)
    assert find_formula(RationalQuadratic()) is None


def test_steps_wait_only_where_they_reach_many_points(monkeypatch):
    monkeypatch.undo()
    points = np.random.default_rng(0).random((30_000, 3))
    names = []
    for width in (0.02, 0.3):
        learner = nimt.KernelLearner(nimt.rbf(width))
        session = nimt.steps(learner, nimt.GreedyTeacher(), points, points[:, 0], engine="cells")
        names.append(type(session.engine).__name__)
    assert names == ["CellsEngine", "WaitingCellsEngine"]


def test_a_cell_takes_what_waits_for_it_as_soon_as_its_bound_is_the_largest(monkeypatch):
    """More steps than wait at most, at a rate that moves the largest error from cell to cell."""
    points = np.random.default_rng(2).random((3000, 2))
    target = np.sin(7 * points[:, 0]) * np.cos(5 * points[:, 1])

    def taught(fewest, engine="cells"):
        monkeypatch.setattr(cell_layout, "FEWEST", fewest)
        learner = nimt.KernelLearner(nimt.rbf(0.4), learning_rate=0.4)
        rules = {"max_iterations": 2 * WAITING_IN_CELLS + 100, "tol": None, "engine": engine}
        return nimt.teach(learner, nimt.GreedyTeacher(), points, target, **rules)

    waiting, at_once = taught(0), taught(np.inf)
    np.testing.assert_array_equal(waiting.indices, at_once.indices)
    assert_same(waiting, taught(0, "reference"))


def test_terms_that_a_far_power_leaves_out_are_below_rounding():
    """The polynomials of `radial_rows`, against 2^-x."""
    from nimt.engines._numba.radial_rows import SERIES

    for first, series in SERIES.items():
        x = np.linspace(first, first + 30, 5001)
        k = np.rint(-x)
        powers = np.ldexp(np.polyval([*series[::-1], 1.0], -x - k), k.astype(int))
        assert np.max(np.abs(powers - 2.0**-x)) < 1.2 * 2.0**-53


@pytest.mark.parametrize("kernel", ["rbf", "matern 5/2", "wendland 1"])
def test_a_column_by_two_threads_is_that_of_one(monkeypatch, kernel, waits):
    from nimt.engines import streamed_engine

    points = np.random.default_rng(3).random((1500, 3))
    shared = []

    class Counted(streamed_engine.SecondThread):
        def begin(self, call, *arguments):
            shared.append(arguments)
            return super().begin(call, *arguments)

    monkeypatch.setattr(streamed_engine, "SecondThread", Counted)
    monkeypatch.setattr(streamed_engine, "_has_two_cores", lambda: True)
    columns = []
    for longest in (np.inf, 100):
        monkeypatch.setattr(streamed_engine, "LONG", longest)
        fill = streamed_engine.find_compiled_column(KERNELS[kernel], nimt.Points(points))
        for _ in range(3):  # by one thread at first
            columns.append(np.full(len(points), np.nan))
            fill(7, columns[-1])
    assert len(shared) == 2
    for column in columns:
        np.testing.assert_array_equal(column, columns[0])
    np.testing.assert_allclose(columns[0], KERNELS[kernel](points, points[7:8])[:, 0], atol=1e-15, rtol=1e-12)
