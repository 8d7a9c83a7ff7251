"""The estimator against scikit-learn's own cross-validation, and its shapes for one target and several."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, LeaveOneOut

from multikernel import MultipleKernelRidgeCV, bind, kernels, precomputed

FAMILY = [kernels.RBF(gamma).on([j]) for j in range(6) for gamma in (0.3, 3.0)]


def data(n=90, t=None):
    X, y = make_friedman1(n, 6, noise=0.3, random_state=0)
    return X, y if t is None else np.stack([y, X[:, 5] ** 2 + 0.1 * y, np.cos(4.0 * X[:, 0]) + 0.1 * y], axis=1)[:, :t]


def held_out(model, K, y, splitter, fit_intercept=True):
    """Predictions of scikit-learn's ridge, trained anew for each fold."""
    predicted = np.empty_like(y)
    for train, test in splitter.split(K):
        mean = y[train].mean(axis=0) if fit_intercept else 0.0
        ridge = KernelRidge(alpha=model.alpha_, kernel="precomputed").fit(K[np.ix_(train, train)], y[train] - mean)
        predicted[test] = ridge.predict(K[np.ix_(test, train)]) + mean
    return predicted


@pytest.mark.parametrize(("cv", "splitter"), [(5, KFold(5)), (KFold(7), KFold(7)), ("loo", LeaveOneOut())])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_loss_is_that_of_scikit_learn_at_the_weights_found(cv, splitter, fit_intercept):
    X, y = data()
    model = MultipleKernelRidgeCV(FAMILY, cv=cv, fit_intercept=fit_intercept).fit(X, y)
    K = bind(FAMILY, X).combine(model.weights_).dense()
    predicted = held_out(model, K, y, splitter, fit_intercept)
    assert model.cv_loss_ == pytest.approx(((y - predicted) ** 2).mean(), rel=1e-7)
    assert model.objective_ == model.cv_loss_
    mean = y.mean() if fit_intercept else 0.0
    ridge = KernelRidge(alpha=model.alpha_, kernel="precomputed").fit(K, y - mean)
    np.testing.assert_allclose(model.predict(X), ridge.predict(K) + mean, rtol=1e-7)
    assert model.weights_.sum() == pytest.approx(1.0)
    assert model.stationarity_ <= 1e-4
    assert model.converged_


def test_beats_equal_weights_on_new_samples():
    X = make_friedman1(400, 6, random_state=0)[0]
    y = np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * np.random.default_rng(0).normal(size=400)
    train, test = np.arange(80), np.arange(80, 400)
    model = MultipleKernelRidgeCV(FAMILY).fit(X[train], y[train])
    only = MultipleKernelRidgeCV([sum(FAMILY[1:], FAMILY[0])]).fit(X[train], y[train])
    assert model.cv_loss_ < only.cv_loss_
    assert model.score(X[test], y[test]) > only.score(X[test], y[test])


def test_a_bank_and_matrices_give_what_samples_give():
    X, y = data()
    bank = bind(FAMILY, X)
    of_samples = MultipleKernelRidgeCV(FAMILY).fit(X, y)
    of_bank = MultipleKernelRidgeCV(FAMILY).fit(bank, y)
    of_matrices = MultipleKernelRidgeCV("precomputed").fit(bank.matrices(), y)
    for other in (of_bank, of_matrices):
        np.testing.assert_allclose(other.weights_, of_samples.weights_, atol=1e-8)
        assert other.alpha_ == pytest.approx(of_samples.alpha_)
    np.testing.assert_allclose(of_matrices.predict(bank.matrices()[:, :5]), of_samples.predict(X[:5]), rtol=1e-7)


def test_targets_have_weights_of_their_own():
    X, Y = data(t=3)
    model = MultipleKernelRidgeCV(FAMILY).fit(X, Y)
    assert model.weights_.shape == (3, 12)
    assert model.dual_coef_.shape == (3, 90)
    assert model.alpha_.shape == model.cv_loss_.shape == model.intercept_.shape == (3,)
    for t in range(3):
        single = MultipleKernelRidgeCV(FAMILY).fit(X, Y[:, t])
        np.testing.assert_allclose(model.weights_[t], single.weights_, atol=5e-2)
        assert model.cv_loss_[t] == pytest.approx(single.cv_loss_, rel=1e-4)
        np.testing.assert_allclose(model.predict(X)[:, t], single.predict(X), atol=2e-2)
    threaded = MultipleKernelRidgeCV(FAMILY, n_jobs=2).fit(X, Y)
    assert threaded.cv_loss_ == pytest.approx(model.cv_loss_, rel=1e-4)


def test_targets_that_share_weights():
    X, Y = data(t=3)
    own = MultipleKernelRidgeCV(FAMILY).fit(X, Y)
    shared = MultipleKernelRidgeCV(FAMILY, shared_weights=True).fit(X, Y)
    assert shared.weights_.shape == (12,)
    assert shared.cv_loss_.shape == (3,)
    assert shared.alpha_.shape == (3,)
    assert shared.objective_ >= shared.cv_loss_.sum() >= own.objective_.sum() * (1.0 - 1e-3)
    assert shared.predict(X).shape == (90, 3)
    K = bind(FAMILY, X).combine(shared.weights_).dense()
    errors = ((Y - held_out(shared, K, Y, KFold(5))) ** 2).mean(axis=0)
    np.testing.assert_allclose(shared.cv_loss_, errors, rtol=1e-7)


def test_one_column_of_targets():
    X, Y = data(t=1)
    model = MultipleKernelRidgeCV(FAMILY).fit(X, Y)
    assert model.weights_.shape == (1, 12)
    assert model.predict(X).shape == (90, 1)


def test_starts_and_folds_follow_their_seeds():
    X, y = data()
    first, again = (MultipleKernelRidgeCV(FAMILY, n_init=3, random_state=4).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.weights_, again.weights_)
    assert first.cv_loss_ <= MultipleKernelRidgeCV(FAMILY).fit(X, y).cv_loss_
    shuffled = MultipleKernelRidgeCV(FAMILY, cv=KFold(5, shuffle=True, random_state=0)).fit(X, y)
    assert shuffled.cv_loss_ != first.cv_loss_


def test_constant_predictor_where_no_kernel_is_of_use():
    rng = np.random.default_rng(0)
    y = rng.normal(size=20)
    model = MultipleKernelRidgeCV("precomputed").fit(np.zeros((2, 20, 20)), y)
    np.testing.assert_array_equal(model.weights_, 0.0)
    np.testing.assert_allclose(model.predict(np.zeros((2, 3, 20))), y.mean())


def test_centred_and_single_precision_banks():
    X, y = data()
    single = MultipleKernelRidgeCV(FAMILY, n_init=1).fit(X.astype(np.float32), y)
    double = MultipleKernelRidgeCV(FAMILY, n_init=1).fit(X.astype(np.float32).astype(float), y)
    assert single.cv_loss_ == pytest.approx(double.cv_loss_, rel=1e-3)
    centred = MultipleKernelRidgeCV("precomputed").fit(precomputed(bind(FAMILY, X).centered().matrices()), y)
    of_bank = MultipleKernelRidgeCV(FAMILY).fit(bind(FAMILY, X).centered(), y)
    assert of_bank.cv_loss_ == pytest.approx(centred.cv_loss_, rel=1e-6)


def test_says_when_it_stopped_early():
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="stationarity"):
        model = MultipleKernelRidgeCV(FAMILY, tol=1e-14, max_iter=1, n_init=1).fit(X, y)
    assert not model.converged_
    assert len(model.history_[0]) == 2


@pytest.mark.parametrize(
    "parameters", [{"tol": 0.0}, {"max_iter": 0}, {"n_init": 0}, {"cv": "leave"}, {"cv": 1}, {"cv": 91}]
)
def test_refusals(parameters):
    X, y = data()
    with pytest.raises(ValueError, match=r".+"):
        MultipleKernelRidgeCV(FAMILY, **parameters).fit(X, y)


def error_of_ridge(X, y, alpha):
    """The mean squared error of five folds of consecutive samples, of least squares with a ridge, fold by fold."""
    squares = 0.0
    for held in np.array_split(np.arange(len(y)), 5):
        rest = np.setdiff1d(np.arange(len(y)), held)
        mean = y[rest].mean()
        coef = np.linalg.solve(X[rest].T @ X[rest] + alpha * np.eye(X.shape[1]), X[rest].T @ (y[rest] - mean))
        squares += float(((y[held] - mean - X[held] @ coef) ** 2).sum())
    return squares / len(y)


def restricted(X, y, fixed, alpha):
    """(z'S^-1 z / (n - p)) det(S)^(1 / (n - p)) of the contrasts that no column of ``fixed`` changes."""
    contrasts = np.linalg.svd(fixed)[0][:, fixed.shape[1] :]
    z = contrasts.T @ y
    F = contrasts.T @ X
    S = F @ F.T / alpha + np.eye(len(z))
    return float(z @ np.linalg.solve(S, z)) / len(z) * float(np.exp(np.linalg.slogdet(S)[1] / len(z)))


@pytest.mark.parametrize("seed", [2, 3])
def test_a_target_without_noise_is_stationary_at_a_small_ridge(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    y = X @ rng.normal(size=2)
    model = MultipleKernelRidgeCV([kernels.Linear()]).fit(X, y)
    assert model.converged_
    np.testing.assert_allclose(model.cv_loss_, error_of_ridge(X, y, model.alpha_), rtol=1e-6)
    for times in (1.01, 2.0, 10.0, 1e3, 1e6, 1e9):
        assert error_of_ridge(X, y, times * model.alpha_) >= model.cv_loss_ * (1.0 - 1e-6)
    left = model.cv_loss_ - error_of_ridge(X, y, 1e-3 * model.alpha_)
    assert left <= (model.stationarity_ + 1e-6) * model.cv_loss_


@pytest.mark.parametrize("seed", [0, 2])
def test_the_restricted_evidence_without_noise_is_stationary_too(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3))
    y = X @ rng.normal(size=3)
    model = MultipleKernelRidgeCV([kernels.Linear()], fixed=[0], criterion="evidence").fit(X, y)
    assert model.converged_
    fixed = np.c_[np.ones(30), X[:, 0]]
    np.testing.assert_allclose(model.objective_, restricted(X[:, 1:], y, fixed, model.alpha_), rtol=1e-4)
    for times in (2.0, 10.0, 1e3, 1e6):
        assert restricted(X[:, 1:], y, fixed, times * model.alpha_) > model.objective_
