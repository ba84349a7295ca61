"""Communicating: the plain loop written out, the mixture, engines, files, replays, and what is refused."""

import numpy as np
import pytest

import nimt
from nimt.teachers import Communicating, PerOutput
from nimt.teachers.communicating import mixture

pytestmark = pytest.mark.long

GRID = nimt.Grid(np.linspace(-2, 2, 9), np.linspace(-1, 1, 6))
SCATTERED = np.random.default_rng(0).uniform(-2, 2, size=(40, 2))
INNER = {
    "shared": nimt.GreedyTeacher(),
    "pack": nimt.GreedyTeacher(k=3, norm=1),
    "random": nimt.RandomTeacher(k=2),
    "each": PerOutput(nimt.GreedyTeacher()),
    "pool": nimt.GreedyTeacher(pool=0.5),
}


def waves(points, q, seed):
    return np.sin(points @ np.random.default_rng(seed).normal(size=(2, q)) + np.arange(q))


def teach(teacher, q=3, X=SCATTERED, target=None, start=True, **options):
    points = X.points if isinstance(X, nimt.Grid) else X
    initial = waves(points, q, 50) if start is True else start
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.2, initial=initial)
    rules = {"max_iterations": 40, "tol": None, "seed": 4} | options
    return nimt.teach(learner, teacher, X, waves(points, q, 7) if target is None else target, **rules)


def fitted(values, target, ridge=1e-9):
    """Row o of A by least squares over the points and the q equations r A_o = r e_o, as the docstring states."""
    q = values.shape[1]
    size = np.sqrt(ridge * np.sum(values**2) / q)
    rows = np.vstack([values, size * np.eye(q)])
    return np.array([np.linalg.lstsq(rows, np.append(target[:, o], size * np.eye(q)[o]))[0] for o in range(q)])


@pytest.mark.parametrize("q", [2, 3])
@pytest.mark.parametrize("each", [False, True])
def test_the_plain_loop_is_the_formula(q, each):
    inner = PerOutput(nimt.GreedyTeacher()) if each else nimt.GreedyTeacher()
    lesson = teach(Communicating(inner, every=7, until=20), q, engine="reference")
    gram, target = nimt.rbf(0.5)(SCATTERED), waves(SCATTERED, q, 7)
    f = waves(SCATTERED, q, 50)
    mixes = []
    for t in range(41):
        if t % 7 == 0 and t < 20:
            a = fitted(f, target)
            mixes.append((t, a))
            f = np.array([[sum(a[o, p] * f[i, p] for p in range(q)) for o in range(q)] for i in range(40)])
        assert lesson.discrepancy[t] == pytest.approx(np.sqrt(np.sum((f - target) ** 2)) / 40, rel=1e-7)
        if t == 40:
            break
        gaps = np.abs(f - target)
        chosen = [int(np.argmax(gaps[:, o])) for o in range(q)] if each else [int(np.argmax((gaps**2).sum(axis=1)))]
        assert lesson.indices[t].tolist() == chosen
        moves = [(i, o) for o, i in enumerate(chosen)] if each else [(chosen[0], o) for o in range(q)]
        steps = [(i, o, -0.2 * 2 * (f[i, o] - target[i, o])) for i, o in moves]
        for i, o, step in steps:
            f[:, o] += step * gram[:, i]
    assert lesson.mix_steps.tolist() == [t for t, _ in mixes]
    np.testing.assert_allclose(lesson.mixes, [a for _, a in mixes], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(lesson.final, f, atol=1e-7)


@pytest.mark.parametrize("engine", ["grid", "neighbours", "streamed"])
@pytest.mark.parametrize("name", INNER)
@pytest.mark.sampled(3)
def test_every_engine_equals_the_plain_loop(name, engine):
    teacher = Communicating(INNER[name], every=9)
    plain = teach(teacher, X=GRID, engine="reference")
    fast = teach(teacher, X=GRID, engine=engine)
    assert fast.engine == engine
    np.testing.assert_array_equal(fast.indices, plain.indices)
    np.testing.assert_allclose(fast.mixes, plain.mixes, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(fast.discrepancy, plain.discrepancy, rtol=1e-9)
    np.testing.assert_allclose(fast.final, plain.final, rtol=0, atol=1e-11)
    np.testing.assert_allclose(fast.learner.predict(GRID), fast.final, rtol=0, atol=1e-11)


@pytest.mark.parametrize("engine", ["reference", "grid", "streamed"])
def test_files_and_checkpoints(engine, tmp_path):
    teacher = Communicating(nimt.RandomTeacher(k=2), every=5)
    whole = teach(teacher, X=GRID, engine=engine)
    for stop in (5, 23, 25):  # at a mixture and between two
        teach(teacher, X=GRID, engine=engine, max_iterations=stop, tol=None, checkpoint=tmp_path / f"c{stop}")
        resumed = nimt.resume(tmp_path / f"c{stop}", max_iterations=40)
        for name in ("indices", "discrepancy", "final", "mixes", "mix_steps"):
            np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))
        np.testing.assert_array_equal(resumed.learner.predict(GRID), whole.learner.predict(GRID))
    whole.save(tmp_path / "lesson")
    kept = nimt.Lesson.load(tmp_path / "lesson")
    np.testing.assert_array_equal(kept.mixes, whole.mixes)
    np.testing.assert_array_equal(kept.learner.predict(GRID), whole.learner.predict(GRID))
    np.testing.assert_array_equal(kept.to_table()["mixed"], np.arange(41) % 5 == 0)
    assert kept.method == "RFT-2 communicating"


@pytest.mark.parametrize("start", [0.0, 0.7, lambda x: np.column_stack([x[:, 0], x[:, 1], x[:, 0]]), "table"])
def test_the_coefficients_and_the_start_follow(start):
    """After any mixtures the taught learner, evaluated anywhere it is known, is the function on the pool."""
    teacher = Communicating(nimt.GreedyTeacher(), every=6)
    initial = waves(SCATTERED, 3, 50) if isinstance(start, str) else start
    lesson = teach(teacher, 3, start=initial)
    np.testing.assert_allclose(lesson.learner.predict(SCATTERED), lesson.final, atol=1e-10)
    again = nimt.teach(
        lesson.learner, teacher, SCATTERED, lesson.target, max_iterations=30, tol=None
    )  # taught and mixed before
    np.testing.assert_allclose(again.learner.predict(SCATTERED), again.final, atol=1e-9)
    if start == 0.0:
        assert np.array_equal(lesson.mixes[0], np.eye(3))


def test_a_mixture_never_increases_the_error():
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 20):
        for _ in range(20):
            values, target = rng.normal(size=(2, n, 3)) * rng.choice([1e-6, 1.0, 1e6], size=(2, 1, 1))
            mixed = values @ mixture(values, target, 1e-9).T
            assert np.sum((mixed - target) ** 2) <= np.sum((values - target) ** 2) * (1 + 1e-9)
    assert np.array_equal(mixture(np.zeros((4, 2)), np.ones((4, 2)), 1e-9), np.eye(2))
    assert np.array_equal(mixture(np.full((4, 2), np.inf), np.ones((4, 2)), 1e-9), np.eye(2))
    np.testing.assert_allclose(mixture(target, target, 1e-9), np.eye(3), atol=1e-6)


def test_a_target_that_is_a_mixture_of_the_starts_needs_no_step():
    starts = waves(SCATTERED, 3, 50)
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    alone = teach(nimt.GreedyTeacher(), target=starts @ turn.T, tol=1e-3, max_iterations=5000)
    mixed = teach(Communicating(nimt.GreedyTeacher()), target=starts @ turn.T, tol=1e-3, max_iterations=5000)
    assert mixed.itd == 0 and len(mixed) == 0 and alone.itd > 50
    np.testing.assert_allclose(mixed.mixes[0], turn, atol=1e-6)


def test_only_what_the_teacher_sees_is_fitted():
    """A gray box: the matrix depends on predictions and target at the points the teacher may show, on nothing else."""
    seen = [1, 4, 9, 16, 25, 36]
    target = waves(SCATTERED, 3, 7)
    elsewhere = target.copy()
    elsewhere[[i for i in range(40) if i not in seen]] += 5.0
    teacher = Communicating(nimt.GreedyTeacher(pool=seen), every=5)
    one, other = teach(teacher, target=target), teach(teacher, target=elsewhere)
    np.testing.assert_array_equal(one.mixes, other.mixes)
    np.testing.assert_array_equal(one.final, other.final)


def test_in_a_box():
    both = lambda x: np.column_stack([np.sin(x[:, 0]), np.cos(x[:, 0])])  # noqa: E731
    start = lambda x: np.column_stack([x[:, 0], 1 - x[:, 0] ** 2 / 2])  # noqa: E731
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.3, initial=start)
    box = nimt.Box([(-2, 2)], points=21)
    teacher = Communicating(nimt.GreedyTeacher(), every=10)
    lesson = nimt.teach(learner, teacher, box, both, max_iterations=60, tol=None)
    assert lesson.mix_steps.tolist() == [0, 10, 20, 30, 40, 50, 60]
    np.testing.assert_allclose(lesson.learner.predict(box.grid), lesson.final, atol=1e-9)


def test_steps_take_mixtures_too():
    teacher = Communicating(nimt.GreedyTeacher(), every=3)
    whole = teach(teacher, max_iterations=7, tol=None)
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.2, initial=waves(SCATTERED, 3, 50))
    walk = nimt.steps(learner, teacher, SCATTERED, waves(SCATTERED, 3, 7), max_iterations=7, tol=None)
    curve = [discrepancy for _, _, discrepancy in walk]
    np.testing.assert_array_equal(curve, whole.discrepancy[1:])
    np.testing.assert_array_equal(walk.lesson.mixes, whole.mixes)


def test_only_the_counts_may_be_kept(tmp_path):
    lesson = teach(Communicating(nimt.GreedyTeacher(), every=5), record="picks")
    assert lesson.mixes is None and lesson.picks.sum() == 40
    np.testing.assert_array_equal(lesson.discrepancy, teach(Communicating(INNER["shared"], every=5)).discrepancy)


def test_a_learner_is_mixed_by_hand(tmp_path):
    learner = nimt.KernelLearner(nimt.rbf(0.5), initial=1.0).mix([[2.0, 0.0], [1.0, 1.0]])
    np.testing.assert_array_equal(learner.predict([[0.0]]), [[2.0, 2.0]])
    np.testing.assert_array_equal(learner.mix([[0.0, 1.0], [1.0, 0.0]]).predict([[0.0]]), [[2.0, 2.0]])
    with pytest.raises(nimt.InvalidInput, match=r"matrix must be \(q, q\) for 2 outputs, got shape \(3, 3\)"):
        learner.mix(np.eye(3))
    with pytest.raises(nimt.InvalidInput, match="matrix"):
        learner.mix([[np.nan, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: teach(Communicating(nimt.GreedyTeacher()), target=SCATTERED[:, 0], start=0.0), "one output"),
        (lambda: teach(Communicating(nimt.GreedyTeacher()), target=SCATTERED[:, :1], start=0.0), "one output"),
        (lambda: Communicating(Communicating(nimt.GreedyTeacher())), "mixes the outputs already"),
        (lambda: PerOutput(Communicating(nimt.GreedyTeacher())), r"Communicating\(PerOutput\(teacher\)\)"),
        (lambda: Communicating(nimt.GreedyTeacher(), every=0), "every must be a whole number >= 1"),
        (lambda: Communicating(nimt.GreedyTeacher(), until=1.5), "until must be a whole number >= 1"),
        (lambda: Communicating(nimt.GreedyTeacher(), ridge=0.0), "ridge must be a positive number"),
        (lambda: Communicating(nimt.GreedyTeacher), "a teacher needs select"),
        (lambda: teach(Communicating(nimt.GreedyTeacher()), measure="rkhs"), "the norm in H"),
        (
            lambda: nimt.teach(
                nimt.learners.OrthogonalLearner(nimt.rbf(0.5)), Communicating(nimt.GreedyTeacher()), SCATTERED,
                waves(SCATTERED, 2, 7), max_iterations=1, tol=None,
            ),
            "which OrthogonalLearner cannot do",
        ),
        (
            lambda: nimt.teach(
                nimt.KernelLearner(nimt.rbf(0.5), loss="crossentropy"), Communicating(nimt.GreedyTeacher()),
                SCATTERED, nimt.classes.one_hot(np.arange(40) % 3), max_iterations=1, tol=None,
            ),
            "CrossEntropy.*give the teacher without Communicating",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(wrong, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        wrong()


def test_the_held_out_curve_begins_with_the_start():
    def start(points):
        return waves(points, 3, 50)

    fresh = np.random.default_rng(1).uniform(-2, 2, size=(20, 2))
    for snapshots in ([0, 3], []):  # also if the lesson ends where it begins
        lesson = teach(
            Communicating(nimt.GreedyTeacher(), every=3), 3, start=start, snapshots=snapshots,
            max_iterations=max([0, *snapshots]), tol=None, holdout=(fresh, waves(fresh, 3, 7)),
        )  # fmt: skip
        at_start = np.sqrt(np.mean((start(fresh) - waves(fresh, 3, 7)) ** 2))
        assert lesson.held_out_curve[0] == pytest.approx(at_start)
        if snapshots:  # at later steps it is measured after the mixture, as the discrepancy is
            assert lesson.held_out_curve[3] == pytest.approx(lesson.held_out.rms)
