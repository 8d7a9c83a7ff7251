"""A kernel of a distance in which every feature has a scale of its own.

k(x, z) = f(sum_j s_j |x_j - z_j|^q),    f the profile of a kernel of a distance, q = 2 or 1 as in that distance
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from multikernel._arrays import foreign, like
from multikernel._rules import Vector
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
        return (
            self
            if kernel is self.kernel or not isinstance(kernel, DistanceKernel)
            else Anisotropic(kernel, self.scales)
        )

    def resolve(self, features: Features) -> Kernel:
        self.kernel.resolve(features)  # which refuses strings
        return self

    def learned(self, X: Any) -> Kernel:
        return replace(self, kernel=self.kernel.learned(self._stretched(X))) if self.kernel.learns else self

    def _stretched(self, X: Any) -> Any:
        if X.shape[1] != len(self.scales):
            raise ValueError(f"Anisotropic has {len(self.scales)} scales, and the samples have {X.shape[1]} features")
        factors = np.asarray(self.scales) ** (1.0 / self.kernel.degree)
        if hasattr(X, "tocsr"):
            return X.multiply(factors).tocsr()
        X = as_floats(X)
        if foreign(X):
            return X * like(X, factors)
        return X * factors.astype(X.dtype)
