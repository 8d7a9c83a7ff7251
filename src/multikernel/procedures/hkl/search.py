"""Hierarchical kernel learning over all 2^p products of p kernels, never enumerated.

    min_{f, b}  1/2 Omega_rho(f)^2 + sum_i loss(y_i, f(x_i) + b),      f = sum_w f_w,
    Omega_rho(f) = sum_v d_v (sum_{w in D(v)} |f_w|^rho)^{1/rho},      d_v = beta^|v|,   1 < rho <= 2

(Bach 2009 for rho = 2; Jawanpuria, Nath and Ramakrishnan 2015). A product has weight only where all products of fewer
of its factors have, so the search grows a hull: it solves the problem on the hull, bounds what every node outside could
add (``outside``), and takes in the sources of the complement that may matter.

Certificate: any coefficients a in their box bound the optimum over all nodes from below,

    scale (p'a - ridge/2 |a|^2 - 1/2 max(Omega*_W(a)^2, Omega*_V(a)^2)),      W the hull, V its complement,

and the machine's value at the weights found bounds it from above. At the end the problem is solved
once more on the nodes that matter alone, so that the others have no weight at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.threads import one_blas_thread
from multikernel.certificate import Certificate
from multikernel.machines import DualSolution, SupportMachine, SupportProgram
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.base import Weights
from multikernel.procedures.hkl.lattice import Hull, Node, in_order, parents, sources
from multikernel.procedures.hkl.node_kernels import NodeKernels
from multikernel.procedures.hkl.outside import outside
from multikernel.procedures.hkl.restricted import HullPoint, Restricted
from multikernel.procedures.interior.coefficients import central, feasible

_STEPS = 100  # Newton steps on a hull
_ROUGH = 1e-2  # gap on a hull that will grow, at first
_SHARE = 0.1  # of the gap: what the solution on the hull may leave of it
_REACH = 0.8  # of the gap: what the search reaches, so that the nodes that do not matter can be left out
_NOTHING = 0.01  # of the gap, as a part of the coefficients: what those that are nearly zero may sum to
_GROWTH = 1.0  # of the nodes: how many more may come in a round,
_FEWEST = 30  # or so many
_SINGLES = 100  # base kernels in the first hull


@dataclass(frozen=True, eq=False, kw_only=True)
class NodeWeights(Weights):
    """Weights of the kernels of nodes, of an ancestor-closed set.

    Parameters
    ----------
    nodes : the nodes that ``values`` belong to, an ancestor-closed set
    hull : how many nodes were looked at one by one
    """

    nodes: tuple[Node, ...]
    hull: int


def hierarchical_mkl(
    bank: KernelBank,
    machine: SupportMachine,
    target: Array,
    rho: float = 2.0,
    beta: float = 2.0,
    max_iter: int = 100,
    max_nodes: int = 2000,
    start: Iterable[Node] = (),
    sample_weight: Array | None = None,
    observe: Observer = silent,
) -> tuple[NodeWeights, DualSolution]:
    """The nodes with their weights and certificate, and the machine's solution at them.

    Parameters
    ----------
    bank : KernelBank of the p base kernels, shape (n, n)
    machine : its ``tol`` is the relative duality gap of the whole problem, its loss the one above
    target : array (n,), as the machine wants it
    rho : float in (1, 2]; 2 is hierarchical kernel learning, smaller values select fewer nodes of a subtree
    beta : float > 0, how much more a product costs for each further factor
    max_iter : int, rounds of the search at most
    max_nodes : int, nodes that are looked at one by one at most: 4 n (n + 1) bytes each
    start : nodes of a neighbouring problem's solution
    sample_weight : array (n,), what the machine multiplies each sample's loss with; 1 if not given
    observe : told of each round
    """
    with one_blas_thread(bank.shape[0]):
        return _Search(NodeKernels.of(bank), machine, machine.program(target, sample_weight), rho, beta).run(
            max_iter, max(max_nodes, len(bank) + 1), start, observe
        )


@dataclass(frozen=True, eq=False)
class _Search:
    """The problem and the kernels made so far."""

    kernels: NodeKernels
    machine: SupportMachine
    program: SupportProgram
    rho: float
    beta: float

    def run(
        self, max_iter: int, max_nodes: int, start: Iterable[Node], observe: Observer
    ) -> tuple[NodeWeights, DualSolution]:
        tol = self.machine.tol
        reach = _REACH * tol
        hull = Hull(tuple(in_order({(), *self._singles(), *_closed(start)})), self.beta)
        inner, steps = max(_ROUGH, _SHARE * tol), 0
        history: list[float] = []
        while True:
            problem = Restricted(self.kernels.bank(hull.nodes), hull, self.program, self.rho)
            found = problem.solved(inner, _STEPS)
            bound, entering = self._bound(problem, found)
            steps += found.n_iter
            reached = Certificate.gap(found.upper, bound)
            history.append(reached.value)
            observe(Event(len(history), reached))
            finest, last = inner <= _SHARE * tol, len(history) >= max_iter
            room = max(max_nodes - len(hull), 0)
            entering = entering[: min(max(_FEWEST, int(_GROWTH * len(hull))), room)]
            if history[-1] <= reach or last or (finest and not entering):
                pair = self._sparse(problem, found, bound)
                if pair.gap <= tol or last or finest:
                    break
            if not entering or history[-1] <= reach:
                inner *= _SHARE
            inner = max(_SHARE * tol, min(inner, _SHARE * history[-1]))
            hull = hull.extended(entering)
        return _answer(pair, len(hull), steps, history, tol)

    def _singles(self) -> list[Node]:
        """The base kernels; of very many, those that matter most where all coefficients are alike."""
        forms = self.kernels.base.quad(self.program.coef(central(self.program)))
        return [(int(i),) for i in np.argsort(-forms, kind="stable")[:_SINGLES]]

    def _bound(self, problem: Restricted, found: HullPoint) -> tuple[float, list[Node]]:
        """The lower bound over all nodes that the coefficients give, and the nodes that may have to join the hull."""
        program, reach = self.program, _REACH * self.machine.tol
        a = feasible(program, _without_least(found.a, _NOTHING * self.machine.tol))
        b, linear = program.coef(a), program.dual(a, 0.0)
        inside = problem.norm(found.gamma, problem.bank.quad(b)).bound
        allowed = max(inside, 2.0 / program.scale * (linear - found.upper + reach * abs(found.upper)))
        candidates = sources(problem.hull.nodes, len(self.kernels.base))
        beyond = outside(self.kernels.base, b, candidates, self.beta, self.rho, allowed)
        # the best multiple of a: a whole one that costs more than it gives would bound nothing
        given, cost = float(program.linear @ a), program.ridge * float(a @ a) + max(inside, beyond.bound)
        part = min(1.0, max(given, 0.0) / cost) if cost > 0.0 else 1.0
        bound = program.scale * part * (given - 0.5 * part * cost)
        order = np.argsort(-beyond.norms, kind="stable")
        return bound, [candidates[k] for k in order if beyond.norms[k] > allowed]

    def _sparse(self, problem: Restricted, found: HullPoint, bound: float) -> _Pair:
        """The machine at the nodes that matter, solved for on their own; at all nodes where that is not enough."""
        hull = problem.hull
        lost = np.bincount(hull.node, weights=~found.active[hull.ancestor], minlength=len(hull)) > 0
        lost[0] = False
        if lost.any() and not lost[1:].all():
            few = Hull(tuple(w for w, out in zip(hull.nodes, lost, strict=True) if not out), self.beta)
            alone = replace(problem, bank=problem.bank.select(np.flatnonzero(~lost)), hull=few)
            pair = self._pair(alone, alone.solved(_SHARE * self.machine.tol, _STEPS), bound)
            if pair.gap <= self.machine.tol:
                return pair
        return self._pair(problem, found, bound)

    def _pair(self, problem: Restricted, found: HullPoint, bound: float) -> _Pair:
        gram = problem.bank.combine(found.weights)
        dual = self.machine.polishing(self.machine.tol).solve_program(gram, self.program, found.a)
        gap = max(self.program.gap(dual.warm, gram.multiply(dual.coef), dual.intercept), 0.0)
        return _Pair(problem.hull.nodes, found.weights, dual, dual.value + gap, bound)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Nodes, their weights and the machine at them, with the values that enclose the optimum over all nodes."""

    nodes: tuple[Node, ...]
    weights: Array
    dual: DualSolution
    upper: float
    bound: float

    @property
    def gap(self) -> float:
        return Certificate.gap(self.upper, self.bound).value


def _answer(pair: _Pair, hull: int, steps: int, history: list[float], tol: float) -> tuple[NodeWeights, DualSolution]:
    converged = pair.gap <= tol
    weights = NodeWeights(
        values=pair.weights,
        objective=pair.dual.value,
        certificate=Certificate.gap(pair.upper, pair.bound),
        converged=converged,
        n_iter=steps,
        history=(*history, pair.gap),
        nodes=pair.nodes,
        hull=hull,
    )
    return weights, replace(pair.dual, converged=converged)


def _without_least(a: Array, part: float) -> Array:
    """The variables without the least ones, which together are this part of all: sums are over pairs of the others."""
    order = np.argsort(a)
    least = order[np.cumsum(a[order]) <= part * a.sum()]
    kept = a.copy()
    kept[least] = 0.0
    return kept


def _closed(nodes: Iterable[Node]) -> set[Node]:
    """The nodes and all their ancestors."""
    closed: set[Node] = set()
    left = list(nodes)
    while left:
        node = left.pop()
        if node not in closed:
            closed.add(node)
            left.extend(parents(node))
    return closed
