"""The teachers that see less, show no point twice, make labels in closed form, or weigh their examples."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from oracle import kernels, losses
from oracle.problem import number_at
from oracle.teachers import ROUNDING, RULES, Pack, Responding, Rule, Undecided, View, largest, norm, residual

EPS = float(np.finfo(float).eps)


class NothingLeft(Exception):
    """All points were shown."""


class Once(Rule):
    """The largest errors, or a draw, among the points that were not shown before."""

    def choose(self, view: View, shown: Pack | None) -> Pack:
        past = self.__dict__.setdefault("past", [])
        left = [i for i in range(len(view.f)) if i not in past]
        if not left:
            raise NothingLeft
        k = min(self.size(view), len(left))
        if self.spec["drawn"]:
            places = view.rng.choice(len(left), size=k, replace=False).tolist()
        else:
            asked = None if shown is None else [left.index(i) for i in shown] if set(shown) <= set(left) else []
            places = largest(*residual(view.part(left), 2), k, asked)
        chosen = [left[place] for place in places]
        past += chosen
        return chosen


class Observing(Rule):
    """The largest errors by values that are seen with noise, late, seldom, or at some points only."""

    known: np.ndarray | None = None

    def choose(self, view: View, shown: Pack | None) -> Pack:
        if self.known is None:
            self.past, self.known = [view.f.copy()], self.blurred(view.f, view)
        else:
            self.past = [*self.past, view.f.copy()][-(self.spec["delay"] + 1) :]
            if view.step % self.spec["every"] == 0:
                places = self.places(view)
                self.known[places] = self.blurred(self.past[0][places], view)
        self.latest = largest(*residual(replace(view, f=self.known), 2), self.size(view), shown)
        return self.latest

    def places(self, view: View) -> Pack:
        at = self.spec["at"]
        if at is None:
            return list(range(len(view.f)))
        if isinstance(at, str):
            return sorted(set(self.latest))
        return [place for place, index in enumerate(view.candidates) if index in at]

    def blurred(self, values: np.ndarray, view: View) -> np.ndarray:
        sd = self.spec["noise"]
        return values + sd * view.rng.normal(size=values.shape) if sd else values.copy()


class Closed(Rule):
    """LAST for the square loss: y = f - k c / (2 eta), K_PP c = f - f*."""

    def choose(self, view: View, shown: Pack | None) -> Pack:
        if self.spec["points"] == "random":
            return sorted(view.rng.choice(len(view.f), size=self.size(view), replace=False).tolist())
        return largest(*residual(view, 2), self.size(view), shown)

    def labels(self, view: View, pack: Pack) -> tuple[np.ndarray, float]:
        """Return the labels, and how far off they may be."""
        f, wrong, k = view.f[pack], (view.f - view.target)[pack], len(pack)
        gram = kernels.matrix(self.spec["kernel"], view.points[pack], view.points[pack])
        made = f - k * np.linalg.lstsq(gram, wrong, rcond=1e-10)[0] / (2 * self.spec["learning_rate"])
        limits = self.spec["label_range"]
        if limits is not None:
            ends = (view.target.min(), view.target.max()) if limits == "target" else limits
            made = np.clip(made, *ends)
        condition = float(np.linalg.cond(gram))
        far = (view.noise + 1e-14 * float(abs(view.f).max() + abs(view.target).max())) * k / self.spec["learning_rate"]
        smallest = float(np.diagonal(gram).min())
        sure = condition < 1e6 and smallest > 1e-9
        return made, 100 * condition * far / smallest + 1e-12 * float(abs(made).max()) if sure else np.inf


class Rescaled(Rule):
    """The largest gain 2 eta w g.r - eta^2 w^2 |g|^2 K with w = g.r / (eta |g|^2 K), not above a largest weight."""

    def parts(self, view: View) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        slopes, wrong = losses.slope(self.spec["loss"], view.f, view.target), view.f - view.target
        along = (slopes * wrong).sum(axis=1)
        costs = (slopes**2).sum(axis=1) * kernels.diagonal(self.spec["kernel"], view.points)
        weights = np.zeros(len(along))
        weights[costs > 0] = along[costs > 0] / (self.spec["learning_rate"] * costs[costs > 0])
        return along, costs, np.clip(weights, 0, self.spec["largest_weight"])

    def scores(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        rate = self.spec["learning_rate"]
        along, costs, weights = self.parts(view)
        steps = rate * weights
        gains = 2 * steps * along - steps**2 * costs
        # the gain is flat at the best weight; along a weight that is cut it changes as along and costs do
        heights = kernels.diagonal(self.spec["kernel"], view.points)
        errors = norm(view.f - view.target, 2)
        least = np.maximum(heights, 1e-300)
        blur = 8 * view.noise * (errors + view.noise) * np.maximum(8 * steps, 4 / least)
        return gains, blur + 10 * ROUNDING * (abs(2 * steps * along) + steps**2 * costs)

    def weigh(self, view: View, pack: Pack) -> tuple[np.ndarray, float]:
        weights = self.parts(view)[2][pack]
        smallest = float(norm(view.f - view.target, 2)[pack].min())
        return weights, float(weights.max()) * (1e-9 + 16 * view.noise / smallest) if smallest > 0 else np.inf


class Importance(Rule):
    """Points drawn by p = (1 - floor) |f - f*| / sum |f - f*| + floor / n, of weight 1 / (n p)."""

    def shares(self, view: View) -> np.ndarray:
        errors, n, floor = norm(view.f - view.target, 2), len(view.f), self.spec["floor"]
        return (1 - floor) * errors / errors.sum() + floor / n if errors.sum() > 0 else np.full(n, 1 / n)

    def choose(self, view: View, shown: Pack | None) -> Pack:
        shares = self.shares(view)
        ends = np.cumsum(shares) / shares.sum()
        draws = view.rng.random(self.size(view))
        chosen = [int(np.sum(ends <= u)) for u in draws]
        if shown is not None and shown != chosen and len(shown) == len(chosen):
            near = 1e-9 + 4 * view.noise * len(shares) / max(float(norm(view.f - view.target, 2).sum()), 1e-300)
            fits = [i == j or abs(ends[min(i, j)] - u) < near for i, j, u in zip(shown, chosen, draws, strict=True)]
            return shown if all(fits) else chosen
        return chosen

    def weigh(self, view: View, pack: Pack) -> tuple[np.ndarray, float]:
        total = float(norm(view.f - view.target, 2).sum())
        weights = 1 / (len(view.f) * self.shares(view)[pack])
        near = 1e-9 + 8 * view.noise * len(view.f) / total if total > 0 else np.inf
        return weights, float(weights.max()) * near / self.spec["floor"]


class Class(Rule):
    """The sum over a class, or the largest, of 2 eta g r - eta^2 g^2 K, each learner with its own eta and K."""

    def scores(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        gains, off = np.zeros(view.f.shape), np.zeros(view.f.shape)
        slopes, wrong = losses.slope(self.spec["loss"], view.f, view.target), view.f - view.target
        bend, noise = losses.SMOOTHNESS[self.spec["loss"][0]], view.noise
        for j, (kernel, rate) in enumerate(self.spec["members"]):
            eta, height = number_at(rate, view.step), kernels.diagonal(kernel, view.points)
            g, r = slopes[:, j], wrong[:, j]
            along, cost = 2 * eta * g * r, eta**2 * g**2 * height
            gains[:, j] = along - cost
            steep = abs(g) + bend * noise
            off[:, j] = 2 * eta * noise * (steep + bend * abs(r)) + 2 * eta**2 * height * bend * noise * steep
            off[:, j] += 10 * ROUNDING * (abs(along) + cost)
        if self.spec["aim"] == "sum":
            return gains.sum(axis=1), off.sum(axis=1)
        return gains.max(axis=1), off.max(axis=1)


class Gray(Responding):
    """The responding rule by what the first three examples did, read by distance; greedy where that is not so."""

    known: str = ""
    missed: float = 0.0
    blur: float = 0.0

    def choose(self, view: View, shown: Pack | None) -> Pack:
        r = view.f - view.target
        if not self.known:
            self.known = "reading" if len(r) > 3 else "greedy"
            self.probed, self.columns = [], []
        elif self.known == "reading":
            self.read(view, r - self.before)
        elif self.known == "read" and view.step % 32 == 0:
            self.compare(r - self.before)
        self.before = r.copy()
        scores, off = residual(view, 2)
        if self.known == "reading":
            scores[self.probed], off[self.probed] = -1.0, 0.0
        elif self.known == "read":
            scores, off = self.along(r, self.response, view.noise, self.blur)
        self.latest = largest(scores, off, 1, shown)[0]
        return [self.latest]

    def read(self, view: View, moved: np.ndarray) -> None:
        """Read what the latest example did; after the third take the means over equal distances."""
        error = self.before[self.latest]
        square = float((error**2).sum())
        scale = float(max(abs(view.f).max(), abs(view.target).max(), abs(self.before).max()))
        self.blur = max(self.blur, (4 * view.noise + 64 * EPS * scale) / max(math.sqrt(square), 1e-300))
        if self.blur > 1e-7:
            raise Undecided  # what it moved is next to rounding
        self.probed.append(self.latest)
        self.columns.append(-(moved * error).sum(axis=1) / square)
        if len(self.probed) < 3:
            return
        apart = np.array([[math.dist(x, view.points[i]) for x in view.points.tolist()] for i in self.probed])
        columns, worst = np.array(self.columns), 0.0
        for one in range(3):
            others = [i for i in range(3) if i != one]
            places, means = means_at(apart[others], columns[others])
            seen = apart[one] <= places[-1]
            size = math.sqrt(float((columns[one][seen] ** 2).sum()))
            far = np.interp(apart[one][seen], places, means) - columns[one][seen]
            worst = max(worst, math.sqrt(float((far**2).sum())) / size if size > 0 else math.inf)
        if abs(worst - 0.5) < 1e-6 + 100 * self.blur:
            raise Undecided
        self.known = "read" if worst < 0.5 else "greedy"
        places, means = means_at(apart, columns)
        means[abs(means) <= 1e-12 * abs(means).max()] = 0.0
        between = np.array([[math.dist(x, y) for y in view.points.tolist()] for x in view.points.tolist()])
        self.response = np.interp(between, places, means, right=0.0)

    def compare(self, moved: np.ndarray) -> None:
        """Compare what the latest example did with the best multiple of what was expected, output by output."""
        expected = np.multiply.outer(self.response[:, self.latest], self.before[self.latest])
        rest = np.zeros(moved.shape)
        for output in range(moved.shape[1]):
            square = max(float((expected[:, output] ** 2).sum()), 1e-300)
            share = float((expected[:, output] * moved[:, output]).sum()) / square
            rest[:, output] = moved[:, output] - share * expected[:, output]
        size = float(np.linalg.norm(moved))
        self.missed = 0.5 * self.missed + 0.5 * (float(np.linalg.norm(rest)) / size if size > 0 else 0.0)
        if abs(self.missed - 0.5) < 1e-4:
            raise Undecided
        if self.missed > 0.5:
            self.known = "greedy"


def means_at(apart: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ascending distances, of nearly equal ones the first, and the mean of the values at each."""
    pairs = sorted(zip(apart.ravel().tolist(), values.ravel().tolist(), strict=True), key=lambda pair: pair[0])
    groups: list[list[tuple[float, float]]] = []
    for pair in pairs:
        if groups and pair[0] - groups[-1][-1][0] <= 1e-9 * pairs[-1][0]:
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return (
        np.array([group[0][0] for group in groups]),
        np.array([sum(value for _, value in group) / len(group) for group in groups]),
    )


class Joint(Rule):
    """Packs by D(P) = |r|^2 - |r - s sum_j r_j K_j|^2, s = 2 eta / k: each point is the one that adds most to it."""

    def choose(self, view: View, shown: Pack | None) -> Pack:
        gram, k = kernels.matrix(self.spec["kernel"], view.points, view.points), self.size(view)
        r, s = view.f - view.target, 2 * self.spec["learning_rate"] / k
        lengths, reach = (gram * gram).sum(axis=1), abs(gram).sum(axis=1)
        most, sizes = float(norm(r, 2).max()), norm(r, 2)

        def search(left: np.ndarray, chosen: Pack, within: Pack | None) -> Pack | None:
            if len(chosen) == k:
                return sorted(chosen)
            towards = gram @ left
            gains = 2 * s * (r * towards).sum(axis=1) - s * s * lengths * sizes**2
            far = (1 + s * reach.max() * len(chosen)) * reach  # how far noise may go by what was chosen before
            off = view.noise * (2 * s * (norm(towards, 2) + sizes * far) + 2 * s * s * sizes * lengths) * r.shape[1]
            off += 10 * ROUNDING * (2 * s * sizes * far * most + s * s * lengths * sizes**2)
            free = [i for i in range(len(r)) if i not in chosen]
            top = max(free, key=lambda i: (gains[i], -i))
            good = [i for i in free if gains[i] + off[i] >= gains[top] - off[top]]
            if within is None:
                if shown is None and len(good) > 1:
                    raise Undecided
                good = [top]
            else:
                good = [i for i in good if i in within][:3]  # all the rest would be as good as these
            for i in good:
                found = search(left - s * np.multiply.outer(gram[i], r[i]), [*chosen, i], within)
                if found is not None:
                    return found
            return None

        if shown is not None and (found := search(r, [], shown)) is not None:
            return found
        return search(r, [], None) or []


RULES |= {
    "gray": Gray,
    "joint": Joint,
    "once": Once,
    "observed": Observing,
    "last": Closed,
    "rescaling": Rescaled,
    "importance": Importance,
    "classroom": Class,
}
