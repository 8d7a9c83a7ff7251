"""Coefficients of classical kernels on the unit sphere as power series of the inner product.

For |x| = |z| = 1 and t = x'z the squared distance is 2 - 2t, so that the kernels below are functions of t with
Maclaurin coefficients a_s >= 0 (Donini and Aiolli, 2017, Table 1, with the errors of its rows corrected):

    (t + c)^D                          C(D, s) c^(D - s),  s <= D
    exp(-gamma |x - z|^2)              exp(-2 gamma) (2 gamma)^s / s!
    1 - |x - z|^2 / (|x - z|^2 + c)    c 2^s / (2 + c)^(s + 1)
    1 / (1 + |x - z|^2 / gamma)        gamma 2^s / (2 + gamma)^(s + 1), the same with gamma for c

Inside the sphere the last three are no functions of t. All are computed from their logarithms: large degrees and
widths neither overflow nor, where the sum is made 1, vanish.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from multikernel._parameters import DEGREE, NON_NEGATIVE, POSITIVE
from multikernel._typing import Array


def polynomial_coefficients(degree: int, constant: float = 1.0, normalize: bool = False) -> Array:
    """The coefficients of (t + constant)^degree, of t^0 to t^degree.

    Parameters
    ----------
    degree : int >= 0
    constant : float >= 0
    normalize : bool, whether to divide by the sum, the value at t = 1

    Returns
    -------
    array (degree + 1,)

    Raises
    ------
    ValueError : where a parameter is not such a number; so do the functions below

    Examples
    --------
    >>> from multikernel import kernels
    >>> kernels.polynomial_coefficients(2, 3.0).round(12)
    array([9., 6., 1.])
    """
    s = _degrees(degree, "polynomial_coefficients: degree")
    constant = NON_NEGATIVE.check(constant, "polynomial_coefficients: constant")
    ways = gammaln(degree + 1) - gammaln(s + 1) - gammaln(degree - s + 1)
    return _from_logarithms(ways + xlogy(degree - s, constant), normalize)


def rbf_coefficients(max_degree: int, gamma: float = 1.0, normalize: bool = False) -> Array:
    """The coefficients of exp(-gamma |x - z|^2) on the unit sphere, of t^0 to t^max_degree.

    Parameters
    ----------
    max_degree : int >= 0
    gamma : float > 0
    normalize : bool, whether to divide by the sum: these are the weights of the truncated kernel

    Examples
    --------
    >>> from multikernel import kernels
    >>> kernels.rbf_coefficients(2, gamma=0.5, normalize=True).round(12)
    array([0.4, 0.4, 0.2])
    """
    s = _degrees(max_degree, "rbf_coefficients: max_degree")
    gamma = POSITIVE.check(gamma, "rbf_coefficients: gamma")
    return _from_logarithms(s * np.log(2.0 * gamma) - 2.0 * gamma - gammaln(s + 1), normalize)


def rational_quadratic_coefficients(max_degree: int, c: float = 1.0, normalize: bool = False) -> Array:
    """The coefficients of 1 - |x - z|^2 / (|x - z|^2 + c) on the unit sphere, of t^0 to t^max_degree.

    Parameters
    ----------
    max_degree : int >= 0
    c : float > 0
    normalize : bool, whether to divide by the sum
    """
    s = _degrees(max_degree, "rational_quadratic_coefficients: max_degree")
    return _geometric(s, POSITIVE.check(c, "rational_quadratic_coefficients: c"), normalize)


def cauchy_coefficients(max_degree: int, gamma: float = 1.0, normalize: bool = False) -> Array:
    """The coefficients of 1 / (1 + |x - z|^2 / gamma) on the unit sphere, of t^0 to t^max_degree.

    Parameters
    ----------
    max_degree : int >= 0
    gamma : float > 0
    normalize : bool, whether to divide by the sum
    """
    s = _degrees(max_degree, "cauchy_coefficients: max_degree")
    return _geometric(s, POSITIVE.check(gamma, "cauchy_coefficients: gamma"), normalize)


def _geometric(s: Array, c: float, normalize: bool) -> Array:
    return _from_logarithms(np.log(c) + s * np.log(2.0) - (s + 1) * np.log(2.0 + c), normalize)


def _from_logarithms(logarithms: Array, normalize: bool) -> Array:
    return np.exp(logarithms - logsumexp(logarithms) if normalize else logarithms)


def _degrees(degree: int, what: str) -> Array:
    return np.arange(DEGREE.check(degree, what) + 1)
