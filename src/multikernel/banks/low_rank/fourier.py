"""Random Fourier features: k(x - z) as the mean of cos w'(x - z) over frequencies w of the kernel's spectral density.

    exp(-gamma |d|^2)       w normal with variance 2 gamma
    exp(-gamma |d|_1)       w_j Cauchy with scale gamma
    Matern(gamma, nu)       w multivariate t with 2 nu degrees of freedom and scale sqrt(gamma)

The features sqrt(2 / r) (cos w'x, sin w'x), r / 2 frequencies, have length one. Frequencies of the first and the last
are orthogonal in blocks as large as there are columns, with which the variance is smaller (Rahimi and Recht 2007; Yu
and others 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._arrays import foreign, like, namespace, taken
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.banks.low_rank.feature_map import OneKernel
from multikernel.kernels.distance import RBF, DistanceKernel, Laplacian
from multikernel.kernels.radial import Matern
from multikernel.kernels.samples import dense


@dataclass(frozen=True, eq=False)
class Fourier(OneKernel):
    """sqrt(2 / r) (cos w'x, sin w'x).

    Parameters
    ----------
    columns : int array (p,), the columns of x
    frequencies : array (p, r / 2), w
    """

    columns: Array
    frequencies: Array

    @property
    def size(self) -> int:
        return 2 * self.frequencies.shape[1]

    def _features(self, X: Any) -> Array:
        if foreign(X):
            xp, angles = namespace(X), taken(X, self.columns, axis=1) @ like(X, self.frequencies)
            return xp.concat([xp.cos(angles), xp.sin(angles)], axis=1) * float(np.sqrt(2.0 / max(1, self.size)))
        angles = product(dense(X[:, self.columns]).astype(np.float64, copy=False), self.frequencies)
        return np.hstack([np.cos(angles), np.sin(angles)]) * np.sqrt(2.0 / max(1, self.size))


def fourier(kernel: DistanceKernel, columns: Array, rank: int, rng: np.random.Generator) -> Fourier | None:
    """The features of a kernel of a distance; None where its spectral density is not known here."""
    p, count = len(columns), max(1, rank // 2)
    match kernel:
        case RBF(gamma):
            return Fourier(columns, np.sqrt(2.0 * gamma) * _orthogonal(p, count, rng))
        case Laplacian(gamma):
            return Fourier(columns, gamma * rng.standard_cauchy((p, count)))
        case Matern(gamma, nu):
            scale = np.sqrt(gamma * 2.0 * nu / rng.chisquare(2.0 * nu, count))
            return Fourier(columns, scale * _orthogonal(p, count, rng))
    return None


def _orthogonal(p: int, count: int, rng: np.random.Generator) -> Array:
    """Normal vectors as columns, shape (p, count), orthogonal in blocks of p."""
    blocks = [np.linalg.qr(rng.normal(size=(p, p)))[0] for _ in range(-(-count // p))]
    directions = np.hstack(blocks)[:, :count]
    return directions * np.sqrt(rng.chisquare(p, count))
