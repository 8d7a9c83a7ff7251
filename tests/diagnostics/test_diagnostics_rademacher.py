"""Rademacher complexities: the bounds against draws, the draws against all signs."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest

import multikernel as mk
from multikernel import diagnostics, kernels
from multikernel._typing import Array

NORMS = (1.0, 1.2, 4.0 / 3.0, 1.5, 2.0, 3.0, 10.0, np.inf)


def stack(m: int, n: int = 30) -> list[Array]:
    rng = np.random.default_rng(m)
    return [float(rng.uniform(0.1, 3.0)) * kernels.RBF(g)(rng.normal(size=(n, 2))) for g in np.logspace(-2, 2, m)]


def test_known_bounds() -> None:
    assert diagnostics.rademacher_bound(np.eye(25)) == pytest.approx(0.4)
    assert diagnostics.rademacher_bound(np.eye(25), norm=3.0, factor=1.0) == pytest.approx(0.6)
    assert diagnostics.rademacher_bound(np.zeros((5, 5))) == 0.0
    assert diagnostics.spectral_rademacher_bound(np.eye(16)) == pytest.approx(0.25)
    assert diagnostics.spectral_rademacher_bound(np.ones((16, 16))) == pytest.approx(0.125)


@pytest.mark.parametrize("q", NORMS)
def test_a_family_of_one_has_the_bound_of_its_kernel(q: float) -> None:
    K = stack(1)[0]
    assert diagnostics.rademacher_bound([K], q=q) == pytest.approx(diagnostics.rademacher_bound(K))
    assert diagnostics.rademacher_bound(K, q=q) == pytest.approx(2 / 30 * np.sqrt(np.trace(K)))


def test_published_forms_of_the_bound() -> None:
    """Section 3 and 4 of Cortes et al.: sqrt(23/22 e ceil(log m) R^2/n) for q = 1, sqrt(23/11) m^(1/4) R/sqrt(n)."""
    for m in (8, 60):
        family = [np.eye(50)] * m
        one, two = (diagnostics.rademacher_bound(family, q=q, factor=1.0) for q in (1.0, 2.0))
        assert one <= np.sqrt(23 / 22 * np.e * np.ceil(np.log(m)) / 50)
        assert two == pytest.approx(min(np.sqrt(23 / 11) * m**0.25, np.sqrt(m)) / np.sqrt(50))


def test_constant_of_the_moments_is_above_that_of_khintchine() -> None:
    for r in range(1, 60):
        assert prod(range(1, 2 * r, 2)) ** (1 / r) <= 23 / 22 * r


@pytest.mark.parametrize("m", [1, 2, 12, 50])
@pytest.mark.parametrize("q", NORMS)
def test_bound_is_above_the_complexity(m: int, q: float) -> None:
    family = stack(m)
    estimate = diagnostics.empirical_rademacher(family, q=q, n_draws=400, random_state=0)
    assert estimate.value > 20.0 * estimate.standard_error
    assert estimate.value + 2.0 * estimate.standard_error <= diagnostics.rademacher_bound(family, q=q)


@pytest.mark.parametrize("q", [1.0, 1.5, 2.0, np.inf])
def test_draws_agree_with_all_signs(q: float) -> None:
    family = stack(4, n=8)
    dual = {1.0: np.inf, np.inf: 1.0}.get(q, q / (q - 1.0 + (q == 1.0)))
    signs = np.array(list(product([-1.0, 1.0], repeat=8)))
    forms = np.array([[s @ K @ s for K in family] for s in signs])
    truth = 3.0 / 8 * np.sqrt(np.linalg.norm(forms, dual, axis=1)).mean()
    estimate = diagnostics.empirical_rademacher(family, q, n_draws=4000, random_state=1, norm=3.0, factor=1.0)
    assert abs(float(estimate) - truth) <= 4.0 * estimate.standard_error
    assert estimate.n_draws == 4000


def test_expansions_stay_below_the_spectral_bound() -> None:
    """Theorem 4: the supremum over |a|_1 = 1 is the largest |(Ks)_i| / |K|_F."""
    S = np.random.default_rng(5).choice([-1.0, 1.0], size=(30, 2000))
    for K in [*stack(6), np.eye(30), np.ones((30, 30))]:
        draws = 2 / 30 * np.abs(K @ S).max(axis=0) / np.linalg.norm(K)
        assert draws.mean() + 4 * draws.std() / np.sqrt(2000) <= diagnostics.spectral_rademacher_bound(K) * (1 + 1e-12)


def test_stack_list_and_bank_are_the_same_and_seeds_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(6).normal(size=(20, 3))
    bank = mk.bind(kernels.rbf_grid([0.1, 1.0, 10.0]), X)
    forms = (bank, bank.matrices(), list(bank.matrices()))
    assert len({round(diagnostics.rademacher_bound(K), 12) for K in forms}) == 1
    first = [diagnostics.empirical_rademacher(K, n_draws=100, random_state=7).value for K in forms]
    assert first == pytest.approx([first[0]] * 3)
    monkeypatch.setattr("multikernel.diagnostics.montecarlo._VALUES", 500)  # many small batches
    assert diagnostics.empirical_rademacher(bank, n_draws=100, random_state=7).value == pytest.approx(first[0])
