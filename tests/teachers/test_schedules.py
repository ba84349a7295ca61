"""Packs that change in size, teachers that look only sometimes, and mixtures: against plain loops, resumed, stored."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import nimt
from nimt import schedules, testing
from nimt.kernels import Matern
from nimt.operators.grid import GridOperator
from nimt.recipe.fields import read_pack as pack
from nimt.teachers.teacher import View
from nimt.theory.assumptions import one_example_a_step
from nimt.theory.replaying import replay
from oracles import furthest, gauss
from problems import assert_same_lesson

POINTS = np.linspace(-2, 2, 17)
TARGET = np.sin(2 * POINTS)
LEARNER = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
POWER = nimt.teachers.InterpolationTeacher("P", kernel=LEARNER.kernel)
SHAPES = {
    "linear": lambda start, end, part: start + (end - start) * part,
    "cosine": lambda start, end, part: start + (end - start) * (1 - math.cos(math.pi * part)) / 2,
    "geometric": lambda start, end, part: start * (end / start) ** part,
}


def taught(teacher, steps=30, **options):
    return nimt.teach(LEARNER, teacher, POINTS, TARGET, max_iterations=steps, **{"tol": None} | options)


def taught_in_a_box(teacher):
    return nimt.teach(LEARNER, teacher, nimt.Box([(0, 1)]), np.sin, max_iterations=1, tol=None)


def forecast(teacher):
    return nimt.forecast(LEARNER, teacher, POINTS, TARGET, tol=0.01)


def lesson_in_plain_loops(size_at, looks_at, steps):
    """Greedy packs: of this size at each step, chosen by the differences seen at the latest look."""
    kernel, values = gauss(0.5), [0.0] * len(POINTS)
    seen, packs, distances = None, [], []
    for step in range(steps):
        if looks_at(step):
            seen = list(values)
        pack = furthest(seen, TARGET, range(len(POINTS)), size_at(step))
        packs.append(pack)
        slopes = [2 * (values[i] - TARGET[i]) for i in pack]
        for j, x in enumerate(POINTS):
            for slope, i in zip(slopes, pack, strict=True):
                values[j] -= 0.1 / len(pack) * slope * kernel([POINTS[i]], [x])
        distances.append(math.sqrt(sum((f - t) ** 2 for f, t in zip(values, TARGET, strict=True))) / len(POINTS))
    return packs, distances


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("start", "end"), [(0.1, 1.0), (1.0, 0.3), (1, 9), (12, 2)])
def test_the_sizes_follow_the_formulas(shape, start, end):
    schedule = getattr(schedules, shape)(start, end, over=20)
    for step in range(40):
        expected = SHAPES[shape](start, end, min(1.0, step / 20))
        expected = round(expected) if isinstance(start, int) else expected
        assert schedule.at(step) == pytest.approx(expected, rel=1e-14)
        assert min(start, end) <= schedule.at(step) <= max(start, end)
    assert type(schedule.at(3)) is type(start)


def test_steps_are_equal_stages_from_start_to_end():
    sizes = [schedules.steps(0.1, 1.0, over=100, stages=4).at(step) for step in range(120)]
    assert sizes[:25] == [0.1] * 25
    np.testing.assert_allclose([sizes[25], sizes[50], sizes[74], sizes[75], sizes[119]], [0.4, 0.7, 0.7, 1.0, 1.0])
    assert schedules.steps(3, 8, over=10, stages=1).at(9) == 3


def test_incremental_looks_as_the_published_strategy_does():
    """At every step for a quarter, then every 10, 20, ..., 50 steps in five equal parts."""
    steps, longest, parts = 1000, 50, 5
    quarter, length = steps // 4, (steps - steps // 4) // parts
    schedule = schedules.incremental(longest, over=steps)
    for step in range(steps):
        gap = 1 if step < quarter else longest // parts * ((step - quarter) // length + 1)
        assert schedule.at(step) == (step % gap == 0)
    assert schedule.gap_at(5 * steps) == longest


@pytest.mark.parametrize("look", [None, schedules.every(4), schedules.incremental(6, over=20, stages=2)])
@pytest.mark.parametrize("k", [3, schedules.linear(1, 9, over=20), schedules.cosine(0.06, 1.0, over=25)])
def test_a_greedy_lesson_is_that_of_plain_loops(k, look):
    lesson = taught(nimt.GreedyTeacher(k=k, look=look))

    def size_at(step):
        size = k if isinstance(k, int) else k.at(step)
        return size if isinstance(size, int) else max(1, int(size * len(POINTS)))

    looks = [look is None or look.at(step) for step in range(30)]
    packs, distances = lesson_in_plain_loops(size_at, looks.__getitem__, 30)
    assert [lesson.pack(step)[0].tolist() for step in range(30)] == packs
    np.testing.assert_allclose(lesson.discrepancy[1:], distances, rtol=1e-12)
    assert (lesson.looked is None) if look is None else (lesson.looked.tolist() == looks)
    np.testing.assert_array_equal(lesson.picks, np.bincount(np.concatenate(packs), minlength=len(POINTS)))


ROOM = nimt.Grid.like(np.zeros((11, 13)))  # where small packs are added by columns, and large ones are convolved
ENGINES = {"grid": (ROOM, 0.5), "neighbours": (np.random.default_rng(4).normal(size=(90, 2)), 0.2)}
ENGINES["streamed"] = (ENGINES["neighbours"][0], 2.0)
SIZES = {
    "growing": schedules.geometric(1, 40, over=30),
    "falling": schedules.cosine(1.0, 0.02, over=40),
    "stages": schedules.steps(1, 9, over=30, stages=3),
}


def on_engine(teacher, engine, outputs=(), **options):
    X, width = ENGINES[engine]
    y = np.random.default_rng(5).normal(size=(len(X), *outputs))
    learner = nimt.KernelLearner(nimt.rbf(width), loss=options.pop("loss", "square"), learning_rate=0.2)
    options = {"max_iterations": 45, "tol": None, "seed": 3, "snapshots": [0, 3, 4, 5, 20, 45], **options}
    return [nimt.teach(learner, teacher, X, y, engine=name, **options) for name in ("reference", engine)]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::nimt.errors.NarrowKernelWarning", "ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("engine", ENGINES)
def test_compiled_packs_follow_a_schedule_as_the_plain_loop_does(engine, size):
    k = SIZES[size]
    other = nimt.teachers.AlternativeLabels(0.3, 0.4)
    cases = [
        (nimt.GreedyTeacher(k=k), {}),
        (nimt.GreedyTeacher(k=k), {"tol": 0.06}),
        (nimt.GreedyTeacher(k=k), {"patience": 3, "loss": "hinge"}),
        (nimt.GreedyTeacher(k=k, pool=0.9, labels=other), {}),
        (nimt.GreedyTeacher(k=k, score="loss", loss="huber"), {}),
        (nimt.RandomTeacher(k=k), {}),
        (nimt.RandomTeacher(k=k, replace=False), {}),
        (nimt.GreedyTeacher(k=k), {"outputs": (3,)}),
        (nimt.teachers.PerOutput(nimt.GreedyTeacher(k=k)), {"outputs": (3,)}),
        (nimt.teachers.Communicating(nimt.GreedyTeacher(k=k), every=7), {"outputs": (3,)}),
    ]
    assert_compiled_equals_plain(engine, cases)


@dataclass(frozen=True)
class Listed(nimt.schedules.PackSchedule):
    """Packs of these sizes, one after another and again from the first: a schedule of the user's."""

    sizes: tuple[float, ...] = ()

    def at(self, step):
        return self.sizes[step % len(self.sizes)]


def listed(*sizes):
    return Listed("linear", sizes[0], sizes[-1], over=1, sizes=sizes)


SHRINKING = {  # of n points; most show all of them at some step
    "steps from the whole pool to a half": lambda n: schedules.steps(1.0, 0.5, over=12, stages=2),
    "steps from the whole pool to a tenth": lambda n: schedules.steps(1.0, 0.1, over=12, stages=4),
    "steps to the whole pool": lambda n: schedules.steps(0.1, 1.0, over=12, stages=3),
    "geometric from the whole pool": lambda n: schedules.geometric(1.0, 0.01, over=12),
    "geometric from the whole pool to one": lambda n: schedules.geometric(n, 1, over=12),
    "geometric to the whole pool": lambda n: schedules.geometric(1, n, over=12),
    "linear from the whole pool": lambda n: schedules.linear(1.0, 0.05, over=12),
    "linear from all points to three": lambda n: schedules.linear(n, 3, over=12),
    "linear to the whole pool": lambda n: schedules.linear(0.05, 1.0, over=12),
    "cosine from the whole pool": lambda n: schedules.cosine(1.0, 0.02, over=12),
    "cosine to all points": lambda n: schedules.cosine(2, n, over=12),
    "the whole pool in the middle": lambda n: listed(0.03, 0.03, 1.0, 1.0, 1.0, 0.03, 0.5),
    "up and down": lambda n: listed(1, n, 1, n // 2, n - 1, n, n, 2),
}
WAYS = {  # a grid and kernels with which a pack is added by columns, by taps along its axes, and by a Fourier transform
    "columns": (nimt.Grid.like(np.zeros((15, 18))), nimt.Wendland(1.5, 2)),
    "separable": (nimt.Grid.like(np.zeros((15, 18))), nimt.rbf(0.9)),
    "fft": (nimt.Grid.like(np.zeros((15, 18))), Matern(1.0, nu=1.5)),
}


def teachers_with_packs(size, n):
    """Every kind of teacher whose packs a compiled engine chooses by a schedule, and how many outputs it teaches."""
    k, of_the_pool = size(n), size(int(0.6 * n))
    greedy = nimt.GreedyTeacher(k=k)
    return {
        "error": [
            (greedy, ()),
            (nimt.GreedyTeacher(k=of_the_pool, pool=0.6), ()),
            (nimt.GreedyTeacher(k=k, labels=nimt.teachers.AlternativeLabels(0.3, 0.4)), ()),
            (greedy, (3,)),
            (nimt.teachers.PerOutput(greedy), (3,)),
            (nimt.teachers.Communicating(greedy, every=5), (3,)),
        ],
        "loss": [
            (nimt.GreedyTeacher(k=k, score="loss", loss="square"), ()),
            (nimt.GreedyTeacher(k=k, score="gradient", loss="huber", kernel=nimt.linear()), ()),
            (nimt.teachers.PerOutput(nimt.GreedyTeacher(k=of_the_pool, pool=0.6, score="loss", loss="huber")), (3,)),
        ],
        "loss below 0": [
            (nimt.GreedyTeacher(k=k, score="loss", loss=less_than_nothing), ()),
            (nimt.GreedyTeacher(k=of_the_pool, pool=0.6, score="loss", loss=less_than_nothing), ()),
            (nimt.GreedyTeacher(k=of_the_pool, pool=0.6, score="loss", loss=less_than_nothing), (3,)),
            (nimt.teachers.PerOutput(nimt.GreedyTeacher(k=k, score="loss", loss=less_than_nothing)), (3,)),
        ],
        "nothing": [
            (nimt.RandomTeacher(k=k), ()),
            (nimt.RandomTeacher(k=of_the_pool, pool=0.6, replace=False), ()),
            (nimt.teachers.PerOutput(nimt.RandomTeacher(k=k)), (3,)),
        ],
    }


@nimt.compiled(smoothness=2.0, convex=True)
def less_than_nothing(f, y):
    return (f - y) ** 2 - 1.0, 2.0 * (f - y)


@pytest.mark.long
def test_these_grids_take_every_way_to_add_a_pack():
    for way, (grid, kernel) in WAYS.items():
        operator = GridOperator(kernel, grid)
        assert operator.cheapest_for(len(grid)) == way and operator.cheapest_for(1) == "columns"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nimt.errors.NarrowKernelWarning", "ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("chosen_by", ["error", "loss", "loss below 0", "nothing"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", SHRINKING)
@pytest.mark.sampled(5)
def test_packs_of_every_schedule_hold_the_points_of_the_plain_loop(size, way, chosen_by):
    """A step on the whole pool changes the order of the errors, so that the next pack tells by which it was chosen."""
    grid, kernel = WAYS[way]
    rng = np.random.default_rng(6)
    for teacher, outputs in teachers_with_packs(SHRINKING[size], len(grid))[chosen_by]:
        target, start = rng.normal(size=(2, len(grid), *outputs))
        learner = nimt.KernelLearner(kernel, learning_rate=0.3, initial=start)
        options = {"max_iterations": 16, "tol": None, "seed": 3, "snapshots": [0, 3, 4, 16]}
        plain = nimt.teach(learner, teacher, grid, target, engine="reference", **options)
        for engine in ("grid", "neighbours", "streamed"):
            fast = nimt.teach(learner, teacher, grid, target, engine=engine, **options)
            assert fast.engine == engine
            assert_equal_to_rounding(fast, plain)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::nimt.errors.NarrowKernelWarning", "ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("look", [schedules.every(4), schedules.incremental(6, over=30, stages=2, dense=0.3)], ids=str)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.sampled(3)
def test_compiled_packs_of_an_earlier_look_are_those_of_the_plain_loop(engine, look):
    other = nimt.teachers.AlternativeLabels(0.3, 0.4)
    cases = [(nimt.GreedyTeacher(k=k, look=look), {}) for k in (1, 4, 0.5, 1.0)] + [
        (nimt.GreedyTeacher(k=3, look=look), {"tol": 0.09}),
        (nimt.GreedyTeacher(k=3, look=look), {"patience": 3, "loss": "hinge"}),
        (nimt.GreedyTeacher(k=2, look=look, pool=0.9, labels=other), {}),
        (nimt.GreedyTeacher(k=2, look=look, score="loss", loss="huber"), {}),
        (nimt.GreedyTeacher(k=2, look=look), {"outputs": (3,)}),
        (nimt.teachers.PerOutput(nimt.GreedyTeacher(k=2, look=look)), {"outputs": (3,)}),
        (nimt.teachers.Communicating(nimt.GreedyTeacher(k=2, look=look), every=7), {"outputs": (3,)}),
    ]
    if engine != "streamed":
        kernel = nimt.rbf(ENGINES[engine][1])
        cases.append((nimt.GreedyTeacher(k=3, look=look, diverse=True, kernel=kernel), {}))
    assert_compiled_equals_plain(engine, cases)


@pytest.mark.long
@pytest.mark.parametrize("stop", [1, 3, 4, 7])
def test_a_compiled_lesson_is_resumed_between_two_looks(stop, tmp_path):
    teacher = nimt.GreedyTeacher(k=3, look=schedules.every(4))
    whole = nimt.teach(LEARNER, teacher, ROOM, ROOM.points[:, 0], max_iterations=12, tol=None)
    part = nimt.teach(
        LEARNER, teacher, ROOM, ROOM.points[:, 0], max_iterations=stop, tol=None, checkpoint=tmp_path / "part.npz"
    )
    assert part.engine == whole.engine == "grid"
    assert_same_lesson(nimt.resume(tmp_path / "part.npz", max_iterations=12), whole)


def assert_compiled_equals_plain(engine, cases):
    for teacher, options in cases:
        plain, fast = on_engine(teacher, engine, **options)
        assert fast.engine == engine
        assert_equal_to_rounding(fast, plain)


def assert_equal_to_rounding(fast, plain):
    assert fast.outcome is plain.outcome
    np.testing.assert_array_equal(fast.looked, plain.looked)
    for name in ("indices", "labels", "picks"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(plain, name))
    np.testing.assert_allclose(fast.discrepancy, plain.discrepancy, rtol=1e-9)
    assert list(fast.snapshots) == list(plain.snapshots)
    for step, values in plain.snapshots.items():
        np.testing.assert_allclose(fast.snapshots[step], values, atol=1e-11)


@pytest.mark.parametrize("engine", ["reference", "streamed"])
def test_a_pack_without_a_slope_may_still_grow(engine):
    """Hinge: the furthest point is on the right side of its margin; the smaller error of the second is not."""
    X, y = np.array([0.0, 9.0]), np.array([1.0, -1.0])
    learner = nimt.KernelLearner(nimt.rbf(0.5), loss="hinge", learning_rate=0.1, initial=np.array([4.0, -0.5]))
    lesson = nimt.teach(
        learner,
        nimt.GreedyTeacher(k=schedules.steps(1, 2, over=8, stages=2)),
        X,
        y,
        max_iterations=8,
        tol=None,
        engine=engine,
    )
    assert len(lesson) == 8
    assert lesson.final[0] == 4.0 and lesson.final[1] < -0.5


TEACHERS = {
    "greedy": nimt.GreedyTeacher(k=schedules.geometric(1, 12, over=9), look=schedules.every(3)),
    "random": nimt.RandomTeacher(k=schedules.cosine(0.1, 0.9, over=9)),
    "distinct": nimt.RandomTeacher(k=schedules.linear(2, 9, over=9), replace=False),
    "soft": nimt.teachers.SoftTeacher(
        k=schedules.steps(1, 6, over=9, stages=3), look=schedules.incremental(4, over=9, stages=2)
    ),
    "mixed": nimt.teachers.MixedTeacher(
        {nimt.GreedyTeacher(): 0.4, nimt.RandomTeacher(replace=False): 0.6},
        k=schedules.linear(0.2, 0.8, over=9), look=schedules.every(2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TEACHERS)
def test_the_contract_of_teachers(name):
    testing.check_teacher(TEACHERS[name])


@pytest.mark.parametrize("name", TEACHERS)
def test_a_lesson_is_stored_and_resumed_bit_for_bit(name, tmp_path):
    teacher = TEACHERS[name]
    whole = taught(teacher, 14, seed=3)
    path = tmp_path / "checkpoint"
    taught(teacher, 5, seed=3, checkpoint=path)
    resumed = nimt.resume(path, max_iterations=14)
    resumed.save(tmp_path / "lesson.npz")
    for other in (resumed, nimt.Lesson.load(tmp_path / "lesson.npz")):
        np.testing.assert_array_equal(other.indices, whole.indices)
        np.testing.assert_array_equal(other.labels, whole.labels)
        np.testing.assert_array_equal(other.looked, whole.looked)
        np.testing.assert_array_equal(other.final, whole.final)
    assert sorted({len(whole.pack(step)[0]) for step in range(14)}) != [1]


def test_a_length_that_is_not_given_is_that_of_the_lesson(tmp_path):
    open_ended = nimt.GreedyTeacher(k=schedules.linear(1, 11), look=schedules.incremental(4, stages=2))
    fixed = nimt.GreedyTeacher(k=schedules.linear(1, 11, over=10), look=schedules.incremental(4, stages=2, over=10))
    path = tmp_path / "checkpoint"
    lesson = taught(open_ended, 10, checkpoint=path)
    assert_same_lesson(lesson, taught(fixed, 10))
    later = nimt.resume(path, max_iterations=20)  # the larger budget does not stretch the schedule
    np.testing.assert_array_equal(later.indices, taught(fixed, 20).indices)
    with pytest.raises(nimt.InvalidInput, match="over="):
        open_ended.select(view_of(TARGET))


def view_of(target, seed=0):
    n = len(target)
    places = np.arange(n)
    return View(0, nimt.Grid(places), np.zeros(n), np.asarray(target), np.random.default_rng(seed), None, places)


@pytest.mark.parametrize("seed", range(5))
def test_a_mixture_chooses_in_turn_from_what_is_free(seed):
    rng = np.random.default_rng(seed)
    target = rng.normal(size=20)
    parts = [(nimt.GreedyTeacher(norm=1), 0.3), (nimt.RandomTeacher(replace=False), 0.25), (nimt.GreedyTeacher(), 0.45)]
    shown = nimt.teachers.MixedTeacher(parts, k=9).select(view_of(target, seed)).indices.tolist()
    first = furthest([0.0] * 20, target, range(20), 2)
    free = [i for i in range(20) if i not in first]
    drawn = [free[i] for i in np.random.default_rng(seed).choice(18, size=2, replace=False)]
    rest = furthest([0.0] * 20, target, [i for i in free if i not in drawn], 5)
    assert shown == first + drawn + rest
    assert nimt.teachers.MixedTeacher(parts).sizes(9) == [2, 2, 5]


def test_a_mixture_of_one_is_that_teacher():
    for teacher, alone in [
        (nimt.GreedyTeacher(), nimt.GreedyTeacher(k=4)),
        (nimt.RandomTeacher(), nimt.RandomTeacher(k=4)),
    ]:
        mixed = taught(nimt.teachers.MixedTeacher([(teacher, 1.0)], k=4), engine="reference")
        np.testing.assert_array_equal(mixed.indices, taught(alone, engine="reference").indices)


def test_several_outputs_are_mixed_and_looked_at_by_their_norm():
    target = np.stack([TARGET, 2 * np.cos(POINTS), POINTS], axis=1)
    teacher = nimt.teachers.MixedTeacher(
        {nimt.GreedyTeacher(): 0.5, nimt.teachers.SoftTeacher(): 0.5},
        k=schedules.linear(2, 8, over=9),
        look=schedules.every(4),
    )
    lesson = nimt.teach(LEARNER, teacher, POINTS, target, max_iterations=12, tol=None, seed=1)
    assert lesson.labels.shape == (12, 8, 3)
    indices, labels = lesson.pack(3)
    np.testing.assert_array_equal(labels, target[indices])


def test_figures_theory_and_tables_read_packs_of_any_size(tmp_path):
    lesson = taught(nimt.GreedyTeacher(k=schedules.linear(1, 8, over=10)), 12, snapshots=[0, 6])
    moments = list(replay(lesson).moments())
    assert [len(moment.indices) for moment in moments] == [len(lesson.pack(step)[0]) for step in range(12)]
    assert "packs of up to 8 examples" in str(one_example_a_step(replay(lesson)))
    panels = nimt.plots.panel_table(lesson, steps=[0, 6])
    assert [len(panel.shown) for panel in panels] == [1, 5]
    table = lesson.to_table()
    assert table["index_8"][0] == -1 and np.isnan(table["label_8"][0])
    lesson.replay(tmp_path / "lesson.html")
    looked = taught(nimt.GreedyTeacher(look=schedules.every(5)), 12).to_table()["looked"]
    assert np.flatnonzero(looked).tolist() == [0, 5, 10]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: schedules.cosine(0.0, 1.0), "start as a float is a share"),
        (lambda: schedules.linear(1, 0.5), "both be counts or both be shares"),
        (lambda: schedules.geometric(1, 5, over=0), "over must be a whole number >= 1, got 0"),
        (lambda: schedules.steps(1, 5, stages=0), "stages must be a whole number"),
        (lambda: nimt.schedules.PackSchedule("round", 1, 2), "must be one of cosine"),
        (lambda: nimt.schedules.PackSchedule("linear", 1, 2, stages=3), "a linear schedule has none"),
        (lambda: schedules.every(0), "gap must be a whole number >= 1"),
        (lambda: schedules.incremental(3), "at least stages"),
        (lambda: schedules.incremental(dense=1.0), "dense must be a share"),
        (lambda: nimt.schedules.LookSchedule("never", 3), "must be one of every"),
        (lambda: nimt.GreedyTeacher(look=10), "look must be None"),
        (lambda: nimt.SynthesisTeacher(k=schedules.linear(1, 2)), "k must be a count"),
        (lambda: taught(nimt.GreedyTeacher(k=schedules.linear(1, 18, over=99)), 3), "from 1 to 17"),
        (lambda: nimt.teachers.MixedTeacher({}), "shares must be teachers"),
        (lambda: nimt.teachers.MixedTeacher(3), "shares must be teachers"),
        (lambda: nimt.teachers.MixedTeacher({nimt.GreedyTeacher(): 0.5}), "sum to 0.5"),
        (lambda: nimt.teachers.MixedTeacher({nimt.GreedyTeacher(): 2.0}), "from 0 to 1, got 2.0"),
        (lambda: nimt.teachers.MixedTeacher({nimt.GreedyTeacher(k=1.0): 1.0}), "k= is given to the mixture"),
        (lambda: nimt.teachers.MixedTeacher({nimt.GreedyTeacher(pool=[1, 2]): 1.0}), "pool= is given to the mixture"),
        (lambda: nimt.teachers.MixedTeacher({nimt.SynthesisTeacher(): 1.0}), "make no labels"),
        (lambda: nimt.teachers.MixedTeacher({"greedy": 1.0}), "make no labels"),
        (lambda: taught(nimt.teachers.MixedTeacher({POWER: 1.0}, k=2)), "remembers what it showed"),
        (lambda: forecast(nimt.GreedyTeacher(k=schedules.linear(1, 4))), "no forecast"),
        (
            lambda: taught(nimt.GreedyTeacher(k=schedules.linear(1, 4), look=schedules.every(2)), engine="streamed"),
            "the reference loop follows the schedule of this GreedyTeacher",
        ),
        (lambda: taught_in_a_box(nimt.GreedyTeacher(look=schedules.every(2))), "in a Box a teacher cannot have look="),
        (lambda: taught(nimt.GreedyTeacher(), record="picks").pack(0), "record='all'"),
        (lambda: taught(nimt.GreedyTeacher()).pack(30), "steps 0 to 29, got 30"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_sentence(make, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        make()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("round:1:2", "shape:start:end"),
        ("linear:1", "shape:start:end"),
        ("linear:1:2:3:4", "shape:start:end"),
        ("linear:1:two", "two"),
        ("linear:1:0.5", "both be counts"),
        ("cosine:0.1:1.0:0", "over must be a whole number"),
    ],
)
def test_a_schedule_on_the_command_line_that_cannot_be_read_is_refused(text, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        pack(text)


def test_a_schedule_on_the_command_line_is_the_one_in_python():
    assert pack("geometric:0.02:0.2:300") == schedules.geometric(0.02, 0.2, over=300)
    assert pack("steps:1:9") == schedules.steps(1, 9)
