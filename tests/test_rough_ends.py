"""Functions of the user that fail, values at the edge of what is allowed, and what is said about each."""

import gc

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Kernel, NormalizedKernelMixin, StationaryKernelMixin

import nimt
from nimt.errors import StepSizeWarning
from nimt.plain_numba import PLAIN_NUMBA
from problems import small_lesson

X = np.linspace(-2, 2, 30)


def teach(**options):
    known = {"learner": nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.2), "teacher": nimt.GreedyTeacher()}
    known |= {"X": X, "y": np.sin, "max_iterations": 10, "tol": None}
    return nimt.teach(**known | options)


class Broken(RuntimeError):
    pass


def broken(*_, **__):
    raise Broken("of mine")


class BrokenKernel(StationaryKernelMixin, NormalizedKernelMixin, Kernel):
    def __init__(self):
        pass

    def __call__(self, X, Y=None, eval_gradient=False):
        raise Broken("of mine")

    def __repr__(self):
        return "BrokenKernel()"


class BrokenReach(BrokenKernel):
    def __call__(self, X, Y=None, eval_gradient=False):
        other = X if Y is None else Y
        return np.exp(-((np.atleast_2d(X)[:, None] - np.atleast_2d(other)[None]) ** 2).sum(axis=2))

    def reach(self):
        raise Broken("of mine")


class BrokenDiagonal(BrokenReach):
    reach = None

    def diag(self, X):
        raise Broken("of mine")


class BrokenLearner:
    partial_fit = predict = broken


class NotCopied(BrokenLearner):
    __deepcopy__ = broken


class NoPupil(BrokenLearner):
    make_pupil = broken


class BrokenMeasure(nimt.measures.Measure):
    name = "mine"
    of = broken


class BrokenPreparation(BrokenMeasure):
    prepared = broken


class BrokenTeacher(nimt.GreedyTeacher):
    pack_size = broken


class Unfit(nimt.GreedyTeacher):
    check_on = broken


def taught_with(kernel):
    return teach(learner=nimt.KernelLearner(kernel))


FAILING = {
    "target": (lambda: teach(y=broken), r"the target raised Broken \(of mine\) when it was called with all points"),
    "initial": (
        lambda: teach(learner=nimt.KernelLearner(nimt.rbf(0.5), initial=broken)),
        r"initial.* raised Broken \(of mine\)",
    ),
    "other target": (
        lambda: teach(teacher=nimt.GreedyTeacher(labels=nimt.teachers.AlternativeLabels(broken))),
        r"the other target raised Broken",
    ),
    "kernel": (
        lambda: teach(learner=nimt.KernelLearner(BrokenKernel())),
        r"BrokenKernel\(\) cannot be used on points of dimension 1: Broken: of mine",
    ),
    "reach": (
        lambda: teach(learner=nimt.KernelLearner(BrokenReach())),
        r"BrokenKernel\(\)\.reach\(\) raised Broken: of mine",
    ),
    "diagonal": (lambda: taught_with(BrokenDiagonal()), r"BrokenKernel\(\)\.diag raised Broken \(of mine\) at"),
    "predict": (lambda: teach(learner=BrokenLearner()), r"BrokenLearner\.predict raised Broken \(of mine\) at"),
    "copy": (lambda: teach(learner=NotCopied()), r"copy\.deepcopy\(NotCopied\) raised Broken \(of mine\)"),
    "make_pupil": (lambda: teach(learner=NoPupil()), r"NoPupil\.make_pupil raised Broken \(of mine\)"),
    "measure": (lambda: teach(measure=BrokenMeasure()), r"the measure 'mine' raised Broken \(of mine\)"),
    "prepared measure": (lambda: teach(measure=BrokenPreparation()), r"the measure 'mine' raised Broken \(of mine\)"),
    "pack_size": (lambda: teach(teacher=BrokenTeacher()), r"BrokenTeacher\.pack_size raised Broken \(of mine\)"),
    "check_on": (lambda: teach(teacher=Unfit()), r"Unfit\.check_on raised Broken \(of mine\)"),
    "learning_rate": (
        lambda: teach(learner=nimt.KernelLearner(nimt.rbf(0.5), learning_rate=broken)),
        r"learning_rate raised Broken \(of mine\) when it was called with the first step, 0",
    ),
}


@pytest.mark.parametrize(("ask", "said"), FAILING.values(), ids=FAILING)
def test_a_function_that_fails_at_its_first_call_is_one_sentence_with_its_cause(ask, said):
    with pytest.raises(nimt.InvalidInput, match=said) as caught:
        ask()
    assert isinstance(caught.value.__cause__, Broken)


@pytest.mark.long
@pytest.mark.parametrize("engine", ["reference", "grid", "neighbours", "streamed"])
@pytest.mark.parametrize("fails_at", [1, 7, 40])
def test_a_schedule_that_fails_keeps_the_steps_before_on_every_engine(engine, fails_at):
    def schedule(step):
        if step >= fails_at:
            raise Broken("of mine")
        return 0.2 / (1 + step)

    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=schedule)
    with pytest.raises(nimt.LessonInterrupted, match=f"Broken at step {fails_at}: of mine") as caught:
        teach(learner=learner, X=nimt.Grid(X), engine=engine, max_iterations=60, tol=None)
    kept = caught.value.lesson
    assert len(kept) == fails_at
    whole = teach(
        learner=nimt.KernelLearner(nimt.rbf(0.5), learning_rate=lambda step: 0.2 / (1 + step)), X=nimt.Grid(X),
        engine=engine, max_iterations=fails_at, tol=None,
    )  # fmt: skip
    np.testing.assert_array_equal(kept.indices, whole.indices)
    np.testing.assert_array_equal(kept.discrepancy, whole.discrepancy)


class TiredKernel(BrokenReach):
    """A kernel that answers so many times, and then fails."""

    reach = None

    def __init__(self, calls=10**9):
        self.calls, self.left = calls, [calls]

    def __call__(self, X, Y=None, eval_gradient=False):
        self.left[0] -= 1
        if self.left[0] < 0:
            raise Broken("of mine")
        return super().__call__(X, Y)

    def diag(self, X):
        return np.ones(len(self(X[:1], X)[0]))


TIRED = {
    "plain loop": (lambda kernel: nimt.learners.OrthogonalLearner(kernel), nimt.GreedyTeacher(), "reference"),
    "streamed": (lambda kernel: nimt.KernelLearner(kernel, learning_rate=0.2), nimt.GreedyTeacher(), "streamed"),
    "packs": (lambda kernel: nimt.KernelLearner(kernel, learning_rate=0.2), nimt.GreedyTeacher(k=3), "streamed"),
    "drawn": (lambda kernel: nimt.KernelLearner(kernel, learning_rate=0.2), nimt.RandomTeacher(k=2), "streamed"),
}


@pytest.mark.parametrize("kind", TIRED)
def test_a_kernel_that_fails_in_a_step_keeps_the_steps_before(kind):
    make, teacher, engine = TIRED[kind]
    lengths = set()
    for calls in range(6, 12):
        with pytest.raises(nimt.LessonInterrupted, match=r"Broken at step .* of mine") as caught:
            teach(learner=make(TiredKernel(calls)), teacher=teacher, engine=engine, max_iterations=40, tol=None)
        assert isinstance(caught.value.__cause__, Broken)
        kept = caught.value.lesson
        whole = teach(learner=make(TiredKernel()), teacher=teacher, engine=engine, max_iterations=len(kept), tol=None)
        for name in ("indices", "labels", "discrepancy", "final", "picks"):
            np.testing.assert_array_equal(getattr(kept, name), getattr(whole, name), err_msg=name)
        np.testing.assert_array_equal(kept.learner.centers_, whole.learner.centers_)
        lengths.add(len(kept))
    assert len(lengths) > 2


@pytest.mark.parametrize("calls", range(1, 5))
@pytest.mark.parametrize("pool", [X, nimt.Grid(X)], ids=["points", "grid"])
def test_a_kernel_that_fails_before_the_first_step_is_one_sentence_with_its_cause(calls, pool):
    with pytest.raises((nimt.InvalidInput, nimt.LessonInterrupted), match="of mine") as caught:
        teach(learner=nimt.KernelLearner(TiredKernel(calls)), teacher=nimt.GreedyTeacher(k=3), X=pool)
    assert isinstance(caught.value.__cause__ or caught.value.__context__, Broken)


@pytest.mark.parametrize("colour", ["rot", "red", "#12345", "#D55E00; background: url(x)", "#D55E00\n"])
def test_a_colour_that_is_none_is_refused_before_any_work(colour):
    class Mine(nimt.GreedyTeacher):
        own_colour = colour

    with pytest.raises(nimt.InvalidInput, match=r"the colour of Mine must be '#' and six hexadecimal digits"):
        teach(teacher=Mine())


class Counts:
    pack_size = 2

    def select(self, view):
        return view.show([0, 1])


class CountsToo(nimt.GreedyTeacher):
    pack_size = 2


class Nameless(nimt.GreedyTeacher):
    @property
    def name(self):
        return 1 / 0


@pytest.mark.parametrize(
    ("teacher", "said"),
    [
        (Counts(), r"Counts.pack_size must be a method, pack_size\(n\), got 2: write k = 2 for packs of one size"),
        (CountsToo(), r"CountsToo.pack_size must be a method, pack_size\(n\), got 2: write k = 2"),
        (Nameless(), r"the name or the colour of Nameless raised ZeroDivisionError \(division by zero\)"),
    ],
)
def test_what_a_teacher_tells_of_itself_is_refused_in_a_sentence(teacher, said):
    with pytest.raises(nimt.InvalidInput, match=said):
        nimt.teach(nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1), teacher, [0.0, 1.0, 2.0], [1.0, 2.0, 3.0])


class Power:
    """L = |f - y|^p: its slope tends to 0 at the label for p > 1, and has a kink there for p = 1."""

    lipschitz = np.inf
    convex = True

    def __init__(self, power, plus=0.0):
        self.power, self.plus = power, plus
        self.smoothness = np.inf

    def value(self, f, y):
        return np.abs(f - y) ** self.power + self.plus * np.abs(f - y)

    def slope(self, f, y):
        return np.sign(f - y) * (self.power * np.abs(f - y) ** (self.power - 1) + self.plus)


def said_of(loss, rate):
    learner = nimt.KernelLearner(nimt.rbf(0.1), loss=loss, learning_rate=rate)
    return lambda: nimt.teach(learner, nimt.GreedyTeacher(), X, np.full(30, 3.0), max_iterations=3, tol=None)


@pytest.mark.parametrize("loss", [Power(3.0), Power(1.5)], ids=["cubic", "1.5"])
def test_a_slope_that_tends_to_zero_is_no_kink(loss):
    """|f - y|^3 with a step of up to 27 times the rate: shorter and shorter steps, so nothing is said of a kink."""
    first = float(loss.slope(np.array(0.0), np.array(3.0)))
    ask = said_of(loss, 0.9 * 3.0 / abs(first))
    ask()
    ask = said_of(loss, 1.5 * 3.0 / abs(first))
    with pytest.warns(StepSizeWarning, match=r"steps may overshoot; use less than") as warned:
        ask()
    assert "do not become shorter" not in str(warned[0].message)
    ask = said_of(loss, 3.0 * 3.0 / abs(first))
    with pytest.warns(StepSizeWarning, match=r"overshoot and the lesson may diverge; use less than"):
        ask()


@pytest.mark.parametrize("loss", ["absolute", Power(2.0, plus=1.0)], ids=["absolute", "with a kink"])
def test_a_kink_is_still_warned_of(loss):
    ask = said_of(loss, 10.0)
    with pytest.warns(StepSizeWarning, match="steps do not become shorter"):
        ask()


def test_a_table_of_several_outputs_has_a_column_per_label():
    y, pairs = np.column_stack([np.sin(X), np.cos(X)]), nimt.GreedyTeacher(k=2)
    lesson = teach(y=y, teacher=pairs, max_iterations=3, tol=None, engine="reference")
    table = lesson.to_table()
    labels = [name for name in table if name.startswith("label")]
    assert labels == [f"label_{j}_output_{output}" for j in (1, 2) for output in (1, 2)]
    for j in range(2):
        for output in range(2):
            column = table[f"label_{j + 1}_output_{output + 1}"]
            np.testing.assert_array_equal(column[:-1], lesson.labels[:, j, output])
            assert np.isnan(column[-1])


@pytest.mark.parametrize("path", [1, None, 2.5, b"lesson.npz", ["lesson.npz"]])
def test_a_lesson_is_loaded_from_a_path_only(path):
    with pytest.raises(nimt.InvalidInput, match="a lesson is loaded from the path of a file, got"):
        nimt.Lesson.load(path)


class Exhausted(nimt.Teacher):
    """A teacher that walks through an iterator which ends."""

    def select(self, view):
        if view.step == 3:
            raise StopIteration("no more examples")
        return view.show(view.step)


def test_a_teacher_that_raises_stop_iteration_does_not_end_the_steps_silently():
    steps = nimt.steps(nimt.KernelLearner(nimt.rbf(0.5)), Exhausted(), X, np.sin, max_iterations=10, tol=None)
    seen = []

    def walk():
        seen.extend(t for t, _, _ in steps)

    with pytest.raises(nimt.LessonInterrupted, match="StopIteration at step 3: no more examples") as caught:
        walk()
    assert isinstance(caught.value.__cause__, StopIteration)
    assert len(caught.value.lesson) == 3
    with pytest.raises(nimt.LessonInterrupted, match="StopIteration at step 3"):
        small_lesson(Exhausted())


@pytest.mark.parametrize("what", ["pool", "weights"])
def test_masked_values_of_a_teacher_are_refused(what):
    masked = np.ma.masked_array(np.arange(5), mask=[False, True, False, False, False])
    asked = {
        "pool": lambda: teach(teacher=nimt.GreedyTeacher(pool=masked)),
        "weights": lambda: teach(X=X[:5], teacher=nimt.RandomTeacher(weights=masked)),
    }
    with pytest.raises(nimt.InvalidInput, match="masked"):
        asked[what]()


HUGE = 10**400


@pytest.mark.parametrize(
    "ask",
    [
        lambda: teach(max_iterations=HUGE, tol=None),
        lambda: teach(tol=HUGE),
        lambda: teach(patience=HUGE),
        lambda: teach(time_limit=HUGE),
        lambda: teach(snapshots=[HUGE]),
        lambda: nimt.GreedyTeacher(k=HUGE),
        lambda: teach(teacher=nimt.GreedyTeacher(pool=[HUGE])),
        lambda: nimt.KernelLearner(nimt.rbf(0.5), learning_rate=HUGE).partial_fit([[0.0]], [1.0]),
        lambda: teach(y=HUGE),
        lambda: nimt.rbf(HUGE),
        lambda: nimt.Grid([0, HUGE]),
        lambda: nimt.teachers.AlternativeLabels(0.0, HUGE),
    ],
    ids=[
        "max_iterations", "tol", "patience", "time_limit", "snapshots", "k", "pool", "learning_rate", "y", "width",
        "axis", "probability",
    ],
)  # fmt: skip
def test_a_number_beyond_all_range_is_refused_in_one_sentence(ask):
    with pytest.raises(nimt.InvalidInput, match=r"got|dtype|must"):
        ask()


def test_a_huge_seed_is_a_seed():
    assert len(teach(seed=10**40, teacher=nimt.RandomTeacher())) == 10


def doubled(x):
    return 2 * x


@pytest.mark.skipif(PLAIN_NUMBA, reason="of numba's inner workings")
@pytest.mark.parametrize(
    ("access", "problem"),
    [("_save_data", OSError(28, "No space left on device")), ("load", PermissionError(13, "Permission denied"))],
)
def test_compiled_code_that_cannot_be_kept_is_used_all_the_same(access, problem, monkeypatch):
    from numba.core.caching import IndexDataCacheFile

    from nimt.engines._numba import caching

    def fails(*_):
        raise problem

    monkeypatch.setattr(IndexDataCacheFile, access, fails)
    monkeypatch.setattr(caching, "_said", [])
    double = caching.njit(cache=True)(doubled)
    with pytest.warns(UserWarning, match="compiled code cannot be kept"):
        assert double(2) == 4


@pytest.mark.skipif(PLAIN_NUMBA, reason="of numba's inner workings")
def test_compiled_code_is_compiled_again_when_a_function_it_may_call_changes(tmp_path, monkeypatch):
    from nimt.engines._numba import caching

    def compiled_anew(helper):
        (tmp_path / "helper.py").write_text(helper)
        monkeypatch.setattr(caching, "_contents", {})
        double = caching.njit(cache=True)(doubled)
        assert double(2) == 4
        return sum(double.stats.cache_misses.values()) == 1

    monkeypatch.setattr(caching, "COMPILED_STEPS", tmp_path)
    first, same, changed = compiled_anew(f"# {tmp_path}"), compiled_anew(f"# {tmp_path}"), compiled_anew("# changed")
    assert (first, same, changed) == (True, False, True)


@pytest.mark.skipif(PLAIN_NUMBA, reason="of numba's inner workings")
@pytest.mark.slow
def test_a_part_of_compiled_code_that_would_need_references_is_refused():
    """References to arrays are not counted there: an array that it returns would be freed too early."""
    import numba

    from nimt.engines._numba.caching import part

    given_back = part(lambda numbers: (numbers[1:], 1.0))
    with pytest.raises(TypeError, match="may return numbers only"):
        numba.njit(lambda numbers: given_back(numbers))(np.ones(3))
    made = part(lambda numbers: np.zeros(len(numbers)).sum())
    with pytest.raises(numba.core.errors.TypingError):
        numba.njit(lambda numbers: made(numbers))(np.ones(3))


@pytest.mark.parametrize("on", [True, False])
def test_the_search_for_unused_objects_is_afterwards_as_it_was(on):
    from nimt.collecting import without_collecting

    before = gc.isenabled()
    (gc.enable if on else gc.disable)()
    try:
        with pytest.raises(ZeroDivisionError), without_collecting():
            1 / gc.isenabled()
        assert gc.isenabled() is on
    finally:
        (gc.enable if before else gc.disable)()


class FailsAfter(RBF):
    """A kernel of a user that fails after some calls, wherever the next one happens to be."""

    left = 0

    def __call__(self, X, Y=None, eval_gradient=False):
        FailsAfter.left -= 1
        if FailsAfter.left < 0:
            raise ZeroDivisionError("mine")
        return super().__call__(X, Y)


def forecast_for(teacher):
    return lambda learner, _, x, y: nimt.forecast(learner, teacher, x, y, tol=0.1).bounds


ASKED = {
    "teach": lambda *lesson: nimt.teach(*lesson, max_iterations=3, tol=None),
    "steps": lambda *lesson: list(nimt.steps(*lesson, max_iterations=3, tol=None)),
    "plan": nimt.plan,
    "forecast greedy": forecast_for(nimt.GreedyTeacher()),
    "forecast whole": forecast_for(nimt.GreedyTeacher(k=1.0)),
    "forecast random": forecast_for(nimt.RandomTeacher()),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_a_kernel_that_fails_at_any_call_is_told_in_a_sentence(ask):
    learner = nimt.KernelLearner(FailsAfter(0.5), learning_rate=0.1)
    said = []
    for calls in range(12):
        FailsAfter.left = calls
        try:
            ask(learner, nimt.GreedyTeacher(), np.linspace(-3, 3, 20), np.sin)
        except nimt.NimtError as error:
            said.append(str(error))
    assert said
    assert all("ZeroDivisionError" in sentence and "mine" in sentence for sentence in said)
