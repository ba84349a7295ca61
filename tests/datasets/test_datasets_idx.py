"""MNIST and EMNIST files: read right, and refused with a sentence when they are not right."""

import gzip
import hashlib
import math
import struct

import numpy as np
import pytest

import nimt.datasets.idx
from nimt.datasets import closest_letter, data_folder, digits_from_mnist, letter_o, read_emnist_o, read_mnist, scale_to
from nimt.datasets.idx import IMAGES, LABELS, read_idx, read_labelled
from nimt.errors import InvalidInput


def zipped(content):
    return gzip.compress(content, mtime=0)


def idx(values):
    values = np.asarray(values, dtype=np.uint8)
    return bytes((0, 0, 8, values.ndim)) + struct.pack(f">{values.ndim}I", *values.shape) + values.tobytes()


def write_mnist(folder, part, images, labels, compress=False):
    for name, values in ((f"{part}-images-idx3-ubyte", images), (f"{part}-labels-idx1-ubyte", labels)):
        content = idx(values)
        if compress:
            (folder / f"{name}.gz").write_bytes(zipped(content))
        else:
            (folder / name).write_bytes(content)


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (6, 28, 28), dtype=np.uint8)


@pytest.fixture
def labels():
    return np.array([3, 0, 8, 8, 0, 1], dtype=np.uint8)


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("subfolder", ["", "mnist", "MNIST/raw"])
def test_what_was_written_is_read(tmp_path, images, labels, compress, subfolder):
    place = tmp_path / subfolder
    place.mkdir(parents=True, exist_ok=True)
    write_mnist(place, "train", images, labels, compress)
    read_images, read_labels = read_mnist("train", tmp_path, verify=False)
    np.testing.assert_array_equal(read_images, images)
    np.testing.assert_array_equal(read_labels, labels)


def test_gzip_is_recognised_by_content_not_by_name(tmp_path, labels):
    path = tmp_path / "labels"
    path.write_bytes(zipped(idx(labels)))
    np.testing.assert_array_equal(read_idx(path, LABELS), labels)


def test_zero_and_eight_are_made_as_published(tmp_path, images, labels):
    write_mnist(tmp_path, "train", images, labels)
    write_mnist(tmp_path, "t10k", images[::-1], labels)
    zero, eight = digits_from_mnist(tmp_path, verify=False)
    zeros = [images[1], images[4], images[::-1][1], images[::-1][4]]
    for row in range(28):
        for column in range(28):
            mean = sum(int(picture[row, column]) for picture in zeros) / 4 / 255
            assert math.isclose(zero.values[row, column], mean, rel_tol=1e-14)
    np.testing.assert_array_equal(eight.values, images[2] / 255)
    assert not zero.original and not eight.original
    assert "not verified" in zero.source


def test_files_that_are_not_the_published_ones_are_refused_unless_told(tmp_path, images, labels):
    write_mnist(tmp_path, "train", images, labels)
    with pytest.raises(InvalidInput, match=r"not the published one.*verify=False"):
        read_mnist("train", tmp_path)


def test_the_checksum_is_of_the_content_uncompressed(tmp_path, labels):
    checksum = hashlib.sha256(idx(labels)).hexdigest()
    for content in (idx(labels), zipped(idx(labels))):
        (tmp_path / "labels").write_bytes(content)
        np.testing.assert_array_equal(read_idx(tmp_path / "labels", LABELS, checksum), labels)


@pytest.mark.parametrize("missing", [0, 8])
def test_digits_need_a_zero_and_an_eight(tmp_path, images, labels, missing):
    labels[labels == missing] = 5
    write_mnist(tmp_path, "train", images, labels)
    write_mnist(tmp_path, "t10k", images, labels)
    with pytest.raises(InvalidInput, match="needs a 0 and a training 8"):
        digits_from_mnist(tmp_path, verify=False)


def test_missing_files_say_where_to_put_them(tmp_path):
    with pytest.raises(InvalidInput, match=r"train-images-idx3-ubyte or .*\.gz was not found \(it is not in .*NIMT_"):
        read_mnist("train", tmp_path)
    with pytest.raises(InvalidInput, match=r"emnist-letters.* was not found.*NIMT_DATA"):
        read_emnist_o(tmp_path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\0", "starts with '00'"),
        (b"PK\3\4 a zip file", "starts with '504b0304'"),
        (idx(np.zeros((2, 28, 28))), "starts with '00000803'"),
        (idx([1, 2, 3])[:6], "ends inside its header"),
        (idx([1, 2, 3])[:-1], "2 of the 3 bytes announced"),
        (idx([1, 2, 3]) + b"\0", "goes on after the 3 bytes"),
        (b"\0\0\x08\1\xff\xff\xff\xff", "announces sizes"),
        (b"\0\0\x08\1\0\0\0\0", "announces sizes"),
        (zipped(idx([1, 2, 3]))[:-9], "cannot be read"),
        (zipped(idx([1, 2, 3]))[:5], "cannot be read"),
        (b"\x1f\x8b", "cannot be read"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",
)
def test_a_wrong_file_is_refused_with_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "labels"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=sentence) as caught:
        read_idx(path, LABELS)
    assert repr(str(path)) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_small_gzip_file_that_grows_without_end_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(nimt.datasets.idx, "_LARGEST", 1000)
    path = tmp_path / "labels"
    path.write_bytes(zipped(idx(np.zeros(1001))))
    with pytest.raises(InvalidInput, match="announces sizes"):
        read_idx(path, LABELS)


def test_images_and_labels_belong_together(tmp_path, images, labels):
    write_mnist(tmp_path, "train", images, labels[:-1])
    with pytest.raises(InvalidInput, match=r"6 images and .* 5 labels"):
        read_mnist("train", tmp_path, verify=False)
    write_mnist(tmp_path, "train", images[:, :, :20], labels)
    with pytest.raises(InvalidInput, match=r"\(28, 20\), not \(28, 28\)"):
        read_mnist("train", tmp_path, verify=False)
    write_mnist(tmp_path, "train", images, labels + 10)
    with pytest.raises(InvalidInput, match="go up to 18"):
        read_mnist("train", tmp_path, verify=False)


@pytest.mark.parametrize("part", ["test", "", None, "../train"])
def test_the_parts_have_names(tmp_path, part):
    with pytest.raises(InvalidInput, match="'train' and 't10k'"):
        read_mnist(part, tmp_path)


def test_a_folder_where_a_file_should_be(tmp_path):
    (tmp_path / "train-images-idx3-ubyte").mkdir()
    (tmp_path / "train-labels-idx1-ubyte").mkdir()
    with pytest.raises(InvalidInput, match="is a folder"):
        read_mnist("train", tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("compress", [False, True])
def test_no_damage_raises_anything_but_invalid_input(tmp_path, images, labels, compress):
    rng = np.random.default_rng(1)
    good = [idx(images), idx(labels)]
    if compress:
        good = [zipped(content) for content in good]
    paths = [tmp_path / "images", tmp_path / "labels"]
    refused = 0
    for turn in range(400):
        content = list(good)
        which = turn % 2
        damaged = bytearray(content[which])
        if turn % 4 < 2:
            reach = len(damaged) if turn % 8 < 4 else min(24, len(damaged))
            damaged[rng.integers(reach)] ^= 1 << rng.integers(8)
        else:
            del damaged[rng.integers(len(damaged)) :]
        content[which] = bytes(damaged)
        for path, what in zip(paths, content, strict=True):
            path.write_bytes(what)
        try:
            read_images, read_labels = read_labelled(*paths)
        except InvalidInput:
            refused += 1
        else:
            assert read_images.shape == (6, 28, 28) and read_labels.shape == (6,)
    assert refused >= 200  # every truncation, at least


def write_emnist(folder, split, part, upright, labels):
    stored = np.transpose(upright, (0, 2, 1))
    (folder / f"emnist-{split}-{part}-images-idx3-ubyte.gz").write_bytes(zipped(idx(stored)))
    (folder / f"emnist-{split}-{part}-labels-idx1-ubyte.gz").write_bytes(zipped(idx(labels)))


@pytest.mark.parametrize(("split", "label"), [("letters", 15), ("balanced", 24), ("byclass", 24), ("bymerge", 24)])
def test_emnist_letters_come_upright(tmp_path, images, split, label):
    write_emnist(tmp_path, split, "train", images, [1, label, 3, 4, label, 6])
    write_emnist(tmp_path, split, "test", images[::-1], [label, 1, 2, 3, 4, 5])
    np.testing.assert_array_equal(read_emnist_o(tmp_path), images[[1, 4, 5]])


def test_emnist_without_an_o_is_refused(tmp_path, images):
    write_emnist(tmp_path, "letters", "train", images, [1, 2, 3, 4, 5, 6])
    with pytest.raises(InvalidInput, match="labelled O"):
        read_emnist_o(tmp_path)


def test_the_letter_is_the_closest_one_before_scaling_then_scaled(tmp_path, images):
    write_emnist(tmp_path, "letters", "train", images, [15] * 6)
    target = 0.5 * images[3] / 255 + 0.01
    letter = letter_o(target, tmp_path)
    distances = []
    for picture in images:
        total = 0.0
        for row in range(28):
            for column in range(28):
                total += (picture[row, column] / 255 - target[row, column]) ** 2
        distances.append(math.sqrt(total) / 784)
    chosen = distances.index(min(distances))
    assert chosen == 3
    np.testing.assert_allclose(letter.values, images[chosen] / images[chosen].max() * target.max(), rtol=1e-14)
    assert letter.original and "among 6 of EMNIST" in letter.source


def test_equal_letters_go_to_the_lowest_index():
    target = np.zeros((2, 2))
    letters = np.array([np.full((2, 2), 3.0), np.full((2, 2), -1.0), np.full((2, 2), 1.0)])
    assert closest_letter(letters, target) == 1


@pytest.mark.parametrize(
    ("letters", "target"),
    [
        ([], [[1.0]]),
        ([[1.0]], [[1.0]]),
        ([[[1.0, 2.0]]], [[1.0]]),
        ([[[np.nan]]], [[1.0]]),
        ([[[1.0]]], [[np.nan]]),
        ("O", [[1.0]]),
    ],
)
def test_letters_that_cannot_be_compared(letters, target):
    with pytest.raises(InvalidInput):
        closest_letter(letters, target)


@pytest.mark.parametrize(
    ("letter", "target"), [([[0.0]], [[1.0]]), ([[1.0]], [[0.0]]), ([[]], [[1.0]]), ([[np.inf]], [[1]])]
)
def test_a_blank_letter_cannot_be_scaled(letter, target):
    with pytest.raises(InvalidInput, match="above 0"):
        scale_to(letter, target)


@pytest.mark.parametrize("target", [np.zeros((3, 3)), np.full((28, 28), np.nan), "zero"])
def test_the_target_of_a_letter_is_checked(tmp_path, target):
    with pytest.raises(InvalidInput):
        letter_o(target, tmp_path)


def test_the_data_folder_is_the_one_given_then_the_environment_and_no_other(tmp_path, monkeypatch):
    given, told = (tmp_path / name for name in ("given", "told"))
    given.mkdir()
    told.mkdir()
    monkeypatch.setenv("NIMT_DATA", str(told))
    assert data_folder(given) == given
    assert data_folder() == told
    monkeypatch.delenv("NIMT_DATA")
    assert data_folder() is None
    with pytest.raises(InvalidInput, match="no data folder is named"):
        read_mnist("train")
    monkeypatch.setenv("NIMT_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InvalidInput, match="no data folder"):
        data_folder()


@pytest.mark.parametrize("folder", ["no/such/folder", "a\0b", 5, "~nobody-of-this-name/x", "x" * 5000])
def test_a_data_folder_that_cannot_be(folder):
    with pytest.raises(InvalidInput):
        data_folder(folder)


def test_a_data_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput, match="is not a folder"):
        data_folder(tmp_path / "file")


def test_dimensions_of_images(tmp_path, images):
    (tmp_path / "images").write_bytes(idx(images))
    read = read_idx(tmp_path / "images", IMAGES)
    assert read.shape == (6, 28, 28)
    assert not read.flags.writeable
