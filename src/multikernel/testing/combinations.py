"""Checks of a combination on a bank: its matrices, its derivatives by differences, and the facts that it states."""

from __future__ import annotations

import copy

import numpy as np

from multikernel._floats import EPS, TINY
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.combinations import Combination, HasSecondDerivatives
from multikernel.testing.assertions import ROUNDING, STEP, refusal, require

_ACCURATE = 1e-5  # of the largest entry: the error of finite differences
_TRIALS = 20  # random pairs of points at which concavity is checked


def check_combination(combination: Combination, bank: KernelBank) -> None:
    """Check a combination.

    Parameters
    ----------
    combination : Combination
    bank : KernelBank of five samples or more, square, in double precision, with matrices that it can combine

    Raises
    ------
    AssertionError : with what is wrong

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.combinations import HadamardPower
    >>> from multikernel.testing.combinations import check_combination
    >>> check_combination(HadamardPower(2), bind(kernels.linear_features(), np.eye(6)[:, :3] + 1.0))
    """
    require(bank.square and bank.rounding <= EPS, "check_combination needs a square bank in double precision")
    check_matrices(combination, bank)
    check_first_derivatives(combination, bank)
    check_second_derivatives(combination, bank)
    check_linearity(combination, bank)
    check_powers(combination, bank)
    check_shares(combination, bank)
    check_units(combination, bank)
    require(copy.deepcopy(combination) == combination, "a combination is compared by value: make it a frozen dataclass")
    hash(combination)


def check_matrices(combination: Combination, bank: KernelBank) -> None:
    """The matrix of the samples is symmetric, and the matrix of some samples is a block of it."""
    theta = _parameters(combination, bank)
    gram = combination.gram(bank, theta)
    n = bank.shape[0]
    K = gram.dense()
    require(gram.shape == bank.shape == K.shape, f"the matrix has shape {gram.shape}, the bank {bank.shape}")
    _equal(K, K.T, ROUNDING, "the matrix of the samples is not symmetric")
    v = np.cos(np.arange(n))
    _equal(gram.multiply(v), K @ v, ROUNDING, "products with the Gram are not those with its matrix")
    if bank.local:
        rows = np.array([n - 1, 0])
        columns = np.arange(1, n)
        block = combination.gram(bank.block(rows, columns), theta)
        require(
            block.shape == (len(rows), len(columns)), f"a part of {(len(rows), len(columns))} has shape {block.shape}"
        )
        _equal(block.dense(), K[np.ix_(rows, columns)], ROUNDING, "a part of the samples has another matrix")


def check_shares(combination: Combination, bank: KernelBank) -> None:
    """Shares add up to K(theta) C, peaks bound the diagonals of derivatives, and idle parameters change nothing."""
    theta = _parameters(combination, bank)
    n = bank.shape[0]
    K = combination.gram(bank, theta).dense()
    C = np.random.default_rng(3).normal(size=(n, 2))
    if refusal(lambda: combination.shares(bank, theta, C)) is None:
        _equal(combination.shares(bank, theta, C).sum(axis=0), K @ C, ROUNDING, "shares do not add up to K(theta) C")
    largest = np.array([np.diag(d).max() for d in _differences(combination, bank, theta)])
    peaks = combination.peaks(bank, theta)
    require(peaks.shape == largest.shape, f"peaks have shape {peaks.shape}, not {largest.shape}")
    tolerance = _ACCURATE * max(float(np.abs(largest).max()), float(np.abs(K).max()))
    require((largest <= peaks + tolerance).all(), "a derivative's diagonal has a larger entry than its peak")
    other = np.where(combination.idle(bank), 2.0 * theta + 1.0, theta)
    _equal(combination.gram(bank, other).dense(), K, ROUNDING, "parameters that are called idle change the matrix")


def check_units(combination: Combination, bank: KernelBank) -> None:
    """K(weight * theta) of the kernels is a multiple of K(theta) of the kernels divided by their unit."""
    theta = _parameters(combination, bank)
    for balance, free in ((0.0, False), (3.0, False), (3.0, True)):
        units = combination.in_units(0.7, balance, free)
        if units is None:
            return
        kernel, weight, factor = units
        scaled = bank.scaled(np.full(len(bank), 1.0 / kernel))
        K = combination.gram(bank, weight * theta).dense()
        _equal(factor * combination.gram(scaled, theta).dense(), K, ROUNDING, "in_units returns other units")


def check_first_derivatives(combination: Combination, bank: KernelBank) -> None:
    """``pullback`` and ``images``, for one column and for two, agree with finite differences of the matrix."""
    theta = _parameters(combination, bank)
    n = bank.shape[0]
    rng = np.random.default_rng(1)
    for A in (rng.normal(size=n), rng.normal(size=(n, 2))):
        columns = as_columns(A)
        slopes = np.array([d @ columns for d in _differences(combination, bank, theta)])
        q = combination.pullback(bank, theta, A)
        _equal(q, (columns * slopes).sum(axis=(1, 2)), _ACCURATE, "pullback is not the gradient of tr A'K(theta)A")
        if isinstance(combination, HasSecondDerivatives):
            _equal(combination.images(bank, theta, A), slopes, _ACCURATE, "images are not the derivatives of K(theta)A")


def check_second_derivatives(combination: Combination, bank: KernelBank) -> None:
    """``second``, where it is implemented, agrees with finite differences of ``pullback``."""
    theta = _parameters(combination, bank)
    n = bank.shape[0]
    A = np.random.default_rng(2).normal(size=(n, 2))
    if not isinstance(combination, HasSecondDerivatives):
        return
    H = combination.second(bank, theta, A)
    _equal(H, H.T, ROUNDING, "the second derivatives are not symmetric")
    rises = [
        combination.pullback(bank, theta + e, A) - combination.pullback(bank, theta - e, A)
        for e in STEP * np.eye(len(theta))
    ]
    size = float(np.abs(combination.pullback(bank, theta, A)).max())
    _equal(H, np.array(rises) / (2.0 * STEP), _ACCURATE, "second is not the derivative of pullback", size)


def check_linearity(combination: Combination, bank: KernelBank) -> None:
    """``linear`` is true exactly if K is linear in theta, which the bound of the optimum assumes."""
    theta = _parameters(combination, bank)
    other = theta[::-1] + 0.5
    K, L, both = (combination.gram(bank, t).dense() for t in (theta, other, theta + 3.0 * other))
    linear = bool(np.abs(both - K - 3.0 * L).max() <= ROUNDING * np.abs(both).max())
    require(linear or not combination.linear, "it says that it is linear and is not: its duality gaps would be wrong")
    require(combination.linear or not linear, "it is linear and does not say so: its duality gaps are not reported")


def check_powers(combination: Combination, bank: KernelBank) -> None:
    """tr A'K(theta)A is concave in the stated powers of theta, where these are finite."""
    p = combination.powers(bank)
    rng = np.random.default_rng(3)
    d = combination.n_parameters(bank)
    require(p.shape == (d,), f"{d} parameters have powers of shape {p.shape}")
    if not np.isfinite(p).all():
        return
    A = rng.normal(size=bank.shape[0])

    def form(nu: Array) -> float:
        return float(A @ combination.gram(bank, nu ** (1.0 / p)).multiply(A))

    for _ in range(_TRIALS):
        first, second = rng.exponential(size=(2, d))
        chord = 0.5 * (form(first) + form(second))
        require(form(0.5 * (first + second)) >= chord - ROUNDING * abs(chord), f"the form is not concave in powers {p}")


def _parameters(combination: Combination, bank: KernelBank) -> Array:
    """Parameters > 0, all different."""
    d = combination.n_parameters(bank)
    require(d >= 1, f"a combination has {d} parameters")
    return np.random.default_rng(0).random(d) + 0.1


def _differences(combination: Combination, bank: KernelBank, theta: Array) -> list[Array]:
    """dK/dtheta_k, by central differences."""
    return [
        (combination.gram(bank, theta + e).dense() - combination.gram(bank, theta - e).dense()) / (2.0 * STEP)
        for e in STEP * np.eye(len(theta))
    ]


def _equal(actual: Array, expected: Array, tol: float, complaint: str, size: float = 0.0) -> None:
    require(np.shape(actual) == np.shape(expected), f"{complaint}: shape {np.shape(actual)}, not {np.shape(expected)}")
    error = float(np.abs(actual - expected).max())
    scale = max(float(np.abs(expected).max()), size)
    require(error <= tol * scale + TINY, f"{complaint}: off by {error:.2g} where the largest is {scale:.2g}")
