"""Tied and free products of kernels against the sum that equation (2) writes out."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest

from multikernel import bind, kernels, precomputed
from multikernel.combinations import Combination, HadamardPower, TiedAndFree
from multikernel.combinations.listed_products import ListedProducts
from multikernel.domains import Simplex
from multikernel.kernels import RBF, Polynomial
from multikernel.machines import RidgeMachine
from multikernel.problem import Problem
from multikernel.testing.combinations import check_combination

Array = Any
X, NEW = np.random.default_rng(0).normal(size=(9, 3)), np.random.default_rng(1).normal(size=(4, 3))
FAMILY = [RBF(0.3), Polynomial(2), kernels.Linear().on([0])]
FREE = ((0, 1), (2,), (1, 1, 2))
CASES: dict[str, TiedAndFree] = {
    "power": TiedAndFree(2),
    "power and free": TiedAndFree(3, FREE),
    "listed": TiedAndFree(((0,), (1, 1), (0, 1, 2), (1, 1))),
    "listed and free": TiedAndFree(((2, 0), (1,)), FREE),
}
DEGREE_ONE = [TiedAndFree(1), TiedAndFree(1, FREE), TiedAndFree(((0,), (2,), (0,)), FREE)]
cases = pytest.mark.parametrize("case", CASES)


def brute_force(case: TiedAndFree, K: Array, theta: Array) -> Array:
    """Every product of matrices times the product of its weights, one by one."""
    m = len(K)
    tied = product(range(m), repeat=case.tied) if isinstance(case.tied, int) else case.tied
    total = np.zeros(K.shape[1:])
    for index in tied:
        total += np.prod([theta[k] * K[k] for k in index], axis=0)
    for nu, index in zip(theta[m:], case.free, strict=True):
        total += nu * np.prod([K[k] for k in index], axis=0)
    return total


@cases
def test_matrix_is_the_sum_written_out(case: str) -> None:
    given, bank = CASES[case], bind(FAMILY, X)
    theta = np.random.default_rng(2).random(given.n_parameters(bank)) + 0.1
    for part in (bank, bank.cross(NEW), bank.block([3, 0], slice(2, 7))):
        np.testing.assert_allclose(
            given.gram(part, theta).dense(), brute_force(given, part.matrices(), theta), rtol=1e-10
        )


@cases
def test_pullback_is_the_difference_of_the_form(case: str) -> None:
    given, bank = CASES[case], bind(FAMILY, X)
    theta = np.random.default_rng(2).random(given.n_parameters(bank)) + 0.1
    theta[1] = 0.0  # a product of weights is differentiated where one of them is zero
    A, K, step = np.random.default_rng(3).normal(size=(9, 2)), bank.matrices(), 1e-6
    q = given.pullback(bank, theta, A)
    for k, e in enumerate(step * np.eye(len(theta))):
        rise = brute_force(given, K, theta + e) - brute_force(given, K, theta - e)
        assert q[k] == pytest.approx(float(np.vdot(A, rise @ A)) / (2.0 * step), rel=1e-6, abs=1e-6 * np.abs(q).max())


def test_without_free_products_a_degree_is_the_power() -> None:
    bank, theta = bind(FAMILY, X), np.array([0.2, 0.5, 1.0])
    want = HadamardPower(3).gram(bank, theta).dense()
    np.testing.assert_array_equal(TiedAndFree(3).gram(bank, theta).dense(), want)


def test_bank_is_left_alone() -> None:
    bank = bind(kernels.linear_features(), X)
    before = bank.matrices()
    TiedAndFree(1, ((0,), (0, 1))).gram(bank, np.ones(5))
    np.testing.assert_array_equal(bank.matrices(), before)


def test_combination_is_a_value() -> None:
    given = CASES["power and free"]
    assert pickle.loads(pickle.dumps(given)) == given
    assert hash(given) == hash(TiedAndFree(3, FREE))


def test_products_name_kernels_that_are_there() -> None:
    bank = bind(FAMILY, X)
    with pytest.raises(ValueError, match="names kernel 3, and there are 3"):
        TiedAndFree(2, ((0, 3),)).n_parameters(bank)
    with pytest.raises(ValueError, match="4 weights, got 3"):
        TiedAndFree(2, ((0, 1),)).gram(bank, np.ones(3))
    for wrong in (((),), ((0, -1),), ((0.5,),)):
        with pytest.raises(ValueError, match="free must be a list of products"):
            TiedAndFree(2, wrong)  # type: ignore[arg-type]
    for degree in (0, ()):
        with pytest.raises(ValueError, match="tied must be"):
            TiedAndFree(degree)


@pytest.mark.parametrize("combination", [HadamardPower(1), *DEGREE_ONE], ids=str)
def test_a_combination_of_degree_one_is_linear_and_has_bounds(combination: Combination) -> None:
    """The bound at every point is at most the optimum, here over the kernels and products as kernels of their own."""
    check_combination(combination, bind(FAMILY, X))
    bank = bind(FAMILY, X)
    K = bank.matrices()
    free = combination.free if isinstance(combination, TiedAndFree) else ()
    stack = np.stack([*K, *(np.prod([K[k] for k in index], axis=0) for index in free)])
    y = np.random.default_rng(4).normal(size=9)
    machine = RidgeMachine(0.3, fit_intercept=False)
    problem = Problem(bank, combination, machine, Simplex(), y)
    rng = np.random.default_rng(5)
    for _ in range(5):
        found = problem.evaluate(rng.dirichlet(np.ones(problem.size)))
        others = rng.dirichlet(np.ones(problem.size), size=200)
        values = [y @ np.linalg.solve(np.tensordot(d, stack, 1) + 0.3 * np.eye(9), y) for d in others]
        assert np.isfinite(found.bound)
        assert found.bound <= min(values)
        assert found.certificate.kind == "duality gap"


def test_a_tied_product_of_two_kernels_is_not_linear() -> None:
    assert not any(case.linear for case in CASES.values())
    assert not TiedAndFree(((0,), (1, 1))).linear


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize(
    "combination",
    [TiedAndFree(2, free=((0, 1),)), TiedAndFree(((0, 1, 1),)), TiedAndFree(1, free=((0,),)), TiedAndFree(3)],
)
def test_in_other_units_it_is_the_same_kernel(combination: TiedAndFree, free: bool) -> None:
    rng = np.random.default_rng(0)
    F = 1e4 * rng.normal(size=(2, 5, 2))
    K = F @ F.swapaxes(1, 2)
    kernel, weight, factor = combination.in_units(1e8, 1e3, free) or (0.0, 0.0, 0.0)
    bank, own = precomputed(K), precomputed(K / kernel)
    theta = rng.exponential(size=combination.n_parameters(bank))
    np.testing.assert_allclose(
        combination.gram(bank, weight * theta).dense(), factor * combination.gram(own, theta).dense(), rtol=1e-10
    )


def test_products_of_several_lengths_have_no_units() -> None:
    assert TiedAndFree(2, free=((0,),)).in_units(1e8, 1e3, False) is None


def test_products_of_kernels_in_single_precision_do_not_overflow() -> None:
    K = 1e15 * np.ones((3, 2, 2))
    combination, theta = TiedAndFree(((0, 1, 2),), free=((0, 1, 2),)), np.ones(4)
    single, double = precomputed(K.astype(np.float32)), precomputed(K)
    assert single.matrix(0).dtype == np.float32
    for method in (combination.pullback, combination.images, combination.shares):
        np.testing.assert_allclose(method(single, theta, np.eye(2)), method(double, theta, np.eye(2)), rtol=1e-6)
    np.testing.assert_allclose(combination.peaks(single, theta), 1e45, rtol=1e-6)
    np.testing.assert_allclose(combination.gram(single, theta).dense(), 2e45, rtol=1e-6)


def test_listed_products_have_a_weight_for_each_kernel() -> None:
    with pytest.raises(ValueError, match="3 kernels have 3 weights, got 4"):
        ListedProducts(((0,),)).gram(precomputed(np.ones((3, 2, 2))), np.ones(4))
