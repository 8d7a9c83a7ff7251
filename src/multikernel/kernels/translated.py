"""Kernels given by a name such as "rbf", or as a kernel of scikit-learn's Gaussian processes, and their translation.

RBF(l)                       exp(-d^2 / (2 l^2))                  RBF(1 / (2 l^2)); Anisotropic where l is a vector
Matern(l, nu)                nu = 1/2, 3/2, 5/2                   Matern(1 / l^2, nu)
RationalQuadratic(l, a)      (1 + d^2 / (2 a l^2))^-a             RationalQuadratic(1 / (2 l^2), a)
DotProduct(s)                s^2 + x'z                            Polynomial(1, s^2)
ConstantKernel(c)            c                                    c * HomogeneousPolynomial(0), or a factor
sums, products, powers by whole numbers                           the same of the translated kernels
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


def as_kernel(value: Any) -> Kernel | None:
    """The kernel that a value stands for; None where it stands for none.

    Parameters
    ----------
    value : Kernel, the name of one, or a kernel of scikit-learn's Gaussian processes

    Raises
    ------
    ValueError : where it is an unknown name, or a kernel of scikit-learn that has no counterpart
    """
    if isinstance(value, Kernel):
        return value
    if isinstance(value, str):
        return _named(value)
    if type(value).__module__ == _GAUSSIAN_PROCESSES and not isinstance(value, type):
        return _translated(value)
    return None


def no_kernel(value: Any) -> str:
    """A description of a value that is no kernel, with a hint where a kernel can be made of it."""
    if isinstance(value, type):
        return f"the class {value.__name__}, not a kernel of that class ({value.__name__}(...))"
    if callable(value):
        return "a function: kernels.external(...) makes a kernel of it"
    return f"of type {type(value).__name__}"


def _named(name: str) -> Kernel:
    if name == "sigmoid":
        raise ValueError("'sigmoid' is not positive semi-definite, and so no kernel here: use 'rbf' or 'poly'")
    if name not in _NAMED:
        names = listed(list(map(repr, _NAMED)))
        raise ValueError(
            f"kernels known by name are {names} ('precomputed' says that X holds kernel matrices); got "
            f"{abbreviated(name)}"
        )
    return _NAMED[name]()


def _translated(kernel: Any) -> Kernel:
    match type(kernel).__name__:
        case "RBF":
            return _of_lengths(RBF, kernel.length_scale, 0.5)
        case "Matern" if kernel.nu == np.inf:
            return _of_lengths(RBF, kernel.length_scale, 0.5)
        case "Matern" if kernel.nu in (0.5, 1.5, 2.5):
            return _of_lengths(lambda gamma: Matern(gamma, nu=float(kernel.nu)), kernel.length_scale, 1.0)
        case "Matern":
            raise ValueError(f"{kernel} of scikit-learn has no counterpart: kernels.Matern has nu = 0.5, 1.5 or 2.5")
        case "RationalQuadratic":
            return RationalQuadratic(0.5 / float(kernel.length_scale) ** 2, alpha=float(kernel.alpha))
        case "DotProduct":
            return Polynomial(1, coef0=float(kernel.sigma_0) ** 2)
        case "ConstantKernel":
            return float(kernel.constant_value) * HomogeneousPolynomial(0)
        case "Sum":
            return _translated(kernel.k1) + _translated(kernel.k2)
        case "Product":
            for factor, other in ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1)):
                if type(factor).__name__ == "ConstantKernel":
                    return float(factor.constant_value) * _translated(other)
            return _translated(kernel.k1) * _translated(kernel.k2)
        case "Exponentiation" if float(kernel.exponent).is_integer() and kernel.exponent >= 0:
            return _translated(kernel.kernel) ** int(kernel.exponent)
        case "Exponentiation":
            raise ValueError(f"{kernel} of scikit-learn is no kernel in general: use a whole exponent")
    advice = _INSTEAD.get(type(kernel).__name__, "evaluate it as it is by kernels.external(...)")
    raise ValueError(f"{type(kernel).__name__} of scikit-learn has no counterpart: {advice}")


def _of_lengths(make: Callable[[float], DistanceKernel], length: Any, half: float) -> Kernel:
    """k(x, z) = f(half |(x - z) / l|^2) with one length l, or with one for each feature; ``make`` maps gamma to f."""
    lengths = np.atleast_1d(np.asarray(length, dtype=float))
    if len(lengths) == 1:
        return make(half / float(lengths[0]) ** 2)
    return Anisotropic(make(half), tuple((1.0 / lengths**2).tolist()))
