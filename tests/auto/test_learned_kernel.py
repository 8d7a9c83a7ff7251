"""What the automatic estimators tell of their answer: shares, a certificate, and the learned kernel."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

import multikernel as mk
from multikernel import MultiKernelClassifier, MultiKernelRegressor
from multikernel.auto.choice import blend_classes, blend_numbers


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "c": rng.choice(["x", "y"], 60)})


@pytest.fixture(scope="module")
def model(table):
    return MultiKernelClassifier(random_state=0).fit(table, table["a"] * table["b"] > 0)


def _best_of_classes(F, labels, count):
    """The least value of the problem at the head of choice.py, by a solver that knows no slopes of ours."""
    M, n, k = F.shape

    def value(x):
        scores = np.tensordot(x[:M], F, 1) + x[M:]
        loss = -log_softmax(scores, axis=1)[np.arange(n), labels].mean()
        return loss + 0.2 * M / count * ((x[:M] - x[:M].mean()) ** 2).sum() + (x**2).sum() / count

    found = minimize(value, np.zeros(M + k), bounds=[(0, None)] * M + [(None, None)] * k, options={"maxfun": 10**5})
    return value, found.fun


@pytest.mark.parametrize("noise", [(0.3, 0.5, 2.0), (0.1, 4.0, 9.0), (3.0, 3.0, 3.0)])
def test_no_blend_is_better_than_the_gap_says(noise):
    rng = np.random.default_rng(3)
    y = rng.normal(size=40)
    F = np.stack([y + s * rng.normal(size=40) for s in noise])
    found = blend_numbers(F[:, :, None], y[:, None], None)
    pull = 10 * 3 / 40 * min(np.mean((y - f) ** 2) for f in F)

    def value(w):
        return np.mean((y - w @ F) ** 2) + pull * np.sum((w - 1 / 3) ** 2)

    assert found.objective == pytest.approx(value(found.weights), rel=1e-12)
    options, total = {"ftol": 1e-15, "maxiter": 999}, {"type": "eq", "fun": lambda w: w.sum() - 1.0}
    other = minimize(value, np.full(3, 1 / 3), bounds=[(0, 1)] * 3, constraints=total, options=options)
    assert (1.0 - found.gap) * found.objective <= other.fun + 1e-12
    assert found.gap < 1e-6

    labels = (y > 0).astype(int)
    scores = np.stack([-F, F], axis=2)
    found = blend_classes(scores, labels, None)
    value, best = _best_of_classes(scores, labels, 40.0)
    assert found.objective == pytest.approx(value(np.append(found.weights, found.bias)), rel=1e-12)
    assert (1.0 - found.gap) * found.objective <= best + 1e-12
    assert found.gap < 1e-6


def test_the_gap_of_a_poor_blend_is_told(monkeypatch):
    monkeypatch.setattr("multikernel.auto.choice.minimize", lambda problem, start, **_: type("Found", (), {"x": start}))
    rng = np.random.default_rng(0)
    labels, F = np.arange(30) % 2, rng.normal(size=(2, 30, 2))
    found = blend_classes(F, labels, None)
    _, best = _best_of_classes(F, labels, 30.0)
    assert found.objective > 1.1 * best
    assert (1.0 - found.gap) * found.objective <= best


def test_the_answer_has_shares_and_a_certificate(model):
    assert model.weights_.shape == model.kernel_names_.shape
    assert model.weights_.sum() == pytest.approx(1.0)
    assert model.converged_
    assert 0.0 <= model.duality_gap_ < 1e-4
    assert model.weights_frame()["weight"].to_numpy() == pytest.approx(model.weights_)
    assert "no others make its value smaller" in model.explain()
    shown = [label.get_text() for label in model.plot_weights().get_yticklabels()]
    assert len(shown) == len(model.weights_)


def test_the_kernel_is_the_sum_of_kernels_of_size_one_by_shares(model, table, tmp_path):
    K, members = model.kernel_matrix(table), model.answer_.members
    samples = model.preparation_.samples(model._table(table, reset=False))
    each = [member.similarity(samples, samples) for member in members]
    by_hand = sum(share * k / np.diag(k).mean() for share, k in zip(model.weights_, each, strict=True))
    np.testing.assert_allclose(K, by_hand, atol=1e-12)
    assert np.diag(K).mean() == pytest.approx(1.0)
    assert np.linalg.eigvalsh(K)[0] > -1e-10
    np.testing.assert_allclose(model.kernel_matrix(table[:5], table), K[:5], atol=1e-12)
    mk.save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(mk.load(tmp_path / "model.mk").kernel_matrix(table), K)


def test_the_kernel_serves_other_methods(model, table):
    truth = table["a"] * table["b"] > 0
    kernel = model.as_transformer()
    svm = SVC(kernel="precomputed").fit(kernel.fit_transform(table), truth)
    assert svm.score(kernel.transform(table), truth) > 0.9
    assert model.as_transformer("features").fit_transform(table).shape[0] == 60


def test_matrices_say_nothing_of_other_pairs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    model = MultiKernelRegressor(random_state=0).fit({"numbers": X, "matrix": X @ X.T}, X[:, 0])
    assert model.weights_.sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="'matrix' is a kernel matrix"):
        model.kernel_matrix({"numbers": X, "matrix": X @ X.T})


def test_a_constant_has_no_shares(table):
    model = MultiKernelRegressor(random_state=0).fit(table, np.ones(60))
    assert model.weights_.shape == (0,)
    assert model.duality_gap_ == 0.0
    assert model.converged_
    assert len(model.weights_frame()) == 0
    assert (model.kernel_matrix(table) == 0).all()


@pytest.mark.parametrize("name", ["weights_", "kernel_names_", "objective_", "duality_gap_", "converged_"])
def test_a_model_that_is_not_fitted_has_none_of_it(name):
    assert not hasattr(MultiKernelClassifier(), name)
    with pytest.raises(NotFittedError):
        getattr(MultiKernelClassifier(), name)


def test_what_needs_kernels_that_are_given_says_so(model, table):
    truth, why = table["a"] > 0, "got MultiKernelClassifier, which takes no kernels but chooses them itself"
    with pytest.raises(TypeError, match=why + ": scikit-learn's permutation_importance shuffles columns"):
        mk.kernel_importance(model, table, truth)
    with pytest.raises(TypeError, match=why):
        mk.weight_stability(model, table, truth)
    with pytest.raises(TypeError, match=why):
        mk.path(model, table, truth, "C", [1.0, 2.0])
    with pytest.raises(TypeError, match=why):
        mk.BankSearchCV(model, {"C": [1.0]}).fit(table, truth)
