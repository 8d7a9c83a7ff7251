"""Power series of a kernel with coefficients a_s >= 0, and the dot-product polynomials of fixed weights.

    k(x, z) = sum_s a_s t^s,   t = kernel(x, z)

With t the cosine x'z / (|x| |z|) these are the kernels that multiple kernel learning over the homogeneous polynomials
is compared with (Donini and Aiolli, 2017): the weights of the degrees are chosen in advance instead of learned. A
sample of zeros has t = 0 with every sample, also with itself, and t^0 = 1.

The classical kernels are such series on the unit sphere: for |x| = |z| = 1 and t = x'z the squared distance is 2 - 2t,
so that the kernels below are functions of t with Maclaurin coefficients a_s >= 0 (Donini and Aiolli, 2017, Table 1,
with the errors of its rows corrected):

    (t + c)^D                          C(D, s) c^(D - s),  s <= D
    exp(-gamma |x - z|^2)              exp(-2 gamma) (2 gamma)^s / s!
    1 - |x - z|^2 / (|x - z|^2 + c)    c 2^s / (2 + c)^(s + 1)
    1 / (1 + |x - z|^2 / gamma)        gamma 2^s / (2 + gamma)^(s + 1), the same with gamma for c

Inside the sphere the last three are not functions of t. All coefficients are computed from their logarithms, so that
for large degrees and widths they do not overflow, nor all vanish where their sum is scaled to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from multikernel._parameters import DEGREE, NON_NEGATIVE, POSITIVE
from multikernel._rules import Vector
from multikernel._typing import Array
from multikernel.kernels.algebra import Power, View, refuse_centred
from multikernel.kernels.base import Fact, Kernel
from multikernel.kernels.dot import Linear
from multikernel.kernels.facts import Wrapped


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
    ValueError : where a parameter is not such a number

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
    normalize : bool, whether to divide by the sum, which gives the weights of the truncated kernel

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


def _degrees(degree: int, name: str) -> Array:
    return np.arange(DEGREE.check(degree, name) + 1)


@dataclass(repr=False)
class PowerSeries(View):
    """k(x, z) = sum_s coefficients[s] kernel(x, z)^s: a kernel wherever no coefficient is negative.

    Parameters
    ----------
    kernel : Kernel; ``Linear()`` gives a dot-product polynomial, ``Linear().normalized()`` one of the cosine
    coefficients : sequence of finite numbers >= 0, at least one; of t^0, t^1, and so on

    Raises
    ------
    ValueError : where there is no coefficient, one is negative or not finite, or the kernel is centred

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> X = np.array([[1.0, 2.0], [0.5, -1.0]])
    >>> series = kernels.PowerSeries(kernels.Linear(), [1, 2, 1])
    >>> bool(np.allclose(series(X), kernels.Polynomial(degree=2)(X)))
    True
    """

    coefficients: Annotated[Sequence[float], Vector()]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.coefficients, tuple):  # kernels are compared by value, which arrays are not
            self.coefficients = tuple(float(a) for a in self.coefficients)
        refuse_centred((self.kernel,), "power series")

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return self._of(self.kernel(X, Z))

    def diagonal(self, X: Any) -> Array:
        return self._of(self.kernel.diagonal(X))

    def _of(self, t: Array) -> Array:
        """The series at t by Horner's rule, in the precision of t."""
        highest, *lower_coefficients = (t.dtype.type(a) for a in reversed(self.coefficients))
        value = np.full_like(t, highest)
        for a in lower_coefficients:
            value *= t
            value += a
        return value

    def facts(self) -> tuple[Fact, ...]:
        """A series of one term is a multiple of a power."""
        terms = np.flatnonzero(self.coefficients)
        if len(terms) != 1:
            return ()
        return (Wrapped(Power(self.kernel, int(terms[0])), float(self.coefficients[terms[0]])),)


def weighted_polynomials(weights: Sequence[float] | Array) -> Kernel:
    """sum_s weights[s] cos(x, z)^s: the homogeneous polynomials of samples of unit length, with fixed weights.

    Parameters
    ----------
    weights : numbers >= 0, of the degrees 0, 1, and so on; k(x, x) is their sum

    Examples
    --------
    >>> from multikernel import kernels
    >>> geometric = kernels.weighted_polynomials([0.5, 0.25, 0.125, 0.125])
    """
    Vector().check(weights, "weighted_polynomials: weights")
    return PowerSeries(Linear().normalized(), tuple(float(w) for w in weights))


def highest_polynomial(max_degree: int) -> Kernel:
    """K_D = cos(x, z)^D: all weight on the highest degree D.

    Parameters
    ----------
    max_degree : int >= 0, D
    """
    return Linear().normalized() ** DEGREE.check(max_degree, "highest_polynomial: max_degree")


def mean_polynomial(max_degree: int) -> Kernel:
    """K_sum = 1 / (D + 1) sum_s cos(x, z)^s: equal weights on the degrees 0..D.

    Parameters
    ----------
    max_degree : int >= 0, D
    """
    DEGREE.check(max_degree, "mean_polynomial: max_degree")
    return weighted_polynomials([1.0 / (max_degree + 1) for _ in range(max_degree + 1)])


def shifted_polynomial(max_degree: int, constant: float = 1.0) -> Kernel:
    """K_{D,c} = ((cos(x, z) + c) / (1 + c))^D: the inhomogeneous polynomial, with weights of sum 1.

    Parameters
    ----------
    max_degree : int >= 0, D
    constant : float >= 0, c
    """
    return weighted_polynomials(polynomial_coefficients(max_degree, constant, normalize=True))


def truncated_rbf(max_degree: int, gamma: float = 1.0) -> Kernel:
    """The series of the Gaussian exp(-gamma |x - z|^2) on the unit sphere up to degree D, with weights of sum 1.

    Parameters
    ----------
    max_degree : int >= 0, D
    gamma : float > 0

    References
    ----------
    Donini and Aiolli (2017), equation 10. The weights there read (2 gamma)^(2s) / s!; the series of the Gaussian has
    (2 gamma)^s / s!.
    """
    return weighted_polynomials(rbf_coefficients(max_degree, gamma, normalize=True))
