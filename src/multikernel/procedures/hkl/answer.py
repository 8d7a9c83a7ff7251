"""What a search returns: nodes with their weights and the machine at them, enclosed by bounds over all nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._typing import Array
from multikernel.certificate import Certificate
from multikernel.machines import DualSolution, SupportMachine
from multikernel.procedures.base import Weights, within
from multikernel.procedures.hkl.lattice import Node
from multikernel.procedures.hkl.restricted import HullPoint, HullProblem


@dataclass(frozen=True, eq=False, kw_only=True)
class NodeWeights(Weights):
    """Weights of the kernels of nodes, of an ancestor-closed set.

    Parameters
    ----------
    nodes : tuple of m nodes, an ancestor-closed set: those that ``values`` belong to
    hull : int, how many nodes were looked at one by one
    """

    nodes: tuple[Node, ...]
    hull: int


@dataclass(frozen=True, eq=False)
class Pair:
    """Nodes, their weights and the machine at them, with a bound of the optimum over all nodes."""

    nodes: tuple[Node, ...]
    weights: Array
    dual: DualSolution
    bound: float
    certificate: Certificate

    @classmethod
    def of(cls, machine: SupportMachine, problem: HullProblem, found: HullPoint, bound: float) -> Pair:
        """The machine at the weights that were found on a hull; ``bound`` holds for all nodes."""
        gram = problem.bank.combine(found.weights)
        dual = machine.refined(gram, problem.program, found.a, machine.tol)
        return cls(problem.hull.nodes, found.weights, dual, bound, Certificate.gap(dual.upper, bound))

    def answer(self, tol: float, hull: int, steps: int, history: list[float]) -> tuple[NodeWeights, DualSolution]:
        """With the number of nodes that were looked at, of Newton steps, and the gap of each round."""
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


def on_active_nodes(problem: HullProblem, found: HullPoint) -> HullProblem | None:
    """The problem on the nodes with a gamma above zero at each ancestor; None where that is all of them, or none."""
    hull = problem.hull
    kept = np.bincount(hull.node, weights=~found.active[hull.ancestor], minlength=len(hull)) == 0
    root = int(hull.nodes[0] == ())  # the constant kernel stays whatever its weight
    kept[:root] = True
    if kept.all() or not kept[root:].any():
        return None
    return replace(problem, bank=problem.bank.select(np.flatnonzero(kept)), hull=hull.kept(kept))
