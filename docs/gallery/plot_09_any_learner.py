"""
A neural network as the learner
===============================

Anything with ``predict`` and ``partial_fit`` can be taught. Here a small network of scikit-learn learns a step. An
example moves a network everywhere, not only around a point, and packs of the largest errors are then not the better
choice.
"""

import numpy as np
from sklearn.neural_network import MLPRegressor

import nimt

x = np.linspace(-1, 1, 101)
step = (x > 0.2).astype(float)
network = MLPRegressor(hidden_layer_sizes=(30, 30), learning_rate_init=0.01, random_state=0)
comparison = nimt.compare(
    network,
    {"greedy": nimt.GreedyTeacher(k=10), "random": nimt.RandomTeacher(k=10)},
    x,
    step,
    max_iterations=200,
    measure="rms",
    seeds=3,
)
for row in comparison.rows():
    print(f"{row.name}: RMS {row.discrepancy:.3f} after 200 packs of ten")
comparison.plot()
