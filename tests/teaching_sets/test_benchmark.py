"""`python -m benchmarks.rows`: the page shows what was measured, goals are counted right, rivals choose right."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.long


@pytest.fixture
def rows(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    import benchmarks.row_report
    import benchmarks.row_scores
    import benchmarks.rows

    return SimpleNamespace(**vars(benchmarks.row_report) | vars(benchmarks.row_scores) | vars(benchmarks.rows))


def test_the_page_shows_what_was_measured(rows):
    cells = rows.read_cells((ROOT / "docs" / "real-data.json").read_text())
    assert len(rows.compared(cells)) > 100
    assert rows.page(cells) in (ROOT / "docs" / "real-data.md").read_text(encoding="utf-8")


def as_results(table, student, size, kinds, wrong=False):
    """Return scores as the benchmark has them: {(choice, labels): a score, or several, of each split}."""
    return [
        {"table": table, "wrong": wrong, "seed": seed, "student": student, "size": size, "choice": choice,
         "labels": labels, "score": score}
        for (choice, labels), splits in kinds.items()
        for seed, scores in enumerate(splits)
        for score in np.atleast_1d(scores)
    ]  # fmt: skip


def test_gains_are_those_in_the_same_split(rows):
    """Splits differ much, and ours is above random rows in each by nearly the same: the spread is that of the gain."""
    kinds = {("random", "own"): [[0.1, 0.3], 0.5], ("nimt auto", "reference"): [0.3, 0.62]}
    (cell,) = rows.read_cells(rows.as_json(as_results("wine", "svm", 20, kinds))).values()
    assert cell.figures["random", "own"] == rows.Figure(0.3, 0.1633)
    gain = cell.gains["random", "own"]
    assert (gain.mean, gain.least) == (0.11, 0.1)
    assert gain.spread == pytest.approx(np.std([0.1, 0.12], ddof=1), abs=1e-4)


def test_the_goals_are_counted_over_cells(rows):
    def cell(table, size, ours, own, labelled):
        kinds = {("nimt auto", "reference"): ours, ("random", "own"): own, ("random", "reference"): labelled}
        return as_results(table, "svm", size, kinds)

    results = as_results("diabetes", "svm", 0, {("all rows", "own"): [0.4, 0.6]})
    results += cell("diabetes", 50, [0.4, 0.58], [0.1, 0.3], [0.35, 0.55])  # ahead of both
    results += cell("wine", 50, [0.5, 0.6], [0.5, 0.5], [0.6, 0.8])  # ahead by less than the spread, and below
    results += cell("wine", 20, [0.4, 0.5], [0.5, 0.5], [0.4, 0.6])  # behind, by less than the spread of one of them
    results += as_results("wine", "", 0, {("our default estimator", "own"): [0.9, 0.7],
                                          ("mean or most frequent class", "own"): [0.4, 0.4]})  # fmt: skip
    results += as_results("digits", "", 80, {("wrong labels by SurrogateTeacher", "own"): [2, 4]}, wrong=True)
    goals = {goal: (value, reached) for goal, value, reached in rows.shares(rows.read_cells(rows.as_json(results)))}
    told = list(goals.values())
    values = [2 / 3, 1 / 3, 2 / 3, 1.0, np.nan, np.nan, np.nan, 0.45, 0.8, 0.3, 3.0]
    assert [value for value, _ in told] == pytest.approx(values, nan_ok=True)
    assert [bool(reached) for _, reached in told] == [
        False, False, False, True, False, False, False, True, True, True, False,
    ]  # fmt: skip


def test_what_was_not_measured_is_not_on_the_page(rows):
    kinds = {("our default estimator", "own"): [0.9], ("mean or most frequent class", "own"): [0.4]}
    page = rows.page(rows.read_cells(rows.as_json(as_results("wine", "", 0, kinds))))
    assert "our estimator as it is" in page and page.count("| goal |") == 1
    assert "| beside |" not in page and "wrong labels" not in page and "random rows" not in page


def test_a_run_that_was_stopped_measures_the_missing_parts_only(rows, tmp_path, monkeypatch):
    asked = []

    def measure(*part):
        asked.append(part[:3])
        yield "svm", 20, "random", "own", 0.5

    monkeypatch.setitem(rows.KINDS, "defaults", measure)
    parts, file = [("defaults", "wine", False, seed) for seed in range(3)], tmp_path / "rows.jsonl"
    rows.run(parts[:2], (20,), ("svm",), file)
    file.write_text(file.read_text()[:-9])  # it was stopped while it wrote
    rows.run(parts, (20,), ("svm",), file)
    assert asked == [("wine", False, 0), ("wine", False, 1), ("wine", False, 1), ("wine", False, 2)]
    assert set(rows.read_parts(file)) == set(parts)


def test_scores_become_means_and_spreads_and_are_read_again(rows):
    results = as_results("wine", "svm", 20, {("random", "own"): [0.5, 0.7]}, wrong=True)
    (cell,) = rows.read_cells(rows.as_json(results)).items()
    assert cell == (("wine", True, "svm", 20), rows.Cell({("random", "own"): rows.Figure(0.6, 0.1)}, {}))


def test_a_tenth_of_the_labels_to_choose_from_are_wrong_and_none_of_the_test(rows):
    from benchmarks.row_tables import split

    right, wrong = split("wine", 0, False), split("wine", 0, True)
    changed = np.mean(right.y != wrong.y)
    assert 0 < changed <= 0.1
    assert np.array_equal(right.test_y, wrong.test_y) and np.array_equal(right.X, wrong.X)


def test_facility_location_is_that_of_apricot(rows):
    apricot = pytest.importorskip("apricot")
    from benchmarks.row_choices import facility_location
    from benchmarks.row_tables import split

    data = split("wine", 0, False)
    distance = cdist(data.X, data.X)
    similar = distance.max() - distance
    chooser = apricot.FacilityLocationSelection(15, metric="precomputed", optimizer="naive")
    theirs = chooser.fit(similar).ranking
    ours = facility_location(data, 15, 0)
    worth = [np.maximum.accumulate(similar[rows], axis=0).sum(axis=1) for rows in (ours, theirs)]
    assert worth[0] == pytest.approx(worth[1], rel=1e-12)
    assert ours[:10].tolist() == theirs[:10].tolist()  # two rows are next that add the same, to the last digit


def test_kernel_herding_is_that_of_coreax(rows):
    coreax = pytest.importorskip("coreax")
    from benchmarks.row_choices import herding
    from benchmarks.row_tables import split
    from coreax.kernels import SquaredExponentialKernel
    from coreax.solvers import KernelHerding

    data = split("wine", 0, False)
    middle = float(np.median(cdist(data.X, data.X, "sqeuclidean")))
    kernel = SquaredExponentialKernel(length_scale=np.sqrt(middle / 2))
    chosen, _ = KernelHerding(30, kernel=kernel, unique=True).reduce(coreax.Data(data.X))
    assert herding(data, 30, 0).tolist() == np.asarray(chosen.unweighted_indices).tolist()


@pytest.mark.slow
@pytest.mark.exhaustive
def test_one_split_is_measured_for_every_choice(rows):
    found = list(rows.measure("wine", True, 0, (20,), ("linear",)))
    kinds = {(choice, labels) for _, size, choice, labels, _ in found if size == 20}
    assert {("nimt auto", "reference"), ("random", "own"), ("random", "reference"), ("k-means", "reference")} <= kinds
    assert all(0.2 < score <= 1 for *_, score in found)


def test_a_kind_that_is_measured_again_takes_its_place_and_the_others_stay(rows):
    old = as_results("wine", "", 0, {("f*", "reference"): [0.9, 0.9], ("our default estimator", "own"): [0.5]})
    new = as_results("wine", "", 0, {("our default estimator", "own"): [0.6, 0.8]})
    (cell,) = rows.read_cells(rows.merge(rows.as_json(old), rows.as_json(new))).values()
    assert cell.figures == {
        ("f*", "reference"): rows.Figure(0.9, 0.0),
        ("our default estimator", "own"): rows.Figure(0.7, 0.1),
    }
