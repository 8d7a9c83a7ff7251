"""Kernel weights of each group of samples: by a conic solver, and by what follows from the problem."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import cross_val_score

import mkl_reference as mkl
import reference as ref
from multikernel import (
    BankSearchCV,
    LocalizedMKLClassifier,
    LocalizedMKLRegressor,
    LpMKLClassifier,
    bind,
    kernels,
    load,
    path,
    save,
)
from multikernel.procedures import kernel_k_means as k_means
from multikernel.procedures.kernel_k_means import kernel_k_means

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 3)) + 2.5 * np.sign(RNG.normal(size=(60, 1)))
CURVE = np.where(X[:, 0] > 0.0, np.sin(2.0 * X[:, 1]), 0.5 * X[:, 2])
LABELS = np.median(CURVE) < CURVE
FAMILY = [*(kernels.RBF(0.5).on([j]) for j in range(3)), kernels.Linear()]


def side(samples: Any) -> Any:
    return samples[:, 0] > 0.0


def shares(samples: Any) -> Any:
    left = 1.0 / (1.0 + np.exp(samples[:, 0]))
    return np.column_stack([left, 1.0 - left])


def local_matrices(h: Any) -> Any:
    """Shape (groups, m, n, n)."""
    K = bind(FAMILY, X).matrices()
    return np.array([c[:, None] * K * c for c in h.T])


def by_clarabel(K: Any, losses: mkl.Losses, p: float) -> float:
    """max p'a - 1/2 sum_j |v_j|_{p*}, v_jk = b'K_jk b, which is the value of the problem over the product of balls."""
    n = K.shape[-1]
    E = np.zeros((n, len(losses.sign)))
    E[losses.sample, np.arange(len(losses.sign))] = losses.sign
    a, t = cp.Variable(len(losses.sign), nonneg=True), cp.Variable(K.shape[:2], nonneg=True)
    below = [
        cp.sum_squares(ref.root(matrix) @ E @ a) <= t[j, k]
        for j, group in enumerate(K)
        for k, matrix in enumerate(group)
        if matrix.any()
    ]
    norm = cp.max if p == 1 else lambda v: cp.pnorm(v, p / (p - 1.0))
    value = losses.gain @ a - 0.5 * sum(norm(t[j]) for j in range(len(K)))
    return ref.conic(cp.Problem(cp.Maximize(value), [*below, a <= losses.C, losses.sign @ a == 0]))


@pytest.mark.parametrize("solver", ["block_norm", "projected_gradient"])
@pytest.mark.parametrize(("p", "rule"), [(1.0, side), (1.4, shares), (2.0, side)])
def test_the_optimum_is_that_of_a_conic_solver(p: float, rule: Any, solver: str) -> None:
    model = LocalizedMKLClassifier(FAMILY, memberships=rule, p=p, C=2.0, solver=solver, tol=1e-5).fit(X, LABELS)
    K = local_matrices(model.memberships_)
    expected = by_clarabel(K, mkl.classification(np.where(LABELS, 1.0, -1.0), 2.0), p)
    assert model.objective_ == pytest.approx(expected, rel=2e-5)
    assert model.duality_gap_ <= 1e-5
    assert (model.objective_ - expected) / expected <= model.duality_gap_ + 1e-7
    d = model.cluster_weights_
    assert d.shape == (2, len(FAMILY))
    np.testing.assert_allclose((d**p).sum(axis=1), 1.0, rtol=1e-9)
    gram = np.einsum("jk,jkab->ab", d, K)
    np.testing.assert_allclose(model.kernel_matrix(X), gram, atol=1e-12)
    np.testing.assert_allclose(gram @ model.dual_coef_ + model.intercept_, model.decision_function(X), atol=1e-9)


def test_a_regressor_s_optimum_is_that_of_a_conic_solver() -> None:
    model = LocalizedMKLRegressor(FAMILY, memberships=side, C=2.0, epsilon=0.1, tol=1e-6).fit(X, CURVE)
    expected = by_clarabel(local_matrices(model.memberships_), mkl.regression(CURVE, 2.0, 0.1), 2.0)
    assert model.objective_ == pytest.approx(expected, rel=1e-5)


def test_one_group_is_the_problem_without_groups() -> None:
    local, whole = (
        LocalizedMKLClassifier(FAMILY, n_clusters=1, tol=1e-8).fit(X, LABELS),
        LpMKLClassifier(FAMILY, tol=1e-8).fit(X, LABELS),
    )
    assert local.objective_ == pytest.approx(whole.objective_, rel=1e-7)
    np.testing.assert_allclose(local.decision_function(X), whole.decision_function(X), atol=1e-3)


def test_clusters_are_those_of_the_feature_space_and_new_samples_join_the_nearest() -> None:
    model = LocalizedMKLClassifier([kernels.Linear()], n_clusters=2, random_state=0).fit(X, LABELS)
    means = np.array([X[h > 0].mean(axis=0) for h in model.memberships_.T])
    new = RNG.normal(size=(30, 3)) * 3.0
    nearest = np.linalg.norm(new[:, None] - means, axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.membership(new).argmax(axis=1), nearest)
    inertia = sum(((X[h > 0] - c) ** 2).sum() for h, c in zip(model.memberships_.T, means, strict=True))
    assert inertia == pytest.approx(KMeans(2, n_init=10, random_state=0).fit(X).inertia_, rel=1e-9)


def test_clusters_follow_the_weights_of_samples() -> None:
    """Against k-means with weights; a sample of weight zero moves no centre."""
    weight = RNG.integers(0, 6, size=60).astype(float)
    model = LocalizedMKLClassifier([kernels.Linear()], n_clusters=2, random_state=0).fit(
        X, LABELS, sample_weight=weight
    )
    found = KMeans(2, n_init=20, random_state=0).fit(X, sample_weight=weight)
    labels = model.membership(X).argmax(axis=1)
    pairs = {(a, b) for a, b in zip(labels, found.predict(X), strict=True)}
    assert len(pairs) == 2
    means = [np.average(X[labels == j], axis=0, weights=weight[labels == j]) for j in range(2)]
    new = 3.0 * RNG.normal(size=(30, 3))
    nearest = np.linalg.norm(new[:, None] - means, axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.membership(new).argmax(axis=1), nearest)
    given = LocalizedMKLClassifier([kernels.Linear()], memberships=labels).fit(X, LABELS, sample_weight=weight)
    np.testing.assert_array_equal(given.membership(new), model.membership(new))
    few = LocalizedMKLClassifier([kernels.Linear()], n_clusters=5, random_state=0)
    few.fit(
        X, LABELS, sample_weight=np.isin(np.arange(60), [*np.flatnonzero(LABELS)[:2], *np.flatnonzero(~LABELS)[:2]])
    )
    assert few.n_clusters_ == 4
    assert few.kernel_names_.tolist() == [f"group {j}: Linear()" for j in range(4)]


def test_memberships_may_be_labels_shares_a_function_or_a_clustering() -> None:
    fits = {
        name: LocalizedMKLClassifier(FAMILY, memberships=given, C=2.0).fit(X, LABELS)
        for name, given in {"labels": side(X), "array": np.eye(2)[side(X).astype(int)], "function": side}.items()
    }
    for model in fits.values():
        np.testing.assert_allclose(model.dual_coef_, fits["labels"].dual_coef_, atol=1e-9)
    soft = LocalizedMKLClassifier(FAMILY, memberships=GaussianMixture(2, random_state=0)).fit(X, LABELS)
    np.testing.assert_allclose(soft.membership(X).sum(axis=1), 1.0)
    hot = LocalizedMKLClassifier(FAMILY, temperature=0.3, random_state=0).fit(X, LABELS)
    assert 0.0 < hot.memberships_.min() < hot.memberships_.max() < 1.0
    np.testing.assert_allclose(hot.membership(X), hot.memberships_, atol=1e-12)


def test_a_model_is_saved_sliced_and_cross_validated(tmp_path: Path) -> None:
    given = KMeans(2, n_init=3, random_state=0)
    model = LocalizedMKLClassifier(FAMILY, memberships=given, C="auto", probability="platt").fit(X, LABELS)
    save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(load(tmp_path / "model.mk").predict_proba(X), model.predict_proba(X))
    model.set_params(memberships=None, probability=None, C=1.0, random_state=0)
    assert cross_val_score(model, X, LABELS, cv=3).mean() > 0.6
    by_bank = cross_val_score(model, bind(FAMILY, X), LABELS, cv=3)
    assert by_bank.mean() > 0.6
    search = BankSearchCV(model, {"n_clusters": [1, 3], "C": [0.1, 1.0]}, cv=3).fit(X, LABELS)
    assert search.best_estimator_.cluster_weights_.shape == (search.best_params_["n_clusters"], len(FAMILY))
    assert len(np.unique(search.cv_results_["mean_test_score"])) > 1
    found = path(model, X, LABELS, "C", [0.1, 1.0])
    assert found.duality_gap.max() <= 1e-4
    assert np.isfinite(
        model.fit(bind(FAMILY, X).matrices(), LABELS).decision_function(bind(FAMILY, X).matrices())
    ).all()
    total = model.contributions(bind(FAMILY, X).matrices()).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(total, model.decision_function(bind(FAMILY, X).matrices()), atol=1e-10)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.zeros(5, dtype=int), "60 samples need"),
        (np.full(60, 0.5), "have to be the numbers"),
        (np.where(np.arange(60) % 2, 0, 10**9), "have to be the numbers 0 to 59, got numbers from 0 to 1e.09"),
        (np.zeros((60, 2)), "every sample belongs to no group"),
        (np.full((60, 2), -1.0), "not negative"),
        (np.array(["a"] * 60), "60 samples need"),
        ("k-means", "memberships must be"),
    ],
)
def test_memberships_that_are_none_are_refused(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        LocalizedMKLClassifier(FAMILY, memberships=given).fit(X, LABELS)


def test_a_function_needs_samples() -> None:
    with pytest.raises(ValueError, match="need samples"):
        LocalizedMKLClassifier(memberships=side).fit(bind(FAMILY, X), LABELS)


def test_a_forecast_clusters_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clusters take the matrix of all samples: a forecast for 20,000 samples took minutes."""
    model = LocalizedMKLClassifier(FAMILY, n_clusters=3)
    bank = model.fit(X, LABELS).bind(X, LABELS)[0]
    monkeypatch.setattr("multikernel.estimators.localized.convex.kernel_k_means", None)
    told = model.forecast(X, LABELS)
    assert told.kernels == len(bank) == 12


def test_no_cluster_is_empty() -> None:
    K = np.ones((6, 6))
    K[5, 5] = 3.0
    labels = kernel_k_means(K, 4, np.random.default_rng(0))
    assert set(labels) == {0, 1, 2, 3}


def test_the_best_of_the_starts_has_the_sum_it_was_chosen_by() -> None:
    """Also where steps raise the sum, as they may where K has negative eigenvalues."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(8, 8))
    weight = np.ones(8)
    for K in (A @ A.T, A + A.T):
        labels, value = k_means._run(K, rng.integers(0, 3, 8), 3, weight)
        squares = K.diagonal() + k_means.distances(K, labels, 3, weight)[np.arange(8), labels]
        assert value == pytest.approx(squares.sum(), rel=1e-12)
