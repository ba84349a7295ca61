"""Checks for your own kernels, losses, teachers, learners, measures and operators: a failure is an AssertionError.

>>> import nimt
>>> from nimt.testing import check_kernel
>>> check_kernel(nimt.rbf(width=0.5))
"""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, read_only
from nimt.errors import name_thing
from nimt.kernels import CUT, Kernel, KernelLike, as_kernel, rbf, reach
from nimt.learners.foreign_learner import find_pupil_maker, has_state, make_pupil
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import Learner
from nimt.lesson.descriptions import describe, is_foreign, is_own, rebuild
from nimt.lesson.lesson import Lesson
from nimt.losses import Loss, as_loss, check_labels, couples_outputs, twin_of
from nimt.measures import Measure, as_measure
from nimt.operators.operator import Operator
from nimt.pools.pool import FunctionLike, Grid, Points, Pool, as_pool, values_on
from nimt.teachers.adapter import as_teacher
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.teacher import Selection, SelectsExamples, Teacher, View
from nimt.teaching.lessons import resume, teach

STEPS = 12

Thing = TypeVar("Thing")


def check_kernel(kernel: KernelLike, points: ArrayLike | None = None) -> None:
    """Check a kernel: symmetric, positive semidefinite, right in `diag` and `reach`, equal on all engines, storable.

    Parameters
    ----------
    kernel : Kernel, or a kernel of scikit-learn
    points : array (n, d), optional
        Where it is evaluated; 40 points in the plane by default.
    """
    kernel = as_kernel(kernel)
    x = np.random.default_rng(0).uniform(-2, 2, size=(40, 2)) if points is None else np.asarray(points, dtype=float)
    gram = np.asarray(kernel(x))
    _expect(gram.shape == (len(x), len(x)), f"{kernel!r} returned shape {gram.shape} for {len(x)} points")
    _expect(bool(np.isfinite(gram).all()), f"{kernel!r} has values that are not finite")
    size = float(np.abs(gram).max())
    _expect(np.abs(gram - gram.T).max() <= 1e-9 * size, f"{kernel!r} is not symmetric")
    least = float(np.linalg.eigvalsh(gram)[0])
    _expect(least >= -1e-8 * size * len(x), f"{kernel!r} is not positive semidefinite: an eigenvalue is {least:g}")
    _expect(np.allclose(np.diag(gram), kernel.diag(x), rtol=1e-9, atol=1e-12), f"{kernel!r}.diag is not K(x, x)")
    far = reach(kernel)
    if np.isfinite(far):
        apart = np.zeros((2, x.shape[1]))
        apart[1, 0] = 1.001 * far
        beyond = float(np.abs(kernel(apart)[0, 1]))
        _expect(beyond <= 10 * CUT * size, f"{kernel!r} declares a reach of {far:g} but is {beyond:g} beyond it")
    _check_stored(kernel.origin)
    again = as_kernel(_rebuild(kernel.origin))
    _expect(np.array_equal(again(x), gram), f"{kernel!r} is another kernel after being stored")
    target = np.sin(x.sum(axis=1))
    learner = KernelLearner(kernel, learning_rate=0.4 / float(np.max(kernel.diag(x))))
    _check_engines(learner, GreedyTeacher(), Points(x), target)
    if x.shape[1] == 2 and kernel.is_stationary():
        grid = Grid(np.linspace(-2, 2, 7), np.linspace(-1, 1, 5))
        _check_engines(learner, GreedyTeacher(), grid, np.sin(grid.points.sum(axis=1)))


def check_loss(loss: str | Loss, labels: ArrayLike | None = None) -> None:
    """Check a loss: its slope is the derivative of its value, and its declared properties are true.

    Parameters
    ----------
    loss : str or Loss
    labels : array (m,), or (m, q) for a loss that couples outputs
        Some labels that it accepts; -1 and +1 by default, or three classes as rows.
    """
    checked = as_loss(loss)
    if couples_outputs(checked):
        _check_coupled_loss(checked, np.asarray(np.eye(3) if labels is None else labels, dtype=float))
        return
    y = np.asarray((-1.0, 1.0) if labels is None else labels, dtype=float)
    check_labels(checked, y)
    f = np.linspace(-3.013, 3.007, 61)
    grid, label = np.meshgrid(f, y, indexing="ij")
    slope, value = checked.slope(grid, label), checked.value(grid, label)
    _expect(slope.shape == grid.shape == value.shape, f"{checked!r} does not work elementwise on arrays")
    step = 1e-6
    numeric = (checked.value(grid + step, label) - checked.value(grid - step, label)) / (2 * step)
    smooth = np.abs(checked.slope(grid + step, label) - checked.slope(grid - step, label)) < 1e-3  # away from kinks
    wrong = smooth & (np.abs(numeric - slope) > 1e-5 * (1 + np.abs(slope)))
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise AssertionError(
            f"{checked!r} has the slope {slope[i, j]:g} at f = {grid[i, j]:g}, y = {label[i, j]:g}, but its value "
            f"changes at the rate {numeric[i, j]:g}"
        )
    difference = np.abs(slope[:, np.newaxis] - slope[np.newaxis])
    distance = np.abs(f[:, np.newaxis] - f[np.newaxis])[:, :, np.newaxis]
    _expect(
        not np.isfinite(checked.smoothness)
        or bool((difference <= checked.smoothness * distance * (1 + 1e-9) + 1e-12).all()),
        f"{checked!r} declares the smoothness {checked.smoothness:g}, but its slope changes faster",
    )
    lipschitz = getattr(checked, "lipschitz", np.inf)
    _expect(bool((np.abs(slope) <= lipschitz * (1 + 1e-9)).all()), f"{checked!r} is steeper than its {lipschitz:g}")
    if getattr(checked, "convex", False):
        _expect(bool((np.diff(slope, axis=0) >= -1e-12).all()), f"{checked!r} is declared convex, but its slope falls")
    twin = twin_of(checked)
    if twin is not None:
        from nimt.engines.compiled_steps import loss_slopes as compiled_steps

        number, parameter = twin
        again = np.array([[compiled_steps.slope(number, (parameter, 0.0), a, b) for b in y] for a in f])
        _expect(np.allclose(again, slope, rtol=1e-14, atol=0), f"{checked!r} differs from its compiled twin")
    _check_stored(checked)
    _expect(np.array_equal(_rebuild(checked).slope(grid, label), slope), f"{checked!r} changes when it is stored")


def _check_coupled_loss(loss: Loss, labels: Array) -> None:
    """Check a loss whose slope at one output depends on the others: by its gradient along every output."""
    check_labels(loss, labels)
    rng = np.random.default_rng(0)
    f = np.repeat(rng.uniform(-3, 3, size=(40, labels.shape[1])), len(labels), axis=0)
    y = np.tile(labels, (40, 1))
    slope = np.asarray(loss.slope(f, y))
    _expect(slope.shape == f.shape == np.shape(loss.value(f, y)), f"{name_thing(loss)} does not take arrays (n, q)")
    step = 1e-6
    for output in range(labels.shape[1]):
        up, down = np.array(f), np.array(f)
        up[:, output] += step
        down[:, output] -= step
        numeric = (loss.value(up, y).sum(axis=1) - loss.value(down, y).sum(axis=1)) / (2 * step)
        gap = float(np.max(np.abs(numeric - slope[:, output])))
        _expect(gap <= 1e-5, f"{name_thing(loss)} has a slope that is {gap:g} from the derivative of its value")
    other = np.roll(f, len(labels), axis=0)
    apart, moved = slope - np.asarray(loss.slope(other, y)), f - other
    sizes = np.linalg.norm(apart, axis=1)
    bound = loss.smoothness * np.linalg.norm(moved, axis=1) * (1 + 1e-9) + 1e-12
    _expect(
        bool((sizes <= bound).all()), f"{name_thing(loss)} declares the smoothness {loss.smoothness:g}, but is rougher"
    )
    steepest = float(np.max(np.linalg.norm(slope, axis=1)))
    lipschitz = getattr(loss, "lipschitz", np.inf)
    _expect(steepest <= lipschitz * (1 + 1e-9), f"{name_thing(loss)} is steeper than its {lipschitz:g}")
    if getattr(loss, "convex", False):
        _expect(
            bool((np.sum(apart * moved, axis=1) >= -1e-12).all()), f"{name_thing(loss)} is declared convex, but is not"
        )
    _check_stored(loss)
    _expect(np.array_equal(_rebuild(loss).slope(f, y), slope), f"{name_thing(loss)} changes when it is stored")


def check_teacher(teacher: SelectsExamples, X: Pool | ArrayLike | None = None) -> None:
    """Check a teacher: it chooses from what it may see, repeats itself, declares whether it draws, and is storable.

    Parameters
    ----------
    teacher : with `select(view)`
    X : pool, optional
        Where it teaches; 24 points on a line by default. A teacher with `per_output` teaches two outputs there.
    """
    adapted = as_teacher(teacher)
    name = adapted.name
    pool = Grid(np.linspace(-2, 2, 24)) if X is None else as_pool(X)
    target = np.cos(pool.points.sum(axis=1))
    if adapted.per_output:
        target = np.column_stack([target, np.sin(pool.points.sum(axis=1))])
    target, values = read_only(target), read_only(np.zeros(target.shape))
    places = np.arange(len(pool))
    shown = []
    learner = KernelLearner(rbf(width=0.4), learning_rate=0.2)
    seen = learner.kernel, as_loss(learner.loss), 0.2
    for _ in range(2):
        view = View(0, pool, values, target, np.random.default_rng(5), None, places, *seen)
        selection = teacher.select(view)
        _expect(isinstance(selection, Selection), f"{name}.select returned {selection!r}, not a Selection")
        shown.append(np.asarray(selection.indices))
    _expect(np.array_equal(shown[0], shown[1]), f"{name} chose differently from the same view and stream")
    rules: dict[str, Any] = {"max_iterations": STEPS, "tol": None, "seed": 3}
    plain = teach(learner, teacher, pool, target, engine="reference", **rules)
    told = any(
        "draws" in vars(kind) or "at_random" in vars(kind) for kind in type(teacher).__mro__ if kind is not Teacher
    )
    silent = told and adapted.draws is False and plain.drew
    _expect(not silent, f"{name} declares that it does not draw, but drew from the seed")
    _check_engines(learner, teacher, pool, target)
    if not is_foreign(describe(teacher)) or "fields" in describe(teacher):
        _check_resumed(learner, teacher, pool, target, rules, plain)


def check_learner(learner: Learner, X: Pool | ArrayLike, y: FunctionLike) -> None:
    """Check a learner: teaching leaves it as it was, its pupil agrees with it, and its state is complete.

    Parameters
    ----------
    learner : with `predict` and `partial_fit`
    X, y : arrays (n, d), (n,) or (n, q)
        A problem it can learn.
    """
    pool = as_pool(X)
    target = values_on(pool, y, "y")
    name = type(learner).__name__
    before = copy.deepcopy(learner)
    pupil = make_pupil(learner, pool, target)
    start = np.array(pupil.values)
    rng = np.random.default_rng(0)
    for _ in range(STEPS):
        indices = rng.integers(len(pool), size=2)
        pupil.learn(indices, target[indices])
    taught = pupil.to_learner()
    _expect(not np.array_equal(start, pupil.values), f"{name} did not move in {STEPS} steps")
    said = np.asarray(taught.predict(pool.points)).reshape(target.shape)
    scale = 1e-9 * (1 + np.abs(pupil.values).max())
    _expect(
        np.abs(said - pupil.values).max() <= scale,
        f"{name}: the taught learner and its pupil disagree",
    )
    fresh = make_pupil(before, pool, target)
    _expect(np.array_equal(fresh.values, start), f"{name} was changed by being taught: teach a copy")
    if find_pupil_maker(learner, "make_pupil") is not None:
        slow = copy.deepcopy(learner)
        rng = np.random.default_rng(0)
        for _ in range(STEPS):
            indices = rng.integers(len(pool), size=2)
            slow.partial_fit(pool.points[indices], target[indices])
        gap = np.abs(np.asarray(slow.predict(pool.points)).reshape(target.shape) - pupil.values).max()
        _expect(gap <= scale, f"{name}.make_pupil(pool) and partial_fit disagree by {gap:g}")
    if has_state(learner):
        teacher = GreedyTeacher()
        rules: dict[str, Any] = {"max_iterations": STEPS, "tol": None, "seed": 0}
        plain = teach(learner, teacher, pool, target, engine="reference", **rules)
        _check_resumed(learner, teacher, pool, target, rules, plain)


def check_measure(measure: str | Measure, X: Pool | ArrayLike | None = None) -> None:
    """Check a measure: a number at every step, a stop rule that works, a name that is kept in files.

    Parameters
    ----------
    measure : str or Measure
    X : pool, optional
    """
    checked = as_measure(measure)
    pool = Grid(np.linspace(-2, 2, 24)) if X is None else as_pool(X)
    target = np.sign(pool.points[:, 0])
    learner = KernelLearner(rbf(width=0.4), learning_rate=0.4)
    lesson = teach(learner, GreedyTeacher(), pool, target, max_iterations=4 * STEPS, tol=None, measure=checked)
    _expect(bool(np.isfinite(lesson.discrepancy).all()), f"{checked.name} has a value that is not finite")
    middle = float(lesson.discrepancy[2 * STEPS])
    reached = [t for t, value in enumerate(lesson.discrepancy) if checked.is_reached(float(value), middle)]
    stopped = teach(learner, GreedyTeacher(), pool, target, max_iterations=4 * STEPS, measure=checked, tol=middle)
    _expect(stopped.itd == (reached[0] if reached else None), f"{checked.name} does not stop a lesson at its tolerance")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lesson.npz"
        stopped.save(path)
        loaded = Lesson.load(path)
    _expect(loaded.measure.name == checked.name and loaded.itd == stopped.itd, f"{checked.name} is not kept in a file")


def check_operator(operator: Operator, kernel: Kernel, pool: Pool) -> None:
    """Check an operator: what it adds is the kernel's columns, for one output and several.

    Parameters
    ----------
    operator : Operator
        Of this kernel on this pool.
    kernel, pool : as the operator was made from
    """
    gram = np.asarray(kernel(pool.points))
    n, size = len(pool), float(np.abs(gram).max())
    _expect(np.allclose(operator.diagonal(), np.diag(gram), rtol=1e-9), f"{operator.name}: its diagonal is not K(x, x)")
    rng = np.random.default_rng(0)
    for k in (1, 2, n):
        for outputs in ((), (3,)):
            indices = rng.integers(n, size=k)
            coefficients = rng.normal(size=(k, *outputs))
            values = rng.normal(size=(n, *outputs))
            expected = values + gram[:, indices] @ coefficients
            operator.add(values, indices, coefficients)
            gap = float(np.abs(values - expected).max())
            _expect(gap <= 1e-12 * size * n, f"{operator.name} is {gap:g} from K[:, indices] @ c for k = {k}")


# ---------------------------------------------------------------- what the checks share


def _expect(holds: bool, sentence: str) -> None:
    if not holds:
        raise AssertionError(sentence)


def _check_engines(learner: KernelLearner, teacher: SelectsExamples, pool: Pool, target: Array) -> None:
    """Expect that the engine chosen by default gives the same lesson as the plain loop."""
    rules: dict[str, Any] = {"max_iterations": STEPS, "tol": None, "seed": 3}
    plain = teach(learner, teacher, pool, target, engine="reference", **rules)
    chosen = teach(learner, teacher, pool, target, **rules)
    if chosen.engine == "reference":
        return
    _expect(
        np.array_equal(plain.indices, chosen.indices),  # type: ignore[arg-type]
        f"the {chosen.engine} engine shows other examples than the plain loop does",
    )
    close = np.allclose(plain.discrepancy, chosen.discrepancy, rtol=1e-10, atol=1e-14)
    _expect(close, f"the {chosen.engine} engine measures another discrepancy than the plain loop does")


def _check_stored(thing: object) -> None:
    described = describe(thing)
    stored = not is_foreign(described) or "fields" in described
    _expect(
        stored,
        f"{thing!r} cannot be stored: make {type(thing).__name__} a dataclass, or give it scikit-learn's get_params, "
        f"with parameters that are numbers, text or arrays",
    )


def _rebuild(thing: Thing) -> Thing:
    named = hasattr(thing, "__qualname__")  # as a compiled loss is, which is stored by its name
    rebuilt: Thing = rebuild(describe(thing), [] if is_own(thing) else [thing if named else type(thing)])
    return rebuilt


def _check_resumed(
    learner: Learner, teacher: SelectsExamples, pool: Pool, target: Array, rules: dict[str, Any], plain: Lesson
) -> None:
    """Expect that a lesson stopped in the middle and resumed from its checkpoint ends the same, bit for bit."""
    own = [type(thing) for thing in (learner, teacher) if not is_own(thing)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        half = rules | {"max_iterations": STEPS // 2}
        teach(learner, teacher, pool, target, engine="reference", checkpoint=path, **half)
        resumed = resume(path, allow=own, max_iterations=STEPS)
    same = np.array_equal(resumed.final, plain.final) and np.array_equal(resumed.discrepancy, plain.discrepancy)
    _expect(same, "a lesson that was stopped and resumed is not the lesson that was never stopped")


__all__ = ["check_kernel", "check_learner", "check_loss", "check_measure", "check_operator", "check_teacher"]
