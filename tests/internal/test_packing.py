"""Files stay small and lose nothing: equal arrays once, whole numbers by their range, snapshots by what changed."""

import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import nimt
from nimt.store import records
from nimt.store.codings import decode, encode
from nimt.store.packing import MOST_PER_BYTE, SMALLEST_LIMIT, Packer, most_unpacked, with_arrays

ARRAYS = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.int16, np.uint64, np.uint8, np.bool_]),
    hnp.array_shapes(min_dims=0, max_dims=3, max_side=40),
)


def again(content, **options):
    packer = Packer(**options)
    plain = packer.without_arrays(content)
    return with_arrays(plain, packer.arrays, packer.steps, packer.unpacked), packer


def assert_same(one, other):
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype and one.shape == other.shape
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    else:
        assert one == other


@pytest.mark.long
@given(st.dictionaries(st.text(max_size=3), ARRAYS, max_size=5))
@settings(max_examples=60, deadline=None)
def test_packing_loses_nothing(content):
    assert_same(again({"part": content})[0], {"part": content})
    assert_same(again({"part": content}, small=False)[0], {"part": content})


def test_a_series_is_exact_also_at_nan_infinity_and_minus_zero():
    rng = np.random.default_rng(0)
    odd = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 1e308])
    series = {str(step): rng.permutation(odd) for step in range(6)}
    found, packer = again({"snapshots": series})
    assert_same(found["snapshots"], series)
    assert sum("after" in step for step in packer.steps.values()) == 5


def test_equal_arrays_are_kept_once_and_come_back_in_every_place():
    target = np.random.default_rng(0).normal(size=500)
    found, packer = again({"target": target, "settings": {"target": target.copy(), "other": target + 1}})
    assert len(packer.arrays) == 2
    assert_same(found["settings"]["target"], target)


@pytest.mark.parametrize(
    ("low", "high", "kind"), [(0, 255, "u1"), (0, 256, "u2"), (-1, 100, "i1"), (0, 2**33, "i8"), (-(2**31), 5, "i4")]
)
def test_whole_numbers_take_the_bytes_of_their_range(low, high, kind):
    numbers = np.full(1000, low, dtype=np.int64)
    numbers[-1] = high
    found, packer = again({"n": numbers})
    assert packer.arrays["array_0"].dtype == np.dtype(kind)
    assert_same(found["n"], numbers)


@pytest.mark.parametrize(
    "steps",
    [
        [], {"array_9": {}}, {"array_0": 3}, {"array_0": {"after": "array_0"}}, {"array_1": {"after": 7}},
        {"array_1": {"after": "array_0"}}, {"array_0": {"dtype": "O"}}, {"array_0": {"dtype": "<f8"}},
        {"array_0": {"dtype": ["<i8"]}}, {"array_0": {"planes": 3}}, {"array_0": {"planes": {}}},
        {"array_0": {"planes": {"dtype": "<f8", "shape": [3], "compressed": [0]}}}, {"array_0": {"palette": None}},
        {"array_0": {"palette": {"dtype": "<f8", "bits": [0]}}},
    ],
)  # fmt: skip
def test_forged_packing_is_refused(steps):
    arrays = {"array_0": np.zeros(3), "array_1": np.zeros(4, np.uint64)}
    with pytest.raises(nimt.errors.CorruptLesson, match="altered"):
        with_arrays({"a": {"array": "array_0"}}, arrays, steps, 1000)


def test_one_array_in_many_places_cannot_fill_the_memory(tmp_path):
    many = {str(step): {"array": "array_0"} for step in range(1000)}
    with pytest.raises(nimt.errors.CorruptLesson, match="more than 100,000 bytes"):
        with_arrays(many, {"array_0": np.zeros(100)}, {}, 100_000)


@pytest.mark.long
def test_a_compressed_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "lesson"
    monkeypatch.setattr(records, "most_unpacked", lambda size: 10**9)
    records.write(path, "lesson", {"zeros": np.zeros(2 * 10**7, np.float32)})
    assert path.stat().st_size < SMALLEST_LIMIT / MOST_PER_BYTE
    monkeypatch.undo()
    with pytest.raises(nimt.errors.CorruptLesson, match="bytes of memory"):
        records.read(path, "lesson")


def test_a_file_that_would_be_taken_for_a_trap_is_written_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "most_unpacked", lambda size: max(1000, 10 * size))
    content = {"zeros": np.zeros(10_000), "more": [np.zeros(10_000)] * 3}
    records.write(tmp_path / "lesson", "lesson", content)
    assert (tmp_path / "lesson").stat().st_size > 4 * 80_000
    assert_same(records.read(tmp_path / "lesson", "lesson")["zeros"], content["zeros"])


@given(st.integers(0, 10**9))
def test_what_fits_a_file_grows_with_it(size):
    assert most_unpacked(size) >= max(SMALLEST_LIMIT, 100 * size)


def test_compressing_must_be_worth_it(tmp_path):
    content = {"sparse": np.zeros(5000), "dense": np.random.default_rng(0).normal(size=5000)}
    records.write(tmp_path / "file", "lesson", content, worth=4.0)
    with zipfile.ZipFile(tmp_path / "file") as archive:
        kinds = {member.filename: member.compress_type for member in archive.infolist()}
    assert kinds["array_0.npy"] == zipfile.ZIP_DEFLATED and kinds["array_1.npy"] == zipfile.ZIP_STORED


def test_a_lesson_on_a_picture_takes_a_fraction_of_its_arrays(tmp_path):
    picture = np.round(np.hypot(*np.meshgrid(np.linspace(-1, 1, 60), np.linspace(-1, 1, 50))) * 255) / 255
    grid = nimt.Grid.like(picture)
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate="auto")
    lesson = nimt.teach(
        learner, nimt.GreedyTeacher(), grid, picture, max_iterations=3000, tol=None, snapshots=range(0, 3001, 150)
    )
    lesson.save(tmp_path / "lesson")
    raw = sum(values.nbytes for values in lesson.snapshots.values()) + lesson.indices.nbytes + lesson.labels.nbytes
    assert (tmp_path / "lesson").stat().st_size < raw / 3
    loaded = nimt.Lesson.load(tmp_path / "lesson")
    np.testing.assert_array_equal(loaded.labels, lesson.labels)
    np.testing.assert_array_equal(loaded.final, lesson.final)
    assert all(np.array_equal(loaded.snapshots[step], values) for step, values in lesson.snapshots.items())


def test_a_long_series_of_short_arrays_is_one_array_and_exact():
    rng = np.random.default_rng(0)
    odd = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 1e308])
    series = {str(step): rng.permutation(odd).reshape(4, 2) for step in range(100)}
    found, packer = again({"snapshots": series})
    assert_same(found["snapshots"], series)
    assert len(packer.arrays) == 1


@pytest.mark.parametrize("keys", [["0"] * 40, list(range(40)), [str(key) for key in range(39)], "0", None])
def test_a_long_series_whose_keys_were_altered_is_refused(keys):
    packer = Packer()
    plain = packer.without_arrays({str(step): np.full(8, float(step)) for step in range(40)})
    with pytest.raises(nimt.errors.CorruptLesson, match="series"):
        with_arrays(plain | {"keys": keys}, packer.arrays, packer.steps, packer.unpacked)


def test_a_long_series_of_another_type_is_refused():
    packer = Packer()
    plain = packer.without_arrays({str(step): np.full(8, float(step)) for step in range(40)})
    for wrong in (np.zeros((40, 8)), np.zeros(40, dtype=np.uint64)):
        with pytest.raises(nimt.errors.CorruptLesson, match="series"):
            with_arrays(plain, {plain["series"]: wrong}, {}, packer.unpacked)


# ---------------------------------------------------------------- planes and palettes

RNG = np.random.default_rng(0)
LARGE = {
    "of one size": RNG.normal(5.0, 0.1, size=(900, 3)),
    "8 bits": (RNG.integers(0, 256, size=(900, 3)) / 255)[::-1],
    "nan and minus zero": RNG.choice([0.0, -0.0, np.nan, np.inf, 1e-320], size=4000),
    "not in order": RNG.normal(5.0, 0.1, size=(3, 900)).T,
    "whole": RNG.integers(0, 70_000, size=(2000, 1)).astype(np.uint32),
    "random": RNG.integers(0, 2**63, size=3000).astype(np.uint64),
    "short": RNG.normal(size=20),
    "many pieces": np.cumsum(RNG.normal(size=40_000)),
}


@pytest.mark.parametrize("array", LARGE.values(), ids=LARGE)
def test_codings_lose_nothing(array, tmp_path):
    found = encode(array, 1.1)
    assert_same(decode(found.array, found.how, found.rest), np.ascontiguousarray(array))
    records.write(tmp_path / "file", "lesson", {"it": array})
    assert_same(records.read(tmp_path / "file", "lesson")["it"], np.ascontiguousarray(array))


def test_a_coding_is_taken_where_it_pays():
    kinds = {name: [*encode(array, 1.1).how] for name, array in LARGE.items()}
    assert kinds == {
        "of one size": ["planes"], "8 bits": ["palette"], "nan and minus zero": ["palette"], "not in order": ["planes"],
        "whole": ["planes"], "random": [], "short": [], "many pieces": ["planes"],
    }  # fmt: skip
    assert encode(LARGE["8 bits"], 1.1).array.dtype == np.uint8
    planes = encode(LARGE["of one size"], 1.1)
    assert planes.rest is not None and len(planes.array) + len(planes.rest) == 8
    assert all(encode(array, np.inf).how == {} for array in LARGE.values())


PLANES = {"dtype": "<u2", "shape": [3], "compressed": [1]}
PALETTE = {"dtype": "<f8", "bits": [0, 1]}
FORGED = {
    "another type": {"planes": PLANES | {"dtype": "O"}},
    "a type that is none": {"planes": PLANES | {"dtype": ["<u2"]}},
    "another shape": {"planes": PLANES | {"shape": [4]}},
    "any length": {"planes": PLANES | {"shape": [-1]}},
    "no shape": {"planes": PLANES | {"shape": 3}},
    "a plane twice": {"planes": PLANES | {"compressed": [1, 1]}},
    "no such plane": {"planes": PLANES | {"compressed": [2]}},
    "no plane": {"planes": PLANES | {"compressed": []}},
    "planes in words": {"planes": PLANES | {"compressed": ["1"]}},
    "more than is known": {"planes": PLANES | {"more": 1}},
    "not all values": {"palette": PALETTE | {"bits": [7]}},
    "values in words": {"palette": PALETTE | {"bits": ["a", "b"]}},
    "values too large": {"palette": PALETTE | {"bits": [0, 2**64]}},
    "negative values": {"palette": PALETTE | {"bits": [0, -1]}},
    "a palette of objects": {"palette": PALETTE | {"dtype": "O"}},
}


@pytest.mark.parametrize("how", FORGED.values(), ids=FORGED)
def test_a_forged_coding_is_refused(how):
    arrays = {"array_0": np.array([[0, 1, 0]], np.uint8), "array_0_rest": np.zeros((1, 3), np.uint8)}
    with pytest.raises(nimt.errors.CorruptLesson, match="altered"):
        with_arrays({"a": {"array": "array_0"}}, arrays, {"array_0": how}, 1000)
    for right, shape in (({"planes": PLANES}, (3,)), ({"palette": PALETTE}, (1, 3))):
        found = with_arrays({"a": {"array": "array_0"}}, arrays, {"array_0": right}, 1000)["a"]
        assert found.shape == shape


def test_a_palette_cannot_fill_the_memory():
    arrays = {"array_0": np.zeros(1000, np.uint8)}
    with pytest.raises(nimt.errors.CorruptLesson, match="more than 7,999 bytes"):
        with_arrays({}, arrays, {"array_0": {"palette": PALETTE}}, 7_999)
