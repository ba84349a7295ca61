"""What a fitted model answers at rows: an estimator, a torch module or a function, of anybody."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from nimt.errors import InvalidInput
from nimt.teaching_sets.models import predict


def ask(model: Any, X: Any, classes: NDArray[Any] | None) -> Any:
    """Return the answers of a fitted estimator, a torch module or a callable, or say how it failed."""
    try:
        theirs = sys.modules.get("torch")
        if theirs is not None and isinstance(model, theirs.nn.Module):
            return _ask_module(theirs, model, X, classes)
        return predict(model, X) if callable(getattr(model, "predict", None)) else model(X)
    except NotFittedError:
        name = name_of(model)
        raise InvalidInput(f"the reference {name} is not fitted: fit it first") from None
    except InvalidInput:
        raise
    except Exception as error:  # code of the user
        name = name_of(model)
        raise InvalidInput(f"the reference {name} failed with {type(error).__name__} ({error})") from error


def _ask_module(torch: Any, module: Any, X: Any, classes: NDArray[Any] | None) -> NDArray[Any]:
    """Return the outputs of a torch module; of classes, the one with the largest output, or the sign of one output."""
    from nimt.torch.modules import outputs_of

    numbers = torch.as_tensor(np.asarray(X, dtype=np.float64))
    outputs = np.asarray(outputs_of(module, numbers).detach().cpu().numpy(), dtype=np.float64)
    if classes is None:
        return outputs
    if outputs.ndim == 2 and outputs.shape[1] == len(classes):
        places = outputs.argmax(axis=1)
    else:
        places = (outputs.reshape(len(outputs), -1)[:, 0] > 0).astype(np.intp)
    return np.asarray(classes[places])


def name_of(model: Any) -> str:
    """Return the name of a function, or of the class of an object."""
    name = str(getattr(model, "__name__", type(model).__name__))
    return "a function" if name == "<lambda>" else name
