"""The derivatives of K(theta)A and the second derivatives of its form against differences, for every kind of bank."""

from __future__ import annotations

import tracemalloc
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cases import one_in
from multikernel import KernelBank, bind, kernels
from multikernel.combinations import (
    Combination,
    HadamardPower,
    HasSecondDerivatives,
    Linear,
    ProductOfRBF,
    TiedAndFree,
)
from multikernel.kernels import RBF, Polynomial

Array = Any
SAMPLES = np.random.default_rng(0).normal(size=(40, 3))
BANKS: dict[str, Any] = {
    "mixed": [RBF(0.3), Polynomial(2), kernels.Linear().on([0])],
    "twice": [RBF(0.3), kernels.Linear().on([1]), RBF(0.3)],
    "packed": [RBF(0.3).normalized(), Polynomial(2), RBF(0.2).on([1])],
    "features": kernels.linear_features(),
    "sparse": kernels.linear_features(),
    "groups": [kernels.Linear().on([0, 1]), kernels.Linear().on([2]), kernels.Linear()],
    "centered": [RBF(0.3).centered(), Polynomial(2).centered(), kernels.Linear().centered()],
}
COMBINATIONS: dict[str, Any] = {
    "sum": Linear(),
    **{f"power {d}": HadamardPower(d) for d in (1, 2, 3, 4)},
    "power and products": TiedAndFree(3, free=((0, 1), (2,), (0, 1, 1))),
    "listed products": TiedAndFree(((0,), (1, 1), (0, 1, 2)), free=((2, 2),)),
}
STEP = 1e-5


def bound(name: str, n: int) -> KernelBank:
    X = SAMPLES[:n]
    bank = bind(BANKS[name], sparse.csr_array(X) if name == "sparse" else X)
    return bank.scaled(np.array([0.5, 2.0, 1.0])) if name in ("features", "packed") else bank


@pytest.mark.parametrize(
    ("combination", "bank", "columns", "n"), one_in(5, product(COMBINATIONS, BANKS, [0, 2], [8, 40]))
)
def test_derivatives_are_differences(combination: str, bank: str, columns: int, n: int) -> None:
    given, kernels_ = COMBINATIONS[combination], bound(bank, n)
    d = given.n_parameters(kernels_)
    rng = np.random.default_rng(1)
    theta, A = rng.random(d) + 0.1, rng.normal(size=(n, columns) if columns else n)
    images, second = given.images(kernels_, theta, A), given.second(kernels_, theta, A)
    assert images.shape == (d, n, columns or 1)
    assert second.shape == (d, d)
    np.testing.assert_allclose(second, second.T, rtol=1e-9, atol=1e-9 * np.abs(second).max(initial=0.0))
    for k, e in enumerate(STEP * np.eye(d)):
        rise = (given.gram(kernels_, theta + e).dense() - given.gram(kernels_, theta - e).dense()) @ A
        np.testing.assert_allclose(
            images[k], rise.reshape(n, -1) / (2.0 * STEP), rtol=1e-5, atol=1e-6 * np.abs(images).max()
        )
        slope = (given.pullback(kernels_, theta + e, A) - given.pullback(kernels_, theta - e, A)) / (2.0 * STEP)
        np.testing.assert_allclose(second[k], slope, rtol=1e-5, atol=1e-6 * np.abs(slope).max() + 1e-7)


def test_second_derivatives_at_zero_weights() -> None:
    """S^0 is all ones, also where S is zero."""
    bank, a = bound("features", 8), np.ones(8)
    K = bank.matrices()
    want = 2.0 * np.einsum("ijl,kjl->ik", K, K)
    np.testing.assert_allclose(HadamardPower(2).second(bank, np.zeros(3), a), want, rtol=1e-12)
    np.testing.assert_array_equal(HadamardPower(2).images(bank, np.zeros(3), a), np.zeros((3, 8, 1)))


def test_single_precision_is_differentiated_in_double() -> None:
    bank = bind([RBF(0.3), RBF(0.2).on([1])], SAMPLES.astype(np.float32))
    exact, theta, A = bank.exact(), np.ones(2), SAMPLES[:, 0]
    for part in ("images", "second"):
        got, want = (getattr(HadamardPower(2), part)(b, theta, A) for b in (bank, exact))
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize("degree", [2, 3])
def test_features_are_never_a_stack(degree: int) -> None:
    n, p = 60, 400
    bank, theta = bind(kernels.linear_features(), np.random.default_rng(2).normal(size=(n, p))), np.full(p, 1.0 / p)
    HadamardPower(degree).images(bound("features", 8), np.ones(3), np.ones(8))  # imports and compilation
    tracemalloc.start()
    try:
        HadamardPower(degree).images(bank, theta, np.ones(n))
        if degree == 2:
            HadamardPower(degree).second(bank, theta, np.ones(n))
        assert tracemalloc.get_traced_memory()[1] < 0.5 * 8 * p * n * n  # half of a stack
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("combination", [*COMBINATIONS.values(), ProductOfRBF()], ids=str)
def test_a_combination_has_second_derivatives_or_not(combination: Combination) -> None:
    assert isinstance(combination, HasSecondDerivatives) == (combination != ProductOfRBF())


# -- powers in which the form is concave -------------------------------------------------------------------------------


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_form_is_concave_in_its_powers(combination: str) -> None:
    given, bank, rng = COMBINATIONS[combination], bound("packed", 8), np.random.default_rng(3)
    p, A = given.powers(bank), rng.normal(size=8)

    def form(nu: Array) -> float:
        return float(A @ given.gram(bank, nu ** (1.0 / p)).multiply(A))

    for _ in range(50):
        left, right = rng.exponential(size=(2, len(p)))
        assert form(0.5 * (left + right)) >= 0.5 * (form(left) + form(right)) * (1.0 - 1e-12)


def test_powers_tell_what_is_known() -> None:
    bank = bound("features", 8)
    np.testing.assert_array_equal(Linear().powers(bank), 1.0)
    np.testing.assert_array_equal(HadamardPower(3).powers(bank), 3.0)
    np.testing.assert_array_equal(TiedAndFree(2, free=((0, 1),)).powers(bank), [2.0, 2.0, 2.0, 1.0])
    np.testing.assert_array_equal(TiedAndFree(((0,), (0, 1, 2))).powers(bank), 3.0)
    np.testing.assert_array_equal(ProductOfRBF().powers(bank.distances()), np.inf)
