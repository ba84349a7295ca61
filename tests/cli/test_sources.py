"""Pictures, arrays, tables and functions come out as the functions they are."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from nimt.errors import InvalidInput
from nimt.pools.pool import Grid, Points
from nimt.sources import read_problem, read_source
from nimt.sources.functions import NAMES
from nimt.sources.tables import Columns, read_table


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


GREY = np.array([[0, 60, 120], [180, 240, 255]], dtype=np.uint8)
COLOUR = np.stack([GREY, GREY[::-1], 255 - GREY], axis=2)
LUMINANCE = COLOUR @ np.array([0.299, 0.587, 0.114]) / 255


@pytest.mark.parametrize("ending", ["png", "tiff", "webp", "gif", "bmp"])
def test_grey_pictures_in_every_format(ending):
    options = {"lossless": True} if ending == "webp" else {}
    Image.fromarray(GREY).save(f"picture.{ending}", **options)
    source = read_source(f"picture.{ending}")
    assert isinstance(source.pool, Grid) and source.pool.shape == (2, 3)
    np.testing.assert_allclose(source.values, GREY.ravel() / 255, atol=1e-12)


@pytest.mark.long
def test_a_photo_is_read_as_large_as_it_is():
    """A small JPEG of a smooth scene has few bytes for its pixels; it is read all the same."""
    Image.new("RGB", (1200, 800), (200, 40, 90)).save("photo.jpg")
    assert read_source("photo.jpg", size=0).values.shape == (960_000, 3)
    Image.new("RGB", (2400, 1600), (200, 40, 90)).save("photo.jpg")
    with pytest.raises(InvalidInput, match="size="):
        read_source("photo.jpg", size=0)


def test_colour_is_three_outputs_and_luminance_where_grey_is_asked_for():
    Image.fromarray(COLOUR).save("picture.png")
    source = read_source("picture.png")
    assert source.pool.shape == (2, 3)
    np.testing.assert_array_equal(source.values, COLOUR.reshape(-1, 3) / 255)
    np.testing.assert_allclose(read_source("picture.png", grey=True).values, LUMINANCE.ravel(), atol=1e-12)


def test_a_colour_file_of_greys_is_one_output():
    Image.fromarray(np.repeat(GREY[:, :, np.newaxis], 3, axis=2)).save("picture.png")
    np.testing.assert_allclose(read_source("picture.png").values, GREY.ravel() / 255, atol=1e-12)


def test_a_colour_picture_is_shrunk_and_enlarged_channel_by_channel():
    rows, columns = np.mgrid[:40, :60]
    colours = np.stack([5 * rows, 4 * columns, 255 - 3 * rows - columns], axis=2).astype(np.uint8)
    Image.fromarray(colours).save("picture.png")
    for size, shape in ((30, (20, 30)), (90, (60, 90))):
        found = read_source("picture.png", size=size)
        assert found.pool.shape == shape and found.values.shape == (shape[0] * shape[1], 3)
        for channel in range(3):
            Image.fromarray(colours[:, :, channel]).save("channel.png")
            alone = read_source("channel.png", size=size).values
            np.testing.assert_allclose(found.values[:, channel], alone, atol=1e-6)


def test_a_colour_picture_is_normalised_as_a_whole():
    Image.fromarray(COLOUR).save("picture.png")
    standard = read_source("picture.png", normalise="standard").values
    assert abs(standard.mean()) < 1e-12 and abs(standard.std(ddof=1) - 1) < 1e-12
    unit = read_source("picture.png", normalise="unit").values
    assert (unit.min(), unit.max()) == (0.0, 1.0)


def test_the_outputs_of_a_problem_are_those_of_its_target():
    Image.fromarray(COLOUR).save("colour.png")
    Image.fromarray(GREY).save("grey.png")
    problem = read_problem("colour.png", "grey.png")
    np.testing.assert_array_equal(problem.initial, np.repeat(GREY.reshape(-1, 1) / 255, 3, axis=1))
    assert read_problem("colour.png").initial.tolist() == [[0.0] * 3] * 6
    problem = read_problem("grey.png", "colour.png")
    assert problem.target.shape == (6,)
    np.testing.assert_allclose(problem.initial, LUMINANCE.ravel(), atol=1e-12)
    assert read_problem("zero", "colour.png").target.tolist() == [[0.0] * 3] * 6
    assert read_problem("colour.png", "grey.png", other_target="zero").other_target.shape == (6, 3)
    assert read_problem("colour.png", "colour.png", grey=True).initial.shape == (6,)


def test_an_array_that_may_be_meant_as_colour_says_how_it_is_taught():
    np.save("colour.npy", COLOUR)
    (note,) = read_source("colour.npy").notes
    assert "function of three variables" in note and ".png" in note


def test_jpeg_is_read_about_right():
    smooth = np.tile(np.linspace(0, 255, 32), (32, 1)).astype(np.uint8)
    Image.fromarray(smooth).save("picture.jpg", quality=95)
    assert np.abs(read_source("picture.jpg").values - smooth.ravel() / 255).max() < 0.03


def test_alpha_is_laid_on_white():
    alpha = np.full((2, 3), 255, dtype=np.uint8)
    alpha[0, 0] = 0
    Image.fromarray(np.dstack([COLOUR, alpha])).save("picture.png")
    expected = LUMINANCE.copy()
    expected[0, 0] = 1.0
    np.testing.assert_allclose(read_source("picture.png", grey=True).values, expected.ravel(), atol=1e-12)
    assert read_source("picture.png").values[0].tolist() == [1.0, 1.0, 1.0]


def test_sixteen_bits_keep_their_depth():
    deep = np.array([[0, 1, 65535]], dtype=np.uint16)
    Image.fromarray(deep).save("picture.png")
    np.testing.assert_allclose(read_source("picture.png").values, deep.ravel() / 65535, atol=1e-15)


def test_a_palette_is_looked_up():
    image = Image.new("P", (3, 1))
    image.putpalette([0, 0, 0, 255, 255, 255, 255, 0, 0])
    image.putdata([1, 0, 2])
    image.save("picture.png")
    np.testing.assert_allclose(read_source("picture.png", grey=True).values, [1.0, 0.0, 0.299], atol=1e-12)
    np.testing.assert_array_equal(read_source("picture.png").values, [[1, 1, 1], [0, 0, 0], [1, 0, 0]])


def test_cmyk_is_converted():
    Image.new("CMYK", (3, 2), (0, 0, 0, 255)).save("picture.tiff")
    np.testing.assert_allclose(read_source("picture.tiff").values, 0.0, atol=1e-12)


def test_exif_rotation_is_followed():
    exif = Image.Exif()
    exif[0x0112] = 6  # turn a quarter clockwise to see it upright
    Image.fromarray(GREY).save("picture.png", exif=exif)
    source = read_source("picture.png")
    assert source.pool.shape == (3, 2)
    np.testing.assert_allclose(source.values, np.rot90(GREY, -1).ravel() / 255, atol=1e-12)


def test_a_large_picture_is_shrunk_and_says_so():
    Image.fromarray(np.zeros((100, 200), np.uint8)).save("picture.png")
    source = read_source("picture.png")
    assert source.pool.shape == (48, 96)
    shrunk = "picture.png is 200 x 100 and was shrunk to 96 x 48"
    assert source.notes == (f"{shrunk}: size= sets another size",)
    assert source.notes[0].in_program == f"{shrunk}: --size sets another size"
    assert read_source("picture.png", size=0).pool.shape == (100, 200)
    assert read_source("picture.png", size=20).pool.shape == (10, 20)


def test_arrays_of_one_to_three_dimensions():
    for shape in ((5,), (2, 3), (2, 3, 4)):
        values = np.random.default_rng(0).normal(size=shape)
        np.save("array.npy", values)
        np.savez("array.npz", anything=values)
        np.savez_compressed("small.npz", values)
        np.save("fortran.npy", np.asfortranarray(values))
        for name in ("array.npy", "array.npz", "small.npz", "fortran.npy"):
            source = read_source(name)
            assert source.pool.shape == shape
            np.testing.assert_array_equal(source.values, values.ravel())


@pytest.mark.parametrize("kind", ["f4", ">f8", "i2", "u1", "?"])
def test_arrays_of_every_real_kind(kind):
    values = np.array([0, 1, 1, 0]).astype(kind)
    np.save("array.npy", values)
    np.testing.assert_array_equal(read_source("array.npy").values, [0.0, 1.0, 1.0, 0.0])


def test_normalised_values():
    np.save("array.npy", [1.0, 2.0, 6.0])
    np.testing.assert_allclose(read_source("array.npy", normalise="unit").values, [0.0, 0.2, 1.0])
    standard = read_source("array.npy", normalise="standard").values
    assert standard.mean() == pytest.approx(0, abs=1e-15) and standard.std(ddof=1) == pytest.approx(1)
    assert read_source("gmm", normalise="standard").values.max() == read_source("gmm").values.max()
    np.save("flat.npy", [1.0, 1.0])
    with pytest.raises(InvalidInput, match="is 1 everywhere"):
        read_source("flat.npy", normalise="unit")


def test_a_table_takes_its_last_column_as_the_target_and_says_so(here):
    (here / "table.csv").write_text("a,b,y\n1,2,3\n4,5,6\n")
    source = read_source("table.csv", columns=Columns(scale=False))
    assert isinstance(source.pool, Points)
    np.testing.assert_array_equal(source.pool.points, [[1, 2], [4, 5]])
    np.testing.assert_array_equal(source.values, [3, 6])
    assert source.notes == ("table.csv: features a, b; target y",)


@pytest.mark.parametrize(
    "text", ["y;a;b\r\n3;1;9\r\n6;4;8\r\n", "\ufeffy,a,b\n3,1,9\n6,4,8\n", '"y","a","b"\n3,1,9\n6,4,8\n']
)
def test_chosen_columns_of_tables_as_programs_write_them(here, text):
    (here / "table.csv").write_text(text, encoding="utf-8", newline="")
    source = read_table("table.csv", Columns(features=("a",), target="y", scale=False))
    np.testing.assert_array_equal(source.pool.points, [[1], [4]])
    np.testing.assert_array_equal(source.values, [3, 6])
    assert source.notes == ()


def test_a_table_without_names(here):
    (here / "table.csv").write_text("1,2\n3,4\n")
    source = read_source("table.csv")
    np.testing.assert_array_equal(source.values, [2, 4])
    assert source.notes == ("table.csv: features column 1; target column 2",)


def test_duplicates_are_averaged_in_the_order_of_the_file(here):
    (here / "table.csv").write_text("x,y\n5,1\n2,3\n5,2\n2,3\n7,0.1\n")
    source = read_table("table.csv", Columns(duplicates="mean", scale=False))
    np.testing.assert_array_equal(source.pool.points.ravel(), [5, 2, 7])
    np.testing.assert_array_equal(source.values, [1.5, 3, 0.1])
    assert "2 row(s) repeat a point, 1 of them with different targets" in source.notes[1]


def test_scaled_features(here):
    (here / "table.csv").write_text("a,b,y\n1,100,1\n2,300,2\n3,200,3\n")
    points = read_table("table.csv", Columns(scale=True)).pool.points
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(points.std(axis=0), 1)


@pytest.mark.parametrize("name", NAMES)
def test_every_named_function_can_be_taught_or_started_from(name):
    if name == "zero":
        problem = read_problem("gmm", name)
        np.testing.assert_array_equal(problem.initial, 0)
    else:
        problem = read_problem(name)
        assert np.ptp(problem.target) > 0


def test_the_papers_start_and_target():
    problem = read_problem("gmm", "gmm:start")
    error = np.sqrt(np.sum((problem.initial - problem.target) ** 2)) / len(problem.pool)
    assert error == pytest.approx(0.00750093897, rel=1e-8)
    problem = read_problem("digit:0", "digit:8")
    assert np.linalg.norm(problem.initial - problem.target) == pytest.approx(8.71034, rel=1e-6)
    problem = read_problem("boundary", "boundary:start")
    error = np.sqrt(np.sum((problem.initial - problem.target) ** 2)) / len(problem.pool)
    assert error == pytest.approx(0.0987324253, rel=1e-8)


def test_a_target_without_points_takes_those_of_the_start():
    assert read_problem("zero", "gmm").pool.shape == (280,)


def test_a_function_is_carried_to_the_points_of_a_table(here):
    (here / "table.csv").write_text("x,y\n0.5,1\n2,3\n")
    problem = read_problem("table.csv", "sine")
    np.testing.assert_allclose(problem.initial, np.sin([0.5, 2.0]))  # of x as it is in the table, scaled or not


def test_a_curve_of_another_length_is_resampled(here):
    np.save("long.npy", np.zeros(5))
    np.save("short.npy", [0.0, 2.0])
    problem = read_problem("long.npy", "short.npy")
    np.testing.assert_allclose(problem.initial, [0, 0.5, 1, 1.5, 2])
    assert problem.notes == ("short.npy is 2 points and long.npy 5 points: short.npy was resampled",)
