"""Forecasts: against plain loops, against taught lessons, and against everything that is to be refused."""

from __future__ import annotations

import importlib.util
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nimt
from nimt.kernels import Matern, RationalQuadratic
from nimt.theory import moments, spectrum, whole
from nimt.theory.lesson_start import lesson_start
from nimt.theory.step_bounds import bounds_before
from problems import BOUNDARY, MIXTURE, PLANE_FROM_ABOVE

pytestmark = pytest.mark.long

HOME = Path(__file__).parents[2]


def small(seed, n, width=0.7, rate=0.05, dimension=2):
    """Return a learner and a task on scattered points, with values that nothing ties."""
    rng = np.random.default_rng(seed)
    points, start, target = rng.uniform(-1, 1, (n, dimension)), rng.normal(size=n), rng.normal(size=n)
    return nimt.KernelLearner(nimt.rbf(width), learning_rate=rate, initial=start), points, target


def quiet(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nimt.errors.StepSizeWarning)
        return function(*arguments, **options)


# the whole pool


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.floats(0.05, 4.0), st.sampled_from([None, 0.6]))
def test_whole_is_exact_at_any_rate_also_where_the_lesson_diverges_at_last(seed, n, rate, share):
    learner, X, y = small(seed, n, rate=rate)
    teacher = nimt.GreedyTeacher(k=1.0, pool=share)
    taught = quiet(nimt.teach, learner, teacher, X, y, max_iterations=300)
    first = float(taught.discrepancy[0])
    tol = max(float(np.quantile(taught.discrepancy, 0.3)) * 1.0000001, 1e-6 * first)
    measured = taught.steps_to(tol)
    found = nimt.forecast(learner, teacher, X, y, tol=tol)
    assert found.itd == measured
    assert found.bounds == (measured, measured) and found.interval == found.bounds
    np.testing.assert_allclose(
        found.curve.discrepancy, taught.discrepancy[found.curve.step], rtol=1e-6, atol=1e-12 * first
    )


def test_whole_on_the_mixture_takes_7102_steps():
    found = nimt.forecast(MIXTURE.learner(), nimt.GreedyTeacher(k=1.0), MIXTURE.pool, MIXTURE.target, tol=1e-4)
    assert found.itd == 7102
    assert "Exact" in found.method
    random = nimt.RandomTeacher(k=1.0, replace=False)
    assert nimt.forecast(MIXTURE.learner(), random, MIXTURE.pool, MIXTURE.target, tol=1e-4).itd == 7102


def test_whole_follows_a_schedule():
    learner, X, y = small(3, 8)
    learner.set_params(learning_rate=lambda t: 0.5 / np.sqrt(1 + t))
    teacher = nimt.GreedyTeacher(k=1.0)
    taught = nimt.teach(learner, teacher, X, y, max_iterations=400, tol=None)
    tol = float(taught.discrepancy[250]) * 1.0000001
    found = nimt.forecast(learner, teacher, X, y, tol=tol)
    assert found.itd == taught.steps_to(tol) == 250
    np.testing.assert_allclose(found.curve.discrepancy, taught.discrepancy[found.curve.step], rtol=1e-9)


def test_the_rate_at_which_whole_diverges_is_n_over_the_largest_eigenvalue():
    learner, X, y = small(4, 12)
    task = (nimt.GreedyTeacher(k=1.0), X, y)
    limit = 12 / np.linalg.eigvalsh(learner.kernel(X))[-1]
    below, above = (learner.set_params(learning_rate=limit * share) for share in (0.999, 1.001))
    assert nimt.forecast(below.set_params(learning_rate=limit * 0.999), *task, tol=0.05).reachable
    found = nimt.forecast(above.set_params(learning_rate=limit * 1.001), *task, tol=1e-9)
    assert not found.reachable and "diverges" in found.method


def test_kronecker_factors_are_the_gram_matrix():
    grid = nimt.Grid(np.arange(0, 2, 0.5), np.arange(0, 3, 1.0), np.arange(0, 0.9, 0.3))
    kernel = 2.5 * nimt.rbf([0.6, 1.4, 0.3])
    found = spectrum.spectrum_of(kernel, grid)
    assert [axis.shape for axis in found.axes] == [(4, 4), (3, 3), (3, 3)]
    r = np.random.default_rng(0).normal(size=len(grid))
    np.testing.assert_allclose(found.points(found.values * found.modes(r)), kernel(grid.points) @ r, rtol=1e-12)
    vectors = np.kron(np.kron(*found.axes[:2]), found.axes[2])
    np.testing.assert_allclose(found.spread(r), vectors**2 @ r, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.collect(r), (vectors**2).T @ r, rtol=1e-12, atol=1e-14)


def test_a_kernel_that_is_no_product_is_decomposed_as_it_is():
    grid = nimt.Grid(np.arange(0, 2, 0.5), np.arange(0, 3, 1.0))
    assert len(spectrum.spectrum_of(RationalQuadratic(), grid).axes) == 1


@pytest.mark.parametrize("kernel", [nimt.rbf(0.7), Matern(0.5, nu=1.5)])
@pytest.mark.parametrize("share", [None, 0.7])
def test_lanczos_finds_what_the_full_decomposition_finds(kernel, share, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (300, 2))
    learner = nimt.KernelLearner(kernel, learning_rate=2.0)
    task = (learner, nimt.GreedyTeacher(k=1.0, pool=share), X, lambda x: np.sin(2 * x[:, 0]) * x[:, 1])
    tol = 1.1 * nimt.theory.pool_limit(*task).discrepancy + 3e-3
    exact = nimt.forecast(*task, tol=tol)
    monkeypatch.setattr(whole, "EASY_DENSE", 10)
    found = nimt.forecast(*task, tol=tol)
    assert "Lanczos" in found.method and "Lanczos" not in exact.method
    assert found.itd == exact.itd
    np.testing.assert_allclose(found.curve.discrepancy, exact.curve.discrepancy, rtol=1e-6)


def test_a_product_by_kernel_rows_is_the_product(monkeypatch):
    points = nimt.pools.Points(np.random.default_rng(0).uniform(size=(50, 2)))
    rows, weights = np.arange(0, 50, 2), np.random.default_rng(1).normal(size=25)
    expected = nimt.rbf(0.5)(points.points, points.points[rows]) @ weights
    monkeypatch.setattr(spectrum, "GRAM_BYTES", 1000)
    np.testing.assert_allclose(spectrum.product_with(nimt.rbf(0.5), points, rows)(weights), expected)


# random teachers


def second_moments(K, r0, rate, pack, steps):
    """Return E |r_t|^2, from the whole matrix of second moments, as a plain loop."""
    n = len(r0)
    moments_of_r = np.outer(r0, r0)
    found = [np.trace(moments_of_r)]
    for _ in range(steps):
        mean_step = np.eye(n) - 2 * rate / n * K
        drawn = np.diag(np.diag(moments_of_r)) / n - moments_of_r / n**2
        moments_of_r = mean_step @ moments_of_r @ mean_step + 4 * rate**2 / pack * K @ drawn @ K
        found.append(np.trace(moments_of_r))
    return np.array(found)


def test_the_full_recursion_of_second_moments_is_the_mean_over_all_draws():
    K = nimt.rbf(0.7)(np.array([[0.0], [0.5], [1.2]]))
    r0, rate = np.array([1.0, -2.0, 0.5]), 0.2
    paths = [r0]
    for _ in range(4):
        paths = [r - 2 * rate * r[i] * K[i] for r in paths for i in range(3)]
    assert second_moments(K, r0, rate, 1, 4)[-1] == pytest.approx(np.mean([r @ r for r in paths]))


@pytest.mark.parametrize("pack", [1, 3])
@pytest.mark.parametrize(("seed", "width"), [(0, 0.3), (1, 0.7), (2, 1.5)])
def test_random_is_near_the_full_recursion(pack, seed, width):
    learner, X, y = small(seed, 20, width=width, rate=0.02)
    exact = np.sqrt(second_moments(learner.kernel(X), learner.initial - y, 0.02, pack, 3000)) / 20
    tol = float(exact[2500])
    mean = moments.mean_lesson(lesson_start(learner, nimt.RandomTeacher(k=pack), X, y, tol=tol), pack, replace=True)
    assert moments.crossing(mean.step, mean.discrepancy, tol) == pytest.approx(2500, rel=0.06)
    found = nimt.forecast(learner, nimt.RandomTeacher(k=pack), X, y, tol=tol)
    np.testing.assert_allclose(found.curve.at([100, 500, 1000]), exact[[100, 500, 1000]], rtol=0.03)


def test_random_on_the_mixture_is_within_6_percent_of_40_seeds():
    task = (MIXTURE.learner(), nimt.RandomTeacher(), MIXTURE.pool, MIXTURE.target)
    found = nimt.forecast(*task, tol=1e-4)
    taught = [nimt.teach(*task, tol=1e-4, max_iterations=20_000, seed=seed, record="picks").itd for seed in range(40)]
    assert found.itd == pytest.approx(np.mean(taught), rel=0.06)
    inside = np.count_nonzero((np.array(taught) >= found.interval[0]) & (np.array(taught) <= found.interval[1]))
    assert inside >= 38
    assert found.bounds[0] <= min(taught) and found.bounds[1] is None


def test_drawing_without_replacement_is_less_noisy():
    learner, X, y = small(5, 12, rate=0.3)
    start = lesson_start(learner, nimt.RandomTeacher(k=6), X, y, tol=1e-3)
    noisy, calm = (moments.mean_lesson(start, 6, replace=replace) for replace in (True, False))
    assert calm.discrepancy[50] < noisy.discrepancy[50]


# greedy teachers


def test_the_rate_law_is_exact_where_points_do_not_touch():
    X, y = np.arange(0, 60, 10.0), np.array([1.0, -2.0, 3.0, -4.0, 5.0, 6.0])
    for rate in (0.002, 0.01, 0.03):
        task = (nimt.KernelLearner(nimt.rbf(0.5), learning_rate=rate), nimt.GreedyTeacher(), X, y)
        measured = nimt.teach(*task, tol=1e-4, max_iterations=10**6).itd
        assert nimt.forecast(*task, tol=1e-4).itd == pytest.approx(measured, rel=0.03)


@pytest.mark.exhaustive
def test_greedy_on_the_mixture_within_5_percent_for_rates_and_a_schedule():
    rates = {0.001: None, 0.003: None, 0.02: None}
    for rate in [*rates, lambda t: 0.01 / np.sqrt(1 + t / 100)]:
        task = (MIXTURE.learner(learning_rate=rate), nimt.GreedyTeacher(), MIXTURE.pool, MIXTURE.target)
        measured = nimt.teach(*task, tol=1e-4, max_iterations=10**5).itd
        found = nimt.forecast(*task, tol=1e-4)
        assert found.itd == pytest.approx(measured, rel=0.05)
        assert found.interval[0] <= measured <= found.interval[1]
        assert found.bounds[0] <= measured <= (found.bounds[1] or np.inf)
    assert measured == 26_811


def test_the_forecast_curve_lies_on_the_lesson():
    task = (MIXTURE.learner(), nimt.GreedyTeacher(), MIXTURE.pool, MIXTURE.target)
    found = nimt.forecast(*task, tol=1e-4)
    taught = nimt.teach(*task, tol=1e-4, max_iterations=5000)
    steps = np.array([50, 300, 1000, 2000, 3000])
    np.testing.assert_allclose(found.curve.at(steps), taught.discrepancy[steps], rtol=0.02)


def test_a_large_rate_is_taught_and_said_to_be():
    task = (MIXTURE.learner(learning_rate=0.5), nimt.GreedyTeacher(), MIXTURE.pool, MIXTURE.target)
    found = nimt.forecast(*task, tol=1e-4)
    assert (found.itd, found.kind, found.interval) == (126, "taught", (126, 126))


def test_packs_are_scaled_too():
    task = (MIXTURE.learner(), nimt.GreedyTeacher(k=5), MIXTURE.pool, MIXTURE.target)
    found = nimt.forecast(*task, tol=1e-4)
    assert found.itd == pytest.approx(nimt.teach(*task, tol=1e-4, max_iterations=9000).itd, rel=0.1)
    assert found.bounds[1] is None


def test_a_rate_that_diverges_is_said_to():
    learner, X, y = small(0, 6, rate=1.5)
    found = nimt.forecast(learner, nimt.GreedyTeacher(), X, y, tol=1e-3)
    assert not found.reachable and "diverged" in found.method and found.itd is None


# what cannot be reached


@pytest.mark.parametrize("teacher", [nimt.GreedyTeacher, nimt.RandomTeacher])
@pytest.mark.parametrize("k", [1, 1.0])
def test_a_limited_pool_that_cannot_reach_the_tolerance(teacher, k):
    learner, X, y = small(7, 20, width=0.5)
    limited = teacher(k=k, pool=0.5)
    limit = nimt.theory.pool_limit(learner, limited, X, y)
    found = nimt.forecast(learner, limited, X, y, tol=limit.discrepancy * 0.99)
    assert not found.reachable and found.itd is None
    assert found.remains == pytest.approx(limit.discrepancy)
    assert "10 of 20 points" in found.method and "cannot be reached" in str(found)


def test_the_limit_of_a_pool_is_where_its_lessons_end():
    learner, X, y = small(8, 15, width=0.5, rate=0.4)
    teacher = nimt.GreedyTeacher(pool=[0, 3, 4, 9, 11])
    limit = nimt.theory.pool_limit(learner, teacher, X, y)
    taught = nimt.teach(learner, teacher, X, y, max_iterations=20_000, tol=None)
    np.testing.assert_allclose(taught.final - taught.target, limit.residual, atol=1e-12)
    assert taught.discrepancy[-1] == pytest.approx(limit.discrepancy, rel=1e-9)


def test_the_digit_with_a_pool_of_08_comes_to_its_limit():
    zero, eight = nimt.datasets.mean_zero().values, nimt.datasets.first_eight().values
    task = (
        nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01, initial=eight),
        nimt.GreedyTeacher(pool=0.8),
        nimt.Grid.like(zero),
        zero,
    )
    limit = nimt.theory.pool_limit(*task).discrepancy
    taught = nimt.teach(*task, max_iterations=200_000, tol=None, record="picks")
    assert taught.discrepancy[-1] == pytest.approx(limit, rel=1e-5)
    assert limit == pytest.approx(0.0045, rel=0.1)  # which pixels are drawn depends on the seed


@pytest.mark.parametrize("teacher", [nimt.GreedyTeacher(), nimt.GreedyTeacher(k=1.0), nimt.RandomTeacher()])
def test_equal_points_with_different_labels(teacher):
    X, y = [[0.0], [0.0], [2.0]], [1.0, 3.0, 0.5]
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
    found = nimt.forecast(learner, teacher, X, y, tol=0.4)  # sqrt(1 + 1) / 3 = 0.471 remains
    assert not found.reachable and found.remains == pytest.approx(np.sqrt(2) / 3)
    assert "equal points" in found.method
    taught = nimt.teach(learner, teacher, X, y, max_iterations=3000, tol=None)
    assert taught.discrepancy.min() >= found.remains - 1e-12


def test_a_learner_that_knows_needs_no_step():
    found = nimt.forecast(nimt.KernelLearner(nimt.rbf(0.5)), nimt.GreedyTeacher(), [0.0, 1.0], [0.0, 0.0], tol=1e-3)
    assert (found.itd, found.interval, found.bounds) == (0, (0, 0), (0, 0))


def test_a_budget_that_is_too_short():
    for teacher in (nimt.GreedyTeacher(), nimt.GreedyTeacher(k=1.0), nimt.RandomTeacher()):
        task = (MIXTURE.learner(), teacher, MIXTURE.pool, MIXTURE.target)
        found = nimt.forecast(*task, tol=1e-4, max_iterations=1000)
        assert found.itd is None and found.reachable
        taught = nimt.teach(*task, max_iterations=1000, tol=None)
        assert found.curve.at(1000) == pytest.approx(taught.discrepancy[-1], rel=0.1)


# proved bounds


def test_the_bounds_of_the_mixture_and_the_digit():
    task = (MIXTURE.learner(), nimt.GreedyTeacher(), MIXTURE.pool, MIXTURE.target)
    lower, upper = nimt.forecast(*task, tol=1e-4).bounds
    assert 960 <= lower <= 966 and upper == pytest.approx(265_038, rel=1e-3)
    zero, eight = nimt.datasets.mean_zero().values, nimt.datasets.first_eight().values
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01, initial=eight)
    lower, upper = nimt.forecast(learner, nimt.GreedyTeacher(), nimt.Grid.like(zero), zero, tol=2.36e-4).bounds
    assert lower == pytest.approx(23_099, rel=1e-3) and upper == pytest.approx(164_555, rel=1e-4)


TEACHERS = [
    nimt.GreedyTeacher(),
    nimt.GreedyTeacher(k=2),
    nimt.GreedyTeacher(k=1.0),
    nimt.RandomTeacher(),
    nimt.RandomTeacher(k=3),
    nimt.teachers.SoftTeacher(temperature=0.1),
    nimt.GreedyTeacher(pool=0.7),
]


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 8),
    width=st.floats(0.1, 2.5),
    rate=st.floats(0.01, 0.95),
    dimension=st.integers(1, 3),
    teacher=st.sampled_from(TEACHERS),
)
@pytest.mark.exhaustive
def test_no_lesson_breaks_a_proved_bound(seed, n, width, rate, dimension, teacher):
    learner, X, y = small(seed, n, width=width, rate=rate, dimension=dimension)
    taught = quiet(nimt.teach, learner, teacher, X, y, max_iterations=600)
    for share in (0.5, 0.1, 0.02):
        tol = float(taught.discrepancy[0]) * share
        measured = taught.steps_to(tol)
        if measured is None or measured == 0:
            continue
        greedy = type(teacher) is nimt.GreedyTeacher and teacher.k == 1 and teacher.pool is None
        start = lesson_start(learner, nimt.GreedyTeacher(), X, y, tol=tol)
        lower, upper = bounds_before(start, greedy=greedy)
        assert lower <= measured
        assert upper is None or measured <= upper


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 0.9), st.floats(0.1, 1.0))
def test_no_lesson_with_a_schedule_or_another_diagonal_breaks_a_bound(seed, rate, power):
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(-1, 1, (5, 1)), rng.normal(size=5)
    kernel = nimt.linear(0.3) + 0.5 * nimt.rbf(0.6)
    largest = float(kernel.diag(X).max())
    learner = nimt.KernelLearner(kernel, learning_rate=lambda t: rate / largest / (1 + t) ** (power / 4))
    taught = quiet(nimt.teach, learner, nimt.GreedyTeacher(), X, y, max_iterations=1000)
    tol = float(taught.discrepancy[0]) * 0.2
    measured = taught.steps_to(tol)
    if measured:
        start = lesson_start(learner, nimt.GreedyTeacher(), X, y, tol=tol, max_iterations=1000)
        lower, upper = bounds_before(start, greedy=True)
        assert lower <= measured and (upper is None or measured <= upper)


# what is refused, and how it is said


def refused(text, *task, **options):
    with pytest.raises(nimt.InvalidInput, match=text) as caught:
        nimt.forecast(*task, **({"tol": 1e-3} | options))
    assert "\n" not in str(caught.value)


def test_refusals_say_why_and_what_can_be_said_instead():
    learner, X, y = small(0, 6)
    greedy = nimt.GreedyTeacher()
    refused("largest_loss_bound", BOUNDARY.learner(), greedy, BOUNDARY.pool, BOUNDARY.target)
    refused("covers KernelLearner", nimt.LinearLearner([0.0, 0.0, 0.0]), greedy, X, y)
    refused("covers KernelLearner", nimt.learners.OrthogonalLearner(nimt.rbf(0.5)), greedy, X, y)
    refused("true labels", learner, nimt.GreedyTeacher(labels=nimt.teachers.AlternativeLabels(0.0)), X, y)
    refused("SoftTeacher", learner, nimt.teachers.SoftTeacher(), X, y)
    refused("learning rate 1 / ", learner, nimt.SynthesisTeacher(), X, y)
    refused("with weights", learner, nimt.RandomTeacher(weights=np.ones(6)), X, y)
    box = nimt.Box((0.0, 1.0), points=11)
    refused("box.grid", nimt.KernelLearner(nimt.rbf(0.5)), greedy, box, lambda x: x[:, 0])


def test_bad_input_is_refused_as_teach_does():
    learner, X, y = small(0, 6)
    greedy = nimt.GreedyTeacher()
    for tol in (0, -1, np.nan, np.inf, "1", None, True):
        refused("tol must be a (positive )?number", learner, greedy, X, y, tol=tol)
    refused("max_iterations must be", learner, greedy, X, y, max_iterations=-1)
    refused("seed must be", learner, greedy, X, y, seed=-1)
    refused("measure", learner, greedy, X, y, measure="far")
    refused("shape", learner, greedy, X, y[:3])
    refused("select", learner, "greedy", X, y)
    refused("finite", learner, greedy, X, [*y[:5], np.nan])
    refused("k must be a count", learner, nimt.GreedyTeacher(k=7), X, y)


def test_a_random_teacher_on_too_many_points_is_referred_to_the_whole_pool(monkeypatch):
    monkeypatch.setattr(moments, "spectrum_of", lambda *arguments: None)
    learner, X, y = small(0, 6)
    refused("GreedyTeacher\\(k=1.0\\)", learner, nimt.RandomTeacher(), X, y)


# how it is shown


def test_a_forecast_can_be_read_as_text_html_json_and_columns():
    task = (MIXTURE.learner(), nimt.GreedyTeacher(), MIXTURE.pool, MIXTURE.target)
    found = nimt.forecast(*task, tol=1e-4)
    assert f"{found.bounds[0]:,} <= about {found.itd:,} <= {found.bounds[1]:,}" in str(found)
    assert "&lt;=" in found._repr_html_() and "<p>" in found._repr_html_()
    content = json.loads(found.to_json())
    assert content["itd"] == found.itd and content["bounds"] == list(found.bounds)
    table = found.to_table()
    assert table["step"][0] == 0 and table["discrepancy"][0] == pytest.approx(0.00750093897)


def test_the_rms_is_forecast_too():
    task = (PLANE_FROM_ABOVE.learner(), nimt.GreedyTeacher(), PLANE_FROM_ABOVE.pool, PLANE_FROM_ABOVE.target)
    paper, rms = nimt.forecast(*task, tol=1e-3), nimt.forecast(*task, tol=1e-2, measure="rms")
    assert paper.itd == rms.itd  # n = 100: the rms is ten times the paper's measure
    assert paper.bounds == rms.bounds


def test_the_picture_has_the_forecast_and_the_lesson():
    task = (MIXTURE.learner(), nimt.GreedyTeacher(), MIXTURE.pool, MIXTURE.target)
    found, lesson = nimt.forecast(*task, tol=1e-4), nimt.teach(*task, tol=1e-4, max_iterations=4000)
    table = nimt.plots.forecast_table(found, lesson)
    assert (table.itd, table.lesson.itd, table.bounds) == (found.itd, 3056, found.bounds)
    ax = nimt.plots.forecast(found, lesson).axes[0]
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["GFT-1: 3,056 steps", "forecast: 3,060 steps", "2,907 to 3,213"]
    rms = nimt.teach(*task, measure="rms", max_iterations=5, tol=None)
    with pytest.raises(nimt.InvalidInput, match="like with like"):
        nimt.plots.forecast(found, rms)


@pytest.mark.exhaustive
def test_the_table_on_the_page_is_what_the_example_prints(monkeypatch):
    spec = importlib.util.spec_from_file_location("forecasts", HOME / "examples" / "forecasts.py")
    example = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "forecasts", example)  # dataclasses look their module up there
    spec.loader.exec_module(example)
    assert example.table(seeds=6) in (HOME / "docs" / "theory.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("rate", [1e-20, 1e-320])
@pytest.mark.parametrize("k", [1, 3])
def test_a_lesson_longer_than_can_be_counted_is_refused(rate, k):
    x = np.arange(9.0)
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=rate)
    with pytest.raises(nimt.InvalidInput, match=r"no forecast for a lesson of more than 9\.2e\+18 steps"):
        nimt.forecast(learner, nimt.GreedyTeacher(k), x, np.sin(x), tol=1e-3)
