"""Kernels that are given in other words: a name such as "rbf", or a kernel of scikit-learn's Gaussian processes.

RBF(l)                       exp(-d^2 / (2 l^2))                  RBF(1 / (2 l^2)); Anisotropic where l is a vector
Matern(l, nu)                nu = 1/2, 3/2, 5/2                   Matern(1 / l^2, nu)
RationalQuadratic(l, a)      (1 + d^2 / (2 a l^2))^-a             RationalQuadratic(1 / (2 l^2), a)
DotProduct(s)                s^2 + x'z                            Polynomial(1, s^2)
ConstantKernel(c)            c                                    c * HomogeneousPolynomial(0), or a factor
sums, products, powers by whole numbers                           the same of the kernels translated
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from multikernel._rules import abbreviated, listed
from multikernel.kernels.base import Kernel
from multikernel.kernels.discrete import Hamming
from multikernel.kernels.distance import RBF, DistanceKernel, Laplacian
from multikernel.kernels.dot import HomogeneousPolynomial, Linear, Polynomial
from multikernel.kernels.metrics import Anisotropic
from multikernel.kernels.radial import Matern, RationalQuadratic
from multikernel.kernels.sequences import GappedSubsequences, Mismatches
from multikernel.kernels.sets import Items
from multikernel.kernels.text import NGrams
from multikernel.kernels.trees import Subtrees

_GAUSSIAN_PROCESSES = "sklearn.gaussian_process.kernels"
_NAMED: dict[str, Callable[[], Kernel]] = {
    "linear": Linear,
    "cosine": lambda: Linear().normalized(),
    "rbf": lambda: RBF("scale"),
    "laplacian": lambda: Laplacian("scale"),
    "matern": lambda: Matern("median"),
    "poly": lambda: Polynomial(3, gamma="scale"),
    "polynomial": lambda: Polynomial(3, gamma="scale"),
    "hamming": Hamming,
    "words": lambda: NGrams("word"),
    "characters": lambda: NGrams("character", (2, 4)),
    "subsequences": lambda: GappedSubsequences(3).normalized(),
    "mismatches": lambda: Mismatches(4).normalized(),
    "items": lambda: Items(",", "jaccard"),
    "subtrees": lambda: Subtrees().normalized(),
}
_INSTEAD = {
    "WhiteKernel": "it is noise, and no similarity of samples: what it stands for is the ridge alpha of a regressor",
    "ExpSineSquared": "use RBF on the cosine and the sine of the period, as DateParts does for dates, or evaluate it "
    "as it is by kernels.external(...)",
    "PairwiseKernel": "use Linear(), Polynomial(), RBF() or Laplacian() of multikernel.kernels itself",
    "CompoundKernel": "give its kernels as a list",
}


def as_kernel(given: Any) -> Kernel | None:
    """The kernel that is meant; None where it is no kernel in any words.

    Parameters
    ----------
    given : Kernel, the name of one, or a kernel of scikit-learn's Gaussian processes

    Raises
    ------
    ValueError : where it is an unknown name, or a kernel of scikit-learn that has no counterpart
    """
    if isinstance(given, Kernel):
        return given
    if isinstance(given, str):
        return _named(given)
    if type(given).__module__ == _GAUSSIAN_PROCESSES and not isinstance(given, type):
        return _translated(given)
    return None


def no_kernel(given: Any) -> str:
    """What is no kernel, in words, and what may be meant by it."""
    if isinstance(given, type):
        return f"the class {given.__name__}, not a kernel of that class ({given.__name__}(...))"
    if callable(given):
        return "a function: kernels.external(...) makes a kernel of it"
    return f"of type {type(given).__name__}"


def _named(name: str) -> Kernel:
    if name == "sigmoid":
        raise ValueError("'sigmoid' is not positive semi-definite, and so no kernel here: use 'rbf' or 'poly'")
    if name not in _NAMED:
        known = listed([repr(known) for known in _NAMED])
        raise ValueError(
            f"kernels known by name are {known} ('precomputed' says that X holds kernel matrices); got "
            f"{abbreviated(name)}"
        )
    return _NAMED[name]()


def _translated(given: Any) -> Kernel:
    match type(given).__name__:
        case "RBF":
            return _of_lengths(RBF, given.length_scale, 0.5)
        case "Matern" if given.nu == np.inf:
            return _of_lengths(RBF, given.length_scale, 0.5)
        case "Matern" if given.nu in (0.5, 1.5, 2.5):
            return _of_lengths(lambda gamma: Matern(gamma, nu=float(given.nu)), given.length_scale, 1.0)
        case "Matern":
            raise ValueError(f"{given} of scikit-learn has no counterpart: kernels.Matern has nu = 0.5, 1.5 or 2.5")
        case "RationalQuadratic":
            return RationalQuadratic(0.5 / float(given.length_scale) ** 2, alpha=float(given.alpha))
        case "DotProduct":
            return Polynomial(1, coef0=float(given.sigma_0) ** 2)
        case "ConstantKernel":
            return float(given.constant_value) * HomogeneousPolynomial(0)
        case "Sum":
            return _translated(given.k1) + _translated(given.k2)
        case "Product":
            for factor, other in ((given.k1, given.k2), (given.k2, given.k1)):
                if type(factor).__name__ == "ConstantKernel":
                    return float(factor.constant_value) * _translated(other)
            return _translated(given.k1) * _translated(given.k2)
        case "Exponentiation" if float(given.exponent).is_integer() and given.exponent >= 0:
            return _translated(given.kernel) ** int(given.exponent)
        case "Exponentiation":
            raise ValueError(f"{given} of scikit-learn is no kernel in general: use a whole exponent")
    instead = _INSTEAD.get(type(given).__name__, "evaluate it as it is by kernels.external(...)")
    raise ValueError(f"{type(given).__name__} of scikit-learn has no counterpart: {instead}")


def _of_lengths(make: Callable[[float], DistanceKernel], length: Any, half: float) -> Kernel:
    """k(x, z) = f(half |(x - z) / l|^2) with one length or one for each feature."""
    lengths = np.atleast_1d(np.asarray(length, dtype=float))
    if len(lengths) == 1:
        return make(half / float(lengths[0]) ** 2)
    return Anisotropic(make(half), tuple((1.0 / lengths**2).tolist()))
