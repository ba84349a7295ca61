"""Classes of the user on the command line and in files, by package:Name or as entry points of a package."""

import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest

import nimt
from nimt import named_code
from nimt.cli.app import run
from nimt.recipe.copying import to_python
from nimt.recipe.recipe import Recipe

pytest.importorskip("starlette", reason="the studio is an extra: pip install 'nimt[studio]'")

from nimt.studio import exports, lists, requests
from nimt.studio.racer import Racer

MODULE = """
from dataclasses import dataclass
import numpy as np
import nimt
from nimt.kernels import Kernel, as_rows

@dataclass(frozen=True, eq=False)
class Careful(nimt.Teacher):
    k: int = 1
    alpha: float = 1.0
    kernel: object = None

    def select(self, view):
        scores = np.abs(view.predictions - view.target) ** self.alpha
        return view.show(np.argsort(-scores, kind="stable")[: self.k], scores)

@dataclass(frozen=True, eq=False)
class Patient(nimt.GreedyTeacher):
    alpha: float = 1.0

class First:
    def select(self, view):
        return view.show([0])

class Constant:
    def __init__(self, learning_rate=0.5, start=0.0):
        self.learning_rate, self.value = learning_rate, start

    def predict(self, X):
        return np.full(len(X), self.value)

    def partial_fit(self, X, y):
        self.value += self.learning_rate * (float(np.mean(y)) - self.value)
        return self

    def state(self):
        return {"value": np.array(self.value)}

    def restore(self, state):
        self.value = float(state["value"])

@dataclass(frozen=True)
class Exponential(Kernel):
    width: float

    def __call__(self, X, Y=None):
        return np.exp(-np.abs(as_rows(X) - as_rows(X if Y is None else Y).T) / self.width)

class Tent(Kernel):
    def __call__(self, X, Y=None):
        return np.maximum(0.0, 1.0 - np.abs(as_rows(X) - as_rows(X if Y is None else Y).T))

@dataclass(frozen=True)
class Doubled(nimt.losses.Square):
    def value(self, predictions, labels):
        return 2 * super().value(predictions, labels)

    def slope(self, predictions, labels):
        return 2 * super().slope(predictions, labels)

    smoothness = 4.0

class Worst(nimt.measures.Measure):
    name = "worst"

    def of(self, pupil, target):
        return float(np.abs(pupil.values - target).max())

class Forgetful:
    def predict(self, X):
        return np.zeros(len(X))

    def partial_fit(self, X, y):
        return self

class Unfinished(nimt.losses.Loss):
    def value(self, f, y):
        return (f - y) ** 2

    def slope(self, f, y):
        return 2 * (f - y)

raised = object()
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(named_code, "_allowed", set())
    (tmp_path / "my_code.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "broken_code.py").write_text("1 / 0", encoding="utf-8")
    yield
    for name in ("my_code", "broken_code"):
        sys.modules.pop(name, None)


def teach(*options, out="run"):
    return run(["teach", "sine", "-n", "30", "--tol", "0", "--figures", "none", "--quiet", "--out", out, *options])


def lesson_of(out="run"):
    return nimt.Lesson.load(f"{out}/lesson.npz")


def test_a_teacher_of_the_user_gets_its_options_and_what_it_asks_for():
    assert teach("--teacher", "my_code:Careful", "--teacher-option", "alpha=3", "--teacher-option", "k=2") == 0
    lesson = lesson_of()
    assert lesson.indices.shape == (30, 2)
    first = np.argsort(-np.abs(lesson.target), kind="stable")[:2]
    np.testing.assert_array_equal(lesson.indices[0], first)
    recipe = Recipe(target="sine", teacher="my_code:Careful(alpha=3)", k="2")
    made = recipe.make_teacher(recipe.problem())
    assert (made.alpha, made.k, made.kernel) == (3, 2, nimt.rbf(0.5))


def test_a_subclass_of_a_teacher_of_nimt_is_told_what_it_uses_and_no_more():
    assert teach("--teacher", "my_code:Patient", "--teacher-option", "alpha=3", "-k", "2") == 0
    assert lesson_of().indices.shape == (30, 2)
    assert teach("--teacher", "my_code:Patient(score='decrease')", out="told") == 0
    assert lesson_of("told").access == "white box"


def test_a_learner_without_a_state_gets_a_sentence_for_the_shell(capsys):
    assert teach("--learner", "my_code:Forgetful") == 2
    said = capsys.readouterr().err
    assert "give it state() and restore(state)" in said and "checkpoint=" not in said


def test_a_loss_without_smoothness_gets_a_sentence(capsys):
    assert teach("--loss", "my_code:Unfinished") == 2
    assert "a loss needs smoothness, a number" in capsys.readouterr().err


def test_a_teacher_of_nimt_gets_its_options():
    assert teach("--teacher", "random", "-k", "50", "--teacher-option", "never_twice=true") == 0
    lesson = lesson_of()
    assert lesson.outcome is nimt.lesson.Outcome.ALL_SHOWN and [int(sum(row >= 0)) for row in lesson.indices] == [
        50,
        50,
        20,
    ]


def test_kernel_loss_measure_and_learner_of_the_user():
    named = "--kernel", "my_code:Exponential(width=2.0)", "--loss", "my_code:Doubled", "--measure", "my_code:Worst"
    assert teach(*named, "--learning-rate", "0.1", "--teacher", "my_code:First") == 0
    lesson = lesson_of()
    gram = sys.modules["my_code"].Exponential(2.0)(lesson.pool.points)
    f = np.zeros(len(lesson.target))
    for step in range(30):
        assert lesson.discrepancy[step] == pytest.approx(np.abs(f - lesson.target).max())
        f = f - 0.1 * 4 * (f[0] - lesson.target[0]) * gram[:, 0]
    assert teach("--learner", "my_code:Constant(start=2.0)", "--learning-rate", "0.25", out="other") == 0
    assert lesson_of("other").discrepancy[0] > lesson_of("other").discrepancy[-1]


def test_a_comparison_names_them_among_others(capsys):
    named = "greedy:1,my_code:Careful(alpha=2.0):2,my_code:First"
    assert run(["compare", "sine", "--teachers", named, "-n", "20", "--out", "out"]) == 0
    printed = capsys.readouterr().out
    assert "Careful" in printed and "First" in printed


def test_a_file_names_code_only_if_the_user_allows_it(capsys):
    assert teach("--teacher", "my_code:Careful") == 0
    again = ["teach", "--config", "run/run.toml", "--out", "again", "--quiet", "--figures", "none"]
    assert run(again) == 2
    assert "nimt --allow my_code before the command" in capsys.readouterr().err
    assert run(["--allow", "my_code", *again]) == 0
    np.testing.assert_array_equal(lesson_of("again").indices, lesson_of().indices)
    assert run(["--allow", "my code", *again]) == 2


@pytest.mark.parametrize("setting", ['kernel = "broken_code:linear"', 'teacher = "broken_code:cosine"'])
def test_code_that_is_called_as_a_schedule_is_refused_too(setting, tmp_path, capsys):
    (tmp_path / "run.toml").write_text(f'target = "sine"\n{setting}\n', encoding="utf-8")
    assert run(["teach", "--config", "run.toml"]) == 2
    assert "names the code broken_code:" in capsys.readouterr().err
    assert "broken_code" not in sys.modules


def test_a_file_is_refused_before_its_code_is_imported(tmp_path, capsys):
    (tmp_path / "run.toml").write_text('target = "sine"\nteachers = "greedy:1,broken_code:Evil:2"\n', encoding="utf-8")
    assert run(["compare", "--config", "run.toml"]) == 2
    assert "names the code broken_code:Evil" in capsys.readouterr().err
    assert "broken_code" not in sys.modules


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--teacher", "no_such_code:X"), "--teacher names no_such_code:X, and no_such_code cannot be imported"),
        (("--teacher", "broken_code:X"), "ZeroDivisionError"),
        (("--teacher", "my_code:Nobody"), "my_code has no Nobody"),
        (("--teacher", "my_code:Careful(beta=1)"), "cannot be made"),
        (("--teacher", "my_code:Careful(1)"), "has arguments such as"),
        (("--teacher", "my_code:raised"), "select"),
        (("--teacher", "my_code:Careful", "--teacher-option", "alpha"), "must be name=value"),
        (("--teacher-option", "beta=1"), "is not for this teacher"),
        (("--kernel", "my_code:First"), "must be a kernel"),
        (("--learner", "nobody"), "must be kernel, classroom, orthogonal, or package:Name"),
    ],
)
def test_wrong_names_get_a_sentence(options, words, capsys):
    assert teach(*options) == 2
    printed = " ".join(capsys.readouterr().err.split())
    assert words in printed and "Traceback" not in printed


@pytest.fixture
def listing(monkeypatch):
    """A package that is installed, with a class of each kind."""
    kinds = {"teachers": "Careful", "learners": "Constant", "kernels": "Tent", "losses": "Doubled", "measures": "Worst"}
    listed = {
        f"nimt.{group}": [EntryPoint(name.lower(), f"my_code:{name}", f"nimt.{group}")] for group, name in kinds.items()
    }
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: listed.get(group, []))
    sys.path.append(".")
    caches = (requests.teachers, requests.learners, requests.kernels, requests.losses)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def test_a_package_lists_its_classes_as_entry_points(listing):
    assert teach("--teacher", "careful", "--teacher-option", "k=3") == 0
    assert lesson_of().indices.shape == (30, 3)
    named = "--kernel", "tent", "--loss", "doubled", "--measure", "worst", "--learning-rate", "0.1"
    assert teach(*named, out="own") == 0
    lesson = lesson_of("own")
    gram, f = sys.modules["my_code"].Tent()(lesson.pool.points), np.zeros(len(lesson.target))
    for measured in lesson.discrepancy:
        assert measured == pytest.approx(np.abs(f - lesson.target).max())
        i = np.argmax(np.abs(f - lesson.target))
        f = f - 0.1 * 4 * (f[i] - lesson.target[i]) * gram[:, i]


@pytest.mark.parametrize(
    "named", [("--teacher", "careful"), ("--learner", "constant"), ("--kernel", "tent"), ("--measure", "worst")]
)
def test_a_run_with_code_of_the_user_goes_on(named, listing):
    assert teach(*named, "-n", "60", out="whole") == 0
    assert teach(*named, out="half") == 0
    assert run(["resume", "half", "-n", "60", "--quiet"]) == 0
    np.testing.assert_array_equal(lesson_of("half").discrepancy, lesson_of("whole").discrepancy)


def test_a_learner_keeps_its_own_rate_unless_it_is_told_one(listing):
    assert teach("--learner", "constant") == 0
    assert teach("--learner", "constant", "--learning-rate", "0.5", out="told") == 0
    np.testing.assert_array_equal(lesson_of().discrepancy, lesson_of("told").discrepancy)


def test_the_program_that_is_copied_gives_the_same_lesson(capsys):
    recipe = Recipe(target="sine", teacher="my_code:Careful(alpha=2.0)", iterations=9, tol="0")
    program = to_python(recipe, recipe.problem())
    exec(program, found := {})
    np.testing.assert_array_equal(found["lesson"].indices, recipe.task(recipe.problem()).begin().run().indices)


def list_own(choices):
    own = {name for name in vars(sys.modules["my_code"]) if isinstance(vars(sys.modules["my_code"])[name], type)}
    return [name for name in choices if name.partition(":")[2] in own]


def test_the_studio_lists_what_packages_list_and_the_user_allows(listing):
    choices = lists.list_choices()
    assert {"careful", "greedy, constant learner"} <= {way["says"] for way in choices["ways"]}
    assert choices["losses"][-1] == "doubled" and choices["kernels"][-1] == "tent"
    assert "my_code" not in sys.modules
    named_code.allow(["my_code:Careful", "my_code:Worst"])
    requests.teachers.cache_clear()
    assert list_own(way["says"] for way in lists.list_choices()["ways"]) == ["my_code:Careful"]
    named_code.allow(["my_code"])
    requests.teachers.cache_clear()
    assert list_own(requests.teachers()) == ["my_code:Careful", "my_code:First", "my_code:Patient"]


def test_a_page_can_name_no_code_that_is_not_allowed():
    rules = {"kernel": "broken_code:X(width=1)"}
    for read in (
        lambda: requests.read_recipe(rules, {}),
        lambda: requests.read_recipe({}, {"teacher": "broken_code:X"}),
    ):
        with pytest.raises(nimt.InvalidInput):
            read()
    with pytest.raises(nimt.InvalidInput, match="the page names the code broken_code:linear"):
        requests.read_recipe({"kernel": "broken_code:linear"}, {})
    named_code.allow(["my_code"])
    requests.read_recipe({"kernel": "my_code:Exponential(width=1)"}, {}).make_kernel(nimt.Grid([0.0, 1.0]))
    assert "broken_code" not in sys.modules


def test_the_program_that_the_studio_copies_gives_the_same_lesson(listing):
    target, start = {"kind": "named", "name": "sine"}, {"kind": "zero"}
    setting = requests.read_setting(target, start, {})
    rules = {"kernel": "tent", "loss": "doubled", "steps": 12, "tol": None}
    for racer in ({"teacher": "careful", "rate": 0.1}, {"learner": "constant", "rate": 0.5}):
        recipe = requests.read_recipe(rules, racer)
        exec(exports.as_python(target, start, [exports.LessonPart(recipe)], setting), found := {})
        raced = Racer(recipe, setting)
        while not raced.over:
            raced.take(12)
        np.testing.assert_array_equal(found["lesson"].discrepancy, raced.lesson().discrepancy)
