"""Several learners that are shown the same examples: a class."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, Indices, check_count
from nimt.errors import InvalidInput
from nimt.kernels import Kernel
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import Described, State, find_known_parts
from nimt.learners.linear_learner import LinearLearner
from nimt.losses import Loss, as_loss
from nimt.pools.pool import Pool, as_pool

ROUNDS = 50  # of moving the middles of groups; most are found in a few


class Classroom(Described):
    """N learners with starts, rates and kernels of their own, who are shown the same examples.

    What the j-th learner predicts is the j-th of N outputs, so that a target has one column per learner: `repeat(y)`
    makes it. Every teacher can teach a class: `GreedyTeacher` shows the point with the largest sum of squared errors,
    with norm="max" that of the one who is most wrong; `ClassroomTeacher` knows the learners. Lessons run in the plain
    loop.

    Parameters
    ----------
    learners : list of KernelLearner and LinearLearner
        Of one loss, with one output each.

    Examples
    --------
    >>> import nimt
    >>> starts = (-1.0, 0.0, 2.0)
    >>> pupils = [nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, initial=start) for start in starts]
    >>> classroom = Classroom(pupils)
    >>> x = np.linspace(-2, 2, 30)
    >>> lesson = nimt.teach(classroom, nimt.GreedyTeacher(), x, classroom.repeat(np.sin(x)), max_iterations=200)
    >>> lesson.learner.predict([[0.5]]).shape
    (1, 3)
    """

    word: ClassVar[str] = "classroom"
    learned: ClassVar[tuple[str, ...]] = ()

    def __init__(self, learners: Sequence[KernelLearner | LinearLearner]) -> None:
        self.learners = learners
        self.check()

    def check(self) -> None:
        """Refuse what is no class."""
        given = list(self.learners) if isinstance(self.learners, Sequence) else []
        if len(given) < 2 or not all(isinstance(one, KernelLearner | LinearLearner) for one in given):
            raise InvalidInput(
                f"must be two or more of KernelLearner and LinearLearner, got {self.learners!r}", parameter="learners"
            )
        if len({repr(as_loss(one.loss)) for one in given}) > 1:
            raise InvalidInput("must have one loss", parameter="learners", way_out="teach those of another one apart")

    @property
    def loss(self) -> str | Loss:
        """The loss of all of them."""
        return self.learners[0].loss

    @property
    def kernel(self) -> tuple[Kernel, ...]:
        """The kernel of each."""
        return tuple(find_known_parts(one)["kernel"] for one in self.learners)

    @property
    def learning_rate(self) -> tuple[Any, ...]:
        """The learning rate of each."""
        return tuple(one.learning_rate for one in self.learners)

    def repeat(self, y: ArrayLike) -> Array:
        """Return a target (n,) once per learner, (n, N)."""
        return np.repeat(np.asarray(y, dtype=np.float64).reshape(-1, 1), len(self.learners), axis=1)

    def predict(self, X: ArrayLike | Pool) -> Array:
        """Return what each learner predicts, (n, N)."""
        return np.column_stack([one.predict(X) for one in self.learners])

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Show one pack to all of them; labels are (k, N)."""
        labels = np.asarray(y, dtype=np.float64)
        for number, one in enumerate(self.learners):
            one.partial_fit(X, labels[:, number])
        return self

    def bind(self, pool: Pool) -> Self:
        """Fix the pool that starts given as values belong to."""
        for one in self.learners:
            one.bind(pool)
        return self

    def make_pupil(self, pool: Pool, outputs: tuple[int, ...] = ()) -> ClassPupil:
        """Return the class at work on a pool; the learners themselves are not changed."""
        self.check()
        if outputs != (len(self.learners),):
            raise InvalidInput(
                f"the class has {len(self.learners)} learners, and the target {outputs[0] if outputs else 1} columns: "
                f"give it once per learner, classroom.repeat(y)"
            )
        return ClassPupil(self, pool)

    def partition(self, X: ArrayLike | Pool, groups: int) -> list[list[int]]:
        """Divide the class by what its learners predict: numbers of learners whose functions on X are near each other.

        Groups begin with the first learner and then those furthest from all groups; their middles are moved until
        nobody changes group (k-means).

        Examples
        --------
        >>> from nimt.kernels import rbf
        >>> ready = Classroom([KernelLearner(rbf(1.0), initial=start) for start in (0.0, 5.0, 0.2, 5.1)])
        >>> ready.partition([0.0, 1.0], 2)
        [[0, 2], [1, 3]]
        """
        check_count("groups", groups, at_least=1)
        if groups > len(self.learners):
            raise InvalidInput(f"must be at most {len(self.learners)}, got {groups}", parameter="groups")
        functions = self.predict(as_pool(X, "X")).T
        middles = functions[:1]
        while len(middles) < groups:
            gaps = np.min([np.sum((functions - one) ** 2, axis=1) for one in middles], axis=0)
            middles = np.vstack([middles, functions[np.argmax(gaps)]])
        own = np.zeros(len(functions), dtype=np.intp)
        for _ in range(ROUNDS):
            before, own = own, np.argmin([np.sum((functions - one) ** 2, axis=1) for one in middles], axis=0)
            members = [functions[own == group] for group in range(groups)]
            middles = np.array([part.mean(axis=0) if len(part) else middles[g] for g, part in enumerate(members)])
            if np.array_equal(before, own):
                break
        return [np.flatnonzero(own == group).tolist() for group in range(groups) if (own == group).any()]


class ClassPupil:
    """A class on a pool: the j-th column of the values is the j-th learner's."""

    diagonal: Array | None = None

    def __init__(self, classroom: Classroom, pool: Pool) -> None:
        self.classroom = classroom
        self.pupils = [one.make_pupil(pool) for one in classroom.learners]
        self.loss: Loss = as_loss(classroom.loss)
        self.values: Array = np.column_stack([pupil.values for pupil in self.pupils])

    def rate(self) -> tuple[float, ...]:
        """Return the learning rate of each for the step to come."""
        return tuple(pupil.rate() for pupil in self.pupils)

    @property
    def takes_weights(self) -> bool:
        return True

    def learn(self, indices: Indices, labels: Array) -> None:
        for number, pupil in enumerate(self.pupils):
            pupil.learn(indices, labels[:, number])
            self.values[:, number] = pupil.values

    def learn_weighted(self, indices: Indices, labels: Array, weights: Array) -> None:
        """Show one pack, the step of each learner at each example multiplied by its weight."""
        for number, pupil in enumerate(self.pupils):
            pupil.learn_weighted(indices, labels[:, number], weights)
            self.values[:, number] = pupil.values

    def to_learner(self) -> Classroom:
        made = copy.copy(self.classroom)
        made.learners = [pupil.to_learner() for pupil in self.pupils]
        return made

    def state(self) -> State:
        return {str(number): pupil.state() for number, pupil in enumerate(self.pupils)}

    def restore(self, state: State) -> None:
        for number, pupil in enumerate(self.pupils):
            pupil.restore(state[str(number)])
            self.values[:, number] = pupil.values
