"""Products of subsets of kernels against the sum written out."""

from __future__ import annotations

import pickle
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from multikernel import bind, kernels
from multikernel.combinations import Combination
from multikernel.combinations.subset_products import SubsetProducts
from multikernel.kernels import RBF, Polynomial

Array = Any
X, NEW = np.random.default_rng(0).normal(size=(9, 3)), np.random.default_rng(1).normal(size=(4, 3))
FAMILIES = {
    "mixed": [RBF(0.3), Polynomial(2), kernels.Linear().on([0]), RBF(1.0).on([1, 2])],
    "features": kernels.linear_features(),
}
CASES = {
    "all of three": tuple(w for size in range(4) for w in combinations(range(3), size)),
    "any order": ((2,), (0, 2), (), (0, 1, 2), (1,), (0,)),
    "some without their ancestors": ((0, 1, 2), (1, 2)),
    "a chain": ((), (1,), (1, 2)),
    "the root": ((),),
    "one twice": ((0, 1), (0, 1)),
}
cases = pytest.mark.parametrize("case", CASES)
families = pytest.mark.parametrize("family", FAMILIES)


def product(K: Array, w: tuple[int, ...]) -> Array:
    result = np.ones(K.shape[1:])
    for i in w:
        result = result * K[i]
    return result


def brute_force(nodes: tuple[tuple[int, ...], ...], K: Array, theta: Array) -> Array:
    return sum((t * product(K, w) for t, w in zip(theta, nodes, strict=True)), start=np.zeros(K.shape[1:]))


def weights(nodes: tuple[tuple[int, ...], ...]) -> Array:
    theta = np.random.default_rng(2).random(len(nodes)) + 0.1
    theta[1::3] = 0.0
    return theta


@families
@cases
def test_matrix_is_the_sum_written_out(case: str, family: str) -> None:
    nodes, bank = CASES[case], bind(FAMILIES[family], X)
    given, theta = SubsetProducts(nodes), weights(nodes)
    assert given.n_parameters(bank) == len(nodes)
    for part in (bank, bank.cross(NEW), bank.block([3, 0], slice(2, 7))):
        want = brute_force(nodes, part.matrices(), theta)
        np.testing.assert_allclose(given.gram(part, theta).dense(), want, rtol=1e-12, atol=1e-14)


@families
@cases
def test_pullback_is_the_difference_of_the_form(case: str, family: str) -> None:
    nodes, bank = CASES[case], bind(FAMILIES[family], X)
    given, theta, K = SubsetProducts(nodes), weights(nodes), bank.matrices()
    for A in (np.random.default_rng(3).normal(size=9), np.random.default_rng(3).normal(size=(9, 2))):
        q = given.pullback(bank, theta, A)
        assert q.shape == (len(nodes),)
        for k, e in enumerate(np.eye(len(nodes))):  # the form is linear: any step is exact
            rise = brute_force(nodes, K, theta + e) - brute_force(nodes, K, theta)
            assert q[k] == pytest.approx(float(np.vdot(A, rise @ A)), rel=1e-9, abs=1e-9 * np.abs(q).max())


@cases
def test_derivatives_of_the_gradient(case: str) -> None:
    nodes, bank = CASES[case], bind(FAMILIES["mixed"], X)
    given, theta, A = SubsetProducts(nodes), weights(nodes), np.random.default_rng(3).normal(size=(9, 2))
    K = bank.matrices()
    want = np.stack([product(K, w) @ A for w in nodes])
    np.testing.assert_allclose(given.images(bank, theta, A), want, rtol=1e-12)
    assert not given.second(bank, theta, A).any()
    assert (given.powers(bank) == 1.0).all()


def test_single_precision_is_multiplied_in_double() -> None:
    bank = bind([RBF(0.3), Polynomial(2)], X.astype(np.float32))
    got = SubsetProducts(((0,), (0, 1))).gram(bank, np.ones(2)).dense()
    K = bank.matrices().astype(np.float64)
    np.testing.assert_allclose(got, K[0] + K[0] * K[1], rtol=1e-14)


def test_bank_is_left_alone() -> None:
    bank = bind(FAMILIES["mixed"], X)
    before = bank.matrices()
    SubsetProducts(CASES["all of three"]).gram(bank, np.ones(8))
    np.testing.assert_array_equal(bank.matrices(), before)


def test_combination_is_a_value() -> None:
    given = SubsetProducts(CASES["a chain"])
    assert pickle.loads(pickle.dumps(given)) == given
    assert hash(given) == hash(SubsetProducts(CASES["a chain"]))
    assert isinstance(given, Combination)
    assert given.linear


def test_subsets_name_kernels_that_are_there() -> None:
    bank = bind(FAMILIES["features"], X)
    with pytest.raises(ValueError, match="names kernel 3, and there are 3"):
        SubsetProducts(((0, 3),)).n_parameters(bank)
    with pytest.raises(ValueError, match="2 subsets have 2 weights, got 3"):
        SubsetProducts(((), (0, 1))).gram(bank, np.ones(3))
    for wrong in ((1, 0), (0, 0), (-1,), (0.5,), 1):
        with pytest.raises(ValueError, match="ascending tuple of kernels by number"):
            SubsetProducts((wrong,))
