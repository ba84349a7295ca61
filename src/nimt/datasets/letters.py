"""The letter O that replaces the digit 0 in some steps of alternative teaching."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nimt.datasets.idx import Bytes, read_labelled
from nimt.datasets.picture import Picture, Values, numbers
from nimt.datasets.places import data_folder, find, no_such_data
from nimt.errors import InvalidInput

# Which label is O: "letters" counts a = 1 .. z = 26 and joins the cases, the others count 0-9, A, B, ...
_LABEL_OF_O = {"letters": 15, "balanced": 24, "bymerge": 24, "byclass": 24}


def letter_o(target: npt.ArrayLike, folder: str | os.PathLike[str] | None = None) -> Picture:
    """Return the letter O for alternative teaching: closest to the target, then scaled to its maximum.

    It is chosen among the letters O of EMNIST if its files are found, else it is the one drawn by `draw_o`.

    Parameters
    ----------
    target : array_like of shape (28, 28)
        f*, with values in [0, 1].
    folder : path-like, optional
        Where the EMNIST files are; see `data_folder`.

    Examples
    --------
    >>> from nimt.datasets import letter_o, mean_zero
    >>> zero = mean_zero().values
    >>> bool(letter_o(zero).values.max() == zero.max())
    True
    """
    target = _check_target(target)
    place = data_folder(folder)
    found = _emnist_files(place)
    if not found:
        drawn = draw_o()
        source = f"{drawn.source[:-1]}, scaled to the target's maximum."
        return Picture(scale_to(drawn.values, target), drawn.name, source, False, drawn.licence)
    letters = read_emnist_o(place) / 255.0
    chosen = closest_letter(letters, target)
    source = (
        f"The O closest to the target among {len(letters):,} of EMNIST ({found[0][0]}), scaled to the target's maximum."
    )
    licence = "not shipped: as its authors allow (EMNIST: G. Cohen, S. Afshar, J. Tapson, A. van Schaik)"
    return Picture(scale_to(letters[chosen], target), "letter O", source, True, licence)


def closest_letter(letters: npt.ArrayLike, target: npt.ArrayLike) -> int:
    """Return the index of the letter with the smallest M(letter, target), the lowest index if several are equal.

    M(f, f*) = sqrt(sum_i (f(x_i) - f*(x_i))^2) / n, compared before any scaling, as [Zhang23, App. C] chooses its O.

    Parameters
    ----------
    letters : array_like of shape (count, height, width)
        What to choose from, on the scale of the target.
    target : array_like of shape (height, width)
        f*.

    Examples
    --------
    >>> from nimt.datasets import closest_letter
    >>> closest_letter([[[0.0, 0.0]], [[0.9, 0.0]]], [[1.0, 0.0]])
    1
    """
    letters, target = numbers(letters), numbers(target)
    if letters.ndim != 3 or len(letters) == 0 or letters.shape[1:] != target.shape:
        raise InvalidInput(
            f"letters to choose from have shape (count, *target.shape), got {letters.shape} for {target.shape}"
        )
    if not (np.isfinite(letters).all() and np.isfinite(target).all()):
        raise InvalidInput("the letters and the target must be finite: replace what is not")
    # One letter at a time: all differences at once would need as much memory as all letters.
    return int(np.argmin([np.sqrt(((letter - target) ** 2).sum()) / target.size for letter in letters]))


def scale_to(letter: npt.ArrayLike, target: npt.ArrayLike) -> Values:
    """Scale a letter so that its maximum is the target's.

    Examples
    --------
    >>> from nimt.datasets import scale_to
    >>> scale_to([[0.0, 0.5]], [[0.2, 0.8]])
    array([[0. , 0.8]])
    """
    letter, target = numbers(letter), numbers(target)
    highest, wanted = letter.max(initial=0.0), target.max(initial=0.0)
    if not (0 < highest < np.inf and 0 < wanted < np.inf):
        raise InvalidInput(
            f"the letter's maximum is {highest:g} and the target's {wanted:g}, and both must be above 0: give another"
        )
    return np.asarray(letter / highest * wanted)


def draw_o() -> Picture:
    """Draw a letter O, 28x28 in [0, 1]: an ellipse traced with a soft round pen.

    The ink is exp(-(d / w)^2), d the distance in pixels to the ellipse along the ray from its centre.

    Examples
    --------
    >>> from nimt.datasets import draw_o
    >>> draw_o().values.shape
    (28, 28)
    """
    half_width, half_height, pen = 6.0, 7.0, 2.2
    offset = np.arange(28) - 13.5
    down, across = np.meshgrid(offset, offset, indexing="ij")
    radius = np.hypot(across, down)
    # The centre lies between pixels, so no radius is 0.
    edge = radius / np.hypot(across / half_width, down / half_height)
    ink = np.exp(-(((radius - edge) / pen) ** 2))
    return Picture(ink / ink.max(), "letter O", "A letter O drawn for nimt.", False, "MIT")


def read_emnist_o(folder: str | os.PathLike[str] | None = None) -> Bytes:
    """Read every letter O of EMNIST, training and test, from its IDX files, compressed with gzip or not.

    EMNIST stores its images transposed; they are returned upright. The split is the first found of
    letters, balanced, bymerge, byclass.

    Parameters
    ----------
    folder : path-like, optional
        Where the files are; see `data_folder`.

    Returns
    -------
    ndarray of shape (count, 28, 28)
        uint8, 0 to 255.
    """
    place = data_folder(folder)
    found = _emnist_files(place)
    if not found:
        raise no_such_data("emnist-letters-train-images-idx3-ubyte or its .gz with the labels", place)
    chosen = []
    for split, images_path, labels_path in found:
        images, labels = read_labelled(images_path, labels_path)
        chosen.append(images[labels == _LABEL_OF_O[split]])
    letters = np.concatenate(chosen).transpose(0, 2, 1)
    if len(letters) == 0:
        raise InvalidInput(
            f"no image in {str(found[0][1])!r} is labelled O ({_LABEL_OF_O[found[0][0]]}): give the right file"
        )
    return letters


def _emnist_files(place: Path | None) -> list[tuple[str, Path, Path]]:
    for split in _LABEL_OF_O:
        found = []
        for part in ("train", "test"):
            images, labels = (
                find((f"emnist-{split}-{part}-{kind}-ubyte", f"emnist-{split}-{part}-{kind}-ubyte.gz"), place)
                for kind in ("images-idx3", "labels-idx1")
            )
            if images is not None and labels is not None:
                found.append((split, images, labels))
        if found:
            return found
    return []


def _check_target(target: npt.ArrayLike) -> Values:
    values = numbers(target)
    if values.shape != (28, 28) or not np.isfinite(values).all():
        raise InvalidInput(f"the target of a letter is a finite 28x28 picture, got shape {values.shape}")
    return values
