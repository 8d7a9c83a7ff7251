"""Kernel machines with two layers: f(x) = f2(f1(x)), f1 with a function g_k in the space of each kernel.

    min over g_1, .., g_m and f2 of  |y - f2(f1(X))|^2 + alpha |f2|^2 + beta sum_k |g_k|^2

Solutions are finite (Dinuzzo 2010, theorem 1): g_k = sum_i A_ik k_k(x_i, .), f2 = sum_j c_j k2(f1(x_j), .). For given
outputs Z = f1(X) the second layer is ridge regression, which is eliminated,

    J(Z) = alpha y'(K2(Z) + alpha I)^{-1} y,        dJ = -alpha <c c', dK2>,    c = (K2(Z) + alpha I)^{-1} y.

For several targets Y the second layer has one function for each, on the same outputs, and J is the sum over targets.

With K_k = R_k R_k', a pivoted Cholesky factor, the outputs are Z_k = R_k b_k and |g_k|^2 = |b_k|^2, and A has entries
at the pivots only, where R_k is triangular. The remaining problem in b,

    F(b) = J(R b) + beta |b|^2,

is smooth and not convex. Limited-memory quasi-Newton steps (L-BFGS) lead to a stationary point; in each of them the
second layer is solved exactly. Stationarity is |dF|^2 / (4 beta) relative to F: the decrease of F that is possible if
its only curvature is that of beta |b|^2.

Where time does not suffice for all factors, g_k = 0 for kernels without a factor. Stationarity includes these kernels:
with s_k = dF / dZ_k the gradient in g_k has the squared norm s_k'K_k s_k.

With a linear second layer F has the same minimum as a convex problem, the group Lasso: for h_k = w_k g_k the minimum of
alpha w_k^2 + beta |g_k|^2 is 2 (alpha beta)^{1/2} |h_k|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, solve_triangular

from multikernel._floats import SINGULAR
from multikernel._linalg import as_columns, product
from multikernel._memory import check_memory
from multikernel._typing import Array
from multikernel._workers import in_time, limited, seconds_left, time_is_up
from multikernel.banks import DenseGram, Gram, KernelBank
from multikernel.certificate import Certificate
from multikernel.machines import DualSolution, RidgeMachine
from multikernel.machines.ridge.spectrum import RidgeSpectrum
from multikernel.numerics.lbfgs import remembering
from multikernel.observer import Observer, silent
from multikernel.procedures.base import Weights
from multikernel.procedures.descent import descent, stationarity
from multikernel.procedures.two_layers.second_layer import SecondLayer
from multikernel.procedures.units import spread


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerWeights(Weights):
    """The part that each kernel has in sum_k |g_k|^2, and the first layer itself.

    Parameters
    ----------
    first : array (n, m), A
    outputs : array (n, m), Z
    """

    first: Array
    outputs: Array


@dataclass(frozen=True, eq=False)
class _Root:
    """R (n, r) with K = R R'.

    Parameters
    ----------
    values : array (n, r)
    pivots : int array (r,), the samples where R is lower triangular
    """

    values: Array
    pivots: Array

    @classmethod
    def none(cls, n: int) -> _Root:
        """The root of a kernel that is left out."""
        return cls(np.empty((n, 0)), np.empty(0, dtype=int))

    @classmethod
    def of(cls, K: Array) -> _Root:
        """The factor of a positive semi-definite matrix."""
        n = len(K)
        size = float(K.diagonal().max(initial=0.0))
        if not size > 0.0:
            return cls.none(n)
        L, order, rank, _ = lapack.dpstrf(K.T, tol=SINGULAR * size, lower=1)
        values = np.empty((n, rank))
        values[order - 1] = np.tril(L)[:, :rank]
        return cls(values, order[:rank] - 1)

    def coefficients(self, b: Array) -> Array:
        """A with K A = R b, shape (n,)."""
        A = np.zeros(len(self.values))
        A[self.pivots] = solve_triangular(self.values[self.pivots], b, lower=True, trans="T", check_finite=False)
        return A


@dataclass(frozen=True, eq=False)
class _Outputs:
    """F over b, the b_k one after the other; the roots R_k, of which those of ``idle`` kernels are empty."""

    bank: KernelBank
    roots: tuple[_Root, ...]
    idle: tuple[int, ...]
    y: Array
    second: SecondLayer
    alpha: float
    beta: float
    weight: Array | None

    @classmethod
    def of(
        cls, bank: KernelBank, y: Array, second: SecondLayer, alpha: float, beta: float, weight: Array | None = None
    ) -> _Outputs:
        n = bank.shape[0]
        m = len(bank)
        check_memory(1.0 * m * n * n, f"the roots of {m} kernels of {n} samples", "take fewer kernels or samples")
        roots = []
        idle = []
        with limited(0.5 * seconds_left()):  # the steps need the remaining time
            for k in range(m):
                if k > 0 and time_is_up():
                    idle.append(k)
                    roots.append(_Root.none(n))
                else:
                    roots.append(_Root.of(bank.matrix(k).astype(np.float64, copy=False)))
        return cls(bank, tuple(roots), tuple(idle), y, second, alpha, beta, weight)

    def split(self, b: Array) -> list[Array]:
        return np.split(b, np.cumsum([len(root.pivots) for root in self.roots])[:-1])

    def outputs(self, b: Array) -> Array:
        """Z, shape (n, m)."""
        pairs = zip(self.roots, self.split(b), strict=True)
        return np.column_stack([product(root.values, coefficients) for root, coefficients in pairs])

    def first(self, b: Array) -> Array:
        """A, shape (n, m)."""
        return np.column_stack(
            [root.coefficients(coefficients) for root, coefficients in zip(self.roots, self.split(b), strict=True)]
        )

    def value(self, b: Array) -> tuple[float, Array]:
        """F and its gradient."""
        value, slope = self._slope(b)
        gradient = np.concatenate([product(root.values.T, s) for root, s in zip(self.roots, slope.T, strict=True)])
        return value, gradient + 2.0 * self.beta * b

    def certificate(self, b: Array) -> Certificate:
        """The stationarity at b over all kernels."""
        slope = self._slope(b)[1] if self.idle else np.empty((0, 0))
        squares_of_idle = sum(float(self.bank.select([k]).quad(slope[:, k])[0]) for k in self.idle)
        return stationarity(*self.value(b), self.beta, squares_of_idle / (4.0 * self.beta))

    def _slope(self, b: Array) -> tuple[float, Array]:
        """F, and the derivative of J in Z, shape (n, m)."""
        Z = self.outputs(b)
        K = self.second(Z, Z)
        c = self._coefficients(DenseGram(K))
        C = as_columns(c)
        slope = self.second.slope(-self.alpha * product(C, np.ascontiguousarray(C.T)), Z, K)
        return float(self.alpha * np.vdot(self.y, c) + self.beta * (b @ b)), slope

    def _coefficients(self, gram: DenseGram) -> Array:
        """(K + alpha S^{-1})^{-1} y, S the weights of the samples."""
        if self.weight is None:
            return self._ridge(gram, self.y)
        root = np.sqrt(self.weight)
        scale = root if self.y.ndim == 1 else root[:, None]
        return np.asarray(scale * self._ridge(gram.congruent(root), scale * self.y))

    def _ridge(self, gram: Gram, y: Array) -> Array:
        """(K + alpha I)^{-1} y, by eigenvalues where K is so large that alpha is below its rounding error."""
        try:
            return gram.solve_shifted(self.alpha, y)
        except np.linalg.LinAlgError:
            return RidgeSpectrum.of(gram, as_columns(y)).solve(self.alpha).reshape(y.shape)

    def start(self, rng: np.random.Generator | None) -> Array:
        """Outputs of spread one, of size one where they are constant.

        They are those of ridge regression with each kernel, or random ones from a generator. For several targets the
        combination of them that varies most is taken.
        """
        coefficients = []
        if self.y.ndim == 1:
            y = self.y
        else:
            y = self.y @ np.linalg.svd(self.y, full_matrices=False)[2][0]
        if self.weight is not None:
            y = self.weight * y
        for root in self.roots:
            R = root.values
            if rng is None:
                direction = np.asarray(product(R.T, y))
            else:
                direction = np.asarray(rng.normal(size=R.shape[1]))
            coefficients.append(direction / spread(product(R, direction)))
        return np.concatenate(coefficients) / np.sqrt(max(len(self.roots), 1))


def two_layers(
    bank: KernelBank,
    y: Array,
    second: SecondLayer,
    alpha: float,
    beta: float,
    tol: float = 1e-4,
    max_iter: int = 1000,
    n_init: int = 1,
    seed: int = 0,
    observe: Observer = silent,
    weight: Array | None = None,
) -> tuple[LayerWeights, DualSolution]:
    """The first layer with its stationarity, and the second layer at its outputs.

    Parameters
    ----------
    bank : square KernelBank of m kernels
    y : array (n,) or (n, t), without its mean
    second : SecondLayer
    alpha, beta : float > 0, of the second and of the first layer
    tol : float, the relative stationarity to reach
    max_iter : int, steps at most from each start
    n_init : int, starts; all but the first are random
    seed : of these
    observe : called after each step
    weight : array (n,) > 0, what the squared residuals are multiplied with
    """
    problem = _Outputs.of(bank, y, second, alpha, beta, weight)
    rng = np.random.default_rng(seed)
    function = remembering(problem.value)
    starts = (problem.start(rng if number else None) for number in range(n_init))
    runs = [
        descent(function, beta, start, tol, max_iter, observe)
        for start in in_time(starts, n_init, "starts of the first layer")
    ]
    b, value, history = min(runs, key=lambda run: run[1])
    certificate = problem.certificate(b)
    Z = problem.outputs(b)
    shares = np.array([float(coefficients @ coefficients) for coefficients in problem.split(b)])
    total = float(shares.sum())
    weights = LayerWeights(
        values=shares / total if total > 0.0 else shares,
        objective=value,
        certificate=certificate,
        converged=certificate.reached(tol),
        n_iter=sum(len(run[2]) for run in runs),
        history=tuple(history),
        first=problem.first(b),
        outputs=Z,
    )
    return weights, RidgeMachine(alpha, False).solve(DenseGram(second(Z, Z)), y, None, weight)
