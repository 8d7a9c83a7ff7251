"""Hierarchical kernel learning over all 2^p products of p kernels, never enumerated.

    min_{f, b}  1/2 Omega_rho(f)^2 + sum_i loss(y_i, f(x_i) + b),      f = sum_w f_w,
    Omega_rho(f) = sum_v d_v (sum_{w in D(v)} |f_w|^rho)^{1/rho},      d_v = beta^|v|,   1 < rho <= 2

(Bach 2009 for rho = 2; Jawanpuria, Nath and Ramakrishnan 2015). A product has weight only where all products of fewer
of its factors have one. So the search extends a hull, a set of nodes that contains all subsets of its nodes: it solves
the problem on the hull, bounds what the nodes outside could add (``outside``), and adds the sources of the complement
whose bound is larger than the gap allows. Instead of all products, a graph may be given: one that the user lists, with
kernels as nodes (``listed``), or the product of chains of kernels (``grid``).

Certificate: any coefficients a in their box bound the optimum over all nodes from below,

    scale (p'a - 1/2 sum_j ridge_j a_j^2 - 1/2 max(Omega*_W(a)^2, Omega*_V(a)^2)),      W the hull, V its complement,

and the machine's value at the weights bounds it from above. At the end the problem is solved once more on only the
nodes with positive weight: the weights of all other nodes are exactly zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.banks import KernelBank
from multikernel.banks.threads import one_blas_thread
from multikernel.certificate import INNER, Certificate
from multikernel.duality import best_multiple, form_rounding
from multikernel.machines import DualSolution, SupportMachine, SupportProgram
from multikernel.machines.support.coefficients import central, feasible
from multikernel.numerics.line_search import MOST_NEWTON_STEPS
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.base import Weights, within
from multikernel.procedures.hkl.graph import Graph, Subsets
from multikernel.procedures.hkl.lattice import Node
from multikernel.procedures.hkl.node_kernels import NodeKernels
from multikernel.procedures.hkl.restricted import HullPoint, HullProblem
from multikernel.procedures.units import MachineUnits, kernel_size

_GOAL = 0.8  # fraction of the requested gap at which a search ends: omission of nodes at the end may add the remainder


@dataclass(frozen=True, eq=False, kw_only=True)
class NodeWeights(Weights):
    """Weights of the kernels of nodes, of an ancestor-closed set.

    Parameters
    ----------
    nodes : tuple of m nodes, an ancestor-closed set: the nodes of ``values``
    hull : int, the number of nodes in the last hull
    """

    nodes: tuple[Node, ...]
    hull: int


@dataclass(frozen=True, eq=False)
class _Pair:
    """Nodes, their weights and the machine at them, with a bound of the optimum over all nodes."""

    nodes: tuple[Node, ...]
    weights: Array
    dual: DualSolution
    bound: float
    certificate: Certificate

    @classmethod
    def of(cls, machine: SupportMachine, problem: HullProblem, point: HullPoint, bound: float) -> _Pair:
        """The machine at the weights of a hull's solution; ``bound`` holds for all nodes."""
        gram = problem.bank.combine(point.weights)
        dual = machine.refined(gram, problem.program, point.a, machine.tol)
        return cls(problem.hull.nodes, point.weights, dual, bound, Certificate.gap(dual.upper, bound))

    def answer(self, tol: float, hull: int, steps: int, history: list[float]) -> tuple[NodeWeights, DualSolution]:
        """The weights and the machine, with the size of the hull, the number of Newton steps and the gaps of rounds."""
        weights = NodeWeights(
            values=self.weights,
            objective=self.dual.upper,
            certificate=self.certificate,
            converged=self.certificate.reached(tol),
            n_iter=steps,
            history=(*history, self.certificate.value),
            bound=self.bound,
            nodes=self.nodes,
            hull=hull,
        )
        return weights, within(weights, self.dual)


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
    graph: Graph | None = None,
) -> tuple[NodeWeights, DualSolution]:
    """The nodes with their weights and certificate, and the machine's solution at them.

    Parameters
    ----------
    bank : KernelBank of the p base kernels, shape (n, n)
    machine : its ``tol`` is the relative duality gap of the whole problem, its loss the one above
    target : array (n,), in the form that the machine takes
    rho : float in (1, 2]; 2 is hierarchical kernel learning, smaller values select fewer nodes of a subtree
    beta : float > 0, by which the cost of a product grows with each factor
    max_iter : int, rounds of the search at most
    max_nodes : int, nodes in the hull at most: 4 n (n + 1) bytes each
    start : nodes of a neighbouring problem's solution
    sample_weight : array (n,), what the machine multiplies each sample's loss with; 1 if not given
    observe : called after each round
    graph : of the kernels of the bank; by default that of all their products, with ``beta``
    """
    units = MachineUnits.own(machine, kernel_size(bank), target)
    inner_machine = cast(SupportMachine, units.machine)
    with one_blas_thread(bank.shape[0]):
        program = inner_machine.program(target / units.target, sample_weight)
        search = _Search(
            NodeKernels.of(bank, units.factor), inner_machine, program, rho, graph or Subsets(len(bank), beta)
        )
        weights, dual = search.run(max_iter, max(max_nodes, len(bank) + 1), start, observe)
    return units.weights(weights), units.solution(dual)


@dataclass(frozen=True, eq=False)
class _Search:
    """The problem and the kernels computed so far."""

    kernels: NodeKernels
    machine: SupportMachine
    program: SupportProgram
    rho: float
    graph: Graph

    def run(
        self, max_iter: int, max_nodes: int, start: Iterable[Node], observe: Observer
    ) -> tuple[NodeWeights, DualSolution]:
        tol = self.machine.tol
        finest = INNER * self.machine.tol
        hull = self.graph.first(self.kernels.base, self.program.coef(central(self.program)), start)
        inner = max(1e-2, finest)  # the first hulls will grow
        steps = 0
        bound = -np.inf
        history: list[float] = []
        while True:
            problem = HullProblem(self.kernels.bank(hull.nodes), hull, self.program, self.rho)
            point = problem.solved(inner, MOST_NEWTON_STEPS)
            lower, entering = self._bound(problem, point)
            bound = max(bound, lower)
            # a round adds as many nodes as the hull has, to a small one 30
            entering = entering[: min(max(30, len(hull)), max(max_nodes - len(hull), 0))]
            steps += point.n_iter
            reached = Certificate.gap(point.upper, bound)
            history.append(reached.value)
            observe(Event(len(history), reached))
            near = reached.reached(_GOAL * tol)
            last = len(history) >= max_iter or time_is_up()
            if near or last or (inner <= finest and not entering):
                pair = self._pair(problem, point, bound)
                if pair.certificate.reached(tol) or last or inner <= finest:
                    return pair.answer(tol, len(hull), steps, history)
            if near or not entering:
                inner *= INNER
            inner = max(finest, min(inner, INNER * reached.value))
            hull = hull.extended(entering)

    def _bound(self, problem: HullProblem, point: HullPoint) -> tuple[float, list[Node]]:
        """The lower bound over all nodes that the coefficients give, and the nodes that may have to join the hull."""
        program = self.program
        goal = _GOAL * self.machine.tol
        # the smallest coefficients that sum to 1/100 of the gap asked for count as zero
        a = feasible(program, _without_negligible(point.a, 0.01 * self.machine.tol))
        b = program.coef(a)
        linear = program.dual(a, 0.0)
        inside = problem.norm(point.gamma, _forms(problem.bank, b)).bound
        allowed = max(inside, 2.0 / program.scale * (linear - point.upper + goal * abs(point.upper)))
        hull = problem.hull
        base = self.kernels.base
        candidates = self.graph.sources(hull)
        in_units = b / np.sqrt(self.kernels.unit)  # the sums are over products of the base kernels as they are
        beyond = self.graph.outside(base, in_units, hull, candidates, self.rho, allowed)
        # the best multiple of a, because a itself gives a useless bound where its cost exceeds its linear part
        cost = program.cost(a) + max(inside, beyond.bound)
        bound = program.scale * best_multiple(float(program.linear @ a), cost, most=1.0)[1]
        order = np.argsort(-beyond.norms, kind="stable")
        return bound, [candidates[k] for k in order if beyond.norms[k] > allowed]

    def _pair(self, problem: HullProblem, point: HullPoint, bound: float) -> _Pair:
        """The machine on only the active nodes; on all nodes of the hull where the gap of these is too large."""
        on_active = _on_active_nodes(problem, point)
        if on_active is not None:
            pair = _Pair.of(
                self.machine, on_active, on_active.solved(INNER * self.machine.tol, MOST_NEWTON_STEPS), bound
            )
            if pair.certificate.reached(self.machine.tol):
                return pair
        return _Pair.of(self.machine, problem, point, bound)


def _forms(bank: KernelBank, b: Array) -> Array:
    """b'K_w b of every node, with a bound of its rounding error."""
    sizes = np.sqrt(np.maximum(bank.diagonal(), 0.0))
    return bank.quad(b) + form_rounding(b, sizes)


def _without_negligible(a: Array, fraction: float) -> Array:
    """The variables with the smallest ones, at most this fraction of the sum, set to zero: zeros make sums cheaper."""
    order = np.argsort(a)
    variables = a.copy()
    variables[order[np.cumsum(a[order]) <= fraction * a.sum()]] = 0.0
    return variables


def _on_active_nodes(problem: HullProblem, point: HullPoint) -> HullProblem | None:
    """The problem on the nodes all of whose ancestors have gamma > 0; None where these are all nodes, or none."""
    hull = problem.hull
    active = np.bincount(hull.node, weights=~point.active[hull.ancestor], minlength=len(hull)) == 0
    root = int(hull.nodes[0] == ())  # the constant kernel stays whatever its weight
    active[:root] = True
    if active.all() or not active[root:].any():
        return None
    return replace(problem, bank=problem.bank.select(np.flatnonzero(active)), hull=hull.kept(active))
