"""What each teacher must show: a rule is asked with what was shown, and returns it where the rule allows that.

Positions count the points that the teacher may show. A rule keeps what its teacher remembers from step to step.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oracle import kernels, losses
from oracle.schedules import looks, size_at

BETA = {"f": 1.0, "P": 0.0, "f*P": 0.5, "f/P": math.inf}
LEAST_POWER = 1e-12  # of K(x, x): a point whose squared power function is not above it is in the span of those shown
ROUNDING = 1e-12  # relative, of scores computed in another order


class Undecided(Exception):
    """Two choices are equal to rounding, and the record does not say which was made."""


@dataclass
class View:
    """What a teacher sees at a step: f and f* (m, q) at the points that it may show."""

    step: int
    budget: int
    points: np.ndarray
    f: np.ndarray
    target: np.ndarray
    candidates: np.ndarray
    rng: np.random.Generator
    noise: float  # how far f may be off by rounding; 0 where it is exactly the start

    def part(self, places: list[int]) -> View:
        return replace(
            self, points=self.points[places], f=self.f[places], target=self.target[places],
            candidates=self.candidates[places],
        )  # fmt: skip


Pack = list[int]


def largest(scores: np.ndarray, off: np.ndarray, k: int, shown: Pack | None) -> Pack:
    """Return the k largest in the order of the pool, of equals the first; `off` is what rounding may change."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    best = sorted(order[:k])
    if shown is None:
        if k < len(scores) and scores[order[k - 1]] - off[order[k - 1]] <= scores[order[k]] + off[order[k]]:
            raise Undecided
        return best
    if shown != best and len(shown) == k and all(a < b for a, b in itertools.pairwise(shown)):
        rest = [i for i in range(len(scores)) if i not in shown]
        if off.any() and min(scores[shown] + off[shown]) >= max(scores[rest] - off[rest]):
            return shown
    return best


def norm(rows: np.ndarray, kind: Any) -> np.ndarray:
    if kind == 2:
        return np.array([math.sqrt(sum(v * v for v in row)) if len(row) > 1 else abs(row[0]) for row in rows.tolist()])
    return abs(rows).sum(axis=1) if kind == 1 else abs(rows).max(axis=1)


class Rule:
    """A teacher: `scores` is what the rules that show the largest score define."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.seen: np.ndarray | None = None

    def size(self, view: View) -> int:
        return size_at(self.spec.get("k", 1), view.step, len(view.f), view.budget)

    def as_seen(self, view: View) -> View:
        """Return the view with the predictions of the latest look."""
        if self.seen is None or looks(self.spec.get("look"), view.step, view.budget):
            self.seen = view.f.copy()
        return replace(view, f=self.seen)

    def choose(self, view: View, shown: Pack | None) -> Pack:
        scores, off = self.scores(self.as_seen(view))
        return largest(scores, off, self.size(view), shown)

    def scores(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        return residual(view, 2)


def residual(view: View, kind: Any) -> tuple[np.ndarray, np.ndarray]:
    scores = norm(view.f - view.target, kind)
    exact = view.noise == 0 and view.f.shape[1] == 1
    return scores, np.full(len(scores), 2 * view.f.shape[1] * view.noise) + (0 if exact else ROUNDING) * scores


class Random(Rule):
    def choose(self, view: View, shown: Pack | None) -> Pack:
        k, n, rng = self.size(view), len(view.f), view.rng
        weights = self.spec.get("weights")
        mine = None if weights is None else weights[view.candidates]
        if not self.spec.get("replace", True):
            return rng.choice(n, size=k, replace=False, p=None if mine is None else mine / mine.sum()).tolist()
        if mine is None:
            return rng.integers(n, size=k).tolist()
        picked = []
        for u in rng.random(k):
            place, running = 0, mine[0]
            while running / mine.sum() <= u:
                place += 1
                running += mine[place]
            picked.append(place)
        return picked


class Greedy(Rule):
    def scores(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        kind, over = self.spec.get("score", "residual"), self.spec.get("norm", 2)
        if kind == "residual":
            return residual(view, over)
        slopes = losses.slope(self.spec["loss"], view.f, view.target)
        if kind == "loss":
            scores = losses.value(self.spec["loss"], view.f, view.target).sum(axis=1)
            off = 2 * view.noise * (abs(slopes).sum(axis=1) + view.noise) + ROUNDING * (1 + abs(scores))
            return scores, off
        scores = norm(slopes, over) * np.sqrt(kernels.diagonal(self.spec["kernel"], view.points))
        change = losses.SMOOTHNESS.get(self.spec["loss"][0], 0.0) * view.noise * view.f.shape[1]
        return scores, scores * ROUNDING + change * np.sqrt(kernels.diagonal(self.spec["kernel"], view.points))

    def choose(self, view: View, shown: Pack | None) -> Pack:
        if not self.spec.get("diverse"):
            return super().choose(view, shown)
        seen, k = self.as_seen(view), self.size(view)
        gram = kernels.matrix(self.spec["kernel"], view.points, view.points)
        return one_by_one((seen.f - seen.target)[:, 0], gram, k, shown, seen.noise)


def one_by_one(errors: np.ndarray, gram: np.ndarray, k: int, shown: Pack | None, noise: float) -> Pack:
    """Choose k points, each by the error that is left after those before were corrected."""
    size = abs(errors).max()

    def search(left: np.ndarray, chosen: Pack, within: Pack | None) -> Pack | None:
        if len(chosen) == k:
            return sorted(chosen)
        free = [i for i in range(len(left)) if i not in chosen]
        top = max(abs(left[i]) for i in free)
        good = [i for i in free if abs(left[i]) >= top - 4 * noise - ROUNDING * size]
        if within is None:
            if len(good) > 1 and noise > 0:
                raise Undecided
            good = [min(i for i in good if abs(left[i]) == top)]
        else:
            good = [i for i in good if i in within][:3]  # all the rest would be as good as these
        for i in good:
            corrected = left - left[i] / gram[i, i] * gram[:, i] if gram[i, i] > 0 else left
            if (found := search(corrected, [*chosen, i], within)) is not None:
                return found
        return None

    if shown is not None and (found := search(errors, [], shown)) is not None:
        return found
    if shown is not None:
        noise = 0.0
    return search(errors, [], None) or []


class Decreasing(Rule):
    """2 s r (K r) - s^2 r^2 |K_x|^2, s = 2 eta, over the points that may be shown."""

    def scores(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        gram = kernels.matrix(self.spec["kernel"], view.points, view.points)
        r, s = view.f - view.target, 2 * self.spec["learning_rate"]
        towards, length = gram @ r, (gram * gram).sum(axis=1)[:, np.newaxis]
        gain, cost = 2 * s * r * towards, s * s * r * r * length
        reach = abs(gram).sum(axis=1)[:, np.newaxis]
        blur = view.noise * (2 * s * (abs(towards) + abs(r) * reach) + 2 * s * s * abs(r) * length)
        blur += ROUNDING * (2 * s * abs(r) * (abs(gram) @ abs(r)) + cost)
        return (gain - cost).sum(axis=1), blur.sum(axis=1)


class Responding(Rule):
    """|r|^p (|K r| / |K_x|)^(2 - p) where r and K r have the same sign, else -1 / |r|."""

    def scores(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        gram = kernels.matrix(self.spec["kernel"], view.points, view.points)
        return self.along(view.f - view.target, gram, view.noise, 0.0)

    def along(self, r: np.ndarray, gram: np.ndarray, noise: float, blur: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores for a matrix K whose entries may be off by `blur`."""
        p = self.spec["p"]
        sizes, lengths = np.sqrt((r * r).sum(axis=1)), np.sqrt((gram * gram).sum(axis=1))
        off = noise * (sizes * abs(gram).sum(axis=1) + np.sqrt(((gram @ r) ** 2).sum(axis=1)))
        off = off + ROUNDING * (abs(r) * (abs(gram) @ abs(r))).sum(axis=1)
        off = off + 4 * blur * sizes * (sizes.sum() + abs(gram @ r).sum(axis=1) * len(r) / np.maximum(lengths, 1e-300))
        lengths[lengths == 0] = 1.0
        off = off / lengths
        along = (r * (gram @ r)).sum(axis=1) / lengths

        def score(along: np.ndarray, sizes: np.ndarray) -> np.ndarray:
            with np.errstate(divide="ignore"):
                helped = sizes ** (2 * p - 2) * np.maximum(along, 0.0) ** (2 - p)
                return np.where(along > 0, helped, -1 / np.maximum(sizes, 1e-300))

        scores, near = score(along, sizes), noise + ROUNDING * sizes
        others = score(along + off, sizes + near), score(along - off, np.maximum(sizes - near, 0.0))
        return scores, 1.01 * np.maximum(abs(others[0] - scores), abs(others[1] - scores)) + ROUNDING * abs(scores)


class Compared(Rule):
    """L(f, y) - L(f*, y), or dL/df (f - f*), less (eta / 2) K(x, x) |dL/df|^2, with f* of a reference."""

    def scores(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        spec, f, y = self.spec, view.f, view.target
        known = spec["reference"][view.candidates]
        slopes = losses.slope(spec["loss"], f, y)
        if spec["kind"] == "surrogate":
            parts = losses.value(spec["loss"], f, y), -losses.value(spec["loss"], known, y)
        else:
            parts = slopes * f, -slopes * known
        heights = kernels.diagonal(spec["kernel"] or spec["seen_kernel"], view.points)
        costs = spec["learning_rate"] / 2 * heights[:, np.newaxis] * (spec.get("difficulty", True))
        parts = (*parts, -costs * slopes * slopes)
        bend = losses.SMOOTHNESS.get(spec["loss"][0], 0.0) * view.f.shape[1]
        change = abs(slopes) + bend * abs(f - known) * (spec["kind"] != "surrogate") + 2 * costs * abs(slopes) * bend
        off = 2 * view.noise * (change.sum(axis=1) + view.noise)
        off += ROUNDING * (1 + sum(abs(part) for part in parts).sum(axis=1))
        return sum(parts).sum(axis=1), off


class Imitated(Compared):
    """The rule of an omniscient teacher for a copy v, 0 at first: v <- v - K_.P c, K_PP c = v_P - f_P."""

    copy: np.ndarray | None = None
    pack: Pack

    def choose(self, view: View, shown: Pack | None) -> Pack:
        gram = kernels.matrix(self.spec["kernel"], view.points, view.points)
        if self.copy is None:
            self.copy = np.zeros(view.target.shape)
        else:
            among = gram[np.ix_(self.pack, self.pack)]
            wrong = self.copy[self.pack] - view.f[self.pack]
            self.copy = self.copy - gram[:, self.pack] @ np.linalg.lstsq(among, wrong, rcond=None)[0]
        far = 1e-9 * (abs(view.f).max() + abs(self.copy).max())  # the solve enlarges rounding
        scores, off = self.scores(replace(view, f=self.copy, noise=max(view.noise, far)))
        self.pack = largest(scores, off, self.size(view), shown)
        return self.pack


class Believed(Rule):
    """(m - f*)^2 + C(x, x), with m and C moved by every step and every answer; the square loss, a = 2 eta."""

    mean: np.ndarray | None = None
    pack: Pack

    def choose(self, view: View, shown: Pack | None) -> Pack:
        gram, n = kernels.matrix(self.spec["kernel"], view.points, view.points), len(view.f)
        if self.mean is None:
            self.mean, self.spread = np.zeros(view.target.shape), self.spec["prior"] * gram
        elif self.spec["ask"] == "shown":
            for x in self.pack:
                gain = self.spread[:, x] / (self.spread[x, x] + self.spec["noise"] ** 2)
                self.mean = self.mean + np.outer(gain, view.f[x] - self.mean[x])
                self.spread = self.spread - np.outer(gain, self.spread[x])
        wrong = (self.mean - view.target) ** 2
        scores = wrong.sum(axis=1) + view.target.shape[1] * np.diagonal(self.spread)
        top = (abs(self.mean) + abs(view.target) + abs(view.f)).max() ** 2 + self.spec["prior"] * abs(gram).max()
        self.pack = largest(scores, np.full(n, 1e-10 * top * (1 + view.step)), self.size(view), shown)
        a, k = 2 * self.spec["learning_rate"], len(self.pack)
        move = np.eye(n)
        for x in self.pack:
            move[:, x] -= a / k * gram[:, x]
        self.mean = self.mean - a / k * gram[:, self.pack] @ (self.mean - view.target)[self.pack]
        self.spread = move @ self.spread @ move.T
        return self.pack


class InEpochs(Rule):
    """Every point once before any is shown again, each epoch in an order of its own."""

    rest: Pack | None = None

    def choose(self, view: View, shown: Pack | None) -> Pack:
        old, k = self.rest or [], self.size(view)
        if k <= len(old):
            self.rest = old[k:]
            return old[:k]
        order = view.rng.permutation(len(view.f)).tolist()
        new = [i for i in order if i not in old][: k - len(old)]
        self.rest = [i for i in order if i not in new]
        return old + new


class Listed(Rule):
    """One point per step from a list, which begins again after its end."""

    def choose(self, view: View, shown: Pack | None) -> Pack:
        return [int(self.spec["indices"][view.step % len(self.spec["indices"])])]


class Soft(Rule):
    """Exponential odds: one point by trial and acceptance, several by the largest score with Gumbel noise."""

    lost = False  # whether what was drawn depended on rounding, so that the stream may stand elsewhere

    def choose(self, view: View, shown: Pack | None) -> Pack:
        seen, k, temperature = self.as_seen(view), self.size(view), self.spec["temperature"]
        scores, off = residual(seen, 2)
        if temperature == 0:
            return largest(scores, off, k, shown)
        top = scores.max()
        self.lost = self.lost or 0 < top < 1e5 * view.noise / min(1.0, temperature)
        if self.lost:
            if shown is None:
                raise Undecided
            return shown if len(set(shown)) == k else []
        if self.spec.get("k", 1) != 1 or isinstance(self.spec["k"], float):
            noise, scale = view.rng.gumbel(size=len(scores)), temperature * top
            if top == 0 or math.isinf(scale):
                return largest(noise, 0 * off, k, shown)
            return largest(scores + scale * noise, off * (2 + temperature * abs(noise)), k, shown)
        scale = top  # or the next power of the fourth root of 2, where the odds cannot underflow
        if temperature >= 1e-3 and 1e-300 < top < 1e300:
            power = math.floor(4 * math.log2(top)) - 1
            while 2.0 ** (power / 4) < top:
                power += 1
            scale = 2.0 ** (power / 4)
        odds = [math.exp((s / scale - 1) / temperature) if top > 0 else 1.0 for s in scores]
        while True:
            u, place, running = view.rng.random() * sum(odds), 0, odds[0]
            while running <= u and place < len(odds) - 1:
                place += 1
                running += odds[place]
            accepted = math.exp((scores[place] / top - 1) * (1 - top / scale) / temperature) if top > 0 else 1.0
            if view.rng.random() < accepted:
                return [place]


class Uncertain(Rule):
    def scores(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        if view.f.shape[1] == 1:
            margins = abs(view.f[:, 0])
        else:
            margins = np.array([sorted(row)[-1] - sorted(row)[-2] for row in view.f.tolist()])
        return -margins, np.full(len(margins), 2 * view.noise)


class Kept(Rule):
    """INT: the largest sums of |f - f*|, and the same pack until the next look."""

    pack: Pack | None = None

    def choose(self, view: View, shown: Pack | None) -> Pack:
        if self.pack is None or looks(self.spec.get("look"), view.step, view.budget):
            self.pack = largest(*residual(view, 1), self.size(view), shown)
        return self.pack


class Mixed(Rule):
    """Parts of a pack, each chosen from the points that are still free."""

    def choose(self, view: View, shown: Pack | None) -> Pack:
        seen, k = self.as_seen(view), self.size(view)
        parts = self.spec["parts"]
        sizes = [math.floor(share * k + 1e-9) for _, share in parts[:-1]]
        sizes.append(k - sum(sizes))
        chosen: Pack = []
        for (spec, _), size in zip(parts, sizes, strict=True):
            if size == 0:
                continue
            free = [i for i in range(len(view.f)) if i not in chosen]
            asked = None
            if shown is not None:
                here = shown[len(chosen) : len(chosen) + size]
                asked = [free.index(i) for i in here] if set(here) <= set(free) else []
            found = rule_of(spec | {"k": size}).choose(seen.part(free), asked)
            chosen += [free[i] for i in found]
        return chosen


class Interpolating(Rule):
    """|r|^beta P^(1 - beta), P by Gram and Schmidt in long doubles."""

    columns: list[np.ndarray]
    square: np.ndarray | None = None
    worst: float = 1.0  # 1 / the smallest pivot, by which rounding was enlarged

    def scores(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        beta = BETA.get(self.spec["rule"], self.spec["rule"])
        r, off = residual(view, 2)
        if beta == 1:
            return r, off
        if self.square is None:
            self.gram = kernels.matrix(self.spec["kernel"], view.points, view.points).astype(np.longdouble)
            self.square, self.columns = np.diagonal(self.gram).copy(), []
        height = np.diagonal(self.gram).astype(float)
        square = np.maximum(self.square, 0).astype(float)
        blur = 4e-15 * (1 + len(self.columns)) * self.worst * height  # of the package's own rounding
        low, high = self.powered(r - off, square, -blur, beta), self.powered(r + off, square, blur, beta)
        middle = self.powered(r, square, 0 * blur, beta)
        low, high = np.minimum(low, high), np.maximum(low, high)
        known = square > LEAST_POWER * height
        sure = abs(square - LEAST_POWER * height) > 100 * blur + 1e-14 * height
        middle[~known] = -1.0
        low[~known | ~sure], high[~known & sure] = -1.0, -1.0
        width = np.maximum(abs(high - middle), abs(middle - low)) + ROUNDING * abs(middle)
        return middle, np.where(~known & sure, 0.0, width)

    def powered(self, r: np.ndarray, square: np.ndarray, blur: np.ndarray, beta: float) -> np.ndarray:
        r, power = np.maximum(r, 0), np.sqrt(np.maximum(square + blur, 1e-300))
        return r / np.sqrt(np.maximum(square - blur, 1e-300)) if math.isinf(beta) else r**beta * power ** (1 - beta)

    def choose(self, view: View, shown: Pack | None) -> Pack:
        chosen = super().choose(view, shown)
        if self.square is None:
            return chosen
        for i in chosen:
            if self.square[i] <= LEAST_POWER * self.gram[i, i]:
                continue
            column = self.gram[:, i].copy()
            for before in self.columns:
                column -= before[i] * before
            column /= np.sqrt(self.square[i])
            self.worst = max(self.worst, float(np.sqrt(self.gram[i, i] / self.square[i])))
            self.columns.append(column)
            self.square = np.maximum(self.square - column**2, 0)
            self.square[i] = 0
        return chosen


class Planned(Rule):
    """Epochs of n places: not drawn again, but every pack must be one that the plan allows."""

    place, packs = 0, 0
    known: np.ndarray | None = None

    def choose(self, view: View, shown: Pack | None) -> Pack:
        if shown is None:
            raise Undecided
        n = len(view.f)
        if self.known is None:
            self.known = np.full(n, np.nan)
        if self.place == self.packs:
            for i in {i for pack in getattr(self, "epoch", []) for i in pack}:
                self.known[i] = norm((view.f - view.target)[[i]], 2)[0]
            seen = ~np.isnan(self.known)
            sizes = np.where(seen, self.known, self.known[seen].mean() if seen.any() else 1.0)
            shares = sizes / sizes.sum() if sizes.sum() > 0 else np.full(n, 1 / n)
            floor = self.spec["floor"]
            self.expected = n * (1 - floor) * shares + floor
            self.blur = 1e-9 + (n * 10 * view.noise / sizes.sum() if sizes.sum() > 0 else 0)
            self.packs, self.place, self.epoch = max(1, round(n / self.size(view))), 0, []
        self.place += 1
        self.epoch.append(shown)
        counts = np.bincount([i for pack in self.epoch for i in pack], minlength=n)
        fits = (counts <= np.ceil(self.expected + self.blur)).all() and len(shown) in (
            n // self.packs,
            -(-n // self.packs),
        )
        if self.place == self.packs:
            fits = fits and counts.sum() == n and (counts >= np.floor(self.expected - self.blur)).all()
            fits = fits and (view.points.shape[1] > 1 or self.is_spread(view.points[:, 0]))
        return shown if fits else []

    def is_spread(self, x: np.ndarray) -> bool:
        """Say whether, on one axis, each pack of an epoch has one place of every run along the axis."""
        if len(set(x)) < len(x):
            return True
        order = sorted((x[i], number) for number, pack in enumerate(self.epoch) for i in pack)
        full = len(order) // self.packs * self.packs
        for first in range(0, full, self.packs):
            here = order[first : first + self.packs]
            before = sum(1 for place in order[:full] if place[0] < here[0][0])
            if before < first:  # places of one point lie on both sides of a cut
                continue
            after = first + self.packs == len(order) or order[first + self.packs][0] > here[-1][0]
            if after and sorted(number for _, number in here) != list(range(self.packs)):
                return False
        return True


RULES = {
    "random": Random, "greedy": Greedy, "soft": Soft, "uncertainty": Uncertain, "int": Kept, "mixed": Mixed,
    "interpolation": Interpolating, "planned": Planned, "synthesis": Rule,
    "decrease": Decreasing, "response": Responding, "surrogate": Compared, "omniscient": Compared,
    "imitation": Imitated, "exam": Believed, "epochs": InEpochs, "sequence": Listed,
}  # fmt: skip


def rule_of(spec: dict[str, Any]) -> Rule:
    return RULES[spec["kind"]](spec)
