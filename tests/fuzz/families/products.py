"""Products of kernels, chosen on the lattice of their subsets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

import hkl_reference
import multikernel as mk
from fuzz import machines
from fuzz.claims import Claim, Family
from fuzz.families.parts import fixed, ridge_machine, signs
from fuzz.lattice import Lattice
from fuzz.samples import Given, as_numbers, kinds, log_uniform
from fuzz.wide import Array, Number, combine

LATTICE = {
    "C": log_uniform(-4, 4),
    "rho": st.one_of(st.just(2.0), st.floats(1.0625, 2.0, width=32)),
    "beta": st.one_of(st.just(2.0), log_uniform(-0.25, 1.5)),
    "tol": log_uniform(-6, -2),
}
FEW_KERNELS = kinds(most=16, kernels=3).filter(lambda kind: kind.count <= 3)


def _lattice(labels: bool) -> Any:
    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
        nodes, C = hkl_reference.lattice(len(given.K)), parameters["C"]
        if labels:
            machine: Any = machines.hinge(signs(y), C * np.ones(len(y)))
        else:
            machine = ridge_machine(y, None, {"alpha": 0.5 / Number(C)})[0]
        problem = Lattice(_products(given.K, nodes), nodes, machine, model.beta, parameters["rho"])
        weights = np.zeros(len(nodes), dtype=Number)
        weights[[nodes.index(node) for node in model.nodes_]] = model.weights_
        coef = as_numbers(model.dual_coef_)
        objective, intercept = as_numbers(model.objective_), as_numbers(model.intercept_)
        yield Claim(problem, weights, coef if labels else coef[:, None], intercept, objective)

    return claims


def _products(K: Array, nodes: Any) -> Array:
    """The entrywise product of the kernels of every node."""
    one = np.ones(K.shape[1:], dtype=Number)
    return np.array([np.prod([one, *(K[i] for i in node)], axis=0) for node in nodes])


FAMILIES: dict[str, Family] = {
    "HKLClassifier": Family(
        mk.HKLClassifier,
        fixed(LATTICE),
        _lattice(True),
        FEW_KERNELS,
        True,
        kernel=lambda model, K: combine(_products(K, model.nodes_), as_numbers(model.weights_)),
    ),
    "HKLRegressor": Family(
        mk.HKLRegressor,
        fixed(LATTICE),
        _lattice(False),
        FEW_KERNELS,
        False,
        kernel=lambda model, K: combine(_products(K, model.nodes_), as_numbers(model.weights_)),
    ),
}
