"""Digits, letters, faces and pictures: what ships with nimt, and loaders for the published data."""

from __future__ import annotations

from nimt.datasets.face_pictures import faces, olivetti, orl, portraits
from nimt.datasets.formulas import NamedFormula
from nimt.datasets.letters import closest_letter, draw_o, letter_o, read_emnist_o, scale_to
from nimt.datasets.mnist import digits_from_mnist, first_eight, mean_zero, read_mnist
from nimt.datasets.picture import Picture, standardise
from nimt.datasets.picture_files import astronaut, cat, cheetah, prepare_like_the_cheetah, read_picture
from nimt.datasets.places import data_folder

__all__ = [
    "NamedFormula",
    "Picture",
    "astronaut",
    "cat",
    "cheetah",
    "closest_letter",
    "data_folder",
    "digits_from_mnist",
    "draw_o",
    "faces",
    "first_eight",
    "letter_o",
    "mean_zero",
    "olivetti",
    "orl",
    "portraits",
    "prepare_like_the_cheetah",
    "read_emnist_o",
    "read_mnist",
    "read_picture",
    "scale_to",
    "standardise",
]
