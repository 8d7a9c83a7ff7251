"""Is the value of ridge regression convex in the weights of a polynomial kernel?

    F(theta) = y'M^{-1}y,        M = S^degree + alpha I,  S = sum_k theta_k K_k,  a = M^{-1}y
    F_jk = 2 W_j'M^{-1}W_k - T_jk,        W_k = degree (S^(degree-1) o K_k) a
                                          T_jk = degree (degree - 1) a'(S^(degree-2) o K_j o K_k) a

For degree 1 it always is. For others the eigenvalues of the second derivatives show whether it is at one theta; over a
set of weights this can only be sampled. Two cases are known exactly. As alpha grows, alpha^2 F_jk tends to -T_jk with
a = y. Along the ray s theta, near s = 1, F = sum_i (y'u_i)^2 / (s^degree kappa_i + alpha), where kappa and u are the
eigenvalues and eigenvectors of S^degree, so that for r = (degree + 1) / (degree - 1)

    F is convex along the ray where alpha <= r min kappa_i > 0,    concave where alpha >= r max kappa_i.

If y has a part in the null space of all products of ``degree`` kernels, that part of a is y / alpha there, and adds
nothing to W and T. It is taken off y first, since its rounding errors, of the order of 1 / alpha^2, would.

For degree 2, proposition 4 of Cortes, Mohri and Rostamizadeh (2009) is about the signs of these eigenvalues; it, and
constants that were published later for general alpha and are vacuous for two kernels or more, are in
``published_curvature.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from multikernel._floats import SINGULAR
from multikernel._parameters import SEED
from multikernel._row_labels import check_rows
from multikernel._rules import AnyOf, Instance, Nothing, Whole
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.combinations import HadamardPower
from multikernel.diagnostics import _input
from multikernel.domains import NormBall
from multikernel.domains.norms import norm_of
from multikernel.machines import RidgeMachine


@dataclass(frozen=True, eq=False)
class Convexity:
    """What ``convexity`` found; print it for a table.

    Parameters
    ----------
    degree : int, of the polynomial kernel
    alpha : float, the ridge
    hidden : bool, whether the problem over the ball is convex as a function of theta^degree
    points : array (s, m), weights theta in the ball, first those at which optimizers start
    smallest, largest : arrays (s,), the extreme eigenvalues of the second derivatives at these points
    limit : array (m,), the limit of the eigenvalues of alpha^2 F_jk at the first point as alpha grows
    ray : (float, float); along the ray through the first point, F is convex for all alpha up to the first number and
        concave from the second on; both are infinite for degree 1
    """

    degree: int
    alpha: float
    hidden: bool
    points: Array
    smallest: Array
    largest: Array
    limit: Array
    ray: tuple[float, float]

    @property
    def convex(self) -> Array:
        """At which points F is convex: no eigenvalue is negative; shape (s,)."""
        return self.smallest >= -SINGULAR * np.maximum(np.abs(self.smallest), np.abs(self.largest))

    @property
    def concave(self) -> Array:
        """At which points F is concave: no eigenvalue is positive; shape (s,)."""
        return self.largest <= SINGULAR * np.maximum(np.abs(self.smallest), np.abs(self.largest))

    def __str__(self) -> str:
        s = len(self.points)
        rows = [
            ("degree", f"{self.degree}, alpha {self.alpha:.6g}"),
            ("in theta^degree", "convex" if self.hidden else "not known to be convex"),
            ("in theta", f"convex at {self.convex.sum()} of {s} points, concave at {self.concave.sum()}"),
            ("eigenvalues", f"{self.smallest.min():.3g} to {self.largest.max():.3g}"),
            ("large alpha", f"{_kind(self.limit)}: {self.limit[0]:.3g} to {self.limit[-1]:.3g}, over alpha^2"),
            ("along the ray", f"convex for alpha <= {self.ray[0]:.3g}, concave for alpha >= {self.ray[1]:.3g}"),
        ]
        return "\n".join(f"{name:<16} {text}" for name, text in rows)


def convexity(
    bank: Any,
    y: Any,
    degree: int = 2,
    alpha: float = 1.0,
    domain: NormBall | None = None,
    fit_intercept: bool = True,
    n_samples: int = 20,
    random_state: Any = None,
) -> Convexity:
    """The curvature of y'((sum_k theta_k K_k)^degree + alpha I)^-1 y over weights theta in a ball.

    Parameters
    ----------
    bank : square KernelBank of m kernels, an array (m, n, n) or a list of matrices
    y : array-like (n,), the target
    degree : int >= 1, of the polynomial kernel
    alpha : float > 0, the ridge
    domain : NormBall or None for the default of ``PolynomialMKLRegressor``: norm 2, radius 1, centre 1
    fit_intercept : bool, whether the mean of y is subtracted from it
    n_samples : int >= 0, how many random points of the ball are evaluated, besides the initial point of optimizers
    random_state : int, RandomState or None, for the random points

    Raises
    ------
    ValueError : where the matrices are not square, y does not fit, or a parameter is out of its range

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2009), Learning non-linear combinations of kernels, NIPS 22, section 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import convexity
    >>> print(convexity([np.eye(3)], [1.0, 2.0, -3.0], n_samples=0))  # 14 / (theta^2 + 1) at theta = 2
    degree           2, alpha 1
    in theta^degree  convex
    in theta         convex at 1 of 1 points, concave at 0
    eigenvalues      2.46 to 2.46
    large alpha      concave: -28 to -28, over alpha^2
    along the ray    convex for alpha <= 12, concave for alpha >= 12
    """
    Whole(0, 10_000).check(n_samples, "convexity: n_samples")
    AnyOf((Instance(NormBall, "a NormBall"), Nothing())).check(domain, "convexity: domain")
    SEED.check(random_state, "convexity: random_state")
    check_rows(("bank", bank), ("y", y))
    kernels = _input.as_bank(bank)
    machine = RidgeMachine(alpha, fit_intercept)
    power = HadamardPower(degree)
    values = _input.target(y, kernels.shape[0])
    ball = NormBall(2.0, 1.0, 1.0) if domain is None else domain
    ball.check(len(kernels))
    points = np.stack([ball.start(len(kernels)), *_sample(ball, len(kernels), n_samples, random_state)])
    _input.check_power(kernels, points.max(axis=0), power.degree)
    target = values - values.mean() if fit_intercept else values
    part = part_in_range(kernels, target, power.degree)
    plain = replace(machine, fit_intercept=False)  # of the centred target
    spectra = np.stack([linalg.eigvalsh(_second(kernels, power, plain, part, theta)) for theta in points])
    return Convexity(
        degree=int(degree),
        alpha=float(alpha),
        hidden=bool(degree == 1 or ball.norm >= degree),
        points=points,
        smallest=spectra[:, 0],
        largest=spectra[:, -1],
        limit=linalg.eigvalsh(-power.second(kernels, points[0], part)),
        ray=_along_ray(power, kernels, points[0]),
    )


def _second(bank: KernelBank, power: HadamardPower, machine: RidgeMachine, y: Array, theta: Array) -> Array:
    """The second derivatives F_jk at theta."""
    gram = power.gram(bank, theta)
    a = machine.solve(gram, y).factor
    W = power.images(bank, theta, a)[:, :, 0]
    H = 2.0 * (W @ gram.solve_shifted(machine.alpha, W.T)) - power.second(bank, theta, a)
    return 0.5 * (H + H.T)


def rounding_of(bank: KernelBank, values: Array) -> float:
    """The rounding error of eigenvalues, in increasing order, of a matrix of this bank: smaller ones count as zero."""
    return float(2.0 * bank.rounding * len(values) * values[-1])


def part_in_range(bank: KernelBank, y: Array, degree: int) -> Array:
    """The part of y outside the null space of all entrywise products of ``degree`` kernels of the bank."""
    traces = bank.traces()
    weights = np.divide(1.0, traces, out=np.zeros(len(traces)), where=traces > 0.0)
    values, vectors = linalg.eigh(_input.near_one(bank.combine(weights).dense()) ** degree)
    inside = vectors[:, values > rounding_of(bank, values)]
    return np.asarray(inside @ (inside.T @ y))


def _along_ray(power: HadamardPower, bank: KernelBank, theta: Array) -> tuple[float, float]:
    """The largest alpha for which F is convex along the ray through theta, and the smallest for which it is concave."""
    if power.degree == 1:
        return np.inf, np.inf
    values = linalg.eigvalsh(power.gram(bank, theta).dense())
    positive = values[values > rounding_of(bank, values)]
    ratio = (power.degree + 1.0) / (power.degree - 1.0)
    if len(positive):
        return (ratio * float(positive[0]), ratio * float(positive[-1]))
    return (np.inf, 0.0)


def _sample(ball: NormBall, m: int, count: int, random_state: Any) -> list[Array]:
    """Points spread evenly over the part of the ball that is above its centre in every coordinate."""
    rng = check_random_state(random_state)
    points = []
    for _ in range(count):
        raw = rng.gamma(1.0 / ball.norm, size=m) ** (1.0 / ball.norm)
        points.append(ball.offset(m) + ball.radius * rng.random() ** (1.0 / m) / norm_of(raw, ball.norm) * raw)
    return points


def _kind(values: Array) -> str:
    edge = SINGULAR * float(np.abs(values).max())
    if (np.abs(values) <= edge).all():
        return "flat"
    if (values <= edge).all():
        return "concave"
    if (values >= -edge).all():
        return "convex"
    return "a saddle"
