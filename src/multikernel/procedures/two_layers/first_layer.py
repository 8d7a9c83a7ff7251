"""Kernel machines with two layers: f(x) = f2(f1(x)), f1 with a function g_k in the space of each kernel.

    min over g_1, .., g_m and f2 of  |y - f2(f1(X))|^2 + alpha |f2|^2 + beta sum_k |g_k|^2

Solutions are finite (Dinuzzo 2010, theorem 1): g_k = sum_i A_ik k_k(x_i, .), f2 = sum_j c_j k2(f1(x_j), .). For given
outputs Z = f1(X) the second layer is ridge regression, which is eliminated,

    J(Z) = alpha y'(K2(Z) + alpha I)^{-1} y,        dJ = -alpha <c c', dK2>,    c = (K2(Z) + alpha I)^{-1} y.

Of several targets Y the second layer has a function each, on the same outputs: J is the sum of theirs.

With K_k = R_k R_k' the outputs are Z_k = R_k b_k and |g_k|^2 = |b_k|^2: what is left,

    F(b) = J(R b) + beta |b|^2,

is smooth and not convex, and is brought to a stationary point by steps of limited memory (L-BFGS), each with the second
layer solved exactly. Stationarity is |dF|^2 / (4 beta), the gain were beta |b|^2 all that curves F, relative to F.

With a linear second layer F has the minimum of a convex problem, the group Lasso: for h_k = w_k g_k the least of
alpha w_k^2 + beta |g_k|^2 is 2 (alpha beta)^{1/2} |h_k|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from multikernel._linalg import as_columns, product
from multikernel._memory import check_memory
from multikernel._typing import Array
from multikernel.banks import DenseGram, KernelBank
from multikernel.machines import DualSolution, RidgeMachine
from multikernel.observer import Observer, silent
from multikernel.procedures.base import Weights
from multikernel.procedures.descent import descent, stationarity
from multikernel.procedures.two_layers.second_layer import SecondLayer
from multikernel.procedures.units import spread

_RANK = 1e-12  # of the largest eigenvalue of a kernel: what is smaller is rounding


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
class _Outputs:
    """F over b, the b_k one after the other; roots R_k (n, r_k) and their pseudo-inverses' transposes."""

    roots: tuple[Array, ...]
    duals: tuple[Array, ...]
    y: Array
    second: SecondLayer
    alpha: float
    beta: float
    weight: Array | None

    @classmethod
    def of(
        cls, bank: KernelBank, y: Array, second: SecondLayer, alpha: float, beta: float, weight: Array | None = None
    ) -> _Outputs:
        n, m = bank.shape[0], len(bank)
        check_memory(2.0 * m * n * n, f"the roots of {m} kernels of {n} samples", "take fewer kernels or samples")
        roots, duals = [], []
        for k in range(m):
            values, vectors = eigh(bank.matrix(k).astype(np.float64, copy=False), driver="evd")
            kept = values > _RANK * max(float(values[-1]), 0.0)
            root = np.sqrt(values[kept])
            roots.append(np.ascontiguousarray(vectors[:, kept] * root))
            duals.append(np.ascontiguousarray(vectors[:, kept] / root))
        return cls(tuple(roots), tuple(duals), y, second, alpha, beta, weight)

    def split(self, b: Array) -> list[Array]:
        return np.split(b, np.cumsum([root.shape[1] for root in self.roots])[:-1])

    def outputs(self, b: Array) -> Array:
        """Z, shape (n, m)."""
        return np.column_stack([product(root, each) for root, each in zip(self.roots, self.split(b), strict=True)])

    def first(self, b: Array) -> Array:
        """A, shape (n, m)."""
        return np.column_stack([product(dual, each) for dual, each in zip(self.duals, self.split(b), strict=True)])

    def value(self, b: Array) -> tuple[float, Array]:
        """F and its gradient."""
        Z = self.outputs(b)
        K = self.second(Z, Z)
        c = self._coefficients(DenseGram(K))
        C = as_columns(c)
        slope = self.second.slope(-self.alpha * product(C, np.ascontiguousarray(C.T)), Z, K)
        gradient = np.concatenate([product(root.T, g) for root, g in zip(self.roots, slope.T, strict=True)])
        return float(self.alpha * np.vdot(self.y, c) + self.beta * (b @ b)), gradient + 2.0 * self.beta * b

    def _coefficients(self, gram: DenseGram) -> Array:
        """(K + alpha S^{-1})^{-1} y, S the weights of the samples."""
        if self.weight is None:
            return gram.solve_shifted(self.alpha, self.y)
        root = np.sqrt(self.weight)
        scale = root if self.y.ndim == 1 else root[:, None]
        return np.asarray(scale * gram.congruent(root).solve_shifted(self.alpha, scale * self.y))

    def start(self, rng: np.random.Generator | None) -> Array:
        """Outputs of spread one, of size one where they are constant.

        They are those of ridge regression with each kernel, or random ones from a generator. Several targets are told
        by the combination of them that varies most.
        """
        parts, y = [], self.y if self.y.ndim == 1 else self.y @ np.linalg.svd(self.y, full_matrices=False)[2][0]
        y = y if self.weight is None else self.weight * y
        for root in self.roots:
            towards = np.asarray(product(root.T, y) if rng is None else rng.normal(size=root.shape[1]))
            parts.append(towards / spread(product(root, towards)))
        return np.concatenate(parts) / np.sqrt(max(len(self.roots), 1))


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
    observe : told of each step
    weight : array (n,) > 0, what the squared residuals are multiplied with
    """
    problem, rng = _Outputs.of(bank, y, second, alpha, beta, weight), np.random.default_rng(seed)
    starts = [problem.start(None), *(problem.start(rng) for _ in range(n_init - 1))]
    runs = [descent(problem.value, beta, start, tol, max_iter, observe) for start in starts]
    b, value, history = min(runs, key=lambda run: run[1])
    certificate = stationarity(*problem.value(b), beta)
    Z = problem.outputs(b)
    shares = np.array([float(each @ each) for each in problem.split(b)])
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
