"""The evidence of a Gaussian process as a criterion for kernel weights: values, derivatives, and where it ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import multikernel as mk
from multikernel import bind, kernels
from multikernel.procedures.ridge_cv import Evidence
from multikernel.procedures.ridge_cv.model import Wide

Array = Any
RNG = np.random.default_rng(4)
X = RNG.normal(size=(40, 3))
Y = np.column_stack([np.sin(X[:, 0]) + 0.3 * RNG.normal(size=40), X[:, 1] ** 2 + 0.5 * RNG.normal(size=40)]) + 1.0
FEW = [kernels.RBF(0.1), kernels.RBF(1.0), kernels.Linear(), kernels.RBF(0.5).on([1])]
MANY = [kernels.RBF(gamma).on([j]) for j in range(3) for gamma in np.logspace(-2, 1, 30)]


def truth(K: Array, v: Array, Z: Array) -> float:
    """The largest log density over the scales of the targets, as that number."""
    S, n = np.tensordot(v, K, 1) + np.eye(len(Z)), len(Z)
    energies = np.einsum("it,it->t", Z, np.linalg.solve(S, Z))
    return float(np.exp(np.log(energies / n).mean() + np.linalg.slogdet(S)[1] / n))


@pytest.mark.parametrize(
    ("family", "t"),
    [(FEW, 1), (FEW, 2), (MANY, 1), (list(kernels.linear_features().resolve(mk.kernels.Features.of(X))), 2)],
)
def test_value_gradient_and_model(family: Any, t: int) -> None:
    """The model's own decrease is what steps of a quarter of a percent find of the function."""
    bank = bind(family, X)
    found = Evidence.of(bank, Y[:, :t])
    K, Z, v = bank.matrices(), Y[:, :t] - Y[:, :t].mean(axis=0), RNG.exponential(size=len(bank))
    point = found.at(v)
    assert point is not None
    assert point.value == pytest.approx(truth(K, v, Z), rel=1e-12)
    assert found.constant() == pytest.approx(truth(K, 0.0 * v, Z), rel=1e-12)
    model = found.model(point)
    assert isinstance(model, Wide) == (len(bank) > 40 * t)
    step = 1e-6 * np.eye(len(bank))[:6]
    numeric = [(truth(K, v + s, Z) - truth(K, v - s, Z)) / 2e-6 for s in step]
    np.testing.assert_allclose(2.0 * model.slope[:6], numeric, rtol=1e-6, atol=1e-8)
    assert (model.diagonal >= 0.0).all()


@pytest.mark.parametrize("restricted", [False, True])
def test_models_of_targets_that_share_a_factor(restricted: bool) -> None:
    """Each as that of the target alone, and 0 for a constant one."""
    basis = np.linalg.qr(np.column_stack([np.ones(40), X[:, 0]]))[0] if restricted else None
    Z = np.column_stack([Y, np.full(40, 2.0)])
    if basis is not None:
        Z = Z - basis @ (basis.T @ Z)
        Z[:, 2] = 0.0
    bank, v = bind(FEW, X), RNG.exponential(size=4)
    every = Evidence.of(bank, Z, basis=basis, keep=True)
    shared = every.shared(v)
    assert shared is not None
    index = np.array([2, 0, 1])
    errors, models = shared.errors(index), shared.models(index)
    assert errors[0] == 0.0
    assert not models.slopes[0].any()
    for row, t in ((1, 0), (2, 1)):
        alone = Evidence.of(bank, Z[:, [t]], basis=basis)
        point = alone.at(v)
        assert point is not None
        assert errors[row] == pytest.approx(point.value, rel=1e-12)
        assert every.constants()[t] == pytest.approx(alone.constant(), rel=1e-12)
        model: Any = alone.model(point)
        np.testing.assert_allclose(models.slopes[row], model.slope, rtol=1e-8)
        np.testing.assert_allclose(models.curvatures[row], model.curvature, rtol=1e-8)


def test_one_kernel_as_scikit_learn_finds_it() -> None:
    """The largest evidence over scale and noise, by an optimiser of its own."""
    y = Y[:, 0]
    model = mk.MultipleKernelRidgeCV([kernels.RBF(0.5)], criterion="evidence", tol=1e-12).fit(X, y)
    kernel = ConstantKernel(1.0, (1e-6, 1e6)) * RBF(1.0, "fixed") + WhiteKernel(1.0, (1e-6, 1e6))
    there = GaussianProcessRegressor(kernel, alpha=0.0, n_restarts_optimizer=3, random_state=0).fit(X, y - y.mean())
    assert model.log_evidence_ == pytest.approx(there.log_marginal_likelihood_value_, rel=1e-10)
    assert model.log_evidence_ >= there.log_marginal_likelihood_value_ - 1e-8


def test_several_kernels_end_where_a_general_solver_does() -> None:
    bank, Z = bind(FEW, X), Y[:, :1] - Y[:, :1].mean()
    model = mk.MultipleKernelRidgeCV(criterion="evidence", tol=1e-10).fit(bank, Y[:, 0])
    v, K = model.weights_ / model.alpha_, bank.matrices()
    assert model.objective_ == pytest.approx(truth(K, v, Z), rel=1e-10)
    found = min(
        minimize(lambda v: np.log(truth(K, v, Z)), start * v.sum(), bounds=[(0, None)] * 4, tol=1e-14).fun
        for start in (np.full(4, 0.25), np.eye(4)[0] + 0.1, v / v.sum())
    )
    assert np.log(model.objective_) <= found + 1e-7
    assert model.stationarity_ < 1e-9


def test_targets_without_noise_and_constants() -> None:
    flat = mk.MultipleKernelRidgeCV(FEW, criterion="evidence").fit(X, np.full(40, 3.0))
    np.testing.assert_allclose(flat.predict(X), 3.0)
    clean = mk.MultipleKernelRidgeCV(FEW, criterion="evidence").fit(X, X @ [1.0, -2.0, 0.5])
    assert clean.score(X, X @ [1.0, -2.0, 0.5]) > 0.9999
    together = mk.MultipleKernelRidgeCV(FEW, criterion="evidence", shared_weights=True).fit(
        X, np.column_stack([Y, 0 * Y])
    )
    assert together.cv_loss_.shape == (4,)
    assert np.isfinite(together.objective_)
