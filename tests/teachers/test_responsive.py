"""The responsive teacher against a plain loop written from its formula."""

import re
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import nimt
from nimt import testing
from nimt.errors import ResponseWarning

POINTS = np.random.default_rng(5).uniform(-1, 1, (40, 2))
TARGET = np.sin(3 * POINTS[:, 0]) * POINTS[:, 1]
KERNEL = nimt.rbf(0.7)


def learner(rate=0.05, kernel=KERNEL):
    return nimt.KernelLearner(kernel, learning_rate=rate)


def plain_loop(points, target, gram, responses, p, steps, rate=0.05):
    """Return what is shown; `responses` is what the teacher takes for K, None while it reads the first three."""
    errors, shown, columns = -np.array(target, dtype=float), [], []
    for step in range(steps):
        if responses is None and step < 3:
            sizes = [0.0 if i in shown else abs(e) for i, e in enumerate(errors)]
            i = int(np.argmax(sizes))
        else:
            if responses is None:
                responses = estimate(points, shown, columns)
            lengths = [sum(response**2 for response in row) ** 0.5 for row in responses]
            taken = [
                sum(row[j] * errors[j] for j in range(len(errors))) / length
                for row, length in zip(responses, lengths, strict=True)
            ]
            scores = [abs(e) ** p * abs(t) ** (2 - p) if e * t > 0 else 0.0 for e, t in zip(errors, taken, strict=True)]
            i = int(np.argmax(scores)) if max(scores) > 0 and p < 2 else int(np.argmax(np.abs(errors)))
        after = errors - 2 * rate * errors[i] * gram[:, i]
        columns.append((errors - after) / errors[i])
        shown.append(i)
        errors = after
    return shown


def estimate(points, shown, columns):
    pairs = {}
    for i, column in zip(shown, columns, strict=True):
        for x, response in zip(points, column, strict=True):
            pairs.setdefault(round(float(np.linalg.norm(x - points[i])), 9), []).append(response)
    known = sorted(pairs)
    means = [sum(pairs[d]) / len(pairs[d]) for d in known]
    return [[np.interp(np.linalg.norm(x - z), known, means, right=0.0) for z in points] for x in points]


@pytest.mark.long
@pytest.mark.parametrize("p", [1.0, 1.25, 2.0])
@pytest.mark.parametrize("told", [True, False], ids=["white box", "gray box"])
def test_lessons_are_those_of_a_plain_loop(told, p):
    gram = KERNEL(POINTS, POINTS)
    teacher = nimt.ResponsiveTeacher(p, kernel=KERNEL if told else None)
    lesson = nimt.teach(learner(), teacher, POINTS, TARGET, max_iterations=60, tol=None)
    assert lesson.indices[:, 0].tolist() == plain_loop(POINTS, TARGET, gram, gram if told else None, p, 60)


def test_with_p_2_it_is_greedy():
    rules = {"max_iterations": 50, "tol": None}
    lessons = [
        nimt.teach(learner(), teacher, POINTS, TARGET, **rules)
        for teacher in (nimt.ResponsiveTeacher(2.0, kernel=KERNEL), nimt.GreedyTeacher())
    ]
    np.testing.assert_array_equal(lessons[0].indices, lessons[1].indices)


def plain_lengths(gram):
    """Return the length of each row; the same at every step, and most of the work of a score."""
    return [sum(value**2 for value in row) ** 0.5 for row in gram.tolist()]


def plain_scores(errors, gram, lengths, p):
    """Return the score of each point from its definition, points that are not helped below all others."""
    scores = []
    for i, error in enumerate(errors.tolist()):
        size = sum(e**2 for e in error) ** 0.5
        along = sum(e * value for e, value in zip(error, gram[i] @ errors, strict=True)) / size / lengths[i]
        scores.append(size**p * along ** (2 - p) if along > 0 else -1 / size)
    return scores


FLAT = nimt.Grid(np.arange(24.0), np.arange(20.0))
SPARSE = np.random.default_rng(3).uniform(0, 35, (900, 2))


@pytest.mark.long
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize(
    ("engine", "x", "kernel", "q", "p"),
    [
        ("grid", FLAT, nimt.rbf(0.5), 1, 1.25),
        ("grid", FLAT, nimt.rbf(0.5), 3, 1.5),
        ("streamed", FLAT, 2.0 * nimt.rbf(6.0), 3, 1.0),
        ("neighbours", SPARSE, nimt.rbf(0.8), 1, 1.25),
        ("neighbours", SPARSE, 2.0 * nimt.rbf(0.8), 3, 1.25),
        ("streamed", SPARSE, nimt.linear(0.1) + nimt.rbf(2.0), 1, 1.25),
        ("streamed", SPARSE[:60], nimt.rbf(4.0), 1, 2.0),
    ],
)
def test_compiled_engines_show_what_a_plain_loop_shows(engine, x, kernel, q, p, limited, monkeypatch, tmp_path):
    monkeypatch.setattr("nimt.engines.compiled.RENEWED", 40)
    points = x.points if isinstance(x, nimt.Grid) else x
    offered = np.flatnonzero(np.arange(len(points)) % 3 > 0) if limited else np.arange(len(points))
    y = np.random.default_rng(1).normal(size=(len(points), q))
    rate = 0.1 / float(kernel.diag(points).max())
    taught = learner(rate, kernel)
    teacher = nimt.ResponsiveTeacher(p, kernel=kernel, pool=offered if limited else None)
    rules = {"max_iterations": 90, "tol": None, "engine": engine}
    target = y if q > 1 else y[:, 0]
    lesson = nimt.teach(taught, teacher, x, target, **rules)
    assert lesson.engine == engine
    gram, errors = kernel(points, points), -y
    within = gram[np.ix_(offered, offered)]
    lengths = plain_lengths(within)
    for t in range(90):
        among = errors[offered]
        scores = plain_scores(among, within, lengths, p) if p < 2 else np.linalg.norm(among, axis=1)
        i = int(lesson.indices[t, 0])
        assert i == offered[int(np.argmax(scores))]
        errors = errors - 2 * rate * np.multiply.outer(gram[i], errors[i])
    nimt.teach(taught, teacher, x, target, **rules | {"max_iterations": 41, "checkpoint": tmp_path / "half"})
    whole = nimt.resume(tmp_path / "half", max_iterations=90)
    np.testing.assert_array_equal(whole.final, lesson.final)
    plain = nimt.teach(taught, teacher, x, target, **rules | {"engine": "reference"})
    np.testing.assert_array_equal(plain.indices, lesson.indices)


@pytest.mark.long
def test_where_all_errors_are_amid_others_of_the_other_sign_the_largest_is_shown():
    x = np.array([0.0, 0.1, 0.2])
    target = np.array([1.0, -1.6, 1.0])
    for engine in ("reference", "streamed"):
        teacher = nimt.ResponsiveTeacher(kernel=nimt.linear(1.0))  # K r is negative everywhere but at the middle
        lesson = nimt.teach(
            learner(0.1, nimt.linear(1.0)), teacher, x, np.array([3.0, -3.1, -3.0]), max_iterations=1, engine=engine
        )
        assert lesson.indices[0, 0] == 1
        lesson = nimt.teach(learner(0.1, nimt.rbf(5.0)), nimt.ResponsiveTeacher(kernel=nimt.rbf(5.0)), x, target,
                            max_iterations=1, engine=engine)  # fmt: skip
        assert lesson.indices[0, 0] in (0, 2)


def test_what_is_compiled_is_said_before():
    def plan(taught=None, **parts):
        return nimt.plan(taught or learner(), nimt.ResponsiveTeacher(**parts), POINTS, TARGET)

    for parts in ({"kernel": KERNEL}, {"kernel": KERNEL, "k": 2}, {}, {"k": 2}):
        assert plan(**parts).engine == "streamed"
        assert ("after 3 steps of the plain loop" in plan(**parts).reason) == ("kernel" not in parts)
    momentum = nimt.KernelLearner(KERNEL, learning_rate=0.05, momentum=0.5)
    assert plan(momentum).engine == "reference" and "cannot update by momentum" in plan(momentum).reason
    few = nimt.plan(learner(), nimt.ResponsiveTeacher(), POINTS[:3], TARGET[:3])
    assert few.engine == "reference" and "chooses by its own select" in few.reason


@pytest.mark.long
def test_noise_that_stops_a_greedy_lesson_does_not_stop_it():
    noisy = TARGET + 0.3 * np.random.default_rng(0).normal(size=40)
    rules = {"max_iterations": 400, "tol": None, "measure": "rms"}
    found = {
        teacher.name: nimt.teach(learner(0.01), teacher, POINTS, noisy, **rules).discrepancy[-1]
        for teacher in (nimt.ResponsiveTeacher(), nimt.GreedyTeacher(), nimt.RandomTeacher())
    }
    assert found["responsive"] < 0.95 * found["GFT-1"] < found["RFT-1"]


def test_several_outputs_are_compared_by_their_length():
    twice = np.column_stack([TARGET, TARGET])
    rules = {"max_iterations": 40, "tol": None}
    one = nimt.teach(learner(), nimt.ResponsiveTeacher(), POINTS, TARGET, **rules)
    two = nimt.teach(learner(), nimt.ResponsiveTeacher(), POINTS, twice, **rules)
    np.testing.assert_array_equal(one.indices, two.indices)


def plain_pack(errors, response, k):
    """Return the pack whose joint decrease of sum r^2 is largest, point after point, each by trying all of them."""
    chosen = []

    def decrease(pack):
        after = errors - sum(np.multiply.outer(response[i], errors[i]) for i in pack) / k
        return float((errors**2).sum() - (after**2).sum())

    for _ in range(k):
        free = [i for i in range(len(errors)) if i not in chosen]
        chosen.append(max(free, key=lambda i: decrease([*chosen, i])))
    return sorted(chosen)


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("told", [True, False], ids=["white box", "gray box"])
@pytest.mark.parametrize("engine", ["reference", "auto"])
def test_packs_are_those_of_the_largest_joint_decrease(engine, told, q):
    gram, rate, k = KERNEL(POINTS, POINTS), 0.4, 3
    target = np.column_stack([TARGET, POINTS[:, 0] ** 2])[:, :q]
    teacher = nimt.ResponsiveTeacher(kernel=KERNEL if told else None, k=k)
    rules = {"max_iterations": 15, "tol": None, "engine": engine}
    lesson = nimt.teach(learner(rate), teacher, POINTS, target if q > 1 else target[:, 0], **rules)
    errors, columns, response = -target, [], 2 * rate * gram if told else None
    for step, pack in enumerate(lesson.indices.tolist()):
        shown = [i for i in pack if i >= 0]
        if response is None and step < 3:
            sizes = np.linalg.norm(errors, axis=1)
            sizes[lesson.indices[:step, 0]] = -1.0
            assert shown == [int(np.argmax(sizes))]
        else:
            if response is None:
                response = np.array(estimate(POINTS, lesson.indices[:3, 0].tolist(), columns))
            assert shown == plain_pack(errors, response, k)
        after = errors - sum(2 * rate / len(shown) * np.multiply.outer(gram[i], errors[i]) for i in shown)
        columns.append((errors - after) @ errors[shown[0]] / (errors[shown[0]] @ errors[shown[0]]))
        errors = after


@pytest.mark.long
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize(
    ("engine", "x", "kernel", "q", "parts"),
    [
        ("grid", FLAT, nimt.rbf(0.5), 1, {}),
        ("grid", FLAT, nimt.rbf(0.5), 2, {"p": 1.5}),
        ("grid", FLAT, 2.0 * nimt.rbf(0.5), 1, {"k": 3}),
        ("grid", FLAT, nimt.rbf(0.5), 2, {"k": 3, "kernel": nimt.rbf(0.5)}),
        ("grid", FLAT, nimt.rbf(0.5), 1, {"k": 0.02, "kernel": nimt.rbf(0.45)}),
        ("neighbours", SPARSE, nimt.rbf(0.8), 3, {}),
        ("neighbours", SPARSE, nimt.rbf(0.8), 1, {"k": 4}),
        ("neighbours", SPARSE, nimt.rbf(0.8), 2, {"k": 4, "kernel": nimt.rbf(0.8)}),
        ("streamed", SPARSE, nimt.rbf(2.0), 2, {}),
        ("streamed", SPARSE, nimt.rbf(9.0), 1, {"k": 3}),
        ("streamed", SPARSE, nimt.linear(0.1) + nimt.rbf(2.0), 2, {"k": 3, "kernel": nimt.rbf(2.0)}),
    ],
)
def test_compiled_lessons_are_those_of_the_plain_loop(engine, x, kernel, q, parts, limited, monkeypatch, tmp_path):
    monkeypatch.setattr("nimt.engines.compiled.RENEWED", 40)
    points = x.points if isinstance(x, nimt.Grid) else x
    y = np.random.default_rng(1).normal(size=(len(points), q))
    taught = learner(0.2 / float(kernel.diag(points).max()), kernel)
    offered = np.flatnonzero(np.arange(len(points)) % 3 > 0) if limited else None
    rules = {"max_iterations": 100, "tol": None, "snapshots": [2, 3, 32, 70]}
    first = rules | {"max_iterations": 2, "snapshots": [2], "checkpoint": tmp_path / "half"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a kernel that is not the learner's
        given = taught, nimt.ResponsiveTeacher(**parts, pool=offered), x, y if q > 1 else y[:, 0]
        plain = nimt.teach(*given, **rules, engine="reference")
        lesson = nimt.teach(*given, **rules, engine=engine)
        nimt.teach(*given, **first, engine=engine)
        for steps in (3, 32, 45, 100):
            asked = [step for step in rules["snapshots"] if step <= steps]
            whole = nimt.resume(tmp_path / "half", max_iterations=steps, snapshots=asked)
    assert lesson.engine == engine and lesson.warnings == plain.warnings
    np.testing.assert_array_equal(lesson.indices, plain.indices)
    np.testing.assert_allclose(lesson.discrepancy, plain.discrepancy, rtol=1e-9)
    np.testing.assert_array_equal(whole.indices, lesson.indices)
    np.testing.assert_array_equal(whole.final, lesson.final)
    for step, values in plain.snapshots.items():
        np.testing.assert_allclose(lesson.snapshots[step], values, atol=1e-12)
    walk = nimt.steps(*given, **rules, engine=engine)
    assert [selection.indices.tolist() for _, selection, _ in walk] == [
        [i for i in pack if i >= 0] for pack in lesson.indices.tolist()
    ]


@dataclass(frozen=True)
class Flickering(nimt.kernels.Kernel):
    """A Gaussian whose sign changes from point to point beyond 1: its response depends on more than the distance."""

    def __call__(self, X, Y=None):
        one, two = (np.asarray(part, dtype=float).reshape(len(part), -1) for part in (X, X if Y is None else Y))
        return nimt.rbf(0.5)(one, two) * self.sign(one) * self.sign(two).T

    def sign(self, rows):
        return np.where((rows > 1) & (np.round(rows * 10) % 2 == 1), -1.0, 1.0)


@pytest.mark.parametrize("k", [1, 2])
def test_a_response_that_turns_out_wrong_later_is_said_and_it_goes_on_greedily(k, tmp_path):
    points = np.arange(-3, 5, 0.1)
    target = np.where(points > 1.5, 0.5, np.cos(points))
    given = learner(0.05, Flickering()), nimt.ResponsiveTeacher(k=k), points, target
    rules = {"max_iterations": 400, "tol": None}
    lessons = {}
    for engine in ("reference", "auto"):
        with pytest.warns(ResponseWarning, match="does not depend on the distance alone") as told:
            lessons[engine] = nimt.teach(*given, **rules, engine=engine)
        assert len(told) == 1
    assert lessons["auto"].engine == "streamed" and lessons["auto"].warnings == lessons["reference"].warnings
    np.testing.assert_array_equal(lessons["auto"].indices, lessons["reference"].indices)
    step = int(re.search(r"up to step (\d+)", lessons["auto"].warnings[0]).group(1))
    assert step > 3 and step % 32 == 0
    gram, errors, others = Flickering()(points[:, None]), -target, 0
    for at, pack in enumerate(lessons["auto"].indices.tolist()):
        shown = [i for i in pack if i >= 0]
        greedy = sorted(np.argsort(-np.abs(errors), kind="stable")[:k].tolist())
        assert at < step or shown == greedy
        others += at < step and shown != greedy
        errors = errors - 2 * 0.05 / len(shown) * sum(gram[i] * errors[i] for i in shown)
    assert others
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResponseWarning)
        nimt.teach(*given, **rules | {"max_iterations": step + 10}, checkpoint=tmp_path / "later")
        whole = nimt.resume(tmp_path / "later", max_iterations=400, allow=[Flickering])
    np.testing.assert_array_equal(whole.final, lessons["auto"].final)


def test_responses_that_do_not_depend_on_the_distance_are_said_and_it_goes_on_greedily():
    points, target = np.linspace(0.1, 2.0, 20), np.zeros(20)
    target[[0, 10, 19]] = 3.0, 2.0, 2.5
    with pytest.warns(ResponseWarning, match="does not depend on the distance alone"):
        lesson = nimt.teach(
            learner(0.05, nimt.linear(0.0)), nimt.ResponsiveTeacher(), points, target, max_iterations=30, tol=None
        )
    errors = -target
    for step, (i,) in enumerate(lesson.indices):
        assert step < 3 or i == np.argmax(np.abs(errors))
        errors = errors - 0.1 * errors[i] * points * points[i]


@pytest.mark.long
@pytest.mark.parametrize(
    "teacher",
    [nimt.ResponsiveTeacher(), nimt.ResponsiveTeacher(k=2), nimt.ResponsiveTeacher(k=2, kernel=nimt.rbf(width=0.4))],
)
def test_it_keeps_the_contract_of_teachers(teacher):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResponseWarning)
        testing.check_teacher(teacher, np.linspace(-1.7, 2.2, 24))  # where no two points are equal by symmetry


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"p": 0.5}, "from 1 to 2"),
        ({"p": 1.5, "k": 2}, "not used by packs"),
        ({"learning_rate": 0.1}, "used by packs with kernel= only"),
        ({"learning_rate": abs, "k": 2, "kernel": KERNEL}, "a callable"),
    ],
)
def test_wrong_parameters_are_refused(parts, words):
    with pytest.raises(nimt.InvalidInput, match=words):
        nimt.ResponsiveTeacher(**parts)


def test_packs_by_the_joint_decrease_need_the_square_loss():
    taught = nimt.KernelLearner(KERNEL, loss="huber", learning_rate=0.1)
    with pytest.raises(nimt.InvalidInput, match="joint decrease of a pack is of the square loss"):
        nimt.teach(taught, nimt.ResponsiveTeacher(kernel=KERNEL, k=2), POINTS, TARGET)
