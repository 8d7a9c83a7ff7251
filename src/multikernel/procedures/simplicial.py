"""Simplicial decomposition: alternately a machine and the problem of the mixtures of all machines so far.

    min_{theta in D}  J(sum_k theta_k K_k) + r(theta),        J(K) = max_A g(A) - tr A'K A

A machine at the weights returns its ``factor`` A and g(A) = value + theta'q, q_k = tr A'K_k A. The mixtures of these
factors give a small problem whose solution bounds the optimum and proposes the next weights (``dual_hull``). The bound
is computed only from the shares x of its solution,

    sum_j x_j g(A_j) - h(q(x)),        q_k(x) = tr A(x)'K_k A(x),    A(x) = sum_j x_j A_j,

so that it does not depend on the solver's tolerance, and is lowered by a bound of its rounding error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._floats import EPS
from multikernel._linalg import as_columns
from multikernel._parameters import Part
from multikernel._typing import Array
from multikernel.domains import Separable
from multikernel.duality import dual_value
from multikernel.optimizers import Optimizer
from multikernel.optimizers.base import Search
from multikernel.optimizers.needs import need_linear, need_separable
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Evaluation, Problem
from multikernel.procedures.dual_hull import DualHull, next_weights, return_fraction


@dataclass(frozen=True)
class SimplicialDecomposition(Optimizer):
    """Machines and the problem of their mixtures alternately, over a domain whose constraint bounds the weights.

    Parameters
    ----------
    tol : float > 0, the relative duality gap to reach
    max_iter : int >= 1, how many inner problems at most are solved
    accuracy : float in (0, 1], the gap of a machine, relative to the gap so far

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.combinations import Linear
    >>> from multikernel.domains import Simplex
    >>> from multikernel.machines import CrammerSingerMachine
    >>> from multikernel.problem import Problem
    >>> from multikernel.procedures import SimplicialDecomposition
    >>> X = np.array([[0.0, 1.0], [0.2, -1.0], [1.0, 0.9], [1.2, -1.1], [2.1, 0.0]])
    >>> classes = np.array([0, 0, 1, 1, 2])
    >>> bank = bind(kernels.per_feature(kernels.RBF(1.0)), X)
    >>> machine = CrammerSingerMachine(C=10.0)
    >>> problem = Problem(bank, Linear(), machine, Simplex(), 2.0 * np.eye(3)[classes] - 1.0)
    >>> found = SimplicialDecomposition(tol=1e-6).minimise(problem)
    >>> found.converged, bool(found.theta[0] > 0.9)
    (True, True)
    """

    accuracy: Part = 0.05

    def check(self, problem: Problem) -> None:
        need_linear(self, problem)
        domain = need_separable(type(self).__name__, problem)
        if not domain.constrained:
            raise TypeError(
                f"SimplicialDecomposition needs a domain whose constraint bounds the weights, and the domain is "
                f"{domain}; ProjectedGradient and QuasiNewton work on every domain"
            )

    def inner_gap(self, gap: float) -> float:
        return self.accuracy * gap

    def search(self, problem: Problem, state: State) -> Search:
        domain = need_separable(type(self).__name__, problem)
        m = problem.size
        fraction = return_fraction(domain, m)
        hull = DualHull.empty(m, state.latest.dual.factor.size)
        while True:
            gap = min(max(state.certificate.value, self.tol), 1.0)
            hull = _with_machine(hull, problem, state.latest)
            model, x = hull.solved(domain, 2.0, 0.02 * gap)
            bound = _bound(hull, x, domain)
            theta = domain.feasible(next_weights(model, state.best.theta, fraction))
            state = yield Proposal(theta, bound)


def _with_machine(hull: DualHull, problem: Problem, evaluation: Evaluation) -> DualHull:
    """The hull with the factor of a machine; the value at it is 2 (c - theta'q / 2) without the penalty."""
    A = as_columns(evaluation.dual.factor)
    products = problem.bank.apply(A).reshape(problem.size, -1)
    constant = evaluation.dual.value + float(evaluation.theta @ evaluation.scores)
    return hull.with_point(A.ravel(), 0.5 * constant, products)


def _bound(hull: DualHull, x: Array, domain: Separable) -> float:
    """The bound of the mixture with shares x."""
    q = hull.forms.quad(x)
    constant = 2.0 * float(x @ hull.constants)
    size = 2.0 * float(x @ np.abs(hull.constants)) + domain.support(q)
    return dual_value(constant, q, domain) - EPS * len(x) * abs(size)
