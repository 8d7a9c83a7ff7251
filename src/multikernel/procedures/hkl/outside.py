"""What the nodes outside a hull can add, bounded more tightly than by equal shares.

With W the hull and V its complement, every way to share each w in V among its ancestors there bounds the dual norm,

    Omega*_V(b)^2 <= max_{v in V} |(kappa_vw^2 b'K_w b / d_v^2)_{w in D(v)}|_r,    sum_{v in A(w), v in V} kappa_vw = 1,

r = rho / (2 (rho - 1)). Shares kappa_vw proportional to d_v give the T_t^2 of the sources t, which then decide alone
(Bach 2009): their descendants have room left. So let those take lambda >= 1 times as much,

    x_t(w) = beta^{-2|t|} f(|w - t|) b'K_w b,      f(j) = (lambda (1 + beta)^j - lambda + 1)^{-2},
    A_t = |(x_t(w))_{w in D(t)}|_r,      B_ti = lambda^2 |(x_t(w))_{w in D(t + {i})}|_r,

and the bound is the largest of all; nodes further down add no more than these. f is a sum of powers,

    f(j) = sum_{k >= 0} a_k z_k^j,     a_k = (k + 1) (1 - 1/lambda)^k / lambda^2,     z_k = (1 + beta)^{-(k + 2)},

cut off with the rest of the a_k, which sum to 1, on the last z; for each z_k the sums over w are those of ``sums``.
They are the bounds for r = 1. For r > 1, the node on its own apart, the rest counts as one, or for each child as one.
With many kernels that are alike the bound is several times smaller than that of equal shares, and so is the hull it
takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.banks.dense import PackedBank
from multikernel.procedures.hkl.excess import excess
from multikernel.procedures.hkl.lattice import Node
from multikernel.procedures.hkl.norm import exponent
from multikernel.procedures.hkl.sums import Sums

_LAMBDAS = np.geomspace(1.0, 4.5, 11)
_TERMS = 4


@dataclass(frozen=True, eq=False)
class Outside:
    """What the sources of the complement of a hull, and all below them, can add.

    Parameters
    ----------
    bound : float, at least Omega*_V(b)^2
    norms : array (number of candidates,), by candidate: where all are small enough the bound is
    """

    bound: float
    norms: Array


def outside(base: PackedBank, b: Array, candidates: Sequence[Node], beta: float, rho: float, allowed: float) -> Outside:
    """Bound the dual norm over the complement of a hull.

    Parameters
    ----------
    base : the base kernels in double precision
    b : array (n,), the signed dual variables; zeros cost nothing
    candidates : all sources of the complement
    beta : float > 0, with d_v = beta^|v|
    rho : float in (1, 2]
    allowed : float, what the bound should not exceed
    """
    if not candidates:
        return Outside(0.0, np.zeros(0))
    norms = graded(base, b, candidates, beta, rho, allowed)
    bound = float(norms.max())
    if rho < 2.0 and bound > allowed:
        shared = excess(base, b, candidates, beta, rho, allowed).upper
        bound = min(bound, float(shared.max()))
        norms = min(norms, shared, key=lambda each: int((each > allowed).sum()))
    return Outside(bound, norms)


def graded(base: PackedBank, b: Array, candidates: Sequence[Node], beta: float, rho: float, allowed: float) -> Array:
    """max(A_t, max_i B_ti) of every candidate t, for the lambda with the smallest bound.

    Children are looked at only where the sums over all descendants do not tell that they are allowed.
    """
    r = exponent(rho)
    z = (1.0 + beta) ** -np.arange(2.0, 2.0 + _TERMS)
    scale = float(beta) ** (-2.0 * np.array([len(t) for t in candidates]))
    sums = [Sums.of(base, b, c) for c in (0.0, *z)]
    own, *wholes = (scale * each.wholes(candidates) for each in sums)
    grades = [_grades(factor) for factor in _LAMBDAS]
    rest = [np.maximum(np.tensordot(a, wholes, 1) - own, 0.0) for a in grades]
    open_ = np.flatnonzero(np.max([lam**2 * left for lam, left in zip(_LAMBDAS, rest, strict=True)], axis=0) > allowed)
    few = [candidates[int(k)] for k in open_]
    tables = [scale[open_, None] * each.below(few)[1] for each in sums] if few else []
    largest: list[Array] = []
    for lam, a, left in zip(_LAMBDAS, grades, rest, strict=True):
        below = lam**2 * left
        if few:
            B = np.tensordot(a * z, tables[1:], 1)
            left[open_] = np.minimum(left[open_], _norm(B, r))
            first = (lam * (1.0 + beta) - lam + 1.0) ** -2 * tables[0]
            below[open_] = lam**2 * _norm(np.stack([first, np.maximum(B - first, 0.0)], axis=-1), r).max(axis=1)
        largest.append(np.maximum(_norm(np.stack([own, left], axis=-1), r), below))
    return min(largest, key=lambda norms: float(norms.max()))


def _grades(lam: float) -> Array:
    """a_k, the last with what is left."""
    a = np.arange(1, _TERMS + 1) * (1.0 - 1.0 / lam) ** np.arange(_TERMS) / lam**2
    a[-1] = 1.0 - a[:-1].sum()
    return a


def _norm(values: Array, r: float) -> Array:
    """|values|_r along the last axis, without overflow."""
    top = np.maximum(values.max(axis=-1, keepdims=True), np.finfo(float).tiny)
    return top[..., 0] * ((values / top) ** r).sum(axis=-1) ** (1.0 / r)
