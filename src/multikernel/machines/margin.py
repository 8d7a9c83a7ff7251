"""The largest margin between two hulls: the quadratic problem of EasyMKL and of KOMD.

    Q(K) = min_g (1 - lam) g'Y K Y g + lam |g|^2,    g >= 0,    sum of g over each class = 1        (Y = diag(y))

the squared distance of two points, one in the convex hull of each class, with a ridge that shrinks the hulls towards
the class means. lam = 0: the hull distance (hard margin); lam = 1: the class means, in closed form. Aiolli and Donini
(2015), EasyMKL, section 3; Donini and Aiolli (2017), section 3.1.

Certificate: with the gradient q = 2 ((1 - lam) Y K Y g + lam g), convexity bounds the excess of g by
gap = g'q - min_{y=+1} q - min_{y=-1} q.

Two stages. A semismooth Newton method on the support proposes: up to scale the problem is the support vector machine
with squared hinge loss, so a support determines the solution by one linear system. Pairwise minimisation (SMO) from
that proposal disposes: it returns at once where the proposal is optimal, and needs no further assumption where not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from multikernel.banks import Gram
from multikernel.kernels.base import Array
from multikernel.machines.base import DualSolution, Machine, check_signs

_RIDGE = 1e-12  # of the mean self-value, at lam = 0: without it the minimiser need not be unique
_FLOOR = 1e-9  # of the spread of the samples: a smaller squared margin is none, the hulls meet
_SMALL = 800  # up to this many samples pairs alone are faster than linear systems
_ROUGH = 2.5e-7  # of the trace: a ridge above it (four units of single precision) survives a float32 factorisation
_ROUNDS = 5  # of pairwise steps, each from a fresh gradient
_NEWTON_STEPS = 30
_NEWTON_VALUES = 1 << 25  # room for linear systems of 5792 unknowns (8192 in single precision): 256 MB
_THINNED = 100  # samples below which a thinned start is not worth its systems
_SETTLED = 0.05  # of the support: with fewer changes a thinned sample has told all, and a full one may be optimal


@dataclass(frozen=True)
class MarginMachine(Machine):
    """min_g (1 - lam) g'YKYg + lam |g|^2 over a probability vector on each class; J(K) is minus this minimum.

    Parameters
    ----------
    lam : float in [0, 1]
    tol : float, the relative duality gap to reach
    max_iter : int, how many pairwise steps at most
    """

    lam: float = 0.1
    tol: float = 1e-6
    max_iter: int = 1_000_000

    def __post_init__(self) -> None:
        if not 0.0 <= self.lam <= 1.0:
            raise ValueError(f"lam must be in [0, 1], got {self.lam}")

    def solve(self, gram: Gram, target: Array, warm: Array | None = None) -> DualSolution:
        """Solve for labels -1, +1. ``warm`` is a vector g of an earlier solution."""
        check_signs(target)
        y = np.asarray(target, dtype=float)
        means = _balanced(np.ones(len(y)), y)
        if self.lam == 1.0:
            return self._solution(gram, y, means, 0)
        mean_self_value = float(gram.diagonal().mean())
        ridge = self.lam / (1.0 - self.lam) if self.lam > 0 else _RIDGE * mean_self_value
        g = means if warm is None else _balanced(np.maximum(warm, 0.0), y)
        steps = 0
        if len(y) > _SMALL:
            start = g > 0 if warm is not None else None
            rough = ridge > _ROUGH * mean_self_value * len(y)
            g, steps = _newton(gram, y, ridge, start, rough, lambda g: self._solution(gram, y, g, 0).converged)
        found = self._solution(gram, y, g, steps)
        if not found.converged:
            g, pairs = self._pairwise(gram, y, g, _floor(gram))
            found = self._solution(gram, y, g, steps + pairs, found.gap)
        return found

    def _gradient(self, gram: Gram, y: Array, g: Array) -> Array:
        return 2.0 * ((1.0 - self.lam) * y * gram.multiply(y * g) + self.lam * g)

    def _pairwise(self, gram: Gram, y: Array, g: Array, floor: float) -> tuple[Array, int]:
        from multikernel.machines import _smo

        """Pairwise steps from g; rounds of them, since rounding drifts into a gradient that is updated step by step."""
        K, s = gram.dense(), 1.0 - self.lam
        ridge = self.lam if self.lam > 0 else _RIDGE * float(np.diagonal(K).mean())
        group, no_linear_term = (y < 0).astype(np.int64), np.zeros(len(y))
        g, steps = g.copy(), 0
        for _ in range(_ROUNDS):
            gradient = self._gradient(gram, y, g)
            left = self.max_iter - steps
            made, _ = _smo.solve(K, y, group, 2, no_linear_term, s, ridge, g, gradient, floor, self.tol, left)
            g = _balanced(g, y)
            steps += made
            if made == 0 or made == left:
                break
        return g, steps

    def _solution(self, gram: Gram, y: Array, g: Array, n_iter: int, *before: float) -> DualSolution:
        """The certificate and the predictor at g, from a fresh gradient."""
        Kyg = gram.multiply(y * g).astype(float)
        q = 2.0 * ((1.0 - self.lam) * y * Kyg + self.lam * g)
        value = 0.5 * float(g @ q)
        gap = max(float(g @ q) - float(q[y > 0].min()) - float(q[y < 0].min()), 0.0)
        scale = max(value, _floor(gram) if self.lam == 0.0 else 0.0)
        relative = 0.0 if self.lam == 1.0 or scale == 0.0 else gap / scale
        coef = y * g
        return DualSolution(
            coef=coef,
            intercept=-0.5 * float(g @ Kyg),
            value=-value,
            factor=np.sqrt(1.0 - self.lam) * coef,
            gap=relative,
            converged=relative <= self.tol,
            n_iter=n_iter,
            warm=g,
            history=(*before, relative),
        )


def _floor(gram: Gram) -> float:
    """A squared distance that is none: far below the samples' mean squared distance from their centre."""
    n = gram.shape[0]
    return _FLOOR * float(gram.diagonal().mean() - gram.multiply(np.full(n, 1.0 / n)).mean())


def _balanced(g: Array, y: Array) -> Array:
    """g with each class summing to 1; a class without mass gets equal shares."""
    balanced = np.asarray(g, dtype=float).copy()
    for members in (y > 0, y < 0):
        mass = balanced[members].sum()
        balanced[members] = balanced[members] / mass if mass > 0 else 1.0 / members.sum()
    return balanced


def _newton(
    gram: Gram, y: Array, ridge: float, start: Array | None, rough: bool, good: Callable[[Array], bool]
) -> tuple[Array, int]:
    """A proposal for g that is ``good``, or the last one, and how many linear systems it took.

    max_a 2 sum a - a'(Y K Y + ridge I) a over a >= 0, y'a = 0 has the solution of the problem above up to scale. On a
    support S it is one system, (K_SS + ridge I) b + c 1 = y_S with sum b = 0; the next support is y f < 1. A system
    costs the cube of its support, so a cold start settles every eighth sample first, then every fourth and second.
    """
    n = len(y)
    universes = [*(_thinned(y) if start is None else ()), np.ones(n, dtype=bool)]
    support = universes[0] if start is None else start
    g, steps = _balanced(support.astype(float), y), 0
    work = np.empty(min(n * n, _NEWTON_VALUES))
    half = work.view(np.float32)  # where the ridge allows it, enough to tell who is in the support, at half the cost
    for universe in universes:
        precise = not rough
        while True:
            S = np.flatnonzero(support & universe)
            room = work if precise else half
            if steps == _NEWTON_STEPS or len(S) ** 2 > len(room) or len(np.unique(y[S])) < 2:
                return g, steps
            try:
                b, c = _on_support(gram, y, ridge, S, room)
            except LinAlgError:
                if precise:
                    return g, steps
                precise = True
                continue
            steps += 1
            coef = np.zeros(n)
            coef[S] = b
            before = support & universe
            support = y * (gram.multiply(coef) + c) < 1.0
            changed = int((before != (support & universe)).sum())
            settled = changed <= _SETTLED * len(S)
            if settled:
                g = _balanced(np.maximum(y * coef, 0.0), y)
            if settled and universe is not universes[-1]:
                break
            if settled and precise and (changed == 0 or good(g)):
                return g, steps
            precise = precise or settled
    return g, steps


def _thinned(y: Array) -> list[Array]:
    """Every eighth, fourth and second sample of each class, where that leaves enough."""
    rank = np.zeros(len(y), dtype=int)
    for members in (y > 0, y < 0):
        rank[members] = np.arange(members.sum())
    return [rank % step == 0 for step in (8, 4, 2) if len(y) / step > _THINNED]


def _on_support(gram: Gram, y: Array, ridge: float, S: Array, work: Array) -> tuple[Array, float]:
    """b and c of (K_SS + ridge I) b + c 1 = y_S, sum b = 0."""
    both = gram.solve_shifted(ridge, np.column_stack([y[S], np.ones(len(S))]), on=S, work=work)
    c = float(both[:, 0].sum() / both[:, 1].sum())
    return both[:, 0] - c * both[:, 1], c
