"""What a teacher may see, touch and remember."""

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest

import nimt
from problems import assert_same_lesson, scattered, small_lesson


@dataclass(frozen=True, eq=False)
class Spy(nimt.Teacher):
    """Show the first point and keep every view."""

    seen: list = dataclasses.field(default_factory=list)

    def select(self, view):
        self.seen.append(view)
        return view.show(0)


def views(**options):
    spy = Spy(**options)
    small_lesson(spy, max_iterations=4)
    return spy.seen


def everything_reachable(thing, depth=4):
    yield thing
    if depth and not isinstance(thing, np.ndarray | np.random.Generator | type):
        for part in getattr(thing, "__dict__", {}).values():
            yield from everything_reachable(part, depth - 1)


def test_the_view_holds_neither_loss_nor_rate_nor_kernel():
    names = {field.name for field in dataclasses.fields(nimt.teachers.View)}
    own = {"step", "pool", "predictions", "target", "rng", "memory", "candidates"}
    assert names - own == {"kernel", "loss", "rate", "heard"}  # for teachers that see or ask
    for view in (*views(), *views(pool=0.5)):
        assert (view.kernel, view.loss, view.rate, view.heard) == (None, None, None, [])
    from nimt.kernels import Kernel

    for view in (*views(), *views(pool=0.5)):
        for part in everything_reachable(view):
            assert not isinstance(part, Kernel | nimt.losses.Square | nimt.KernelLearner)
            assert not (isinstance(part, float) and part == 0.2), "the learning rate"


@pytest.mark.parametrize("pool", [None, 0.5, [1, 2, 3]])
def test_what_a_view_shows_cannot_be_written_to(pool):
    for view in views(pool=pool):
        for array in (view.predictions, view.target, view.pool.points):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0
        with pytest.raises(dataclasses.FrozenInstanceError):
            view.step = 3


def test_the_view_tells_the_step_and_the_truth():
    points, target, _ = scattered()
    seen = views()
    assert [view.step for view in seen] == [0, 1, 2, 3]
    for view in seen:
        np.testing.assert_array_equal(view.target, target)
        np.testing.assert_array_equal(view.pool.points, points)
        assert len(view) == len(target)


def test_a_limited_teacher_sees_its_own_points_only():
    points, target, _ = scattered()
    for view in views(pool=[7, 2, 5]):
        np.testing.assert_array_equal(view.candidates, [2, 5, 7])
        np.testing.assert_array_equal(view.target, target[[2, 5, 7]])
        np.testing.assert_array_equal(view.pool.points, points[[2, 5, 7]])
        assert view.predictions.shape == (3,)


@dataclass(frozen=True, eq=False)
class RoundRobin(nimt.Teacher):
    """Show the points in turn, knowing only from its memory where it was; draw to have a random stream too."""

    def select(self, view):
        at = 0 if view.memory is None else int(view.memory["array"])
        drift = view.rng.normal() + (0.0 if view.memory is None else view.memory["walk"][0, 0])
        seen = [] if view.memory is None else [*view.memory["names"]]
        assert view.step == (0 if view.memory is None else view.memory["step"])
        memory = {
            "array": np.array((at + 1) % len(view)),
            "walk": np.array([[drift]]),
            "names": np.array([*seen, f"point {at}"]),
            "step": np.int64(view.step + 1),
            "flag": np.array([True, False]),
        }
        return view.show(at, labels=[view.target[at] + drift], memory=memory)


def test_memory_goes_round_a_lesson():
    lesson = small_lesson(RoundRobin(), max_iterations=30)
    np.testing.assert_array_equal(lesson.indices[:, 0], np.arange(30) % 12)


def test_memory_goes_round_when_stepped_by_hand():
    points, target, _ = scattered()
    walk = nimt.steps(
        nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.2), RoundRobin(), points, target, max_iterations=25, tol=None
    )
    taken = list(walk)
    whole = small_lesson(RoundRobin())
    assert_same_lesson(walk.lesson, whole)
    assert [t for t, _, _ in taken] == list(range(1, 26))
    for t, selection, discrepancy in taken:
        assert discrepancy == whole.discrepancy[t]
        np.testing.assert_array_equal(selection.indices, whole.indices[t - 1])
        np.testing.assert_array_equal(selection.labels, whole.labels[t - 1])
    np.testing.assert_array_equal(walk.values, whole.final)


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("at", [1, 4, 13])
def test_memory_goes_round_a_checkpoint(tmp_path, at):
    path = tmp_path / "checkpoint"

    def stop(progress):
        return progress.step >= at

    stopped = small_lesson(RoundRobin(), callback=stop, checkpoint=path, snapshots=range(26))
    assert stopped.outcome is nimt.lesson.Outcome.STOPPED
    assert len(stopped) == at
    with pytest.raises(nimt.InvalidInput, match=r"RoundRobin is not nimt's own.*teacher="):
        nimt.resume(path)
    assert_same_lesson(nimt.resume(path, teacher=RoundRobin()), small_lesson(RoundRobin(), snapshots=range(26)))


def test_what_a_teacher_remembers_is_a_copy():
    kept = np.zeros(1)

    @dataclass(frozen=True, eq=False)
    class Forgetful(nimt.Teacher):
        def select(self, view):
            if view.memory is not None:
                assert view.memory["kept"][0] == view.step - 1
            kept[0] = view.step
            answer = view.show(0, memory={"kept": kept})
            return answer

    small_lesson(Forgetful(), max_iterations=5)


def test_memory_is_that_of_the_step_before_and_no_older():
    seen = []

    def forget_at_once(view):
        seen.append(view.memory)
        return view.show(0, memory={"told": np.array([view.step])} if view.step == 0 else None)

    small_lesson(Answer(forget_at_once), max_iterations=4)
    assert seen[0] is None
    assert seen[1]["told"] == [0]
    assert seen[2:] == [None, None]


class OneArrayForAll:
    """Show points in turn, always in the same two arrays."""

    def __init__(self, indices):
        self.indices, self.shown_labels = indices, np.zeros(len(indices))

    def select(self, view):
        self.indices[:] = (view.step + np.arange(len(self.indices))) % len(view)
        self.shown_labels[:] = view.target[self.indices]
        return nimt.Selection(self.indices, self.shown_labels)


@pytest.mark.parametrize("indices", [np.zeros(1, np.intp), np.zeros(1, np.int32), np.zeros(3, np.intp)])
def test_a_teacher_may_use_its_arrays_again(indices):
    points, target, _ = scattered()
    lesson = small_lesson(OneArrayForAll(indices), max_iterations=5)
    expected = (np.arange(5)[:, np.newaxis] + np.arange(len(indices))) % len(points)
    np.testing.assert_array_equal(lesson.indices, expected)
    np.testing.assert_array_equal(lesson.labels, target[expected])


class Answer:
    """A teacher that gives one fixed answer."""

    def __init__(self, answer):
        self.answer = answer

    def select(self, view):
        return self.answer(view)


WRONG_ANSWERS = {
    "no selection": (lambda view: [0], "must return a Selection"),
    "nothing": (lambda view: view.show([]), "at least one"),
    "a float": (lambda view: view.show([0.5]), "whole-numbered index"),
    "negative": (lambda view: view.show([-1]), "index -1.*0 to 11"),
    "too far": (lambda view: nimt.Selection(np.array([12]), np.zeros(1)), "index 12.*0 to 11"),
    "a mask": (lambda view: view.show(np.ones(12, bool)), "whole-numbered index"),
    "too few labels": (lambda view: view.show([0, 1], labels=[1.0]), r"2 examples with labels of shape \(1,\)"),
    "label nan": (lambda view: view.show([0], labels=[np.nan]), "nan at index 0"),
    "label text": (lambda view: view.show([0], labels=["a"]), "real numbers"),
    "object memory": (lambda view: view.show([0], memory={"a": np.array([None])}), "'a' has dtype object"),
    "memory without names": (lambda view: view.show([0], memory=np.zeros(3)), "named arrays"),
}


@pytest.mark.parametrize(("answer", "sentence"), WRONG_ANSWERS.values(), ids=WRONG_ANSWERS)
def test_a_teacher_that_answers_wrongly_is_told_how(answer, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        small_lesson(Answer(answer))


def test_a_teacher_need_not_inherit_anything():
    lesson = small_lesson(Answer(lambda view: view.show([3, 4])), max_iterations=2)
    np.testing.assert_array_equal(lesson.indices, [[3, 4], [3, 4]])
