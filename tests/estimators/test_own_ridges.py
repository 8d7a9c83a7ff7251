"""Targets that share the weights of the kernels and have a ridge each: against grids of ridges, and one kernel each."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

import multikernel as mk
from multikernel import MultipleKernelRidgeCV, kernels, precomputed
from multikernel.procedures.ridge_cv import Folds, ridge_cv


def data(n=80, t=12, n_new=200, seed=0, sizes=(10, 25, 60)):
    """Features of three spaces, of which 60 are of no use; the noise of targets differs, and the last is only noise."""
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(n + n_new, p)) / np.sqrt(p) for p in sizes]
    Y = sum(X @ rng.normal(size=(X.shape[1], t)) for X in parts[:2])
    Y += rng.normal(size=Y.shape) * np.geomspace(0.1, 5.0, t)
    Y[:, -1] = rng.normal(size=len(Y))
    return [X[:n] for X in parts], Y[:n], [X[n:] for X in parts], Y[n:]


def stack(parts, others=None):
    return np.stack([X @ Z.T for X, Z in zip(parts, others or parts, strict=True)])


def shared(**parameters):
    return MultipleKernelRidgeCV("precomputed", shared_weights=True, **parameters)


def errors_along(K, Y, alphas, fit_intercept):
    """Held-out errors of ridge regression trained anew for each fold and ridge: shape (len(alphas), t)."""
    found = np.zeros((len(alphas), Y.shape[1]))
    for train, test in KFold(5).split(K):
        mean = Y[train].mean(axis=0) if fit_intercept else np.zeros(Y.shape[1])
        values, vectors = np.linalg.eigh(K[np.ix_(train, train)])
        inside, across = vectors.T @ (Y[train] - mean), K[np.ix_(test, train)] @ vectors
        for row, alpha in enumerate(alphas):
            predicted = across @ (inside / (values + alpha)[:, None]) + mean
            found[row] += ((Y[test] - predicted) ** 2).sum(axis=0)
    return found / len(Y)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_ridge_of_a_grid_is_better(fit_intercept):
    parts, Y, _, _ = data()
    K = stack(parts)
    model = shared(fit_intercept=fit_intercept).fit(K, Y)
    assert model.converged_
    assert model.target_stationarity_.max() <= model.stationarity_ <= 1e-4
    combined = np.tensordot(model.weights_, K, 1)
    grid = errors_along(combined, Y, np.geomspace(1e-4, 1e6, 400), fit_intercept)
    assert (model.cv_loss_ <= grid.min(axis=0) * (1.0 + 1e-4)).all()
    own = errors_along(combined, Y, model.alpha_, fit_intercept)
    np.testing.assert_allclose(model.cv_loss_, own.diagonal(), rtol=1e-6)
    assert len(np.unique(model.alpha_)) > 6


def test_weights_are_those_of_the_common_ridge():
    parts, Y, _, _ = data()
    K = stack(parts)
    common = ridge_cv(precomputed(K), Y, Folds.of(5, len(Y), Y), tol=1e-9)
    model = shared(tol=1e-9).fit(K, Y)
    np.testing.assert_allclose(model.weights_, common.values, atol=1e-4)
    assert model.objective_ == pytest.approx(common.objective, rel=1e-6)
    assert (model.cv_loss_ <= common.errors * (1.0 + 1e-6)).all()


def test_new_samples_are_predicted_better_than_by_one_ridge_or_one_kernel():
    parts, Y, new, Y_new = data()
    K, K_new = stack(parts), stack(new, parts)
    model = shared().fit(K, Y)
    common = ridge_cv(precomputed(K), Y, Folds.of(5, len(Y), Y))
    one = np.tensordot(common.values, K, 1) + common.alpha * np.eye(len(Y))
    mean = Y.mean(axis=0)
    predicted = np.tensordot(common.values, K_new, 1) @ np.linalg.solve(one, Y - mean) + mean
    spread = ((Y_new - Y_new.mean(axis=0)) ** 2).mean(axis=0)
    own = 1.0 - ((Y_new - model.predict(K_new)) ** 2).mean(axis=0) / spread
    with_one_ridge = 1.0 - ((Y_new - predicted) ** 2).mean(axis=0) / spread
    equal = shared().fit(K.sum(axis=0)[None], Y)
    with_one_kernel = 1.0 - ((Y_new - equal.predict(K_new.sum(axis=0)[None])) ** 2).mean(axis=0) / spread
    assert own.mean() > with_one_ridge.mean()
    assert own.mean() > with_one_kernel.mean()
    assert own[-1] > with_one_ridge[-1]


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_change_nothing(unit):
    parts, Y, _, _ = data()
    K = stack(parts)
    model, other = shared().fit(K, Y), shared().fit(unit * K, unit * Y)
    np.testing.assert_allclose(other.weights_, model.weights_, atol=1e-6)
    np.testing.assert_allclose(other.alpha_, unit * model.alpha_, rtol=1e-4)


@pytest.mark.parametrize("units", [(1e-150, 1e50, 1e-100, 1.0), (1e140, 1.0, 1.0, 1e-60)])
class TestUnitsOfEachTarget:
    """Squares of targets in one unit are no numbers in that of another; each target is told of in its own."""

    def test_evidence_does_not_see_them(self, units):
        parts, Y, _, _ = data()
        K, Y = stack(parts), Y[:, 4:8]
        model, other = (shared(criterion="evidence").fit(K, each) for each in (Y, Y * units))
        np.testing.assert_allclose(other.weights_, model.weights_, atol=1e-6)
        np.testing.assert_allclose(other.cv_loss_ / units / units, model.cv_loss_, rtol=1e-4)
        np.testing.assert_allclose(other.predict(K) / units, model.predict(K), atol=1e-4)
        assert other.objective_ == pytest.approx(model.objective_ * np.prod(np.sqrt(units)), rel=1e-4)

    def test_errors_are_those_of_the_weights(self, units):
        """The weights are those of the target in the largest numbers."""
        parts, Y, _, _ = data()
        K, Y = stack(parts), Y[:, 4:8]
        model = shared().fit(K, Y * units)
        alone = MultipleKernelRidgeCV("precomputed").fit(K, Y[:, np.argmax(units)])
        np.testing.assert_allclose(model.weights_, alone.weights_, atol=1e-3)
        errors = errors_along(np.tensordot(model.weights_, K, 1), Y, model.alpha_, True)
        np.testing.assert_allclose(model.cv_loss_ / units / units, errors.diagonal(), rtol=1e-6)

    def test_beside_fixed_columns(self, units):
        parts, Y, _, _ = data()
        K, Y = stack(parts), Y[:, 4:8]
        model = shared(fixed=[]).fit(K, Y * units)
        errors = ridge_cv(precomputed(K), Y[:, [np.argmax(units)]], Folds.of(5, len(Y), Y)).errors
        loss = model.cv_loss_ / units / units
        assert loss[np.argmax(units)] == pytest.approx(errors[0], rel=0.02)  # the mean is that of generalised squares
        for t in range(4):
            one = shared(fixed=[]).fit(K, np.column_stack([Y[:, t], Y[:, np.argmax(units)] * 1e30]))
            assert loss[t] == pytest.approx(one.cv_loss_[0], rel=1e-3)


def test_targets_without_use_of_kernels_have_their_means():
    parts, Y, new, _ = data()
    Y[:, 3] = 2.0
    Y[:, 4] = 0.0
    K, K_new = stack(parts), stack(new, parts)
    model = shared().fit(K, Y)
    assert np.isfinite(model.alpha_).all()
    np.testing.assert_allclose(model.predict(K_new)[:, 3:5], [[2.0, 0.0]] * len(K_new[0]), atol=1e-12)
    assert model.cv_loss_[3] == model.cv_loss_[4] == 0.0
    assert np.isfinite(model.degrees_of_freedom_).all()


def test_no_kernel_is_of_use():
    """Folds may be an iterator, which is read once."""
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(60, 3)), rng.choice([-1.0, 1.0], size=(60, 4))
    model = MultipleKernelRidgeCV(
        [kernels.Linear().on([j]) for j in range(3)], shared_weights=True, cv=KFold(5).split(X)
    ).fit(X, Y)
    assert model.alpha_.shape == (4,)
    none = MultipleKernelRidgeCV("precomputed", shared_weights=True).fit(np.zeros((2, 60, 60)), Y)
    assert none.alpha_.shape == none.cv_loss_.shape == (4,)
    np.testing.assert_allclose(none.predict(np.zeros((2, 1, 60))), Y.mean(axis=0)[None], atol=1e-12)


def test_deviations_are_those_of_one_target_with_this_kernel():
    parts, Y, new, _ = data()
    Y = Y[:, ::3]
    K, K_new = stack(parts), stack(new, parts)
    model = shared().fit(K, Y)
    values = np.stack([(X**2).sum(axis=1) for X in new])
    mean, deviations = model.predict(K_new, return_std=True, self_values=values)
    weights = model.weights_
    for t, alpha in enumerate(model.alpha_):
        one = mk.AverageMKLRegressor("precomputed", alpha=alpha).fit(np.tensordot(weights, K, 1)[None], Y[:, t])
        known = one.predict(
            np.tensordot(weights, K_new, 1)[None], return_std=True, self_values=(weights @ values)[None]
        )
        np.testing.assert_allclose(mean[:, t], known[0], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(deviations[:, t], known[1], rtol=1e-6)
        assert model.degrees_of_freedom_[t] == pytest.approx(one.degrees_of_freedom_, rel=1e-6)
        assert model.log_evidence_[t] == pytest.approx(one.log_evidence_, rel=1e-6)
    assert model.loo_residuals_.shape == Y.shape


def test_few_features_give_what_their_matrices_give(tmp_path):
    parts, Y, new, _ = data(n=400, t=6, n_new=20, sizes=(2, 3, 4))
    views = {"a": parts[0], "b": parts[1], "c": parts[2]}
    of_new = {"a": new[0], "b": new[1], "c": new[2]}
    linear = {name: [kernels.Linear()] for name in views}
    model = MultipleKernelRidgeCV(linear, shared_weights=True, tol=1e-8).fit(views, Y)
    matrices = shared(tol=1e-8).fit(stack(parts), Y)
    np.testing.assert_allclose(model.weights_, matrices.weights_, atol=1e-3)
    np.testing.assert_allclose(model.cv_loss_, matrices.cv_loss_, rtol=1e-6)
    mean, deviations = model.predict(of_new, return_std=True)
    np.testing.assert_allclose(mean, matrices.predict(stack(new, parts)), atol=1e-3)
    assert deviations.shape == (20, 6)
    mk.save(model, tmp_path / "model.mk")
    again = mk.load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.alpha_, model.alpha_)
    np.testing.assert_array_equal(again.predict(of_new, return_std=True)[1], deviations)


def test_weights_that_stopped_early_are_told():
    parts, Y, _, _ = data()
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        model = shared(max_iter=1, tol=1e-3).fit(stack(parts), Y)
    assert model.stationarity_ > 1e-3
    assert np.isfinite(model.predict(stack(parts))).all()


def test_a_search_over_a_bank():
    parts, Y, _, _ = data(t=3)
    search = mk.BankSearchCV(shared(), {"cv": [3, 5]}, cv=3).fit(stack(parts), Y)
    assert search.best_estimator_.alpha_.shape == (3,)
