"""The rule of NINT: residuals carried by the empirical neural tangent kernel of the module [Zhang26]."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array, Indices, check_count, is_number
from nimt.errors import InvalidInput
from nimt.schedules import LookSchedule, PackSchedule, check_look, check_pack
from nimt.teachers.teacher import Selection, Teacher, View, count_of, largest, norm_of, residual_size
from nimt.torch.extra import torch
from nimt.torch.modules import home_of

Influence = Callable[[Array], Array]
LEAST_SHARE = 1e-3  # below it the kernel is no longer computed, as in the published code


def ntk_influence(module: Any, inputs: Any) -> Influence:
    """Return the function r -> K r, with K = J J' the empirical neural tangent kernel of a module at these inputs.

    J holds the derivatives of all outputs by all parameters that are trained. K is never formed: J' r is one backward
    pass, J (J' r) one forward pass with derivatives.

    Parameters
    ----------
    module : torch.nn.Module
        Asked as it is at each call, so it may learn in between.
    inputs : tensor (n, ...)

    Examples
    --------
    >>> import torch
    >>> module = torch.nn.Linear(1, 1, bias=False)  # f(x) = w x, so K(x, x') = x x'
    >>> ntk_influence(module, torch.tensor([[1.0], [2.0]]))(np.array([1.0, 0.0]))
    array([1., 2.])
    """
    device, dtype = home_of(module)
    given = inputs.to(device=device, dtype=dtype) if inputs.is_floating_point() else inputs.to(device)

    def influence(residual: Array) -> Array:
        trained = {name: one.detach() for name, one in module.named_parameters() if one.requires_grad}
        fixed = {name: one for name, one in module.named_parameters() if not one.requires_grad}
        fixed |= dict(module.named_buffers())

        def outputs(parameters: Any) -> Any:
            return torch.func.functional_call(module, {**parameters, **fixed}, (given,)).reshape(len(given), -1)

        weights = torch.from_numpy(residual.reshape(len(given), -1)).to(device=device, dtype=dtype)
        found, pull_back = torch.func.vjp(outputs, trained)
        if found.shape != weights.shape:
            raise InvalidInput(f"the module returns shape {tuple(found.shape)}, the residual has {residual.shape}")
        (direction,) = pull_back(weights)
        with warnings.catch_warnings():  # PyTorch 2.13 itself uses what it calls deprecated, at the first call
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            _, carried = torch.func.jvp(outputs, (trained,), (direction,))
        return np.asarray(carried.detach().cpu().numpy(), dtype=np.float64).reshape(residual.shape)

    return influence


@dataclass(frozen=True, eq=False)
class NINTTeacher(Teacher):
    r"""NINT: part of a pack by |K (f - f*)|, part by |f - f*|, part at random; K is the empirical tangent kernel.

    As in the published code, with its defaults, where K r is computed at the first look and then at every tenth:

    1. `kernel_share` exp(floor(-2 c / refresh)) of the pack, c counting the looks from 1: the largest |K (f - f*)|_2
       at the latest look at which it was computed,
    2. the rest but `random_share`: the largest sum of |f - f*| over channels, of the points left,
    3. `random_share`: drawn from the points left, without replacement.

    Between two looks the same pack is shown again. It is for `teach` and `TeachingSampler`, where the module that it is
    given is the one in training; it must be told this module, so it is no gray-box teacher.

    The published loop of pictures takes the floor in the exponent, so the first share is 0.3 / e, not 0.3, and falls
    below 0.001 at the thirtieth look: from there on the rule is 30 % by the residual and 70 % at random.

    Parameters
    ----------
    influence : callable (n,) or (n, q) -> the same
        r -> K r, as `ntk_influence(module, inputs)` makes it.
    k : int, float or schedule
        The published pictures are taught with packs of 20 % to 92 % (`nimt.schedules.steps(0.2, 0.92)`).
    look : schedule, optional
        When a pack is chosen; None for every step, the published "dense".
    kernel_share, random_share : float
    refresh : int
        Looks from one computation of K r to the next.
    """

    influence: Influence
    k: int | float | PackSchedule = 0.2
    look: LookSchedule | None = None
    kernel_share: float = 0.3
    random_share: float = 0.7
    refresh: int = 10

    at_random: ClassVar[bool] = True
    own_colour: ClassVar[str | None] = "#762A83"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pack(self.k)
        check_look(self.look)
        check_count("refresh", self.refresh, at_least=1)
        if not callable(self.influence):
            raise InvalidInput(
                f"must be callable, as ntk_influence(module, inputs), got {self.influence!r}", parameter="influence"
            )
        shares = (self.kernel_share, self.random_share)
        if not all(is_number(share) and 0 <= float(share) <= 1 for share in shares) or sum(shares) > 1 + 1e-12:
            raise InvalidInput(f"kernel_share and random_share must be from 0 to 1 and sum to at most 1, got {shares}")

    @property
    def method(self) -> str:
        return f"NINT-{self.k}"

    def select(self, view: View) -> Selection:
        memory = view.memory
        if memory is not None and not self.looks_at(view.step):
            return view.show(memory["pack"], memory=memory)
        looks = 1 if memory is None else int(memory["looks"]) + 1
        k = count_of(self.k, len(view), view.step)
        kept: Indices = np.empty(0, np.intp) if memory is None else np.asarray(memory["by_kernel"])
        share = 0.0 if memory is None else float(memory["share"])
        residual = view.predictions - view.target
        if looks == 1 or looks % self.refresh == 0:
            share = self.share_at(looks)
            if share >= LEAST_SHARE:
                kept = strongest(norm_of(self.influence(residual)), math.floor(k * share))
        pack, by_kernel = self.choose_pack(kept, residual_size(view.predictions, view.target, 1), k, share, view.rng)
        remembered = {"looks": looks, "by_kernel": by_kernel if share >= LEAST_SHARE else kept, "share": share}
        return view.show(pack, memory={name: np.array(part) for name, part in (remembered | {"pack": pack}).items()})

    def share_at(self, looks: int) -> float:
        """Return the part of a pack that is chosen by the kernel if it is computed at this look, counted from 1."""
        return self.kernel_share * math.exp(math.floor(-2.0 * looks / self.refresh))

    def choose_pack(
        self, kept: Indices, sizes: Array, k: int, share: float, rng: np.random.Generator
    ) -> tuple[Indices, Indices]:
        """Return the pack and its first part."""
        by_kernel = kept[: math.floor(k * share)]
        free = np.ones(len(sizes), dtype=bool)
        free[by_kernel] = False
        left = np.flatnonzero(free)
        wanted = math.floor(k * (1.0 - share - self.random_share) + 1e-9)
        by_residual = left[largest(sizes[left], wanted)] if wanted else left[:0]
        free[by_residual] = False
        drawn = rng.permutation(np.flatnonzero(free))[: k - len(by_kernel) - len(by_residual)]
        return np.concatenate([by_kernel, by_residual, drawn]), by_kernel


def strongest(scores: Array, k: int) -> Indices:
    """Return the k largest, the largest first: the first of them are kept when fewer are wanted."""
    return np.argsort(-scores, kind="stable")[:k]
