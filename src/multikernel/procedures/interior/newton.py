"""One Newton step of the interior point method.

At a point, b = E a are the coefficients, z_k = K_k b the products of the kernels with them, v_k = b'z_k the scores.
With R and c the penalty and the constraint of the domain, nu the multiplier of the constraint and s_k the reduced cost
of a weight, the conditions of the saddle point for a barrier parameter mu are

    F_a      p - rho a - E'(K b + intercept) + below - above = 0          a below = mu,   (u - a) above = mu
    F_b      1'b - total = 0
    F_delta  -v/2 + R'(delta) + nu c'(delta) - s = 0                      delta s = mu
    F_c      sum c(delta) - 1 = 0

They are linearised. The multipliers of the box are eliminated as in ``machines/support/factored.py``, whose r is r_a
here; d(K b) = K db + Z'ddelta, so that

    theta da = r_a - E'(K db + Z'ddelta + 1 dintercept),        theta = rho + below / a + above / (u - a).

E times that over theta is db. Multiplied with D = (E theta^{-1} E')^{-1}, a diagonal matrix, it is

    (K + D) db + Z'ddelta + 1 dintercept = D E (r_a / theta).

In F_delta dv = 2 Z db, and ds = mu / delta - s - (s / delta) ddelta. With r_delta = mu / delta - s - F_delta

    T ddelta = Z db - c' dnu + r_delta,        T = R'' + nu c'' + s / delta.

Once ddelta is eliminated, too, what is left is one positive definite system of order n with a border of two:

    (K + Z'T^{-1}Z + D) db + 1 dintercept - Z'T^{-1}c' dnu = D E (r_a / theta) - Z'T^{-1} r_delta
                                                     1'db = -F_b
                       -c'T^{-1}Z db + c'T^{-1}c' dnu = F_c + c'T^{-1} r_delta

Its cost is a Cholesky factorisation for any number of kernels. Where a weight stays away from zero near the optimum, T
vanishes, and Z'T^{-1}Z would be so large that the matrix loses its other digits: such a kernel is not eliminated, and
its weight is an unknown of the border.

Where K = G G' and G has few columns, these are in the border too, with the unknowns G'db, and so is every weight: then
only the diagonal D has to be factored, and no matrix larger than G is formed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import blas

from multikernel._typing import Array
from multikernel.banks import Gram
from multikernel.domains import Separable
from multikernel.machines.support.program import SupportProgram
from multikernel.numerics.cholesky import cholesky, solved
from multikernel.numerics.interior_point import BarrierPoint, NewtonSystem, Targets


@dataclass(frozen=True, eq=False)
class Products:
    """The products with the kernels at a point, from one pass.

    Parameters
    ----------
    K : Gram of shape (n, n), the combined matrix
    Z : array (m, n), K_k b
    v : array (m,), the scores b'K_k b
    f : array (n,), K b
    """

    K: Gram
    Z: Array
    v: Array
    f: Array


class Newton(NewtonSystem):
    """The linear system at one point: factored once, solved for several right-hand sides.

    ``hessian``, positive semi-definite of shape (m, m), is the derivative of -v/2 in the weights, added to T, where v
    depends on them; every weight is in the border then. LinAlgError where rounding has made the matrix indefinite.
    """

    def __init__(
        self,
        program: SupportProgram,
        domain: Separable,
        point: BarrierPoint,
        products: Products,
        hessian: Array | None = None,
    ) -> None:
        self.program = program
        self.domain = domain
        self.point = point
        self.products = products
        self.hessian = hessian
        a = point.a
        n = program.n
        c, c1, c2 = domain.constraint(point.delta)
        _, r1, r2 = domain.separable_penalty(point.delta)
        slope = program.linear - program.ridge * a - program.sign * (products.f + point.intercept)[program.sample]
        self.F_a = slope + point.below - point.above
        self.F_b = float(program.sign @ a) - program.total
        self.F_delta = -0.5 * products.v + r1 / program.scale + point.multiplier * c1 - point.reduced_cost
        self.F_c = float(c.sum()) - 1.0
        self.theta = point.curvature(program.ridge)
        self.c1 = c1
        self.constrained = domain.constrained
        self.curved = bool(c2.any())
        self.T = r2 / program.scale + point.multiplier * c2 + point.reduced_cost / point.delta
        self.barrier = 1.0 / np.maximum((1.0 / self.theta).reshape(-1, n).sum(axis=0), 1e-300)
        root = products.K.root
        all_bordered = root is not None or hessian is not None
        if all_bordered:
            self.bordered = np.ones(len(self.T), dtype=bool)
        else:
            self.bordered = self._swamping()
        self.factor: Array | None = None
        self.diagonal = np.asarray(products.K.diagonal())
        if root is None:
            self._factored()
        self._border(np.empty((n, 0)) if root is None else root)

    def _swamping(self) -> Array:
        """The kernels whose elimination would lose the digits of the matrix, at most n / 2 of them.

        Every other kernel adds to the diagonal at most ten times its mean.
        """
        Z = self.products.Z
        n = self.program.n
        size = float(np.mean(self.products.K.diagonal() + np.minimum(self.barrier, 1.0)))
        added = np.einsum("kn,kn->k", Z, Z) / (n * self.T)
        largest = np.zeros(len(Z), dtype=bool)
        largest[np.argsort(-added, kind="stable")[: n // 2]] = True
        return largest & (added > 10.0 * size)

    def _factored(self) -> None:
        """Compute the factor of the matrix with eliminated kernels and barrier, and its diagonal without barrier."""
        Z = self.products.Z
        n = self.program.n
        inner = ~self.bordered
        H = np.array(self.products.K.dense(), dtype=float, order="F")
        if inner.any():
            scaled = Z[inner] / np.sqrt(self.T[inner])[:, None]
            H = blas.dgemm(1.0, scaled.T, scaled.T, trans_b=True, beta=1.0, c=H, overwrite_c=1)
        self.diagonal = H.diagonal().copy()
        H.flat[:: n + 1] += self.barrier
        self.factor = cholesky(H)

    def _solve(self, M: Array) -> Array:
        """The inverse of the matrix without its border, times M of shape (n,) or (n, t)."""
        if self.factor is None:
            return (M.T / self.barrier).T
        return solved(self.factor, M)

    def _border(self, G: Array) -> None:
        """Compute the border: intercept, multiplier, weights that are not eliminated, and the columns of K = G G'."""
        Z = self.products.Z
        n = self.program.n
        inner = ~self.bordered
        ratio = np.where(inner, self.c1 / self.T, 0.0)
        rows = [np.ones((1, n))] * self.program.intercept + [-(ratio @ Z)[None, :]] * self.constrained
        self.B = np.concatenate([*rows, Z[self.bordered], G.T]).T
        first = int(self.program.intercept)
        last = first + int(self.constrained)
        weights = slice(last, self.B.shape[1] - G.shape[1])
        E = np.zeros((self.B.shape[1], self.B.shape[1]))
        E[weights.stop :, weights.stop :] = np.eye(G.shape[1])
        E[weights, weights] = np.diag(self.T[self.bordered])
        if self.hessian is not None:
            E[weights, weights] += self.hessian
        if self.constrained:
            E[first, first] = -float(self.c1 @ ratio)
            E[first, weights] = E[weights, first] = self.c1[self.bordered]
        self.MB = self._solve(self.B)
        self.schur = self.B.T @ self.MB + E

    def step(self, mu: float, predictor: BarrierPoint | None = None) -> BarrierPoint:
        """The step towards the barrier parameter mu.

        A predictor, an earlier step from the same point, corrects second-order terms of the complementarity products.
        """
        program = self.program
        Z = self.products.Z
        targets = Targets.of(self.point, mu, predictor)
        r_a = targets.slope(self.F_a)
        r_delta = targets.reduced_slope(-self.F_delta)
        inner = np.where(self.bordered, 0.0, r_delta / self.T)
        rhs = self.barrier * program.coef(r_a / self.theta) - inner @ Z
        constraints = [[-self.F_b]] * program.intercept + [[self.F_c + float(self.c1 @ inner)]] * self.constrained
        x = self._solve(rhs)
        right = np.zeros(len(self.schur))
        border_values = np.concatenate([*constraints, -r_delta[self.bordered]])
        right[: len(border_values)] = border_values
        y = np.linalg.solve(self.schur, self.B.T @ x - right)
        db = x - self.MB @ y
        border_step = list(y[: len(border_values)])
        intercept = float(border_step.pop(0)) if program.intercept else 0.0
        multiplier = float(border_step.pop(0)) if self.constrained else 0.0
        ddelta = (Z @ db - self.c1 * multiplier + r_delta) / self.T
        ddelta[self.bordered] = border_step
        da = self._variables(db, r_a, self.products.K.multiply(db) + ddelta @ Z + intercept)
        return targets.step(da, intercept, ddelta, multiplier)

    def arrived(self, step: BarrierPoint, length: float) -> tuple[float, BarrierPoint]:
        """The step's length and end; it is shortened where it leads far out of a curved domain.

        The linearisation is useless there: in a ball of norm p, weights that are twice too large need log 2 p steps to
        return; for p = 20, 8 of 48 fits never returned. The multiplier of the constraint is kept non-negative, so that
        the system stays definite: no complementarity product ensures that.
        """
        if not self.curved:
            return length, self.point.moved(step, length)
        limit = max(4.0, self.F_c + 1.0)  # of the constraint, which is 1 on the boundary
        while self.domain.constraint(self.point.delta + length * step.delta)[0].sum() > limit:
            length *= 0.8
        moved = self.point.moved(step, length)
        return length, replace(moved, multiplier=max(moved.multiplier, 0.0))

    def _variables(self, db: Array, r_a: Array, change: Array) -> Array:
        """The step of the variables from that of the coefficients and of the function values.

        theta da = r_a - sign df is accurate where theta is large, at a bound. Between bounds, where theta vanishes, the
        variables follow from the coefficients: the difference db - E da is divided among the variables of a sample in
        proportion to 1 / theta, whose sum over them is 1 / D.
        """
        sample = self.program.sample
        sign = self.program.sign
        da = (r_a - sign * change[sample]) / self.theta
        missing = np.where(self.barrier < self.diagonal, db - self.program.coef(da), 0.0)
        return da + sign * (self.barrier * missing)[sample] / self.theta
