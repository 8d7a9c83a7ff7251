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

_ACCURATE = 1e-5  # of the largest entry: what differences leave
_TRIALS = 20  # pairs of points at which a form may turn out not to be concave


def check_combination(combination: Combination, bank: KernelBank) -> None:
    """Check a combination.

    Parameters
    ----------
    combination : Combination
    bank : KernelBank of some five samples or more, square, in double precision; of such matrices as it combines

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
    """A symmetric matrix of the samples, of which the matrix of a part of them is a part."""
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
        part = combination.gram(bank.block(rows, columns), theta)
        require(
            part.shape == (len(rows), len(columns)), f"a part of {(len(rows), len(columns))} has shape {part.shape}"
        )
        _equal(part.dense(), K[np.ix_(rows, columns)], ROUNDING, "a part of the samples has another matrix")


def check_shares(combination: Combination, bank: KernelBank) -> None:
    """Shares add up to K(theta) C, peaks bound the diagonals of the derivatives, and idle parameters change nothing."""
    theta = _parameters(combination, bank)
    n = bank.shape[0]
    K = combination.gram(bank, theta).dense()
    C = np.random.default_rng(3).normal(size=(n, 2))
    if refusal(lambda: combination.shares(bank, theta, C)) is None:
        _equal(combination.shares(bank, theta, C).sum(axis=0), K @ C, ROUNDING, "shares do not add up to K(theta) C")
    largest = np.array([np.diag(d).max() for d in _differences(combination, bank, theta)])
    peaks = combination.peaks(bank, theta)
    require(peaks.shape == largest.shape, f"peaks have shape {peaks.shape}, not {largest.shape}")
    allowed = _ACCURATE * max(float(np.abs(largest).max()), float(np.abs(K).max()))
    require((largest <= peaks + allowed).all(), "a derivative's diagonal has a larger entry than its peak")
    other = np.where(combination.idle(bank), 2.0 * theta + 1.0, theta)
    _equal(combination.gram(bank, other).dense(), K, ROUNDING, "parameters that are called idle change the matrix")


def check_units(combination: Combination, bank: KernelBank) -> None:
    """K(theta weight) of the kernels is a multiple of K(theta) of the kernels divided by their unit."""
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
    """``pullback`` and ``images``, for one column and for two, against differences of the matrix."""
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
    """``second`` against differences of ``pullback``, where it is written out."""
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
    """``linear`` is true exactly where K is: a bound of the optimum rests on it."""
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
        left, right = rng.exponential(size=(2, d))
        chord = 0.5 * (form(left) + form(right))
        require(form(0.5 * (left + right)) >= chord - ROUNDING * abs(chord), f"the form is not concave in powers {p}")


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


def _equal(got: Array, want: Array, tol: float, what: str, size: float = 0.0) -> None:
    require(np.shape(got) == np.shape(want), f"{what}: shape {np.shape(got)}, not {np.shape(want)}")
    error = float(np.abs(got - want).max())
    scale = max(float(np.abs(want).max()), size)
    require(error <= tol * scale + TINY, f"{what}: off by {error:.2g} where the largest is {scale:.2g}")
