"""`nimt forecast`, and where other commands say a forecast."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.long


PAPER = ("--tol", "1e-4")


def test_forecast_prints_the_steps_and_the_bounds(nimt, tmp_path):
    picture = tmp_path / "forecast.png"
    answer = nimt("forecast", "gmm", "--from", "gmm:start", "--learning-rate", "0.01", *PAPER, "--figure", str(picture))
    assert answer.code == 0
    assert "about 3,060 steps" in answer.out and "<= about 3,060 <=" in answer.out
    assert picture.stat().st_size > 5_000


def test_forecast_as_json(nimt):
    answer = nimt(
        "forecast", "gmm", "--from", "gmm:start", "--learning-rate", "0.01", *PAPER, "--teacher", "whole", "--json"
    )
    content = json.loads(answer.out)
    assert content["itd"] == 7102 and content["bounds"] == [7102, 7102] and content["reachable"]


def test_forecast_of_a_picture_of_92_by_92_pixels(nimt):
    answer = nimt("forecast", "cat", "--learning-rate", "0.01", "--tol", "7e-3", "--teacher", "whole")
    assert answer.code == 0 and "174,961 steps" in answer.out


def test_plan_says_the_forecast(nimt):
    task = ("gmm", "--from", "gmm:start", "--learning-rate", "0.01", *PAPER)
    assert "forecast: M < 0.0001 after about 3,060 steps" in nimt("plan", *task).out
    assert json.loads(nimt("plan", *task, "--json").out)["forecast"] == 3060
    assert "forecast" not in nimt("plan", *task, "--teacher", "soft").out


def test_teach_says_the_forecast(nimt, tmp_path):
    task = (
        "teach",
        "gmm",
        "--from",
        "gmm:start",
        "--learning-rate",
        "0.01",
        *PAPER,
        "-n",
        "20",
        "--out",
        str(tmp_path / "run"),
    )
    assert "forecast: M < 0.0001 after about 3,060 steps" in nimt(*task).err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--tol", "0"), "--tol must be a positive number"),
        (("--loss", "hinge", "--learning-rate", "0.1"), "nimt forecast has no option --loss"),
        (("-z", "3"), "nimt forecast has no option -z: short options here are "),
        (("--tool", "1"), "nimt forecast has no option --tool: did you mean --tol? nimt forecast --help lists all"),
        (("--keep", "last"), "nimt forecast has no option --keep"),
        (("--width", "x"), "--width must be a number, got 'x'"),
        (("--size", "3.5"), "--size must be a whole number, got '3.5'"),
        (("--teacher", "soft"), "the teacher soft"),
        (("--figure", "forecast.txt"), "--figure must name"),
        (("--figure", "nowhere/forecast.png"), "no folder"),
        (("--measure", "rkhs"), "measure"),
        (("-n", "-1"), "--iterations must be"),
    ],
)
def test_bad_input_is_one_sentence(nimt, options, says):
    answer = nimt("forecast", "sine", *options)
    assert answer.code == 2
    assert says in answer.err and "Traceback" not in answer.err and answer.err.count("error:") == 1
