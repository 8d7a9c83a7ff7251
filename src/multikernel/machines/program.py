"""The quadratic program that all support vector machines share.

    J(K) = scale * max_a  p'a - rho/2 |a|^2 - 1/2 b'K b,        b = E a,   0 <= a <= u,   1'b = total

A variable a_j belongs to one sample and enters its coefficient b_i = sum_j sign_j a_j with a sign. Classification has one
variable for each sample (the sign is the label), regression two (a residual above, a residual below); the equality is
there where an intercept is fitted, and its multiplier is the intercept. The primal is, with f = K b + intercept,

    J(K) = scale * min_f  1/2 |f|^2 + sum_j loss_j(f),    loss_j = max_{0 <= a_j <= u_j} (p_j - sign_j f_i) a_j - rho/2 a_j^2
(+ total * intercept; f in the losses includes it.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel.kernels.base import Array


@dataclass(frozen=True, eq=False)
class SupportProgram:
    """The data of the program, free of the kernel matrix.

    Parameters
    ----------
    n : int, how many samples
    sample : int array (N,), the sample of each variable
    sign : array (N,) of -1 and +1
    linear : array (N,), p
    upper : array (N,), u > 0, infinite where there is no upper bound
    ridge : float >= 0, rho; > 0 where an upper bound is infinite
    intercept : bool, whether the equality is there
    total : float, what the coefficients sum to
    scale : float > 0, from the program's value to J
    """

    n: int
    sample: Array
    sign: Array
    linear: Array
    upper: Array
    ridge: float = 0.0
    intercept: bool = True
    total: float = 0.0
    scale: float = 1.0

    def coef(self, a: Array) -> Array:
        """b = E a, shape (n,)."""
        if len(self.sample) == self.n:
            b: Array = self.sign * a
            return b
        return np.bincount(self.sample, self.sign * a, minlength=self.n)

    def dual(self, a: Array, norm: float) -> float:
        """scale (p'a - rho/2 |a|^2 - norm/2), with norm = b'K b."""
        return self.scale * (float(self.linear @ a) - 0.5 * self.ridge * float(a @ a) - 0.5 * norm)

    def losses(self, f: Array) -> Array:
        """loss_j at the function values f (intercept included), shape (N,)."""
        slack = self.linear - self.sign * f[self.sample]
        best = np.minimum(np.maximum(slack / self.ridge, 0.0), self.upper) if self.ridge else None
        if best is not None:
            losses: Array = slack * best - 0.5 * self.ridge * best**2
            return losses
        return self.upper * np.maximum(slack, 0.0)

    def primal(self, f: Array, norm: float, intercept: float) -> float:
        """scale (norm/2 + sum_j loss_j(f + intercept) - total intercept), with norm = |f|^2 and f without intercept."""
        return self.scale * (0.5 * norm + float(self.losses(f + intercept).sum()) + self.total * intercept)

    def best_intercept(self, f: Array) -> float:
        """The intercept that makes the primal smallest at the function values f: a convex function of one number."""
        if not self.intercept:
            return 0.0
        raise NotImplementedError
