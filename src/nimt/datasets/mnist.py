"""The digits 0 and 8 of the published lesson, and the MNIST files they come from."""

from __future__ import annotations

import io
import os

import numpy as np

from nimt.datasets.idx import Bytes, read_labelled
from nimt.datasets.picture import Picture
from nimt.datasets.places import data_folder, find, no_such_data, read_shipped
from nimt.errors import InvalidInput

ZEROS = 6903
LICENCE = "CC BY-SA 3.0 (MNIST: Y. LeCun, C. Cortes, C. J. C. Burges)"

# SHA-256 of the uncompressed images and labels.
CHECKSUMS = {
    "train": (
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
    "t10k": (
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
}


def mean_zero() -> Picture:
    """Return f* of the digit lesson: the mean of all 6,903 zeros of MNIST, 28x28 in [0, 1].

    It ships with the package as a sum of bytes, so the mean is exact to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from nimt.datasets import first_eight, mean_zero
    >>> round(float(np.linalg.norm(first_eight().values - mean_zero().values)), 5)
    8.71034
    """
    total = np.load(io.BytesIO(read_shipped("zeros_sum.npy")), allow_pickle=False)
    return _zero(total, ZEROS, "shipped with nimt", original=True)


def first_eight() -> Picture:
    """Return f0 of the digit lesson: the first 8 of MNIST's training set, 28x28 in [0, 1].

    Examples
    --------
    >>> from nimt.datasets import first_eight
    >>> first_eight().values.shape
    (28, 28)
    """
    stored = np.load(io.BytesIO(read_shipped("first_eight.npy")), allow_pickle=False)
    return _eight(stored, "shipped with nimt", original=True)


def digits_from_mnist(folder: str | os.PathLike[str] | None = None, *, verify: bool = True) -> tuple[Picture, Picture]:
    """Make the mean zero and the first eight again from the four MNIST files.

    Parameters
    ----------
    folder : path-like, optional
        Where the files are; see `data_folder`.
    verify : bool
        Refuse files whose checksum is not that of the published ones.

    Returns
    -------
    zero, eight : Picture
    """
    train_images, train_labels = read_mnist("train", folder, verify=verify)
    test_images, test_labels = read_mnist("t10k", folder, verify=verify)
    zeros = [train_images[train_labels == 0], test_images[test_labels == 0]]
    count = sum(map(len, zeros))
    eights = np.flatnonzero(train_labels == 8)
    if count == 0 or len(eights) == 0:
        raise InvalidInput(f"the digit lesson needs a 0 and a training 8, got {count} zeros and {len(eights)} eights")
    total = sum(pictures.sum(axis=0, dtype=np.int64) for pictures in zeros)
    where = "read from the IDX files" if verify else "read from IDX files that were not verified"
    return _zero(np.asarray(total), count, where, verify), _eight(train_images[eights[0]], where, verify)


def read_mnist(
    part: str = "train", folder: str | os.PathLike[str] | None = None, *, verify: bool = True
) -> tuple[Bytes, Bytes]:
    """Read one part of MNIST from its two IDX files, compressed with gzip or not.

    Parameters
    ----------
    part : {"train", "t10k"}
        The training images or those for tests.
    folder : path-like, optional
        Where the files are; see `data_folder`.
    verify : bool
        Refuse files whose checksum is not that of the published ones.

    Returns
    -------
    images : ndarray of shape (count, 28, 28)
        uint8, 0 to 255.
    labels : ndarray of shape (count,)
        uint8, 0 to 9.
    """
    if part not in CHECKSUMS:
        raise InvalidInput(f"the parts of MNIST are 'train' and 't10k', got {part!r}")
    place = data_folder(folder)
    paths = []
    for name in (f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"):
        dotted = name.replace("-idx", ".idx")
        path = find((name, f"{name}.gz", dotted, f"{dotted}.gz"), place)
        if path is None:
            raise no_such_data(f"{name} or {name}.gz", place)
        paths.append(path)
    images, labels = read_labelled(paths[0], paths[1], CHECKSUMS[part] if verify else (None, None))
    if labels.max() > 9:
        raise InvalidInput(
            f"the labels in {str(paths[1])!r} go up to {labels.max()}, and digits end at 9: copy it again"
        )
    return images, labels


def _zero(total: np.ndarray, count: int, where: str, original: bool) -> Picture:
    source = f"The mean of {'all ' if original else ''}{count:,} zeros of MNIST, training and test, {where}."
    return Picture(total / (255.0 * count), "digit 0", source, original, LICENCE)


def _eight(stored: np.ndarray, where: str, original: bool) -> Picture:
    return Picture(stored / 255.0, "digit 8", f"The first 8 of MNIST's training set, {where}.", original, LICENCE)
