"""The held-out error against refitted folds and finite differences; its minimisers against what is known of them."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, LeaveOneOut, PredefinedSplit, RepeatedKFold, ShuffleSplit

from multikernel import KernelBank, bind, kernels, precomputed
from multikernel._workers import limited
from multikernel.procedures.ridge_cv import (
    Folds,
    HeldOutError,
    Point,
    TargetSearch,
    in_features,
    ridge_cv,
    ridge_cv_each,
)
from multikernel.procedures.ridge_cv.gauss_newton import descend

Array = Any
SPLITS = {
    "five": 5,
    "uneven": KFold(4, shuffle=True, random_state=1),
    "groups": PredefinedSplit(np.array([0, 1, 1, 0, 2, 2, 2, 2, 1, 0, 2] * 3)),
    "many": KFold(14),
    "one each": "loo",
}


def problem(n: int = 33, m: int = 4, t: int = 1, seed: int = 0) -> tuple[Array, KernelBank, Array]:
    """Gaussians on single features, targets that follow the first and the last."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, m))
    K = np.stack([rbf_kernel(X[:, [j]], gamma=1.0) for j in range(m)])
    signals = np.stack([np.sin(2.0 * X[:, 0]) + 0.5 * s * X[:, -1] ** 2 for s in range(1, t + 1)], axis=1)
    return K, precomputed(K), signals + 0.2 * rng.normal(size=(n, t)) + 3.0


def residuals(K: Array, Y: Array, v: Array, folds: Folds, fit_intercept: bool) -> Array:
    """Of a machine that is trained anew for each fold."""
    R, total = np.empty_like(Y), np.tensordot(v, K, 1)
    for V in folds.tests():
        T = np.setdiff1d(np.arange(len(Y)), V)
        mean = Y[T].mean(axis=0) if fit_intercept else 0.0
        A = np.linalg.solve(total[np.ix_(T, T)] + np.eye(len(T)), Y[T] - mean)
        R[V] = Y[V] - mean - total[np.ix_(V, T)] @ A
    return R


def differences(f: Any, v: Array, step: float = 1e-5) -> Array:
    return np.stack([(f(v + step * e) - f(v - step * e)) / (2.0 * step) for e in np.eye(len(v))], axis=-1)


def at(error: HeldOutError, v: Array) -> Point:
    point = error.at(v)
    assert point is not None
    return point


@pytest.mark.parametrize("cv", SPLITS.values(), ids=SPLITS)
@pytest.mark.parametrize(("fit_intercept", "t"), [(True, 1), (False, 3), (True, 3)])
class TestError:
    def test_value_is_that_of_refitted_folds(self, cv, fit_intercept, t):
        K, bank, Y = problem(t=t)
        error = HeldOutError(bank, Y, Folds.of(cv, len(Y), Y), fit_intercept)
        for v in (np.array([3.0, 0.0, 0.2, 10.0]), np.zeros(4)):
            expected = residuals(K, Y, v, error.folds, fit_intercept)
            np.testing.assert_allclose(at(error, v).evaluation.values, expected, rtol=1e-9, atol=1e-10)
            np.testing.assert_allclose(at(error, v).errors, (expected**2).mean(axis=0), rtol=1e-10)
        assert error.constant() == pytest.approx(at(error, np.zeros(4)).value, rel=1e-12)

    def test_derivatives_are_finite_differences(self, cv, fit_intercept, t):
        K, bank, Y = problem(t=t)
        error = HeldOutError(bank, Y, Folds.of(cv, len(Y), Y), fit_intercept)
        v = np.array([3.0, 0.1, 0.2, 10.0])
        point = at(error, v)
        model = error.model(point)
        curvature, slope = model.curvature, model.slope
        expected = differences(lambda w: at(error, w).value, v)
        np.testing.assert_allclose(2.0 * slope, expected, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(error.gradient(point), expected, rtol=1e-6, atol=1e-9)
        few = error.folds.merged(10)
        J = differences(lambda w: residuals(K, Y, w, few, fit_intercept), v).reshape(-1, len(v))
        np.testing.assert_allclose(curvature, J.T @ J / len(Y), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("cv", [5, "loo"])
@pytest.mark.parametrize("seed", range(2))
def test_never_worse_than_equal_weights_and_stationary(cv, seed):
    _, bank, Y = problem(n=45, m=8, seed=seed)
    error = HeldOutError(bank, Y, Folds.of(cv, len(Y), Y))
    found = ridge_cv(bank, Y, error.folds, tol=1e-8)
    equal = min(at(error, np.full(8, c)).value for c in np.geomspace(1e-4, 1e4, 41))
    assert found.objective <= equal
    assert found.converged
    assert found.values.sum() == pytest.approx(1.0)
    v = found.values / found.alpha
    gradient = error.gradient(at(error, v)) / found.objective
    assert (np.abs(gradient * v) < 1e-3).all()
    assert (gradient > -1e-3).all()


def test_finds_the_kernels_that_matter():
    _, bank, Y = problem(n=150, m=8)
    weights = ridge_cv(bank, Y, Folds.of(5, 150, Y)).values
    assert weights[[0, -1]].sum() > 0.9
    assert (weights == 0.0).sum() >= 2


def test_one_kernel_gets_the_best_ridge():
    _, bank, Y = problem(m=1)
    error = HeldOutError(bank, Y, Folds.of(4, len(Y), Y))
    best = minimize_scalar(lambda c: at(error, np.exp([c])).value, bounds=(-5.0, 8.0), method="bounded")
    found = ridge_cv(bank, Y, error.folds, tol=1e-10)
    assert found.values == pytest.approx([1.0])
    assert found.objective == pytest.approx(best.fun, rel=1e-7)
    assert found.alpha == pytest.approx(np.exp(-best.x), rel=1e-3)


def test_kernels_times_a_constant_change_the_ridge_only():
    K, bank, Y = problem()
    folds = Folds.of(5, len(Y), Y)
    found, other = ridge_cv(bank, Y, folds), ridge_cv(precomputed(1000.0 * K), Y, folds)
    np.testing.assert_allclose(other.values, found.values, rtol=1e-6, atol=1e-9)
    assert other.alpha == pytest.approx(1000.0 * found.alpha, rel=1e-6)
    assert other.errors == pytest.approx(found.errors, rel=1e-9)


def test_targets_times_a_constant_change_nothing():
    _, bank, Y = problem()
    folds = Folds.of("loo", len(Y), Y)
    found, other = ridge_cv(bank, Y, folds), ridge_cv(bank, 1e6 * Y, folds)
    np.testing.assert_allclose(other.values, found.values, rtol=1e-6, atol=1e-9)
    assert other.errors == pytest.approx(1e12 * found.errors, rel=1e-9)


def test_kernels_of_very_different_scale():
    K, bank, Y = problem()
    scales = np.array([1e-4, 1.0, 1e3, 1e6])
    folds = Folds.of(5, len(Y), Y)
    found, other = ridge_cv(bank, Y, folds, tol=1e-8), ridge_cv(precomputed(K * scales[:, None, None]), Y, folds)
    assert other.objective <= found.objective * 1.001


def test_zero_and_duplicate_kernels():
    K, bank, Y = problem()
    folds = Folds.of(5, len(Y), Y)
    more = precomputed(np.concatenate([np.zeros((1, *K.shape[1:])), K, K]))
    found, other = ridge_cv(bank, Y, folds, tol=1e-8), ridge_cv(more, Y, folds, tol=1e-8)
    assert other.values[0] == 0.0
    assert other.objective == pytest.approx(found.objective, rel=1e-5)
    only = ridge_cv(precomputed(np.zeros((2, *K.shape[1:]))), Y, folds)
    assert not only.values.any()
    assert only.converged
    assert only.errors == pytest.approx([HeldOutError(bank, Y, folds).constant()])


def test_useless_kernels_leave_the_constant_predictor():
    """Samples that only know themselves: every weight is worse than none."""
    Y = np.random.default_rng(0).normal(size=(20, 1))
    rng = np.random.default_rng(1)
    bank = precomputed(np.stack([np.diag(rng.uniform(0.5, 1.0, size=20)) for _ in range(3)]))
    folds = Folds.of("loo", 20, Y)
    found = ridge_cv(bank, Y, folds)
    assert found.errors == pytest.approx([HeldOutError(bank, Y, folds).constant()])
    assert found.converged


def test_no_weights_at_all_are_no_trap():
    _, bank, Y = problem(n=60)
    error = HeldOutError(bank, Y, Folds.of(5, 60, Y))
    run = descend(error, at(error, np.zeros(4)), 1e-6, 100)
    assert run.certificate.reached(1e-6)
    assert run.point.value < 1.02 * ridge_cv(bank, Y, error.folds, tol=1e-6).objective


@pytest.mark.parametrize("level", [0.0, 0.1, 1e8])
def test_constant_target(level):
    _, bank, Y = problem()
    found = ridge_cv(bank, np.full_like(Y, level), Folds.of(5, len(Y), Y))
    assert found.errors[0] <= 1e-24 * max(level, 1.0) ** 2
    assert found.converged
    assert np.isfinite(found.values).all()
    assert found.alpha > 0


@pytest.mark.parametrize("coordinates", [1500, 0], ids=["samples", "sums"])
def test_a_large_mean_changes_nothing(coordinates, monkeypatch):
    monkeypatch.setattr(in_features, "FOLD_COORDINATES", coordinates)  # errors by matrices of the samples, or by sums
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    Y = X[:, :2] + X[:, 1:3] + rng.normal(size=(80, 2))
    bank, folds = bind(kernels.linear_features(), X), Folds.of(5, 80, Y)
    near, far = (ridge_cv(bank, Y[:, :1] + mean, folds) for mean in (0.0, 1e8))
    np.testing.assert_allclose(far.values, near.values, atol=1e-6)
    assert far.errors == pytest.approx(near.errors, rel=1e-6)
    near, far = (ridge_cv_each(bank, Y + mean, folds, TargetSearch())[0] for mean in (0.0, 1e8))
    np.testing.assert_allclose(far.values, near.values, atol=1e-6)
    np.testing.assert_allclose(far.errors, near.errors, rtol=1e-6)


def test_structured_banks_give_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    Y = X[:, :1] - 2.0 * X[:, 1:2] + 4.0 * rng.normal(size=(40, 1))
    bank = bind(kernels.linear_features(), X)
    folds = Folds.of(5, 40, Y)
    found, other = ridge_cv(bank, Y, folds, tol=1e-8), ridge_cv(precomputed(bank.matrices()), Y, folds, tol=1e-8)
    np.testing.assert_allclose(found.values, other.values, atol=1e-5)
    assert found.errors == pytest.approx(other.errors, rel=1e-6)


def test_several_starts_are_never_worse():
    _, bank, Y = problem(n=40, m=6, seed=3)
    folds = Folds.of(5, 40, Y)
    one, several = ridge_cv(bank, Y, folds), ridge_cv(bank, Y, folds, n_init=4, seed=1)
    assert several.objective <= one.objective
    assert several.n_iter > one.n_iter


def test_shared_weights_minimise_the_sum():
    _, bank, Y = problem(n=50, t=2)
    folds = Folds.of(5, 50, Y)
    shared = ridge_cv(bank, Y, folds, tol=1e-8)
    assert shared.objective == pytest.approx(shared.errors.sum())
    error = HeldOutError(bank, Y, folds)
    for t in range(2):
        own = ridge_cv(bank, Y[:, [t]], folds, tol=1e-8)
        assert own.errors[0] <= shared.errors[t] * (1 + 1e-6)
        assert shared.objective <= at(error, own.values / own.alpha).value


class TestFolds:
    def test_leave_one_out_by_name_and_by_splitter(self):
        for cv in ("loo", LeaveOneOut(), KFold(9, shuffle=True, random_state=0)):
            folds = Folds.of(cv, 9, np.zeros(9))
            assert folds.single
            np.testing.assert_array_equal(folds.labels, np.arange(9))

    def test_pairs_of_rows_or_masks(self):
        test = np.arange(6) % 2 == 0
        folds = Folds.of([(~test, test), (np.flatnonzero(test), np.flatnonzero(~test))], 6, np.zeros(6))
        np.testing.assert_array_equal(folds.labels, [0, 1, 0, 1, 0, 1])

    @pytest.mark.parametrize(
        ("cv", "message"),
        [
            ("loocv", "cv must be"),
            (ShuffleSplit(3, random_state=0), "held out exactly once"),
            (RepeatedKFold(n_splits=2, n_repeats=2, random_state=0), "held out exactly once"),
            ([(np.arange(5), np.arange(5, 9)), (np.arange(5, 8), np.arange(5))], "must train on all samples"),
            ([(np.arange(0), np.arange(9))], "at least one"),
            (10, "greater than the number of samples"),
        ],
    )
    def test_refusals(self, cv, message):
        with pytest.raises(ValueError, match=message):
            Folds.of(cv, 9, np.zeros(9))


def test_with_the_time_up_one_error_for_each_direction_is_all(monkeypatch):
    """Not one for each decade of the ridge, of which each is a factorisation of the kernel matrix."""
    K, bank, Y = problem()
    asked, at_point = [], HeldOutError.at
    monkeypatch.setattr(HeldOutError, "at", lambda self, v: asked.append(v) or at_point(self, v))
    with limited(0.0), pytest.warns(ConvergenceWarning, match="not all ridges were tried"):
        found = ridge_cv(bank, Y, Folds.of(5, len(Y), Y))
    assert len(asked) <= 2
    want = (residuals(K, Y, found.values / found.alpha, Folds.of(5, len(Y), Y), True) ** 2).mean()
    assert found.objective == pytest.approx(want, rel=1e-9)
    assert not found.converged
