"""Random lessons of every kind, as plain numbers, from one seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle import kernels
from oracle.losses import SMOOTHNESS
from oracle.problem import Problem, Waves, start_at
from oracle.records import measure

Generator = np.random.Generator
CLASSES = ("hinge", "perceptron", "logistic", "crossentropy")


def one_of(rng: Generator, *choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def draw(rng: Generator, fewest: int = 2) -> Problem:
    """Draw a lesson of one output, or of `fewest` to three."""
    if rng.random() < 0.06:
        return draw_in_a_box(rng)
    axes, points = draw_pool(rng)
    n, d = points.shape
    kernel = draw_kernel(rng)
    q = 1 if rng.random() < 0.6 else max(fewest, int(rng.integers(2, 4)))
    linear = q == 1 and rng.random() < 0.08
    loss = draw_loss(rng, q)
    target = draw_target(rng, points, q, loss)
    intercept = bool(rng.random() < 0.7)
    if linear:
        kernel = ("linear", 1.0 if intercept else 0.0)
        start: tuple[Any, ...] = ("weights", rng.normal(size=d + intercept), intercept)
    else:
        start = draw_start(rng, points, target)
    height = float(kernels.diagonal(kernel, points).max())
    rate: Any = float(rng.uniform(0.05, 0.6)) / height
    if rng.random() < 0.15:
        rate = ("decay", rate, 0.5)
    elif rng.random() < 0.1 and loss[0] not in ("hinge", "perceptron", "absolute"):
        rate = "auto"
    elif rng.random() < 0.05:
        rate *= 8  # it moves away
    teacher = draw_teacher(rng, n, q, points, kernel, loss, target)
    if linear:
        teacher.pop("mixes", None)
    problem = Problem(
        axes, points, kernel, loss, rate, start, target, teacher, {}, draw_probes(rng, axes, points, start),
        learner="linear" if linear else "kernel",
    )  # fmt: skip
    draw_class(rng.spawn(1)[0], problem)
    problem.rules = draw_rules(rng, problem)
    if problem.members:
        problem.rules["stop_when_stationary"] = None  # K(x, x) is not one number there
    if rng.random() < 0.4:
        problem.holdout = draw_holdout(rng, problem)
    if rng.random() < 0.3:
        problem.chunks = [int(steps) for steps in rng.integers(1, 20, size=3)]
    return problem


def draw_class(rng: Generator, problem: Problem) -> None:
    """Let the outputs be learners with kernels and rates of their own, where there are several; mostly do nothing."""
    teacher = problem.teacher
    plain = teacher["kind"] in ("greedy", "random") and not {"kernel", "per_output", "mixes"} & set(teacher)
    if problem.q == 1 or problem.loss[0] not in SMOOTHNESS or problem.loss[0] == "crossentropy":
        return
    if not plain and rng.random() < 0.8:
        return
    for _ in range(problem.q):
        kernel = draw_kernel(rng)
        rate: Any = float(rng.uniform(0.05, 0.6)) / float(kernels.diagonal(kernel, problem.points).max())
        problem.members.append((kernel, ("decay", rate, 0.5) if rng.random() < 0.3 else rate))
    problem.learner, problem.rate = "classroom", None  # each has its own
    if not plain or rng.random() < 0.7:
        k = 1 if isinstance(teacher.get("k", 1), tuple) else teacher.get("k", 1)
        known = {"kind": "classroom", "aim": one_of(rng, "sum", "worst"), "k": k, "loss": problem.loss}
        kept = {name: teacher[name] for name in ("pool", "other", "probability") if name in teacher}
        problem.teacher = kept | known | {"members": problem.members}


def draw_pool(rng: Generator) -> tuple[list[np.ndarray] | None, np.ndarray]:
    d = int(rng.integers(1, 4))
    if rng.random() < 0.6:
        longest = {1: 60, 2: 12, 3: 6}[d]
        axes = []
        for _ in range(d):
            length, low = int(rng.integers(1 if d > 1 else 2, longest)), float(rng.uniform(-3, 3))
            axis = np.linspace(low, low + float(rng.uniform(1, 6)), length)
            axes.append(axis[::-1].copy() if rng.random() < 0.1 else axis)
        return axes, np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)
    points = rng.uniform(0, 4, size=(int(rng.integers(2, 50)), d))
    if rng.random() < 0.15:
        points[rng.integers(len(points))] = points[0]  # a point twice
    return None, points


def draw_kernel(rng: Generator) -> tuple[Any, ...]:
    width = float(rng.uniform(0.1, 2.0))
    short = ("wendland", 2 * width, 3, int(rng.integers(3)))
    return one_of(
        rng, ("gauss", width), ("gauss", width), short, ("matern", width, one_of(rng, 0.5, 1.5, 2.5)),
        ("sum", ("scale", 2.0, ("gauss", width)), ("matern", 0.5, 0.5)),
        ("product", ("gauss", width), ("matern", 1.0, 1.5)),
        ("rational", width, 1.5), ("linear", float(rng.uniform(0, 2))),
    )  # fmt: skip


def draw_loss(rng: Generator, q: int) -> tuple[Any, ...]:
    name = one_of(
        rng, "square", "square", "square", "huber", "absolute", "hinge", "logistic", "logcosh", "below", "crossentropy"
    )
    if name == "crossentropy" and q == 1:
        name = "square"
    if name == "hinge" and rng.random() < 0.5:
        name = "perceptron"
    return (name, *{"huber": [one_of(rng, 1.0, 0.3)], "below": [one_of(rng, 1.0, 9.0)]}.get(name, []))


def draw_target(rng: Generator, points: np.ndarray, q: int, loss: tuple[Any, ...]) -> np.ndarray:
    n = len(points)
    if loss[0] == "crossentropy":
        return np.eye(q)[rng.integers(q, size=n)]
    target = draw_waves(rng, points.shape[1], q).rows(points) if rng.random() < 0.5 else rng.normal(size=(n, q))
    if loss[0] in CLASSES:
        return np.where(target >= 0, 1.0, -1.0)
    if rng.random() < 0.15:
        target = np.round(target)  # many equal errors
    return target * 10.0 ** float(rng.integers(-12, 13)) if loss[0] == "square" and rng.random() < 0.3 else target


def draw_waves(rng: Generator, d: int, q: int) -> Waves:
    return Waves(rng.uniform(0.3, 2.5, size=(d, q)), rng.uniform(0, 6, size=q), float(rng.uniform(0.5, 2)))


def draw_start(rng: Generator, points: np.ndarray, target: np.ndarray) -> tuple[Any, ...]:
    q, size = target.shape[1], float(abs(target).max()) or 1.0
    kind = one_of(rng, "zero", "number", "function", "table", "table")
    if kind == "zero":
        return "number", 0.0
    if kind == "number":
        return "number", size * float(rng.normal())
    if kind == "function":
        waves = draw_waves(rng, points.shape[1], q)
        waves.size = size
        return "function", waves
    table = size * rng.normal(size=target.shape)
    known = rng.random(len(target)) < one_of(rng, 0.0, 0.3, 1.0 if rng.random() < 0.1 else 0.0)
    table[known] = target[known]  # nothing is left to teach there
    return "table", table


def draw_probes(rng: Generator, axes: Any, points: np.ndarray, start: tuple[Any, ...]) -> np.ndarray:
    """Return points between those of the pool; where the start is known on scattered points only, some of these."""
    count = int(rng.integers(1, 6))
    if start[0] == "table" and axes is None:
        return points[rng.integers(len(points), size=count)]
    low, high = points.min(axis=0), points.max(axis=0)
    return low + (high - low) * rng.random((count, points.shape[1]))


def draw_holdout(rng: Generator, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    places = draw_probes(rng, problem.axes, problem.points, problem.start)
    target = problem.target[rng.integers(len(problem.target), size=len(places))]
    return places, target


# ---------------------------------------------------------------- teachers


def draw_size(rng: Generator, n: int, scheduled: bool = True) -> Any:
    """Draw the size of a pack: mostly one, a few, a share, all, or a schedule that rises or falls, counts or shares."""
    if scheduled and rng.random() < 0.45:
        shape = one_of(rng, "cosine", "geometric", "linear", "steps")
        ends = one_of(
            rng,
            (1.0, 0.1),
            (1.0, 0.5),
            (0.1, 1.0),
            (0.5, 0.2),
            (n, 1),
            (n, max(1, n // 2)),
            (1, n),
            (max(1, n // 3), 1),
        )
        over = one_of(rng, None, int(rng.integers(1, 30)))
        return (shape, *ends, over, int(rng.integers(1, 6)) if shape == "steps" else None)
    return one_of(rng, 1, 1, 1, min(n, int(rng.integers(1, 6))), float(rng.uniform(0.05, 1)), 1.0)


def draw_look(rng: Generator) -> Any:
    if rng.random() < 0.75:
        return None
    return one_of(rng, ("every", int(rng.integers(1, 6))), ("incremental", 6, one_of(rng, None, 20), 3, 0.25))


def draw_teacher(
    rng: Generator, n: int, q: int, points: np.ndarray, kernel: Any, loss: Any, target: np.ndarray
) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    separate = q > 1 and loss[0] != "crossentropy" and rng.random() < 0.45
    if rng.random() < 0.3 and n >= 6:
        members = np.sort(rng.choice(n, size=int(rng.integers(3, n + 1)), replace=False))
        spec["pool"] = one_of(rng, float(rng.uniform(0.5, 1)), members, np.isin(np.arange(n), members))
    offered = (
        n if "pool" not in spec else max(1, int(spec["pool"] * n)) if isinstance(spec["pool"], float) else len(members)
    )
    drawn = draw_kind(rng, offered, 1 if separate else q, n, kernel, loss)
    apart = rng.spawn(1)[0]  # so that what is drawn after it does not depend on it
    informed = None if separate or drawn["kind"] != "greedy" else draw_informed(apart, drawn["k"], target, kernel, loss)
    spec |= drawn if informed is None else informed
    if spec["kind"] != "synthesis" and rng.random() < 0.2:
        spec |= {"other": np.roll(target, 1, axis=0), "probability": one_of(rng, 0.0, 0.3, 1.0)}
    for refused in {"sequence": ("pool",), "exam": ("other", "probability"), "last": ("other", "probability")}.get(
        spec["kind"], ()
    ):
        spec.pop(refused, None)
    if separate:
        spec["per_output"] = True
        if spec["kind"] == "planned":
            spec["k"] = one_of(rng, 1, 1.0)  # of other sizes the outputs may get packs that differ by one
    if q > 1 and loss[0] != "crossentropy" and rng.random() < 0.35:
        spec["mixes"] = (
            int(rng.integers(1, 9)),
            one_of(rng, None, None, int(rng.integers(1, 20))),
            one_of(rng, 1e-9, 1e-3),
        )
    return spec


def draw_kind(rng: Generator, n: int, q: int, everywhere: int, kernel: Any, loss: Any) -> dict[str, Any]:
    k = draw_size(rng, n)
    kind = one_of(
        rng, "greedy", "greedy", "greedy", "greedy", "told", "told", "diverse", "random", "random", "soft",
        "uncertainty", "mixed",
        "planned", "int", "interpolation", "synthesis",
    )  # fmt: skip
    if (
        kind == "greedy"
        or (q > 1 and kind in ("diverse", "synthesis"))
        or (kind == "synthesis" and loss[0] == "logistic")
    ):
        return {"kind": "greedy", "k": k, "norm": one_of(rng, 2, 1, "max"), "look": draw_look(rng)}
    if kind == "told":
        judged = loss if rng.random() < 0.7 or loss[0] == "crossentropy" else one_of(rng, ("square",), ("below", 9.0))
        told = {"kind": "greedy", "k": k, "loss": judged, "look": draw_look(rng)}
        return told | one_of(
            rng, {"score": "loss"}, {"score": "gradient", "kernel": kernel, "norm": one_of(rng, 2, 1, "max")}
        )
    if kind == "diverse":
        return {"kind": "greedy", "k": k, "diverse": True, "kernel": kernel, "look": draw_look(rng)}
    if kind == "random":
        weights = one_of(rng, None, rng.uniform(0.1, 1, size=everywhere))
        return {"kind": "random", "k": k, "replace": bool(rng.random() < 0.6), "weights": weights}
    if kind == "soft":
        return {"kind": "soft", "k": k, "temperature": one_of(rng, 0.0, 0.05, 0.5, 5.0, 1e-4), "look": draw_look(rng)}
    if kind == "planned":
        return {"kind": kind, "k": k, "floor": one_of(rng, 0.0, 0.3, 1.0)}
    if kind == "interpolation":
        k = draw_size(rng, n, scheduled=False)
        return {"kind": kind, "k": k, "rule": one_of(rng, "f", "P", "f*P", "f/P", 0.7, 1.5), "kernel": kernel}
    if kind == "synthesis":
        limits = one_of(rng, None, None, "target", (-1.5, 1.5))
        return {
            "kind": kind,
            "k": draw_size(rng, n, scheduled=False),
            "radius": one_of(rng, None, None, 2.0),
            "label_range": limits,
        }
    if kind == "mixed":
        parts = [
            {"kind": "greedy"},
            {"kind": "uncertainty"},
            {"kind": "random", "replace": False},
            {"kind": "soft", "temperature": 0.3},
        ]
        first, second = (parts[i] | {"k": 1} for i in rng.permutation(4)[:2])
        share = one_of(rng, 0.3, 0.5, 0.0, 1.0)
        return {"kind": kind, "k": k, "parts": [(first, share), (second, 1 - share)], "look": draw_look(rng)}
    return {"kind": kind, "k": k, "look": draw_look(rng)}


def draw_informed(rng: Generator, k: Any, target: np.ndarray, kernel: Any, loss: Any) -> dict[str, Any] | None:
    """Draw a teacher that knows more than the errors, or less; None for one of three."""
    kind = one_of(
        rng, None, None, "surrogate", "omniscient", "decrease", "response", "imitation", "exam", "epochs", "sequence",
        "once", "observed", "last", "rescaling", "importance",
    )  # fmt: skip
    if kind is None or (kind in ("decrease", "exam", "last") and loss[0] != "square"):
        return None
    if kind in ("once", "observed", "last", "rescaling", "importance"):
        return draw_of_the_family(rng, kind, k, len(target), kernel, loss)
    if kind == "epochs":
        return {"kind": kind, "k": k}
    if kind == "sequence":
        return {"kind": kind, "indices": rng.integers(len(target), size=int(rng.integers(1, 12)))}
    if kind == "exam":
        known = {"learning_rate": float(rng.uniform(0.01, 0.3)), "kernel": kernel, "loss": loss}
        size = 1 if isinstance(k, tuple) else k
        return known | {"kind": kind, "k": size, "prior": 0.05, "ask": one_of(rng, "shown", "never"), "noise": 0.1}
    if kind == "response" and loss[0] == "square" and len(target) > 1 and rng.random() < 0.5:
        size = one_of(rng, min(2, len(target)), min(3, len(target)))
        return {"kind": "joint", "k": size, "learning_rate": float(rng.uniform(0.01, 0.3)), "kernel": kernel}
    if kind == "response":
        told = {"kind": kind, "k": 1, "p": one_of(rng, 1.0, 1.25, 1.5, 1.9), "kernel": kernel}
        return told if rng.spawn(1)[0].random() < 0.5 else told | {"kind": "gray", "kernel": None}
    common = {"kind": kind, "k": k, "look": draw_look(rng), "learning_rate": float(rng.uniform(0.01, 0.3))}
    if kind == "decrease":
        return common | {"kernel": kernel}
    reference = target + one_of(rng, 0.1, 1.0) * rng.normal(size=target.shape)
    common |= {"reference": reference, "loss": loss, "kernel": kernel, "seen_kernel": kernel}
    if kind == "omniscient":
        return common
    if kind == "imitation":  # of larger packs K_PP is next to singular, and what is solved depends on rounding
        return common | {"look": None, "k": one_of(rng, 1, min(2, len(target)))}
    is_hard = bool(rng.random() < 0.6)
    return common | {"difficulty": is_hard, "kernel": kernel if is_hard and rng.random() < 0.6 else None}


def draw_of_the_family(rng: Generator, kind: str, k: Any, n: int, kernel: Any, loss: Any) -> dict[str, Any]:
    """Draw a teacher that shows no point twice, sees little, makes labels, or weighs its examples."""
    if kind == "once":
        return {"kind": kind, "k": k, "drawn": bool(rng.random() < 0.4)}
    if kind == "importance":
        return {"kind": kind, "k": k, "floor": one_of(rng, 0.1, 0.5, 1.0)}
    if kind == "observed":
        at = one_of(rng, None, None, "shown", np.sort(rng.choice(n, size=max(1, n // 2), replace=False)))
        every = one_of(rng, 1, 1, 3)
        seen = {"noise": one_of(rng, 0.0, 0.05), "delay": one_of(rng, 0, 0, 2, 5), "every": every, "at": at}
        return {"kind": kind, "k": k, "look": ("every", every) if every > 1 else None} | seen
    known = {"kind": kind, "kernel": kernel, "loss": loss, "learning_rate": float(rng.uniform(0.01, 0.3))}
    if kind == "rescaling":  # weights of packs solve a system that is next to singular
        return known | {"k": 1, "largest_weight": one_of(rng, None, 3.0, 0.5)}
    limits = one_of(rng, None, "target", (-1.5, 1.5))
    return known | {"k": one_of(rng, 1, 1, 2), "points": one_of(rng, "greedy", "random"), "label_range": limits}


# ---------------------------------------------------------------- rules


def draw_rules(rng: Generator, problem: Problem) -> dict[str, Any]:
    target, budget = problem.target, int(rng.integers(1, 60))
    if rng.random() < 0.06:
        budget = 0
    name = one_of(rng, "paper", "rms")
    classes = problem.loss[0] in CLASSES and (problem.q > 1 or len(set(target[:, 0].tolist())) == 2)
    if classes and (problem.q == 1 or problem.loss[0] == "crossentropy") and rng.random() < 0.4:
        name = "accuracy"
    at_start, _ = measure(name, start_at(problem, problem.points), target, 0.0)
    tol = one_of(rng, None, 0.01 * at_start, 0.3 * at_start, 0.0)
    if rng.random() < 0.05:
        tol = 1.5 * at_start  # met before the first step
    if name == "accuracy" and tol is not None:
        tol = one_of(rng, 0.5, 0.9, 1.0)
    steepest = float(abs(target).max()) * float(kernels.diagonal(problem.kernel, problem.points).max())
    return {
        "max_iterations": budget,
        "seed": int(rng.integers(1000)),
        "tol": tol,
        "patience": one_of(rng, None, None, None, int(rng.integers(1, 20))),
        "measure": name,
        "stop_when_stationary": one_of(rng, None, None, None, 0.0, (0.1 * steepest) ** 2),
        "snapshots": sorted(
            {int(t) for t in rng.integers(0, budget + 1, size=int(rng.integers(0, 5)))} | one_of(rng, set(), {0})
        ),
        "record": "picks" if rng.random() < 0.06 else one_of(rng, "all", "auto"),
    }


def draw_in_a_box(rng: Generator) -> Problem:
    d = int(rng.integers(1, 3))
    q = 1 if rng.random() < 0.7 else 2
    low = rng.uniform(-2, 2, size=d)
    bounds, counts = (
        np.stack([low, low + rng.uniform(1, 4, size=d)], axis=1),
        [int(c) for c in rng.integers(5, 25, size=d)],
    )
    axes = [np.linspace(*pair, count) for pair, count in zip(bounds, counts, strict=True)]
    points = np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)
    width = float(rng.uniform(0.3, 1.5))
    kernel = one_of(rng, ("gauss", width), ("matern", width, 2.5), ("rational", width, 1.5))
    # not several greedy ones: a point of the grid may be offered twice, and a pack then shows it twice
    kind = one_of(rng, "greedy", "greedy", "random")
    teacher: dict[str, Any] = {"kind": kind, "k": 1 if kind == "greedy" else int(rng.integers(1, 4))}
    if q > 1 and rng.random() < 0.4:
        teacher["mixes"] = int(rng.integers(1, 5)), None, 1e-9
    start = one_of(rng, ("number", 0.0), ("number", 0.5), ("function", draw_waves(rng, d, q)))
    problem = Problem(
        axes, points, kernel, one_of(rng, ("square",), ("huber", 1.0)), float(rng.uniform(0.1, 0.6)), start,
        draw_waves(rng, d, q), teacher, {}, draw_probes(rng, axes, points, start), box=(bounds, counts),
    )  # fmt: skip
    budget = int(rng.integers(0, 15))
    problem.rules = {
        "max_iterations": budget, "seed": int(rng.integers(1000)), "tol": one_of(rng, None, 0.05, 100.0),
        "patience": None,
        "measure": one_of(rng, "paper", "rms"), "stop_when_stationary": None, "record": "all",
        "snapshots": sorted({int(t) for t in rng.integers(0, budget + 1, size=2)}),
    }  # fmt: skip
    if rng.random() < 0.5:
        places = draw_probes(rng, axes, points, start)
        problem.holdout = places, problem.target.rows(places)
    return problem
