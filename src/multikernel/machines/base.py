"""The inner problem for a fixed kernel matrix.

Sign convention of all machines: J(K) is convex and decreasing in K with dJ/dK = -A A', A the ``factor`` of the
solution. With K = sum_k w_k K_k the gradient in the weights is -tr A' K_k A: one pass of a bank (``quad``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from multikernel._floats import all_finite
from multikernel._parameters import check_parameters
from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.banks import Gram

PIECE = 100_000_000  # steps of pairs times variables, some tenths of a second, that cannot be interrupted


@dataclass(frozen=True, eq=False)
class DualSolution:
    """The solution of a machine for one kernel matrix and one target.

    Parameters
    ----------
    coef : array (n,), the predictor is f(x) = sum_i coef_i k(x_i, x) + intercept; (n, t) for t targets
    intercept : float; array (t,) for t targets
    value : float, the value of the dual problem at this solution, which is at most J(K)
    upper : float, at least J(K): the value of the primal problem at this solution
    factor : array (n,) or (n, t), A with dJ/dK = -A A'
    gap : float >= 0, upper - value relative to their size, or to a larger value that counts as zero
    converged : bool, whether the requested gap was reached, or the smallest that rounding allows
    n_iter : int
    warm : array, from which a later solve may start
    history : the gap after each round
    beyond : array like ``coef``: coefficients of the part of the targets outside the range of the kernel, where
        ``coef`` lacks them because their function is zero; None elsewhere
    """

    coef: Array
    intercept: Any
    value: float
    upper: float
    factor: Array
    gap: float
    converged: bool
    n_iter: int
    warm: Array
    history: tuple[float, ...] = ()
    beyond: Array | None = None


class Machine(ABC):
    """A solver of an inner problem: a frozen dataclass of its parameters, whose annotations define allowed values.

    Attributes
    ----------
    numeric : whether targets are numbers with a unit; otherwise they are labels
    nonnegative : whether J(K) >= 0 for every K, as where coefficients of zero are allowed and have the value zero
    """

    numeric: ClassVar[bool] = False
    nonnegative: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_parameters(self)

    @abstractmethod
    def solve(
        self, gram: Gram, target: Array, warm: Array | None = None, sample_weight: Array | None = None
    ) -> DualSolution:
        """The solution for one kernel matrix.

        Parameters
        ----------
        gram : square Gram of n samples
        target : array (n,); (n, t) where the machine is documented to take several targets
        warm : ``warm`` of an earlier solution, to start from
        sample_weight : array (n,), the weight of each sample's loss; 1 if not given

        Raises
        ------
        ValueError : for a target or weights that the machine cannot take
        """

    def with_tolerance(self, tol: float) -> Self:
        """The machine that solves the same problem to a relative gap of at most ``tol``.

        The optimizers need rough solutions first and accurate ones near the optimum. An iterative machine overrides
        this method; a direct solver is always as accurate as possible, and returns itself.
        """
        return self

    def in_units(self, kernel: float, target: float) -> tuple[Self, float] | None:
        """The machine of the same problem in other units, and the unit of the coefficients.

        With K = kernel K' and y = target y' that machine solves for K' and y', and its coefficients times the unit are
        those of this machine. None, the default, where there is no such machine: then units are not changed.

        Parameters
        ----------
        kernel, target : float > 0; the target of labels is 1
        """
        return None

    def balance(self, target: float) -> float:
        """The size of kernels at which the loss and the norm of the predictor are balanced, for targets of this spread.

        For smaller kernels the size of the coefficients depends only on the loss. 0, the default, where there is no
        such size.
        """
        return 0.0


def out_of_time(n: int) -> bool:
    """Whether a machine of n samples has to return its best solution so far; a small machine is finished first."""
    return n > 1000 and time_is_up()  # one of 1000 samples takes some tenths of a second


def check_gram(gram: Gram, n: int) -> None:
    """ValueError for a matrix that is not square, or not that of n samples, and where there is no sample."""
    if n == 0:
        raise ValueError("a machine needs at least one sample, and the target has none")
    if gram.shape != (n, n):
        raise ValueError(
            f"a target of {n} samples needs the kernel matrix of these samples, of shape ({n}, {n}), got {gram.shape}"
        )


def checked_target(target: Array, several: bool = False) -> Array:
    """The target (n,), or where there may be several (n, t), as floats; ValueError where it is not finite."""
    y = np.asarray(target, dtype=float)
    if y.ndim not in ((1, 2) if several else (1,)):
        columns = ""
        if several:
            columns = ", or a matrix with a column for each of several targets"
        raise ValueError(f"this machine needs a target of one number for each sample{columns}; got shape {y.shape}")
    if not all_finite(y):
        raise ValueError("the target has entries that are NaN or infinite; give a finite number for each sample")
    return y


def check_signs(target: Array) -> None:
    """ValueError for labels other than -1 and +1, and for those of one class only."""
    if not np.isin(target, (-1.0, 1.0)).all() or len(np.unique(target)) < 2:
        raise ValueError("a classification machine needs targets -1 and +1 with both classes present")
