"""The base classes of scikit-learn that ours inherit, with the types that scikit-learn itself does not declare.

Without them a type checker knows nothing about a subclass and accepts any attribute, `KernelLearner.predit` included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import ArrayLike

    class Estimator:
        """An object that is described by the parameters of its constructor."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def set_params(self, **params: Any) -> Self: ...

    class Regressor:
        """An estimator of numbers."""

        def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...

    class Classifier:
        """An estimator of classes."""

        def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...

    class MultiOutput:
        """An estimator of several outputs at once."""

    class Transformer:
        """An estimator that makes features of rows."""

        def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None, **fit_params: Any) -> Any: ...

        def set_output(self, *, transform: str | None = None) -> Self: ...

    class PrefixedNames:
        """A transformer whose features are named by its class and a number."""

        def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any: ...

else:
    from sklearn.base import BaseEstimator as Estimator
    from sklearn.base import ClassifierMixin as Classifier
    from sklearn.base import ClassNamePrefixFeaturesOutMixin as PrefixedNames
    from sklearn.base import MultiOutputMixin as MultiOutput
    from sklearn.base import RegressorMixin as Regressor
    from sklearn.base import TransformerMixin as Transformer

__all__ = ["Classifier", "Estimator", "MultiOutput", "PrefixedNames", "Regressor", "Transformer"]
