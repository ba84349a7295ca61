"""Which examples teach a classifier? scikit-learn's digits, with true labels and with one in ten wrong.

Three learners (a kernel learner, SGDClassifier, MLPClassifier) and five teachers, by the accuracy on digits that are
never shown. Every seed has its own split, its own wrong labels and its own random numbers. Every teacher is told at the
best of three learning rates, the one with the largest mean accuracy at the end.

python examples/digits.py --out out    (minutes; --seeds 1 --examples 640 for a quick look)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

import nimt
from nimt.plots.style import QUIET, STYLE, class_colours

LEVELS = (0.90, 0.95, 0.97)
TEST = 450  # digits kept apart
SHOWN = (80, 320, 1280, 2560)  # examples after which accuracies are told

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OnceEach(nimt.Teacher):
    """Random order, as most training goes: everything once before anything is shown again."""

    k: int = 1

    def select(self, view: nimt.teachers.View) -> nimt.Selection:
        left = np.empty(0, np.int64) if view.memory is None else view.memory["left"]
        if len(left) < self.k:
            left = np.concatenate([left, view.rng.permutation(len(view))])
        return view.show(left[: self.k], memory={"left": left[self.k :]})


@dataclass(frozen=True, eq=False)
class TestAccuracy(nimt.measures.Measure):
    """The share of the digits kept apart that are named rightly."""

    places: Whole
    truth: Whole
    name = "test accuracy"
    higher_is_better = True

    def of(self, pupil: Any, target: Any) -> float:
        return float(np.mean(np.argmax(pupil.values[self.places], axis=1) == self.truth))


@dataclass(frozen=True)
class Learner:
    """A learner for a seed and a rate, the rates that are tried, the size of packs, and how many examples are shown."""

    title: str
    make: Callable[[int, float], Any]
    rates: tuple[float, ...]
    pack: int
    examples: int


LEARNERS = {
    "kernel": Learner(
        "kernel learner, cross-entropy, RBF of width 2, one example per step",
        lambda seed, rate: nimt.KernelLearner(nimt.rbf(2.0), loss="crossentropy", learning_rate=rate),
        rates=(0.2, 0.7, 2.0),  # 2 is the largest that is safe
        pack=1,
        examples=1280,
    ),
    "sgd": Learner(
        "SGDClassifier(loss='log_loss', learning_rate='constant'), packs of 16",
        lambda seed, rate: SGDClassifier("log_loss", learning_rate="constant", eta0=rate, random_state=seed),
        rates=(0.003, 0.02, 0.1),
        pack=16,
        examples=2560,
    ),
    "mlp": Learner(
        "MLPClassifier((64,)), Adam, packs of 16",
        lambda seed, rate: MLPClassifier((64,), learning_rate_init=rate, random_state=seed),
        rates=(0.001, 0.003, 0.01),
        pack=16,
        examples=2560,
    ),
}


@dataclass(frozen=True, eq=False)
class Digits:
    """One split: pixels, classes, who is kept apart, the labels that are shown, and those of f*."""

    pixels: NDArray[np.float64]
    classes: Whole
    train: Whole
    test: Whole
    given: Whole
    reference: Whole


def split(seed: int, wrong: float) -> Digits:
    pixels, classes = load_digits(return_X_y=True)
    pixels = pixels / 16.0
    everything = np.arange(len(classes))
    train, test = train_test_split(everything, test_size=TEST, stratify=classes, random_state=seed)
    rng = np.random.default_rng(seed)
    given = classes.copy()
    changed = rng.choice(train, size=int(wrong * len(train)), replace=False)
    given[changed] = (given[changed] + rng.integers(1, 10, size=len(changed))) % 10
    # f* is what the teacher knows: fitted to the true labels of the digits that may be shown
    reference = SVC(C=10).fit(pixels[train], classes[train]).predict(pixels)
    return Digits(pixels, classes, np.sort(train), test, given, reference)


class School:
    """Give lessons of one learner, each of them once: where f* knows all labels, it shows what the true labels show."""

    def __init__(self, learner: Learner, examples: int) -> None:
        self.learner = learner
        self.steps = examples // learner.pack
        self.given: dict[tuple[Any, ...], NDArray[np.float64]] = {}

    def accuracies(self, digits: Digits, seed: int, rate: float) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Yield the name of every teacher, and the test accuracy after each step of its lesson."""
        options: dict[str, Any] = {"k": self.learner.pack, "pool": digits.train}
        random = OnceEach(**options)
        greedy = nimt.GreedyTeacher(score="loss", loss="crossentropy", **options)
        unsure = nimt.teachers.UncertaintyTeacher(**options)
        yield "random order", self.lesson(random, digits, digits.given, seed, rate)
        yield "greedy by loss", self.lesson(greedy, digits, digits.given, seed, rate)
        yield "uncertainty", self.lesson(unsure, digits, digits.given, seed, rate)
        yield "random order, labels of f*", self.lesson(random, digits, digits.reference, seed, rate)
        yield "greedy by loss, labels of f*", self.lesson(greedy, digits, digits.reference, seed, rate)

    def lesson(
        self, teacher: nimt.Teacher, digits: Digits, labels: Whole, seed: int, rate: float
    ) -> NDArray[np.float64]:
        key = (teacher.name, seed, rate, labels[digits.train].tobytes())
        if key not in self.given:
            self.given[key] = nimt.teach(
                self.learner.make(seed, rate),
                teacher,
                digits.pixels,
                nimt.classes.one_hot(labels),
                max_iterations=self.steps,
                tol=None,
                measure=TestAccuracy(digits.test, digits.classes[digits.test]),
                seed=seed,
            ).discrepancy
        return self.given[key]


Found = dict[str, tuple[float, NDArray[np.float64]]]  # by teacher: its best rate, and accuracies (seeds, steps + 1)


def curves(school: School, wrong: float, seeds: int) -> Found:
    """Return the test accuracy of every teacher by step, one row per seed, at its best rate."""
    best: Found = {}
    for rate in school.learner.rates:
        found: dict[str, list[NDArray[np.float64]]] = {}
        for seed in range(seeds):
            for name, accuracy in school.accuracies(split(seed, wrong), seed, rate):
                if wrong > 0 or "f*" not in name:
                    found.setdefault(name, []).append(accuracy)
        for name, rows in found.items():
            by_seed = np.array(rows)
            if name not in best or by_seed[:, -1].mean() > best[name][1][:, -1].mean():
                best[name] = rate, by_seed
    return best


def table(learner: Learner, by_teacher: Found) -> list[list[str]]:
    """Return the lines of a table: accuracies after so many examples, and examples to reach levels."""
    steps = next(iter(by_teacher.values()))[1].shape[1] - 1
    shown = [count for count in SHOWN if count <= steps * learner.pack]
    header = ["teacher", "rate", *(f"{count:,}" for count in shown), *(f"to {level:.0%}" for level in LEVELS)]
    lines = [header]
    for name, (rate, rows) in by_teacher.items():
        after = [rows[:, count // learner.pack] for count in shown]
        accuracies = [f"{100 * column.mean():.1f} ± {100 * column.std():.1f}" for column in after]
        lines.append([name, f"{rate:g}", *accuracies, *(reached(rows, level, learner.pack) for level in LEVELS)])
    return lines


def reached(rows: NDArray[np.float64], level: float, pack: int) -> str:
    """Return the mean number of examples until a level is first met, with how many seeds met it where not all did."""
    met = [pack * int(np.argmax(row >= level)) for row in rows if (row >= level).any()]
    if not met:
        return "-"
    return f"{np.mean(met):,.0f}" + ("" if len(met) == len(rows) else f" ({len(met)} of {len(rows)})")


def printed(lines: list[list[str]]) -> None:
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    for line in [lines[0], rule, *lines[1:]]:
        cells = [line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))]
        print(f"| {' | '.join(cells)} |")


def draw(panels: list[tuple[str, int, Found]], path: Path) -> None:
    """Draw the mean test accuracy against the examples shown; bands span the seeds."""
    with mpl.rc_context(STYLE):
        columns = min(2, len(panels))
        rows = -(-len(panels) // columns)
        figure = Figure(figsize=(4.4 * columns, 2.7 * rows + 0.5), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for ax, (title, pack, by_teacher) in zip(axes, panels, strict=False):
            for colour, (name, (_, accuracy)) in zip(class_colours(len(by_teacher)), by_teacher.items(), strict=True):
                shown = pack * np.arange(accuracy.shape[1])
                dashes = "--" if "f*" in name else "-"
                ax.plot(shown, accuracy.mean(axis=0), color=colour, linestyle=dashes, label=name, linewidth=1.3)
                ax.fill_between(
                    shown, accuracy.min(axis=0), accuracy.max(axis=0), color=colour, alpha=0.12, linewidth=0
                )
            ax.set_title(title, loc="left")
            ax.set(xscale="log", xlim=(max(16, pack), shown[-1]), ylim=(0.0, 1.0))
            ax.set(xlabel="examples shown", ylabel="test accuracy")
            ax.axhline(0.95, color=QUIET, linewidth=0.7, linestyle=":")
        for ax in axes[len(panels) :]:
            ax.set_visible(False)
        handles, names = axes[len(panels) - 1].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper left", ncols=3)
        figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out"), help="where the figure goes")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--learner", choices=LEARNERS, help="one of them only")
    parser.add_argument("--examples", type=int, help="fewer examples, for a quick look")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    panels = []
    for key, learner in LEARNERS.items():
        if given.learner not in (None, key):
            continue
        school = School(learner, min(learner.examples, given.examples or learner.examples))
        for wrong in (0.0, 0.1):
            labels = "true labels" if wrong == 0 else f"{wrong:.0%} of the labels wrong"
            found = curves(school, wrong, given.seeds)
            print(f"\n{learner.title}; {labels}; mean ± deviation of seeds 0 to {given.seeds - 1}\n")
            printed(table(learner, found))
            panels.append((f"{key}, {labels}", learner.pack, found))
    draw(panels, given.out / "digits.png")
    print(f"\nwritten: {given.out / 'digits.png'}")


if __name__ == "__main__":
    main()
