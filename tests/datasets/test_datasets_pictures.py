"""Pictures by path: every kind of file is read as brightness or refused with one sentence."""

import io
import math
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

import nimt.datasets.places
from nimt.datasets import cat, cheetah, prepare_like_the_cheetah, read_picture
from nimt.errors import InvalidInput


def gradient(height=20, width=30):
    rows, columns = np.mgrid[:height, :width]
    return np.stack([rows * 12 % 256, columns * 8 % 256, (rows + columns) * 5 % 256], axis=-1).astype(np.uint8)


def brightness(red, green, blue):
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255


@pytest.fixture
def saved(tmp_path):
    def save(image, name="picture.png", **options):
        path = tmp_path / name
        image.save(path, **options)
        return path

    return save


@pytest.mark.long
@pytest.mark.parametrize("name", ["p.png", "p.bmp", "p.tif", "p.ppm", "p.webp"])
def test_colours_become_luminance(saved, name):
    colours = gradient()
    options = {"lossless": True, "exact": True} if name.endswith("webp") else {}
    picture = read_picture(saved(Image.fromarray(colours), name, **options), grey=True)
    for row in range(20):
        for column in range(30):
            expected = brightness(*map(float, colours[row, column]))
            assert math.isclose(picture.values[row, column], expected, rel_tol=0, abs_tol=1e-12)
    assert not picture.original
    assert picture.name == name and name in picture.source


@pytest.mark.parametrize("name", ["p.png", "p.bmp", "p.tif", "p.ppm", "p.webp"])
def test_colours_are_kept(saved, name):
    colours = gradient()
    options = {"lossless": True, "exact": True} if name.endswith("webp") else {}
    picture = read_picture(saved(Image.fromarray(colours), name, **options))
    np.testing.assert_array_equal(picture.values, colours / 255)


@pytest.mark.parametrize("name", ["g.png", "g.jpg", "g.tif"])
def test_a_colour_file_without_colours_is_grey(saved, name):
    shades = np.repeat(gradient()[:, :, :1], 3, axis=2)
    values = read_picture(saved(Image.fromarray(shades), name)).values
    assert values.shape == shades.shape[:2]
    np.testing.assert_allclose(values, shades[:, :, 0] / 255, atol=0.06 if name == "g.jpg" else 1e-12)


def test_one_coloured_pixel_makes_a_colour_picture(saved):
    shades = np.repeat(gradient(40, 70)[:, :, :1], 3, axis=2)
    shades[39, 69, 2] ^= 1
    assert read_picture(saved(Image.fromarray(shades))).values.shape == (40, 70, 3)


def test_a_large_picture_is_searched_for_colour_to_its_last_strip(saved, monkeypatch):
    monkeypatch.setattr("nimt.datasets.decoding.STRIP", 70)
    shades = np.repeat(gradient(40, 70)[:, :, :1], 3, axis=2)
    shades[39, 69, 2] ^= 1
    np.testing.assert_array_equal(read_picture(saved(Image.fromarray(shades))).values, shades / 255)


def test_grey_is_kept_exactly(saved):
    grey = gradient()[:, :, 0]
    np.testing.assert_array_equal(read_picture(saved(Image.fromarray(grey))).values, grey / 255)


def test_black_and_white(saved):
    bits = gradient()[:, :, 0] > 100
    np.testing.assert_array_equal(read_picture(saved(Image.fromarray(bits))).values, bits.astype(float))


@pytest.mark.parametrize("name", ["deep.png", "deep.tif"])
def test_16_bits_keep_their_depth(saved, name):
    deep = (np.arange(600, dtype=np.uint16) * 109).reshape(20, 30)
    np.testing.assert_allclose(read_picture(saved(Image.fromarray(deep), name)).values, deep / 65535, rtol=1e-15)


def test_floating_point_in_range_is_kept_and_beyond_it_stretched(saved):
    values = np.linspace(0, 1, 600, dtype=np.float32).reshape(20, 30)
    kept = read_picture(saved(Image.fromarray(values), "kept.tif")).values
    np.testing.assert_array_equal(kept, values.astype(np.float64))
    stretched = read_picture(saved(Image.fromarray(values * 50 - 7), "stretched.tif")).values
    np.testing.assert_allclose(stretched, values, atol=1e-6)
    widest = np.array([[-3e38, 0.0, 3e38]], dtype=np.float32)
    np.testing.assert_allclose(read_picture(saved(Image.fromarray(widest), "widest.tif")).values, [[0, 0.5, 1]])


def test_32_bit_integers(saved):
    values = np.array([[0, 65535], [13107, 26214]], dtype=np.int32)
    np.testing.assert_allclose(read_picture(saved(Image.fromarray(values), "i.tif")).values, values / 65535)
    np.testing.assert_allclose(read_picture(saved(Image.fromarray(values * 9 - 4), "j.tif")).values, values / 65535)


@pytest.mark.parametrize("bits", [0x7FC00000, 0x7F800001, 0x7F800000, 0x40E00000], ids=["nan", "signal", "inf", "7"])
def test_floating_point_without_brightness_is_refused(saved, bits):
    path = saved(Image.fromarray(np.full((4, 4), bits, dtype=np.uint32).view(np.float32)), "f.tif")
    with pytest.raises(InvalidInput):
        read_picture(path)


def test_transparency_is_laid_on_white(saved):
    colours = np.zeros((1, 3, 4), dtype=np.uint8)
    colours[0, :, 3] = (0, 51, 255)
    np.testing.assert_allclose(read_picture(saved(Image.fromarray(colours))).values, [[1.0, 0.8, 0.0]], atol=1 / 255)
    grey = Image.fromarray(colours).convert("LA")
    np.testing.assert_allclose(read_picture(saved(grey)).values, [[1.0, 0.8, 0.0]], atol=1 / 255)


def test_palettes_with_and_without_transparency(saved):
    image = Image.new("P", (2, 1))
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.putpixel((1, 0), 1)
    expected = [[brightness(255, 0, 0), brightness(0, 0, 255)]]
    np.testing.assert_allclose(read_picture(saved(image), grey=True).values, expected, atol=1e-12)
    np.testing.assert_allclose(read_picture(saved(image, "p.gif"), grey=True).values, expected, atol=1e-12)
    seen_through = saved(image, "q.png", transparency=0)
    np.testing.assert_array_equal(read_picture(seen_through).values, [[[1, 1, 1], [0, 0, 1]]])
    np.testing.assert_allclose(read_picture(seen_through, grey=True).values, [[1.0, expected[0][1]]], atol=1e-12)


def test_cmyk(saved):
    image = Image.new("CMYK", (2, 2), (0, 0, 0, 255))
    np.testing.assert_allclose(read_picture(saved(image, "k.tif")).values, 0, atol=1e-12)
    image = Image.new("CMYK", (16, 16), (0, 255, 255, 0))
    red = saved(image, "r.jpg")
    np.testing.assert_allclose(read_picture(red, grey=True).values, brightness(255, 0, 0), atol=0.02)
    np.testing.assert_allclose(read_picture(red).values[3, 3], [1, 0, 0], atol=0.02)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_turns_the_picture_upright(saved, orientation):
    upright = np.zeros((16, 32), dtype=np.uint8)
    upright[:8, :8] = 255
    # What a camera stores so that its orientation flag leads back to the upright picture.
    stored = {
        1: upright,
        2: upright[:, ::-1],
        3: upright[::-1, ::-1],
        4: upright[::-1],
        5: upright.T,
        6: np.rot90(upright, 1),
        7: upright[::-1, ::-1].T,
        8: np.rot90(upright, -1),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = saved(Image.fromarray(np.ascontiguousarray(stored)), "turned.jpg", exif=exif, quality=95)
    np.testing.assert_allclose(read_picture(path).values, upright / 255, atol=0.05)


def test_only_the_first_frame_counts(saved):
    frames = [Image.new("L", (4, 4), shade) for shade in (10, 200)]
    path = saved(frames[0], "frames.tif", save_all=True, append_images=frames[1:])
    np.testing.assert_allclose(read_picture(path).values, 10 / 255)


def test_fit_shrinks_and_never_enlarges(saved):
    path = saved(Image.fromarray(gradient(60, 90)))
    small = read_picture(path, fit=30).values
    assert small.shape == (20, 30, 3)
    assert small.min() >= 0 and small.max() <= 1
    assert read_picture(path, fit=30, grey=True).values.shape == (20, 30)
    assert read_picture(path, fit=500).values.shape == (60, 90, 3)
    flat = saved(Image.new("L", (90, 60), 51), "flat.png")
    np.testing.assert_allclose(read_picture(flat, fit=10).values, 0.2, atol=1e-6)


@pytest.mark.parametrize("fit", [0, -3, 2.5, "9", True])
def test_fit_is_a_whole_number(saved, fit):
    with pytest.raises(InvalidInput, match="fit is the side"):
        read_picture(saved(Image.fromarray(gradient())), fit=fit)


def png_of_size(width, height):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 9)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"hello, I am a text file", "is not a picture that can be read: give a PNG"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "is not a picture that can be read"),
        (b"\x89PNG\r\n\x1a\n", "is not a picture|damaged"),
        (png_of_size(8000, 8000), "8000 x 8000 pixels, and of a file of"),
        (png_of_size(12000, 9000), "12000 x 9000 pixels, and of a file of"),
        (png_of_size(60000, 60000), "far more pixels than the 50,000,000"),
        (png_of_size(40, 40), "damaged or cut short"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",
)
def test_what_is_no_picture_is_refused_with_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "picture.png"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=sentence) as caught:
        read_picture(path)
    assert repr(str(path)) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", ["no/such/file.png", "a\0b.png", 7, None, "x" * 5000, ""])
def test_paths_that_lead_nowhere(path):
    with pytest.raises(InvalidInput):
        read_picture(path)


def test_a_folder_is_no_picture(tmp_path):
    with pytest.raises(InvalidInput, match="is a folder: name a file in it"):
        read_picture(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(InvalidInput, match="not a regular file"):
        read_picture(tmp_path / "pipe.png")


def test_no_permission(saved, monkeypatch):
    path = saved(Image.fromarray(gradient()))
    if os.getuid() == 0:  # root may read everything, so the answer is given for it
        monkeypatch.setattr(nimt.datasets.places.os, "access", lambda *_: False)
    else:
        path.chmod(0)
    with pytest.raises(InvalidInput, match="may not be read: change its permissions"):
        read_picture(path)


def test_a_file_far_too_large(saved, monkeypatch):
    path = saved(Image.fromarray(gradient()))
    monkeypatch.setattr("nimt.datasets.decoding.LARGEST_FILE", 10)
    with pytest.raises(InvalidInput, match="more than the 10 allowed here"):
        read_picture(path)


FORMATS = {
    "png": {},
    "jpeg": {"exif": True},
    "gif": {},
    "bmp": {},
    "tiff": {"compression": "tiff_lzw"},
    "webp": {},
    "ppm": {},
}


@pytest.mark.long
@pytest.mark.parametrize("kind", FORMATS)
def test_no_damage_raises_anything_but_invalid_input(tmp_path, kind):
    options = dict(FORMATS[kind])
    if options.pop("exif", False):
        options["exif"] = Image.Exif()
        options["exif"][0x0112] = 6
    image = Image.fromarray(gradient())
    if kind == "float":
        kind, image = "tiff", image.convert("F")
    content = io.BytesIO()
    image.save(content, kind, **options)
    good = content.getvalue()
    rng = np.random.default_rng(2)
    path = tmp_path / "picture"
    refused = 0
    for turn in range(240):
        damaged = bytearray(good)
        if turn % 3 == 0:
            del damaged[rng.integers(len(good)) :]
        else:
            reach = len(good) if turn % 3 == 1 else min(80, len(good))
            for _ in range(1 + turn % 4):
                damaged[rng.integers(reach)] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            picture = read_picture(path)
            assert picture.values.ndim in (2, 3) and np.isfinite(picture.values).all()
        except InvalidInput:
            refused += 1
    assert refused > 20


@pytest.fixture
def jpeg(saved):
    rows, columns = np.mgrid[:401, :368]
    shades = np.stack([rows * columns / 600, columns / 2, rows / 2], axis=-1) % 256
    return saved(Image.fromarray(shades.astype(np.uint8)), "cheetah.jpg", quality=90)


def test_the_cheetah_is_prepared_as_published(jpeg):
    with Image.open(jpeg) as image:
        shrunk = np.asarray(image.resize((92, 100), Image.Resampling.LANCZOS))
    inverted = [[255 - int(shrunk[row, column, 0]) for column in range(92)] for row in range(92)]
    mean = sum(map(sum, inverted)) / 92**2
    deviation = math.sqrt(sum((value - mean) ** 2 for row in inverted for value in row) / (92**2 - 1))
    expected = [[(value - mean) / deviation for value in row] for row in inverted]
    values = prepare_like_the_cheetah(jpeg)
    assert values.shape == (92, 92)
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-13)


def test_a_cheetah_that_is_not_the_published_file_is_a_stand_in(jpeg):
    picture = cheetah(jpeg.parent)
    np.testing.assert_array_equal(picture.values, prepare_like_the_cheetah(jpeg))
    assert not picture.original
    assert "not the published file" in picture.caption


def test_without_a_cheetah_there_is_a_cat(tmp_path):
    np.testing.assert_array_equal(cheetah(tmp_path).values, cat().values)


@pytest.mark.parametrize("size", [(200, 150), (91, 91), (50, 3000)])
def test_a_cheetah_of_the_wrong_shape_is_refused(saved, size):
    path = saved(Image.effect_noise(size, 50), "cheetah.jpg")
    with pytest.raises(InvalidInput, match=f"is {size[0]}x{size[1]}, and .* where 92x92 are needed"):
        cheetah(path.parent)


def test_a_damaged_or_flat_cheetah_is_refused_not_replaced(jpeg, saved):
    jpeg.write_bytes(jpeg.read_bytes()[:3000])
    with pytest.raises(InvalidInput, match="damaged or cut short"):
        cheetah(jpeg.parent)
    saved(Image.new("RGB", (100, 100), "red"), "cheetah.jpg")
    with pytest.raises(InvalidInput, match="standard deviation"):
        cheetah(jpeg.parent)


@pytest.mark.parametrize("mode", ["L", "1", "P", "RGBA", "LA", "CMYK", "I;16", "I", "F"])
def test_a_cheetah_of_any_mode(tmp_path, mode):
    rows, columns = np.mgrid[:100, :92]
    image = Image.fromarray((rows + columns).astype(np.uint8)).convert(mode)
    kind = "TIFF" if mode in ("CMYK", "F", "I") else "PNG"
    image.save(tmp_path / "cheetah.jpg", kind)  # the content counts, not the name
    values = cheetah(tmp_path).values
    assert values.shape == (92, 92)
    assert abs(values.mean()) < 1e-12
    assert values[:20, :20].mean() > values[-20:, -20:].mean()


def test_the_published_cheetah_itself(published_cheetah):
    assert published_cheetah.values.shape == (92, 92)
    assert abs(published_cheetah.values.mean()) < 1e-12
    assert abs(published_cheetah.values.std(ddof=1) - 1) < 1e-12
