"""The picture of the cheetah lesson: the published cheetah, its stand-in, or any picture file."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import numpy as np

from nimt.datasets.decoding import colours, decode_picture, flatten_picture, has_colour, luminance
from nimt.datasets.picture import Picture, Values, standardise
from nimt.datasets.places import data_folder, find, read_shipped
from nimt.errors import InvalidInput

SIDE = 92
_PUBLISHED = "9f97948127d7e4aae63dc98039e04c7745e34a32a23baf6854a3ed0fe79f9ae2"


def cheetah(folder: str | os.PathLike[str] | None = None) -> Picture:
    """Return f* of the cheetah lesson, 92x92, standardised: from cheetah.jpg if it is found, else a cat.

    Parameters
    ----------
    folder : path-like, optional
        Where cheetah.jpg is; see `data_folder`.

    Examples
    --------
    >>> from nimt.datasets import cheetah
    >>> cheetah().values.shape
    (92, 92)
    """
    path = find(("cheetah.jpg",), data_folder(folder))
    if path is None:
        return cat()
    values = prepare_like_the_cheetah(path)
    published = _checksum(path) == _PUBLISHED
    what = "The published cheetah.jpg" if published else "A cheetah.jpg that is not the published file"
    return Picture(
        values,
        "cheetah",
        f"{what}, shrunk to 92x92, inverted and standardised.",
        published,
        "not known: not shipped with nimt" if published else "not known: a file of yours",
    )


def cat() -> Picture:
    """Return the stand-in for the cheetah: Chelsea the cat, 92x92, inverted and standardised like it.

    Examples
    --------
    >>> from nimt.datasets import cat
    >>> cat().original
    False
    """
    from PIL import Image

    with Image.open(io.BytesIO(read_shipped("chelsea.png")), formats=("PNG",)) as image:
        values = standardise(255.0 - np.asarray(image, dtype=np.float64))
    source = "Chelsea the cat by Stefan van der Walt (scikit-image), 92x92, inverted and standardised."
    return Picture(values, "cat", source, False, "CC0")


def astronaut() -> Picture:
    """Return a photo in colour, 92x92 pixels, red, green and blue from 0 to 1: Eileen Collins, the astronaut.

    Examples
    --------
    >>> from nimt.datasets import astronaut
    >>> astronaut().values.shape
    (92, 92, 3)
    """
    from PIL import Image

    with Image.open(io.BytesIO(read_shipped("astronaut.png")), formats=("PNG",)) as image:
        values = np.asarray(image, dtype=np.float64) / 255.0
    source = "The astronaut Eileen Collins, by NASA (scikit-image), shrunk to 92x92, values from 0 to 1."
    return Picture(values, "astronaut", source, False, "public domain")


def prepare_like_the_cheetah(path: str | os.PathLike[str]) -> Values:
    """Prepare a picture file as the published cheetah was.

    Shrink it to fit 100x100 (Lanczos), take the top-left 92x92 of the first channel, 255 - value, mean 0 and
    unbiased standard deviation 1.

    Returns
    -------
    ndarray of shape (92, 92)
    """
    from PIL import Image

    image = flatten_picture(decode_picture(path))
    width, height = image.size
    # By default Pillow first shrinks by a coarser filter, which changes the final M by 0.1 %.
    image.thumbnail((100, 100), Image.Resampling.LANCZOS, reducing_gap=None)
    if min(image.size) < SIDE:
        raise InvalidInput(
            f"the picture {str(path)!r} is {width}x{height}, and {image.width}x{image.height} after shrinking to fit "
            f"100x100, where {SIDE}x{SIDE} are needed: crop it nearer to a square or give a larger one"
        )
    channel = np.asarray(image.getchannel(0), dtype=np.float64)[:SIDE, :SIDE]
    return standardise(255.0 - channel)


def read_picture(path: str | os.PathLike[str], *, fit: int | None = None, grey: bool = False) -> Picture:
    """Read any picture file as values in [0, 1]: red, green and blue, or brightness where it has no colour.

    Parameters
    ----------
    path : path-like
        PNG, JPEG, GIF, BMP, TIFF, WebP or PPM; the first frame of several.
    fit : int, optional
        Shrink the picture to fit a square of this side, keeping its shape; a smaller one is not changed.
    grey : bool
        Read colours as brightness (luminance).

    Returns
    -------
    Picture
        Of shape (height, width, 3), or (height, width) if grey was asked for or no pixel has a colour; transparency
        laid on white, upright as the EXIF data says.
    """
    if fit is not None and (isinstance(fit, bool) or not isinstance(fit, int) or fit < 1):
        raise InvalidInput(f"fit is the side of a square in pixels, a whole number from 1 on, got {fit!r}")
    image = decode_picture(path)
    in_colour = not grey and has_colour(image)
    layers = colours(image) if in_colour else iter([luminance(image)])
    if fit is not None and max(image.size) > fit:
        layers = (_shrink(layer, fit) for layer in layers)
    values = np.stack(list(layers), axis=-1) if in_colour else next(layers)
    name = Path(os.fsdecode(path)).name
    kind = "red, green and blue" if in_colour else "luminance"
    return Picture(values, name, f"The picture {name}, as {kind}.", False, "not known: a file of yours")


def _shrink(values: Values, fit: int) -> Values:
    """Shrink in floating point, so that 16-bit pictures keep their depth."""
    from PIL import Image

    image = Image.fromarray(values.astype(np.float32))
    image.thumbnail((fit, fit), Image.Resampling.LANCZOS, reducing_gap=None)
    return np.clip(np.asarray(image, dtype=np.float64), 0.0, 1.0)


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
