"""Published conditions for the convexity of quadratic kernel learning, as numbers: two of them are vacuous.

    F(theta) = y'V y,      V = (S o S + alpha I)^{-1},  S = sum_k theta_k K_k,  a = V y,  S_u = sum_k u_k K_k
    u'F''u / 2 = 4 a'(S o S_u)V(S o S_u)a - a'(S_u o S_u)a

Proposition 4 of Cortes, Mohri and Rostamizadeh (2009) writes the right side with Kronecker products,

    <M, N - E>,      M = (1 (x) vec(aa')') o (S_u (x) S_u),      N = 4 (1 (x) vec(V)') o (S (x) S),

as a sum over four samples,

    [M]_ijkl = a_i a_j [S_u]_ik [S_u]_lj,    [N]_ijkl = 4 [V]_kl [S]_ik [S]_lj,    [E]_ijkl = 1 where k = j and l = i.

They print S in place of S o S in V, and i = k and j = l in E, which gives (sum_i a_i [S_u]_ii)^2 in place of the last
term. F is convex over a set where the sum is negative for no theta of the set and no u.

Proposition 2.3 of Li, Venturi and Xu makes two thresholds of it, over theta in a ball and |u| = 1,

    convex where  alpha <= E log(4 / (E H B)),       concave where  alpha >= 4 C / D,

    B = max_u eig_max(S_u o S_u)      C = max |S o S_u|^2      E = max_theta eig_max(S o S)
    D = min_u eig_min(S_u o S_u)      H = max |(S o S_u)^{-1}|^2

B is attained for u >= 0, since x'(S_u o S_u)x = u'G(x)u with G(x)_jk = x'(K_j o K_k)x >= 0; so is E at the largest
weights; and C <= B E by the inequality of Cauchy and Schwarz. With two kernels or more there is a u for which the first
self-value of S_u is 0, so D <= 0, and between u and -u the matrix S o S_u is singular, so H is infinite: then both
thresholds are vacuous, whatever the kernels are, and the proposition is false. With one kernel they hold, and are
weaker than what is known exactly (``convexity``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from multikernel._floats import EPS
from multikernel._parameters import POSITIVE
from multikernel._row_labels import check_rows
from multikernel._rules import AnyOf, Instance, Nothing
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.checks import numbers
from multikernel.combinations import HadamardPower
from multikernel.diagnostics import _input
from multikernel.diagnostics.curvature import part_in_range, rounding_of
from multikernel.domains import NormBall
from multikernel.numerics.cholesky import factor_of, solved

_POWER = HadamardPower(2)


@dataclass(frozen=True)
class CurvatureBounds:
    """What ``curvature_bounds`` found; print it for a table.

    Parameters
    ----------
    B, C, E : (float, float), a number that is attained, and one that is not exceeded
    D : float, exact for one kernel; for more an upper bound, 0
    H : float, exact for one kernel; infinite for more
    convex_below : float, the printed threshold of alpha for convexity, by what is not exceeded; -inf if there is none
    concave_above : float, that for concavity; inf if there is none
    """

    B: tuple[float, float]
    C: tuple[float, float]
    D: float
    E: tuple[float, float]
    H: float
    convex_below: float
    concave_above: float

    @property
    def vacuous(self) -> bool:
        """Whether neither threshold says anything of any alpha > 0."""
        return self.convex_below <= 0.0 and np.isinf(self.concave_above)

    def __str__(self) -> str:
        ranges = {"B": self.B, "C": self.C, "E": self.E}
        lines = [f"{name}  {low:.4g} to {high:.4g}" for name, (low, high) in ranges.items()]
        lines.insert(2, f"D  {'at most ' if self.D == 0.0 else ''}{self.D:.4g}")
        lines.append(f"H  {self.H:.4g}")
        if self.convex_below > 0.0:
            below = f"alpha <= {self.convex_below:.4g}"
        else:
            below = "no alpha: vacuous"
        if np.isinf(self.concave_above):
            above = "no alpha: vacuous"
        else:
            above = f"alpha >= {self.concave_above:.4g}"
        return "\n".join([*lines, f"convex by the printed proposition for {below}", f"concave for {above}"])


def curvature_bounds(bank: Any, domain: NormBall | None = None) -> CurvatureBounds:
    """The constants and the thresholds of a published proposition on quadratic kernel learning; most are vacuous.

    Parameters
    ----------
    bank : square KernelBank of m kernels, an array (m, n, n) or a list of matrices
    domain : NormBall or None for the default of ``PolynomialMKLRegressor``: norm 2, radius 1, centre 1

    Raises
    ------
    ValueError : where the matrices are not square, or the domain is no ball, or one for another number of kernels

    See Also
    --------
    convexity : what is known instead, at given weights and along rays

    References
    ----------
    Li, Venturi and Xu, Learning the kernel for classification and regression, proposition 2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import curvature_bounds
    >>> print(curvature_bounds([np.eye(3), np.ones((3, 3))]))
    B  3.414 to 3.414
    C  61.97 to 81.94
    D  at most 0
    E  18.35 to 24
    H  inf
    convex by the printed proposition for no alpha: vacuous
    concave for no alpha: vacuous
    """
    AnyOf((Instance(NormBall, "a NormBall"), Nothing())).check(domain, "curvature_bounds: domain")
    kernels = _input.as_bank(bank)
    ball = NormBall(2.0, 1.0, 1.0) if domain is None else domain
    ball.check(len(kernels))
    largest = ball.offset(len(kernels)) + ball.radius
    _input.check_power(kernels, np.maximum(largest, 1.0), 2)
    B = _bounds_of_largest(kernels, NormBall(2.0), _upper_bound_of_B(kernels))
    E = _bounds_of_largest(kernels, ball, _largest_eigenpair(_squares(kernels, largest))[0])
    theta, u = E[2], B[2]
    with np.errstate(over="ignore"):  # infinite where no number is as large
        attained = float(np.linalg.norm(kernels.combine(theta).dense() * kernels.combine(u).dense(), 2) ** 2)
    C = attained, max(attained, B[1] * E[1])
    D = 0.0
    H = float("inf")
    if len(kernels) == 1:
        low = max(float(ball.offset(1)[0]) - ball.radius, 0.0)
        values = linalg.eigvalsh(_squares(kernels, np.ones(1)))
        if values[0] > rounding_of(kernels, values):
            D = float(values[0])
        if low * D > 0.0:
            with np.errstate(over="ignore"):
                H = float(np.float64(low * D) ** -2.0)
    convex_below = float("-inf")
    if 0.0 < E[1] * H * B[1] < np.inf:
        convex_below = E[1] * float(np.log(4.0 / (E[1] * H * B[1])))
    concave_above = float("inf")
    if D > 0.0 and C[1] > 0.0:
        concave_above = 4.0 * C[1] / D
    return CurvatureBounds(B[:2], C, D, E[:2], H, convex_below, concave_above)


def proposition_4(bank: Any, y: Any, theta: Any, u: Any, alpha: float = 1.0) -> float:
    """<M, N - E> of proposition 4 of Cortes, Mohri and Rostamizadeh (2009), half the curvature of F along u at theta.

    Parameters
    ----------
    bank : square KernelBank of m kernels, an array (m, n, n) or a list of matrices
    y : array-like (n,), the target, taken as it is
    theta : array-like (m,), the weights, none of them negative, so that S is a kernel
    u : array-like (m,), a direction of any signs
    alpha : float > 0, the ridge

    Returns
    -------
    float ; F is convex over a set where it is not negative for any theta in it and any u

    Raises
    ------
    ValueError : where the matrices are not square, y, theta or u does not fit, or alpha is not positive or too small

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2009), Learning non-linear combinations of kernels, NIPS 22, section 3.3, whose V
    lacks the square.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import proposition_4
    >>> round(proposition_4([np.eye(3)], [1.0, 2.0, -3.0], theta=[2.0], u=[1.0]), 4)  # 14 / (theta^2 + 1)
    1.232
    """
    POSITIVE.check(alpha, "proposition_4: alpha")
    check_rows(("bank", bank), ("y", y))
    kernels = _input.as_bank(bank)
    values = _input.target(y, kernels.shape[0])
    m = len(kernels)
    weights, direction = numbers(theta, "proposition_4: theta"), numbers(u, "proposition_4: u")
    if weights.shape != (m,) or direction.shape != (m,) or not (np.isfinite(weights) & np.isfinite(direction)).all():
        raise ValueError(f"proposition_4: theta and u must be {m} finite numbers each, one for each kernel")
    if (weights < 0.0).any():
        raise ValueError(f"proposition_4: theta must not be negative, got {weights.min():.6g}")
    _input.check_power(kernels, np.maximum(np.abs(weights), np.abs(direction)), 2)
    S = kernels.combine(weights).dense()
    along = S * kernels.combine(direction).dense()
    try:
        factor = factor_of(np.asfortranarray(S * S + float(alpha) * np.eye(len(S))))
    except linalg.LinAlgError:
        raise ValueError(
            f"proposition_4: alpha={alpha:.3g} is too small beside the kernels: S o S + alpha I is singular in double "
            f"precision; give at least {2.0 * EPS * len(S) * float(np.linalg.norm(S * S)):.1e}"
        ) from None
    involved = kernels.select(np.flatnonzero((weights != 0.0) | (direction != 0.0)))
    a = solved(factor, part_in_range(involved, values, 2))
    image = along @ a
    curved = 4.0 * float(image @ solved(factor, image))
    return curved - float(direction @ kernels.pair_forms(a) @ direction)


def _squares(bank: KernelBank, theta: Array) -> Array:
    """S o S at theta."""
    return np.asarray(bank.combine(theta).dense() ** 2)


def _largest_eigenpair(K: Array) -> tuple[float, Array]:
    """The largest eigenvalue and its eigenvector."""
    values, vectors = linalg.eigh(K, subset_by_index=[len(K) - 1, len(K) - 1])
    return float(values[0]), vectors[:, 0]


def _upper_bound_of_B(bank: KernelBank) -> float:
    """The largest eigenvalue of the matrix with entries eig_max(K_j o K_k); B is at most this."""
    m = len(bank)
    matrices = [bank.matrix(k) for k in range(m)]
    upper = np.zeros((m, m))
    for j in range(m):
        for k in range(j, m):
            upper[j, k] = _largest_eigenpair(matrices[j] * matrices[k])[0]
    return float(linalg.eigvalsh(upper + np.triu(upper, 1).T)[-1])


def _bounds_of_largest(bank: KernelBank, ball: NormBall, limit: float) -> tuple[float, float, Array]:
    """Two bounds of the largest eigenvalue of S o S over a ball, and the theta at which the lower one is attained.

    The lower bound is found by ascent from the middle of the ball; ``limit`` is a known upper bound. Each iteration
    takes as x the leading eigenvector at theta, and then as theta the maximiser, over the ball, of the linearisation of
    theta'G(x)theta. This function is convex in theta, so neither step makes the value smaller.
    """
    theta = ball.start(len(bank))
    value, x = _largest_eigenpair(_squares(bank, theta))
    while True:
        next_theta = ball.maximiser(bank.pair_forms(x) @ theta)
        next_value, next_x = _largest_eigenpair(_squares(bank, next_theta))
        if not next_value > value * (1.0 + 1e-9):
            return value, max(limit, value), theta
        value = next_value
        x = next_x
        theta = next_theta
