"""What passes between an optimizer, its search and its observers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.problem import Evaluation


@dataclass(frozen=True, eq=False)
class Event:
    """What an observer is told after each solution of an inner problem.

    Parameters
    ----------
    iteration : int, counts from 1
    value, upper : float, bounds of the objective at this theta
    bound : float, the best bound of the optimum so far
    theta : array (d,)
    certificate : float, of the best point so far
    """

    iteration: int
    value: float
    upper: float
    bound: float
    theta: Array
    certificate: float


@dataclass(frozen=True, eq=False)
class Result:
    """The best point found.

    Parameters
    ----------
    theta : array (d,), feasible
    evaluation : the problem at theta
    certificate : float, the relative duality gap, or the stationarity where K is not linear in theta
    converged : bool, whether the certificate asked for was reached
    n_iter : int, how many inner problems were solved
    history : the certificate after each of them
    """

    theta: Array
    evaluation: Evaluation
    certificate: float
    converged: bool
    n_iter: int
    history: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class State:
    """What is known so far.

    Parameters
    ----------
    latest : the problem at the point proposed last
    best : the problem at the best point
    bound : float, the best bound of the optimum
    history : the certificate after each evaluation
    """

    latest: Evaluation
    best: Evaluation
    bound: float
    history: tuple[float, ...] = ()

    @property
    def gap(self) -> float:
        """Upper value minus bound."""
        return max(self.best.upper - self.bound, 0.0)

    def told(self, evaluation: Evaluation, tol: float) -> State:
        """The state after a further evaluation; the best point has the lowest value, or is the first stationary one."""
        stationary = not np.isfinite(evaluation.bound) and evaluation.certificate <= tol
        better = stationary or evaluation.upper < self.best.upper
        bound = max(self.bound, evaluation.bound)
        return State(evaluation, evaluation if better else self.best, bound, self.history)


@dataclass(frozen=True, eq=False)
class Proposal:
    """A feasible point, and a bound of the optimum where the algorithm knows one."""

    theta: Array
    bound: float = -np.inf


__all__ = ["Event", "Proposal", "Result", "State"]
