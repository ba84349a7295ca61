"""Random lessons on every engine, held against the plain loop: `make soak` runs 2,000, the tests a few.

Pools, kernels, losses, teachers, rates, scales, outputs and stop rules are drawn from one seed, which is printed.
Where scores tie to rounding either point may be shown: a lesson that parts from the plain loop there is no difference.
"""

from __future__ import annotations

import math
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, Matern, RationalQuadratic

import nimt
from nimt.losses import as_loss
from nimt.teachers.base import norm_of

ENGINES = ("grid", "neighbours", "streamed")
IN_A_BOX = 5  # one lesson in so many is followed by one in a box
TIE = 1e-9  # of the largest score: two scores this near may change places by rounding


@nimt.compiled(smoothness=1.0, convex=True)
def own(f: float, y: float) -> tuple[float, float]:
    """Return value and slope of a loss of the user's, log cosh."""
    return abs(f - y) + math.log1p(math.exp(-2 * abs(f - y))) - math.log(2.0), math.tanh(f - y)


@nimt.compiled(smoothness=1.0, convex=True)
def below_zero(f: float, y: float) -> tuple[float, float]:
    """Return value and slope of the same loss less a number, so that most values are below 0."""
    return abs(f - y) + math.log1p(math.exp(-2 * abs(f - y))) - 2.0, math.tanh(f - y)


@dataclass
class Drawn:
    """One lesson to give twice."""

    learner: Any
    teacher: Any
    pool: Any
    target: np.ndarray
    rules: dict[str, Any]


def draw(rng: np.random.Generator) -> Drawn:
    """Draw a lesson."""
    dimension = int(rng.integers(1, 4))
    if rng.random() < 0.6:
        sides = rng.integers(2, {1: 40, 2: 9, 3: 5}[dimension], size=dimension)
        pool: Any = nimt.Grid(*(np.linspace(0, float(rng.uniform(1, 6)), int(side)) for side in sides))
    else:
        pool = nimt.Points(rng.uniform(0, 4, size=(int(rng.integers(2, 40)), dimension)))
    n = len(pool)
    outputs = () if rng.random() < 0.75 else (int(rng.integers(2, 4)),)
    loss = rng.choice(["square", "square", "huber", "absolute", "hinge", "logistic", "own", "below zero"])
    target = rng.normal(size=(n, *outputs)) * 10.0 ** float(rng.integers(-12, 13) if loss == "square" else 0)
    if loss in ("hinge", "logistic"):
        target = np.where(target >= 0, 1.0, -1.0)
    width = float(rng.uniform(0.1, 2.0))
    kernel = [
        nimt.rbf(width),
        nimt.Wendland(width, dimension=3),
        Matern(width, nu=1.5),
        2.0 * RBF(width) + Matern(0.5, nu=0.5),
        RationalQuadratic(width),
        nimt.linear(),
    ][rng.integers(6)]
    rate = float(rng.uniform(0.05, 0.6)) / float(np.max(kernel.diag(pool.points)))
    k: Any = [1, 1, min(3, n), 0.4, 1.0, schedule(rng)][rng.integers(6)]
    look = nimt.schedules.every(3) if rng.random() < 0.1 else None
    pool_share = [None, None, 0.7][rng.integers(3)]
    if n < 6:  # a share of so few points could be smaller than the pack
        pool_share = None
    labels = nimt.AlternativeLabels(np.roll(target, 1, axis=0), 0.3) if rng.random() < 0.2 else None
    judged: Any = {"own": own, "below zero": below_zero}.get(str(loss), str(loss))
    one_each = bool(outputs) and rng.random() < 0.5  # examples for each output
    several = bool(outputs) and not one_each
    teacher: Any = [
        nimt.GreedyTeacher(k=k, pool=pool_share, labels=labels, norm=[2, 1, "max"][rng.integers(3)], look=look),
        nimt.RandomTeacher(k=k, pool=pool_share, labels=labels),
        nimt.GreedyTeacher(k=k, score="loss", loss=judged, pool=pool_share),
        synthesis(rng, k) if loss == "square" and not several else nimt.GreedyTeacher(),
        nimt.SoftTeacher(k=k, temperature=[0.05, 0.5, 5.0][rng.integers(3)], pool=pool_share, labels=labels, look=look),
        nimt.GreedyTeacher(k=k, diverse=not several, kernel=None if several else kernel, pool=pool_share),
    ][rng.integers(6)]
    if one_each:
        teacher = nimt.PerOutput(teacher)
    if outputs and rng.random() < 0.3:
        teacher = nimt.Communicating(teacher, every=int(rng.integers(1, 9)), until=[None, 20][rng.integers(2)])
    start: Any = rng.normal(size=target.shape) if rng.random() < 0.3 else 0.0
    rules = {
        "max_iterations": int(rng.integers(1, 80)),
        "seed": int(rng.integers(1000)),
        "tol": [None, float(np.abs(target).max()) * 0.01][rng.integers(2)],
        "patience": [None, 15][rng.integers(2)],
        "measure": ["paper", "rms"][rng.integers(2)],
    }
    learner = nimt.KernelLearner(kernel, loss=judged, learning_rate=rate, initial=start)
    return Drawn(learner, teacher, pool, target, rules)


def schedule(rng: np.random.Generator) -> nimt.PackSchedule:
    """Draw how packs grow or shrink: of any shape, half of the time from or to the whole pool."""
    shape = str(rng.choice(["cosine", "geometric", "linear", "steps"]))
    ends = [1.0 if rng.random() < 0.5 else float(rng.uniform(0.05, 1.0)), float(rng.uniform(0.02, 0.6))]
    rng.shuffle(ends)
    return nimt.PackSchedule(shape, *ends, over=int(rng.integers(2, 40)), stages=3 if shape == "steps" else None)


def synthesis(rng: np.random.Generator, k: Any) -> nimt.SynthesisTeacher:
    """Draw a teacher that makes labels; its packs are of one size."""
    k = 1 if isinstance(k, nimt.PackSchedule) else k
    return nimt.SynthesisTeacher(k=k, label_range=[None, "target"][rng.integers(2)])


def difference(drawn: Drawn, engine: str) -> str | None:
    """Return how an engine's lesson differs from the plain loop's, None where it does not."""
    plain = nimt.teach(drawn.learner, drawn.teacher, drawn.pool, drawn.target, engine="reference", **drawn.rules)
    try:
        fast = nimt.teach(drawn.learner, drawn.teacher, drawn.pool, drawn.target, engine=engine, **drawn.rules)
    except nimt.InvalidInput as error:
        return None if "cannot run this lesson" in str(error) else f"refused: {error}"
    steps = min(len(plain), len(fast))
    apart = np.flatnonzero((plain.indices[:steps] != fast.indices[:steps]).any(axis=1))
    until = int(apart[0]) if apart.size else steps
    scale = np.maximum(plain.discrepancy[: until + 1], 1e-9 * plain.discrepancy[0])
    gap = np.max(np.abs(plain.discrepancy[: until + 1] - fast.discrepancy[: until + 1]) / scale)
    if gap > 1e-7 and gap > sensitivity(drawn, plain, until, scale):
        return f"the discrepancy differs by {gap:.1e}"
    if apart.size:
        return None if ties(drawn, plain, fast, until) else f"another example at step {until}"
    if len(plain) != len(fast) or plain.outcome is not fast.outcome:
        last = plain.discrepancy[steps]
        near = drawn.rules["tol"] is not None and abs(last / drawn.rules["tol"] - 1) < 1e-7
        still = abs(plain.discrepancy[steps] - plain.discrepancy[max(0, steps - 15) : steps + 1]).max() <= 1e-9 * last
        return None if near or still else f"{len(plain)} steps, {plain.outcome} against {len(fast)}, {fast.outcome}"
    return None


def sensitivity(drawn: Drawn, plain: nimt.Lesson, until: int, scale: np.ndarray) -> float:
    """Return how much the plain loop differs from itself if its start is moved by a rounding error.

    A mixture may take all of the error away in one step: what is left is rounding, and differs by as much as it is.
    """
    noise = np.random.default_rng(0).choice([-1.0, 1.0], size=drawn.target.shape) * np.finfo(float).eps
    learner = clone(drawn.learner).set_params(initial=plain.initial + noise * np.abs(drawn.target).max())
    moved = nimt.teach(learner, drawn.teacher, drawn.pool, drawn.target, engine="reference", **drawn.rules)
    if len(moved) < until or not np.array_equal(moved.indices[:until], plain.indices[:until]):
        return 0.0
    return float(np.max(np.abs(plain.discrepancy[: until + 1] - moved.discrepancy[: until + 1]) / scale))


def ties(drawn: Drawn, plain: nimt.Lesson, fast: nimt.Lesson, step: int) -> bool:
    """Say whether what the two showed at a step was as good as each other."""
    walk = nimt.steps(
        drawn.learner, drawn.teacher, drawn.pool, drawn.target, engine="reference", **drawn.rules | {"patience": None}
    )
    for _ in range(step):
        next(walk)
    chooser = drawn.teacher
    while hasattr(chooser, "teacher"):  # in a wrapping
        chooser = chooser.teacher
    if isinstance(chooser, nimt.RandomTeacher | nimt.SoftTeacher):
        return False
    if getattr(chooser, "diverse", False):
        return True  # each point was chosen by what those before it left, which is not looked at here
    q = drawn.target.shape[1] if plain.per_output else 1
    packs = [lesson.pack(step)[0].reshape(q, -1) for lesson in (plain, fast)]
    values, target = (array.reshape(len(drawn.target), -1) for array in (walk.values, drawn.target))
    for output, (pack, other) in enumerate(zip(*packs, strict=True)):
        seen = (values[:, [output]], target[:, [output]]) if plain.per_output else (values, target)
        scores = scored(chooser, *seen)
        if np.abs(np.sort(scores[pack]) - np.sort(scores[other])).max() > TIE * max(np.abs(scores).max(), 1e-300):
            return False
    return True


def scored(chooser: Any, values: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the scores of all points, from arrays (n, q)."""
    if getattr(chooser, "score", "residual") == "loss":
        return np.asarray(as_loss(chooser.loss).value(values, target).sum(axis=1))
    return norm_of(values - target, getattr(chooser, "norm", 2))


def difference_in_a_box(rng: np.random.Generator) -> str | None:
    """Give a random lesson in a box; return how it differs from what its examples alone teach, None if it does not."""
    dimension = int(rng.integers(1, 3))
    box = nimt.Box([(0.0, float(side)) for side in rng.uniform(1, 5, size=dimension)])
    frequency, phase = rng.uniform(0.5, 3, size=dimension), rng.uniform(0, 6)

    def target(points: np.ndarray) -> np.ndarray:
        return np.asarray(np.sin(np.reshape(points, (-1, dimension)) @ frequency + phase))

    width = float(rng.uniform(0.3, 1.5))
    kernel = [nimt.rbf(width), Matern(width, nu=2.5), RationalQuadratic(width)][rng.integers(3)]
    learner = nimt.KernelLearner(kernel, learning_rate=float(rng.uniform(0.1, 0.6)))
    teacher = [nimt.GreedyTeacher(), nimt.GreedyTeacher(k=2), nimt.RandomTeacher(k=2)][rng.integers(3)]
    rules = {"max_iterations": int(rng.integers(2, 15)), "seed": int(rng.integers(1000))}
    lesson = nimt.teach(learner, teacher, box, target, **rules)
    if isinstance(lesson.pool, nimt.Grid | nimt.Points) and lesson.shown_points is None:
        return "it does not say what it showed"
    alone = clone(learner)
    for step, (points, labels) in enumerate(zip(lesson.shown_points, lesson.labels, strict=True)):
        if np.abs(labels - target(points)).max() > 1e-12:
            return f"the labels of step {step} are not the target's"
        best = np.abs(alone.predict(lesson.pool) - lesson.target).max()
        shown = np.abs(alone.predict(points) - labels).max()
        if isinstance(teacher, nimt.GreedyTeacher) and shown < best * (1 - 1e-9):
            return f"step {step} shows an error of {shown:.6g}, and there is one of {best:.6g} on the grid"
        alone.partial_fit(points, labels)
    gap = np.abs(alone.predict(lesson.pool) - lesson.final).max()
    return None if gap < 1e-10 else f"f differs by {gap:.1e} from what its examples teach"


def main(count: int, seed: int) -> int:
    """Give random lessons; return how many differ."""
    warnings.simplefilter("ignore")
    wrong = 0
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        drawn = draw(rng)
        for engine in ENGINES:
            found = difference(drawn, engine)
            if found is not None:
                wrong += 1
                print(f"lesson {number} of seed {seed} on {engine}: {found}\n  {drawn.learner}, {drawn.teacher}")
        found = difference_in_a_box(rng) if number % IN_A_BOX == 0 else None
        if found is not None:
            wrong += 1
            print(f"lesson {number} of seed {seed} in a box: {found}")
    print(f"{count} lessons on {len(ENGINES)} engines, {wrong} differ from the plain loop, seed {seed}")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]), int(sys.argv[2])) else 0)
