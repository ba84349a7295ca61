"""Teachers that show no point a second time."""

import numpy as np
import pytest

import nimt
from nimt import schedules, testing

X = nimt.Grid(np.linspace(-2, 2, 30))
LEARNER = nimt.KernelLearner(nimt.rbf(0.4), learning_rate=0.1)


def teach(teacher, steps=1000, target=np.sin, **options):
    return nimt.teach(LEARNER, teacher, X, target, max_iterations=steps, tol=None, **options)


def packs_of(lesson):
    return [row[row >= 0] for row in lesson.indices]


@pytest.mark.parametrize("k", [1, 7])
@pytest.mark.parametrize("outputs", [1, 2])
def test_greedy_packs_are_those_of_a_plain_loop(k, outputs):
    x = X.points[:, 0]
    target = np.sin(x + 0.3) if outputs == 1 else np.column_stack([np.sin(x + 0.3), x**2 - x])
    gram = np.exp(-((x[:, None] - x) ** 2) / 0.4**2)
    f, free, expected = np.zeros((30, outputs)), list(range(30)), []
    y = target.reshape(30, outputs)
    while free:
        size = np.linalg.norm(f - y, axis=1)
        pack = sorted(sorted(free, key=lambda i: -size[i])[:k])
        expected.append(pack)
        f = f - 0.1 / len(pack) * gram[:, pack] @ (2 * (f - y)[pack])
        free = [i for i in free if i not in pack]
    lesson = teach(nimt.GreedyTeacher(k=k, never_twice=True), target=target)
    assert [pack.tolist() for pack in packs_of(lesson)] == expected
    np.testing.assert_allclose(lesson.final.reshape(30, outputs), f, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [nimt.GreedyTeacher, nimt.RandomTeacher])
@pytest.mark.parametrize("k", [1, 7, 0.25, 30, 1.0, schedules.steps(2, 9, stages=3, over=4)])
def test_every_point_is_shown_once_and_the_lesson_ends(kind, k):
    lesson = teach(kind(k=k, never_twice=True), seed=3)
    assert np.array_equal(np.sort(np.concatenate(packs_of(lesson))), np.arange(30))
    assert lesson.outcome is nimt.lesson.Outcome.ALL_SHOWN
    assert len(packs_of(lesson)[-1]) <= len(packs_of(lesson)[0]) or not isinstance(k, int | float)


@pytest.mark.parametrize(
    "options",
    [
        {"k": 4, "diverse": True, "kernel": nimt.rbf(0.4)},
        {"k": 3, "look": schedules.every(4)},
        {"k": 3, "score": "decrease"},
        {"k": 3, "pool": np.arange(5, 22)},
    ],
)
def test_never_twice_goes_with_the_other_parameters(options):
    shown = np.concatenate(packs_of(teach(nimt.GreedyTeacher(never_twice=True, **options))))
    assert np.array_equal(np.sort(shown), options.get("pool", np.arange(30)))


def test_points_without_weight_are_never_shown():
    weights = np.where(np.arange(30) % 3, 1.0, 0.0)
    lesson = teach(nimt.RandomTeacher(k=8, weights=weights, never_twice=True))
    assert np.array_equal(np.sort(np.concatenate(packs_of(lesson))), np.flatnonzero(weights))
    assert [len(pack) for pack in packs_of(lesson)] == [8, 8, 4]


def test_the_first_draw_is_by_the_weights():
    weights = np.where(np.arange(30) < 3, 1.0, 1e-9)
    first = np.concatenate([teach(nimt.RandomTeacher(k=3, weights=weights, never_twice=True), 1, seed=s).indices[0]
                            for s in range(20)])  # fmt: skip
    assert np.array_equal(np.unique(first), np.arange(3))


@pytest.mark.parametrize("kind", [nimt.GreedyTeacher, nimt.RandomTeacher])
def test_each_output_has_points_of_its_own(kind):
    target = np.column_stack([np.sin(X.points[:, 0]), np.cos(X.points[:, 0])])
    lesson = teach(nimt.teachers.PerOutput(kind(k=4, never_twice=True)), target=target)
    packs = [pack.reshape(2, -1) for pack in packs_of(lesson)]
    shown = np.concatenate(packs, axis=1)
    assert np.array_equal(np.sort(shown, axis=1), np.tile(np.arange(30), (2, 1)))


@pytest.mark.parametrize("kind", [nimt.GreedyTeacher, nimt.RandomTeacher])
def test_a_lesson_resumes_bit_for_bit_to_its_end(kind, tmp_path):
    teacher, path = kind(k=4, never_twice=True), tmp_path / "half.ckpt"
    teach(teacher, 3, seed=2, checkpoint=path)
    resumed = nimt.resume(path, max_iterations=1000)
    at_once = teach(teacher, seed=2)
    assert np.array_equal(resumed.indices, at_once.indices)
    assert np.array_equal(resumed.final, at_once.final)
    assert resumed.outcome is at_once.outcome is nimt.lesson.Outcome.ALL_SHOWN
    at_once.save(tmp_path / "whole.npz")
    assert nimt.Lesson.load(tmp_path / "whole.npz").outcome is nimt.lesson.Outcome.ALL_SHOWN


@pytest.mark.parametrize("kind", [nimt.GreedyTeacher, nimt.RandomTeacher])
@pytest.mark.parametrize("k", [1, 5])
def test_the_contract_is_kept(kind, k):
    testing.check_teacher(kind(k=k, never_twice=True))


@pytest.mark.parametrize("kind", [nimt.GreedyTeacher, nimt.RandomTeacher])
def test_what_it_cannot_do_is_said(kind):
    with pytest.raises(nimt.InvalidInput, match="never_twice must be True or False, got 1"):
        kind(never_twice=1)
    teacher = kind(never_twice=True)
    assert teacher.name.endswith("-1 (never twice)")
    with pytest.raises(nimt.InvalidInput, match="no compiled engine can choose by what was not shown yet"):
        nimt.teach(LEARNER, teacher, X, np.sin, max_iterations=3, engine="grid")
    with pytest.raises(nimt.InvalidInput, match="with never_twice=True"):
        nimt.forecast(LEARNER, teacher, X, np.sin, tol=1e-2)
    with pytest.raises(nimt.InvalidInput, match="leave order= out"):
        nimt.RandomTeacher(order="epoch", never_twice=True)
