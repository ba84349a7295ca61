"""Teachers compared seed by seed: who is ahead, and the sign test."""

import math
from itertools import product

import numpy as np
import pytest

from nimt.runs.entries import Entry
from nimt.runs.pairing import pair_up, sign_test


def lesson(seed, itd=None, end=1.0, drew=True):
    return Entry(key="", problem="p", learner="l", teacher="t", seed=seed, itd=itd, end=end, drew=drew)


def test_a_lesson_that_met_the_tolerance_is_ahead_of_one_that_did_not_and_none_is_left_out():
    ours = [lesson(0, 10), lesson(1, 30), lesson(2, None, 0.5), lesson(3, None, 0.5)]
    theirs = [lesson(3, None, 0.7), lesson(2, 400), lesson(1, None, 0.0), lesson(0, 10)]
    (pair,) = pair_up({"a": ours, "b": theirs}).rows
    assert (pair.seeds, pair.ahead, pair.behind) == (4, 2, 1)  # seed 0 is a tie
    assert pair.steps_saved is None and pair.p == 1.0


def test_steps_are_paired_by_seed_and_one_lesson_without_draws_stands_for_all():
    drawn = [lesson(seed, itd) for seed, itd in ((0, 50), (1, 70), (2, 40))]
    fixed = [lesson(0, 45, drew=False)]
    (pair,) = pair_up({"random": drawn, "greedy": fixed}).rows
    assert (pair.seeds, pair.ahead, pair.behind, pair.steps_saved) == (3, 1, 2, -5.0)
    (other,) = pair_up({"greedy": fixed, "random": drawn}).rows
    assert (other.ahead, other.behind, other.steps_saved) == (2, 1, 5.0)


def test_where_higher_is_better_the_larger_end_is_ahead_and_a_lesson_that_diverged_is_last():
    (pair,) = pair_up({"a": [lesson(0, end=0.9)], "b": [lesson(0, end=0.8)]}, higher_is_better=True).rows
    assert (pair.ahead, pair.behind) == (1, 0)
    (pair,) = pair_up({"a": [lesson(0, end=math.nan)], "b": [lesson(0, end=1e300)]}).rows
    assert (pair.ahead, pair.behind) == (0, 1)


@pytest.mark.parametrize("count", [1, 5, 8])
def test_the_sign_test_counts_all_ways_that_are_as_uneven(count):
    ways = [abs(2 * sum(signs) - count) for signs in product((0, 1), repeat=count)]
    for ahead in range(count + 1):
        as_uneven = np.mean([way >= abs(2 * ahead - count) for way in ways])
        assert sign_test(ahead, count - ahead) == pytest.approx(as_uneven)


def test_pairs_are_written_as_tables():
    found = pair_up({"a": [lesson(0, 10)], "b": [lesson(0, 1500)], "c": [lesson(0)]})
    assert found.to_markdown().splitlines()[2:] == [
        "| a / b | 1 | 1 | 0 | 1,490 | 1 |",
        "| a / c | 1 | 1 | 0 | not all reached | 1 |",
        "| b / c | 1 | 1 | 0 | not all reached | 1 |",
    ]
    assert found.to_frame()["second"].tolist() == ["b", "c", "c"] and "tabular" in found.to_latex()
