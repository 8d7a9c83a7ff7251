"""One Newton step of the interior point method.

At a point the products of the kernels with the coefficients b = E a are z_k = K_k b, their quadratic forms v_k = b'z_k.
The conditions of the saddle point, with R and c the domain's penalty and constraint, are

    F_a      p - rho a - E'(K b + intercept) + below - above = 0          a below = mu,   (u - a) above = mu
    F_b      1'b - total = 0
    F_delta  -v/2 + R'(delta) + level c'(delta) - slack = 0               delta slack = mu
    F_c      sum c(delta) - 1 = 0

Their linearisation, with everything eliminated but the coefficients, the intercept and the level, is one positive
definite system of order n with a border of two:

    (K + Z'T^{-1}Z + D) db + 1 dintercept - Z'T^{-1}c' dlevel = ...,    T = R'' + level c'' + slack / delta,

D the diagonal of the barrier of the box. Its cost is a Cholesky factorisation, whatever the number of kernels. Where a
weight is away from zero near the optimum T vanishes; such kernels are not eliminated but join the border.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from multikernel._linalg import cholesky
from multikernel._typing import Array
from multikernel.domains import Separable
from multikernel.machines.support.program import SupportProgram
from multikernel.procedures.interior.point import Point

_STIFF = 10.0  # times the diagonal of the kernel: the part that one kernel may add to the matrix


@dataclass(frozen=True, eq=False)
class Products:
    """What one pass over the kernels gives at a point.

    Parameters
    ----------
    K : array (n, n), the combined matrix
    Z : array (m, n), K_k b
    v : array (m,), b'K_k b
    f : array (n,), K b
    """

    K: Array
    Z: Array
    v: Array
    f: Array


class Newton:
    """The linear system at one point: factored once, solved for several right-hand sides.

    ``bend``, positive semi-definite of shape (m, m), is what -v/2 adds to T where v is no linear function of the
    weights; then every weight is in the border.
    """

    def __init__(
        self, program: SupportProgram, domain: Separable, at: Point, products: Products, bend: Array | None = None
    ) -> None:
        self.program, self.at, self.products = program, at, products
        a, n = at.a, program.n
        c, c1, c2 = domain.constraint(at.delta)
        _, r1, r2 = domain.separable_penalty(at.delta)
        slope = program.linear - program.ridge * a - program.sign * (products.f + at.intercept)[program.sample]
        self.F_a = slope + at.below - at.above
        self.F_b = float(program.sign @ a) - program.total
        self.F_delta = -0.5 * products.v + r1 / program.scale + at.level * c1 - at.slack
        self.F_c = float(c.sum()) - 1.0
        self.bend = bend
        self.theta = program.ridge + at.below / a + at.above / at.room
        self.c1, self.constrained, self.curved = c1, domain.constrained, bool(c2.any())
        self.T = r2 / program.scale + at.level * c2 + at.slack / at.delta
        self.barrier = 1.0 / np.maximum((1.0 / self.theta).reshape(-1, n).sum(axis=0), 1e-300)
        self._factor()

    def _factor(self) -> None:
        """The kernels that would dwarf the rest of the matrix stay in the border, as unknowns of their own."""
        Z, n = self.products.Z, self.program.n
        size = float(np.mean(self.products.K.diagonal() + np.minimum(self.barrier, 1.0)))
        pull = np.einsum("kn,kn->k", Z, Z) / (n * self.T)
        self.stiff = np.zeros(len(Z), dtype=bool)
        self.stiff[np.argsort(-pull, kind="stable")[: n // 2]] = True
        self.stiff &= pull > _STIFF * size
        self.stiff |= self.bend is not None
        soft = ~self.stiff
        H = np.array(self.products.K, dtype=float, order="F")
        if soft.any():
            scaled = Z[soft] / np.sqrt(self.T[soft])[:, None]
            H = blas.dgemm(1.0, scaled.T, scaled.T, trans_b=True, beta=1.0, c=H, overwrite_c=1)
        self.curvature = H.diagonal().copy()
        H.flat[:: n + 1] += self.barrier
        self.factor = cholesky(H), True
        ratio = np.where(soft, self.c1 / self.T, 0.0)
        columns = [np.ones(n)] * self.program.intercept + [-(ratio @ Z)] * self.constrained + list(Z[self.stiff])
        self.B = np.column_stack(columns) if columns else np.empty((n, 0))
        first = int(self.program.intercept)
        last = first + int(self.constrained)
        E = np.zeros((len(columns), len(columns)))
        E[last:, last:] = np.diag(self.T[self.stiff])
        if self.bend is not None:
            E[last:, last:] += self.bend
        if self.constrained:
            E[first, first] = -float(self.c1 @ ratio)
            E[first, last:] = E[last:, first] = self.c1[self.stiff]
        self.MB = linalg.cho_solve(self.factor, self.B, check_finite=False)
        self.schur = self.B.T @ self.MB + E

    def step(self, mu: float, bent: Point | None = None) -> Point:
        """The step towards complementarity mu; ``bent``, an earlier step, corrects for the products' curvature."""
        at, program, Z = self.at, self.program, self.products.Z
        below = mu - (bent.a * bent.below if bent else 0.0)
        above = np.where(np.isfinite(at.room), mu + (bent.a * bent.above if bent else 0.0), 0.0)
        slack = mu - (bent.delta * bent.slack if bent else 0.0)
        r_a = self.F_a + (below / at.a - at.below) - (above / at.room - at.above)
        r_delta = -self.F_delta + slack / at.delta - at.slack
        soft = np.where(self.stiff, 0.0, r_delta / self.T)
        rhs = self.barrier * program.coef(r_a / self.theta) - soft @ Z
        wanted = [[-self.F_b]] * program.intercept + [[self.F_c + float(self.c1 @ soft)]] * self.constrained
        x = linalg.cho_solve(self.factor, rhs, check_finite=False)
        y = np.linalg.solve(self.schur, self.B.T @ x - np.concatenate([*wanted, -r_delta[self.stiff]]))
        db, rest = x - self.MB @ y, list(y)
        intercept = float(rest.pop(0)) if program.intercept else 0.0
        level = float(rest.pop(0)) if self.constrained else 0.0
        ddelta = (Z @ db - self.c1 * level + r_delta) / self.T
        ddelta[self.stiff] = rest
        da = self._variables(db, r_a, self.products.K @ db + ddelta @ Z + intercept)
        return Point(
            a=da,
            room=-da,
            below=below / at.a - at.below - at.below / at.a * da,
            above=above / at.room - at.above + at.above / at.room * da,
            intercept=intercept,
            delta=ddelta,
            slack=slack / at.delta - at.slack - at.slack / at.delta * ddelta,
            level=level,
        )

    def _variables(self, db: Array, r_a: Array, change: Array) -> Array:
        """The step of the variables from that of the coefficients and of the function values.

        theta da = r_a - sign df is accurate where theta is large, at a bound; between bounds, where it vanishes, the
        variables take what the coefficients ask for.
        """
        sample, sign = self.program.sample, self.program.sign
        da = (r_a - sign * change[sample]) / self.theta
        missing = np.where(self.barrier < self.curvature, db - self.program.coef(da), 0.0)
        return da + sign * (self.barrier * missing)[sample] / self.theta
