"""Ridge regression with learned weights, without the terms of its value that no weights change.

    V(theta) = J(K(theta)) + r(theta),        J = tr Y'(K + alpha I)^{-1} Y

Y centred. With P the part of Y that is orthogonal to the range of K(theta), whatever the weights > 0 are,

    |P|^2 / alpha  <=  J  <=  |Y|^2 / alpha,

of infinite and of no weights. For small alpha J is nearly the one, for large alpha nearly the other, and a gap relative
to J says nothing of the weights. So P is taken off the targets, where few features make the kernels: that leaves out
the first term exactly, as K P = 0, and a sum of kernels becomes one in the coordinates of its features. Where alpha is
large the machine returns its values less the second. The solver is asked for a certificate relative to what is left,

    min(V - |P|^2 / alpha, |Y|^2 / alpha - V).

P is not known for matrices of any kind. So the certificate that is published is relative to the value itself or to what
the kernels explain, whichever is smaller, for kernels of every kind, rank and storage:

    (V - bound) / min(V, |Y|^2 / alpha - V).

Where optimal weights do not vanish, however large alpha is, what the kernels explain has a limit: in a ball, and with
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
    """The answer to a ridge problem, found without the terms that no weights change.

    Parameters
    ----------
    problem : Problem of a RidgeMachine
    solve : function of a problem, the certificate to reach, weights to start from, None for its own, and an observer
    tol : float, the certificate to reach, relative to what the weights can change
    observe : called after each step
    """
    terms = RidgeTerms.of(problem)
    part = terms.explained()
    if not np.isfinite(part):
        part = 1.0
    if part <= LARGE:
        terms = terms.reduced()
        part = 1.0
    asked = tol * min(part, 1.0)
    begin = None
    n_iter = 0
    # each solution is to a finer gap, where the one before left too large a part of what is explained
    for _ in range(3):
        weights, dual = solve(terms.problem, max(asked, min(FINEST_GAP, tol)), begin, terms.observer(observe))
        left = terms.finer(weights)
        n_iter += weights.n_iter
        if left.reached(tol) or not weights.converged or asked <= FINEST_GAP:
            break
        asked = 0.5 * asked * tol / left.value
        begin = weights.values
    weights = terms.whole(replace(weights, n_iter=n_iter), tol)
    return weights, within(weights, terms.solution(dual, weights.values))


def unexplained(problem: Problem) -> Answer | None:
    """The central weights, or zero weights with a penalty, where the terms have left nothing of the targets; else None.

    Nothing is below the value of these, which is zero: their certificate is a gap, whatever the kernels are.
    """
    if problem.target.any():
        return None
    domain = problem.domain
    at = problem.evaluate(problem.start() if domain.constrained else np.zeros(problem.size))
    weights = Weights(
        values=at.theta,
        objective=at.upper,
        certificate=Certificate("duality gap", 0.0),
        n_iter=1,
        history=(0.0,),
        bound=at.upper,
    )
    return weights, at.dual


@dataclass(frozen=True, eq=False)
class RidgeTerms:
    """A ridge problem without the terms, and what leads back from it.

    Parameters
    ----------
    problem : Problem to be solved, whose targets are centred and reached by the kernels
    basis : orthonormal coordinates of the samples, in which the problem is; None for the samples themselves
    targets : CentredTargets of the problem that was given; without weights where these are in the problem
    beyond : array (n, t), P
    shift : float, what has been left out of the values
    empty, lowest : float, the values of no and of infinite weights, less that
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
        """A ridge problem without the part of the targets that no kernel reaches."""
        machine = need_ridge("ridge_terms", problem)
        s = problem.sample_weight
        target = checked_target(problem.target, several=True)
        targets = CentredTargets.of(target, machine.fit_intercept, s)
        constant = np.abs(targets.Y).max(axis=0) <= ROUNDING * np.abs(as_columns(target)).max(axis=0)
        targets = replace(targets, Y=np.where(constant, 0.0, targets.Y))
        inner = replace(problem, machine=replace(machine, fit_intercept=False))
        basis = None
        known = None
        if isinstance(problem.combination, Linear):
            known = _features(problem.bank)
        if known is None:
            targets = replace(targets, root=None)
            Y = targets.Y
            P = np.zeros_like(Y)
            if s is None:
                P = _unreached(problem, Y)
            Z = Y - P
        else:
            Y = targets.weighted
            basis, bank = in_coordinates(*known, targets.root)
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
        """Whether optimal weights explain a part of the targets however large alpha is."""
        domain = self.problem.domain
        if isinstance(domain, Orthant):
            return domain.norm == 2 and self.problem.linear
        return isinstance(domain, NormBall | Simplex)

    def explained(self) -> float:
        """At least the part of |Y|^2 / alpha that weights explain where alpha is large; 1 where that is not lasting.

        The weights are the central ones of a ball; with a penalty those of the optimum for alpha to infinity.
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
        """The same with the machine's values less that of K = 0."""
        machine = replace(self._machine, reduced=True)
        problem = replace(self.problem, machine=machine)
        return replace(self, problem=problem, shift=self.shift + self.empty, empty=0.0, lowest=-self.empty)

    def finer(self, weights: Weights) -> Certificate:
        """The certificate of these weights relative to what the weights can change, for a solver to go by."""
        found, excess, value = self._parts(weights)
        if self.lasting:
            changed = min(value - self.lowest, self.empty - value)
        else:
            changed = value
        return replace(found, value=relative(excess, max(changed, 0.0)))

    def whole(self, weights: Known, tol: float) -> Known:
        """The weights with the value of the problem that was given, and the certificate relative to it.

        Where optimal weights explain a part of the targets whatever alpha is, it is relative to that part, if smaller.
        """
        found, excess, value = self._parts(weights)
        whole = value + self.shift
        certificate = replace(found, value=relative(excess, min(whole, self.explained_by(value))))
        bound = None if weights.bound is None else weights.bound + self.shift
        converged = certificate.reached(tol)
        return replace(weights, certificate=certificate, converged=converged, objective=whole, bound=bound)

    def explained_by(self, value: float) -> float:
        """How far a value of the inner problem is below that of K = 0, where that is what gaps may be relative to."""
        if not self.lasting:
            return np.inf
        return max(self.empty - value, 0.0)

    def _parts(self, weights: Weights) -> tuple[Certificate, float, float]:
        """The certificate of the inner problem, by how much the value may be too large, and the value."""
        found = weights.certificate
        value = weights.objective
        assert found is not None
        assert value is not None
        if weights.bound is None:
            return found, found.value * abs(value), value
        return found, value - weights.bound, value

    def solution(self, found: DualSolution, theta: Array) -> DualSolution:
        """The machine's solution at weights theta as one of the problem that was given.

        The function of P / alpha is zero. It is no part of the coefficients where its rounding would be seen in theirs.
        """
        beyond = self.beyond / self.alpha
        trace = float(self.problem.combination.gram(self.problem.bank, theta).diagonal().sum())
        hidden: Array | float = 0.0
        if EPS * trace <= 1e-7 * self.alpha:  # 1e-7 of the targets is below what is visible
            hidden = beyond
        coef = self._over_samples(found.coef, hidden)
        factor = self._over_samples(found.factor, beyond)
        value = found.value + self.shift
        upper = found.upper + self.shift
        return replace(found, coef=coef, factor=factor, intercept=self.targets.intercept, value=value, upper=upper)

    def _over_samples(self, A: Array, further: Array | float) -> Array:
        """Coefficients of the problem, and further ones, as those of the samples."""
        A = as_columns(A)
        if self.basis is not None:
            A = self.basis.samples(A)
        return self.targets.coefficients(A + further)

    def observer(self, observe: Observer) -> Observer:
        """An observer of whole values."""
        if observe is silent or self.shift == 0.0:
            return observe

        def whole(event: Event) -> None:
            value, upper, bound = (each + self.shift for each in (event.value, event.upper, event.bound))
            observe(replace(event, value=value, upper=upper, bound=bound))

        return whole


def _features(bank: KernelBank) -> tuple[FactorBank, Array] | None:
    """The bank as one of features, half as many as samples at most, and what these are multiplied with.

    None where all features are zero: they have no coordinates.
    """
    known = bank.by_features()
    if (
        known is None
        or not bank.traces().any()
        or not known[0].square
        or 2 * known[0].n_features > bank.shape[0]
        or not _storable(known[0].F)
    ):
        return None
    return known


def _storable(F: Any) -> bool:
    """Whether features may be made dense."""
    return not hasattr(F, "multiply") or 8 * F.shape[0] * F.shape[1] <= MEMORY


def _unreached(problem: Problem, Y: Array) -> Array:
    """The part of the targets that no weights make the kernel reach, where few features make it; else zero.

    All of the targets, where what a sum of kernels of equal traces makes of them is rounding.
    """
    weights = np.ones(problem.size)
    if problem.linear:
        traces = problem.bank.traces()
        weights[: len(traces)] = np.divide(1.0, traces, out=np.zeros(len(traces)), where=traces > 0.0)
    gram = problem.combination.gram(problem.bank, weights)
    if isinstance(gram, FactorGram) and not hasattr(gram.F, "multiply") and 2 * gram.F.shape[1] <= gram.shape[0]:
        return basis_of(gram.F, np.ones(gram.F.shape[1]), None)[0].beyond(Y)
    if problem.linear and gram.stored:
        least = len(Y) * EPS * float(gram.diagonal().sum())
        reached = np.einsum("nt,nt->t", Y, gram.multiply(Y)) > least * np.einsum("nt,nt->t", Y, Y)
        return np.where(reached, 0.0, Y)
    return np.zeros_like(Y)
