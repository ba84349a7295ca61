"""Choose the reader of a name or a path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nimt.datasets.decoding import colours, decode_picture, has_colour, luminance
from nimt.datasets.limits import check_full_size
from nimt.datasets.places import is_there
from nimt.errors import InvalidInput
from nimt.pools.pool import Grid, values_on
from nimt.sources.array_files import read_array
from nimt.sources.functions import NAMES, find_function
from nimt.sources.resampling import resample
from nimt.sources.source import Source, size_of
from nimt.sources.table_files import TABLE_ENDINGS
from nimt.sources.tables import Columns, read_table
from nimt.wording import Wording

if TYPE_CHECKING:
    from PIL import Image

PICTURE_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".gif", ".bmp", ".ppm", ".pgm")
ARRAY_ENDINGS = (".npy", ".npz")
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
USUAL_SIDE = 96  # a lesson on more pixels takes minutes, so size must ask for it
MOST_POINTS = 1 << 24


def read_source(
    name: str,
    *,
    size: int | None = None,
    normalise: str = "none",
    columns: Columns = Columns(),  # noqa: B008 (frozen)
    grey: bool = False,
) -> Source:
    """Read a picture, an array, a table, or a function by its name.

    Parameters
    ----------
    name : str
        A name such as "gmm" or "digit:0", or a path; write ./gmm for a file with the name of a function.
    size : int, optional
        The longer side of a picture; 0 leaves it as it is. By default larger pictures are shrunk to 96.
    normalise : {"none", "standard", "unit"}
        Values as they are, with mean 0 and deviation 1, or from 0 to 1. Functions given by a formula are not changed.
    columns : Columns
        What to use of a table.
    grey : bool
        Read colour pictures as brightness; otherwise they have three outputs.

    Examples
    --------
    >>> read_source("digit:0").pool
    Grid(28 x 28)
    """
    if size is not None and size < 0:
        problem = f"is the longer side of a picture in pixels, or 0 for its own; got {size}"
        raise InvalidInput(problem, parameter="size")
    source = _read(name, size, columns, grey)
    if size and source.pool is not None and source.pool.dimension == 2 and source.function is None:
        source = _resize(source, size)
    return source.normalise(normalise)


def _read(name: str, size: int | None, columns: Columns, grey: bool) -> Source:
    if name in NAMES:
        return find_function(name)
    if ADDRESS.match(name):
        raise InvalidInput(f"{name!r} is an address, and nimt reads files only: download it first")
    ending = Path(name).suffix.lower()
    if ending in PICTURE_ENDINGS:
        return _read_picture(name, size, grey)
    if ending in ARRAY_ENDINGS:
        return read_array(name)
    if name.lower().endswith(TABLE_ENDINGS):
        return read_table(name, columns)
    if ending == ".toml":
        way_out = Wording("only the command line reads such a file", f"use --config {name}")
        raise InvalidInput(f"{name!r} is no target but may hold the settings of a run", way_out=way_out)
    endings = ", ".join((*PICTURE_ENDINGS, *ARRAY_ENDINGS, *TABLE_ENDINGS))
    if "\0" not in name and is_there(Path(name)):
        kind = "a folder" if Path(name).is_dir() else "a file of no kind nimt reads"
        raise InvalidInput(f"{name!r} is {kind}: give a file ending in {endings}")
    raise InvalidInput(f"{name!r} is neither a function known by name ({', '.join(NAMES)}) nor a file that is there")


def _read_picture(path: str, size: int | None, grey: bool) -> Source:
    """Read a picture, shrunk while its pixels are still in single precision: a large one would not fit otherwise."""
    image = decode_picture(path)
    name, (width, height) = Path(path).name, image.size
    side = min(USUAL_SIDE, max(width, height)) if size is None else size or max(width, height)
    shape = _shape_of_size((height, width), side)
    in_colour = not grey and has_colour(image)
    shrinks = width * height > shape[0] * shape[1]
    if not shrinks:
        check_full_size(width * height, 3 if in_colour else 1, Path(path))
    kind: type[np.floating] = np.float32 if shrinks else np.float64
    layers = [resample(layer, shape) if shrinks else layer for layer in _layers(image, kind, in_colour)]
    values = np.stack(layers, axis=-1) if in_colour else layers[0]
    grid = Grid.like(values[:, :, 0] if in_colour else values)
    source = Source(name, grid, values_on(grid, values, path), dimension=2)
    if size is None and shape != (height, width):
        shrunk = f"{name} is {width} x {height} and was shrunk to {size_of(grid)}"
        note = Wording("size=", "--size").embed(f"{shrunk}: ", " sets another size")
        return replace(source, notes=(note,))
    return source


def _layers(image: Image.Image, kind: type[np.floating], in_colour: bool) -> Iterator[NDArray[Any]]:
    """Yield what is taught of a picture: red, green and blue, or its brightness."""
    if in_colour:
        yield from colours(image, kind)
    else:
        yield luminance(image, kind)


def _resize(source: Source, size: int) -> Source:
    """Bring the longer side of a picture to `size`, keeping its shape."""
    assert isinstance(source.pool, Grid) and source.values is not None
    height, width = source.pool.shape
    shape = _shape_of_size((height, width), size)
    if shape == (height, width):
        return source
    values = resample(source.values.reshape(height, width, *source.values.shape[1:]), shape)
    grid = Grid(*(np.arange(length, dtype=float) for length in shape))
    return replace(source, pool=grid, values=values_on(grid, values, source.name))


def _shape_of_size(shape: tuple[int, int], size: int) -> tuple[int, int]:
    """Return the shape of a picture whose longer side is brought to `size`."""
    factor = size / max(shape)
    height, width = (max(1, round(side * factor)) for side in shape)
    if height * width > MOST_POINTS:
        problem = f"would make {height * width:,} points, and {MOST_POINTS:,} are the most"
        raise InvalidInput(problem, parameter="size", value=size, way_out="lower it")
    return height, width
