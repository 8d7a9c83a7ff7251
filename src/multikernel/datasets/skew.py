"""Slanted images set upright by their second moments.

    J(r, c) = I(r, c + a (r - r_mean)),    a = mu_rc / mu_rr,
    mu_rr = sum I (r - r_mean)^2,  mu_rc = sum I (r - r_mean)(c - c_mean),  means over the pixels weighted by I

This is a shear: each row moves sideways by a distance proportional to r - r_mean. Values between pixels are
interpolated linearly, and pixels outside the image are zero. The shear keeps the centre of mass and makes mu_rc zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multikernel._arrays import refuse_masked
from multikernel._floats import TINY

_BATCH = 1000  # images sheared at a time, which bounds the memory for the positions of their pixels


def deskew(images: ArrayLike) -> NDArray[Any]:
    """Shear images so that the row and the column of their mass are uncorrelated.

    Parameters
    ----------
    images : array (n, height, width) of grey values >= 0; float32 is kept, anything else becomes float64

    Returns
    -------
    array (n, height, width). An image without vertical extent (all its mass in one row, or none) stays as it is.

    Raises
    ------
    ValueError : where the images are not a stack of real numbers, or a grey value is negative, not finite or masked

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.datasets import deskew
    >>> slanted = np.eye(3)[::-1]
    >>> deskew(slanted[None])[0]
    array([[0., 1., 0.],
           [0., 1., 0.],
           [0., 1., 0.]])
    """
    refuse_masked(images, "deskew: images")
    stack = np.asarray(images)
    if stack.ndim != 3:
        raise ValueError(f"deskew: images must have shape (n, height, width), got {stack.shape}; reshape rows")
    if stack.dtype.kind not in "fiub":
        raise ValueError(f"deskew: grey values must be real numbers, got dtype {stack.dtype}")
    if stack.dtype != np.float32:
        stack = stack.astype(np.float64)
    if not (np.isfinite(stack) & (stack >= 0)).all():
        raise ValueError("deskew: grey values must be finite and >= 0, as their mass shows how an image slants")
    upright = np.empty_like(stack)
    for start in range(0, len(stack), _BATCH):
        batch = slice(start, start + _BATCH)
        upright[batch] = _shear(stack[batch], _shifts(stack[batch].astype(np.float64)))
    return upright


def _shifts(images: NDArray[Any]) -> NDArray[Any]:
    """a (r - r_mean), the distance to the right from which the pixels of each row are read; shape (n, height)."""
    _, height, width = images.shape
    images = np.ldexp(images, -np.frexp(images.max(axis=(1, 2), initial=0.0, keepdims=True))[1])  # sums may overflow
    rows = images.sum(axis=2)
    columns = images.sum(axis=1)
    mass = np.maximum(rows.sum(axis=1), TINY)
    r = np.arange(height)
    c = np.arange(width)
    r = r - (rows @ r / mass)[:, None]
    c = c - (columns @ c / mass)[:, None]
    mu_rr = (rows * r * r).sum(axis=1)
    mu_rc = np.einsum("irc,ir,ic->i", images, r, c, optimize=True)
    extent = mu_rr > 1e-12 * mass * height**2  # a smaller mu_rr is rounding: all mass is in one row
    slope = np.where(extent, mu_rc / np.where(extent, mu_rr, 1.0), 0.0)
    return slope[:, None] * r


def _shear(images: NDArray[Any], shifts: NDArray[Any]) -> NDArray[Any]:
    """The sheared images: row r of image i is read at a distance of ``shifts[i, r]`` to the right."""
    width = images.shape[2]
    integer_shifts = np.floor(shifts)
    fraction = (shifts - integer_shifts).astype(images.dtype)[:, :, None]
    columns = np.arange(width) + np.clip(integer_shifts, -width - 1, width).astype(np.intp)[:, :, None]
    return (1 - fraction) * _read(images, columns) + fraction * _read(images, columns + 1)


def _read(images: NDArray[Any], columns: NDArray[np.intp]) -> NDArray[Any]:
    """The pixels at these columns of each row, zero outside."""
    width = images.shape[2]
    in_image = (columns >= 0) & (columns < width)
    return np.where(in_image, np.take_along_axis(images, np.clip(columns, 0, width - 1), axis=2), 0)
