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
    monkeypatch.setattr("multikernel.diagnostics.montecarlo.BUFFER_VALUES", 500)  # many small batches
    assert diagnostics.empirical_rademacher(bank, n_draws=100, random_state=7).value == pytest.approx(first[0])


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_draws_of_kernels_of_any_size(scale: float) -> None:
    family, single = [np.eye(4), 0.5 * np.ones((4, 4))], {"q": 2.0, "n_draws": 20, "random_state": 0}
    for degree, power in ((1, 0.5), (2, 1.0)):
        plain = diagnostics.empirical_rademacher(family, degree=degree, **single).value
        found = diagnostics.empirical_rademacher([scale * K for K in family], degree=degree, **single).value
        assert found / scale**power == pytest.approx(plain, rel=1e-12)


def test_squares_of_sums() -> None:
    """Degree 2: weights of a ball against the closed form, and its draws below the bound of the products."""
    family = stack(3, n=12)
    rng = np.random.default_rng(2)
    signs = np.array(list(product([-1.0, 1.0], repeat=12)))[::7]
    directions = np.abs(rng.normal(size=(3000, 3)))
    weights = directions / np.linalg.norm(directions, axis=1)[:, None]
    squares = np.tensordot(weights, family, 1) ** 2
    found = [np.sqrt(np.einsum("i,wij,j->w", s, squares, s).max()) for s in signs[:60]]
    pairs = [[[s @ (J * K) @ s for J in family] for K in family] for s in signs[:60]]
    known = [np.sqrt(np.linalg.eigvalsh(Q)[-1]) for Q in pairs]
    np.testing.assert_allclose(found, known, rtol=1e-2)
    assert (np.array(found) <= np.array(known) * (1.0 + 1e-9)).all()
    for q in (2, np.inf):
        estimate = diagnostics.empirical_rademacher(family, q, n_draws=300, random_state=0, degree=2)
        bound = diagnostics.rademacher_bound(family, q=float(q), degree=2)
        assert 20.0 * estimate.standard_error < estimate.value <= bound
    each = [J * K for J in family for K in family]
    assert diagnostics.rademacher_bound(family, q=2.0, degree=2) == pytest.approx(
        diagnostics.rademacher_bound(each, q=2.0)
    )
    for unit in (1e-200, 1e200):
        bound = diagnostics.rademacher_bound([unit * K for K in family], q=2.0, degree=2)
        assert bound == pytest.approx(unit * diagnostics.rademacher_bound(family, q=2.0, degree=2))
    one = [np.eye(40)] * 9
    published = np.sqrt(23 / 11) * 9**0.5 / np.sqrt(40)
    assert diagnostics.rademacher_bound(one, q=2.0, factor=1.0, degree=2) <= published * (1.0 + 1e-12)
    with pytest.raises(ValueError, match=r"q must be 2 or inf \(with degree=2\)"):
        diagnostics.empirical_rademacher(family, 1.0, degree=2)


def test_margin_bound() -> None:
    """Its three terms, and that it holds for linear classifiers of a ball on fresh samples."""
    values, y = np.array([0.2, 1.5, -2.0, 0.4]), ["a", "b", "a", "b"]
    rest = 3.0 * np.sqrt(np.log(2.0 / 0.1) / 8.0)
    assert diagnostics.margin_bound(values, y, 0.3, rho=0.5, delta=0.1) == pytest.approx(0.5 + 1.2 + rest)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5)) / np.sqrt(5)
    labels, w = np.sign(X[:, 0] + 0.3 * rng.normal(size=3000)), np.eye(5)[0] * 3.0
    complexity = diagnostics.rademacher_bound(X[:1500] @ X[:1500].T, norm=3.0, factor=1.0)
    bound = diagnostics.margin_bound(X[:1500] @ w, labels[:1500], complexity)
    assert np.mean(labels[1500:] * (X[1500:] @ w) <= 0) <= bound < 1.0
    for name, changed in {"rho": {"rho": 0.0}, "delta": {"delta": 1.0}}.items():
        with pytest.raises(ValueError, match=f"margin_bound: {name} must be"):
            diagnostics.margin_bound(values, y, 0.3, **changed)
