"""Every bad value is refused before any work, by a sentence that names it and says what is allowed."""

import itertools
import math

import numpy as np
import pytest

import nimt
from problems import scattered

POINTS, TARGET, INITIAL = scattered()
GRID = nimt.Grid(np.arange(3.0), np.arange(4.0))
K = nimt.rbf(0.7)


class Untouchable(nimt.Teacher):
    """Fail the test if a single step is taken."""

    def select(self, view):
        raise AssertionError("work was done before the input was checked")


def teach(**changes):
    given = {"learner": nimt.KernelLearner(K), "teacher": Untouchable(), "X": POINTS, "y": TARGET}
    return nimt.teach(**given | {"max_iterations": 10, "tol": None} | changes)


def on_grid(y, **changes):
    return teach(X=GRID, y=y, **changes)


def learner(**options):
    return lambda: nimt.KernelLearner(K, **options)


def with_bad(array, index, value):
    changed = np.array(array)
    changed[index] = value
    return changed


BAD = {
    # shapes
    "target too short": (lambda: teach(y=TARGET[:5]), r"the target has shape \(5,\).*12 points.*must be \(12,\)"),
    "target a block": (lambda: teach(y=np.zeros((12, 2, 2))), r"shape \(12, 2, 2\).*must be \(12,\)"),
    "outputs that differ": (
        lambda: teach(y=np.zeros((12, 2)), learner=nimt.KernelLearner(K, initial=np.zeros((12, 3)))),
        r"initial has 3 outputs where 2 are needed: give it as an array \(12, 2\)",
    ),
    "other target of one output": (
        lambda: teach(
            y=np.zeros((12, 2)), teacher=nimt.GreedyTeacher(labels=nimt.teachers.AlternativeLabels(np.ones(12)))
        ),
        "the other target has 1 output where 2 are needed",
    ),
    "target of a transposed grid": (lambda: on_grid(np.zeros((4, 3))), r"\(4, 3\).*\(12,\) or the grid's \(3, 4\)"),
    "initial too long": (lambda: teach(learner=nimt.KernelLearner(K, initial=np.zeros(13))), r"initial.*\(13,\).*12"),
    "pool of three axes": (lambda: teach(X=np.zeros((2, 2, 2))), r"\(n,\) or \(n, d\), got \(2, 2, 2\)"),
    "predict at a number": (
        lambda: nimt.KernelLearner(K).predict(0.5),
        r"^X must have shape.*for one point.*\[\[0.5\]\]",
    ),
    "pack without points": (lambda: nimt.KernelLearner(K).partial_fit([], []), "^X is empty"),
    "pool a number": (lambda: teach(X=3.0), r"\(n,\) or \(n, d\), got \(\)"),
    "ragged pool": (lambda: teach(X=[[1.0], [1.0, 2.0]]), "the pool is not a rectangular array"),
    "callable returns a block": (
        lambda: teach(y=lambda x: np.zeros((12, 2, 2))),
        r"\(12, 2\) and returned shape \(12, 2, 2\).*\(12,\), or \(12, q\) for q outputs",
    ),
    "callable returns a number": (lambda: teach(y=lambda x: 1.0), r"returned shape \(\): it must return \(12,\)"),
    "callable of two arguments": (
        lambda: on_grid(lambda x, y: x + y),
        r"the target cannot be called with all points at once, an array of shape \(12, 2\) \(TypeError.*lambda x: ",
    ),
    "callable of one number": (lambda: teach(X=np.arange(12.0), y=math.sin), r"shape \(12, 1\) \(TypeError.*\(12,\)"),
    "callable that branches": (
        lambda: teach(X=np.arange(12.0), y=lambda x: 1 if x > 0 else 0),
        r"the target cannot be called with all points at once.*\(ValueError",
    ),
    "callable of a column too many": (lambda: teach(y=lambda x: x[:, 2]), r"shape \(12, 2\) \(IndexError"),
    "initial of two arguments": (
        lambda: teach(learner=nimt.KernelLearner(K, initial=lambda x, y: x)),
        "initial cannot be called with all points at once",
    ),
    "initial returns too few": (
        lambda: teach(learner=nimt.KernelLearner(K, initial=lambda x: x[:3, 0])),
        r"initial was called with points of shape \(12, 2\) and returned shape \(3,\)",
    ),
    "weights of the wrong number": (
        lambda: teach(learner=nimt.LinearLearner([1.0, 2.0])),
        r"2 weights \(with intercept\) do not fit points of dimension 2: give 3 weights",
    ),
    "other target too short": (
        lambda: teach(teacher=Untouchable(labels=nimt.teachers.AlternativeLabels(TARGET[:4]))),
        r"the other target has shape \(4,\)",
    ),
    "draw weights too few": (
        lambda: teach(teacher=nimt.RandomTeacher(weights=[1.0, 2.0])),
        r"weights has shape \(2,\) for 12 points",
    ),
    # what is not finite, and where
    "nan in the pool": (lambda: teach(X=with_bad(POINTS, (3, 1), np.nan)), r"the pool has nan at index \(3, 1\)"),
    "inf in the pool": (lambda: teach(X=with_bad(POINTS, (3, 1), -np.inf)), r"the pool has -inf at index \(3, 1\)"),
    "nan in the target": (lambda: teach(y=with_bad(TARGET, 4, np.nan)), r"target has nan at index 4 \(x = \[.*finite"),
    "inf in the target": (lambda: teach(y=with_bad(TARGET, [4, 6], np.inf)), r"inf at index 4.*and 1 more like it"),
    "callable returns nan": (
        lambda: teach(y=lambda x: np.full(12, np.nan)),
        "what the target returned has nan at index 0",
    ),
    "nan in the initial values": (learner(initial=with_bad(INITIAL, 5, np.nan)), "initial has nan at index 5"),
    "initial inf": (learner(initial=np.inf), "initial has inf"),
    "initial returns inf": (
        lambda: teach(learner=nimt.KernelLearner(K, initial=lambda x: x[:, 0] + np.inf)),
        "what initial returned has .*inf at index 0",
    ),
    "nan among weights": (lambda: nimt.LinearLearner([1.0, np.nan]), "weights has nan at index 1"),
    "nan in an axis": (lambda: nimt.Grid([0.0, np.nan]), "axis 0 of the grid has nan at index 1"),
    "other target nan": (
        lambda: teach(teacher=Untouchable(labels=nimt.teachers.AlternativeLabels(np.nan))),
        "the other target has nan at index 0",
    ),
    # grids
    "axis not uniform": (
        lambda: nimt.Grid([0.0], [0.0, 1.0, 3.0]),
        r"axis 1 .*not uniform: .*0.0 to 1.0 is 1.0.*\(n, d\)",
    ),
    "axis almost uniform": (lambda: nimt.Grid([0.0, 0.1, 0.20001]), "axis 0 of the grid is not uniform"),
    "axis in float32": (
        lambda: nimt.Grid(np.linspace(0, 1, 100, dtype=np.float32)),
        r"not uniform.*if it was rounded, give np.linspace\(0.0, 1.0, 100\) in float64, otherwise give the points as",
    ),
    "axis repeats": (lambda: nimt.Grid([0.0, 1.0, 1.0]), r"axis 0 .*repeats the point 1.0 \(indices 1 and 2\)"),
    "axis goes back": (lambda: nimt.Grid([0.0, 1.0, 0.0]), "not uniform"),
    "axis empty": (lambda: nimt.Grid([]), "at least one point"),
    "axis a matrix": (lambda: nimt.Grid([[0.0, 1.0]]), r"one-dimensional.*got shape \(1, 2\)"),
    "no axis": (lambda: nimt.Grid(), "at least one axis"),
    "image of nothing": (lambda: nimt.Grid.like(np.zeros((0, 3))), r"at least one pixel, got shape \(0, 3\)"),
    # empty
    "empty pool": (lambda: teach(X=[], y=[]), r"the pool is empty \(shape \(0, 1\)\): give at least one point"),
    "points without coordinates": (lambda: teach(X=np.zeros((3, 0))), "the pool is empty"),
    "empty teacher pool": (lambda: teach(teacher=Untouchable(pool=[])), "the teacher's pool is empty"),
    "empty teacher mask": (lambda: teach(teacher=Untouchable(pool=np.zeros(12, bool))), "the teacher's pool is empty"),
    # k
    "k zero": (lambda: nimt.GreedyTeacher(k=0), r"count >= 1 or a share in \(0, 1\], got 0"),
    "k negative": (lambda: nimt.RandomTeacher(k=-3), r"count >= 1 or a share in \(0, 1\], got -3"),
    "k above n": (lambda: teach(teacher=nimt.GreedyTeacher(k=13)), r"from 1 to 12 or a share in \(0, 1\], got 13"),
    "random k above n": (lambda: teach(teacher=nimt.RandomTeacher(k=13)), r"from 1 to 12 .*, got 13"),
    "share above 1": (lambda: nimt.GreedyTeacher(k=1.5), r"a share in \(0, 1\], got 1.5"),
    "count as a float": (lambda: nimt.GreedyTeacher(k=5.0), r"got 5.0; for a count write k=5"),
    "share zero": (lambda: nimt.GreedyTeacher(k=0.0), r"a share in \(0, 1\], got 0.0"),
    "share nan": (lambda: nimt.GreedyTeacher(k=np.nan), r"a share in \(0, 1\], got nan"),
    # a teacher's other options
    "teacher pool share": (
        lambda: nimt.GreedyTeacher(pool=1.5),
        r"share in \(0, 1\], a boolean mask or indices, got 1.5",
    ),
    "teacher pool zero": (lambda: nimt.RandomTeacher(pool=0.0), r"share in \(0, 1\].*got 0.0"),
    "teacher pool one": (lambda: nimt.RandomTeacher(pool=1), r"pool=1 could be .*pool=1.0 or pool=\[1\]"),
    "replace": (lambda: nimt.RandomTeacher(replace="no"), "replace must be True or False, got 'no'"),
    "teacher pool True": (lambda: nimt.RandomTeacher(pool=True), "a boolean mask or indices, got True"),
    "teacher pool outside": (lambda: teach(teacher=Untouchable(pool=[3, 12])), "names the point 12, .* has 0 to 11"),
    "teacher pool negative": (lambda: teach(teacher=Untouchable(pool=[-1])), "names the point -1, .* has 0 to 11"),
    "teacher pool floats": (lambda: teach(teacher=Untouchable(pool=[0.5, 1.0])), r"mask or indices, got \[0.5, 1.0\]"),
    "teacher mask too short": (
        lambda: teach(teacher=Untouchable(pool=[True, False])),
        r"mask of shape \(2,\), the lesson's pool has 12 points",
    ),
    "labels an array": (
        lambda: nimt.GreedyTeacher(labels=[1.0]),
        r"labels must be None or nimt.teachers.AlternativeLabels.*\[1.0\]",
    ),
    "probability": (lambda: nimt.teachers.AlternativeLabels(0.0, probability=1.2), "a number from 0 to 1, got 1.2"),
    "probability nan": (
        lambda: nimt.teachers.AlternativeLabels(0.0, probability=np.nan),
        "a number from 0 to 1, got nan",
    ),
    "negative weights": (lambda: nimt.RandomTeacher(weights=[1.0, -1.0]), "weights must be >= 0, got -1.0 at index 1"),
    "weights all zero": (lambda: nimt.RandomTeacher(weights=[0.0, 0.0]), "must not all be zero"),
    "weights too large": (lambda: nimt.RandomTeacher(weights=[1e308] * 9), r"finite sum, got 1e\+308: divide them"),
    "score": (
        lambda: nimt.GreedyTeacher(score="best"),
        "'loss' or 'decrease', or a score of yours by nimt.compiled, got 'best'",
    ),
    "a learner without the loss that a teacher sees": (
        lambda: nimt.teach(
            nimt.learners.OrthogonalLearner(nimt.rbf(1.0)),
            nimt.GreedyTeacher(score="gradient"),
            [0.0],
            [1.0],
            max_iterations=1,
        ),
        "sees the learner's loss, and OrthogonalLearner has none",
    ),
    "loss without gradient": (
        lambda: nimt.GreedyTeacher(loss="square"),
        "loss= is used by score='gradient' and score='loss' only",
    ),
    "no teacher": (lambda: teach(teacher="greedy"), r"needs select\(view\).*got 'greedy'"),
    "a teacher's class": (lambda: teach(teacher=nimt.GreedyTeacher), r"needs select\(view\)"),
    # learning rates
    "rate zero": (learner(learning_rate=0), "positive number, a callable of the step or 'auto', got 0"),
    "rate negative": (learner(learning_rate=-0.1), "positive number.*got -0.1"),
    "rate nan": (learner(learning_rate=np.nan), "positive number.*got nan"),
    "rate inf": (learner(learning_rate=np.inf), "positive number.*got inf"),
    "rate text": (learner(learning_rate="fast"), "a callable of the step or 'auto', got 'fast'"),
    "rate True": (learner(learning_rate=True), "positive number.*got True"),
    "linear rate": (lambda: nimt.LinearLearner([1.0], learning_rate=-1), "positive number.*got -1"),
    "schedule negative": (
        lambda: teach(learner=nimt.KernelLearner(K, learning_rate=lambda t: -1.0)),
        "learning_rate returned -1.0 at step 0: it must be a positive number",
    ),
    "rate set later": (
        lambda: teach(learner=nimt.KernelLearner(K, loss="hinge").set_params(learning_rate=-2.0)),
        "positive number.*got -2.0",
    ),
    # the rules of a lesson
    "tolerance negative": (lambda: teach(tol=-1e-3), "tol must be a finite number >= 0 or None, got -0.001"),
    "tolerance nan": (lambda: teach(tol=np.nan), "tol must be a finite number >= 0 or None, got nan"),
    "tolerance text": (lambda: teach(tol="1e-3"), "tol must be .*, got '1e-3'"),
    "stationary negative": (lambda: teach(stop_when_stationary=-1), "stop_when_stationary must be .*, got -1"),
    "patience zero": (lambda: teach(patience=0), "patience must be a whole number >= 1, got 0"),
    "patience float": (lambda: teach(patience=2.5), "patience must be a whole number >= 1, got 2.5"),
    "time limit negative": (lambda: teach(time_limit=-1), "time_limit must be a positive number, got -1"),
    "time limit zero": (lambda: teach(time_limit=0), "time_limit must be a positive number, got 0"),
    "budget negative": (
        lambda: teach(max_iterations=-1, tol=None),
        "max_iterations must be a whole number >= 0, got -1",
    ),
    "budget float": (
        lambda: teach(max_iterations=10.0, tol=None),
        "max_iterations must be a whole number >= 0, got 10.0",
    ),
    "snapshot beyond": (lambda: teach(snapshots=[3, 11]), r"a step from 0 to max_iterations \(10\), got 11"),
    "snapshot negative": (lambda: teach(snapshots=[-1]), r"a step from 0 to max_iterations \(10\), got -1"),
    "snapshot float": (lambda: teach(snapshots=[1.5]), r"max_iterations \(10\), got 1.5"),
    "snapshots a number": (lambda: teach(snapshots=3), "snapshots must be a list of steps, got 3"),
    "seed negative": (lambda: teach(seed=-1), "seed must be a whole number >= 0, got -1"),
    "seed text": (lambda: teach(seed="a"), "seed must be a whole number >= 0, got 'a'"),
    "callback": (lambda: teach(callback=3), "callback must be callable, got 3"),
    # names
    "loss": (learner(loss="mse"), "one of square, hinge, logistic, huber, absolute.*got 'mse'"),
    "loss class": (learner(loss=nimt.losses.Square), r"value\(f, y\), slope\(f, y\) and smoothness"),
    "loss object": (
        learner(loss=3),
        r"a loss needs value\(f, y\), slope\(f, y\) and smoothness; 3 does not have all three",
    ),
    "measure": (
        lambda: teach(measure="l2"),
        "one of paper, rms, rkhs, parameters, accuracy, or a nimt.measures.Measure of your own; got 'l2'",
    ),
    "engine": (lambda: teach(engine="gpu"), "one of auto, reference.*, got 'gpu'"),
    "record": (lambda: teach(record="some"), "one of auto, all, picks, got 'some'"),
    "measure array": (
        lambda: teach(measure=np.array(["rms", "rms"])),
        "one of paper, rms, rkhs, parameters, accuracy, or",
    ),
    "record array": (lambda: teach(record=np.array(["all", "all"])), "one of auto, all, picks, got"),
    # kernels
    "kernel": (lambda: nimt.KernelLearner("rbf"), r"a kernel such as nimt.rbf.*got 'rbf'"),
    "width zero": (lambda: nimt.rbf(0.0), "width must be a positive number, or one for each axis, got 0.0"),
    "width text": (lambda: nimt.rbf("wide"), "width must be a positive number, or one for each axis, got 'wide'"),
    "c negative": (lambda: nimt.linear(-1.0), "a finite number >= 0, .*; got -1.0"),
    "wendland width": (lambda: nimt.Wendland(-1.0), "width must be a positive number, got -1.0"),
    "wendland dimension": (lambda: nimt.Wendland(1.0, dimension=0), "dimension must be a whole number >= 1, got 0"),
    "wendland smoothness": (lambda: nimt.Wendland(1.0, smoothness=3), "smoothness must be 0, 1 or 2, got 3"),
    "delta": (lambda: nimt.losses.Huber(delta=-1.0), "delta must be a positive number, got -1.0"),
    "delta text": (lambda: nimt.losses.Huber(delta="a"), "delta must be a positive number, got 'a'"),
    # labels outside a loss's domain
    "logistic labels": (
        lambda: teach(learner=nimt.KernelLearner(K, loss="logistic"), y=with_bad(np.ones(12), 7, 0.5)),
        r"logistic loss takes the labels -1 and \+1 only, got 0.5 at index 7",
    ),
    "logistic other labels": (
        lambda: teach(
            learner=nimt.KernelLearner(K, loss="logistic"),
            y=1.0,
            teacher=Untouchable(labels=nimt.teachers.AlternativeLabels(0.0)),
        ),
        r"labels -1 and \+1 only, got 0.0 at index 0",
    ),
    "logistic example": (
        lambda: nimt.KernelLearner(K, loss="logistic").partial_fit([[1.0]], [2.0]),
        r"labels -1 and \+1 only, got 2.0",
    ),
    # what is no array of real numbers
    "complex target": (lambda: teach(y=TARGET + 1j), "the target must hold real numbers, got dtype complex128"),
    "object target": (lambda: teach(y=TARGET.astype(object)), "the target must hold real numbers, got dtype object"),
    "text target": (lambda: teach(y=["a"] * 12), "the target must hold real numbers, got dtype <U1"),
    "dates": (lambda: teach(X=np.zeros(12, "M8[s]")), "the pool must hold real numbers, got dtype datetime64"),
    "complex pool": (lambda: teach(X=POINTS * 1j), "the pool must hold real numbers, got dtype complex128"),
    "complex initial": (learner(initial=INITIAL * 1j), "initial must hold real numbers, got dtype complex128"),
    "object axis": (lambda: nimt.Grid([None, 1]), "axis 0 of the grid must hold real numbers, got dtype object"),
    "callable returns complex": (lambda: teach(y=lambda x: x[:, 0] * 1j), "returned must hold real numbers"),
    "complex weights": (lambda: nimt.LinearLearner([1j]), "weights must hold real numbers"),
    "no target": (lambda: teach(y=None), "the target must hold real numbers, got dtype object"),
    "masked target": (lambda: teach(y=np.ma.masked_less(TARGET, 0)), "the target has masked values"),
    # numbers too large to work with
    "target too far to subtract": (
        lambda: teach(y=np.full(12, 1.5e308), learner=nimt.KernelLearner(K, initial=-1.5e308)),
        "discrepancy before the first .* inf.*divide",
    ),
    "target beyond a float": (lambda: teach(y=np.full(12, np.longdouble("1e400"))), "the target has inf at index 0"),
    "points too far apart to have neighbours": (
        lambda: teach(
            X=nimt.Grid(np.arange(4) * 1e200, np.arange(3.0)), y=1.0, teacher=nimt.GreedyTeacher(), engine="neighbours"
        ),
        r"the points are up to 3e\+200 apart, too far.*rescale them, or use engine='streamed'",
    ),
    "scattered points too far apart": (
        lambda: teach(X=[-1e200, 0.0, 1e200], y=1.0, teacher=nimt.GreedyTeacher()),
        r"the points are up to 2e\+200 apart.*rescale them",
    ),
    "axis too large": (lambda: nimt.Grid([-1.7e308, 1.7e308]), r"axis 0 .*1.7e\+308, the limit is 1e\+300"),
    # examples shown by hand
    "more labels than points": (
        lambda: nimt.KernelLearner(K).partial_fit([[0.0], [1.0]], [1.0]),
        "2 examples came with 1 label",
    ),
    "label nan": (lambda: nimt.LinearLearner([1.0, 0.0]).partial_fit([[0.0]], [np.nan]), "y has nan at index 0"),
}


@pytest.mark.parametrize(("call", "sentence"), BAD.values(), ids=BAD)
def test_bad_input_is_refused(call, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    text = str(caught.value)
    assert "\n" not in text.replace(repr(POINTS), "")
    assert len(text) < 400


def test_what_is_fine_is_not_refused():
    teach(max_iterations=0, tol=0, snapshots=[0], seed=np.int64(3), stop_when_stationary=0.0, patience=np.int32(1))
    teach(
        max_iterations=np.int64(0),
        tol=None,
        X=POINTS.astype(np.float32),
        y=np.arange(12),
        record="all",
        engine="reference",
    )
    teach(max_iterations=0, tol=None, y=np.ones(12, bool), learner=nimt.KernelLearner(K, loss="hinge"))


def test_snapshots_without_end_are_refused_at_the_first_that_is_wrong():
    with pytest.raises(nimt.InvalidInput, match="a snapshot must be a step from 0 to max_iterations"):
        teach(snapshots=itertools.count())


@pytest.mark.parametrize("path", [3, "a\0b", "x" * 300], ids=["number", "null", "long"])
def test_a_checkpoint_that_cannot_name_a_file_is_refused(path):
    with pytest.raises(nimt.InvalidInput, match="checkpoint"):
        teach(checkpoint=path)


@pytest.mark.parametrize("indices", [[[0, 1], [2]], [], "a", [0.5]])
def test_a_sequence_that_is_no_list_of_indices_is_refused(indices):
    with pytest.raises(nimt.InvalidInput, match="indices must be a list of whole numbers"):
        nimt.teachers.SequenceTeacher(indices)
