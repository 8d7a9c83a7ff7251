"""Products and powers of kernels whose weights have stationary points only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

import multikernel as mk
from fuzz import machines
from fuzz import saddle as s
from fuzz.claims import Family, Flatness
from fuzz.families.parts import FEW_FEATURES, fixed, ridge_machine, signs
from fuzz.samples import Given, as_numbers, log_uniform
from fuzz.stationary import GaussianProduct, Landscape, Power
from fuzz.wide import Array, Number, wide

NOT_CONVEX = {
    "combination": st.sampled_from(["polynomial", "rbf_product"]),
    "degree": st.sampled_from([2, 3]),
    "radius": log_uniform(-2, 2),
    "norm": st.sampled_from([1, 2, 1.5]),
    "tol": log_uniform(-8, -2),
    "max_iter": st.just(60),
}
IN_A_TUBE = {
    "combination": st.just("rbf_product"),  # powers of large kernels take pairs of coefficients minutes
    "C": log_uniform(-4, 2),
    "epsilon": st.one_of(st.just(0.0), log_uniform(-4, 1)),
    "tol": log_uniform(-5, -2),
}


def _landscape(target: str) -> Any:
    def claims(
        model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
    ) -> Iterator[Flatness]:
        if target == "labels":
            machine: Any = machines.squared_hinge(signs(y), parameters["C"])
        elif target == "numbers":
            machine = ridge_machine(y, None, parameters)[0]
        else:
            machine = machines.epsilon(wide(y), Number(parameters["C"]), parameters["epsilon"])
        domain = s.ball(parameters["norm"], parameters["radius"])
        if parameters["combination"] == "polynomial":
            combination: Any = Power(given.K, parameters["degree"])
        else:
            combination = GaussianProduct(given.K)
        landscape = Landscape(combination, machine, domain)
        yield Flatness(landscape, as_numbers(model.weights_), as_numbers(model.dual_coef_))

    return claims


FAMILIES: dict[str, Family] = {
    "GMKLClassifier, not convex": Family(
        mk.GMKLClassifier,
        fixed(NOT_CONVEX, {"C": log_uniform(-4, 4)}),
        _landscape("labels"),
        FEW_FEATURES,
        True,
        kernel=lambda model, K: None,
    ),
    "GMKLRegressor, not convex": Family(
        mk.GMKLRegressor,
        fixed(NOT_CONVEX, {"alpha": log_uniform(-4, 6)}),
        _landscape("numbers"),
        FEW_FEATURES,
        False,
        kernel=lambda model, K: None,
    ),
    "GMKLSupportRegressor, not convex": Family(
        mk.GMKLSupportRegressor,
        fixed(NOT_CONVEX, IN_A_TUBE),
        _landscape("numbers in a tube"),
        FEW_FEATURES,
        False,
        kernel=lambda model, K: None,
    ),
}
