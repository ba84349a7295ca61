"""The responsive teacher: the largest errors among those that the learner's steps take with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices, is_number
from nimt.errors import InvalidInput, ResponseWarning, warn
from nimt.inheritance import behaves_like
from nimt.kernels import Kernel
from nimt.learners.learner import auto_rate
from nimt.losses import Square
from nimt.operators.dense import GRAM_LIMIT
from nimt.pools.pool import Pool
from nimt.schedules import check_k
from nimt.teachers.response_by_distance import SURPRISING, ResponseByDistance
from nimt.teachers.rule import Rule
from nimt.teachers.scores import Residual, Response, Score
from nimt.teachers.scores.by_product import add_output_axes
from nimt.teachers.scores.response import lengths_from, weigh_response
from nimt.teachers.teacher import Selection, Teacher, View, count_of, largest, norm_of, residual_size

PROBES = 3  # examples whose effect is read before responses count
SMALL = 512  # points up to which K r is computed anew at every step
AT_ONCE = 2_500  # points up to which all columns of K K are computed at once, a second's work
EVERY = 256  # steps after which it is computed anew elsewhere
FORGET = 0.9  # per step, of how far steps were from what was expected
SAME = 1e-6  # the share of a step by which it may differ from the response expected
PROBING, KNOWN, UNKNOWN = 0.0, 1.0, 2.0  # what is known of the responses


@dataclass(frozen=True, eq=False)
class ResponsiveTeacher(Teacher):
    r"""Show argmax |r|^p (|K r| / |K_x|)^(2 - p), r = f - f*: large errors amid errors of the same sign.

    A step at x moves the learner by a multiple of K_x = K(x, .) on the pool, and (K r)(x) / |K_x| is the part of the
    whole error that lies along it. With p = 2 this is `GreedyTeacher`. Points at which r and K r differ in sign are not
    shown, unless all do.

    Without a `kernel` the teacher is a gray box: it shows the largest errors at three points first, reads how the
    learner's values changed everywhere, and takes the response to depend on the distance alone: means over equal
    distances, straight lines between them, 0 beyond. Where the learner does not move as that predicts, at the third
    example or later, it warns and goes on as a greedy teacher. With the learner's `kernel` nothing has to be estimated.

    With a `kernel` and one example per step, lessons are compiled; the gray box and packs run in the plain loop, which
    keeps K r up to date. Several outputs are compared by their length, and K r along the error.

    Parameters
    ----------
    p : float in [1, 2]
        The weight of the error itself.
    kernel : Kernel, optional
        Of the learner: a white box.
    k : int or float
        A count from 1 to n, or a share in (0, 1]. For packs the teacher sees the kernel and the rate: their points are
        chosen one by one, each by the K r that the points before it would leave.
    learning_rate : float or "auto", optional
        Of the learner, for packs; the teacher sees it.

    Examples
    --------
    >>> import nimt
    >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01)
    >>> teachers = nimt.GreedyTeacher(), ResponsiveTeacher()
    >>> [nimt.teach(learner, one, x, np.sin, tol=1e-3, max_iterations=9000).itd for one in teachers]
    [1865, 1425]
    """

    p: float = 1.25
    kernel: Kernel | None = None
    k: int | float = 1
    learning_rate: float | str | None = None

    own_colour: ClassVar[str | None] = "#117733"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"responsive": {}}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_k(self.k)
        if not is_number(self.p) or not 1 <= float(self.p) <= 2:
            raise InvalidInput(f"must be a number from 1 to 2, got {self.p!r}", parameter="p")
        self.check_parts()

    @property
    def opens(self) -> tuple[str, ...]:
        if self.shows_packs:  # what one example of a pack did cannot be seen
            return ("kernel", "rate")
        return ("kernel",) if self.kernel is not None else ()

    @property
    def shows_packs(self) -> bool:
        """Whether a step may show several examples."""
        return self.k != 1 or isinstance(self.k, float)

    @property
    def method(self) -> str:
        told = "" if self.p == 1.25 else f" (p {self.p:g})"
        return f"responsive{'' if self.k == 1 else f'-{self.k}'}{told}"

    def check_on(self, n: int) -> None:
        if (self.kernel is None or self.shows_packs) and 16 * n * n > GRAM_LIMIT:
            problem = f"{n:,} points are too many: responses between all of them are kept"
            most = int((GRAM_LIMIT / 16) ** 0.5)
            raise InvalidInput(problem, way_out=f"teach at most {most:,}, or give kernel= and one example per step")

    def compiled_rule(self) -> Rule | None:
        if self.kernel is None or self.shows_packs or not behaves_like(self, ResponsiveTeacher, "select"):
            return None
        return Rule(score=self.score_part)

    @cached_property  # asked for at every step of the reference loop
    def score_part(self) -> Score:
        """The score of a teacher that knows the kernel."""
        assert self.kernel is not None
        return Residual() if self.p == 2 else Response(self.kernel, float(self.p))

    def select(self, view: View) -> Selection:
        if not self.is_informed:
            return self.inform_by(view).select(view)
        if self.kernel is not None and not self.shows_packs:
            scores = self.score_part.of(view.predictions, view.target, view.pool)
            return view.show(largest(scores, 1), scores)
        errors = np.asarray(view.predictions - view.target)
        memory = self._observe(view, errors)
        sizes = residual_size(view.predictions, view.target)
        if memory["known"] == PROBING:
            sizes = np.where(np.isin(np.arange(len(view)), memory["probed"]), -1.0, sizes)
        responses = self._kept.on(self, view.pool, memory) if memory["known"] == KNOWN else None
        if responses is None or not self._watch(view.step, responses, memory):
            chosen = np.array([sizes.argmax()])
            return view.show(chosen, sizes, memory=memory | {"shown": chosen})
        products = self._products(responses, errors, memory)
        scores = self._score(errors, products)
        k = count_of(self.k, len(view))
        chosen = np.array([scores.argmax()]) if k == 1 else self._pack(responses, errors, products, k)
        return view.show(chosen, scores, memory=memory | {"products": products, "shown": chosen})

    def _observe(self, view: View, errors: Array) -> dict[str, NDArray[Any]]:
        """Return what is remembered, with the effect of the latest example."""
        n = len(view)
        now = {"errors": errors, "identity": view.candidates}
        if view.memory is None:
            nothing = np.empty(0, dtype=np.intp)
            known = KNOWN if self.kernel is not None else PROBING if n > PROBES else UNKNOWN
            return now | {
                "known": np.array(known),
                "probed": nothing,
                "columns": np.empty((0, n)),
                "since": np.array(0),
                "missed": np.array(0.0),
            }
        memory: dict[str, NDArray[Any]] = dict(view.memory) | now
        same = add_output_axes(view.memory["identity"] == view.candidates, errors)
        moved = np.where(same, errors - view.memory["errors"], 0.0)
        memory["moved"] = moved
        if memory["known"] != PROBING:
            return memory
        shown = int(memory["shown"][0])
        before = np.atleast_1d(view.memory["errors"][shown])
        column = -(moved.reshape(n, -1) @ before) / max(float(before @ before), np.finfo(float).tiny)
        memory["probed"] = np.append(memory["probed"], shown)
        memory["columns"] = np.vstack([memory["columns"], column])
        if len(memory["probed"]) == PROBES:
            found = ResponseByDistance.of(view.pool.points, memory["probed"], memory["columns"])
            memory["known"] = np.array(KNOWN if found.agrees else UNKNOWN)
            if not found.agrees:
                warn_of_responses(view.step, found.surprise)
        return memory

    def _watch(self, step: int, responses: Array, memory: dict[str, NDArray[Any]]) -> bool:
        """Say whether the latest steps moved the learner as expected; remember it where they did not."""
        if self.kernel is not None or "products" not in memory:
            return True
        moved = memory["moved"].reshape(len(responses), -1)
        column, size = responses[int(memory["shown"][0])], float(np.linalg.norm(moved))
        move = column @ moved / max(float(column @ column), np.finfo(float).tiny)
        missed = float(np.linalg.norm(moved - column[:, None] * move)) / size if size > 0 else 0.0
        memory["missed"] = FORGET * memory["missed"] + (1.0 - FORGET) * missed
        if memory["missed"] <= SURPRISING:
            return True
        warn_of_responses(step, float(memory["missed"]))
        memory["known"] = np.array(UNKNOWN)
        return False

    def _products(self, responses: Array, errors: Array, memory: dict[str, NDArray[Any]]) -> Array:
        """Return K r; where the latest step was as expected, by a column of K K."""
        since = int(memory["since"])
        memory["since"] = np.array(0)
        if "products" not in memory or len(errors) <= SMALL or since >= EVERY or len(memory["shown"]) > 1:
            return np.asarray(responses @ errors)
        shown, moved = int(memory["shown"][0]), memory["moved"].reshape(len(errors), -1)
        column = responses[shown]
        move = column @ moved / float(column @ column)
        if np.abs(moved - column[:, None] * move).max() > SAME * np.abs(moved).max(initial=0.0):
            return np.asarray(responses @ errors)
        memory["since"] = np.array(since + 1)
        effect = self._kept.effect(shown)
        return np.asarray(memory["products"] + (effect[:, None] * move).reshape(errors.shape))

    def _score(self, errors: Array, products: Array) -> Array:
        """Return the score of each point from K r."""
        if self.p == 2:
            return norm_of(errors)
        return weigh_response(errors, products / add_output_axes(self._kept.lengths, errors), float(self.p))

    def _pack(self, responses: Array, errors: Array, products: Array, k: int) -> Indices:
        rate = self.learning_rate
        assert rate is not None
        eta = auto_rate(Square(), responses.diagonal()) if isinstance(rate, str) else float(rate)
        left, free = np.array(products), np.ones(len(errors), dtype=bool)
        for _ in range(k):
            possible = np.flatnonzero(free)
            index = possible[largest(self._score(errors, left)[possible], 1)[0]]
            free[index] = False
            left -= (2.0 * eta / k) * np.multiply.outer(self._kept.effect(index), errors[index])
        return np.flatnonzero(~free)

    @cached_property
    def _kept(self) -> KnownColumns:
        return KnownColumns()


class KnownColumns:
    """What does not change in a lesson once it is known: K on the pool, and the columns of K K that were asked for."""

    pool: Pool | None = None
    columns: Array | None = None

    def on(self, teacher: ResponsiveTeacher, pool: Pool, memory: Mapping[str, NDArray[Any]]) -> Array:
        """Return the responses between all points: those of the kernel, or of the distance."""
        known = self.columns is not None and np.array_equal(self.columns, memory["columns"])  # a file holds copies
        if self.pool is not pool or not known:
            points = pool.points
            if teacher.kernel is not None:
                self.gram: Array = np.asarray(teacher.kernel(points, points), dtype=np.float64)
            else:
                self.gram = ResponseByDistance.of(points, memory["probed"], memory["columns"]).between(points)
            self.lengths: Array = lengths_from(np.einsum("ij,ij->i", self.gram, self.gram))
            self.effects: dict[int, Array] = dict(enumerate(self.gram @ self.gram)) if len(points) <= AT_ONCE else {}
            self.pool, self.columns = pool, memory["columns"]
        return self.gram

    def effect(self, index: int) -> Array:
        """Return a column of K K."""
        if index not in self.effects:
            self.effects[index] = self.gram @ self.gram[index]
        return self.effects[index]


def warn_of_responses(step: int, missed: float) -> None:
    """Warn that the learner did not move as expected."""
    warn(
        f"the learner's response does not depend on the distance alone (up to step {step} it moved in another way than "
        f"that predicts, by {missed:.0%}): the largest errors are shown, as by nimt.GreedyTeacher(); give kernel= if "
        f"you know it",
        ResponseWarning,
    )
