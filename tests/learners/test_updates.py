"""Momentum, decay, forgetting, budgets and averaging of a `KernelLearner`, against plain loops over functions."""

import itertools

import numpy as np
import pytest

import nimt
from nimt import testing

pytestmark = pytest.mark.long

rng = np.random.default_rng(5)
POINTS = rng.uniform(-2, 2, (40, 2))
OTHERS = rng.uniform(-2, 2, (7, 2))
KERNEL = 1.5 * nimt.rbf(0.8)
ONE = np.sin(POINTS[:, 0]) + 0.3 * POINTS[:, 1]
TWO = np.column_stack([ONE, np.cos(POINTS[:, 1])])
PARTS = [
    {"momentum": 0.8},
    {"momentum": 0.6, "nesterov": True},
    {"decay": 0.3},
    {"forgetting": 0.02},
    {"budget": 9},
    {"averaging": True},
    {"averaging": 0.9},
    {"momentum": 0.5, "decay": 0.2, "forgetting": 0.01},
    {"momentum": 0.5, "nesterov": True, "decay": 0.2, "averaging": 0.8, "budget": 12},
]
STEPS = 60


def start(x):
    return 0.2 + 0.1 * x[:, 0]


def start_of_two(x):
    return np.column_stack([start(x), start(x)])


def make(parts, y):
    return nimt.KernelLearner(KERNEL, learning_rate=0.05, initial=start if y.ndim == 1 else start_of_two, **parts)


def follow(lesson, y, rate, parts):
    """Take the steps of a lesson again: every function is its values at all points and others, by the definition."""
    everywhere = np.concatenate([POINTS, OTHERS])
    gram = KERNEL(everywhere, POINTS)
    first = start(everywhere) if y.ndim == 1 else start_of_two(everywhere)
    mu, decay, forgetting = (parts.get(name, 0.0) for name in ("momentum", "decay", "forgetting"))
    f, v, g = first.copy(), np.zeros_like(first), first.copy()
    coefficients = {name: np.zeros_like(y) for name in "fvg"}
    centres, discrepancy = set(), [np.sqrt(np.sum((first[:40] - y) ** 2)) / 40]
    for t in range(len(lesson)):
        indices, labels = lesson.pack(t)
        ahead = f + mu * v if parts.get("nesterov") else f
        own = dict(coefficients)
        c_ahead = own["f"] + mu * own["v"] if parts.get("nesterov") else own["f"]
        v = mu * v - rate * decay * ahead
        own["v"] = mu * own["v"] - rate * decay * c_ahead
        for index, label in zip(indices, labels, strict=True):
            move = -rate / len(indices) * 2 * (ahead[index] - label)
            v = v + np.multiply.outer(gram[:, index], move)
            own["v"][index] += move
            centres.add(int(index))
        f, own["f"] = (1 - forgetting) * f + v, (1 - forgetting) * own["f"] + own["v"]
        while len(centres) > parts.get("budget", np.inf):
            size = {
                j: np.sqrt(np.sum(own["f"][j] ** 2) * KERNEL.diag(POINTS)[j]) for j in centres - set(indices.tolist())
            }
            gone = min(sorted(size), key=lambda j: size[j])
            centres.remove(gone)
            f = f - np.multiply.outer(gram[:, gone], own["f"][gone])
            v = v - np.multiply.outer(gram[:, gone], own["v"][gone])
            g = g - np.multiply.outer(gram[:, gone], own["g"][gone])
            for part in own.values():
                part[gone] = 0.0
        share = parts.get("averaging", False)
        weight = 1 / (t + 1) if share is True else 1 - share if share else 1.0
        g, own["g"] = g + weight * (f - g), own["g"] + weight * (own["f"] - own["g"])
        coefficients = own
        discrepancy.append(np.sqrt(np.sum((g[:40] - y) ** 2)) / 40)
    return np.array(discrepancy), g, centres


def teach(parts, y=ONE, k=1, **options):
    rules = {"max_iterations": STEPS, "tol": None} | options
    return nimt.teach(make(parts, y), nimt.GreedyTeacher(k=k), POINTS, y, **rules)


@pytest.mark.parametrize(("y", "k"), [(ONE, 1), (TWO, 3)])
@pytest.mark.parametrize("parts", PARTS, ids=lambda parts: "-".join(parts))
def test_a_lesson_is_what_the_formulas_say(parts, y, k):
    lesson = teach(parts, y, k)
    discrepancy, answers, centres = follow(lesson, y, 0.05, parts)
    np.testing.assert_allclose(lesson.discrepancy, discrepancy, rtol=1e-11)
    np.testing.assert_allclose(lesson.final, answers[:40], atol=1e-12)
    np.testing.assert_allclose(lesson.taught.predict(OTHERS), answers[40:], atol=1e-12)
    assert len(lesson.taught.centers_) == len(centres) <= parts.get("budget", 40)
    # greedy on what it answers
    sizes = np.abs(start(POINTS) - ONE) if y.ndim == 1 else np.linalg.norm(start(POINTS)[:, None] - TWO, axis=1)
    assert set(lesson.indices[0]) == set(np.argsort(-sizes, kind="stable")[:k])


@pytest.mark.parametrize("parts", PARTS, ids=lambda parts: "-".join(parts))
def test_partial_fit_takes_the_same_steps(parts):
    lesson = teach(parts, TWO, 2)
    learner = make(parts, TWO)
    for t in range(len(lesson)):
        indices, labels = lesson.pack(t)
        learner.partial_fit(POINTS[indices], labels)
    np.testing.assert_allclose(learner.predict(OTHERS), lesson.taught.predict(OTHERS), atol=1e-12)


@pytest.mark.parametrize("parts", [part for part in PARTS if "budget" not in part], ids=lambda parts: "-".join(parts))
def test_a_lesson_in_two_halves_is_one_lesson(parts, tmp_path):
    whole = teach(parts)
    half = teach(parts, max_iterations=25)
    again = nimt.teach(half.taught, nimt.GreedyTeacher(), POINTS, ONE, max_iterations=STEPS - 25, tol=None)
    np.testing.assert_allclose(again.final, whole.final, atol=1e-12)
    np.testing.assert_allclose(again.taught.predict(OTHERS), whole.taught.predict(OTHERS), atol=1e-12)


@pytest.mark.parametrize("parts", PARTS, ids=lambda parts: "-".join(parts))
def test_saved_and_resumed_bit_by_bit(parts, tmp_path):
    whole = teach(parts, TWO, 2)
    teach(parts, TWO, 2, max_iterations=20, checkpoint=tmp_path / "half")
    resumed = nimt.resume(tmp_path / "half", max_iterations=STEPS)
    np.testing.assert_array_equal(resumed.indices, whole.indices)
    np.testing.assert_array_equal(resumed.final, whole.final)
    resumed.save(tmp_path / "lesson.npz")
    loaded = nimt.Lesson.load(tmp_path / "lesson.npz")
    np.testing.assert_array_equal(loaded.taught.predict(POINTS), resumed.taught.predict(POINTS))
    for name, value in parts.items():
        assert getattr(loaded.taught, name) == value


def test_plain_parameters_change_nothing():
    plain = teach({})
    zero = teach({"momentum": 0.0, "decay": 0, "forgetting": 0.0, "budget": None, "averaging": 0.0})
    np.testing.assert_array_equal(plain.final, zero.final)
    assert plain.coefficients is not None and teach({"momentum": 0.5}).coefficients is None


def test_every_output_can_have_examples_of_its_own():
    lesson = nimt.teach(
        nimt.KernelLearner(KERNEL, learning_rate=0.05, momentum=0.5), nimt.teachers.PerOutput(nimt.GreedyTeacher()),
        POINTS, TWO, max_iterations=30, tol=None,
    )  # fmt: skip
    single = [
        nimt.teach(
            nimt.KernelLearner(KERNEL, learning_rate=0.05, momentum=0.5), nimt.GreedyTeacher(), POINTS, column,
            max_iterations=30, tol=None,
        ).final
        for column in TWO.T
    ]  # fmt: skip
    np.testing.assert_allclose(lesson.final, np.column_stack(single), atol=1e-12)


def test_a_learner_that_rests_with_momentum_goes_on():
    """A slope of zero does not end a lesson: the velocity still moves the learner."""
    learner = nimt.KernelLearner(nimt.rbf(1.0), loss="hinge", learning_rate=0.5, momentum=0.5)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0], [1.0], max_iterations=4, tol=None)
    assert len(lesson) == 4
    np.testing.assert_allclose(lesson.final, [0.5 + 0.75 + 0.375 + 0.1875])


@pytest.mark.parametrize("parts", PARTS[:4], ids=lambda parts: "-".join(parts))
def test_the_contract_of_learners_holds(parts):
    testing.check_learner(nimt.KernelLearner(nimt.rbf(0.4), learning_rate=0.2, **parts), POINTS, ONE)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"momentum": 1.0}, "momentum must be a number from 0 to below 1, got 1.0"),
        ({"forgetting": -0.1}, "forgetting must be a number from 0 to below 1, got -0.1"),
        ({"decay": np.nan}, "decay must be a number of at least 0, got nan"),
        ({"nesterov": True}, "nesterov looks ahead along the velocity: give momentum="),
        ({"nesterov": 1, "momentum": 0.5}, "nesterov must be True or False, got 1"),
        ({"budget": 0}, "budget must be"),
        ({"averaging": 1.5}, "averaging must be a number from 0 to 1, how much of the mean stays per step"),
    ],
)
def test_bad_parameters_get_a_sentence(parts, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        nimt.KernelLearner(KERNEL, **parts)


def test_what_knows_gradient_steps_only_says_so():
    lesson = teach({"momentum": 0.5})
    with pytest.raises(nimt.InvalidInput, match="this learner has momentum="):
        nimt.theory.check(lesson)
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, forgetting=0.1)
    with pytest.raises(nimt.InvalidInput, match="this learner has forgetting="):
        nimt.shortest(learner, POINTS, ONE, tol=0.1)
    with pytest.raises(nimt.InvalidInput, match="learns on a pool, not in a Box"):
        nimt.teach(learner, nimt.GreedyTeacher(), nimt.Box((-1, 1)), np.sin, max_iterations=3)
    taught = teach({"budget": 3}).taught
    with pytest.raises(nimt.InvalidInput, match="this learner has 3 centres already"):
        nimt.teach(taught, nimt.GreedyTeacher(), POINTS, ONE, max_iterations=3)


def test_forgetting_makes_a_greedy_teacher_repeat():
    """Spaced repetition: without forgetting every point is shown once or twice, with it again and again."""
    x, y = np.arange(8.0), np.arange(1.0, 9.0)
    rules = {"max_iterations": 200, "tol": 1e-9}
    learner = nimt.KernelLearner(nimt.rbf(0.2), learning_rate=0.5)
    assert nimt.teach(learner, nimt.GreedyTeacher(), x, y, **rules).picks.max() <= 2
    forgetful = nimt.KernelLearner(nimt.rbf(0.2), learning_rate=0.5, forgetting=0.02)
    picks = nimt.teach(forgetful, nimt.GreedyTeacher(), x, y, **rules).picks
    assert picks.sum() == 200 and picks.min() >= 5 and np.all(np.diff(picks) >= 0)  # what is larger is lost sooner


@pytest.mark.parametrize(("y", "k"), [(ONE, 1), (TWO, 3)])
@pytest.mark.parametrize("parts", PARTS, ids=lambda parts: "-".join(parts))
def test_the_streamed_engine_takes_the_same_steps_bit_by_bit(parts, y, k):
    fast, plain = teach(parts, y, k), teach(parts, y, k, engine="reference")
    assert fast.engine == "streamed"
    np.testing.assert_array_equal(fast.indices, plain.indices)
    np.testing.assert_array_equal(fast.final, plain.final)
    np.testing.assert_array_equal(fast.taught.predict(OTHERS), plain.taught.predict(OTHERS))


def test_other_engines_refuse_the_part_by_name():
    x = nimt.Grid(np.arange(30.0))
    learner = nimt.KernelLearner(nimt.rbf(0.5), forgetting=0.1)
    with pytest.raises(nimt.InvalidInput, match="because the grid engine cannot update by forgetting"):
        nimt.teach(learner, nimt.GreedyTeacher(), x, np.sin, engine="grid")
    assert nimt.plan(learner, nimt.GreedyTeacher(), x, np.sin).engine == "streamed"
    decreasing = nimt.GreedyTeacher(score="decrease", kernel=nimt.rbf(0.5))
    assert nimt.plan(learner, decreasing, x, np.sin).engine == "reference"


@pytest.mark.parametrize("nesterov", [False, True])
def test_the_forecast_of_the_whole_pool_is_exact_with_momentum(nesterov):
    x = nimt.Grid(np.arange(-3, 3, 0.1))
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=1.0, momentum=0.8, nesterov=nesterov)
    teacher = nimt.GreedyTeacher(k=1.0)
    said = nimt.forecast(learner, teacher, x, np.sin, tol=2e-3)
    lesson = nimt.teach(learner, teacher, x, np.sin, tol=2e-3, max_iterations=4000)
    assert said.itd == lesson.itd and said.kind == "exact"
    np.testing.assert_allclose(said.curve.discrepancy, lesson.discrepancy[said.curve.step], rtol=1e-6)


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_diverges_where_the_forecast_says(nesterov):
    """One point with K = 1, so a = 2 eta: stable below 2 (1 + mu), over 1 + 2 mu with nesterov."""
    limit = (1 + 0.5) / (1 + 2 * 0.5 * nesterov)
    for share, reached in ((0.98, True), (1.02, False)):
        learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=share * limit, momentum=0.5, nesterov=nesterov)
        assert nimt.forecast(learner, nimt.GreedyTeacher(k=1.0), [[0.0]], [1.0], tol=1e-3).reachable == reached


@pytest.mark.parametrize(("rate", "momentum"), [(0.01, 0.5), (0.005, 0.8), (0.002, 0.9)])
def test_the_rate_law_with_momentum(rate, momentum):
    """A slope acts for 1 / (1 - mu) steps: the law of eta / (1 - mu), from mu / (1 - mu) steps later on."""
    x = nimt.Grid(np.arange(-3, 3, 0.1))
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=rate, momentum=momentum)
    said = nimt.forecast(learner, nimt.GreedyTeacher(), x, np.sin, tol=2e-3)
    itd = nimt.teach(learner, nimt.GreedyTeacher(), x, np.sin, tol=2e-3, max_iterations=20_000).itd
    assert said.kind == "scaled" and abs(said.itd / itd - 1) < 0.05
    assert said.bounds == (0, None)


FADING = [
    {"decay": 0.01},
    {"forgetting": 1e-4},
    {"decay": 0.02, "momentum": 0.5},
    {"decay": 0.01, "forgetting": 1e-4, "momentum": 0.8, "nesterov": True},
]


@pytest.mark.parametrize("parts", FADING, ids=str)
@pytest.mark.parametrize("initial", [0.0, 0.5])
def test_the_forecast_of_the_whole_pool_is_exact_for_a_learner_that_fades(parts, initial):
    x = nimt.Grid(np.arange(-3, 3, 0.1))
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.05, initial=initial, **parts)
    teacher = nimt.GreedyTeacher(k=1.0)
    rules = {"tol": 8e-3, "max_iterations": 4000}
    said, lesson = (run(learner, teacher, x, np.sin, **rules) for run in (nimt.forecast, nimt.teach))
    assert said.itd == lesson.itd and said.itd is not None and said.kind == "exact"
    np.testing.assert_allclose(said.curve.discrepancy, lesson.discrepancy[said.curve.step], rtol=1e-9)


@pytest.mark.parametrize("parts", [*FADING, {"decay": 0.3}], ids=str)
def test_a_learner_that_fades_is_left_with_what_the_forecast_says(parts):
    x = nimt.Grid(np.arange(-3, 3, 0.1))
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.2, **parts)
    said = nimt.forecast(learner, nimt.GreedyTeacher(k=1.0), x, np.sin, tol=1e-6, max_iterations=100)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(k=1.0), x, np.sin, tol=1e-6, max_iterations=120_000)
    assert not said.reachable and "it tends to a part of f*" in said.method
    np.testing.assert_allclose(said.remains, lesson.discrepancy[-1], rtol=1e-4)


@pytest.mark.parametrize("parts", FADING, ids=str)
def test_the_rate_law_of_a_learner_that_fades(parts):
    """The shorter lesson forgets as much of f on the same part of the path."""
    x = nimt.Grid(np.arange(-3, 3, 0.1))
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.005, **parts)
    said = nimt.forecast(learner, nimt.GreedyTeacher(), x, np.sin, tol=0.01)
    itd = nimt.teach(learner, nimt.GreedyTeacher(), x, np.sin, tol=0.01, max_iterations=20_000).itd
    assert said.kind == "scaled" and abs(said.itd / itd - 1) < 0.03
    assert said.bounds == (0, None)


def test_a_schedule_of_rates_keeps_the_law_with_decay_and_not_with_forgetting():
    x = nimt.Grid(np.arange(-3, 3, 0.1))
    fading = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=lambda t: 0.01 / (1 + t / 500) ** 0.5, decay=0.01)
    said = nimt.forecast(fading, nimt.GreedyTeacher(), x, np.sin, tol=0.01)
    itd = nimt.teach(fading, nimt.GreedyTeacher(), x, np.sin, tol=0.01, max_iterations=20_000).itd
    assert abs(said.itd / itd - 1) < 0.03
    forgetful = fading.set_params(decay=0.0, forgetting=0.1)
    with pytest.raises(nimt.InvalidInput, match="no forecast for forgetting and a schedule"):
        nimt.forecast(forgetful, nimt.GreedyTeacher(), x, np.sin, tol=0.01)


def test_a_point_alone_diverges_where_its_matrix_has_an_eigenvalue_beyond_1():
    """One point with K = 1: (f - f*, v) moves by a matrix of two rows, here multiplied out."""
    for rate, parts in itertools.product((0.4, 0.7, 1.0, 1.3, 1.6), [{}, *FADING, {"decay": 0.8}, {"forgetting": 0.4}]):
        learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=rate, initial=3.0, **parts)
        step = learner.update
        b, mu = 2 * rate + rate * step.decay, step.momentum
        kept = mu * (1 - b) if step.nesterov else mu
        grows = max(abs(np.linalg.eigvals([[1 - step.forgetting - b, kept], [-b, kept]]))) > 1
        said = nimt.forecast(learner, nimt.GreedyTeacher(k=1.0), [[0.0]], [1.0], tol=1e-9, max_iterations=30)
        if said.itd is None and not said.reachable:
            assert np.isinf(said.remains) == grows


@pytest.mark.parametrize("part", ["budget", "averaging"])
def test_other_parts_have_no_forecast(part):
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, **{part: {"budget": 5, "averaging": 0.1}[part]})
    with pytest.raises(nimt.InvalidInput, match=f"this learner has {part}="):
        nimt.forecast(learner, nimt.GreedyTeacher(), POINTS, ONE, tol=0.1)
    for part in ("momentum", "decay"):
        moved = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, **{part: 0.5})
        with pytest.raises(nimt.InvalidInput, match=f"random examples and a learner with {part}"):
            nimt.forecast(moved, nimt.RandomTeacher(), POINTS, ONE, tol=0.1)


def test_a_limited_pool_and_many_points_that_fade_have_no_forecast():
    fading = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, decay=0.1)
    with pytest.raises(nimt.InvalidInput, match="some of the points"):
        nimt.forecast(fading, nimt.GreedyTeacher(pool=np.array([0, 1])), POINTS, ONE, tol=1e-3)


def test_the_recipe_has_the_parts():
    from nimt.recipe.recipe import Recipe

    recipe = Recipe(target="gmm", momentum=0.5, nesterov=True, budget=7)
    learner = recipe.make_learner(nimt.Grid(np.arange(5.0)), 0.0)
    assert learner.update.parts == ("momentum", "nesterov", "budget") and "momentum = 0.5" in recipe.to_toml()
    with pytest.raises(nimt.InvalidInput, match="takes no --momentum"):
        Recipe(target="gmm", momentum=0.5, learner="orthogonal").make_learner(nimt.Grid(np.arange(5.0)), 0.0)


@pytest.mark.parametrize("outputs", [(), (2,)])
def test_a_pack_larger_than_the_budget_is_kept_whole(outputs):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, (9, 1)), rng.normal(size=(9, *outputs))
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, budget=3)
    plain, compiled = (
        nimt.teach(learner, nimt.GreedyTeacher(k=5), x, y, max_iterations=6, tol=None, engine=engine)
        for engine in ("reference", "streamed")
    )
    assert np.array_equal(plain.indices, compiled.indices)
    assert np.allclose(plain.discrepancy, compiled.discrepancy, rtol=0, atol=1e-12)
    assert np.allclose(
        learner.partial_fit(x, y).predict(x),
        nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1).partial_fit(x, y).predict(x),
    )
