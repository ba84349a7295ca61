"""The responsive teacher: the largest errors among those that the learner's steps take with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices, is_number
from nimt.errors import InvalidInput, ResponseWarning, name_thing, warn
from nimt.inheritance import behaves_like
from nimt.kernels import Kernel
from nimt.losses import Loss, Square
from nimt.operators.dense import GRAM_LIMIT, DenseOperator
from nimt.pools.pool import Pool
from nimt.schedules import check_k
from nimt.teachers.response_by_distance import SURPRISING, ResponseByDistance
from nimt.teachers.rule import Jointly, Largest, Rule
from nimt.teachers.scores import JointDecrease, Residual, Response, Score
from nimt.teachers.scores.by_product import add_output_axes
from nimt.teachers.teacher import Memory, Selection, Teacher, View, count_of, largest, residual_size

P = 1.25
PROBES = 3  # examples whose effect is read before responses count
WATCHED = 32  # steps of which one is compared with what was expected of it
FORGET = 0.5  # per step compared, of how far steps were from what was expected
PROBING, KNOWN, UNKNOWN = 0.0, 1.0, 2.0  # what is known of the responses


@dataclass(frozen=True, eq=False)
class ResponsiveTeacher(Teacher):
    r"""Show argmax |r|^p (|K r| / |K_x|)^(2 - p), r = f - f*: large errors amid errors of the same sign.

    A step at x moves the learner by a multiple of K_x = K(x, .) on the pool, and (K r)(x) / |K_x| is the part of the
    whole error that lies along it. With p = 2 this is `GreedyTeacher`. Points at which r and K r differ in sign are not
    shown, unless all do.

    Without a `kernel` the teacher is a gray box: it shows the largest errors at three points first, one per step, reads
    how the learner's values changed everywhere, and takes the response to depend on the distance alone: means over
    equal distances, straight lines between them, 0 beyond. Where the learner does not move as that predicts, at the
    third example or at one of the steps 32, 64, ... that are compared, it warns and goes on as a greedy teacher. With
    the learner's `kernel` nothing has to be estimated.

    A pack P of k > 1 examples moves the learner by s sum_j r_j K_j, s = 2 eta / k, and takes
    D(P) = 2 s sum_i r_i (K r)_i - s^2 sum_ij r_i r_j (K K)_ij from sum r^2, the sums over its points. The pack is
    chosen by this joint decrease, greedily: each point is the one that adds most to D(P),

        2 s r_i (K r')_i - s^2 r_i^2 |K_i|^2,    r' = r - s sum_j r_j K_j, the errors that the points before it leave.

    The gray box takes the response that it read for 2 eta K. Packs do not use `p`.

    Lessons are compiled on grids, lists of neighbours and columns. Those of the gray box are so from the fourth step
    on, with the response in place of the kernel. Several outputs are compared by their length, K r along the error, and
    decreases are added.

    Parameters
    ----------
    p : float in [1, 2]
        The weight of the error itself, for one example per step.
    kernel : Kernel, optional
        Of the learner: a white box.
    k : int or float
        A count from 1 to n, or a share in (0, 1].
    learning_rate : float or "auto", optional
        Of the learner, for packs of a teacher with its kernel; the teacher sees it.

    Examples
    --------
    >>> import nimt
    >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01)
    >>> teachers = nimt.GreedyTeacher(), ResponsiveTeacher()
    >>> [nimt.teach(learner, one, x, np.sin, tol=1e-3, max_iterations=9000).itd for one in teachers]
    [1865, 1425]
    """

    p: float = P
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
        if self.shows_packs and self.p != P:
            raise InvalidInput(
                "is not used by packs, which are chosen by their joint decrease: leave p out", parameter="p"
            )
        if self.learning_rate is not None and (self.kernel is None or not self.shows_packs):
            raise InvalidInput("is used by packs with kernel= only", parameter="learning_rate")
        self.check_parts()

    @property
    def opens(self) -> tuple[str, ...]:
        if self.kernel is None:
            return ()
        return ("kernel", "rate") if self.shows_packs else ("kernel",)

    @property
    def shows_packs(self) -> bool:
        """Whether a step may show several examples."""
        return self.k != 1 or isinstance(self.k, float)

    @property
    def method(self) -> str:
        told = "" if self.p == P else f" (p {self.p:g})"
        return f"responsive{'' if self.k == 1 else f'-{self.k}'}{told}"

    def check_on(self, n: int) -> None:
        count_of(self.k, n)
        if self.kernel is None and 16 * n * n > GRAM_LIMIT:
            problem = f"{n:,} points are too many: responses between all of them are kept"
            most = int((GRAM_LIMIT / 16) ** 0.5)
            raise InvalidInput(problem, way_out=f"teach at most {most:,}, or give kernel=")

    def check_loss(self, loss: Loss) -> None:
        if self.shows_packs and self.kernel is not None and not isinstance(loss, Square):
            problem = f"the joint decrease of a pack is of the square loss, and the learner has {name_thing(loss)}"
            raise InvalidInput(problem, way_out="leave k out")

    def compiled_rule(self) -> Rule | None:
        if self.kernel is None or not self.is_informed or not behaves_like(self, ResponsiveTeacher, "select"):
            return None  # the gray box is compiled after its first steps (`engines/probing_engine`)
        return Rule(Jointly() if self.shows_packs else Largest(), self.score_part)

    @cached_property  # asked for at every step of the reference loop
    def score_part(self) -> Score:
        """The score of a teacher that knows the kernel."""
        assert self.kernel is not None
        if self.shows_packs:
            assert self.learning_rate is not None
            return JointDecrease(self.kernel, self.learning_rate, self.k)
        return Residual() if self.p == 2 else Response(self.kernel, float(self.p))

    @property
    def probes(self) -> bool:
        """Whether it begins by reading responses, and goes on as `take_for_kernel` says."""
        return self.kernel is None and behaves_like(self, ResponsiveTeacher, "select")

    def read_kernel(self, pool: Pool, memory: Memory) -> ResponsiveTeacher:
        """Return the teacher that takes the responses remembered, of these points, for 2 eta K."""
        return self._kept.on(self, pool, memory)

    def take_for_kernel(self, response: Kernel) -> ResponsiveTeacher:
        """Return the teacher that takes a response for 2 eta K."""
        rate = 0.5 if self.shows_packs else None  # 2 eta is part of the response
        return replace(self, kernel=response, learning_rate=rate)

    def select(self, view: View) -> Selection:
        if not self.is_informed:
            return self.inform_by(view).select(view)
        if self.kernel is None:
            return self._select_by_responses(view)
        k = count_of(self.k, len(view))
        if isinstance(self.score_part, JointDecrease):
            chosen, scores = self.score_part.choose_pack(view.predictions - view.target, view.pool, k)
            return view.show(chosen, scores)
        scores = self.score_part.of(view.predictions, view.target, view.pool)
        return view.show(largest(scores, 1), scores)

    def _select_by_responses(self, view: View) -> Selection:
        memory = self.observe(view)
        if memory["known"] == KNOWN:
            selection = self.read_kernel(view.pool, memory).select(view)
            return view.show(selection.indices, selection.scores, memory=memory | {"shown": selection.indices})
        sizes = residual_size(view.predictions, view.target)
        k = count_of(self.k, len(view))
        if memory["known"] == PROBING:
            sizes, k = np.where(np.isin(np.arange(len(view)), memory["probed"]), -1.0, sizes), 1
        chosen = largest(sizes, k)
        return view.show(chosen, sizes, memory=memory | {"shown": chosen})

    def observe(self, view: View) -> dict[str, NDArray[Any]]:
        """Return what is remembered, with the effect of the latest step: how the learner responds, if that is known."""
        n, errors = len(view), np.array(view.predictions - view.target)
        now = {"errors": errors, "identity": view.candidates}
        if view.memory is None:
            nothing = np.empty(0, dtype=np.intp)
            return now | {
                "known": np.array(PROBING if n > PROBES else UNKNOWN),
                "probed": nothing,
                "columns": np.empty((0, n)),
                "missed": np.array(0.0),
            }
        memory: dict[str, NDArray[Any]] = dict(view.memory) | now
        same = add_output_axes(view.memory["identity"] == view.candidates, errors)
        before = view.memory["errors"]
        moved = np.where(same, errors - before, 0.0)
        if memory["known"] == PROBING:
            return self._read_response(view, before, moved, memory)
        if memory["known"] == KNOWN and view.step % WATCHED == 0:
            return memory | self.compare(view.pool, view.step, memory["shown"], before, moved, memory)
        return memory

    def _read_response(
        self, view: View, before: Array, moved: Array, memory: dict[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """Return the memory with the response to the latest example, and with what is known when it is the last."""
        shown = int(memory["shown"][0])
        error = np.atleast_1d(before[shown])
        column = -(moved.reshape(len(moved), -1) @ error) / max(float(error @ error), np.finfo(float).tiny)
        memory["probed"] = np.append(memory["probed"], shown)
        memory["columns"] = np.vstack([memory["columns"], column])
        if len(memory["probed"]) == PROBES:
            found = ResponseByDistance.of(view.pool.points, memory["probed"], memory["columns"])
            memory["known"] = np.array(KNOWN if found.agrees else UNKNOWN)
            if not found.agrees:
                warn_of_responses(view.step, found.surprise)
        return memory

    def compare(
        self, pool: Pool, step: int, shown: Indices, before: Array, moved: Array, memory: Memory
    ) -> dict[str, NDArray[Any]]:
        """Return what changes in the memory after a step that showed these points; warn if responses are not used on.

        Each output is compared with the best multiple of what was expected, so that the rate may change.
        """
        move = np.zeros(before.shape)
        self._kept.operator_on(self, pool, memory).add(move, shown, before[shown])
        expected = move.reshape(len(moved), -1)
        changes = moved.reshape(len(moved), -1)
        sizes = np.maximum((expected * expected).sum(axis=0), np.finfo(float).tiny)
        rest = changes - expected * ((expected * changes).sum(axis=0) / sizes)
        size = float(np.linalg.norm(changes))
        missed = float(np.linalg.norm(rest)) / size if size > 0 else 0.0
        average = FORGET * float(memory["missed"]) + (1.0 - FORGET) * missed
        if average <= SURPRISING:
            return {"missed": np.array(average)}
        warn_of_responses(step, average)
        return {"missed": np.array(average), "known": np.array(UNKNOWN)}

    @cached_property
    def _kept(self) -> KnownResponse:
        return KnownResponse()


class KnownResponse:
    """What does not change in a lesson once it is known: the teacher that takes the response for a kernel."""

    pool: Pool | None = None
    columns: Array | None = None
    teacher: ResponsiveTeacher
    operator: DenseOperator

    def on(self, teacher: ResponsiveTeacher, pool: Pool, memory: Memory) -> ResponsiveTeacher:
        """Return the teacher that goes on with the responses remembered."""
        known = self.columns is not None and np.array_equal(self.columns, memory["columns"])  # a file holds copies
        if self.pool is not pool or not known:
            found = ResponseByDistance.of(pool.points, memory["probed"], memory["columns"])
            self.teacher = teacher.take_for_kernel(found.kernel)
            self.operator = DenseOperator(found.kernel, pool)
            self.pool, self.columns = pool, memory["columns"]
        return self.teacher

    def operator_on(self, teacher: ResponsiveTeacher, pool: Pool, memory: Memory) -> DenseOperator:
        """Return the response on the pool."""
        self.on(teacher, pool, memory)
        return self.operator


def warn_of_responses(step: int, missed: float) -> None:
    """Warn that the learner did not move as expected."""
    warn(
        f"the learner's response does not depend on the distance alone (up to step {step} it moved in another way than "
        f"that predicts, by {missed:.0%}): the largest errors are shown, as by nimt.GreedyTeacher(); give kernel= if "
        f"you know it",
        ResponseWarning,
    )
