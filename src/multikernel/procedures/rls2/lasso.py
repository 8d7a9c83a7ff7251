"""RLS2 with one rank-one kernel s_j x_j x_j' for each feature: the Lasso with a squared norm.

With the scaled features G = X diag(sqrt s) and a = diag(sqrt s) b, minimising over the weights leaves

    min_b  1/2 |y - G b|^2 + alpha/2 |b|_1^2,        d_j = |b_j| / |b|_1,    C = (y - G b) / alpha,    v_j = (G_j'C)^2,

so no n x n matrix is needed. At the optimum the correlation G_j'(y - G b) is alpha |b|_1 times the sign of b_j where
b_j != 0, and not larger elsewhere: b is the Lasso's solution for that penalty, a point of the path of least angle
regression. The problem on a working set of features, those with b_j != 0 and those whose correlation is too large, is
solved exactly, alternately with the correlations of all features. The problem on a few features, with P = G'G and
h = G'y,

    min_b  1/2 b'P b - h'b + alpha/2 |b|_1^2

is solved by finding the signs of its solution one at a time. For fixed signs s of the nonzero variables, b solves
(P + alpha s s') b = h. A variable enters with the sign of its slope where the slope exceeds alpha |b|_1, and leaves
where its sign would change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._arrays import as_dense, is_sparse
from multikernel._floats import SINGULAR
from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.banks.threads import one_blas_thread
from multikernel.certificate import Certificate
from multikernel.duality import best_multiple
from multikernel.kernels.samples import scaled_rows
from multikernel.machines import DualSolution
from multikernel.machines.ridge.centred import CentredTargets
from multikernel.numerics.cholesky import factorise, solved
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.rls2.weights import ScaledWeights, equal_weights
from multikernel.procedures.units import RegressionUnits


@dataclass(frozen=True, eq=False)
class LinearWeights(ScaledWeights):
    """Weights of features.

    Parameters
    ----------
    coef : array (p,), a; the predictor is x'a + intercept
    scaled_coef : array (p,), b = a / sqrt(s)
    """

    coef: Array | None = None
    scaled_coef: Array | None = None


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
    sample_weight: Array | None = None,
    observe: Observer = silent,
) -> tuple[LinearWeights, DualSolution]:
    """The weights of the features with their certificate, and the coefficients over the samples.

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    target : array (n,)
    alpha : float > 0
    scaling : array (p,) >= 0, the factors s_j
    fit_intercept : bool, whether the mean of the target is subtracted first
    tol : float, the relative duality gap that counts as converged; the solution is exact up to rounding
    max_iter : int, how often the correlations of all features are computed at most
    start : array (p,), an earlier solution's b, its ``scaled_coef``
    sample_weight : array (n,) > 0, the weights of the squared losses; 1 if not given
    observe : called each time the correlations of all features are computed
    """
    units = RegressionUnits.of(target)
    targets = CentredTargets.of(target / units.target, fit_intercept, sample_weight)
    y = targets.shaped(targets.weighted)
    root = np.sqrt(scaling)
    if targets.root is not None:
        X = scaled_rows(X, targets.root[:, 0])
    columns = X.tocsc() if is_sparse(X) else X
    b = np.zeros(len(root)) if start is None else start / units.target

    best, history = _path(columns, root, y, alpha, b, max_iter, units.observer(observe))
    size = float(np.abs(best.b).sum())
    weights = np.abs(best.b) / size if size > 0 else equal_weights(scaling)
    value = units.squared(best.value)
    linear_weights = LinearWeights(
        weights,
        value,
        best.certificate,
        best.certificate.reached(tol),
        len(history),
        tuple(history),
        bound=units.squared(best.bound),
        scaling=scaling,
        coef=units.target * root * best.b,
        scaled_coef=units.target * best.b,
    )
    C = targets.coefficients(units.target * best.residual[:, None] / alpha)
    intercept = units.target * targets.intercept
    return linear_weights, DualSolution(C, intercept, value, value, np.sqrt(0.5 * alpha) * C, 0.0, True, 0, warm=C)


def _path(
    columns: Any, root: Array, y: Array, alpha: float, b: Array, max_iter: int, observe: Observer
) -> tuple[_Fit, list[float]]:
    """The best b, and the gap each time that the correlations of all features are computed."""
    best = _Fit.at(columns, root, y, b, alpha)
    history = list[float]()
    with one_blas_thread(0):  # products with vectors, and systems of a few features
        for n_iter in range(1, max_iter + 1):
            features = best.working_features()
            G = as_dense(columns[:, features]) * root[features]
            b = np.zeros(len(root))
            b[features] = ActiveSet(G.T @ G, G.T @ y, alpha).solve(best.b[features])
            fit = _Fit.at(columns, root, y, b, alpha)
            history.append(fit.certificate.value)
            observe(Event(n_iter, fit.certificate, value=fit.value))
            stuck = fit.value >= best.value and n_iter > 1
            if not stuck:
                best = fit
            if stuck or not len(fit.entering) or time_is_up():
                break
    return best, history


@dataclass(frozen=True, eq=False)
class _Fit:
    """b with the correlations of all features, none of which exceeds the threshold alpha |b|_1 at the optimum."""

    b: Array
    residual: Array
    correlation: Array
    threshold: float
    value: float
    bound: float

    @property
    def certificate(self) -> Certificate:
        """The gap of the value and the bound."""
        return Certificate.gap(self.value, self.bound)

    @classmethod
    def at(cls, columns: Any, root: Array, y: Array, b: Array, alpha: float) -> _Fit:
        nonzero = np.flatnonzero(b)
        residual = y - np.asarray(columns[:, nonzero] @ (root * b)[nonzero])
        correlation = root * np.asarray(columns.T @ residual)
        square = float(residual @ residual)
        size = float(np.abs(b).sum())
        value = 0.5 * square + 0.5 * alpha * size**2
        # of the multiples s C of C = residual / alpha:  s alpha C'y - s^2 alpha (alpha |C|^2 + max_j (G_j'C)^2) / 2
        cost = square + float(np.abs(correlation).max()) ** 2 / alpha
        bound = best_multiple(float(residual @ y), cost)[1]
        return cls(b, residual, correlation, alpha * size, value, bound)

    @property
    def entering(self) -> Array:
        """The features with b_j = 0 whose correlation exceeds the threshold."""
        return np.flatnonzero((np.abs(self.correlation) > (1.0 + SINGULAR) * self.threshold) & (self.b == 0))

    def working_features(self) -> Array:
        """The features with b_j != 0, and of those to enter the 32 most correlated ones.

        16 or 64 take as long, with more or fewer computations of all correlations.
        """
        entering = self.entering
        first = np.argsort(-np.abs(self.correlation[entering]), kind="stable")[:32]
        return np.union1d(np.flatnonzero(self.b), entering[first])


# -- least squares with the square of a 1-norm -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """The problem: P positive semi-definite of shape (p, p), h of shape (p,), alpha > 0."""

    P: Array
    h: Array
    alpha: float

    def solve(self, b: Array) -> Array:
        """The solution, starting from b, whose correct signs are kept."""
        b, signs = self._settled(b, np.sign(b))
        refused = np.zeros(len(b), dtype=bool)  # variables that left as soon as they entered, because of rounding
        for _ in range(10 * len(b) + 100):  # rounding may let variables enter and leave alternately
            slopes = self.h - self.P @ b
            sizes = np.where((b == 0) & ~refused, np.abs(slopes), 0.0)
            j = int(sizes.argmax()) if len(b) else 0
            if not len(b) or sizes[j] <= (1.0 + SINGULAR) * self.alpha * float(np.abs(b).sum()):
                break
            signs[j] = np.sign(slopes[j])
            b, signs = self._settled(b, signs)
            if b[j] == 0:
                refused = refused | (np.arange(len(b)) == j)
            else:
                refused = np.zeros(len(b), dtype=bool)
        return b

    def _settled(self, b: Array, signs: Array) -> tuple[Array, Array]:
        """The best b with these signs, without the variables that would need the other sign."""
        b = b.copy()
        signs = signs.copy()
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
                # the fraction of the step to x at which the first of them reaches zero; 0 if it is zero already
                ratios = np.where(wrong, 0.0, np.inf)
                before = b[S]
                np.divide(before, before - x, out=ratios, where=wrong & (before != x))
                first = int(ratios.argmin())
                leaving = S[first]
                b[S] += ratios[first] * (x - before)
            b[leaving] = signs[leaving] = 0.0
        return b, signs

    def _system(self, S: Array, signs: Array) -> Array | None:
        """x with (P_SS + alpha signs signs') x = h_S; None where the variables depend on each other."""
        M = self.P[np.ix_(S, S)] + self.alpha * np.outer(signs, signs)
        lengths = np.sqrt(M.diagonal())
        L = np.asfortranarray(M / np.outer(lengths, lengths))
        if not factorise(L):
            return None
        return solved(L, self.h[S] / lengths) / lengths
