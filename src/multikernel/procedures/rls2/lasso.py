"""RLS2 with one rank-one kernel s_j x_j x_j' for each feature: the Lasso with a squared norm.

With the scaled features G = X diag(sqrt s) and a = diag(sqrt s) b, minimising over the weights leaves

    min_b  1/2 |y - G b|^2 + alpha/2 |b|_1^2,        d_j = |b_j| / |b|_1,    C = (y - G b) / alpha,    v_j = (G_j'C)^2,

so no n x n matrix is needed. At the optimum G_j'(y - G b) is alpha |b|_1 times the sign of b_j where b_j != 0, and not
larger elsewhere: b is the Lasso's solution for that penalty, a point of the path of least angle regression. For given
signs b solves a linear system, so features enter and leave one at a time until the signs are right, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from multikernel._typing import Array
from multikernel.banks.threads import one_blas_thread
from multikernel.certificate import Certificate
from multikernel.machines import DualSolution
from multikernel.procedures.rls2.weights import ScaledWeights, equal_weights

_EQUAL = 1e-11  # of the level: correlations nearer to each other than this are equal
_AT_ONCE = 32  # features looked at together, between two looks at all


@dataclass(frozen=True, eq=False)
class LinearWeights(ScaledWeights):
    """Weights of features.

    Parameters
    ----------
    coef : array (p,), a; the predictor is x'a + intercept
    degrees_of_freedom : tr K (K + alpha I)^{-1} for the kernel K = sum_j d_j s_j x_j x_j'
    """

    coef: Array | None = None
    degrees_of_freedom: float = 0.0


def linear_rls2(
    X: Any,
    target: Array,
    alpha: float,
    scaling: Array,
    *,
    fit_intercept: bool = True,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    start: Array | None = None,
) -> tuple[LinearWeights, DualSolution]:
    """The weights of the features with their certificate, and the coefficients over the samples.

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    target : array (n,)
    alpha : float > 0
    scaling : array (p,) >= 0, the factors s_j
    fit_intercept : bool, whether the mean of the target is taken off first
    tol : float, the relative duality gap that counts as converged; the solution is exact up to rounding
    max_iter : int, looks at all features at most
    start : array (p,), an earlier solution's b, given there as ``warm``
    """
    mean = float(target.mean()) if fit_intercept else 0.0
    y, root = target - mean, np.sqrt(scaling)
    columns = X.tocsc() if hasattr(X, "tocsc") else X
    b = np.zeros(len(root)) if start is None else start
    best, history = _Look.at(columns, root, y, b, alpha), []
    with one_blas_thread(0):  # products with vectors, and systems of a few features
        for n_iter in range(1, max_iter + 1):
            part = best.interesting()
            b = np.zeros(len(root))
            b[part] = _ActiveSet.of(_dense(columns[:, part]) * root[part], y, alpha).solve(best.b[part])
            look = _Look.at(columns, root, y, b, alpha)
            history.append(look.certificate.value)
            stuck = look.value >= best.value and n_iter > 1
            best = best if stuck else look
            if stuck or look.done:
                break
    size = float(np.abs(best.b).sum())
    weights = np.abs(best.b) / size if size > 0 else equal_weights(scaling)
    used = np.flatnonzero(best.b)
    found = LinearWeights(
        weights,
        best.value,
        best.certificate,
        best.certificate.reached(tol),
        n_iter,
        tuple(history),
        warm=best.b,
        scaling=scaling,
        coef=root * best.b,
        degrees_of_freedom=_degrees(_dense(columns[:, used]) * (root * np.sqrt(weights))[used], alpha),
    )
    C = best.residual / alpha
    return found, DualSolution(C, mean, best.value, np.sqrt(0.5 * alpha) * C, 0.0, True, 0, warm=C)


@dataclass(frozen=True, eq=False)
class _Look:
    """What all features say of b: their correlations with the residual, and the certificate."""

    b: Array
    residual: Array
    correlation: Array
    level: float
    value: float
    certificate: Certificate

    @classmethod
    def at(cls, columns: Any, root: Array, y: Array, b: Array, alpha: float) -> _Look:
        used = np.flatnonzero(b)
        residual = y - np.asarray(columns[:, used] @ (root * b)[used])
        correlation = root * np.asarray(columns.T @ residual)
        square, size = float(residual @ residual), float(np.abs(b).sum())
        value = 0.5 * square + 0.5 * alpha * size**2
        scale = alpha * square + float(np.abs(correlation).max()) ** 2
        bound = 0.5 * alpha * float(residual @ y) ** 2 / scale if scale > 0 else 0.0
        return cls(b, residual, correlation, alpha * size, value, Certificate.gap(value, bound))

    @property
    def above(self) -> Array:
        """Features that b leaves out and should not."""
        return np.flatnonzero((np.abs(self.correlation) > (1.0 + _EQUAL) * self.level) & (self.b == 0))

    @property
    def done(self) -> bool:
        return len(self.above) == 0

    def interesting(self) -> Array:
        """The features in use, and the most correlated of those that should be."""
        above = self.above
        first = np.argsort(-np.abs(self.correlation[above]), kind="stable")[:_AT_ONCE]
        return np.union1d(np.flatnonzero(self.b), above[first])


@dataclass(frozen=True, eq=False)
class _ActiveSet:
    """min_b 1/2 b'P b - h'b + alpha/2 |b|_1^2, exactly."""

    P: Array
    h: Array
    alpha: float

    @classmethod
    def of(cls, G: Array, y: Array, alpha: float) -> _ActiveSet:
        return cls(G.T @ G, G.T @ y, alpha)

    def solve(self, b: Array) -> Array:
        """From b on: signs that are right are kept."""
        b, signs = self._settled(b, np.sign(b))
        refused = np.zeros(len(b), dtype=bool)  # features that leave at once: what they promised was rounding
        while True:
            correlation = self.h - self.P @ b
            promise = np.where((b == 0) & ~refused, np.abs(correlation), 0.0)
            j = int(promise.argmax()) if len(b) else 0
            if not len(b) or promise[j] <= (1.0 + _EQUAL) * self.alpha * float(np.abs(b).sum()):
                return b
            signs[j] = np.sign(correlation[j])
            b, signs = self._settled(b, signs)
            refused = refused | (np.arange(len(b)) == j) if b[j] == 0 else np.zeros(len(b), dtype=bool)

    def _settled(self, b: Array, signs: Array) -> tuple[Array, Array]:
        """The best b with these signs, after those that it could not have have left."""
        b, signs = b.copy(), signs.copy()
        while signs.any():
            S = np.flatnonzero(signs)
            x = self._system(S, signs[S])
            if x is None:
                leaving = S[np.abs(b[S]).argmin()]
            else:
                wrong = x * signs[S] <= 0
                if not wrong.any():
                    b[S] = x
                    break
                ratios = np.full(len(S), np.inf)
                ratios[wrong] = b[S][wrong] / (b[S][wrong] - x[wrong])
                first = int(np.nanargmin(np.where(np.isnan(ratios), 0.0, ratios)))
                leaving = S[first]
                b[S] += float(np.nan_to_num(ratios[first])) * (x - b[S])
            b[leaving] = signs[leaving] = 0.0
        return b, signs

    def _system(self, S: Array, signs: Array) -> Array | None:
        """x with (P_SS + alpha signs signs') x = h_S; None where the features depend on each other."""
        M = self.P[np.ix_(S, S)] + self.alpha * np.outer(signs, signs)
        lengths = np.sqrt(M.diagonal())
        L, failed = lapack.dpotrf(M / np.outer(lengths, lengths), lower=1)
        if failed:
            return None
        return lapack.dpotrs(L, self.h[S] / lengths, lower=1)[0] / lengths


def _dense(columns: Any) -> Array:
    return columns.toarray() if hasattr(columns, "toarray") else columns


def _degrees(G: Array, alpha: float) -> float:
    """tr G G'(G G' + alpha I)^{-1}, from the singular values."""
    squares = linalg.svdvals(G) ** 2
    return float((squares / (squares + alpha)).sum())
