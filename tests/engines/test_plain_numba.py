"""Without numba's inner workings lessons are the same."""

import os
import subprocess
import sys

import pytest

LESSONS = """
import sys
import numpy as np
import nimt

pool = nimt.Grid(np.linspace(0, 1, 16), np.linspace(0, 1, 17))
rng = np.random.default_rng(0)
target, pairs = rng.uniform(-1, 1, 272), rng.uniform(-1, 1, (272, 2))
pools = {272: pool, 930: nimt.Grid(np.arange(30.0), np.arange(31.0))}
narrow, wide = nimt.rbf(0.1), nimt.rbf(0.6)
lessons = [
    ("grid", narrow, "square", nimt.GreedyTeacher(pool=0.5), target),
    ("grid", narrow, "square", nimt.GreedyTeacher(), pairs),
    ("grid", narrow, "huber", nimt.GreedyTeacher(k=7), target),
    ("grid", nimt.rbf(5.0), "square", nimt.GreedyTeacher(pool=0.7), rng.uniform(-1, 1, 930)),
    ("cells", nimt.kernels.Matern(0.1, nu=2.5), "square", nimt.GreedyTeacher(), target),
    ("streamed", wide, "huber", nimt.GreedyTeacher(k=3, score="gradient", loss="huber", kernel=wide), target),
    ("neighbours", narrow, "square", nimt.teachers.SoftTeacher(temperature=0.2), target),
    ("neighbours", narrow, "square", nimt.SynthesisTeacher(), target),
    ("linear", None, "square", nimt.GreedyTeacher(), target),
]
for engine, kernel, loss, teacher, y in lessons:
    learner = nimt.LinearLearner(np.zeros(3), learning_rate=0.1)
    if kernel is not None:
        learner = nimt.KernelLearner(kernel, loss=loss, learning_rate=0.1)
    names, points = (engine, "reference"), pools[len(y)]
    fast, plain = (nimt.teach(learner, teacher, points, y, max_iterations=200, engine=name) for name in names)
    assert np.array_equal(fast.indices, plain.indices), teacher
    np.testing.assert_allclose(fast.discrepancy, plain.discrepancy, rtol=1e-9)
mine = nimt.KernelLearner(narrow, loss=nimt.compiled(smoothness=2.0)(lambda f, y: ((f - y) ** 2, 2.0 * (f - y))))
assert nimt.plan(mine, nimt.GreedyTeacher(), pool, target).engine == "reference"
inner = {f"nimt.engines._numba.{name}" for name in ("caching", "vectors", "radial_rows", "cell_rows", "tile_rows")}
print(sorted(inner & set(sys.modules)))
"""


@pytest.mark.slow
@pytest.mark.exhaustive  # `.ci/run` runs it by its name
def test_lessons_with_plain_numba_are_those_of_the_reference_loop():
    environment = {**os.environ, "NIMT_PLAIN_NUMBA": "1"}
    command = [sys.executable, "-c", LESSONS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr
