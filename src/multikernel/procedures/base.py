"""How kernel weights are found, and what is known of them: one type for every procedure."""

from __future__ import annotations

from dataclasses import dataclass

from multikernel._typing import Array


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the m kernels with their certificate.

    Parameters
    ----------
    values : array (m,), >= 0
    objective : the value of the problem that defines them; None for a rule that solves no problem
    gap : relative duality gap of that value; None likewise
    converged : whether the gap asked for was reached
    n_iter : steps taken
    history : the gap along the way
    warm : what a later run may start from
    stationarity : where the problem is not convex, in place of the gap: what other weights could gain to first order,
        relative to the value
    """

    values: Array
    objective: float | None = None
    gap: float | None = None
    converged: bool = True
    n_iter: int = 0
    history: tuple[float, ...] = ()
    warm: Array | None = None
    stationarity: float | None = None
