"""ONNX files of the estimators answer as the estimators do; they are computed by onnx itself where it is installed."""

import sys

import numpy as np
import pytest

import nimt
from nimt.errors import ConstantModelWarning

pytestmark = pytest.mark.long


def run_onnx(path, X):
    reference = pytest.importorskip("onnx.reference")
    return reference.ReferenceEvaluator(str(path)).run(None, {"X": X})


@pytest.mark.parametrize("outputs", [(), (1,), (2,)])
def test_an_onnx_file_predicts_what_the_regressor_does(tmp_path, outputs):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (80, 2)) + 100.0  # far from 0, where |x|^2 - 2 x c + |c|^2 would lose digits
    y = np.sin(3 * X[:, 0]).reshape(80, *(1 for _ in outputs)) * np.ones(outputs)
    model = nimt.GreedyKernelRegressor(max_centers=15).fit(X, y)
    pytest.importorskip("onnx")
    model.export(tmp_path / "model.onnx")
    (values,) = run_onnx(tmp_path / "model.onnx", X)
    assert values.shape == model.predict(X).shape
    np.testing.assert_allclose(values, model.predict(X), atol=1e-9)


@pytest.mark.parametrize("names", [["no", "yes"], [3, 7], [1, 2, 5], ["a", "b", "c"]])
@pytest.mark.parametrize("cv", [3, None])
def test_an_onnx_file_names_the_classes_that_the_classifier_does(tmp_path, names, cv):
    pytest.importorskip("onnx")
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (90, 2))
    y = np.array(names)[np.digitize(X[:, 0], np.linspace(-1, 1, len(names) + 1)[1:-1])]
    rule = {"rule": "f", "max_centers": 12} if cv is None else {"max_centers": 12}
    model = nimt.GreedyKernelClassifier(cv=cv, **rule).fit(X, y)
    model.export(tmp_path / "model.onnx")
    label, scores, *shares = run_onnx(tmp_path / "model.onnx", X)
    assert np.array_equal(np.asarray(label).astype(y.dtype), model.predict(X))
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-9)
    assert len(shares) == (cv is not None)
    if shares:
        np.testing.assert_allclose(shares[0], model.predict_proba(X), atol=1e-9)


def test_an_onnx_file_of_a_constant_model_and_of_other_kernels(tmp_path):
    pytest.importorskip("onnx")
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (60, 2))
    with pytest.warns(ConstantModelWarning):
        model = nimt.GreedyKernelClassifier().fit(X, rng.integers(0, 2, 60))
    model.export(tmp_path / "model.onnx")
    label, _, shares = run_onnx(tmp_path / "model.onnx", X)
    assert np.array_equal(label, model.predict(X))
    np.testing.assert_allclose(shares, model.predict_proba(X))
    other = nimt.GreedyKernelRegressor(kernel=nimt.Wendland(2.0, 2)).fit(X, X[:, 0])
    with pytest.raises(nimt.InvalidInput, match="holds kernel='rbf' only"):
        other.export(tmp_path / "other.onnx")
    assert not (tmp_path / "other.onnx").exists()


def test_without_onnx_a_sentence_names_the_package_and_the_other_file(tmp_path, monkeypatch):
    X = np.linspace(-1, 1, 30).reshape(-1, 1)
    model = nimt.GreedyKernelRegressor(max_centers=5).fit(X, X[:, 0])
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(nimt.errors.MissingExtra, match=r"needs the package onnx: pip install onnx, or export to \.npz"):
        model.export(tmp_path / "model.onnx")
