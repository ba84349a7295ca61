"""The greedy estimators: what they choose, against plain loops, nimt.teach and pyMOR; what they fit; scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_info

import nimt
from nimt.estimators import greedy_model as base
from nimt.estimators.path import SHARES
from nimt.estimators.refitting import NestedRidge
from nimt.estimators.samples import Samples
from nimt.estimators.width import median_width
from oracles import gauss

pytestmark = pytest.mark.long

WIDTH = 0.7
KERNEL = nimt.rbf(WIDTH)
RULES = {
    "f": lambda r, p: r,
    "P": lambda r, p: p,
    "f*P": lambda r, p: r * p,
    "f/P": lambda r, p: r / p,
    0.25: lambda r, p: r**0.25 * p**0.75,
}


def table(n=40, outputs=None, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    y = np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)
    return X, y if outputs is None else np.column_stack([y * (k + 1) + X[:, k % 2] for k in range(outputs)])


def interpolating(**options):
    return nimt.GreedyKernelRegressor(**{"width": WIDTH, "refit": False, "tol": 0.0, "cv": None, "rule": "f"} | options)


def of_all(**options):
    """A regressor that takes all centres that it may, and holds no rows out."""
    return nimt.GreedyKernelRegressor(**{"cv": None, "rule": "f"} | options)


# the choice


def solved(matrix, right):
    """Solve a small system by elimination with pivots, in plain loops."""
    rows = [list(row) + list(more) for row, more in zip(matrix, right, strict=True)]
    size = len(rows)
    for p in range(size):
        best = max(range(p, size), key=lambda q: abs(rows[q][p]))
        rows[p], rows[best] = rows[best], rows[p]
        for q in range(size):
            if q != p:
                factor = rows[q][p] / rows[p][p]
                rows[q] = [u - factor * v for u, v in zip(rows[q], rows[p], strict=True)]
    return [[value / rows[p][p] for value in rows[p][size:]] for p in range(size)]


def greedy_in_plain_loops(points, labels, rule, steps, ridge=0.0):
    """Choose by solving the whole interpolation problem anew at every step; return centres and errors by step."""
    kernel, n, q = gauss(WIDTH), len(points), len(labels[0])
    mean = [sum(row[k] for row in labels) / n for k in range(q)]
    centred = [[row[k] - mean[k] for k in range(q)] for row in labels]
    centers, errors = [], []
    while True:
        gram = [[kernel(points[a], points[b]) + ridge * (a == b) for b in centers] for a in centers]
        coefficients = solved(gram, [centred[c] for c in centers])
        scores, squares = {}, 0.0
        for i, x in enumerate(points):
            section = [kernel(points[c], x) for c in centers]
            f = [sum(s * c[k] for s, c in zip(section, coefficients, strict=True)) for k in range(q)]
            residual = math.dist(f, centred[i])
            squares += residual**2
            if i not in centers:
                weights = solved(gram, [[s] for s in section])
                power = 1 - sum(s * w[0] for s, w in zip(section, weights, strict=True))
                scores[i] = RULES[rule](residual, max(power, 0.0) ** 0.5)
        errors.append((squares / n / q) ** 0.5)
        if len(centers) == steps:
            return centers, errors
        centers.append(max(scores, key=scores.get))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("outputs", [None, 3])
@pytest.mark.parametrize("ridge", [0.0, 0.01])
@pytest.mark.sampled(3)
def test_every_choice_is_that_of_plain_loops(rule, outputs, ridge):
    X, y = table(25, outputs)
    model = interpolating(rule=rule, max_centers=9, regularisation=ridge).fit(X, y)
    centers, errors = greedy_in_plain_loops(X.tolist(), y.reshape(25, -1).tolist(), rule, 9, ridge)
    assert model.lesson_.indices.tolist() == centers
    np.testing.assert_allclose(model.lesson_.discrepancy, errors, rtol=1e-8)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("outputs", [None, 2])
def test_it_is_the_lesson_of_an_interpolating_learner(rule, outputs):
    X, y = table(300, outputs)
    y = y - y.mean(axis=0)
    model = interpolating(rule=rule, max_centers=25).fit(X, y)
    teacher = nimt.teachers.InterpolationTeacher(rule, kernel=KERNEL)
    lesson = nimt.teach(
        nimt.learners.OrthogonalLearner(KERNEL), teacher, X, y, max_iterations=25, tol=None, measure="rms"
    )
    np.testing.assert_array_equal(model.lesson_.indices, lesson.indices[:, 0])
    np.testing.assert_allclose(model.lesson_.discrepancy, lesson.discrepancy, rtol=1e-7)
    new, largest = table(50, seed=8)[0], np.abs(model.coef_).max()
    np.testing.assert_allclose(model.predict(new), lesson.learner.predict(new), atol=1e-6 * largest)


@pytest.mark.parametrize(("rule", "criterion"), [("f", "f"), ("P", "p"), ("f*P", "fp")])
@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.filterwarnings("default")  # what pyMOR warns of is not ours
def test_pymor_chooses_the_same_centres(rule, criterion, outputs):
    vkoga = pytest.importorskip("pymor.algorithms.ml.vkoga")
    X, y = table(200, outputs)
    model = interpolating(rule=rule, max_centers=20).fit(X, y)
    theirs = vkoga.VKOGARegressor(
        kernel=RBF(WIDTH / np.sqrt(2)), criterion=criterion, max_centers=20, tol=0.0, reg=0.0
    ).fit(X, y - y.mean(axis=0))
    np.testing.assert_array_equal(model.support_, theirs._surrogate._centers_idx)
    np.testing.assert_allclose(
        model.predict(X), theirs.predict(X).reshape(y.shape) + y.mean(axis=0), atol=1e-9 * np.abs(model.coef_).max()
    )


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), rule=st.sampled_from(["f", "P", "f*P"]))
def test_permuting_the_rows_permutes_the_choice(seed, rule):
    X, y = table(30, seed=seed)
    order = np.random.default_rng(seed).permutation(30)
    model = interpolating(rule=rule, max_centers=8)
    straight, permuted = model.fit(X, y).support_, clone(model).fit(X[order], y[order]).support_
    if rule == "P":  # its first choice is a tie of all rows, which goes to the lowest index
        assert straight[0] == permuted[0] == 0
    else:
        np.testing.assert_array_equal(order[permuted], straight)


def test_it_stops_at_the_tolerance():
    X, _ = table(200)
    smooth = np.sin(X[:, 0]) + X[:, 1]
    model = of_all(tol=1e-3).fit(X, smooth)
    curve = model.lesson_.discrepancy
    assert model.lesson_.outcome is nimt.lesson.Outcome.CONVERGED
    assert curve[-1] <= 1e-3 * curve[0] < curve[:-1].min()
    assert curve[0] == pytest.approx(smooth.std())


def test_it_stops_when_no_row_can_teach_it_anything():
    X, y = table(50)
    model = of_all(kernel=nimt.linear()).fit(X, y)  # a space of three dimensions
    assert len(model.centers_) == 3 and model.lesson_.outcome is nimt.lesson.Outcome.STATIONARY
    twice = of_all(tol=0.0).fit(np.vstack([X[:5], X[:5]]), np.append(y[:5], y[:5] + 1))
    assert len(twice.centers_) == 5


def test_constant_labels_need_no_centre():
    X, _ = table(20)
    model = nimt.GreedyKernelRegressor().fit(X, np.full(20, 3.0))
    assert model.centers_.shape == (0, 2) and model.coef_.shape == (0,)
    np.testing.assert_array_equal(model.predict(X), 3.0)
    two = nimt.GreedyKernelRegressor(max_centers=3).fit(X, np.full((20, 2), [1.0, 2.0]))
    np.testing.assert_array_equal(two.predict(X[:2]), [[1.0, 2.0], [1.0, 2.0]])


def test_the_lesson_says_what_happened():
    X, y = table(60)
    model = of_all(max_centers=7).fit(X, y)
    lesson = model.lesson_
    assert (
        len(lesson) == 7
        and lesson.outcome is nimt.lesson.Outcome.BUDGET
        and lesson.elapsed > 0
        and lesson.held_out == {}
    )
    np.testing.assert_array_equal(model.centers_, X[lesson.indices])
    np.testing.assert_array_equal(model.support_, lesson.indices)
    columns = lesson.to_table()
    assert {name: len(column) for name, column in columns.items()} == dict.fromkeys(columns, 8)
    assert columns["index"][-1] == -1 and np.isnan(columns["score"][-1])
    assert columns["score"][0] == pytest.approx(np.abs(y - y.mean()).max())
    assert lesson.steps_to(np.inf) == 0 and lesson.steps_to(0.0) is None
    assert "7 centres: the iteration budget ran out" in repr(lesson)


# the coefficients


def expected_ridge(model, X, y, weight, lam):
    """Solve (K'WK + lam Kmm) c = K'W y, the definition, in extended precision."""
    kernel = gauss(WIDTH)
    section = np.array([[kernel(x, c) for c in model.centers_] for x in X], dtype=np.longdouble)
    among = np.array([[kernel(a, c) for c in model.centers_] for a in model.centers_], dtype=np.longdouble)
    weighted = section.T * weight
    mean = np.average(y, axis=0, weights=weight)
    left, right = weighted @ section + lam * among, weighted @ (y - mean)
    return mean + section @ np.array(solved(left.tolist(), right.reshape(len(left), -1).tolist())).reshape(
        -1, *y.shape[1:]
    )


@pytest.mark.parametrize("lam", [0.0, 1e-3, 2.0])
@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_refit_minimises_over_all_labels(lam, outputs, weighted):
    X, y = table(60, outputs)
    weight = np.random.default_rng(1).uniform(0.5, 3, 60) if weighted else np.ones(60)
    model = of_all(width=WIDTH, max_centers=6, regularisation=lam)
    model.fit(X, y, sample_weight=weight if weighted else None)
    np.testing.assert_allclose(model.predict(X), expected_ridge(model, X, y, weight, lam), rtol=0, atol=1e-8)
    np.testing.assert_array_equal(model.regularisation_, lam)


def test_with_all_rows_as_centres_it_is_kernel_ridge_regression():
    X, y = table(30)
    model = of_all(width=WIDTH, max_centers=30, tol=0.0, regularisation=0.1).fit(X, y)
    ridge = KernelRidge(kernel="rbf", gamma=1 / WIDTH**2, alpha=0.1).fit(X, y - y.mean())
    assert len(model.centers_) == 30
    np.testing.assert_allclose(model.predict(X), ridge.predict(X) + y.mean(), atol=1e-9)


def test_without_refit_it_interpolates_or_is_kernel_ridge_regression_on_the_centres():
    X, y = table(60)
    model = interpolating(max_centers=10).fit(X, y)
    np.testing.assert_allclose(model.predict(model.centers_), y[model.support_], atol=1e-9)
    model = interpolating(max_centers=10, regularisation=0.2).fit(X, y)
    ridge = KernelRidge(kernel="rbf", gamma=1 / WIDTH**2, alpha=0.2).fit(model.centers_, y[model.support_] - y.mean())
    np.testing.assert_allclose(model.predict(X), ridge.predict(X) + y.mean(), atol=1e-9)


def cross_validation_error(V, y, lam):
    """Generalised cross-validation from its definition, by the hat matrix."""
    hat = V @ np.linalg.solve(V.T @ V + lam * np.eye(V.shape[1]), V.T)
    n = len(y)
    return n * np.sum((y - hat @ y) ** 2) / (n - np.trace(hat)) ** 2


def test_the_regularisation_is_chosen_by_generalised_cross_validation():
    rng = np.random.default_rng(0)
    V = rng.normal(size=(80, 12)) * np.logspace(0, -2, 12)
    Y = V @ rng.normal(size=(12, 2)) + rng.normal(size=(80, 2)) * [0.1, 3.0]
    ridge = NestedRidge(V.T, Samples(np.empty((80, 0)), Y)).solve(12)
    penalties = ridge.unit * SHARES[:-1]
    places = ridge.cross_validate(penalties)
    chosen, b = penalties[places], ridge.coefficients(penalties)[:, [0, 1], places]
    for k in range(2):
        errors = [cross_validation_error(V, Y[:, k], factor * chosen[k]) for factor in (1.0, 0.2, 0.6, 1.8, 5.0)]
        assert min(errors) == errors[0]
        expected = np.linalg.solve(V.T @ V + chosen[k] * np.eye(12), V.T @ Y[:, k])
        np.testing.assert_allclose(b[:, k], expected, rtol=1e-9, atol=1e-12)


def test_rows_are_factorised_in_blocks_without_a_difference():
    X, y = table(1000)
    model = of_all(width=WIDTH, max_centers=5, regularisation=0.0).fit(X, y)  # many blocks
    np.testing.assert_allclose(model.predict(X), expected_ridge(model, X, y, np.ones(1000), 0.0), atol=1e-9)


@pytest.mark.parametrize("kind", [nimt.GreedyKernelRegressor, nimt.GreedyKernelClassifier])
def test_a_weight_is_a_number_of_rows(kind):
    X, y = table(60)
    y = y if kind is nimt.GreedyKernelRegressor else (y > 0).astype(int)
    weight = np.random.default_rng(2).integers(0, 4, 60)
    weighted = kind(max_centers=12).fit(X, y, sample_weight=weight)
    repeated = kind(max_centers=12).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.centers_, repeated.centers_)
    assert weighted.regularisation_ == pytest.approx(repeated.regularisation_)
    new = table(50, seed=9)[0]
    name = "predict" if kind is nimt.GreedyKernelRegressor else "decision_function"
    np.testing.assert_allclose(getattr(weighted, name)(new), getattr(repeated, name)(new), atol=1e-8)
    assert weight[weighted.support_].all()  # rows of weight 0 are never centres


def test_noise_ruins_an_interpolant_and_not_the_refit():
    rng = np.random.default_rng(0)
    X, new = rng.uniform(-1, 1, (2, 600, 2))
    truth = np.sin(3 * new[:, 0]) * np.cos(4 * new[:, 1])
    y = np.sin(3 * X[:, 0]) * np.cos(4 * X[:, 1]) + 0.3 * rng.normal(size=600)
    scores = [of_all(refit=again).fit(X, y).score(new, truth) for again in (True, False)]
    assert scores[0] > 0.97 and scores[1] < 0.0


def test_the_defaults_fit_a_smooth_function_well():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1000, 2))
    y = np.sin(3 * X[:, 0]) * np.cos(4 * X[:, 1])
    assert 1 - nimt.GreedyKernelRegressor().fit(X[:500], y[:500]).score(X[500:], y[500:]) < 1e-8


# the width


def test_the_width_is_the_median_distance():
    X, _ = table(21)
    distances = sorted(math.dist(a, b) for i, a in enumerate(X) for b in X[:i])
    assert median_width(X) == distances[(len(distances) - 1) // 2]
    model = nimt.GreedyKernelRegressor().fit(*table(21))
    assert model.kernel_.width == pytest.approx(median_width(X))


def test_the_width_of_repeated_equal_and_many_rows():
    X, _ = table(20)
    weight = np.arange(20) % 3
    assert median_width(X, weight) == median_width(np.repeat(X, weight, axis=0))
    assert median_width(np.ones((5, 2))) == 1.0
    many, _ = table(3000)
    assert median_width(many) == median_width(many.copy())
    assert median_width(many) == pytest.approx(median_width(many[:450]), rel=0.1)


# classification


def test_two_classes_by_sign_and_more_by_the_largest():
    X, _ = table(300)
    words = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    model = nimt.GreedyKernelClassifier().fit(X, words)
    assert model.classes_.tolist() == ["other", "same"] and model.coef_.ndim == 1
    assert model.score(X, words) > 0.97
    np.testing.assert_array_equal(model.predict(X) == "same", model.decision_function(X) > 0)
    three = np.digitize(X[:, 0], [-0.3, 0.3])
    model = nimt.GreedyKernelClassifier().fit(X, three)
    assert model.decision_function(X).shape == (300, 3) and model.coef_.shape == (len(model.centers_), 3)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))
    assert model.score(X, three) > 0.97


def test_it_is_the_regressor_on_signs():
    X, y = table(100)
    labels = y > 0
    classifier = nimt.GreedyKernelClassifier(max_centers=15, cv=None, rule="f").fit(X, labels)
    regressor = of_all(max_centers=15).fit(X, np.where(labels, 1.0, -1.0))
    np.testing.assert_array_equal(classifier.support_, regressor.support_)
    np.testing.assert_array_equal(classifier.decision_function(X), regressor.predict(X))


# scikit-learn


@pytest.mark.parametrize("model", [nimt.GreedyKernelRegressor(), nimt.GreedyKernelClassifier()], ids=repr)
@pytest.mark.slow
# scikit-learn's checks provoke its own warnings; and where they draw labels at random, a constant is right
@pytest.mark.filterwarnings("default", "ignore::nimt.errors.ConstantModelWarning")
def test_scikit_learn_accepts_it_whole(model):
    results = check_estimator(model, on_skip=None)
    passed = [result["check_name"] for result in results if result["status"] == "passed"]
    others = {result["check_name"]: result["status"] for result in results if result["status"] != "passed"}
    assert len(passed) > 50
    assert others == {"check_array_api_input": "skipped"}  # it is skipped for every estimator unless SciPy is told to


@pytest.mark.filterwarnings("ignore::nimt.errors.ConstantModelWarning")  # with a width of a thousandth, rightly
def test_grid_search_pipelines_and_clones():
    X, y = table(120)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), nimt.GreedyKernelRegressor(max_centers=20)),
        {"greedykernelregressor__width": [0.01, 1.0], "greedykernelregressor__rule": ["f", "P"]},
        cv=3,
    ).fit(X * [1.0, 1000.0], y)
    assert search.best_params_["greedykernelregressor__width"] == 1.0 and search.best_score_ > 0.8
    nested = GridSearchCV(nimt.GreedyKernelRegressor(kernel=RBF()), {"kernel__length_scale": [1e-3, 1.0]}, cv=3)
    assert nested.fit(X, y).best_params_ == {"kernel__length_scale": 1.0}
    widths = {"kernel__right__width": [1e-3, 1.0]}
    ours = GridSearchCV(nimt.GreedyKernelRegressor(kernel=2.0 * nimt.rbf(1.0)), widths, cv=3)
    assert ours.fit(X, y).best_params_ == {"kernel__right__width": 1.0}
    model = nimt.GreedyKernelRegressor(kernel=Matern(nu=1.5), rule="f*P", max_centers=9)
    fresh = clone(model)
    assert fresh.get_params()["kernel"] == model.kernel and fresh.get_params()["kernel"] is not model.kernel
    assert cross_val_score(fresh, X, y, cv=3).mean() > 0.5
    fitted = model.fit(X, y)
    assert fitted.kernel_ is not fitted.kernel and not hasattr(fresh, "coef_")


def test_set_output_and_feature_names():
    pandas = pytest.importorskip("pandas")
    X, y = table(60)
    frame = pandas.DataFrame(X, columns=["width", "height"])
    pipeline = make_pipeline(StandardScaler(), nimt.GreedyKernelRegressor()).set_output(transform="pandas")
    pipeline.fit(frame, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["width", "height"]
    plain = make_pipeline(StandardScaler(), nimt.GreedyKernelRegressor()).fit(X, y)
    np.testing.assert_allclose(pipeline.predict(frame), plain.predict(X), atol=1e-10)
    with pytest.raises(ValueError, match="feature names"):
        pipeline[-1].predict(frame[["height", "width"]])


def test_single_precision_gives_the_same_to_its_digits():
    X, y = table(100)
    double = nimt.GreedyKernelRegressor(max_centers=10).fit(X, y)
    single = nimt.GreedyKernelRegressor(max_centers=10).fit(X.astype(np.float32), y.astype(np.float32))
    assert single.predict(X.astype(np.float32)).dtype == np.float64
    np.testing.assert_array_equal(single.support_, double.support_)
    np.testing.assert_allclose(single.predict(X), double.predict(X), atol=1e-4)


def test_inputs_are_left_as_they_were_and_other_threads_too():
    X, y = table(100)
    X.flags.writeable = y.flags.writeable = False
    before = [pool["num_threads"] for pool in threadpool_info()]
    nimt.GreedyKernelRegressor().fit(X, y)
    assert [pool["num_threads"] for pool in threadpool_info()] == before


# what it refuses


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "linear"}, "kernel must be 'rbf' or a kernel such as"),
        ({"kernel": 3}, "kernel must be a kernel such as"),
        ({"kernel": WhiteKernel()}, "not a function of two points"),
        ({"kernel": RBF([1.0, 1.0, 1.0])}, "cannot be used on points of dimension 2"),
        ({"kernel": RBF(), "width": 1.0}, "width=1.0 is for kernel='rbf'"),
        ({"width": "mean"}, "width must be 'median' or a positive number, got 'mean'"),
        ({"width": 0.0}, "width must be a positive number"),
        ({"rule": "g"}, "rule must be one of f, P"),
        ({"max_centers": 0}, "max_centers must be a whole number >= 1, got 0"),
        ({"tol": -1.0}, "tol must be a finite number >= 0, got -1.0"),
        ({"regularisation": "none"}, "regularisation must be 'auto' or a number >= 0"),
        ({"regularisation": np.nan}, "regularisation must be a finite number >= 0"),
        ({"refit": "no"}, "refit must be True or False"),
        ({"cv": 1}, "cv must be a number of folds >= 2, a splitter of scikit-learn"),
        ({"cv": "all"}, "cv must be a number of folds >= 2"),
        ({"cv": [(np.arange(20), [])]}, "cv has a fold without rows to fit, or without rows to hold out"),
        ({"cv": None}, "rule='auto' needs rows held out: with cv=None give rule='f'"),
    ],
)
def test_bad_parameters_are_refused_when_fitted(options, message):
    with pytest.raises(nimt.InvalidInput, match=message):
        nimt.GreedyKernelRegressor(**options).fit(*table(20))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(19), r"one number per row, shape \(20,\), got \(19,\)"),
        (np.zeros(20), "zero for every row"),
        (np.r_[np.ones(19), -1], "must not be negative, got -1.0 at row 19"),
        (np.r_[np.ones(19), np.nan], "sample_weight has nan at index 19"),
        (["a"] * 20, "sample_weight must hold real numbers"),
        (np.full(20, 1e300), r"sample_weight runs from 1e\+300 to 1e\+300, .*: use weights near 1"),
        (np.full(20, 1e-320), "sample_weight runs from .*: use weights near 1"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(nimt.InvalidInput, match=message):
        nimt.GreedyKernelRegressor().fit(*table(20), sample_weight=weight)


def test_other_input_it_refuses(monkeypatch):
    X, y = table(20)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        nimt.GreedyKernelRegressor().fit(X[:, 0], y)
    with pytest.raises(ValueError, match=r"X lacks \d+ values? \(NaN\), the first in row"):
        nimt.GreedyKernelRegressor().fit(np.where(X > 0.5, np.nan, X), y)
    with pytest.raises(ValueError, match=r"y lacks \d+ values? \(NaN\)"):
        nimt.GreedyKernelRegressor().fit(X, np.where(y > 0, np.nan, y))
    with pytest.raises(ValueError, match="X has 1 features"):
        nimt.GreedyKernelRegressor().fit(X, y).predict(X[:, :1])
    with pytest.raises(nimt.InvalidInput, match="weights need refit=True"):
        interpolating().fit(X, y, sample_weight=np.ones(20))
    with pytest.raises(nimt.InvalidInput, match=r"y has one class, .*: a classifier needs at least two classes"):
        nimt.GreedyKernelClassifier().fit(X, np.ones(20, dtype=int))
    monkeypatch.setattr(base, "available_memory", lambda: 1000)
    with pytest.raises(nimt.errors.NotEnoughMemory, match=r"20 centres on 20 rows need 3.*lower max_centers"):
        of_all().fit(X, y)


@pytest.mark.parametrize("cv", [None, 5])
@pytest.mark.parametrize("kind", [nimt.GreedyKernelRegressor, nimt.GreedyKernelClassifier])
def test_an_estimator_stored_by_skops_predicts_as_before(kind, cv):
    skops = pytest.importorskip("skops.io", reason="estimators are kept by an extra: pip install 'nimt[skops]'")
    x = np.linspace(-3, 3, 100).reshape(-1, 1)
    y = np.sin(x).ravel() if kind is nimt.GreedyKernelRegressor else np.where(np.abs(x) < 1, "in", "out").ravel()
    model = kind(max_centers=10, cv=cv, rule="f").fit(x, y)
    written = skops.dumps(model)
    loaded = skops.loads(written, trusted=skops.get_untrusted_types(data=written))
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    assert loaded.lesson_.outcome is model.lesson_.outcome
    assert repr(loaded.lesson_) == repr(model.lesson_) and loaded.lesson_.held_out == model.lesson_.held_out
    np.testing.assert_array_equal(loaded.lesson_.indices, model.lesson_.indices)
    assert loaded.get_params() == model.get_params()


@pytest.mark.parametrize("kind", [nimt.GreedyKernelRegressor, nimt.GreedyKernelClassifier])
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_numbers_whose_squares_are_lost_are_refused_without_a_warning(kind, size):
    X, y = table(20)
    labels = y if kind is nimt.GreedyKernelRegressor else y > 0
    with pytest.raises(nimt.InvalidInput, match=r"X runs from .*: give it in other units"):
        kind().fit(size * X, labels)
    if kind is nimt.GreedyKernelRegressor:
        with pytest.raises(nimt.InvalidInput, match=r"y runs from .*: give it in other units"):
            kind().fit(X, size * y)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (np.arange(20).astype("datetime64[D]"), r"y holds datetime64\[D\]: give numbers"),
        (["a", "b"] * 10, "y holds words, and a regressor needs numbers"),
    ],
)
def test_labels_that_are_no_numbers_are_refused(labels, said):
    with pytest.raises(nimt.InvalidInput, match=said):
        nimt.GreedyKernelRegressor().fit(table(20)[0], labels)


def test_of_many_rows_some_are_drawn_and_that_is_told(capsys):
    X, y = table(300)
    with pytest.warns(nimt.errors.DrawnRowsWarning, match="100 of 300 rows are drawn at random"):
        model = nimt.GreedyKernelRegressor(max_rows=100, max_centers=10, verbose=True).fit(X, y)
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "10 centres on 100 rows, about 32 kB"  # a path for each of three rules, and the last
    assert told[1:4] == [
        f"rule {rule} on rows held out, {place} of 3" for rule, place in (("f", 1), ("f*P", 2), ("P", 3))
    ]
    assert model.n_rows_ == 100 and len(set(model.support_)) == len(model.centers_)
    np.testing.assert_array_equal(model.centers_, X[model.support_])
    whole = nimt.GreedyKernelRegressor(max_rows=None, max_centers=10).fit(X, y)
    assert whole.n_rows_ == 300 and not capsys.readouterr().out


def test_no_class_is_lost_where_rows_are_drawn():
    X, _ = table(400)
    kinds = np.array(["usual"] * 397 + ["rare"] * 3)
    X[397:] += 20.0
    with pytest.warns(nimt.errors.DrawnRowsWarning):
        model = nimt.GreedyKernelClassifier(max_rows=60, max_centers=10, cv=None, rule="P").fit(X, kinds)
    assert model.predict(X[397:]).tolist() == ["rare"] * 3
