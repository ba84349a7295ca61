"""A network for digits, a tenth of whose labels are wrong: which ways of choosing packs survive. It needs PyTorch.

    python -m benchmarks.neural_digits     the table (about two minutes of one core)

Two thirds of scikit-learn's digits train 64-64-10 rectified units by Adam, in packs of 32 for 20 epochs; the rest, with
right labels, measures the accuracy. The references never saw the labels about which they are asked: a network like
that in training, fitted to the other half, or logistic regression out of fold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import nimt
from benchmarks.neural import ShuffledEpochs, printed
from nimt.teachers.teacher import Teacher

SEEDS = (0, 1, 2, 3, 4)
WRONG = 0.1  # of the labels
PACK = 32
MOMENTS = (1, 2, 5, 20)  # epochs after which the accuracy is measured; the last ends the training
FIRST = 80  # examples shown, among which wrong labels are also counted by themselves


@dataclass(frozen=True, eq=False)
class Rows:
    """Digits to learn from, some with wrong labels, and digits to test on."""

    inputs: torch.Tensor
    labels: torch.Tensor
    is_wrong: np.ndarray
    test_inputs: torch.Tensor
    test_labels: torch.Tensor


def make_rows(seed: int) -> Rows:
    """Return the digits, split at random, with a tenth of the labels replaced by another digit."""
    pixels, digits = load_digits(return_X_y=True)
    pixels = (pixels / 16).astype(np.float32)
    train, test, labels, test_labels = train_test_split(pixels, digits, test_size=1 / 3, random_state=seed)
    rng = np.random.default_rng(seed)
    is_wrong = np.zeros(len(labels), dtype=bool)
    is_wrong[rng.choice(len(labels), round(WRONG * len(labels)), replace=False)] = True
    labels = np.where(is_wrong, (labels + rng.integers(1, 10, len(labels))) % 10, labels)
    numbers = [torch.from_numpy(part) for part in (train, labels, test, test_labels)]
    return Rows(numbers[0], numbers[1], is_wrong, numbers[2], numbers[3])


def make_network(seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))


def fit(module: torch.nn.Module, inputs: torch.Tensor, labels: torch.Tensor, packs: Iterable[Any]) -> Iterator[Any]:
    """Train a module on packs, and yield each after its step."""
    optimizer = torch.optim.Adam(module.parameters(), lr=3e-3)
    for indices in packs:
        loss = torch.nn.functional.cross_entropy(module(inputs[indices]), labels[indices])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        yield indices.numpy()


def one_hot(labels: torch.Tensor) -> np.ndarray:
    return np.eye(10)[labels.numpy()]


def answer_by_the_other_half(rows: Rows, seed: int) -> np.ndarray:
    """Return the logits of every row by a network that was fitted to the half without it."""
    order = np.random.default_rng(seed).permutation(len(rows.labels))
    halves = [torch.from_numpy(half) for half in np.array_split(order, 2)]
    answers = np.empty((len(order), 10))
    for asked, seen in (halves, halves[::-1]):
        module = make_network(seed + 100)
        pair = (rows.inputs[seen], rows.labels[seen])
        teacher = ShuffledEpochs(k=PACK)
        packs = nimt.torch.teach(pair, module, teacher, epochs=5, seed=seed, targets=one_hot(pair[1]))
        for _ in fit(module, *pair, packs):
            pass
        with torch.no_grad():
            answers[asked.numpy()] = module(rows.inputs[asked]).numpy()
    return answers


def surrogate(reference: Any) -> Teacher:
    return nimt.SurrogateTeacher(reference, loss="crossentropy", k=PACK, difficulty=False)


def logistic(rows: Rows, seed: int) -> Any:
    """Return the labels that logistic regression gives to rows that it did not see."""
    model = LogisticRegression(max_iter=500, C=0.1)
    return nimt.reference(rows.inputs.numpy(), rows.labels.numpy(), model=model, out_of_fold=True, classes=True)


AGREEING = "greedy, where logistic regression out of fold agrees"
METHODS: dict[str, Callable[[Rows, int], Teacher]] = {
    "shuffled": lambda rows, seed: ShuffledEpochs(k=PACK),
    "greedy": lambda rows, seed: nimt.GreedyTeacher(k=PACK),
    AGREEING: lambda rows, seed: nimt.GreedyTeacher(k=PACK, reference=logistic(rows, seed), where="agrees"),
    "surrogate, a network of the other half": lambda rows, seed: surrogate(answer_by_the_other_half(rows, seed)),
    "surrogate, logistic regression out of fold": lambda rows, seed: surrogate(logistic(rows, seed)),
}


def measure(method: str, seed: int) -> tuple[list[float], float, int]:
    """Return the accuracies on the test rows, the share of wrong labels shown, and their number among the first."""
    rows = make_rows(seed)
    teacher = METHODS[method](rows, seed)
    module = make_network(seed)
    # greedy compares shares of classes with labels; the cross-entropy of the surrogate takes logits
    outputs = (lambda logits: logits.softmax(1)) if method in ("greedy", AGREEING) else None
    options = {"epochs": MOMENTS[-1], "seed": seed, "outputs": outputs, "targets": one_hot(rows.labels)}
    packs = nimt.torch.teach((rows.inputs, rows.labels), module, teacher, **options)
    accuracies: list[float] = []
    shown: list[Any] = []
    for indices in fit(module, rows.inputs, rows.labels, packs):
        shown.append(rows.is_wrong[indices])
        if packs.shown >= MOMENTS[len(accuracies)] * len(rows.labels):
            with torch.no_grad():
                right = module(rows.test_inputs).argmax(1) == rows.test_labels
            accuracies.append(100 * float(right.float().mean()))
    wrong = np.concatenate(shown)
    return accuracies, 100 * float(wrong.mean()), int(wrong[:FIRST].sum())


def main() -> None:
    torch.set_num_threads(1)
    table = []
    for method in METHODS:
        found = [measure(method, seed) for seed in SEEDS]
        accuracies = np.array([accuracy for accuracy, _, _ in found])
        cells = [f"{part.mean():.1f} [{part.min():.1f}, {part.max():.1f}]" for part in accuracies.T]
        first = [count for _, _, count in found]
        wrong = np.mean([share for _, share, _ in found])
        table.append([method, *cells, f"{min(first)} to {max(first)}", f"{wrong:.1f} %"])
    print(f"Accuracy in % after epochs, and wrong labels shown: {len(SEEDS)} seeds, mean [range]\n")
    heads = [f"{moment} epoch{'s' * (moment > 1)}" for moment in MOMENTS]
    printed(["packs", *heads, f"wrong of the first {FIRST}", "wrong of all shown"], table)


if __name__ == "__main__":
    main()
