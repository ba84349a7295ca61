"""What a fitted model answers at rows: an estimator, a torch module or a function, of anybody."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.exceptions import NotFittedError

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.teaching_sets.models import predict, score_classes


def ask(model: Any, X: Any, classes: NDArray[Any] | None, boundary: float = 0.0) -> Any:
    """Return the answers of a fitted estimator, a torch module or a callable, or say how it failed.

    `boundary` is the output at which the two classes of a module with one output meet; see `find_boundary`.
    """
    name = name_of(model)
    try:
        if is_module(model):
            outputs = _ask_module(model, X)
            if classes is None:
                return outputs
            return classes[_outputs_to_shares(outputs, classes, boundary, name).argmax(axis=1)]
        answers: Any = predict(model, X) if callable(getattr(model, "predict", None)) else model(X)
    except NotFittedError:
        raise InvalidInput(f"the reference {name} is not fitted: fit it first") from None
    except InvalidInput:
        raise
    except Exception as error:  # code of the user
        raise InvalidInput(f"the reference {name} failed with {type(error).__name__} ({error})") from error
    torch = sys.modules.get("torch")
    is_tensor = torch is not None and isinstance(answers, torch.Tensor)
    return answers.detach().cpu().numpy() if is_tensor else answers


def ask_shares(model: Any, X: Any, classes: NDArray[Any], boundary: float = 0.0) -> Array:
    """Return how much a fitted estimator or a torch module holds with each class (n, q)."""
    if is_module(model):
        return _outputs_to_shares(_ask_module(model, X), classes, boundary, name_of(model))
    return score_classes(model, X, classes)


def is_module(model: Any) -> bool:
    """Say whether a model is a module of PyTorch, without loading PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def can_be_fitted(model: Any) -> bool:
    """Say whether a model is an estimator, of which copies can be fitted to other rows."""
    return callable(getattr(model, "fit", None)) and not is_module(model)


def find_boundary(model: Any, X: Any) -> float:
    """Return the output at which two classes meet: 0, or 0.5 where a module answers shares from 0 to 1 in all rows."""
    if not is_module(model):
        return 0.0
    outputs = _ask_module(model, X)
    return 0.5 if outputs.min() >= 0 and outputs.max() <= 1 else 0.0


def _ask_module(module: Any, X: Any) -> Array:
    """Return the outputs of a torch module (n,) or (n, q), all finite."""
    from nimt.torch.extra import torch
    from nimt.torch.modules import as_values, check_output, evaluating, outputs_of

    name = type(module).__name__
    for column in () if isinstance(X, np.ndarray) else X.columns:
        if X[column].dtype.kind != "f":
            raise InvalidInput(
                f"the column {column!r} of X holds words, and the module {name} takes numbers: give a function that "
                f"makes numbers of the words and calls it"
            )
    rows = torch.from_numpy(np.array(X, dtype=np.float64))  # a copy: arrays that are read-only are no tensors
    if any(parameter.is_floating_point() for parameter in module.parameters()):
        outputs = outputs_of(module, rows)
    else:  # a formula
        with evaluating(module):
            outputs = check_output(module, module(rows), rows)
    values = as_values(outputs)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        found = values[tuple(bad[0])]
        raise InvalidInput(
            f"the reference {name} answered {found} for row {bad[0][0]}: every answer must be a finite number"
        )
    return values


def _outputs_to_shares(outputs: Array, classes: NDArray[Any], boundary: float, name: str) -> Array:
    """Return the shares (n, q) of the classes in their order, of outputs that are shares, logits or distances."""
    if outputs.ndim == 2 and outputs.shape[1] == len(classes):
        are_shares = bool((outputs >= 0).all()) and np.allclose(outputs.sum(axis=1), 1.0, atol=1e-4)
        return outputs if are_shares else np.asarray(softmax(outputs, axis=1))
    if outputs.ndim == 1 and len(classes) == 2:
        second = outputs if boundary > 0 else expit(outputs)
        return np.column_stack([1.0 - second, second])
    width = 1 if outputs.ndim == 1 else outputs.shape[1]
    raise InvalidInput(
        f"the reference {name} has outputs of length {width}, and y has {len(classes)} classes: it needs one "
        f"output for each, in their order: {', '.join(map(str, classes[:20]))}"
    )


def name_of(model: Any) -> str:
    """Return the name of a function, or of the class of an object."""
    name = str(getattr(model, "__name__", type(model).__name__))
    return "a function" if name == "<lambda>" else name
