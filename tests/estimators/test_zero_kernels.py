"""A kernel that is zero changes no function: it has no weight where the problem's domain lets it have none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_regressor

import multikernel as mk
from cases import one_in
from multikernel import bind, kernels

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
LABELS = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.3, 1, -1)
TARGET = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=40)
K = bind(kernels.per_feature(kernels.RBF(0.3)), X).matrices()
K[1] = 0.0

given: dict[str, Any] = {"kernels": "precomputed"}
WITHOUT_WEIGHT = [
    mk.L1MKLClassifier(**given),
    mk.L1MKLClassifier(solver="reduced_gradient", **given),
    mk.L1MKLRegressor(**given),
    *(mk.LpMKLClassifier(p=p, **given) for p in (1.2, 2.0, 64.0)),
    mk.LpMKLClassifier(solver="block_norm", **given),
    mk.LpMKLClassifier(solver="projected_gradient", **given),
    mk.LpMKLRegressor(**given),
    mk.OneClassMKL(**given),
    mk.GMKLClassifier(**given),
    mk.GMKLClassifier(radius=1.0, norm=2, **given),
    mk.GMKLClassifier(combination="polynomial", radius=1.0, norm=2, **given),
    mk.GMKLRegressor(norm=2, **given),
    mk.EasyMKLClassifier(**given),
    mk.RLS2Regressor(**given),
    mk.AlignmentMKLClassifier(**given),
    mk.AlignmentMKLClassifier(method="alignf", **given),
    mk.BestKernelClassifier(**given),
    mk.ProportionalMKLClassifier(**given),
    mk.GMKLSupportRegressor(**given),
    mk.MultipleKernelRidgeCV(**given),
    mk.MultipleKernelRidgeCV(n_init=3, random_state=0, **given),
    mk.PolynomialMKLRegressor(degree=2, penalty=0.1, **given),
    mk.PolynomialMKLRegressor(degree=1, penalty=0.1, **given),
    *(mk.PolynomialMKLRegressor(degree=d, norm=n, offset=0.0, **given) for d in (1, 2, 3) for n in (1, 2)),
]


def fitted(model: Any) -> Any:
    return model.fit(K, TARGET if is_regressor(model) else LABELS)


@pytest.mark.parametrize("model", one_in(3, WITHOUT_WEIGHT), ids=str)
def test_a_zero_kernel_has_no_weight(model: Any) -> None:
    weights = np.atleast_2d(fitted(model).weights_)
    np.testing.assert_array_equal(weights[:, 1], 0.0)
    assert (weights.sum(axis=1) > 0.0).all()
    assert model.converged_


@pytest.mark.crossed
@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("norm", [1, 2])
def test_in_a_ball_it_has_the_weight_of_the_center(degree: int, norm: int) -> None:
    model = fitted(mk.PolynomialMKLRegressor(degree=degree, norm=norm, offset=0.7, **given))
    assert model.weights_[1] == 0.7


def test_rules_and_smoothing_state_its_weight() -> None:
    """The average counts it; the softmax of scores gives it the weight of a score of 0, which is the smallest."""
    np.testing.assert_array_equal(fitted(mk.AverageMKLClassifier(**given)).weights_, 1.0 / 3.0)
    for model in (mk.SMKLClassifier(**given), mk.SMKLRegressor(**given)):
        weights = fitted(model).weights_
        assert 0.0 < weights[1] < weights[[0, 2]].min()


@pytest.mark.parametrize("model", [mk.RLS2Regressor(), mk.RLS2Classifier()], ids=str)
def test_features_that_are_all_zero(model: Any) -> None:
    """Nothing can be learned but the mean of the target, and that is proved."""
    y = TARGET if is_regressor(model) else LABELS
    model.set_params(kernels=kernels.linear_features()).fit(np.zeros((40, 3)), y)
    assert model.converged_
    assert model.duality_gap_ == 0.0
    assert model.intercept_ == pytest.approx(y.mean())


@pytest.mark.parametrize(
    "model",
    [
        mk.RLS2Regressor(),
        mk.RLS2Regressor(alpha=1e-6),
        mk.PolynomialMKLRegressor(kernels.rbf_grid([0.1, 1.0]), degree=1),
    ],
    ids=repr,
)
@pytest.mark.parametrize("seed", range(4))
def test_features_that_are_constant(model: Any, seed: int) -> None:
    """Their kernels make nothing of a centred target but rounding: the predictor is the mean, and that is certain."""
    y = np.random.default_rng(seed).normal(size=24)
    found = clone(model).fit(np.full((24, 2), 5.5), y)
    assert found.converged_
    assert found.duality_gap_ == 0.0
    np.testing.assert_allclose(found.predict(np.full((3, 2), 5.5)), y.mean(), atol=1e-7)
