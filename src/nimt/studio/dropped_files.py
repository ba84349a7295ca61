"""Files dropped on the page: pictures, tables, arrays and lessons, read like any other and never trusted."""

from __future__ import annotations

import io
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from nimt.datasets.decoding import FORMATS
from nimt.errors import InvalidInput, NimtError
from nimt.estimators.width import median_width
from nimt.lesson.lesson import Lesson
from nimt.pools.prepared_points import PreparedPoints
from nimt.recipe.modelled_rows import take_reference
from nimt.replay.lesson_recording import Recording, record_of
from nimt.sources.problem import Problem
from nimt.sources.reading import ARRAY_ENDINGS, PICTURE_ENDINGS, read_source
from nimt.sources.source import Source, size_of
from nimt.sources.table_files import TABLE_ENDINGS
from nimt.sources.tables import Columns

MOST_PIXELS = 16_000_000
USUAL_SIZE = 96  # pixels along the longer side, unless the page asks for another
LESSON = "header.npy"  # the member that lessons have and other archives of arrays have not


def read_dropped(name: str, data: bytes, size: int | None = None) -> Source | Lesson:
    """Read a file by its content; of its name only the ending is looked at.

    Parameters
    ----------
    name : str
        As the browser calls it.
    data : bytes
    size : int, optional
        The longer side a picture is brought to.
    """
    ending = Path(name).suffix.lower()[:8]
    if ending not in (*PICTURE_ENDINGS, *ARRAY_ENDINGS, *TABLE_ENDINGS):
        raise InvalidInput(f"a file ending in {ending!r} is not read here: drop a picture, a CSV, an array or a lesson")
    if ending in PICTURE_ENDINGS:
        _refuse_too_many_pixels(data)
    with tempfile.TemporaryDirectory(prefix="nimt-studio-") as folder:
        path = Path(folder) / f"dropped{ending}"
        path.write_bytes(data)
        try:
            if ending == ".npz" and LESSON.encode() in data:
                return Lesson.load(path)
            pixels = size or (USUAL_SIZE if ending in PICTURE_ENDINGS else None)
            # rows are held out as the program does, where there are enough of them
            return read_source(str(path), size=pixels, columns=Columns(holdout=None))
        except NimtError as error:  # a page is told nothing of where files lie
            raise InvalidInput(str(error).replace(str(path), path.name)) from None


def model_rows(source: Source) -> Source:
    """Return a table whose target is what a model of its rows answers, as in `nimt teach`; rows held out stay."""
    pool, values = source.pool, source.values
    if not isinstance(pool, PreparedPoints) or values is None:
        raise InvalidInput("only the rows of a table are modelled: drop a CSV first")
    problem = take_reference(Problem(pool, values, np.zeros_like(values), aside=source.aside))
    if problem.reference is None:
        raise InvalidInput(problem.notes[-1])
    return replace(
        source,
        values=problem.target,
        reference=problem.reference,
        notes=(*source.notes, problem.reference.sentence, *problem.notes[1:]),
    )


def _refuse_too_many_pixels(data: bytes) -> None:
    """Look at the size a picture claims before anything of it is decoded."""
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            pixels = image.width * image.height
    except Image.DecompressionBombError:
        pixels = MOST_PIXELS + 1
    except Exception:
        raise InvalidInput(f"this is not a picture that can be read: drop a {', '.join(FORMATS)} file") from None
    if pixels > MOST_PIXELS:
        raise InvalidInput(f"this picture has more than {MOST_PIXELS:,} pixels: shrink it first")


def describe_file(source: Source, data: bytes = b"") -> dict[str, Any]:
    """Return what a page says about a file."""
    assert source.pool is not None
    # the page says which file it is, and has no option of Python's
    notes = [re.sub(r"^dropped\.\w+: |: Columns\(.*", "", note) for note in source.notes]
    is_table = isinstance(source.pool, PreparedPoints)
    return {
        "table": is_table and source.reference is None,
        "width": float(f"{median_width(source.pool.points):.2g}") if is_table else None,
        "points": len(source.pool),
        "dimension": source.pool.dimension,
        "size": _size_text(source, data),
        "outputs": 1 if source.values is None or source.values.ndim == 1 else source.values.shape[1],
        "notes": notes,
    }


def _size_text(source: Source, data: bytes) -> str:
    """Return the size of what is taught, and of a picture that was shrunk for it."""
    assert source.pool is not None
    size = size_of(source.pool)
    if Path(source.name).suffix not in PICTURE_ENDINGS:
        return size
    with Image.open(io.BytesIO(data), formats=FORMATS) as image:
        whole = f"{image.width} x {image.height}"
    return f"{size} pixels" if whole == size else f"{size} pixels are taught, of {whole}"


def record_lesson(lesson: Lesson) -> Recording:
    """Return a dropped lesson, ready to be played."""
    recording = record_of(lesson, title="A lesson from a file")
    return Recording(recording.header | {"type": "lesson"}, recording.blocks)
