"""Picture files to pixels: all colour modes and orientations; damaged files are refused."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nimt.datasets.limits import MOST_PIXELS, check_pixels
from nimt.datasets.places import readable_file
from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from PIL import Image

# Only formats that Pillow decodes itself: for some others it starts other programs.
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
LARGEST_FILE = 1 << 28
MOST_SCANS = 100  # of a JPEG; each costs as much time as the whole picture, and ten are usual
STRIP = 1 << 20  # pixels brought to brightness at a time: all at once they would take eight times their memory


def decode_picture(path: str | os.PathLike[str]) -> Image.Image:
    """Decode a picture file: the first frame, turned upright as its EXIF data says.

    Parameters
    ----------
    path : path-like
        PNG, JPEG, GIF, BMP, TIFF, WebP or PPM, of at most 50 million pixels, fewer in a small file.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    path = readable_file(path, LARGEST_FILE)
    shown = str(path)
    try:
        # A picture with damaged metadata is still read if its pixels decode; the size is checked below.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=FORMATS) as image:
                check_pixels(image.width, image.height, path)
                if image.format == "JPEG":
                    _check_scans(path)
                image.load()
                return ImageOps.exif_transpose(image)
    except InvalidInput:
        raise
    except UnidentifiedImageError:
        raise InvalidInput(f"{shown!r} is not a picture that can be read: give a {', '.join(FORMATS)} file") from None
    except Image.DecompressionBombError as problem:
        raise InvalidInput(
            f"the picture {shown!r} has far more pixels than the {MOST_PIXELS:,} read here: shrink it first"
        ) from problem
    except Exception as problem:  # decoders raise nearly any exception on damaged bytes
        raise InvalidInput(f"the picture {shown!r} is damaged or cut short ({problem}): copy it again") from problem


def flatten_picture(image: Image.Image) -> Image.Image:
    """Return the picture in 8-bit grey ("L") or colour ("RGB"), transparency laid on white."""
    from PIL import Image

    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return Image.fromarray(np.round(255 * _deep_grey(image)).astype(np.uint8))
    if image.has_transparency_data:
        colours = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", colours.size, "white"), colours).convert("RGB")
    return image.convert("L" if image.mode in ("1", "L") else "RGB")


def luminance(image: Image.Image, dtype: type[np.floating] = np.float64) -> npt.NDArray[Any]:
    """Return the brightness of every pixel, 0 (black) to 1 (white).

    Colours count as 0.299 R + 0.587 G + 0.114 B (ITU-R 601); transparency is laid on white; 16-bit grey keeps its
    depth; floating-point or 32-bit grey beyond its usual range is stretched to [0, 1].

    Parameters
    ----------
    image : Image
    dtype : numpy type
        Of the result; it is computed in float64.

    Returns
    -------
    ndarray of shape (height, width)
    """
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return _deep_grey(image, dtype)
    brightness = np.empty((image.height, image.width), dtype)
    for rows in _strips(image):
        part = image.crop((0, rows.start, image.width, rows.stop))
        pixels = np.asarray(flatten_picture(part), dtype=np.float64) / 255.0
        brightness[rows] = pixels if pixels.ndim == 2 else pixels @ np.array([0.299, 0.587, 0.114])
    return brightness


def colours(image: Image.Image, dtype: type[np.floating] = np.float64) -> Iterator[npt.NDArray[Any]]:
    """Yield red, green and blue of every pixel, 0 to 1, each of shape (height, width).

    One after another: a large picture would not fit into memory with all three in floating point.
    """
    for channel in range(3):
        values = np.empty((image.height, image.width), dtype)
        for rows in _strips(image):
            part = image.crop((0, rows.start, image.width, rows.stop))
            values[rows] = np.asarray(flatten_picture(part).getchannel(channel), dtype=np.float64) / 255.0
        yield values


def has_colour(image: Image.Image) -> bool:
    """Say whether red, green and blue differ at any pixel."""
    for rows in _strips(image):
        part = flatten_picture(image.crop((0, rows.start, image.width, rows.stop)))
        if part.mode == "L":
            return False  # of all strips, because the mode is that of the whole picture
        red, green, blue = (np.asarray(channel) for channel in part.split())
        if not (np.array_equal(red, green) and np.array_equal(green, blue)):
            return True
    return False


def _deep_grey(image: Image.Image, dtype: type[np.floating] = np.float64) -> npt.NDArray[Any]:
    stored = np.asarray(image)
    if not np.isfinite(stored).all():  # before the cast, which would warn of NaN
        raise InvalidInput("the picture has pixels that are not finite: replace them first")
    highest = 1.0 if image.mode == "F" else 65535.0
    low, high = float(stored.min()), float(stored.max())
    usual = low >= 0 and high <= highest
    if not usual and low == high:
        raise InvalidInput(f"every pixel of the picture is {low:g}, which has no brightness in [0, 1]: give another")
    brightness = np.empty(stored.shape, dtype)
    for rows in _strips(image):
        values = stored[rows].astype(np.float64)
        # Halved first, so that the range of the largest floats does not overflow.
        brightness[rows] = values / highest if usual else (values / 2 - low / 2) / (high / 2 - low / 2)
    return brightness


def _strips(image: Image.Image) -> Iterator[slice]:
    """Yield the rows of a picture, some at a time."""
    height = max(1, STRIP // image.width)
    for top in range(0, image.height, height):
        yield slice(top, min(top + height, image.height))


def _check_scans(path: Path) -> None:
    """Refuse a JPEG that goes over its pixels again and again; within the scans themselves this marker cannot occur."""
    scans = path.read_bytes().count(b"\xff\xda")
    if scans > MOST_SCANS:
        raise InvalidInput(
            f"the picture {str(path)!r} has {scans} scans, and at most {MOST_SCANS} are read: save it again"
        )
