"""What ships with the package: the published digits, and stand-ins that say they are."""

import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest
from PIL import Image

from nimt.datasets import Picture, cat, cheetah, draw_o, first_eight, letter_o, mean_zero, portraits, standardise
from nimt.errors import InvalidInput


@pytest.fixture(autouse=True)
def _no_data_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("NIMT_DATA", str(tmp_path))


def test_the_digits_are_the_published_ones():
    zero, eight = mean_zero(), first_eight()
    for digit in (zero, eight):
        assert digit.values.shape == (28, 28)
        assert digit.values.dtype == np.float64
        assert digit.values.min() >= 0 and digit.values.max() <= 1
        assert digit.original
        assert digit.caption.startswith("Published data: ")
    distance = np.linalg.norm(eight.values - zero.values)
    assert round(distance, 5) == 8.71034
    assert round(100 * distance / 784, 4) == 1.1110
    assert "6,903" in zero.source


def test_the_eight_is_one_image_of_bytes():
    bytes_again = first_eight().values * 255
    np.testing.assert_allclose(bytes_again, np.round(bytes_again), rtol=0, atol=1e-12)
    assert first_eight().values.max() == 1.0


def test_the_zero_is_a_mean_of_6903_images_of_bytes():
    total = mean_zero().values * 255 * 6903
    np.testing.assert_allclose(total, np.round(total), rtol=0, atol=1e-8)
    assert 0 < mean_zero().values.max() < 1


@pytest.mark.parametrize("picture", [*portraits(), cat()], ids=lambda picture: picture.name)
def test_stand_ins_are_standardised_and_say_what_they_are(picture):
    values = picture.values
    mean = sum(values.flat) / values.size
    variance = sum((value - mean) ** 2 for value in values.flat) / (values.size - 1)
    assert abs(mean) < 1e-12
    assert abs(variance - 1) < 1e-12
    assert not picture.original
    assert picture.caption.startswith("Stand-in for the published data: ")
    assert picture.licence in ("CC0", "public domain")


def test_shapes_of_the_stand_ins():
    assert [face.values.shape for face in portraits()] == [(64, 64), (64, 64)]
    assert cat().values.shape == (92, 92)
    assert cheetah().source == cat().source


@pytest.mark.parametrize(
    ("picture", "file", "sign"),
    [(portraits()[0], "collins.png", 1), (portraits()[1], "hopper.png", 1), (cat(), "chelsea.png", -1)],
)
def test_the_faces_are_not_inverted_and_the_cat_is(picture, file, sign):
    with (files("nimt.datasets") / "files" / file).open("rb") as content, Image.open(content) as image:
        pixels = np.asarray(image, dtype=float)
    brightness = np.corrcoef(pixels.ravel(), picture.values.ravel())[0, 1]
    assert abs(brightness - sign) < 1e-12


def test_the_drawn_letter_is_a_ring_scaled_to_the_target():
    ink = draw_o().values
    assert ink.shape == (28, 28)
    assert ink.max() == 1.0 and ink.min() >= 0
    assert ink[13:15, 13:15].max() < 0.01 and ink[0].max() < 0.01
    np.testing.assert_allclose(ink, ink[::-1], atol=1e-15)
    np.testing.assert_allclose(ink, ink[:, ::-1], atol=1e-15)
    zero = mean_zero().values
    letter = letter_o(zero)
    assert letter.values.max() == zero.max()
    assert not letter.original
    np.testing.assert_allclose(letter.values, ink * zero.max(), rtol=1e-15)


def test_a_picture_is_read_only_and_keeps_its_own_copy():
    mine = np.zeros((2, 2))
    picture = Picture(mine, "mine", "Made here.", False, "MIT")
    mine[0, 0] = 5
    assert picture.values[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        picture.values[0, 0] = 1
    with pytest.raises(AttributeError):
        picture.name = "yours"


@pytest.mark.parametrize("values", [[1, 2], [[]], [[np.nan]], [["a"]], [[1], [2, 3]], None])
def test_a_picture_refuses_what_is_none(values):
    with pytest.raises(InvalidInput):
        Picture(values, "wrong", "Made here.", False, "MIT")


@pytest.mark.parametrize("values", [[[1.0]], [[2.0, 2.0]], [[0.1, 0.1, 0.1]], [[np.inf, 1]], [[1e308, -1e308]], "x"])
def test_standardised_refuses_what_has_no_deviation(values):
    with pytest.raises(InvalidInput):
        standardise(values)


def test_every_shipped_file_is_small_and_has_its_terms_beside_it():
    folder = files("nimt.datasets") / "files"
    terms = (folder / "LICENCES.md").read_text(encoding="utf-8")
    shipped = [file for file in folder.iterdir() if file.name != "LICENCES.md"]
    assert len(shipped) == 6
    assert sum(len(file.read_bytes()) for file in shipped) < 150_000
    for file in shipped:
        assert f"`{file.name}`" in terms


@pytest.mark.long
def test_importing_the_datasets_loads_nothing_heavy():
    code = "import sys, nimt.datasets; print([m for m in ('sklearn', 'matplotlib', 'numba') if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
