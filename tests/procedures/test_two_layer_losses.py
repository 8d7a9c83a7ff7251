"""Two layers are multiple kernel learning, whatever the convex loss: equal minima, equal functions.

With functions f_k in the space of R_k, a linear second layer w in the unit ball, and a loss L,

    min over f_1 .. f_m, |w| <= 1 of  C sum_i L(y_i, sum_k w_k f_k(x_i)) + 1/2 sum_k |f_k|^2
        =  min over d >= 0, sum d = 1 of J(sum_k d_k R_k),        d_k = w_k^2,  f_k = w_k R_k c.

The first problem is not convex. It is minimised here by L-BFGS from points at random, the second by the package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from multikernel import bind, kernels
from multikernel.combinations import Linear
from multikernel.domains import Simplex
from multikernel.machines import Machine, SquaredHingeMachine
from multikernel.problem import Problem
from multikernel.procedures import SimplicialDecomposition
from outsiders import Logistic

Array = Any
RNG = np.random.default_rng(1)
X = RNG.normal(size=(30, 3))
Y = np.where(X[:, 0] + X[:, 1] ** 2 - 1.0 + 0.5 * RNG.normal(size=30) > 0, 1.0, -1.0)
BANK = bind(kernels.per_feature(kernels.RBF(0.5)), X)


def logistic(f: Array) -> tuple[float, Array]:
    return float(np.logaddexp(0.0, -Y * f).sum()), -Y * expit(-Y * f)


def squared_hinge(f: Array) -> tuple[float, Array]:
    short = np.maximum(1.0 - Y * f, 0.0)
    return float(short @ short), -2.0 * Y * short


LOSSES: dict[str, tuple[Machine, float, float, Callable[[Array], tuple[float, Array]]]] = {
    "logistic": (Logistic(C=2.0), 2.0, 1.0, logistic),
    "squared hinge": (SquaredHingeMachine(C=2.0, fit_intercept=False), 1.0, 2.0, squared_hinge),  # of |f|^2, twice it
}


def two_layers(roots: Array, C: float, loss: Callable[[Array], tuple[float, Array]], seed: int) -> tuple[float, Array]:
    """The value and the function at a local minimum."""
    m, n, _ = roots.shape

    def value(point: Array) -> tuple[float, Array]:
        U = point[:-m].reshape(m, n)
        size = float(np.linalg.norm(point[-m:]))
        w = point[-m:] / size
        parts = np.einsum("kij,kj->ki", roots, U)
        losses, slope = loss(w @ parts)
        in_w = C * parts @ slope
        in_w = (in_w - w * float(w @ in_w)) / size
        in_U = C * w[:, None] * np.einsum("kij,i->kj", roots, slope) + U
        return C * losses + 0.5 * float((U**2).sum()), np.append(in_U.ravel(), in_w)

    start = np.random.default_rng(seed).normal(size=m * n + m)
    found = minimize(
        value, start, jac=True, method="L-BFGS-B", options={"maxiter": 20_000, "ftol": 1e-15, "gtol": 1e-9}
    )
    w = found.x[-m:] / np.linalg.norm(found.x[-m:])
    return float(found.fun), w @ np.einsum("kij,kj->ki", roots, found.x[:-m].reshape(m, n))


@pytest.mark.parametrize("name", LOSSES)
def test_two_layers_are_multiple_kernel_learning(name: str) -> None:
    machine, C, part, loss = LOSSES[name]
    problem = Problem(BANK, Linear(), machine, Simplex(), Y)
    found = SimplicialDecomposition(tol=1e-7).minimise(problem)
    assert found.converged
    K, d, c = BANK.matrices(), found.theta, found.evaluation.dual.coef
    f = np.einsum("k,kij,j->i", d, K, c)
    values, vectors = np.linalg.eigh(K)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    # the point that the theorem makes of the weights has the same value
    at_point = C * loss(f)[0] + 0.5 * sum(dk * float(c @ Kk @ c) for dk, Kk in zip(d, K, strict=True))
    assert part * at_point == pytest.approx(found.evaluation.upper, rel=1e-6)
    assert found.bound <= part * at_point
    # and no two layers have a smaller one
    each = [two_layers(roots, C, loss, seed) for seed in range(3)]
    assert all(part * value >= found.bound * (1.0 - 1e-9) for value, _ in each)
    least, function = min(each, key=lambda one: one[0])
    assert part * least == pytest.approx(found.evaluation.upper, rel=1e-5)
    np.testing.assert_allclose(function, f, atol=1e-2)
