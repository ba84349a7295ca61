"""Which rule, how many centres and which penalty: those that err least on rows that chose none of the centres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from nimt.arrays import Array
from nimt.estimators.folds import Fold
from nimt.estimators.path import NestedModels, PathSettings
from nimt.estimators.samples import Samples
from nimt.wording import Watcher, be_silent

SLACK = 0.01  # of the least squared error: of the numbers of centres within it the smallest is taken
COST = 10  # of many rows the slack is smaller: what the noise of this many coefficients adds to the error
SURE = 2.0  # standard errors that a gain over the mean must have: the best of many models gains one by chance
EXACT = 1e-26  # times the squared error of the mean: smaller ones differ by rounding alone
BLOCK = 2**22  # answers that are held at a time


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a selected model answers on rows that it was not fitted to, by the models of the folds.

    Attributes
    ----------
    rows : array (h,) of int
    values : array (h, q)
    errors : array (h, q)
        The labels minus the values.
    gains : array (h, q)
        How much smaller the squared error is than that of the mean.
    spread : array (h, q)
        The deviation of the errors that the model states, in units of the noise.
    weight : array (h,)
    """

    rows: NDArray[np.intp]
    values: Array
    errors: Array
    gains: Array
    spread: Array
    weight: Array

    def helps(self, *, together: bool) -> NDArray[np.bool_]:
        """Say of each output, or of all together, whether it gains more than twice the standard error."""
        gains = self.gains.sum(axis=1, keepdims=True) if together else self.gains
        mean = np.average(gains, axis=0, weights=self.weight)
        variance = np.average((gains - mean) ** 2, axis=0, weights=self.weight)
        error = np.sqrt(variance / max(float(self.weight.sum()), len(self.rows)))
        return np.broadcast_to(mean > SURE * error, self.gains.shape[1:])

    def noise(self) -> Array:
        """Return the deviation of the noise with which the errors are, on average, what the model states."""
        return np.sqrt(np.average((self.errors / self.spread) ** 2, axis=0, weights=self.weight))


@dataclass(frozen=True, eq=False)
class Selected:
    """A rule, a number of centres, and the place of a penalty for each output; the last place is the mean.

    Attributes
    ----------
    rule : str or float
    size : int
    places : array (q,) of int
    curve : dict of int to float
        The RMS error on the rows held out by number of centres, for this rule.
    held_out : HeldOut
    is_constant : array (q,) of bool
        Which outputs are left to their means.
    """

    rule: str | float
    size: int
    places: NDArray[np.intp]
    curve: dict[int, float]
    held_out: HeldOut
    is_constant: NDArray[np.bool_]


class Trial:
    """One rule on all folds: the errors on the rows held out, by number of centres, penalty and output.

    The centres of a fold are chosen among the rows that are fitted there, so that no row chooses a centre of a model
    that is judged on it.

    Attributes
    ----------
    errors : array (s, g, q)
        Sums of squares.
    mistakes : array (s, g)
        How many rows, by weight, have another largest output than their label.
    """

    def __init__(
        self, settings: PathSettings, rule: str | float, samples: Samples, folds: list[Fold], sizes: Sequence[int]
    ) -> None:
        self.rule = rule
        self.sizes = sizes
        self.samples = samples
        self._parts = [_Part(settings, rule, samples, *fold, sizes[-1]) for fold in folds]
        judged = [[part.judge(size) for part in self._parts] for size in sizes]
        self.errors: Array = np.array([np.sum([squares for squares, _ in parts], axis=0) for parts in judged])
        self.mistakes: Array = np.array([np.sum([wrong for _, wrong in parts], axis=0) for parts in judged])

    def hold_out(self, size: int, places: NDArray[np.intp]) -> HeldOut:
        """Return what the models with this many centres and these penalties answer on the rows held out."""
        parts = [part.answer(size, places) for part in self._parts]
        return HeldOut(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class _Part:
    """One rule on one fold."""

    def __init__(
        self,
        settings: PathSettings,
        rule: str | float,
        samples: Samples,
        fitted: NDArray[np.intp],
        held_out: NDArray[np.intp],
        most: int,
    ) -> None:
        train, test = samples.take(fitted), samples.take(held_out)
        choice = settings.follow(rule, train, most, test.points)
        self.rows = held_out
        self.models = NestedModels(settings, choice, train)
        self.functions = np.array(choice.functions_elsewhere(self.models.most))
        self.diagonal = choice.basis.diagonal[len(train) :]
        self.labels = test.labels.reshape(len(test), -1)
        self.weight = np.ones(len(test)) if test.weight is None else test.weight

    def judge(self, size: int) -> tuple[Array, Array]:
        """Return the sum of squared errors (g, q) and the mistakes (g,)."""
        coefficients = self.models.solve(size).coefficients
        functions = self.functions[:, : len(coefficients)]
        squares, mistakes = [], []
        right = largest_output(self.labels)
        for places in gen_batches(coefficients.shape[2], max(1, BLOCK // self.labels.size)):
            some = coefficients[:, :, places]
            values = self.models.mean[:, np.newaxis] + np.tensordot(functions, some, axes=1)
            squares.append(np.tensordot(self.weight, (self.labels[:, :, np.newaxis] - values) ** 2, axes=1).T)
            mistakes.append(self.weight @ (largest_output(values) != right[:, np.newaxis]))
        return np.concatenate(squares), np.concatenate(mistakes)

    def answer(self, size: int, places: NDArray[np.intp]) -> tuple[NDArray[Any], ...]:
        """Return the columns of `HeldOut`."""
        models = self.models.solve(size)
        functions = self.functions[:, : len(models.coefficients)]
        values = self.models.mean + functions @ models.take(places)
        errors = self.labels - values
        gains = (self.labels - self.models.mean) ** 2 - errors**2
        return self.rows, values, errors, gains, models.spread(functions, self.diagonal, places), self.weight


def select(
    settings: PathSettings,
    rules: Sequence[str | float],
    samples: Samples,
    folds: list[Fold],
    most: int,
    *,
    classes: bool,
    watch: Watcher = be_silent,
) -> Selected:
    """Return the rule, the number of centres and the penalties with the least error on the rows held out.

    Of the numbers of centres within 1 % of the least squared error, or 10 / h of it for h rows held out if that is
    less, the smallest is taken. For numbers, each output has a penalty of its own, and its error is measured in that of
    its mean; an output that gains no more than twice the standard error of its gain is left to its mean. For classes,
    all outputs share a penalty, and none is taken with which more rows are in the wrong class than with the most
    frequent class for all.

    Parameters
    ----------
    settings : PathSettings
    rules : sequence of rules
    samples : Samples
    folds : list of (rows fitted, rows held out)
    most : int
        The largest number of centres.
    classes : bool
    watch : callable of str
        Told which rule is tried.
    """
    sizes = sizes_up_to(min(most, *(samples.take(fitted).count_distinct() for fitted, _ in folds)))
    compare = _compare_classes if classes else _compare_numbers
    tried = []
    for number, rule in enumerate(rules):
        watch(f"rule {rule} on rows held out, {number + 1} of {len(rules)}")
        trial = Trial(settings, rule, samples, folds, sizes)
        tried.append((trial, *compare(trial)))
    least = min(float(errors.min()) for _, errors, _ in tried)
    slack = min(SLACK, COST / sum(samples.take(held_out).count() for _, held_out in folds))
    at = int(np.argmax(np.min([errors for _, errors, _ in tried], axis=0) <= (1.0 + slack) * least))
    trial, _, table = min(tried, key=lambda one: float(one[1][at]))

    held_out = trial.hold_out(sizes[at], table[at])
    constant = ~held_out.helps(together=classes)
    places = np.where(constant, trial.errors.shape[1] - 1, table[at])
    sums = np.take_along_axis(trial.errors, table[:, np.newaxis], axis=1).sum(axis=(1, 2))
    curve = np.sqrt(sums / held_out.weight.sum() / len(places))
    return Selected(
        rule=trial.rule,
        # folds have fewer rows: where all centres that they allow are best, all that the rows allow are taken
        size=0 if constant.all() else most if at == len(sizes) - 1 else sizes[at],
        places=places,
        curve=dict(zip(sizes, curve.tolist(), strict=True)),
        held_out=trial.hold_out(sizes[at], places),
        is_constant=constant,
    )


def select_mean(rule: str | float, samples: Samples, rows: NDArray[np.intp]) -> Selected:
    """Return the choice of the mean for all outputs: what is left where all rows are equal."""
    some = samples.take(rows)
    errors = some.center().labels.reshape(len(rows), -1)
    values = some.labels.reshape(errors.shape) - errors
    weight = np.ones(len(rows)) if some.weight is None else some.weight
    held_out = HeldOut(rows, values, errors, np.zeros_like(errors), np.ones_like(errors), weight)
    constant = np.ones(errors.shape[1], dtype=bool)
    return Selected(rule, 0, np.full(errors.shape[1], -1), {}, held_out, constant)


def sizes_up_to(most: int) -> list[int]:
    """Return the numbers of centres that are tried: each about 1.4 times the one before.

    Examples
    --------
    >>> sizes_up_to(100)
    [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 100]
    """
    powers = {round(2 ** (half / 2)) for half in range(2 * most.bit_length())}
    return sorted({size for size in powers if size < most} | {most})


def largest_output(values: Array) -> NDArray[np.intp]:
    """Return the place of the largest output, the second axis; of a single one whether it is positive."""
    return np.asarray(values[:, 0] > 0 if values.shape[1] == 1 else np.argmax(values, axis=1))


def _compare_numbers(trial: Trial) -> tuple[Array, NDArray[np.intp]]:
    """Return the mean error of the outputs in that of their means (s,), and the best places (s, q)."""
    shares = _divide(trial.errors, trial.errors[:, -1:])
    return shares.min(axis=1).mean(axis=1), shares.argmin(axis=1)


def _compare_classes(trial: Trial) -> tuple[Array, NDArray[np.intp]]:
    """Return the error of all outputs in that of their means (s,), and the best place for all of them (s, q)."""
    errors = trial.errors.sum(axis=2)
    shares = np.where(trial.mistakes <= trial.mistakes[:, -1:], _divide(errors, errors[:, -1:]), np.inf)
    places = shares.argmin(axis=1)
    return shares.min(axis=1), np.tile(places[:, np.newaxis], trial.errors.shape[2])


def _divide(errors: Array, mean: Array) -> Array:
    """Return the errors in units of that of the mean, 1 where that is 0."""
    return np.divide(errors, mean, out=np.ones_like(errors), where=mean > 0).clip(min=EXACT)
