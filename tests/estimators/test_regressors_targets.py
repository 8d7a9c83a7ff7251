"""Regressors with several targets and with weights of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold
from sklearn.utils import get_tags

import multikernel as mk
from multikernel import kernels
from multikernel.procedures import alignf, alignment

# powers and narrow Gaussians, as they are: every formula below holds for kernels of any size
pytestmark = pytest.mark.filterwarnings("ignore:.*kernels of very different size")

X, y = load_diabetes(return_X_y=True)
X, y = 20.0 * X[:70], y[:70]
Y = np.column_stack([y, y**2 / 100.0, X[:, 0]])
FAMILY = kernels.rbf_grid([0.003, 0.03]) + kernels.polynomials((1, 2))
MODELS = {
    "average": mk.AverageMKLRegressor(FAMILY, alpha=0.1),
    "average of features": mk.AverageMKLRegressor(kernels.linear_features(), alpha=0.1),
    "without intercept": mk.AverageMKLRegressor(FAMILY, alpha=0.1, fit_intercept=False),
    "alignf": mk.AlignmentMKLRegressor(FAMILY, alpha=0.1),
    "align": mk.AlignmentMKLRegressor(FAMILY, method="align", alpha=0.1),
    "best": mk.BestKernelRegressor(FAMILY, alpha=0.1, cv=3, random_state=0),
    "proportional": mk.ProportionalMKLRegressor(FAMILY, alpha=0.1, cv=3, random_state=0),
}
models = pytest.mark.parametrize("name", MODELS)


def counted() -> Any:
    return np.random.default_rng(0).integers(0, 4, len(y))


@models
def test_shapes(name: str) -> None:
    for target in (y, Y, Y[:, :1]):
        model = MODELS[name].fit(X, target)
        t = target.shape[1:]
        assert model.dual_coef_.shape == (*t, len(y))
        assert np.shape(model.intercept_) == t
        assert model.weights_.shape == (len(model.kernel_names_),)
        assert model.predict(X).shape == target.shape
        assert model.duality_gap_ <= 1e-12
        assert len(model.weights_frame()) == len(model.weights_)


@models
def test_targets_share_weights_and_are_predicted_as_if_alone(name: str) -> None:
    model = MODELS[name].fit(X, Y)
    bank = mk.bind(model.kernels, X)
    K = bank.combine(model.weights_).dense()
    for j, target in enumerate(Y.T):
        mean = target.mean() if model.fit_intercept else 0.0
        coef = np.linalg.solve(K + 0.1 * np.eye(len(y)), target - mean)
        np.testing.assert_allclose(model.dual_coef_[j], coef, rtol=1e-6, atol=1e-8 * np.abs(coef).max())
        np.testing.assert_allclose(model.predict(X[:5])[:, j], K[:5] @ coef + mean, rtol=1e-8, atol=1e-8)


@models
def test_a_column_is_a_vector(name: str) -> None:
    one, column = MODELS[name].fit(X, y).predict(X), MODELS[name].fit(X, y[:, None]).predict(X)
    np.testing.assert_allclose(column[:, 0], one, rtol=1e-12)


def test_alignment_of_several_targets_is_that_of_their_sum() -> None:
    bank, centred = mk.bind(FAMILY, X), Y - Y.mean(axis=0)
    inside = [np.trace(centred.T @ K @ centred) / np.linalg.norm(K) for K in bank.centered().matrices()]
    np.testing.assert_allclose(alignment(bank, Y).values, np.array(inside) / np.sum(inside), rtol=1e-9)
    best = alignf(bank, Y).values
    scores = [
        np.trace(centred.T @ K @ centred) / np.linalg.norm(K)
        for K in (bank.centered().combine(w).dense() for w in (best, *np.random.default_rng(0).random((50, 4))))
    ]
    assert scores[0] >= max(scores) * (1 - 1e-12)


# -- weights of samples ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("best", "proportional")])
@pytest.mark.parametrize("target", [y, Y], ids=["one", "three"])
def test_weights_are_repetitions(name: str, target: Any) -> None:
    counts = counted()
    copies = np.repeat(np.arange(len(y)), counts)
    weighted, repeated = (
        MODELS[name].fit(X, target, counts).predict(X),
        MODELS[name].fit(X[copies], target[copies]).predict(X),
    )
    np.testing.assert_allclose(weighted, repeated, rtol=1e-8)


@models
def test_weight_one_is_none_and_weight_zero_is_absence(name: str) -> None:
    model = MODELS[name]
    np.testing.assert_allclose(model.fit(X, y, np.ones(len(y))).predict(X), model.fit(X, y).predict(X), rtol=1e-9)
    there = counted() > 0
    absent = model.fit(X[there], y[there]).predict(X)
    model.fit(X, y, there.astype(float))
    np.testing.assert_allclose(model.predict(X), absent, rtol=1e-8)
    assert not model.dual_coef_[~there].any()
    assert len(model.predictor_.reference[:, :].shape) == 2
    assert model.predictor_.reference.shape[1] == there.sum(), "samples that are absent are not kept"


def test_best_kernel_is_chosen_by_weighted_errors() -> None:
    """Two halves that ask for different kernels; the weights say which of them counts."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(120, 1))
    first = np.arange(120) < 60
    target = np.where(first, 2.0 * x[:, 0], np.sin(25.0 * x[:, 0]))
    Z = np.column_stack([x, 100.0 * ~first])  # the halves are far apart
    family = [kernels.Polynomial(1).on([0]), kernels.RBF(300.0)]
    folds = list(KFold(4, shuffle=True, random_state=1).split(Z))
    for s, chosen in ((np.where(first, 1.0, 1e-3), 0), (np.where(first, 1e-3, 1.0), 1)):
        model = mk.BestKernelRegressor(family, alpha=1e-2, cv=folds).fit(Z, target, s)
        assert model.weights_.argmax() == chosen


def test_sample_weights_leave_no_trace() -> None:
    model = mk.AverageMKLRegressor(FAMILY).fit(X, y, counted())
    assert model.fit(X, y).predict(X) == pytest.approx(mk.AverageMKLRegressor(FAMILY).fit(X, y).predict(X))
    assert "_sample_weight" not in vars(model)


# -- what stands around ------------------------------------------------------------------------------------------------


@models
def test_on_a_bank_and_on_precomputed_matrices(name: str) -> None:
    model = MODELS[name]
    bank = mk.bind(model.kernels, X)
    want = model.fit(X, Y).predict(X)
    np.testing.assert_allclose(model.fit(bank, Y).predict(bank), want, rtol=1e-9)
    given = model.__class__(**(model.get_params(deep=False) | {"kernels": "precomputed"}))
    stack = bank.matrices()
    np.testing.assert_allclose(given.fit(stack, Y).predict(stack), want, rtol=1e-9)
    np.testing.assert_allclose(given.predict(stack[:, :4]), want[:4], rtol=1e-9)


@models
@pytest.mark.parametrize("target", [Y, Y[:, :1]], ids=["three", "a column"])
def test_round_trip(name: str, target: Any, tmp_path: Any) -> None:
    model = MODELS[name].fit(X, target, counted())
    mk.save(model, tmp_path / "model.mk")
    again = mk.load(tmp_path / "model.mk")
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-13)
    np.testing.assert_array_equal(again.intercept_, model.intercept_)


def test_tags_say_who_takes_several_targets() -> None:
    assert get_tags(MODELS["average"]).target_tags.multi_output
    assert get_tags(mk.BankSearchCV(MODELS["average"], {})).target_tags.multi_output
    assert not get_tags(mk.L1MKLRegressor()).target_tags.multi_output


def test_refusals() -> None:
    model = mk.AverageMKLRegressor(FAMILY)
    with pytest.raises(ValueError, match="y should be a 1d array, got an array of shape"):
        mk.L1MKLRegressor(FAMILY).fit(X, Y)
    with pytest.raises(ValueError, match="y should be a 1d array"):
        mk.GMKLRegressor(FAMILY).fit(mk.bind(FAMILY, X), Y)
    with pytest.raises(ValueError, match=r"y must be an array of numbers, got a sparse matrix; use y.toarray\(\)"):
        model.fit(X, sparse.csr_array(Y))
    with pytest.raises(ValueError, match="sample_weight must be 70 finite numbers >= 0"):
        model.fit(X, Y, np.ones(3))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(mk.bind(FAMILY, X), np.where(Y > 100.0, np.nan, Y))
    with pytest.raises(ValueError, match=r"cv must be an integer >= 2.*, got 1"):
        mk.BestKernelRegressor(FAMILY, cv=1).fit(X, y)
