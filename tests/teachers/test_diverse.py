"""Packs that do not repeat themselves: the rule, and where it helps."""

import numpy as np
import pytest

import nimt
from oracles import gauss
from problems import MIXTURE, scattered, small_lesson

KERNEL = nimt.rbf(0.7)


def pack_in_plain_loops(errors, points, k, width):
    kernel, left, pack = gauss(width), list(errors), []
    for _ in range(k):
        best = max((i for i in range(len(left)) if i not in pack), key=lambda i: abs(left[i]))
        pack.append(best)
        size = left[best]
        left = [e - size * kernel(points[best], x) for e, x in zip(left, points, strict=True)]
    return sorted(pack)


@pytest.mark.long
@pytest.mark.parametrize("k", [1, 3, 12])
def test_every_pack_is_that_of_plain_loops(k):
    points, target, _ = scattered()
    teacher = nimt.GreedyTeacher(k=k, diverse=True, kernel=KERNEL)
    lesson = small_lesson(teacher, max_iterations=12, snapshots=range(13))
    for step, pack in enumerate(lesson.indices.tolist()):
        errors = (lesson.snapshots[step] - target).tolist()
        assert pack == pack_in_plain_loops(errors, points.tolist(), k, 0.7)


def steps_with(learner, k, tol=1e-4):
    kernel = learner.kernel
    teachers = nimt.GreedyTeacher(k=k), nimt.GreedyTeacher(k=k, diverse=True, kernel=kernel)
    options = {"tol": tol, "max_iterations": 4000}
    return [nimt.teach(learner, teacher, MIXTURE.pool, MIXTURE.target, **options).itd for teacher in teachers]


@pytest.mark.parametrize("k", [2, 5, 10])
def test_it_helps_a_learner_that_projects(k):
    plain, diverse = steps_with(nimt.learners.OrthogonalLearner(nimt.rbf(0.5), initial=MIXTURE.initial), k)
    assert diverse <= 0.8 * plain


@pytest.mark.long
@pytest.mark.parametrize("k", [2, 5])
def test_it_helps_at_the_largest_rate(k):
    plain, diverse = steps_with(MIXTURE.learner(learning_rate=0.5), k)
    assert diverse <= 0.8 * plain


@pytest.mark.long
def test_it_changes_little_at_a_small_rate():
    plain, diverse = steps_with(MIXTURE.learner(), 5)
    assert abs(diverse - plain) <= 0.01 * plain


@pytest.mark.long
def test_it_costs_steps_with_a_wide_kernel():
    learner = nimt.KernelLearner(nimt.rbf(2.0), learning_rate=0.5, initial=MIXTURE.initial)
    plain, diverse = steps_with(learner, 5, tol=5e-4)
    assert diverse > 1.1 * plain


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": KERNEL, "score": "gradient", "loss": "square"}, "chooses by the residual"),
        ({"kernel": 3}, "kernel must be a kernel such as"),
    ],
)
def test_what_it_refuses(options, message):
    with pytest.raises(nimt.InvalidInput, match=message):
        nimt.GreedyTeacher(k=2, diverse=True, **options)


def test_a_point_where_the_kernel_vanishes():
    learner = nimt.KernelLearner(nimt.linear(0.0), learning_rate=0.1)
    teacher = nimt.GreedyTeacher(k=2, diverse=True, kernel=nimt.linear(0.0))
    lesson = nimt.teach(learner, teacher, [0.0, 1.0, 2.0], [9.0, 1.0, 2.0], max_iterations=3, tol=None)
    assert np.isfinite(lesson.discrepancy).all()
