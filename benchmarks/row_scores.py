"""What `python -m benchmarks.rows` measures, in parts: students after chosen rows, our defaults, wrong labels shown."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import nimt
from benchmarks.row_choices import ACTIVE, CHOICES, can_run
from benchmarks.row_tables import split
from nimt.classes import one_hot
from nimt.estimators.width import median_width
from nimt.teaching_sets.choosing_rules import Chooser
from nimt.teaching_sets.making_reference import make_reference
from nimt.teaching_sets.models import fit_quietly, score
from nimt.teaching_sets.row_checks import read_rows

SIZES = (20, 50, 100, 200)
SEEDS = 5
DRAWS = 2
NETWORK = {"hidden_layer_sizes": (16,), "solver": "lbfgs", "alpha": 0.1, "max_iter": 40}
STUDENTS = {
    "linear": (RidgeCV(np.logspace(-3, 5, 17)), LogisticRegression(max_iter=300)),
    "svm": (TransformedTargetRegressor(SVR(), transformer=StandardScaler()), SVC()),
    "forest": (RandomForestRegressor(10, random_state=0), RandomForestClassifier(10, random_state=0)),
    "network": (
        TransformedTargetRegressor(MLPRegressor(random_state=0, **NETWORK), transformer=StandardScaler()),
        MLPClassifier(random_state=0, **NETWORK),
    ),
}
OWN, REFERENCE = "own", "reference"  # labels
RANDOM, AUTO, ALL, F_STAR = "random", "nimt auto", "all rows", "f*"
DEFAULT, PLAIN, WRONG_SHOWN = "our default estimator", "mean or most frequent class", "wrong labels by SurrogateTeacher"
SHOWN = 80  # examples


def measure(name, wrong, seed, sizes, students):
    """Yield (student, size, choice, labels, score on test rows) of one split of a table."""
    data = split(name, seed, wrong)
    rows = read_rows(data.X, data.y, data.has_classes)
    found = make_reference(rows, "auto", 3, False, seed)
    sizes = [size for size in sizes if size <= len(rows) // 2]
    yield "", 0, F_STAR, REFERENCE, score(found.predict(data.test_X), data.test_y, data.has_classes)
    others = {choice: choose(data, max(sizes), seed) for choice, choose in CHOICES.items() if can_run(choice)}
    for student_name in students:
        student = STUDENTS[student_name][data.has_classes]
        chooser = Chooser(rows, found.labels, student, found.labels, seed)

        def test(chosen, labels, student=student):
            try:
                fitted = fit_quietly(clone(student), data.X[chosen], labels[chosen])
            except ValueError:  # one class only
                return score(np.full(len(data.test_y), labels[chosen][0]), data.test_y, data.has_classes)
            return score(fitted.predict(data.test_X), data.test_y, data.has_classes)

        yield student_name, 0, ALL, OWN, test(np.arange(len(rows)), rows.y)
        for size in sorted(sizes, reverse=True):
            random = [chooser.draw(size, 100 + draw) for draw in range(DRAWS)]
            ours = [chooser.choose("auto", size).indices]
            asked = {(RANDOM, OWN): random, (RANDOM, REFERENCE): random, (AUTO, OWN): ours, (AUTO, REFERENCE): ours}
            asked["k-means", REFERENCE] = [chooser.order("kmeans", size)]
            for choice, order in others.items():  # active learning asks for labels, the others do not look at them
                asked[choice, OWN if choice == ACTIVE else REFERENCE] = [order[:size]]
            for (choice, labels), sets in asked.items():
                for chosen in sets:
                    yield student_name, size, choice, labels, test(chosen, rows.y if labels == OWN else found.labels)


def measure_defaults(name, wrong, seed, sizes, students):
    """Yield the scores of our estimators as they are, and of the mean or the most frequent class."""
    data = split(name, seed, wrong)
    made = nimt.GreedyKernelClassifier() if data.has_classes else nimt.GreedyKernelRegressor()
    found = fit_quietly(made, data.X, data.y).predict(data.test_X)
    yield "", 0, DEFAULT, OWN, score(found, data.test_y, data.has_classes)
    values, counts = np.unique(data.y, return_counts=True)
    plain = values[counts.argmax()] if data.has_classes else data.y.mean()
    yield "", 0, PLAIN, OWN, score(np.full(len(data.test_y), plain), data.test_y, data.has_classes)


def measure_wrong_labels(name, wrong, seed, sizes, students):
    """Yield how many wrong labels a surrogate teacher shows among its first examples, with a reference out of fold."""
    data, right = split(name, seed, wrong), split(name, seed, False)
    told = {"loss": "crossentropy", "learning_rate": 0.7}
    learner = nimt.KernelLearner(nimt.rbf(width=median_width(data.X)), **told)
    f_star = nimt.reference(data.X, data.y, out_of_fold=True, classes=True, seed=seed)
    teacher = nimt.SurrogateTeacher(reference=f_star, **told)
    lesson = nimt.teach(learner, teacher, data.X, one_hot(data.y), max_iterations=SHOWN, tol=None)
    yield "", SHOWN, WRONG_SHOWN, OWN, float(lesson.picks[data.y != right.y].sum())


KINDS = {"choices": measure, "defaults": measure_defaults, "surrogate": measure_wrong_labels}
