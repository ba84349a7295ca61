"""nimt.theory.check: what must hold holds at every step, and where an assumption is missing the failure is found."""

import contextlib
import dataclasses
import json
import time
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, Matern

import nimt
from nimt import theory
from nimt.kernels import ConstantKernel
from problems import MIXTURE

RFT, GFT = "sufficient descent (RFT)", "sufficient descent (GFT)"
FAR = [0.0, 99.0]
UNIT_KERNELS = (nimt.rbf(0.5), Matern(length_scale=0.7, nu=1.5), nimt.Wendland(width=1.5, dimension=2))
SMOOTH = ("square", "logistic", "huber")


def taught(points, target, *, kernel=None, loss="square", rate=0.1, teacher=None, steps=20, initial=0.0, **options):
    learner = nimt.KernelLearner(kernel or nimt.rbf(1.0), loss=loss, learning_rate=rate, initial=initial)
    return nimt.teach(
        learner, teacher or nimt.GreedyTeacher(), points, target, max_iterations=steps, **{"tol": None} | options
    )


def random_problem(seed, n=9):
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, size=(n, 2)), rng.normal(size=n) * 3, rng.normal(size=n)


@contextlib.contextmanager
def any_rate():
    """Let a lesson run at whatever rate, without the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nimt.errors.StepSizeWarning)
        yield


def missing(inequality):
    return {assumption.name for assumption in inequality.assumptions if not assumption.holds}


@pytest.fixture(scope="module")
def mixture():
    return MIXTURE.teach(tol=1e-4, max_iterations=5000)


# what must hold


@pytest.mark.long
@given(
    seed=st.integers(0, 10_000),
    kernel=st.sampled_from(UNIT_KERNELS),
    loss=st.sampled_from(SMOOTH),
    share=st.floats(0.01, 1.0),
    greedy=st.booleans(),
)
def test_sufficient_descent_holds_at_every_step_where_its_assumptions_do(seed, kernel, loss, share, greedy):
    points, target, initial = random_problem(seed)
    if loss == "logistic":
        target = np.sign(target)
    limit = 1 / (2 * {"square": 2.0, "huber": 2.0, "logistic": 0.25}[loss])
    scored = {"score": "gradient", "loss": loss, "kernel": kernel}  # for these losses the largest S, not |f - f*|
    teacher = nimt.GreedyTeacher(**scored) if greedy else nimt.RandomTeacher()
    lesson = taught(points, target, kernel=kernel, loss=loss, rate=share * limit, teacher=teacher, initial=initial)
    found = theory.check(lesson)
    assert found[RFT].assumed and found[RFT].held == found[RFT].steps == 20, found[RFT].sentence()
    if greedy:
        assert found[GFT].assumed and found[GFT].held == 20, found[GFT].sentence()
    assert found.sound, found.sentences()


@pytest.mark.long
@given(
    seed=st.integers(0, 10_000),
    kernel=st.sampled_from((nimt.linear(1.0), 1.8 * nimt.rbf(0.5), 40.0 * Matern(nu=1.5))),
    loss=st.sampled_from(SMOOTH),
    rate=st.floats(0.001, 0.5),
)
def test_the_corrected_descent_holds_for_every_diagonal_and_rate(seed, kernel, loss, rate):
    points, target, initial = random_problem(seed)
    target = np.sign(target) if loss == "logistic" else target
    with any_rate():
        lesson = taught(points, target, kernel=kernel, loss=loss, rate=rate, initial=initial, steps=8)
    found = theory.check(lesson)["sufficient descent (any diagonal)"]
    assert found.assumed and not found.violated, found.sentence()


@given(seed=st.integers(0, 10_000), kappa=st.floats(0.2, 5.0), share=st.floats(0.02, 0.98))
def test_for_a_constant_diagonal_the_largest_residual_is_the_steepest_example(seed, kappa, share):
    points, target, initial = random_problem(seed)
    kernel = ConstantKernel(kappa) * nimt.rbf(0.5)
    learner = nimt.KernelLearner(kernel, learning_rate=share / kappa, initial=initial).bind(nimt.pools.Points(points))
    steepest = theory.steepest_example(learner, points, target)
    assert steepest.index == np.argmax(np.abs(initial - target))


@pytest.mark.long
@given(
    seed=st.integers(0, 10_000),
    kernel=st.sampled_from((nimt.rbf(0.3), ConstantKernel(1.8) * nimt.rbf(0.3), nimt.linear(1.0))),
    rate=st.floats(0.001, 0.3),
)
def test_the_step_identity_to_rounding(seed, kernel, rate):
    """By the Gram solve along the lesson, against -4 eta (1 - eta K(x, x)) e^2 at each step."""
    points, target, initial = random_problem(seed, n=3)
    points = points + np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    with any_rate():  # too large a rate obeys it as well
        lesson = taught(
            points, target, kernel=kernel, rate=rate, initial=initial, teacher=nimt.RandomTeacher(), steps=6
        )
    squares = theory.rkhs_distances(lesson) ** 2
    diagonal = kernel.diag(points)
    for moment in theory.replay(lesson).moments():
        i, t = moment.indices[0], moment.step
        e = moment.values[i] - target[i]
        expected = -4 * rate * (1 - rate * diagonal[i]) * e**2
        assert abs(squares[t + 1] - squares[t] - expected) <= 1e-12 * max(1.0, squares[t], squares[t + 1])
        assert float(theory.distance_change(e, diagonal[i], rate)) == pytest.approx(expected, rel=1e-14)


def test_the_step_identity_between_expansions_to_rounding():
    kernel = ConstantKernel(1.3) * nimt.rbf(0.8)
    goal = nimt.KernelLearner(kernel, learning_rate=0.2)
    goal.partial_fit([[0.1], [0.9], [1.4]], [1.0, -2.0, 0.5])
    x = np.linspace(0, 1.5, 40)  # far too fine for a solve with its Gram matrix
    lesson = nimt.teach(
        nimt.KernelLearner(kernel, learning_rate=0.05),
        nimt.GreedyTeacher(),
        x,
        goal,
        max_iterations=50,
        tol=None,
        seed=0,
    )
    squares = theory.rkhs_distances(lesson) ** 2
    assert squares[0] == pytest.approx(goal.rkhs_norm() ** 2, rel=1e-14)
    residual = np.array([moment.values[moment.indices[0]] for moment in theory.replay(lesson).moments()])
    residual -= lesson.target[lesson.indices[:, 0]]
    np.testing.assert_allclose(np.diff(squares), -4 * 0.05 * (1 - 0.05 * 1.3) * residual**2, rtol=0, atol=1e-12)
    assert theory.bounds(lesson).distance == pytest.approx(np.sqrt(squares[0]), rel=1e-14)
    assert theory.check(lesson)["convergence by distance"].held == 50


def test_a_pack_changes_the_distance_by_what_the_solve_says():
    points, target, initial = random_problem(5, n=6)
    lesson = taught(points, target, kernel=nimt.rbf(0.5), rate=0.4, initial=initial, teacher=nimt.GreedyTeacher(k=3))
    squares = theory.rkhs_distances(lesson) ** 2
    again = theory.replay(lesson)
    changes = [theory.inequalities.change_in_distance(again, moment)[0] for moment in again.moments()]
    np.testing.assert_allclose(np.diff(squares), changes, atol=1e-12 * squares[0])
    assert theory.check(lesson)["nearer in H"].assumed and theory.check(lesson)["nearer in H"].held == 20


@pytest.mark.long
@given(seed=st.integers(0, 10_000), rate=st.floats(0.01, 0.95))
def test_the_bound_by_distance_holds_for_any_rate_that_comes_nearer(seed, rate):
    points, target, initial = random_problem(seed)
    with any_rate():
        lesson = taught(points, target, kernel=nimt.rbf(0.3), rate=rate, initial=initial, teacher=nimt.RandomTeacher())
    found = theory.bounds(lesson)
    if found.by_distance is None:
        assert "condition number" in found.no_distance
        return
    assert (found.smallest_shown <= found.by_distance * (1 + 1e-9)).all()


def test_the_formula_printed_is_the_one_that_was_checked():
    """For K(x, x) = 2 the form for K(x, x) = 1 is false, and must not be said to hold."""
    points, target, initial = random_problem(0)
    lesson = taught(points, target, kernel=2.0 * RBF(0.5), rate=0.2, steps=100, initial=initial)
    found, said = theory.bounds(lesson), theory.check(lesson)["convergence by distance"]
    square, t = found.distance**2, np.arange(1, 101)
    assert (found.smallest_shown > square / (0.2 * (1 - 0.2) * t)).any()
    np.testing.assert_allclose(found.by_distance, square / (t * 0.2 * (1 - 0.2 * 2.0) / 2.0**2), rtol=1e-12)
    assert said.assumed and said.held == 100
    formula = "|f0 - f*|_H^2 / sum_j eta_j (1 - eta_j K_j) / K_j^2"
    assert said.statement == f"min S <= {formula}"
    assert f"min S <= {formula} = {found.by_distance[-1]:.4g} after 100 steps" in str(found)
    mean = theory.check(lesson)["convergence by distance (GFT, mean)"]
    assert mean.held == 100
    assert mean.statement == "min mean S <= |f0 - f*|_H^2 / sum_j eta_j (1 - eta_j K_j) / (K_j^2 gamma_j)"


def test_the_bound_by_distance_takes_schedules_and_diagonals_step_by_step():
    kernel = nimt.linear(1.0)
    lesson = taught([0.0, 2.0], [1.0, -1.0], kernel=kernel, rate=lambda step: 0.1 / (step + 1), steps=3)
    kappa = np.array([1.0, 5.0])[lesson.indices[:, 0]]
    eta = 0.1 / np.arange(1, 4)
    square = np.array([1.0, -1.0]) @ np.linalg.solve(kernel([[0.0], [2.0]]), [1.0, -1.0])
    expected = square / np.cumsum(eta * (1 - eta * kappa) / kappa**2)
    np.testing.assert_allclose(theory.bounds(lesson).by_distance, expected, rtol=1e-12)


@pytest.mark.long
@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    kernel=st.sampled_from((*UNIT_KERNELS, nimt.linear(1.0), 0.6 * nimt.rbf(0.5))),
    loss=st.sampled_from(("square", "huber", "hinge", "absolute")),
    rate=st.one_of(st.floats(1e-4, 1.5), st.sampled_from((0.125, 0.25, 0.5, 1.0))),
    k=st.sampled_from((1, 2, 1.0)),
    greedy=st.booleans(),
    lied_to=st.booleans(),
    size=st.sampled_from((1e-3, 1.0, 1e3)),
)
def test_nothing_whose_assumptions_hold_ever_fails(seed, kernel, loss, rate, k, greedy, lied_to, size):
    points, target, initial = random_problem(seed, n=5)
    labels = nimt.teachers.AlternativeLabels(-size * target, probability=0.5) if lied_to else None
    teacher = (nimt.GreedyTeacher if greedy else nimt.RandomTeacher)(k=k, labels=labels)
    with any_rate():
        lesson = taught(
            points, size * target, kernel=kernel, loss=loss, rate=rate, teacher=teacher, initial=initial, steps=25
        )
    found = theory.check(lesson)
    assert found.sound, [one.sentence() for one in found.violated if one.assumed]


# plain loops, written from the definitions


def looped(lesson, kernel, rate):
    """Replay a square-loss lesson of one example per step by scalar arithmetic only."""
    points, target = lesson.pool.points, lesson.target
    n = len(target)
    k = [[float(kernel(points[i : i + 1], points[j : j + 1])[0, 0]) for j in range(n)] for i in range(n)]
    f = [float(value) for value in lesson.initial]
    rows = []
    for (shown,) in lesson.indices.tolist():
        s = [(2 * (f[i] - target[i]) * k[i][i]) ** 2 for i in range(n)]
        moved = [-4 * rate * (1 - rate * k[i][i]) * (f[i] - target[i]) ** 2 for i in range(n)]
        best = moved.index(min(moved))
        inner = [2 * (f[i] - target[i]) ** 2 for i in range(n)]
        before = (f[shown] - target[shown]) ** 2
        slope = 2 * (f[shown] - target[shown])
        f = [f[i] - rate * slope * k[i][shown] for i in range(n)]
        change = (f[shown] - target[shown]) ** 2 - before
        rows.append(
            {
                "shown": s[shown],
                "largest": max(s),
                "mean": sum(s) / n,
                "random": change <= -rate / 2 * s[shown],
                "greedy": change <= -rate / 2 * max(s),
                "steepest": inner[best] >= max(inner),
                "is steepest": moved[shown] <= min(moved),
                "nearer": moved[shown] <= 0,
            }
        )
    return rows


@pytest.mark.parametrize("seed", range(6))
def test_everything_against_a_plain_loop(seed):
    points, target, initial = random_problem(seed, n=6)
    kernel, rate = nimt.linear(1.0), 0.09
    teacher = nimt.RandomTeacher() if seed % 2 else nimt.GreedyTeacher()
    with any_rate():
        lesson = taught(points, target, kernel=kernel, rate=rate, initial=initial, teacher=teacher, steps=15, seed=seed)
    rows = looped(lesson, kernel, rate)
    measured, found = theory.discrepancies(lesson), theory.check(lesson)
    for name in ("shown", "largest", "mean"):
        np.testing.assert_allclose(getattr(measured, name), [row[name] for row in rows], rtol=1e-9, err_msg=name)
    for name, key in {
        RFT: "random",
        GFT: "greedy",
        "steepest example": "steepest",
        "greedy is steepest": "is steepest",
        "nearer in H": "nearer",
    }.items():
        assert found[name].steps == 15 and found[name].held == sum(row[key] for row in rows), name


# every assumption is needed


def test_a_rate_of_0_7_breaks_sufficient_descent_and_check_finds_it():
    with pytest.warns(nimt.errors.StepSizeWarning):
        lesson = taught([0.0], [2.0], rate=0.7, steps=5)
    found = theory.check(lesson)[RFT]
    assert missing(found) == {"rate within 1 / (2 L M_K)"}
    assert found.held == 0 and found.steps == 5
    # e = -2: the loss falls by 4 * 0.7 * 0.3 * 4 = 3.36, the lemma promises 0.35 * 16 = 5.6
    assert found.worst.step == 0
    assert (found.worst.left, found.worst.right) == (pytest.approx(-3.36), pytest.approx(-5.6))
    assert found.worst.excess == pytest.approx(2.24)
    assert "0.7 exceeds 1 / (2 L M_K) = 0.25" in found.sentence() and "failed at 5 of 5 steps" in found.sentence()


def test_a_diagonal_of_1_8_breaks_sufficient_descent_within_the_bound_and_check_finds_it():
    lesson = taught(FAR, [2.0, 1.0], kernel=ConstantKernel(1.8) * nimt.rbf(1.0), rate=0.13, steps=5)
    found = theory.check(lesson)[RFT]
    assert missing(found) == {"K(x, x) = 1"}
    assert found.held == 0
    # -4 eta kappa (1 - eta kappa) e^2 against -2 eta kappa^2 e^2, e = -2
    assert found.worst.left == pytest.approx(-4 * 0.13 * 1.8 * (1 - 0.13 * 1.8) * 4)
    assert found.worst.right == pytest.approx(-2 * 0.13 * 1.8**2 * 4)


def test_a_pack_breaks_sufficient_descent_and_check_finds_it():
    found = theory.check(taught(FAR, [2.0, 1.0], teacher=nimt.GreedyTeacher(k=2), steps=5))[RFT]
    assert missing(found) == {"one example per step"}
    assert found.held == 0


def test_an_untrue_label_breaks_sufficient_descent_and_check_finds_it():
    labels = nimt.teachers.AlternativeLabels(np.array([-5.0, -5.0]), probability=1.0)
    found = theory.check(taught(FAR, [2.0, 1.0], teacher=nimt.GreedyTeacher(labels=labels), steps=5))
    assert missing(found[RFT]) == {"true labels"}
    assert found[RFT].held == 0
    assert "labels other than f*(x) at 5 steps" in found[RFT].sentence()
    assert found["nearer in H"].held == 0 and missing(found["nearer in H"]) == {"true labels"}


def test_a_loss_that_is_not_smooth_breaks_sufficient_descent_and_check_finds_it():
    with pytest.warns(nimt.errors.StepSizeWarning, match="cannot end near the target"):
        lesson = taught([0.0], [1.0], loss="hinge", rate=0.5, initial=0.9, steps=1)
    found = theory.check(lesson)
    # max(0, 1 - f) falls from 0.1 to 0; S = 1 promises 0.25
    assert "smooth loss" in missing(found[RFT]) and found[RFT].worst.right == -0.25
    assert found[RFT].worst.left == pytest.approx(-0.1)
    assert found["sufficient descent (any diagonal)"].unknown is not None
    assert found["convergence (RFT, sum)"].unknown == "the loss has no finite smoothness constant"
    assert "cannot be evaluated" in found["convergence (RFT, sum)"].sentence()


def test_a_random_teacher_does_not_get_the_greedy_lemma():
    found = theory.check(taught(*random_problem(1)[:2], teacher=nimt.RandomTeacher()))
    assert found[RFT].held == 20
    assert missing(found[GFT]) == {"largest S shown"} and found[GFT].violated


def test_one_point_all_along_does_telescope_and_says_nothing_of_the_others():
    teacher = nimt.RandomTeacher(weights=[1.0, 0.0])
    found = theory.check(taught(FAR, [2.0, 1.0], rate=0.25, teacher=teacher, steps=300))
    for reading in ("maximum", "sum"):
        assert found[f"convergence (RFT, {reading})"].assumed and not found[f"convergence (RFT, {reading})"].violated
        assert found[f"convergence (GFT, {reading})"].violated
        assert missing(found[f"convergence (GFT, {reading})"]) == {"largest S shown"}
    assert found.sound


def test_with_a_varying_diagonal_the_theorem_on_the_steepest_example_fails_and_check_finds_it():
    # K(x, x) = 1 and 10; e^2 (1 - eta K) = 0.91 and 0.225, e^2 = 1 and 2.25
    with pytest.warns(nimt.errors.StepSizeWarning):
        lesson = taught([0.0, 3.0], [1.0, 1.5], kernel=nimt.linear(1.0), rate=0.09, steps=1)
    found = theory.check(lesson)
    assert missing(found["steepest example"]) == {"constant K(x, x)"}
    worst = found["steepest example"].worst
    assert (worst.left, worst.right) == (4.5, 2.0)  # 2 e^2 at the other, and at the argmin
    assert found["greedy is steepest"].violated


def test_above_the_diverging_rate_every_step_moves_away_and_check_finds_it():
    with pytest.warns(nimt.errors.StepSizeWarning):
        lesson = taught(FAR, [2.0, 1.0], rate=1.1, steps=8)
    found = theory.check(lesson)
    assert missing(found["nearer in H"]) == {"rate within 2 / (L M_K)"}
    assert found["nearer in H"].held == 0
    assert found["steepest example"].violated
    assert "reaches 1.1" in found["convergence by distance"].unknown


@pytest.mark.parametrize("rate", [1.0, 1.0 - 1e-13])
def test_at_the_diverging_rate_itself_rounding_decides_nothing(rate):
    with pytest.warns(nimt.errors.StepSizeWarning):
        lesson = taught(FAR, [1.0, 2.0], rate=rate, steps=8)
    found = theory.check(lesson)
    assert found.sound, found.sentences()
    assert found["steepest example"].assumed is (rate < 1)


def test_a_live_step_can_be_looked_at():
    walk = nimt.steps(
        nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.25),
        nimt.GreedyTeacher(),
        FAR,
        [3.0, 4.0],
        max_iterations=9,
        tol=None,
    )
    next(walk)
    so_far = walk.lesson
    np.testing.assert_allclose(theory.discrepancy_at(so_far.learner, FAR, [3.0, 4.0]), [36.0, 16.0])
    assert theory.check(so_far)[RFT].held == 1
    assert theory.steepest_example(so_far.learner, FAR, [3.0, 4.0]).index == next(walk)[1].indices[0]


def test_a_lesson_that_overflows_is_reported_and_not_raised():
    with pytest.warns(nimt.errors.StepSizeWarning):
        lesson = taught([0.0], [2.0], rate=1e200, steps=3)
    found = theory.check(lesson)
    assert found[RFT].held < found[RFT].steps
    json.loads(found.to_json())


# the report


@pytest.mark.long
def test_the_mixture_is_checked_in_under_ten_seconds(mixture):
    began = time.perf_counter()
    found = theory.check(mixture)
    assert time.perf_counter() - began < 10
    assert found.sound
    assert len(mixture) == 3056
    for name in (RFT, GFT, "steepest example", "greedy is steepest", "nearer in H"):
        assert found[name].assumed and found[name].held == 3056
    assert "condition number" in found["convergence by distance"].unknown


@pytest.mark.long
def test_with_the_norm_of_the_mixture_known_the_bound_by_distance_holds(mixture):
    weights = np.array([1, -1 / 3, -2 / 3]) / np.sqrt(2 * np.pi)
    distance = theory.gaussian_norm(0.5, weights, [-10.0, -2.0, 2.0], [np.sqrt(2)] * 3)
    found = theory.check(mixture, distance=distance)["convergence by distance"]
    assert found.assumed and found.held == found.steps == 3056
    # what the steps took away by the identity cannot exceed the whole
    taken = 0.01 * 0.99 * theory.discrepancies(mixture).shown.sum()
    assert 0.9 * distance**2 < taken <= distance**2


def test_table_json_and_sentences_say_the_same():
    with pytest.warns(nimt.errors.StepSizeWarning):
        found = theory.check(taught([0.0], [2.0], rate=0.7, steps=5))
    table, content = found.to_table(), json.loads(found.to_json())
    names = [one.name for one in found.inequalities]
    assert table["inequality"].tolist() == names == [row["name"] for row in content["inequalities"]]
    assert table["held"].tolist() == [row["held"] for row in content["inequalities"]]
    assert table["worst_step"][0] == content["inequalities"][0]["worst"]["step"] == 0
    assert [row["sentence"] for row in content["inequalities"]] == found.sentences() == str(found).split("\n")
    assert found[RFT] in found.violated
    with pytest.raises(KeyError, match="sufficient descent"):
        found["no such thing"]


def test_bounds_as_table_and_json():
    found = theory.bounds(taught(FAR, [2.0, 1.0]), epsilon=0.1)
    table, content = found.to_table(), json.loads(found.to_json())
    assert {len(column) for column in table.values()} == {20}
    assert table["random_sum"].tolist() == content["random"]["sum"]
    assert table["by_distance"].tolist() == content["by_distance"]
    assert content["predicted"][0]["reading"] == "maximum"


# lessons that can and cannot be replayed


def test_a_lesson_that_kept_only_counts_is_refused_with_a_way_out():
    with pytest.raises(nimt.InvalidInput, match="teach it again with record='all'"):
        theory.check(taught(FAR, [2.0, 1.0], record="picks"))


def test_a_lesson_of_another_learner_is_refused():
    lesson = nimt.teach(
        nimt.LinearLearner([0.0, 0.0]), nimt.GreedyTeacher(), [0.0, 1.0], [2.0, 1.0], max_iterations=0, tol=None
    )
    with pytest.raises(nimt.InvalidInput, match="this lesson taught a LinearLearner"):
        theory.bounds(lesson)
    with pytest.raises(nimt.InvalidInput, match="speaks of a lesson"):
        theory.psi("lesson.npz")


def test_a_stored_lesson_says_the_same(tmp_path):
    lesson = taught(*random_problem(3)[:2], teacher=nimt.RandomTeacher(k=2, pool=0.7))
    lesson.save(tmp_path / "lesson.npz")
    assert theory.check(nimt.Lesson.load(tmp_path / "lesson.npz")).to_json() == theory.check(lesson).to_json()


def test_only_what_a_limited_teacher_could_show_is_compared():
    points, target, _ = random_problem(4, n=12)
    for pool in (0.5, [1, 3, 8], np.arange(12) % 2 == 0):
        lesson = taught(points, target, teacher=nimt.GreedyTeacher(pool=pool))
        again = theory.replay(lesson)
        assert set(lesson.indices.ravel()) <= set(again.candidates.tolist())
        assert len(again.candidates) == {float: 6, list: 3}.get(type(pool), 6)
        found = theory.discrepancies(lesson)
        np.testing.assert_array_equal(found.shown, found.largest)
        assert theory.check(lesson)[GFT].held == 20


class Quartic:
    """A loss of the reader's own."""

    smoothness = np.inf

    def value(self, f, y):
        return (f - y) ** 4

    def slope(self, f, y):
        return 4 * (f - y) ** 3


def test_a_loss_and_a_schedule_of_ones_own_are_replayed_from_where_the_learner_stood():
    learner = nimt.KernelLearner(nimt.rbf(1.0), loss=Quartic(), learning_rate=lambda step: 0.01 / (step + 1))
    learner.partial_fit([[0.5]], [1.0])
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 1.0], [1.0, -1.0], max_iterations=4, tol=None)
    again = theory.replay(lesson)
    np.testing.assert_allclose(again.rates, 0.01 / np.arange(2, 6))
    assert [moment.rate for moment in again.moments()] == again.rates.tolist()
    *_, last = again.moments()
    np.testing.assert_allclose(last.after, lesson.final, rtol=1e-14)


def test_a_lesson_whose_parts_do_not_belong_together_is_refused():
    lesson = taught(FAR, [2.0, 1.0])
    with pytest.raises(nimt.InvalidInput, match="do not belong together"):
        theory.check(dataclasses.replace(lesson, final=lesson.final + 1.0))


def test_a_lesson_of_no_steps_has_nothing_to_violate():
    lesson = taught(FAR, [2.0, 1.0], steps=0)
    assert theory.psi(lesson).tolist() == [0.0]
    assert not theory.check(lesson).violated
    assert theory.bounds(lesson).sentences()
    assert str(theory.bounds(lesson)).split("\n") == theory.bounds(lesson).sentences()
