"""What stands for f*: how it is found, what it answers, and how it is stored."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import nimt

pytestmark = pytest.mark.long


def line(n=60, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, 2 * X[:, 0] - X[:, 1] + rng.normal(0, noise, n)


def mixed(n=80, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.uniform(20, 200, n),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
            "built": pd.to_datetime("1990-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), "D"),
            "garden": rng.random(n) < 0.5,
        },
        index=[f"house {place}" for place in range(n)],
    )
    price = frame["size"].to_numpy() + 50 * (frame["town"] == "Bonn").to_numpy() + rng.normal(0, 5, n)
    frame.iloc[3, 0] = np.nan
    frame.iloc[4, 1] = None
    return frame, price


def test_auto_takes_the_model_that_is_best_by_cross_validation_and_tells_the_others():
    X, y = line(100)
    found = nimt.reference(X, y, folds=3)
    assert found.name == "ridge"
    assert "kernel ridge" in found.notes[0] and "gradient-boosted trees" in found.notes[0]
    assert found.sentence.startswith("f* is ridge fitted to 100 rows, R^2 0.9")
    curved = nimt.reference(X, np.sin(6 * X[:, 0]), folds=3)
    assert curved.name != "ridge"


def test_the_score_is_the_mean_over_folds_of_models_that_did_not_see_them():
    X, y = line()
    found = nimt.reference(X, y, model=KNeighborsRegressor(1), folds=4)
    assert found.labels == pytest.approx(y)  # it repeats what it has seen
    assert found.score < 0.95
    outside = nimt.reference(X, y, model=KNeighborsRegressor(1), folds=4, out_of_fold=True)
    assert not np.isclose(outside.labels, y).any()
    for place in (0, 17):
        nearest = np.argsort(np.sum((X - X[place]) ** 2, axis=1))[1:]
        assert any(outside.labels[place] == y[other] for other in nearest)


def test_a_fitted_estimator_answers_as_it_is_and_one_that_is_not_is_fitted_to_all_rows():
    X, y = line()
    fitted = LinearRegression().fit(X[:10], y[:10])
    as_it_is = nimt.reference(X, y, model=fitted)
    assert np.array_equal(as_it_is.predict(X), fitted.predict(X))
    assert "LinearRegression as it was given, R^2" in as_it_is.sentence  # to how many rows it was fitted is unknown
    whole = nimt.reference(X, y, model=LinearRegression())
    assert np.allclose(whole.predict(X), LinearRegression().fit(X, y).predict(X))


def test_a_function_stands_for_itself(tmp_path):
    X, y = line()
    found = nimt.reference(X, y, model=lambda rows: rows[:, 0])
    assert np.array_equal(found.labels, X[:, 0])
    assert not found.cross_validated
    assert found.sentence.startswith("f* is a function as it was given, R^2 ") and "on 60 rows" in found.sentence
    found.save(tmp_path / "answers.npz", answers_only=True)
    assert nimt.teaching_sets.Reference.load(tmp_path / "answers.npz").sentence == found.sentence


def test_a_torch_module_stands_for_itself():
    torch = pytest.importorskip("torch")
    X, y = line()
    module = torch.nn.Linear(3, 1)
    found = nimt.reference(X, y, model=module)
    with torch.no_grad():
        theirs = module(torch.as_tensor(X, dtype=torch.float32)).numpy()[:, 0]
    assert found.labels == pytest.approx(theirs, abs=1e-6)
    of_frame = nimt.reference(pd.DataFrame(X, columns=list("abc")), y, model=module)  # whose array is read-only
    assert of_frame.labels == pytest.approx(found.labels, abs=1e-6)
    assert found.sentence.startswith("f* is Linear as it was given, R^2 ") and found.model is module
    classes = nimt.reference(X, np.where(y > 0, "high", "low"), model=torch.nn.Linear(3, 2))
    assert set(classes.labels) <= {"high", "low"}


def test_the_outputs_of_a_torch_module_are_shares_of_classes():
    torch = pytest.importorskip("torch")
    X, y = line()
    two, three = np.where(y > 0, "high", "low"), np.digitize(y, [-1, 1])
    plane = torch.nn.Linear(3, 1)
    with torch.no_grad():
        plane.weight[:], plane.bias[:] = torch.tensor([[-2.0, 1.0, 0.0]]), 0.0
    logits = nimt.reference(X, two, model=plane)
    shares = nimt.reference(X, two, model=torch.nn.Sequential(plane, torch.nn.Sigmoid()))
    assert logits.score > 0.8 and (logits.boundary, shares.boundary) == (0.0, 0.5)
    assert np.array_equal(shares.labels, logits.labels) and shares.scores == pytest.approx(logits.scores, abs=1e-6)
    assert np.array_equal(shares.predict(X[:1]), logits.predict(X[:1]))
    strength = nimt.suspects(X, two, shares)["strength"].to_numpy()
    assert len(strength) and 0 < strength[-1] < strength[0] < 1
    module = torch.nn.Linear(3, 3)
    found = nimt.reference(X, three, model=module)
    with torch.no_grad():
        theirs = module(torch.as_tensor(X, dtype=torch.float32)).softmax(1).numpy()
    assert found.scores == pytest.approx(theirs, abs=1e-6)
    spread = nimt.reference(X, three, model=torch.nn.Sequential(module, torch.nn.Softmax(1)))
    assert spread.scores == pytest.approx(theirs, abs=1e-6)
    with pytest.raises(nimt.InvalidInput, match="Linear has outputs of length 1, and y has 3 classes: it needs one"):
        nimt.reference(X, three, model=plane)


def test_a_torch_module_may_have_a_fit_of_its_own_or_no_parameters():
    torch = pytest.importorskip("torch")
    X, y = line()

    class WithFit(torch.nn.Linear):
        def fit(self, X, y):
            raise AssertionError("it is fitted")

        def predict(self, X):
            raise AssertionError("it is a module")

    class Formula(torch.nn.Module):
        def forward(self, x):
            return 2 * x[:, 0] - x[:, 1]

    made = nimt.reference(X, y, model=WithFit(3, 1))
    assert made.as_given and not made.can_be_fitted
    found = nimt.reference(X, y, model=Formula())
    assert found.labels == pytest.approx(2 * X[:, 0] - X[:, 1])
    chosen = nimt.teaching_set(X, y, size=10, student="linear", reference=found)
    assert chosen.labels == pytest.approx(found.labels[chosen.indices])
    assert "f* cannot be fitted again, so it may have seen the rows held out" in chosen.notes
    of_tensors = nimt.reference(X, y, model=lambda rows: torch.as_tensor(rows[:, 0]).requires_grad_())
    assert np.array_equal(of_tensors.labels, X[:, 0])


def test_what_a_torch_module_cannot_answer_is_refused_in_a_sentence():
    torch = pytest.importorskip("torch")
    frame, price = mixed()
    with pytest.raises(nimt.InvalidInput, match="column 'town' of X holds words, and the module Linear takes numbers"):
        nimt.reference(frame, price, model=torch.nn.Linear(4, 1))
    X, y = line()
    X[3, 0] = np.nan
    for labels, width in ((y, 1), (np.where(y > 0, "high", "low"), 2)):
        with pytest.raises(nimt.InvalidInput, match="reference Linear answered nan for row 3: every answer"):
            nimt.reference(X, labels, model=torch.nn.Linear(3, width))
    with pytest.raises(nimt.InvalidInput, match=r"Linear cannot evaluate inputs of shape \(60, 3\)"):
        nimt.reference(line()[0], y, model=torch.nn.Linear(2, 1))
    with pytest.raises(nimt.InvalidInput, match="must be an object, got the class Linear"):
        nimt.reference(line()[0], y, model=torch.nn.Linear)


def test_what_answers_as_it_is_and_says_little_is_told():
    X, y = line()
    for model in (lambda rows: np.zeros(len(rows)), DummyRegressor().fit(X, y)):
        assert any("f* is no better than the mean" in note for note in nimt.reference(X, y, model=model).notes)


def test_frames_with_words_dates_and_missing_values_are_prepared_and_keep_their_names():
    frame, price = mixed()
    found = nimt.reference(frame, price, folds=3)
    assert found.columns == ("size", "town", "built", "garden")
    assert found.score > 0.9
    assert any("1 missing number filled in by the median" in note for note in found.notes)
    turned = frame[["garden", "built", "town", "size"]]
    assert np.array_equal(found.predict(turned), found.predict(frame))
    with pytest.raises(nimt.InvalidInput, match="X has no column 'town'"):
        found.predict(frame.drop(columns="town"))


def test_an_estimator_that_cannot_take_words_gets_numbers():
    frame, price = mixed()
    found = nimt.reference(frame, price, model=LinearRegression(), folds=3)
    assert found.score > 0.9


def test_decimals_and_spans_of_time_are_numbers_and_numbers_in_words_are_noticed():
    y = np.arange(60.0)
    frame = pd.DataFrame({"a": [Decimal(place) / 10 for place in range(60)]})
    assert nimt.reference(frame, y, model=LinearRegression()).score > 0.999
    frame = pd.DataFrame({"a": pd.to_timedelta(np.arange(60), unit="h")})
    assert nimt.reference(frame, y, model=LinearRegression()).predict(frame)[24] == pytest.approx(24)
    words = nimt.reference(y.astype(str), y, model=LinearRegression())
    assert "the column 'x_1' holds numbers written as words, and is taken for words" in words.notes


def test_classes_may_be_words_or_whole_numbers_and_numbers_are_noticed():
    X, y = line(90)
    words = np.where(y > 0, "high", "low")
    found = nimt.reference(X, words, model=LogisticRegression())
    assert found.classes.tolist() == ["high", "low"] and set(found.labels) == {"high", "low"}
    assert found.scores.shape == (90, 2) and found.measure == "accuracy"
    numbers = nimt.reference(X, (y > 0).astype(int), model=lambda rows: (rows[:, 0] > 0).astype(int))
    assert "are taken for classes" in numbers.notes[0]
    assert nimt.reference(X, (y > 0).astype(int), model=LinearRegression()).classes is None


def test_a_stored_reference_answers_the_same(tmp_path):
    frame, price = mixed()
    for y in (price, np.where(price > 120, "dear", "cheap")):
        found = nimt.reference(frame, y, folds=3)
        found.save(tmp_path / "reference.npz")
        again = nimt.teaching_sets.Reference.load(tmp_path / "reference.npz")
        assert np.array_equal(again.predict(frame), found.predict(frame))
        assert np.array_equal(again.labels, found.labels) and again.sentence == found.sentence


@pytest.mark.parametrize("words", [False, True])
def test_boosted_trees_are_stored_too(tmp_path, words):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    X, y = line()
    kind = HistGradientBoostingClassifier if words else HistGradientBoostingRegressor
    found = nimt.reference(X, np.where(y > 0, "a", "b") if words else y, model=kind(max_iter=5), folds=2)
    found.save(tmp_path / "reference.npz")
    assert np.array_equal(nimt.teaching_sets.Reference.load(tmp_path / "reference.npz").predict(X), found.predict(X))


def test_of_a_function_only_the_answers_are_stored(tmp_path):
    X, y = line()
    found = nimt.reference(X, y, model=lambda rows: rows[:, 0])
    with pytest.raises(nimt.errors.CannotStore, match=r"answers_only=True\) keeps its answers"):
        found.save(tmp_path / "reference.npz")
    found.save(tmp_path / "reference.npz", answers_only=True)
    again = nimt.teaching_sets.Reference.load(tmp_path / "reference.npz")
    assert np.array_equal(again.labels, found.labels)
    with pytest.raises(nimt.InvalidInput, match="has answers and no model"):
        again.predict(X)


def test_a_class_of_ones_own_is_refused_with_a_way_out(tmp_path):
    X, y = line()
    found = nimt.reference(X, y, model=FailsInOneFold())
    with pytest.raises(nimt.errors.CannotStore, match=r"FailsInOneFold cannot be stored .* keeps its answers"):
        found.save(tmp_path / "reference.npz")
    assert not (tmp_path / "reference.npz").exists()


def test_a_damaged_file_is_refused(tmp_path):
    X, y = line()
    path = tmp_path / "reference.npz"
    nimt.reference(X, y, model=LinearRegression()).save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(nimt.errors.CorruptLesson):
        nimt.teaching_sets.Reference.load(path)


class FailsInOneFold(RegressorMixin, BaseEstimator):
    """A regressor that does not bear the largest label of all."""

    def __init__(self, largest=0.0):
        self.largest = largest

    def fit(self, X, y):
        if len(y) < 60 and np.max(y) < self.largest:
            raise ArithmeticError("I miss the largest label")
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_a_fold_that_fails_loses_nothing_of_the_others():
    X, y = line()
    found = nimt.reference(X, y, model=FailsInOneFold(largest=float(y.max())), out_of_fold=True)
    assert any("failed with ArithmeticError (I miss the largest label)" in note for note in found.notes)
    assert np.isfinite(found.labels).all() and np.isfinite(found.score)


class FailsOnAllRows(LinearRegression):
    """A regressor that fits the rows of a fold, and not all of them."""

    def fit(self, X, y):
        if len(y) == 60:
            raise MemoryError("too many rows")
        return super().fit(X, y)


def test_a_model_that_fails_on_all_rows_leaves_the_answers_of_the_folds():
    X, y = line(60)
    found = nimt.reference(X, y, model=FailsOnAllRows())
    expected = nimt.reference(X, y, model=LinearRegression(), out_of_fold=True)
    assert np.array_equal(found.labels, expected.labels) and found.score == expected.score and found.out_of_fold
    assert any("failed with MemoryError (too many rows): each answer is that of a fold" in note for note in found.notes)
    with pytest.raises(nimt.InvalidInput, match="has answers and no model"):
        found.predict(X)
    assert len(nimt.teaching_set(X, y, size=10, student="linear", reference=found)) == 10


def test_a_notebook_shows_the_sentence_escaped():
    X, y = line()
    found = nimt.reference(pd.DataFrame(X, columns=["<b>", "c", "d"]), y, model=LinearRegression())
    assert "&lt;b&gt;" in found._repr_html_() and found.sentence.partition("R^2")[0] in found._repr_html_()


def test_a_copy_of_a_row_is_in_its_fold_and_a_row_that_was_measured_twice_is_not():
    X, y = line(40)
    twice_X, twice_y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    told = "40 rows are copies of others, label and all: no model is judged on a row of which it has seen a copy"
    for features in (twice_X, pd.DataFrame(twice_X).assign(word="a")):
        found = nimt.reference(features, twice_y, model=KNeighborsRegressor(1), out_of_fold=True)
        assert found.notes == (told,) and not np.isclose(found.labels, twice_y).any()
        assert np.array_equal(found.labels[::2], found.labels[1::2])
    names = np.where(twice_y > 0, "high", "low")
    found = nimt.reference(twice_X, names, model=KNeighborsClassifier(1), out_of_fold=True)
    assert found.score < 1 and np.array_equal(found.labels[::2], found.labels[1::2])
    noisy = twice_y + np.random.default_rng(1).normal(0, 0.1, 80)
    again = nimt.reference(twice_X, noisy, model=KNeighborsRegressor(1))
    assert again.notes == () and again.score > 0.95
    few = nimt.reference(np.repeat([[0.0], [1.0], [2.0]], 20, axis=0), np.repeat([0.5, 1.5, 2.5], 20))
    assert few.score > 0.9  # three different rows cannot make five folds


# bad input


class WithoutParameters:
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


class WithoutTags(WithoutParameters):
    def get_params(self, deep=True):
        return {}

    def set_params(self):
        return self


def test_an_estimator_that_does_not_inherit_is_fitted_if_it_has_parameters():
    X, y = line()
    assert (nimt.reference(X, y, model=WithoutTags()).labels == 0).all()


def unfitted(rows):
    return KNeighborsRegressor().predict(rows)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"X": np.zeros((3, 1)), "y": [1.0, 2.0, 4.5]}, "3 rows cannot make folds=5 parts"),
        ({"y": np.ones(60)}, "y is 1 in every row: there is nothing to teach"),
        ({"y": ["a"] * 60}, "y has one class, a: at least two are needed"),
        ({"y": np.r_[np.nan, np.arange(59.0)]}, "y has no label in row 0"),
        ({"y": np.arange(59.0)}, "X has 60 rows and y has 59 labels"),
        ({"model": lambda X: np.full(len(X), np.nan)}, "answered nan for row 0: every answer must be a finite number"),
        ({"model": lambda X: X}, r"answered with shape \(60, 3\)"),
        ({"model": unfitted}, "the reference unfitted"),
        ({"model": lambda X: 1 / 0}, "failed with ZeroDivisionError"),
        ({"model": "ridge"}, "model must be 'auto', an estimator or a callable, got 'ridge'"),
        ({"model": LinearRegression}, "must be an object, got the class LinearRegression"),
        ({"model": 3}, "model must be 'auto'"),
        ({"model": WithoutParameters()}, "WithoutParameters has fit and predict and no get_params"),
        ({"model": LogisticRegression()}, "y holds numbers that are not whole, such as .* a classifier needs classes"),
        ({"model": np.sum, "out_of_fold": True}, "out_of_fold=True fits the model again"),
        ({"folds": 1}, "folds must be a whole number >= 2"),
        ({"classes": "yes"}, "classes must be True, False or None"),
        ({"classes": False, "y": ["a", "b"] * 30}, "y holds words, such as 'a', and a regressor needs numbers"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"watch": 3}, "watch must be a function of a sentence, such as print, got 3"),
        ({"y": [[1], [2, 3]] * 30}, "y must hold one label per row, got lists of several lengths"),
        ({"y": [10**400 + place for place in range(60)]}, "y has a number of 401 digits"),
        ({"X": pd.DataFrame({"a": [[1, 2]] * 60})}, r"the column 'a' holds \[1, 2\]: give each part a column"),
        ({"X": np.full((60, 1), np.inf)}, "X has inf in row 0"),
        ({"X": np.full((60, 1), 1e300)}, r"X has 1e\+300 in row 0: its square is infinite"),
        ({"y": 1e300 * np.arange(60.0)}, "y runs from 0 to .*: give it in other units"),
        ({"y": 1e-300 * np.arange(60.0)}, "y runs from 0 to .*: give it in other units"),
        ({"y": np.arange(60).astype("timedelta64[D]")}, r"y holds timedelta64\[D\]: give numbers"),
        ({"y": np.zeros((60, 2))}, "one target at a time"),
        ({"model": DummyClassifier(strategy="constant", constant="z"), "y": ["a", "b"] * 30}, "failed in every fold"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(given, said):
    X, y = line()
    with pytest.raises(nimt.InvalidInput, match=said) as error:
        nimt.reference(**({"X": X, "y": y} | given))
    assert "\n" not in str(error.value)


def test_whole_numbers_beyond_those_of_a_float_are_no_classes():
    labels = np.r_[np.zeros(59), 1e30]
    assert nimt.reference(np.arange(60.0)[:, np.newaxis], labels).classes is None
