"""
A sparse model for a table
==========================

``GreedyKernelRegressor`` chooses its centres greedily and works where scikit-learn's estimators do. Here: error against
the number of centres, on fresh rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

import nimt

rng = np.random.default_rng(0)
rows = rng.uniform(-1, 1, size=(1500, 2))
heights = np.sin(3 * rows[:, 0]) * np.cos(4 * rows[:, 1]) + 0.05 * rng.normal(size=1500)
train, test, train_heights, test_heights = train_test_split(rows, heights, random_state=0)

centres = [5, 10, 20, 40, 80]
scores = [
    nimt.GreedyKernelRegressor(width=0.7, max_centers=count).fit(train, train_heights).score(test, test_heights)
    for count in centres
]
for count, score in zip(centres, scores, strict=True):
    print(f"{count:3} centres: R2 = {score:.3f}")

figure, panel = plt.subplots(figsize=(5, 3), layout="constrained")
panel.plot(centres, scores, "o-")
panel.set(xscale="log", xlabel="centres", ylabel="R2 on fresh rows", xticks=centres, xticklabels=centres)
panel.minorticks_off()
figure
