"""Banks of very many samples: nothing of n rows and n columns where features are few, a sentence where it is needed."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import multikernel as mk
from multikernel import bind, kernels
from multikernel.banks import DenseGram, FactorGram
from multikernel.procedures import alignf, alignment

N = 4000
X = np.random.default_rng(0).normal(size=(N, 5)) + np.arange(5.0)
Y = X[:, 0] - X[:, 1] + np.random.default_rng(1).normal(size=N)
HUGE = np.zeros((1_000_000, 2))


@pytest.mark.parametrize("rule", [alignment, alignf])
@pytest.mark.parametrize("weighted", [False, True])
def test_alignment_centres_the_features(rule, weighted: bool) -> None:  # type: ignore[no-untyped-def]
    s = np.random.default_rng(2).uniform(size=N) if weighted else None
    bank = bind(kernels.linear_features(), X)
    tracemalloc.start()
    found = rule(bank, Y, s).values
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * 8 * N * N
    few = np.arange(150)
    own = None if s is None else s[few]
    weights = np.ones(150) if own is None else own
    P = np.diag(weights) - np.outer(weights, weights) / weights.sum()
    matrices = [np.outer(x, x) for x in X[few].T]
    M = np.array([[np.trace(P @ K @ P @ L) for L in matrices] for K in matrices])
    a = np.array([Y[few] @ P @ K @ P @ Y[few] for K in matrices])
    values = rule(bank.block(few, few), Y[few], own).values
    if rule is alignment:
        np.testing.assert_allclose(values, a / np.sqrt(np.diag(M)) / (a / np.sqrt(np.diag(M))).sum(), rtol=1e-9)
    else:  # the gradient of v'Mv - 2 v'a at the best multiple of the weights
        v = values * (values @ a) / (values @ M @ values)
        gradient = M @ v - a
        assert (gradient >= -1e-9 * np.abs(a).max()).all()
        assert np.abs(gradient[v > 0]).max() <= 1e-9 * np.abs(a).max()
    assert found.sum() == pytest.approx(1.0)


def test_centred_features_are_features() -> None:
    few = np.arange(60)
    bank = bind(kernels.linear_features(), X[few]).centered()
    J = np.eye(60) - 1.0 / 60
    weights = np.array([0.0, 1.0, 2.0, 0.5, 0.1])
    gram = bank.combine(weights)
    assert isinstance(gram, FactorGram)
    np.testing.assert_allclose(gram.dense(), J @ (X[few] * weights) @ X[few].T @ J, atol=1e-10)
    new = bank.cross(X[100:103]).combine(weights).dense()
    mean = X[few].mean(axis=0)
    np.testing.assert_allclose(new, ((X[100:103] - mean) * weights) @ (X[few] - mean).T, atol=1e-10)
    model = mk.L1MKLClassifier([kernels.Linear().on([k]).centered() for k in range(5)], C=1.0)
    labels = np.where(Y.mean() < Y, 1, -1)
    assert model.fit(X[:900], labels[:900]).score(X[900:], labels[900:]) > 0.7


def test_a_matrix_that_no_machine_holds_is_refused_in_a_sentence() -> None:
    labels = np.where(np.arange(len(HUGE)) % 2, 1, -1)
    bank = bind(kernels.linear_features(), HUGE)
    with pytest.raises(MemoryError, match=r"1000000 and 1000000 samples takes 8e\+03 GB.* take fewer samples"):
        bank.combine(np.ones(2)).dense()
    with pytest.raises(MemoryError, match=r"hierarchical kernel learning stores its kernels.*L1MKLClassifier"):
        mk.HKLClassifier(kernels.linear_features()).fit(HUGE, labels)
    with pytest.raises(MemoryError, match="take fewer samples"):
        bind(kernels.homogeneous_polynomials(5), HUGE).combine(np.ones(6)).dense()
    with pytest.raises(MemoryError, match=r"GB are available: take a part of them"):
        bind([kernels.RBF(1.0)], HUGE).combine(np.ones(1))


def test_a_part_of_a_stack_is_a_view() -> None:
    bank = bind(kernels.per_feature(kernels.rbf_grid([0.1, 1.0])), X[:200])
    whole = bank.select(slice(None))
    tracemalloc.start()
    some = bank.select(np.array([7, 2, 2, 9])).exact()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * 8 * 4 * 200 * 200 / 2
    a = np.random.default_rng(0).normal(size=(200, 2))
    for name in ("quads", "apply"):
        np.testing.assert_allclose(getattr(some, name)(a), getattr(whole, name)(a)[[7, 2, 2, 9]], rtol=1e-13)
    np.testing.assert_allclose(some.inner(a @ a.T), whole.inner(a @ a.T)[[7, 2, 2, 9]], rtol=1e-13)
    np.testing.assert_allclose(some.pairs(), whole.pairs()[np.ix_([7, 2, 2, 9], [7, 2, 2, 9])], rtol=1e-13)
    np.testing.assert_array_equal(some.diagonal(), whole.diagonal()[[7, 2, 2, 9]])
    np.testing.assert_array_equal(some.matrices(), whole.matrices()[[7, 2, 2, 9]])
    gram = some.combine(np.array([1.0, 0.0, 2.0, 0.5]))
    assert isinstance(gram, DenseGram)
    np.testing.assert_allclose(gram.K, np.tensordot([1.0, 2.0, 0.5], whole.matrices()[[7, 2, 9]], 1), rtol=1e-13)
    np.testing.assert_array_equal(some.select([3, 0]).matrix(0), whole.matrix(9))
