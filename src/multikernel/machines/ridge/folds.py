"""Ridge regression without each of several sets of samples, for many alphas, from one spectrum of the full matrix.

Let H = (K + alpha I)^{-1} on all samples, T a training set, W the others, and r the targets less their mean over T.
The inverse of a block of H is a Schur complement of K + alpha I, so

    e = (H_WW)^{-1} (H r)_W         the residuals r_W - K_WT a of the samples that were left out,
    a = (H r)_T - H_TW e            the coefficients (K_TT + alpha I)^{-1} r_T.

With K = U diag(l) U' a block of H is U_W (l + alpha)^{-1} U_W': for k folds and q alphas one decomposition and k q
systems of about n / k samples, instead of k decompositions. The returned values are those of K a, and the gap follows
from them as in ``solved.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from multikernel._floats import ROUNDING
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.banks import DenseGram, Gram
from multikernel.machines.base import DualSolution
from multikernel.machines.ridge.solved import Solved
from multikernel.machines.ridge.spectrum import spectrum
from multikernel.numerics.cholesky import factor_of, solved

# Measured costs, half a matrix product being 1.
_EIGENVECTORS = 11.0  # n^3
_TRIDIAGONAL = 4.5  # n^3
_FACTOR = 0.9  # n^3
_BLOCK = 1.6  # w^2 n


@dataclass(frozen=True, eq=False)
class Held:
    """One training set and one alpha: the solution on its rows, and its function at all samples, (n,) or (n, t)."""

    solution: DualSolution
    values: Array


def solve_folds(
    gram: Gram, target: Array, alphas: Sequence[float], trains: Sequence[Array], fit_intercept: bool = True
) -> list[list[Held]] | None:
    """The solution on every training set for every alpha; None where separate fits are cheaper, or more accurate.

    Parameters
    ----------
    gram : Gram of shape (n, n)
    target : array (n,) or (n, t)
    alphas : numbers > 0
    trains : for each fold the rows of the training set, each row once
    fit_intercept : bool, as in RidgeMachine
    """
    n = gram.shape[0]
    tests = [np.setdiff1d(np.arange(n), train) for train in trains]
    if not (isinstance(gram, DenseGram) and all(map(len, tests)) and _worthwhile(n, len(alphas), tests)):
        return None
    y = np.asarray(target, dtype=float)
    Y = y[:, None] if y.ndim == 1 else y
    means = [Y[train].mean(axis=0) if fit_intercept else np.zeros(Y.shape[1]) for train in trains]
    try:
        A = _coefficients(gram, [Y - mean for mean in means], tests, alphas)
    except linalg.LinAlgError:
        return None
    F = product(gram.dense(), A.reshape(n, -1)).reshape(A.shape)
    solutions = [
        [_held_solution(Y, mean, F[:, f, j], A[:, f, j], alpha, train, y.ndim == 1) for j, alpha in enumerate(alphas)]
        for f, (train, mean) in enumerate(zip(trains, means, strict=True))
    ]
    if all(held.solution.gap <= ROUNDING for fold in solutions for held in fold):
        return solutions
    return None


def _worthwhile(n: int, n_alphas: int, tests: Sequence[Array]) -> bool:
    """Whether one decomposition and the blocks cost less than separate fits of all folds."""
    sizes = np.array([len(test) for test in tests], dtype=float)
    one_decomposition = _EIGENVECTORS * float(n) ** 3 + _BLOCK * n_alphas * (sizes**2).sum() * n
    return bool(one_decomposition < min(n_alphas * _FACTOR, _TRIDIAGONAL) * ((n - sizes) ** 3).sum())


def _coefficients(gram: Gram, residuals: Sequence[Array], tests: Sequence[Array], alphas: Sequence[float]) -> Array:
    """The coefficients of every fold and alpha at all samples, zero at test samples: shape (n, folds, alphas, t)."""
    values, U = spectrum(gram)
    inside = [_coordinates(values, U, r, test, alphas) for r, test in zip(residuals, tests, strict=True)]
    A = product(U, np.hstack(inside)).reshape(len(U), len(tests), len(alphas), -1)
    for f, test in enumerate(tests):
        A[test, f] = 0.0
    return A


def _coordinates(values: Array, U: Array, r: Array, test: Array, alphas: Sequence[float]) -> Array:
    """U'(H r - H_W e) for every alpha: shape (n, alphas * t)."""
    Z = product(U.T, r)
    block = np.asfortranarray(U[test])
    coordinates = []
    for alpha in alphas:
        d = 1.0 / (values + alpha)
        H = blas.dsyrk(1.0, block * np.sqrt(d), lower=1)
        e = solved(factor_of(H), product(block, d[:, None] * Z))
        coordinates.append(d[:, None] * (Z - product(block.T, e)))
    return np.hstack(coordinates)


def _held_solution(Y: Array, mean: Array, F: Array, A: Array, alpha: float, train: Array, single: bool) -> Held:
    """The solution of coefficients A that are zero outside the training set, with F = K A."""
    solved_problem = Solved.of((Y - mean)[train], F[train], alpha, A[train])
    a = solved_problem.coef
    f = F + mean
    intercept: Array | float = mean
    if single:
        a = a[:, 0]
        f = f[:, 0]
        intercept = float(mean[0])
    return Held(
        DualSolution(
            a, intercept, solved_problem.value, solved_problem.upper, a, solved_problem.gap, True, n_iter=1, warm=a
        ),
        f,
    )
