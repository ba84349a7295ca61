"""Lessons in a box: the search is not repeated, but what is shown is judged, and all that follows from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle import kernels, losses
from oracle.lesson import Judge, Pack, near, require
from oracle.problem import Problem, start_at
from oracle.teachers import norm


class BoxJudge(Judge):
    """The grid of the box is the pool; centres may lie anywhere between its points."""

    def __init__(self, problem: Problem, record: dict[str, Any]) -> None:
        self.function = problem.target
        plain = Problem(**vars(problem) | {"target": problem.target.rows(problem.points)})
        super().__init__(plain, record)
        near(record["pool"], problem.points, 1e-14 * float(abs(problem.points).max()), "the grid of the box")
        self.centers: list[np.ndarray] = []
        self.coefficients: list[np.ndarray] = []
        self.mixed = np.eye(problem.q)

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return f anywhere, from the start and every example shown."""
        total = start_at(self.problem, points) @ self.mixed.T
        for center, coefficient in zip(self.centers, self.coefficients, strict=True):
            total = total + np.multiply.outer(
                kernels.matrix(self.problem.kernel, points, center[np.newaxis])[:, 0], coefficient
            )
        return total

    def mix_if_due(self, t: int) -> None:
        before = self.mixes
        super().mix_if_due(t)
        if self.mixes > before and self.record["mixes"] is not None:
            A = self.record["mixes"][before]
            self.mixed = A @ self.mixed
            self.coefficients = [A @ coefficient for coefficient in self.coefficients]

    def show(self, t: int) -> tuple[str | None, list[Pack] | None]:
        if t == self.T:
            return None, None
        points, k, noise = self.record["shown_points"][t], self.spec["k"], self.taught.noise
        low, high = self.problem.box[0].T
        require(
            points.shape == (k, len(low)) and ((points >= low) & (points <= high)).all(), f"step {t} leaves the box"
        )
        truth, f = self.function.rows(points), self.at(points)
        got = self.record["labels"][t]
        near(got, self.as_given(truth), 1e-14 * self.taught.scale, f"the label of step {t}")
        if self.spec["kind"] == "greedy":
            self.check_greedy(t, points, norm(f - truth, 2))
        else:
            n = self.taught.n
            for place, point in zip(self.selection.integers(n + 2 * k, size=k), points, strict=True):
                require(
                    place >= n or (point == self.problem.points[place]).all(), f"step {t} does not show what was drawn"
                )
        near_by = [
            [int(np.argmin(((self.problem.points - point) / self.cell()) ** 2 @ np.ones(len(low))))] for point in points
        ]
        for point, index, nearest in zip(points, self.record["indices"][t], near_by, strict=True):
            gap = abs(self.problem.points[index] - point) - abs(self.problem.points[nearest[0]] - point)
            require((gap <= 1e-9 * self.cell()).all(), f"step {t} names a point of the grid that is not the nearest")
        step = -self.problem.rate_at(t, None) / k * losses.slope(self.problem.loss, f, truth)
        places = [self.problem.points, self.problem.probes] + (
            [] if self.problem.holdout is None else [self.problem.holdout[0]]
        )
        self.taught.values += kernels.matrix(self.problem.kernel, np.concatenate(places), points) @ step
        self.taught.noise = noise + 32 * np.finfo(float).eps * (self.taught.scale + float(abs(step).sum()))
        self.centers += list(points)
        self.coefficients += list(step)
        return None, [[int(i) for i in self.record["indices"][t]]]

    def cell(self) -> np.ndarray:
        return np.array([axis[1] - axis[0] for axis in self.problem.axes or []])

    def check_greedy(self, t: int, points: np.ndarray, errors: np.ndarray) -> None:
        require(len({tuple(point) for point in points.tolist()}) == len(points), f"step {t} shows a point twice")
        worst = np.sort(norm(self.taught.f - self.problem.target, 2))[-len(points) :]
        slack = 4 * self.taught.noise + 1e-9 * worst
        require(
            (np.sort(errors) >= worst - slack).all(), f"step {t} shows errors of {errors}, and the grid has {worst}"
        )


def judge_box(problem: Problem, record: dict[str, Any]) -> bool:
    return BoxJudge(problem, record).judge()
