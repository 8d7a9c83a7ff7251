"""What the families share: ranges of their parameters, kinds of samples, and what their models publish."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz import machines
from fuzz import saddle as s
from fuzz.claims import Claim
from fuzz.samples import Features, Matrices, as_numbers, kinds, log_uniform, samples
from fuzz.wide import Array, Number, wide

TOL = log_uniform(-11, -2)
AUTO_MOSTLY = ["auto", "auto", "auto"]
SVM = {"C": log_uniform(-6, 6), "tol": TOL}
INTERCEPT = {"fit_intercept": st.booleans()}
TUBE = SVM | {"epsilon": st.one_of(st.just(0.0), log_uniform(-4, 1))}
P = {"p": st.one_of(st.sampled_from([1.0, 2.0, 3.0, 8.0, 64.0]), st.floats(1.0625, 6.0, width=32))}
GENERALISED = st.one_of(
    st.fixed_dictionaries({"penalty": log_uniform(-6, 6), "norm": st.sampled_from([1, 2])}),
    st.fixed_dictionaries(
        {
            "radius": log_uniform(-3, 3),
            "norm": st.one_of(st.sampled_from([1, 2, 8.0]), st.floats(1.0625, 6.0, width=32)),
        }
    ),
)
ALPHA = {"alpha": log_uniform(-10, 10), "tol": TOL, "fit_intercept": st.booleans()}
ANY = kinds()
FEATURES = st.builds(Features, samples())
FEW_FEATURES = st.builds(Features, samples(most=15, features=3))
OF_SAMPLES = kinds(most=20).filter(lambda kind: not isinstance(kind, Matrices))


def solver(*others: str) -> dict[str, Any]:
    """The default solver, and now and then another."""
    return {"solver": st.sampled_from([*AUTO_MOSTLY, *others])}


def fixed(*groups: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({name: value for group in groups for name, value in group.items()})


def with_domain(domain: st.SearchStrategy[dict[str, Any]], **more: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(domain, st.fixed_dictionaries(more)).map(lambda both: both[0] | both[1])


def signs(y: Array) -> Array:
    return wide(np.where(y > 0, 1.0, -1.0))


def published(problem: Any, model: Any, **more: Any) -> Claim:
    objective = None if model.objective_ is None else as_numbers(model.objective_)
    return Claim(
        problem,
        as_numbers(model.weights_),
        as_numbers(model.dual_coef_),
        as_numbers(model.intercept_),
        objective,
        **more,
    )


def hinge(y: Array, C: Array, parameters: dict[str, Any]) -> machines.Machine:
    return machines.hinge(signs(y), C, parameters.get("fit_intercept", True))


def epsilon(y: Array, C: Array, parameters: dict[str, Any]) -> machines.Machine:
    machine = machines.epsilon(wide(y), C, parameters["epsilon"])
    return replace(machine, intercept=parameters.get("fit_intercept", True))


def generalised_domain(parameters: dict[str, Any]) -> s.Domain:
    if parameters.get("radius") is not None:
        return s.ball(parameters["norm"], parameters["radius"])
    return s.orthant(parameters["penalty"], parameters["norm"])


def ridge_machine(y: Array, weight: Array | None, parameters: dict[str, Any]) -> tuple[machines.Ridge, Array]:
    """The machine of the samples with a weight, and which these are."""
    kept = np.ones(len(y), dtype=bool) if weight is None else weight > 0
    w = wide(np.ones(len(y)) if weight is None else weight)[kept]
    Y = wide(y)[kept].reshape(int(kept.sum()), -1)
    mean = (w[:, None] * Y).sum(axis=0) / w.sum() if parameters.get("fit_intercept", True) else Number(0)
    return machines.Ridge(Y - mean, Number(parameters["alpha"]), w), kept


def nothing(y: Array, machine: machines.Ridge) -> float:
    """The value of a target that is rounding of the one given."""
    rounding = 8 * np.finfo(float).eps * float(np.abs(y).max())
    return float(machine.weight.sum() * rounding**2 / machine.alpha)


def kernel_size(K: Array) -> Number:
    """The mean self-value of the kernels that are not zero, of which no kernel learns anything but rounding."""
    sizes = np.einsum("kii->k", K) / K.shape[1]
    return sizes[sizes > 0].mean() if (sizes > 0).any() else Number(1)


def spread(y: Array) -> float:
    """The standard deviation of a target, its size where it is constant."""
    spread, size = float(np.std(y)), float(np.sqrt(np.mean(np.square(y))))
    return (spread if spread > 1e-12 * np.abs(y).max() else size) or 1.0
