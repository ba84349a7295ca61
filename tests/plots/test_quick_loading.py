"""What makes figures of the program quick changes neither the pictures nor matplotlib."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation
from PIL import Image

from nimt.plots.figures import PowersOfTen, write_png


def figure_with_axis(formatter, low, high):
    figure = Figure()
    ax = figure.subplots()
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(formatter())
    ax.yaxis.set_minor_formatter(formatter(labelOnlyBase=False))
    ax.set_ylim(low, high)
    figure.canvas.draw()
    return [label.get_text() for label in (*ax.get_yticklabels(), *ax.get_yticklabels(minor=True))]


@pytest.mark.parametrize("limits", [(1e-5, 1e3), (2e-4, 7e-4), (3.0, 40.0), (1e-12, 1e-11)])
def test_powers_of_ten_are_labelled_where_matplotlib_labels_them(limits):
    plain, usual = (figure_with_axis(kind, *limits) for kind in (PowersOfTen, LogFormatterSciNotation))
    assert [bool(text) for text in plain] == [bool(text) for text in usual]
    assert any(plain)
    assert not any("$" in text for text in plain)


def test_a_power_of_ten_is_written_in_plain_letters():
    assert "10⁻³" in figure_with_axis(PowersOfTen, 1e-4, 1e-2)
    assert "2×10⁻⁴" in figure_with_axis(PowersOfTen, 1.5e-4, 7e-4)


def test_a_png_has_the_pixels_that_savefig_writes(tmp_path):
    for name in ("ours.png", "theirs.png"):
        figure = Figure(figsize=(3, 2), layout="constrained")
        figure.subplots().plot([0, 1, 3], [2, 1, 5], label="a line")
        figure.axes[0].set(xlabel="step", ylabel="M")
        if name == "ours.png":
            write_png(figure, tmp_path / name, 130)
        else:
            figure.savefig(tmp_path / name, dpi=130)
    ours, theirs = (np.asarray(Image.open(tmp_path / name)) for name in ("ours.png", "theirs.png"))
    np.testing.assert_array_equal(ours, theirs)


def test_matplotlib_loaded_without_help_draws_and_has_its_own_methods_back():
    script = """
from nimt.plots.quick_loading import WRITES_HELP, load_without_help
with load_without_help():
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
from matplotlib.artist import Artist
class Mine(Artist):
    def set_size(self, size):
        "Set it."
assert vars(Artist)[WRITES_HELP].__func__.__module__ == "matplotlib.artist"
assert "size" in Mine.set.__doc__ and not Line2D.set.__doc__
ax = Figure().subplots()
ax.set(xlabel="x", title="t")
print(ax.get_xlabel(), ax.plot([1, 2])[0].set(linewidth=3))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("x [None]", "")
