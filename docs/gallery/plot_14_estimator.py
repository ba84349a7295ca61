"""
A sparse model for a table
==========================

``GreedyKernelRegressor`` chooses its centres greedily and works where scikit-learn's estimators do. Here: the error on
rows held out against the number of centres, by which it decides how many to take.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

import nimt

rng = np.random.default_rng(0)
rows = rng.uniform(-1, 1, size=(1500, 2))
heights = np.sin(3 * rows[:, 0]) * np.cos(4 * rows[:, 1]) + 0.05 * rng.normal(size=1500)
train, test, train_heights, test_heights = train_test_split(rows, heights, random_state=0)

model = nimt.GreedyKernelRegressor(width=0.7, max_centers=80).fit(train, train_heights)
print(f"{len(model.centers_)} centres by rule {model.rule_}: R2 = {model.score(test, test_heights):.3f} on fresh rows")

figure, panel = plt.subplots(figsize=(5, 3), layout="constrained")
panel.plot(model.lesson_.held_out.keys(), model.lesson_.held_out.values(), "o-")
panel.axvline(len(model.centers_), color="grey", linestyle=":")
panel.set(xscale="log", yscale="log", xlabel="centres", ylabel="RMS error on rows held out")
figure
