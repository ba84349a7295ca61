"""Logistic regression on two moons: chosen examples, made labels, made examples, as iterative teaching began."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.special import expit

from nimt.arrays import Array
from nimt.datasets import Picture, data_folder
from nimt.datasets.places import find, readable_file
from nimt.errors import InvalidInput
from nimt.learners.linear_learner import LinearLearner
from nimt.lesson.lesson import Lesson
from nimt.paper.experiment import Experiment, PaperFigure, PaperLesson, PaperSetting, Quantity
from nimt.paper.figure_style import apply_style, canvas
from nimt.paper.weight_distances import compare_curve, draw_distances, weight_distances
from nimt.pools.pool import Points
from nimt.teachers.omniscient import OmniscientTeacher
from nimt.teachers.random import RandomTeacher
from nimt.teachers.surrogate import SurrogateTeacher
from nimt.teachers.teacher import Teacher

RATE = 0.01
STEPS = 1000
CHECKPOINTS = (0, 1, 10, 100, 1000)
ORDERS = 20  # of the lessons with random examples
SIDE = 101  # of the grid on which an example is looked for
LARGEST = 1 << 22  # bytes of the file
FILE = "imt-moons.npz"

SGD, OMNISCIENT, SURROGATE = "SGD", "omniscient (IMT)", "surrogate"
FREE, LIMITED = "LAST, free labels", "LAST, labels in [0, 1]"
OLD_FREE, OLD_LIMITED = f"{FREE}, published slope", f"{LIMITED}, published slope"
JOINT, JOINT_LIMITED = "joint, free", "joint, limited"
PUBLISHED = {
    SGD: "published_SGD",
    OMNISCIENT: "published_IMT",
    OLD_FREE: "published_LAST",
    OLD_LIMITED: "published_LAST_soft",
    JOINT: "published_Joint",
    JOINT_LIMITED: "published_Joint_xrange_soft",
}
OTHER_ORDER = f"the published lesson is of one random order, and this is the mean of {ORDERS} others"
DIFFERS = {
    SGD: OTHER_ORDER,
    OLD_FREE: OTHER_ORDER,
    OLD_LIMITED: OTHER_ORDER,
    JOINT: "the published examples are looked for by gradient steps, and the best one has a closed form",
    JOINT_LIMITED: "the published examples are looked for by gradient steps, which can end at worse ones",
}


@dataclass(frozen=True, eq=False)
class Moons(Picture):
    """Rows (x1, x2, label in {0, 1}), and as the last two rows the first weights and w*; published curves by name."""

    published: Mapping[str, Array] = field(default_factory=dict)

    @property
    def points(self) -> Array:
        return np.asarray(self.values[:-2, :2])

    @property
    def features(self) -> Array:
        return np.column_stack([self.points, np.ones(len(self.points))])

    @property
    def signs(self) -> Array:
        """The labels as -1 and +1."""
        return np.where(self.values[:-2, 2] > 0.5, 1.0, -1.0)

    @property
    def checkpoints(self) -> dict[str, dict[int, float]]:
        """The published curves at the steps that are compared."""
        return {name: {step: float(curve[step]) for step in CHECKPOINTS} for name, curve in self.published.items()}

    @property
    def start(self) -> Array:
        return np.asarray(self.values[-2])

    @property
    def target(self) -> Array:
        return np.asarray(self.values[-1])


def read_moons(folder: Path | None) -> Moons:
    """Return the published moons if their file is found, else moons made here."""
    path = find((FILE,), data_folder(folder))
    if path is None:
        return make_moons()
    try:
        with np.load(readable_file(path, LARGEST), allow_pickle=False) as content:
            rows = np.column_stack([content["x"], content["y"]])
            values = np.vstack([rows, content["w_start"], content["w_target"]])
            published = {name: np.asarray(content[key], dtype=np.float64) for name, key in PUBLISHED.items()}
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError) as problem:
        raise InvalidInput(
            f"{str(path)!r} is not the file of the published moons ({problem}): copy it again"
        ) from problem
    if values.shape[1] != 3 or any(curve.shape != (STEPS + 1,) for curve in published.values()):
        raise InvalidInput(f"{str(path)!r} has other shapes than the published moons have: copy it again")
    source = f"The {len(rows)} points, labels, first weights and w* of {FILE}."
    return Moons(values, "moons", source, True, "none stated: not shipped with nimt", published)


def make_moons() -> Moons:
    """Return 800 points on two half circles with noise; w* is the logistic regression of their labels."""
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, np.pi, 400)
    upper = np.column_stack([np.cos(angles), np.sin(angles)])
    points = np.vstack([upper, np.array([1.0, 0.5]) - upper]) + rng.normal(scale=0.2, size=(800, 2))
    labels = np.repeat([0.0, 1.0], 400)
    features = np.column_stack([points, np.ones(800)])
    target = np.zeros(3)
    for _ in range(50):  # Newton's method
        shares = expit(features @ target)
        curvature = features.T @ (features * (shares * (1 - shares))[:, np.newaxis])
        target = target - np.linalg.solve(curvature, features.T @ (shares - labels))
    start = target + np.array([-2.0, 2.0, -1.5])
    values = np.vstack([np.column_stack([points, labels]), start, target])
    return Moons(values, "moons", "Two half circles of 400 points each with noise 0.2, made by nimt.", False, "MIT")


def make_label_step(
    weights: Array, target: Array, candidates: Array, expected: Callable[[Array], Array], *, limited: bool
) -> Array:
    """Return the weights after the best step from one of the candidates with the label that is best there.

    The step of the label y at x is -RATE g x, g = sigma(f) - y. |w - w*|^2 is smallest where g = r / (RATE K), r = f -
    f* and K = |x|^2, so that y = sigma(f) - r / (RATE K). A teacher that expects another slope than sigma(f) - y makes
    other labels.

    Parameters
    ----------
    candidates : array (m, 3)
        Rows (x1, x2, 1).
    expected : callable
        sigma, or what the teacher takes for it.
    limited : bool
        Whether labels are kept in [0, 1].
    """
    f, r, K = candidates @ weights, candidates @ (weights - target), np.sum(candidates**2, axis=1)
    labels = expected(f) - r / (RATE * K)
    g = expit(f) - (np.clip(labels, 0.0, 1.0) if limited else labels)
    best = int(np.argmin((RATE * g) ** 2 * K - 2 * RATE * g * r))
    return np.asarray(weights - RATE * g[best] * candidates[best])


def give_labels(moons: Moons, steps: int, orders: int, expected: Callable[[Array], Array], *, limited: bool) -> Array:
    """Return |w - w*|^2 after each step of LAST, the mean over random orders; each epoch shows every point once."""
    curves = []
    for seed in range(orders):
        rng = np.random.default_rng(seed)
        epochs = -(-steps // len(moons.points))
        order = np.concatenate([rng.permutation(len(moons.points)) for _ in range(epochs)])
        weights = [moons.start]
        for place in order[:steps]:
            shown = moons.features[place : place + 1]
            weights.append(make_label_step(weights[-1], moons.target, shown, expected, limited=limited))
        curves.append(square_distances(weights, moons.target))
    return np.asarray(np.mean(curves, axis=0))


def make_examples(moons: Moons, steps: int, *, limited: bool) -> Array:
    """Return |w - w*|^2 after each step with examples and labels made: in the range of the points, or free.

    A free example is along w - w*, and lands on w* in one step.
    """
    low, high = moons.points.min(axis=0), moons.points.max(axis=0)
    axes = np.meshgrid(*(np.linspace(*ends, SIDE) for ends in zip(low, high, strict=True)))
    grid = np.column_stack([*(axis.ravel() for axis in axes), np.ones(SIDE**2)])
    weights = [moons.start]
    for _ in range(steps):
        away = weights[-1] - moons.target
        if not limited and abs(away[2]) < 1e-12:  # it has arrived
            weights.append(weights[-1])
            continue
        candidates = grid if limited else away[np.newaxis] / away[2]
        weights.append(make_label_step(weights[-1], moons.target, candidates, expit, limited=limited))
    return square_distances(weights, moons.target)


def square_distances(weights: list[Array], target: Array) -> Array:
    return np.asarray(np.sum((np.array(weights) - target) ** 2, axis=1))


@dataclass(frozen=True, eq=False)
class Taught:
    """The lessons of teachers, and |w - w*|^2 over the steps of all ways."""

    moons: Moons
    lessons: dict[str, Lesson]
    curves: dict[str, Array]


def run(setting: PaperSetting, pictures: tuple[Picture, ...]) -> Taught:
    """Teach in every way."""
    (moons,) = pictures
    assert isinstance(moons, Moons)
    steps, orders = setting.budget(STEPS), ORDERS if setting.iterations is None else 2
    reference = moons.features @ moons.target

    def give(name: str, teacher: Teacher, seed: int = 0) -> Lesson:
        learner = LinearLearner(moons.start, loss="logistic", learning_rate=RATE)
        return setting.teach(
            name, learner, teacher, Points(moons.points), moons.signs,
            steps=STEPS, draw_at=range(STEPS + 1), seed=seed,
        )  # fmt: skip

    def squares(lesson: Lesson) -> Array:
        return np.asarray(weight_distances(lesson, moons.features, moons.target) ** 2)

    random = [give(f"{SGD}, order {seed}", RandomTeacher(order="epoch"), seed) for seed in range(orders)]
    lessons = {
        SGD: random[0],
        OMNISCIENT: give(OMNISCIENT, OmniscientTeacher(reference=reference)),
        SURROGATE: give(SURROGATE, SurrogateTeacher(reference)),
    }
    curves = {SGD: np.mean([squares(lesson) for lesson in random], axis=0)}
    curves |= {name: squares(lessons[name]) for name in (OMNISCIENT, SURROGATE)}
    curves |= {
        FREE: give_labels(moons, steps, orders, expit, limited=False),
        OLD_FREE: give_labels(moons, steps, orders, np.positive, limited=False),
        LIMITED: give_labels(moons, steps, orders, expit, limited=True),
        OLD_LIMITED: give_labels(moons, steps, orders, np.positive, limited=True),
        JOINT: make_examples(moons, steps, limited=False),
        JOINT_LIMITED: make_examples(moons, steps, limited=True),
    }
    return Taught(moons, lessons, curves)


def tables(found: Taught) -> list[PaperLesson]:
    """Return the lessons that teachers gave."""
    return [PaperLesson(name=name, lesson=lesson) for name, lesson in found.lessons.items()]


def quantities(found: Taught) -> list[Quantity]:
    """Return |w - w*|^2 at the checkpoints."""
    known = found.moons.checkpoints
    return [
        quantity
        for name, curve in found.curves.items()
        for quantity in compare_curve(f"|w - w*|^2, {name}", curve, CHECKPOINTS, known.get(name, {}), DIFFERS.get(name))
    ]


@apply_style
def draw(found: Taught) -> Iterator[PaperFigure]:
    """Draw |w - w*|^2 over the steps: within the range of the pool, and with free labels and examples."""
    figure = canvas(8.6, 4.4)
    ranged, free = figure.subplots(1, 2)
    colours = {name: lesson.colour for name, lesson in found.lessons.items()}
    left = (SGD, OMNISCIENT, SURROGATE, LIMITED, OLD_LIMITED, JOINT_LIMITED)
    for ax, names in ((ranged, left), (free, (FREE, OLD_FREE, JOINT))):
        curves = {name: found.curves[name] for name in names}
        draw_distances(ax, curves, colours, found.moons.checkpoints, "|w - w*|$^2$")
        ax.legend(loc="upper right")
    ranged.set_yscale("linear")
    free.set_xscale("symlog", linthresh=1)
    free.set_xlim(0, 2 * STEPS)
    free.set_ylim(1e-8, 1e4)
    free.set_ylabel("")
    points = " Points are the published values." if found.moons.published else ""
    yield PaperFigure(
        "imt",
        figure,
        f"Squared distance of the weights. Left: examples of the pool, and labels and examples in their range. Right: "
        f"free labels and examples.{points} {found.moons.caption}",
    )


def notes(found: Taught) -> list[str]:
    """Say what was rebuilt, and how."""
    said = [
        "SGD, omniscient and surrogate are nimt's RandomTeacher(order='epoch'), OmniscientTeacher and SurrogateTeacher "
        "with a LinearLearner. The others are plain loops in the file of this experiment: the logistic loss of nimt "
        "takes the labels -1 and +1 only.",
        "The published code of LAST makes labels for the slope f - y, and its learner has the slope sigma(f) - y: the "
        "rows 'published slope' do the same, the others use the slope of the learner.",
        f"Limited joint examples are the best of a grid of {SIDE} x {SIDE} points over the range of the pool, with "
        f"labels in [0, 1]. The published ones are found by Adam.",
        "Nothing was published of the surrogate on these points.",
    ]
    if not found.moons.published:
        said.append(f"The published curves are in {FILE}, which was not found: name its folder by NIMT_DATA or --data.")
    else:
        most = np.abs(
            found.curves[OMNISCIENT] - found.moons.published[OMNISCIENT][: len(found.curves[OMNISCIENT])]
        ).max()
        said.append(f"The omniscient lesson is within {most:.1e} of the published curve at every step.")
    return said


EXPERIMENT = Experiment(
    name="imt",
    title="Logistic regression on two moons",
    paper="not in the paper: Liu et al. 2017, 2021",
    about="800 points of two classes; logistic regression with bias, learning rate 0.01, 1,000 steps. The error is "
    "|w - w*|^2. Means of random orders are over 20 of them.",
    run=run,
    lessons=tables,
    quantities=quantities,
    pictures=lambda folder: (read_moons(folder),),
    draw=draw,
    notes=notes,
    cost=15.0,
)
