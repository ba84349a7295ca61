"""A lesson as a list of visits: how far it leads, and where one more visit would help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices
from nimt.session.interrupts import end_if_interrupted
from nimt.teachers.scores.response import lengths_from, weigh_response

MOST_PRODUCTS = 10**9  # multiplications for the lesson of a rule that needs K (f - f*): about a second
NEGLIGIBLE = 1e-17  # entries of K below this share of the diagonal are left out


@dataclass(frozen=True, eq=False)
class Visits:
    """A list of visits: `counts[k]` shows of the point `order[k]`, whole numbers or not."""

    order: Indices
    counts: Array

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    def without_empty(self, below: float = 1e-6) -> Visits:
        """Return the list without visits of next to no shows."""
        kept = self.counts > below
        return Visits(self.order[kept], self.counts[kept])


@dataclass(frozen=True, eq=False)
class VisitProblem:
    """What a list of visits has to do: bring |f - f*| from `errors` below `radius`, with steps of s = 2 eta.

    Attributes
    ----------
    gram : array (n, n)
    errors : array (q, n)
        f - f* before the first visit, a row per output; (n,) for one.
    radius : float
    step : float
        2 eta, for which 1 - 2 eta K(x, x) > 0.
    """

    gram: Array
    errors: Array
    radius: float
    step: float
    rows: tuple[NDArray[np.int64], NDArray[np.int32], Array] = field(init=False)
    diagonal: Array = field(init=False)
    decay: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "errors", np.ascontiguousarray(np.atleast_2d(self.errors)))
        diagonal = np.ascontiguousarray(self.gram.diagonal())
        reached = np.abs(self.gram) > NEGLIGIBLE * diagonal.max()
        starts = np.concatenate([[0], np.cumsum(reached.sum(axis=1))]).astype(np.int64)
        members = np.nonzero(reached)[1].astype(np.int32)
        object.__setattr__(self, "rows", (starts, members, self.gram[reached]))
        object.__setattr__(self, "diagonal", diagonal)
        object.__setattr__(self, "decay", -np.log1p(-self.step * diagonal))

    @property
    def distance(self) -> float:
        """|f - f*| before the first visit, of all outputs."""
        return float(np.linalg.norm(self.errors))

    @property
    def sizes(self) -> Array:
        """|f - f*| at every point before the first visit."""
        return sizes_of(self.errors)

    def begin_from(self, errors: Array) -> VisitProblem:
        """Return the problem that is left where f - f* is this; the rows are shared."""
        left = object.__new__(VisitProblem)
        for name in ("gram", "radius", "step", "rows", "diagonal", "decay"):
            object.__setattr__(left, name, getattr(self, name))
        object.__setattr__(left, "errors", errors)
        return left

    def after(self, visits: Visits) -> tuple[Array, Array]:
        """Return f - f* after the visits, and what it was at the point of each visit before it: a row per output."""
        from nimt.engines.compiled_steps.visiting import visit_all

        errors, found = np.array(self.errors), np.empty((len(self.errors), len(visits.order)))
        for of_output, then in zip(errors, found, strict=True):
            visit_all(of_output, visits.order, visits.counts, self.decay, self.diagonal, *self.rows, then)
        return errors, found

    def log_square(self, visits: Visits) -> tuple[float, Array]:
        """Return log |f - f*|^2 after the visits, and its derivatives by the counts."""
        from nimt.engines.compiled_steps.visiting import slopes

        end_if_interrupted()
        errors, found = self.after(visits)
        square = float(np.vdot(errors, errors))
        slope = np.empty(found.shape)
        for weights, then, part in zip(errors * (2.0 / square), found, slope, strict=True):
            slopes(weights, visits.order, visits.counts, self.decay, self.diagonal, *self.rows, then, part)
        return float(np.log(square)), slope[0] if len(slope) == 1 else slope.sum(axis=0)

    def find_insertions(self, visits: Visits) -> tuple[Indices, Array]:
        """Return for every point where to insert a visit to it, and the derivative of log |f - f*|^2 by its count."""
        from nimt.engines.compiled_steps.visiting import best_insertions

        errors, found = self.after(visits)
        products = self._multiply(errors * (2.0 / float(np.vdot(errors, errors))))
        places, steepest = np.zeros(len(self.diagonal), np.int64), np.zeros(len(self.diagonal))
        best_insertions(
            errors, products, visits.order, visits.counts, self.decay, self.diagonal, *self.rows, found, places,
            steepest,
        )  # fmt: skip
        return places, steepest

    def finish(self, errors: Array, most: int) -> Indices | None:
        """Return the points that lower the sum of squares most, one by one until the radius is reached, or None."""
        from nimt.engines.compiled_steps.visiting import lower_squares

        starts, members, entries = self.rows
        lengths = np.add.reduceat(entries * entries, starts[:-1])
        errors, shown = np.array(errors), np.empty(most, np.int64)
        products = self._multiply(errors)
        steps = lower_squares(errors, products, lengths, self.step, self.radius, starts, members, entries, shown)
        return None if steps < 0 else shown[:steps]

    def finish_greedily(self, errors: Array, step: float, most: int) -> Indices | None:
        """Return the points with the largest |f - f*| sqrt(K(x, x)), one by one with these steps, or None.

        Steps that are too large to lower the sum of squares anywhere still bring f nearer to f* in H.
        """
        weights = np.sqrt(self.diagonal)
        return self._finish_by(lambda errors: sizes_of(errors) * weights, errors, step, most)

    def list_without_plans(self, most: int) -> list[Indices]:
        """Return the lessons of rules that need no plan, those of at most so many steps that reach the radius."""
        lengths = lengths_from((self.gram * self.gram).sum(axis=1))

        def respond(errors: Array) -> Array:
            return weigh_response(errors.T, self._multiply(errors).T / lengths[:, np.newaxis], 1.25)

        rules = [sizes_of] if self.diagonal.min() < self.diagonal.max() else []
        rules += [respond] if most * self.gram.size * len(self.errors) <= MOST_PRODUCTS else []
        found = [self.finish_greedily(self.errors, self.step, most)]
        found += [self._finish_by(rule, self.errors, self.step, most) for rule in rules]
        return [one for one in found if one is not None]

    def _finish_by(self, rule: Callable[[Array], Array], errors: Array, step: float, most: int) -> Indices | None:
        """Return the points with the largest scores, one by one with these steps until the radius is reached."""
        errors, shown = np.array(errors), list[int]()
        while float(np.linalg.norm(errors)) >= self.radius:
            end_if_interrupted()
            if len(shown) == most:
                return None
            shown.append(int(np.argmax(rule(errors))))
            errors -= step * errors[:, shown[-1:]] * self.gram[shown[-1]]
        return np.array(shown, dtype=np.intp)

    def _multiply(self, values: Array) -> Array:
        """Return K times the values of each output."""
        return np.stack([self.gram @ of_output for of_output in values])


def sizes_of(errors: Array) -> Array:
    """Return |f - f*| at every point from a row per output."""
    return np.abs(errors[0]) if len(errors) == 1 else np.asarray(np.linalg.norm(errors, axis=0))
