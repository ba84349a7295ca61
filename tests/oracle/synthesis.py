"""Labels that `SynthesisTeacher` makes: f + offset, so that the learner's own response reaches the target."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def fit(sums: list[float]) -> float:
    return sums[0] / sums[1] if sums[1] > 0 else 0.0


class LabelMaker:
    """What the teacher knows of the responses (movement / offset), of all points and of each."""

    def __init__(self, spec: dict[str, Any], f: np.ndarray, target: np.ndarray) -> None:
        self.radius = self.reach = spec.get("radius") or float(abs(f - target).max())
        limits = spec.get("label_range")
        self.limits = (target.min(), target.max()) if limits == "target" else limits
        self.all, self.each = [0.0, 0.0], {}
        self.latest: dict[int, tuple[float, float, int]] = {}  # of each point: distance, movement and step
        self.errors, self.growth, self.probes = [0.0] * 4, [0.0, 0.0], 4
        self.pending: list[tuple[int, float, float]] = []  # what was shown: point, prediction and offset
        self.lost = False  # whether a movement was so small that rounding decides

    def labels(self, pack: list[int], f: np.ndarray, target: np.ndarray) -> list[float]:
        made = []
        offsets = self.offsets(pack, [target[i] - f[i] for i in pack])
        self.pending = []
        for i, offset in zip(pack, offsets, strict=True):
            label = target[i] if offset == target[i] - f[i] else f[i] + offset
            if self.limits is not None and not self.limits[0] <= label <= self.limits[1]:
                label = min(max(label, self.limits[0]), self.limits[1])
                offset = label - f[i]
            made.append(label)
            self.pending.append((i, f[i], offset))
        return made

    def offsets(self, pack: list[int], errors: list[float]) -> list[float]:
        common, moved, common_again, own_again = self.errors
        agree = common <= 0.25**2 * moved or 0 < common_again <= own_again
        sizes, alike = [], True
        for i, error in zip(pack, errors, strict=True):
            response = fit(self.all if agree else self.each.get(i, [0.0, 0.0]))
            before, movement, _ = self.latest.get(i, (0.0, 0.0, -1))
            known = response > 0 and (before == 0 or movement > 0)
            size = min(abs(error) / response if known else abs(error), max(self.reach, abs(error)))
            alike = alike and known and size < 1.5 * before and before < 1.5 * size
            sizes.append(size)
        if self.probes and self.together(pack) and alike:
            sizes = [self.latest[i][0] / 2 for i in pack]
        return [math.copysign(min(s, self.radius), e) if e else 0.0 for s, e in zip(sizes, errors, strict=True)]

    def together(self, pack: list[int]) -> bool:
        """Say whether all were shown before, the latest time in one pack."""
        times = [self.latest.get(i, (0.0, 0.0, -1)) for i in pack]
        return bool(pack) and all(d > 0 for d, _, _ in times) and len({when for _, _, when in times}) == 1

    def observe(self, f: np.ndarray, step: int, noise: float) -> None:
        """See what the latest labels did."""
        seen = [(i, offset, f[i] - before) for i, before, offset in self.pending if offset != 0]
        self.lost = self.lost or any(abs(moved) < 1e5 * noise for _, _, moved in seen)
        if self.all[1]:
            sums = [0.0] * 4
            for i, offset, moved in seen:
                error = (moved - fit(self.all) * offset) ** 2
                sums[0] += error
                sums[1] += moved**2
                if i in self.each and self.each[i][1] > 0:
                    sums[2] += error
                    sums[3] += (moved - fit(self.each[i]) * offset) ** 2
            self.errors = [0.9 * old + new for old, new in zip(self.errors, sums, strict=True)]
        self.compare(seen, step)
        if seen:
            self.all = [
                0.8 * self.all[0] + sum(offset * moved for _, offset, moved in seen),
                0.8 * self.all[1] + sum(offset**2 for _, offset, _ in seen),
            ]
        for i, offset, moved in seen:
            old = self.each.get(i, [0.0, 0.0])
            self.each[i] = [0.8 * old[0] + offset * moved, 0.8 * old[1] + offset**2]

    def compare(self, seen: list[tuple[int, float, float]], step: int) -> None:
        """Compare the same pack at two distances: does the movement grow in proportion, or not at all?"""
        pack = [i for i, _, _ in seen]
        before = [self.latest.get(i, (0.0, 0.0, -1)) for i in pack]
        ratios = (
            [abs(offset) / old[0] for (_, offset, _), old in zip(seen, before, strict=True)]
            if self.together(pack)
            else []
        )
        now = [(abs(offset), moved * math.copysign(1, offset)) for _, offset, moved in seen]
        self.latest |= {i: (distance, moved, step) for i, (distance, moved) in zip(pack, now, strict=True)}
        if not ratios or max(ratios) - min(ratios) > 1e-6:
            return
        times = []
        for pairs in (now, [(distance, moved) for distance, moved, _ in before]):
            size = math.sqrt(sum(d * d for d, _ in pairs) / len(pairs))
            times.append((size, sum(d * m for d, m in pairs) / size / len(pairs)))
        (near, moved_near), (far, moved_far) = sorted(times)
        if far < 1.5 * near:
            return
        self.probes = max(0, self.probes - 1)
        self.growth[0] += (moved_near - moved_far * near / far) ** 2
        self.growth[1] += (moved_near - moved_far) ** 2
        if 9 * self.growth[0] < self.growth[1] and moved_far > 0:
            self.reach = min(self.radius, max(self.reach, 2 * far))
        elif 9 * self.growth[1] < self.growth[0] or moved_far <= 0 < moved_near:
            self.reach = min(self.reach, near / 4)
        else:
            return
        self.growth, self.probes = [0.0, 0.0], 0
