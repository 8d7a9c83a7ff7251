"""ANOVA kernels: sums over the subsets of d features of products of one kernel value for each feature.

    k_d(x, z) = sum over i_1 < ... < i_d of  k(x_{i_1}, z_{i_1}) ... k(x_{i_d}, z_{i_d})

This is the elementary symmetric polynomial of degree d in the p kernel values of the features. The recursion

    e_d  <-  e_d + k(x_i, z_i) e_{d-1},   d = D, ..., 1

over the features i takes p D operations for a pair of samples, yields all degrees up to D, and needs no division.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._parameters import POWER, Degree
from multikernel._typing import Array
from multikernel.kernels.algebra import refuse_centred
from multikernel.kernels.base import Fact, Inner, Kernel
from multikernel.kernels.facts import Elementary
from multikernel.kernels.family import KernelFamily, Kernels
from multikernel.kernels.features import Features
from multikernel.kernels.samples import dense
from multikernel.tuning import THREADS_TILE


@dataclass(repr=False)
class ANOVA(Kernel):
    """k(x, z) = the sum over all subsets of ``degree`` features of products of a kernel value for each.

    Parameters
    ----------
    degree : int >= 0; degree 0 is the constant kernel 1, degree 1 the sum of the features' kernels, and a degree above
        the number of features gives the zero kernel
    kernel : Kernel or None, the kernel of a single feature; None is the product x_i z_i

    Raises
    ------
    ValueError : where the degree is not a whole number >= 0, or the kernel is centred

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel methods for pattern analysis, section 9.2.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> X = np.array([[1.0, 2.0, 3.0]])
    >>> float(kernels.ANOVA(2)(X)[0, 0])  # (1 * 2)^2 + (1 * 3)^2 + (2 * 3)^2
    49.0
    """

    degree: Degree = 2
    kernel: Inner | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kernel is not None:
            refuse_centred((self.kernel,), "product")

    def __call__(self, X: Any, Z: Any = None) -> Array:
        X = dense(X)
        Z = X if Z is None else dense(Z)
        kernel = self.learned(Z).kernel
        K = np.empty((X.shape[0], Z.shape[0]), dtype=X.dtype)
        for rows in _tiles(X.shape[0], Z.shape[0]):
            K[rows] = elementary(kernel, X[rows], Z, int(self.degree))[-1]
        return K

    def diagonal(self, X: Any) -> Array:
        return elementary_diagonals(self.learned(X).kernel, dense(X), int(self.degree))[-1]

    def facts(self) -> tuple[Fact, ...]:
        return (Elementary(self.kernel, int(self.degree), False),)

    @property
    def learns(self) -> bool:
        return self.kernel is not None and self.kernel.learns

    def learned(self, X: Any) -> ANOVA:
        """The same kernel with one width, learned from the entries of all features together."""
        if self.kernel is None or not self.learns:
            return self
        return replace(self, kernel=self.kernel.learned(dense(X).reshape(-1, 1)))

    def resolve(self, features: Features) -> Kernel:
        features.check_numbers(self)
        return ANOVA(self.degree, None if self.kernel is None else self.kernel.resolve(Features(1)))


def anova(max_degree: int, kernel: Kernel | None = None, normalize: bool = True) -> KernelFamily:
    """The ANOVA kernels of degrees 1..max_degree, from general to specific.

    ``bind`` evaluates all of them in one recursion over the features.

    Parameters
    ----------
    max_degree : int >= 1; kernels of a degree above the number of features are zero
    kernel : Kernel or None, the kernel of a single feature; None is the product x_i z_i
    normalize : bool, whether every k(x, x) is made 1

    Raises
    ------
    ValueError : where max_degree is not a whole number >= 1

    Examples
    --------
    >>> from multikernel import kernels
    >>> family = kernels.anova(4, kernels.RBF(0.5))
    >>> len(family), family.names[1]
    (4, 'ANOVA(degree=2, kernel=RBF(gamma=0.5)).normalized()')
    """
    degrees = range(1, POWER.check(max_degree, "anova: max_degree") + 1)
    return Kernels(tuple(ANOVA(d, kernel).normalized() if normalize else ANOVA(d, kernel) for d in degrees))


def elementary(kernel: Kernel | None, X: Array, Z: Array, degree: int) -> list[Array]:
    """The ANOVA kernels of degrees 0..degree, each of shape (len(X), len(Z))."""
    columns = ((X[:, [i]], Z[:, [i]]) for i in range(X.shape[1]))
    return _symmetric((x * z.T if kernel is None else kernel(x, z) for x, z in columns), degree)


def elementary_diagonals(kernel: Kernel | None, X: Array, degree: int) -> list[Array]:
    """The self-values of the ANOVA kernels of degrees 0..degree, each of shape (len(X),)."""
    columns = (X[:, [i]] for i in range(X.shape[1]))
    return _symmetric((x[:, 0] ** 2 if kernel is None else kernel.diagonal(x) for x in columns), degree)


def _symmetric(values: Iterable[Array], degree: int) -> list[Array]:
    """The elementary symmetric polynomials of degrees 0..degree, elementwise in the arrays."""
    e: list[Array] = []
    for k in values:
        e = e or [np.ones_like(k), *(np.zeros_like(k) for _ in range(degree))]
        product = np.empty_like(k)
        for d in range(degree, 0, -1):
            e[d] += np.multiply(k, e[d - 1], out=product)
    return e


def _tiles(rows: int, columns: int) -> Iterator[slice]:
    """Slices of rows, so that a tile of the matrix stays in the cache."""
    height = max(1, THREADS_TILE // max(1, columns))
    return (slice(start, min(start + height, rows)) for start in range(0, rows, height))
