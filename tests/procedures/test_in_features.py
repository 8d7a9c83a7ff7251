"""Squared losses from sums over samples: what features of all samples at once would give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from multikernel.banks import KernelBank
from multikernel.banks.factor import FactorBank
from multikernel.banks.factor_gram import FactorGram
from multikernel.banks.thin_root import Squares
from multikernel.machines import RidgeMachine
from multikernel.procedures import feature_basis
from multikernel.procedures.feature_basis import OfFeatures, Orthonormal, basis_of
from multikernel.procedures.ridge_cv import Folds, HeldOutError, in_features
from multikernel.procedures.ridge_cv.criterion import Point
from multikernel.procedures.rls2 import rls2
from multikernel.statistics import Moments

Array = Any
RNG = np.random.default_rng(0)
N, SIZES = 160, np.array([3, 5, 2])
F = RNG.normal(size=(N, 10)) * np.repeat([1.0, 0.2, 3.0], SIZES)
Y = np.column_stack([np.sin(F[:, 0]) + F[:, 8], F[:, 4] ** 2]) + 0.1 * RNG.normal(size=(N, 2)) + 2.0
BANK = FactorBank(F, F, SIZES, np.arange(10))
FOLDS = Folds.of(4, N, Y)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums whatever they cost, and no factorisation of the features."""
    monkeypatch.setattr(in_features, "FOLD_COORDINATES", 0)
    monkeypatch.setattr(feature_basis, "BASIS_OPERATIONS", 0.0)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("v", [np.array([0.3, 2.0, 0.01]), np.array([0.0, 1.5, 0.0]), np.zeros(3)])
@pytest.mark.parametrize("factors", [np.ones(3), np.array([2.0, 0.1, 5.0])])
def test_held_out_errors(fit_intercept: bool, v: Array, factors: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    bank = BANK.scaled(factors)
    sums = in_features.ErrorInFeatures.of(bank, Y, FOLDS, fit_intercept)
    dense = HeldOutError(bank, Y, FOLDS, fit_intercept)
    assert sums is not None
    at, known = sums.at(v), dense.at(v)
    assert isinstance(at, Point)
    assert isinstance(known, Point)
    np.testing.assert_allclose(at.errors, known.errors, rtol=1e-10)
    np.testing.assert_allclose(sums.constant(), dense.constant(), rtol=1e-12)
    np.testing.assert_allclose(sums.diagonals, dense.diagonals, rtol=1e-12)
    theirs = dense.model(known)
    for kept in (in_features.KEPT_BYTES, 0):  # factors are kept, or derivatives are taken from them at once
        monkeypatch.setattr(in_features, "KEPT_BYTES", kept)
        point = sums.at(v)
        assert point is not None
        mine = sums.model(point)
        np.testing.assert_allclose(mine.slope, theirs.slope, rtol=1e-8, atol=1e-10)
        for s in np.eye(3):
            assert mine.curved(s) == pytest.approx(theirs.curved(s), rel=1e-8)


@pytest.mark.usefixtures("always")
def test_a_step_factors_once_what_the_point_keeps_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = in_features.ErrorInFeatures.of(BANK, Y, FOLDS, True)
    assert sums is not None
    v = np.array([0.3, 2.0, 0.01])
    made: list[int] = []
    factorise = in_features.factorise
    monkeypatch.setattr(in_features, "factorise", lambda B: made.append(len(B)) or factorise(B))
    for kept in (2**20, 0):
        monkeypatch.setattr(in_features, "KEPT_BYTES", kept)
        made.clear()
        sums.model(sums.at(v))
        assert made == [10] * 4


def test_sums_add_up_and_are_taken_off() -> None:
    s = RNG.random(N)
    whole = Moments.of(F, Y, s)
    np.testing.assert_allclose(whole.squares, F.T @ (s[:, None] * F), rtol=1e-12)
    parts = Moments.of(F[:50], Y[:50], s[:50]).update(F[50:], Y[50:], s[50:])
    back = whole.remove(F[50:], Y[50:], s[50:])
    for name, value in vars(whole).items():
        np.testing.assert_allclose(getattr(parts, name), value, rtol=1e-10, err_msg=name)
        np.testing.assert_allclose(getattr(back, name), vars(Moments.of(F[:50], Y[:50], s[:50]))[name], atol=1e-10)
    means = whole.means
    about = Moments.of(F, Y - means, s)
    np.testing.assert_allclose(whole.about(means).products, about.products, atol=1e-10)
    np.testing.assert_allclose(whole.about(means).target_squares, about.target_squares, rtol=1e-10)
    single = Moments.of(F.astype(np.float32), Y)
    assert single.squares.dtype == np.float64
    with pytest.raises(ValueError, match="finite"):
        Moments.of(np.where(F > 2.0, np.nan, F), Y)
    with pytest.raises(ValueError, match="10 features and 2 targets do not go with those of 3 and 2"):
        whole.merge(Moments.of(F[:, :3], Y))


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("weighted", [False, True])
def test_coordinates_without_a_factorisation_of_the_features(weighted: bool) -> None:
    twice = np.hstack([F, F[:, :3], np.zeros((N, 1))])  # features that depend on each other, and one of none
    scale, root = 0.5 + RNG.random(14), np.sqrt(RNG.random((N, 1))) if weighted else None
    basis, G = basis_of(twice, scale, root)
    assert isinstance(basis, OfFeatures)
    scaled = (1.0 if root is None else root) * twice * scale
    Q = basis.samples(np.eye(len(G)))
    assert Q.shape == (N, 10)
    np.testing.assert_allclose(Q.T @ Q, np.eye(10), atol=1e-12)
    np.testing.assert_allclose(Q @ G, scaled, atol=1e-10)
    np.testing.assert_allclose(basis.coordinates(Y), Q.T @ Y, atol=1e-10)
    np.testing.assert_allclose(basis.beyond(Y), Y - Q @ (Q.T @ Y), atol=1e-10)


@pytest.mark.parametrize("alpha", [1e-4, 1.0, 1e4])
def test_two_layers_with_and_without(alpha: float, monkeypatch: pytest.MonkeyPatch) -> None:
    known, _ = rls2(BANK, Y, alpha, np.ones(3), tol=1e-10)
    assert isinstance(basis_of(F, np.ones(10), None)[0], Orthonormal)
    monkeypatch.setattr(feature_basis, "BASIS_OPERATIONS", 0.0)
    found, dual = rls2(replace(BANK), Y, alpha, np.ones(3), tol=1e-10)
    assert found.objective == pytest.approx(known.objective, rel=1e-8)
    np.testing.assert_allclose(found.values, known.values, atol=1e-6)
    K = BANK.combine(found.values).dense()
    solved = np.linalg.solve(K + alpha * np.eye(N), Y - Y.mean(axis=0))
    np.testing.assert_allclose(dual.coef, solved, rtol=1e-6, atol=1e-8 * np.abs(solved).max())


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """One entry for each time that coordinates are found."""
    calls: list[Any] = []
    monkeypatch.setattr(feature_basis, "basis_of", lambda F, *how: calls.append(how) or basis_of(F, *how))
    return calls


@pytest.mark.parametrize("bank", [replace(BANK).scaled(np.ones(3)), replace(BANK)])
def test_coordinates_are_found_once_for_problems_in_turn(bank: KernelBank, made: list[Any]) -> None:
    for y in Y.T:
        rls2(bank, y, 1.0, np.ones(3))
    assert len(made) == 1
    want = rls2(replace(BANK), Y, 1.0, np.array([1.0, 2.0, 3.0]))[0].values
    np.testing.assert_array_equal(rls2(bank, Y, 1.0, np.array([1.0, 2.0, 3.0]))[0].values, want)
    assert len(made) == 3, "what is found is that of a bank, and of its scales"


def test_large_coordinates_are_not_kept(made: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_basis, "KEPT_BYTES", 100)
    bank = replace(BANK)
    for y in Y.T:
        rls2(bank, y, 1.0, np.ones(3))
    assert len(made) == 2


@pytest.mark.parametrize("shift", [1e-2, 1.0])
def test_a_small_shift_is_solved_from_known_sums(shift: float) -> None:
    weights = np.repeat([1.0, 0.0, 2.0], SIZES) * 1e3
    known = FactorGram(F, weights, F, Squares(F, F.T @ F))
    U, roots, _ = np.linalg.svd(F * np.sqrt(weights), full_matrices=False)
    U, roots = U[:, roots > 1e-8], roots[roots > 1e-8]
    inside = U.T @ Y
    truth = (Y - U @ inside) / shift + U @ (inside / (roots**2 + shift)[:, None])
    found = known.solve_shifted(shift, Y)
    assert np.linalg.norm(found - truth) <= 1e-11 * np.linalg.norm(truth)
    solution = RidgeMachine(shift, False).solve(known, Y)
    assert solution.gap <= 1e-14
    np.testing.assert_array_equal(solution.coef, found)  # no decomposition takes the place of the factor


@pytest.mark.parametrize(
    ("F", "Y", "weight"), [((6,), (6,), 6), ((6, 2), (6, 2, 2), 6), ((6, 2), (5,), 6), ((6, 2), (6,), 5)]
)
def test_sums_of_what_does_not_fit_are_refused(F, Y, weight):
    with pytest.raises(ValueError, match=r"are not \(n, q\), \(n, t\) and \(n,\)"):
        Moments.of(np.ones(F), np.ones(Y), np.ones(weight))
