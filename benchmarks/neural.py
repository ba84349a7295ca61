"""Neural fields: which packs bring a network to a picture soonest. It needs PyTorch.

    python -m benchmarks.neural            every run (about half an hour on one core), then the tables
    python -m benchmarks.neural --quick    one picture, one seed, a short training: is everything in place?
    python -m benchmarks.neural --table    the tables of the runs that are finished

Finished runs are kept in out/neural.jsonl, so a benchmark that was stopped goes on where it was. Times are processor
seconds of one core, without the evaluations from which the quality is read.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from sklearn.datasets import load_sample_image

import nimt
from nimt.schedules import cosine, every, geometric

SIDE = 128
LEVELS = (25, 28, 30, 33, 36)  # dB
SEEDS = (0, 1, 2)
RATES = {"sine": (1e-3, 3e-3, 1e-2), "fourier": (1e-3, 3e-3, 1e-2)}
BUDGET = 6.5  # seconds, as estimated from COST
COST = {"sine": (1.6e-3, 2.7e-6), "fourier": (1.6e-3, 2.3e-6)}  # seconds per step, and per example in it
LOOK = 0.4  # of the cost of learning an example: evaluating it
TRIED = ("temple", 0)  # the picture and the seed on which the three rates are tried
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
    """Return the coordinates in [-1, 1]^2 and the grey values in [-1, 1] of the middle of a picture, 128 x 128."""
    colour = load_sample_image(PICTURES[name])
    rows, columns = colour.shape[:2]
    left = (columns - rows) // 2
    grey = Image.fromarray(colour[:, left : left + rows]).convert("L")
    values = np.asarray(grey.resize((SIDE, SIDE), Image.Resampling.LANCZOS))
    axis = torch.linspace(-1, 1, SIDE)
    points = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=-1).reshape(-1, 2)
    return points, torch.from_numpy(values.astype(np.float32).reshape(-1, 1) / 127.5 - 1)


# ---------------------------------------------------------------- methods


@dataclass(frozen=True)
class Method:
    """How packs are chosen: a teacher made for a module, and whether the learning rate falls meanwhile."""

    teacher: Callable
    decays: bool = False


def planned(k, floor=0.3):
    return lambda module, points: nimt.PlannedTeacher(k=k, floor=floor)


def uniform(k):
    return lambda module, points: nimt.RandomTeacher(k=k, replace=False)


METHODS = {
    "full batches": Method(lambda module, points: nimt.GreedyTeacher(k=1.0, look=every(10**9))),
    "random 20 %": Method(uniform(0.2)),
    "random 5 %, falling rate": Method(uniform(0.05), decays=True),
    "random 5 to 100 %": Method(uniform(cosine(0.05, 1.0))),
    "random 2 to 20 %": Method(uniform(geometric(0.02, 0.2))),
    "INT": Method(lambda module, points: nimt.INTTeacher()),
    "NINT": Method(
        lambda module, points: nimt.torch.NINTTeacher(nimt.torch.ntk_influence(module, points), k=0.2, look=None)
    ),
    "epochs in turn 2 to 20 %": Method(planned(geometric(0.02, 0.2), floor=1.0)),
    "epochs in turn 5 to 100 %": Method(planned(cosine(0.05, 1.0), floor=1.0)),
    "epochs by residual 2 to 20 %": Method(planned(geometric(0.02, 0.2))),
    "epochs by residual 5 to 100 %": Method(planned(cosine(0.05, 1.0))),
}


def steps_in(seconds, network, teacher, n):
    """Return the number of steps that are estimated to take this long; it does not depend on the machine's moods."""
    each, per_example = COST[network]

    def estimate(steps):
        settled = teacher.settled(steps)
        looks = [settled.looks_at(t) for t in range(steps)]
        sizes = [settled.k.at(t) if hasattr(settled.k, "at") else settled.k for t in range(steps)]
        return sum(each + per_example * n * (k + LOOK * look) for k, look in zip(sizes, looks, strict=True))

    few, many = 1, int(seconds / each) + 1
    while few < many:
        middle = (few + many) // 2
        few, many = (few, middle) if estimate(middle) >= seconds else (middle + 1, many)
    return few


# ---------------------------------------------------------------- one run


def trained(network, name, method, rate, seed, budget=BUDGET):
    """Return the curve of a training: seconds, examples and dB at about sixty moments."""
    points, values = picture(name)
    torch.manual_seed(seed)
    module = NETWORKS[network]()
    optimizer = torch.optim.Adam(module.parameters(), lr=rate)
    teacher = METHODS[method].teacher(module, points)
    steps = steps_in(budget, network, teacher, len(points))
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, eta_min=0.01 * rate)
    packs = nimt.torch.taught((points, values), module, teacher, steps=steps, seed=seed)
    curve, spent, shown, following = [], 0.0, 0, 0
    began = time.process_time()
    for step, indices in enumerate(packs, start=1):
        loss = torch.nn.functional.mse_loss(module(points[indices]), values[indices])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if METHODS[method].decays:
            decay.step()
        shown += len(indices)
        if step >= following or step == steps:
            spent += time.process_time() - began
            with torch.no_grad():
                error = float(torch.mean((module(points) - values) ** 2))
            curve.append((round(spent, 4), shown, round(10 * math.log10(4 / error), 3) if error > 0 else 99.0))
            following = step + max(1, steps // 60)
            began = time.process_time()
    return {"steps": steps, "looks": len(packs.looked), "curve": curve}


def kept_runs(path=KEPT):
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {(row["network"], row["picture"], row["method"], row["rate"], row["seed"]): row for row in rows}


def all_runs(quick):
    """Yield every run, picture by picture and seed by seed, so that a table of the first is there early."""
    pictures, seeds = (["temple"], SEEDS[:1]) if quick else (list(PICTURES), SEEDS)
    for name in pictures:
        for seed in seeds:
            for network in NETWORKS:
                for method in METHODS:
                    yield network, name, method, seed


def run_all(quick, path=KEPT):
    path.parent.mkdir(exist_ok=True)
    done = kept_runs(path)
    for network, name, method, seed in all_runs(quick):
        rates = RATES[network] if (name, seed) == TRIED else (best_rate(done, network, method),)
        for rate in rates:
            key = (network, name, method, rate, seed)
            if key in done:
                continue
            found = trained(network, name, method, rate, seed, budget=0.3 if quick else BUDGET)
            row = dict(zip(("network", "picture", "method", "rate", "seed"), key, strict=True)) | found
            done[key] = row
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(
                f"{' / '.join(map(str, key))}: {found['curve'][-1][2]:.1f} dB after {found['curve'][-1][0]:.1f} s",
                flush=True,
            )
    return done


# ---------------------------------------------------------------- tables


def reached(row, level, column=0):
    """Return the seconds (or, column 1, the examples) at which a training first had so many dB, None if never."""
    return next((moment[column] for moment in row["curve"] if moment[2] >= level), None)


def best_rate(done, network, method):
    """Return the rate that reaches the most levels on the first picture with the first seed, of equals the soonest."""

    def merit(rate):
        row = done[network, TRIED[0], method, rate, TRIED[1]]
        times = [time for level in LEVELS if (time := reached(row, level)) is not None]
        return -len(times), times[-1] if times else 0.0, -row["curve"][-1][2]

    return min((rate for rate in RATES[network] if (network, TRIED[0], method, rate, TRIED[1]) in done), key=merit)


def table(done, network, name):
    """Return rows of a method: its rate, and for each level the mean seconds, mean examples and how many reached it."""
    rows = []
    for method in METHODS:
        if not any(key[:3] == (network, name, method) for key in done):
            continue
        rate = best_rate(done, network, method)
        found = [done[key] for seed in SEEDS if (key := (network, name, method, rate, seed)) in done]
        cells = []
        for level in LEVELS:
            times = [reached(row, level) for row in found]
            shown = [reached(row, level, 1) for row in found]
            if None in times:
                cells.append(None)
            else:
                cells.append((float(np.mean(times)), float(np.mean(shown)) / SIDE**2))
        rows.append((method, rate, cells, float(np.mean([row["curve"][-1][2] for row in found]))))
    return rows


def printed(done, network, name):
    """Print a table for a page: seconds (and passes over the picture) to each level."""
    print(f"\n{network} network, {name}: processor seconds (passes over the picture) to a quality, mean of the seeds\n")
    heads = ["packs", "rate", *(f"{level} dB" for level in LEVELS), "at the end"]
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for method, rate, cells, last in table(done, network, name):
        shown = ["" if cell is None else f"{cell[0]:.2f} ({cell[1]:.0f})" for cell in cells]
        print(f"| {method} | {rate:g} | " + " | ".join(shown) + f" | {last:.1f} dB |")


def ratios(done, method, against):
    """Return, for each level, how much less time a method takes: one ratio per network, picture and seed."""
    found = {level: [] for level in LEVELS}
    for network in NETWORKS:
        for name in PICTURES:
            try:
                rates = [best_rate(done, network, one) for one in (method, against)]
            except ValueError:
                continue
            for seed in SEEDS:
                keys = [(network, name, one, rate, seed) for one, rate in zip((method, against), rates, strict=True)]
                if not all(key in done for key in keys):
                    continue
                for level in LEVELS:
                    mine, other = (reached(done[key], level) for key in keys)
                    if mine and other:
                        found[level].append(mine / other)
    return found


def summary(done, against):
    print(
        f"\nTime relative to {against}, geometric mean over networks, pictures and seeds (pairs in which both arrive)\n"
    )
    print("| packs | " + " | ".join(f"{level} dB" for level in LEVELS) + " |")
    print("|---" * (len(LEVELS) + 1) + "|")
    for method in METHODS:
        found = ratios(done, method, against)
        cells = [f"{np.exp(np.mean(np.log(part))):.2f} ({len(part)})" if part else "" for part in found.values()]
        print(f"| {method} | " + " | ".join(cells) + " |")


def main():
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
                printed(done, network, name)
    for against in ("random 2 to 20 %", "random 5 to 100 %"):
        summary(done, against)


if __name__ == "__main__":
    main()
