"""Where no sample has a coefficient the model is its intercept, for every kind of kernel, bank and estimator."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest

import multikernel as mk
from cases import one_in
from multikernel import kernels
from multikernel.kernels import as_family

X = np.random.default_rng(0).normal(size=(14, 3))
FAMILIES: dict[str, Any] = {
    "gaussian": [kernels.RBF(0.5)],
    "gaussians": kernels.rbf_grid([0.1, 0.2, 0.5, 1.0, 2.0]),
    "laplacians": [kernels.Laplacian(0.5), kernels.Laplacian(1.0)],
    "powers": kernels.homogeneous_polynomials(5),
    "features": kernels.linear_features(),
    "per feature": kernels.per_feature(kernels.RBF(0.5)),
    "subsets": kernels.rbf_subsets(2, [0.1, 0.5]),
    "ANOVA": kernels.anova(3, kernels.RBF(0.3)),
    "centred": [kernels.RBF(0.5).centered()],
    "sums": [kernels.RBF(0.5) + kernels.Linear(), 2.0 * kernels.RBF(0.3)],
    "several banks": kernels.rbf_grid([0.1, 1.0]) + kernels.linear_features(),
}
ESTIMATORS: dict[str, Any] = {
    "alignment": mk.AlignmentMKLRegressor(),
    "average": mk.AverageMKLRegressor(),
    "best": mk.BestKernelRegressor(cv=2),
    "proportional": mk.ProportionalMKLRegressor(cv=2),
    "smoothed": mk.SMKLRegressor(),
    "generalised, with a tube": mk.GMKLSupportRegressor(),
    "sums": mk.GMKLRegressor(radius=1.0),
    "products of Gaussians": mk.GMKLRegressor(combination="rbf_product", radius=1.0),
    "hierarchical": mk.HKLRegressor(),
    "l1": mk.L1MKLRegressor(),
    "lp": mk.LpMKLRegressor(),
    "held-out errors": mk.MultipleKernelRidgeCV(),
    "polynomial": mk.PolynomialMKLRegressor(),
    "two layers": mk.RLS2Regressor(),
}


@pytest.mark.parametrize(("name", "family"), one_in(13, product(ESTIMATORS, FAMILIES)))
def test_a_constant_target_is_predicted(name: str, family: str) -> None:
    model = ESTIMATORS[name].set_params(kernels=FAMILIES[family])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        model.fit(X, np.full(14, 3.5))
    np.testing.assert_allclose(model.predict(X[:1]), 3.5, rtol=1e-9)
    if name == "products of Gaussians":
        return  # new samples need the distances, which kernels against training samples do not tell
    bank = mk.bind(as_family(FAMILIES[family]), X)
    model.fit(bank, np.full(14, 3.5))
    for new in (bank.cross(X[:2]), bank[np.ix_(np.arange(2), np.arange(14))], bank):
        np.testing.assert_allclose(model.predict(new), 3.5, rtol=1e-9)


@pytest.mark.crossed
@pytest.mark.filterwarnings("ignore::multikernel.PredictionWarning")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("cls", [mk.L1MKLRegressor, mk.LpMKLRegressor])
def test_targets_inside_epsilon_are_predicted_to_epsilon(cls: Any, family: str) -> None:
    model = cls(FAMILIES[family], epsilon=0.5).fit(X, 0.4 * np.tanh(X[:, 0]))
    assert not model.dual_coef_.any()
    assert np.ptp(model.predict(X)) == 0.0
    assert np.abs(model.predict(X) - 0.4 * np.tanh(X[:, 0])).max() <= 0.5


def test_a_search_meets_a_fold_whose_target_is_constant() -> None:
    y = np.r_[np.full(9, 2.0), X[9:, 0]]
    folds = [(np.arange(9), np.arange(9, 14)), (np.arange(5, 14), np.arange(5))]
    for family in ("gaussians", "per feature", "subsets"):
        search = mk.BankSearchCV(mk.L1MKLRegressor(FAMILIES[family]), {"C": [0.1, 1.0]}, cv=folds).fit(X, y)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - {"centred"}))
def test_banks_have_parts_without_columns_and_without_rows(family: str) -> None:
    bank, none = mk.bind(as_family(FAMILIES[family]), X), np.arange(0)
    for part, shape in (
        (bank.reference(none).cross(X[:2]), (2, 0)),
        (bank.block(np.arange(2), none), (2, 0)),
        (bank.cross(X[:0]), (0, 14)),
    ):
        assert part.shape == shape
        product = part.combine(np.ones(len(part))).multiply(np.ones((shape[1], 1)))
        np.testing.assert_array_equal(product, np.zeros((shape[0], 1)))
