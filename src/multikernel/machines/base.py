"""The inner problem for a fixed kernel matrix.

Sign convention of all machines: J(K) is convex and decreasing in K with dJ/dK = -A A', A the ``factor`` of the
solution. With K = sum_k w_k K_k the gradient in the weights is -tr A' K_k A: one pass of a bank (``quad``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.banks import Gram


@dataclass(frozen=True, eq=False)
class DualSolution:
    """What a machine found for one kernel matrix and one target.

    Parameters
    ----------
    coef : array (n,), the predictor is f(x) = sum_i coef_i k(x_i, x) + intercept; (n, t) for t targets
    intercept : float; array (t,) for t targets
    value : float, J(K) at this solution
    factor : array (n,) or (n, t), A with dJ/dK = -A A'
    gap : float, an upper bound of the distance of ``value`` to the optimum, relative to it
    converged : bool, whether the gap asked for was reached
    n_iter : int
    warm : array, what a later solve may start from
    history : the gap along the way
    """

    coef: Array
    intercept: Any
    value: float
    factor: Array
    gap: float
    converged: bool
    n_iter: int
    warm: Array
    history: tuple[float, ...] = field(default=())


class Machine(ABC):
    """Solves one inner problem; a frozen dataclass of its parameters."""

    @abstractmethod
    def solve(
        self, gram: Gram, target: Array, warm: Array | None = None, sample_weight: Array | None = None
    ) -> DualSolution:
        """The solution for one kernel matrix.

        Parameters
        ----------
        gram : square Gram of n samples
        target : array (n,); a machine that takes several targets says so, and takes (n, t)
        warm : ``warm`` of an earlier solution, to start from
        sample_weight : array (n,), what each sample's loss is multiplied with; 1 if not given

        Raises
        ------
        ValueError : for a target or weights that the machine cannot take
        """


def check_signs(target: Array) -> None:
    """Both classes have to be there, as -1 and +1."""
    if not np.isin(target, (-1.0, 1.0)).all() or len(np.unique(target)) < 2:
        raise ValueError("a classification machine needs targets -1 and +1 with both classes present")
