"""A checkpoint that exists is never overwritten unless that was asked for, and continued by its own lesson only."""

import dataclasses
import os
import signal

import numpy as np
import pytest

import nimt
from nimt.store.checkpoint_file import previous_of
from problems import MIXTURE, assert_same_lesson, small_lesson

pytestmark = pytest.mark.long


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lesson.ckpt"


def stopped_at(path, step, **options):
    return small_lesson(**options, callback=lambda progress: progress.step >= step, checkpoint=path)


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("moved", [False, True], ids=["in its place", "being replaced"])
def test_a_checkpoint_that_exists_is_refused_and_left_as_it_is(path, moved):
    stopped_at(path, 4)
    kept = path.read_bytes()
    place = previous_of(path) if moved else path
    os.replace(path, place)
    way_out = r"already holds a lesson: on_existing='resume' .* on_existing='replace' .* another file"
    with pytest.raises(nimt.InvalidInput, match=way_out):
        small_lesson(nimt.RandomTeacher(), checkpoint=path)
    assert place.read_bytes() == kept


def test_an_empty_file_holds_no_lesson(path):
    path.touch()
    assert len(small_lesson(checkpoint=path)) == len(nimt.resume(path))


@pytest.mark.usefixtures("every_step")
def test_replace_starts_anew(path):
    stopped_at(path, 4)
    lesson = small_lesson(nimt.RandomTeacher(), checkpoint=path, on_existing="replace")
    assert_same_lesson(lesson, small_lesson(nimt.RandomTeacher()))
    assert_same_lesson(nimt.resume(path), lesson)


@pytest.mark.usefixtures("every_step")
def test_one_call_starts_a_lesson_continues_it_and_returns_it_when_it_is_finished(path):
    options = {"teacher": nimt.RandomTeacher(k=2), "seed": 3, "snapshots": [3, 20]}
    whole = small_lesson(**options)
    steps = []

    def script(stop):
        return small_lesson(**options, checkpoint=path, on_existing="resume", callback=stop)

    def crash_at_nine(progress):
        steps.append(progress.step)
        assert progress.step < 9

    with pytest.raises(nimt.LessonInterrupted):
        script(crash_at_nine)
    assert steps[0] == 1
    steps.clear()
    again = script(lambda progress: steps.append(progress.step))
    assert_same_lesson(again, whole)
    assert steps[0] == 10
    steps.clear()
    assert_same_lesson(script(lambda progress: steps.append(progress.step)), whole)
    assert steps == [25]


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("engine", ["reference", "grid", "streamed"])
def test_every_engine_continues(path, engine):
    options = {"teacher": nimt.RandomTeacher(k=3), "max_iterations": 40, "tol": None, "engine": engine}
    whole = MIXTURE.teach(**options)
    MIXTURE.teach(**options, callback=lambda progress: progress.step >= 11, checkpoint=path)
    assert_same_lesson(MIXTURE.teach(**options, checkpoint=path, on_existing="resume"), whole)


@pytest.mark.usefixtures("every_step")
def test_a_larger_budget_continues_a_lesson_whose_budget_ran_out(path):
    small_lesson(checkpoint=path, max_iterations=10)
    longer = small_lesson(checkpoint=path, max_iterations=25, on_existing="resume")
    assert_same_lesson(longer, small_lesson(max_iterations=25))


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"teacher": nimt.RandomTeacher()}, "teacher"),
        ({"learner": nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.1)}, "learner"),
        ({"seed": 1}, "seed"),
        ({"tol": 1e-3}, "tol"),
        ({"measure": "rms"}, "measure"),
        ({"patience": 3}, "patience"),
        ({"record": "picks"}, "record"),
        ({"engine": "streamed"}, "engine"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_another_lesson_is_never_continued(path, options, names):
    stopped_at(path, 4, record="all", engine="reference")
    kept = path.read_bytes()
    with pytest.raises(nimt.InvalidInput, match=f"holds another lesson, with another {names}: name another file"):
        small_lesson(**{"record": "all", "engine": "reference"} | options, checkpoint=path, on_existing="resume")
    assert path.read_bytes() == kept


@pytest.mark.usefixtures("every_step")
def test_a_target_of_another_kind_is_never_continued(path):
    learner, x = nimt.KernelLearner(nimt.rbf(0.5)), np.arange(9.0)
    nimt.teach(learner, nimt.GreedyTeacher(), x, np.sin, max_iterations=5, tol=None, checkpoint=path)
    for pool, target, name in ((x, np.cos, "y"), (x[:-1], np.sin, "X")):
        with pytest.raises(nimt.InvalidInput, match=f"with another {name}:"):
            nimt.teach(
                learner,
                nimt.GreedyTeacher(),
                pool,
                target,
                max_iterations=5,
                tol=None,
                checkpoint=path,
                on_existing="resume",
            )


@pytest.mark.usefixtures("every_step")
def test_what_the_lesson_has_passed_cannot_be_asked_for(path):
    stopped_at(path, 9)
    with pytest.raises(nimt.InvalidInput, match=r"up to step 9, beyond max_iterations=5"):
        small_lesson(checkpoint=path, on_existing="resume", max_iterations=5)
    with pytest.raises(nimt.InvalidInput, match=r"up to step 9, without the snapshot of step 3"):
        small_lesson(checkpoint=path, on_existing="resume", snapshots=[3, 12])
    assert sorted(small_lesson(checkpoint=path, on_existing="resume", snapshots=[12]).snapshots) == [12]


def test_a_seed_that_is_drawn_cannot_be_continued(path):
    with pytest.raises(nimt.InvalidInput, match=r"on_existing='resume' needs a seed"):
        small_lesson(checkpoint=path, on_existing="resume", seed=None)


@pytest.mark.parametrize("name", ["on_existing", "on_interrupt"])
def test_unknown_words_are_refused(path, name):
    with pytest.raises(nimt.InvalidInput, match=rf"{name} must be one of .*, got 'ask'"):
        small_lesson(checkpoint=path, **{name: "ask"})


@pytest.mark.usefixtures("every_step")
def test_ctrl_c_ends_a_loop_over_seeds(path):
    """With on_interrupt="raise" the loop ends, and the same script goes on where it was."""
    begun = []

    def press(progress):
        if progress.step == 7:
            os.kill(os.getpid(), signal.SIGINT)

    def script(callback):
        return [
            small_lesson(
                nimt.RandomTeacher(), seed=seed, callback=callback, on_interrupt="raise", on_existing="resume",
                checkpoint=path.with_suffix(f".{seed}"),
            )
            for seed in range(3)
            if not begun.append(seed)
        ]  # fmt: skip

    with pytest.raises(KeyboardInterrupt, match=r"interrupted at step [78]"):
        script(press)
    assert begun == [0]
    for seed, lesson in enumerate(script(None)):
        assert_same_lesson(lesson, small_lesson(nimt.RandomTeacher(), seed=seed))


@pytest.mark.usefixtures("every_step")
def test_resume_raises_ctrl_c_if_asked(path):
    stopped_at(path, 4)

    def press(progress):
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        nimt.resume(path, callback=press, on_interrupt="raise")
    assert_same_lesson(nimt.resume(path), small_lesson())


def test_steps_take_neither(path):
    for name in ("on_existing", "on_interrupt"):
        with pytest.raises(nimt.InvalidInput, match=f"does not take {name}"):
            nimt.steps(
                nimt.KernelLearner(nimt.rbf(1.0)), nimt.GreedyTeacher(), [0.0], [1.0], max_iterations=1, **{name: "x"}
            )


@pytest.mark.usefixtures("every_step")
def test_a_snapshot_of_a_step_that_is_past_is_refused_when_a_lesson_goes_on(path):
    stopped_at(path, 9)
    with pytest.raises(nimt.InvalidInput, match=r"up to step 9, without the snapshot of step 4: leave that out"):
        nimt.resume(path, snapshots=[4, 12])
    resumed = nimt.resume(path, snapshots=[9, 12])
    assert_same_lesson(resumed, small_lesson(snapshots=[9, 12]))
    assert sorted(resumed.snapshots) == [9, 12]


@pytest.mark.parametrize("schedule", [{"k": nimt.schedules.cosine(1, 4)}, {"look": nimt.schedules.incremental()}])
def test_a_schedule_without_a_length_keeps_that_of_the_first_budget(path, schedule):
    teacher = nimt.GreedyTeacher(**schedule)
    small_lesson(teacher, max_iterations=10, checkpoint=path)
    again = small_lesson(teacher, max_iterations=20, checkpoint=path, on_existing="resume")
    assert len(again) == 20
    given = next(iter(schedule.values()))
    settled = dataclasses.replace(teacher, **{next(iter(schedule)): dataclasses.replace(given, over=10)})
    np.testing.assert_array_equal(again.discrepancy, small_lesson(settled, max_iterations=20).discrepancy)
    longer = nimt.resume(path, max_iterations=30)
    np.testing.assert_array_equal(longer.discrepancy, small_lesson(settled, max_iterations=30).discrepancy)


def test_a_finished_lesson_of_a_run_folder_goes_on(tmp_path):
    small_lesson(max_iterations=10, checkpoint=tmp_path / "lesson.npz")
    assert_same_lesson(nimt.resume(tmp_path, max_iterations=20), small_lesson(max_iterations=20))
    (tmp_path / "empty").mkdir()
    with pytest.raises(nimt.errors.MissingFile, match=r"empty' is a folder without lesson.npz: name a lesson file"):
        nimt.resume(tmp_path / "empty")


def test_steps_takes_the_defaults_of_what_it_does_not_offer():
    lesson = (nimt.KernelLearner(nimt.rbf(1.0)), nimt.GreedyTeacher(), [0.0, 5.0], [1.0, 3.0])
    assert nimt.steps(*lesson, max_iterations=2, progress=False, on_existing="refuse").step == 0
    with pytest.raises(nimt.InvalidInput, match=r"steps\(\) does not take progress"):
        nimt.steps(*lesson, max_iterations=2, progress=True)
