"""Kernels of one distance are evaluated from one matrix of distances, whatever functions of it they are."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from multikernel import bind
from multikernel.banks.packed import PackedBank
from multikernel.banks.profiles import ProfilesBank
from multikernel.kernels import RBF, DistanceKernel, Laplacian
from multikernel.kernels.distance import squared_distances

Array = Any
X = np.random.default_rng(0).normal(size=(40, 3))
NEW = np.random.default_rng(1).normal(size=(6, 3))


@dataclass(repr=False)
class Cauchy(DistanceKernel):
    """k(x, z) = 1 / (1 + gamma |x - z|^2), of a distance that counts how often it is computed."""

    gamma: float = 1.0
    calls: ClassVar[list[int]] = []

    def profile(self, D: Array) -> Array:
        return 1.0 / (1.0 + self.gamma * D)

    @staticmethod
    def distance(X: Any, Z: Any = None) -> Array:
        Cauchy.calls.append(len(X))
        return squared_distances(X, Z)


def cauchy(gamma: float, X: Array, Z: Array) -> Array:
    return 1.0 / (1.0 + gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=2))


class CauchyOfRBF(RBF):
    """Derived from a kernel that is a power of its own with a smaller gamma, which this one is not."""

    def profile(self, D: Array) -> Array:
        return 1.0 / (1.0 + self.gamma * D)


FAMILY = [Cauchy(g) for g in (0.1, 0.5, 2.0, 7.0)]


def bound(kind: type, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The bank of the family, stored or on its matrix of distances; binding computes that matrix once."""
    if kind is ProfilesBank:  # which large stacks become
        monkeypatch.setattr(sys.modules["multikernel.banks.bind"], "KEPT_BYTES", 0)
    Cauchy.calls.clear()
    bank = bind(FAMILY, X)
    assert type(bank) is kind
    assert Cauchy.calls == [len(X)]
    return bank


@pytest.mark.parametrize("limit", [0, 1 << 30])
def test_a_profile_of_its_own_is_not_raised_to_powers(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["multikernel.banks.bind"], "KEPT_BYTES", limit)
    family = [CauchyOfRBF(gamma) for gamma in (0.5, 1.0, 2.0, 4.0)]
    truth = np.stack([cauchy(kernel.gamma, X, X) for kernel in family])
    np.testing.assert_allclose(bind(family, X).matrices(), truth, rtol=1e-12)
    np.testing.assert_allclose([kernel(X) for kernel in family], truth, rtol=1e-12)


@pytest.mark.parametrize("kind", [PackedBank, ProfilesBank])
def test_a_kernel_from_outside_shares_its_distances(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    bank = bound(kind, monkeypatch)
    K = np.stack([cauchy(kernel.gamma, X, X) for kernel in FAMILY])
    np.testing.assert_allclose(bank.matrices(), K, rtol=1e-12)
    a = np.cos(np.arange(len(X)))
    np.testing.assert_allclose(bank.quad(a), np.einsum("i,kij,j->k", a, K, a), rtol=1e-11)
    np.testing.assert_allclose(bank.exact([2, 0]).matrices(), K[[2, 0]], rtol=1e-12)
    np.testing.assert_array_equal(bank.self_values(NEW), np.ones((4, 6)))
    np.testing.assert_allclose(bank.cross(NEW).matrices(), [cauchy(k.gamma, NEW, X) for k in FAMILY], rtol=1e-12)


def test_passes_over_new_samples_compute_distances_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bank = bound(ProfilesBank, monkeypatch)
    cross = bank.cross(NEW)
    for passes in (cross.combine(np.ones(4)), cross.apply(X), bank.inner(X @ X.T)):
        assert passes is not None
    assert Cauchy.calls == [len(X), len(NEW)]


def test_profiles_of_one_distance_stand_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["multikernel.banks.bind"], "KEPT_BYTES", 0)

    @dataclass(repr=False)
    class Multiquadric(DistanceKernel):
        c: float = 1.0

        def profile(self, D: Array) -> Array:
            return 1.0 / np.sqrt(D + self.c)

    family = [RBF(0.1), Multiquadric(2.0), RBF(0.2), RBF(0.4), Multiquadric(0.5), RBF(0.8)]
    bank = bind(family, X)
    assert type(bank) is ProfilesBank
    for found, kernel in zip(bank.matrices(), family, strict=True):
        np.testing.assert_allclose(found, kernel(X), rtol=1e-12)
    np.testing.assert_allclose(bank.traces(), [np.trace(kernel(X)) for kernel in family])
    np.testing.assert_allclose(bank.self_values(NEW), [kernel.diagonal(NEW) for kernel in family])


def test_only_what_is_one_at_distance_zero_is_normalised_already() -> None:
    @dataclass(repr=False)
    class Half(DistanceKernel):
        def profile(self, D: Array) -> Array:
            return 0.5 * np.exp(-D)

    np.testing.assert_allclose(bind([Half().normalized(), RBF(1.0)], X).matrices()[0], RBF(1.0)(X), rtol=1e-12)


def test_other_distances_are_not_mixed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["multikernel.banks.bind"], "KEPT_BYTES", 0)
    gammas = (0.1, 0.2, 0.3, 0.7)
    family = [kernel for g in gammas for kernel in (RBF(g), Laplacian(g), RBF(g).on([1, 0]))]
    for found, kernel in zip(bind(family, X).matrices(), family, strict=True):
        np.testing.assert_allclose(found, kernel(X), rtol=1e-12)
