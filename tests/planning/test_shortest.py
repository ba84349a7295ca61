"""The shortest lesson against plain loops: visits, derivatives, whole plans, and what is refused."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import nimt
from nimt import testing
from nimt.datasets import formulas
from nimt.planning import shortest_lesson
from nimt.planning.visit_list import VisitProblem, Visits
from nimt.session.interrupts import interrupt_group, lessons_of

SINE = nimt.Grid(np.arange(-3, 3, 0.1))


def learner(rate=0.01, kernel=None, **parts):
    return nimt.KernelLearner(kernel or nimt.rbf(width=0.5), learning_rate=rate, **parts)


def make_problem(outputs=1):
    rng = np.random.default_rng(3)
    points = rng.uniform(-1, 1, (9, 2))
    gram = points @ points.T + np.exp(-((points[:, None] - points[None]) ** 2).sum(-1))
    return VisitProblem(gram, rng.normal(size=(outputs, 9)), 0.1, 0.02), rng


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_visit_is_as_many_steps_at_one_point(outputs):
    problem, rng = make_problem(outputs)
    order, counts = rng.integers(0, 9, 20), rng.integers(0, 7, 20).astype(float)
    errors = problem.errors.copy()
    for i, count in zip(order, counts, strict=True):
        for _ in range(int(count)):
            errors = errors - 0.02 * np.outer(errors[:, i], problem.gram[:, i])
    np.testing.assert_allclose(problem.after(Visits(order, counts))[0], errors, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("outputs", [1, 3])
def test_derivatives_by_the_counts_are_those_of_differences(outputs):
    problem, rng = make_problem(outputs)
    order, counts = rng.integers(0, 9, 15), rng.uniform(0, 9, 15)
    _, slope = problem.log_square(Visits(order, counts))
    each = np.eye(15) * 1e-5
    differences = [
        (problem.log_square(Visits(order, counts + e))[0] - problem.log_square(Visits(order, counts - e))[0]) / 2e-5
        for e in each
    ]
    np.testing.assert_allclose(slope, differences, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_visit_is_inserted_where_it_lowers_the_errors_most(outputs):
    problem, rng = make_problem(outputs)
    order, counts = rng.integers(0, 9, 6), rng.uniform(0, 9, 6)
    places, steepest = problem.find_insertions(Visits(order, counts))
    for i in range(9):
        tried = [
            problem.log_square(Visits(np.insert(order, place, i), np.insert(counts, place, 0.0)))[1][place]
            for place in range(7)
        ]
        assert steepest[i] == pytest.approx(min(0.0, *tried), rel=1e-9, abs=1e-12)
        assert steepest[i] == 0.0 or tried[places[i]] == pytest.approx(min(tried), rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("kernel", [nimt.rbf(0.5), 0.5 * nimt.linear() + nimt.rbf(0.4)], ids=["constant", "varying"])
@pytest.mark.sampled(2)
def test_a_plan_arrives_at_its_last_step_in_every_engine_and_before_a_greedy_lesson(kernel):
    x = np.linspace(-1, 1, 8)
    taught = learner(kernel=kernel, initial=lambda points: 0.3 * points[:, 0])
    plan = nimt.shortest(taught, x, np.sin(3 * x), tol=8e-3, starts=1)
    rules = {"tol": 8e-3, "max_iterations": 20_000}
    for engine in ("auto", "reference"):
        lesson = nimt.teach(taught, plan.teacher, x, np.sin(3 * x), engine=engine, **rules)
        assert (lesson.itd, lesson.outcome) == (plan.steps, nimt.lesson.Outcome.CONVERGED)
    greedy = nimt.teach(taught, nimt.GreedyTeacher(), x, np.sin(3 * x), **rules)
    assert plan.fewest <= plan.steps < 0.8 * greedy.itd
    assert f"after {plan.steps:,} planned steps" in str(plan)


def test_the_end_of_a_plan_lowers_the_sum_of_squares_of_all_outputs_most():
    problem, _ = make_problem(3)
    shown = problem.finish(problem.errors, 40)
    errors, most = problem.errors.copy(), 40 if shown is None else len(shown)
    assert most > 0
    for step in range(most):
        after = [errors - 0.02 * np.outer(errors[:, i], problem.gram[i]) for i in range(9)]
        best = int(np.argmin([(one**2).sum() for one in after]))
        assert shown is None or best == shown[step]
        errors = after[best]
    assert shown is None or np.linalg.norm(errors) < problem.radius


@pytest.mark.slow
def test_a_plan_for_several_outputs():
    x = np.linspace(-1, 1, 5)
    both, rules = np.column_stack([np.sin(3 * x), np.cos(2 * x)]), {"tol": 5e-2, "max_iterations": 20_000}
    plan = nimt.shortest(learner(0.04), x, both, tol=5e-2, starts=1)
    for engine in ("auto", "reference"):
        assert nimt.teach(learner(0.04), plan.teacher, x, both, engine=engine, **rules).itd == plan.steps
    greedy = nimt.teach(learner(0.04), nimt.GreedyTeacher(), x, both, **rules)
    alone = [nimt.forecast(learner(0.04), nimt.GreedyTeacher(), x, y, tol=5e-2).bounds[0] for y in both.T]
    assert 0 < max(alone) <= plan.fewest <= plan.steps < greedy.itd


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_plan_is_not_longer_than_greedy_at_rates_at_which_a_visit_is_one_step():
    plan = nimt.shortest(learner(0.4), SINE, np.sin, tol=1e-3, starts=1)
    assert nimt.teach(learner(0.4), plan.teacher, SINE, np.sin, tol=1e-3, max_iterations=999).itd == plan.steps
    assert plan.steps <= nimt.teach(learner(0.4), nimt.GreedyTeacher(), SINE, np.sin, tol=1e-3, max_iterations=999).itd


@pytest.mark.long
def test_a_sequence_keeps_the_contract_of_teachers():
    testing.check_teacher(nimt.teachers.SequenceTeacher([3, 0, 3, 1]))


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_a_sequence_goes_on_after_a_point_that_moves_nothing(engine):
    taught = nimt.KernelLearner(nimt.rbf(0.1), loss="hinge", learning_rate=0.5, initial=lambda x: 2.0 * (x[:, 0] > 0.5))
    teacher, points = nimt.teachers.SequenceTeacher([1, 0]), [0.0, 1.0]
    lesson = nimt.teach(taught, teacher, points, [-1.0, 1.0], tol=None, max_iterations=4, engine=engine)
    np.testing.assert_array_equal(lesson.indices[:, 0], [1, 0, 1, 0])
    assert lesson.final[0] == pytest.approx(-1.0)


def test_a_learner_below_the_tolerance_needs_no_steps():
    assert nimt.shortest(learner(), SINE, np.sin, tol=10.0).steps == 0


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"taught": learner(loss="huber")}, "planned for the square loss"),
        ({"taught": nimt.LinearLearner([1.0, 0.0])}, "got LinearLearner"),
        ({"taught": learner(lambda t: 0.1)}, "constant learning rate"),
        ({"taught": learner(0.5)}, "give a rate below 0.5"),
        ({"measure": "rkhs"}, "'paper' or 'rms'"),
        ({"tol": 0.0}, "tol must be"),
        ({"starts": 0}, "starts must be"),
        ({"X": [0.0, 0.0, 1.0], "y": [1.0, 2.0, 3.0]}, "equal points have different targets"),
        ({"X": nimt.Box([(-3, 3)])}, "box.grid"),
        ({"X": nimt.Grid(np.arange(7000.0))}, "plan on at most 6,688 points"),
        ({"X": np.linspace(0, 0.1, 8), "y": (-1.0) ** np.arange(8), "tol": 1e-3}, "labels with noise"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_planned_is_refused(parts, words):
    given = {"taught": learner(), "X": SINE, "y": np.sin, "tol": 1e-3} | parts
    with pytest.raises(nimt.InvalidInput, match=words):
        nimt.shortest(given.pop("taught"), given.pop("X"), given.pop("y"), **given)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_plans_of_the_table_are_as_short_as_the_page_says():
    points = np.random.default_rng(1).uniform(-1, 1, (200, 2))
    lessons = [
        (formulas.mixture_start, formulas.mixture_pool(), formulas.mixture, 1e-4, 1_460),
        (0.0, SINE, np.sin, 1e-3, 750),
        (formulas.two_bumps, formulas.line_pool(), formulas.line(1.0, 1.0), 4e-3, 1_900),
        (0.0, points, lambda x: np.sin(3 * x[:, 0]) * x[:, 1], 2e-3, 1_030),
    ]
    for initial, pool, target, tol, most in lessons:
        plan = nimt.shortest(learner(initial=initial), pool, target, tol=tol, starts=1)
        assert plan.fewest < plan.steps <= most
        rules = {"tol": tol, "max_iterations": plan.steps, "engine": "reference"}
        assert nimt.teach(learner(initial=initial), plan.teacher, pool, target, **rules).itd == plan.steps


def test_a_plan_in_a_thread_ends_with_its_group(monkeypatch):
    """Ctrl-C is heard by the main thread alone: a program ended only when the plans of its threads were made."""
    group, ended, asked = object(), [], threading.Event()
    planned = VisitProblem.log_square

    def notice(problem, visits):
        asked.set()
        return planned(problem, visits)

    def plan():
        x = np.linspace(-4, 4, 161)
        learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01)
        with lessons_of(group), pytest.raises(KeyboardInterrupt):
            nimt.shortest(learner, x, np.sin, tol=1e-5)
        ended.append(True)

    monkeypatch.setattr(VisitProblem, "log_square", notice)
    thread = threading.Thread(target=plan)
    thread.start()
    assert asked.wait(60)
    interrupt_group(group)
    thread.join(60)
    assert ended == [True]


def test_a_plan_takes_one_thread_of_blas(monkeypatch):
    seen = []

    def look(problem, number):
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    monkeypatch.setattr(shortest_lesson, "_plan_from", look)
    nimt.shortest(learner(0.1), SINE, np.sin, tol=1e-2, starts=1)
    assert seen and set(seen) == {1}  # several wait for each other at every product: a hundred times as long


def test_a_target_whose_squares_are_infinite_is_refused():
    with pytest.raises(nimt.InvalidInput, match=r"squares of such numbers are infinite: divide both"):
        nimt.shortest(nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1), np.arange(5.0), np.full(5, 1e300))
