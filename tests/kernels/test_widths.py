"""Widths from the data: what the rules find, when they find it, and that it is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import SVC

from multikernel import AverageMKLRegressor, GMKLRegressor, L1MKLClassifier, bind, kernels
from multikernel.kernels import RBF, Laplacian, Matern, Polynomial, Width

Array = Any
X = np.random.default_rng(0).normal(size=(60, 4)) * [1.0, 10.0, 0.1, 3.0]
Y = X[:, 0] + X[:, 1] / 10
PAIRS = np.triu_indices(60, 1)
SQUARES = ((X[:, None] - X) ** 2).sum(axis=2)


def test_scale_is_the_rule_of_scikit_learn() -> None:
    gamma = SVC(gamma="scale").fit(X, Y > 0)._gamma
    assert RBF("scale").learned(X).gamma == pytest.approx(gamma, rel=1e-12)
    assert RBF("scale").learned(sparse.csr_array(X)).gamma == pytest.approx(gamma, rel=1e-12)
    assert Polynomial(2, gamma="scale").learned(X).gamma == pytest.approx(gamma, rel=1e-12)


@pytest.mark.parametrize(("precision", "tolerance"), [(np.float64, 1e-7), (np.float32, 1e-6)])
@pytest.mark.parametrize("middle", [1e3, -1e5, 1e8])
def test_scale_does_not_depend_on_where_samples_lie(precision: Any, tolerance: float, middle: float) -> None:
    """Against the variance of the same numbers, moved to zero in exact steps."""
    steps = np.random.default_rng(3).integers(-64, 64, size=(50, 3)) * 16.0
    gamma = 1.0 / (3 * steps.var())
    far = (steps + middle).astype(precision)
    np.testing.assert_array_equal(far.astype(np.float64) - middle, steps)
    assert RBF("scale").learned(far).gamma == pytest.approx(gamma, rel=tolerance)
    assert Laplacian("scale").learned(far).gamma == pytest.approx(np.sqrt(3 * gamma) / 3, rel=tolerance)
    assert RBF("scale").learned(sparse.csr_array(far)).gamma == pytest.approx(gamma, rel=tolerance)
    assert RBF("scale").learned(np.full((50, 3), middle + 0.1, dtype=precision)).gamma == 1.0


@pytest.mark.parametrize("rule", ["scale", "median"])
@pytest.mark.parametrize("unit", [1e160, 1e-200])
def test_samples_beyond_the_range_of_squares_are_refused(rule: Any, unit: float) -> None:
    with pytest.raises(ValueError, match=f"'{rule}' is beyond double precision for samples .*: give them in other"):
        RBF(rule).learned(X * unit)
    assert Laplacian(rule).learned(X * unit).gamma == pytest.approx(Laplacian(rule).learned(X).gamma / unit, rel=1e-12)


def test_median_is_that_of_the_distances() -> None:
    assert RBF("median").learned(X).gamma == pytest.approx(0.5 / np.median(SQUARES[PAIRS]), rel=1e-12)
    manhattan = np.abs(X[:, None] - X).sum(axis=2)
    assert Laplacian("median").learned(X).gamma == pytest.approx(1.0 / np.median(manhattan[PAIRS]), rel=1e-12)
    assert RBF(Width("median", 4.0)).learned(X).gamma == pytest.approx(4 * RBF("median").learned(X).gamma, rel=1e-12)
    binary = np.array([[0.0]] * 9 + [[2.0]])  # most pairs are alike
    assert RBF("median").learned(binary).gamma == 1.0 / 8.0
    assert RBF("median").learned(np.ones((5, 2))).gamma == 1.0
    assert RBF("scale").learned(np.ones((5, 2))).gamma == 1.0


@pytest.mark.parametrize("kernel", [RBF, Laplacian, Matern, kernels.RationalQuadratic, kernels.ExponentialPower])
@pytest.mark.parametrize("rule", ["scale", "median", Width("scale", 0.5)])
def test_every_kernel_of_a_distance_takes_a_rule(kernel: Any, rule: Any) -> None:
    given = kernel(rule)
    number = given.learned(X).gamma
    np.testing.assert_allclose(given(X), kernel(number)(X), rtol=1e-12)
    np.testing.assert_allclose(given(X[:5], X), kernel(number)(X[:5], X), rtol=1e-12)  # Z is the training sample
    np.testing.assert_array_equal(given.diagonal(X), np.ones(60))
    assert clone(given) == given


def test_a_model_keeps_the_width_of_its_training_sample() -> None:
    model = AverageMKLRegressor([RBF("median"), RBF("scale").on([1]), RBF("median").standardized()]).fit(X, Y)
    numbers = [RBF("median").learned(X), RBF("scale").learned(X[:, [1]]).on([1])]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    K = bind([*numbers], X).matrices().sum(axis=0) + RBF("median").learned(Z)(Z)
    values = K / 3 @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(X), values, atol=1e-9)
    np.testing.assert_allclose(model.predict(X[:1]), values[:1], atol=1e-9)
    assert list(model.kernel_names_)[:2] == ["RBF(gamma='median')", "RBF(gamma='scale').on(1)"]


def test_a_grid_without_gammas_is_a_ladder_around_the_median() -> None:
    family = kernels.rbf_grid()
    gamma = RBF("median").learned(X).gamma
    found = bind(family, X).matrices()
    for K, times in zip(found, [1 / 64, 1 / 16, 1 / 4, 1, 4, 16], strict=True):
        np.testing.assert_allclose(K, np.exp(-times * gamma * SQUARES), atol=1e-9)
    each = bind(kernels.per_feature(kernels.rbf_grid()), X)
    assert len(each) == 24
    own = RBF("median").learned(X[:, [2]]).gamma
    np.testing.assert_allclose(each.matrix(15), np.exp(-own * (X[:, 2:3] - X[:, 2]) ** 2), atol=1e-12)


def test_rules_inside_other_kernels() -> None:
    gamma = RBF("median").learned(X).gamma
    for kernel, want in (
        (RBF("median") + RBF("median"), 2 * RBF(gamma)(X)),
        ((0.5 * RBF("median")).normalized(), RBF(gamma)(X)),
        (RBF("median") ** 2, RBF(gamma)(X) ** 2),
        (RBF("median").centered(), RBF(gamma).centered()(X)),
    ):
        np.testing.assert_allclose(bind(kernel, X).matrix(0), want, atol=1e-12)
    assert L1MKLClassifier(kernels.anova(2, RBF("median"))).fit(X, Y > 0).converged_
    assert L1MKLClassifier(kernels.anova(2, RBF("scale")), C=0.1).fit(X, Y > 0).converged_
    GMKLRegressor([RBF("scale").on([j]) for j in range(4)]).fit(X, Y)


@pytest.mark.parametrize("gamma", ["median", Width("median", 2.0)])
def test_an_inner_product_has_no_median_distance(gamma: Any) -> None:
    with pytest.raises(ValueError, match="Polynomial: gamma must be a finite number > 0 or 'scale', got"):
        Polynomial(2, gamma=gamma)
    one, two = (Polynomial(2, gamma=rule).learned(X).gamma for rule in ("scale", Width("scale", 2.0)))
    assert two == 2.0 * one


def test_the_scales_learned_by_an_estimator_take_the_place_of_the_width() -> None:
    from multikernel import LearnedScalesRegressor

    given, rule = (LearnedScalesRegressor(RBF(gamma), max_iter=3) for gamma in (1.0, "scale"))
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(given.fit(X, Y).scales_, rule.fit(X, Y).scales_)
