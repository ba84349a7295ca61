"""A new compiled score is one class: all points at once for the reference loop, one point for compiled code."""

import os
import subprocess
import sys

import numpy as np
import pytest

import nimt
from nimt.engines.parts import find_unknown_part
from nimt.teachers.rule import Diverse, Drawn, DrawnByOdds, LabelsByResponse, Part, Rule
from nimt.teachers.scores import SCORES, Residual, Score

NEW_SCORE = """
from dataclasses import dataclass, field
import numpy as np
import nimt
from nimt.teachers.scores import Score

@dataclass(frozen=True, eq=False)
class Drop(Score, name="drop"):
    __module__ = "nimt.teachers.scores.drop"
    loss: object = field()
    kernel: object
    told = ("loss", "kernel")

    def of(self, predictions, target, pool):
        after = predictions - 0.1 * self.constants(pool, target)[0] * self.loss.slope(predictions, target)
        return self.loss.value(predictions, target) - self.loss.value(after, target)

    def constants(self, pool, target):
        return self.kernel.diag(pool.points)[np.newaxis]

    @staticmethod
    def compile(slope, value):
        def drop(loss, own, f, y, constants, s, o):
            after = f - 0.1 * constants[0, s] * slope(loss, own, f, y)
            return value(loss, own, f, y) - value(loss, own, after, y)

        return drop

pool = nimt.Grid(np.linspace(0, 1, 12), np.linspace(0, 1, 13))
target = np.random.default_rng(0).uniform(-1, 1, 156)
for width, k, engine in ((0.1, 1, "grid"), (0.5, 7, "streamed")):
    kernel = nimt.rbf(width)
    learner = nimt.KernelLearner(kernel, loss="huber", learning_rate=0.1)
    teacher = nimt.GreedyTeacher(k=k, score="drop", loss="huber", kernel=kernel)
    fast, plain = (
        nimt.teach(learner, teacher, pool, target, max_iterations=200, engine=name) for name in (engine, "reference")
    )
    assert np.array_equal(fast.indices, plain.indices) and len(np.unique(fast.indices)) > 10
    np.testing.assert_allclose(fast.discrepancy, plain.discrepancy, rtol=1e-9)
"""


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_new_score_is_compiled_and_equals_the_reference_loop(tmp_path):
    # in a process and with a cache of its own, since compiled code contains all scores there are
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", NEW_SCORE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class Own(Score, name="mine"):
    def of(self, predictions, target, pool):
        return np.abs(target)


def test_a_score_of_the_user_has_no_number_and_no_engine():
    assert "mine" not in SCORES
    assert find_unknown_part(Rule(score=Own())) == "no compiled engine can score by mine"
    assert find_unknown_part(Rule(score=Residual(1))) is None


class ByHand(Part):
    name = "hand"


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (Rule(ByHand()), "the grid engine cannot choose by hand"),
        (Rule(labels=ByHand()), "the grid engine cannot label by hand"),
        (Rule(DrawnByOdds(0.1), per_output=True), "the grid engine cannot choose by odds for each output"),
        (Rule(Diverse(nimt.rbf(1.0)), per_output=True), None),
        (Rule(Drawn(np.random.Generator.choice), labels=LabelsByResponse()), None),
    ],
)
def test_an_engine_names_the_part_it_cannot_do(rule, sentence):
    assert find_unknown_part(rule, "grid") == sentence


def test_the_plan_names_the_part():
    teacher = nimt.teachers.PerOutput(nimt.teachers.SoftTeacher())
    plan = nimt.plan(nimt.KernelLearner(nimt.rbf(0.1)), teacher, np.arange(5.0), np.eye(5)[:, :2])
    assert plan.reason == "the plain loop, because no compiled engine can choose by odds for each output"
