"""Greedy functional teaching: the examples at which the learner's error is largest."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, cast

import numpy as np

from nimt.arrays import Array, Indices, check_flag, is_number
from nimt.errors import InvalidInput, name_thing
from nimt.inheritance import behaves_like
from nimt.kernels import Kernel, as_kernel
from nimt.learners.learner import check_rate
from nimt.losses import LOSSES, Loss, Square, as_loss, predicts_logits
from nimt.losses.compiled_score import CompiledScore
from nimt.pools.pool import FunctionLike, Pool, values_on
from nimt.schedules import LookSchedule, PackSchedule, check_look, check_pack
from nimt.teachers.candidates import candidates_of
from nimt.teachers.disagreement import disagreements, split_by_reference
from nimt.teachers.never_twice import add_shown, find_left
from nimt.teachers.references import check_reference
from nimt.teachers.rule import Diverse, NeverTwice, Rule
from nimt.teachers.scores import SCORES, OwnScore, Score
from nimt.teachers.teacher import (
    ORANGE,
    SKY,
    VERMILION,
    Selection,
    Teacher,
    View,
    check_norm,
    count_of,
    largest,
)
from nimt.wording import Wording


@dataclass(frozen=True, eq=False)
class GreedyTeacher(Teacher):
    """Greedy functional teaching (GFT): the k points with the largest error [Zhang23, Alg. 1].

    Ties go to the lowest index, and a pack is listed in the order of the pool.

    Parameters
    ----------
    k : int, float or schedule
        A count from 1 to n, or a share in (0, 1]: k=1 shows one example per step, k=1.0 the whole pool. A schedule
        (`nimt.schedules`) changes it with the step.
    score : {"residual", "gradient", "loss", "decrease"}, or a score by `nimt.compiled`
        "residual" is |f - f*|, which a gray-box teacher knows. "gradient" is the paper's exact rule |dL/df| sqrt(K(x,
        x)), for a teacher who sees the learner's loss and kernel. "loss" is the loss itself, for a teacher who sees it:
        with the hinge loss it never prefers a point whose loss is 0. "decrease" is how much a step of the square loss
        lowers the sum of squares over all points that may be shown, for a teacher who sees the kernel and the rate: the
        greedy rule where no f reaches the labels, as with noise. Or a function of yours, (f,
        y, kappa) -> score, by `nimt.compiled`; kappa is K(x, x) if the teacher is given the `kernel`, else 1.
    norm : {2, 1, "max"}
        Over outputs, where there are several.
    diverse : bool
        Choose the points of a pack one by one, as if the error at each point chosen before were corrected: f - f* is
        reduced by (f - f*)(x_j) K(x_j, .) / K(x_j, x_j). It needs the `kernel`. It helps where one step does correct
        the error at its points (an `OrthogonalLearner`, or a learning rate near the bound with a narrow kernel);
        elsewhere it changes little or needs more steps.
    look : schedule, optional
        At which steps the scores are computed anew (`nimt.schedules.every(10)`); by default at every step.
    reference : classes on the pool, or anything with `predict`, optional
        What the teacher takes for the truth of a classification. It chooses and labels by the target all the same, but
        a `TeacherWarning` says at how many points the two disagree, since greedy teaching shows wrong labels most.
    where : "agrees", optional
        Show only points whose label agrees with the `reference`: the same class; of numbers, not more than 3 deviations
        from it, a deviation being 1.4826 times the median size of the differences, taken from their median.
    loss, kernel, learning_rate : optional
        For scores that use them; those of the learner by default. A lesson warns where they differ from the learner's.
    never_twice : bool
        Show no point again. k counts as before, a share is one of all points; the last pack is what is left, and the
        lesson then ends with `Outcome.ALL_SHOWN`. Such lessons run in the plain loop.

    Examples
    --------
    >>> GreedyTeacher(k=1.0).pack_size(280)
    280
    """

    k: int | float | PackSchedule = 1
    score: str | CompiledScore = "residual"
    loss: str | Loss | None = None
    kernel: Kernel | None = None
    diverse: bool = False
    norm: int | str = 2
    look: LookSchedule | None = None
    reference: FunctionLike | None = None
    where: str | None = None
    learning_rate: float | str | None = None
    never_twice: bool = dataclasses.field(default=False, kw_only=True)

    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"greedy": {}, "whole": {"k": 1.0}}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pack(self.k)
        check_norm(self.norm)
        check_look(self.look)
        check_flag("never_twice", self.never_twice)
        check_flag("diverse", self.diverse)
        if not isinstance(self.score, CompiledScore) and (
            not isinstance(self.score, str) or self.score not in SCORES or not SCORES[self.score].is_offered
        ):
            names = [repr(name) for name, kind in SCORES.items() if kind.is_offered]
            other = Wording(", or a score of yours by nimt.compiled", "")
            problem = other.embed(f"must be {', '.join(names[:-1])} or {names[-1]}", f", got {self.score!r}")
            raise InvalidInput(problem, parameter="score")
        if self.reference is not None:
            check_reference(self.reference)
        if self.where is not None:
            self._check_where()
        if callable(self.learning_rate):
            raise InvalidInput("must be a number or 'auto', got a callable", parameter="learning_rate")
        if self.learning_rate is not None:
            check_rate(self.learning_rate)
            if self.score != "decrease":
                raise InvalidInput("learning_rate= is used by score='decrease' only")
        if self.diverse and (self.score != "residual" or self.loss is not None):
            raise InvalidInput("diverse=True chooses by the residual: leave score= and loss= out")
        kind = self._kind
        told = ("kernel",) if self.diverse else kind.told
        if self.loss is not None and "loss" in told:
            as_loss(self.loss)
        if self.kernel is not None and ("kernel" in told or kind is OwnScore):
            object.__setattr__(self, "kernel", as_kernel(self.kernel))
        used = (*told, "kernel") if kind is OwnScore else told
        for name in ("loss", "kernel"):
            if getattr(self, name) is not None and name not in used:
                by = [f"score={score!r}" for score, kind in SCORES.items() if name in kind.told]
                by += ["diverse=True"] if name == "kernel" else []
                raise InvalidInput(f"{name}= is used by {' and '.join(by)} only")

    def _check_where(self) -> None:
        if self.where != "agrees":
            raise InvalidInput(f"must be None or 'agrees', got {self.where!r}", parameter="where")
        if self.reference is None:
            raise InvalidInput("where='agrees' compares labels with a reference: give reference=")
        if is_number(self.pool):
            raise InvalidInput(f"where='agrees' takes a pool of points, not a share: {self.pool!r}", parameter="pool")

    @property
    def name(self) -> str:
        return super().name if self.where is None else f"{super().name.removeprefix('pool ')} ({self.where})"

    @property
    def method(self) -> str:
        once = " (never twice)" if self.never_twice else ""
        if self.shows_everything:
            return f"whole{once}"
        told = "" if self.score == "residual" else f" ({self.score})"
        return f"GFT-{self.k}{told}{' (diverse)' if self.diverse else ''}{once}"

    @property
    def shows_everything(self) -> bool:
        return isinstance(self.k, float) and self.k == 1.0

    @property
    def colour(self) -> str | None:
        own = SKY if self.shows_everything else VERMILION if self.k == 1 else ORANGE
        return super().colour or own

    @property
    def opens(self) -> tuple[str, ...]:
        told = ("kernel",) if self.diverse else self._kind.told
        return (*told, "rate") if self.score == "decrease" else told

    @property
    def needs_one_output(self) -> bool:
        return bool(self.diverse)

    def check_loss(self, loss: Loss) -> None:
        if self.score == "decrease" and not isinstance(loss, Square):
            raise InvalidInput(
                f"score='decrease' is of steps of the square loss, and the learner has {name_thing(loss)}: "
                f"use score='loss'"
            )

    def prepare_on(self, pool: Pool, target: Array) -> Self:
        if self.where is None:
            return self
        assert self.reference is not None
        said, agreeing = split_by_reference(self.reference, pool, target)
        if self.pool is not None:
            offered = candidates_of(self.pool, pool.shape, np.random.default_rng(0))
            agreeing = np.intersect1d(agreeing, cast(Indices, offered))
            if not agreeing.size:
                raise InvalidInput("no label of the teacher's pool agrees with the reference: nothing is left to show")
        return dataclasses.replace(self, reference=said, pool=agreeing)

    def resolve_on(self, pool: Pool, outputs: tuple[int, ...] = ()) -> Self:
        resolved = super().resolve_on(pool, outputs)
        if self.reference is None or self.where is not None:
            return resolved
        return dataclasses.replace(resolved, reference=values_on(pool, self.reference, "the reference"))

    def find_misleading(self, pool: Pool, target: Array, candidates: Indices | None, loss: Loss | None) -> str | None:
        if self.reference is not None and self.where is None:
            wrong = disagreements(self.reference, pool, target)
            if candidates is not None:
                wrong = np.intersect1d(wrong, candidates)
            if wrong.size:
                return (
                    f"at {wrong.size} of {len(pool) if candidates is None else len(candidates)} points the label "
                    f"disagrees with the reference: a greedy teacher finds labels that are wrong and shows them again "
                    f"and again; teach the reference's own answers, or use nimt.teachers.UncertaintyTeacher() or "
                    f"nimt.RandomTeacher()"
                )
        if self.score == "residual" and predicts_logits(loss) and not self.shows_everything:
            kind = type(loss).__name__
            given = repr(kind.lower()) if kind.lower() in LOSSES else "the learner's loss"
            return (
                f"this teacher chooses by |f - f*|, and under {kind} f are logits, which do not tend to the labels: "
                f"use nimt.GreedyTeacher(score='loss', loss={given})"
            )
        return None

    def for_classes(self, loss: str | Loss) -> Self:
        # f grows beyond the labels, so that |f - f*| is large where the learner is sure
        return dataclasses.replace(self, score="loss", loss=loss)

    def compiled_rule(self) -> Rule | None:
        if not behaves_like(self, GreedyTeacher, "select", "scores"):
            return None
        if self.never_twice:
            return Rule(NeverTwice())
        changes = isinstance(self.k, PackSchedule)
        if changes and (self.diverse or self.look is not None):  # a larger pack of an earlier look is not kept
            return None
        if self.opens and not self.is_informed:
            return None  # a rate that changes with the step
        if self.diverse:
            assert self.kernel is not None
            return Rule(Diverse(self.kernel))
        return Rule(score=self.score_part)

    @property
    def _kind(self) -> type[Score]:
        return SCORES[self.score] if isinstance(self.score, str) else OwnScore

    @cached_property  # asked for at every step of the reference loop
    def score_part(self) -> Score:
        """The score with what it needs to know: each of its fields is one of the teacher's."""
        kind: Any = self._kind
        known = {part.name: getattr(self, part.name) for part in dataclasses.fields(kind)}
        return cast(Score, kind(**known | ({"loss": as_loss(known["loss"])} if "loss" in known else {})))

    def select(self, view: View) -> Selection:
        if not self.is_informed:
            return self.inform_by(view).select(view)
        if self.where is not None and self.pool is None:  # in a Box, or without a lesson
            return self._select_agreeing(view)
        seen = view if self.look is None else view.as_last_seen(self.look)
        scores = self.score_part.of(seen.predictions, seen.target, seen.pool)
        k = count_of(self.k, len(scores), view.step)
        if not self.never_twice:
            chosen = largest(scores, k) if not self.diverse else self._diverse(seen, k)
            return view.show(chosen, scores, memory=None if self.look is None else seen.to_remember(self.look))
        left = find_left(view)
        k = min(k, len(left))
        chosen = left[largest(scores[left], k) if not self.diverse else self._diverse(seen.part(left), k)]
        memory = dict(seen.to_remember(self.look) or {}) | {"shown": add_shown(view, chosen)}
        return view.show(chosen, scores, memory=memory)

    def _select_agreeing(self, view: View) -> Selection:
        assert self.reference is not None
        agreeing = split_by_reference(self.reference, view.pool, view.target)[1]
        among = dataclasses.replace(self, where=None, reference=None).select(view.part(agreeing))
        return view.show(agreeing[among.indices], memory=among.memory)

    def _diverse(self, view: View, k: int) -> Indices:
        assert self.kernel is not None
        return diverse_pack(view.predictions - view.target, self.kernel, view.pool.points, k)

    def scores(self, view: View) -> Array:
        """Return the score of each point."""
        return self.score_part.of(view.predictions, view.target, view.pool)


def diverse_pack(errors: Array, kernel: Kernel, points: Array, k: int) -> Indices:
    """Return k indices chosen one by one, as if the error at those before were corrected; in ascending order.

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> diverse_pack(np.array([0.9, 1.0, 0.5]), rbf(1.0), np.array([[0.0], [0.1], [5.0]]), 2)
    array([1, 2])
    """
    left = np.array(errors)
    diagonal = kernel.diag(points)
    free = np.ones(len(left), dtype=bool)
    for _ in range(k):
        index = int(np.argmax(np.where(free, np.abs(left), -1.0)))
        free[index] = False
        if diagonal[index] > 0:
            left = left - left[index] / diagonal[index] * kernel(points, points[index : index + 1])[:, 0]
    return np.flatnonzero(~free)
