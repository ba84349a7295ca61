"""The shortest lesson that is known: planned for a learner whose kernel and learning rate are known."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nimt import defaults
from nimt.arrays import Indices, check_count, check_positive
from nimt.counting import readable
from nimt.engines._numba.compiling import load_numba
from nimt.errors import InvalidInput, name_thing
from nimt.learners.foreign_learner import find_pupil_maker
from nimt.learners.kernel_learner import KernelLearner
from nimt.losses import Square, as_loss
from nimt.operators.dense import GRAM_LIMIT
from nimt.option_table import Tolerance
from nimt.planning.relaxation import relax_greedy_list, relax_order
from nimt.planning.rounding import round_visits
from nimt.planning.visit_list import VisitProblem
from nimt.pools.box import Box
from nimt.pools.pool import Pool
from nimt.session.interrupts import watch_interrupt
from nimt.task.task import Task
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.sequence import SequenceTeacher
from nimt.theory.lesson_start import LessonStart, start_of
from nimt.theory.reach import find_unreachable
from nimt.theory.spectrum import limit_threads
from nimt.theory.step_bounds import bounds_before
from nimt.wording import Wording

SMALL_POOL = 400  # points up to which several orders of first visits are tried
FEW_POINTS = 100  # below which a greedy lesson is the first list: others are too short to reach the tolerance
LONGEST_GREEDY = 20_000  # steps of a greedy lesson where nothing else arrives
MOST_VALUE = 1e140  # of f and f*: sums of squares of larger ones may be infinite
MARGIN = 1e-9  # the share by which a plan stays below the tolerance, since engines round in other ways


@dataclass(frozen=True, eq=False)
class ShortestLesson:
    """A planned lesson, and how near it is to the fewest possible steps.

    Attributes
    ----------
    teacher : SequenceTeacher
        Shows the planned examples, one per step.
    steps : int
        After which the discrepancy is below `tol`.
    tol : float
    fewest : int
        Below this number of steps no teacher with true labels reaches the tolerance: proved, 0 where nothing is known.
    relaxed : float
        The length of the plan before its counts were made whole.
    """

    teacher: SequenceTeacher
    steps: int
    tol: float
    fewest: int
    relaxed: float

    @property
    def excess(self) -> float:
        """By which share of the proved bound the plan is longer, at most: 0.53 is "within 53 % of the fewest"."""
        return math.inf if not self.fewest else self.steps / self.fewest - 1.0

    def __str__(self) -> str:
        planned = f"M < {self.tol:g} after {self.steps:,} planned steps"
        if not self.fewest:
            return f"{planned}; no lower bound is known."
        return (
            f"{planned}; no lesson with true labels has fewer than {self.fewest:,}: within "
            f"{math.ceil(100 * self.excess)} % of the fewest possible."
        )


def shortest(
    learner: Any,
    X: Pool | ArrayLike,
    y: Any,
    *,
    tol: Tolerance = defaults.TOL,
    measure: Any = defaults.MEASURE,
    starts: int | None = None,
) -> ShortestLesson:
    r"""Plan a lesson with few steps, before it begins: about half as many as the greedy teacher takes.

    N shows of one point in a row change f - f* by a formula in which N need not be whole. So a lesson is a list of
    visits, and the sum of their N is minimised by their derivatives so that M is the tolerance. Then visits are
    inserted wherever in the list one more would save more shows than it costs, until none does; at last the N are made
    whole, part by part, and what follows is solved again. Nothing proves that the result is the shortest, but the
    proved bound says how far it can be from it. Where the lesson of a greedy or a responsive teacher is shorter, as at
    large rates, that one is returned.

    This is a white box: the kernel and the learning rate are those of the learner. The learner itself is not changed.

    Parameters
    ----------
    learner : KernelLearner
        With the square loss, and a constant learning rate below 1 / (2 K(x, x)).
    X, y, tol, measure : as in `teach`
        A tolerance greater than 0; the measure "paper" or "rms". Several outputs are shown each point together.
    starts : int, optional
        From how many orders of first visits it is planned; the best plan is returned. By default 3, and 1 for more than
        400 points.

    Returns
    -------
    ShortestLesson

    Examples
    --------
    >>> import nimt
    >>> x = nimt.Grid(np.arange(-1, 1, 0.25))
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01)
    >>> plan = nimt.shortest(learner, x, np.sin, tol=1e-2, starts=1)
    >>> print(plan)
    M < 0.01 after 331 planned steps; no lesson with true labels has fewer than 232: within 43 % of the fewest possible.
    >>> teachers = plan.teacher, nimt.GreedyTeacher()
    >>> [nimt.teach(learner, teacher, x, np.sin, tol=1e-2, max_iterations=900).itd for teacher in teachers]
    [331, 505]
    """
    if not isinstance(tol, str):
        check_positive("tol", tol)
    if starts is not None:
        check_count("starts", starts, at_least=1)
    start = _check_lesson(learner, X, y, tol, measure)
    if start.distance < start.tol:
        return ShortestLesson(SequenceTeacher([0], title="shortest"), 0, start.tol, 0, 0.0)
    problem = _state_problem(start)
    load_numba()
    starts = starts or (3 if len(start.pool) <= SMALL_POOL else 1)
    found: list[tuple[Indices, float]] = []
    with watch_interrupt(), limit_threads():
        for number in range(max(starts, 2)):
            if number < starts or not found:
                plan = _plan_from(problem, number)
                found += [] if plan is None else [plan]
        # at large rates a visit is one or two shows, and rounding can cost more than planning saves
        most = min((len(indices) for indices, _ in found), default=LONGEST_GREEDY + 1) - 1
        found += [(shown, float(len(shown))) for shown in problem.list_without_plans(most)]
    if not found:
        raise InvalidInput(
            f"M < {start.tol:g} was not reached by any plan that was tried: f* is far outside what this kernel can "
            f"learn, as labels with noise are",
            way_out="give a larger tol, or use nimt.GreedyTeacher(score='decrease', kernel=...)",
        )
    indices, relaxed = min(found, key=lambda plan: len(plan[0]))
    fewest = max(bounds_before(along, greedy=False)[0] for along in list_directions(start))
    return ShortestLesson(SequenceTeacher(indices, title="shortest"), len(indices), start.tol, fewest, relaxed)


def list_directions(start: LessonStart) -> list[LessonStart]:
    """Return lessons of one output that a lesson of several gives too: each output, and their main direction.

    A step moves u'(f - f*) as it moves f - f*, and a unit vector u makes no norm larger. So what is true of the fewest
    steps of one of these is true of the whole.
    """
    errors = start.residual
    if errors.ndim == 1:
        return [start]
    main = np.linalg.svd(errors, full_matrices=False)[2][:1]
    directions = np.vstack([np.eye(errors.shape[1]), main])
    return [replace(start, residual=errors @ direction) for direction in directions]


def _plan_from(problem: VisitProblem, number: int) -> tuple[Indices, float] | None:
    """Plan from one list of first visits: small errors first, a greedy lesson, or twice all points in random order."""
    possible = np.flatnonzero(problem.diagonal > 0)
    if number == (0 if len(possible) < FEW_POINTS else 1):
        solved = relax_greedy_list(problem)
    elif number < 2:
        ascending = possible[np.argsort(problem.sizes[possible], kind="stable")]
        solved = relax_order(problem, ascending)
    else:
        rng = np.random.default_rng(number)
        solved = relax_order(problem, np.concatenate([rng.permutation(possible), rng.permutation(possible)]))
    if solved is None:
        return None
    visits, price = solved
    indices = round_visits(problem, visits, price)
    return None if indices is None else (indices, visits.total)


def _state_problem(start: LessonStart) -> VisitProblem:
    n, rate = len(start.pool), start.constant_rate
    if rate is None:
        raise InvalidInput(
            "a shortest lesson is planned for a constant learning rate, and this learner has a schedule",
            way_out=Wording("give learning_rate= one number", "give --learning-rate one number"),
        )
    largest = float(start.diagonal.max())
    if not 2.0 * rate * largest < 1.0:
        raise InvalidInput(
            f"corrects an error in one step or beyond it where K(x, x) is {largest:g}, and a shortest lesson is "
            f"planned for smaller steps",
            parameter="learning_rate",
            value=rate,
            way_out=f"give a rate below {1 / (2 * largest):.3g}",
        )
    needed = 3 * 8 * n * n
    if needed > GRAM_LIMIT:
        raise InvalidInput(
            f"a shortest lesson is planned with the Gram matrix, which for {n:,} points takes {readable(needed)}, and "
            f"{readable(GRAM_LIMIT)} is the most",
            way_out=f"plan on at most {math.isqrt(GRAM_LIMIT // 24):,} points",
        )
    outputs = [replace(start, residual=errors) for errors in np.atleast_2d(start.residual.T)]
    unreachable = start.scale * float(np.linalg.norm([find_unreachable(one) for one in outputs]))
    if unreachable >= start.tol:
        raise InvalidInput(
            f"={start.tol:g} cannot be reached: equal points have different targets, which leaves {unreachable:.3g}",
            parameter="tol",
            way_out="give a larger one",
        )
    points = start.pool.points
    gram = np.ascontiguousarray(start.learner.kernel(points, points), dtype=np.float64)
    return VisitProblem(gram, start.residual.T, start.radius * (1.0 - MARGIN), 2.0 * rate)


def _check_lesson(learner: Any, X: Pool | ArrayLike, y: Any, tol: Tolerance, measure: Any) -> LessonStart:
    if isinstance(X, Box):
        raise InvalidInput("a shortest lesson is planned on a pool, and X is a Box", way_out="give its grid, box.grid")
    if not isinstance(learner, KernelLearner) or find_pupil_maker(learner, "make_pupil") is None:
        raise InvalidInput(
            f"a shortest lesson is planned for a KernelLearner, whose steps are known before, got "
            f"{type(learner).__name__}"
        )
    if not learner.update.is_plain:
        raise InvalidInput(
            f"a shortest lesson is planned for gradient steps, and this learner has {learner.update.parts[0]}=",
            way_out="leave it out",
        )
    if not isinstance(as_loss(learner.loss), Square):
        raise InvalidInput(
            f"a shortest lesson is planned for the square loss, for which a step is linear in f - f*; the loss is "
            f"{name_thing(as_loss(learner.loss))}",
            way_out=Wording("give loss='square', or use nimt.GreedyTeacher()", "give --loss square"),
        )
    task = Task.of(learner, GreedyTeacher(), X, y, max_iterations=0, tol=tol, measure=measure)
    if task.measure.scale(task.target) is None:
        raise InvalidInput(
            f"must be 'paper' or 'rms', which are norms of f - f* on the pool, got {name_thing(task.measure.name)}",
            parameter="measure",
        )
    if task.stop.tol is None:
        raise InvalidInput("a shortest lesson needs a tolerance, and the learner starts at the target")
    largest = max(float(np.abs(values).max()) for values in (task.target, task.look_at_pupil().values))
    if largest > MOST_VALUE:
        raise InvalidInput(
            f"the target or the initial function has {largest:g}, and sums of squares of such numbers are infinite",
            way_out="divide both by a common factor",
        )
    return start_of(task, several_outputs=True)
