"""Targets with several outputs: every engine equals the plain loop, and a plain loop written out here."""

import numpy as np
import pytest

import nimt

pytestmark = pytest.mark.long

GRID = nimt.Grid(np.linspace(-2, 2, 9), np.linspace(-1, 1, 6))
SCATTERED = np.random.default_rng(0).uniform(-2, 2, size=(40, 2))
TEACHERS = {
    "greedy": nimt.GreedyTeacher(),
    "greedy, norm 1": nimt.GreedyTeacher(norm=1),
    "greedy, norm max": nimt.GreedyTeacher(norm="max"),
    "pack": nimt.GreedyTeacher(k=3, norm="max"),
    "large pack": nimt.GreedyTeacher(k=0.5),
    "whole": nimt.GreedyTeacher(k=1.0),
    "random": nimt.RandomTeacher(k=2),
    "pool": nimt.GreedyTeacher(pool=0.5),
    "other labels": nimt.GreedyTeacher(labels=nimt.teachers.AlternativeLabels(0.3)),
    "gradient": nimt.GreedyTeacher(score="gradient", loss="square", kernel=nimt.rbf(0.5)),
    "loss": nimt.GreedyTeacher(score="loss", loss="huber"),
}


def target_on(points, q):
    return np.sin(points @ np.random.default_rng(q).normal(size=(2, q)) + np.arange(q))


def teach(teacher, q, engine, X=GRID, **options):
    points = X.points if isinstance(X, nimt.Grid) else X
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.2, **options.pop("learner", {}))
    rules = {"max_iterations": 60, "tol": None, "seed": 4} | options
    return nimt.teach(learner, teacher, X, target_on(points, q), engine=engine, **rules)


# another number of outputs is compiled again, and is no other kind of lesson
CASES = [*((name, 3) for name in TEACHERS), ("greedy", 2)]


@pytest.mark.parametrize("engine", ["grid", "neighbours", "streamed"])
@pytest.mark.parametrize(("name", "q"), CASES)
@pytest.mark.sampled(5)
def test_every_engine_equals_the_plain_loop(name, q, engine):
    plain = teach(TEACHERS[name], q, "reference")
    fast = teach(TEACHERS[name], q, engine)
    assert fast.engine == engine
    np.testing.assert_array_equal(fast.indices, plain.indices)
    np.testing.assert_array_equal(fast.labels, plain.labels)
    np.testing.assert_allclose(fast.discrepancy, plain.discrepancy, rtol=1e-11)
    np.testing.assert_allclose(fast.final, plain.final, rtol=0, atol=1e-12)
    np.testing.assert_allclose(fast.learner.predict(GRID), fast.final, rtol=0, atol=1e-12)


@pytest.mark.parametrize("norm", [2, 1, "max"])
def test_the_plain_loop_is_the_formula(norm):
    lesson = teach(nimt.GreedyTeacher(norm=norm), 3, "reference", X=SCATTERED)
    gram, target = nimt.rbf(0.5)(SCATTERED), target_on(SCATTERED, 3)
    f = np.zeros((40, 3))
    for t in range(60):
        best, chosen = -1.0, 0
        for i in range(40):
            parts = [abs(f[i, o] - target[i, o]) for o in range(3)]
            size = {2: sum(part**2 for part in parts) ** 0.5, 1: sum(parts), "max": max(parts)}[norm]
            if size > best * (1 + 1e-12):
                best, chosen = size, i
        assert lesson.indices[t, 0] == chosen
        for o in range(3):
            f[:, o] -= 0.2 * 2 * (f[chosen, o] - target[chosen, o]) * gram[:, chosen]
        assert lesson.discrepancy[t + 1] == pytest.approx(np.sqrt(np.sum((f - target) ** 2)) / 40, rel=1e-10)


@pytest.mark.parametrize("engine", ["reference", "grid", "neighbours", "streamed"])
@pytest.mark.parametrize("teacher", [nimt.GreedyTeacher(), nimt.GreedyTeacher(k=4), nimt.RandomTeacher(k=2)])
def test_one_output_given_as_a_column_is_the_same_to_the_last_bit(engine, teacher):
    flat, column = np.sin(GRID.points[:, 0]), np.sin(GRID.points[:, :1])
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.2)
    one, other = (
        nimt.teach(learner, teacher, GRID, y, max_iterations=50, tol=None, engine=engine) for y in (flat, column)
    )
    np.testing.assert_array_equal(one.discrepancy, other.discrepancy)
    np.testing.assert_array_equal(one.final, other.final)
    assert other.final.shape == (54,)


@pytest.mark.parametrize("measure", ["rms", "rkhs"])
def test_measures_are_of_the_whole_array(measure):
    lesson = teach(nimt.GreedyTeacher(), 3, "reference", X=SCATTERED, measure=measure)
    gap = lesson.final - lesson.target
    if measure == "rms":
        assert lesson.discrepancy[-1] == pytest.approx(np.sqrt(np.mean(gap**2)), rel=1e-12)
    else:
        square = np.sum(gap * np.linalg.solve(nimt.rbf(0.5)(SCATTERED), gap))
        assert lesson.discrepancy[-1] == pytest.approx(np.sqrt(square), rel=1e-6)


@pytest.mark.parametrize("engine", ["reference", "grid", "neighbours", "streamed"])
def test_files_and_checkpoints_hold_several_outputs(engine, tmp_path):
    whole = teach(nimt.RandomTeacher(k=2), 3, engine)
    teach(nimt.RandomTeacher(k=2), 3, engine, max_iterations=23, tol=None, checkpoint=tmp_path / "c")
    resumed = nimt.resume(tmp_path / "c", max_iterations=60)
    np.testing.assert_array_equal(resumed.discrepancy, whole.discrepancy)
    np.testing.assert_array_equal(resumed.final, whole.final)
    resumed.save(tmp_path / "lesson")
    kept = nimt.Lesson.load(tmp_path / "lesson")
    assert kept.labels.shape == (60, 2, 3)
    np.testing.assert_array_equal(kept.learner.predict([[0.1, 0.2]]), resumed.learner.predict([[0.1, 0.2]]))


def test_an_orthogonal_learner_interpolates_all_outputs():
    target = target_on(SCATTERED, 3)
    learner = nimt.learners.OrthogonalLearner(nimt.rbf(0.5))
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), SCATTERED, target, max_iterations=12, tol=None)
    shown = np.unique(lesson.indices)
    np.testing.assert_allclose(lesson.final[shown], target[shown], atol=1e-8)


def test_a_box_may_have_several_outputs():
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.3)
    both = lambda x: np.column_stack([np.sin(x[:, 0]), np.cos(x[:, 0])])  # noqa: E731
    lesson = nimt.teach(
        learner, nimt.GreedyTeacher(), nimt.Box([(-2, 2)], points=21), both, max_iterations=200, tol=None
    )
    assert lesson.discrepancy[-1] < 0.1 * lesson.discrepancy[0]
    assert lesson.learner.predict([[0.123]]).shape == (1, 2)


# ---------------------------------------------------------------- the theory

SEPARATE = nimt.Grid(np.linspace(-3, 3, 12))  # a narrow kernel's Gram matrix is well conditioned here
WAVES = np.column_stack([np.sin(SEPARATE.points[:, 0]), np.cos(SEPARATE.points[:, 0])])


def taught(teacher, target=WAVES):
    return nimt.teach(
        nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1), teacher, SEPARATE, target, max_iterations=9, tol=None
    )


def test_one_step_changes_the_distance_in_h_by_what_it_does_for_one_output():
    """|f - f*|_H^2 changes by -4 eta (1 - eta) |e|^2, e being the error of all outputs at the example shown."""
    lesson = taught(nimt.GreedyTeacher())
    squares = nimt.theory.rkhs_distances(lesson) ** 2
    errors = np.array([np.sum((f - lesson.target)[lesson.indices[t, 0]] ** 2) for t, f in enumerate(values_of(lesson))])
    np.testing.assert_allclose(np.diff(squares), -4 * 0.1 * 0.9 * errors, rtol=1e-8)


def values_of(lesson):
    gram, f = nimt.rbf(0.5)(SEPARATE.points), np.zeros(lesson.target.shape)
    for (i,), (y,) in zip(lesson.indices, lesson.labels, strict=True):
        yield f.copy()
        f -= 0.1 * 2 * np.multiply.outer(gram[:, i], f[i] - y)


def test_distances_in_h_of_each_output_add_up():
    together = nimt.theory.rkhs_distances(taught(nimt.teachers.PerOutput(nimt.GreedyTeacher())))
    alone = [nimt.theory.rkhs_distances(taught(nimt.GreedyTeacher(), WAVES[:, o])) for o in range(2)]
    np.testing.assert_allclose(together**2, alone[0] ** 2 + alone[1] ** 2, rtol=1e-10)


@pytest.mark.parametrize(
    "asked",
    [
        lambda: nimt.theory.check(taught(nimt.GreedyTeacher())),
        lambda: nimt.theory.bounds(taught(nimt.teachers.PerOutput(nimt.GreedyTeacher()))),
        lambda: nimt.theory.psi(taught(nimt.GreedyTeacher())),
        lambda: nimt.theory.discrepancy_at(nimt.KernelLearner(nimt.rbf(0.5)), SEPARATE, WAVES),
        lambda: nimt.theory.steepest_example(nimt.KernelLearner(nimt.rbf(0.5)), SEPARATE, WAVES),
        lambda: nimt.theory.fisher_information(nimt.KernelLearner(nimt.rbf(0.5)), SEPARATE, WAVES),
        lambda: nimt.theory.check_calculus(*2 * [taught(nimt.GreedyTeacher()).learner], 1.0, None),
        lambda: nimt.forecast(nimt.KernelLearner(nimt.rbf(0.5)), nimt.GreedyTeacher(), SEPARATE, WAVES, tol=0.1),
    ],
)
def test_what_is_stated_for_one_output_is_refused_for_several(asked):
    with pytest.raises(nimt.InvalidInput, match="one output"):
        asked()


def test_mixed_lessons_are_not_covered():
    with pytest.raises(nimt.InvalidInput, match="were mixed between its steps"):
        nimt.theory.rkhs_distances(taught(nimt.teachers.Communicating(nimt.GreedyTeacher())))
