"""Ridge regression with learned weights, and powers of the weighted sum."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

import multikernel as mk
from fuzz import saddle as s
from fuzz.claims import Claim, Family, Flatness
from fuzz.families.parts import (
    ALPHA,
    ANY,
    AUTO_MOSTLY,
    FEATURES,
    GENERALISED,
    fixed,
    generalised_domain,
    nothing,
    ridge_machine,
    with_domain,
)
from fuzz.powers import Powers
from fuzz.samples import Given, as_numbers, log_uniform
from fuzz.stationary import Landscape, Power
from fuzz.wide import Array, Number, combine, wide

DEGREE = {"degree": st.sampled_from([2, 2, 2, 3])}
POLYNOMIAL_DOMAIN = st.one_of(
    st.fixed_dictionaries({"penalty": log_uniform(-8, 6)}),
    st.fixed_dictionaries(
        {
            "norm": st.one_of(st.sampled_from([1, 2, 2, 8.0]), st.floats(1.0625, 6.0, width=32)),
            "radius": st.one_of(log_uniform(-3, 3), log_uniform(-3, 3), st.just(0.0)),
            "offset": st.one_of(st.sampled_from([0.0, 1.0]), log_uniform(-3, 3)),
        }
    ),
)
RLS2 = ALPHA | {"scaling": st.sampled_from(["trace", "none"])}


def _columns(y: Array, kind: str) -> Array:
    """The target of numbers, of two classes, or of several classes that share their weights."""
    if kind == "values":
        return y
    if kind == "two classes":
        return np.where(y > 0, 1.0, -1.0)
    return np.where(np.arange(y.max() + 1) == y[:, None], 1.0, -1.0)


def _coef(model: Any) -> Array:
    """A column for each column of the target."""
    return np.atleast_2d(as_numbers(model.dual_coef_)).T


def least_squares(domain: Callable[[dict[str, Any]], s.Domain], kind: str) -> Any:
    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
        machine, kept = ridge_machine(_columns(y, kind), weight, parameters)
        problem = s.Saddle(given.K[:, kept][:, :, kept], machine, domain(parameters))
        coef = _coef(model)[kept]
        objective = None if model.objective_ is None else as_numbers(model.objective_)
        yield Claim(
            problem,
            as_numbers(model.weights_),
            coef,
            as_numbers(model.intercept_),
            objective,
            nothing=nothing(y, machine),
        )

    return claims


def _polynomial_domain(parameters: dict[str, Any]) -> s.Domain:
    if parameters.get("penalty") is not None:
        return s.orthant(parameters["penalty"], 2)
    return s.ball(parameters["norm"], parameters["radius"], parameters["offset"])


def _powers(kind: str) -> Any:
    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Any]:
        machine, kept = ridge_machine(_columns(y, kind), weight, parameters)
        K, ball, penalty = given.K[:, kept][:, :, kept], None, None
        if not hasattr(model, "duality_gap_"):
            if parameters.get("penalty") is None:
                landscape = Landscape(Power(K, parameters["degree"]), machine, _polynomial_domain(parameters))
                yield Flatness(landscape, as_numbers(model.weights_), as_numbers(model.dual_coef_)[kept])
            return
        if parameters.get("penalty") is not None:
            penalty = Number(parameters["penalty"])
        elif parameters["norm"] == 2 or parameters["radius"] == 0:
            ball = wide(parameters["offset"]) + np.zeros(len(K), dtype=Number), Number(parameters["radius"])
        problem = Powers(K, machine, _polynomial_domain(parameters), parameters["degree"], ball, penalty)
        coef = _coef(model)[kept]
        objective, intercept = as_numbers(model.objective_), as_numbers(model.intercept_)
        yield Claim(problem, as_numbers(model.weights_), coef, intercept, objective, nothing=nothing(y, machine))

    return claims


def _power(model: Any, K: Array) -> Array:
    return combine(K, as_numbers(model.weights_)) ** model.degree


def _two_layers(kind: str, point: str = "predictor") -> Any:
    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
        machine, _ = ridge_machine(_columns(y, kind), None, parameters)
        scaling = as_numbers(model.scaling_)
        problem = s.Saddle(scaling[:, None, None] * given.K, machine, s.ball(1.0))
        objective = as_numbers(model.objective_) * 2 / machine.alpha
        coef = _coef(model)
        yield Claim(
            problem,
            as_numbers(model.weights_),
            coef,
            as_numbers(model.intercept_),
            objective,
            nothing=nothing(y, machine),
            point=point,
        )

    return claims


FAMILIES: dict[str, Family] = {
    "GMKLRegressor": Family(
        mk.GMKLRegressor, with_domain(GENERALISED, **ALPHA), least_squares(generalised_domain, "values"), ANY, False
    ),
    "PolynomialMKLRegressor, degree 1": Family(
        lambda **given: mk.PolynomialMKLRegressor(degree=1, **given),
        with_domain(POLYNOMIAL_DOMAIN, **ALPHA, solver=st.sampled_from([*AUTO_MOSTLY, "projected_gradient"])),
        least_squares(_polynomial_domain, "values"),
        ANY,
        False,
        True,
    ),
    "PolynomialMKLClassifier, degree 1": Family(
        lambda **given: mk.PolynomialMKLClassifier(degree=1, **given),
        with_domain(POLYNOMIAL_DOMAIN, **ALPHA),
        least_squares(_polynomial_domain, "two classes"),
        ANY,
        True,
        True,
    ),
    "PolynomialMKLRegressor": Family(
        mk.PolynomialMKLRegressor,
        with_domain(POLYNOMIAL_DOMAIN, **ALPHA, **DEGREE),
        _powers("values"),
        ANY,
        False,
        True,
        kernel=_power,
    ),
    "PolynomialMKLClassifier": Family(
        mk.PolynomialMKLClassifier,
        with_domain(POLYNOMIAL_DOMAIN, **ALPHA, **DEGREE),
        _powers("two classes"),
        ANY,
        True,
        True,
        kernel=_power,
    ),
    "RLS2Regressor": Family(mk.RLS2Regressor, fixed(RLS2), _two_layers("values"), ANY, False),
    "RLS2Classifier": Family(mk.RLS2Classifier, fixed(RLS2), _two_layers("two classes"), ANY, True),
    "RLS2Classifier, shared weights": Family(
        lambda **given: mk.RLS2Classifier(multiclass="shared", **given),
        fixed(RLS2),
        _two_layers("several classes"),
        ANY,
        True,
        classes=3,
        kernel=lambda model, K: None,
    ),
    "PolynomialMKLClassifier, shared weights": Family(
        lambda **given: mk.PolynomialMKLClassifier(multiclass="shared", degree=1, **given),
        with_domain(POLYNOMIAL_DOMAIN, **ALPHA),
        least_squares(_polynomial_domain, "several classes"),
        ANY,
        True,
        True,
        classes=3,
        kernel=lambda model, K: None,
    ),
    "LinearRLS2Regressor": Family(
        lambda **given: mk.LinearRLS2Regressor(**{k: v for k, v in given.items() if k != "kernels"}),
        fixed(ALPHA, {"scaling": st.sampled_from(["norm", "none"])}),
        _two_layers("values", "weights"),  # it predicts by coef_, which is more exact than the coefficients of kernels
        FEATURES,
        False,
        kernel=lambda model, K: None,
    ),
}
