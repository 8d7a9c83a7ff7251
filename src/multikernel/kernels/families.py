"""Functions that return the families of kernels of the papers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._parameters import DEGREE, POSITIVE, check_each
from multikernel._rules import abbreviated
from multikernel._typing import Columns
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import RBF
from multikernel.kernels.dot import HomogeneousPolynomial, Linear, Polynomial
from multikernel.kernels.family import KernelFamily, Kernels, as_family
from multikernel.kernels.features import Features
from multikernel.kernels.widths import Width

_TIMES = (0.015625, 0.0625, 0.25, 1.0, 4.0, 16.0)  # multiples of the gamma of the median distance


def homogeneous_polynomials(max_degree: int = 10, normalize: bool = True) -> KernelFamily:
    """The family K_D of Donini and Aiolli (2017): k_d(x, z) = (x'z)^d for d = 0..max_degree.

    Parameters
    ----------
    max_degree : int >= 0
    normalize : bool, whether samples are scaled to unit length first, as in the paper: then every k_d(x, x) is 1

    Raises
    ------
    ValueError : where max_degree is not a whole number >= 0

    Examples
    --------
    >>> from multikernel import kernels
    >>> len(kernels.homogeneous_polynomials(10))
    11
    """
    degrees = range(DEGREE.check(max_degree, "homogeneous_polynomials: max_degree") + 1)
    kernels = [HomogeneousPolynomial(d) for d in degrees]
    return Kernels(tuple(k.normalized() if normalize else k for k in kernels))


def rbf_grid(gammas: Iterable[float] | None = None) -> KernelFamily:
    """Gaussian kernels exp(-gamma |x - z|^2), which are evaluated from one matrix of distances.

    Parameters
    ----------
    gammas : numbers > 0, at least one; one for each kernel. By default six multiples, from 1/64 to 16, of the gamma
        whose width is the median distance in the training sample.

    Examples
    --------
    >>> from multikernel import kernels
    >>> kernels.rbf_grid().names[0]
    "RBF(gamma=Width(rule='median', times=0.015625))"
    """
    if gammas is None:
        return Kernels(tuple(RBF(Width("median", times)) for times in _TIMES))
    return Kernels(tuple(RBF(gamma) for gamma in check_each(POSITIVE, gammas, "rbf_grid: gammas")))


def polynomials(degrees: Sequence[int], coef0: float = 1.0) -> KernelFamily:
    """Polynomial kernels (x'z + coef0)^d.

    Parameters
    ----------
    degrees : whole numbers >= 0, at least one; one for each kernel
    coef0 : float >= 0
    """
    return Kernels(tuple(Polynomial(degree, coef0) for degree in check_each(DEGREE, degrees, "polynomials: degrees")))


def per_feature(kernels: Any) -> KernelFamily:
    """Every kernel on every single feature: q p kernels for q kernels and p features, feature by feature.

    Parameters
    ----------
    kernels : a kernel, a list of kernels or a family that lists its kernels, as an estimator takes them
    """
    return PerFeature(tuple(as_family(kernels)))


def linear_features() -> KernelFamily:
    """One rank-one kernel x_k x_k' for each feature k; never an n x n matrix per feature."""
    return per_feature(Linear())


def rls2_kernels() -> KernelFamily:
    """The 13 kernels of Dinuzzo (RLS2, section 5.2), on all features.

    (1 + x'z)^n for n = 1, 2, 3 and exp(-gamma |x - z|^2) for ten gammas from 1e-3 to 1e3.
    """
    return polynomials((1, 2, 3)) + rbf_grid(np.logspace(-3, 3, 10))


def rls2_basis() -> KernelFamily:
    """The 13 (p + 1) kernels of Dinuzzo (RLS2, section 5.2): on every single feature and on all features together,

    (1 + x'z)^n for n = 1, 2, 3 and exp(-gamma |x - z|^2) for ten gammas from 1e-3 to 1e3.
    """
    return per_feature(rls2_kernels()) + rls2_kernels()


def smkl_basis() -> KernelFamily:
    """The 13 p kernels of Xu et al. (2010, section 5.2), on every single feature:

    exp(-(x - z)^2 / (2 s^2)) for the widths s = 2^-3..2^6 and (1 + xz)^n for n = 1, 2, 3.
    """
    widths = 2.0 ** np.arange(-3, 7)
    return per_feature(rbf_grid(1.0 / (2.0 * widths**2)) + polynomials((1, 2, 3)))


def column_groups(groups: Mapping[str, int | str | slice | Columns], kernel: Any) -> KernelFamily:
    """One kernel per view of the data, named after it; or several.

    Parameters
    ----------
    groups : the columns of each view: indices, data-frame names, a slice, or a mask of all columns
    kernel : a kernel, a list of kernels or a family, which is restricted to the columns of each view in turn

    Raises
    ------
    TypeError : where kernel is not a kernel, list of kernels or family
    ValueError : where there is no group, or one without columns; when the kernels are bound to samples, where a group
        has a column twice

    Examples
    --------
    >>> from multikernel import kernels
    >>> views = kernels.column_groups({"clinical": [0, 1], "genes": [2, 3, 4]}, kernels.RBF(0.1))
    >>> views.names
    ('clinical', 'genes')
    >>> kernels.column_groups({"genes": slice(2, None)}, ["rbf", "linear"]).names
    ("genes: RBF(gamma='scale')", 'genes: Linear()')
    """
    if not isinstance(groups, Mapping) or not groups:
        raise ValueError(
            f"column_groups: groups must be a dict of one or more names with their columns, got {abbreviated(groups)}"
        )
    family = as_family(kernel)
    names = [str(group) if len(family) == 1 else f"{group}: {name}" for group in groups for name in family.names]
    return Kernels(tuple(k.on(columns) for columns in groups.values() for k in family), tuple(names))


@dataclass
class PerFeature(KernelFamily):
    """Every kernel on every single feature: feature by feature, in the order of the columns."""

    kernels: tuple[Kernel, ...]

    def map(self, change: Callable[[Kernel], Kernel]) -> PerFeature:
        return PerFeature(tuple(map(change, self.kernels)))

    def resolve(self, features: Features) -> Kernels:
        kernels_of_features = [k.on(j) for j in range(features.n) for k in self.kernels]
        labels = features.names or range(features.n)
        names = tuple(repr(k.on(label)) for label in labels for k in self.kernels)
        return Kernels(tuple(k.resolve(features) for k in kernels_of_features), names)
