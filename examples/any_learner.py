"""Teach a neural network of scikit-learn, as it is: anything with predict and partial_fit is a learner.

python examples/any_learner.py --out out
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.neural_network import MLPRegressor

import nimt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the figure")
    options = parser.parse_args()

    x = nimt.Grid(np.linspace(-3, 3, 120))
    network = MLPRegressor(hidden_layer_sizes=(64, 64), learning_rate_init=0.003, random_state=0)
    lesson = nimt.teach(
        network, nimt.GreedyTeacher(k=0.1), x, np.sin, measure="rms", max_iterations=800, tol=None, snapshots=[10, 40]
    )
    print(lesson)
    options.out.mkdir(parents=True, exist_ok=True)
    nimt.plots.panels(lesson).savefig(options.out / "any_learner.png", dpi=150)


if __name__ == "__main__":
    main()
