"""The families that the papers use, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from multikernel._typing import Columns
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import RBF
from multikernel.kernels.dot import HomogeneousPolynomial, Linear, Polynomial
from multikernel.kernels.family import KernelFamily, Kernels, PerFeature, as_family


def homogeneous_polynomials(max_degree: int = 10, normalize: bool = True) -> KernelFamily:
    """The family K_D of Donini and Aiolli (2017): k_d(x, z) = (x'z)^d for d = 0..max_degree.

    The matrices are powers of one Gram matrix and are never stored one by one.

    Parameters
    ----------
    max_degree : int >= 0
    normalize : bool, whether the samples are scaled to unit length first, as in the paper, so that every k_d(x, x) is 1

    Raises
    ------
    ValueError
        Where max_degree is negative.

    Examples
    --------
    >>> from multikernel import kernels
    >>> len(kernels.homogeneous_polynomials(10))
    11
    """
    if max_degree < 0:
        raise ValueError(f"homogeneous_polynomials: max_degree must be a whole number >= 0, got {max_degree}")
    kernels: list[Kernel] = [HomogeneousPolynomial(d) for d in range(max_degree + 1)]
    return Kernels(tuple(k.normalized() for k in kernels) if normalize else tuple(kernels))


def rbf_grid(gammas: Iterable[float]) -> KernelFamily:
    """Gaussian kernels exp(-gamma |x - z|^2), one for each gamma in ``gammas``, over one distance matrix."""
    return Kernels(tuple(RBF(float(g)) for g in gammas))


def polynomials(degrees: Sequence[int], coef0: float = 1.0) -> KernelFamily:
    """Polynomial kernels (x'z + coef0)^d, one for each degree d in ``degrees``."""
    return Kernels(tuple(Polynomial(int(d), coef0) for d in degrees))


def per_feature(kernels: KernelFamily | Kernel | Sequence[Kernel]) -> KernelFamily:
    """Every kernel on every single feature: q p kernels for q kernels and p features, feature by feature."""
    return PerFeature(tuple(as_family(kernels)))


def linear_features() -> KernelFamily:
    """One rank-one kernel x_k x_k' for each feature k; never an n x n matrix per feature."""
    return per_feature(Linear())


def rls2_basis() -> KernelFamily:
    """The 13 (p + 1) kernels of Dinuzzo (RLS2, section 5.2): on every single feature and on all features together,

    (1 + x'z)^n for n = 1, 2, 3 and exp(-gamma |x - z|^2) for ten gammas from 1e-3 to 1e3.
    """
    thirteen = polynomials((1, 2, 3)) + rbf_grid(np.logspace(-3, 3, 10))
    return per_feature(thirteen) + thirteen


def smkl_basis() -> KernelFamily:
    """The 13 p kernels of Xu et al. (2010, section 5.2), on every single feature:

    exp(-(x - z)^2 / (2 s^2)) for the widths s = 2^-3..2^6 and (1 + xz)^n for n = 1, 2, 3.
    """
    widths = 2.0 ** np.arange(-3, 7)
    return per_feature(rbf_grid(1.0 / (2.0 * widths**2)) + polynomials((1, 2, 3)))


def column_groups(groups: Mapping[str, Columns], kernel: Kernel) -> KernelFamily:
    """One kernel per view of the data, named after it.

    Parameters
    ----------
    groups : mapping of a view's name to its columns, by position or by name
    kernel : Kernel, taken on the columns of each view

    Raises
    ------
    ValueError
        Where there is no group.

    Examples
    --------
    >>> from multikernel import kernels
    >>> views = kernels.column_groups({"clinical": [0, 1], "genes": [2, 3, 4]}, kernels.RBF(0.1))
    >>> views.names
    ('clinical', 'genes')
    """
    if not groups:
        raise ValueError("column_groups needs at least one group of columns, got none")
    return Kernels(tuple(kernel.on(columns) for columns in groups.values()), tuple(groups))
