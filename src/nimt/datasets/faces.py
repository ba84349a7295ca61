"""Two faces for the lesson that teaches one into the other."""

from __future__ import annotations

import io
import os

import numpy as np
from PIL import Image

from nimt.datasets.picture import Picture, standardised
from nimt.datasets.places import data_folder, shipped
from nimt.errors import InvalidInput

_FACES = 400
_SIDE = 64


def faces(*, download: bool = False) -> tuple[Picture, Picture]:
    """Return two standardised 64x64 faces: Olivetti's where scikit-learn has them, else the shipped portraits.

    Parameters
    ----------
    download : bool
        Let scikit-learn fetch the Olivetti faces when they are not there.

    Returns
    -------
    initial, target : Picture
    """
    try:
        return olivetti(download=download)
    except InvalidInput:
        return portraits()


def portraits() -> tuple[Picture, Picture]:
    """Return the two portraits that ship with nimt, 64x64, eyes at the same places, standardised, not inverted.

    Returns
    -------
    initial, target : Picture
        Eileen Collins (NASA) and Grace Hopper (U.S. Navy), both in the public domain.

    Examples
    --------
    >>> from nimt.datasets import portraits
    >>> [face.name for face in portraits()]
    ['Eileen Collins', 'Grace Hopper']
    """
    return (
        _portrait("collins.png", "Eileen Collins", "NASA's portrait of Eileen Collins (scikit-image)"),
        _portrait("hopper.png", "Grace Hopper", "The U.S. Navy's portrait of Grace Hopper (Matplotlib)"),
    )


def olivetti(
    initial: int = 0,
    target: int = 10,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = False,
) -> tuple[Picture, Picture]:
    """Return two of the 400 Olivetti (ORL) faces, 64x64, standardised, not inverted.

    Faces 10 p to 10 p + 9 show person p. Which two the paper took is not said.

    Parameters
    ----------
    initial, target : int
        0 to 399.
    data_home : path-like, optional
        scikit-learn's data folder. It keeps these faces as a pickle: name only a folder you trust.
    download : bool
        Let scikit-learn fetch the faces when they are not there.
    """
    for index in (initial, target):
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < _FACES:
            raise InvalidInput(f"a face is a whole number from 0 to {_FACES - 1}, got {index!r}")
    home = None if data_home is None else data_folder(data_home)
    images = _fetched(None if home is None else str(home), download)
    return _olivetti(images, initial), _olivetti(images, target)


def _fetched(data_home: str | None, download: bool) -> np.ndarray:
    from sklearn.datasets import fetch_olivetti_faces

    try:
        bunch = fetch_olivetti_faces(data_home=data_home, download_if_missing=download, n_retries=0)
        images = np.asarray(bunch.images, dtype=np.float64)
    except Exception as problem:  # the network, the disk or a damaged cache: each with exceptions of its own
        tried = "could not be fetched or read" if download else "are not there"
        raise InvalidInput(
            f"the Olivetti faces {tried} ({problem}): run sklearn.datasets.fetch_olivetti_faces() once with a network, "
            "or copy its olivetti_py3.pkz into scikit-learn's data folder, or use portraits()"
        ) from problem
    if images.shape != (_FACES, _SIDE, _SIDE):
        raise InvalidInput(
            f"the Olivetti faces have shape {images.shape}, not (400, 64, 64): remove them and fetch again"
        )
    return images


def _olivetti(images: np.ndarray, index: int) -> Picture:
    source = f"Face {index} of the Olivetti (ORL) faces at 64x64, standardised; which two the paper took is not said."
    licence = "AT&T Laboratories Cambridge: credit asked when used"
    return Picture(standardised(images[index]), f"Olivetti face {index}", source, True, licence)


def _portrait(file: str, name: str, source: str) -> Picture:
    with Image.open(io.BytesIO(shipped(file)), formats=("PNG",)) as image:
        values = standardised(np.asarray(image, dtype=np.float64))
    return Picture(values, name, f"{source}, cropped to 64x64 and standardised.", False, "public domain")
