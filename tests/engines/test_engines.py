"""Every engine runs the same lesson as the reference loop: over losses, teachers, pools, chunks and stops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.gaussian_process import kernels as theirs

import nimt
from nimt.kernels import ConstantKernel, ExpSineSquared, Matern, RationalQuadratic
from nimt.losses import Square
from nimt.operators import DenseOperator
from nimt.operators.grid import GridOperator
from nimt.operators.neighbours import NeighbourOperator
from nimt.operators.streamed_columns import StreamedOperator

pytestmark = pytest.mark.long

# Small, since the reference loop is slow; yet larger than the kernel's reach, so that windows and lists of neighbours
# end within the pool as well as at its edge.
POOLS = {
    "1-D": nimt.Grid(np.arange(60) * 0.3),
    "2-D": nimt.Grid.like(np.zeros((11, 13))),
    "3-D": nimt.Grid(np.arange(4.0), np.arange(5) * 0.8, np.arange(6.0)),
    "scattered": np.random.default_rng(7).random((100, 3)) * 5,
}
WIDTH = 0.7
SIZES = {name: len(pool) for name, pool in POOLS.items()}
TARGETS = {name: np.random.default_rng(3).normal(size=n) for name, n in SIZES.items()}
SIGNS = {name: np.where(y > 0, 1.0, -1.0) for name, y in TARGETS.items()}
WEIGHTS = {name: np.random.default_rng(4).random(n) for name, n in SIZES.items()}


def teachers(name):
    other = nimt.teachers.AlternativeLabels(-SIGNS[name], probability=0.3)
    return {
        "GFT-1": nimt.GreedyTeacher(),
        "GFT-1 gradient": nimt.GreedyTeacher(score="gradient", loss="logistic", kernel=theirs.DotProduct(1.0)),
        "GFT-7": nimt.GreedyTeacher(k=7),
        "GFT-0.4": nimt.GreedyTeacher(k=0.4),
        "whole": nimt.GreedyTeacher(k=1.0),
        "pool, alternative GFT-1": nimt.GreedyTeacher(pool=0.6, labels=other),
        "pool, alternative GFT-0.3": nimt.GreedyTeacher(k=0.3, pool=0.6, labels=other),
        "RFT-1": nimt.RandomTeacher(),
        "RFT-0.4": nimt.RandomTeacher(k=0.4),
        "RFT-3 once each": nimt.RandomTeacher(k=3, replace=False),
        "RFT-2 weighted": nimt.RandomTeacher(k=2, weights=WEIGHTS[name]),
        "pool, alternative RFT-2": nimt.RandomTeacher(k=2, pool=0.5, labels=other),
    }


LOSSES = ["square", "hinge", "logistic", nimt.losses.Huber(0.4), "absolute"]


def engines_for(pool):
    return ["grid", "neighbours", "streamed"] if isinstance(pool, nimt.Grid) else ["neighbours", "streamed"]


def teach(pool, y, teacher, engine, *, kernel=None, loss="square", rate=0.2, steps=300, initial=0.0, **options):
    learner = nimt.KernelLearner(kernel or nimt.rbf(WIDTH), loss=loss, learning_rate=rate, initial=initial)
    return nimt.teach(learner, teacher, pool, y, max_iterations=steps, engine=engine, **{"tol": None} | options)


def assert_same_lesson(one, other):
    assert one.outcome is other.outcome
    assert len(one) == len(other)
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(one.discrepancy, other.discrepancy, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(one.final, other.final, atol=1e-11)
    np.testing.assert_array_equal(one.picks, other.picks)


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("teacher", list(teachers("1-D")))
@pytest.mark.parametrize("name", list(POOLS))
@pytest.mark.sampled(5)
def test_every_engine_shows_the_same_examples(name, teacher):
    for loss in LOSSES:
        y = SIGNS[name] if loss == "logistic" else TARGETS[name]
        start = np.random.default_rng(8).normal(size=SIZES[name])
        chosen = teachers(name)[teacher]
        steps = 40 if isinstance(chosen.k, float) else 120
        expected = teach(POOLS[name], y, chosen, "reference", loss=loss, initial=start, steps=steps)
        for engine in engines_for(POOLS[name]):
            lesson = teach(POOLS[name], y, chosen, engine, loss=loss, initial=start, steps=steps)
            assert lesson.engine == engine
            assert_same_lesson(expected, lesson)


ROOM = nimt.Grid.like(np.zeros((19, 23)))  # large enough for a pack to be added by each of the three ways of a grid
KERNELS = {
    "narrow": nimt.rbf(0.5),
    "wide": nimt.rbf(40.0),
    "directions": nimt.rbf([0.6, 2.1]),
    "matern 1/2": Matern(0.7, nu=0.5),
    "matern 3/2": Matern(0.7, nu=1.5),
    "matern 5/2": Matern(0.7, nu=2.5),
    "sum": nimt.rbf(0.6) + ConstantKernel(0.3) * Matern(1.0),
    "product": nimt.rbf(2.0) * RationalQuadratic(),
    "power": nimt.rbf(2.0) ** 2,
    "periodic": ExpSineSquared(1.0, 3.7),
    "wendland": nimt.Wendland(2.5, 2),
    "linear": nimt.linear(0.5),
}


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("k", [1, 0.4])
@pytest.mark.sampled(2)
def test_every_kernel_runs_on_every_engine_that_takes_it(kernel, k):
    shown = KERNELS[kernel]
    y = np.random.default_rng(3).normal(size=len(ROOM))
    options = {"kernel": shown, "rate": 1e-4 if kernel == "linear" else 0.1, "steps": 100 if k == 1 else 40}
    expected = teach(ROOM, y, nimt.GreedyTeacher(k=k), "reference", **options)
    took = []
    for engine in ("auto", "grid", "neighbours", "streamed"):
        try:
            lesson = teach(ROOM, y, nimt.GreedyTeacher(k=k), engine, **options)
        except nimt.InvalidInput:
            continue
        took.append(engine)
        np.testing.assert_allclose(lesson.discrepancy, expected.discrepancy, rtol=1e-9)
    assert {"auto", "streamed"} <= set(took)
    assert ("grid" in took) == (kernel != "linear")


def test_these_kernels_take_every_way_to_add_a_pack_on_a_grid():
    windows = [GridOperator(kernel, ROOM) for name, kernel in KERNELS.items() if name != "linear"]
    assert {window.cheapest_for(0.4 * len(ROOM)) for window in windows} == {"columns", "separable", "fft"}


@pytest.mark.parametrize("outputs", [(), (2,)])
@pytest.mark.parametrize("pool", ["1-D", "2-D", "3-D"])
def test_a_large_window_is_added_run_by_run_and_a_small_one_by_addresses(pool, outputs, monkeypatch):
    grid, rng = POOLS[pool], np.random.default_rng(3)
    operator = GridOperator(nimt.rbf(WIDTH), grid)
    start, coefficient = rng.normal(size=(len(grid), *outputs)), rng.normal(size=outputs)
    for index in (0, len(grid) // 2, len(grid) - 1):
        small, large = start.copy(), start.copy()
        operator.add_column(small, index, coefficient)
        with monkeypatch.context() as patch:
            patch.setattr("nimt.operators.grid.SMALL_WINDOW", 0)
            operator.add_column(large, index, coefficient)
        np.testing.assert_array_equal(large, small)
        column = nimt.rbf(WIDTH)(grid.points, grid.points[[index]])
        np.testing.assert_allclose(large, start + (column * coefficient).reshape(start.shape), atol=1e-12)


def test_on_a_picture_with_a_flat_background_the_curves_agree():
    picture = np.zeros((24, 24))
    picture[8:16, 6:18] = np.random.default_rng(0).random((8, 12))
    grid = nimt.Grid.like(picture)
    for k, steps in ((1, 1000), (0.2, 100), (1.0, 30)):
        expected = teach(grid, picture, nimt.GreedyTeacher(k=k), "reference", kernel=nimt.rbf(0.5), steps=steps)
        for engine in ("grid", "neighbours", "streamed"):
            lesson = teach(grid, picture, nimt.GreedyTeacher(k=k), engine, kernel=nimt.rbf(0.5), steps=steps)
            np.testing.assert_allclose(lesson.discrepancy, expected.discrepancy, rtol=1e-9)


def test_thousands_of_steps_show_the_same_examples():
    expected = teach(POOLS["2-D"], TARGETS["2-D"], nimt.GreedyTeacher(), "reference", steps=3000, rate=0.05)
    for engine in engines_for(POOLS["2-D"]):
        assert_same_lesson(
            expected, teach(POOLS["2-D"], TARGETS["2-D"], nimt.GreedyTeacher(), engine, steps=3000, rate=0.05)
        )


@pytest.mark.parametrize("engine", ["reference", "grid", "neighbours", "streamed"])
@pytest.mark.parametrize("teacher", ["GFT-1", "GFT-0.4", "pool, alternative RFT-2"])
def test_where_a_chunk_ends_changes_nothing(engine, teacher):
    chosen = teachers("2-D")[teacher]
    whole = teach(POOLS["2-D"], TARGETS["2-D"], chosen, engine, steps=300, snapshots=[0, 1, 140, 300])
    walk = nimt.steps(
        nimt.KernelLearner(nimt.rbf(WIDTH), learning_rate=0.2), chosen, POOLS["2-D"], TARGETS["2-D"],
        max_iterations=300, tol=None, engine=engine,
    )  # fmt: skip
    for t, selection, discrepancy in walk:
        assert discrepancy == whole.discrepancy[t]
        np.testing.assert_array_equal(selection.indices, whole.indices[t - 1])
        if t == 140:
            np.testing.assert_array_equal(walk.values, whole.snapshots[140])
    np.testing.assert_array_equal(walk.lesson.final, whole.final)
    np.testing.assert_array_equal(walk.lesson.learner.coefficients_, whole.learner.coefficients_)


@pytest.mark.parametrize("engine", ["reference", "grid", "neighbours", "streamed"])
@pytest.mark.parametrize("teacher", ["GFT-1", "GFT-7", "RFT-0.4", "pool, alternative GFT-1", "RFT-3 once each"])
@pytest.mark.sampled(3)
def test_a_resumed_lesson_is_bit_identical(engine, teacher, tmp_path, every_step):
    chosen = teachers("3-D")[teacher]
    options = {"steps": 400, "snapshots": [10, 399], "rate": 0.1}
    whole = teach(POOLS["3-D"], TARGETS["3-D"], chosen, engine, **options)
    path = tmp_path / "stopped.npz"
    stop_at = iter((1, 100, 275))
    goal = [next(stop_at)]

    def stop(progress):
        return progress.step >= goal[0]

    lesson = teach(POOLS["3-D"], TARGETS["3-D"], chosen, engine, checkpoint=path, callback=stop, **options)
    while lesson.outcome is nimt.lesson.Outcome.STOPPED:
        goal[0] = next(stop_at, 10**9)
        lesson = nimt.resume(path, callback=stop)
    assert lesson.engine == engine
    assert lesson.outcome is whole.outcome
    np.testing.assert_array_equal(lesson.indices, whole.indices)
    np.testing.assert_array_equal(lesson.labels, whole.labels)
    np.testing.assert_array_equal(lesson.discrepancy, whole.discrepancy)
    np.testing.assert_array_equal(lesson.final, whole.final)
    np.testing.assert_array_equal(lesson.snapshots[399], whole.snapshots[399])
    np.testing.assert_array_equal(lesson.learner.coefficients_, whole.learner.coefficients_)


# each rule stops the lesson of each teacher: the rates overshoot, the packs never come as near as one example
STOPS = {
    "tol": {"GFT-1": {"tol": 0.05}, "RFT-0.4": {"tol": 0.05}},
    "rms": {"GFT-1": {"measure": "rms", "tol": 0.5}, "RFT-0.4": {"measure": "rms", "tol": 0.5}},
    "patience": {"GFT-1": {"patience": 3, "rate": 0.9}, "RFT-0.4": {"patience": 3, "rate": 30.0}},
    "stationary": {"GFT-1": {"stop_when_stationary": 0.3}, "RFT-0.4": {"stop_when_stationary": 3.0}},
}
OUTCOMES = {"patience": nimt.lesson.Outcome.STALLED, "stationary": nimt.lesson.Outcome.STATIONARY}


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("engine", ["grid", "neighbours", "streamed"])
@pytest.mark.parametrize("rule", list(STOPS))
@pytest.mark.parametrize("teacher", ["GFT-1", "RFT-0.4"])
@pytest.mark.sampled(5)
def test_every_engine_stops_where_the_reference_stops(engine, rule, teacher):
    chosen, options = teachers("2-D")[teacher], {"steps": 600} | STOPS[rule][teacher]
    expected = teach(POOLS["2-D"], TARGETS["2-D"], chosen, "reference", **options)
    assert expected.outcome is OUTCOMES.get(rule, nimt.lesson.Outcome.CONVERGED)
    assert_same_lesson(expected, teach(POOLS["2-D"], TARGETS["2-D"], chosen, engine, **options))


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("engine", ["reference", "grid", "neighbours", "streamed"])
def test_a_diverging_lesson_is_seen(engine):
    lesson = teach(POOLS["2-D"], TARGETS["2-D"], nimt.GreedyTeacher(), engine, rate=1.5, steps=5000)
    assert lesson.outcome is nimt.lesson.Outcome.DIVERGED
    assert len(lesson) < 5000


@pytest.mark.parametrize("engine", ["grid", "neighbours", "streamed"])
def test_a_schedule_is_followed_and_refused_at_the_step_it_fails(engine):
    expected = teach(POOLS["1-D"], TARGETS["1-D"], nimt.GreedyTeacher(), "reference", rate=lambda t: 0.3 / (1 + t))
    lesson = teach(POOLS["1-D"], TARGETS["1-D"], nimt.GreedyTeacher(), engine, rate=lambda t: 0.3 / (1 + t))
    assert_same_lesson(expected, lesson)
    with pytest.raises(nimt.InvalidInput, match="step 5"):
        teach(POOLS["1-D"], TARGETS["1-D"], nimt.GreedyTeacher(), engine, rate=lambda t: 0.1 if t < 5 else -1.0)


@pytest.mark.slow
def test_the_discrepancy_never_drifts_over_a_million_steps():
    picture = np.random.default_rng(2).normal(size=(40, 40))
    grid = nimt.Grid.like(picture)
    marks = sorted({int(t) for t in np.geomspace(1, 1_000_000, 60)} | {1023, 1024, 1025, 1599, 1600, 1601, 999_999})
    lesson = teach(grid, picture, nimt.GreedyTeacher(), "grid", kernel=nimt.rbf(1.0), rate=0.3, steps=1_000_000,
                   snapshots=marks)  # fmt: skip
    for t in marks:
        if t < len(lesson.discrepancy):
            exact = np.sqrt(np.sum((lesson.snapshots[t] - picture.ravel()) ** 2)) / picture.size
            assert lesson.discrepancy[t] == pytest.approx(exact, rel=1e-9)


# ---------------------------------------------------------------- operators


@st.composite
def grids(draw):
    dimension = draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(1, 9), min_size=dimension, max_size=dimension))
    steps = draw(st.lists(st.floats(0.2, 2.0), min_size=dimension, max_size=dimension))
    return nimt.Grid(*(np.arange(length) * step for length, step in zip(lengths, steps, strict=True)))


@st.composite
def stationary_kernels(draw):
    width = draw(st.floats(0.1, 20.0))
    made = draw(
        st.sampled_from(
            [
                lambda: nimt.rbf(width),
                lambda: Matern(width, nu=1.5),
                lambda: nimt.rbf(width) + Matern(2 * width, nu=0.5),
                lambda: ConstantKernel(2.5) * nimt.rbf(width) * RationalQuadratic(width),
                lambda: nimt.Wendland(width, 3),
                lambda: ExpSineSquared(width, 1.7),
            ]
        )
    )
    return made()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(grid=grids(), kernel=stationary_kernels(), share=st.floats(0.01, 1.0), seed=st.integers(0, 99))
def test_a_window_acts_like_the_gram_matrix(grid, kernel, share, seed):
    rng = np.random.default_rng(seed)
    n = len(grid)
    indices = rng.integers(n, size=max(1, int(share * 2 * n)))
    coefficients = rng.normal(size=len(indices))
    expected = kernel(grid.points)[:, indices] @ coefficients  # scikit-learn's own values, not those of a window
    size = np.abs(coefficients).sum() * kernel.diag(grid.points)[0]
    operator = GridOperator(kernel, grid)
    spread = np.zeros(n)
    np.add.at(spread, indices, coefficients)
    added, dense = np.zeros(n), np.zeros(n)
    operator.add(added, indices, coefficients)
    DenseOperator(kernel, grid).add(dense, indices, coefficients)
    for way in (added, dense, operator.convolve(spread), operator.by_fft(spread)):
        np.testing.assert_allclose(way, expected, atol=1e-13 * size)
    np.testing.assert_array_equal(operator.diagonal(), kernel.diag(grid.points))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    grid=grids(), width=st.floats(0.3, 3.0), k=st.one_of(st.just(1), st.floats(0.05, 1.0)),
    pool=st.one_of(st.none(), st.floats(0.2, 1.0)), seed=st.integers(0, 99),
)  # fmt: skip
def test_any_grid_any_width_any_pack_any_pool_gives_the_same_lesson(grid, width, k, pool, seed):
    y = np.random.default_rng(seed).normal(size=len(grid))
    teacher = nimt.GreedyTeacher(k=k, pool=pool)
    expected = teach(grid, y, teacher, "reference", kernel=nimt.rbf(width), steps=40, seed=seed)
    lesson = teach(grid, y, teacher, "grid", kernel=nimt.rbf(width), steps=40, seed=seed)
    np.testing.assert_allclose(lesson.discrepancy, expected.discrepancy, rtol=1e-9, atol=1e-15)


def test_lists_of_neighbours_and_streamed_columns_act_like_the_gram_matrix():
    points = nimt.pools.Points(POOLS["scattered"])
    n = len(points)
    rng = np.random.default_rng(0)
    indices, coefficients = rng.integers(n, size=30), rng.normal(size=30)
    for kernel in (nimt.rbf(0.4), Matern(0.05, nu=2.5) + nimt.Wendland(1.0, 3), nimt.Wendland(2.0, 3)):
        expected = np.zeros(n)
        DenseOperator(kernel, points).add(expected, indices, coefficients)
        for operator in (NeighbourOperator(kernel, points), StreamedOperator(kernel, points, cache_bytes=8 * n * 5)):
            values = np.zeros(n)
            operator.add(values, indices, coefficients)
            np.testing.assert_allclose(values, expected, atol=1e-13)


def test_the_cache_of_columns_stays_within_its_bytes_and_returns_what_it_kept():
    points = nimt.pools.Points(POOLS["scattered"])
    n = len(points)
    gram = nimt.rbf(3.0)(points.points)
    computed = []

    def column(index, result):
        computed.append(index)
        result[:] = gram[index]

    operator = StreamedOperator(nimt.rbf(3.0), points, cache_bytes=8 * n * 4, column=column)
    for index in (0, 1, 2, 3, 0, 4, 0, 1):
        np.testing.assert_array_equal(operator.column(index), gram[index])
        assert operator.size <= 4
    assert computed == [0, 1, 2, 3, 4, 1]  # 1 had to leave for 4, 0 never did
    operator.fetch(np.array([5, 0, 6, 5, 0, 1]))  # what is needed together is kept together
    assert computed[6:] == [5, 6]
    assert [operator.kept[1][index] >= 0 for index in (0, 1, 5, 6)] == [True] * 4


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("kernel", ["wide", "product"])  # by compiled columns, and by the kernel itself
@pytest.mark.parametrize("columns", [1, 2, 7])
def test_any_room_for_columns_gives_the_same_lesson(columns, kernel, monkeypatch):
    points, y = POOLS["scattered"], TARGETS["scattered"]
    monkeypatch.setattr("nimt.engines.choice.CACHE", 8 * len(y) * columns)
    targets = {"one": y, "three": np.stack([y, y[::-1], y**2], axis=1)}
    for k, outputs, each in [
        (1, "one", 0),
        (2, "one", 0),
        (5, "one", 0),
        (1, "three", 0),
        (3, "three", 0),
        (2, "three", 1),
    ]:
        for teacher in (nimt.GreedyTeacher(k=k), nimt.RandomTeacher(k=k)):
            chosen = nimt.teachers.PerOutput(teacher) if each else teacher
            options = {"kernel": KERNELS[kernel], "steps": 40}
            expected = teach(points, targets[outputs], chosen, "reference", **options)
            assert_same_lesson(expected, teach(points, targets[outputs], chosen, "streamed", **options))
    synthesis = nimt.SynthesisTeacher(k=3)
    expected = teach(points, y, synthesis, "reference", kernel=KERNELS[kernel], steps=40)
    lesson = teach(points, y, synthesis, "streamed", kernel=KERNELS[kernel], steps=40)
    np.testing.assert_array_equal(lesson.indices, expected.indices)
    np.testing.assert_allclose(lesson.discrepancy, expected.discrepancy, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("most", [1, 3, 40])  # columns that the address space has room for, as under `ulimit -v`
def test_where_the_space_for_all_columns_is_refused_fewer_are_kept(most, monkeypatch):
    points, y = POOLS["scattered"], TARGETS["scattered"]
    n, empty, largest = len(points), np.empty, []

    def scarce(shape, *rest, **options):
        if np.ndim(shape) == 1 and len(shape) == 2 and shape[1] == n:
            if shape[0] > most:
                raise MemoryError(shape)
            largest.append(shape[0])
        return empty(shape, *rest, **options)

    for k in (1, 5):
        expected = teach(points, y, nimt.GreedyTeacher(k=k), "reference", kernel=KERNELS["wide"], steps=40)
        with monkeypatch.context() as scene:
            scene.setattr("numpy.empty", scarce)
            lesson = teach(points, y, nimt.GreedyTeacher(k=k), "streamed", kernel=KERNELS["wide"], steps=40)
        assert_same_lesson(expected, lesson)
    assert max(largest) <= most and largest[-1] <= max(1, most // 2)


def test_a_kernel_that_fails_between_two_snapshots_loses_no_step():
    seen = set()

    class Refused(theirs.RationalQuadratic):
        def __call__(self, X, Y=None, eval_gradient=False):
            if Y is not None and len(Y) == 1:
                seen.add(Y.tobytes())
                if len(seen) > 4:
                    raise ValueError("no such column")
            return super().__call__(X, Y)

    with pytest.raises(nimt.LessonInterrupted, match="at step 4: no such column") as failed:
        teach(
            POOLS["scattered"], TARGETS["scattered"], nimt.RandomTeacher(replace=False), "streamed",
            kernel=Refused(), snapshots=range(10),
        )  # fmt: skip
    lesson = failed.value.lesson
    assert len(lesson) == lesson.picks.sum() == lesson.learner.steps_ == 4
    assert set(lesson.snapshots) == set(range(5))
    assert lesson.discrepancy[-1] == pytest.approx(np.linalg.norm(lesson.final - lesson.target) / len(lesson.target))


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("k", [5, 0.4, 100])
def test_the_rate_auto_of_packs_is_the_same_on_every_engine(k):
    points, y = POOLS["scattered"], TARGETS["scattered"]
    expected = teach(points, y, nimt.GreedyTeacher(k=k), "reference", rate="auto", steps=40)
    assert expected.learning_rate > 0.5  # that of single examples
    given = teach(points, y, nimt.GreedyTeacher(k=k), "reference", rate=expected.learning_rate, steps=40)
    assert_same_lesson(expected, given)
    for engine in ("neighbours", "streamed"):
        assert_same_lesson(expected, teach(points, y, nimt.GreedyTeacher(k=k), engine, rate="auto", steps=40))


@pytest.mark.parametrize("columns", [1, 100])
def test_a_kernel_may_return_lists(columns, monkeypatch):
    class Listed(theirs.RationalQuadratic):
        def __call__(self, X, Y=None, eval_gradient=False):
            return super().__call__(X, Y).tolist()

    points, y = POOLS["scattered"], TARGETS["scattered"]
    monkeypatch.setattr("nimt.engines.choice.CACHE", 8 * len(y) * columns)
    for k in (1, 4):
        expected = teach(points, y, nimt.RandomTeacher(k=k), "reference", kernel=Listed(), steps=20)
        assert_same_lesson(expected, teach(points, y, nimt.RandomTeacher(k=k), "streamed", kernel=Listed(), steps=20))


def test_a_column_that_could_not_be_computed_is_not_kept():
    points = nimt.pools.Points(POOLS["scattered"])
    n = len(points)

    def column(index, result):
        result[:] = index
        if index == 3:
            raise ValueError("no such column")

    operator = StreamedOperator(nimt.rbf(3.0), points, cache_bytes=8 * n * 2, column=column)
    operator.fetch(np.array([0, 1]))
    for _ in range(3):
        with pytest.raises(ValueError, match="no such column"):
            operator.fetch(np.array([3]))
        assert operator.column(1)[0] == 1.0  # the last used stays
    assert operator.column(2)[0] == 2.0 and operator.size == 2


@pytest.mark.parametrize(("width", "cells"), [(0.5, 29), (2.0, 465)])
def test_a_pixel_window_has_as_many_cells_as_the_kernel_reaches(width, cells):
    assert GridOperator(nimt.rbf(width), nimt.Grid.like(np.zeros((92, 92)))).cells == cells


def test_a_wider_cut_gives_a_smaller_window():
    grid = nimt.Grid.like(np.zeros((30, 30)))
    assert GridOperator(nimt.rbf(2.0), grid, cut=1e-8).cells < GridOperator(nimt.rbf(2.0), grid).cells


def test_a_window_never_grows_beyond_twice_the_grid_each_way():
    grid = nimt.Grid.like(np.zeros((30, 20)))
    assert GridOperator(nimt.rbf(500.0), grid).cells == 59 * 39


# ---------------------------------------------------------------- choosing


def test_auto_picks_and_says_why():
    picture = np.zeros((20, 20))
    learner = nimt.KernelLearner(nimt.rbf(0.5))
    on_grid = nimt.plan(learner, nimt.GreedyTeacher(), nimt.Grid.like(picture), picture)
    assert (on_grid.engine, on_grid.window) == ("grid", 29)
    points = np.random.default_rng(0).random((5000, 2)) * 100
    near = nimt.plan(learner, nimt.GreedyTeacher(), points, np.zeros(5000))
    assert near.engine == "neighbours"
    far = nimt.plan(nimt.KernelLearner(nimt.rbf(500.0)), nimt.GreedyTeacher(), points, np.zeros(5000))
    assert (far.engine, far.window) == ("streamed", None)
    weights = nimt.plan(nimt.LinearLearner([0.0, 0.0, 0.0]), nimt.GreedyTeacher(), points, np.zeros(5000))
    assert (weights.engine, weights.reason) == ("linear", "a step changes a few weights")
    slow = nimt.plan(nimt.learners.OrthogonalLearner(nimt.rbf(0.5)), nimt.GreedyTeacher(), points[:50], np.zeros(50))
    assert slow.engine == "reference"
    assert "OrthogonalLearner" in slow.reason
    for plan in (on_grid, near, far, weights, slow):
        assert plan.engine in str(plan)
        assert plan.bytes > 0


def test_what_no_engine_covers_falls_back_to_the_reference_loop():
    class Mine(nimt.GreedyTeacher):
        def select(self, view):
            return super().select(view)

    class Cube:
        smoothness = np.inf

        def value(self, f, y):
            return np.abs(f - y) ** 3

        def slope(self, f, y):
            return 3 * (f - y) * np.abs(f - y)

    y = TARGETS["1-D"]
    assert teach(POOLS["1-D"], y, Mine(), "auto", steps=5).engine == "reference"
    assert teach(POOLS["1-D"], y, nimt.GreedyTeacher(), "auto", loss=Cube(), rate=0.02, steps=5).engine == "reference"
    with pytest.raises(nimt.InvalidInput, match="'grid' cannot run this lesson"):
        teach(POOLS["1-D"], y, Mine(), "grid", steps=5)


def test_a_lesson_that_cannot_fit_is_refused_before_it_starts(monkeypatch):
    monkeypatch.setattr("nimt.task.task.available_memory", lambda: 10_000)
    monkeypatch.setattr("nimt.task.task.SURELY_FREE", 0)
    with pytest.raises(nimt.errors.NotEnoughMemory, match=r"would need about .* and 10 kB are free"):
        teach(POOLS["2-D"], TARGETS["2-D"], nimt.GreedyTeacher(), "auto", steps=5)


def test_an_unknown_engine_is_refused_with_the_known_ones():
    with pytest.raises(
        nimt.InvalidInput, match=r"one of auto, reference, grid, neighbours, cells, streamed, linear, nimt.*got 'gpu'"
    ):
        teach(POOLS["2-D"], TARGETS["2-D"], nimt.GreedyTeacher(), "gpu", steps=5)


# ---------------------------------------------------------------- labels made by the teacher

SCHEDULES = {"steady": 0.01, "decaying": lambda step: 0.05 / (1 + step / 200)}
MAKERS = {
    "one": {},
    "one of a part": {"pool": 0.7},
    "one within the range": {"label_range": "target", "pool": 0.7},
    "one within numbers and a radius": {"label_range": (-1.0, 1.5), "radius": 40.0},
    "three": {"k": 3},
    "three within the range": {"k": 3, "label_range": "target"},
    "a large pack": {"k": 0.4, "pool": 0.8},
}


def assert_same_made_labels(one, other):
    assert one.outcome is other.outcome
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_allclose(one.labels, other.labels, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(one.discrepancy, other.discrepancy, rtol=1e-9)


@pytest.mark.parametrize("made", list(MAKERS))
@pytest.mark.parametrize("rate", list(SCHEDULES))
@pytest.mark.parametrize("name", list(POOLS))
@pytest.mark.filterwarnings("ignore::nimt.errors.ResponseWarning", "ignore::nimt.errors.StepSizeWarning")
@pytest.mark.sampled(5)
def test_made_labels_are_the_same_on_every_engine(name, rate, made):
    teacher = nimt.SynthesisTeacher(**MAKERS[made])
    start = np.random.default_rng(5).normal(size=SIZES[name])
    for loss in ("square", nimt.losses.Huber(0.4), "hinge", "absolute") if made == "one" else ("square",):
        steps = 50 if "k" in MAKERS[made] else 150
        options = {"loss": loss, "rate": SCHEDULES[rate], "initial": start, "steps": steps}
        expected = teach(POOLS[name], TARGETS[name], teacher, "reference", **options)
        for engine in engines_for(POOLS[name]):
            lesson = teach(POOLS[name], TARGETS[name], teacher, engine, **options)
            assert lesson.engine == engine
            assert_same_made_labels(lesson, expected)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.sampled(2)
def test_made_labels_on_a_grid_are_the_same_to_the_last_bit(k):
    picture = np.zeros((14, 15))
    picture[4:9, 3:11] = np.random.default_rng(0).random((5, 8))  # and many points that are right from the start
    grid, teacher = nimt.Grid.like(picture), nimt.SynthesisTeacher(k=k)
    expected, lesson = (teach(grid, picture, teacher, engine, rate=0.02, steps=400) for engine in ("reference", "grid"))
    if k == 1:
        np.testing.assert_array_equal(lesson.labels, expected.labels)
        np.testing.assert_array_equal(lesson.final, expected.final)
    assert_same_made_labels(lesson, expected)


def test_the_engines_that_make_labels_warn_like_the_teacher():
    said = set()
    for engine in ("reference", "grid", "neighbours", "streamed"):
        with pytest.warns(nimt.errors.ResponseWarning, match="moved the learner no further") as warned:
            teach(POOLS["2-D"], TARGETS["2-D"], nimt.SynthesisTeacher(), engine, loss="absolute", rate=0.05)
        said.add(str(warned.pop(nimt.errors.ResponseWarning).message))
    assert len(said) == 1, said


@pytest.mark.parametrize("engine", ["reference", "grid", "streamed"])
@pytest.mark.filterwarnings("error::nimt.errors.ResponseWarning")
def test_a_warning_that_is_an_error_ends_the_lesson_with_the_steps_so_far(engine):
    with pytest.raises(nimt.LessonInterrupted) as raised:
        teach(POOLS["2-D"], TARGETS["2-D"], nimt.SynthesisTeacher(), engine, loss="absolute", rate=0.05)
    assert isinstance(raised.value.__cause__, nimt.errors.ResponseWarning)
    assert 0 < len(raised.value.lesson) < 300


@pytest.mark.parametrize("engine", ["grid", "neighbours", "streamed"])
@pytest.mark.parametrize("k", [1, 3, 0.4])
@pytest.mark.usefixtures("every_step")
def test_a_resumed_lesson_of_made_labels_is_bit_identical(engine, k, tmp_path):
    teacher = nimt.SynthesisTeacher(k=k, label_range="target")
    whole = teach(POOLS["2-D"], TARGETS["2-D"], teacher, engine, rate=0.01, steps=500)
    path = tmp_path / "stopped.npz"
    teach(POOLS["2-D"], TARGETS["2-D"], teacher, engine, rate=0.01, steps=500, checkpoint=path,
          callback=lambda progress: progress.step > 3)  # fmt: skip
    lesson = nimt.resume(path)
    np.testing.assert_array_equal(lesson.labels, whole.labels)
    np.testing.assert_array_equal(lesson.discrepancy, whole.discrepancy)


def test_where_a_chunk_ends_changes_no_made_label():
    teacher = nimt.SynthesisTeacher()
    learner = nimt.KernelLearner(nimt.rbf(WIDTH), learning_rate=0.05)
    whole = teach(POOLS["2-D"], TARGETS["2-D"], teacher, "grid", rate=0.05, steps=200)
    walk = nimt.steps(learner, teacher, POOLS["2-D"], TARGETS["2-D"], max_iterations=200, tol=None, engine="grid")
    for t, selection, discrepancy in walk:
        assert discrepancy == whole.discrepancy[t]
        np.testing.assert_array_equal(selection.labels, whole.labels[t - 1])


def test_a_loss_that_checks_labels_sees_every_label_that_is_made():
    class Checked(Square):
        def check_labels(self, y):
            assert np.isfinite(y).all()

    plan = nimt.plan(nimt.KernelLearner(nimt.rbf(0.1), loss=Checked()), nimt.SynthesisTeacher(), POOLS["scattered"],
                     SIGNS["scattered"])  # fmt: skip
    assert plan.engine == "reference"
    assert "has to check every label" in plan.reason


# ---------------------------------------------------------------- draws by odds

DRAWS = {
    "soft": {},
    "hot": {"temperature": 1.5},
    "colder than odds can be kept": {"temperature": 1e-4},
    "uniform": {"temperature": np.inf},
    "of a part": {"temperature": 0.3, "pool": 0.6},
    "cold": {"temperature": 0},
}


def near_engines(pool):
    return [engine for engine in engines_for(pool) if engine != "streamed"]


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("drawn", list(DRAWS))
@pytest.mark.parametrize("name", list(POOLS))
@pytest.mark.sampled(5)
def test_draws_by_odds_are_those_of_the_reference_loop(name, drawn):
    teacher = nimt.teachers.SoftTeacher(**DRAWS[drawn])
    start = np.random.default_rng(8).normal(size=SIZES[name])
    for loss in LOSSES if drawn == "soft" else ("square",):
        y = SIGNS[name] if loss == "logistic" else TARGETS[name]
        expected = teach(POOLS[name], y, teacher, "reference", loss=loss, initial=start, steps=150)
        for engine in near_engines(POOLS[name]):
            lesson = teach(POOLS[name], y, teacher, engine, loss=loss, initial=start, steps=150)
            assert lesson.engine == engine
            assert_same_lesson(expected, lesson)


@pytest.mark.exhaustive
def test_draws_by_odds_with_other_labels_and_several_outputs():
    y = np.random.default_rng(1).normal(size=(SIZES["2-D"], 3))
    teacher = nimt.teachers.SoftTeacher(temperature=0.3, labels=nimt.teachers.AlternativeLabels(y[::-1], 0.4))
    expected = teach(POOLS["2-D"], y, teacher, "reference")
    for engine in near_engines(POOLS["2-D"]):
        assert_same_lesson(expected, teach(POOLS["2-D"], y, teacher, engine))


def test_from_an_error_of_zero_every_point_is_as_likely():
    y = np.zeros(SIZES["2-D"])
    one, other = (
        teach(POOLS["2-D"], y, nimt.teachers.SoftTeacher(), engine, steps=50) for engine in ("reference", "grid")
    )
    np.testing.assert_array_equal(one.indices, other.indices)
    assert len(np.unique(one.indices)) > 30


@pytest.mark.parametrize("temperature", [0.15, 2.0])
def test_compiled_draws_come_with_the_odds(temperature):
    pool, y = POOLS["1-D"], TARGETS["1-D"]
    lesson = teach(
        pool, y, nimt.teachers.SoftTeacher(temperature=temperature), "grid", rate=1e-13, steps=40_000, seed=3
    )
    odds = np.exp(np.abs(y) / (temperature * np.abs(y).max()))
    expected = len(lesson) * odds / odds.sum()
    together = expected >= 5  # the rest count as one
    counts = np.bincount(lesson.indices.ravel(), minlength=len(y))
    seen = np.append(counts[together], counts[~together].sum())
    wanted = np.append(expected[together], expected[~together].sum())
    kept = wanted > 0
    assert chisquare(seen[kept], wanted[kept]).pvalue > 0.01


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("engine", ["grid", "neighbours"])
def test_a_resumed_lesson_of_draws_by_odds_is_bit_identical(engine, tmp_path):
    teacher = nimt.teachers.SoftTeacher(temperature=0.2)
    whole = teach(POOLS["2-D"], TARGETS["2-D"], teacher, engine, steps=500, rate=0.05)
    path = tmp_path / "stopped.npz"
    goal = [3]
    lesson = teach(POOLS["2-D"], TARGETS["2-D"], teacher, engine, steps=500, rate=0.05, checkpoint=path,
                   callback=lambda progress: progress.step > goal[0])  # fmt: skip
    assert lesson.outcome is nimt.lesson.Outcome.STOPPED
    goal[0] = 200
    assert nimt.resume(path, callback=lambda progress: progress.step > goal[0]).outcome is nimt.lesson.Outcome.STOPPED
    lesson = nimt.resume(path)
    np.testing.assert_array_equal(lesson.indices, whole.indices)
    np.testing.assert_array_equal(lesson.discrepancy, whole.discrepancy)
    np.testing.assert_array_equal(lesson.final, whole.final)


def test_which_draws_by_odds_are_compiled():
    learner, points, y = nimt.KernelLearner(nimt.rbf(0.1)), POOLS["scattered"], TARGETS["scattered"]
    assert nimt.plan(learner, nimt.teachers.SoftTeacher(), points, y).engine == "neighbours"
    assert nimt.plan(learner, nimt.teachers.SoftTeacher(k=3), points, y).engine == "reference"
    assert nimt.plan(learner, nimt.teachers.SoftTeacher(k=3, temperature=0), points, y).engine == "neighbours"
    wide = nimt.KernelLearner(nimt.rbf(50.0))
    assert nimt.plan(wide, nimt.teachers.SoftTeacher(), points, y).engine == "reference"
    with pytest.raises(
        nimt.InvalidInput, match="'streamed' cannot run this lesson, because the streamed engine cannot choose by odds"
    ):
        teach(points, y, nimt.teachers.SoftTeacher(), "streamed")


@pytest.mark.slow
@pytest.mark.parametrize(
    "teacher", [nimt.teachers.SoftTeacher(), nimt.SynthesisTeacher(label_range="target")], ids=repr
)
def test_the_discrepancy_of_compiled_teachers_never_drifts(teacher):
    picture = np.random.default_rng(2).normal(size=(20, 20))
    marks = sorted({int(t) for t in np.geomspace(1, 200_000, 30)})
    lesson = teach(nimt.Grid.like(picture), picture, teacher, "grid", kernel=nimt.rbf(1.0), rate=0.05, steps=200_000,
                   snapshots=marks)  # fmt: skip
    for t in (t for t in marks if t < len(lesson.discrepancy)):
        exact = np.sqrt(np.sum((lesson.snapshots[t] - picture.ravel()) ** 2)) / picture.size
        assert lesson.discrepancy[t] == pytest.approx(exact, rel=1e-9)


# ---------------------------------------------------------------- diverse packs, packs by the loss


@pytest.mark.parametrize("k", [1, 2, 7, 0.4])
@pytest.mark.parametrize("name", list(POOLS))
@pytest.mark.sampled(3)
def test_diverse_packs_are_those_of_the_reference_loop(name, k):
    kernel = nimt.rbf(WIDTH)
    for pool in (None, 0.7):
        teacher = nimt.GreedyTeacher(k=k, diverse=True, kernel=kernel, pool=pool)
        expected = teach(POOLS[name], TARGETS[name], teacher, "reference", rate=0.4, steps=60)
        for engine in near_engines(POOLS[name]):
            lesson = teach(POOLS[name], TARGETS[name], teacher, engine, rate=0.4, steps=60)
            assert lesson.engine == engine
            assert_same_lesson(expected, lesson)


@pytest.mark.parametrize("kernel", ["wide", "matern 1/2", "sum"])  # in turn added by axes, by columns and by FFT
def test_large_diverse_packs_of_other_kernels(kernel):
    y = np.random.default_rng(3).normal(size=len(ROOM))
    teacher = nimt.GreedyTeacher(k=0.4, diverse=True, kernel=KERNELS[kernel])
    options = {"kernel": KERNELS[kernel], "rate": 0.1, "steps": 4}
    expected, lesson = (teach(ROOM, y, teacher, engine, **options) for engine in ("reference", "grid"))
    np.testing.assert_array_equal(lesson.indices, expected.indices)
    np.testing.assert_allclose(lesson.discrepancy, expected.discrepancy, rtol=1e-9)


EQUAL_ERRORS = {
    "all equal": np.ones((12, 13)),
    "two values": np.where(np.indices((12, 13)).sum(axis=0) % 2, 1.0, -1.0),
    "mostly zero": np.eye(12, 13) * np.arange(1.0, 14.0),
    "very large": 1e250 * np.sin(np.arange(156.0)).reshape(12, 13),
    "of all sizes": np.exp(9 * np.sin(np.arange(156.0))).reshape(12, 13),
}


@pytest.mark.parametrize("k", [5, 0.6])
@pytest.mark.parametrize("name", EQUAL_ERRORS)
def test_diverse_packs_where_many_errors_are_equal(name, k):
    """Errors are kept in lists by size; these fill one list, or none, or need another floor at every step."""
    picture = EQUAL_ERRORS[name]
    teacher = nimt.GreedyTeacher(k=k, diverse=True, kernel=nimt.rbf(0.9))
    options = {"kernel": nimt.rbf(0.9), "rate": 0.4, "steps": 12}
    expected, lesson = (
        teach(nimt.Grid.like(picture), picture, teacher, engine, **options) for engine in ("reference", "grid")
    )
    np.testing.assert_array_equal(lesson.indices, expected.indices)
    np.testing.assert_allclose(lesson.final, expected.final, rtol=1e-9, atol=1e-12 * np.abs(picture).max())


@pytest.mark.filterwarnings("ignore::nimt.errors.NarrowKernelWarning")
def test_which_diverse_packs_are_compiled():
    learner, points, y = nimt.KernelLearner(nimt.rbf(0.1)), POOLS["scattered"], TARGETS["scattered"]
    teacher = nimt.GreedyTeacher(k=3, diverse=True, kernel=nimt.rbf(0.1))
    assert nimt.plan(learner, teacher, points, y).engine == "neighbours"
    other = nimt.plan(learner, nimt.GreedyTeacher(k=3, diverse=True, kernel=nimt.rbf(0.2)), points, y)
    assert other.engine == "reference"
    assert "the learner has another" in other.reason
    with pytest.raises(
        nimt.InvalidInput,
        match="'streamed' cannot run this lesson, because the streamed engine cannot choose by diverse packs",
    ):
        teach(points, y, teacher, "streamed", kernel=nimt.rbf(0.1))


@pytest.mark.usefixtures("every_step")
def test_a_resumed_lesson_of_diverse_packs_is_bit_identical(tmp_path):
    teacher = nimt.GreedyTeacher(k=4, diverse=True, kernel=nimt.rbf(WIDTH))
    options = {"steps": 60, "rate": 0.3}
    whole = teach(POOLS["2-D"], TARGETS["2-D"], teacher, "grid", **options)
    teach(POOLS["2-D"], TARGETS["2-D"], teacher, "grid", checkpoint=tmp_path / "stopped.npz",
          callback=lambda progress: progress.step > 20, **options)  # fmt: skip
    lesson = nimt.resume(tmp_path / "stopped.npz")
    np.testing.assert_array_equal(lesson.indices, whole.indices)
    np.testing.assert_array_equal(lesson.final, whole.final)


@pytest.mark.parametrize("k", [3, 0.4])
@pytest.mark.parametrize("name", ["2-D", "scattered"])
def test_packs_of_the_largest_loss_are_those_of_the_reference_loop(name, k):
    for loss in LOSSES:
        y = SIGNS[name] if loss == "logistic" else TARGETS[name]
        teacher, start = nimt.GreedyTeacher(k=k, score="loss", loss=loss), np.random.default_rng(8).normal(size=len(y))
        expected = teach(POOLS[name], y, teacher, "reference", loss=loss, initial=start, steps=40)
        for engine in engines_for(POOLS[name]):
            lesson = teach(POOLS[name], y, teacher, engine, loss=loss, initial=start, steps=40)
            np.testing.assert_allclose(lesson.discrepancy, expected.discrepancy, rtol=1e-9)
            np.testing.assert_array_equal(lesson.indices, expected.indices)


# ---------------------------------------------------------------- targets full of ties

# Of 1,024 points and more: some compiled loops run in blocks of 1,024.


def symmetric_bump():
    axis = np.linspace(-1, 1, 33)
    return nimt.Grid(axis, axis), lambda x: np.exp(-4 * (x**2).sum(axis=1))


def black_and_white():
    picture = np.where(np.random.default_rng(0).random((36, 30)) < 0.5, -1.0, 1.0)
    return nimt.Grid.like(picture), picture


def chessboard():
    picture = np.indices((32, 32)).sum(axis=0) // 4 % 2
    return nimt.Grid.like(picture), picture


@pytest.mark.parametrize("problem", [symmetric_bump, black_and_white, chessboard], ids=lambda made: made.__name__)
@pytest.mark.parametrize(
    ("loss", "k", "rate"), [("square", 1, 0.5), ("hinge", 1, 0.1), ("absolute", 1, 0.1), ("square", 3, 0.1)]
)
def test_on_a_grid_not_even_ties_tell_the_engines_apart(problem, loss, k, rate):
    pool, y = problem()
    assert len(pool) >= 1024
    kernel = nimt.rbf(0.15 if problem is symmetric_bump else 0.5)
    options = {"kernel": kernel, "loss": loss, "rate": rate, "steps": 1200}
    expected = teach(pool, y, nimt.GreedyTeacher(k=k), "reference", **options)
    lesson = teach(pool, y, nimt.GreedyTeacher(k=k), "grid", **options)
    np.testing.assert_array_equal(lesson.indices, expected.indices)
    np.testing.assert_array_equal(lesson.final, expected.final)
    np.testing.assert_allclose(lesson.discrepancy, expected.discrepancy, rtol=1e-9)


@pytest.mark.exhaustive
def test_errors_whose_norm_overflows_are_drawn_as_in_the_plain_loop():
    """The norm of two outputs of size 1e200 is infinite, the discrepancy is not: the first such point is shown."""
    y = np.random.default_rng(0).normal(size=(SIZES["1-D"], 2)) * 1e200
    y[:3] = 1.0
    expected = teach(POOLS["1-D"], y, nimt.teachers.SoftTeacher(), "reference", steps=5)
    assert expected.indices[0] == 3 and len(expected) == 5
    for engine in ("grid", "neighbours"):
        assert_same_lesson(expected, teach(POOLS["1-D"], y, nimt.teachers.SoftTeacher(), engine, steps=5))


@pytest.mark.parametrize("still", [None, 1e-9])
def test_a_slope_where_the_kernel_is_zero_is_no_rest_on_any_engine(still):
    """K(0, 0) = 0 of a linear kernel without a constant: the learner cannot move, but the loss has a slope."""
    X, y = np.array([[-1.0], [0.0], [2.0]]), np.array([0.1, 5.0, 0.3])
    options = {"kernel": theirs.DotProduct(0.0), "rate": 0.1, "steps": 20, "stop_when_stationary": still}
    expected = teach(X, y, nimt.GreedyTeacher(), "reference", **options)
    assert expected.outcome is (nimt.lesson.Outcome.BUDGET if still is None else nimt.lesson.Outcome.STATIONARY)
    assert_same_lesson(expected, teach(X, y, nimt.GreedyTeacher(), "streamed", **options))
