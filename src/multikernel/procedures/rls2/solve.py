"""RLS2 for any kernels: the choice of a start and of an algorithm.

By default Newton steps lead to a certified gap (``newton.py``). Mode "paper" is the paper's Algorithm 1, which computes
coefficients and weights alternately,

    c = (R(d) + alpha I)^{-1} y
    d = argmin over the simplex of |V d - u|^2,     V = [R_1 c, ..., R_m c],  u = y - alpha c / 2

until |(R(d) + alpha I) c - y| <= 0.01 |y| for the new d and the old c. Its fixed points are the optima, but a step in d
is of the order of alpha: with small alpha the rule is satisfied at once for any d. Mode "conjugate" solves the
systems by conjugate gradients, as the paper says of its experiments, from the last c on and to the residual of the
rule, which it does not say. The returned gap is the true one, also for such an inexact c.
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
    fit_intercept : bool, whether the means of the targets are subtracted first
    mode : "certified", Newton steps to a relative duality gap of ``tol``; "paper", its alternation and stopping rule;
        "conjugate", the alternation with systems solved by conjugate gradients
    tol : float, the relative duality gap to reach in mode "certified"
    max_iter : int, steps at most
    start : ScaledWeights of a similar problem, to begin with; by default the optimum for alpha to infinity, or for many
        samples, unless kernels have few features, the optimum for a quarter of the samples
    sample_weight : array (n,) > 0, the weights s of the squared losses; 1 if not given. With w = s^(1/2) the problem is
        that of the kernels w_i w_j K_ij and the targets w_i y_i, with coefficients w_i c_i
    observe : called after each step
    """
    target = checked_target(target, several=True)
    unit_spread = _UnitSpread.of(target, alpha, fit_intercept, sample_weight)
    root = unit_spread.targets.root
    scaled = (bank if root is None else bank.weighted(root[:, 0])).scaled(scaling)
    terms = RidgeTerms.of(
        Problem(scaled, Linear(), RidgeMachine(alpha, False), Simplex(), unit_spread.targets.weighted)
    )
    if start is None and mode == "certified" and len(target) > ALL_SAMPLES and terms.basis is None:
        start = _on_quarter(bank, target, alpha, scaling, fit_intercept, tol, max_iter, sample_weight)
    scaled = terms.problem.bank
    Y = np.asfortranarray(as_columns(terms.problem.target))
    with one_blas_thread(len(Y)):
        begin = _begin(scaled, scaling, Y) if start is None else start.values
        large = float((begin @ scaled.quad(Y)) / alpha) <= LARGE * float(np.vdot(Y, Y))
        ridge = Ridge(Y, alpha, large)
        restated = unit_spread.observer(observe, terms)
        if mode in ("paper", "conjugate"):
            size = float(np.hypot(np.linalg.norm(Y), np.linalg.norm(terms.beyond)))
            systems = _Systems(scaled, ridge, 1e-2 * size, exact=mode == "paper")  # the paper's tolerance
            weights, point = alternation(systems, max_iter, begin, restated)
        else:
            scores = None if start is None else start.scores
            weights, point = newton(scaled, ridge, tol, max_iter, begin, scores, restated)
    if large:
        terms = terms.reduced()
    weights = terms.of_given_problem(weights, tol)
    dual = unit_spread.solution(terms.solution(point.solution(), weights.values))
    bound = unit_spread.value(float(weights.bound or 0.0))
    weights = replace(weights, scaling=scaling, objective=dual.upper, bound=bound)
    return weights, within(weights, dual)


@dataclass(frozen=True, eq=False)
class _UnitSpread:
    """The problem for centred targets of spread 1; kernels and targets are multiplied by the roots of sample weights.

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
        """The value of RLS2 in the user's units: alpha / 2 times that of the ridge machine."""
        return float(self.units.squared(0.5 * self.alpha * ridge))

    def solution(self, dual: DualSolution) -> DualSolution:
        """The ridge machine's solution in the user's units."""
        coef = self.units.target * self.targets.coefficients(dual.coef)
        factor = self.units.target * self.targets.coefficients(dual.factor)
        with np.errstate(over="ignore"):
            return replace(
                dual,
                coef=coef,
                intercept=self.units.target * self.targets.intercept,
                value=self.value(dual.value),
                upper=self.value(dual.upper),
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


def _on_quarter(
    bank: KernelBank,
    target: Array,
    alpha: float,
    scaling: Array,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    sample_weight: Array | None,
) -> ScaledWeights:
    """The weights for a quarter of the samples; from these a third of the steps on all samples suffices.

    The matrices of a quarter cost 1/16, and their factorisations 1/64; steps in coordinates of few features cost the
    same as for all samples. Kernels are scaled to the same trace as on all samples.
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
    """The systems of the alternation: scaled kernels, the ridge, the rule's residual, and whether solved exactly."""

    bank: KernelBank
    ridge: Ridge
    residual: float
    exact: bool

    def at(self, d: Array, C: Array, buffer: Array) -> RidgePoint:
        """The coefficients at d; conjugate gradients start from C."""
        if self.exact:
            return self.ridge.at(self.bank, d, buffer)
        return self.ridge.near(self.bank, d, C, self.residual)


def alternation(
    systems: _Systems, max_iter: int, start: Array, observe: Observer = silent
) -> tuple[ScaledWeights, RidgePoint]:
    """Alternate from ``start`` on, until the paper's stopping rule is satisfied."""
    bank = systems.bank
    ridge = systems.ridge
    d = start
    buffer = ridge.space()
    alpha = ridge.alpha
    y = ridge.Y.T.ravel()
    stopped = False
    history: list[float] = []
    point = systems.at(d, np.zeros_like(ridge.Y), buffer)
    while not stopped and len(history) < max_iter and not time_is_up():
        V, scores = point.products(bank)
        c = point.C.T.ravel()
        history.append(point.gap(float(scores.max())))
        observe(Event(len(history), Certificate("duality gap", history[-1]), value=point.value))
        d = nearest_point(V - (y - 0.5 * alpha * c)[:, None], d)
        stopped = bool(np.linalg.norm(V @ d + alpha * c - y) <= systems.residual)
        point = systems.at(d, point.C, buffer)
    scores = bank.quad(point.C)
    gap = point.gap(float(scores.max()))
    bound = point.bound(float(scores.max()))
    weights = ScaledWeights(
        values=d,
        objective=point.value,
        certificate=Certificate("duality gap", gap),
        converged=False,  # the caller compares the gap with the tolerance
        n_iter=len(history),
        history=(*history, gap),
        bound=bound,
        rule_met=stopped,
        scores=scores,
    )
    return weights, point
