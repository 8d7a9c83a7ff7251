"""Answers do not depend on units: kernels times c with C / c, alpha c; targets times c with their epsilon and C.

A case says how an estimator's parameters follow the unit; the model of the problem in units from 1e-150 to 1e150 is
compared with that of the problem as it is. A unit that is a power of two changes no digit of the kernels, so there all
solvers take the same steps; other units change the last digit, which solvers that choose between samples may amplify up
to their tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_regressor

from cases import one_in
from multikernel import (
    AlignmentMKLRegressor,
    AverageMKLRegressor,
    BestKernelRegressor,
    GMKLClassifier,
    GMKLRegressor,
    GMKLSupportRegressor,
    HKLRegressor,
    L1MKLClassifier,
    L1MKLRegressor,
    LpMKLClassifier,
    LpMKLRegressor,
    MultipleKernelRidgeCV,
    OneClassMKL,
    PolynomialMKLRegressor,
    ProportionalMKLRegressor,
    RLS2Regressor,
    SMKLClassifier,
    SMKLRegressor,
    bind,
    kernels,
    path,
)

UNITS = (1e-150, 1e-6, 1e3, 1e150)
Make = Callable[[float], Any]

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
LABELS = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=40) > 0.3, 1, -1)
TARGET = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=40)
K = bind(kernels.per_feature([kernels.RBF(0.3), kernels.Linear()]), X).matrices()

given = {"kernels": "precomputed"}
OF_KERNELS: dict[str, Make] = {
    "L1": lambda c: L1MKLClassifier(C=1.0 / c, **given),
    "Lp": lambda c: LpMKLClassifier(C=10.0 / c, p=1.5, **given),
    "SMKL": lambda c: SMKLClassifier(C=1.0 / c, smoothing=1.0 / c, **given),
    "one class": lambda c: OneClassMKL(nu=0.3, **given),
    "GMKL in a ball": lambda c: GMKLClassifier(C=1.0 / c, radius=2.0, norm=2, **given),
    "GMKL, penalty 1": lambda c: GMKLClassifier(C=1.0 / c, penalty=0.5 / c, norm=1, **given),
    "GMKL, penalty 2": lambda c: GMKLClassifier(C=1.0 / c, penalty=0.5 / c, norm=2, **given),
    "GMKL power in a ball": lambda c: GMKLClassifier(
        C=1.0 / c**2, combination="polynomial", radius=2.0, norm=2, **given
    ),
    "GMKL power, penalty": lambda c: GMKLClassifier(
        C=1.0 / c**2, combination="polynomial", penalty=0.5 / c**2, norm=2, **given
    ),
    "L1 regression": lambda c: L1MKLRegressor(C=1.0 / c, **given),
    "SMKL regression": lambda c: SMKLRegressor(C=1.0 / c, smoothing=1.0 / c, **given),
    "GMKL support regression": lambda c: GMKLSupportRegressor(C=1.0 / c, penalty=0.5 / c, norm=1, **given),
    "Lp regression": lambda c: LpMKLRegressor(C=1.0 / c, p=3.0, **given),
    "polynomial, sum": lambda c: PolynomialMKLRegressor(alpha=0.1 * c, degree=1, norm=1, **given),
    "polynomial, penalty": lambda c: PolynomialMKLRegressor(alpha=0.1 * c, degree=1, penalty=0.5 / c, **given),
    "average": lambda c: AverageMKLRegressor(alpha=0.1 * c, **given),
    "alignment": lambda c: AlignmentMKLRegressor(alpha=0.1 * c, **given),
    "proportional": lambda c: ProportionalMKLRegressor(alpha=0.1 * c, random_state=0, **given),
    "best": lambda c: BestKernelRegressor(alpha=0.1 * c, random_state=0, **given),
    "RLS2": lambda c: RLS2Regressor(alpha=0.1, **given),
    "RLS2 as given": lambda c: RLS2Regressor(alpha=0.1 * c, scaling="none", **given),
    "GMKL regression in a ball": lambda c: GMKLRegressor(alpha=0.1 * c, radius=1.0, **given),
    "ridge CV": lambda c: MultipleKernelRidgeCV(tol=1e-8, **given),
    "GMKL regression, penalty": lambda c: GMKLRegressor(alpha=0.1 * c, penalty=0.5 / c, **given),
}
BY_NAME: dict[str, Make] = {
    **{
        f"L1 {solver}": lambda c, solver=solver: L1MKLClassifier(C=1.0 / c, solver=solver, tol=1e-2, **given)
        for solver in ("reduced_gradient", "cutting_plane", "level", "subgradient")
    },
    "Lp block norm": lambda c: LpMKLClassifier(C=1.0 / c, solver="block_norm", **given),
    "Lp projected gradient": lambda c: LpMKLClassifier(C=1.0 / c, solver="projected_gradient", **given),
    "SMKL accelerated": lambda c: SMKLClassifier(C=1.0 / c, smoothing=1.0 / c, solver="accelerated", **given),
}
# weights of another unit make up for that of the kernels, where only a penalty bounds them
OF_WEIGHTS: dict[str, Make] = {
    "penalty 1": lambda c: GMKLClassifier(penalty=0.5 * c, norm=1, **given),
    "penalty 2": lambda c: GMKLClassifier(penalty=0.5 * c * c, norm=2, **given),
    "regression": lambda c: GMKLRegressor(alpha=0.1, penalty=0.5 * c, norm=1, **given),
}
OF_TARGETS: dict[str, Make] = {
    "polynomial": lambda c: PolynomialMKLRegressor(alpha=0.1, degree=1, norm=1, **given),
    "polynomial, power": lambda c: PolynomialMKLRegressor(alpha=0.1, degree=2, **given),
    "polynomial, penalty": lambda c: PolynomialMKLRegressor(alpha=0.1, degree=2, penalty=0.05 * c * c, **given),
    "average": lambda c: AverageMKLRegressor(alpha=0.1, **given),
    "alignment": lambda c: AlignmentMKLRegressor(alpha=0.1, **given),
    "proportional": lambda c: ProportionalMKLRegressor(alpha=0.1, random_state=0, **given),
    "SMKL": lambda c: SMKLRegressor(C=c, epsilon=0.1 * c, smoothing=c * c, **given),
    "GMKL support": lambda c: GMKLSupportRegressor(C=c, epsilon=0.1 * c, penalty=c * c, **given),
    "best": lambda c: BestKernelRegressor(alpha=0.1, random_state=0, **given),
    "RLS2": lambda c: RLS2Regressor(alpha=0.1, **given),
    "L1": lambda c: L1MKLRegressor(C=c, epsilon=0.1 * c, **given),
    "Lp": lambda c: LpMKLRegressor(C=c, epsilon=0.1 * c, p=8.0, **given),
    "GMKL in a ball": lambda c: GMKLRegressor(alpha=0.1, radius=2.0, norm=2, **given),
    "GMKL, penalty": lambda c: GMKLRegressor(alpha=0.1, penalty=0.5 * c * c, **given),
    "HKL": lambda c: HKLRegressor(C=1.0, **given),
    "ridge CV": lambda c: MultipleKernelRidgeCV(tol=1e-8, **given),
}


def named(table: dict[str, Make]) -> Any:
    return pytest.mark.parametrize(
        "make",
        [
            pytest.param(*case.values, id=name, marks=case.marks)
            for name, case in zip(table, one_in(2, table.values()), strict=True)
        ],
    )


def fitted(model: Any, kernel: Any, unit: float = 1.0) -> Any:
    """The model of labels, or of the target in a unit; it has to converge."""
    model.fit(kernel, unit * TARGET if is_regressor(model) else LABELS)
    assert model.converged_
    return model


def values(model: Any, kernel: Any) -> Any:
    return (model.predict if is_regressor(model) else model.decision_function)(kernel)


def assert_same(got: Any, want: Any) -> None:
    """Up to 1e-6 of the spread."""
    np.testing.assert_allclose(got, want, rtol=0.0, atol=1e-6 * float(np.std(want)))


def assert_close(got: Any, want: Any) -> None:
    """Up to 1e-6 of the largest."""
    np.testing.assert_allclose(got, want, rtol=0.0, atol=1e-6 * float(np.max(want)))


@named(OF_KERNELS)
def test_kernels_of_any_unit(make: Make) -> None:
    plain = fitted(make(1.0), K)
    for c in UNITS:
        scaled = fitted(make(c), c * K)
        assert_same(values(scaled, c * K) / (c if isinstance(plain, OneClassMKL) else 1.0), values(plain, K))
        assert_close(scaled.weights_, plain.weights_)


@named(BY_NAME)
def test_kernels_of_a_unit_that_changes_no_digit(make: Make) -> None:
    plain = fitted(make(1.0), K)
    for c in (2.0**-498, 2.0**-20, 2.0**498):
        scaled = fitted(make(c), c * K)
        np.testing.assert_allclose(scaled.decision_function(c * K), plain.decision_function(K), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(scaled.weights_, plain.weights_, rtol=1e-12)


@named(OF_WEIGHTS)
def test_weights_of_any_unit(make: Make) -> None:
    plain = fitted(make(1.0), K)
    for c in UNITS:
        scaled = fitted(make(c), c * K)
        assert_same(values(scaled, c * K), values(plain, K))
        assert_close(c * scaled.weights_, plain.weights_)
        assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-6)


@pytest.mark.parametrize("norm", [1, 2])
def test_widths_of_any_unit(norm: int) -> None:
    """The widths of a product of Gaussians are inverse squared distances."""
    bank = bind(kernels.linear_features(), X)
    plain = fitted(GMKLClassifier(combination="rbf_product", penalty=0.1, norm=norm), bank)
    for c in UNITS:
        model = GMKLClassifier(combination="rbf_product", penalty=0.1 * c**norm, norm=norm)
        scaled = fitted(model, bank.scaled(np.full(len(bank), c)))
        assert_close(c * scaled.weights_, plain.weights_)
        assert_same(scaled.dual_coef_, plain.dual_coef_)


@named(OF_TARGETS)
def test_targets_of_any_unit(make: Make) -> None:
    plain = fitted(make(1.0), K)
    for c in UNITS:
        scaled = fitted(make(c), K, c)
        assert_same(scaled.predict(K) / c, plain.predict(K))
        assert_close(scaled.weights_, plain.weights_)


@pytest.mark.parametrize("c", UNITS)
def test_values_are_told_in_the_units_of_the_user(c: float) -> None:
    plain, scaled = L1MKLClassifier(**given).fit(K, LABELS), L1MKLClassifier(C=1.0 / c, **given).fit(c * K, LABELS)
    assert c * scaled.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    coef = scaled.dual_coef_ * LABELS
    assert (coef >= 0).all()
    assert coef.max() <= (1.0 + 1e-9) / c
    combined = np.tensordot(scaled.weights_, c * K, 1)
    np.testing.assert_allclose(combined @ scaled.dual_coef_ + scaled.intercept_, scaled.decision_function(c * K))


@pytest.mark.parametrize("c", [2.0**-100, 2.0**100])
def test_a_path_starts_in_the_units_of_the_user(c: float) -> None:
    """Each fit along a path starts from its neighbour's solution, which the user's units tell."""
    model, C = L1MKLClassifier(solver="level", tol=1e-2, **given), np.array([0.3, 1.0, 3.0])
    plain, scaled = path(model, K, LABELS, "C", C), path(model, c * K, LABELS, "C", C / c)
    assert [m.n_iter_ for m in scaled.models] == [m.n_iter_ for m in plain.models]
    np.testing.assert_allclose(scaled.weights, plain.weights, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
def test_sonar_with_small_features() -> None:
    """Linear features times 1e-3 with C = 1e6 are the features themselves with C = 1."""
    from multikernel import datasets

    try:
        data = datasets.load("sonar")
    except ValueError as missing:
        pytest.skip(str(missing))
    S = np.asarray(data.X, dtype=float)
    features = kernels.linear_features()
    for plain, small in [
        (L1MKLClassifier(features, C=1.0), L1MKLClassifier(features, C=1e6)),
        (LpMKLClassifier(features, C=1.0), LpMKLClassifier(features, C=1e6)),
        (SMKLClassifier(features), SMKLClassifier(features, C=1e6, smoothing=1e6)),
        (GMKLClassifier(features), GMKLClassifier(features, C=1e6, penalty=1e6)),
    ]:
        plain.fit(S, data.y)
        small.fit(1e-3 * S, data.y)
        assert small.converged_
        assert_same(small.decision_function(1e-3 * S), plain.decision_function(S))


@pytest.mark.parametrize("size", one_in(3, [1e77, 1e150, 1e300]))
def test_large_targets(size: float) -> None:
    """A value beyond double precision is infinite; predictions and the certificate are not."""
    model = GMKLRegressor(alpha=0.1, radius=1.0, **given).fit(K, size * TARGET)
    plain = GMKLRegressor(alpha=0.1, radius=1.0, **given).fit(K, TARGET)
    assert model.converged_
    assert np.isfinite(model.objective_) == (size < 1e153)
    assert_same(model.predict(K) / size, plain.predict(K))
    for regressor in (L1MKLRegressor(**given), LpMKLRegressor(p=8.0, **given)):
        assert regressor.fit(K, size * TARGET).converged_
