"""PerOutput: the plain loop written out, q lessons of one output side by side, files, and what is refused."""

import numpy as np
import pytest

import nimt
from nimt.operators.dense import DenseOperator
from nimt.teachers import PerOutput

pytestmark = pytest.mark.long

GRID = nimt.Grid(np.linspace(-2, 2, 9), np.linspace(-1, 1, 6))
SCATTERED = np.random.default_rng(0).uniform(-2, 2, size=(40, 2))
TEACHERS = {
    "greedy": nimt.GreedyTeacher(),
    "pack": nimt.GreedyTeacher(k=3),
    "whole": nimt.GreedyTeacher(k=1.0),
    "pool": nimt.GreedyTeacher(pool=[1, 5, 8, 20, 33]),
    "gradient": nimt.GreedyTeacher(score="gradient", loss="square", kernel=nimt.rbf(0.5)),
    "diverse": nimt.GreedyTeacher(k=3, diverse=True, kernel=nimt.rbf(0.5)),
    "made labels": nimt.SynthesisTeacher(),
}


def target_on(points, q):
    return np.sin(points @ np.random.default_rng(q).normal(size=(2, q)) + np.arange(q))


def teach(teacher, q=3, X=SCATTERED, target=None, **options):
    points = X.points if isinstance(X, nimt.Grid) else X
    learner = nimt.KernelLearner(nimt.rbf(0.5), **({"learning_rate": 0.2} | options.pop("learner", {})))
    rules = {"max_iterations": 50, "tol": None, "seed": 4} | options
    return nimt.teach(learner, teacher, X, target_on(points, q) if target is None else target, **rules)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("q", [2, 3])
def test_the_plain_loop_is_the_formula(q, k):
    lesson = teach(PerOutput(nimt.GreedyTeacher(k=k)), q)
    gram, target = nimt.rbf(0.5)(SCATTERED), target_on(SCATTERED, q)
    f = [[0.0] * q for _ in range(40)]
    for t in range(50):
        moves = []
        for o in range(q):
            ranked = sorted(range(40), key=lambda i, o=o: (-abs(f[i][o] - target[i, o]), i))
            chosen = sorted(ranked[:k])
            assert lesson.indices[t, o * k : (o + 1) * k].tolist() == chosen
            assert lesson.labels[t, o * k : (o + 1) * k].tolist() == [target[i, o] for i in chosen]
            moves += [(o, i, -0.2 / k * 2 * (f[i][o] - target[i, o])) for i in chosen]
        for o, i, move in moves:
            for j in range(40):
                f[j][o] += move * gram[j, i]
        total = sum((f[i][o] - target[i, o]) ** 2 for i in range(40) for o in range(q))
        assert lesson.discrepancy[t + 1] == pytest.approx(total**0.5 / 40, rel=1e-10)
    assert lesson.indices.shape == lesson.labels.shape == (50, q * k)
    assert lesson.picks.sum() == 50 * q * k
    np.testing.assert_allclose(lesson.final, f, atol=1e-12)


@pytest.mark.parametrize("q", [2, 3])
def test_a_random_teacher_draws_for_the_outputs_in_their_order(q):
    lesson = teach(PerOutput(nimt.RandomTeacher(k=2)), q)
    _, selection, _ = np.random.default_rng(4).spawn(3)
    for t in range(50):
        assert lesson.indices[t].tolist() == [int(selection.integers(40)) for _ in range(2 * q)]
    np.testing.assert_array_equal(lesson.labels, lesson.target[lesson.indices, np.repeat(np.arange(q), 2)])


@pytest.mark.parametrize("X", [GRID, SCATTERED], ids=["grid", "points"])
@pytest.mark.parametrize("name", TEACHERS)
def test_it_is_as_many_lessons_of_one_output(name, X):
    points = X.points if isinstance(X, nimt.Grid) else X
    target = target_on(points, 3)
    together = teach(PerOutput(TEACHERS[name]), X=X, engine="reference")
    alone = [teach(TEACHERS[name], X=X, target=target[:, o], engine="reference") for o in range(3)]
    k = together.indices.shape[1] // 3
    for o, lesson in enumerate(alone):
        np.testing.assert_array_equal(together.indices[:, o * k : (o + 1) * k], lesson.indices)
        np.testing.assert_array_equal(together.labels[:, o * k : (o + 1) * k], lesson.labels)
        np.testing.assert_array_equal(together.final[:, o], lesson.final)
    np.testing.assert_allclose(
        together.discrepancy, np.sqrt(sum(lesson.discrepancy**2 for lesson in alone)), rtol=1e-12
    )
    np.testing.assert_allclose(together.learner.predict(points), together.final, atol=1e-12)


COMPILED = {
    "greedy": nimt.GreedyTeacher(),
    "pack": nimt.GreedyTeacher(k=3),
    "large pack": nimt.GreedyTeacher(k=0.5),
    "whole": nimt.GreedyTeacher(k=1.0),
    "random": nimt.RandomTeacher(),
    "random, once each": nimt.RandomTeacher(k=3, replace=False),
    "pool": nimt.GreedyTeacher(pool=0.5),
    "random pool": nimt.RandomTeacher(k=2, pool=0.5),
    "other labels": nimt.GreedyTeacher(k=2, labels=nimt.teachers.AlternativeLabels(0.3, 0.4)),
    "gradient": nimt.GreedyTeacher(score="gradient", loss="square", kernel=nimt.rbf(0.5)),
    "loss": nimt.GreedyTeacher(k=2, score="loss"),
    "diverse": nimt.GreedyTeacher(k=3, diverse=True, kernel=nimt.rbf(0.5)),
}
# of several tiles, larger than the kernel's reach, and without the symmetry that makes errors tie
ROOM = nimt.Grid(np.linspace(-3, 2.3, 13), np.linspace(-4, 3.1, 17))


def engines_of(name, X):
    engines = ["grid", "neighbours", "streamed"] if isinstance(X, nimt.Grid) else ["neighbours", "streamed"]
    return [engine for engine in engines if name != "diverse" or engine != "streamed"]


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("X", [ROOM, SCATTERED], ids=["grid", "points"])
@pytest.mark.parametrize("q", [2, 3])
@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.sampled(5)
def test_every_engine_equals_the_plain_loop(name, q, X):
    for loss in ("square", nimt.losses.Huber(0.4), "hinge") if name in ("greedy", "large pack") else ("square",):
        options = {"X": X, "q": q, "learner": {"loss": loss}}
        plain = teach(PerOutput(COMPILED[name]), engine="reference", **options | {"learner": {"loss": loss}})
        for engine in engines_of(name, X):
            fast = teach(PerOutput(COMPILED[name]), engine=engine, **options | {"learner": {"loss": loss}})
            assert fast.engine == engine and fast.outcome is plain.outcome
            np.testing.assert_array_equal(fast.indices, plain.indices)
            np.testing.assert_array_equal(fast.labels, plain.labels)
            np.testing.assert_array_equal(fast.picks, plain.picks)
            np.testing.assert_allclose(fast.discrepancy, plain.discrepancy, rtol=1e-11)
            np.testing.assert_allclose(fast.final, plain.final, rtol=0, atol=1e-12)
            np.testing.assert_allclose(fast.learner.predict(X), fast.final, rtol=0, atol=1e-11)


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("engine", ["grid", "neighbours", "streamed"])
@pytest.mark.parametrize("rule", [{"tol": 0.02}, {"patience": 3}, {"stop_when_stationary": 0.3}])
def test_every_engine_stops_where_the_plain_loop_stops(engine, rule):
    rate = 0.9 if "patience" in rule else 0.2
    plain, fast = (
        teach(PerOutput(nimt.GreedyTeacher()), X=ROOM, engine=name, max_iterations=2000,
              learner={"learning_rate": rate}, **{"tol": None} | rule)
        for name in ("reference", engine)
    )  # fmt: skip
    assert len(plain) < 2000 and len(fast) == len(plain) and fast.outcome is plain.outcome
    np.testing.assert_array_equal(fast.indices, plain.indices)


def test_on_a_grid_not_even_ties_tell_the_engines_apart():
    board = np.indices((32, 32)).sum(axis=0) // 4 % 2
    target = np.stack([board, 1 - board], axis=-1).reshape(-1, 2).astype(float)
    plain, fast = (
        teach(PerOutput(nimt.GreedyTeacher()), X=nimt.Grid.like(board), target=target, engine=engine,
              max_iterations=1200, tol=None)
        for engine in ("reference", "grid")
    )  # fmt: skip
    np.testing.assert_array_equal(fast.indices, plain.indices)
    np.testing.assert_array_equal(fast.final, plain.final)


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("engine", ["grid", "neighbours", "streamed"])
@pytest.mark.parametrize("name", ["greedy", "large pack", "random", "other labels"])
def test_a_resumed_lesson_is_bit_identical(name, engine, tmp_path):
    options = {"X": ROOM, "engine": engine, "max_iterations": 200, "tol": None}
    whole = teach(PerOutput(COMPILED[name]), **options)
    goal = [3]
    stopped = teach(PerOutput(COMPILED[name]), checkpoint=tmp_path / "c",
                    callback=lambda progress: progress.step > goal[0], **options)  # fmt: skip
    assert stopped.outcome is nimt.lesson.Outcome.STOPPED
    goal[0] = 100
    assert nimt.resume(tmp_path / "c", callback=lambda progress: progress.step > goal[0]).outcome is stopped.outcome
    resumed = nimt.resume(tmp_path / "c")
    assert resumed.engine == engine
    for column in ("indices", "labels", "discrepancy", "final", "picks"):
        np.testing.assert_array_equal(getattr(resumed, column), getattr(whole, column))
    np.testing.assert_array_equal(resumed.learner.coefficients_, whole.learner.coefficients_)


@pytest.mark.slow
def test_the_discrepancy_never_drifts():
    picture = np.random.default_rng(2).normal(size=(20, 20, 3))
    marks = sorted({int(t) for t in np.geomspace(1, 200_000, 30)})
    lesson = teach(PerOutput(nimt.GreedyTeacher()), X=nimt.Grid.like(picture[..., 0]), target=picture,
                   learner={"learning_rate": 0.05}, max_iterations=200_000, engine="grid", snapshots=marks)  # fmt: skip
    for t in (t for t in marks if t < len(lesson.discrepancy)):
        exact = np.sqrt(np.sum((lesson.snapshots[t] - lesson.target) ** 2)) / 400
        assert lesson.discrepancy[t] == pytest.approx(exact, rel=1e-9)


def test_which_teachers_are_compiled():
    learner, target = nimt.KernelLearner(nimt.rbf(0.5)), target_on(GRID.points, 2)
    for teacher, engine in [
        (nimt.GreedyTeacher(), "grid"),
        (nimt.teachers.SoftTeacher(), "reference"),
        (nimt.SynthesisTeacher(), "reference"),
        (Uneven(), "reference"),
    ]:
        assert nimt.plan(learner, PerOutput(teacher), GRID, target).engine == engine


def test_every_operator_moves_one_output_of_several():
    for pool in (GRID, nimt.Points(SCATTERED)):
        values, again = np.zeros((len(pool), 3)), np.zeros(len(pool))
        for operator in (DenseOperator(nimt.rbf(0.5), pool), DenseOperator(nimt.rbf(0.5), pool, gram_limit=0)):
            operator.add(values[:, 1], np.array([3, 7]), np.array([1.0, -2.0]))
            operator.add(again, np.array([3, 7]), np.array([1.0, -2.0]))
        np.testing.assert_array_equal(values, np.column_stack([0 * again, again, 0 * again]))
        assert again.any()


def test_other_labels_are_for_the_whole_step():
    other = np.random.default_rng(1).normal(size=(40, 3))
    teacher = PerOutput(nimt.GreedyTeacher(labels=nimt.teachers.AlternativeLabels(other, 0.4)))
    lesson = teach(teacher, engine="reference")
    assert lesson.method == "alternative GFT-1 per output"
    _, _, stream = np.random.default_rng(4).spawn(3)
    for t in range(50):
        source = other if stream.random() < 0.4 else lesson.target
        assert lesson.labels[t].tolist() == [source[i, o] for o, i in enumerate(lesson.indices[t])]


@pytest.mark.parametrize(
    "teacher",
    [nimt.GreedyTeacher(k=2, pool=0.5), nimt.RandomTeacher(), nimt.teachers.SoftTeacher(), nimt.SynthesisTeacher()],
    ids=lambda teacher: teacher.name,
)
def test_files_and_checkpoints(teacher, tmp_path):
    whole = teach(PerOutput(teacher))
    teach(PerOutput(teacher), max_iterations=23, tol=None, checkpoint=tmp_path / "c")
    resumed = nimt.resume(tmp_path / "c", max_iterations=50)
    for name in ("indices", "labels", "discrepancy", "final", "picks"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))
    resumed.save(tmp_path / "lesson")
    kept = nimt.Lesson.load(tmp_path / "lesson")
    assert kept.per_output and kept.method == whole.method
    np.testing.assert_array_equal(kept.labels, whole.labels)
    np.testing.assert_array_equal(kept.learner.predict([[0.1, 0.2]]), whole.learner.predict([[0.1, 0.2]]))


@pytest.mark.parametrize("teacher", [nimt.GreedyTeacher(), PerOutput(nimt.GreedyTeacher())])
def test_a_lesson_without_steps_is_kept(teacher, tmp_path):
    teach(teacher, max_iterations=0, tol=None).save(tmp_path / "lesson")
    assert len(nimt.Lesson.load(tmp_path / "lesson")) == 0


def test_the_table_names_the_outputs():
    table = teach(PerOutput(nimt.GreedyTeacher(k=2)), q=2, max_iterations=3, tol=None).to_table()
    assert list(table)[2:] == [
        f"{name}_{j}_output_{o}" for o in (1, 2) for j in (1, 2) for name in ("index", "x_1", "x_2", "label")
    ]
    table = teach(PerOutput(nimt.GreedyTeacher()), q=2).to_table()
    assert list(table)[2:6] == ["index_output_1", "x_1_output_1", "x_2_output_1", "label_output_1"]
    np.testing.assert_array_equal(table["x_2_output_1"][:-1], SCATTERED[table["index_output_1"][:-1], 1])


def test_schedules_of_the_teacher_hold_for_every_output(tmp_path):
    growing = nimt.GreedyTeacher(k=nimt.schedules.linear(1, 4), look=nimt.schedules.every(3))
    lesson = teach(PerOutput(growing), q=2, max_iterations=20, tol=None, snapshots=[10])
    alone = [teach(growing, target=target_on(SCATTERED, 2)[:, o], max_iterations=20, tol=None) for o in range(2)]
    table = lesson.to_table()
    for t in range(20):
        (first, _), (second, _) = alone[0].pack(t), alone[1].pack(t)
        assert lesson.pack(t)[0].tolist() == [*first, *second]
        for o, pack in enumerate((first, second)):
            assert [table[f"index_{j + 1}_output_{o + 1}"][t] for j in range(len(pack))] == pack.tolist()
            assert [table[f"label_{j + 1}_output_{o + 1}"][t] for j in range(len(pack))] == [
                lesson.target[i, o] for i in pack
            ]
    np.testing.assert_array_equal(lesson.looked, alone[0].looked)
    lesson.save(tmp_path / "lesson")
    np.testing.assert_array_equal(nimt.Lesson.load(tmp_path / "lesson").labels, lesson.labels)


def test_steps_and_comparisons():
    learner, target = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.2), target_on(SCATTERED, 2)
    walk = nimt.steps(learner, PerOutput(nimt.GreedyTeacher()), SCATTERED, target, max_iterations=2, tol=None)
    assert [selection.indices.shape for _, selection, _ in walk] == [(2,), (2,)]
    teachers = [
        nimt.GreedyTeacher(),
        PerOutput(nimt.GreedyTeacher()),
        PerOutput(nimt.RandomTeacher()),
    ]
    table = nimt.compare(learner, teachers, SCATTERED, target, tol=0.02, max_iterations=400, seeds=2)
    rows = {row.name: row for row in table.rows()}
    assert list(rows) == ["GFT-1", "GFT-1 per output", "RFT-1 per output"]
    assert rows["RFT-1 per output"].seeds == 2
    assert rows["GFT-1 per output"].examples == 2 * rows["GFT-1 per output"].steps


def test_the_step_size_is_that_of_one_output():
    """The pack of one output is averaged over itself, so more outputs do not change what is safe."""
    options = {"learner": {"learning_rate": "auto"}, "max_iterations": 5, "tol": None}
    together = teach(PerOutput(nimt.GreedyTeacher(k=2)), **options)
    alone = teach(nimt.GreedyTeacher(k=2), target=target_on(SCATTERED, 3)[:, 0], **options)
    assert together.learner.learning_rate_ == alone.learner.learning_rate_


def test_stationary_and_at_rest():
    lesson = teach(PerOutput(nimt.GreedyTeacher()), stop_when_stationary=1e-3, max_iterations=10_000, tol=None)
    assert lesson.outcome is nimt.lesson.Outcome.STATIONARY
    gaps = np.abs(lesson.final - lesson.target).max(axis=0)
    assert max((2 * gap) ** 2 for gap in gaps) <= 1e-3
    rest = teach(
        PerOutput(nimt.GreedyTeacher()), target=np.array([[0.5, 0.5], [0.5, 0.5]]), X=np.array([0.0, 9.0]),
        learner={"loss": "hinge", "initial": 3.0},
    )  # fmt: skip
    assert rest.outcome is nimt.lesson.Outcome.AT_REST


class Uneven(nimt.Teacher):
    def select(self, view):
        return view.show([0] if view.target[0] == 1 else [0, 1])


class OwnPacks(nimt.Teacher):
    per_output = True

    def select(self, view):
        return view.show([0, 1, 2], labels=[0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: teach(PerOutput(nimt.GreedyTeacher()), target=SCATTERED[:, 0]), "the target has one output"),
        (lambda: teach(PerOutput(nimt.GreedyTeacher()), target=SCATTERED[:, :1]), "the target has one output"),
        (lambda: PerOutput(PerOutput(nimt.GreedyTeacher())), "for each output already"),
        (lambda: PerOutput(nimt.GreedyTeacher), "a teacher needs select"),
        (lambda: PerOutput("greedy"), "a teacher needs select"),
        (lambda: teach(PerOutput(Uneven()), target=SCATTERED * 0 + [1.0, 2.0]), "packs of different sizes"),
        (lambda: teach(OwnPacks(), q=2), "as many for every output"),
        (lambda: teach(PerOutput(nimt.RandomTeacher(weights=[1.0, 2.0]))), "weights has shape"),
        (
            lambda: nimt.teach(
                nimt.learners.OrthogonalLearner(nimt.rbf(0.5)), PerOutput(nimt.GreedyTeacher()), SCATTERED,
                target_on(SCATTERED, 2), max_iterations=1, tol=None,
            ),
            "which OrthogonalLearner cannot learn",
        ),
        (
            lambda: nimt.teach(
                nimt.KernelLearner(nimt.rbf(0.5)), PerOutput(nimt.GreedyTeacher()), nimt.Box([(-2, 2)], points=9),
                lambda x: np.column_stack([x[:, 0], x[:, 0]]), max_iterations=1, tol=None,
            ),
            "in a Box all outputs are shown the same examples",
        ),
        (
            lambda: nimt.teach(
                nimt.KernelLearner(nimt.rbf(0.5), loss="crossentropy"), PerOutput(nimt.GreedyTeacher()), SCATTERED,
                nimt.classes.one_hot(np.arange(40) % 3), max_iterations=1, tol=None,
            ),
            "CrossEntropy.*give the teacher without PerOutput",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(wrong, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        wrong()


def test_panels_show_every_output_its_own_example():
    x = nimt.Grid(np.linspace(-3, 3, 60))
    target = np.column_stack([np.sin(x.points[:, 0]), np.cos(x.points[:, 0])])
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
    rules = {"max_iterations": 20, "tol": None, "snapshots": [0, 10], "engine": "reference"}
    lesson = nimt.teach(learner, PerOutput(nimt.GreedyTeacher(k=2)), x, target, **rules)
    (axes, *_) = nimt.plots.panels(lesson, [10]).axes
    marks = [line.get_xydata() for line in axes.get_lines() if line.get_marker() == "o"]
    indices, labels = lesson.pack(10)
    assert len(marks) == 2
    for output, mark in enumerate(marks):
        own = slice(2 * output, 2 * output + 2)
        np.testing.assert_array_equal(mark, np.column_stack([x.points[indices[own], 0], labels[own]]))


def test_the_tables_of_a_lesson_of_no_step_have_all_columns_and_no_rows():
    lesson = teach(PerOutput(nimt.GreedyTeacher()), 2, max_iterations=0, tol=None)
    assert {name: len(column) for name, column in lesson.examples().items()} == dict.fromkeys(
        ["step", "index", "output", "x_1", "x_2", "label"], 0
    )
    shown = [f"{name}_output_{output}" for output in (1, 2) for name in ("index", "x_1", "x_2", "label")]
    assert {name: len(column) for name, column in lesson.to_table().items()} == dict.fromkeys(
        ["step", "discrepancy", *shown], 1
    )
