"""Kernels of the Euclidean distance with heavier tails or less smooth functions than the Gaussian's.

With u = gamma |x - z|^2:

    Matern                (1 + t + ...) exp(-t),   t = sqrt(2 nu u):  functions that are differentiable nu - 1/2 times
    rational quadratic    (1 + u / alpha)^-alpha:  a mixture of Gaussians of all widths
    exponential power     exp(-u^(power / 2)):     between the Gaussian (2) and, below 1, very rough functions

(Rasmussen and Williams 2006, section 4.2.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from multikernel._arrays import namespace
from multikernel._parameters import Positive
from multikernel._rules import Choice, Number
from multikernel._typing import Array
from multikernel.kernels.distance import DistanceKernel
from multikernel.kernels.widths import Gamma


@dataclass(repr=False)
class Matern(DistanceKernel):
    """k(x, z) = p(t) exp(-t) with t = sqrt(2 nu gamma) |x - z|; p(t) = 1, 1 + t, 1 + t + t^2 / 3 for the three nu.

    Parameters
    ----------
    gamma : float > 0, in units of 1 / (distance squared), or "scale" or "median", a rule for the training sample;
        1 / length_scale^2 of scikit-learn
    nu : 0.5, 1.5 or 2.5, the smoothness; 0.5 is exp(-sqrt(gamma) |x - z|)

    Raises
    ------
    ValueError : where gamma is not a finite number > 0, or nu is another number

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> kernels.Matern(1.0, nu=0.5)(np.array([[0.0], [1.0]])).round(2)
    array([[1.  , 0.37],
           [0.37, 1.  ]])
    """

    gamma: Gamma = 1.0
    nu: Annotated[float, Choice((0.5, 1.5, 2.5))] = 1.5

    def profile(self, D: Array) -> Array:
        t = self._argument(D)
        return namespace(t).exp(-t) * self._polynomial(t)

    def slope(self, D: Array) -> Array:
        return self.profile_and_slope(D)[1]

    def profile_and_slope(self, D: Array) -> tuple[Array, Array]:
        t = self._argument(D)
        exponential = np.exp(-t)
        if self.nu == 0.5:
            return exponential, -0.5 * self.gamma * np.divide(exponential, t, out=np.zeros_like(t), where=t > 0)
        factor = 1.5 if self.nu == 1.5 else 5.0 / 6.0 * (1.0 + t)
        return exponential * self._polynomial(t), -self.gamma * factor * exponential

    def _argument(self, D: Array) -> Array:
        return _finite(namespace(D).sqrt(D * float(2.0 * self.nu * self.gamma)))

    def _polynomial(self, t: Array) -> Array:
        match self.nu:
            case 0.5:
                return namespace(t).ones_like(t)
            case 1.5:
                return 1.0 + t
        return 1.0 + t + t * t / 3.0


@dataclass(repr=False)
class RationalQuadratic(DistanceKernel):
    """k(x, z) = (1 + gamma |x - z|^2 / alpha)^-alpha.

    Parameters
    ----------
    gamma : float > 0, in units of 1 / (distance squared), or "scale" or "median", a rule for the training sample
    alpha : float > 0, the exponent; for large alpha the kernel tends to the Gaussian of the same gamma

    Raises
    ------
    ValueError : where gamma or alpha is not a finite number > 0

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> kernels.RationalQuadratic(1.0, alpha=1.0)(np.array([[0.0], [1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    gamma: Gamma = 1.0
    alpha: Positive = 1.0

    def profile(self, D: Array) -> Array:
        xp = namespace(D)
        return xp.exp(xp.log1p(self._ratio(D)) * -float(self.alpha))  # 1 + u / alpha loses a small u / alpha

    def slope(self, D: Array) -> Array:
        return self.profile_and_slope(D)[1]

    def profile_and_slope(self, D: Array) -> tuple[Array, Array]:
        value = self.profile(D)
        return value, -self.gamma * (value / (1.0 + self._ratio(D)))

    def _ratio(self, D: Array) -> Array:
        """u / alpha."""
        return D * float(self.gamma / self.alpha)


@dataclass(repr=False)
class ExponentialPower(DistanceKernel):
    """k(x, z) = exp(-(sqrt(gamma) |x - z|)^power).

    Parameters
    ----------
    gamma : float > 0, in units of 1 / (distance squared), or "scale" or "median", a rule for the training sample
    power : float > 0 and at most 2

    Raises
    ------
    ValueError : where gamma is not a finite number > 0, or power is not in (0, 2]

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> kernels.ExponentialPower(1.0, power=1.0)(np.array([[0.0], [1.0]])).round(2)
    array([[1.  , 0.37],
           [0.37, 1.  ]])
    """

    gamma: Gamma = 1.0
    power: Annotated[float, Number(above=0, most=2)] = 1.0

    def profile(self, D: Array) -> Array:
        return namespace(D).exp(-self._exponent(D))

    def slope(self, D: Array) -> Array:
        return self.profile_and_slope(D)[1]

    def profile_and_slope(self, D: Array) -> tuple[Array, Array]:
        t = self._exponent(D)
        value = np.exp(-t)
        return value, -0.5 * self.power * np.divide(t, D, out=np.zeros_like(D), where=D > 0) * value

    def _exponent(self, D: Array) -> Array:
        return _finite((D * float(self.gamma)) ** float(0.5 * self.power))


def _finite(t: Array) -> Array:
    """t limited to 1000, where exp(-t) is 0 already: products and quotients of 0 and an infinite t would be NaN."""
    return namespace(t).clip(t, 0.0, 1000.0)
