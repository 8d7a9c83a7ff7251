"""Second derivatives of the ridge machine's value in the weights.

    J(theta) = tr Y'M^{-1}Y,    M = K(theta) + alpha D^{-1},    A = M^{-1}Y
    J_jk = 2 tr W_j'M^{-1}W_k - T_jk

with W_k = (dK/dtheta_k) A, T the second derivatives of tr A'K(theta)A at fixed A, which are zero where K is linear in
theta, and D the diagonal matrix of the samples' weights. One factorisation serves all W_k. Where theta is long,
products with the matrix do without it:

    J'' v = 2 sum_k tr W_j'M^{-1}W_k v_k - T v,        (T v)_k = p (p - 1) <AA' o P o sum_j v_j K_j, K_k>

where K is the power p of a sum of kernels, entry by entry, and P its power p - 2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, blas

from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks import Gram
from multikernel.combinations import HadamardPower
from multikernel.machines.ridge.spectrum import RidgeSpectrum
from multikernel.optimizers.needs import need_ridge
from multikernel.problem import Evaluation, Problem

Map = Callable[[Array], Array]


def hessian(problem: Problem, at: Evaluation) -> Array:
    """J'' at an evaluated point, shape (d, d); TypeError where the machine is no RidgeMachine."""
    A = as_columns(at.dual.factor)
    W, V = _images(problem, at.theta, A)
    H = blas.dgemm(2.0, W.T, V.T, trans_a=1) - problem.combination.second(problem.bank, at.theta, A)
    return 0.5 * (H + H.T)


def hessian_product(problem: Problem, at: Evaluation) -> Map:
    """v -> J'' v at an evaluated point; TypeError where the machine is no RidgeMachine."""
    A = as_columns(at.dual.factor)
    W, V = _images(problem, at.theta, A)
    second = _second_product(problem, at.theta, A)

    def product(v: Array) -> Array:
        return 2.0 * (W @ (v @ V)) - second(v)

    return product


def _images(problem: Problem, theta: Array, A: Array) -> tuple[Array, Array]:
    """W_k and M^{-1}W_k, one row for each k."""
    machine = need_ridge("the second derivative", problem)
    W = problem.combination.images(problem.bank, theta, A)
    d, n, t = W.shape
    columns = W.transpose(1, 0, 2).reshape(n, d * t)
    gram = problem.combination.gram(problem.bank, theta)
    solved = _solved(machine.alpha, gram, columns, problem.sample_weight)
    return W.reshape(d, n * t), solved.reshape(n, d, t).transpose(1, 0, 2).reshape(d, n * t)


def _solved(alpha: float, gram: Gram, B: Array, sample_weight: Array | None) -> Array:
    """M^{-1}B."""
    if sample_weight is not None:
        root = np.sqrt(sample_weight)
        return root[:, None] * _solved(alpha, gram.congruent(root), root[:, None] * B, None)
    try:
        return gram.solve_shifted(alpha, B)
    except LinAlgError:
        return RidgeSpectrum.of(gram, B).solve(alpha)


def _second_product(problem: Problem, theta: Array, A: Array) -> Map:
    """v -> T v."""
    combination, bank = problem.combination, problem.bank
    if not isinstance(combination, HadamardPower):
        T = combination.second(bank, theta, A)
        return lambda v: T @ v
    degree = combination.degree
    M = degree * (degree - 1.0) * (A @ A.T)
    if degree > 2:
        M *= bank.combine(theta).dense() ** (degree - 2)

    def product(v: Array) -> Array:
        return bank.inner(M * bank.combine(v).dense())

    return product if degree > 1 else np.zeros_like
