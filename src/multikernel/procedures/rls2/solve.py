"""RLS2 for kernels of any kind: where to begin, and by which algorithm.

By default Newton steps lead to a certified gap (``newton.py``). Mode "paper" is the paper's Algorithm 1, coefficients
and weights alternately,

    c = (R(d) + alpha I)^{-1} y
    d = argmin over the simplex of |V d - u|^2,     V = [R_1 c, ..., R_m c],  u = y - alpha c / 2

until |(R(d) + alpha I) c - y| <= 0.01 |y| for the new d and the old c. Its fixed points are the optima, but a step in d
is of the order of alpha: with small alpha the rule is met at once, wherever d is. Mode "conjugate" is the same as the
paper's experiments run it: the systems are solved by conjugate gradients, from the last c on and to the residual of the
rule. The gap that is returned is the true one, also of such a c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._arrays import part_of
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.banks import KernelBank
from multikernel.banks.threads import one_blas_thread
from multikernel.certificate import Certificate
from multikernel.combinations import Linear
from multikernel.domains import Simplex
from multikernel.machines import DualSolution, RidgeMachine
from multikernel.machines.base import checked_target
from multikernel.machines.ridge.centred import CentredTargets
from multikernel.observer import Event, Observer, silent
from multikernel.problem import Problem
from multikernel.procedures.base import within
from multikernel.procedures.ridge_terms import LARGE, RidgeTerms
from multikernel.procedures.rls2.newton import newton
from multikernel.procedures.rls2.point import Ridge, RidgePoint
from multikernel.procedures.rls2.weights import ScaledWeights, equal_weights
from multikernel.procedures.simplex_least_squares import nearest_point
from multikernel.procedures.units import RegressionUnits
from multikernel.tuning import ALL_SAMPLES


def rls2(
    bank: KernelBank,
    target: Array,
    alpha: float,
    scaling: Array,
    *,
    fit_intercept: bool = True,
    mode: str = "certified",
    tol: float = 1e-4,
    max_iter: int = 200,
    start: ScaledWeights | None = None,
    sample_weight: Array | None = None,
    observe: Observer = silent,
) -> tuple[ScaledWeights, DualSolution]:
    """The weights with their certificate, and the ridge at them.

    Parameters
    ----------
    bank : square KernelBank of m kernels
    target : array (n,), or (n, t) for targets that share the weights
    alpha : float > 0
    scaling : array (m,) >= 0, the factors s_k
    fit_intercept : bool, whether the means of the targets are taken off first
    mode : "certified", Newton steps to a relative duality gap of ``tol``; "paper", its alternation and stopping rule;
        "conjugate", the same with systems solved by conjugate gradients
    tol : float, the relative duality gap to reach in mode "certified"
    max_iter : int, steps at most
    start : ScaledWeights of a similar problem, to begin with; by default, of many samples, that of a quarter of
        them, and of few, or where few features make the kernels of many, the optimum for alpha to infinity
    sample_weight : array (n,) > 0, what the squared loss of each sample is multiplied with; 1 if not given. With
        w = s^(1/2) that is the problem of the kernels w_i w_j K_ij and the targets w_i y_i, and coefficients w_i c_i.
    observe : called after each step
    """
    target = checked_target(target, several=True)
    posed = _UnitSpread.of(target, alpha, fit_intercept, sample_weight)
    root = posed.targets.root
    scaled = (bank if root is None else bank.weighted(root[:, 0])).scaled(scaling)
    terms = RidgeTerms.of(Problem(scaled, Linear(), RidgeMachine(alpha, False), Simplex(), posed.targets.weighted))
    if start is None and mode == "certified" and len(target) > ALL_SAMPLES and terms.basis is None:
        start = _of_a_part(bank, target, alpha, scaling, fit_intercept, tol, max_iter, sample_weight)
    scaled = terms.problem.bank
    Y = np.asfortranarray(as_columns(terms.problem.target))
    with one_blas_thread(len(Y)):
        begin = _begin(scaled, scaling, Y) if start is None else start.values
        large = float((begin @ scaled.quad(Y)) / alpha) <= LARGE * float(np.vdot(Y, Y))
        ridge = Ridge(Y, alpha, large)
        restated = posed.observer(observe, terms)
        if mode in ("paper", "conjugate"):
            size = float(np.hypot(np.linalg.norm(Y), np.linalg.norm(terms.beyond)))
            systems = _Systems(scaled, ridge, 1e-2 * size, exact=mode == "paper")  # the paper's tolerance
            weights, point = alternation(systems, max_iter, begin, restated)
        else:
            scores = None if start is None else start.scores
            weights, point = newton(scaled, ridge, tol, max_iter, begin, scores, restated)
    if large:
        terms = terms.reduced()
    weights = terms.whole(weights, tol)
    dual = posed.solution(terms.solution(point.solution(), weights.values))
    bound = posed.value(float(weights.bound or 0.0))
    weights = replace(weights, scaling=scaling, objective=dual.upper, bound=bound)
    return weights, within(weights, dual)


@dataclass(frozen=True, eq=False)
class _UnitSpread:
    """The problem on targets of spread 1 about their means; the roots of sample weights are in kernels and targets.

    Parameters
    ----------
    targets : CentredTargets, in their unit
    units : the unit of the targets
    alpha : float > 0
    """

    targets: CentredTargets
    units: RegressionUnits
    alpha: float

    @classmethod
    def of(cls, target: Array, alpha: float, fit_intercept: bool, sample_weight: Array | None) -> _UnitSpread:
        units = RegressionUnits.of(target)
        return cls(CentredTargets.of(target / units.target, fit_intercept, sample_weight), units, alpha)

    def value(self, ridge: float) -> float:
        """The value of RLS2 in the user's units, for that of the ridge machine: alpha / 2 times as much."""
        return float(self.units.squared(0.5 * self.alpha * ridge))

    def solution(self, found: DualSolution) -> DualSolution:
        """The ridge machine's solution in the user's units."""
        coef = self.units.target * self.targets.coefficients(found.coef)
        factor = self.units.target * self.targets.coefficients(found.factor)
        with np.errstate(over="ignore"):
            return replace(
                found,
                coef=coef,
                intercept=self.units.target * self.targets.intercept,
                value=self.value(found.value),
                upper=self.value(found.upper),
                factor=np.sqrt(0.5 * self.alpha) * factor,
                warm=coef,
            )

    def observer(self, observe: Observer, terms: RidgeTerms) -> Observer:
        """An observer of the values of the ridge machine, from an observer of those of RLS2."""
        if observe is silent:
            return silent

        def restated(event: Event) -> None:
            observe(replace(event, value=self.value(event.value + terms.shift)))

        return restated


def _of_a_part(
    bank: KernelBank,
    target: Array,
    alpha: float,
    scaling: Array,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    sample_weight: Array | None,
) -> ScaledWeights:
    """The weights of a quarter of the samples, from which a third of the steps on all of them are left.

    Its matrices cost 1/16, and its factorisations 1/64; steps in coordinates of few features cost the same. Kernels are
    scaled to the trace that they have on all samples, as "trace" scales them.
    """
    n = len(target)
    rows = np.sort(np.random.default_rng(0).permutation(n)[: n // 4])
    return rls2(
        bank.block(rows, rows),
        target[rows],
        alpha,
        scaling * (n / len(rows)),
        fit_intercept=fit_intercept,
        tol=tol,
        max_iter=max_iter,
        sample_weight=part_of(sample_weight, rows),
    )[0]


def _begin(scaled: KernelBank, scaling: Array, Y: Array) -> Array:
    """The optimum for alpha to infinity: the kernel of the largest tr Y'R_k Y (Lemma 5); equal weights if all are 0."""
    scores = scaled.quad(Y)
    if scores.max() <= 0:
        return equal_weights(scaling)
    start = np.zeros(len(scores))
    start[int(scores.argmax())] = 1.0
    return start


# -- the paper's alternation -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Systems:
    """The systems of the alternation: kernels, scaled already, the ridge, the rule's residual, and whether exact."""

    bank: KernelBank
    ridge: Ridge
    residual: float
    exact: bool

    def at(self, d: Array, C: Array, work: Array) -> RidgePoint:
        """The coefficients at d, after those of C."""
        if self.exact:
            return self.ridge.at(self.bank, d, work)
        return self.ridge.near(self.bank, d, C, self.residual)


def alternation(
    systems: _Systems, max_iter: int, start: Array, observe: Observer = silent
) -> tuple[ScaledWeights, RidgePoint]:
    """From ``start`` on, to the paper's stopping rule."""
    bank = systems.bank
    ridge = systems.ridge
    d = start
    work = ridge.space()
    alpha = ridge.alpha
    y = ridge.Y.T.ravel()
    stopped = False
    history: list[float] = []
    point = systems.at(d, np.zeros_like(ridge.Y), work)
    while not stopped and len(history) < max_iter and not time_is_up():
        V, scores = point.products(bank)
        c = point.C.T.ravel()
        history.append(point.gap(float(scores.max())))
        observe(Event(len(history), Certificate("duality gap", history[-1]), value=point.value))
        d = nearest_point(V - (y - 0.5 * alpha * c)[:, None], d)
        stopped = bool(np.linalg.norm(V @ d + alpha * c - y) <= systems.residual)
        point = systems.at(d, point.C, work)
    scores = bank.quad(point.C)
    gap = point.gap(float(scores.max()))
    bound = point.bound(float(scores.max()))
    weights = ScaledWeights(
        values=d,
        objective=point.value,
        certificate=Certificate("duality gap", gap),
        converged=False,  # the caller compares the gap with what was asked for
        n_iter=len(history),
        history=(*history, gap),
        bound=bound,
        rule_met=stopped,
        scores=scores,
    )
    return weights, point
