"""Any picture file to pixels, whatever its colours, its orientation or its state."""

from __future__ import annotations

import os
import warnings

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from nimt.datasets.picture import Values
from nimt.datasets.places import readable_file
from nimt.errors import InvalidInput

# Only formats that decode to pixels by themselves: Pillow's list has some that start other programs.
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
LARGEST_FILE = 1 << 28
MOST_PIXELS = 50_000_000


def decoded(path: str | os.PathLike[str]) -> Image.Image:
    """Decode a picture file: the first frame, turned upright as its EXIF data says.

    Parameters
    ----------
    path : path-like
        PNG, JPEG, GIF, BMP, TIFF, WebP or PPM, of at most 50 million pixels.
    """
    path = readable_file(path, LARGEST_FILE)
    shown = str(path)
    try:
        # Damaged metadata is no reason to refuse pixels that decode, and size is judged below.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=FORMATS) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise InvalidInput(_too_large(shown, f"{image.width} x {image.height} pixels"))
                image.load()
                return ImageOps.exif_transpose(image)
    except InvalidInput:
        raise
    except UnidentifiedImageError:
        raise InvalidInput(f"{shown!r} is not a picture that can be read: give a {', '.join(FORMATS)} file") from None
    except Image.DecompressionBombError as problem:
        raise InvalidInput(_too_large(shown, "far too many pixels")) from problem
    except Exception as problem:  # a decoder meets damaged bytes with nearly any exception
        raise InvalidInput(f"the picture {shown!r} is damaged or cut short ({problem}): copy it again") from problem


def flattened(image: Image.Image) -> Image.Image:
    """Return the picture in 8-bit grey ("L") or colour ("RGB"), transparency laid on white."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return Image.fromarray(np.round(255 * _deep_grey(image)).astype(np.uint8))
    if image.has_transparency_data:
        colours = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", colours.size, "white"), colours).convert("RGB")
    return image.convert("L" if image.mode in ("1", "L") else "RGB")


def luminance(image: Image.Image) -> Values:
    """Return the brightness of every pixel, 0 (black) to 1 (white).

    Colours count as 0.299 R + 0.587 G + 0.114 B (ITU-R 601); transparency is laid on white; 16-bit grey keeps its
    depth; floating-point or 32-bit grey beyond its usual range is stretched to [0, 1].

    Returns
    -------
    ndarray of shape (height, width)
    """
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return _deep_grey(image)
    pixels = np.asarray(flattened(image), dtype=np.float64) / 255.0
    return pixels if pixels.ndim == 2 else np.asarray(pixels @ np.array([0.299, 0.587, 0.114]))


def _deep_grey(image: Image.Image) -> Values:
    stored = np.asarray(image)
    if not np.isfinite(stored).all():  # before the cast, which warns of signalling NaNs
        raise InvalidInput("the picture has pixels that are not finite: replace them first")
    values = stored.astype(np.float64)
    highest = 1.0 if image.mode == "F" else 65535.0
    low, high = values.min(), values.max()
    if low >= 0 and high <= highest:
        return values / highest
    if low == high:
        raise InvalidInput(f"every pixel of the picture is {low:g}, which has no brightness in [0, 1]: give another")
    # Halved first, so that the range of the largest floats does not overflow.
    return np.asarray((values / 2 - low / 2) / (high / 2 - low / 2))


def _too_large(shown: str, what: str) -> str:
    return f"the picture {shown!r} has {what}, more than the {MOST_PIXELS:,} read here: shrink it first"
