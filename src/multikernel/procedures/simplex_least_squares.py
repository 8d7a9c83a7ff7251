"""Least squares over the simplex, exactly, by an active set.

    min_{d >= 0, 1'd = 1}  |V d - u|^2

With Z = V - u 1' this is the point of least norm in the hull of the columns of Z. On a set S of columns the point of
least norm of their affine hull has weights proportional to the solution of

    (Z_S'Z_S + s 1 1') x = 1,       any s > 0;

The column of the most negative slope is added to S, and columns whose weight would fall below zero are removed (Wolfe
1976). The slopes g = Z'Z d of all columns cost one product with Z; only the columns of S are factored. The method stops
by the bound |Z d|^2 - min <= 2 (d'g - min_k g_k).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from multikernel._floats import EPS, SINGULAR
from multikernel._typing import Array
from multikernel.banks.checks import numbers
from multikernel.numerics.cholesky import factorise


def simplex_least_squares(V: Array, u: Array, start: Array | None = None) -> Array:
    """Weights d >= 0 of sum 1 that minimise |V d - u|^2, to rounding.

    Where columns are linearly dependent the weights are not unique; the result is that of the descent from ``start``.

    Parameters
    ----------
    V : array (n, m)
    u : array (n,)
    start : array (m,), >= 0, weights to begin with, best those of a similar problem; their sum does not matter

    Returns
    -------
    d : array (m,)

    Raises
    ------
    ValueError : where shapes do not fit, V is empty, a value is not finite, or ``start`` is negative

    References
    ----------
    Wolfe (1976), Finding the nearest point in a polytope, Mathematical Programming 11.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import simplex_least_squares
    >>> V = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> simplex_least_squares(V, np.array([0.5, 0.3])).round(2)
    array([0.5, 0.3, 0.2])
    """
    V = numbers(V, "simplex_least_squares: V")
    u = numbers(u, "simplex_least_squares: u")
    if V.ndim != 2 or V.size == 0 or u.shape != V.shape[:1]:
        raise ValueError(
            f"simplex_least_squares: V must have shape (n, m) and u shape (n,) with n, m > 0, got {V.shape} and "
            f"{u.shape}"
        )
    if not (np.isfinite(V).all() and np.isfinite(u).all()):
        raise ValueError("simplex_least_squares: V and u must be finite; they hold a NaN or an infinity")
    if start is not None:
        start = numbers(start, "simplex_least_squares: start")
        if start.shape != V.shape[1:] or not (np.isfinite(start).all() and (start >= 0).all()):
            raise ValueError("simplex_least_squares: start must be one finite number >= 0 for each column of V")
        start = start / (float(start.max()) or 1.0)  # their sum may be beyond the range of numbers
    size = max(float(np.abs(V).max(initial=0.0)), float(np.abs(u).max(initial=0.0))) or 1.0  # squares have a range
    return nearest_point(np.asfortranarray(V / size - u[:, None] / size), start)


def nearest_point(Z: Array, start: Array | None = None) -> Array:
    """The weights of the point of least norm in the hull of the columns of Z, (n, m) in Fortran order."""
    lengths = np.sqrt(np.einsum("nm,nm->m", Z, Z))
    face = _first(Z, lengths, start).settled()
    refused: list[int] = []  # columns that did not lower the norm, because their slope was rounding
    for _ in range(10 * Z.shape[1] + 100):
        point = face.Z @ face.d
        slopes = blas.dgemv(1.0, Z, point, trans=1)
        size = float(face.d @ lengths[face.S])
        slopes[refused] = np.inf
        entering = int(slopes.argmin())
        if slopes[entering] >= point @ point - 16.0 * EPS * size * (size + lengths[entering]) or entering in face.S:
            break
        grown = face.grown(entering, Z[:, entering]).settled()
        if grown.squared_norm < face.squared_norm:
            face = grown
            refused = []
        else:
            refused.append(entering)
    weights = np.zeros(Z.shape[1])
    weights[face.S] = face.d
    return weights


@dataclass(frozen=True, eq=False)
class _Face:
    """Columns Z_S with weights d >= 0 of sum 1, and their products Q = Z_S'Z_S."""

    S: Array
    d: Array
    Z: Array
    Q: Array

    @property
    def squared_norm(self) -> float:
        return float(self.d @ self.Q @ self.d)

    def grown(self, k: int, z: Array) -> _Face:
        """The face with column k, at weight 0."""
        Z = np.column_stack([self.Z, z])
        Q = np.empty((Z.shape[1], Z.shape[1]))
        Q[:-1, :-1] = self.Q
        Q[-1] = Q[:, -1] = z @ Z
        return _Face(np.append(self.S, k), np.append(self.d, 0.0), Z, Q)

    def moved(self, direction: Array) -> _Face:
        """The face after the largest feasible step along ``direction``; columns whose weight becomes 0 are removed.

        Weights are divided by their sum, so the sum of ``direction`` does not matter.
        """
        falling = direction < 0
        ratios = np.full(len(direction), np.inf)
        ratios[falling] = self.d[falling] / -direction[falling]
        t = float(ratios.min())
        d = self.d + t * direction if t < np.inf else direction
        staying = (d > 0) & ~(falling & (ratios <= t))
        return _Face(
            self.S[staying], d[staying] / d[staying].sum(), self.Z[:, staying], self.Q[np.ix_(staying, staying)]
        )

    def settled(self) -> _Face:
        """The face with the point of least norm in the hull of some of S, with a norm no larger than now."""
        face = self
        while len(face.S) > 1:
            before = len(face.S)
            face = face.moved(face._direction())
            if len(face.S) == before:
                return face
        return face

    def _direction(self) -> Array:
        """The weights of least norm in the affine hull; or a linear dependence, along which a column can be removed."""
        lengths = np.sqrt(self.Q.diagonal())
        zero = lengths == 0.0
        if zero.any():
            return zero.astype(float)
        R, q, rank = self._triangle(lengths)
        if rank == len(lengths):
            return np.asarray(lapack.dtrtrs(R, q)[0] / lengths)
        # the column after the first ``rank`` is a combination of these: its weight moves to them
        direction = np.zeros(len(lengths))
        mixture = lapack.dtrtrs(R[:rank, :rank], R[:rank, rank])[0]
        direction[:rank] = mixture * lengths[rank] / lengths[:rank]
        direction[rank] = -1.0
        return direction

    def _triangle(self, lengths: Array) -> tuple[Array, Array, int]:
        """R with R'R = A'A and q = R'^-1 A'e for A = [Z_S; 1'] with scaled columns, and how many are independent.

        They are computed from the products where these are well conditioned; else from the columns, which lose only
        half as many digits.
        """
        ones = lengths.min() / lengths
        R = np.asfortranarray(self.Q / np.outer(lengths, lengths) + np.outer(ones, ones))
        # a pivot of 1e-4 is the root of a pivot of 1e-8, so that half of the digits are correct
        if factorise(R, lower=False) and R.diagonal().min() > 1e-4:
            return R, lapack.dtrtrs(R, ones, trans=1)[0], len(ones)
        A = np.zeros((len(self.Z) + 1, len(ones) + 1))
        A[:-1, :-1] = self.Z / lengths
        A[-1, :-1] = ones
        A[-1, -1] = 1.0
        R = linalg.qr(A, mode="r", check_finite=False)[0]
        pivots = np.abs(R.diagonal()[: len(ones)])
        small = np.flatnonzero(pivots < SINGULAR)
        return R[: len(ones), :-1], R[: len(ones), -1], int(small[0]) if len(small) else len(pivots)


def _first(Z: Array, lengths: Array, start: Array | None) -> _Face:
    """The columns of the start, not more than can be independent; else the shortest column."""
    S = np.array([int(lengths.argmin())])
    weights = np.ones(1)
    if start is not None and start.any():
        S = np.argsort(-start, kind="stable")[: min(len(Z) + 1, np.count_nonzero(start))]
        weights = start[S] / start[S].sum()
    return _Face(S, weights, Z[:, S], Z[:, S].T @ Z[:, S])
