"""Examples anywhere in a box: the search for maxima, and lessons between the points of the grid."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.linear_model import SGDRegressor

import nimt
from nimt.kernels import as_kernel
from nimt.kernels.radial import on_one_axis
from nimt.pools.box import highest, local_maxima
from nimt.pools.cell_maxima import CellNodes
from problems import MIXTURE, assert_same_lesson

BOX = nimt.Box((-14, 13.9), points=280)

KNOWN_MAXIMA = {
    "a bump between grid points": (nimt.Box((-2, 3), points=12), lambda x: np.exp(-((x[:, 0] - 0.3) ** 2)), [0.3]),
    "a valley is one too": (nimt.Box((-2, 3), points=12), lambda x: -2 / (1 + (x[:, 0] - 1.234) ** 2), [1.234]),
    "at the edge": (nimt.Box((-2, 3), points=12), lambda x: np.exp(x[:, 0]), [3.0]),
    "a sine, highest of many": (nimt.Box((0, 18.5), points=101), lambda x: x[:, 0] * np.sin(x[:, 0]), [17.336377917]),
    "a tiny function": (nimt.Box((-1, 1), points=9), lambda x: 1e-9 * np.cos(x[:, 0] - 0.123), [0.123]),
    "two axes, turned": (
        nimt.Box([(-1, 1), (-1, 2)], points=15),
        lambda x: np.exp(-((x[:, 0] - 0.21) ** 2) - (x[:, 1] - 0.37) ** 2 - 1.2 * (x[:, 0] - 0.21) * (x[:, 1] - 0.37)),
        [0.21, 0.37],
    ),
    "three axes": (
        nimt.Box([(-1, 1)] * 3, points=6),
        lambda x: 1 / (1 + np.sum((x - [0.11, -0.52, 0.73]) ** 2, axis=1)),
        [0.11, -0.52, 0.73],
    ),
    "two axes, at an edge": (nimt.Box([(0, 1)] * 2, points=7), lambda x: x[:, 0] - (x[:, 1] - 0.4) ** 2, [1.0, 0.4]),
}


@pytest.mark.parametrize(("box", "function", "place"), KNOWN_MAXIMA.values(), ids=KNOWN_MAXIMA)
def test_known_maxima_are_found(box, function, place):
    found = highest(function, box, function(box.grid.points))
    np.testing.assert_allclose(found, [place], atol=2e-5)


def test_several_maxima_come_highest_first_and_once():
    box = nimt.Box((0, 10), points=61)

    def hills(x):
        return 3 * np.exp(-((x[:, 0] - 2.03) ** 2)) - 2 * np.exp(-((x[:, 0] - 7.11) ** 2))

    found = highest(hills, box, hills(box.grid.points), count=5)
    np.testing.assert_allclose(found[:2, 0], [2.03, 7.11], atol=1e-4)
    sizes = np.abs(hills(found))
    assert (np.diff(sizes) <= 0).all()
    assert len(np.unique(found.round(3))) == len(found)


def test_local_maxima_are_those_of_plain_loops():
    table = np.random.default_rng(0).random((6, 7))
    expected = []
    for i in range(6):
        for j in range(7):
            around = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
            inside = [table[a, b] for a, b in around if 0 <= a < 6 and 0 <= b < 7]
            if all(table[i, j] >= value for value in inside):
                expected.append((table[i, j], 7 * i + j))
    expected = [place for _, place in sorted(expected, reverse=True)]
    assert local_maxima(table.ravel(), nimt.Box([(0, 5), (0, 6)], points=(6, 7)).grid, 99) == expected


@pytest.mark.parametrize("sizes", [[1, 1, 1], [3, 2, 2, 5, 5, 1, 4], [0, 0, 0], [1, 2, 3], [3, 2, 1], [0, 7, 0, 7, 0]])
def test_local_maxima_on_a_line_are_those_of_plain_loops(sizes):
    around = [-1, *sizes, -1]
    places = [i for i, size in enumerate(sizes) if around[i] <= size >= around[i + 2]]
    expected = sorted(places, key=lambda i: (-sizes[i], i))
    grid = nimt.Grid(np.arange(len(sizes)))
    for count in (1, 2, 9):
        assert local_maxima(np.array(sizes, dtype=float), grid, count) == expected[:count]


def in_box(teacher, **options):
    return nimt.teach(MIXTURE.learner(), teacher, BOX, MIXTURE.target, **{"max_iterations": 30, "tol": None} | options)


def test_every_example_is_the_furthest_point_of_the_box():
    """Against a scan ten times as fine: nothing in the box is further off than what was shown."""
    fine = np.linspace(-14, 13.9, 2791)[:, np.newaxis]
    learner = MIXTURE.learner()
    for (point,), (label,) in zip(*(getattr(in_box(nimt.GreedyTeacher()), name) for name in ("shown_points", "labels")),
                                  strict=True):  # fmt: skip
        gaps = np.abs(learner.predict(fine) - MIXTURE.target(fine).ravel())
        gap = abs(learner.predict(point[np.newaxis])[0] - label)
        assert gap >= gaps.max() * (1 - 1e-9)
        assert label == pytest.approx(MIXTURE.target(point[np.newaxis])[0, 0], rel=1e-12)
        learner.partial_fit(point[np.newaxis], [label])


def test_the_taught_learner_is_the_one_measured():
    lesson = in_box(nimt.GreedyTeacher(), max_iterations=40)
    np.testing.assert_allclose(lesson.learner.predict(BOX.grid), lesson.final, atol=1e-13)
    expected = np.linalg.norm(lesson.final - MIXTURE.target(BOX.grid.points).ravel()) / 280
    assert lesson.discrepancy[-1] == pytest.approx(expected)


@pytest.mark.slow
def test_the_mixture_takes_as_many_steps_in_a_box_as_on_the_grid():
    assert in_box(nimt.SynthesisTeacher(), tol=1e-4, max_iterations=400).itd <= 305
    box, grid = (
        nimt.teach(MIXTURE.learner(), nimt.GreedyTeacher(), X, MIXTURE.target, tol=1e-3, max_iterations=2000).itd
        for X in (BOX, MIXTURE.pool)
    )
    assert abs(box - grid) <= 0.01 * grid


def test_points_between_and_the_grid_points_next_to_them():
    lesson = in_box(nimt.SynthesisTeacher())
    assert lesson.shown_points.shape == (30, 1, 1)
    off_grid = np.abs(lesson.shown_points[:, 0] - BOX.grid.points[lesson.indices[:, 0]])
    assert off_grid.max() <= 0.05 + 1e-12
    assert np.count_nonzero(off_grid > 1e-6) > 20
    np.testing.assert_array_equal(np.bincount(lesson.indices[:, 0], minlength=280), lesson.picks)


def test_a_teacher_sees_what_became_of_what_it_showed():
    """The response it works out in a box is the learner's: 2 eta."""
    walk = nimt.steps(
        MIXTURE.learner(), nimt.SynthesisTeacher(radius=40.0), BOX, MIXTURE.target, max_iterations=12, tol=None
    )
    for step, selection, _ in walk:
        if step > 1:
            moved, asked = selection.memory["common"]
            assert moved / asked == pytest.approx(0.02, rel=1e-6)


@pytest.mark.long
def test_packs_and_two_axes():
    box = nimt.Box([(-1, 1), (-1, 1)], points=15)
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.05)

    def saddle(x):
        return np.sin(3 * x[:, 0]) * x[:, 1]

    for teacher in (
        nimt.GreedyTeacher(k=3),
        nimt.SynthesisTeacher(k=2),
        nimt.teachers.SoftTeacher(),
        nimt.RandomTeacher(k=4),
    ):
        lesson = nimt.teach(learner, teacher, box, saddle, max_iterations=20, tol=None)
        assert lesson.shown_points.shape == (20, teacher.k, 2)
        assert lesson.discrepancy[-1] < lesson.discrepancy[0]


@pytest.mark.long
@pytest.mark.parametrize(
    "learner", [nimt.learners.OrthogonalLearner(nimt.rbf(0.5), initial=MIXTURE.initial), SGDRegressor()]
)
def test_any_learner(learner):
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), BOX, MIXTURE.target, max_iterations=12, tol=None)
    assert lesson.discrepancy[-1] != lesson.discrepancy[0]
    np.testing.assert_allclose(lesson.learner.predict(BOX.grid.points), lesson.final, atol=1e-12)


def test_saved_and_loaded(tmp_path):
    lesson = in_box(nimt.GreedyTeacher())
    lesson.save(tmp_path / "box.npz")
    np.testing.assert_array_equal(nimt.Lesson.load(tmp_path / "box.npz").shown_points, lesson.shown_points)


def test_the_theory_does_not_replay_what_lay_between_the_points():
    with pytest.raises(nimt.InvalidInput, match="held in a Box"):
        nimt.theory.check(in_box(nimt.GreedyTeacher(), max_iterations=3))


def test_panels_show_the_points_themselves():
    lesson = in_box(nimt.GreedyTeacher(), max_iterations=4, snapshots=[3])
    (panel,) = nimt.plots.panel_table(lesson, [3])
    np.testing.assert_array_equal(panel.shown, lesson.shown_points[3])


def test_other_labels():
    teacher = nimt.GreedyTeacher(labels=nimt.teachers.AlternativeLabels(lambda x: 0 * x[:, 0] + 7.0, probability=1.0))
    assert (in_box(teacher).labels == 7.0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": np.zeros(280)}, "the target must be callable in a Box"),
        ({"learner": MIXTURE.learner(initial=np.zeros(280))}, "give a callable"),
        ({"measure": "rkhs"}, "measure='rkhs' needs a learner"),
        ({"stop_when_stationary": 1.0}, "use patience instead"),
        ({"teacher": nimt.GreedyTeacher(pool=0.5)}, "cannot have pool="),
        ({"teacher": nimt.GreedyTeacher(k=0.5)}, "k must be a count"),
        ({"teacher": nimt.teachers.InterpolationTeacher("P", kernel=nimt.rbf(0.5))}, "needs a fixed pool"),
        ({"engine": "grid"}, "engine"),
    ],
)
def test_what_a_lesson_in_a_box_refuses(options, message):
    given = {"learner": MIXTURE.learner(), "teacher": nimt.GreedyTeacher(), "y": MIXTURE.target} | options
    with pytest.raises(nimt.InvalidInput, match=message):
        nimt.teach(X=BOX, max_iterations=3, **{"tol": None} | given)


def test_a_lesson_in_a_box_can_be_stopped_and_resumed(tmp_path):
    whole = in_box(nimt.GreedyTeacher(), max_iterations=30)
    in_box(nimt.GreedyTeacher(), max_iterations=13, checkpoint=tmp_path / "c")
    with pytest.raises(nimt.InvalidInput, match=r"pass it again.*y=\.\.\."):
        nimt.resume(tmp_path / "c", max_iterations=30)
    resumed = nimt.resume(tmp_path / "c", max_iterations=30, y=MIXTURE.target, learner=MIXTURE.learner())
    np.testing.assert_array_equal(resumed.shown_points, whole.shown_points)
    np.testing.assert_array_equal(resumed.discrepancy, whole.discrepancy)
    np.testing.assert_array_equal(resumed.final, whole.final)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([(1, 0)],), "axis 0 of the box runs from 1.0 to 0.0"),
        (([1, 2, 3],), "bounds must be pairs"),
        (([(0, np.inf)],), "bounds has inf"),
        (([(0, 1)], 2), "points along an axis"),
        (([(0, 1)], (5, 5)), "points has 2 counts and the box 1 axes"),
    ],
)
def test_what_a_box_refuses(arguments, message):
    with pytest.raises(nimt.InvalidInput, match=message):
        nimt.Box(*arguments)


def by_search(monkeypatch, **options):
    """The lesson with the search at every step, whatever is kept up to date."""
    with monkeypatch.context() as patch:
        patch.setattr("nimt.engines.offering.FollowingPupil", type("Nobody", (), {}))
        return one_axis(**options)


def one_axis(teacher=None, kernel=None, target=None, loss="square", **options):
    learner = nimt.KernelLearner(kernel or nimt.rbf(0.5), loss=loss, learning_rate=0.05, initial=MIXTURE.initial)
    if target is two_outputs:
        learner = nimt.KernelLearner(kernel or nimt.rbf(0.5), learning_rate=0.05)
    options = {"max_iterations": 60, "tol": None} | options
    return nimt.teach(learner, teacher or nimt.GreedyTeacher(), BOX, target or MIXTURE.target, **options)


def two_outputs(x):
    return np.column_stack([MIXTURE.target(x).ravel(), MIXTURE.target(x / 2 + 3).ravel() - x[:, 0] / 40])


def kinked(x):
    return np.abs(x[:, 0] - 0.123) / 20


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"teacher": nimt.GreedyTeacher(k=3)},
        {"teacher": nimt.SynthesisTeacher()},
        {"target": two_outputs},
        {"loss": "huber"},
        {"target": kinked},
        {"kernel": Matern(0.7, nu=0.5)},
        {"kernel": nimt.rbf(0.08)},
    ],
    ids=["greedy", "packs", "synthesis", "outputs", "huber", "kinked target", "kinked kernel", "narrow kernel"],
)
def test_values_kept_at_nodes_lead_to_the_places_that_the_search_finds(options, monkeypatch):
    kept, searched = one_axis(**options), by_search(monkeypatch, **options)
    np.testing.assert_allclose(kept.discrepancy, searched.discrepancy, rtol=1e-6)
    np.testing.assert_array_equal(kept.indices, searched.indices)
    np.testing.assert_allclose(kept.shown_points, searched.shown_points, atol=2e-4)


def test_a_smooth_function_is_not_searched(monkeypatch):
    def never(*_):
        raise AssertionError("the local search was made")

    monkeypatch.setattr("nimt.pools.box.climb", never)
    assert len(one_axis()) == 60


def test_nodes_refuse_what_they_cannot_resolve():
    nodes = CellNodes(BOX.grid)
    starts = [141]  # the point of the grid beside the kink
    *_, resolved = nodes.tops(starts, kinked(nodes.points).take)
    assert not resolved.any()
    assert nodes.top(starts, kinked(nodes.points).take) is None
    assert nodes.top([20, *starts], kinked(nodes.points).take) is None  # one of them is enough
    *_, resolved = nodes.tops(starts, MIXTURE.target(nodes.points).ravel().take)
    assert resolved.all()


@pytest.mark.parametrize("beside", [-3e-4, -1e-9, 0.0, 1e-9, 3e-4])
def test_a_maximum_beside_a_point_of_the_grid_is_found_in_the_right_cell(beside):
    nodes, top = CellNodes(BOX.grid), BOX.grid.points[141, 0] + beside
    values_at = np.cos(nodes.points[:, 0] - top).take
    ((place,),), (size,), (resolved,) = nodes.tops([141], values_at)
    assert resolved and abs(place - top) < 1e-8 and size == pytest.approx(1.0, rel=1e-14)
    place, size = nodes.top([141], values_at)
    assert abs(place - top) < 1e-8 and size == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("seed", range(8))
def test_the_highest_top_alone_is_the_highest_of_all(seed):
    """Waves whose maxima are nearly equal, so that looks alone would not tell which is the highest."""
    rng = np.random.default_rng(seed)
    nodes = CellNodes(BOX.grid)
    x = nodes.points[:, 0]
    values = np.sin(rng.uniform(1, 6) * x + rng.uniform(0, 6)) * (1 + 1e-6 * np.sin(x)) * rng.choice([-1, 1])
    starts = local_maxima(np.abs(values[::10]), BOX.grid, 6)
    places, sizes, resolved = nodes.tops(starts, values.take)
    assert resolved.all()
    place, size = nodes.top(starts, values.take)
    assert size == pytest.approx(sizes.max(), rel=1e-14)
    assert place == pytest.approx(places[sizes.argmax(), 0], abs=1e-7)


def test_the_highest_top_alone_is_at_an_end_of_the_box():
    nodes = CellNodes(BOX.grid)
    for slope, end in ((1.0, 279), (-1.0, 0)):
        place, size = nodes.top([end], np.exp(slope * nodes.points[:, 0] / 9).take)
        assert place == pytest.approx(BOX.grid.points[end, 0], abs=1e-14)
        assert size == pytest.approx(np.exp(slope * place / 9))


@pytest.mark.parametrize("kernel", [nimt.rbf(0.2), nimt.rbf(9.0), Matern(0.1), nimt.linear()], ids=repr)
def test_columns_within_reach_are_all_there_is(kernel):
    """Also at both ends of the box, and where a kernel reaches across it or has no reach."""
    pupil = nimt.KernelLearner(kernel, learning_rate=1e-3).make_pupil_in(BOX)
    nodes = CellNodes(BOX.grid).points
    pupil.follow(nodes)
    for x in (-14.0, -3.21, 0.5, 13.9):
        pupil.learn_at(np.array([[x]]), np.array([1.0 + x]))
    taught = pupil.to_learner()
    for values, points in ((pupil.values, BOX.grid.points), (pupil.followed, nodes)):
        np.testing.assert_allclose(values, taught.predict(points), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("kernel", [RBF(0.5), RBF([0.25]), 2.0 * RBF(0.5), Matern(0.7)], ids=repr)
def test_kernels_on_one_axis_are_those_of_scikit_learn_to_the_last_bit(kernel):
    points, centres = np.random.default_rng(0).normal(size=(2, 200, 1))
    np.testing.assert_array_equal(as_kernel(kernel)(points, centres), kernel(points, centres))
    np.testing.assert_array_equal(on_one_axis(as_kernel(kernel), points)(points, centres), kernel(points, centres))


@pytest.mark.long
@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("teacher", [nimt.GreedyTeacher(k=2), nimt.SynthesisTeacher()])
@pytest.mark.parametrize("at", [1, 2, 7])
def test_a_lesson_in_a_box_is_resumed_bit_by_bit(teacher, at, tmp_path):
    options = {"teacher": teacher, "target": np.sin, "max_iterations": 12, "tol": None}
    whole = one_axis(**options)
    one_axis(**options, callback=lambda p: p.step >= at, checkpoint=tmp_path / "c")
    again = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.05, initial=MIXTURE.initial)
    resumed = nimt.resume(tmp_path / "c", y=np.sin, learner=again)
    assert_same_lesson(resumed, whole)
    np.testing.assert_array_equal(resumed.shown_points, whole.shown_points)


@pytest.mark.parametrize("width", [1e-6, 1e-5])
@pytest.mark.parametrize("edge", [0.3, 0.5, 0.61, 0.8])
def test_a_jump_in_a_tiny_box_is_found(width, edge):
    """The search may end at a point that rounding moved: it is asked for again."""
    learner = nimt.KernelLearner(nimt.rbf(width / 6), learning_rate=0.5)
    lesson = nimt.teach(
        learner, nimt.GreedyTeacher(), nimt.Box([(0.0, width)]), lambda x: (x[:, 0] > edge * width) * 1.0,
        max_iterations=15, tol=None,
    )  # fmt: skip
    assert len(lesson) == 15 and lesson.discrepancy[-1] < lesson.discrepancy[0]
