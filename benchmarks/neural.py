"""Neural fields: quality against time, for ways of choosing packs and learning rates. It needs PyTorch.

    python -m benchmarks.neural               every run (about ten minutes of one core), then the tables
    python -m benchmarks.neural --quick       one seed and two epochs: is everything in place?
    python -m benchmarks.neural --table       the tables of the runs that are finished
    python -m benchmarks.neural --figure a.png   their curves

A sine network learns a photo of 128 x 128 pixels for 60 epochs, by Adam. Each way of choosing packs is measured with a
constant, a growing and a cosine learning rate, each at the better of two rates by the first seed, and with three seeds.
Finished runs are kept in out/neural.jsonl, so a benchmark that was stopped goes on where it was. The clock is processor
seconds of one core, without the evaluations from which the quality is read. What a way of choosing costs depends on
neither the rate nor the seed, so its clock is that of its quickest run: the machine may do other work meanwhile.
(`python -m benchmarks.neural_digits` is about wrong labels.)
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
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_sample_image

import nimt
from nimt.schedules import PackSchedule, every, geometric
from nimt.teachers.teacher import Selection, Teacher, View, count_of

SIDE = 128
EPOCHS = 60
SEEDS = (0, 1, 2)
RATES = (1e-3, 3e-3)  # tried with the first seed; the largest rate of a training
MOMENTS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)  # seconds at which the quality is told
PASSES = (5, 10, 20, 30, 45, 60)  # the same, in examples shown as passes over the photo
EVALUATIONS = 24  # of a training, evenly over the examples shown
KEPT = Path("out/neural.jsonl")


# ---------------------------------------------------------------- the network and the photo


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


def photo():
    """Return the coordinates in [-1, 1]^2 and the grey values in [-1, 1] of the middle of scikit-learn's temple."""
    colour = load_sample_image("china.jpg")
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
    """What a DataLoader with shuffle=True does: every epoch shows every example once, in a new random order.

    Packs are nearly equal: a last pack of the few examples that are left over would disturb the training.
    """

    k: int | float | PackSchedule = 0.1

    at_random: ClassVar[bool] = True

    def looks_at(self, step: int) -> bool:
        return False

    def select(self, view: View) -> Selection:
        n = len(view)
        left = np.empty(0, dtype=np.intp) if view.memory is None else view.memory["left"]
        order = left if len(left) else view.rng.permutation(n)
        packs = max(1, round(len(order) / count_of(self.k, n, view.step)))
        k = math.ceil(len(order) / packs)
        return view.show(order[:k], memory={"left": order[k:]})


def uniform(k: Any) -> Teacher:
    return nimt.RandomTeacher(k=k, replace=False)


def nint(module: Any, points: Any) -> Teacher:
    return nimt.torch.NINTTeacher(nimt.torch.ntk_influence(module, points), k=0.2, look=every(10))


def surrogate(module: Any, points: Any) -> Teacher:
    """The reference is the photo blurred by two pixels: a model that knows no detail."""
    blurred = gaussian_filter(photo()[1].numpy().reshape(SIDE, SIDE), 2.0).reshape(-1, 1)
    return nimt.SurrogateTeacher(blurred, k=0.2, look=every(5), difficulty=False)


TEACHERS: dict[str, Teacher | Callable[[Any, Any], Teacher]] = {
    "full batches": nimt.GreedyTeacher(k=1.0, look=every(10**9)),
    "random 5 %": uniform(0.05),
    "random 5 to 100 %": uniform(geometric(0.05, 1.0)),
    "shuffled 5 %": ShuffledEpochs(k=0.05),
    "shuffled 10 %": ShuffledEpochs(k=0.1),
    "in turn 5 %": nimt.teachers.PlannedTeacher(k=0.05, floor=1.0),
    "planned 5 %": nimt.teachers.PlannedTeacher(k=0.05),
    "pruned 5 %": nimt.teachers.PruningTeacher(k=0.05),
    "greedy 20 %, every 5th step": nimt.GreedyTeacher(k=0.2, look=every(5)),
    "surrogate 20 %, every 5th step": surrogate,
    "INT, 20 to 92 %": nimt.teachers.INTTeacher(),
    "NINT 20 %, every 10th step": nint,
}

# the learning rate as a part of the largest, by the part of the training that is over
FORMS: dict[str, Callable[[float], float]] = {
    "constant": lambda part: 1.0,
    "growing": lambda part: 10 ** (part - 1),
    "cosine": lambda part: 0.01 + 0.99 * (1 + math.cos(math.pi * min(part, 1.0))) / 2,
}


# ---------------------------------------------------------------- one run


@dataclass(frozen=True)
class Key:
    """A training."""

    method: str
    form: str
    rate: float
    seed: int


Runs = dict[Key, list[tuple[int, float, float]]]  # moments: examples shown, seconds, dB


def train(key: Key, epochs: int = EPOCHS) -> list[tuple[int, float, float]]:
    """Return the curve of a training: examples shown, seconds and dB at some moments."""
    points, values = photo()
    n = len(points)
    torch.manual_seed(key.seed)
    module = Sine()
    optimizer = torch.optim.Adam(module.parameters(), lr=key.rate, fused=True)
    made = TEACHERS[key.method]
    teacher = made if isinstance(made, Teacher) else made(module, points)
    curve: list[tuple[int, float, float]] = []
    spent, following = 0.0, 0.0
    began = time.process_time()
    packs = nimt.torch.teach((points, values), module, teacher, epochs=epochs, seed=key.seed)
    for indices in packs:
        for group in optimizer.param_groups:
            group["lr"] = key.rate * FORMS[key.form]((packs.shown - len(indices)) / (epochs * n))
        if key.method.startswith("pruned"):
            loss = (packs.weights[:, None] * (module(points[indices]) - values[indices]) ** 2).mean()
        else:
            loss = torch.nn.functional.mse_loss(module(points[indices]), values[indices])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if packs.shown >= following or packs.is_over():
            spent += time.process_time() - began
            with torch.no_grad():
                error = float(torch.mean((module(points) - values) ** 2))
            quality = 10 * math.log10(4 / error) if 0 < error < math.inf else 0.0
            curve.append((packs.shown, round(spent, 4), round(quality, 3)))
            following = packs.shown + epochs * n / EVALUATIONS
            began = time.process_time()
    return curve


def kept_runs(path: Path) -> Runs:
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {Key(**row["key"]): [tuple(moment) for moment in row["curve"]] for row in rows}


def wanted(done: Runs, quick: bool) -> Iterator[Key]:
    """Yield the trainings: all with the first seed, then those at the better rate with the others."""
    for rate in RATES[:1] if quick else RATES:
        yield from (Key(method, form, rate, SEEDS[0]) for method in TEACHERS for form in FORMS)
    for seed in () if quick else SEEDS[1:]:
        yield from (Key(method, form, best_rate(done, method, form), seed) for method in TEACHERS for form in FORMS)


def run_all(quick: bool, path: Path) -> Runs:
    """Make the runs that are not there yet."""
    path.parent.mkdir(exist_ok=True)
    done = kept_runs(path)
    for method in TEACHERS:  # what is loaded and compiled once is not counted
        train(Key(method, "constant", RATES[0], SEEDS[0]), epochs=1)
    for key in wanted(done, quick):
        if key in done:
            continue
        done[key] = train(key, epochs=2 if quick else EPOCHS)
        with path.open("a") as file:
            file.write(json.dumps({"key": vars(key), "curve": done[key]}) + "\n")
        _, spent, quality = done[key][-1]
        print(f"{' / '.join(map(str, vars(key).values()))}: {quality:.1f} dB after {spent:.1f} s", flush=True)
    return done


# ---------------------------------------------------------------- tables


def best_rate(done: Runs, method: str, form: str) -> float:
    """Return the rate that ends at the highest quality with the first seed."""
    ends = {rate: done[key][-1][2] for rate in RATES if (key := Key(method, form, rate, SEEDS[0])) in done}
    return max(ends, key=ends.__getitem__)


def chosen_runs(done: Runs) -> Iterator[tuple[str, str, float, list[Any]]]:
    """Yield of each method and form the better rate and its curves, one per seed, by the clock of the quickest run."""
    for method in TEACHERS:
        of = [curve for key, curve in done.items() if key.method == method]
        quickest = [seconds for _, seconds, _ in min(of, key=lambda curve: curve[-1][1])] if of else []
        for form in FORMS:
            if not any((key.method, key.form) == (method, form) for key in done):
                continue
            rate = best_rate(done, method, form)
            runs = [done[key] for seed in SEEDS if (key := Key(method, form, rate, seed)) in done]
            timed = [
                [(shown, seconds, quality) for (shown, _, quality), seconds in zip(curve, quickest, strict=False)]
                for curve in runs
            ]
            yield method, form, rate, timed


def quality_at(curve: list[tuple[int, float, float]], moment: float, column: int) -> float | None:
    """Return the dB at a moment, between two evaluations by their slope; None after the end.

    Column 1 counts seconds, column 0 examples.

    >>> quality_at([(10, 1.0, 20.0), (20, 2.0, 30.0)], 1.5, 1)
    25.0
    """
    times = [row[column] for row in curve]
    if moment > times[-1]:
        return None
    return float(np.interp(moment, times, [row[2] for row in curve]))


def printed(heads: list[str], rows: list[list[str]]) -> None:
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def cells_of(runs: list[Any], moments: tuple[float, ...], column: int) -> list[str]:
    """Return the mean dB of the runs at each moment that all of them reach."""
    found = [[quality_at(curve, moment, column) for curve in runs] for moment in moments]
    return ["" if None in values else f"{np.mean(values):.1f}" for values in found]


def print_tables(done: Runs) -> None:
    """Print the quality against seconds, and against the examples shown."""
    rows, by_passes = [], []
    for method, form, rate, runs in chosen_runs(done):
        ends = [curve[-1][2] for curve in runs]
        end = f"**{np.mean(ends):.1f}** [{min(ends):.1f}, {max(ends):.1f}]"
        named = [method, form, f"{rate:g}"]
        rows.append([*named, *cells_of(runs, MOMENTS, 1), end, f"{runs[0][-1][1]:.1f} s", str(len(runs))])
        by_passes.append([*named, *cells_of(runs, tuple(passes * SIDE**2 for passes in PASSES), 0)])
    print("\nQuality in dB against seconds: mean over the seeds; at the end mean [range]\n")
    printed(["packs", "rate", "largest", *(f"{one:g} s" for one in MOMENTS), "end", "after", "seeds"], rows)
    print("\nThe same against the examples shown, in passes over the photo\n")
    printed(["packs", "rate", "largest", *map(str, PASSES)], by_passes)


def draw(done: Runs, path: Path) -> None:
    """Draw the quality against seconds, a panel per form of the rate: the mean over the seeds, and their range."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from PIL import Image

    from nimt.plots.style import FREE, LINE_STYLES, SEVERAL, STYLE

    colours = [colour for colour in dict.fromkeys((*SEVERAL, *FREE)) if colour != "#F0E442"]  # yellow on white

    with rc_context(STYLE):
        figure = Figure(figsize=(9.6, 4.6), layout="constrained")
        panels = dict(zip(FORMS, figure.subplots(1, len(FORMS), sharex=True, sharey=True), strict=True))
        for method, form, _, runs in chosen_runs(done):
            place = list(TEACHERS).index(method)
            look = {"color": colours[place % len(colours)], "linestyle": LINE_STYLES[place % len(LINE_STYLES)]}
            length = min(map(len, runs))
            seconds = [moment[1] for moment in runs[0][:length]]
            quality = np.array([[moment[2] for moment in curve[:length]] for curve in runs])
            panels[form].fill_between(seconds, quality.min(0), quality.max(0), color=look["color"], alpha=0.15, lw=0)
            panels[form].plot(seconds, quality.mean(0), label=method, linewidth=1.5, **look)
        for form, axes in panels.items():
            axes.set(title=f"{form} rate", xlabel="seconds of one core", ylim=(14, None))
            axes.grid(axis="y")
        panels["constant"].set_ylabel("quality (dB)")
        handles, names = panels["constant"].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=4, handlelength=3.2)
        figure.savefig(path, dpi=150)
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(64)  # a third of the bytes; lines and letters need no more colours
    few.save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--figure", type=Path, help="draw the runs that are finished, quality against seconds")
    options = parser.parse_args()
    torch.set_num_threads(1)
    path = KEPT.with_name("neural-quick.jsonl") if options.quick else KEPT
    if options.figure is not None:
        draw(kept_runs(path), options.figure)
        return
    print_tables(kept_runs(path) if options.table else run_all(options.quick, path))


if __name__ == "__main__":
    main()
