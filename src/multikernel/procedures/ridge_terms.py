"""Ridge regression with learned weights, without the terms of its value that do not depend on the weights.

    V(theta) = J(K(theta)) + r(theta),        J = tr Y'(K + alpha I)^{-1} Y

Y centred. With P the part of Y that is orthogonal to the range of K(theta), whatever the weights > 0 are,

    |P|^2 / alpha  <=  J  <=  |Y|^2 / alpha,

the values for infinite and for zero weights. For small alpha J is nearly the lower bound, for large alpha nearly the
upper one, and a gap relative to J then says nothing about the weights. So P is subtracted from the targets where the
kernels have few features: that removes the first term exactly, since K P = 0, and a sum of kernels is computed in the
coordinates of its features. Where alpha is large the machine returns its values less the upper bound. The solver gets a
tolerance for the gap relative to the remainder,

    min(V - |P|^2 / alpha, |Y|^2 / alpha - V).

P is not known for matrices in general. So the reported certificate is relative to the value itself or to the part that
the kernels explain, whichever is smaller, for all kinds, ranks and storages of kernels:

    (V - bound) / min(V, |Y|^2 / alpha - V).

The explained part |Y|^2 / alpha - V is used where optimal weights do not vanish for large alpha: in a ball, and with
the penalty |theta|^2 on a sum of kernels. Other penalties make all weights zero from some alpha on; then the
certificate is relative to the value alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from multikernel._floats import EPS, ROUNDING
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks import FactorGram, KernelBank
from multikernel.banks.base import MEMORY
from multikernel.banks.factor import FactorBank
from multikernel.certificate import FINEST_GAP, Certificate, relative
from multikernel.combinations import Linear
from multikernel.domains import NormBall, Orthant, Simplex
from multikernel.machines import DualSolution, RidgeMachine
from multikernel.machines.base import checked_target
from multikernel.machines.ridge.centred import CentredTargets
from multikernel.observer import Event, Observer, silent
from multikernel.optimizers.needs import need_ridge
from multikernel.problem import Problem
from multikernel.procedures.base import Weights, within
from multikernel.procedures.feature_basis import FeatureBasis, basis_of, in_coordinates

Known = TypeVar("Known", bound=Weights)
Answer = tuple[Weights, DualSolution]
Solve = Callable[[Problem, float, "Array | None", Observer], Answer]

LARGE = 1e-3  # of |Y|^2: where the kernels explain no more at the first weights, values are returned less |Y|^2 / alpha


def solved_by_terms(problem: Problem, solve: Solve, tol: float, observe: Observer = silent) -> Answer:
    """Solve a ridge problem without the terms that no weights change.

    Parameters
    ----------
    problem : Problem of a RidgeMachine
    solve : function of a problem, the certificate to reach, weights to start from (None for a default), and an observer
    tol : float, the certificate to reach, relative to what the weights can change
    observe : called after each step
    """
    terms = RidgeTerms.of(problem)
    explained = terms.explained()
    if not np.isfinite(explained):
        explained = 1.0
    if explained <= LARGE:
        terms = terms.reduced()
        explained = 1.0
    gap = tol * min(explained, 1.0)
    begin = None
    n_iter = 0
    # again to a finer gap, where the gap of a solution is too large relative to what the kernels explain
    for _ in range(3):
        weights, dual = solve(terms.problem, max(gap, min(FINEST_GAP, tol)), begin, terms.observer(observe))
        certificate = terms.solver_certificate(weights)
        n_iter += weights.n_iter
        if certificate.reached(tol) or not weights.converged or gap <= FINEST_GAP:
            break
        gap = 0.5 * gap * tol / certificate.value
        begin = weights.values
    weights = terms.of_given_problem(replace(weights, n_iter=n_iter), tol)
    return weights, within(weights, terms.solution(dual, weights.values))


def unexplained(problem: Problem) -> Answer | None:
    """The central weights, or zero weights with a penalty, where the reduced targets are zero; else None.

    Their value is zero, which is the least possible value, so they have a duality gap of zero.
    """
    if problem.target.any():
        return None
    domain = problem.domain
    evaluation = problem.evaluate(problem.start() if domain.constrained else np.zeros(problem.size))
    weights = Weights(
        values=evaluation.theta,
        objective=evaluation.upper,
        certificate=Certificate("duality gap", 0.0),
        n_iter=1,
        history=(0.0,),
        bound=evaluation.upper,
    )
    return weights, evaluation.dual


@dataclass(frozen=True, eq=False)
class RidgeTerms:
    """A ridge problem without the terms, and the data to convert its solution to that of the given problem.

    Parameters
    ----------
    problem : Problem to be solved, whose targets are centred and in the range of the kernels
    basis : orthonormal coordinates of the samples, in which the problem is posed; None for the samples themselves
    targets : CentredTargets of the given problem; without sample weights where ``problem`` has them
    beyond : array (n, t), P
    shift : float, the constant subtracted from the values
    empty, lowest : float, the values for zero and for infinite weights, less ``shift``
    """

    problem: Problem
    basis: FeatureBasis | None
    targets: CentredTargets
    beyond: Array
    shift: float
    empty: float
    lowest: float = 0.0

    @classmethod
    def of(cls, problem: Problem) -> RidgeTerms:
        """A ridge problem without the part of the targets that is outside the range of all kernels."""
        machine = need_ridge("ridge_terms", problem)
        s = problem.sample_weight
        target = checked_target(problem.target, several=True)
        targets = CentredTargets.of(target, machine.fit_intercept, s)
        constant = np.abs(targets.Y).max(axis=0) <= ROUNDING * np.abs(as_columns(target)).max(axis=0)
        targets = replace(targets, Y=np.where(constant, 0.0, targets.Y))
        inner = replace(problem, machine=replace(machine, fit_intercept=False))
        basis = None
        features = None
        if isinstance(problem.combination, Linear):
            features = _features(problem.bank)
        if features is None:
            targets = replace(targets, root=None)
            Y = targets.Y
            P = np.zeros_like(Y)
            if s is None:
                P = _unreached(problem, Y)
            Z = Y - P
        else:
            Y = targets.weighted
            basis, bank = in_coordinates(*features, targets.root)
            P = basis.beyond(Y)
            Z = basis.coordinates(Y)
            inner = replace(inner, bank=bank, sample_weight=None)
        Z = np.where(np.linalg.norm(Z, axis=0) <= len(Y) * EPS * np.linalg.norm(Y, axis=0), 0.0, Z)
        inner = replace(inner, target=targets.shaped(Z))
        counts = 1.0 if inner.sample_weight is None else inner.sample_weight[:, None]
        shift = float((P * P).sum()) / machine.alpha
        empty = float((counts * Z * Z).sum()) / machine.alpha
        return cls(inner, basis, targets, P, shift, empty)

    @property
    def _machine(self) -> RidgeMachine:
        return need_ridge("ridge_terms", self.problem)

    @property
    def alpha(self) -> float:
        """The machine's alpha."""
        return self._machine.alpha

    @property
    def lasting(self) -> bool:
        """Whether optimal weights explain a part of the targets for every alpha, however large."""
        domain = self.problem.domain
        if isinstance(domain, Orthant):
            return domain.norm == 2 and self.problem.linear
        return isinstance(domain, NormBall | Simplex)

    def explained(self) -> float:
        """A lower estimate of the fraction of |Y|^2 / alpha that weights explain for large alpha; 1 if not ``lasting``.

        It is that of the central weights of a ball, or with a penalty of the optimum for alpha to infinity.
        """
        if not (self.lasting and self.empty > 0.0):
            return 1.0
        problem = self.problem
        Z = as_columns(self.problem.target)
        theta = problem.start()
        if not problem.domain.constrained:
            theta = problem.domain.maximiser(problem.combination.pullback(problem.bank, theta, Z / self.alpha))
        if problem.sample_weight is not None:
            Z = problem.sample_weight[:, None] * Z
        gram = problem.combination.gram(problem.bank, theta)
        return max(float(np.vdot(Z, gram.multiply(Z))), 0.0) / self.alpha / self.alpha / self.empty

    def reduced(self) -> RidgeTerms:
        """The problem with the machine's values less that of K = 0."""
        machine = replace(self._machine, reduced=True)
        problem = replace(self.problem, machine=machine)
        return replace(self, problem=problem, shift=self.shift + self.empty, empty=0.0, lowest=-self.empty)

    def solver_certificate(self, weights: Weights) -> Certificate:
        """The certificate of these weights relative to what weights can change, by which the solver is stopped."""
        certificate, excess, value = self._inner_gap(weights)
        if self.lasting:
            changed = min(value - self.lowest, self.empty - value)
        else:
            changed = value
        return replace(certificate, value=relative(excess, max(changed, 0.0)))

    def of_given_problem(self, weights: Known, tol: float) -> Known:
        """The weights with the value of the given problem, and the certificate relative to this value.

        If ``lasting``, the certificate is relative to the explained part, where this is smaller.
        """
        inner, excess, value = self._inner_gap(weights)
        objective = value + self.shift
        certificate = replace(inner, value=relative(excess, min(objective, self.explained_by(value))))
        bound = None if weights.bound is None else weights.bound + self.shift
        converged = certificate.reached(tol)
        return replace(weights, certificate=certificate, converged=converged, objective=objective, bound=bound)

    def explained_by(self, value: float) -> float:
        """The explained part: how far a value of the inner problem is below that of K = 0; infinite if not lasting."""
        if not self.lasting:
            return np.inf
        return max(self.empty - value, 0.0)

    def _inner_gap(self, weights: Weights) -> tuple[Certificate, float, float]:
        """The certificate of the inner problem, its absolute gap, and its value."""
        certificate = weights.certificate
        value = weights.objective
        assert certificate is not None
        assert value is not None
        if weights.bound is None:
            return certificate, certificate.value * abs(value), value
        return certificate, value - weights.bound, value

    def solution(self, dual: DualSolution, theta: Array) -> DualSolution:
        """The machine's solution at weights theta as a solution of the given problem.

        The coefficients P / alpha have the function zero. They are left out of ``coef`` where their rounding would be
        visible in the function.
        """
        beyond = self.beyond / self.alpha
        trace = float(self.problem.combination.gram(self.problem.bank, theta).diagonal().sum())
        hidden: Array | float = 0.0
        if EPS * trace <= 1e-7 * self.alpha:  # 1e-7 of the targets is below what is visible
            hidden = beyond
        coef = self._over_samples(dual.coef, hidden)
        factor = self._over_samples(dual.factor, beyond)
        value = dual.value + self.shift
        upper = dual.upper + self.shift
        return replace(dual, coef=coef, factor=factor, intercept=self.targets.intercept, value=value, upper=upper)

    def _over_samples(self, A: Array, added: Array | float) -> Array:
        """Coefficients of the problem, plus ``added`` ones, as coefficients of the samples."""
        A = as_columns(A)
        if self.basis is not None:
            A = self.basis.samples(A)
        return self.targets.coefficients(A + added)

    def observer(self, observe: Observer) -> Observer:
        """An observer of the values of the given problem."""
        if observe is silent or self.shift == 0.0:
            return observe

        def report(event: Event) -> None:
            value, upper, bound = (number + self.shift for number in (event.value, event.upper, event.bound))
            observe(replace(event, value=value, upper=upper, bound=bound))

        return report


def _features(bank: KernelBank) -> tuple[FactorBank, Array] | None:
    """The bank by at most half as many features as samples, and the factors of these features.

    None where there are more features, or all are zero.
    """
    features = bank.by_features()
    if (
        features is None
        or not bank.traces().any()
        or not features[0].square
        or 2 * features[0].n_features > bank.shape[0]
        or not _storable(features[0].F)
    ):
        return None
    return features


def _storable(F: Any) -> bool:
    """Whether features may be made dense."""
    return not hasattr(F, "multiply") or 8 * F.shape[0] * F.shape[1] <= MEMORY


def _unreached(problem: Problem, Y: Array) -> Array:
    """The part of the targets outside the range of the kernel for all weights, where it has few features; else zero.

    Targets whose product with a sum of kernels of equal traces is only rounding are outside the range entirely.
    """
    weights = np.ones(problem.size)
    if problem.linear:
        traces = problem.bank.traces()
        weights[: len(traces)] = np.divide(1.0, traces, out=np.zeros(len(traces)), where=traces > 0.0)
    gram = problem.combination.gram(problem.bank, weights)
    if isinstance(gram, FactorGram) and not hasattr(gram.F, "multiply") and 2 * gram.F.shape[1] <= gram.shape[0]:
        return basis_of(gram.F, np.ones(gram.F.shape[1]), None)[0].beyond(Y)
    if problem.linear and gram.stored:
        floor = len(Y) * EPS * float(gram.diagonal().sum())
        reached = np.einsum("nt,nt->t", Y, gram.multiply(Y)) > floor * np.einsum("nt,nt->t", Y, Y)
        return np.where(reached, 0.0, Y)
    return np.zeros_like(Y)
