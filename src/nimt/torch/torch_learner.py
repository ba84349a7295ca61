"""A neural network as a learner: predict, partial_fit, state, restore."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt.arrays import Array, check_count, check_finite, is_number, real_array
from nimt.errors import CannotStore, CorruptLesson, InvalidInput
from nimt.learners.learner import State, check_pack
from nimt.torch.extra import torch
from nimt.torch.modules import as_values, check_output, home_of, outputs_of


class TorchLearner:
    """A module, an optimizer and a loss: a pack is one step of the optimizer on its mean loss.

    Weights that a teacher gives its examples multiply their losses.

    The caller's module is not changed by `nimt.teach`, which teaches a copy: `lesson.learner.module`. On the CPU a
    lesson that is stopped and resumed ends the same, bit for bit; a module is code, which no file holds, so pass the
    learner again: `nimt.resume(path, learner=TorchLearner(...))`, and for a saved lesson
    `nimt.Lesson.load(path, learner=TorchLearner(...))`. A training that becomes NaN ends the lesson with the outcome
    DIVERGED.

    Parameters
    ----------
    module : torch.nn.Module
        Takes inputs (k, d) and returns (k,), (k, 1) or (k, q), on any one device.
    optimizer : torch.optim.Optimizer or callable
        Of the module's parameters, or a function that makes it from them: `lambda p: torch.optim.Adam(p, lr=1e-3)`.
    loss : callable(outputs, labels) -> tensor with one number
        As `torch.nn.MSELoss()`, the default. Labels have the shape of the outputs.
    seed : int
        Of the random numbers that the module draws while it learns, as dropout does.

    Examples
    --------
    >>> import nimt, torch
    >>> _ = torch.manual_seed(0)
    >>> module = torch.nn.Sequential(torch.nn.Linear(1, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
    >>> learner = TorchLearner(module, torch.optim.Adam(module.parameters(), lr=0.02))
    >>> x = np.linspace(-3, 3, 50)
    >>> lesson = nimt.teach(learner, nimt.RandomTeacher(k=0.5), x, np.sin, measure="rms", tol=0.1, max_iterations=2000)
    >>> print(lesson.outcome)
    the discrepancy fell below the tolerance
    """

    def __init__(self, module: Any, optimizer: Any, loss: Callable[..., Any] | None = None, *, seed: int = 0) -> None:
        home_of(module)
        if loss is not None and not callable(loss):
            raise InvalidInput(
                f"must be callable with outputs and labels, as torch.nn.MSELoss(), got {loss!r}", parameter="loss"
            )
        check_count("seed", seed, at_least=0)
        self.module = module
        self.optimizer: torch.optim.Optimizer = _optimizer_of(module, optimizer)
        self.loss: Callable[..., Any] = torch.nn.MSELoss() if loss is None else loss
        self.random_state: torch.Tensor = torch.Generator().manual_seed(seed).get_state()

    def predict(self, X: ArrayLike) -> Array:
        """Return the outputs, (n,) or (n, q), without gradients and in the module's evaluation mode."""
        points = real_array("X", X)
        inputs = points.reshape(len(points), -1) if points.ndim != 2 else points
        return as_values(outputs_of(self.module, self._tensor(inputs)))

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> TorchLearner:
        """Take one step of the optimizer on a pack; weights (k,) multiply the loss of each example."""
        points, labels = check_pack(X, y)
        weights = None if sample_weight is None else self._check_weights(sample_weight, len(points))
        inputs, wanted = self._tensor(points), self._tensor(labels)
        before = self.module.training
        self.module.train()
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(self.random_state)
            self.optimizer.zero_grad(set_to_none=True)
            output = check_output(self.module, self.module(inputs), inputs)
            if output.numel() != wanted.numel():
                raise InvalidInput(
                    f"{type(self.module).__name__} returned shape {tuple(output.shape)} and the labels have shape "
                    f"{tuple(wanted.shape)}: give the module as many outputs as the target has"
                )
            loss = self.loss(output, wanted.reshape(output.shape))  # (k, 1) and (k,) would be broadcast to (k, k)
            if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
                raise InvalidInput(f"the loss must return one number, it returned {loss!r}: take its mean")
            if weights is not None:
                # dL/df at each example times its weight is the slope of the weighed loss, be it a mean or a sum
                output.register_hook(lambda slopes: slopes * weights.reshape(-1, *(1 for _ in slopes.shape[1:])))
            loss.backward()
            self.optimizer.step()
            self.random_state = torch.get_rng_state()
        self.module.train(before)
        return self

    def state(self) -> State:
        """Return parameters, buffers, the optimizer's state and the random state, as named arrays."""
        kept = self.optimizer.state_dict()
        return {
            "module": {name: _array(name, value) for name, value in self.module.state_dict().items()},
            "optimizer": {
                str(number): {name: _array(name, value) for name, value in one.items()}
                for number, one in kept["state"].items()
            },
            "groups": [
                {name: _plain(name, value) for name, value in group.items() if name != "params"}
                for group in kept["param_groups"]
            ],
            "kind": type(self.optimizer).__name__,
            "random_state": self.random_state.numpy(),
        }

    def restore(self, state: State) -> None:
        """Take over what `state` returned, into a module and an optimizer of the same kind."""
        _fill(self.module, state["module"])
        own = type(self.optimizer).__name__
        stored_kind = state["kind"]
        if stored_kind != own:
            raise CorruptLesson(f"the file holds another optimizer: {stored_kind}, here it is {own}")
        template = self.optimizer.state_dict()
        if len(state["groups"]) != len(template["param_groups"]):
            raise CorruptLesson("the file holds another optimizer: its number of parameter groups differs")
        groups = [
            {**group, **{name: _make_tuples(value, group.get(name)) for name, value in stored.items()}}
            for group, stored in zip(template["param_groups"], state["groups"], strict=True)
        ]
        kept = {
            int(number): {name: _value(value) for name, value in one.items()}
            for number, one in state["optimizer"].items()
        }
        self.optimizer.load_state_dict({"state": kept, "param_groups": groups})
        self.random_state = torch.from_numpy(np.array(state["random_state"], dtype=np.uint8))

    def _check_weights(self, weights: ArrayLike, k: int) -> Any:
        given = real_array("sample_weight", weights)
        if given.shape != (k,):
            raise InvalidInput(f"must have shape ({k},), got {given.shape}", parameter="sample_weight")
        check_finite("sample_weight", given)
        return self._tensor(given)

    def _tensor(self, values: Array) -> Any:
        device, dtype = home_of(self.module)
        return torch.tensor(values, device=device, dtype=dtype)  # a copy: pools are read-only

    def __repr__(self) -> str:
        return f"TorchLearner({type(self.module).__name__}, {type(self.optimizer).__name__})"


def _optimizer_of(module: Any, optimizer: Any) -> Any:
    """Return the optimizer, made if it was given as a function; refuse one of other parameters."""
    made = optimizer
    if callable(optimizer) and not isinstance(optimizer, torch.optim.Optimizer):
        made = optimizer(module.parameters())
    if not isinstance(made, torch.optim.Optimizer):
        raise InvalidInput(
            f"must be one of torch.optim, or a function that makes one, got {optimizer!r}", parameter="optimizer"
        )
    closure = inspect.signature(made.step).parameters.get("closure")
    if closure is not None and closure.default is inspect.Parameter.empty:
        raise InvalidInput(
            f"{type(made).__name__} evaluates the loss several times per step, and a pack is learned in one: take an "
            f"optimizer whose step() needs no closure, as torch.optim.Adam"
        )
    trained = {id(parameter) for group in made.param_groups for parameter in group["params"]}
    if not trained <= {id(parameter) for parameter in module.parameters()}:
        raise InvalidInput(
            f"the optimizer trains parameters that are not of this {type(module).__name__}: make it from "
            f"module.parameters(), after the module was moved to its device"
        )
    return made


def _array(name: str, value: Any) -> NDArray[Any] | float | int | bool | None:
    if not isinstance(value, torch.Tensor):
        return value if value is None or isinstance(value, bool | int | float) else _plain(name, value)
    kept = value.detach().cpu()
    try:
        return np.array((kept.float() if kept.dtype is torch.bfloat16 else kept).numpy())  # NumPy has no bfloat16
    except TypeError:
        raise CannotStore(f"{name!r} has the type {value.dtype}, which NumPy cannot hold: use float32") from None


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return value.item()
    if isinstance(value, tuple | list):
        return [_plain(name, part) for part in value]
    if value is None or isinstance(value, bool | str) or is_number(value):
        return value
    raise CannotStore(f"the optimizer keeps {name!r} as a {type(value).__name__}, which cannot be stored")


def _value(value: Any) -> Any:
    return torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray) else value


def _make_tuples(value: Any, like: Any) -> Any:
    """Return a list from a file as the tuple that it was."""
    return tuple(value) if isinstance(value, list) and isinstance(like, tuple) else value


def _fill(module: Any, stored: dict[str, Any]) -> None:
    own = module.state_dict()
    different = set(own) ^ set(stored)
    if different:
        raise CorruptLesson(f"the file holds another module: {sorted(different)[0]!r} is in one of them only")
    for name, value in own.items():
        found = np.asarray(stored[name])
        if found.shape != tuple(value.shape):
            raise CorruptLesson(
                f"the file holds another module: {name!r} has shape {found.shape}, here it is {tuple(value.shape)}"
            )
    module.load_state_dict({name: torch.from_numpy(np.array(stored[name])) for name in own})
