"""Estimators on approximate kernels: their problem is the one of the features, and so are model and certificate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import multikernel as mk
from cases import one_in
from multikernel import kernels
from multikernel.estimators import approximated

Array = Any
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
F = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2]
TRAIN, TEST = slice(0, 220), slice(220, 300)
FAMILY = kernels.rbf_grid([0.05, 0.3]) + kernels.per_feature(kernels.RBF(0.5)) + kernels.polynomials([1, 2])
CLASSES = np.where(F > 0, "up", "down")
THREE = np.digitize(F, [-0.7, 0.7])

MODELS = [
    mk.RLS2Regressor(FAMILY, alpha=1e-3),
    mk.L1MKLRegressor(FAMILY, C=10.0, epsilon=0.1),
    mk.LpMKLRegressor(FAMILY, C=10.0, epsilon=0.1),
    mk.MultipleKernelRidgeCV(FAMILY, tol=1e-2),
    mk.PolynomialMKLRegressor(FAMILY, alpha=0.1, degree=1),
    mk.AverageMKLRegressor(FAMILY, alpha=0.1),
    mk.GMKLRegressor(FAMILY, alpha=0.1, penalty=1.0),
    mk.L1MKLClassifier(FAMILY, C=10.0),
    mk.RLS2Classifier(FAMILY, alpha=1e-3),
    mk.SMKLClassifier(FAMILY, C=10.0),
    mk.EasyMKLClassifier(FAMILY, lam=0.1),
    mk.OneClassMKL(FAMILY),
]


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
@pytest.mark.parametrize("model", one_in(2, MODELS), ids=lambda model: type(model).__name__)
def test_model_is_that_of_the_features(model: Any, tmp_path: Path) -> None:
    y = F if type(model).__name__.endswith(("Regressor", "RidgeCV")) else CLASSES
    approximate = clone(model).set_params(approximation="nystroem", rank=40).fit(X[TRAIN], y[TRAIN])
    assert approximate.approximation_error_.max() < 0.4
    # the same features, as kernels of their own
    reference = approximate.predictor_.reference
    bank, _ = clone(approximate).bind(X[TRAIN], y[TRAIN])
    K = bank.matrices()
    exact = clone(model).set_params(kernels="precomputed").fit(K, y[TRAIN])
    if exact.objective_ is not None:
        np.testing.assert_allclose(approximate.objective_, exact.objective_, rtol=2e-3)
    across = bank.cross(X[TEST]).matrices()
    values = np.tensordot(np.atleast_2d(approximate.predictor_.weights)[0], across, 1) @ approximate.dual_coef_
    told = approximate._values(X[TEST])[:, 0]
    np.testing.assert_allclose(told, values + approximate.intercept_, rtol=1e-6, atol=1e-7 * np.abs(values).max())
    parts = approximate.contributions(X[TEST])
    np.testing.assert_allclose(parts.sum(axis=1) + approximate.intercept_, told, atol=1e-9 * np.abs(parts).max())
    learned = np.tensordot(np.atleast_2d(approximate.predictor_.weights)[0], across, 1)
    np.testing.assert_allclose(approximate.kernel_matrix(X[TEST], X[TRAIN]), learned, atol=1e-9)
    assert reference.shape == (0, 0), "no training sample is kept"
    mk.save(approximate, tmp_path / "model")
    np.testing.assert_array_equal(mk.load(tmp_path / "model")._values(X[TEST]), approximate._values(X[TEST]))


@pytest.mark.crossed
@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize("method", ["nystroem", "fourier"])
def test_several_classes(multiclass: str, method: str) -> None:
    model = mk.L1MKLClassifier(FAMILY, C=10.0, approximation=method, rank=60, multiclass=multiclass)
    model.fit(X[TRAIN], THREE[TRAIN])
    assert model.score(X[TEST], THREE[TEST]) > 0.7
    assert model.duality_gap_ <= 1e-4


def test_matrices_and_banks_are_approximated_by_their_columns() -> None:
    plain = [kernels.RBF(0.05), kernels.RBF(0.3), kernels.Polynomial(2)]
    K, across = (np.stack([k(A, X[TRAIN]) for k in plain]) for A in (X[TRAIN], X[TEST]))
    of_samples = mk.RLS2Regressor(plain, alpha=1e-3, approximation="nystroem", rank=50).fit(X[TRAIN], F[TRAIN])
    of_matrices = mk.RLS2Regressor("precomputed", alpha=1e-3, approximation="nystroem", rank=50).fit(K, F[TRAIN])
    np.testing.assert_allclose(of_matrices.predict(across), of_samples.predict(X[TEST]), atol=1e-6)
    bank = mk.bind(plain, X)
    of_bank = clone(of_samples).fit(bank[np.arange(220)], F[TRAIN])
    np.testing.assert_allclose(of_bank.predict(bank[np.arange(220, 300)]), of_samples.predict(X[TEST]), atol=1e-6)


def test_auto_says_why_it_approximates(monkeypatch: pytest.MonkeyPatch) -> None:
    model = mk.RLS2Regressor(FAMILY, alpha=1e-3, approximation="auto", rank=40).fit(X, F)
    assert not hasattr(model, "approximation_error_"), "300 samples are few"
    monkeypatch.setattr(approximated, "available_memory", lambda: 1e6)
    with pytest.warns(UserWarning, match=r"exact kernels to 300 samples takes up to .* more than the 0.0008 GB that"):
        model.fit(X, F)
    assert model.approximation_error_.shape == (8,)
    linear = mk.RLS2Regressor(kernels.linear_features(), alpha=1e-3, approximation="auto").fit(X, F)
    assert not hasattr(linear, "approximation_error_"), "few features are exact already"


def test_auto_keeps_exact_kernels_while_a_fit_of_them_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = np.random.default_rng(0).normal(size=(20_000, 5))
    family = kernels.per_feature(kernels.RBF(0.5))
    many = mk.L1MKLClassifier(family, C=1.0, approximation="auto"), mk.EasyMKLClassifier(family, approximation="auto")
    for model in many:
        monkeypatch.setattr(approximated, "available_memory", lambda: 8.1e9)
        told = model.forecast(samples, samples[:, 0] > 0)
        assert told.form == "evaluated in every pass"
        assert told.bytes <= 0.8 * 8.1e9
        monkeypatch.setattr(approximated, "available_memory", lambda: 3e9)
        assert model.forecast(samples, samples[:, 0] > 0).form == "known by features"


def test_refusals() -> None:
    with pytest.raises(ValueError, match="RLS2Regressor: approximation='fourier' has random features of Gaussian"):
        mk.RLS2Regressor([kernels.ANOVA(2)], approximation="fourier").fit(X, F)
    with pytest.raises(ValueError, match=r"rank must be an integer >= 1 or a number in \(0, 1\), got 2.5"):
        mk.RLS2Regressor(rank=2.5).fit(X, F)
    with pytest.raises(ValueError, match="combination='rbf_product' is learned on distances"):
        mk.GMKLRegressor(combination="rbf_product", approximation="nystroem").fit(X, F)


def test_a_search_over_ranks_makes_a_bank_for_each() -> None:
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(60, 3))
    target = np.sin(3.0 * samples[:, 0])
    search = mk.BankSearchCV(
        mk.RLS2Regressor([kernels.RBF(1.0).on([0])], alpha=1e-4, approximation="nystroem"), {"rank": [2, 30]}, cv=3
    ).fit(samples, target)
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] > scores[0] + 0.1
