"""Values that are exchanged between an optimizer and its search: states, proposals, and the result."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._typing import Array
from multikernel.certificate import Certificate
from multikernel.observer import Event
from multikernel.problem import Evaluation


@dataclass(frozen=True, eq=False)
class Result:
    """The result of an optimizer: its best point.

    Parameters
    ----------
    theta : array (d,), feasible
    evaluation : the problem at theta
    certificate : the duality gap, or the stationarity where no bound of the optimum is known
    bound : float, the best bound of the optimum; -inf where none is known
    converged : bool, whether the requested certificate was reached
    n_iter : int, how many inner problems were solved
    history : the certificate's value after each of them
    """

    theta: Array
    evaluation: Evaluation
    certificate: Certificate
    bound: float
    converged: bool
    n_iter: int
    history: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class State:
    """The state of a run.

    Parameters
    ----------
    latest : the problem at the point proposed last
    best : the problem at the best point
    bound : float, the best bound of the optimum
    certificate : of the best point; that of the first evaluation if not given
    history : the certificate's value after each evaluation
    unknown : int, how many of the last evaluations in a row had a machine's gap of more than half of the value
    unresolved : int, how many of the last evaluations in a row had a larger gap than requested of the machine and than
        the tolerance, while no value was certainly below ``mark``
    mark : float, the lower bound of the best point's value when these evaluations began
    """

    latest: Evaluation
    best: Evaluation
    bound: float
    certificate: Certificate
    history: tuple[float, ...] = ()
    unknown: int = 0
    unresolved: int = 0
    mark: float = np.inf

    @property
    def event(self) -> Event:
        """The last step, for an observer."""
        latest = self.latest
        return Event(len(self.history), self.certificate, latest.theta, latest.value, latest.upper, self.bound)

    @classmethod
    def first(cls, evaluation: Evaluation) -> State:
        """The state after the first evaluation."""
        return cls(evaluation, evaluation, evaluation.bound, evaluation.certificate, unknown=_unknown(evaluation))

    def certified(self, certificate: Certificate, step: bool = True) -> State:
        """The state with a certificate: of a new step, or else in place of the last step's certificate."""
        before = self.history if step else self.history[:-1]
        return replace(self, certificate=certificate, history=(*before, certificate.value))

    def after(self, evaluation: Evaluation, tol: float, machine_gap: float) -> State:
        """The state after another evaluation.

        The best point is the one of the lowest value; where no bound is known, the first of stationarity ``tol``.
        ``machine_gap`` is the gap that was requested of the machine.
        """
        stationary = not np.isfinite(evaluation.bound) and evaluation.certificate.reached(tol)
        better = stationary or evaluation.upper < self.best.upper
        bound = max(self.bound, evaluation.bound)
        unknown = self.unknown + 1 if _unknown(evaluation) else 0
        best = evaluation if better else self.best
        unresolved = self.unresolved + 1
        mark = self.mark
        if evaluation.dual.gap <= max(tol, machine_gap) or best.upper < mark:
            unresolved = 0
            mark = best.value
        return State(
            latest=evaluation,
            best=best,
            bound=bound,
            certificate=self.certificate,
            history=self.history,
            unknown=unknown,
            unresolved=unresolved,
            mark=mark,
        )


def _unknown(evaluation: Evaluation) -> int:
    """1 where the gap of the machine is more than half of the value, as may happen by rounding; else 0."""
    return int(not evaluation.dual.converged and evaluation.dual.gap > 0.5)


@dataclass(frozen=True, eq=False)
class Proposal:
    """A feasible point, and a bound of the optimum where the algorithm knows one."""

    theta: Array
    bound: float = -np.inf
