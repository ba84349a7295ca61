"""What the greedy estimators select by rows held out, and what they say of themselves with them."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_moons
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, train_test_split
from sklearn.preprocessing import StandardScaler

import nimt
from nimt.estimators import folds
from nimt.estimators.folds import make_folds
from nimt.estimators.path import SHARES, PathSettings
from nimt.estimators.samples import Samples
from nimt.estimators.selecting import Trial, select, sizes_up_to
from nimt.estimators.width import median_width

pytestmark = pytest.mark.long

WIDTH = 0.7
SETTINGS = PathSettings(nimt.rbf(WIDTH), tol=0.0, refit=True, regularisation=None)


def table(n=60, outputs=None, seed=3, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    y = np.sin(3 * X[:, 0]) * X[:, 1] + noise * rng.normal(size=n)
    return X, y if outputs is None else np.column_stack([y * (k + 1) + X[:, k % 2] for k in range(outputs)])


def noise_alone(n=100, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=n)


def five_folds(samples):
    return make_folds(5, samples, np.arange(len(samples)), None, 0)


# the errors that decide


@pytest.mark.parametrize("rule", ["f", "f*P", "P"])
@pytest.mark.parametrize("outputs", [None, 2])
def test_the_errors_are_those_of_models_that_saw_none_of_the_rows_held_out(rule, outputs):
    samples = Samples(*table(outputs=outputs))
    parts = five_folds(samples)
    trial = Trial(SETTINGS, rule, samples, parts, [2, 8])
    labels = samples.labels.reshape(60, -1)
    for at, size in enumerate((2, 8)):
        for share in (30, 60):
            expected = np.zeros(labels.shape[1])
            for fitted, held_out in parts:
                kernel, train = nimt.rbf(WIDTH), samples.points[fitted]
                model = nimt.GreedyKernelRegressor(width=WIDTH, rule=rule, max_centers=size, cv=None, tol=0.0)
                centers = model.fit(train, samples.labels[fitted]).centers_
                # v(x) = L^-1 K(c, x): the largest squared singular value of V is what penalties are shares of
                V = np.linalg.solve(np.linalg.cholesky(kernel(centers)), kernel(centers, train))
                penalty = SHARES[share] * np.linalg.norm(V, 2) ** 2
                model.set_params(regularisation=penalty).fit(train, samples.labels[fitted])
                values = model.predict(samples.points[held_out]).reshape(len(held_out), -1)
                expected += np.sum((labels[held_out] - values) ** 2, axis=0)
            np.testing.assert_allclose(trial.errors[at, share], expected, rtol=1e-6)
    mean = sum(np.sum((labels[held] - labels[fitted].mean(axis=0)) ** 2, axis=0) for fitted, held in parts)
    np.testing.assert_allclose(trial.errors[:, -1], [mean, mean], rtol=1e-12)


def test_a_row_chooses_no_centre_of_the_model_that_is_judged_on_it():
    samples = Samples(*table())
    parts = five_folds(samples)[:1]
    altered = samples.labels.copy()
    altered[parts[0][1]] += 100.0
    answers = [
        Trial(SETTINGS, "f", Samples(samples.points, labels), parts, [8]).hold_out(8, np.array([40])).values
        for labels in (samples.labels, altered)
    ]
    np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize(("n", "most", "slack"), [(200, 100, 0.01), (2500, 40, 10 / 2500)])
def test_the_smallest_number_of_centres_that_is_as_good_as_the_best_is_taken(n, most, slack):
    samples = Samples(*table(n, noise=0.3))
    rules, sizes = ("f", "f*P", "P"), sizes_up_to(most)
    selected = select(SETTINGS, rules, samples, five_folds(samples), most, classes=False)
    trials = {rule: Trial(SETTINGS, rule, samples, five_folds(samples), sizes) for rule in rules}
    errors = {rule: trial.errors[:, :, 0].min(axis=1) for rule, trial in trials.items()}
    least = min(error.min() for error in errors.values())
    at = sizes.index(selected.size)
    assert errors[selected.rule][at] == min(error[at] for error in errors.values()) <= (1 + slack) * least
    assert min(error[:at].min() for error in errors.values()) > (1 + slack) * least
    assert selected.curve[selected.size] == pytest.approx((errors[selected.rule][at] / n) ** 0.5)
    assert trials[selected.rule].errors[at, selected.places[0], 0] == errors[selected.rule][at]


def test_where_folds_have_too_few_rows_all_centres_are_taken():
    X, _ = table(50)
    model = nimt.GreedyKernelRegressor(tol=0.0, width=0.5).fit(X, np.sin(3 * X[:, 0]) * X[:, 1])
    assert len(model.centers_) == 50 and max(model.lesson_.held_out) == 40
    assert model.lesson_.outcome is nimt.lesson.Outcome.BUDGET


def test_an_interpolant_takes_no_more_centres_than_help():
    X, y = table(300, noise=0.2)
    new, truth = table(300, seed=9, noise=0.0)
    few = nimt.GreedyKernelRegressor(refit=False).fit(X, y)
    all_of_them = nimt.GreedyKernelRegressor(refit=False, cv=None, rule="f").fit(X, y)
    assert len(few.centers_) < 50 and few.score(new, truth) > 0.5 > 0.0 > all_of_them.score(new, truth)
    assert few.lesson_.outcome is nimt.lesson.Outcome.STALLED


@pytest.mark.slow
@pytest.mark.exhaustive
def test_diabetes_is_learned_as_well_as_by_tuned_kernel_ridge_regression():
    X, y = load_diabetes(return_X_y=True)
    differences = []
    for seed in range(3):
        train, test, labels, other = train_test_split(StandardScaler().fit_transform(X), y, random_state=seed)
        gamma = 1 / median_width(train) ** 2
        ridge = GridSearchCV(KernelRidge(kernel="rbf", gamma=gamma), {"alpha": np.logspace(-3, 2, 11)}, cv=5)
        ridge.fit(train, labels - labels.mean())
        model = nimt.GreedyKernelRegressor().fit(train, labels)
        differences.append(model.score(test, other) - ridge.score(test, other - labels.mean()))
        assert model.score(test, other) > 0.25  # all centres without rows held out: below -1
    assert np.mean(differences) > -0.02


# the mean, where nothing is better


def test_noise_is_left_to_its_mean_with_a_warning():
    X, y = noise_alone()
    with pytest.warns(
        nimt.errors.ConstantModelWarning, match="no model errs less than the mean on rows that were held out"
    ):
        model = nimt.GreedyKernelRegressor(max_centers=30).fit(X, y)
    assert model.is_constant_ and len(model.centers_) == 0 and model.regularisation_ == np.inf
    values, deviation = model.predict(X[:3], return_std=True)
    np.testing.assert_allclose(values, y.mean(), rtol=1e-12)
    np.testing.assert_allclose(deviation, y.std(), rtol=0.05)


def test_an_output_of_noise_is_left_to_its_mean_and_the_other_is_not():
    X, y = table(150)
    both = np.column_stack([y, np.random.default_rng(1).normal(size=150)])
    with pytest.warns(nimt.errors.ConstantModelWarning, match="no model of output 1 errs less"):
        model = nimt.GreedyKernelRegressor(max_centers=30).fit(X, both)
    assert model.is_constant_.tolist() == [False, True]
    new, truth = table(100, seed=9)
    values, deviation = model.predict(new, return_std=True)
    np.testing.assert_allclose(values[:, 1], both[:, 1].mean(), rtol=1e-12)
    assert np.corrcoef(values[:, 0], truth)[0, 1] > 0.9 and deviation.shape == (100, 2)


def test_classes_without_a_pattern_are_the_most_frequent_one():
    X, y = noise_alone(200)
    classes = np.where(y > 0.7, "rare", "frequent")
    with pytest.warns(nimt.errors.ConstantModelWarning, match="no model errs less than the most frequent class"):
        model = nimt.GreedyKernelClassifier(max_centers=30).fit(X, classes)
    assert model.is_constant_ is True and set(model.predict(X)) == {"frequent"}
    share = np.mean(classes == "rare")
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[1 - share, share]])


def test_no_penalty_is_taken_with_more_mistakes_than_the_most_frequent_class():
    X, y = noise_alone(60, seed=5)
    labels = np.where(y > 1.0, 1.0, -1.0)
    samples = Samples(X, labels)
    parts = make_folds(5, samples, np.arange(60), labels, 0)
    selected = select(SETTINGS, ["f"], samples, parts, 30, classes=True)
    mistakes = np.sum((selected.held_out.values[:, 0] > 0) != (labels[selected.held_out.rows] > 0))
    assert mistakes <= np.sum(labels > 0)


def test_rows_that_are_all_equal_are_left_to_their_mean_without_a_warning():
    model = nimt.GreedyKernelRegressor().fit(np.ones((4, 2)), [1.0, 2.0, 3.0, 4.0])
    assert model.is_constant_ and model.predict([[5.0, 5.0]]) == 2.5
    assert nimt.GreedyKernelRegressor().fit([[1.0]], [3.0]).predict([[2.0]]) == 3.0


# the folds


def test_the_order_of_the_rows_changes_nothing():
    X, y = table(120)
    order = np.random.default_rng(0).permutation(120)
    one, other = nimt.GreedyKernelRegressor().fit(X, y), nimt.GreedyKernelRegressor().fit(X[order], y[order])
    assert one.rule_ == other.rule_ and len(one.centers_) > 5
    np.testing.assert_array_equal(one.support_, order[other.support_])
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-9)


def test_equal_rows_are_held_out_together_and_classes_in_proportion():
    X = np.repeat(np.arange(50.0), 4)[:, np.newaxis]
    classes = np.repeat(np.arange(50) % 10 == 0, 4)
    for fitted, held_out in make_folds(5, Samples(X, X[:, 0]), np.arange(200), classes, 0):
        assert not np.isin(X[held_out], X[fitted]).any() and len(held_out) == 40
        assert classes[held_out].sum() == 4


def test_splitters_and_lists_of_folds_are_taken_as_they_are():
    X, y = table(90)
    groups = np.arange(90) // 10
    listed = list(GroupKFold(3).split(X, groups=groups))
    model = nimt.GreedyKernelRegressor(cv=listed).fit(X, y)
    samples = Samples(X, y)
    rows = np.arange(90)
    assert [sorted(held.tolist()) for _, held in make_folds(listed, samples, rows, None, 0)] == [
        sorted(held.tolist()) for _, held in listed
    ]
    assert model.score(X, y) > 0.8
    splitter = clone(model).set_params(cv=KFold(3)).fit(X, y)
    same = clone(model).set_params(cv=list(KFold(3).split(X))).fit(X, y)
    np.testing.assert_array_equal(splitter.coef_, same.coef_)
    weight = (np.arange(90) % 4 > 0).astype(float)
    assert weight[clone(splitter).fit(X, y, sample_weight=weight).support_].all()


def test_of_many_rows_one_fold_is_held_out(monkeypatch):
    monkeypatch.setattr(folds, "MANY", 100)
    X, y = table(101)
    parts = five_folds(Samples(X, y))
    assert len(parts) == 1 and len(parts[0][1]) == 21
    assert nimt.GreedyKernelRegressor().fit(X, y).score(X, y) > 0.8


def test_another_seed_deals_other_folds_and_the_same_one_the_same():
    samples, rows = Samples(*table()), np.arange(60)
    first, again, other = (make_folds(5, samples, rows, None, seed)[0][1] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


# probabilities, deviations, weights, features, files


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_rows_held_out(classes):
    X, y = make_moons(900, noise=0.3, random_state=0)
    y = y if classes == 2 else np.where(X[:, 0] > 1.2, 2, y)
    model = nimt.GreedyKernelClassifier(max_centers=60).fit(X[:400], y[:400])
    probabilities = model.predict_proba(X[400:])
    assert probabilities.shape == (500, classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X[400:]), probabilities.argmax(axis=1))
    own = probabilities[np.arange(500), y[400:]]
    assert np.mean(-np.log(own)) < (0.3 if classes == 2 else 0.4)
    sure = probabilities.max(axis=1)
    middle = (sure > 0.6) & (sure < 0.9)  # where it says about 75 %, it is right about as often
    assert abs(np.mean(model.predict(X[400:])[middle] == y[400:][middle]) - sure[middle].mean()) < 0.12
    assert not hasattr(nimt.GreedyKernelClassifier(cv=None, rule="f").fit(X[:50], y[:50]), "predict_proba")


def test_class_weights_are_weights_of_rows():
    X, y = make_moons(300, noise=0.4, random_state=1)
    kept = (y == 0) | (np.arange(300) % 5 == 0)
    X, y = X[kept], y[kept]
    plain = nimt.GreedyKernelClassifier(max_centers=30)
    balanced = clone(plain).set_params(class_weight="balanced").fit(X, y)
    counts = np.bincount(y)
    weighted = clone(plain).fit(X, y, sample_weight=(len(y) / 2 / counts)[y])
    np.testing.assert_allclose(balanced.decision_function(X), weighted.decision_function(X), atol=1e-9)
    found = [np.mean(model.predict(X[y == 1]) == 1) for model in (balanced, plain.fit(X, y))]
    assert found[0] > found[1] + 0.05
    np.testing.assert_allclose(balanced.class_prior_, [0.5, 0.5])


def test_the_deviation_is_that_of_a_gaussian_process_where_all_rows_are_centres():
    X, y = table(30)
    model = nimt.GreedyKernelRegressor(width=WIDTH, tol=0.0, regularisation=0.05, cv=None, rule="f")
    model.fit(X, y - y.mean())
    model.noise_ = np.array([0.3])  # of rows held out there is none where all are centres
    covariance = ConstantKernel(model.noise_[0] ** 2 / 0.05) * RBF(WIDTH / 2**0.5)
    process = GaussianProcessRegressor(covariance + WhiteKernel(model.noise_[0] ** 2), alpha=0.0, optimizer=None)
    process.fit(X, y - y.mean())
    new = table(20, seed=9)[0] * 2
    ours, theirs = model.predict(new, return_std=True), process.predict(new, return_std=True)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-8)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6)


def test_errors_on_new_rows_are_as_large_as_the_deviation_says():
    X, y = table(400, outputs=2, noise=0.2)
    model = nimt.GreedyKernelRegressor().fit(X, y)
    new, labels = table(1000, outputs=2, seed=9, noise=0.2)
    values, deviation = model.predict(new, return_std=True)
    np.testing.assert_allclose(np.sqrt(np.mean(((labels - values) / deviation) ** 2, axis=0)), 1.0, atol=0.1)
    far = model.predict([[5.0, 5.0]], return_std=True)[1]
    assert (far > 2 * deviation.mean(axis=0)).all()


def test_a_deviation_that_cannot_be_stated_is_refused():
    X, y = table()
    for options in ({"cv": None, "rule": "f"}, {"regularisation": 0.0}, {"refit": False}):
        model = nimt.GreedyKernelRegressor(max_centers=5, **options).fit(X, y)
        with pytest.raises(nimt.InvalidInput, match="return_std=True needs rows held out"):
            model.predict(X, return_std=True)


def test_features_are_the_kernel_at_the_centres():
    pandas = pytest.importorskip("pandas")
    X, y = table()
    frame = pandas.DataFrame(X, columns=["width", "height"])
    model = nimt.GreedyKernelRegressor(max_centers=8).fit(frame, y)
    features = model.transform(frame)
    np.testing.assert_allclose(features, nimt.rbf(model.kernel_.width)(X, X[model.support_]))
    np.testing.assert_allclose(model.predict(frame), model.intercept_ + features @ model.coef_)
    names = [f"greedykernelregressor{j}" for j in range(len(model.centers_))]
    assert model.get_feature_names_out().tolist() == names
    shown = model.set_output(transform="pandas").transform(frame)
    assert list(shown.columns) == names and shown.shape == features.shape


@pytest.mark.parametrize("estimator", [nimt.GreedyKernelRegressor, nimt.GreedyKernelClassifier])
def test_rows_that_cannot_be_read_are_refused_with_the_way_out(estimator):
    pandas = pytest.importorskip("pandas")
    X, y = table()
    y = (y > 0).astype(float)
    frame = pandas.DataFrame(X, columns=["width", "height"])
    model = estimator(max_centers=8).fit(frame, y)
    for ask in (lambda rows: estimator().fit(rows, y), model.predict, model.transform):
        with pytest.raises(nimt.InvalidInput, match=r"column 'height' of X holds words, such as 'tall'.*OneHotEncoder"):
            ask(frame.assign(height="tall"))
        for gap in (np.nan, None, pandas.NA):
            missing = frame.astype(object)
            missing.iloc[3, 1] = gap
            with pytest.raises(
                ValueError, match=r"X lacks 1 value \(NaN\), the first in row 3, column 'height'.*Imputer"
            ):
                ask(missing)
    for ask in (lambda rows: estimator().fit(rows, y), estimator(max_centers=8).fit(X, y).predict):
        with pytest.raises(nimt.InvalidInput, match=r"X is sparse.*X\.toarray\(\)"):
            ask(csr_matrix(X))
    written = frame.astype(str)  # numbers in quotes are numbers to scikit-learn, so to us
    np.testing.assert_allclose(model.predict(written), model.predict(frame))


def test_what_an_estimator_lacks_says_why():
    X, y = table()
    assert not hasattr(nimt.GreedyKernelRegressor(), "partial_fit")
    with pytest.raises(AttributeError, match=r"no partial_fit.*nimt\.KernelLearner"):
        _ = nimt.GreedyKernelClassifier().partial_fit
    unsure = nimt.GreedyKernelClassifier(cv=None, rule="f").fit(X, y > 0)
    assert not hasattr(unsure, "predict_proba")
    with pytest.raises(AttributeError) as told:
        unsure.predict_proba(X)
    assert "cv=None holds none: give cv=5" in str(told.value.__cause__)


@pytest.mark.parametrize("kernel", ["rbf", nimt.Wendland(3.0, dimension=2)], ids=["rbf", "wendland"])
def test_an_exported_model_is_its_expansion(kernel, tmp_path):
    X, y = table(80, outputs=2)
    model = nimt.GreedyKernelRegressor(kernel=kernel, max_centers=20).fit(X, y)
    model.export(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as file:
        assert ("width" in file) == (kernel == "rbf")
        read = nimt.kernels.parse_kernel(str(file["kernel"]), dimension=2)
        values = file["intercept"] + read(X, file["centers"]) @ file["coefficients"]
    np.testing.assert_array_equal(values, model.predict(X))
    words = np.array(["in", "out"], dtype=object)[(y[:, 0] > 0).astype(int)]
    nimt.GreedyKernelClassifier(max_centers=9).fit(X, words).export(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as file:
        assert file["classes"].tolist() == ["in", "out"]
