"""Kernels of a distance with a scale for each feature, or with a general metric.

    Anisotropic    k(x, z) = f(sum_j s_j |x_j - z_j|^q)
    Mahalanobis    k(x, z) = f((x - z)'A'A (x - z))

f is the profile of a kernel of a distance, and q the degree of this distance, 2 or 1; a metric needs q = 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from multikernel._arrays import foreign, is_sparse, like
from multikernel._rules import Vector, abbreviated
from multikernel._typing import Array
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import DistanceKernel
from multikernel.kernels.features import Features
from multikernel.kernels.samples import as_floats


@dataclass(repr=False)
class Anisotropic(Kernel):
    """k(x, z) = kernel of the samples with feature j multiplied by s_j^(1 / q).

    Parameters
    ----------
    kernel : DistanceKernel, a Gaussian or a Laplacian (q = 1), say
    scales : sequence of p numbers >= 0, one for each feature, in units of 1 / |feature|^q

    Raises
    ------
    TypeError : where the kernel is no function of a distance
    ValueError : where a scale is negative or not finite; when called on samples of another number of features

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> kernels.Anisotropic(kernels.RBF(1.0), (1.0, 0.0))(np.array([[0.0, 5.0], [1.0, 7.0]])).round(2)
    array([[1.  , 0.37],
           [0.37, 1.  ]])
    """

    kernel: DistanceKernel
    scales: Annotated[tuple[float, ...], Vector()]

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, DistanceKernel):
            raise TypeError(f"Anisotropic takes a kernel of a distance, RBF() or Laplacian() say, got {self.kernel!r}")
        super().__post_init__()
        if not isinstance(self.scales, tuple):  # kernels are compared by value, which arrays are not
            self.scales = tuple(float(scale) for scale in self.scales)

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return self.kernel(self._stretched(X), None if Z is None or Z is X else self._stretched(Z))

    def diagonal(self, X: Any) -> Array:
        return self.kernel.diagonal(self._stretched(X))

    def map_parts(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        kernel = change(self.kernel)
        if kernel is self.kernel or not isinstance(kernel, DistanceKernel):
            return self
        return Anisotropic(kernel, self.scales)

    def resolve(self, features: Features) -> Kernel:
        self.kernel.resolve(features)  # which refuses strings
        return self

    def learned(self, X: Any) -> Kernel:
        if self.kernel.learns:
            return replace(self, kernel=self.kernel.learned(self._stretched(X)))
        return self

    def _stretched(self, X: Any) -> Any:
        if X.shape[1] != len(self.scales):
            raise ValueError(f"Anisotropic has {len(self.scales)} scales, and the samples have {X.shape[1]} features")
        factors = np.asarray(self.scales) ** (1.0 / self.kernel.degree)
        if is_sparse(X):
            return X.multiply(factors).tocsr()
        X = as_floats(X)
        if foreign(X):
            return X * like(X, factors)
        return X * factors.astype(X.dtype)


@dataclass(repr=False)
class Mahalanobis(Kernel):
    """k(x, z) = kernel of the samples A x and A z.

    Parameters
    ----------
    kernel : DistanceKernel of the squared Euclidean distance, a Gaussian or a Matern kernel, say
    factor : array or sequence of r rows of p finite numbers, A: one row for each direction, in units of 1 / feature

    Raises
    ------
    TypeError : where the kernel is no function of the squared Euclidean distance
    ValueError : where the factor is no matrix of finite numbers; when called on samples of another number of features

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> along = kernels.Mahalanobis(kernels.RBF(1.0), ((1.0, 1.0),))  # of x_1 + x_2 alone
    >>> along(np.array([[0.0, 5.0], [1.0, 4.0], [1.0, 5.0]])).round(2)
    array([[1.  , 1.  , 0.37],
           [1.  , 1.  , 0.37],
           [0.37, 0.37, 1.  ]])
    """

    kernel: DistanceKernel
    factor: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, DistanceKernel) or self.kernel.degree != 2:
            raise TypeError(
                "Mahalanobis takes a kernel of the squared Euclidean distance, RBF() or Matern() say, got "
                f"{self.kernel!r}"
            )
        super().__post_init__()
        try:
            A = np.array(self.factor, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            A = np.empty(0)
        if A.ndim != 2 or not A.size or not np.isfinite(A).all():
            raise ValueError(
                "Mahalanobis: factor must be a matrix of finite numbers, rows of p entries each, got "
                f"{abbreviated(self.factor)}"
            )
        if not (isinstance(self.factor, tuple) and all(isinstance(row, tuple) for row in self.factor)):
            self.factor = tuple(map(tuple, A.tolist()))  # kernels are compared by value, which arrays are not

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return self.kernel(self._directions(X), None if Z is None or Z is X else self._directions(Z))

    def diagonal(self, X: Any) -> Array:
        return self.kernel.diagonal(self._directions(X))

    def map_parts(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        kernel = change(self.kernel)
        unchanged = kernel is self.kernel or not isinstance(kernel, DistanceKernel)
        if unchanged:
            return self
        return replace(self, kernel=kernel)  # type: ignore[arg-type]

    def resolve(self, features: Features) -> Kernel:
        self.kernel.resolve(features)  # which refuses strings
        return self

    def learned(self, X: Any) -> Kernel:
        if self.kernel.learns:
            return replace(self, kernel=self.kernel.learned(self._directions(X)))
        return self

    def _directions(self, X: Any) -> Array:
        """The vectors A x of all samples, as rows."""
        A = np.asarray(self.factor)
        if X.shape[1] != A.shape[1]:
            raise ValueError(
                f"Mahalanobis has rows of {A.shape[1]} entries, and the samples have {X.shape[1]} features"
            )
        if not is_sparse(X):
            X = as_floats(X)
        return np.asarray(X @ A.T.astype(X.dtype if X.dtype.kind == "f" else np.float64))
