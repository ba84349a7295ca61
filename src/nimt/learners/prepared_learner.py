"""A learner that was taught on a prepared table, used on rows as the table has them."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from nimt.arrays import Array, check_finite
from nimt.errors import InvalidInput
from nimt.learners.learner import Learner
from nimt.pools.pool import Pool
from nimt.pools.prepared_points import Preparation


class PreparedLearner:
    """A learner together with the preparation of its rows: scaling, words as coordinates, names of classes.

    What it does not have itself, such as `coefficients_`, is asked of the learner within; `centers_` are prepared.

    Parameters
    ----------
    learner : anything with `predict(X)` and `partial_fit(X, y)`
        On prepared points.
    preparation : Preparation

    Examples
    --------
    >>> import nimt
    >>> from nimt.pools.prepared_points import Column, Preparation
    >>> inner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5, loss="logistic")
    >>> learner = PreparedLearner(inner, Preparation((Column("size", 100.0, 50.0),), "kind", ("cat", "dog")))
    >>> learner.partial_fit([[150.0]], ["dog"]).predict({"size": [140.0]}).tolist()
    ['dog']
    """

    def __init__(self, learner: Learner, preparation: Preparation) -> None:
        self.learner = learner
        self.preparation = preparation

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions for rows as the table has them: numbers, or the words of the classes.

        X is an array of the features in order, or columns by name: a dictionary, a DataFrame.
        """
        return self.preparation.answers(self.decision_function(X))

    def decision_function(self, X: Any) -> Array:
        """Return the learner's values: the predictions themselves, or for classes the numbers that decide."""
        points = self.preparation.points(X)
        check_finite("X", points)
        values: Array = self.learner.predict(points)
        return values

    def partial_fit(self, X: Any, y: Any) -> PreparedLearner:
        """Learn from rows as the table has them."""
        points = self.preparation.points(X)
        check_finite("X", points)
        self.learner.partial_fit(points, self.preparation.labels(y) if self.preparation.classes else y)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "learner" not in self.__dict__:
            raise AttributeError(name)
        try:
            return getattr(self.learner, name)
        except AttributeError:
            raise AttributeError(f"neither PreparedLearner nor {type(self.learner).__name__} has {name!r}") from None

    def __repr__(self) -> str:
        return f"PreparedLearner({self.learner!r}, features {', '.join(c.name for c in self.preparation.columns)})"


def on_prepared_points(learner: Any) -> Any:
    """Return the learner within a `PreparedLearner`, any other as it is."""
    return learner.learner if isinstance(learner, PreparedLearner) else learner


def with_preparation(learner: Any, pool: Pool) -> Any:
    """Return the learner with the preparation of a pool, as it is where the pool has none."""
    preparation = pool.preparation
    if learner is None or preparation is None:
        return learner
    if isinstance(learner, PreparedLearner):
        raise InvalidInput("the learner has a preparation already")
    return PreparedLearner(learner, preparation)
