"""Teachers that compare the learner with a reference: against loops written from their rules, and what they refuse."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

import nimt
from nimt import testing
from nimt.losses import as_loss

pytestmark = pytest.mark.long

RATE, WIDTH, STEPS = 0.2, 0.7, 60
rng = np.random.default_rng(4)
POINTS = rng.uniform(-2, 2, (70, 2))
TRUTH = np.sin(2 * POINTS[:, 0]) + POINTS[:, 1]
CLASSES = np.digitize(TRUTH, [-0.7, 0.8])
WRONG = np.arange(70) % 7 == 0
LABELS = {
    "square": np.where(WRONG, TRUTH + rng.normal(size=70), TRUTH),
    "huber": np.where(WRONG, TRUTH + rng.normal(size=70), TRUTH),
    "logistic": np.where(WRONG, -1, 1) * np.where(TRUTH > 0, 1.0, -1.0),
    "several": np.column_stack([TRUTH + 0.3 * rng.normal(size=70), np.cos(POINTS[:, 0]), POINTS[:, 1]]),
    "crossentropy": nimt.classes.one_hot(np.where(WRONG, (CLASSES + 1) % 3, CLASSES)),
}
REFERENCES = {
    "square": TRUTH,
    "huber": TRUTH,
    "logistic": 3 * TRUTH,
    "several": np.column_stack([TRUTH, np.cos(POINTS[:, 0]), POINTS[:, 1]]),
    "crossentropy": 4.0 * nimt.classes.one_hot(CLASSES),
}


def loss_named(case):
    return "square" if case == "several" else case


def give(case, k, score):
    """A lesson by plain loops: the k points with the largest `score(f, g, L, K)`, each argument at every point."""
    loss, y = as_loss(loss_named(case)), LABELS[case]
    gram = np.exp(-((np.linalg.norm(POINTS[:, None] - POINTS[None], axis=2) / WIDTH) ** 2))
    f, shown = np.zeros(y.shape), []
    for _ in range(STEPS):
        slopes, values = loss.slope(f, y), loss.value(f, y)
        scores = [score(i, f[i], np.atleast_1d(slopes[i]), np.sum(values[i]), gram[i, i]) for i in range(len(y))]
        pack = sorted(sorted(range(len(y)), key=lambda i: -scores[i])[:k])
        f = f - RATE / k * sum(np.multiply.outer(gram[:, i], slopes[i]) for i in pack)
        shown.append(pack)
    return np.array(shown), f


def surrogate_by_hand(case, difficulty):
    loss, y, reference = as_loss(loss_named(case)), LABELS[case], REFERENCES[case]
    known = loss.value(reference, y)

    def score(i, f, g, value, K):
        first = RATE**2 * np.sum(g**2) * K if difficulty else 0.0
        return -(first - 2 * RATE * (value - np.sum(known[i])))

    return score


def check_equal(case, teacher, k, score, engines=("auto", "reference")):
    shown, f = give(case, k, score)
    assert len(np.unique(shown)) > 5
    learner = nimt.KernelLearner(nimt.rbf(WIDTH), loss=loss_named(case), learning_rate=RATE)
    for engine in engines:
        rules = {"max_iterations": STEPS, "tol": None, "engine": engine}
        lesson = nimt.teach(learner, teacher, POINTS, LABELS[case], **rules)
        assert (lesson.engine == "reference") == (engine == "reference")
        np.testing.assert_array_equal(np.sort(lesson.indices, axis=1), shown)
        np.testing.assert_allclose(lesson.final, f, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("difficulty", [True, False])
@pytest.mark.parametrize("case", LABELS)
@pytest.mark.sampled(3)
def test_the_surrogate_rule_is_that_of_a_plain_loop(case, difficulty, k):
    teacher = nimt.SurrogateTeacher(
        reference=REFERENCES[case], loss=loss_named(case), k=k, difficulty=difficulty, learning_rate=RATE
    )
    check_equal(case, teacher, k, surrogate_by_hand(case, difficulty))


@pytest.mark.parametrize("difficulty", [True, False])
def test_the_surrogate_teacher_keeps_the_contract(difficulty):
    x = nimt.Grid(np.linspace(-2, 2, 24))
    reference = np.cos(x.points[:, 0]) + 0.1
    for options in ({}, {"k": 3}, {"k": 0.2, "look": nimt.schedules.every(3)}):
        testing.check_teacher(nimt.SurrogateTeacher(reference=reference, difficulty=difficulty, **options), x)


def test_a_limited_pool_and_schedules_are_the_same_on_every_engine():
    learner = nimt.KernelLearner(nimt.rbf(WIDTH), learning_rate=RATE)
    common = {"reference": TRUTH, "learning_rate": RATE}
    for options in ({"pool": 0.5}, {"pool": np.arange(3, 60)}, {"k": nimt.schedules.steps(1, 6, stages=3)}):
        teacher = nimt.SurrogateTeacher(**common, **options)
        fast, plain = (
            nimt.teach(learner, teacher, POINTS, LABELS["square"], max_iterations=30, tol=None, engine=engine)
            for engine in ("auto", "reference")
        )
        assert fast.engine != "reference"
        assert all(np.array_equal(one, other) for one, other in zip(fast.indices, plain.indices, strict=True))


class Counting:
    calls = 0

    def predict(self, X):
        self.calls += 1
        return np.sin(2 * X[:, 0]) + X[:, 1]


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_a_reference_is_asked_once(engine):
    learner, asked = nimt.KernelLearner(nimt.rbf(WIDTH), learning_rate=RATE), Counting()
    options = {"max_iterations": 20, "tol": None, "engine": engine}
    lesson = nimt.teach(learner, nimt.SurrogateTeacher(reference=asked), POINTS, LABELS["square"], **options)
    assert asked.calls == 1
    same = nimt.teach(learner, nimt.SurrogateTeacher(reference=TRUTH), POINTS, LABELS["square"], **options)
    np.testing.assert_array_equal(lesson.indices, same.indices)


def test_forms_of_a_reference_of_numbers_agree():
    y = LABELS["square"]
    model = Ridge().fit(POINTS, y)
    made = nimt.reference(POINTS, y, model=Ridge(), classes=False)
    learner = nimt.KernelLearner(nimt.rbf(WIDTH), learning_rate=RATE)
    forms = [model, model.predict, model.predict(POINTS), made]
    lessons = [nimt.teach(learner, nimt.SurrogateTeacher(form), POINTS, y, max_iterations=20) for form in forms]
    for lesson in lessons[1:]:
        np.testing.assert_array_equal(lesson.indices, lessons[0].indices)


def test_a_reference_out_of_fold_answers_by_what_it_stored():
    y = LABELS["square"]
    made = nimt.reference(POINTS, y, model=Ridge(), out_of_fold=True, classes=False)
    assert not np.allclose(made.labels, made.predict(POINTS))
    learner = nimt.KernelLearner(nimt.rbf(WIDTH), learning_rate=RATE)
    stored, again = (
        nimt.teach(learner, nimt.SurrogateTeacher(form), POINTS, y, max_iterations=20) for form in (made, made.labels)
    )
    np.testing.assert_array_equal(stored.indices, again.indices)


@pytest.mark.parametrize("words", [False, True])
def test_a_classifier_is_asked_for_its_shares_which_become_logits(words):
    names = np.array(["a", "b", "c"])[CLASSES] if words else CLASSES
    model = LogisticRegression().fit(POINTS, names)
    made = nimt.reference(POINTS, names, model=LogisticRegression())
    logits = np.log(model.predict_proba(POINTS))
    learner = nimt.KernelLearner(nimt.rbf(WIDTH), loss="crossentropy", learning_rate=RATE)
    lessons = [
        nimt.teach(
            learner, nimt.SurrogateTeacher(form, "crossentropy"), POINTS, LABELS["crossentropy"], max_iterations=20
        )
        for form in (logits, model, made)
    ]
    for lesson in lessons[1:]:
        np.testing.assert_array_equal(lesson.indices, lessons[0].indices)


def test_numbers_of_classes_keep_wrong_labels_away():
    learner = nimt.KernelLearner(nimt.rbf(WIDTH), loss="crossentropy", learning_rate=RATE)
    for form in (CLASSES, SVC(C=1e6).fit(POINTS, CLASSES)):
        teacher = nimt.SurrogateTeacher(form, "crossentropy", difficulty=False)
        lesson = nimt.teach(learner, teacher, POINTS, LABELS["crossentropy"], max_iterations=60, tol=None)
        assert lesson.picks[WRONG].sum() == 0
    greedy = nimt.GreedyTeacher(score="loss", loss="crossentropy")
    assert nimt.teach(learner, greedy, POINTS, LABELS["crossentropy"], max_iterations=60).picks[WRONG].sum() > 6


def test_a_classifier_under_the_logistic_loss_is_asked_for_log_odds():
    signs = np.where(TRUTH > 0, 1.0, -1.0)
    model = LogisticRegression().fit(POINTS, signs)
    learner = nimt.KernelLearner(nimt.rbf(WIDTH), loss="logistic", learning_rate=RATE)
    lessons = [
        nimt.teach(learner, nimt.SurrogateTeacher(form, "logistic"), POINTS, LABELS["logistic"], max_iterations=20)
        for form in (model, model.decision_function(POINTS))
    ]
    np.testing.assert_array_equal(lessons[0].indices, lessons[1].indices)


@pytest.mark.parametrize("engine", ["auto", "reference"])
@pytest.mark.parametrize("look", [None, nimt.schedules.every(4)])
def test_a_lesson_stops_and_goes_on_bit_by_bit(tmp_path, engine, look):
    learner = nimt.KernelLearner(nimt.rbf(WIDTH), learning_rate=RATE)
    teacher = nimt.SurrogateTeacher(lambda x: np.sin(2 * x[:, 0]) + x[:, 1], learning_rate=RATE, k=2, look=look)
    rules = {"tol": None, "engine": engine}
    nimt.teach(learner, teacher, POINTS, LABELS["square"], max_iterations=15, checkpoint=tmp_path / "half", **rules)
    whole = nimt.resume(tmp_path / "half", max_iterations=40)
    never = nimt.teach(learner, teacher, POINTS, LABELS["square"], max_iterations=40, **rules)
    np.testing.assert_array_equal(whole.indices, never.indices)
    np.testing.assert_array_equal(whole.final, never.final)
    never.save(tmp_path / "lesson.npz")
    assert nimt.Lesson.load(tmp_path / "lesson.npz").settings["teacher"]["type"] == "SurrogateTeacher"


def test_a_box_takes_a_reference_that_is_a_function():
    box = nimt.Box((-2, 2))
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
    teacher = nimt.SurrogateTeacher(lambda x: np.sin(x[:, 0]))
    lesson = nimt.teach(learner, teacher, box, lambda x: np.sin(x[:, 0]), max_iterations=20, tol=None)
    assert lesson.discrepancy[-1] < lesson.discrepancy[0]
    known = nimt.SurrogateTeacher(np.zeros(len(box.grid)))
    with pytest.raises(nimt.InvalidInput, match="give it as a function of x"):
        nimt.teach(learner, known, box, lambda x: np.sin(x[:, 0]), max_iterations=20, tol=None)


class Module:
    """As a module of PyTorch that is given an array."""

    def __call__(self, inputs):
        return self.forward(inputs)

    def forward(self, inputs):
        raise TypeError("linear(): argument 'input' (position 1) must be Tensor, not numpy.ndarray")


def teach_by(teacher, y=LABELS["square"]):
    return nimt.teach(nimt.KernelLearner(nimt.rbf(WIDTH), learning_rate=0.1), teacher, POINTS, y, max_iterations=2)


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        (np.where(np.arange(70) == 3, np.nan, TRUTH), "the reference has nan at index"),
        (lambda x: np.full(len(x), np.nan), "what the reference returned has nan at index"),
        (TRUTH[:-1], r"the reference has shape \(69,\) and the pool 70 points"),
        (np.zeros((70, 2)), "the reference has 2 outputs where 1 is needed"),
        (Ridge(), "the reference Ridge is not fitted: fit it first"),
        (LogisticRegression(), "the reference LogisticRegression is not fitted: fit it first"),
        (lambda x: 1 / 0, "the reference raised ZeroDivisionError"),
        (Module(), r"the reference Module is a module, .* give nimt.reference\(X, y, model=...\) of it"),
    ],
)
def test_bad_references_get_a_sentence(reference, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence) as found:
        teach_by(nimt.SurrogateTeacher(reference))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        (np.full(70, 7), "numbers of columns from 0 to 2"),
        (np.zeros((70, 4)), "the reference has 4 outputs where 3 are needed"),
        (LogisticRegression(), "the reference LogisticRegression is not fitted: fit it first"),
        (LogisticRegression().fit(POINTS, CLASSES > 0), "tells the shares of 2 classes"),
    ],
)
def test_bad_references_of_classes_get_a_sentence(reference, sentence):
    learner = nimt.KernelLearner(nimt.rbf(WIDTH), loss="crossentropy", learning_rate=0.1)
    with pytest.raises(nimt.InvalidInput, match=sentence):
        nimt.teach(learner, nimt.SurrogateTeacher(reference, "crossentropy"), POINTS, LABELS["crossentropy"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"reference": "auto"}, "must be an array, a function of x, a fitted estimator or a nimt.reference"),
        ({"reference": 5}, "must be an array, a function of x, a fitted estimator or a nimt.reference, got 5"),
        ({"reference": TRUTH, "difficulty": 1}, "difficulty must be True or False"),
        ({"reference": TRUTH, "learning_rate": -1}, "learning_rate must be a positive number"),
        ({"reference": TRUTH, "learning_rate": abs}, "learning_rate must be a number or 'auto', got a callable"),
        ({"reference": TRUTH, "loss": "cube"}, "loss must be one of"),
        ({"reference": TRUTH, "difficulty": False, "kernel": nimt.rbf(1.0)}, "used by difficulty=True only"),
        ({"reference": TRUTH, "k": 0}, "k must be"),
    ],
)
def test_bad_options_get_a_sentence(options, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        nimt.SurrogateTeacher(**options)


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_the_target_is_the_reference_by_default(engine):
    learner = nimt.KernelLearner(nimt.rbf(WIDTH), learning_rate=0.1)
    rules = {"max_iterations": 60, "tol": None, "engine": engine}
    plain = nimt.teach(learner, nimt.SurrogateTeacher(), POINTS, TRUTH, **rules)
    told = nimt.teach(learner, nimt.SurrogateTeacher(np.array(TRUTH)), POINTS, TRUTH, **rules)
    np.testing.assert_array_equal(plain.indices, told.indices)
    f, gram = np.zeros(len(POINTS)), nimt.rbf(WIDTH)(POINTS)
    for shown in plain.indices[:20, 0]:
        scores = (f - TRUTH) ** 2 - 0.05 * (2 * (f - TRUTH)) ** 2
        assert scores[shown] >= scores.max() - 1e-12
        f = f - 0.1 * 2 * (f[shown] - TRUTH[shown]) * gram[:, shown]


def test_a_reference_of_several_outputs_is_refused_by_each_output():
    teacher = nimt.teachers.PerOutput(nimt.SurrogateTeacher(REFERENCES["several"]))
    with pytest.raises(nimt.InvalidInput, match="leave PerOutput out"):
        teach_by(teacher, LABELS["several"])


def test_a_rate_at_which_the_difficulty_outweighs_the_loss_is_told():
    for rate in (0.5, 0.6):  # at 0.5 the score is 0 everywhere
        with pytest.warns(nimt.errors.TeacherWarning, match=f"at the rate {rate} this teacher does not prefer large"):
            teach_by(nimt.SurrogateTeacher(TRUTH, learning_rate=rate))
    teach_by(nimt.SurrogateTeacher(TRUTH, learning_rate=0.6, difficulty=False))  # a warning would be an error here


def test_names():
    assert nimt.SurrogateTeacher(TRUTH, k=3).name == "surrogate-3"
    assert nimt.SurrogateTeacher(TRUTH, difficulty=False).name == "RHO-1"


# ---------------------------------------------------------------- the omniscient teacher


def omniscient_by_hand(case, knows_target=False):
    reference = LABELS[case] if knows_target else REFERENCES[case]

    def score(i, f, g, value, K):
        return -(RATE**2 * np.sum(g**2) * K - 2 * RATE * np.sum(g * (f - reference[i])))

    return score


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("case", LABELS)
def test_the_omniscient_rule_is_that_of_a_plain_loop(case, k):
    known = {"kernel": nimt.rbf(WIDTH), "learning_rate": RATE, "loss": loss_named(case), "k": k}
    teacher = nimt.OmniscientTeacher(reference=REFERENCES[case], **known)
    check_equal(case, teacher, k, omniscient_by_hand(case))
    if case == "huber":
        check_equal(case, nimt.OmniscientTeacher(**known), k, omniscient_by_hand(case, knows_target=True))


def test_each_step_shown_brings_the_learner_nearer_in_the_norm_of_its_space():
    """|f - f*|^2 in H after a step at each point, computed from the coefficients: the point shown has the smallest."""
    kernel = nimt.rbf(WIDTH)
    gram = kernel(POINTS)
    wanted = rng.normal(size=70)
    y, truth = np.where(gram @ wanted > 0, 1.0, -1.0), gram @ wanted
    loss, coefficients, f = as_loss("logistic"), np.zeros(70), np.zeros(70)
    learner = nimt.KernelLearner(kernel, loss="logistic", learning_rate=RATE)
    teacher = nimt.OmniscientTeacher(kernel, RATE, "logistic", reference=truth)
    lesson = nimt.teach(learner, teacher, POINTS, y, max_iterations=25, tol=None)
    for t in range(25):
        distances = []
        for i in range(70):
            after = coefficients - wanted
            after[i] -= RATE * loss.slope(f, y)[i]
            distances.append(after @ gram @ after)
        assert lesson.indices[t, 0] == int(np.argmin(distances))
        coefficients[lesson.indices[t, 0]] -= RATE * loss.slope(f, y)[lesson.indices[t, 0]]
        f = gram @ coefficients


def test_the_omniscient_teacher_keeps_the_contract():
    x = nimt.Grid(np.linspace(-2, 2, 24))
    reference = np.cos(x.points[:, 0]) + 0.1
    for options in ({}, {"k": 3, "reference": reference}, {"k": 0.2, "look": nimt.schedules.every(3)}):
        testing.check_teacher(nimt.OmniscientTeacher(nimt.rbf(0.4), **options), x)


def test_an_omniscient_lesson_stops_and_goes_on_bit_by_bit(tmp_path):
    learner = nimt.KernelLearner(nimt.rbf(WIDTH), loss="logistic", learning_rate=RATE)
    teacher = nimt.OmniscientTeacher(nimt.rbf(WIDTH), RATE, "logistic", reference=lambda x: 3 * x[:, 1])
    y = LABELS["logistic"]
    nimt.teach(learner, teacher, POINTS, y, max_iterations=15, tol=None, checkpoint=tmp_path / "half")
    whole = nimt.resume(tmp_path / "half", max_iterations=40)
    never = nimt.teach(learner, teacher, POINTS, y, max_iterations=40, tol=None)
    np.testing.assert_array_equal(whole.indices, never.indices)
    np.testing.assert_array_equal(whole.final, never.final)


def test_an_omniscient_teacher_says_what_it_needs():
    pool = nimt.Grid(np.arange(4.0))
    view = nimt.teachers.View(0, pool, np.zeros(4), np.ones(4), np.random.default_rng(0), None, np.arange(4))
    with pytest.raises(nimt.InvalidInput, match="sees the learner's kernel, and this view has none: give kernel="):
        nimt.OmniscientTeacher().select(view)
    with pytest.warns(nimt.errors.TeacherWarning, match="at the rate 1.2 a step overshoots so far"):
        teach_by(nimt.OmniscientTeacher(nimt.rbf(WIDTH), 1.2))
    assert nimt.OmniscientTeacher(nimt.rbf(WIDTH), k=2).name == "omniscient-2"


def test_an_omniscient_teacher_of_the_program_sees_the_learner(tmp_path):
    from nimt.recipe.recipe import Recipe
    from nimt.sources.problem import Problem

    problem = Problem(nimt.Grid(np.linspace(-1, 1, 20)), np.linspace(-1, 1, 20), np.zeros(20))
    recipe = Recipe(target="gmm", teacher="omniscient", learning_rate="0.03", loss="huber", width=0.3)
    teacher = recipe.task(problem).teacher
    assert teacher.learning_rate == 0.03 and teacher.loss == "huber" and teacher.kernel == nimt.rbf(0.3)


@pytest.mark.data
def test_the_published_lesson_on_moons_comes_out():
    """Logistic regression with bias as a linear kernel; |w - w*|^2 at steps 0, 10, 100 and 1,000, and all between."""
    folder = Path(os.environ.get("NIMT_DATA") or "nowhere")
    if not (folder / "imt-moons.npz").exists():
        pytest.skip("needs imt-moons.npz: set NIMT_DATA to the folder it is in")
    data = np.load(folder / "imt-moons.npz")
    x, y, start, target = data["x"], np.where(data["y"] > 0, 1.0, -1.0), data["w_start"], data["w_target"]
    ones = np.column_stack([x, np.ones(len(x))])
    kernel = nimt.linear(1.0)
    learner = nimt.KernelLearner(kernel, loss="logistic", learning_rate=0.01, initial=ones @ start)
    teacher = nimt.OmniscientTeacher(kernel, 0.01, "logistic", reference=ones @ target)
    lesson = nimt.teach(learner, teacher, x, y, max_iterations=1000, tol=None)
    w, distances = start, [np.sum((start - target) ** 2)]
    for i in lesson.indices[:, 0]:
        w = w + 0.01 * y[i] / (1 + np.exp(y[i] * ones[i] @ w)) * ones[i]
        distances.append(np.sum((w - target) ** 2))
    np.testing.assert_allclose(np.array(distances)[[0, 10, 100, 1000]], [10.186, 8.857, 3.612, 1.314], atol=5e-4)
    np.testing.assert_allclose(distances, data["published_IMT"], atol=1e-5)


@pytest.mark.slow
def test_digits_with_wrong_labels_are_learned_from_right_ones():
    """Kernel learner, one label in ten wrong: accuracy on digits kept apart, wrong labels shown, after 80 and 320."""
    pixels, classes = load_digits(return_X_y=True)
    found = {"greedy": [], "f*": [], "other half": [], "agrees": []}
    for seed in (0, 1):
        X, kept, truth, names = train_test_split(
            pixels / 16, classes, test_size=450, random_state=seed, stratify=classes
        )
        draw = np.random.default_rng(seed)
        wrong = np.zeros(len(X), dtype=bool)
        wrong[draw.choice(len(X), len(X) // 10, replace=False)] = True
        y = np.where(wrong, (truth + draw.integers(1, 10, len(X))) % 10, truth)
        model = SVC(C=10)
        halves = nimt.reference(X, y, model=model, folds=2, out_of_fold=True)  # no true label is known to it
        told = {"loss": "crossentropy", "learning_rate": 0.7}
        by_loss = {"score": "loss", "loss": "crossentropy"}
        teachers = {
            "greedy": nimt.GreedyTeacher(**by_loss),
            "f*": nimt.SurrogateTeacher(model.fit(X, truth), **told),
            "other half": nimt.SurrogateTeacher(halves, **told),
            "agrees": nimt.GreedyTeacher(**by_loss, reference=halves, where="agrees"),
        }
        learner = nimt.KernelLearner(nimt.rbf(2.0), loss="crossentropy", learning_rate=0.7)
        for name, teacher in teachers.items():
            for shown in (80, 320):
                lesson = nimt.teach(learner, teacher, X, nimt.classes.one_hot(y), max_iterations=shown, tol=None)
                right = np.mean(lesson.learner.predict(kept).argmax(axis=1) == names)
                found[name].append((right, int(lesson.picks[wrong].sum())))
    means = {name: np.mean(np.reshape(rows, (2, 2, 2)), axis=0) for name, rows in found.items()}
    assert means["greedy"][0, 0] < 0.5 and means["greedy"][0, 1] > 45
    assert means["f*"][0, 0] > 0.95 and means["f*"][1, 0] > 0.98 and means["f*"][:, 1].max() == 0
    assert means["other half"][0, 0] > 0.945 and means["other half"][0, 1] <= 2
    assert means["agrees"][0, 0] > 0.9 and means["agrees"][0, 1] <= 2
