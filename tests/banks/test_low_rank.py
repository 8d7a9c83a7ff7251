"""Banks of approximate kernels: how far they are from the kernels, what is told of it, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cases import one_in
from multikernel import bind
from multikernel.banks.low_rank import Approximation, LowRankBank, approximate_bank, approximate_kernels
from multikernel.kernels import RBF, Hamming, Kernel, Laplacian, Matern, Polynomial, as_family
from multikernel.kernels.features import Features

Array = Any
X = np.random.default_rng(0).normal(size=(600, 4))
SMOOTH = [RBF(0.05), Polynomial(3, 1.0).normalized(), 3.0 * Matern(0.1, nu=2.5).on([0, 2])]


class Cauchy(RBF):
    """Derived from a Gaussian, with another profile."""

    def profile(self, D: Array) -> Array:
        return 1.0 / (1.0 + self.gamma * D)


def approximated(kernels: list[Kernel], samples: Array = X, **asked: Any) -> tuple[LowRankBank, Array]:
    family = as_family(kernels).resolve(Features.of(samples)).learned(samples)
    return approximate_kernels(family, samples, Approximation(**asked))


def true_errors(kernels: list[Kernel], bank: LowRankBank) -> Array:
    pairs = zip(kernels, bank.matrices(), strict=True)
    return np.array([np.linalg.norm(kernel(X) - K) / np.linalg.norm(kernel(X)) for kernel, K in pairs])


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans++", "leverage"])
def test_nystroem_is_a_projection_and_its_error_is_told(landmarks: Any) -> None:
    bank, told = approximated(SMOOTH, rank=48, landmarks=landmarks)
    errors = true_errors(SMOOTH, bank)
    np.testing.assert_allclose(told, errors, rtol=0.2)
    assert errors.max() < 0.05
    for kernel, K in zip(SMOOTH, bank.matrices(), strict=True):
        assert np.linalg.eigvalsh(kernel(X) - K).min() > -1e-8 * np.trace(K), "never more than the kernel"


def test_rank_follows_from_an_accuracy() -> None:
    bank, told = approximated(SMOOTH, rank=1e-2)
    assert true_errors(SMOOTH, bank).max() < 1.2e-2
    assert told.max() <= 1e-2
    assert 32 < bank.n_features < 3 * 256


@pytest.mark.parametrize(
    "kernel", one_in(3, [RBF(0.2), Laplacian(0.1), Matern(0.3, nu=0.5), Matern(0.3), Matern(0.3, nu=2.5)])
)
def test_random_features_have_the_kernel_as_their_mean(kernel: Kernel) -> None:
    seeds = [approximated([kernel], X[:90], rank=100, method="fourier", seed=s)[0].matrix(0) for s in range(60)]
    deviation = np.std(seeds, axis=0) / np.sqrt(len(seeds))
    away = np.abs(np.mean(seeds, axis=0) - kernel(X[:90]))
    assert (away <= 6.0 * deviation + 1e-7).all()


def test_orthogonal_frequencies_halve_the_variance() -> None:
    wide = [RBF(0.02)]
    errors = [true_errors(wide, approximated(wide, rank=16, method="fourier", seed=s)[0])[0] for s in range(20)]
    rng, independent = np.random.default_rng(1), []
    for _ in range(20):
        angles = X @ (np.sqrt(0.04) * rng.normal(size=(4, 8)))
        F = np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(8)
        independent.append(np.linalg.norm(wide[0](X) - F @ F.T) / np.linalg.norm(wide[0](X)))
    assert np.mean(np.square(errors)) < 0.5 * np.mean(np.square(independent))


def test_sketch_of_a_polynomial_has_it_as_its_mean() -> None:
    kernel = Polynomial(3, 1.0, 0.2)
    seeds = [approximated([kernel], X[:50], rank=30, method="fourier", seed=seed)[0].matrix(0) for seed in range(100)]
    deviation = np.std(seeds, axis=0) / np.sqrt(len(seeds))
    assert (np.abs(np.mean(seeds, axis=0) - kernel(X[:50])) <= 6.0 * deviation).all()


@pytest.mark.parametrize("method", ["nystroem", "fourier"])
def test_same_seed_same_features_and_new_samples_as_training_ones(method: Any) -> None:
    one, two = (approximated(SMOOTH, method=method, rank=20, seed=5)[0] for _ in range(2))
    np.testing.assert_array_equal(one.matrices(), two.matrices())
    np.testing.assert_allclose(one.cross(X[:7]).matrices(), one.matrices()[:, :7], atol=1e-12)


def test_a_kernel_that_is_zero_has_a_feature_that_is() -> None:
    bank, told = approximated([0.0 * RBF(1.0), RBF(1.0)], rank=9)
    assert bank.traces()[0] == 0.0
    assert told[0] == 0.0
    np.testing.assert_allclose(bank.select([1]).traces(), bank.traces()[1:])


def test_features_in_single_precision_are_the_kernels() -> None:
    bank, _ = approximated(SMOOTH, rank=30)
    F = bank.bank.F.astype(np.float32)
    single = LowRankBank.of(bank.map, np.tile(F, (100, 1)))
    assert single.unrounded() is single
    a = np.random.default_rng(1).normal(size=60_000)
    wide = np.tile(F, (100, 1)).astype(float)
    ends = np.cumsum(single.bank.sizes)
    forms = [((wide[:, end - size : end].T @ a) ** 2).sum() for end, size in zip(ends, single.bank.sizes, strict=True)]
    np.testing.assert_allclose(single.quad(a), forms, rtol=1e-12)


@pytest.mark.parametrize("method", ["nystroem", "fourier"])
def test_a_centred_kernel_of_encoded_samples_is_centred(method: Any) -> None:
    """About the mean of all samples, and of a fold about its own."""
    centred, plain = (k.standardized() for k in (RBF(0.05).centered(), RBF(0.05)))
    bank, truth = (approximated([k], X[:90], method=method, rank=20)[0] for k in (centred, plain.centered()))
    fold = np.arange(40)
    np.testing.assert_allclose(bank.matrices(), truth.matrices(), atol=1e-12)
    np.testing.assert_allclose(bank.block(fold, fold).matrices(), truth.block(fold, fold).matrices(), atol=1e-12)
    assert not bank.local


def test_refusals_name_the_other_way() -> None:
    with pytest.raises(ValueError, match="is changed after that: centre it last"):
        approximated([RBF(1.0).centered().normalized()])
    with pytest.raises(ValueError, match=r"none of Hamming\(\): use approximation='nystroem'"):
        approximated([Hamming()], method="fourier")
    with pytest.raises(ValueError, match=r"none of Cauchy\(gamma=1\.0\): use approximation='nystroem'"):
        approximated([Cauchy(1.0)], method="fourier")
    with pytest.raises(ValueError, match="got kernel matrices, a bank or views: use approximation='nystroem'"):
        approximate_bank(bind([RBF(1.0)], X), Approximation("fourier"))
    with pytest.raises(ValueError, match="give the bank before it is centred"):
        approximate_bank(bind([RBF(1.0).centered()], X), Approximation())
