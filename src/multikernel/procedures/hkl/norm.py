"""The dual norm of hierarchical kernel learning over a hull, as a smooth function of the weights of its nodes.

With the scores q_w = b'K_w b of the nodes, the square of the dual norm is a maximum over the simplex,

    Omega*(b)^2 = max_{gamma in simplex} h(gamma, q),     h = (sum_w zeta_w(gamma) q_w^r)^{1/r},
    zeta_w(gamma) = (sum_{v in A(w)} d_v^rho gamma_v^{1 - rho})^{1 / (1 - rho)},       r = rho / (2 (rho - 1)),

with A(w) the ancestors of w, w included (Bach 2009 for rho = 2; Jawanpuria, Nath and Ramakrishnan 2015). h is convex in
q, and h^r is concave in gamma and homogeneous of degree one, so any gamma bounds the maximum: h^r <= max_v d(h^r)/d
gamma_v.

The value and all derivatives follow from two sets of shares, each of sum one: u_w, the share of node w in h^r, and
kappa_vw, the share of the ancestor v in the sum inside zeta_w; R_vw = kappa_vw / gamma_v is the slope of log zeta_w.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from multikernel._typing import Array
from multikernel.procedures.hkl.lattice import ClosedSet


def exponent(rho: float) -> float:
    """r = rho / (2 (rho - 1))."""
    return rho / (2.0 * (rho - 1.0))


@dataclass(frozen=True, eq=False)
class DualNorm:
    """h and its derivatives at one point.

    Parameters
    ----------
    hull : the nodes and their weights d
    rho : float in (1, 2]
    gamma : array (m,) > 0, of sum 1
    q : array (m,) >= 0
    """

    hull: ClosedSet
    rho: float
    gamma: Array
    q: Array

    @cached_property
    def _log_terms(self) -> tuple[Array, Array]:
        """log(d_v^rho gamma_v^(1 - rho)) of every pair, log zeta of every node: powers of 1 / (rho - 1) overflow."""
        hull = self.hull
        rho = self.rho
        pairs = (rho * np.log(hull.d) + (1.0 - rho) * np.log(self.gamma))[hull.ancestor]
        top = np.full(len(self.gamma), -np.inf)
        np.maximum.at(top, hull.node, pairs)
        sums = np.bincount(hull.node, weights=np.exp(pairs - top[hull.node]), minlength=len(top))
        return pairs, (top + np.log(sums)) / (1.0 - rho)

    @cached_property
    def slopes(self) -> Array:
        """R, shape (m, m): R_vw = d log zeta_w / d gamma_v, zero unless v is an ancestor of w."""
        pairs, log_zeta = self._log_terms
        hull = self.hull
        R = np.zeros((len(self.gamma), len(self.gamma)))
        share = np.exp(pairs - (1.0 - self.rho) * log_zeta[hull.node])
        R[hull.ancestor, hull.node] = share / self.gamma[hull.ancestor]
        return R

    @cached_property
    def value(self) -> float:
        """h."""
        if self.q.any():
            return float(np.exp(self._log_value))
        return 0.0

    @cached_property
    def _log_value(self) -> float:
        logs = self._log_summands
        top = logs.max()
        return float(top + np.log(np.exp(logs - top).sum())) / exponent(self.rho)

    @cached_property
    def _log_summands(self) -> Array:
        """log(zeta_w q_w^r)."""
        with np.errstate(divide="ignore"):
            logs: Array = self._log_terms[1] + exponent(self.rho) * np.log(self.q)
        return logs

    @cached_property
    def shares(self) -> Array:
        """u, shape (m,): the share of each node in h^r."""
        r = exponent(self.rho)
        return np.exp(self._log_summands - r * self._log_value)

    @cached_property
    def weights(self) -> Array:
        """theta_w = dh / dq_w, the weights of the nodes' kernels: h = theta'q."""
        r = exponent(self.rho)
        if r == 1.0:
            return np.exp(self._log_terms[1])
        with np.errstate(divide="ignore"):
            theta: Array = np.exp(self._log_terms[1] + (r - 1.0) * (np.log(self.q) - self._log_value))
        return theta

    @cached_property
    def pull(self) -> Array:
        """g_v, shape (m,): the slope of log h^r in gamma_v; gamma'g = 1, and g <= 1 at the maximum."""
        return self.slopes @ self.shares

    @property
    def gradient(self) -> Array:
        """dh / d gamma."""
        return self.value / exponent(self.rho) * self.pull

    @property
    def bound(self) -> float:
        """An upper bound of Omega*(b)^2, the maximum of h over the simplex."""
        if not self.q.any():
            return 0.0
        return self.value * float(self.pull.max()) ** (1.0 / exponent(self.rho))

    # -- second derivatives ----------------------------------------------------------------------------------------

    @property
    def curvature(self) -> Array:
        """-d2h / d gamma2, positive semi-definite, shape (m, m)."""
        r = exponent(self.rho)
        R = self.slopes
        g = self.pull
        H = (R * self.shares) @ R.T
        H.flat[:: len(H) + 1] -= g / self.gamma
        return self.value / r * ((1.0 - 1.0 / r) * np.outer(g, g) - self.rho * H)

    @property
    def mixed(self) -> Array:
        """d theta_w / d gamma_v, shape (m, m): row v, column w."""
        return self.weights * (self.slopes - (1.0 - 1.0 / exponent(self.rho)) * self.pull[:, None])

    def hessian_factor(self, Z: Array) -> Array | None:
        """F with F'F = 2 Z'(d2h / dq2) Z, for Z of shape (m, n) and q = Z b; None where h is linear in q.

        F'F is the term of the Hessian of h in the coefficients besides the weighted sum of the kernels. With
        d2h / dq2 = (r - 1) (diag(theta / q) - theta theta' / h) it is a variance: rows sqrt(u) (z / q - mean).
        """
        r = exponent(self.rho)
        if r == 1.0 or not self.q.any():
            return None
        positive = self.q > 0
        relative = Z[positive] / self.q[positive, None]
        u = self.shares[positive]
        mean = u @ relative
        return np.sqrt(2.0 * (r - 1.0) * self.value * u)[:, None] * (relative - mean)
