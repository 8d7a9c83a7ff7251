"""Hierarchical kernel learning with every node of the lattice at hand, by Clarabel, and with bounds of its own.

    min over f, c of   1/2 Omega(f)^2 + C sum_i max(0, 1 - y_i (f(x_i) + c))        or    + C sum_i (y_i - f(x_i))^2
    f = sum_w f_w,     Omega(f) = sum_v d_v (sum_{w in D(v)} |f_w|^rho)^{1/rho},    d_v = beta^|v|

A function of node w is F_w'u_w on the sample, with F_w'F_w = K_w, and its norm is |u_w|. The dual norm of b over a set
of nodes with the forms q_w = b'K_w b is the smallest T for which the roots can be shared out among the ancestors,

    sum_{v in A(w)} xi_vw >= q_w^{1/2},    |xi_v|_{rho'} <= d_v T,    1 / rho + 1 / rho' = 1,

and the dual problem max 1'a - 1/2 Omega*(y o a)^2, or y'b - |b|^2 / (4 C) - 1/2 Omega*(b)^2. Both bounds are
recomputed here from feasible points: nothing that the solver says is believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import cvxpy as cp
import numpy as np

import mkl_reference
import reference as ref

Array = Any
Node = tuple[int, ...]


# -- the lattice -------------------------------------------------------------------------------------------------------


def lattice(p: int) -> list[Node]:
    """All 2^p subsets, small ones first."""
    return [w for size in range(p + 1) for w in combinations(range(p), size)]


def random_hull(p: int, size: int, rng: np.random.Generator) -> list[Node]:
    """An ancestor-closed set of nodes that grew one by one, the root first."""
    nodes: list[Node] = [()]
    while len(nodes) < size and (outside := complement_sources(nodes, p)):
        nodes.append(outside[rng.integers(len(outside))])
    return nodes


def complement_sources(nodes: list[Node], p: int) -> list[Node]:
    """The nodes that are missing though no smaller subset of them is."""
    return [t for t in lattice(p) if t not in nodes and all(v in nodes for v in lattice(p) if set(v) < set(t))]


def below(nodes: list[Node]) -> Array:
    """Whether v is an ancestor of w or w itself, shape (m, m)."""
    return np.array([[set(v) <= set(w) for w in nodes] for v in nodes])


def costs(nodes: list[Node], beta: float) -> Array:
    return np.array([beta ** len(v) for v in nodes])


def products(K: Array, nodes: list[Node]) -> Array:
    """K_w of every node, for base kernels of shape (p, r, c)."""
    return np.array([np.prod([np.ones(K.shape[1:]), *(K[i] for i in w)], axis=0) for w in nodes])


# -- the norm and its dual ---------------------------------------------------------------------------------------------


def omega(norms: Array, nodes: list[Node], beta: float, rho: float) -> float:
    """sum_v d_v (sum_{w in D(v)} |f_w|^rho)^{1/rho} over these nodes."""
    return sum(
        d * float(np.linalg.norm(norms[row], rho)) for d, row in zip(costs(nodes, beta), below(nodes), strict=True)
    )


def dual_norm(q: Array, nodes: list[Node], beta: float, rho: float) -> tuple[float, float]:
    """A lower and an upper bound of max sum_w s_w q_w^{1/2} over Omega(s) <= 1, q_w >= 0."""
    unit = float(np.sqrt(q.max()))
    if unit == 0.0:
        return 0.0, 0.0
    roots, pairs, d = np.sqrt(np.maximum(q, 0.0)) / unit, below(nodes), costs(nodes, beta)
    v, w = np.nonzero(pairs)
    xi, T = cp.Variable(len(v), nonneg=True), cp.Variable()
    to_node = np.equal.outer(np.arange(len(nodes)), w).astype(float)
    covered = to_node @ xi >= roots
    within = [c for k in range(len(nodes)) for c in _norm_below(xi[v == k], rho / (rho - 1.0), d[k] * T)]
    _solve(cp.Problem(cp.Minimize(T), [covered, *within]))
    share, s = np.maximum(xi.value, 0.0), np.maximum(covered.dual_value, 0.0)
    reached = to_node @ share
    share = share * np.divide(roots, reached, out=np.zeros_like(roots), where=roots > 0)[w]
    upper = max(float(np.linalg.norm(share[v == k], rho / (rho - 1.0))) / d[k] for k in range(len(nodes)))
    return unit * float(s @ roots) / omega(s, nodes, beta, rho), unit * upper


def _norm_below(x: Any, exponent: float, bound: Any) -> list[Any]:
    """Constraints that say |x|_exponent <= bound, for x >= 0: x_j <= t_j^{1/e} bound^{1 - 1/e}, sum_j t_j = bound."""
    if exponent == 2.0:
        return [cp.norm(x, 2) <= bound]
    t = cp.Variable(x.shape, nonneg=True)
    return [cp.PowCone3D(t, bound * np.ones(x.shape), x, 1.0 / exponent), cp.sum(t) <= bound]


def excess(K: Array, b: Array, t: Node, beta: float, rho: float) -> float:
    """T_t^2, every descendant visited, for base kernels (p, n, n)."""
    terms, r = [], rho / (2.0 * (rho - 1.0))
    descendants = [w for w in lattice(len(K)) if set(t) <= set(w)]
    for w, K_w in zip(descendants, products(K, descendants), strict=True):
        d = sum(beta ** len(v) for v in descendants if set(v) <= set(w))
        terms.append(max(float(b @ K_w @ b), 0.0) / d**2)
    return float(np.linalg.norm(terms, r))


# -- the problem -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Optimum:
    """Functions at the nodes, coefficients of a dual point, and the bounds of the optimum that they give."""

    nodes: list[Node]
    norms: Array  # |f_w|, (m,)
    parts: Array  # f_w on the sample, (m, n)
    intercept: float
    coef: Array  # b, (n,)
    lower: float
    upper: float

    @property
    def decision(self) -> Array:
        return self.parts.sum(axis=0) + self.intercept

    @property
    def value(self) -> float:
        assert -1e-9 <= self.gap <= 1e-6, f"the reference is known to {self.gap:.1e} only"
        return 0.5 * (self.lower + self.upper)

    @property
    def gap(self) -> float:
        return (self.upper - self.lower) / abs(self.upper)


def classifier(K: Array, y: Array, C: float, rho: float, beta: float = 2.0, nodes: list[Node] | None = None) -> Optimum:
    """Hinge losses and an intercept, y of -1 and +1; over all nodes, or those of a hull."""
    nodes = lattice(len(K)) if nodes is None else nodes
    losses = mkl_reference.classification(y, C)
    xi, c = cp.Variable(len(y), nonneg=True), cp.Variable()
    parts, hinge = _minimise(K, nodes, rho, beta, C * cp.sum(xi), lambda f: xi >= 1.0 - cp.multiply(y, f + c))
    a = losses.feasible(np.asarray(hinge.dual_value))
    norms, values = parts
    upper = 0.5 * omega(norms, nodes, beta, rho) ** 2 + losses.total(values.sum(axis=0))
    lower = float(a.sum()) - 0.5 * _dual_square(K, y * a, nodes, beta, rho)
    return Optimum(nodes, norms, values, float(c.value), y * a, lower, upper)


def regressor(K: Array, y: Array, C: float, rho: float, beta: float = 2.0, nodes: list[Node] | None = None) -> Optimum:
    """Squared losses; the intercept is the mean of y; over all nodes, or those of a hull."""
    nodes = lattice(len(K)) if nodes is None else nodes
    mean = float(y.mean())
    y = y - mean
    residual = cp.Variable(len(y))
    loss = C * cp.sum_squares(residual)
    (norms, values), _ = _minimise(K, nodes, rho, beta, loss, lambda f: residual == y - f)
    left = y - values.sum(axis=0)
    b = 2.0 * C * left
    upper = 0.5 * omega(norms, nodes, beta, rho) ** 2 + C * float(left @ left)
    lower = float(y @ b) - float(b @ b) / (4.0 * C) - 0.5 * _dual_square(K, b, nodes, beta, rho)
    return Optimum(nodes, norms, values, mean, b, lower, upper)


def _minimise(K: Array, nodes: list[Node], rho: float, beta: float, loss: Any, link: Any) -> Any:
    """1/2 Omega(f)^2 + loss, f linked to the loss: norms and values at the nodes, and the constraint that links."""
    factors = [ref.root(K_w) for K_w in products(K, nodes)]
    u = [cp.Variable(len(F)) for F in factors]
    size, g = cp.Variable(len(nodes), nonneg=True), cp.Variable(len(nodes), nonneg=True)
    cones = [cp.norm(u_w, 2) <= size[k] for k, u_w in enumerate(u)]
    for k, row in enumerate(below(nodes)):
        cones += _norm_below(size[np.flatnonzero(row)], rho, g[k])
    linked = link(sum(F.T @ u_w for F, u_w in zip(factors, u, strict=True)))
    penalty = 0.5 * cp.square(costs(nodes, beta) @ g)
    _solve(cp.Problem(cp.Minimize(penalty + loss), [linked, *cones]))
    norms = np.array([np.linalg.norm(u_w.value) for u_w in u])
    return (norms, np.array([F.T @ u_w.value for F, u_w in zip(factors, u, strict=True)])), linked


def _dual_square(K: Array, b: Array, nodes: list[Node], beta: float, rho: float) -> float:
    return dual_norm(np.maximum(ref.quad(products(K, nodes), b), 0.0), nodes, beta, rho)[1] ** 2


def _solve(problem: cp.Problem) -> None:
    """By Clarabel as far as it gets; where it loses its way, as far as half of the digits."""
    try:
        ref.conic(problem)
    except cp.SolverError:
        problem.solve(solver=cp.CLARABEL)


# -- graphs that are listed


def under(parents: Any) -> Array:
    """Whether w is v or below it, at [v, w], by walks along the edges."""
    m = len(parents)
    edges = np.array([[v in parents[w] for w in range(m)] for v in range(m)], dtype=float)
    return np.linalg.matrix_power(np.eye(m) + edges, m) > 0


def optimum(K: Array, y: Array, C: float, rho: float, d: Array, below: Array, regression: bool = False) -> float:
    """min 1/2 (sum_v d_v (sum_{w in D(v)} |f_w|^rho)^{1/rho})^2 + losses, by Clarabel."""
    factors = [ref.root(each) for each in K]
    u = [cp.Variable(len(F)) for F in factors]
    size, g, c = cp.Variable(len(K), nonneg=True), cp.Variable(len(K)), cp.Variable()
    cones = [cp.norm(each) <= size[k] for k, each in enumerate(u)]
    cones += [cp.pnorm(size[np.flatnonzero(row)], rho) <= g[k] for k, row in enumerate(below)]
    f = sum(F.T @ each for F, each in zip(factors, u, strict=True))
    loss = cp.sum_squares(y - y.mean() - f) if regression else cp.sum(cp.pos(1.0 - cp.multiply(y, f + c)))
    return ref.conic(cp.Problem(cp.Minimize(0.5 * cp.square(d @ g) + C * loss), cones))
