"""Kernel weights with their certificate, which every procedure returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.certificate import Certificate, Kind
from multikernel.machines import DualSolution
from multikernel.optimizers import Result
from multikernel.problem import Problem


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the m kernels with their certificate.

    Parameters
    ----------
    values : array (m,), >= 0
    objective : float, the value, or an upper bound of it, of the problem that defines these weights; None for a rule
        without such a problem, an array where each target has separate weights
    certificate : how far that value may be from the optimum, or from being stationary, for the matrices that the bank
        stores; None for a rule
    converged : whether the requested certificate was reached
    n_iter : steps taken
    history : the certificate's value after each step
    variables : array (N,), the machine's variables in the problem that defines the weights; None where these are the
        variables of the solution that is returned with the weights
    witness : array (N,), other variables of that machine, which prove ``bound``; None where ``variables`` prove it
    bound : a lower bound of the optimum of the problem; None where none is known
    rule_met : whether the run ended by a stopping rule that the user chose in place of the certificate
    """

    values: Array
    objective: Any = None
    certificate: Certificate | None = None
    converged: bool = True
    n_iter: int = 0
    history: tuple[float, ...] = ()
    variables: Array | None = None
    witness: Array | None = None
    bound: float | None = None
    rule_met: bool = False

    @property
    def gap(self) -> float | None:
        """The relative duality gap; None where no bound of the optimum is known."""
        return self._value_of("duality gap")

    @property
    def stationarity(self) -> float | None:
        """The relative stationarity; None where the duality gap is known, and for a rule."""
        return self._value_of("stationarity")

    def _value_of(self, kind: Kind) -> float | None:
        certificate = self.certificate
        if certificate is not None and certificate.kind == kind:
            return certificate.value
        return None


@dataclass(frozen=True, eq=False)
class Start:
    """The start of a procedure, from the solution of a similar problem.

    Parameters
    ----------
    weights : array (m,), its kernel weights
    variables : array (N,), its machine's variables; None where only weights are known
    witness : array (N,), other variables, which prove a higher bound there; None where there are none
    """

    weights: Array
    variables: Array | None = None
    witness: Array | None = None

    @classmethod
    def of(cls, weights: Weights, solution: DualSolution) -> Start:
        """From the weights and the machine's solution that a procedure returned."""
        if weights.variables is None:
            variables = solution.warm
        else:
            variables = weights.variables
        return cls(weights.values, variables, weights.witness)


def with_minimal_weights(problem: Problem, weights: Weights) -> Weights:
    """The weights with those of zero kernels as small as the domain allows."""
    values = problem.minimal(weights.values)
    if values is weights.values or weights.objective is None:
        return weights
    saved = problem.domain.penalty(weights.values) - problem.domain.penalty(values)
    return replace(weights, values=values, objective=weights.objective - saved)


def outcome(result: Result) -> tuple[Weights, DualSolution]:
    """The result of an optimizer as weights with their certificate, and the machine's solution at them."""
    weights = Weights(
        values=result.theta,
        objective=result.evaluation.upper,
        certificate=result.certificate,
        converged=result.converged,
        n_iter=result.n_iter,
        history=result.history,
        bound=result.bound if np.isfinite(result.bound) else None,
    )
    return weights, within(weights, result.evaluation.dual)


def within(weights: Weights, dual: DualSolution) -> DualSolution:
    """The machine's solution as a part of the problem of the weights, whose certificate holds for both."""
    assert weights.certificate is not None
    return replace(dual, converged=weights.converged, gap=min(dual.gap, weights.certificate.value))
