"""Any other learner: known by `predict` and `partial_fit` alone, and how any learner gets a pupil on a pool."""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
import sys
import zipfile
from collections.abc import Callable
from io import BytesIO
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices, check_stored_array, real_array
from nimt.classes import are_classes, class_of
from nimt.counting import say_count
from nimt.errors import CannotStore, InvalidInput, first_call_of
from nimt.inheritance import behaves_like
from nimt.learners.expansion import KeptColumns
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import Learner, Pupil, StartsFromInitial, State, StatefulLearner
from nimt.losses import Loss
from nimt.pools.box import Box
from nimt.pools.pool import Points, Pool
from nimt.wording import Wording

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator  # loaded where it is needed: a file can be shown without it

SKOPS = "skops"
NO_FILE = Wording(", or leave checkpoint= out", "; the program keeps every run in a file")
HARMLESS = ("numpy.dtype",)  # what estimators of scikit-learn hold besides its own classes
SMALLEST_PROBABILITY = 1e-300  # a probability may be 0, and its logarithm must be finite


class ForeignPupil:
    """Any object with `predict` and `partial_fit`; one that is not fitted yet counts as predicting 0.

    A classifier of scikit-learn that is taught one-hot labels is seen by its scores, one for each class: the logarithms
    of its probabilities, or its decision function where it has none. It is shown the classes themselves.
    """

    loss: Loss | None = None
    diagonal: Array | None = None

    def __init__(self, learner: Learner, place: Pool | Box, labels: Array) -> None:
        name = type(learner).__name__
        self.learner: Learner
        with first_call_of(lambda: f"copy.deepcopy({name})"):  # the caller's is left as it was
            self.learner = copy.deepcopy(learner)
        self.pool: Pool = place.grid if isinstance(place, Box) else place
        self.outputs: tuple[int, ...] = labels.shape[1:]
        self.classes: NDArray[Any] | None = None
        self.first: dict[str, Any] = {}
        if is_classifier_like(learner):
            self.classes = classes_of(learner, labels) if are_classes(labels) else None
            self.first = {"classes": np.unique(labels) if self.classes is None else self.classes}
        self.kept: KeptColumns | None = None
        if behaves_like(learner, KernelLearner, "predict", "outputs", "values_on", "expansion"):
            self.kept = KeptColumns(self.pool.points)  # for a subclass with a `partial_fit` of its own
        self.values: Array
        with first_call_of(lambda: f"{name}.predict"):
            self.values = self.on_pool()

    def learn(self, indices: Indices, labels: Array) -> None:
        self.learn_at(self.pool.take(indices), labels)

    @functools.cached_property
    def takes_weights(self) -> bool:
        """Whether `partial_fit` has a parameter `sample_weight`, as that of scikit-learn's SGD and of networks here."""
        try:
            return "sample_weight" in inspect.signature(self.learner.partial_fit).parameters
        except (TypeError, ValueError):  # of some functions that are not written in Python
            return False

    def learn_weighted(self, indices: Indices, labels: Array, weights: Array) -> None:
        """Show a pack whose examples have weights."""
        self._learn(self.pool.take(indices), labels, {"sample_weight": weights})

    def learn_at(self, points: Array, labels: Array) -> None:
        """Show a pack of points anywhere."""
        self._learn(points, labels, {})

    def _learn(self, points: Array, labels: Array, weights: dict[str, Array]) -> None:
        shown = labels if self.classes is None else self.classes[class_of(labels)]
        self.learner.partial_fit(points, shown, **self.first, **weights)
        self.first = {}
        self.values = self.on_pool()

    def at(self, points: Array) -> Array:
        """Return the learner's values at any points."""
        return self.at_points(Points(points).points)

    def to_learner(self) -> Learner:
        return copy.deepcopy(self.learner)

    def state(self) -> State:
        return {"values": self.values, "is_first": bool(self.first), "learner": state_of(self.learner)}

    def restore(self, state: State) -> None:
        self.learner = with_state(self.learner, state["learner"])
        self.values = check_stored_array(state, "values", self.values.shape)
        if not state["is_first"]:
            self.first = {}

    def on_pool(self) -> Array:
        """Return the learner's values on the pool."""
        if self.kept is None:
            return self.at_points(self.pool.points)
        learner = cast(KernelLearner, self.learner)
        outputs = learner.outputs()
        outputs = self.outputs if outputs is None else outputs  # None: it was not taught yet
        return self._check_values(learner.values_on(self.pool, outputs, self.kept), len(self.pool))

    def at_points(self, points: Array) -> Array:
        try:
            predicted = self.learner.predict(points) if self.classes is None else scores_of(self.learner, points)
        except _not_fitted_errors():
            return np.zeros((len(points), *self.outputs))
        return self._check_values(predicted, len(points))

    def _check_values(self, predicted: Any, n: int) -> Array:
        name = type(self.learner).__name__
        values = real_array(f"what {name}.predict returned", predicted)
        if values.shape not in ((n, *self.outputs), (n, *(self.outputs or (1,)))):
            asked = f"({n}, {self.outputs[0]})" if self.outputs else f"({n},) or ({n}, 1)"
            raise InvalidInput(
                f"{name}.predict returned shape {values.shape} for {say_count(n, 'point', 'd')}: it must return {asked}"
            )
        return values.reshape(n, *self.outputs)


def classes_of(learner: Any, labels: Array) -> NDArray[Any]:
    """Return the classes that the columns of one-hot labels stand for: those a learner knows, or 0, 1, 2, ..."""
    count = labels.shape[1]
    known = getattr(learner, "classes_", None)
    if known is None:
        return np.arange(count)
    if len(known) != count:
        raise InvalidInput(
            f"{type(learner).__name__} knows {say_count(len(known), 'class', 'd')} and the target has {count} columns: "
            f"give one column for each class, in the order of classes_"
        )
    return np.asarray(known)


def scores_of(learner: Any, points: Array) -> Array:
    """Return a score for each class: log probabilities, or the decision function of a learner without them."""
    if hasattr(learner, "predict_proba"):
        return np.asarray(np.log(np.maximum(learner.predict_proba(points), SMALLEST_PROBABILITY)))
    decided = np.asarray(learner.decision_function(points), dtype=np.float64)
    return decided if decided.ndim == 2 else np.column_stack([-decided, decided]) / 2  # of two classes, one number


def make_pupil(learner: Learner, place: Pool | Box, labels: Array) -> Pupil:
    """Return a learner at work on a pool or in a box; the caller's object is not changed.

    `labels` are all that it may be shown, (m,) or (m, q): a classifier must know its classes before it begins.
    """
    check_learner(learner)
    outputs = labels.shape[1:]
    in_box = isinstance(place, Box)
    if in_box and isinstance(learner, StartsFromInitial) and learner.initial_is_table():
        raise InvalidInput("initial was given as values, and in a Box it must be known anywhere: give a callable")
    name = "make_pupil_in" if in_box else "make_pupil"
    make = find_pupil_maker(learner, name)
    if make is None:
        return ForeignPupil(learner, place, labels)
    with first_call_of(lambda: f"{type(learner).__name__}.{name}"):
        pupil = make(place, outputs) if outputs else make(place)
    if not type(pupil).__module__.startswith("nimt."):  # ours has it all, and to ask for the diagonal may compute it
        _check_own_pupil(learner, pupil)
    return pupil


PUPIL_HAS = ("values", "loss", "diagonal", "learn", "to_learner", "state", "restore")


def _check_own_pupil(learner: object, pupil: object) -> None:
    """Refuse what a learner of the user returned as its pupil, if it lacks something that every pupil has."""
    missing = [name for name in PUPIL_HAS if not hasattr(pupil, name)]
    if missing:
        raise InvalidInput(
            f"the pupil of {type(learner).__name__}, a {type(pupil).__name__}, has no {' and no '.join(missing)}: a "
            f"pupil has {', '.join(PUPIL_HAS)}, of which loss and diagonal may be None"
        )


def find_pupil_maker(learner: object, name: str) -> Callable[..., Pupil] | None:
    """Return the learner's method `make_pupil` or `make_pupil_in`, None if a subclass overrides what it relies on."""
    make = getattr(learner, name, None)
    if not callable(make):
        return None
    kind: Any = type(learner)  # mypy does not take a class for something with a hash
    return make if _fits_what_it_relies_on(kind, name) else None


@functools.lru_cache(maxsize=64)
def _fits_what_it_relies_on(kind: type, name: str) -> bool:
    """Say whether the class that defines a method knows the `predict` and `partial_fit` of this class."""
    written, *relied_on = (
        next((one for one in kind.__mro__ if method in vars(one)), kind) for method in (name, "predict", "partial_fit")
    )
    return all(issubclass(written, one) for one in relied_on)


def check_learner(learner: object) -> None:
    """Refuse an object without `predict` and `partial_fit`."""
    learns = callable(getattr(learner, "predict", None)) and callable(getattr(learner, "partial_fit", None))
    if not learns or isinstance(learner, type):
        raise InvalidInput(
            f"a learner needs predict(X) and partial_fit(X, y), as methods of an object; got {learner!r}"
        )


def is_classifier_like(learner: object) -> bool:
    """Say whether scikit-learn calls it a classifier, whose first `partial_fit` must be told the classes."""
    if not hasattr(learner, "__sklearn_tags__"):
        return False
    from sklearn.base import is_classifier

    return bool(is_classifier(learner))


def _not_fitted_errors() -> tuple[type[Exception], ...]:
    """Return scikit-learn's error for an estimator that is not fitted yet, where scikit-learn is loaded."""
    theirs = sys.modules.get("sklearn.exceptions")
    return () if theirs is None else (theirs.NotFittedError,)


# ---------------------------------------------------------------- a learner in a file


def has_state(learner: object) -> TypeGuard[StatefulLearner]:
    """Say whether a learner has `state` and `restore`."""
    return all(callable(getattr(learner, name, None)) for name in ("state", "restore"))


def state_of(learner: object) -> State:
    """Return what `with_state` needs, or refuse a learner that cannot be written without pickle."""
    if has_state(learner):
        return {"own": learner.state()}
    theirs = sys.modules.get("sklearn.base")
    if theirs is not None and isinstance(learner, theirs.BaseEstimator):
        return {SKOPS: np.frombuffer(_skops(type(learner).__name__).dumps(learner), dtype=np.uint8)}
    raise CannotStore(
        NO_FILE.embed(
            f"{type(learner).__name__} cannot be written to a file without pickle: give it state() and restore(state), "
            f"which return and take named arrays"
        )
    )


def with_state(learner: Any, state: State) -> Any:
    """Return the learner with the state that `state_of` returned."""
    if SKOPS in state:
        return from_skops(state[SKOPS], type(learner).__name__)
    learner.restore(state["own"])
    return learner


def from_skops(data: Array, name: str) -> BaseEstimator:
    """Read an estimator that skops wrote; only classes of scikit-learn are created."""
    from sklearn.base import BaseEstimator

    io = _skops(name)
    written = np.asarray(data, dtype=np.uint8).tobytes()
    try:
        with zipfile.ZipFile(BytesIO(written)) as archive:
            if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
                raise ValueError("it is compressed, as nimt never writes it")  # a few bytes may unpack to gigabytes
        types = io.get_untrusted_types(data=written)
        strange = [kind for kind in types if kind not in HARMLESS and not _is_class_of_sklearn(kind)]
        estimator = None if strange else io.loads(written, trusted=types)
    except Exception as error:  # skops trusts the structure of what it reads
        raise ValueError(f"the stored {name} is damaged: {error!r}") from None
    if strange:
        raise CannotStore(f"the stored estimator holds {strange[0]}, not a class of scikit-learn, so it is not loaded")
    if not isinstance(estimator, BaseEstimator):
        raise ValueError(f"the stored {name} is not an estimator")
    return estimator


def _is_class_of_sklearn(name: str) -> bool:
    module, _, kind = name.rpartition(".")
    found = getattr(importlib.import_module(module), kind, None) if module.startswith("sklearn.") else None
    return isinstance(found, type) and found.__module__.startswith("sklearn.")


def _skops(name: str) -> ModuleType:
    try:
        return importlib.import_module("skops.io")
    except ImportError:
        raise CannotStore(
            NO_FILE.embed(f"{name} is stored by skops, which is not installed: pip install 'nimt[skops]'")
        ) from None
