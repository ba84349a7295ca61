"""What is asked of every module: where it is, and what it returns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.torch.extra import torch

BATCH = 2**16  # examples that are evaluated at once


def home_of(module: Any) -> tuple[Any, Any]:
    """Return the device and the type of numbers of a module, or refuse one that has not one of each."""
    if not isinstance(module, torch.nn.Module):
        raise InvalidInput(f"must be a torch.nn.Module, got {module!r}", parameter="module")
    parameters = [parameter for parameter in module.parameters() if parameter.is_floating_point()]
    if not parameters:
        raise InvalidInput(f"{type(module).__name__} has no parameters, so there is nothing to teach")
    devices = sorted({str(part.device) for part in (*parameters, *module.buffers())})
    if len(devices) > 1:
        raise InvalidInput(
            f"the parameters and buffers of {type(module).__name__} are on the devices {', '.join(devices)}: move the "
            f"module to one of them, module.to({devices[0]!r})"
        )
    if devices == ["meta"]:
        raise InvalidInput(
            f"{type(module).__name__} is on the device 'meta', which holds no numbers: module.to_empty(device='cpu')"
        )
    return parameters[0].device, parameters[0].dtype


@contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Evaluate a module without gradients and without dropout; it is then as it was."""
    before = module.training
    module.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        module.train(before)


def outputs_of(module: Any, inputs: Any, batch: int = BATCH) -> Any:
    """Return the outputs of a module for a tensor of inputs, batch by batch, on the device of the module."""
    device, dtype = home_of(module)
    parts = []
    with evaluating(module):
        for first in range(0, len(inputs), batch):
            given = inputs[first : first + batch].to(device)
            given = given.to(dtype) if given.is_floating_point() else given
            parts.append(check_output(module, _output(module, given), given))
    return torch.cat(parts)


def _output(module: Any, given: Any) -> Any:
    try:
        return module(given)
    except (RuntimeError, TypeError, IndexError) as error:  # as PyTorch says that shapes or types do not fit
        name, shape, kind = type(module).__name__, tuple(given.shape), str(given.dtype).rpartition(".")[2]
        raise InvalidInput(f"{name} cannot evaluate inputs of shape {shape} and type {kind}: {error}") from error


def check_output(module: Any, output: Any, inputs: Any) -> Any:
    """Return an output, or refuse one that is not a tensor of one row per input."""
    if not isinstance(output, torch.Tensor) or output.ndim not in (1, 2) or len(output) != len(inputs):
        got = f"shape {tuple(output.shape)}" if isinstance(output, torch.Tensor) else repr(type(output).__name__)
        raise InvalidInput(
            f"{type(module).__name__} returned {got} for {len(inputs)} inputs: it must return one tensor of shape "
            f"({len(inputs)},) or ({len(inputs)}, q)"
        )
    return output


def as_values(output: Any) -> Array:
    """Return a tensor (n,), (n, 1) or (n, q) as an array (n,) or (n, q) of float64."""
    values = output.detach().cpu().double().numpy()  # by PyTorch, because NumPy has no bfloat16
    return np.asarray(values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values)
