"""Support vector machines with learned weights, of labels, of numbers in a tube and of one class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

import multikernel as mk
from fuzz import machines
from fuzz import saddle as s
from fuzz.claims import Claim, Family
from fuzz.families.parts import (
    ANY,
    GENERALISED,
    INTERCEPT,
    SVM,
    TOL,
    TUBE,
    P,
    epsilon,
    fixed,
    generalised_domain,
    hinge,
    published,
    signs,
    solver,
    with_domain,
)
from fuzz.hulls import Hulls, MaxMin
from fuzz.samples import Given, as_numbers, log_uniform
from fuzz.wide import Array, Number, wide

_SIMPLEX_SOLVERS = solver("reduced_gradient", "cutting_plane", "level", "subgradient")
_BALLS = st.one_of(  # the updates of block norms are for balls around 0
    fixed(P, solver("block_norm", "projected_gradient")),
    fixed(P, {"offset": log_uniform(-3, 3)}, solver("projected_gradient")),
)


def _svm(machine: Callable[..., machines.Machine], domain: Callable[[dict[str, Any]], s.Domain]) -> Any:
    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
        C = Number(parameters["C"]) * (np.ones(len(y)) if weight is None else wide(weight))
        problem = s.Saddle(given.K, machine(y, C, parameters), domain(parameters))
        yield published(problem, model)

    return claims


def _unit_ball(parameters: dict[str, Any]) -> s.Domain:
    return s.ball(parameters.get("p", 1.0), center=parameters.get("offset", 0.0))


def _one_class(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
    n = given.K.shape[1]
    floor = 1e-5 * 0.5 * float(np.trace(given.K, axis1=1, axis2=2).max()) / n
    problem = s.Saddle(given.K, machines.one_class(n, parameters["nu"]), s.ball(1.0))
    yield published(problem, model, floor=floor)


def _gmkl_classifier(
    model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
) -> Iterator[Claim]:
    machine = machines.squared_hinge(signs(y), parameters["C"])
    yield published(s.Saddle(given.K, machine, generalised_domain(parameters)), model)


def _smkl(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
    C = Number(parameters["C"]) * (np.ones(len(y)) if weight is None else wide(weight))
    problem = s.Saddle(given.K, machines.hinge(signs(y), C, intercept=False), s.entropy(0.5 * parameters["smoothing"]))
    yield Claim(
        problem,
        as_numbers(model.weights_),
        as_numbers(model.dual_coef_),
        Number(0),
        -as_numbers(model.objective_),
        point="weights",
    )


def _easymkl(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
    problem = Hulls(given.K.sum(axis=0), signs(y), Number(parameters["lam"]))
    yield published(problem, model, point="nothing")


def _largest_margin(
    model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
) -> Iterator[Claim]:
    problem = MaxMin(given.K, signs(y), Number(parameters["lam"]))
    coef = signs(y) * as_numbers(model.hull_vector_)
    objective = as_numbers(model.objective_)
    yield Claim(problem, as_numbers(model.weights_), coef, Number(0), objective, point="nothing")


FAMILIES: dict[str, Family] = {
    "L1MKLClassifier": Family(
        mk.L1MKLClassifier, fixed(SVM, INTERCEPT, _SIMPLEX_SOLVERS), _svm(hinge, _unit_ball), ANY, True, True
    ),
    "L1MKLRegressor": Family(
        mk.L1MKLRegressor, fixed(TUBE, INTERCEPT, _SIMPLEX_SOLVERS), _svm(epsilon, _unit_ball), ANY, False, True
    ),
    "LpMKLClassifier": Family(
        mk.LpMKLClassifier, with_domain(_BALLS, **SVM, **INTERCEPT), _svm(hinge, _unit_ball), ANY, True, True
    ),
    "LpMKLRegressor": Family(
        mk.LpMKLRegressor, with_domain(_BALLS, **TUBE, **INTERCEPT), _svm(epsilon, _unit_ball), ANY, False, True
    ),
    "OneClassMKL": Family(
        mk.OneClassMKL,
        fixed({"nu": st.floats(0.0078125, 1.0, width=32), "tol": TOL}, solver("reduced_gradient", "level")),
        _one_class,
        ANY,
        True,
        needs_target=False,
    ),
    "SMKLClassifier": Family(
        mk.SMKLClassifier,
        fixed(SVM, {"smoothing": log_uniform(-4, 4)}, solver("accelerated")),
        _smkl,
        ANY,
        True,
        True,
    ),
    "EasyMKLClassifier": Family(
        mk.EasyMKLClassifier,
        fixed({"lam": st.one_of(log_uniform(-6, 0), st.sampled_from([0.1, 1.0])), "tol": TOL}),
        _easymkl,
        ANY,
        True,
    ),
    "EasyMKLClassifier, largest margin": Family(
        lambda **given: mk.EasyMKLClassifier(method="max_min", **given),
        fixed({"lam": st.one_of(log_uniform(-6, 0), st.sampled_from([0.1, 1.0])), "tol": TOL}),
        _largest_margin,
        ANY,
        True,
    ),
    "GMKLClassifier": Family(
        mk.GMKLClassifier, with_domain(GENERALISED, C=log_uniform(-6, 6), tol=TOL), _gmkl_classifier, ANY, True
    ),
    "SMKLRegressor": Family(
        mk.SMKLRegressor,
        fixed(TUBE, {"smoothing": log_uniform(-4, 4)}),
        _svm(epsilon, lambda parameters: s.entropy(0.5 * parameters["smoothing"])),
        ANY,
        False,
        True,
    ),
    "GMKLSupportRegressor": Family(
        mk.GMKLSupportRegressor, with_domain(GENERALISED, **TUBE), _svm(epsilon, generalised_domain), ANY, False, True
    ),
}
