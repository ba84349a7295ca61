"""GreedyTeacher(where="agrees"), and score="decrease": the exact decrease of the sum of squares."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import nimt
from nimt import testing

pytestmark = pytest.mark.long

rng = np.random.default_rng(11)
POINTS = rng.uniform(-2, 2, (80, 2))
TRUTH = np.sin(2 * POINTS[:, 0]) + POINTS[:, 1]
CLASSES = np.digitize(TRUTH, [-0.7, 0.8])
WRONG = np.arange(80) % 8 == 0
WRONG_CLASSES = np.where(WRONG, (CLASSES + 1) % 3, CLASSES)
FAR = np.where(WRONG, TRUTH + 4, TRUTH + 0.1 * rng.normal(size=80))
NAMES = np.array(["a", "b", "c"])
KERNEL = nimt.rbf(0.7)


class AnswersInWords:
    classes_ = NAMES

    def predict(self, X):
        return NAMES[np.digitize(np.sin(2 * X[:, 0]) + X[:, 1], [-0.7, 0.8])]


def teach(teacher, y, loss="square", **options):
    rules = {"max_iterations": 150, "tol": None} | options
    return nimt.teach(nimt.KernelLearner(KERNEL, loss=loss, learning_rate=0.2), teacher, POINTS, y, **rules)


@pytest.mark.parametrize(
    ("reference", "y", "loss"),
    [
        (CLASSES, nimt.classes.one_hot(WRONG_CLASSES), "crossentropy"),
        (nimt.classes.one_hot(CLASSES), nimt.classes.one_hot(WRONG_CLASSES), "crossentropy"),
        (AnswersInWords(), nimt.classes.one_hot(WRONG_CLASSES), "crossentropy"),
        (np.where(CLASSES > 0, 1, -1), np.where(CLASSES > 0, 1, -1) * np.where(WRONG, -1.0, 1.0), "logistic"),
        (TRUTH, FAR, "square"),
        (lambda x: np.sin(2 * x[:, 0]) + x[:, 1], FAR, "huber"),
        (np.column_stack([TRUTH] * 3), np.column_stack([FAR, TRUTH + 0.1, TRUTH]), "square"),
    ],
)
def test_points_whose_label_disagrees_are_not_shown(reference, y, loss, tmp_path):
    told = {} if loss in ("square", "huber") else {"score": "loss", "loss": loss}
    misled = teach(nimt.GreedyTeacher(**told), y, loss)
    assert misled.picks[WRONG].sum() > 10
    teacher = nimt.GreedyTeacher(reference=reference, where="agrees", **told)
    fast, plain = teach(teacher, y, loss, checkpoint=tmp_path / "half"), teach(teacher, y, loss, engine="reference")
    assert fast.engine != "reference" and fast.picks[WRONG].sum() == 0
    np.testing.assert_array_equal(fast.indices, plain.indices)
    agreeing = nimt.GreedyTeacher(pool=~WRONG, **told)
    np.testing.assert_array_equal(fast.indices, teach(agreeing, y, loss).indices)
    longer = nimt.resume(tmp_path / "half", max_iterations=200)
    np.testing.assert_array_equal(longer.final, teach(teacher, y, loss, max_iterations=200).final)


@pytest.mark.parametrize("words", [False, True])
def test_a_reference_of_rows_tells_which_labels_disagree(words):
    names = NAMES[WRONG_CLASSES] if words else WRONG_CLASSES
    made = nimt.reference(POINTS, names, model=LogisticRegression(), out_of_fold=True)
    known = np.searchsorted(NAMES, made.labels) if words else made.labels
    teacher = nimt.GreedyTeacher(score="loss", loss="crossentropy", reference=made, where="agrees")
    lesson = teach(teacher, nimt.classes.one_hot(names), "crossentropy", max_iterations=300)
    assert 0 < lesson.picks[known == WRONG_CLASSES].sum() == 300
    numbers = nimt.reference(POINTS, FAR, model=Ridge(), classes=False)
    assert teach(nimt.GreedyTeacher(reference=numbers, where="agrees"), FAR).picks[WRONG].sum() < 150


def test_a_pool_and_agreement_both_limit_what_is_shown():
    teacher = nimt.GreedyTeacher(reference=TRUTH, where="agrees", pool=np.arange(40))
    lesson = teach(teacher, FAR)
    assert lesson.picks[40:].sum() == 0 and lesson.picks[WRONG].sum() == 0


def test_names_and_contract():
    teacher = nimt.GreedyTeacher(k=2, reference=np.cos, where="agrees")
    assert teacher.name == "GFT-2 (agrees)"
    lesson = teach(nimt.GreedyTeacher(reference=TRUTH, where="agrees"), FAR, max_iterations=3)
    assert lesson.settings["method"]["name"] == "GFT-1 (agrees)"
    x = nimt.Grid(np.linspace(-2, 2, 24))
    testing.check_teacher(nimt.GreedyTeacher(k=2, reference=np.cos(x.points[:, 0]) + 0.01, where="agrees"), x)


def test_in_a_box_labels_are_compared_too():
    box = nimt.Box((-2, 2))
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
    target = lambda x: np.sin(x[:, 0]) + 3.0 * (x[:, 0] > 1.5)  # noqa: E731
    teacher = nimt.GreedyTeacher(reference=lambda x: np.sin(x[:, 0]), where="agrees")
    shown = nimt.teach(learner, teacher, box, target, max_iterations=20, tol=None).examples()["x_1"]
    misled = nimt.teach(learner, nimt.GreedyTeacher(), box, target, max_iterations=20, tol=None).examples()["x_1"]
    assert shown.max() <= 1.5 < misled.max()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"where": "differs", "reference": TRUTH}, "where must be None or 'agrees', got 'differs'"),
        ({"where": "agrees"}, "give reference="),
        ({"where": "agrees", "reference": TRUTH, "pool": 0.5}, "takes a pool of points, not a share"),
        ({"learning_rate": 0.1}, "learning_rate= is used by score='decrease' only"),
        ({"score": "decrease", "kernel": KERNEL, "learning_rate": 0}, "must be a positive number"),
        ({"score": "decrease", "kernel": KERNEL, "learning_rate": abs}, "must be a number or 'auto', got a callable"),
        ({"score": "surrogate"}, "'loss' or 'decrease', or a score of yours by nimt.compiled, got 'surrogate'"),
    ],
)
def test_bad_options_get_a_sentence(options, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        nimt.GreedyTeacher(**options)


@pytest.mark.parametrize(
    ("options", "y", "sentence"),
    [
        ({"reference": TRUTH[:9], "where": "agrees"}, FAR, r"the reference has shape \(9,\) and the pool 80 points"),
        ({"reference": np.where(WRONG, np.nan, TRUTH), "where": "agrees"}, FAR, "the reference has nan at index 0"),
        ({"reference": Ridge(), "where": "agrees"}, FAR, "the reference Ridge is not fitted"),
        ({"reference": 1 - CLASSES % 2, "where": "agrees"}, CLASSES % 2 * 1.0, "no label agrees with the reference"),
        ({"reference": TRUTH, "where": "agrees", "pool": [0, 8]}, FAR, "no label of the teacher's pool agrees"),
    ],
)
def test_what_cannot_be_compared_gets_a_sentence(options, y, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        teach(nimt.GreedyTeacher(**options), y)


# ---------------------------------------------------------------- the decrease of the sum of squares


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("k", [1, 4])
def test_what_is_shown_lowers_the_sum_of_squares_most(several, k):
    """Every point is tried by a step of its own, at every step of the lesson."""
    y = np.column_stack([FAR, TRUTH, FAR**2]) if several else FAR
    gram, eta, f = KERNEL(POINTS), 0.2, np.zeros(y.shape)
    teacher = nimt.GreedyTeacher(k=k, score="decrease", kernel=KERNEL, learning_rate=eta)
    lesson = teach(teacher, y, max_iterations=40)
    assert lesson.engine == "streamed" and len(np.unique(lesson.indices)) > 5
    for t in range(40):
        after = [np.sum((f - eta * np.multiply.outer(gram[i], 2 * (f - y)[i]) - y) ** 2) for i in range(80)]
        best = np.sort(np.argsort(after, kind="stable")[:k])
        np.testing.assert_array_equal(np.sort(lesson.indices[t]), best)
        f = f - eta / k * sum(np.multiply.outer(gram[i], 2 * (f - y)[i]) for i in best)


FLAT = nimt.Grid(np.arange(24.0), np.arange(20.0))
SPARSE = rng.uniform(0, 35, (900, 2))


@pytest.mark.parametrize("pool", [None, 0.6])
@pytest.mark.parametrize(
    ("engine", "x", "kernel", "q", "k"),
    [
        ("grid", FLAT, nimt.rbf(0.5), 1, 1),
        ("grid", FLAT, nimt.rbf(0.5), 3, 3),
        ("streamed", FLAT, nimt.rbf(0.5), 1, 1),
        ("streamed", FLAT, 2.0 * nimt.rbf(6.0), 3, 3),
        ("neighbours", SPARSE, nimt.rbf(0.8), 1, 1),
        ("neighbours", SPARSE, 2.0 * nimt.rbf(0.8), 3, 3),
        ("streamed", SPARSE, nimt.linear(0.1) + nimt.rbf(2.0), 1, 1),
    ],
)
def test_compiled_engines_keep_k_r_up_to_date(engine, x, kernel, q, k, pool, monkeypatch, tmp_path):
    """K r is computed anew in the plain loop at every step; the engines add columns of K K, also across a renewal."""
    monkeypatch.setattr("nimt.engines.compiled.RENEWED", 40)
    y = rng.normal(size=(len(x), q)) if q > 1 else rng.normal(size=len(x))
    rate = 0.1 / float(kernel.diag(np.asarray(x.points if isinstance(x, nimt.Grid) else x)).max())
    learner = nimt.KernelLearner(kernel, learning_rate=rate)
    teacher = nimt.GreedyTeacher(k=k, score="decrease", kernel=kernel, learning_rate=rate, pool=pool)
    rules = {"max_iterations": 130, "tol": None}
    plain = nimt.teach(learner, teacher, x, y, engine="reference", **rules)
    fast = nimt.teach(learner, teacher, x, y, engine=engine, **rules)
    np.testing.assert_array_equal(np.sort(fast.indices, axis=1), np.sort(plain.indices, axis=1))
    np.testing.assert_allclose(fast.discrepancy, plain.discrepancy, rtol=1e-12)
    half = rules | {"max_iterations": 57, "checkpoint": tmp_path / "half"}
    nimt.teach(learner, teacher, x, y, engine=engine, **half)
    whole = nimt.resume(tmp_path / "half", max_iterations=130)
    np.testing.assert_array_equal(whole.final, fast.final)


def test_packs_whose_effects_cannot_be_kept_are_scored_anew(monkeypatch):
    monkeypatch.setattr("nimt.engines.error_product.CACHE", 8 * 80 * 3)
    teacher = nimt.GreedyTeacher(k=5, score="decrease", kernel=KERNEL, learning_rate=0.2)
    fast, plain = teach(teacher, FAR, engine="streamed"), teach(teacher, FAR, engine="reference")
    np.testing.assert_array_equal(fast.indices, plain.indices)


def test_the_engine_is_the_cheapest_that_can_keep_k_r():
    def engine(x, kernel, told=None, **options):
        teacher = nimt.GreedyTeacher(score="decrease", kernel=told or kernel)
        return nimt.plan(nimt.KernelLearner(kernel), teacher, x, np.zeros(len(x)) + 1.0, **options).engine

    assert engine(nimt.Grid.like(np.zeros((92, 92))), nimt.rbf(0.5)) == "grid"
    assert engine(FLAT, nimt.rbf(6.0)) == "streamed"
    assert engine(SPARSE, nimt.rbf(0.8)) == "neighbours"
    assert engine(SPARSE, nimt.rbf(0.8), told=nimt.rbf(0.5)) == "neighbours"
    with pytest.raises(nimt.InvalidInput, match="a step changes K r at most points"):
        engine(FLAT, nimt.rbf(6.0), engine="grid")
    assert nimt.GreedyTeacher(score="decrease", kernel=KERNEL).name == "GFT-1 (decrease)"


@pytest.mark.parametrize(("engine", "x"), [("streamed", POINTS), ("neighbours", SPARSE)])
def test_a_teacher_with_another_kernel_is_followed_too(engine, x):
    teacher = nimt.GreedyTeacher(score="decrease", kernel=nimt.rbf(0.5), learning_rate=0.2)
    learner = nimt.KernelLearner(KERNEL, learning_rate=0.2)
    y = np.sin(2 * x[:, 0]) + x[:, 1] + np.random.default_rng(3).normal(size=len(x))
    fast, plain = (nimt.teach(learner, teacher, x, y, max_iterations=150, engine=one) for one in (engine, "reference"))
    np.testing.assert_array_equal(fast.indices, plain.indices)


def test_a_lesson_by_the_decrease_keeps_the_contract_and_goes_on_bit_by_bit(tmp_path):
    teacher = nimt.GreedyTeacher(k=2, score="decrease", kernel=nimt.rbf(0.4))
    testing.check_teacher(teacher)
    teacher = nimt.GreedyTeacher(score="decrease", kernel=KERNEL, pool=0.7)
    teach(teacher, FAR, max_iterations=10, checkpoint=tmp_path / "half")
    whole, never = nimt.resume(tmp_path / "half", max_iterations=30), teach(teacher, FAR, max_iterations=30)
    np.testing.assert_array_equal(whole.indices, never.indices)
    np.testing.assert_array_equal(whole.final, never.final)


def test_without_a_gram_matrix_the_scores_are_the_same(monkeypatch):
    x = nimt.Grid(np.linspace(-2, 2, 30), np.linspace(-1, 1, 20))
    teacher = nimt.GreedyTeacher(score="decrease", kernel=nimt.rbf(0.2), learning_rate=0.1)
    learner = nimt.KernelLearner(nimt.rbf(0.2), learning_rate=0.1)
    target = rng.normal(size=600)
    lesson = nimt.teach(learner, teacher, x, target, max_iterations=15, tol=None)
    monkeypatch.setattr("nimt.operators.dense.DenseOperator.keeps_gram", False)
    fresh = nimt.GreedyTeacher(score="decrease", kernel=nimt.rbf(0.2), learning_rate=0.1)
    np.testing.assert_array_equal(
        nimt.teach(learner, fresh, x, target, max_iterations=15, tol=None).indices, lesson.indices
    )


def test_another_loss_is_refused():
    with pytest.raises(nimt.InvalidInput, match="is of steps of the square loss"):
        teach(nimt.GreedyTeacher(score="decrease", kernel=KERNEL), FAR, "huber")


def test_with_noise_it_goes_on_where_the_largest_error_stands_still():
    draw = np.random.default_rng(1)
    X = draw.uniform(-1, 1, (250, 2))
    noisy = np.sin(X[:, 0]) * np.cos(X[:, 1]) + 0.1 * draw.normal(size=250)
    kernel = nimt.rbf(0.5)
    learner = nimt.KernelLearner(kernel, learning_rate=0.01)
    rules = {"measure": "rms", "tol": 0.1107, "max_iterations": 20_000}
    by_decrease = nimt.GreedyTeacher(score="decrease", kernel=kernel, learning_rate=0.01)
    assert nimt.teach(learner, by_decrease, X, noisy, **rules).itd == 362
    assert nimt.teach(learner, nimt.GreedyTeacher(), X, noisy, **rules).itd is None
    assert nimt.teach(learner, nimt.RandomTeacher(), X, noisy, **rules).itd > 3 * 362


def test_at_a_jump_it_is_ahead_of_random_where_the_largest_error_is_behind():
    """The sign on 121 points, width 0.5, rate 0.01: rms 0.611 by the largest error and 0.201 at random."""
    x = nimt.Grid(np.linspace(-3, 3, 121))
    kernel = nimt.rbf(0.5)
    learner = nimt.KernelLearner(kernel, learning_rate=0.01)
    by_decrease = nimt.GreedyTeacher(score="decrease", kernel=kernel, learning_rate=0.01)
    found = [
        nimt.teach(learner, teacher, x, np.sign, measure="rms", tol=None, max_iterations=1000).discrepancy[-1]
        for teacher in (nimt.GreedyTeacher(), nimt.RandomTeacher(), by_decrease)
    ]
    np.testing.assert_allclose(found, [0.611, 0.201, 0.158], atol=1e-3)
