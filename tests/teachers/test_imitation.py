"""The imitation teacher: against a loop written from its rule, which hears the learner at the examples shown only."""

import numpy as np
import pytest

import nimt
from nimt import testing
from nimt.losses import as_loss

RATE, WIDTH, STEPS = 0.2, 0.7, 40
rng = np.random.default_rng(8)
POINTS = rng.uniform(-2, 2, (50, 2))
TRUTH = np.sin(2 * POINTS[:, 0]) + POINTS[:, 1]
KERNEL = nimt.rbf(WIDTH)
GRAM = np.exp(-((np.linalg.norm(POINTS[:, None] - POINTS[None], axis=2) / WIDTH) ** 2))
LABELS = {
    "square": TRUTH,
    "logistic": np.where(TRUTH > 0, 1.0, -1.0),
    "several": np.column_stack([TRUTH, np.cos(POINTS[:, 0])]),
}
LEARNED = 0.5 * np.cos(POINTS[:, 1])  # before the lesson, which the teacher does not know


def make(case, **options):
    loss = "square" if case == "several" else case
    start = LEARNED if case != "several" else np.column_stack([LEARNED, -LEARNED])
    learner = nimt.KernelLearner(KERNEL, loss=loss, learning_rate=RATE, initial=start)
    reference = 3 * TRUTH if case == "logistic" else None
    return learner, nimt.teachers.ImitationTeacher(KERNEL, RATE, loss, reference=reference, **options), start


def teach(learner, teacher, y, steps=STEPS, **options):
    return nimt.teach(learner, teacher, POINTS, y, max_iterations=steps, tol=None, **options)


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("case", LABELS)
def test_the_rule_is_that_of_a_plain_loop(case, k, every):
    look = None if every == 1 else nimt.schedules.every(every)
    learner, teacher, start = make(case, k=k, look=look)
    y, loss = LABELS[case], as_loss(learner.loss)
    truth = y if teacher.reference is None else teacher.reference
    f, v, shown = np.array(start), np.zeros(y.shape), []
    for t in range(STEPS):
        if shown and t % every == 0:
            pack = shown[-1]
            heard = np.linalg.solve(GRAM[np.ix_(pack, pack)], (v - f)[pack])
            for j, c in zip(pack, heard, strict=True):
                v = v - np.multiply.outer(GRAM[:, j], c)
        g = loss.slope(v, y)
        costs = [
            RATE**2 * np.sum(g[i] ** 2) * GRAM[i, i] - 2 * RATE * np.sum(g[i] * (v[i] - truth[i])) for i in range(50)
        ]
        pack = sorted(sorted(range(50), key=lambda i: costs[i])[:k])
        slopes = loss.slope(f, y)
        f = f - RATE / k * sum(np.multiply.outer(GRAM[:, i], slopes[i]) for i in pack)
        shown.append(pack)
    lesson = teach(learner, teacher, y)
    assert len(np.unique(shown)) > 5
    np.testing.assert_array_equal(lesson.indices, shown)
    np.testing.assert_allclose(lesson.final, f, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("k", [1, 4])
def test_a_copy_that_begins_as_the_learner_does_stays_equal_to_it(k):
    learner, teacher, _ = make("square", k=k, initial=LEARNED)
    knows_all = nimt.OmniscientTeacher(KERNEL, RATE, k=k)
    same, other = teach(learner, teacher, TRUTH), teach(learner, knows_all, TRUTH, engine="reference")
    np.testing.assert_array_equal(same.indices, other.indices)
    stranger = make("square", k=k)[1]
    assert not np.array_equal(teach(learner, stranger, TRUTH).indices, other.indices)


class Deaf:
    """A view whose predictions are wrong but for the examples shown last, as a teacher's that cannot see the rest."""

    def __init__(self, teacher):
        self.teacher = teacher

    def select(self, view):
        heard = np.full(view.predictions.shape, np.nan)
        if view.memory is not None:
            heard[view.memory["shown"]] = view.predictions[view.memory["shown"]]
        return self.teacher.select(nimt.teachers.View(**vars(view) | {"predictions": heard}))


def test_it_reads_the_learner_at_the_examples_shown_only():
    learner, teacher, _ = make("square", k=3)
    np.testing.assert_array_equal(teach(learner, teacher, TRUTH).indices, teach(learner, Deaf(teacher), TRUTH).indices)


def test_the_start_may_be_a_function_and_the_pool_limited():
    learner, _, _ = make("square")
    mine = np.arange(5, 40)
    forms = (LEARNED, lambda x: 0.5 * np.cos(x[:, 1]))
    lessons = [teach(learner, make("square", initial=form, pool=mine)[1], TRUTH) for form in forms]
    assert np.isin(lessons[0].indices, mine).all()
    np.testing.assert_array_equal(lessons[0].indices, lessons[1].indices)


@pytest.mark.parametrize("options", [{}, {"k": 3}, {"k": 0.2, "look": nimt.schedules.every(3), "initial": 0.3}])
def test_the_imitation_teacher_keeps_the_contract(options):
    testing.check_teacher(nimt.teachers.ImitationTeacher(nimt.rbf(0.4), 0.2, **options))


def test_what_it_cannot_do_is_said():
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
    teacher = nimt.teachers.ImitationTeacher(nimt.rbf(0.5), 0.1)
    with pytest.raises(nimt.InvalidInput, match="teach on a pool, not in a Box"):
        nimt.teach(learner, teacher, nimt.Box((-2, 2)), lambda x: np.sin(x[:, 0]), max_iterations=5, tol=None)
    with pytest.raises(nimt.InvalidInput, match="ImitationTeacher chooses by its own select"):
        nimt.teach(learner, teacher, nimt.Grid(np.linspace(-1, 1, 9)), np.sin, max_iterations=5, engine="grid")
    with pytest.raises(nimt.InvalidInput, match="initial has shape"):
        teach(learner, nimt.teachers.ImitationTeacher(initial=LEARNED[1:]), TRUTH)
    several = nimt.teachers.PerOutput(nimt.teachers.ImitationTeacher(initial=LABELS["several"]))
    with pytest.raises(nimt.InvalidInput, match="leave PerOutput out"):
        teach(learner, several, LABELS["several"])


def test_it_is_spelled_on_the_command_line_and_sees_the_learner():
    from nimt.teachers.spelling import parse_teacher

    teacher = parse_teacher("imitation", k=2)
    assert isinstance(teacher, nimt.teachers.ImitationTeacher)
    assert (teacher.name, teacher.sees) == ("imitation-2", ("kernel", "loss", "rate"))
