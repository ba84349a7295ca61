"""Random lessons on every engine before an independent judge, and the judge before altered lessons."""

import collections

import numpy as np
import pytest

from oracle.__main__ import Verdict, judge_number
from oracle.generator import draw
from oracle.giving import give
from oracle.lesson import Wrong, judge
from oracle.problem import Problem
from oracle.tampering import TAMPERINGS, tampered

SEED, LESSONS, BATCH = 24, 200, 10
pytestmark = pytest.mark.long


@pytest.mark.parametrize("first", range(0, LESSONS, BATCH))
@pytest.mark.sampled(4)
def test_random_lessons_are_what_plain_loops_say(first):
    verdict = Verdict()
    for number in range(first, first + BATCH):
        judge_number(number, SEED, verdict, fewest=3)  # other tests compile for 3 outputs; `make soak` draws 2, too
    assert not verdict.wrong, "\n".join(verdict.wrong)
    assert verdict.undecided <= BATCH


def test_every_teacher_loss_start_pool_and_rule_is_drawn():
    seen = collections.defaultdict(collections.Counter)
    for number in range(LESSONS):
        problem = draw(np.random.default_rng([SEED, number]))
        teacher, k = problem.teacher, problem.teacher.get("k")
        seen["teacher"][teacher["kind"]] += 1
        seen["score"][teacher.get("score", "diverse" if teacher.get("diverse") else "residual")] += 1
        seen["wrapping"][bool(teacher.get("per_output")), teacher.get("mixes") is not None] += 1
        seen["allowed"][type(teacher.get("pool")).__name__] += 1
        seen["labels"][teacher.get("other") is not None] += 1
        seen["look"][(teacher.get("look") or ["always"])[0]] += 1
        if isinstance(k, tuple):
            seen["schedule"][k[0]] += 1
            seen["rising"][k[1] < k[2], isinstance(k[1], float)] += 1
        seen["pool"]["box" if problem.box else "points" if problem.axes is None else len(problem.axes)] += 1
        for name in ("kernel", "loss", "start"):
            seen[name][getattr(problem, name)[0]] += 1
        seen["outputs"][problem.q] += 1
        for name in ("tol", "patience", "stop_when_stationary"):
            seen[name][problem.rules[name] is None] += 1
        seen["measure"][problem.rules["measure"]] += 1
        seen["record"][problem.rules["record"]] += 1
        seen["no step"][problem.rules["max_iterations"] == 0, problem.q > 1] += 1
        seen["held out"][problem.holdout is not None, teacher.get("mixes") is not None] += 1
    expected = {
        "teacher": 24, "score": 4, "wrapping": 4, "allowed": 3, "labels": 2, "look": 3, "schedule": 4, "rising": 4,
        "pool": 5, "kernel": 7, "loss": 9, "start": 4, "outputs": 3, "tol": 2, "patience": 2, "stop_when_stationary": 2,
        "measure": 3, "record": 3, "no step": 4, "held out": 4,
    }  # fmt: skip
    assert {name: len(counts) for name, counts in seen.items()} == expected


def lesson(q=1, start=("number", 0.25), **changes):
    """Return a lesson that has much to alter: points of a plane, packs of two, a tolerance that is met."""
    rng = np.random.default_rng(7)
    points = rng.uniform(0, 3, size=(15, 2))
    teacher = {"kind": "greedy", "k": 2} | changes.pop("teacher", {})
    rules = {
        "max_iterations": 40, "seed": 3, "tol": 0.01, "patience": None, "measure": "paper",
        "stop_when_stationary": None, "snapshots": [0, 3, 6], "record": "all",
    } | changes.pop("rules", {})  # fmt: skip
    probes, held = rng.uniform(0, 3, size=(4, 2)), rng.uniform(0, 3, size=(5, 2))
    return Problem(
        None, points, ("gauss", 0.6), ("square",), 0.4, start, rng.normal(size=(15, q)), teacher, rules, probes,
        (held, rng.normal(size=(5, q))),
    )  # fmt: skip


LESSONS_TO_ALTER = {
    "greedy": lesson(),
    "a look now and then": lesson(teacher={"look": ("every", 3)}, rules={"tol": None}),
    "random": lesson(teacher={"kind": "random", "k": 3}, rules={"tol": 1e-3}),
    "soft": lesson(teacher={"kind": "soft", "k": 1, "temperature": 0.2}),
    "made labels": lesson(teacher={"kind": "synthesis", "k": 1}),
    "planned": lesson(teacher={"kind": "planned", "k": 5, "floor": 0.3}, rules={"tol": 1e-3}),
    "packs that fall": lesson(teacher={"k": ("steps", 15, 3, 10, 4)}, rules={"tol": None}),
    "outputs": lesson(q=2, teacher={"mixes": (4, None, 1e-9)}, rules={"tol": 1e-3}, start=("number", 0.0)),
    "each output": lesson(q=2, teacher={"per_output": True, "mixes": (3, 9, 1e-3)}, rules={"tol": None}),
}
RECORDS = {}


def record_of(name):
    if name not in RECORDS:
        RECORDS[name] = give(LESSONS_TO_ALTER[name], "reference")
    return RECORDS[name]


@pytest.mark.parametrize("kind", TAMPERINGS)
def test_an_altered_lesson_is_noticed(kind):
    altered = []
    for name, problem in LESSONS_TO_ALTER.items():
        record = record_of(name)
        other = tampered(record, kind, len(problem.points))
        if other is None:
            continue
        altered.append(name)
        with pytest.raises(Wrong):  # in the lesson that is the last one named here
            judge(problem, other)
    assert altered


@pytest.mark.parametrize("name", LESSONS_TO_ALTER)
def test_the_lessons_that_are_altered_are_right_before(name):
    assert judge(LESSONS_TO_ALTER[name], record_of(name))
