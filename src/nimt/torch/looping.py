"""A teacher in a training loop of your own: which examples of a dataset the next step shows."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices, check_count, is_number, real_array
from nimt.errors import InvalidInput
from nimt.pools.pool import Points, Pool
from nimt.teachers.adapter import as_teacher
from nimt.teachers.by_reference import ByReference
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.never_twice import NothingLeft
from nimt.teachers.teacher import Memory, SelectsExamples, Teacher, View, check_indices
from nimt.torch.extra import torch
from nimt.torch.modules import as_values, home_of, outputs_of

MOST_COORDINATES = 8  # inputs with more are not points of a space that a teacher could use


class TeachingLoop:
    """The packs of a training, chosen one by one: an iterator of tensors of dataset indices. Made by `teach`.

    Attributes
    ----------
    step : int
        How many packs were chosen.
    shown : int
        How many examples they had.
    looked : list of int
        The steps at which the teacher had all examples evaluated.
    weights : tensor (k,) of float
        Of the latest pack, to be multiplied into the loss of each example; 1 where the teacher gives none.
    """

    def __init__(
        self,
        dataset: Any,
        module: Any,
        teacher: SelectsExamples,
        *,
        epochs: float | None = None,
        steps: int | None = None,
        seed: int = 0,
        outputs: Callable[[Any], Any] | None = None,
        targets: Any = None,
        waits: bool = False,
    ) -> None:
        if (epochs is None) == (steps is None):
            raise InvalidInput("say how long to teach: epochs=, of n examples each, or steps=")
        if steps is not None:
            check_count("steps", steps, at_least=1)
        elif not is_number(epochs) or not 0 < float(epochs) < np.inf:
            raise InvalidInput(f"must be a positive number, got {epochs!r}", parameter="epochs")
        check_count("seed", seed, at_least=0)
        home_of(module)
        self.module = module
        self.inputs: Any = inputs_of(dataset)
        self.outputs = outputs
        self.target: Array = targets_of(dataset, targets)
        self.n: int = len(self.target)
        self.steps: int | None = steps
        self.epochs: float | None = epochs
        self.teacher: Teacher = self._fix_length(as_teacher(teacher))
        self.rng: np.random.Generator = np.random.default_rng(seed)
        self.pool: Pool = pool_of(self.inputs, self.n)
        self.teacher = self._ask_reference(self.teacher)
        self.predictions: Array = np.full(self.target.shape, np.nan)
        self.memory: Memory | None = None
        self.step: int = 0
        self.shown: int = 0
        self.looked: list[int] = []
        self.pending: deque[Indices] = deque()
        self.latest_weights: Array = np.empty(0)
        self.awaits_weights: bool = False  # whether the training has not asked for the weights of the latest pack
        self.rows: list[Array] = []
        self.hook: Any = None
        self.waits = waits  # for packs that were asked for ahead, which the training passes through the module later
        if self.teacher.watches_packs:
            self.hook = module.register_forward_hook(self._listen)

    def _fix_length(self, teacher: Teacher) -> Teacher:
        settled = teacher.fix_length(self.steps) if self.steps is not None else self._for_epochs(teacher)
        if settled.pool is not None or settled.labels is not None:
            raise InvalidInput("in a training loop a teacher has no pool= and no labels=: give it a smaller dataset")
        settled.check_on(self.n)
        settled.pack_size(self.n)
        return settled

    def _ask_reference(self, teacher: Teacher) -> Teacher:
        """Return the teacher with the answers of its reference, which is asked once, before the training."""
        given: Any = teacher.reference if isinstance(teacher, ByReference | GreedyTeacher) else None
        if given is None:
            return teacher
        if isinstance(given, torch.nn.Module):
            given = self._values(outputs_of(given, self.inputs))
        elif isinstance(given, torch.Tensor):
            given = given.detach().cpu().numpy()
        rows = Points(self.inputs.detach().cpu().numpy().reshape(self.n, -1).astype(np.float64))
        asked: Any = dataclasses.replace(teacher, reference=given)  # type: ignore[call-arg]
        # a pool of its own is left out again: the loop offers all examples, and the teacher passes over those
        prepared: Teacher = asked.prepare_on(rows, self.target)
        return dataclasses.replace(prepared, pool=None)

    def _for_epochs(self, teacher: Teacher) -> Teacher:
        """Return the teacher with schedules over as many steps as the epochs take."""
        k: Any = teacher.size
        if teacher.fix_length(1) is teacher or not hasattr(k, "at") or k.over is not None:
            return teacher.fix_length(max(1, self._least_steps(k)))
        goal = float(self.epochs or 1) * self.n
        many = 1
        while self._examples(k.fix_length(many), many) < goal:  # doubled, as a sum over goal steps takes seconds
            many *= 2
        few = many // 2 + 1
        while few < many:  # the more steps, the more examples
            middle = (few + many) // 2
            few, many = (few, middle) if self._examples(k.fix_length(middle), middle) >= goal else (middle + 1, many)
        return teacher.fix_length(few)

    def _least_steps(self, k: Any) -> int:
        goal, shown, step = float(self.epochs or 1) * self.n, 0, 0
        while shown < goal and k is not None:
            shown += self._size(k.at(step) if hasattr(k, "at") else k)
            step += 1
        return step

    def _examples(self, k: Any, steps: int) -> int:
        return sum(self._size(k.at(step)) for step in range(steps))

    def _size(self, k: int | float) -> int:
        return k if isinstance(k, int) else max(1, int(k * self.n))

    def __iter__(self) -> TeachingLoop:
        return self

    def __next__(self) -> Any:
        if self.is_over():
            self._close_when_done()
            raise StopIteration
        if self.awaits_weights:
            raise InvalidInput(
                f"{self.teacher.kind} weighs its examples, and the training did not read the weights of the pack of "
                f"step {self.step - 1}: multiply packs.weights into the loss of each example"
            )
        self._recall()
        if self.teacher.looks_at(self.step):
            self.look()
        view = View(self.step, self.pool, self.predictions, self.target, self.rng, self.memory, np.arange(self.n))
        try:
            selection = self.teacher.select(view)
        except NothingLeft:
            self.close()
            raise StopIteration from None
        indices = check_indices(selection.indices, self.n)
        self._take_weights(selection.weights, len(indices))
        self.memory = selection.memory
        self.step += 1
        self.shown += len(indices)
        if self.hook is not None:
            self.pending.append(indices)
        return torch.from_numpy(np.ascontiguousarray(indices, dtype=np.int64))

    def _take_weights(self, weights: Array | None, k: int) -> None:
        if weights is not None and self.waits:
            raise InvalidInput(
                f"{self.teacher.kind} weighs its examples, and batches of a DataLoader have no weights: use "
                f"nimt.torch.teach, whose packs.weights are to be multiplied into the losses"
            )
        self.latest_weights = np.ones(k) if weights is None else np.asarray(weights, dtype=np.float64)
        self.awaits_weights = weights is not None

    @property
    def weights(self) -> Any:
        """The weights of the latest pack, on the device of the module and of its type."""
        self.awaits_weights = False
        device, dtype = home_of(self.module)
        return torch.tensor(self.latest_weights, device=device, dtype=dtype)

    def is_over(self) -> bool:
        """Say whether all packs were chosen."""
        if self.steps is not None:
            return self.step >= self.steps
        return self.shown >= float(self.epochs or 0) * self.n

    def look(self) -> None:
        """Evaluate the module at all examples."""
        self.predictions = self._values(outputs_of(self.module, self.inputs))
        self.looked.append(self.step)
        self._check_finite(np.arange(self.n))

    def _check_finite(self, shown: Indices) -> None:
        wrong = ~np.isfinite(self.predictions[shown])
        if wrong.any():
            place = int(shown[np.argwhere(wrong)[0][0]])
            raise InvalidInput(
                f"the module predicts {self.predictions[place]!s} at example {place} (step {self.step}): the training "
                f"has diverged, lower the learning rate"
            )

    def _values(self, output: Any) -> Array:
        values = as_values(output if self.outputs is None else self.outputs(output))
        if values.shape[1:] != self.target.shape[1:]:
            raise InvalidInput(
                f"the module returns values of shape {('n', *values.shape[1:])} and the targets have shape "
                f"{('n', *self.target.shape[1:])}: give outputs=, a function of the module's outputs, or targets=, "
                f"that make them alike"
            )
        return values

    # ------------------------------------------------ what the training itself evaluates

    def _listen(self, module: Any, given: Any, output: Any) -> None:
        """Keep what a forward pass in training returned: the examples of the oldest pack that is still awaited."""
        if not (module.training and torch.is_grad_enabled() and self.pending):
            return
        self.rows.append(self._values(output))
        while self.pending and sum(map(len, self.rows)) >= len(self.pending[0]):
            rows = np.concatenate(self.rows)
            pack = self.pending.popleft()
            self.predictions[pack] = rows[: len(pack)]
            self._check_finite(pack)
            self.rows = [rows[len(pack) :]] if len(rows) > len(pack) else []
        if self.waits:
            self._close_when_done()

    def _recall(self) -> None:
        """Evaluate the packs that were chosen, and that the training did not evaluate by itself."""
        if self.waits:
            return
        while self.pending:
            pack = self.pending.popleft()
            self.predictions[pack] = self._values(outputs_of(self.module, self.inputs[torch.from_numpy(pack)]))
            self._check_finite(pack)
        self.rows = []

    def close(self) -> None:
        """Stop listening to the module."""
        if self.hook is not None:
            self.hook.remove()
            self.hook = None
            self.pending.clear()

    def _close_when_done(self) -> None:
        """Stop listening to the module, but not before it was shown all packs that were asked for ahead."""
        if self.is_over() and not (self.waits and self.pending):
            self.close()

    # ------------------------------------------------ in a file

    def state_dict(self) -> dict[str, Any]:
        """Return numbers, text and arrays from which `load_state_dict` goes on bit by bit."""
        return {
            "step": self.step,
            "shown": self.shown,
            "looked": list(self.looked),
            "predictions": self.predictions.copy(),
            "memory": None if self.memory is None else {name: np.array(part) for name, part in self.memory.items()},
            "rng": self.rng.bit_generator.state,
            "pending": [pack.copy() for pack in self.pending],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what `state_dict` returned."""
        self.step, self.shown, self.looked = int(state["step"]), int(state["shown"]), list(state["looked"])
        self.predictions = np.array(state["predictions"])
        self.memory = state["memory"]
        self.rng.bit_generator.state = state["rng"]
        self.awaits_weights = False
        self.pending, self.rows = deque(np.array(pack) for pack in state["pending"]), []


def teach(dataset: Any, module: Any, teacher: SelectsExamples, **options: Any) -> TeachingLoop:
    """Yield, step by step, the dataset indices of the examples that a teacher shows to a module in training.

    The training stays yours: three lines change in it::

        for indices in nimt.torch.teach(dataset, module, nimt.teachers.PlannedTeacher(k=0.1), epochs=20):
            x, y = inputs[indices], labels[indices]
            ...                                     # loss, backward, optimizer.step() as before

    A teacher that looks has all examples evaluated (without gradients) at the steps at which it looks; `RandomTeacher`
    never does. `PlannedTeacher` sees only what the forward passes of the training return for its packs, which costs
    nothing: these passes must be in training mode and in the order of the packs; a pack that was not passed through the
    module is evaluated.

    A teacher that weighs its examples (`PruningTeacher`, `ImportanceTeacher`) needs one line more: multiply
    `packs.weights` into the loss of each example. A training that does not read them is refused at its second pack.

    Parameters
    ----------
    dataset : torch Dataset of pairs (input, label), or a pair of tensors
    module : torch.nn.Module
        Being trained, on any one device; evaluated in evaluation mode.
    teacher : a teacher, with `select(view)`
        Errors are |outputs - labels|. If inputs are vectors of at most 8 numbers they are the points it sees, else the
        points are the indices 0 to n - 1. Its `reference`, if it has one, is asked once, before the training: a module
        (whose outputs are compared as those of the one in training), a tensor, or anything else that the teacher takes.
    epochs, steps : number
        How long: until epochs * n examples were shown, or for this many packs. A schedule without `over=` runs over it.
    seed : int
        Of the teacher's choices.
    outputs : callable, optional
        What to compare with the targets, made from the module's outputs: `lambda logits: logits.softmax(1)`.
    targets : array (n,) or (n, q), optional
        By default the labels of the dataset.

    Returns
    -------
    TeachingLoop, an iterator of LongTensor; `.looked` lists the steps at which the teacher looked

    Examples
    --------
    >>> import nimt, torch
    >>> x = torch.linspace(-1, 1, 100)[:, None]
    >>> module = torch.nn.Linear(1, 1)
    >>> teacher = nimt.GreedyTeacher(k=20, look=nimt.schedules.every(2))
    >>> packs = teach((x, 3 * x), module, teacher, epochs=1)
    >>> [len(indices) for indices in packs], packs.looked
    ([20, 20, 20, 20, 20], [0, 2, 4])
    """
    return TeachingLoop(dataset, module, teacher, **options)


class TeachingSampler(torch.utils.data.Sampler):  # type: ignore[misc]
    """A batch sampler: `DataLoader(dataset, batch_sampler=TeachingSampler(dataset, module, teacher, epochs=20))`.

    It takes what `teach` takes. Batches hold the examples that the teacher chose, by their indices in the dataset,
    whatever the number of workers. With workers, a DataLoader asks for batches before the previous ones were learned
    (`prefetch_factor` times the number of workers), so the teacher then chooses by what it knew some steps before.

    Examples
    --------
    >>> import nimt, torch
    >>> dataset = torch.utils.data.TensorDataset(torch.arange(6.0)[:, None], torch.zeros(6))
    >>> sampler = TeachingSampler(dataset, torch.nn.Linear(1, 1), nimt.RandomTeacher(k=3, replace=False), steps=2)
    >>> [len(x) for x, y in torch.utils.data.DataLoader(dataset, batch_sampler=sampler)]
    [3, 3]
    """

    def __init__(self, dataset: Any, module: Any, teacher: SelectsExamples, **options: Any) -> None:
        self.make: Callable[[], TeachingLoop] = lambda: TeachingLoop(dataset, module, teacher, waits=True, **options)
        self.packs: TeachingLoop = self.make()
        self.begun: bool = False

    def __iter__(self) -> Iterator[list[int]]:
        if self.begun:
            self.packs.close()
            self.packs = self.make()
        self.begun = True
        for indices in self.packs:
            yield indices.tolist()

    def __len__(self) -> int:
        if self.packs.steps is None:
            raise TypeError("the number of batches is known only with steps=, not with epochs=")
        return self.packs.steps


# ---------------------------------------------------------------- the examples of a dataset


def inputs_of(dataset: Any) -> Any:
    """Return all inputs of a dataset as one tensor."""
    return _column(dataset, 0)


def targets_of(dataset: Any, given: Any) -> Array:
    """Return what the module should predict, (n,) or (n, q)."""
    labels = _column(dataset, 1) if given is None else given
    found = labels.detach().cpu().numpy() if isinstance(labels, torch.Tensor) else labels
    targets = real_array("the labels of the dataset" if given is None else "targets", found)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    n = len(_column(dataset, 0))
    if targets.ndim not in (1, 2) or len(targets) != n or n == 0:
        raise InvalidInput(f"the targets have shape {targets.shape} for {n} inputs: give (n,) or (n, q), n >= 1")
    if not np.isfinite(targets).all():
        raise InvalidInput("the targets hold NaN or infinity: leave these examples out")
    return targets


def _column(dataset: Any, place: int) -> Any:
    """Return the inputs (0) or the labels (1) of a dataset."""
    if isinstance(dataset, torch.utils.data.TensorDataset):
        dataset = dataset.tensors
    if isinstance(dataset, tuple | list) and all(isinstance(part, torch.Tensor) for part in dataset):
        if len(dataset) != 2 or len(dataset[0]) != len(dataset[1]):
            raise InvalidInput(f"a dataset of tensors has inputs and labels of one length, got {len(dataset)} tensors")
        return dataset[place]
    if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
        raise InvalidInput(
            f"must have len() and indices, so that an example can be shown again, got {dataset!r}", parameter="dataset"
        )
    return torch.stack([torch.as_tensor(dataset[i][place]) for i in range(len(dataset))])


def pool_of(inputs: Any, n: int) -> Pool:
    """Return the points that a teacher sees: the inputs if they are short vectors, else their indices."""
    short = inputs.ndim == 2 and 1 <= inputs.shape[1] <= MOST_COORDINATES and inputs.is_floating_point()
    points: NDArray[Any] = inputs.detach().cpu().numpy() if short else np.arange(n, dtype=np.float64)
    return Points(points)
