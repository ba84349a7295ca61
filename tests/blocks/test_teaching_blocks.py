"""Lessons by blocks: the rule, one block, how many teach them, and when they end."""

from __future__ import annotations

import numpy as np
import pytest
from tests.blocks.oracle_of_blocks import blocks_of_grid, teach_by_loops

import nimt
from nimt.kernels import CUT

pytestmark = pytest.mark.long


def rough(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def learner(kernel=None, rate=0.2):
    return nimt.KernelLearner(kernel or nimt.Wendland(2.0), learning_rate=rate)


def teach(y, blocks, kernel=None, grid=None, **options):
    options = {"tol": 0.1, "measure": "rms", "max_iterations": 100_000} | options
    return nimt.teach(learner(kernel), nimt.GreedyTeacher(), grid or nimt.Grid.like(y), y, engine=blocks, **options)


@pytest.mark.parametrize(
    ("shape", "counts", "kernel"),
    [
        ((60,), (5,), nimt.rbf(width=0.5)),
        ((18, 13), (3, 2), nimt.Wendland(2.0)),
        ((9, 5, 8), (2, 1, 2), nimt.Wendland(2.0)),
    ],
    ids=["1-D", "2-D", "3-D"],
)
def test_blocks_show_what_plain_loops_show(shape, counts, kernel):
    y = rough(shape)
    grid = nimt.Grid.like(y)
    lesson = teach(y, nimt.Blocks(counts, share=0.7), kernel)
    owners, colours = blocks_of_grid(shape, counts)
    shown, f = teach_by_loops(y.ravel(), grid.points, owners, colours, kernel, 0.2, tol=0.1, share=0.7, cut=CUT)
    assert lesson.indices[:, 0].tolist() == shown
    assert np.abs(lesson.final - f).max() < 1e-12
    assert lesson.outcome is nimt.lesson.Outcome.CONVERGED


def test_one_block_is_the_lesson_without_blocks_to_the_last_bit():
    y = rough((20, 30))
    whole, one = teach(y, "grid"), teach(y, nimt.Blocks(1))
    for name in ("indices", "labels", "coefficients", "discrepancy", "final", "initial", "picks"):
        assert np.array_equal(getattr(whole, name), getattr(one, name)), name
    assert whole.outcome is one.outcome
    assert np.array_equal(whole.learner.coefficients_, one.learner.coefficients_)


def test_the_result_depends_on_the_blocks_only():
    y = rough((40, 40))
    one, four = (teach(y, nimt.Blocks((4, 4), workers=workers)) for workers in (1, 4))
    assert np.array_equal(one.indices, four.indices)
    assert np.array_equal(one.final, four.final)
    assert np.array_equal(one.discrepancy, four.discrepancy)


def test_the_examples_in_their_order_give_the_same_function_one_by_one():
    y = rough((24, 24))
    lesson = teach(y, nimt.Blocks((3, 2)), max_iterations=701)
    walk = nimt.KernelLearner(nimt.Wendland(2.0), learning_rate=0.2).make_pupil(nimt.Grid.like(y))
    for t, index in enumerate(lesson.indices[:, 0]):
        walk.learn(np.array([index]), y.ravel()[[index]])
        if t % 100 == 0:
            assert lesson.discrepancy[t + 1] == pytest.approx(
                np.sqrt(np.mean((walk.values - y.ravel()) ** 2)), rel=1e-9
            )
    assert np.abs(walk.values - lesson.final).max() < 1e-12
    assert np.abs(lesson.learner.predict(lesson.pool.points) - lesson.final).max() < 1e-12


def test_the_examples_are_about_as_many_as_without_blocks():
    y = nimt.datasets.cat().values
    whole, cut = (
        teach(y, engine, nimt.rbf(width=0.5), tol=0.1, record="picks") for engine in ("grid", nimt.Blocks(16))
    )
    assert cut.picks.sum() < 1.02 * len(whole)


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        ({"max_iterations": 137}, "BUDGET"),
        ({"stop_when_stationary": 0.25, "tol": None}, "STATIONARY"),
        ({"tol": 0.0, "patience": 1, "max_iterations": 10**6, "time_limit": 60}, "STALLED"),
        ({"callback": lambda progress: progress.turn > 2, "tol": None}, "STOPPED"),
        ({"time_limit": 1e-9, "tol": None}, "TIME"),
        ({"tol": 100.0}, "CONVERGED"),
    ],
)
def test_a_lesson_by_blocks_ends_by_every_rule(options, outcome):
    lesson = teach(rough((16, 16)), nimt.Blocks((2, 2)), **options)
    assert lesson.outcome.name == outcome
    if outcome == "BUDGET":
        assert len(lesson) == 137
    if outcome == "STATIONARY":
        assert np.max(2 * np.abs(lesson.final - lesson.target)) <= 0.5


def test_a_rate_that_is_too_large_is_noticed():
    y = rough((16, 16))
    taught = nimt.KernelLearner(nimt.Wendland(2.0), learning_rate=3.0)
    lesson = nimt.teach(taught, nimt.GreedyTeacher(), nimt.Grid.like(y), y, engine=nimt.Blocks((2, 2)), tol=1e-3)
    assert lesson.outcome is nimt.lesson.Outcome.DIVERGED


def test_a_tolerance_in_words_means_what_it_means_without_blocks():
    y = rough((32, 17)) + 3.0
    assert [teach(y, engine, tol="20%").tol for engine in ("grid", nimt.Blocks((2, 2)))] == [
        teach(y, "grid", tol="20%").tol
    ] * 2


@pytest.mark.parametrize(
    ("blocks", "kernel", "shape", "sentence"),
    [
        ((4, 4), nimt.rbf(width=0.5), (20, 20), "cuts axis 0 into blocks of 5 points, and the kernel reaches 3"),
        ((30, 1), nimt.Wendland(1.0), (20, 20), "cuts axis 0 into 30, and it has 20 points"),
        ((2,), nimt.Wendland(1.0), (20, 20), "has 1 numbers, and the grid 2 axes"),
        ((2, 2), nimt.linear(), (20, 20), "blocks need a kernel with a finite reach"),
    ],
)
def test_blocks_that_cannot_be_are_refused_in_a_sentence(blocks, kernel, shape, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        teach(rough(shape), nimt.Blocks(blocks), kernel)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"teacher": nimt.GreedyTeacher(k=2)}, "GreedyTeacher"),
        ({"loss": "absolute"}, "square loss"),
        ({"measure": "accuracy"}, "paper or rms"),
        ({"snapshots": [1]}, "no snapshots"),
        ({"snapshots": np.arange(2)}, "no snapshots"),
        ({"snapshots": [], "holdout": ([[0.0, 0.5]], [1.0])}, "no holdout"),
        ({"checkpoint": "here"}, "kept in a folder"),
        ({"rate": lambda t: 0.1}, "learning_rate"),
    ],
)
def test_lessons_that_blocks_do_not_cover_are_refused_in_a_sentence(change, sentence):
    y = rough((12, 12))
    taught = nimt.KernelLearner(
        nimt.Wendland(1.5), loss=change.pop("loss", "square"), learning_rate=change.pop("rate", 0.1)
    )
    with pytest.raises(nimt.InvalidInput, match=sentence):
        nimt.teach(
            taught, change.pop("teacher", nimt.GreedyTeacher()), nimt.Grid.like(y), y, engine=nimt.Blocks(2), **change
        )


def test_an_initial_function_is_cut_like_the_target():
    y, start = rough((20, 20)), rough((20, 20), 1)
    taught = nimt.KernelLearner(nimt.Wendland(2.0), learning_rate=0.2, initial=start)
    lesson = nimt.teach(
        taught, nimt.GreedyTeacher(), nimt.Grid.like(y), y, engine=nimt.Blocks((2, 2)), max_iterations=9
    )
    assert np.array_equal(lesson.initial, start.ravel())


def test_a_lesson_by_blocks_is_saved_and_read(tmp_path):
    lesson = teach(rough((12, 12)), nimt.Blocks((2, 2)), tol=0.5)
    lesson.save(tmp_path / "lesson.npz")
    again = nimt.Lesson.load(tmp_path / "lesson.npz")
    assert again.engine == "blocks"
    assert np.array_equal(again.indices, lesson.indices)


def test_the_plan_says_what_a_worker_takes_and_how_many_turns():
    y = rough((64, 64))
    plan = nimt.plan(
        learner(), nimt.GreedyTeacher(), nimt.Grid.like(y), y, tol=0.1, measure="rms", engine=nimt.Blocks((4, 4))
    )
    lesson = nimt.blocks.teach_blocks(
        learner(), nimt.GreedyTeacher(), nimt.Grid.like(y), y, (4, 4), tol=0.1, measure="rms"
    )
    assert (plan.engine, plan.blocks, plan.colours) == ("blocks", 16, 4)
    assert 0.5 * lesson.turns <= plan.turns <= 2 * lesson.turns
    assert "16 blocks in 4 colours" in str(plan)
