"""A lesson in a file: exact, whole or refused."""

import importlib
import io
import os
import pickle
import shutil
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.linear_model import SGDRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import FunctionTransformer

import nimt
from nimt.store import records
from nimt.store.whole_files import whole_file
from problems import MIXTURE, assert_same_lesson, scattered, small_lesson

POINTS, TARGET, INITIAL = scattered()


def with_grid():
    return MIXTURE.teach(max_iterations=20, snapshots=[0, 5], tol=1e-4)


LESSONS = {
    "greedy": small_lesson,
    "on a grid": with_grid,
    "random packs": lambda: small_lesson(nimt.RandomTeacher(k=3, weights=np.arange(1.0, 13.0), pool=0.5)),
    "picks only": lambda: small_lesson(record="picks"),
    "no step": lambda: small_lesson(max_iterations=0),
    "snapshots": lambda: small_lesson(snapshots=range(26), seed=None),
    "linear": lambda: small_lesson(learner=nimt.LinearLearner([0.1, 0.2, 0.3], loss="huber")),
    "initial values": lambda: small_lesson(learner=nimt.KernelLearner(nimt.rbf(1.0), initial=INITIAL)),
    "white box": lambda: small_lesson(nimt.GreedyTeacher(score="gradient")),
    "other labels": lambda: small_lesson(nimt.GreedyTeacher(labels=nimt.teachers.AlternativeLabels(lambda x: x[:, 0]))),
    "auto rate": lambda: small_lesson(learner=nimt.KernelLearner(nimt.rbf(1.0), learning_rate="auto")),
    "own loss object": lambda: small_lesson(learner=nimt.KernelLearner(nimt.rbf(1.0), loss=nimt.losses.Huber(0.3))),
}


def same_settings(one, other):
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_settings(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same_settings, one, other))
    return one == other


@pytest.mark.parametrize("make", LESSONS.values(), ids=LESSONS)
def test_the_round_trip_is_exact(make, tmp_path):
    lesson = make()
    lesson.save(tmp_path / "lesson.npz")
    loaded = nimt.Lesson.load(tmp_path / "lesson.npz")
    assert_same_lesson(loaded, lesson)
    assert same_settings(loaded.settings, lesson.settings)
    assert (loaded.elapsed, loaded.engine, loaded.tol) == (lesson.elapsed, lesson.engine, lesson.tol)
    assert loaded.pool.shape == lesson.pool.shape
    np.testing.assert_array_equal(loaded.pool.points, lesson.pool.points)
    np.testing.assert_array_equal(loaded.learner.predict(loaded.pool), lesson.learner.predict(lesson.pool))
    assert loaded.learner.steps_ == lesson.learner.steps_
    loaded.save(tmp_path / "again.npz")
    assert_same_lesson(nimt.Lesson.load(tmp_path / "again.npz"), lesson)


def test_the_file_is_an_npz_without_pickle(tmp_path):
    small_lesson().save(tmp_path / "lesson.npz")
    with np.load(tmp_path / "lesson.npz", allow_pickle=False) as file:
        assert all(file[name].dtype.kind in "biufU" for name in file.files)


def test_any_name_is_kept_as_it_is(tmp_path):
    small_lesson().save(tmp_path / "lesson without ending")
    assert os.listdir(tmp_path) == ["lesson without ending"]


def test_a_callable_start_is_stored_as_its_values(tmp_path):
    lesson = with_grid()
    lesson.save(tmp_path / "lesson")
    loaded = nimt.Lesson.load(tmp_path / "lesson").learner
    np.testing.assert_array_equal(loaded.initial, lesson.initial)
    with pytest.raises(nimt.InvalidInput, match=r"known on Grid\(280\).*lies outside"):
        loaded.predict([[99.0]])


class Cube:
    smoothness = np.inf

    def value(self, f, y):
        return abs(f - y) ** 3

    def slope(self, f, y):
        return 3 * (f - y) * abs(f - y)


class Closed:
    def __init__(self):
        self.level = 0.0

    def predict(self, X):
        return np.full(len(X), self.level)

    def partial_fit(self, X, y):
        self.level += 0.1 * float(np.mean(y - self.level))


@pytest.mark.parametrize("learner", [Closed(), nimt.KernelLearner(nimt.rbf(1.0), loss=Cube())], ids=["learner", "loss"])
def test_a_learner_that_is_not_ours_is_not_stored_and_the_lesson_says_so(learner, tmp_path):
    lesson = small_lesson(learner=learner)
    with pytest.warns(
        nimt.errors.StorageWarning, match=r"the taught \w+ is not kept in the file: the parameters of .* are not"
    ):
        lesson.save(tmp_path / "lesson")
    loaded = nimt.Lesson.load(tmp_path / "lesson")
    assert loaded.learner is None
    assert "without its learner" in repr(loaded)
    assert "without its learner" not in repr(lesson)
    assert_same_lesson(loaded, lesson)


@pytest.mark.long
@pytest.mark.parametrize(
    "learner",
    [SGDRegressor(random_state=0), MLPRegressor(hidden_layer_sizes=(5,), random_state=0)],
    ids=["sgd", "mlp"],
)
def test_estimators_of_scikit_learn_are_kept_and_go_on(learner, tmp_path):
    pytest.importorskip("skops", reason="estimators are kept by an extra: pip install 'nimt[skops]'")
    lesson = small_lesson(learner=learner, max_iterations=20)
    lesson.save(tmp_path / "lesson")
    kept = nimt.Lesson.load(tmp_path / "lesson").learner
    assert type(kept) is type(learner)
    np.testing.assert_array_equal(kept.predict([[0.1, 0.2]]), lesson.learner.predict([[0.1, 0.2]]))
    small_lesson(learner=learner, max_iterations=9, checkpoint=tmp_path / "checkpoint")
    resumed = nimt.resume(tmp_path / "checkpoint", max_iterations=20)
    np.testing.assert_array_equal(resumed.discrepancy, lesson.discrepancy)


def as_deflated(written):
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(written)) as archive, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as other:
        for name in archive.namelist():
            other.writestr(name, archive.read(name))
    return packed.getvalue()


def as_something_else(thing):
    return lambda written: importlib.import_module("skops.io").dumps(thing)


@pytest.mark.long
@pytest.mark.parametrize(
    ("alter", "says"),
    [
        (lambda written: written[: len(written) // 2], "SGDRegressor is damaged"),
        (lambda written: written.replace(b'"protocol"', b'"protokol"'), "SGDRegressor is damaged"),
        (as_deflated, "it is compressed, as nimt never writes it"),
        (as_something_else({"not": "an estimator"}), "SGDRegressor is not an estimator"),
        (as_something_else(FunctionTransformer(load_iris)), None),
        (as_something_else(FunctionTransformer(shutil.rmtree)), None),
    ],
    ids=["cut", "altered", "compressed", "a dict", "a function of scikit-learn", "another function"],
)
def test_a_stored_estimator_that_was_altered_is_not_trusted(alter, says, tmp_path, monkeypatch):
    skops = pytest.importorskip("skops.io", reason="estimators are kept by an extra: pip install 'nimt[skops]'")
    lesson = small_lesson(learner=SGDRegressor(random_state=0), max_iterations=3)
    written = alter(skops.dumps(lesson.learner))
    monkeypatch.setattr(skops, "dumps", lambda learner: written)
    lesson.save(tmp_path / "lesson")
    if says is None:
        assert nimt.Lesson.load(tmp_path / "lesson").learner is None
    else:
        with pytest.raises(nimt.errors.CorruptLesson, match=says):
            nimt.Lesson.load(tmp_path / "lesson")


def test_without_skops_a_checkpoint_is_refused_at_the_start_and_a_file_warns(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    monkeypatch.setitem(sys.modules, "skops", None)
    learner = SGDRegressor(random_state=0)
    with pytest.raises(nimt.errors.CannotStore, match=r"SGDRegressor is stored by skops.*pip install 'nimt\[skops\]'"):
        small_lesson(learner=learner, checkpoint=tmp_path / "checkpoint")
    with pytest.warns(nimt.errors.StorageWarning, match=r"pip install 'nimt\[skops\]'"):
        small_lesson(learner=learner).save(tmp_path / "lesson")
    assert nimt.Lesson.load(tmp_path / "lesson").learner is None


def test_a_schedule_is_not_stored_and_the_learner_is_all_the_same(tmp_path):
    lesson = small_lesson(learner=nimt.KernelLearner(nimt.rbf(1.0), learning_rate=lambda step: 0.1 / (1 + step)))
    lesson.save(tmp_path / "lesson")
    kept = nimt.Lesson.load(tmp_path / "lesson").learner
    np.testing.assert_array_equal(kept.predict([[9.0, 9.0]]), lesson.learner.predict([[9.0, 9.0]]))
    with pytest.raises(nimt.errors.CannotStore, match=r"lambda.* was not stored: give one by set_params"):
        kept.partial_fit([[0.0, 0.0]], [1.0])
    kept.set_params(learning_rate=0.1).partial_fit([[0.0, 0.0]], [1.0])
    assert kept.steps_ == 26


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "lesson"
    lesson = small_lesson(max_iterations=4)
    lesson.save(path)
    return lesson, path.read_bytes()


def load_bytes(content, folder):
    path = folder / "damaged"
    path.write_bytes(content)
    return nimt.Lesson.load(path)


@given(data=st.data())
def test_a_truncated_file_is_refused(stored, tmp_path_factory, data):
    _, content = stored
    length = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(nimt.errors.CorruptLesson):
        load_bytes(content[:length], tmp_path_factory.getbasetemp())


@settings(max_examples=100)
@given(data=st.data())
def test_an_altered_file_is_refused(stored, tmp_path_factory, data):
    _, content = stored
    altered = bytearray(content)
    places = st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=3, unique=True)
    for at in data.draw(places):
        altered[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(nimt.errors.CorruptLesson):
        load_bytes(bytes(altered), tmp_path_factory.getbasetemp())


def test_no_flipped_byte_goes_unnoticed(stored, tmp_path):
    _, content = stored
    for at in range(0, len(content), 19):
        altered = bytearray(content)
        altered[at] ^= 0x01
        with pytest.raises(nimt.errors.CorruptLesson):
            load_bytes(bytes(altered), tmp_path)
    with pytest.raises(nimt.errors.CorruptLesson):
        load_bytes(content + b"\n", tmp_path)


@given(st.binary(max_size=300))
def test_foreign_bytes_are_refused(tmp_path_factory, content):
    with pytest.raises(nimt.errors.CorruptLesson):
        load_bytes(content, tmp_path_factory.getbasetemp())


class Bomb:
    """Run something when unpickled."""

    went_off = False

    def __reduce__(self):
        return setattr, (Bomb, "went_off", True)


def npz_of(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def zip_of(**texts):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return file.getvalue()


def sealed(content):
    file = io.BytesIO(content)
    records._seal(file)
    return file.getvalue()


def signed(header, **arrays):
    """Write a file whose checksum is right, whatever it says."""
    return sealed(npz_of(header=np.frombuffer(header.encode(), np.uint8), **arrays))


FOREIGN = {
    "a pickle": lambda: pickle.dumps(Bomb()),
    "an npz": lambda: npz_of(a=np.zeros(3)),
    "a compressed npz": lambda: (file := io.BytesIO(), np.savez_compressed(file, a=1), file.getvalue())[-1],
    "a zip": lambda: zip_of(readme="hello"),
    "an npy": lambda: (file := io.BytesIO(), np.save(file, np.zeros(3)), file.getvalue())[-1],
    "text": lambda: b"step,discrepancy\n0,1.0\n",
    "nothing": lambda: b"",
    "no json": lambda: signed("{"),
    "not a record": lambda: signed('{"nimt": "lesson", "format": 1, "content": [1]}'),
    "no fields": lambda: signed('{"nimt": "lesson", "format": 1, "content": {}}'),
    "a list": lambda: signed("[1, 2]"),
    "a missing array": lambda: signed('{"nimt": "lesson", "format": 1, "content": {"a": {"array": "x"}}}'),
    "no header": lambda: sealed(npz_of(a=np.zeros(3))),
    "a sealed npy": lambda: sealed(b"\x93NUMPY" + bytes(60)),
    "compressed": lambda: sealed((file := io.BytesIO(), np.savez_compressed(file, header=1), file.getvalue())[-1]),
    "deep": lambda: signed('{"nimt": "lesson", "format": 1, "content": ' + '{"a": ' * 700 + "1" + "}" * 701),
}


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN)
def test_foreign_files_are_refused_with_a_sentence(make, tmp_path):
    with pytest.raises(nimt.errors.CorruptLesson, match="damaged"):  # the name of the file
        load_bytes(make(), tmp_path)


def test_an_npz_that_needs_pickle_is_refused_and_nothing_in_it_runs(tmp_path):
    content = sealed(npz_of(header=np.array([Bomb()], dtype=object)))
    with pytest.raises(nimt.errors.CorruptLesson, match="allow_pickle=False"):
        load_bytes(content, tmp_path)
    assert not Bomb.went_off


def test_a_newer_format_says_so(stored, tmp_path, monkeypatch):
    monkeypatch.setattr(records, "FORMAT", 99)
    small_lesson().save(tmp_path / "newer")
    monkeypatch.undo()
    with pytest.raises(nimt.errors.CorruptLesson, match="has format 99, this version of nimt reads 5"):
        nimt.Lesson.load(tmp_path / "newer")


def test_a_hostile_description_builds_nothing():
    from nimt.lesson.descriptions import rebuild

    with pytest.raises(nimt.InvalidInput, match="'Popen', which is not a class that nimt builds"):
        rebuild({"type": "Popen", "args": ["true"]})


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^there is no lesson .*nowhere$") as raised:
        nimt.Lesson.load(tmp_path / "nowhere")
    assert isinstance(raised.value, nimt.InvalidInput)


def test_a_place_that_cannot_hold_a_lesson_is_named(tmp_path):
    lesson = small_lesson()
    with pytest.raises(nimt.errors.MissingFile, match=r"^there is no folder .*nowhere to save the lesson it\.npz in"):
        lesson.save(tmp_path / "nowhere" / "it.npz")
    with pytest.raises(nimt.InvalidInput, match="is a folder: name a file in it"):
        lesson.save(tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_file_that_cannot_be_begun_is_named_as_it_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as raised, whole_file(tmp_path / "nowhere" / "it.npz"):
        pass
    assert raised.value.filename == str(tmp_path / "nowhere" / "it.npz")


def test_a_folder_is_no_lesson(tmp_path):
    with pytest.raises(nimt.errors.CorruptLesson):
        nimt.Lesson.load(tmp_path)


@pytest.mark.parametrize("broken", ["numpy.lib.format.write_array", "os.fsync", "os.replace"])
def test_a_write_that_fails_leaves_the_old_file(broken, tmp_path, monkeypatch):
    path = tmp_path / "lesson"
    old = small_lesson(max_iterations=3)
    old.save(path)

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(broken, full)
    with pytest.raises(OSError, match="No space left"):
        small_lesson(max_iterations=9).save(path)
    monkeypatch.undo()
    assert_same_lesson(nimt.Lesson.load(path), old)
    assert os.listdir(tmp_path) == ["lesson"]


def test_a_file_has_the_usual_permissions(tmp_path):
    small_lesson(max_iterations=1).save(tmp_path / "lesson")
    (tmp_path / "plain").touch()
    assert (tmp_path / "lesson").stat().st_mode == (tmp_path / "plain").stat().st_mode
