"""What a fit says of itself: the values that enclose the optimum, the certificate, and whether it converged."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

import multikernel as mk
from cases import one_in
from multikernel import bind, kernels
from multikernel.estimators.base import KernelEstimator
from zoo_estimators import numbered

rng = np.random.default_rng(0)
X = rng.normal(size=(24, 3))
NUMBERS = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=24)
CLASSES = np.digitize(NUMBERS, [-0.3, 0.3])
FAMILY = kernels.per_feature(kernels.RBF(0.5)) + kernels.rbf_grid([0.1, 1.0])
PUBLIC = [cls for name in mk.__all__ if inspect.isclass(cls := getattr(mk, name)) and issubclass(cls, KernelEstimator)]
WITHOUT_KERNELS = ("LinearRLS2", "HKL", "LearnedScales")
FURTHER: dict[str, list[dict[str, Any]]] = {  # problems of other kinds that a class may pose
    "PolynomialMKLRegressor": [{"degree": 1}, {"degree": 1, "penalty": 0.1}, {"degree": 1, "norm": 1}],
    "GMKLRegressor": [{"norm": 2}, {"radius": 1.0, "norm": 2}, {"combination": "polynomial", "radius": 1.0, "norm": 2}],
    "GMKLClassifier": [{"radius": 1.0, "norm": 2}],
    "LpMKLClassifier": [{"p": 1.3}],
}


def named(cls: Any, word: str) -> tuple[str, ...]:
    """The values that a parameter may have, where these are words."""
    if word == "solver" and hasattr(cls, "_solvers"):
        return numbered(cls())._solvers()
    return tuple(value for value in get_args(get_type_hints(cls).get(word)) if isinstance(value, str))


def models() -> Iterator[Any]:
    """Every estimator with each of its solvers, modes and methods."""
    for cls in PUBLIC:
        own = cls() if cls.__name__.startswith(WITHOUT_KERNELS) else cls(FAMILY)
        if cls.__name__.startswith("TwoLayer"):
            own.set_params(second="linear")
        plain = numbered(own)
        if "random_state" in plain.get_params():
            plain.set_params(random_state=0)
        yield plain
        for word in ("solver", "mode", "method", "criterion", "combination"):
            for value in named(cls, word):
                if value not in (getattr(plain, word), "auto"):
                    degree = {"degree": 1} if value == "interpolated" else {}
                    yield clone(plain).set_params(**{word: value}, **degree)
        for further in FURTHER.get(cls.__name__, ()):
            yield clone(plain).set_params(**further)


def called(model: Any) -> str:
    """Its class and the parameters that are words or numbers."""
    given = {
        name: value for name, value in model.get_params(deep=False).items() if isinstance(value, str | float | int)
    }
    default = type(model)().get_params(deep=False)
    return " ".join([type(model).__name__, *(f"{name}={v}" for name, v in given.items() if v != default[name])])


MODELS = {called(model): model for model in models()}


def fitted(model: Any, **given: Any) -> tuple[Any, bool]:
    """The model, fitted, and whether it warned of not having converged."""
    model = clone(model).set_params(**given)
    y = () if isinstance(model, mk.OneClassMKL) else (CLASSES if is_classifier(model) else NUMBERS,)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, *y)
    chosen = "during a choice"  # what a time budget leaves untried is no matter of the certificate
    return model, any(
        issubclass(each.category, ConvergenceWarning) and chosen not in str(each.message) for each in told
    )


def certificate(model: Any) -> float:
    return float(model.duality_gap_ if hasattr(model, "duality_gap_") else model.stationarity_)


def early(model: Any) -> list[dict[str, Any]]:
    """Ways to end a fit too early, and none."""
    few = [{"max_iter": 1}, {"max_iter": 3}] if "max_iter" in model.get_params() else []
    return [*few, {"time_budget": 1e-9}, {}]


@pytest.mark.parametrize("name", one_in(3, MODELS))
def test_what_a_fit_says_of_itself_is_true(name: str) -> None:
    """Converged means a small certificate, else there is a warning; and each fit's bound holds for the other fits."""
    sign = -1.0 if getattr(MODELS[name], "method", "") == "max_min" else 1.0  # a maximum
    values, bounds = [], []
    for given in early(MODELS[name]):
        model, warned = fitted(MODELS[name], **given)
        found = certificate(model)
        if hasattr(model, "tol"):
            assert model.converged_ == (found <= model.tol), given
        mode = getattr(model, "mode", "")
        by_rule = mode == "conjugate" or (mode == "paper" and not given)  # which the user chose by name
        assert warned == (not model.converged_) or by_rule, given
        if not hasattr(model, "objective_bound_"):
            assert hasattr(model, "stationarity_") or np.all(np.equal(model.objective_, None)), given
            continue
        values.append(sign * np.atleast_1d(model.objective_))
        bounds.append(sign * np.atleast_1d(model.objective_bound_))
        assert (values[-1] - bounds[-1] <= (found + 1e-12) * np.abs(values[-1])).all(), given
    if values:
        least = np.min(values, axis=0)
        assert (np.max(bounds, axis=0) <= least + 1e-9 * np.abs(least)).all()


# -- the value at the weights that are told, by other means ------------------------------------------------------------

LABELS = np.where(NUMBERS > 0.0, 1.0, -1.0)
K = bind(FAMILY, X).matrices()
Y = NUMBERS - NUMBERS.mean()


def hinge(d: Any, C: float = 1.0) -> float:
    """The dual value of a support vector machine of scikit-learn, which is below the true one."""
    machine = SVC(C=C, kernel="precomputed", tol=1e-9).fit(np.tensordot(d, K, 1), LABELS)
    a = machine.dual_coef_[0]
    S = machine.support_
    return float(np.abs(a).sum() - 0.5 * a @ np.tensordot(d, K, 1)[np.ix_(S, S)] @ a)


def ridge(d: Any, alpha: float) -> float:
    return float(Y @ np.linalg.solve(np.tensordot(d, K, 1) + alpha * np.eye(len(Y)), Y))


@pytest.mark.crossed
@pytest.mark.parametrize("max_iter", [1, 2, 3, 100])
@pytest.mark.parametrize(
    "model",
    [mk.L1MKLClassifier(solver=name) for name in ("auto", "level", "reduced_gradient", "cutting_plane", "subgradient")]
    + [mk.LpMKLClassifier(solver=name) for name in ("auto", "block_norm")],
    ids=called,
)
def test_the_value_of_a_support_vector_machine(model: Any, max_iter: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = clone(model).set_params(kernels="precomputed", max_iter=max_iter, C=1.0).fit(K, LABELS)
    c, f = found.dual_coef_, np.tensordot(found.weights_, K, 1) @ found.dual_coef_
    primal = 0.5 * c @ f + np.maximum(1.0 - LABELS * (f + found.intercept_), 0.0).sum()
    assert hinge(found.weights_) <= found.objective_ * (1.0 + 1e-6)
    assert found.objective_ <= primal * (1.0 + 1e-6)


@pytest.mark.crossed
@pytest.mark.parametrize("max_iter", [1, 2, 3, 100])
@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 1.0, 1e6])
def test_the_value_of_ridge_regression_and_what_its_gap_is_relative_to(alpha: float, max_iter: int) -> None:
    """Of kernels of every rank: of few features, of half as many as samples and more, of more than samples."""
    for p in (3, 9, 18, 40):
        F = np.random.default_rng(p).normal(size=(24, p))
        rank_one = np.einsum("ik,jk->kij", F, F)
        for given, samples in ((kernels.linear_features(), F), ("precomputed", rank_one)):
            for model, part in (
                (mk.RLS2Regressor(given, alpha=alpha, scaling="none"), 0.5 * alpha),
                (mk.PolynomialMKLRegressor(given, alpha=alpha, degree=1), 1.0),
            ):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    found = model.set_params(max_iter=max_iter).fit(samples, NUMBERS)
                matrix = np.tensordot(found.weights_, rank_one, 1) + alpha * np.eye(len(Y))
                assert found.objective_ == pytest.approx(part * Y @ np.linalg.solve(matrix, Y), rel=1e-3)
                explained = part * Y @ (Y - alpha * np.linalg.solve(matrix, Y)) / alpha
                excess = found.objective_ - found.objective_bound_
                smaller = min(found.objective_, explained)
                rounding = 1e-12 * found.objective_ / smaller
                assert found.duality_gap_ == pytest.approx(excess / smaller, rel=1e-3, abs=rounding)
