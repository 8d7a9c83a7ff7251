"""Kernels that share a matrix are evaluated together: the stack is what each of them gives alone."""

from __future__ import annotations

import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from multikernel import bind, kernels
from multikernel.banks.lazy import stack
from multikernel.banks.packed import PackedBank
from multikernel.kernels import RBF, Kernel, Laplacian, Linear, Polynomial

X = np.random.default_rng(0).normal(size=(30, 4))
X[7] = 0.0

STACKS: dict[str, list[Kernel]] = {
    "widths": [RBF(0.1), RBF(0.2), RBF(7.0), RBF(0.05), RBF(0.05)],
    "widths-on-columns": [RBF(g).on(c) for g in (0.1, 0.3) for c in ([0], [2, 1], [0, 1, 2, 3])],
    "powers": [Polynomial(d) for d in (3, 1, 0, 2, 2)],
    "powers-on-columns": [Polynomial(d).on([c]) for d in (1, 2, 3) for c in (0, 3)],
    "cosines": [(Linear().normalized() ** d) for d in (4, 2, 3)],
    "high-powers": [Linear().normalized() ** d for d in (1, 40, 1000)],
    "powers-of-widths": [RBF(0.3) ** 2, RBF(0.3), (RBF(0.3) ** 3).on([1, 2])],
    "mixture": [Laplacian(0.1), RBF(0.1), Polynomial(2), RBF(0.4), Laplacian(0.2), Polynomial(3), RBF(0.1).on([1])],
    "sums-and-products": [RBF(0.1) + Linear(), RBF(0.1) * Linear(), RBF(0.2), RBF(0.1)],
}


@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize("given", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_stack_is_every_kernel_on_its_own(name: str, given: Any) -> None:
    samples, members = given(X), tuple(STACKS[name])
    if name == "sums-and-products" and given is sparse.csr_array:
        samples = X
    bank = stack(members, samples)
    assert isinstance(bank, PackedBank)
    for found, kernel in zip(bank.matrices(), members, strict=True):
        np.testing.assert_allclose(found, kernel(samples), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("count", [1, 4])
def test_kernels_that_are_written_alike_share_no_matrix(count: int) -> None:
    """Of normal scores only the number of columns is written, and not what they learned."""
    X = np.random.default_rng(0).normal(size=(12, 1))
    scores = [kernels.NormalScores((((-1.0, 1.0), values),)) for values in ((-1.0, 1.0), (0.0, 3.0))]
    bases = [kernels.Encoded(Linear(), encoding) for encoding in scores]
    assert repr(bases[0]) == repr(bases[1])
    family = [base**degree for base in bases for degree in range(2, 2 + count)]
    truth = np.stack([kernel(X) for kernel in family])
    np.testing.assert_allclose(bind(family, X).matrices(), truth, rtol=1e-10)


def test_basis_of_many_kernels_in_single_precision() -> None:
    bank = bind(kernels.rls2_basis(), X, dtype=np.float32)
    resolved = kernels.rls2_basis().resolve(kernels.Features(4))
    for found, kernel in zip(bank.matrices(), resolved, strict=True):
        want = kernel(X)
        assert (np.abs(found - want) <= 2.0**-23 * np.abs(want) + 1e-15).all()


def test_kernels_that_share_nothing_are_stored_for_many_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large matrices are formed one at a time; of none in common there is nothing to form."""
    monkeypatch.setattr(sys.modules[stack.__module__], "BUFFER_VALUES", 1)
    chosen = (RBF(0.5), Linear())
    np.testing.assert_allclose(stack(chosen, X).matrices(), np.stack([kernel(X) for kernel in chosen]), atol=1e-12)


def test_gaussians_are_stored_without_a_whole_matrix() -> None:
    """Of samples far from zero too; and the distance of a sample from itself is zero, also where rows are equal."""
    far = np.random.default_rng(1).normal(size=(1500, 6)) + 1e4
    far[1200] = far[3]
    chosen = (RBF(0.3).on([0, 4, 5]), RBF(0.1).on([1, 2]), RBF(0.6).on([0, 4, 5]))
    stack(chosen, far[:300])  # modules are there from now on
    tracemalloc.start()
    found = stack(chosen, far)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (3 * 1500 * 1501 // 2 + 1500**2) * 8
    rows = np.array([3, 77, 1200, 1499])
    for K, kernel, columns in zip(found.matrices(), chosen, ([0, 4, 5], [1, 2], [0, 4, 5]), strict=True):
        exact = far.astype(np.longdouble)[:, columns]
        want = np.exp(-kernel.kernel.gamma * ((exact[rows, None] - exact) ** 2).sum(axis=2))
        np.testing.assert_allclose(K[rows], want.astype(float), atol=1e-11)
        np.testing.assert_array_equal(np.diagonal(K), 1.0)


class OwnProfile(RBF):
    """Its values are those of an RBF, as ``__call__`` says, whatever its profile."""

    def profile(self, D: Any) -> Any:
        return 1.0 / (1.0 + D)


def test_a_kernel_that_does_not_follow_its_profile_is_evaluated() -> None:
    kernel = OwnProfile(0.5)
    np.testing.assert_allclose(stack((kernel,), X).matrices()[0], kernel(X), rtol=1e-12)
