"""Between random and greedy."""

import itertools

import numpy as np
import pytest

import nimt
from nimt.teachers.soft import one_by_odds, scale_above
from nimt.teachers.teacher import View
from problems import assert_same_lesson, small_lesson


def view_of(scores, rng):
    n = len(scores)
    return View(0, nimt.Grid(np.arange(n)), np.array(scores), np.zeros(n), rng, None, np.arange(n))


def odds_in_plain_loops(scores, temperature, k):
    """The chance of every set of k: one point after another, without putting back."""
    weights = [np.exp(score / (temperature * max(scores))) for score in scores]
    chances = {}
    for order in itertools.permutations(range(len(scores)), k):
        left, chance = sum(weights), 1.0
        for i in order:
            chance *= weights[i] / left
            left -= weights[i]
        key = tuple(sorted(order))
        chances[key] = chances.get(key, 0.0) + chance
    return chances


@pytest.mark.long
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("temperature", [0.3, 2.0])
def test_packs_come_with_the_odds_of_plain_loops(k, temperature):
    scores, rng, draws = [1.0, 0.7, 0.2, 0.0], np.random.default_rng(0), 5000
    teacher = nimt.teachers.SoftTeacher(k=k, temperature=temperature)
    counts = {}
    for _ in range(draws):
        pack = tuple(teacher.select(view_of(scores, rng)).indices.tolist())
        counts[pack] = counts.get(pack, 0) + 1
    for pack, chance in odds_in_plain_loops(scores, temperature, k).items():
        deviation = np.sqrt(draws * chance * (1 - chance))
        assert abs(counts.get(pack, 0) - draws * chance) < 4.5 * deviation


def test_cold_is_greedy():
    for k in (1, 4):
        soft, greedy = (
            small_lesson(nimt.teachers.SoftTeacher(k=k, temperature=0)),
            small_lesson(nimt.GreedyTeacher(k=k)),
        )
        np.testing.assert_array_equal(soft.indices, greedy.indices)


@pytest.mark.long
def test_hot_is_uniform_without_replacement():
    rng, teacher = np.random.default_rng(1), nimt.teachers.SoftTeacher(k=2, temperature=np.inf)
    packs = np.array([teacher.select(view_of([9.0, 1.0, 0.0, 0.0], rng)).indices for _ in range(6000)])
    assert (packs[:, 0] != packs[:, 1]).all()
    np.testing.assert_allclose(np.bincount(packs.ravel()) / 6000, 0.5, atol=0.03)


@pytest.mark.parametrize("k", [1, 2])
def test_the_odds_do_not_depend_on_the_scale(k):
    scores = np.array([3.0, 2.0, 1.0, 0.5])
    packs = [
        nimt.teachers.SoftTeacher(k=k).select(view_of(factor * scores, np.random.default_rng(4))).indices
        for factor in (1.0, 2.0**-40)
    ]
    np.testing.assert_array_equal(*packs)


@pytest.mark.parametrize("k", [1, 2])
def test_nothing_left_to_correct(k):
    assert len(nimt.teachers.SoftTeacher(k=k).select(view_of([0.0, 0.0, 0.0], np.random.default_rng(0))).indices) == k


@pytest.mark.parametrize("top", [5e-324, 1e-310, 1e-12, 0.7, 1.0, 1e305])
@pytest.mark.parametrize("temperature", [5e-324, 1e-30, 1e-3, 0.1, 1e300])
def test_no_score_and_no_temperature_is_too_large_or_too_small(top, temperature):
    scores = top * np.array([0.2, 1.0, 0.5])
    assert scale_above(top, temperature) >= top
    with np.errstate(over="ignore"):  # as every lesson does
        drawn = [one_by_odds(scores, temperature, np.random.default_rng(seed)) for seed in range(20)]
    assert set(drawn) <= {0, 1, 2}
    assert temperature > 1e-3 or top < 1e-320 or set(drawn) == {1}


def test_a_learner_that_diverged_is_corrected_where_it_did():
    assert one_by_odds(np.array([1.0, np.nan, 3.0]), 0.1, np.random.default_rng(0)) == 1
    assert one_by_odds(np.array([1.0, 2.0, np.inf]), 0.1, np.random.default_rng(0)) == 2


@pytest.mark.usefixtures("every_step")
def test_resuming_changes_nothing(tmp_path):
    options = {"teacher": nimt.teachers.SoftTeacher(k=2, temperature=0.5), "seed": 9}
    small_lesson(**options, callback=lambda p: p.step >= 4, checkpoint=tmp_path / "c")
    assert_same_lesson(nimt.resume(tmp_path / "c"), small_lesson(**options))


@pytest.mark.parametrize("temperature", [-1.0, np.nan, "hot", True])
def test_what_it_refuses(temperature):
    with pytest.raises(nimt.InvalidInput, match="temperature must be"):
        nimt.teachers.SoftTeacher(temperature=temperature)
