"""Resample values from one grid to another of the same dimension."""

from __future__ import annotations

import numpy as np

from nimt.arrays import Array


def resample(values: Array, shape: tuple[int, ...]) -> Array:
    """Return a curve or a picture at another size: curves linearly, pictures by Lanczos' filter.

    `shape` is that of the grid; a further axis of `values`, of outputs such as red, green and blue, is kept.

    Pictures pass through single precision, the highest that Pillow resamples. The result is clipped to the old range,
    which Lanczos' filter would exceed at edges.

    Examples
    --------
    >>> resample(np.array([0.0, 1.0]), (3,))
    array([0. , 0.5, 1. ])
    """
    from PIL import Image

    if values.shape[: len(shape)] == shape:
        return values
    if values.ndim > len(shape):
        return np.stack([resample(layer, shape) for layer in np.moveaxis(values, -1, 0)], axis=-1)
    if values.ndim == 1:
        (length,) = shape
        return np.interp(np.linspace(0.0, 1.0, length), np.linspace(0.0, 1.0, len(values)), values)
    height, width = shape
    image = Image.fromarray(values.astype(np.float32, copy=False))
    larger = np.asarray(image.resize((width, height), Image.Resampling.LANCZOS), dtype=np.float64)
    return np.clip(larger, values.min(), values.max())
