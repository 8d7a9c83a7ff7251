"""Where weights lie, and on how many kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._arrays import refuse_masked
from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel.banks.checks import numbers


def center_of_mass(weights: Any, degrees: Any = None) -> float:
    """W = (1/D) sum_s s eta_s, the mean degree divided by the largest degree D, for weights eta scaled to sum 1.

    It is 0 where the constant kernel has all weight and 1 where the highest degree has. Weights of EasyMKL, in which
    the constant kernel has none, give at least 1/D.

    Parameters
    ----------
    weights : array-like (m,), non-negative and not all zero
    degrees : array-like (m,), the degree of each kernel; None for 0, 1, ..., m - 1

    Returns
    -------
    float in [0, 1]; 0 where degree 0 is the only one

    Raises
    ------
    ValueError : where weights or degrees are negative, not finite or not of one length, or all weights are zero

    References
    ----------
    Donini and Aiolli (2017), Learning deep kernels in the space of dot product polynomials, section 5.5.

    Examples
    --------
    >>> from multikernel.diagnostics import center_of_mass
    >>> center_of_mass([0.0, 1.0, 1.0])
    0.75
    >>> center_of_mass([0.5, 0.5], degrees=[1, 4])
    0.625
    """
    eta = _non_negative(weights, "weights")
    if degrees is None:
        s = np.arange(len(eta), dtype=float)
    else:
        s = _non_negative(degrees, "degrees")
    if len(s) != len(eta):
        raise ValueError(f"each weight needs a degree, got {len(eta)} weights and {len(s)} degrees")
    if eta.max() == 0.0:
        raise ValueError("weights are all zero: they have no centre of mass")
    largest = float(s.max())
    eta = eta / eta.max()
    if largest > 0:
        return float((eta / eta.sum()) @ (s / largest))
    return 0.0


def effective_number(weights: Any) -> float:
    """(sum eta)^2 / sum eta^2: how many kernels of equal weight would be as concentrated as these weights.

    It is m for m equal weights and 1 where one kernel has all weight. Weights of kernels of different sizes should be
    multiplied by these first, as normalised kernels need not be.

    Parameters
    ----------
    weights : array-like (m,), non-negative and not all zero

    Returns
    -------
    float in [1, m]

    Raises
    ------
    ValueError : where weights are negative, not finite, or all zero

    Examples
    --------
    >>> from multikernel.diagnostics import effective_number
    >>> effective_number([0.5, 0.5, 0.0]), effective_number([0.5, 0.25, 0.25])
    (2.0, 2.6666666666666665)
    """
    eta = _non_negative(weights, "weights")
    if eta.max() == 0.0:
        raise ValueError("weights are all zero: they are on no kernel")
    eta = eta / eta.max()
    return float(eta.sum() ** 2 / (eta @ eta))


def _non_negative(values: Any, name: str) -> Array:
    refuse_masked(values, name)
    array = numbers(values, name)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(f"{name} must be a vector with at least one value, got shape {array.shape}")
    wrong = np.flatnonzero(~((array >= 0) & np.isfinite(array)))
    if len(wrong):
        raise ValueError(f"{name} must be finite and non-negative, got {array[wrong[0]]} at position {wrong[0]}")
    return array


def positive_weights(weights: Any) -> Array:
    """Which weights are positive: more than 1e-6 of the largest one, which is about what rounding leaves of zero.

    Parameters
    ----------
    weights : array-like (..., m)

    Returns
    -------
    bool array (..., m)

    Raises
    ------
    ValueError : where a weight is not finite or masked, or there is no weight

    Examples
    --------
    >>> from multikernel.diagnostics import positive_weights
    >>> positive_weights([0.7, 1e-9, 0.3]).tolist()
    [True, False, True]
    """
    refuse_masked(weights, "weights")
    values = numbers(weights, "weights")
    if values.ndim == 0 or values.shape[-1] == 0 or not np.isfinite(values).all():
        raise ValueError(f"weights must hold a finite number for each kernel, got {abbreviated(weights)}")
    return np.asarray(values > 1e-6 * values.max(axis=-1, keepdims=True))
