"""Bands of comparisons against numpy and scipy, and tables as text that other programs read."""

from __future__ import annotations

import numpy as np
import pytest

import nimt
from nimt.runs.bands import summarise_curves


@pytest.fixture(scope="module")
def compared():
    x = nimt.Grid(np.arange(-3, 3, 0.1))
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.5)
    teachers = {"greedy": nimt.GreedyTeacher(), "100 % random_ones": nimt.RandomTeacher()}
    return nimt.compare(learner, teachers, x, np.sin, max_iterations=60, tol=1e-2, seeds=4)


def test_a_band_is_what_its_name_says():
    from scipy import stats

    curves = np.random.default_rng(0).lognormal(size=(5, 7))
    mean = curves.mean(axis=0)
    for band, half in (("std", curves.std(axis=0, ddof=1)), ("sem", stats.sem(curves, axis=0))):
        middle, low, high = summarise_curves(curves, band)
        np.testing.assert_allclose([middle, low, high], [mean, mean - half, mean + half])
    low, high = stats.t.interval(0.95, 4, loc=mean, scale=stats.sem(curves, axis=0))
    np.testing.assert_allclose(summarise_curves(curves, "ci")[1:], [low, high])
    middle, low, high = summarise_curves(curves, (0.25, 0.75))
    np.testing.assert_allclose([low, middle, high], np.quantile(curves, [0.25, 0.5, 0.75], axis=0))
    assert all(np.array_equal(part, curves[0]) for part in summarise_curves(curves[:1], "ci"))  # one seed has no band


@pytest.mark.long
@pytest.mark.parametrize("band", ["ci", (0.1, 0.9)])
def test_the_figure_draws_the_band_and_says_which(compared, band):
    figure = compared.plot(band=band)
    axes = figure.axes[0]
    assert "95 % confidence" in axes.get_ylabel() or "quantiles 0.1 and 0.9" in axes.get_ylabel()
    drawn = next(line for line in axes.get_lines() if line.get_label() == "100 % random_ones")
    np.testing.assert_allclose(drawn.get_ydata(), compared.bands(band)[1].mean)
    assert len(axes.collections) == 1  # greedy draws nothing from its seed


@pytest.mark.parametrize("band", ["iqr", (0.7, 0.2), (0.1, 2), 3, ("a", "b")])
def test_another_band_is_refused(compared, band):
    with pytest.raises(nimt.InvalidInput, match="band must be one of range, std, sem, ci, or two quantiles"):
        compared.plot(band=band)


def test_tables_are_written_for_pages_and_papers(compared):
    lines = compared.to_markdown().splitlines()
    assert len(lines) == 4 and lines[0].startswith("| teacher | seeds | steps |")
    assert {line.count("|") for line in lines} == {lines[0].count("|")}
    latex = compared.to_latex()
    assert latex.startswith(r"\begin{tabular}{l") and r"100 \% random\_ones & 4 & " in latex
    assert {line.count("&") for line in latex.splitlines() if "&" in line} == {latex.splitlines()[2].count("&")}
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.5)
    pool = nimt.Grid(np.arange(-1, 1, 0.1))
    found = nimt.sweep((pool, np.sin), learner, [nimt.GreedyTeacher(), nimt.RandomTeacher()], seeds=2, max_iterations=9)
    assert found.to_markdown().count("\n") == 3 and r"\bottomrule" in found.to_latex()
