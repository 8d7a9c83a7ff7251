"""Weights in an ellipsoid: d >= 0, (d - center)' S^-1 (d - center) <= 1, S symmetric and positive definite.

With S = L L' and multipliers mu >= 0 of d >= 0,

    h(q) = min_{mu >= 0} center'(q + mu) + |L'(q + mu)|,        so every mu >= 0 bounds it from above,

and d = center + S (q + mu) / |L'(q + mu)| attains it. Where no entry of this d is negative at mu = 0, it is the
solution. Otherwise, as for the projection of z, the multiplier t of the ellipsoid is the root of one decreasing
function, which for each t solves a quadratic problem over d >= 0 (non-negative least squares),

    maximiser     min_{d >= 0}  t/2 (d - center)'S^-1(d - center) - q'd
    projection    min_{d >= 0}  1/2 |d - z|^2 + t/2 (d - center)'S^-1(d - center)

Xu, Jin, Zhu, Lyu and King (2010) use this domain for uncertain weights, but only its surface, which is not convex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import brentq, nnls

from multikernel._floats import SINGULAR, TINY
from multikernel._parameters import NonNegative, NonNegativeVector
from multikernel._rules import Rule
from multikernel._typing import Array
from multikernel.domains.base import Domain
from multikernel.numerics.cholesky import factor_of, solved


@dataclass(frozen=True)
class DefiniteMatrix(Rule):
    """A matrix that describes an ellipsoid, or its diagonal."""

    words = (
        "a symmetric, positive definite matrix of finite numbers, or a vector of numbers > 0, its diagonal (the "
        "ellipsoid may be 1e6 times as long as it is wide)"
    )

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, np.ndarray | list | tuple):
            return False
        try:
            S = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            return False
        if S.size == 0 or not np.isfinite(S).all():
            return False
        if S.ndim == 1:
            return bool(S.min() > SINGULAR * S.max())
        if S.ndim != 2 or S.shape[0] != S.shape[1] or np.abs(S - S.T).max() > SINGULAR * np.abs(S).max():
            return False
        with np.errstate(all="ignore"):
            values = np.linalg.eigvalsh(S / max(float(np.abs(S).max()), TINY))
        return bool(values[0] > SINGULAR * values[-1])


@dataclass(frozen=True, eq=False)
class Ellipsoid(Domain):
    """d >= 0, (d - center)' shape^-1 (d - center) <= 1.

    The unit matrix is the ball of the 2-norm; entries beside the diagonal say which weights may be large together.

    Parameters
    ----------
    shape : array (m, m), symmetric and positive definite; or (m,), its diagonal
    center : float >= 0 or array (m,) of such

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.domains import Ellipsoid
    >>> Ellipsoid(shape=np.array([4.0, 1.0])).maximiser(np.array([1.0, 0.0]))
    array([2., 0.])
    """

    shape: Annotated[Array, DefiniteMatrix()]
    center: NonNegative | NonNegativeVector = 0.0

    def __repr__(self) -> str:
        if np.ndim(self.center) == 0:
            centre = f", center={self.center}"
        else:
            centre = ", around a centre of its own"
        return f"Ellipsoid({len(self.shape)} weights{centre})"

    def in_units(self, weight: float, value: float) -> Ellipsoid:
        if weight == 1.0:
            return self
        return Ellipsoid(self._S / weight / weight, np.asarray(self.center, dtype=float) / weight)

    def check(self, m: int) -> None:
        if len(self.shape) != m:
            raise ValueError(f"the shape of the ellipsoid has {len(self.shape)} rows for {m} kernels")
        if np.ndim(self.center) == 1 and np.size(self.center) != m:
            raise ValueError(f"the centre of the ellipsoid has {np.size(self.center)} entries for {m} kernels")

    def start(self, m: int) -> Array:
        self.check(m)
        return self._offset + 1.0 / np.sqrt(self._inverse.sum())

    def project(self, z: Array) -> Array:
        self.check(len(z))
        d = np.maximum(z, 0.0)
        if self._length(d) <= 1.0:
            return d

        def nearest(t: float) -> Array:
            return _least(np.eye(len(z)) + t * self._inverse, z + t * self._pull)

        top = 1.0
        while self._length(nearest(top)) > 1.0:
            top *= 16.0
        return self._inside(nearest(self._root(nearest, 0.0, top)))

    def feasible(self, d: Array) -> Array:
        self.check(len(d))
        return self._inside(np.maximum(d, 0.0))

    def support(self, q: Array) -> float:
        unit = _unit(q)
        _, pressed = self._attained(q / unit)
        return unit * (float(self._offset @ pressed) + float(np.linalg.norm(self._L.T @ pressed)))

    def maximiser(self, q: Array) -> Array:
        return self._attained(q / _unit(q))[0]

    def _attained(self, q: Array) -> tuple[Array, Array]:
        """Weights that attain h(q), and q + mu."""
        self.check(len(q))
        size = float(np.linalg.norm(self._L.T @ q))
        if size == 0.0:
            return self.start(len(q)), q
        d = self._offset + self._S @ q / size
        if (d >= 0.0).all():
            return self._inside(d), q

        def best(t: float) -> Array:
            return _least(t * self._inverse, q + t * self._pull)

        low = SINGULAR * size  # with a smaller multiplier the ellipsoid is not active
        d = best(low)
        t = low
        if self._length(d) > 1.0:
            top = size
            while self._length(best(top)) > 1.0:
                top *= 16.0
            t = self._root(best, low, top)
            d = best(t)
        pressed = np.where(d > 0.0, q, np.maximum(q, t * (self._inverse @ (d - self._offset))))
        return self._inside(d), pressed

    def _root(self, point: Callable[[float], Array], low: float, top: float) -> float:
        """The multiplier at which the point is on the ellipsoid."""
        multiplier = brentq(lambda t: self._length(point(t)) - 1.0, low, top, xtol=1e-300, rtol=1e-15, maxiter=500)
        return float(multiplier)

    def _inside(self, d: Array) -> Array:
        """Weights moved towards the centre, if they are outside of the ellipsoid, until they are on it."""
        length = self._length(d)
        if length > 1.0:
            return self._offset + (d - self._offset) / length
        return d

    def _length(self, d: Array) -> float:
        """The root of (d - center)' S^-1 (d - center)."""
        delta = d - self._offset
        return float(np.sqrt(max(delta @ self._inverse @ delta, 0.0)))

    @cached_property
    def _S(self) -> Array:
        S = np.asarray(self.shape, dtype=float)
        if S.ndim == 1:
            return np.diag(S)
        return S

    @cached_property
    def _L(self) -> Array:
        return np.tril(factor_of(np.array(self._S, order="F")))

    @cached_property
    def _inverse(self) -> Array:
        inverse = solved(self._L, np.eye(len(self._S)))
        return np.asarray(0.5 * (inverse + inverse.T))

    @cached_property
    def _offset(self) -> Array:
        return np.full(len(self._S), self.center, dtype=float)

    @cached_property
    def _pull(self) -> Array:
        """S^-1 center."""
        return self._inverse @ self._offset


def _unit(q: Array) -> float:
    """A power of two near the largest score: h(q) = unit h(q / unit), so that squares do not overflow or underflow."""
    return float(np.ldexp(1.0, int(np.frexp(np.abs(q).max())[1])))


def _least(H: Array, b: Array) -> Array:
    """argmin over d >= 0 of 1/2 d'H d - b'd, for a positive definite H."""
    R = np.triu(factor_of(np.array(H, order="F"), lower=False))  # H = R'R
    half = lapack.dtrtrs(R, b, trans=1)[0]
    d = np.asarray(lapack.dtrtrs(R, half)[0])
    if (d >= 0.0).all():
        return d
    size = float(np.linalg.norm(half))
    return np.asarray(nnls(R, half / size)[0] * size)
