"""Which rows to choose, in order: random ones, spread ones, or those that a model or the student lacks most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans

from nimt.arrays import Array, Indices
from nimt.classes import one_hot
from nimt.errors import InvalidInput
from nimt.kernels import rbf
from nimt.learners.newton_basis import NewtonBasis
from nimt.teachers.interpolation import RULES as POWERS
from nimt.teachers.interpolation import score as score_by_power
from nimt.teachers.uncertainty import margins
from nimt.teaching_sets.fold_answers import ask_student
from nimt.teaching_sets.models import fit_quietly, make_preparation, score, score_classes
from nimt.teaching_sets.row_checks import Rows, take_rows
from nimt.wording import Watcher, be_silent

RULES = ("auto", "random", "kmeans", "p", "f", "fp", "uncertainty", "greedy")
BY_KERNEL = {"p": "P", "f": "f", "fp": "f*P"}
SPREAD = 20  # rows that are spread before a student is asked what it lacks
GROWTH = 1.25  # rows after each look at the student, in rows before it
RIDGE = 1e-3  # of the kernel model: no row is fitted to the last digit
DRAWS = 4  # random sets that "auto" looks at
ASKED = 1000  # rows at which "auto" compares students
LEFT_OUT = 0.01  # of these rows, those that a student misses most
MOST_ROWS = 5000  # to choose from; of more, so many are drawn
TRIED = {"classes": ("kmeans", "f", "fp", "uncertainty", "greedy"), "numbers": ("kmeans", "p", "f", "fp", "greedy")}


@dataclass(frozen=True, eq=False)
class Chosen:
    """Rows in the order of their choice, and the rule that chose them ("auto" names the one it took)."""

    indices: Indices
    rule: str


def check_rule(rule: object, rows: Rows) -> None:
    """Refuse a rule that is none, or that is not for these rows."""
    if rule not in RULES:
        raise InvalidInput(f"must be one of {', '.join(RULES)}, got {rule!r}", parameter="rule")
    if rule == "uncertainty" and rows.classes is None:
        problem = "is for classes, and y holds numbers"
        raise InvalidInput(problem, parameter="rule", value=rule, way_out="use f, auto or greedy")


class Chooser:
    """Chooses rows of a table for a student, knowing what the reference answers.

    Parameters
    ----------
    rows : Rows
    answers : array (n,)
        What the reference answers.
    student : estimator
        Not fitted.
    labels : array (n,)
        What the student is told of each row.
    seed : int
    watch : callable of str
        Told which rule is tried.
    """

    def __init__(
        self, rows: Rows, answers: NDArray[Any], student: Any, labels: NDArray[Any], seed: int,
        watch: Watcher = be_silent,
    ) -> None:  # fmt: skip
        self.watch = watch
        self.rows, self.answers, self.student, self.labels, self.seed = rows, answers, student, labels, seed
        self._kept: dict[str, Indices] = {}

    def choose(self, rule: str, size: int) -> Chosen:
        """Return `size` rows by a rule, in order.

        "auto" gives the student the rows of every other rule and of some random draws, and takes those after which it
        is best on the rows that are left, by the reference's answers and by the rows' own labels alike. It looks at no
        row but those to choose from. So random rows are returned where no rule is better.
        """
        if rule != "auto":
            self.watch(f"choosing rows by {rule}")
            return Chosen(self.order(rule, size), rule)
        tried = {"random": [self.draw(size, number) for number in range(DRAWS)]}
        for name in TRIED["numbers" if self.rows.classes is None else "classes"]:
            self.watch(f"choosing rows by {name}")
            tried[name] = [self.order(name, size)]
        self.watch("comparing the rows of each rule by the student")
        scored = [(self._judge(rows), name, rows) for name, sets in tried.items() for rows in sets]
        best = max(scored, key=lambda one: one[0])
        return Chosen(best[2], best[1])

    def _judge(self, chosen: Indices) -> float:
        """Return how good the student is on other rows after the chosen ones; -inf if it cannot be fitted."""
        rest = np.setdiff1d(np.arange(len(self.rows)), chosen)
        if not rest.size:
            return 0.0
        asked = np.random.default_rng([self.seed, ASKED]).permutation(rest)[:ASKED]
        try:
            student = fit_quietly(clone(self.student), take_rows(self.rows.X, chosen), self.labels[chosen])
            answers = ask_student(student, take_rows(self.rows.X, asked), self.rows)
        except ValueError:  # such as one class only
            return -np.inf
        if self.rows.classes is not None:
            return score(answers, self.answers[asked], True) + score(answers, self.rows.y[asked], True)
        found = _score_most(answers, self.answers[asked]) + _score_most(answers, self.rows.y[asked])
        return found if np.isfinite(found) else -np.inf

    def order(self, rule: str, size: int) -> Indices:
        """Return `size` rows; for all rules but "kmeans" the first of them are those of a smaller size."""
        if rule == "kmeans":
            return self._spread(size)
        before = self._kept.get(rule)
        if before is None or len(before) < size:
            self._kept[rule] = before = self._order(rule, size)
        return before[:size]

    def draw(self, size: int, number: int) -> Indices:
        """Return rows drawn at random: the draw of this number."""
        return np.random.default_rng([self.seed, number]).permutation(len(self.rows))[:size]

    def _order(self, rule: str, size: int) -> Indices:
        if rule == "random":
            return self.draw(size, 0)
        if rule in BY_KERNEL:
            return self._by_kernel(BY_KERNEL[rule], size)
        check_rule(rule, self.rows)
        return self._by_student(rule, size)

    @cached_property
    def points(self) -> Array:
        """The features as scaled numbers (n, d)."""
        return np.asarray(make_preparation(self.rows.X).fit_transform(self.rows.X), dtype=np.float64)

    @cached_property
    def target(self) -> Array:
        """f* as numbers (n,) or (n, q), centred and scaled."""
        if self.rows.classes is None:
            values = self.answers
        else:
            values = one_hot(self.answers, self.rows.classes)
        scale = float(np.std(values))
        return np.asarray((values - values.mean(axis=0)) / (scale if scale > 0 else 1.0))

    def _spread(self, size: int) -> Indices:
        """Return the rows nearest to the centres of k-means, those of large clusters first."""
        kept = self._kept.get(f"kmeans {size}")
        if kept is None:
            found = fit_quietly(KMeans(size, n_init=1, random_state=self.seed), self.points, None)
            kept = self._kept[f"kmeans {size}"] = _nearest_rows(self.points, found.cluster_centers_, found.labels_)
        return kept

    def _by_kernel(self, rule: str, size: int, first: Indices | None = None) -> Indices:
        """Return rows by the greedy rules of kernel interpolation, after those that are given."""
        from nimt.estimators.width import median_width

        beta = POWERS[rule]
        basis = NewtonBasis(rbf(median_width(self.points)), self.points, RIDGE, capacity=size)
        values = np.zeros_like(self.target)
        chosen: list[int] = []
        given = [] if first is None else first.tolist()
        while len(chosen) < size:
            lacks = np.abs(self.target - values)
            lacks = lacks if lacks.ndim == 1 else np.sqrt(np.sum(lacks**2, axis=1))
            scores = lacks if beta == 1 else score_by_power(lacks, basis.power, beta)
            scores[chosen] = -1.0
            place = given[len(chosen)] if len(chosen) < len(given) else int(np.argmax(scores))
            basis.fit(place, self.target[place], values)
            chosen.append(place)
        return np.array(chosen, dtype=np.intp)

    def _by_student(self, rule: str, size: int) -> Indices:
        """Return spread rows, then in growing packs those at which the student is least sure, or most wrong."""
        chosen = self._spread(min(SPREAD, size))
        while len(chosen) < size:
            pack = min(size, max(len(chosen) + 1, int(GROWTH * len(chosen)))) - len(chosen)
            lacks = self._ask_student(rule, chosen)
            lacks[chosen] = -np.inf
            chosen = np.concatenate([chosen, self._pick(lacks, pack)])
        return chosen

    def _pick(self, lacks: Array, pack: int) -> Indices:
        """Return rows with large scores, one from each cluster of those with the largest, so that they differ."""
        open_rows = np.flatnonzero(np.isfinite(lacks))
        top = open_rows[np.argsort(-lacks[open_rows], kind="stable")[: 5 * pack]]
        if pack == 1 or len(top) <= pack:
            return np.asarray(top[:pack])
        clusters = KMeans(pack, n_init=1, max_iter=20, random_state=self.seed)
        groups = fit_quietly(clusters, self.points[top], None).labels_
        first = np.unique(groups, return_index=True)[1]  # in the order of `top`: the largest of each
        rest = np.setdiff1d(np.arange(len(top)), first)
        return np.asarray(top[np.concatenate([np.sort(first), rest])[:pack]])

    def _ask_student(self, rule: str, chosen: Indices) -> Array:
        """Return what the student lacks at every row, after the rows chosen so far."""
        labels = self.labels[chosen]
        classes = self.rows.classes
        if classes is not None and len(np.unique(labels)) < 2:  # most classifiers refuse one class
            return np.asarray(self.answers != labels[0], dtype=np.float64)
        student = fit_quietly(clone(self.student), take_rows(self.rows.X, chosen), labels)
        if classes is None:
            return np.asarray(np.abs(ask_student(student, self.rows.X, self.rows) - self.answers))
        scores = score_classes(student, self.rows.X, classes)
        if rule == "uncertainty":
            return -margins(scores)
        own = np.searchsorted(classes, self.answers)
        return 1.0 - scores[np.arange(len(scores)), own]


def _score_most(answers: Array, truth: Array) -> float:
    """Return R^2 without the rows that are missed most: one row far from all others would decide alone."""
    misses = np.sort((answers - truth) ** 2)
    kept = len(misses) - int(np.ceil(LEFT_OUT * len(misses)))
    total = float(np.var(truth))
    return 1.0 - float(np.mean(misses[: max(1, kept)])) / total if total > 0 else float("nan")


def _nearest_rows(points: Array, centres: Array, groups: Indices) -> Indices:
    """Return a different row for each centre, in the order of the sizes of the clusters."""
    taken = np.zeros(len(points), dtype=bool)
    found = []
    for place in np.argsort(-np.bincount(groups, minlength=len(centres)), kind="stable"):
        distance = np.sum((points - centres[place]) ** 2, axis=1)
        distance[taken] = np.inf
        found.append(int(np.argmin(distance)))
        taken[found[-1]] = True
    return np.array(found, dtype=np.intp)
