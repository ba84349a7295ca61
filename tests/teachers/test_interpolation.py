"""The greedy rules of kernel interpolation, against plain loops."""

import numpy as np
import pytest

import nimt
from oracles import gauss
from problems import MIXTURE, assert_same_lesson, scattered, small_lesson

KERNEL = nimt.rbf(0.7)
RULES = {
    "f": lambda r, p: abs(r),
    "P": lambda r, p: p,
    "f*P": lambda r, p: abs(r) * p,
    "f/P": lambda r, p: abs(r) / p,
    0.25: lambda r, p: abs(r) ** 0.25 * p**0.75,
    3.0: lambda r, p: abs(r) ** 3 / p**2,
}


def power_in_plain_loops(points, centers, width):
    """P(x)^2 = K(x, x) - k(x)' K^-1 k(x), by Gram-Schmidt on the kernel functions of the centres."""
    kernel = gauss(width)
    basis = []
    for c in centers:
        column = [kernel(points[c], x) for x in points]
        for v in basis:
            column = [value - v[c] * w for value, w in zip(column, v, strict=True)]
        pivot = column[c] ** 0.5
        basis.append([value / pivot for value in column])
    return [max(0.0, 1 - sum(v[i] ** 2 for v in basis)) ** 0.5 for i in range(len(points))]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "learner", [nimt.learners.OrthogonalLearner(KERNEL), nimt.KernelLearner(KERNEL, learning_rate=0.2)]
)
def test_every_choice_is_that_of_plain_loops(rule, learner):
    points, target, _ = scattered()
    teacher = nimt.teachers.InterpolationTeacher(rule, kernel=KERNEL)
    lesson = small_lesson(teacher, learner, max_iterations=9, snapshots=range(10))
    shown = []
    for step, index in enumerate(lesson.indices[:, 0].tolist()):
        f = lesson.snapshots[step]
        power = power_in_plain_loops(points.tolist(), list(dict.fromkeys(shown)), 0.7)
        scores = {i: RULES[rule](f[i] - target[i], power[i]) for i in range(12) if rule == "f" or i not in shown}
        assert index == max(scores, key=scores.get)
        shown.append(index)


def test_the_named_rules_are_members_of_the_family():
    for name, beta in (("f", 1), ("P", 0.0), ("f*P", 0.5), ("f/P", np.inf)):
        learner = nimt.learners.OrthogonalLearner(KERNEL)
        named, numbered = (
            small_lesson(nimt.teachers.InterpolationTeacher(rule, kernel=KERNEL), learner, max_iterations=12)
            for rule in (name, beta)
        )
        np.testing.assert_array_equal(named.indices, numbered.indices)


def test_a_large_beta_nears_f_over_p():
    options = {"learner": nimt.learners.OrthogonalLearner(KERNEL), "max_iterations": 10, "tol": None}
    high = small_lesson(nimt.teachers.InterpolationTeacher(60.0, kernel=KERNEL), **options)
    limit = small_lesson(nimt.teachers.InterpolationTeacher("f/P", kernel=KERNEL), **options)
    np.testing.assert_array_equal(high.indices, limit.indices)


def test_p_greedy_does_not_look_at_the_target():
    teacher, learner = nimt.teachers.InterpolationTeacher("P", kernel=KERNEL), nimt.learners.OrthogonalLearner(KERNEL)
    points, target, _ = scattered()
    one, other = (
        nimt.teach(learner, teacher, points, y, max_iterations=8, tol=None) for y in (target, -3 * target + 1)
    )
    np.testing.assert_array_equal(one.indices, other.indices)


@pytest.mark.parametrize(("rule", "at_most"), [("f", 30), ("f*P", 30), ("f/P", 33), ("P", 60)])
def test_centres_needed_on_the_mixture(rule, at_most):
    kernel = nimt.rbf(0.5)
    learner = nimt.learners.OrthogonalLearner(kernel, initial=MIXTURE.initial)
    teacher = nimt.teachers.InterpolationTeacher(rule, kernel=kernel)
    assert nimt.teach(learner, teacher, MIXTURE.pool, MIXTURE.target, tol=1e-4, max_iterations=280).itd <= at_most


@pytest.mark.usefixtures("every_step")
def test_resuming_changes_nothing(tmp_path):
    options = {
        "teacher": nimt.teachers.InterpolationTeacher("f*P", kernel=KERNEL, k=2),
        "max_iterations": 6,
        "tol": None,
    }
    whole = small_lesson(**options)
    small_lesson(**options, callback=lambda p: p.step >= 2, checkpoint=tmp_path / "c")
    assert_same_lesson(nimt.resume(tmp_path / "c"), whole)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("g",), "rule must be one of f, P"),
        ((-1.0,), "rule must be one of"),
        ((np.nan,), "rule must be one of"),
        (("f", "rbf"), "kernel must be a kernel such as"),
    ],
)
def test_what_it_refuses(arguments, message):
    with pytest.raises(nimt.InvalidInput, match=message):
        nimt.teachers.InterpolationTeacher(*arguments)
