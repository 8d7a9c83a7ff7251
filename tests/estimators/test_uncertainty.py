"""Standard deviations, intervals, degrees of freedom and criteria of models with squared losses."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.preprocessing import scale

import multikernel as mk
from multikernel import kernels
from multikernel.estimators import posterior

DATA = load_diabetes(return_X_y=True)
X, Y = scale(DATA[0])[:, :5], DATA[1] / 50.0
TRAIN, NEW = slice(0, 70), slice(70, 90)
FAMILY = kernels.Kernels((kernels.RBF(0.02), kernels.RBF(0.2), kernels.Polynomial(2).normalized()))
FORMS = [
    mk.AverageMKLRegressor(FAMILY, alpha=0.3),
    mk.AverageMKLRegressor([kernel.centered() for kernel in FAMILY], alpha=0.3),
    mk.AlignmentMKLRegressor(FAMILY, alpha=0.3, fit_intercept=False),
    mk.BestKernelRegressor(FAMILY, alpha=0.3),
    mk.ProportionalMKLRegressor(FAMILY, alpha=0.3),
    mk.RLS2Regressor(FAMILY, alpha=1e-2),
    mk.LinearRLS2Regressor(alpha=0.01),
    mk.PolynomialMKLRegressor(FAMILY, alpha=0.1),
    mk.PolynomialMKLRegressor(FAMILY, alpha=0.1, degree=1, penalty=0.3),
    mk.MultipleKernelRidgeCV(FAMILY),
    mk.GMKLRegressor(FAMILY, alpha=0.1),
    mk.GMKLRegressor(combination="rbf_product", alpha=0.1, penalty=1.0),
    mk.HKLRegressor(C=1.0, tol=1e-8),
    mk.LearnedScalesRegressor(max_iter=3),
]


def of(model: Any) -> str:
    return type(model).__name__


def matrices(A: Any, B: Any) -> Any:
    return np.stack([kernel(A, B) for kernel in FAMILY])


def self_values(A: Any) -> Any:
    return np.stack([kernel.diagonal(A) for kernel in FAMILY])


@pytest.mark.parametrize("intercept", [False, True])
def test_one_kernel_is_the_gaussian_process_of_scikit_learn(intercept: bool) -> None:
    """Its intercept is known to a Gaussian process, and an estimate here, whose variance is added."""
    model = mk.AverageMKLRegressor([kernels.RBF(0.05)], alpha=0.3, fit_intercept=intercept).fit(X[TRAIN], Y[TRAIN])
    mean, deviation = model.predict(X[NEW], return_std=True)
    z, n = Y[TRAIN] - model.intercept_, 70

    def process(scale: float) -> Any:
        kernel = ConstantKernel(scale) * RBF(np.sqrt(10.0)) + WhiteKernel(0.3 * scale)
        return GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X[TRAIN], z)

    there = process(model.kernel_scale_)
    expected, known = there.predict(X[NEW], return_std=True)
    np.testing.assert_allclose(mean, expected + model.intercept_, rtol=1e-10)
    K = kernels.RBF(0.05)(X[TRAIN])
    S, a = K + 0.3 * np.eye(n), np.full(n, 1.0 / n)
    H = np.linalg.inv(S)
    of_mean = (1.0 - kernels.RBF(0.05)(X[NEW], X[TRAIN]) @ H.sum(axis=1)) ** 2 * (a @ S @ a) if intercept else 0.0
    np.testing.assert_allclose(deviation**2, known**2 + model.kernel_scale_ * of_mean, rtol=1e-10)
    assert model.noise_variance_ == pytest.approx(0.3 * model.kernel_scale_)
    assert model.log_evidence_ == pytest.approx(process(z @ H @ z / n).log_marginal_likelihood_value_, rel=1e-10)


def learned_kernel(model: Any) -> Any:
    """Between all samples; centred kernels have the mean of the training samples."""
    A = X[:90]
    if not any(isinstance(kernel, type(FAMILY[0].centered())) for kernel in model.kernels or ()):
        return model.kernel_matrix(A)
    P = np.eye(90)
    P[:, TRAIN] -= 1.0 / 70
    return P @ np.tensordot(model.weights_, matrices(A, A), 1) @ P.T


@pytest.mark.parametrize("model", FORMS, ids=of)
def test_every_model_is_ridge_regression_with_its_kernel(model: Any, tmp_path: Any) -> None:
    model.fit(X[TRAIN], Y[TRAIN])
    mean, deviation = model.predict(X[NEW], return_std=True)
    lower, upper = model.predict_interval(X[NEW], 0.8)
    np.testing.assert_allclose(lower + upper, 2.0 * mean)
    mk.save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(mk.load(tmp_path / "model.mk").predict(X[NEW], return_std=True)[1], deviation)

    K, alpha = learned_kernel(model), model._posterior.posed[0].alpha
    S, cross = K[TRAIN, TRAIN] + alpha * np.eye(70), K[NEW, TRAIN]
    H, a = np.linalg.inv(S), np.full(70, 1.0 / 70) if getattr(model, "fit_intercept", True) else np.zeros(70)
    P = np.eye(70) - a
    z = P @ Y[TRAIN]
    assert model.degrees_of_freedom_ == pytest.approx(np.trace(K[TRAIN, TRAIN] @ H), rel=1e-6)
    scale, noise = model.kernel_scale_, model.noise_variance_
    if noise == pytest.approx(alpha * scale):  # unless targets contradict that, as those of one model here
        expected = z @ H @ z / np.trace(P.T @ H @ P @ S)
        np.testing.assert_allclose(scale, expected, rtol=1e-3)  # of the coefficients, to the model's tolerance
    W = cross @ H @ P + a
    error = np.diagonal(K)[NEW] - 2.0 * (W * cross).sum(axis=1) + ((W @ K[TRAIN, TRAIN]) * W).sum(axis=1)
    np.testing.assert_allclose(deviation**2, scale * error + noise * (1.0 + (W**2).sum(axis=1)), rtol=1e-6)
    left_out = []
    for i in range(70):
        rest = np.delete(np.arange(70), i)
        m = Y[rest].mean() if a.any() else 0.0
        left_out.append(Y[i] - m - K[i, rest] @ np.linalg.solve(S[np.ix_(rest, rest)], Y[rest] - m))
    np.testing.assert_allclose(model.loo_residuals_, left_out, atol=2e-2 * np.std(Y))
    assert model.fit_criterion("loo") == pytest.approx(np.mean(np.square(left_out)), rel=1e-2)


def test_samples_banks_matrices_and_views_know_the_same() -> None:
    model = mk.AverageMKLRegressor(FAMILY, alpha=0.3)
    known = model.fit(X[TRAIN], Y[TRAIN]).predict(X[NEW], return_std=True)[1]
    bank, rows = mk.bind(FAMILY, X[:90]), np.arange(90)
    parts = bank[rows[TRAIN]], bank[rows[NEW]]
    np.testing.assert_allclose(model.fit(parts[0], Y[TRAIN]).predict(parts[1], return_std=True)[1], known, rtol=1e-10)
    of_samples = model.fit(mk.bind(FAMILY, X[TRAIN]), Y[TRAIN])
    np.testing.assert_allclose(of_samples.predict(X[NEW], return_std=True)[1], known, rtol=1e-10)
    views = [{"all": A} for A in (X[TRAIN], X[NEW])]
    np.testing.assert_allclose(model.fit(views[0], Y[TRAIN]).predict(views[1], return_std=True)[1], known, rtol=1e-10)
    given = mk.AverageMKLRegressor("precomputed", alpha=0.3).fit(matrices(X[TRAIN], X[TRAIN]), Y[TRAIN])
    new = matrices(X[NEW], X[TRAIN])
    there = given.predict(new, return_std=True, self_values=self_values(X[NEW]))[1]
    np.testing.assert_allclose(there, known, rtol=1e-10)
    with pytest.raises(ValueError, match=r"pass self_values, shape \(3, 20\)"):
        given.predict(new, return_std=True)
    samples = mk.LinearRLS2Regressor(alpha=0.01).fit(X[TRAIN, :3], Y[TRAIN])  # which needs none
    for wrong in (np.ones((2, 20)), np.ones((3, 19)), np.ones((3, 21)), np.ones(3), -np.ones((3, 20))):
        for fitted, at in ((given, new), (samples, X[NEW, :3])):
            with pytest.raises(ValueError, match=r"self_values must be finite numbers >= 0 of shape \(3, 20\)"):
                fitted.predict(at, return_std=True, self_values=wrong)
    with pytest.raises(ValueError, match="self_values holds strings"):
        given.predict(new, return_std=True, self_values=[["a"] * 20] * 3)


def test_models_of_a_path_share_the_training_samples_of_their_deviations() -> None:
    found = mk.path(mk.AverageMKLRegressor(FAMILY), X[TRAIN], Y[TRAIN], "alpha", [0.1, 1.0]).models
    assert all(model._posterior.predictor.reference is found[0].predictor_.reference for model in found)
    for model in found:
        alone = mk.AverageMKLRegressor(FAMILY, alpha=model.alpha).fit(X[TRAIN], Y[TRAIN])
        known = alone.predict(X[NEW], return_std=True)[1]
        np.testing.assert_allclose(model.predict(X[NEW], return_std=True)[1], known, rtol=1e-9)


@pytest.mark.parametrize("method", ["nystroem", "fourier"])
def test_approximate_kernels_have_deviations_of_their_own(method: str) -> None:
    """Those of ridge regression with the kernel of the features, from samples and from matrices."""
    family = kernels.Kernels((kernels.RBF(0.02), kernels.RBF(0.2)))
    model = mk.RLS2Regressor(family, alpha=0.01, approximation=method, rank=20).fit(X[TRAIN], Y[TRAIN])
    known, K = model.predict(X[NEW], return_std=True)[1], model.kernel_matrix(X[:90])
    given = mk.AverageMKLRegressor("precomputed", alpha=0.01).fit(K[None, TRAIN, TRAIN], Y[TRAIN])
    own = np.diagonal(K)[None, NEW]
    there = given.predict(K[None, NEW, TRAIN], return_std=True, self_values=own)[1]
    np.testing.assert_allclose(known, there, rtol=1e-6)
    assert model.degrees_of_freedom_ == pytest.approx(given.degrees_of_freedom_, rel=1e-6)
    if method == "nystroem":
        across = [np.stack([kernel(A, X[TRAIN]) for kernel in family]) for A in (X[TRAIN], X[NEW])]
        of_matrices = mk.RLS2Regressor("precomputed", alpha=0.01, approximation=method, rank=20)
        of_matrices.fit(across[0], Y[TRAIN])
        np.testing.assert_allclose(of_matrices.predict(across[1], return_std=True)[1], known, rtol=1e-5)


def test_weights_of_samples_and_several_targets() -> None:
    count = np.tile([0, 1, 2, 1, 3, 1, 1], 10)
    rows, targets = np.repeat(np.arange(70), count), np.column_stack([Y[TRAIN], X[TRAIN, 0] + 0.1 * Y[TRAIN]])
    for each in (
        mk.AverageMKLRegressor(FAMILY, alpha=0.3),
        mk.RLS2Regressor(FAMILY, alpha=0.1, scaling="none", tol=1e-9),
    ):
        weighed = each.fit(X[TRAIN], Y[TRAIN], sample_weight=count)
        told = (*weighed.predict(X[NEW], return_std=True), weighed.fit_criterion("bic"), weighed.log_evidence_)
        assert np.array_equal(np.isnan(weighed.loo_residuals_), count == 0)
        twice = each.fit(X[rows], Y[rows])
        again = (*twice.predict(X[NEW], return_std=True), twice.fit_criterion("bic"), twice.log_evidence_)
        for one, other in zip(told, again, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    both = mk.AverageMKLRegressor(FAMILY, alpha=0.3).fit(X[TRAIN], targets)
    apart = [mk.AverageMKLRegressor(FAMILY, alpha=0.3).fit(X[TRAIN], y) for y in targets.T]
    deviation = np.column_stack([model.predict(X[NEW], return_std=True)[1] for model in apart])
    np.testing.assert_allclose(both.predict(X[NEW], return_std=True)[1], deviation)
    np.testing.assert_allclose(both.fit_criterion("gcv"), [model.fit_criterion("gcv") for model in apart])
    assert mk.MultipleKernelRidgeCV(FAMILY).fit(X[TRAIN], targets).predict_interval(X[NEW])[0].shape == (20, 2)


def test_each_target_has_a_noise_of_its_own() -> None:
    targets, noise = np.column_stack([Y[TRAIN], X[TRAIN, 0] + 0.1 * Y[TRAIN]]), np.array([0.3, 0.7])
    for model in (mk.MultipleKernelRidgeCV(FAMILY), mk.AverageMKLRegressor(FAMILY, alpha=0.3)):
        model.fit(X[TRAIN], targets)
        alone = [model.fit_criterion("aic", noise_variance=each)[t] for t, each in enumerate(noise)]
        np.testing.assert_allclose(model.fit_criterion("aic", noise_variance=noise), alone)
        for wrong in (np.ones(3), -1.0, np.nan):
            with pytest.raises(ValueError, match="noise_variance must be a finite number >= 0, or 2 of them"):
                model.fit_criterion("aic", noise_variance=wrong)


def test_intervals_hold_their_part_of_noise_that_is_not_gaussian() -> None:
    """Exponential noise, on average over samples: Gaussian intervals of half of it would hold two thirds."""
    rng, found = np.random.default_rng(0), []
    for _ in range(40):
        A = rng.normal(size=(160, 2))
        y = np.sin(A[:, 0]) + rng.exponential(size=160)
        model = mk.AverageMKLRegressor([kernels.RBF(0.1)], alpha=1.0).fit(A[:80], y[:80])
        ends = [model.predict_interval(A[80:], coverage) for coverage in (0.5, 0.8, 0.95)]
        found.append([np.mean((lower <= y[80:]) & (y[80:] <= upper)) for lower, upper in ends])
    np.testing.assert_allclose(np.mean(found, axis=0), [0.5, 0.8, 0.95], atol=0.02)
    with pytest.raises(ValueError, match="coverage must be a number in"):
        model.predict_interval(A, 1.0)


def test_classifiers_have_degrees_of_freedom() -> None:
    labels = np.digitize(Y[TRAIN], [2.0, 3.5])
    model = mk.RLS2Classifier(FAMILY, alpha=0.1).fit(X[TRAIN], labels)
    assert model.degrees_of_freedom_.shape == (3,)
    assert model.fit_criterion("gcv").shape == (3,)
    with pytest.raises(ValueError, match="fit_criterion: name must be 'cp', 'aic', 'bic', 'gcv', 'loo' or 'evidence'"):
        model.fit_criterion("fpe")


class TestVanishingRidges:
    """Beside a kernel of rank four the ridge of a target may be next to nothing; its residuals are not."""

    @staticmethod
    def rank_four(seed: int = 0, t: int = 3, noise: float = 0.5) -> tuple[Any, Any, Any]:
        """Two matrices, the features, and targets."""
        rng = np.random.default_rng(seed)
        Z = rng.normal(size=(60, 4))
        K = np.stack([Z[:, :2] @ Z[:, :2].T, Z[:, 2:] @ Z[:, 2:].T])
        return K, Z, Z @ rng.normal(size=(4, t)) + noise * rng.normal(size=(60, t))

    @pytest.mark.parametrize("alpha", [1e-3, 1e-9])
    @pytest.mark.parametrize("intercept", [False, True])
    def test_noise_is_that_of_least_squares(self, alpha: float, intercept: bool) -> None:
        """Over the samples that the features leave, not over all of them."""
        K, Z, T = self.rank_four()
        columns = np.column_stack([Z, np.ones(60)]) if intercept else Z
        squares = np.linalg.lstsq(columns, T)[1]
        model = mk.AverageMKLRegressor("precomputed", alpha=alpha, fit_intercept=intercept).fit(K, T)
        np.testing.assert_allclose(model.noise_variance_, squares / (60 - columns.shape[1]), rtol=1e-3)

    @pytest.mark.parametrize("parameters", [{}, {"shared_weights": True}])
    def test_of_many_targets(self, parameters: Any) -> None:
        """The error of some falls, by next to nothing, as long as the ridge does."""
        K, Z, T = self.rank_four(seed=1, t=8, noise=0.2)
        model = mk.MultipleKernelRidgeCV("precomputed", fit_intercept=False, tol=1e-6, **parameters).fit(K, T)
        squares = np.linalg.lstsq(Z, T)[1]
        least = model.alpha_ < 1e-5
        assert least.sum() == 4
        np.testing.assert_allclose(model.residual_variance_, squares / 56, rtol=1e-2)
        np.testing.assert_allclose(model.noise_variance_[least], squares[least] / 56, rtol=1e-2)

    @pytest.mark.parametrize("rank", [3, 20, 36])
    @pytest.mark.parametrize("alpha", [1e-2, 1e-5, 1e-8, 1e-15])
    @pytest.mark.parametrize("intercept", [False, True])
    def test_deviations_are_those_of_the_errors(self, rank: int, alpha: float, intercept: bool) -> None:
        """Of simulated linear functions with noise, whatever the ridge, the rank and the mean."""
        rng = np.random.default_rng(rank)
        A = rng.normal(size=(40 + 300, rank))
        values = A @ rng.normal(size=(rank, 30)) + 0.7 * rng.normal(size=(len(A), 30)) + 5.0 * intercept
        model = mk.AverageMKLRegressor([kernels.Linear()], alpha=alpha, fit_intercept=intercept)
        model.fit(A[:40], values[:40])
        with contextlib.ExitStack() as stack:
            if alpha < 1e-12:
                stack.enter_context(pytest.warns(UserWarning, match="beside which rounding hides a smaller one"))
            mean, deviation = model.predict(A[40:], return_std=True)
            lower, upper = model.predict_interval(A[40:], 0.8)
        ratio = np.sqrt(((values[40:] - mean) ** 2).mean() / (deviation**2).mean())
        assert 0.7 < ratio < 1.4
        inside = ((lower <= values[40:]) & (values[40:] <= upper)).mean()
        assert 0.65 < inside < 0.9

    def test_one_feature_that_has_a_mean(self) -> None:
        """Its size alone tells little of the ratio; the mean of the targets has a part of the function."""
        rng = np.random.default_rng(0)
        A = 3.0 + rng.normal(size=(60, 1))
        T = A + 0.5 * rng.normal(size=(60, 5))
        for alpha in (1e-2, 1e-6):
            with pytest.warns(mk.PredictionWarning, match="whose means are 3.4 times their standard deviations"):
                model = mk.AverageMKLRegressor([kernels.Linear()], alpha=alpha).fit(A, T)
            squares = np.linalg.lstsq(np.column_stack([A, np.ones(60)]), T)[1]
            np.testing.assert_allclose(model.noise_variance_, squares / 58, rtol=0.05)

    @pytest.mark.parametrize("fixed", [None, []])
    def test_almost_no_noise_leaves_the_ridge_open(self, fixed: Any) -> None:
        """Held-out errors hardly follow a small ridge: it tells nothing of noise, and residuals do."""
        K, Z, T = self.rank_four(t=8, noise=3e-5)
        model = mk.MultipleKernelRidgeCV("precomputed", fixed=fixed, tol=1e-2).fit(K, T)
        squares = np.linalg.lstsq(np.column_stack([Z, np.ones(60)]), T)[1]
        np.testing.assert_allclose(model.noise_variance_, squares / 55, rtol=0.3)

    def test_a_function_that_fits_all_samples_tells_nothing_of_noise(self) -> None:
        rng = np.random.default_rng(0)
        A, y = rng.normal(size=(20, 30)), rng.normal(size=20)
        model = mk.AverageMKLRegressor([kernels.Linear()], alpha=1e-9).fit(A, y)
        with pytest.warns(UserWarning, match="fits all samples, so that nothing tells of noise"):
            _ = model.noise_variance_
        with pytest.warns(UserWarning, match="fits all samples, so that nothing tells of noise"):
            model.predict(A[:3], return_std=True)

    def test_no_solution_leaves_all_of_the_targets(self) -> None:
        """A ridge so small beside a smooth kernel that rounding leaves nothing: the predictor is the mean."""
        rng = np.random.default_rng(0)
        A, y = rng.normal(size=(60, 3)), rng.normal(size=60)
        with warnings.catch_warnings(action="ignore"):
            model = mk.AverageMKLRegressor([kernels.RBF(1e-3)], alpha=1e-16).fit(A, y)
        assert not model.dual_coef_.any()
        with pytest.warns(UserWarning, match="rounding hides"):
            assert model.target_variance_ == pytest.approx(np.var(y))


def test_smoothers_are_kept_where_memory_holds_their_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def make(index: int) -> int:
        made.append(index)
        return index

    monkeypatch.setattr(posterior, "MEMORY", 8 * 3 * 10**2)
    for order, times in ((10, 1), (11, 2)):
        made.clear()
        smoothers = posterior._Smoothers(make, 3, order)
        assert [smoothers[1], smoothers[1]] == [1, 1]
        assert made == [1] * times
