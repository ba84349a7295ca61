"""Which rows are kept, with which labels, and what the curve says of them."""

import dataclasses
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import check_estimator

import nimt
from nimt.teaching_sets.choosing_rules import RULES, Chooser
from nimt.teaching_sets.curve import SizeCurve
from nimt.teaching_sets.models import STUDENTS
from nimt.teaching_sets.row_checks import STUDENT_NAMES, read_rows

pytestmark = pytest.mark.long


def noisy(n=120, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 4))
    return X, 2 * X[:, 0] - X[:, 1] + rng.normal(0, noise, n)


def moons(n=160, seed=0):
    X, y = make_moons(n, noise=0.2, random_state=seed)
    return X, np.where(y == 1, "upper", "lower")


def test_the_labels_of_the_reference_teach_more_than_the_rows_own_and_the_sentence_says_how_much():
    X, y = noisy()
    found = nimt.teaching_set(X, y, size=15, student="linear", reference=Ridge())
    assert len(found) == len(set(found.indices.tolist())) == 15
    assert np.array_equal(found.labels, found.reference.labels[found.indices])
    last = found.curve.iloc[-1]
    assert last["size"] == 15 and last["chosen"] > last["random_own"] + last["random_own_spread"]
    labels, choosing, _ = found.gains
    assert labels == pytest.approx(last["random_reference"] - last["random_own"])
    assert f"the labels gain {labels:+.3f}, choosing {choosing:+.3f}" in found.sentence


def test_the_gain_by_choosing_is_paired_within_splits():
    chosen = np.array([[0.9], [0.5]])  # the second split is harder for everybody
    random = np.array([[0.8], [0.7], [0.4], [0.3]])
    curve = SizeCurve(np.array([5]), chosen, random, random - 0.1, np.array([1.0, 1.0])).to_frame().iloc[0]
    differences = [0.9 - 0.8, 0.9 - 0.7, 0.5 - 0.4, 0.5 - 0.3]
    assert curve["gain_own_spread"] == pytest.approx(np.std(differences)) == pytest.approx(0.05)
    assert curve["gain_reference_spread"] == pytest.approx(np.std(differences))
    assert np.std(random) > 0.2  # what the splits differ by is not in it


def test_where_choosing_does_not_help_the_sentence_says_so():
    X, y = noisy(noise=0.01)  # a line without noise: any rows will do
    found = nimt.teaching_set(X, y, size=30, student=LinearRegression(), reference=LinearRegression())
    assert found.helps is False and "choosing does not help here" in found.sentence


def test_a_gain_within_its_spread_is_called_neither_a_help_nor_none():
    X, y = noisy()
    found = nimt.teaching_set(X, y, size=10, student="linear", reference=Ridge(), rule="kmeans")
    last = found.curve.index[-1]
    found.curve.loc[last, ["chosen", "random_reference", "gain_reference_spread"]] = 0.5, 0.4, 0.2
    assert found.helps is False and "that choosing helps here is not sure" in found.sentence
    found.curve.loc[last, "gain_reference_spread"] = 0.05
    assert found.helps and "not sure" not in found.sentence


def test_every_part_of_the_work_is_told():
    X, y = noisy()
    told = []
    nimt.teaching_set(X, y, size=10, student="linear", watch=told.append)
    assert told[0].startswith("comparing models of the rows for f*: ridge")
    for split in (1, 2, 3):
        begin = f"measuring the student, split {split} of 3: "
        parts = [sentence.removeprefix(begin) for sentence in told if sentence.startswith(begin)]
        assert any(part.startswith("comparing models") for part in parts)
        assert "choosing rows by greedy" in parts and "the student of chosen rows" in parts
        assert "the student of random rows, draw 3 of 3" in parts and "the student of all 90 rows" in parts
    assert told[-1] == "comparing the rows of each rule by the student"


def test_a_label_that_was_rounded_is_no_suspect():
    x = np.random.default_rng(0).normal(size=120).round(3)
    y = 2 * x
    y[:50] += 1e-3
    y[7] += 0.5
    assert nimt.suspects(x, y, LinearRegression())["row"].tolist() == [7]


def test_every_student_that_has_a_name_is_known_before_models_are_loaded():
    assert tuple(STUDENTS) == STUDENT_NAMES


def test_what_is_told_of_the_rows_is_told_once():
    X, y = noisy()
    X[0, 0] = np.nan
    found = nimt.teaching_set(X, y, size=5, student="linear", reference=Ridge(), measure_curve=False)
    assert found.notes == ("1 missing number filled in by the median of the column",)
    frame = pd.DataFrame({"x": X[:, 0], "town": np.where(np.arange(len(X)) % 9 == 4, None, "Ulm")})
    found = nimt.teaching_set(frame, y, size=5, student="linear", reference=Ridge(), measure_curve=False)
    count = frame["town"].isna().sum()
    assert found.notes[1:] == (f"{count} missing words taken for one more word of the column",)


def test_rows_that_do_not_fit_into_memory_are_refused_before_any_work(monkeypatch):
    from nimt.teaching_sets import chosen_rows

    X, y = noisy()
    told = []
    monkeypatch.setattr(chosen_rows, "MUCH_MEMORY", 1)
    nimt.teaching_set(X, y, size=5, student="linear", reference=Ridge(), measure_curve=False, watch=told.append)
    assert told[0].startswith("120 rows take about ") and "beside what the student takes" in told[0]
    monkeypatch.setattr(chosen_rows, "available_memory", lambda: 1000)
    told.clear()
    with pytest.raises(
        nimt.errors.NotEnoughMemory, match=r"120 rows need about .*, and 1 kB are free: give fewer rows"
    ):
        nimt.teaching_set(X, y, size=5, student="linear", reference=Ridge(), watch=told.append)
    assert not told


def test_the_memory_told_counts_a_coordinate_for_each_word():
    from nimt.teaching_sets.chosen_rows import expect_memory

    rng = np.random.default_rng(0)
    numbers = pd.DataFrame({"a": rng.normal(size=400)})
    words = numbers.assign(word=rng.choice([f"w{place}" for place in range(70)], 400))
    few, many = (expect_memory(read_rows(frame, rng.normal(size=400)), 10) for frame in (numbers, words))
    assert many - few > 8 * 400 * 50


def test_a_student_of_the_other_kind_than_the_labels_of_the_reference_is_refused():
    X, y = noisy()
    numbers = nimt.reference(X, y, model=Ridge())
    with pytest.raises(nimt.InvalidInput, match="student SVC is a classifier, and the labels are numbers"):
        nimt.teaching_set(X, y, size=10, student=SVC(), reference=numbers)
    X, y = moons()
    classes = nimt.reference(X, y, model=SVC())
    with pytest.raises(nimt.InvalidInput, match="student Ridge is a regressor, and the labels are classes"):
        nimt.teaching_set(X, y, size=10, student=Ridge(), reference=classes)


def test_auto_that_is_worse_than_random_rows_on_rows_held_out_returns_random_rows(monkeypatch):
    X, y = noisy(noise=0.1)

    def corner(self, rule, size):
        return self.draw(size, 0) if rule == "random" else np.argsort(self.answers)[:size]

    monkeypatch.setattr(Chooser, "order", corner)
    monkeypatch.setattr(Chooser, "_judge", lambda self, chosen: -float(np.mean(self.answers[chosen])))
    options = {"size": 20, "student": "neighbours", "reference": Ridge()}
    found = nimt.teaching_set(X, y, **options)
    assert found.rule == "random" and any("these are random rows" in note for note in found.notes)
    asked = nimt.teaching_set(X, y, rule="f", **options)
    assert asked.rule == "f" and asked.helps is False  # what was asked for is kept, and told


def test_rows_that_decide_are_not_those_of_the_curve(monkeypatch):
    from nimt.teaching_sets import curve

    parts = []
    fill = curve._Table.fill

    def spy(self, pool, answers, exams, size, seed, watch):
        parts.append([set(exam.y.tolist()) for exam in exams])
        fill(self, pool, answers, exams, size, seed, watch)

    monkeypatch.setattr(curve._Table, "fill", spy)
    X, y = noisy()
    nimt.teaching_set(X, y, size=10, student="linear", reference=Ridge())
    for reported, deciding in parts:
        assert len(reported) == 20 and len(deciding) == 10 and not reported & deciding
    parts.clear()
    nimt.teaching_set(X, y, size=10, student="linear", reference=Ridge(), rule="kmeans")
    assert [len(one) for one in parts] == [1] * curve.REPEATS  # nothing is decided


@pytest.mark.parametrize("classes", [False, True])
def test_of_a_large_table_rows_are_drawn_and_that_is_said(monkeypatch, classes):
    from nimt.teaching_sets import choosing_rules, chosen_rows, curve, making_reference, models

    for module, name, most in (
        (making_reference, "MOST_COMPARED", 100), (curve, "MOST_COMPARED", 100), (making_reference, "MOST_FITTED", 150),
        (choosing_rules, "MOST_ROWS", 120), (chosen_rows, "MOST_ROWS", 120), (curve, "MOST_ROWS", 120),
        (curve, "MOST_ASKED", 40), (chosen_rows, "MOST_ASKED", 40), (models, "ASKED_AT_ONCE", 70),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, most)
    compared = set()
    draw = curve.draw_compared
    monkeypatch.setattr(curve, "draw_compared", lambda *given: compared.update(found := draw(*given)) or found)
    held_out = []
    fill = curve._Table.fill

    def spy(self, pool, answers, exams, size, seed, watch):
        held_out.extend(value for exam in exams for value in exam.X[:, 0])
        fill(self, pool, answers, exams, size, seed, watch)

    monkeypatch.setattr(curve._Table, "fill", spy)
    X, y = moons(400) if classes else noisy(400)
    told = []
    found = nimt.teaching_set(X, y, size=12, student="linear", rule="kmeans", watch=told.append)
    assert "fitted to 150 of 400 rows" in found.reference.sentence and len(found.reference.labels) == 400
    assert any("compared on 100 rows drawn at random" in note for note in found.notes)
    assert any("chosen among 120 drawn at random from 400" in note for note in found.notes)
    assert len(compared) == 100 and len(held_out) == 3 * 40
    assert not set(X[list(compared), 0]) & set(held_out)  # f*'s kind was chosen by other rows
    models_of = [sentence for sentence in told if sentence.startswith("comparing models of the rows for f*: ")]
    assert told[: len(models_of)] == models_of and len(models_of) == 5 * (3 if classes else 4)  # folds
    assert told[len(models_of)].startswith("fitting f*, ") and told[-1] == "choosing rows by kmeans"
    assert sum(sentence.endswith("the student of chosen rows") for sentence in told) == curve.REPEATS
    asked = nimt.suspects(X, y)
    assert len(asked) < 150


def test_fewer_rows_than_folds_are_refused_and_a_poor_model_is_told():
    X, y = noisy(4)
    for call in (nimt.suspects, lambda X, y: nimt.teaching_set(X, y, size=2)):
        with pytest.raises(nimt.InvalidInput, match="there are 4 rows, and at least 5 are needed"):
            call(X, y)
    rng = np.random.default_rng(0)
    chance = nimt.reference(rng.normal(size=(8, 2)), rng.normal(size=8))  # folds of one row have no R^2
    assert any("no better than the mean" in note for note in chance.notes) and np.isfinite(chance.score)


def test_own_labels_can_be_kept():
    X, y = noisy()
    found = nimt.teaching_set(X, y, size=20, student="linear", reference=Ridge(), labels="rows")
    assert np.array_equal(found.labels, y[found.indices])
    assert "with their own labels" in found.sentence and "f*'s" not in found.sentence


def test_rows_held_out_are_neither_chosen_from_nor_shown_to_the_reference_of_the_measurement(monkeypatch):
    from nimt.teaching_sets import curve

    seen = []
    fit_again = curve.fit_again

    def spy(found, rows):
        seen.append({tuple(row) for row in rows.X})
        return fit_again(found, rows)

    asked = []
    score = curve.score
    monkeypatch.setattr(curve, "fit_again", spy)
    monkeypatch.setattr(
        curve, "score", lambda answers, truth, classes: asked.append(truth) or score(answers, truth, classes)
    )
    X, y = noisy(80)
    nimt.teaching_set(X, y, size=10, student="linear", reference=Ridge())
    assert len(seen) == curve.REPEATS
    place = {value: tuple(row) for value, row in zip(y, X, strict=True)}
    per_split = len(asked) // curve.REPEATS
    for split, known in enumerate(seen):
        held_out = {place[value] for truth in asked[split * per_split : (split + 1) * per_split] for value in truth}
        assert held_out and not held_out & known


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("classes", [False, True])
def test_every_rule_returns_different_rows_and_the_same_ones_again(rule, classes):
    X, y = moons() if classes else noisy()
    if rule == "uncertainty" and not classes:
        with pytest.raises(nimt.InvalidInput, match="is for classes"):
            nimt.teaching_set(X, y, size=30, reference=Ridge(), rule=rule)
        return
    options = {"size": 30, "reference": SVC() if classes else Ridge(), "rule": rule, "measure_curve": False}
    found = nimt.teaching_set(X, y, student="linear", **options)
    assert len(set(found.indices.tolist())) == 30
    assert np.array_equal(nimt.teaching_set(X, y, student="linear", **options).indices, found.indices)


@pytest.mark.parametrize("rule", ["p", "f", "fp"])
def test_the_rules_of_kernel_interpolation_choose_what_a_plain_loop_chooses(rule):
    from nimt.estimators.width import median_width
    from nimt.teaching_sets.choosing_rules import RIDGE

    X, y = noisy(40)
    points = StandardScaler().fit_transform(X)
    target = (y - y.mean()) / y.std()
    width = median_width(points)
    gram = np.exp(-np.sum((points[:, None] - points) ** 2, axis=2) / width**2)
    chosen = []
    for _ in range(12):
        inside = gram[np.ix_(chosen, chosen)] + RIDGE * np.eye(len(chosen))
        values = gram[:, chosen] @ np.linalg.solve(inside, target[chosen]) if chosen else np.zeros(40)
        power = np.sqrt(np.maximum(1 - np.sum(gram[:, chosen] * np.linalg.solve(inside, gram[chosen]).T, axis=1), 0))
        score = {"p": power, "f": np.abs(target - values), "fp": np.abs(target - values) * power}[rule]
        score[chosen] = -1
        chosen.append(int(np.argmax(score)))
    chooser = Chooser(read_rows(X, y), y, LinearRegression(), y, 0)
    assert chooser.order(rule, 12).tolist() == chosen


def test_auto_takes_the_rows_after_which_the_student_is_best_on_the_others():
    X, y = moons()
    found = nimt.reference(X, y, model=SVC())
    rows = read_rows(X, y)
    chooser = Chooser(rows, found.labels, SVC(), found.labels, 0)

    def judge(chosen):
        rest = np.setdiff1d(np.arange(len(X)), chosen)
        answers = SVC().fit(X[chosen], found.labels[chosen]).predict(X[rest])
        return np.mean(answers == found.labels[rest]) + np.mean(answers == y[rest])

    best = chooser.choose("auto", 25)
    others = [chooser.order(rule, 25) for rule in ("kmeans", "f", "fp", "uncertainty", "greedy")]
    others += [chooser.draw(25, number) for number in range(4)]
    assert judge(best.indices) == pytest.approx(max(judge(chosen) for chosen in others))


def test_one_row_far_from_all_others_does_not_decide():
    X, y = noisy(200, noise=0.1)
    X, y = X.copy(), y.copy()
    X[0], y[0] = 50.0, 0.0  # such as a wrong measurement
    chooser = Chooser(read_rows(X, y), y, LinearRegression(), y, 0)
    usual = np.arange(1, 21)
    assert chooser._judge(usual) > chooser._judge(np.append(usual, 0)) > 0


def test_uncertainty_and_greedy_ask_the_student_that_is_taught():
    X, y = moons()
    options = {"size": 40, "reference": SVC(), "rule": "uncertainty", "measure_curve": False}
    one = nimt.teaching_set(X, y, student=LogisticRegression(), **options)
    other = nimt.teaching_set(X, y, student=SVC(gamma=5.0), **options)
    assert np.array_equal(one.indices[:20], other.indices[:20])  # spread
    assert not np.array_equal(one.indices, other.indices)


def test_frames_keep_their_columns_and_their_index():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "word": rng.choice(["u", "v"], 60)}, index=range(100, 160))
    y = frame["a"].to_numpy() + (frame["word"] == "u") + rng.normal(0, 0.1, 60)
    found = nimt.teaching_set(frame, y, size=12, student="linear", reference=LinearRegression())
    kept = found.to_frame()
    assert list(kept.columns) == ["a", "word", "own label", "label"]
    assert kept.index.tolist() == frame.index[found.indices].tolist()
    assert (kept["word"] == frame["word"].iloc[found.indices]).all()
    assert np.array_equal(kept["label"], found.labels)


def test_a_tolerance_finds_the_least_size_of_the_curve_that_reaches_it():
    X, y = noisy(200, noise=0.5)
    found = nimt.teaching_set(X, y, tol=0.05, student="linear", reference=Ridge())
    curve = found.curve
    reached = curve["chosen"] >= curve["all_rows"] - 0.05
    assert reached.iloc[-1] and not reached.iloc[:-1].any() and len(found) == curve["size"].iloc[-1]


def test_the_curve_is_drawn_and_shown():
    X, y = noisy()
    found = nimt.teaching_set(X, y, size=12, student="linear", reference=Ridge())
    (axes,) = dataclasses.replace(found, rule="greedy").plot().axes
    names = [line.get_label() for line in axes.get_lines()]
    assert names[:3] == ["chosen", "random, labels of f*", "random, own labels"]
    assert np.array_equal(axes.get_lines()[0].get_ydata(), found.curve["chosen"])
    (axes,) = dataclasses.replace(found, rule="random").plot().axes
    assert axes.get_title(loc="left") == "linear: the rows kept are a random draw"
    assert axes.get_lines()[0].get_label() == "found in this way"
    assert "random, own labels" in found._repr_html_() and repr(found).startswith("TeachingSet(12 of 120 rows")


def test_few_rows_are_chosen_from_without_a_curve():
    X, y = noisy(10)
    found = nimt.teaching_set(X, y, size=5, student="linear", reference=Ridge())
    assert found.curve is None and found.helps is None and "not measured" in found.sentence
    with pytest.raises(nimt.InvalidInput, match="there is no curve to draw"):
        found.plot()


def test_a_student_that_fails_on_small_sets_loses_nothing_of_the_rest():
    class Picky(LinearRegression):
        def fit(self, X, y):
            if len(X) < 8:
                raise ValueError("too few for me")
            return super().fit(X, y)

    X, y = noisy()
    found = nimt.teaching_set(X, y, size=20, student=Picky(), reference=Ridge(), rule="kmeans")
    assert np.isnan(found.curve["chosen"].iloc[0]) and np.isfinite(found.curve["chosen"].iloc[-1])
    assert any("the student failed on 5 rows with ValueError (too few for me)" in note for note in found.notes)


class AnswersIn(LinearRegression):
    """A regressor that answers in a column of its own, or in several."""

    def __init__(self, columns=1):
        super().__init__()
        self.columns = columns

    def predict(self, X):
        return np.tile(super().predict(X)[:, np.newaxis], self.columns)


def test_answers_in_a_column_are_those_of_the_student_and_others_are_refused():
    X, y = noisy()
    options = {"size": 30, "reference": Ridge(), "rule": "greedy"}
    flat, column = (nimt.teaching_set(X, y, student=one, **options) for one in (LinearRegression(), AnswersIn(1)))
    assert np.array_equal(flat.indices, column.indices) and flat.curve.equals(column.curve)
    said = r"the student AnswersIn answered with shape \(\d+, 2\) for \d+ rows: one answer per row"
    with pytest.raises(nimt.InvalidInput, match=said):
        nimt.teaching_set(X, y, student=AnswersIn(2), **options)
    with pytest.raises(
        nimt.InvalidInput, match=rf"failed on 90 rows: {said}; on fewer too, so that it cannot be taught"
    ):
        nimt.teaching_set(X, y, student=AnswersIn(2), **options | {"rule": "kmeans"})


def test_a_student_that_fails_on_so_few_rows_is_told_and_one_that_always_fails_is_refused():
    X, y = noisy()
    found = nimt.teaching_set(X, y, size=3, student="neighbours", reference=Ridge())  # it asks for five
    assert found.curve is None and found.helps is None and "not measured" in found.sentence
    assert any("the student failed on 3 rows with ValueError (Expected n_neighbors" in note for note in found.notes)
    with pytest.raises(nimt.InvalidInput, match=r"The 'C' parameter of SVR must .* so that it cannot be taught"):
        nimt.teaching_set(X, y, size=5, student=SVR(C=-1), reference=Ridge())
    lost = dataclasses.replace(found, curve=nimt.teaching_set(X, y, size=8, student="linear", reference=Ridge()).curve)
    lost.curve.loc[lost.curve.index[-1], "chosen"] = np.nan
    assert lost.helps is None and "not measured, because neighbours failed on 8 rows" in lost.sentence
    lost.plot()


def test_a_reference_that_fails_in_one_split_loses_neither_the_others_nor_the_choice():
    class Sometimes(Ridge):
        left = 0

        def fit(self, X, y):
            if len(X) == 60 and Sometimes.left:
                Sometimes.left -= 1
                raise ArithmeticError("not now")
            return super().fit(X, y)

    X, y = noisy(80)
    reference = nimt.reference(X, y, model=Sometimes())
    told = "a split was left out of the curve: the reference Sometimes failed with ArithmeticError (not now)"
    for failures in (1, 3):  # of three splits
        Sometimes.left = failures
        found = nimt.teaching_set(X, y, size=10, student="linear", reference=reference)
        assert Sometimes.left == 0 and told in found.notes and len(found) == 10
        assert (found.curve is None) == (failures == 3)
        assert not any("no rows could be held out" in note for note in found.notes)


def test_random_rows_are_never_said_to_help_more_than_their_spread():
    X, y = noisy(80)
    found = nimt.teaching_set(X, y, size=10, student="linear", reference=Ridge(), rule="random")
    exact = found.curve.assign(chosen=found.curve["random_reference"] + 1e-9, gain_reference_spread=0.0)
    assert dataclasses.replace(found, curve=exact).helps is False
    assert dataclasses.replace(found, curve=exact, rule="kmeans").helps is True


def test_a_gain_above_its_spread_is_not_called_within_it_where_rows_are_random():
    X, y = noisy(80)
    found = nimt.teaching_set(X, y, size=10, student="linear", reference=Ridge(), rule="random")
    last = found.curve.index[-1]
    found.curve.loc[last, ["chosen", "random_reference", "gain_reference_spread"]] = 0.45, 0.4, 0.03
    told = "choosing +0.050, more than its spread over splits and draws (0.030), but the rows kept are a random draw:"
    assert found.helps is False and told in found.sentence and "within" not in found.sentence


def test_a_student_that_is_none_is_told_by_its_class():
    X, y = noisy()
    with pytest.raises(nimt.InvalidInput, match=r"and object has no fit$"):
        nimt.teaching_set(X, y, size=5, student=object())
    with pytest.raises(nimt.InvalidInput, match=r"must be an object, got the class Ridge$"):
        nimt.teaching_set(X, y, size=5, student=Ridge)


def test_a_reference_that_cannot_be_fitted_again_is_told_and_needs_no_model(tmp_path):
    X, y = noisy()
    made = nimt.reference(X, y, model=lambda rows: 2 * rows[:, 0] - rows[:, 1])
    made.save(tmp_path / "reference.npz", answers_only=True)
    for reference in (made, nimt.teaching_sets.Reference.load(tmp_path / "reference.npz")):
        found = nimt.teaching_set(X, y, size=10, student="linear", reference=reference)
        assert found.curve is not None
        assert any("f* cannot be fitted again" in note for note in found.notes)


@pytest.mark.parametrize("rule", ["kmeans", "p", "f", "greedy"])
def test_rows_that_repeat_are_chosen_once_each_and_without_a_warning(rule):
    X, y = noisy(12)
    X, y = np.repeat(X, 5, axis=0), np.repeat(y, 5)
    found = nimt.teaching_set(X, y, size=40, student="linear", reference=Ridge(), rule=rule, measure_curve=False)
    assert len(set(found.indices.tolist())) == 40


def test_a_class_of_a_single_row_is_no_obstacle():
    X, y = moons(60)
    y = y.astype("U9")
    y[0] = "alone"
    found = nimt.teaching_set(X, y, size=10, student="linear", reference=SVC(), rule="uncertainty")
    assert found.reference.classes.tolist() == ["alone", "lower", "upper"] and len(found) == 10


# kernel ridge


KERNEL_RIDGE = (
    "kernel-ridge",
    KernelRidge(kernel="rbf", gamma=0.5, alpha=0.3),
    make_pipeline(StandardScaler(), KernelRidge(kernel="laplacian", alpha=1.0)),
)


@pytest.mark.parametrize("student", KERNEL_RIDGE)
def test_a_kernel_ridge_student_returns_its_target_exactly(student):
    X, y = noisy()
    found = nimt.teaching_set(X, y, size=20, student=student, reference=Ridge(), measure_curve=False)
    taught = clone(found.student).fit(X[found.indices], found.labels)
    certificate = found.certificate
    assert certificate.difference < 1e-8
    away = np.sqrt(np.mean((taught.predict(X) - found.reference.labels) ** 2))
    assert away == pytest.approx(certificate.distance, abs=1e-8)
    plain = clone(found.student).fit(X[found.indices], found.reference.labels[found.indices])
    assert certificate.distance <= np.sqrt(np.mean((plain.predict(X) - found.reference.labels) ** 2)) + 1e-9


def test_the_dual_coefficients_of_the_student_are_those_of_the_certificate():
    X, y = noisy()
    found = nimt.teaching_set(X, y, size=15, student=KernelRidge(kernel="rbf", alpha=0.5), reference=Ridge(),
                              measure_curve=False)  # fmt: skip
    taught = clone(found.student).fit(X[found.indices], found.labels)
    assert taught.dual_coef_ == pytest.approx(found.certificate.coefficients, abs=1e-6)
    assert found.certificate.mean == 0.0


def test_other_rules_and_own_labels_give_a_kernel_ridge_student_plain_labels():
    X, y = noisy()
    for options in ({"rule": "p"}, {"labels": "rows"}):
        found = nimt.teaching_set(
            X, y, size=10, student="kernel-ridge", reference=Ridge(), measure_curve=False, **options
        )
        assert found.certificate is None


# the estimator


@pytest.mark.slow
def test_the_selector_is_an_estimator_of_scikit_learn():
    check_estimator(nimt.TeachingSetSelector(student="linear", rule="kmeans"), on_skip=None)


def test_the_selector_returns_rows_and_labels_and_takes_frames():
    X, y = noisy()
    frame = pd.DataFrame(X, columns=list("abcd"))
    selector = nimt.TeachingSetSelector(size=10, student="linear", reference=Ridge())
    few, labels = selector.fit_resample(frame, y)
    assert list(few.columns) == list("abcd") and len(few) == len(labels) == 10
    assert few.index.tolist() == selector.indices_.tolist()
    assert selector.feature_names_in_.tolist() == list("abcd")
    assert np.array_equal(clone(selector).fit(frame, y).indices_, selector.indices_)


# suspects


def test_wrong_labels_are_listed_first():
    X, y = moons(200)
    wrong = [3, 50, 120]
    flipped = y.copy()
    flipped[wrong] = np.where(y[wrong] == "upper", "lower", "upper")
    found = nimt.suspects(X, flipped, SVC())
    assert set(wrong) <= set(found["row"].tolist()[:12])
    assert (found["label"] != found["reference"]).all()
    assert (np.diff(found["strength"]) <= 0).all()


def test_numbers_far_from_the_reference_are_listed_by_how_many_deviations():
    X, y = noisy(noise=0.1)
    y = y.copy()
    y[11] += 5.0
    found = nimt.suspects(pd.DataFrame(X, index=[f"r{i}" for i in range(len(X))]), y, LinearRegression())
    assert found["row"].iloc[0] == 11 and found.index[0] == "r11" and found["strength"].iloc[0] > 20


def test_a_reference_that_saw_the_labels_is_fitted_again_without_them():
    X, y = moons(120)
    y = y.copy()
    y[5] = "lower" if y[5] == "upper" else "upper"
    seen = nimt.reference(X, y, model=SVC(gamma=1000.0))  # repeats what it saw
    assert (seen.labels == y).all()
    assert len(nimt.suspects(X, y, seen)) > 0


# bad input, and what is loaded


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"size": 121}, "size must be at most the number of rows, 120, got 121"),
        ({"size": 1}, "size must be a whole number >= 2, got 1"),
        ({"size": None}, "give size= .* or tol="),
        ({"tol": 0.1}, "give size= .* and not both"),
        ({"size": None, "tol": 2}, "tol must be a number from 0 to below 1"),
        ({"student": object()}, "student must be an estimator with fit and predict, and .* has no fit"),
        ({"student": "swm"}, "student must be one of linear, svm"),
        ({"student": StandardScaler()}, "has no predict"),
        ({"student": SVC()}, "y holds numbers that are not whole, such as .* a classifier needs classes"),
        ({"rule": "best"}, "rule must be one of auto, random"),
        ({"rule": "uncertainty"}, "rule='uncertainty' is for classes, and y holds numbers: use f, auto or greedy"),
        ({"measure_curve": "no"}, "measure_curve must be True or False, got 'no'"),
        ({"labels": "mine"}, "labels must be 'reference' or 'rows'"),
        ({"reference": 7}, "must be 'auto', an estimator or a callable, got 7"),
        ({"reference": lambda X: X[:, 0] * np.nan}, "answered nan"),
        ({"y": np.ones(120)}, "there is nothing to teach"),
        ({"y": ["one"] * 120}, "y has one class"),
        ({"seed": 0.5}, "seed must be a whole number"),
    ],
)
def test_bad_input_gets_one_sentence(given, said):
    X, y = noisy()
    with pytest.raises(nimt.InvalidInput, match=said) as error:
        nimt.teaching_set(**({"X": X, "y": y, "size": 10} | given))
    assert "\n" not in str(error.value)


def test_a_reference_of_other_rows_is_refused():
    X, y = noisy()
    other = nimt.reference(X[:50], y[:50], model=Ridge())
    with pytest.raises(nimt.InvalidInput, match="reference answers 50 rows and X has 120"):
        nimt.teaching_set(X, y, size=10, reference=other)
    with pytest.raises(nimt.InvalidInput, match="reference answers 50 rows and X has 120"):
        nimt.suspects(X, y, nimt.reference(X[:50], y[:50], model=Ridge(), out_of_fold=True))


def test_a_reference_of_other_classes_is_refused():
    X, y = noisy()
    other = nimt.reference(X, np.where(y > 0, "a", "c"), model=LogisticRegression(), out_of_fold=True)
    with pytest.raises(nimt.InvalidInput, match="reference has other classes than y"):
        nimt.suspects(X, np.where(y > 0, "a", "b"), other)


def test_neither_nimt_nor_teaching_loads_scikit_learn():
    code = "import sys, nimt; nimt.teach; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_reference_of_other_columns_is_refused():
    X = np.random.default_rng(0).normal(size=(40, 3))
    found = nimt.reference(X, X[:, 0] + 0.5 * X[:, 1], model=Ridge())
    with pytest.raises(nimt.InvalidInput, match="reference was made from 3 columns and X has 2"):
        nimt.teaching_set(X[:, :2], X[:, 0], size=10, student="linear", reference=found)
