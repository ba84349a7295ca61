"""Models that are fitted to rows: how features are prepared for them, candidates for f*, and students by name."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils import get_tags
from threadpoolctl import ThreadpoolController

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.teaching_sets.row_checks import Features, check_student_name, take_rows

ALPHAS = np.logspace(-3, 5, 17)
CENTRES = 300  # of the kernel model that stands for kernel ridge on any number of rows
MOST_FOR_SVC = 5000  # rows; for more, a kernel model with few centres stands for support vectors
MOST_FOR_ONE_THREAD = 20_000  # rows
ASKED_AT_ONCE = 20_000  # rows that a model answers at a time
MOST_WORDS = 50  # of a column, each with a coordinate of its own; rarer ones share one
SMALL_NETWORK: dict[str, Any] = {"hidden_layer_sizes": (32,), "solver": "lbfgs", "alpha": 0.1, "max_iter": 200}


def _with_scaled_target(regressor: Any) -> Any:
    return TransformedTargetRegressor(regressor, transformer=StandardScaler())


# by name: one for numbers, one for classes
STUDENTS: dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]] = {
    "linear": (lambda seed: RidgeCV(ALPHAS), lambda seed: LogisticRegression(max_iter=1000)),
    "svm": (lambda seed: _with_scaled_target(SVR()), lambda seed: SVC(random_state=seed)),
    "kernel-ridge": (lambda seed: _with_scaled_target(KernelRidge(alpha=0.1, kernel="rbf")), lambda seed: SVC()),
    "forest": (
        lambda seed: RandomForestRegressor(random_state=seed),
        lambda seed: RandomForestClassifier(random_state=seed),
    ),
    "trees": (
        lambda seed: HistGradientBoostingRegressor(random_state=seed),
        lambda seed: HistGradientBoostingClassifier(random_state=seed),
    ),
    "network": (
        lambda seed: _with_scaled_target(MLPRegressor(random_state=seed, **SMALL_NETWORK)),
        lambda seed: MLPClassifier(random_state=seed, **SMALL_NETWORK),
    ),
    "neighbours": (lambda seed: KNeighborsRegressor(), lambda seed: KNeighborsClassifier()),
}


def make_preparation(X: Features, *, scale: bool = True) -> Any:
    """Return what turns features into numbers: medians for missing ones, a coordinate for each word, all scaled."""
    numbers = [SimpleImputer(strategy="median", keep_empty_features=True), *([StandardScaler()] if scale else [])]
    if isinstance(X, np.ndarray):
        return make_pipeline(*numbers)
    of_words = [name for name in X.columns if X[name].dtype.kind != "f"]
    of_numbers = [name for name in X.columns if name not in of_words]
    words = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_WORDS, sparse_output=False)
    parts = [("numbers", make_pipeline(*numbers), of_numbers), ("words", words, of_words)]
    return ColumnTransformer([part for part in parts if part[2]])


def list_candidates(X: Features, classes: bool, rows: int, seed: int) -> dict[str, Any]:
    """Return models by name, of which the best by cross-validation becomes f*; `rows` are those of each fit."""
    count = max(1, min(CENTRES, rows))
    width = make_preparation(X).fit_transform(X).shape[1]
    models: dict[str, Any]
    if classes:
        models = {
            "logistic regression": LogisticRegression(max_iter=1000),
            "support vectors": SVC(random_state=seed)
            if rows <= MOST_FOR_SVC
            else make_pipeline(
                Nystroem(gamma=1 / width, n_components=count, random_state=seed), LogisticRegression(max_iter=1000)
            ),
            "gradient-boosted trees": HistGradientBoostingClassifier(
                max_leaf_nodes=15, max_iter=50, learning_rate=0.15, random_state=seed
            ),
        }
    else:
        models = {
            "ridge": RidgeCV(ALPHAS),
            "kernel ridge": make_pipeline(
                Nystroem(gamma=0.5 / width, n_components=count, random_state=seed), RidgeCV(ALPHAS)
            ),
            "wide kernel ridge": make_pipeline(
                Nystroem(gamma=0.05 / width, n_components=count, random_state=seed), RidgeCV(ALPHAS)
            ),
            "gradient-boosted trees": HistGradientBoostingRegressor(max_leaf_nodes=15, random_state=seed),
        }
    return {name: make_pipeline(make_preparation(X), model) for name, model in models.items()}


def make_student(student: Any, X: Features, classes: bool, seed: int) -> Any:
    """Return a student that is not fitted, from its name or from an estimator; refuse what cannot be one."""
    if isinstance(student, str):
        check_student_name(student)
        return make_pipeline(make_preparation(X), STUDENTS[student][classes](seed))
    name = type(student).__name__
    if isinstance(student, type):
        raise InvalidInput(f"must be an object, got the class {student.__name__}", parameter="student")
    for method in ("fit", "predict"):
        if not callable(getattr(student, method, None)):
            raise InvalidInput(
                f"must be an estimator with fit and predict, and {name} has no {method}", parameter="student"
            )
    learns_classes = says_classes(student)
    if learns_classes and not classes:
        raise InvalidInput(
            f"the student {name} is a classifier, and the labels are numbers: give a regressor, or classes=True"
        )
    if learns_classes is False and classes:
        raise InvalidInput(
            f"the student {name} is a regressor, and the labels are classes: give a classifier, or classes=False"
        )
    return adapt(student, X)


def adapt(estimator: Any, X: Features) -> Any:
    """Return a copy of an estimator that is not fitted; words and missing numbers are prepared if it cannot take them.

    A pipeline prepares its own features, and is left as it is.
    """
    if not callable(getattr(estimator, "get_params", None)):
        name = type(estimator).__name__
        raise InvalidInput(
            f"{name} has fit and predict and no get_params, so that no copy of it can be fitted to other rows: let it "
            f"inherit from sklearn.base.BaseEstimator"
        )
    try:
        copy = clone(estimator)
    except (TypeError, RuntimeError) as error:
        raise InvalidInput(f"{type(estimator).__name__} cannot be copied by scikit-learn's clone: {error}") from None
    if isinstance(copy, Pipeline) or not _needs_preparation(copy, X):
        return copy
    return make_pipeline(make_preparation(X, scale=False), copy)


def _needs_preparation(estimator: Any, X: Features) -> bool:
    if not isinstance(X, np.ndarray) and any(X[name].dtype.kind != "f" for name in X.columns):
        return True
    has_gaps = bool(np.isnan(np.asarray(X, dtype=np.float64)).any())
    return has_gaps and not (hasattr(estimator, "__sklearn_tags__") and get_tags(estimator).input_tags.allow_nan)


def says_classes(*models: Any) -> bool | None:
    """Return whether the labels are classes, as a classifier or a regressor among models says; None if none does."""
    for model in models:
        if hasattr(model, "__sklearn_tags__") and not isinstance(model, type):
            if is_classifier(model):
                return True
            if is_regressor(model):
                return False
    return None


@contextlib.contextmanager
def with_one_thread() -> Iterator[None]:
    """Let few rows be worked on by one thread: many fits are small, and threads of each would wait for one another."""
    with ThreadpoolController().limit(limits=1):
        yield


def with_few_threads(model: Any, rows: int) -> contextlib.AbstractContextManager[None]:
    """Return `with_one_thread`, unless a model of the user is fitted to many rows."""
    return contextlib.nullcontext() if rows > MOST_FOR_ONE_THREAD and not isinstance(model, str) else with_one_thread()


def fit_quietly(model: Any, X: Features, y: NDArray[Any] | None) -> Any:
    """Fit a model to rows, without the remarks of solvers that stop early: its quality is measured instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")
        return model.fit(X, y)


def score(answers: NDArray[Any], truth: NDArray[Any], classes: bool) -> float:
    """Return the accuracy of classes, or R^2 of numbers.

    Examples
    --------
    >>> score(np.array(["a", "b"]), np.array(["a", "a"]), True)
    0.5
    """
    if classes:
        return float(np.mean(answers == truth))
    total = float(np.sum((truth - truth.mean()) ** 2))
    return 1.0 - float(np.sum((answers - truth) ** 2)) / total if total > 0 else float("nan")


def predict(model: Any, X: Features) -> NDArray[Any]:
    """Return what an estimator answers; many rows are asked in parts, so that memory does not grow with them."""
    return _ask_in_parts(lambda part: np.asarray(model.predict(part)), X)


def score_classes(model: Any, X: Features, classes: NDArray[Any]) -> Array:
    """Return how much a classifier holds with each class (n, q): probabilities, or what stands for them."""
    return _ask_in_parts(lambda part: _score_part(model, part, classes), X)


def _ask_in_parts(ask: Callable[[Features], NDArray[Any]], X: Features) -> NDArray[Any]:
    if len(X) <= ASKED_AT_ONCE:
        return ask(X)
    return np.concatenate(
        [
            ask(take_rows(X, np.arange(begin, min(begin + ASKED_AT_ONCE, len(X)))))
            for begin in range(0, len(X), ASKED_AT_ONCE)
        ]
    )


def _score_part(model: Any, X: Features, classes: NDArray[Any]) -> Array:
    if hasattr(model, "predict_proba"):
        found = np.asarray(model.predict_proba(X), dtype=np.float64)
    elif hasattr(model, "decision_function"):
        decided = np.asarray(model.decision_function(X), dtype=np.float64)
        decided = np.column_stack([-decided, decided]) if decided.ndim == 1 else decided
        powers = np.exp(decided - decided.max(axis=1, keepdims=True))
        found = powers / powers.sum(axis=1, keepdims=True)
    else:
        return np.asarray(np.asarray(model.predict(X))[:, np.newaxis] == classes, dtype=np.float64)
    known = np.asarray(getattr(model, "classes_", classes))
    if found.shape[1] != len(known):  # such as one-against-one scores
        return np.asarray(np.asarray(model.predict(X))[:, np.newaxis] == classes, dtype=np.float64)
    scores = np.zeros((len(found), len(classes)))
    for place, name in enumerate(known):
        scores[:, np.flatnonzero(classes == name)] = found[:, [place]]
    return scores
