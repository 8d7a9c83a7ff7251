"""Ridge regression for every alpha from one spectrum.

With K = U diag(l) U', U of orthonormal columns (n, r), Z = U'Y and the part P = Y - U Z of the targets outside the
range of K

    A = (K + alpha I)^{-1} Y = C + P / alpha,        C = U (l + alpha)^{-1} Z

The functions of A and C are the same, since the function of P is zero. Where alpha is small, P / alpha is so large that
its rounding would be visible in the function, so C is used for predictions. Negative eigenvalues, which are rounding,
are set to zero. Eigenvalues up to the resolution of the decomposition are also set to zero if all others are far larger
than it: then the matrix has a null space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from multikernel._floats import EPS
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.banks import Gram
from multikernel.numerics.definite import rounding


@dataclass(frozen=True, eq=False)
class RidgeSpectrum:
    """A kernel matrix and targets in the coordinates of the matrix.

    Parameters
    ----------
    values : array (r,) >= 0, l
    vectors : array (n, r), U
    inside : array (r, t), Z
    outside : array (n, t), P
    """

    values: Array
    vectors: Array
    inside: Array
    outside: Array

    @classmethod
    def of(cls, gram: Gram, Y: Array) -> RidgeSpectrum:
        """The spectrum of a square Gram for targets (n, t); ValueError where it is not positive semi-definite."""
        values, U = spectrum(gram)
        small = gram.resolution * values.max(initial=0.0)
        # with no eigenvalue in the four decades above the resolution, those below it are a null space
        if values[values > small].min(initial=np.inf) > 1e4 * small:
            values, U = values[values > small], U[:, values > small]
        return cls(values, U, product(U.T, Y), beyond(U, Y))

    def coef(self, alpha: float) -> Array:
        """C, shape (n, t)."""
        return product(self.vectors, self.inside / (self.values + alpha)[:, None])

    def solve(self, alpha: float) -> Array:
        """(K + alpha I)^{-1} Y, shape (n, t)."""
        return self.coef(alpha) + self.outside / alpha


def beyond(U: Array, Y: Array) -> Array:
    """Y - U U'Y for U of orthonormal columns; zero where it is rounding."""
    if U.shape[1] == len(U):
        return np.zeros_like(Y)
    return remainder(lambda P: product(U, product(U.T, P)), Y)


def remainder(projection: Callable[[Array], Array], Y: Array) -> Array:
    """Y less an orthogonal projection of it; zero where it is rounding."""
    P = Y
    for _ in range(2):  # the second time removes rounding errors of the first, which 1 / alpha would magnify
        P = P - projection(P)
    reached = np.linalg.norm(P, axis=0) <= len(Y) * EPS * np.linalg.norm(Y, axis=0)
    return np.where(reached, 0.0, P)


def spectrum(gram: Gram) -> tuple[Array, Array]:
    """The Gram's eigenvalues (r,) >= 0 and eigenvectors (n, r); ValueError where one is below zero, beyond rounding."""
    values, vectors = gram.spectrum()
    smallest = float(values.min(initial=0.0))
    trace = float(values.sum())
    if smallest < -rounding(gram.diagonal()) * max(trace, 0.0):
        raise ValueError(
            f"the kernel matrix has the eigenvalue {smallest:.3g} and the trace {trace:.3g}, and a kernel matrix has "
            "no negative eigenvalues; use kernels that are positive semi-definite"
        )
    return np.maximum(values, 0.0), vectors
