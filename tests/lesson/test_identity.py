"""Results that are kept are used again for the same lesson only, and code of the user is part of what a lesson is."""

from __future__ import annotations

import dataclasses
import functools
import subprocess
import sys
import threading
import types
from pathlib import Path

import numba
import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor

import nimt
from nimt.lesson.descriptions import describe
from nimt.lesson.identity import check_identified, fingerprint
from nimt.lesson.user_code import code_mark

pytestmark = pytest.mark.long

POOL = nimt.Grid(np.linspace(-3, 3, 60))
TEMPLATE = """
from dataclasses import dataclass
import numpy as np
import nimt

class Rates:
    def __call__(self, t):
        return {number}

class Nearly(nimt.Teacher):
    def select(self, view):
        ranked = np.argsort(-abs(view.target - view.predictions))
        return view.show([ranked[{place}]])

class Further(Nearly):
    pass

@dataclass(frozen=True)
class Square:
    smoothness, lipschitz, convex = 2.0, np.inf, True
    def value(self, f, y):
        return {number} * (f - y) ** 2
    def slope(self, f, y):
        return 2 * {number} * (f - y)

class Share(nimt.measures.Measure):
    name, higher_is_better = "share", True
    def of(self, pupil, target):
        return float(np.mean(abs(pupil.values - target) < {number}))

@nimt.compiled(smoothness=2.0)
def compiled_square(f, y):
    return {number} * (f - y) ** 2, 2 * {number} * (f - y)

GAIN = {number}

def gain(t):
    return GAIN

def rate(t):
    return gain(t)

def start(x):
    return {number} * x[:, 0]

def target(x):
    return np.sin({number} * x[:, 0])
"""


def code(number=0.1, place=0):
    """Return a module of the user: the same names each time, and other code where the numbers are others."""
    module = types.ModuleType("mine")
    exec(compile(TEMPLATE.format(number=number, place=place), "mine", "exec", dont_inherit=True), vars(module))
    return module


def setting(changed, mine):
    """Return learner, teacher, place, target and options of a lesson, with one part taken from the user's module."""
    learner = {
        "learning rate": lambda: nimt.KernelLearner(nimt.rbf(0.5), learning_rate=mine.rate),
        "object as learning rate": lambda: nimt.KernelLearner(nimt.rbf(0.5), learning_rate=mine.Rates()),
        "start": lambda: nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, initial=mine.start),
        "loss": lambda: nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, loss=mine.Square()),
        "compiled loss": lambda: nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, loss=mine.compiled_square),
    }.get(changed, lambda: nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1))()
    teacher = {"teacher": mine.Nearly, "base of a teacher": mine.Further}.get(changed, nimt.GreedyTeacher)()
    in_box = changed == "target in a box"
    place = nimt.Box([(-3.0, 3.0)]) if in_box else POOL
    target = mine.target if changed == "target" or in_box else np.sin
    options = {"measure": mine.Share(), "tol": 0.9} if changed == "measure" else {"tol": 1e-2}
    return (learner, teacher, place, target), {"max_iterations": 300, "tol": None, **options}


CHANGES = (
    "learning rate", "object as learning rate", "start", "target", "target in a box", "loss", "compiled loss",
    "measure", "teacher", "base of a teacher",
)  # fmt: skip
# what is asked of one lesson is asked of sweeps and comparisons too, by the same code: two changes are enough every day
SOME = [
    pytest.param(change, marks=() if change in ("learning rate", "compiled loss") else pytest.mark.exhaustive)
    for change in CHANGES
]
OTHER = {"number": 0.4, "place": 1}


@pytest.mark.parametrize("changed", SOME)
def test_a_sweep_gives_a_lesson_again_when_code_has_changed(changed, tmp_path):
    def swept(mine):
        (learner, teacher, place, target), options = setting(changed, mine)
        return nimt.sweep((place, target), learner, teacher, seeds=1, out=tmp_path, **options).entries[0]

    before, unchanged, after = swept(code()), swept(code()), swept(code(**OTHER))
    given, options = setting(changed, code(**OTHER))
    assert after.itd == nimt.teach(*given, **options).itd
    assert unchanged == before and after.key != before.key


def test_a_folder_with_lessons_of_other_code_under_the_same_names_is_pointed_out(tmp_path):
    for number in (0.1, 0.4):
        learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=code(number).rate)
        nimt.sweep((POOL, np.sin), learner, nimt.GreedyTeacher(), seeds=1, max_iterations=5, tol=None, out=tmp_path)
        if number == 0.1:
            assert len(nimt.runs.Sweep.load(tmp_path)) == 1
    with pytest.warns(nimt.errors.StorageWarning, match="several lessons called problem, KernelLearner, GFT-1, seed 0"):
        assert len(nimt.runs.Sweep.load(tmp_path)) == 2


@pytest.mark.parametrize("changed", CHANGES)
def test_a_lesson_is_not_continued_when_code_has_changed(changed, tmp_path, every_step):
    def taught(mine, stop=None):
        given, options = setting(changed, mine)
        return nimt.teach(*given, **options, checkpoint=tmp_path / "lesson", on_existing="resume", callback=stop)

    taught(code(), lambda progress: progress.step >= 3)
    with pytest.raises(nimt.InvalidInput, match="holds another lesson, with another"):
        taught(code(**OTHER))
    given, options = setting(changed, code())
    assert taught(code()).itd == nimt.teach(*given, **options).itd


@pytest.mark.parametrize("changed", SOME)
def test_a_comparison_does_not_use_lessons_of_other_code(changed, tmp_path):
    def compared(mine):
        (learner, teacher, place, target), options = setting(changed, mine)
        return nimt.compare(learner, {"one": teacher}, place, target, seeds=1, out=tmp_path / "kept", **options)

    first = compared(code()).lessons["one"][0]
    assert compared(code()).lessons["one"][0].elapsed == first.elapsed, "it was given again"
    (learner, teacher, place, target), options = setting(changed, code(**OTHER))
    alone = nimt.teach(learner, teacher, place, target, **options)
    np.testing.assert_array_equal(compared(code(**OTHER)).lessons["one"][0].discrepancy, alone.discrepancy)
    with pytest.warns(nimt.errors.StorageWarning, match="several lessons called"):
        assert len(nimt.runs.Sweep.load(tmp_path / "kept")) == 2


@pytest.mark.parametrize("changed", [{"patience": 2}, {"stop_when_stationary": 1e-3}, {"snapshots": [3]}])
def test_a_comparison_does_not_use_lessons_of_other_rules(changed, tmp_path):
    def compared(**options):
        learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
        return nimt.compare(
            learner,
            [nimt.GreedyTeacher()],
            POOL,
            np.sin,
            max_iterations=20,
            out=tmp_path / "kept",
            **{"tol": None} | options,
        )

    compared()
    (lesson,) = compared(**changed).lessons["GFT-1"]
    assert {name: lesson.settings[name] for name in changed} == changed


def test_an_estimator_is_known_by_its_parameters_and_by_what_it_has_learned(tmp_path):
    def swept(learner):
        return nimt.sweep(
            (POOL, np.sin), learner, nimt.GreedyTeacher(), seeds=1, max_iterations=9, tol=None, out=tmp_path
        )

    fitted = SGDRegressor(alpha=1e-3, random_state=0).partial_fit([[1.0]], [2.0])
    learners = [SGDRegressor(alpha=1e-3, random_state=0), SGDRegressor(alpha=1.0, random_state=0), fitted]
    keys = [swept(learner).entries[0].key for learner in learners]
    assert len(set(keys)) == 3
    assert swept(SGDRegressor(alpha=1.0, random_state=0)).entries[0].key == keys[1]


def test_the_reason_why_a_learner_was_not_made_is_not_that_of_before(tmp_path):
    def swept(reason):
        def fails(problem):
            raise RuntimeError(reason)

        return nimt.sweep(
            (POOL, np.sin), {"made": fails}, nimt.GreedyTeacher(), max_iterations=2, tol=None, out=tmp_path
        )

    swept("no width")
    assert swept("no rate").entries[0].error.endswith("no rate")


@pytest.mark.exhaustive
def test_code_has_the_same_mark_in_every_process():
    here = Path(__file__).parent
    asked = "import test_identity as t; m = t.code(); print([t.code_mark(x) for x in (m.rate, m.Further(), m.Share())])"
    answers = {
        subprocess.run(
            [sys.executable, "-c", asked], cwd=here, env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(answers) == 1 and "None" not in answers.pop()


# what a mark sees


def made(text, **known):
    """Return `thing` as this text defines it, in a module of its own."""
    scope = {
        "__name__": "mine",
        "np": np,
        "nimt": nimt,
        "functools": functools,
        "dataclass": dataclasses.dataclass,
        **known,
    }
    exec(compile(text, "mine", "exec", dont_inherit=True), scope)
    return scope["thing"]


WITH_A_NUMBER = (
    "thing = lambda t, a=#: a",
    "thing = lambda t, *, a=#: a",
    "def f(a):\n return lambda t: a\nthing = f(#)",
    "thing = lambda t: [x for x in (1, #)]",
    "thing = lambda t: (lambda: #)()",
    "a = {'b': [#]}\nthing = lambda t: a",
    "a = np.zeros(3)\na[1] = #\nthing = lambda t: a",
    "def f(): return #\nthing = lambda t: f()",
    "thing = functools.partial(max, #)",
    "thing = functools.lru_cache(lambda t: #)",
    "thing = np.vectorize(lambda t: #)",
    "thing = np.array([1, #j])",
    "thing = np.array([#, None])",
    "thing = {'a', 'b', #}",
    "thing = np.random.default_rng(#)",
    "thing = np.random.default_rng(#).normal",
    "class A:\n b = #\nthing = A()",
    "class A:\n def b(self): return #\nthing = A().b",
    "class A:\n b = property(lambda self: #)\nthing = A()",
    "class A:\n @staticmethod\n def b(): return #\nthing = A",
    "class A:\n def b(self): return #\nclass B(A): pass\nthing = B()",
    "class A:\n pass\nthing = A()\nthing.b = #",
    "class A:\n __slots__ = ('b',)\nthing = A()\nthing.b = #",
    "class A(dict): pass\nthing = A(b=#)",
    "class A(list): pass\nthing = A([#])",
    "@dataclass\nclass A:\n b: int = #\nthing = A()",
    "thing = nimt.compiled(smoothness=#)(lambda f, y: (f, y))",
    "thing = nimt.GreedyTeacher(k=#)",
)
PAIRS = [(text.replace("#", "1"), text.replace("#", "2")) for text in WITH_A_NUMBER] + [
    ("thing = lambda t: 1", "thing = lambda t: 1.0"),
    ("thing = lambda t: 0.0", "thing = lambda t: -0.0"),
    ("thing = lambda t: t + 1", "thing = lambda t: t - 1"),
    ("thing = lambda t: np.sin(t)", "thing = lambda t: np.cos(t)"),
]


@pytest.mark.parametrize(("text", "other"), PAIRS)
def test_a_change_is_seen_and_the_same_again_is_not(text, other):
    assert code_mark(made(text)) == code_mark(made(text)) is not None
    assert code_mark(made(text)) != code_mark(made(other)) is not None


def test_a_function_of_another_module_of_the_user_is_looked_into():
    def mark(number):
        inner, helping = types.ModuleType("helping.inner"), types.ModuleType("helping")
        exec(f"def rate(t): return {number}", vars(inner))
        helping.inner = inner
        return code_mark(made("thing = lambda t: helping.inner.rate(t)", helping=helping))

    assert mark(1) == mark(1) != mark(2)


def test_a_function_that_numba_compiles_is_known_by_its_code():
    one, same, other = (numba.njit(made(f"thing = lambda t: {number}")) for number in (1.0, 1.0, 2.0))
    one(3.0)  # compiled by now, and still the same
    assert code_mark(one) == code_mark(same) != code_mark(other)


def test_what_only_moves_or_is_remembered_changes_nothing():
    text = "class A:\n @functools.cached_property\n def b(self): return 1\nthing = A()"
    asked, moved = made(text), made("\n\n# a comment\n" + text)
    assert asked.b == 1
    assert code_mark(asked) == code_mark(moved)


def test_functions_that_call_each_other_have_a_mark():
    text = "def thing(t): return other(t)\ndef other(t): return thing(t - {0})"
    assert code_mark(made(text.format(1))) == code_mark(made(text.format(1))) != code_mark(made(text.format(2)))


# what cannot be identified


def unseen():
    return {
        "a lock": made("thing = lambda t: lock", lock=threading.Lock()),
        "a ufunc of Python code": np.frompyfunc(lambda t: 0.1, 1, 1),
        "an import inside": made("def thing(t):\n import of_mine\n return of_mine.rate"),
        "a generator": made("thing = lambda t: next(numbers)", numbers=(n for n in (1, 2))),
    }


@pytest.mark.parametrize("name", unseen())
def test_what_cannot_be_identified_equals_nothing_and_is_refused(name):
    described = describe(unseen()[name])
    assert fingerprint(described) != fingerprint(described)
    with pytest.raises(nimt.InvalidInput, match=r"cannot be said whether \S+ is still the same"):
        check_identified([described])


def test_lessons_of_what_cannot_be_identified_are_given_but_not_kept(tmp_path):
    lock = threading.Lock()

    def rate(t):
        with lock:
            return 0.1

    learner, teacher = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=rate), nimt.GreedyTeacher()
    options = {"max_iterations": 5, "tol": None}
    refused = pytest.raises(nimt.InvalidInput, match=r"cannot be said whether .*rate is still the same")
    with refused:
        nimt.sweep((POOL, np.sin), learner, teacher, out=tmp_path / "out", **options)
    with refused:
        nimt.compare(learner, [teacher], POOL, np.sin, out=tmp_path / "kept", **options)
    with refused:
        nimt.teach(learner, teacher, POOL, np.sin, checkpoint=tmp_path / "one", on_existing="resume", **options)
    assert nimt.sweep((POOL, np.sin), learner, teacher, **options).entries[0].steps == 5
    assert len(nimt.compare(learner, [teacher], POOL, np.sin, **options).lessons["GFT-1"][0]) == 5
    assert len(nimt.teach(learner, teacher, POOL, np.sin, checkpoint=tmp_path / "two", **options)) == 5
