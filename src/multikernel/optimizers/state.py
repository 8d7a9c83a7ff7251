"""What passes between an optimizer and its search."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._typing import Array
from multikernel.certificate import Certificate
from multikernel.observer import Event
from multikernel.problem import Evaluation


@dataclass(frozen=True, eq=False)
class Result:
    """The best point found.

    Parameters
    ----------
    theta : array (d,), feasible
    evaluation : the problem at theta
    certificate : the duality gap, or the stationarity where no bound of the optimum is known
    bound : float, the best bound of the optimum; -inf where none is known
    converged : bool, whether the certificate asked for was reached
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
    """What is known so far.

    Parameters
    ----------
    latest : the problem at the point proposed last
    best : the problem at the best point
    bound : float, the best bound of the optimum
    certificate : of the best point; that of the first evaluation if not given
    history : the certificate's value after each evaluation
    unknown : int, how many of the last evaluations left more than half of the value unknown
    unresolved : int, how many of the last evaluations left more unknown than was asked of the machine and than the
        tolerance, while no value was surely below ``mark``
    mark : float, the least value that the best point may have had when such evaluations began
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
        at = self.latest
        return Event(len(self.history), self.certificate, at.theta, at.value, at.upper, self.bound)

    @classmethod
    def first(cls, evaluation: Evaluation) -> State:
        """The state after the first evaluation."""
        return cls(evaluation, evaluation, evaluation.bound, evaluation.certificate, unknown=_unknown(evaluation))

    def certified(self, certificate: Certificate, step: bool = True) -> State:
        """The state with a certificate: of a further step, or else in place of the last step's."""
        before = self.history if step else self.history[:-1]
        return replace(self, certificate=certificate, history=(*before, certificate.value))

    def after(self, evaluation: Evaluation, tol: float, asked: float) -> State:
        """The state after a further evaluation.

        The best point is the one of the lowest value; where no bound is known, the first of stationarity ``tol``.
        ``asked`` is the gap that was asked of the machine.
        """
        stationary = not np.isfinite(evaluation.bound) and evaluation.certificate.reached(tol)
        better = stationary or evaluation.upper < self.best.upper
        bound = max(self.bound, evaluation.bound)
        unknown = self.unknown + 1 if _unknown(evaluation) else 0
        best = evaluation if better else self.best
        unresolved = self.unresolved + 1
        mark = self.mark
        if evaluation.dual.gap <= max(tol, asked) or best.upper < mark:
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
    """1 where the machine left more than half of the value unknown, as rounding may; else 0."""
    return int(not evaluation.dual.converged and evaluation.dual.gap > 0.5)


@dataclass(frozen=True, eq=False)
class Proposal:
    """A feasible point, and a bound of the optimum where the algorithm knows one."""

    theta: Array
    bound: float = -np.inf
