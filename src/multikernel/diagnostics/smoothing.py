"""What theory promises for smoothed multiple kernel learning after some steps of Nesterov's method.

    f_s(a) = -1'a + (s/2) log sum_k exp(a'Y K_k Y a / s),    0 <= a <= C;        f_0 its limit as s goes to 0: L1-MKL

With n samples, m kernels, b the largest eigenvalue of any of them and L = b + n C^2 b^2 / (2 s), after N + 1 steps from
a^0, which is also the centre of the prox function, by |a* - a^0|^2 <= n C^2,

    f_s - min f_s <= 2 L n C^2 / ((N + 1) (N + 2))            (theorem 4, corrected)
    f_0 - min f_0 <= that + (s/2) log m                       (corollary 5, corrected)

and the smoothing that makes the second smallest is s = C^2 n b sqrt(2 / ((N + 1) (N + 2) log m)). Printed (Xu, Jin,
Zhu, Lyu and King 2010) are, with d / 2 in place of the first b in L, where d is the largest diagonal entry,

    f_s - min f_s <= 2 L |a*|^2 / (N + 1)^2
    f_0 - min f_0 <= n d / (4 (N + 1)^2) + n C^2 sqrt(b^2 (log m - 1) / 2) / (N + 1)

of which the second lacks a factor 4 C^2 in its first term, so that it depends on the unit of the kernels, and bounds
nothing where there are two kernels, whose log is below 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from multikernel._parameters import POSITIVE
from multikernel._rules import Whole
from multikernel.banks import KernelBank
from multikernel.diagnostics import _input


@dataclass(frozen=True)
class SmoothingBounds:
    """What ``smoothing_bounds`` found; print it for a table.

    Parameters
    ----------
    C : float, the upper bound of a
    smoothing : float, s
    steps : int, N + 1
    lipschitz, printed_lipschitz : float, L, and the printed one, which is no bound of the curvature
    theorem_4, printed_theorem_4 : float, of f_s above its minimum; the printed one with |a*|^2 <= n C^2
    corollary_5, printed_corollary_5 : float, of f_0 above its minimum; the printed one is nan for two kernels or fewer,
        and has no s in it
    value : float, n C: at a = 0, f_0 is at most n C above its minimum, so that a larger bound says nothing
    """

    C: float
    smoothing: float
    steps: int
    lipschitz: float
    printed_lipschitz: float
    theorem_4: float
    printed_theorem_4: float
    corollary_5: float
    printed_corollary_5: float
    value: float

    def __str__(self) -> str:
        rows: list[tuple[str, float | str, float | str]] = [
            ("", "right", "printed"),
            ("Lipschitz constant", self.lipschitz, self.printed_lipschitz),
            ("theorem 4", self.theorem_4, self.printed_theorem_4),
            ("corollary 5", self.corollary_5, self.printed_corollary_5),
        ]
        lines = [f"{name:<20}{_short(right):>12}{_short(printed):>12}" for name, right, printed in rows]
        if self.corollary_5 >= self.value:
            verdict = "says nothing"
        else:
            verdict = "says something"
        return "\n".join([*lines, f"{verdict}: a = 0 is {self.value:.4g} above the minimum at most"])


def smoothing_bounds(bank: Any, C: float = 1.0, smoothing: float | None = None, steps: int = 500) -> SmoothingBounds:
    """The bounds of theorem 4 and corollary 5 of smoothed multiple kernel learning, as numbers.

    Parameters
    ----------
    bank : square KernelBank of m kernels, an array (m, n, n) or a list of matrices
    C : float > 0, the upper bound of a
    smoothing : float > 0 or None, s; None for the one that makes corollary 5 smallest, as the paper
        seems to compute it
    steps : int from 1 to 1e9, N + 1

    Raises
    ------
    ValueError : where the matrices are not square, a parameter is out of its range, or one kernel has no smoothing

    References
    ----------
    Xu, Jin, Zhu, Lyu and King (2010), Smooth optimization for effective multiple kernel learning, AAAI 24.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import smoothing_bounds
    >>> print(smoothing_bounds([np.eye(100), np.ones((100, 100)), np.diag(np.arange(100.0))], smoothing=10.0))
                               right     printed
    Lipschitz constant      5.01e+04       5e+04
    theorem 4                     40          40
    corollary 5                 45.5        4.45
    says something: a = 0 is 100 above the minimum at most
    """
    POSITIVE.check(C, "smoothing_bounds: C")
    Whole(1, 10**9).check(steps, "smoothing_bounds: steps")
    squared = float(C) * float(C)
    kernels = _input.as_bank(bank)
    m, n = len(kernels), kernels.shape[0]
    b = largest_eigenvalue(kernels)
    half_diagonal = 0.5 * float(kernels.diagonal().max())
    entropy = float(np.log(m))
    rate = steps * (steps + 1.0)
    if smoothing is None:
        if m == 1:
            raise ValueError("smoothing_bounds: one kernel needs no smoothing; set smoothing for its bounds")
        if b == 0.0:
            raise ValueError("smoothing_bounds: all kernels are zero, so that no smoothing is best; set smoothing")
        s = squared * n * b * np.sqrt(2.0 / (rate * entropy))
    else:
        POSITIVE.check(smoothing, "smoothing_bounds: smoothing")
        s = float(smoothing)
    smoothing_term = n * squared * b * (b / (2.0 * s)) if s > 0.0 else np.inf
    theorem = 2.0 * (b + smoothing_term) * n * squared / rate
    if not (np.isfinite(theorem) and 0.0 < squared < np.inf):
        raise ValueError(
            f"smoothing_bounds: with C={C:.3g} and smoothing={s:.3g} the bounds are beyond double precision; give "
            "other units"
        )
    printed = np.nan
    if entropy >= 1.0:
        printed = n * half_diagonal / (2.0 * steps**2) + n * squared * b * np.sqrt(0.5 * (entropy - 1.0)) / steps
    return SmoothingBounds(
        C=float(C),
        smoothing=float(s),
        steps=int(steps),
        lipschitz=b + smoothing_term,
        printed_lipschitz=half_diagonal + smoothing_term,
        theorem_4=theorem,
        printed_theorem_4=2.0 * (half_diagonal + smoothing_term) * n * squared / steps**2,
        corollary_5=theorem + 0.5 * s * entropy,
        printed_corollary_5=printed,
        value=n * C,
    )


def largest_eigenvalue(bank: KernelBank) -> float:
    """The largest eigenvalue of any kernel matrix of the bank."""
    last = bank.shape[0] - 1
    matrices = (bank.matrix(k) for k in range(len(bank)))
    return max(float(linalg.eigvalsh(K, subset_by_index=[last, last])[0]) for K in matrices)


def _short(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.3g}"
