# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images as rows of patches, which encoders of images take (Dosovitskiy et al.
2020, arXiv:2010.11929)."""
from __future__ import annotations

import math

import numpy as np

from tfcompiler._error import Code, Error


def as_rows(name: str, value) -> np.ndarray:
    """Rows of floats, float32: those that lie in one piece stay where they
    are."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.array(None)  # of several sizes
    if array.dtype.kind not in "iuf":
        raise Error(Code.INVALID_ARGUMENT, f"{name}: expected numbers of one "
                    f"size, got {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.float32)


def to_patches(pixels, width: int, positions: int) -> np.ndarray:
    """[batch, channels, height, width] of an image processor as rows
    [batch, patches, channels x side x side], row by row of the image; `width`
    and `positions` are how wide a patch of the model is and how many there
    are."""
    array = as_rows("pixel_values", pixels)
    channels = array.shape[1] if array.ndim == 4 else 0
    side = math.isqrt(width // channels) if channels else 0
    grid = math.isqrt(positions)
    fits = side and side * side * channels == width and array.shape[2:] == (
        grid * side, grid * side)
    if not fits:
        places = f"{positions} patches of {width} numbers"
        raise Error(Code.INVALID_ARGUMENT, "pixel_values: expected [batch, "
                    f"channels, height, width] of {places}, got "
                    f"{list(array.shape)}")
    patches = array.reshape(-1, channels, grid, side, grid, side)
    return np.ascontiguousarray(
        patches.transpose(0, 2, 4, 1, 3, 5)).reshape(-1, positions, width)
