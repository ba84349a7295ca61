"""Neural fields: which packs bring a network to a picture soonest. It needs PyTorch.

    python -m benchmarks.neural            every run (about half an hour of one core), then the tables
    python -m benchmarks.neural --quick    one picture, one seed, a short training: is everything in place?
    python -m benchmarks.neural --table    the tables of the runs that are finished

Finished runs are kept in out/neural.jsonl, so a benchmark that was stopped goes on where it was. The clock is processor
seconds of one core, without the evaluations from which the quality is read; a run ends at the highest quality.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from PIL import Image
from sklearn.datasets import load_sample_image

import nimt
from nimt.schedules import PackSchedule, cosine, every, geometric, steps
from nimt.teachers.teacher import Selection, Teacher, View, count_of

SIDE = 96
LEVELS = (25, 28, 30, 33, 36)  # dB
SEEDS = (0, 1, 2)
RATES = {"sine": (1e-3, 2e-3, 4e-3), "fourier": (5e-3, 1e-2, 2e-2)}  # tried with the first seed on each picture
BUDGET = 5.0  # seconds, as estimated from COST
COST = {"sine": (0.8e-3, 2.0e-6), "fourier": (0.7e-3, 1.6e-6)}  # seconds per step, and per example in it
PLANNING = 0.15e-3  # seconds per step more, of a PlannedTeacher
LOOK = 0.4  # of the cost of learning an example: evaluating it
GAP = (0.02, 0.03)  # seconds between two evaluations: at least so many, and so large a part of what was spent
KEPT = Path("out/neural.jsonl")


# ---------------------------------------------------------------- networks and pictures


class Sine(torch.nn.Module):
    """Three hidden layers of 64 sines, with the initial weights of Sitzmann et al. (2020)."""

    def __init__(self, width=64, depth=3, frequency=30.0):
        super().__init__()
        sizes = [2] + [width] * depth
        self.hidden = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in pairwise(sizes))
        self.last = torch.nn.Linear(width, 1)
        self.frequency = frequency
        for number, layer in enumerate([*self.hidden, self.last]):
            bound = 1 / 2 if number == 0 else math.sqrt(6 / width) / frequency
            torch.nn.init.uniform_(layer.weight, -bound, bound)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.sin(self.frequency * layer(x))
        return self.last(x)


class Fourier(torch.nn.Module):
    """64 random Fourier features (Tancik et al., 2020), then two layers of 64 rectified units."""

    def __init__(self, width=64, features=64, scale=4.0):
        super().__init__()
        self.register_buffer("waves", scale * torch.randn(2, features))
        layers = [torch.nn.Linear(2 * features, width), torch.nn.ReLU(), torch.nn.Linear(width, width), torch.nn.ReLU()]
        self.rest = torch.nn.Sequential(*layers, torch.nn.Linear(width, 1))

    def forward(self, x):
        turned = math.pi * (x @ self.waves)
        return self.rest(torch.cat([turned.sin(), turned.cos()], dim=1))


NETWORKS = {"sine": Sine, "fourier": Fourier}
PICTURES = {"temple": "china.jpg", "flower": "flower.jpg"}  # of scikit-learn, 427 x 640


def picture(name):
    """Return the coordinates in [-1, 1]^2 and the grey values in [-1, 1] of the middle of a picture, 96 x 96."""
    colour = load_sample_image(PICTURES[name])
    rows, columns = colour.shape[:2]
    left = (columns - rows) // 2
    grey = Image.fromarray(colour[:, left : left + rows]).convert("L")
    values = np.asarray(grey.resize((SIDE, SIDE), Image.Resampling.LANCZOS))
    axis = torch.linspace(-1, 1, SIDE)
    points = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=-1).reshape(-1, 2)
    return points, torch.from_numpy(values.astype(np.float32).reshape(-1, 1) / 127.5 - 1)


# ---------------------------------------------------------------- methods


@dataclass(frozen=True, eq=False)
class ShuffledEpochs(Teacher):
    """What a DataLoader with shuffle=True does: every epoch shows every example once, in a new random order."""

    k: int | float | PackSchedule = 0.1

    at_random: ClassVar[bool] = True

    def looks_at(self, step: int) -> bool:
        return False

    def select(self, view: View) -> Selection:
        n = len(view)
        left = np.empty(0, dtype=np.intp) if view.memory is None else view.memory["left"]
        order = left if len(left) else view.rng.permutation(n)
        k = count_of(self.k, n, view.step)
        return view.show(order[:k], memory={"left": order[k:]})


@dataclass(frozen=True)
class Method:
    """How packs are chosen: a teacher made for a module, and whether the learning rate falls meanwhile."""

    teacher: Callable[[Any, Any], Teacher]
    decays: bool = False


def alone(teacher: Teacher, decays: bool = False) -> Method:
    """Return a method whose teacher needs not know the module."""
    return Method(lambda module, points: teacher, decays)


def uniform(k: Any) -> Teacher:
    return nimt.RandomTeacher(k=k, replace=False)


FEW = geometric(0.02, 0.2)
ALL = geometric(0.05, 1.0)
METHODS = {
    "full batches": alone(nimt.GreedyTeacher(k=1.0, look=every(10**9))),
    "random 20 %": alone(uniform(0.2)),
    "random 5 %, falling rate": alone(uniform(0.05), decays=True),
    "INT, 20 to 92 %": alone(nimt.INTTeacher()),
    "random 20 to 92 %": alone(uniform(steps(0.2, 0.92, stages=10))),
    "NINT, 20 %": Method(
        lambda module, points: nimt.torch.NINTTeacher(nimt.torch.ntk_influence(module, points), k=0.2, look=None)
    ),
    "random 5 to 100 %, cosine": alone(uniform(cosine(0.05, 1.0))),
    "random 5 to 100 %": alone(uniform(ALL)),
    "shuffled epochs 5 to 100 %": alone(ShuffledEpochs(k=ALL)),
    "epochs in turn 5 to 100 %": alone(nimt.PlannedTeacher(k=ALL, floor=1.0)),
    "epochs by residual 5 to 100 %": alone(nimt.PlannedTeacher(k=ALL, floor=0.3)),
    "random 2 to 20 %": alone(uniform(FEW)),
    "shuffled epochs 2 to 20 %": alone(ShuffledEpochs(k=FEW)),
    "epochs in turn 2 to 20 %": alone(nimt.PlannedTeacher(k=FEW, floor=1.0)),
    "epochs by residual 2 to 20 %": alone(nimt.PlannedTeacher(k=FEW, floor=0.3)),
}
AGAINST = ("random 5 to 100 %", "random 2 to 20 %")
GROWING = ("random 5 to 100 %, cosine", *AGAINST)  # uniform random packs that grow


def steps_in(seconds: float, network: str, teacher: Teacher, n: int) -> int:
    """Return the number of steps that are estimated to take this long; it does not depend on the machine's moods."""
    each, per_example = COST[network]

    def estimate(steps):
        settled = teacher.fix_length(steps)
        looks = [settled.looks_at(t) for t in range(steps)]
        sizes = [settled.k.at(t) if hasattr(settled.k, "at") else settled.k for t in range(steps)]
        return sum(each + per_example * n * (k + LOOK * look) for k, look in zip(sizes, looks, strict=True))

    few, many = 1, int(seconds / each) + 1
    while few < many:
        middle = (few + many) // 2
        few, many = (few, middle) if estimate(middle) >= seconds else (middle + 1, many)
    return few


# ---------------------------------------------------------------- one run

Key = tuple[str, str, str, float, int]  # network, picture, method, rate, seed
Runs = dict[Key, dict[str, Any]]


def trained(network, name, method, rate, seed, budget=BUDGET):
    """Return the curve of a training: steps, examples, seconds and dB at some hundred moments."""
    points, values = picture(name)
    torch.manual_seed(seed)
    module = NETWORKS[network]()
    optimizer = torch.optim.Adam(module.parameters(), lr=rate, fused=True)
    teacher = METHODS[method].teacher(module, points)
    planned = steps_in(budget, network, teacher, len(points))
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, planned, eta_min=0.01 * rate)
    packs = nimt.torch.teach((points, values), module, teacher, steps=planned, seed=seed)
    curve, spent, shown, following, evaluating = [], 0.0, 0, 0.0, []
    began = time.process_time()
    for step, indices in enumerate(packs, start=1):
        loss = torch.nn.functional.mse_loss(module(points[indices]), values[indices])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if METHODS[method].decays:
            decay.step()
        shown += len(indices)
        now = time.process_time()
        if spent + now - began >= following or step == planned:
            spent += now - began
            with torch.no_grad():
                error = float(torch.mean((module(points) - values) ** 2))
            quality = 10 * math.log10(4 / error) if 0 < error < math.inf else 0.0
            curve.append((step, shown, round(spent, 4), round(quality, 3)))
            if quality >= LEVELS[-1]:
                break
            following = spent + max(GAP[0], GAP[1] * spent)
            began = time.process_time()
            evaluating.append(began - now)
    return {
        "planned": planned,
        "looks": len(packs.looked),
        "evaluation": round(float(np.median(evaluating)), 5) if evaluating else None,  # the machine's speed meanwhile
        "curve": curve,
    }


def kept_runs(path: Path) -> Runs:
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {(row["network"], row["picture"], row["method"], row["rate"], row["seed"]): row for row in rows}


def groups(quick: bool) -> Iterator[tuple[str, str, int]]:
    """Yield seeds, pictures and networks, so that a table is there after the first third."""
    for seed in SEEDS[:1] if quick else SEEDS:
        for name in list(PICTURES)[:1] if quick else PICTURES:
            for network in NETWORKS:
                yield network, name, seed


def run_all(quick: bool, path: Path) -> Runs:
    """Make the runs that are not there yet: within a group the methods follow each other, as machines change slowly."""
    path.parent.mkdir(exist_ok=True)
    done = kept_runs(path)
    for network, name, seed in groups(quick):
        for turn in range(len(RATES[network]) if seed == SEEDS[0] else 1):
            for method in METHODS:
                rate = RATES[network][turn] if seed == SEEDS[0] else best_rate(done, network, name, method)
                key = (network, name, method, rate, seed)
                if key in done:
                    continue
                found = trained(*key, budget=0.3 if quick else BUDGET)
                done[key] = dict(zip(("network", "picture", "method", "rate", "seed"), key, strict=True)) | found
                with path.open("a") as file:
                    file.write(json.dumps(done[key]) + "\n")
                _, _, spent, quality = found["curve"][-1]
                print(f"{' / '.join(map(str, key))}: {quality:.1f} dB after {spent:.1f} s", flush=True)
    return done


# ---------------------------------------------------------------- tables

SECONDS, EXAMPLES = 2, 1  # columns of a curve


def reached(row: dict[str, Any], level: float, column: int = SECONDS) -> float | None:
    """Return when a training first had so many dB, between two evaluations by their slope; None if never.

    >>> reached({"curve": [(1, 10, 1.0, 20.0), (2, 20, 2.0, 30.0)]}, 25)
    1.5
    """
    before = (0, 0, 0.0, 0.0)
    for moment in row["curve"]:
        if moment[3] >= level:
            part = (level - before[3]) / (moment[3] - before[3])
            return float(before[column] + part * (moment[column] - before[column]))
        before = moment
    return None


def best_rate(done: Runs, network: str, name: str, method: str) -> float:
    """Return the rate that reaches the most levels on the picture with the first seed, of equals the soonest."""

    def merit(rate):
        row = done[network, name, method, rate, SEEDS[0]]
        times = [time for level in LEVELS if (time := reached(row, level)) is not None]
        return -len(times), times[-1] if times else 0.0, -row["curve"][-1][3]

    return min((rate for rate in RATES[network] if (network, name, method, rate, SEEDS[0]) in done), key=merit)


def chosen(done: Runs, network: str, name: str, method: str) -> list[dict[str, Any]]:
    """Return the runs of a method at its best rate, a run per seed."""
    if not any(key[:3] == (network, name, method) for key in done):
        return []
    rate = best_rate(done, network, name, method)
    return [done[key] for seed in SEEDS if (key := (network, name, method, rate, seed)) in done]


def cell(runs: list[dict[str, Any]], level: float) -> str:
    """Return the mean seconds to a level, their range and the passes over the picture, or how many seeds arrived."""
    times = [time for row in runs if (time := reached(row, level)) is not None]
    if len(times) < len(runs):
        return f"{len(times)} of {len(runs)}" if times else ""
    passes = np.mean([reached(row, level, EXAMPLES) for row in runs]) / SIDE**2
    return f"{np.mean(times):.2f} [{min(times):.2f}, {max(times):.2f}] ({passes:.0f})"


def printed(heads: list[str], rows: list[list[str]]) -> None:
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def times_table(done: Runs, network: str, name: str) -> None:
    """Print when each method reached each level, and where those ended that did not reach the last."""
    print(f"\n{network} network, {name}: seconds to a quality, mean [range] over the seeds (passes over the picture)\n")
    rows = []
    for method in METHODS:
        if runs := chosen(done, network, name, method):
            last = float(np.mean([row["curve"][-1][3] for row in runs]))
            ends = "" if last >= LEVELS[-1] else f"{last:.1f} dB"
            rows.append([method, f"{runs[0]['rate']:g}", *(cell(runs, level) for level in LEVELS), ends])
    printed(["packs", "rate", *(f"{level} dB" for level in LEVELS), "ends at"], rows)


def ratios(done: Runs, method: str, against: str, level: float) -> list[float]:
    """Return how long a method takes as a part of what another takes: a number per network, picture and seed."""
    found = []
    for network in NETWORKS:
        for name in PICTURES:
            pairs = zip(*(chosen(done, network, name, one) for one in (method, against)), strict=False)
            times = [(reached(mine, level), reached(other, level)) for mine, other in pairs]
            found += [mine / other for mine, other in times if mine is not None and other is not None]
    return found


def priced(done: Runs) -> Runs:
    """Return the runs of methods that never look with steps and examples at fixed prices in the place of the clock."""
    found = {}
    for key, row in done.items():
        each, per_example = COST[key[0]]
        each += PLANNING if "in turn" in key[2] or "by residual" in key[2] else 0.0
        if row["looks"] <= 1 and any(row is one for one in chosen(done, *key[:3])):  # at the rates of the other tables
            curve = [(step, shown, each * step + per_example * shown, db) for step, shown, _, db in row["curve"]]
            found[key] = row | {"curve": curve}
    return found


def mean_time(done: Runs, network: str, name: str, method: str, level: float) -> float:
    """Return the mean seconds to a level over the seeds; infinity if one did not arrive."""
    times = [reached(row, level) for row in chosen(done, network, name, method)]
    return float(np.mean([math.inf if time is None else time for time in times])) if times else math.inf


def ratios_to_the_best(done: Runs, method: str, level: float) -> list[float]:
    """Return mean seconds as a part of those of the best random growing packs: a number per network and picture."""
    found = []
    for network in NETWORKS:
        for name in PICTURES:
            mine = mean_time(done, network, name, method, level)
            best = min(mean_time(done, network, name, one, level) for one in GROWING)
            if math.isfinite(mine) and math.isfinite(best):
                found.append(mine / best)
    return found


def ratios_table(found: Callable[[str, float], list[float]]) -> None:
    """Print the geometric mean of ratios, their range and number, for each method and level."""
    rows = []
    for method in METHODS:
        cells = []
        for level in LEVELS:
            part = found(method, level)
            mean = np.exp(np.mean(np.log(part))) if part else np.nan
            cells.append(f"{mean:.2f} [{min(part):.2f}, {max(part):.2f}] ({len(part)})" if part else "")
        rows.append([method, *cells])
    printed(["packs", *(f"{level} dB" for level in LEVELS)], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    path = KEPT.with_name("neural-quick.jsonl") if options.quick else KEPT
    done = kept_runs(path) if options.table else run_all(options.quick, path)
    for network in NETWORKS:
        for name in PICTURES:
            if any(key[:2] == (network, name) for key in done):
                times_table(done, network, name)
    for against in AGAINST:
        print(f"\nSeconds as a part of those of {against}, same network, picture and seed: mean [range] (pairs)\n")
        ratios_table(lambda method, level, against=against: ratios(done, method, against, level))
    at_prices = priced(done)
    for against in AGAINST:
        print(f"\nThe same at fixed prices of a step and of an example, without the clock, against {against}\n")
        ratios_table(lambda method, level, against=against: ratios(at_prices, method, against, level))
    print("\nMean seconds as a part of those of the best random growing packs, per network and picture: mean [range]\n")
    ratios_table(lambda method, level: ratios_to_the_best(done, method, level))


if __name__ == "__main__":
    main()
